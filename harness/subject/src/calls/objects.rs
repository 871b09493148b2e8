//! Section 7 of wire.md: from rows of an object table to the calls that make them.

use std::fmt;

use serde_json::{Map, Value};
use wire::{Kind, Reason, Refusal};

use super::stream::{Call, Replay, Stop, replay};
use super::{Row, RowTrace};

/// A row's descriptor that section 7 lets through.
#[derive(Clone, Debug, PartialEq)]
pub struct Descriptor {
    /// What it makes.
    pub kind: Kind,
    /// The ids that its references name, of the kinds that it takes; those of a bundle are not looked at yet.
    pub refs: Vec<u32>,
    /// The body.
    pub body: Map<String, Value>,
}

/// Why a row makes no object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowRefused {
    /// `zero-id`, `truncated`, `too-many` or `bad-descriptor`.
    Reason(Reason),
    /// `wrong-kind`: the index of the first reference that names nothing or an object of another kind.
    Reference(usize),
    /// A bundle's words are refused.
    Words(Refusal),
    /// A bundle's words name an object of another kind.
    Stop(Stop),
}

impl fmt::Display for RowRefused {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RowRefused::Reason(reason) => write!(to, "{reason}"),
            RowRefused::Reference(index) => write!(to, "{}: reference {index}", Reason::WrongKind),
            RowRefused::Words(refusal) => write!(to, "its words: {refusal}"),
            RowRefused::Stop(stop) => write!(to, "its words: {stop}"),
        }
    }
}

const BAD: RowRefused = RowRefused::Reason(Reason::BadDescriptor);

/// The call that makes an object, and for a bundle those on its encoder.
#[derive(Clone, Debug, PartialEq)]
pub struct Creation {
    /// The texture of a view; everything else is made by the device.
    pub texture: Option<u32>,
    /// The method.
    pub method: &'static str,
    /// The descriptor that it gets; an object in it is [`reference`].
    pub descriptor: Value,
    /// The calls of a bundle's words.
    pub calls: Vec<Call>,
}

/// How an object stands in a descriptor.
fn reference(id: u32) -> Value {
    Value::Object(Map::from_iter([("@".to_owned(), id.into())]))
}

/// Makes the object of a row. `kind` says what an id names.
pub(super) fn make(row: &Row, kind: impl Fn(u32) -> Option<Kind>) -> RowTrace {
    let refused = |refused| RowTrace {
        id: row.id,
        creation: None,
        refused: Some(refused),
    };
    if row.id == 0 {
        return refused(RowRefused::Reason(Reason::ZeroId));
    }
    let (refs, body) = match wire::split_descriptor(&row.descriptor) {
        Ok(parts) => parts,
        Err(error) => return refused(RowRefused::Reason(error.reason)),
    };
    let checked = Kind::from_word(row.kind)
        .ok_or(BAD)
        .and_then(|made| check(made, refs, body, &kind));
    let descriptor = match checked {
        Ok(descriptor) => descriptor,
        Err(reason) => return refused(reason),
    };
    let replay = match descriptor.kind {
        Kind::RenderBundle => bundle_calls(&descriptor, &kind),
        _ => Ok(Replay::default()),
    };
    match replay {
        Err(reason) => refused(reason),
        Ok(Replay { calls, stop }) => RowTrace {
            id: row.id,
            creation: Some(Creation {
                calls: calls.into_iter().map(|(_, call)| call).collect(),
                ..creation(descriptor, &kind)
            }),
            refused: stop.map(RowRefused::Stop),
        },
    }
}

/// Holds a descriptor to section 7: its body, the number of its references, their kinds.
///
/// # Errors
///
/// `bad-descriptor` or `wrong-kind`.
pub fn check(
    made: Kind,
    refs: Vec<u32>,
    body: &[u8],
    kind: impl Fn(u32) -> Option<Kind>,
) -> Result<Descriptor, RowRefused> {
    let Ok(Value::Object(body)) = serde_json::from_slice(body) else {
        return Err(BAD);
    };
    if !has_members(made, &body) {
        return Err(BAD);
    }
    let takes = takes(made, &body, refs.len());
    let bad = |(takes, &id): (&Takes, &u32)| match takes {
        Takes::One(_) | Takes::Resource => id == 0,
        Takes::OneOrNone(_) | Takes::Any => false,
        Takes::Nothing => id != 0,
    };
    if takes.len() != refs.len() || takes.iter().zip(&refs).any(bad) {
        return Err(BAD);
    }
    let wrong = |(takes, &id): (&Takes, &u32)| match takes {
        Takes::One(due) | Takes::OneOrNone(due) => id != 0 && kind(id) != Some(*due),
        Takes::Resource => !kind(id).is_some_and(|kind| RESOURCES.contains(&kind)),
        Takes::Any | Takes::Nothing => false,
    };
    match takes.iter().zip(&refs).position(wrong) {
        Some(index) => Err(RowRefused::Reference(index)),
        None => Ok(Descriptor { kind: made, refs, body }),
    }
}

/// What a reference may be.
#[derive(Clone, Copy)]
enum Takes {
    One(Kind),
    OneOrNone(Kind),
    /// What a bind group's entry can hold.
    Resource,
    /// 0, for a fragment stage that is not there.
    Nothing,
    /// A bundle's: its words say what it must be.
    Any,
}

const RESOURCES: [Kind; 3] = [Kind::Buffer, Kind::TextureView, Kind::Sampler];

/// What a descriptor with `count` references takes.
fn takes(made: Kind, body: &Map<String, Value>, count: usize) -> Vec<Takes> {
    match made {
        Kind::Buffer | Kind::Texture | Kind::Sampler | Kind::ShaderModule | Kind::BindGroupLayout => vec![],
        Kind::TextureView => vec![Takes::One(Kind::Texture)],
        Kind::PipelineLayout => vec![Takes::OneOrNone(Kind::BindGroupLayout); count],
        Kind::BindGroup => {
            let mut takes = vec![Takes::One(Kind::BindGroupLayout)];
            takes.resize(1 + entries(body).len(), Takes::Resource);
            takes
        }
        Kind::ComputePipeline => vec![Takes::OneOrNone(Kind::PipelineLayout), Takes::One(Kind::ShaderModule)],
        Kind::RenderPipeline => vec![
            Takes::OneOrNone(Kind::PipelineLayout),
            Takes::One(Kind::ShaderModule),
            match body.get("fragment") {
                Some(_) => Takes::One(Kind::ShaderModule),
                None => Takes::Nothing,
            },
        ],
        Kind::RenderBundle => vec![Takes::Any; count],
    }
}

/// Whether the members are there that must be, and those not that references stand for.
fn has_members(made: Kind, body: &Map<String, Value>) -> bool {
    let is = |name: &str, holds: fn(&Value) -> bool| body.get(name).is_some_and(holds);
    let absent = |name: &str| !body.contains_key(name);
    match made {
        Kind::Buffer => is("size", Value::is_number) && is("usage", Value::is_number) && absent("mappedAtCreation"),
        Kind::Texture => {
            is("size", |size| size.is_array() || size.is_object())
                && is("format", Value::is_string)
                && is("usage", Value::is_number)
        }
        Kind::TextureView | Kind::Sampler => true,
        Kind::ShaderModule => is("code", Value::is_string),
        Kind::BindGroupLayout => is("entries", Value::is_array),
        Kind::PipelineLayout => absent("bindGroupLayouts"),
        Kind::BindGroup => is("entries", Value::is_array) && entries(body).iter().all(is_entry) && absent("layout"),
        Kind::ComputePipeline => is("compute", is_stage) && absent("layout"),
        Kind::RenderPipeline => {
            is("vertex", is_stage) && absent("layout") && (absent("fragment") || is("fragment", is_stage))
        }
        Kind::RenderBundle => is("colorFormats", Value::is_array) && words(body).is_some(),
    }
}

fn is_entry(entry: &Value) -> bool {
    entry.get("binding").is_some_and(Value::is_number) && entry.get("resource").is_none()
}

/// An object without the module, which is a reference.
fn is_stage(stage: &Value) -> bool {
    stage.is_object() && stage.get("module").is_none()
}

fn entries(body: &Map<String, Value>) -> &[Value] {
    body.get("entries").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A bundle's words, where they are an array of u32s.
fn words(body: &Map<String, Value>) -> Option<Vec<u32>> {
    let word = |value: &Value| {
        let number = value.as_f64()?;
        let word = number as u32;
        (f64::from(word) == number).then_some(word)
    };
    body.get("words")?.as_array()?.iter().map(word).collect()
}

/// The calls of a bundle's words, whose ids are positions in the references from 1.
///
/// # Errors
///
/// The words are refused, as words of context B or over a position.
pub fn bundle_calls(bundle: &Descriptor, kind: impl Fn(u32) -> Option<Kind>) -> Result<Replay, RowRefused> {
    let mut words = words(&bundle.body).ok_or(BAD)?;
    let at = |position: u32| bundle.refs.get(position as usize - 1).copied();
    wire::remap_bundle(&mut words, at).map_err(RowRefused::Words)?;
    let commands = wire::decode_bundle(&words).map_err(RowRefused::Words)?;
    Ok(replay(&commands, kind))
}

/// The call that makes an object: the body, with the objects put where the references stand for them.
pub fn creation(from: Descriptor, kind: impl Fn(u32) -> Option<Kind>) -> Creation {
    let Descriptor {
        kind: made,
        refs,
        mut body,
    } = from;
    let layout = |id: u32| if id == 0 { "auto".into() } else { reference(id) };
    let method = match made {
        Kind::Buffer => "createBuffer",
        Kind::Texture => "createTexture",
        Kind::TextureView => "createView",
        Kind::Sampler => "createSampler",
        Kind::ShaderModule => "createShaderModule",
        Kind::BindGroupLayout => "createBindGroupLayout",
        Kind::PipelineLayout => {
            let place = |&id: &u32| if id == 0 { Value::Null } else { reference(id) };
            body.insert("bindGroupLayouts".into(), refs.iter().map(place).collect());
            "createPipelineLayout"
        }
        Kind::BindGroup => {
            let entries = entries(&body).iter().zip(&refs[1..]);
            let entries = entries.map(|(entry, &id)| group_entry(entry, id, kind(id))).collect();
            body.insert("entries".into(), entries);
            body.insert("layout".into(), reference(refs[0]));
            "createBindGroup"
        }
        Kind::ComputePipeline => {
            body.insert("layout".into(), layout(refs[0]));
            body["compute"]["module"] = reference(refs[1]);
            "createComputePipeline"
        }
        Kind::RenderPipeline => {
            body.insert("layout".into(), layout(refs[0]));
            body["vertex"]["module"] = reference(refs[1]);
            if refs[2] != 0 {
                body["fragment"]["module"] = reference(refs[2]);
            }
            "createRenderPipeline"
        }
        Kind::RenderBundle => {
            body.remove("words");
            "createRenderBundleEncoder"
        }
    };
    Creation {
        texture: (made == Kind::TextureView).then(|| refs[0]),
        method,
        descriptor: Value::Object(body),
        calls: Vec::new(),
    }
}

/// An entry of a bind group: a buffer stands in a dictionary of its own, with the offset and size that are given.
fn group_entry(entry: &Value, id: u32, kind: Option<Kind>) -> Value {
    let resource = if kind == Some(Kind::Buffer) {
        let given = ["offset", "size"].map(|name| Some((name.to_owned(), entry.get(name)?.clone())));
        let members = given.into_iter().flatten();
        Value::Object(members.chain([("buffer".to_owned(), reference(id))]).collect())
    } else {
        reference(id)
    };
    serde_json::json!({"binding": entry["binding"], "resource": resource})
}
