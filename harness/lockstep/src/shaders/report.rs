//! What is said of a file, as data; `docs/shaders.md` is its form in JSON.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use crate::case::Stage;
use crate::say;

/// What a file holds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FileReport {
    /// The file's name.
    pub path: String,
    /// Why nothing was checked, for a file that is no WGSL that naga takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
    /// The given overrides that the file declares, by key.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub overrides: BTreeMap<String, f64>,
    /// The overrides without a value, and the one that they were given.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub assumed_overrides: BTreeMap<String, f64>,
    /// The entry points, in the file's order; none in a file of functions only.
    pub entry_points: Vec<EntryPointReport>,
    /// Entry points of stages that wgpu's Metal backend does not have, not checked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub without_stage: Vec<String>,
    /// What may be asked for by name; no part of the JSON.
    #[serde(skip)]
    pub declared: Declared,
}

/// The names that a file declares.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Declared {
    /// The entry points, those that are not asked for or not checked too.
    pub entry_points: Vec<String>,
    /// The overrides: each one's key, which is its `@id` or else its name, and its name.
    pub overrides: Vec<(String, String)>,
}

/// Why a file was not checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// What sort of fault.
    pub kind: FaultKind,
    /// What is wrong, in one line.
    pub message: String,
    /// The line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The column in bytes, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// naga's whole report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<String>,
}

/// The sorts of [`Fault`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    /// The file cannot be read, is too long, or is no UTF-8.
    Unreadable,
    /// The file is a template for a preprocessor.
    Template,
    /// It does not parse.
    Syntax,
    /// naga's validator refuses it.
    Invalid,
    /// It has too many entry points, or takes too long.
    TooMuch,
    /// naga panicked.
    Panic,
}

/// What an entry point needs, and what was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EntryPointReport {
    /// Its name.
    pub name: String,
    /// Its stage.
    pub stage: Stage,
    /// The resources that it reaches, by group and binding.
    pub bindings: Vec<Binding>,
    /// The immediates that it reaches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub immediates: Option<Immediates>,
    /// The place of `_buffer_sizes`, where the layout has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer_sizes: Option<BufferSizes>,
    /// The buffer slot of the vertex buffer that its inputs are pulled from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vertex_buffer_slot: Option<u32>,
    /// Why it does not share the file's layout.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own_layout: Option<String>,
    /// Why there is no MSL: the layout has no slots, or a step of naga's pipeline refuses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// Why the MSL oracle did not look at the MSL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unchecked: Option<String>,
    /// What Metal would refuse of the MSL, by its limits of arguments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub past_limits: Vec<String>,
    /// What the MSL oracle found.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<Difference>,
    /// The MSL, when it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub msl: Option<String>,
}

/// A resource and its slots.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Binding {
    /// The bind group.
    pub group: u32,
    /// The binding.
    pub binding: u32,
    /// The variable's name in WGSL.
    pub variable: String,
    /// The binding's type, in WebGPU's words.
    #[serde(rename = "type")]
    pub ty: String,
    /// What the function may do with it: `read-only`, `write-only` or `read-write`.
    pub access: &'static str,
    /// Its slots: one, or four of an external texture; none when the layout has no slots.
    pub slots: Vec<Slot>,
}

/// A place in an argument table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Slot {
    /// `buffer`, `texture` or `sampler`.
    pub table: &'static str,
    /// The index.
    pub slot: u32,
    /// Which part of its binding stands there: `plane 0` to `plane 2` and `parameters` of an external texture; `argument buffer` of a
    /// binding array.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<&'static str>,
}

/// Immediates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Immediates {
    /// The variable's name in WGSL; none where the entry point does not reach them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variable: Option<String>,
    /// The bytes: those of the variable, or of the layout where the entry point does not reach them.
    pub size: u32,
    /// The buffer slot; none when the layout has no slots.
    pub slot: Option<u8>,
    /// Whether the entry point reaches them; the layout keeps the slot in every stage.
    pub used: bool,
}

/// naga's `_buffer_sizes`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BufferSizes {
    /// The buffer slot that is kept for it.
    pub slot: u8,
    /// Whether the entry point takes it.
    pub used: bool,
    /// The fields of its struct, each a u32 with the bytes bound.
    pub fields: Vec<SizeField>,
}

/// A field of `_buffer_sizes`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SizeField {
    /// Its name in MSL.
    pub field: String,
    /// The buffer whose bytes it holds.
    #[serde(flatten)]
    pub of: SizeOf,
}

/// Whose bytes a field of `_buffer_sizes` holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum SizeOf {
    /// A binding's.
    Binding {
        /// The bind group.
        group: u32,
        /// The binding.
        binding: u32,
        /// The variable's name in WGSL.
        variable: String,
    },
    /// A vertex buffer's.
    VertexBuffer {
        /// Its buffer slot.
        vertex_buffer_slot: u32,
    },
}

/// Something that the MSL oracle found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The property of slots.md, section 4; 0 for what belongs to none.
    pub property: u8,
    /// What was found, and what was expected.
    pub detail: String,
}

impl Fault {
    pub(super) fn new(kind: FaultKind, message: String) -> Fault {
        Fault {
            kind,
            message,
            line: None,
            column: None,
            report: None,
        }
    }
}

impl FileReport {
    pub(super) fn new(path: &Path) -> FileReport {
        FileReport {
            path: say::one_line(&path.display().to_string()).into_owned(),
            fault: None,
            overrides: BTreeMap::new(),
            assumed_overrides: BTreeMap::new(),
            entry_points: Vec::new(),
            without_stage: Vec::new(),
            declared: Declared::default(),
        }
    }

    /// The report of a file of which nothing was checked.
    pub fn of_fault(path: &Path, kind: FaultKind, message: String) -> FileReport {
        FileReport {
            fault: Some(Fault::new(kind, message)),
            ..FileReport::new(path)
        }
    }

    /// The number of problems over all entry points: refused, past a limit, or found by the oracle.
    pub fn problems(&self) -> usize {
        self.entry_points.iter().map(EntryPointReport::problems).sum()
    }
}

impl EntryPointReport {
    pub(super) fn new(name: &str, stage: Stage) -> EntryPointReport {
        EntryPointReport {
            name: name.to_owned(),
            stage,
            bindings: Vec::new(),
            immediates: None,
            buffer_sizes: None,
            vertex_buffer_slot: None,
            own_layout: None,
            refused: None,
            unchecked: None,
            past_limits: Vec::new(),
            differences: Vec::new(),
            msl: None,
        }
    }

    fn problems(&self) -> usize {
        usize::from(self.refused.is_some()) + self.past_limits.len() + self.differences.len()
    }
}
