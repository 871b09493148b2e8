//! What the cases of a campaign covered, and what no case reached.

use std::collections::BTreeMap;

use wgpu_types::{BindGroupLayoutEntry, BindingType, BufferBindingType, SamplerBindingType, StorageTextureAccess};
use wire::{Arg, ArgKind, Context, Op, Reason};

use crate::case::{BindCase, BindCommand, Stage};
use crate::generators::edges::{FAMILIES, Family};
use crate::generators::faults::{Fault, LEFT_TO_DEVICE, MALFORMED, OUT_OF_RANGE, STRICT};
use crate::generators::loose::after;
use crate::generators::memory::{BUNDLE, EDGES};
use crate::generators::rows::ROWS;
use crate::generators::{Lane, layout, wgsl};
use crate::readers::answer::{DescriptorAnswer, StreamAnswer};
use crate::report::results::{Coverage, Grid, add_counts};

/// The name of the table of faults.
const FAULTS: &str = "fault put in";

/// Counts while a campaign runs. Workers have one each; they add up.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    cells: BTreeMap<(Table, usize, usize), u64>,
    /// By [`binding_row`] and stage. Apart from `cells`, since a layout counts dozens.
    bindings: [[u64; Stage::ALL.len()]; 2 * BINDINGS.len()],
    /// The same of what the pipelines of binds see.
    bound: [[u64; Stage::ALL.len()]; 2 * BINDINGS.len()],
    faults: BTreeMap<&'static str, u64>,
    edges: BTreeMap<&'static str, u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Table {
    Context,
    Reason,
    Blob,
    ReadCheck,
    Descriptor,
}

/// The reasons that a grid's columns are.
const BLOB: [Reason; 3] = [Reason::BadLength, Reason::BadMagic, Reason::BadVersion];
const READ_CHECK: [Reason; 4] = [
    Reason::NotABuffer,
    Reason::NoMapRead,
    Reason::OutOfRange,
    Reason::PastWindow,
];
const DESCRIPTOR: [Reason; 3] = [Reason::Truncated, Reason::TooMany, Reason::UnknownId];
const COMMAND: [Reason; 19] = [
    Reason::UnknownOp,
    Reason::WrongContext,
    Reason::Truncated,
    Reason::TooMany,
    Reason::ZeroId,
    Reason::BadEnum,
    Reason::BadFlag,
    Reason::NonFinite,
    Reason::UnsafeInteger,
    Reason::DataRange,
    Reason::WriteSize,
    Reason::ReadAlignment,
    Reason::ReadSize,
    Reason::ReadWindow,
    Reason::UnknownId,
    Reason::OpenPass,
    Reason::NotABuffer,
    Reason::OutOfRange,
    Reason::TooManyWorkgroups,
];
const CONTEXTS: [(Context, &str); 3] = [
    (Context::Outside, "outside a pass"),
    (Context::Render, "render pass"),
    (Context::Compute, "compute pass"),
];
/// The binding types of slots.md, as finely as their slots or their mutability may depend on. Each may also be the element of a binding
/// array, which has a row of its own.
const BINDINGS: [&str; 13] = [
    "uniform buffer",
    "storage buffer",
    "read-only storage buffer",
    "filtering sampler",
    "non-filtering sampler",
    "comparison sampler",
    "texture",
    "write-only storage texture",
    "read-only storage texture",
    "read-write storage texture",
    "atomic storage texture",
    "acceleration structure",
    "external texture",
];

impl Tally {
    fn add(&mut self, table: Table, row: usize, column: usize) {
        *self.cells.entry((table, row, column)).or_default() += 1;
    }

    /// A stream, by what a reader answered.
    pub fn stream(&mut self, blob: &[u8], answer: &StreamAnswer) {
        if let Err(reason) = answer.blob {
            self.single(Table::Blob, &BLOB, reason);
        }
        if let (Some(Ok(_)), Ok(blob)) = (&answer.decode, wire::Blob::parse(blob)) {
            self.commands(&blob.words, blob.data.len() as u32);
        }
        let decode = answer.decode.as_ref().and_then(|part| part.as_ref().err());
        let remap = answer.remap.as_ref().and_then(|part| part.as_ref().err());
        // Remap repeats what Decode refuses; it is counted where it adds something.
        let remap = remap.filter(|_| decode.is_none());
        let ranges = answer.ranges.as_ref().and_then(|part| part.as_ref().err());
        for refused in [decode, remap, ranges].into_iter().flatten() {
            self.refused(refused.op, refused.reason);
        }
        if let Some(Err(refused)) = answer.read_check {
            self.single(Table::ReadCheck, &READ_CHECK, refused.reason);
        }
    }

    /// A descriptor, by what a reader answered.
    pub fn descriptor(&mut self, answer: &DescriptorAnswer) {
        if let (Err(reason), _) | (_, Some(Err((reason, _)))) = (&answer.split, &answer.remap) {
            self.single(Table::Descriptor, &DESCRIPTOR, *reason);
        }
    }

    /// The commands of a stream that Decode accepted.
    fn commands(&mut self, words: &[u32], data_len: u32) {
        let mut context = Context::Outside;
        for cmd in wire::commands(words, data_len).map_while(Result::ok) {
            let column = CONTEXTS.iter().position(|known| known.0 == context);
            if let (Some(row), Some(column)) = (op_row(cmd.op), column) {
                self.add(Table::Context, row, column);
            }
            context = after(context, cmd.op);
        }
    }

    /// A refusal of Decode, Remap or CheckRanges.
    fn refused(&mut self, op: Option<Op>, reason: Reason) {
        let row = op.map_or(Some(Op::ALL.len()), op_row);
        if let (Some(row), Some(column)) = (row, COMMAND.iter().position(|&known| known == reason)) {
            self.add(Table::Reason, row, column);
        }
    }

    fn single(&mut self, table: Table, reasons: &[Reason], reason: Reason) {
        if let Some(column) = reasons.iter().position(|&known| known == reason) {
            self.add(table, 0, column);
        }
    }

    /// The faults that a case was given.
    pub fn faults(&mut self, faults: &[&'static str]) {
        for fault in faults {
            *self.faults.entry(fault).or_default() += 1;
        }
    }

    /// A case of the table of edges, by its family.
    pub fn edge(&mut self, family: &'static str) {
        *self.edges.entry(family).or_default() += 1;
    }

    /// The entries of an accepted layout.
    pub fn bindings<'a>(&mut self, entries: impl IntoIterator<Item = &'a BindGroupLayoutEntry>) {
        for entry in entries {
            let row = &mut self.bindings[entry_row(entry)];
            for (count, stage) in row.iter_mut().zip(Stage::ALL) {
                *count += u64::from(entry.visibility.contains(stage.visibility()));
            }
        }
    }

    /// What the stages of a bind's pipelines see, each time that one is set.
    pub fn bound(&mut self, case: &BindCase) {
        let pipelines = case.commands.iter().filter_map(|command| match command {
            BindCommand::SetPipeline(pipeline) => Some(&case.pipelines[*pipeline]),
            _ => None,
        });
        for pipeline in pipelines {
            let groups = case.layouts[pipeline.layout].groups.iter().flatten();
            for entry in groups.flat_map(|group| &case.group_layouts[*group]) {
                for stage in pipeline.stages.iter().map(|stage| stage.stage) {
                    let seen = entry.visibility.contains(stage.visibility());
                    self.bound[entry_row(entry)][stage as usize] += u64::from(seen);
                }
            }
        }
    }

    /// Adds another worker's counts.
    pub fn merge(&mut self, other: Tally) {
        add_counts(&mut self.cells, &other.cells);
        for (sums, counts) in [(&mut self.bindings, &other.bindings), (&mut self.bound, &other.bound)] {
            let sums = sums.as_flattened_mut().iter_mut();
            sums.zip(counts.as_flattened()).for_each(|(sum, count)| *sum += count);
        }
        add_counts(&mut self.faults, &other.faults);
        add_counts(&mut self.edges, &other.edges);
    }

    fn grid(
        &self,
        name: &str,
        table: Table,
        rows: Vec<String>,
        columns: Vec<String>,
        possible: impl Fn(usize, usize) -> bool,
    ) -> Grid {
        let cell = |row, column| {
            let count = self.cells.get(&(table, row, column)).copied();
            // A count where none should be is shown, so that a wrong idea of what can occur does not hide it.
            count.or(possible(row, column).then_some(0))
        };
        let cells = (0..rows.len())
            .map(|row| (0..columns.len()).map(|column| cell(row, column)).collect())
            .collect();
        Grid {
            name: name.into(),
            rows,
            columns,
            cells,
        }
    }

    /// The tables, for the report.
    pub fn coverage(&self) -> Coverage {
        let names = |reasons: &[Reason]| {
            reasons
                .iter()
                .map(|reason| reason.name().to_owned())
                .collect::<Vec<_>>()
        };
        let ops: Vec<String> = Op::ALL.iter().map(|op| op.name().to_owned()).collect();
        let single = |name: &str, table, reasons: &[Reason]| {
            self.grid(name, table, vec!["refused".into()], names(reasons), |_, _| true)
        };
        let contexts = CONTEXTS.iter().map(|context| context.1.to_owned()).collect();
        let with_unknown = ops.iter().cloned().chain(["unknown opcode".to_owned()]).collect();
        Coverage {
            grids: vec![
                self.grid("opcode by context", Table::Context, ops, contexts, |row, column| {
                    Op::ALL[row].allowed_in(CONTEXTS[column].0)
                }),
                self.grid(
                    "opcode by reason",
                    Table::Reason,
                    with_unknown,
                    names(&COMMAND),
                    |row, column| can_be_refused(Op::ALL.get(row).copied(), COMMAND[column]),
                ),
                single("blob", Table::Blob, &BLOB),
                single("read check", Table::ReadCheck, &READ_CHECK),
                single("descriptor", Table::Descriptor, &DESCRIPTOR),
                binding_grid("binding type by stage", &self.bindings, |_, _| true),
                binding_grid("binding type bound by stage", &self.bound, can_be_bound),
                self.made_grid(),
            ],
        }
    }

    /// The tables that a campaign over `lanes` could fill: what it left out on purpose is nothing that it missed.
    pub fn of_lanes(&self, lanes: &[Lane]) -> Coverage {
        let any = |wanted: &[Lane]| wanted.iter().any(|lane| lanes.contains(lane));
        let mut coverage = self.coverage();
        coverage.grids.retain(|grid| match grid.name.as_str() {
            "binding type by stage" => any(&[Lane::Layouts]),
            "binding type bound by stage" => any(&[Lane::Binds]),
            "edge" | FAULTS => true,
            // A replay is well formed: it comes to CheckRanges and the read check.
            "opcode by context" | "read check" => any(&[Lane::Streams, Lane::Raw, Lane::Replays, Lane::Edges]),
            _ => any(&[Lane::Streams, Lane::Raw, Lane::Edges]),
        });
        for grid in coverage.grids.iter_mut().filter(|grid| grid.name == FAULTS) {
            *grid = self.fault_grid(lanes);
        }
        coverage
    }

    /// What the cases were made for: the faults that were drawn, or in a campaign of edges the families of the table.
    fn made_grid(&self) -> Grid {
        if self.edges.is_empty() {
            return self.fault_grid(&Lane::ALL);
        }
        let count = |family: &Family| self.edges.get(family.name).copied().unwrap_or(0);
        Grid {
            name: "edge".into(),
            rows: FAMILIES.iter().map(|family| family.name.to_owned()).collect(),
            columns: vec!["cases".into()],
            cells: FAMILIES.iter().map(|family| vec![Some(count(family))]).collect(),
        }
    }

    /// The faults that the lanes put in, those that no case was given too.
    fn fault_grid(&self, lanes: &[Lane]) -> Grid {
        let names = |faults: &'static [Fault]| faults.iter().map(|fault| fault.name).collect::<Vec<_>>();
        let by_lane = [
            (Lane::Streams, names(&MALFORMED)),
            (Lane::Streams, names(&OUT_OF_RANGE)),
            (Lane::Streams, names(&STRICT)),
            (Lane::Streams, names(&LEFT_TO_DEVICE)),
            (Lane::Streams, ROWS.iter().map(|fault| fault.name).collect()),
            (Lane::Replays, names(&OUT_OF_RANGE)),
            (Lane::Replays, names(&STRICT)),
            (Lane::Replays, names(&LEFT_TO_DEVICE)),
            (
                Lane::Replays,
                EDGES.iter().map(|edge| edge.name).chain([BUNDLE]).collect(),
            ),
            (Lane::Layouts, layout::FAULTS.to_vec()),
            (Lane::Shaders, wgsl::FAULTS.to_vec()),
        ];
        let known = by_lane.into_iter().filter(|(lane, _)| lanes.contains(lane));
        let mut counts: BTreeMap<&str, u64> = known.flat_map(|(_, names)| names).map(|name| (name, 0)).collect();
        for (&fault, &count) in &self.faults {
            *counts.entry(fault).or_default() += count;
        }
        Grid {
            name: FAULTS.into(),
            rows: counts.keys().map(|name| (*name).to_owned()).collect(),
            columns: vec!["cases".into()],
            cells: counts.values().map(|&count| vec![Some(count)]).collect(),
        }
    }
}

fn op_row(op: Op) -> Option<usize> {
    Op::ALL.iter().position(|&known| known == op)
}

/// A row a binding type and one an array of it.
fn binding_grid(
    name: &str,
    counts: &[[u64; Stage::ALL.len()]; 2 * BINDINGS.len()],
    possible: impl Fn(usize, Stage) -> bool,
) -> Grid {
    let arrays = BINDINGS.iter().map(|name| format!("{name} array"));
    let cell = |row: usize, at: usize| {
        let count = counts[row][at];
        (count > 0 || possible(row, Stage::ALL[at])).then_some(count)
    };
    let cells = |row| (0..Stage::ALL.len()).map(|at| cell(row, at)).collect();
    Grid {
        name: name.into(),
        rows: BINDINGS.map(str::to_owned).into_iter().chain(arrays).collect(),
        columns: Stage::ALL.iter().map(|stage| stage.name().to_owned()).collect(),
        cells: (0..counts.len()).map(cells).collect(),
    }
}

/// Whether a bind case may have such a row bound: neither arrays of acceleration structures and external textures, nor an acceleration
/// structure in the task and mesh stages.
fn can_be_bound(row: usize, stage: Stage) -> bool {
    let is_acceleration_structure = row % BINDINGS.len() == ACCELERATION_STRUCTURE;
    let is_array = row >= BINDINGS.len();
    match is_array {
        true => !is_acceleration_structure && row % BINDINGS.len() != EXTERNAL_TEXTURE,
        false => !(is_acceleration_structure && matches!(stage, Stage::Task | Stage::Mesh)),
    }
}

/// The row of [`BINDINGS`], once over for an array.
fn entry_row(entry: &BindGroupLayoutEntry) -> usize {
    let array = if entry.count.is_some() { BINDINGS.len() } else { 0 };
    array + binding_row(&entry.ty)
}

const ACCELERATION_STRUCTURE: usize = 11;
const EXTERNAL_TEXTURE: usize = 12;

/// A binding type in words.
pub fn binding_name(ty: &BindingType) -> &'static str {
    BINDINGS[binding_row(ty)]
}

fn binding_row(ty: &BindingType) -> usize {
    match ty {
        BindingType::Buffer {
            ty: BufferBindingType::Uniform,
            ..
        } => 0,
        BindingType::Buffer {
            ty: BufferBindingType::Storage { read_only: false },
            ..
        } => 1,
        BindingType::Buffer {
            ty: BufferBindingType::Storage { read_only: true },
            ..
        } => 2,
        BindingType::Sampler(SamplerBindingType::Filtering) => 3,
        BindingType::Sampler(SamplerBindingType::NonFiltering) => 4,
        BindingType::Sampler(SamplerBindingType::Comparison) => 5,
        BindingType::Texture { .. } => 6,
        BindingType::StorageTexture {
            access: StorageTextureAccess::WriteOnly,
            ..
        } => 7,
        BindingType::StorageTexture {
            access: StorageTextureAccess::ReadOnly,
            ..
        } => 8,
        BindingType::StorageTexture {
            access: StorageTextureAccess::ReadWrite,
            ..
        } => 9,
        BindingType::StorageTexture {
            access: StorageTextureAccess::Atomic,
            ..
        } => 10,
        BindingType::AccelerationStructure { .. } => ACCELERATION_STRUCTURE,
        BindingType::ExternalTexture => EXTERNAL_TEXTURE,
    }
}

/// Whether Decode, Remap or CheckRanges can refuse a command of `op` (none: an unknown opcode) for `reason`: wire.md sections 3 and 5.
fn can_be_refused(op: Option<Op>, reason: Reason) -> bool {
    let Some(op) = op else {
        return reason == Reason::UnknownOp;
    };
    let has = |fits: fn(&ArgKind) -> bool| any_arg(wire::layout(op), fits);
    let names_checked_buffer = matches!(
        op,
        Op::WriteBuffer | Op::CopyBufferToBuffer | Op::DispatchIndirect | Op::DrawIndirect | Op::DrawIndexedIndirect
    );
    match reason {
        Reason::WrongContext => CONTEXTS.iter().any(|context| !op.allowed_in(context.0)),
        Reason::Truncated => !wire::layout(op).is_empty(),
        Reason::TooMany => has(|kind| matches!(kind, ArgKind::List { .. })),
        Reason::ZeroId => has(|kind| matches!(kind, ArgKind::Id(_))),
        Reason::UnknownId => has(|kind| matches!(kind, ArgKind::Id(_) | ArgKind::OptionalId(_))),
        Reason::BadEnum => has(|kind| matches!(kind, ArgKind::Enum(_))),
        Reason::BadFlag => has(|kind| matches!(kind, ArgKind::Bool | ArgKind::Optional(_))),
        Reason::NonFinite => has(|kind| matches!(kind, ArgKind::F32)),
        Reason::UnsafeInteger => has(|kind| matches!(kind, ArgKind::U64)),
        Reason::DataRange => matches!(op, Op::WriteBuffer | Op::WriteTexture),
        Reason::WriteSize => op == Op::WriteBuffer,
        Reason::ReadAlignment | Reason::ReadSize | Reason::ReadWindow => op == Op::ReadBuffer,
        Reason::OpenPass => matches!(op, Op::BeginRenderPass | Op::BeginComputePass),
        Reason::NotABuffer | Reason::OutOfRange => names_checked_buffer,
        Reason::TooManyWorkgroups => op == Op::Dispatch,
        _ => false,
    }
}

fn any_arg(args: &[Arg], fits: fn(&ArgKind) -> bool) -> bool {
    args.iter().any(|arg| {
        fits(&arg.kind)
            || match arg.kind {
                ArgKind::List { item, .. } => any_arg(item, fits),
                ArgKind::Optional(inner) => any_arg(inner, fits),
                _ => false,
            }
    })
}
