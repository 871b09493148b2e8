//! What stands in Metal's argument tables at each draw and dispatch: by `mslmap`'s numbers, and by wgpu-hal's own bind functions.
//!
//! **Catches** a slot, base, dynamic offset, sizes slot or immediates slot by which a draw would find another resource than wgpu-hal
//! gives it, and a field of `_buffer_sizes` of another size or place; whatever order groups and pipelines are set in.
//!
//! **Does not catch** what a draw cannot see: slots past those of its pipeline's layout, where a pass may have left something. Nor that
//! a shader's arguments are where the tables have them: [`super::msl`] holds the arguments of emitted MSL to the same `StageLayout` for
//! every generated shader, so that what stands in a slot is what the argument of that slot is given. Nor a fault of wgpu-core's, which
//! [`crate::bind::upstream`] follows by hand.
//!
//! The ledger's lines on the bind hold: where one applies, exactly its difference must be there.

use super::Outcome;
use super::Verdict::{self, BothAccept, Differ};
use crate::bind::{BindPlayer, Bound, BufferSlot, Reads, Tables, upstream};
use crate::case::{BindCase, BindCommand, Stage};
use crate::ledger::{Hits, Line};
use wgpu_types::ShaderStages;

/// The parts that are compared, each a row of the report.
pub const ASPECTS: [&str; 1] = ["bind"];

/// How a case came out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Compared {
    /// Stages of draws and dispatches compared, both alike, both refuse.
    pub counts: [u64; 3],
    /// The outcomes in which the two differ.
    pub parted: Vec<Outcome>,
    /// The lines of the ledger that applied.
    pub ledger: Hits,
}

/// What both say of a case.
#[derive(Clone, Debug, PartialEq)]
pub struct Played {
    /// The subject's tables, or its refusal of a layout.
    pub subject: Result<Vec<Bound>, String>,
    /// wgpu-hal's, or the message of its panic.
    pub upstream: Result<Vec<Bound>, String>,
}

/// Plays a case by the subject and by wgpu-hal, and compares them draw by draw and stage by stage.
pub fn check(case: &BindCase, subject: &mut dyn BindPlayer) -> (Compared, Played) {
    let played = Played {
        subject: subject.play(case, Reads::AsStored),
        upstream: upstream::play(&slot_upstream::UPSTREAMS[0], case),
    };
    let misread = sees_task_or_mesh(case).then(|| subject.play(case, Reads::TaskAndMeshSecond));
    let mut compared = Compared::default();
    match (&played.subject, &played.upstream, misread.transpose()) {
        (Ok(a), Ok(b), Ok(misread)) if a.len() == b.len() => {
            let misread = misread.as_deref().unwrap_or(a);
            for ((a, b), misread) in a.iter().zip(b).zip(misread) {
                compare_draw(case, [a, misread, b], &mut compared);
            }
        }
        (a, b, _) => {
            let words = |played: &Result<Vec<Bound>, String>| match played {
                Ok(bound) => format!("{} draws", bound.len()),
                Err(_) => "refuses".to_owned(),
            };
            compared.count(Differ(format!("{} vs {}", words(a), words(b))));
        }
    }
    (compared, played)
}

fn sees_task_or_mesh(case: &BindCase) -> bool {
    let mut entries = case.group_layouts.iter().flatten();
    entries.any(|entry| entry.visibility.intersects(ShaderStages::TASK | ShaderStages::MESH))
}

fn compare_draw(case: &BindCase, [subject, misread, upstream]: [&Bound; 3], compared: &mut Compared) {
    let immediates = has_immediates(case, subject.command);
    for (at, stage) in Stage::ALL.into_iter().enumerate() {
        let [subject, misread, upstream] = [subject, misread, upstream].map(|bound| &bound.stages[at]);
        if subject.buffers.is_empty() && subject.textures.is_empty() && subject.samplers.is_empty() {
            continue;
        }
        if immediates {
            let longer = four_times_as_long(subject.buffers.get(&IMMEDIATES), upstream.buffers.get(&IMMEDIATES));
            compared.tolerated(Line::ImmediatesLength, stage, longer);
        }
        let known = if misread == subject { subject } else { misread };
        let first = first_difference(known, upstream, immediates);
        if misread == subject {
            let words = |table| Differ(format!("{table} in the {} stage", stage.name()));
            compared.count(first.map_or(BothAccept, words));
        } else {
            compared.tolerated(Line::TaskMeshMisread, stage, first.is_none());
        }
    }
}

/// The slot of the immediates, where there are some.
const IMMEDIATES: u32 = 0;

/// Whether the layout of a draw's pipeline has immediates.
fn has_immediates(case: &BindCase, draw: usize) -> bool {
    let before = case.commands[..draw].iter().rev();
    let pipeline = before.filter_map(|command| match command {
        BindCommand::SetPipeline(pipeline) => Some(&case.pipelines[*pipeline]),
        _ => None,
    });
    let layout = pipeline.map(|pipeline| &case.layouts[pipeline.layout]).next();
    layout.is_some_and(|layout| layout.immediate_size > 0)
}

/// The ledger's `immediates-length`.
fn four_times_as_long(subject: Option<&BufferSlot>, upstream: Option<&BufferSlot>) -> bool {
    let (Some(BufferSlot::Bytes(a)), Some(BufferSlot::Bytes(b))) = (subject, upstream) else {
        return false;
    };
    b.len() == 4 * a.len() && b.starts_with(a)
}

/// What the subject has and upstream has not, in a word for its kind; none where upstream has it all. The immediates are looked at apart.
fn first_difference(subject: &Tables, upstream: &Tables, immediates: bool) -> Option<&'static str> {
    let mut buffers = subject.buffers.iter();
    let other =
        buffers.find(|(slot, held)| !(immediates && **slot == IMMEDIATES) && upstream.buffers.get(slot) != Some(held));
    if let Some((_, held)) = other {
        return Some(match held {
            BufferSlot::Buffer { .. } => "a buffer",
            BufferSlot::Array(_) => "an array",
            BufferSlot::AccelerationStructure(_) => "an acceleration structure",
            BufferSlot::Bytes(_) => "_buffer_sizes",
        });
    }
    let missing = |a: (&u32, &u32), b: &std::collections::BTreeMap<u32, u32>| b.get(a.0) != Some(a.1);
    if subject.textures.iter().any(|held| missing(held, &upstream.textures)) {
        return Some("a texture");
    }
    let sampler = subject.samplers.iter().any(|held| missing(held, &upstream.samplers));
    sampler.then_some("a sampler")
}

impl Compared {
    fn count(&mut self, verdict: Verdict) {
        self.counts[0] += 1;
        match verdict {
            BothAccept => self.counts[1] += 1,
            verdict => self.parted.push(Outcome {
                aspect: ASPECTS[0],
                verdict,
            }),
        }
    }

    /// A line of the ledger applies: its difference must be there.
    fn tolerated(&mut self, line: Line, stage: Stage, there: bool) {
        self.ledger.count(line, there);
        if !there {
            let name = line.name();
            self.count(Differ(format!(
                "the ledger's `{name}` did not occur in the {} stage",
                stage.name()
            )));
        }
    }
}
