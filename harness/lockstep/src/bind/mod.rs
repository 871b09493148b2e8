//! What stands in Metal's argument tables at each draw and dispatch of a bind case: as a host binds by `mslmap`'s numbers ([`native`]),
//! and as wgpu-hal's own functions do ([`upstream`]). `oracles::bind` compares the two.

pub mod native;
pub mod upstream;

use std::collections::BTreeMap;

pub use slot_upstream::bind::{Bound, BufferSlot, Element, Tables};

use crate::case::{BindCase, Stage};

/// A Metal encoder that plays a case.
pub trait BindPlayer: Send {
    /// Its name in reports.
    fn name(&self) -> &str;

    /// What stands in each slot that the layout of the pipeline has, at each draw and dispatch, for each stage of the pipeline.
    ///
    /// # Errors
    ///
    /// A pipeline layout is refused, in the refusal's words.
    fn play(&mut self, case: &BindCase, reads: Reads) -> Result<Vec<Bound>, String>;
}

/// How a stage's part of a bind group is found again among its resources, which lie stage after stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// As they lie.
    AsStored,
    /// As wgpu-hal 30.0.2 does it: what lies in the order of [`Stage::ALL`] is read as if first came vertex or task, then mesh, fragment
    /// and compute (the ledger's `task-mesh-misread`).
    AsWgpuHal30,
}

/// What stands in a stage's tables in words, by slot: `buffer 0`: `buffer 10 at 256`.
pub fn words(tables: &Tables) -> BTreeMap<String, String> {
    let rows = rows(tables).into_iter();
    rows.map(|(table, slot, held)| (format!("{table} {slot}"), held))
        .collect()
}

/// What stands in a stage's tables in words: table by table, each by slot.
pub fn rows(tables: &Tables) -> Vec<(&'static str, u32, String)> {
    let buffers = tables.buffers.iter();
    let buffers = buffers.map(|(&slot, held)| ("buffer", slot, buffer_words(held)));
    let textures = tables.textures.iter();
    let textures = textures.map(|(&slot, id)| ("texture", slot, format!("texture {id}")));
    let samplers = tables.samplers.iter();
    let samplers = samplers.map(|(&slot, id)| ("sampler", slot, format!("sampler {id}")));
    buffers.chain(textures).chain(samplers).collect()
}

fn buffer_words(held: &BufferSlot) -> String {
    match held {
        BufferSlot::Buffer { id, offset } => format!("buffer {id} at {offset}"),
        BufferSlot::Array(elements) => {
            let words = elements
                .iter()
                .map(|element| format!("{} at {}", element.id, element.offset));
            format!("array of {}", words.collect::<Vec<_>>().join(", "))
        }
        BufferSlot::AccelerationStructure(id) => format!("acceleration structure {id}"),
        BufferSlot::Bytes(bytes) => format!("bytes {}", hex::encode(bytes)),
    }
}

/// A draw's or dispatch's tables in words, of the stages that have any.
pub fn bound_words(bound: &Bound) -> BTreeMap<Stage, BTreeMap<String, String>> {
    let stages = Stage::ALL.into_iter().zip(bound.stages.iter().map(words));
    stages.filter(|(_, words)| !words.is_empty()).collect()
}
