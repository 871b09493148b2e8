//! What a host has for the targets whose input is a blob: an object table with every kind of object, and an id map.

use std::sync::LazyLock;

use crate::case::{BufferFacts, Object, StreamCase, buffer_facts};
use crate::generators::world::{Buffer, World};
use crate::strict::Facts;

/// Bytes of the granted read window.
pub const WINDOW: u32 = 64;

/// The table: ids from 1 on, `table.json` has them.
pub static OBJECTS: LazyLock<Vec<Object>> =
    LazyLock::new(|| serde_json::from_str(include_str!("table.json")).expect("table.json is a table"));

/// The table's buffers.
pub static BUFFERS: LazyLock<Vec<BufferFacts>> = LazyLock::new(|| buffer_facts(&OBJECTS));

/// What the strict check knows of the table.
pub static FACTS: LazyLock<Facts> = LazyLock::new(|| Facts::of(&OBJECTS));

/// What the host grants: the table's ids as they are, and each also under a number that is higher by 32. 31 would
/// become 0.
pub static ID_MAP: LazyLock<Vec<(u32, u32)>> = LazyLock::new(|| {
    let ids = || OBJECTS.iter().map(|object| object.id);
    let renamed = ids().map(|id| (id + 32, id));
    ids().map(|id| (id, id)).chain([(31, 0)]).chain(renamed).collect()
});

/// The table as generators have it.
pub(super) static WORLD: LazyLock<World> = LazyLock::new(|| {
    let mut world = World::default();
    world.objects.clone_from(&OBJECTS);
    world
        .buffers
        .extend(BUFFERS.iter().map(|&BufferFacts { id, usage, size }| Buffer {
            id,
            size: size as u32,
            usage,
        }));
    world
});

/// The case of a blob over the table.
pub fn case(blob: &[u8]) -> StreamCase {
    StreamCase {
        objects: OBJECTS.clone(),
        id_map: ID_MAP.clone(),
        descriptors: Vec::new(),
        blob: blob.to_vec(),
        max_workgroups: 0,
        window: WINDOW,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::engine::{Engine as _, Request};
    use crate::gpu::wgpu_engine::WgpuEngine;

    /// Its bundle keeps to the strict check, and wgpu makes all of its objects.
    #[test]
    fn the_table_is_one_that_a_device_takes() {
        assert!(Facts::with_bundles(&OBJECTS).1.is_ok());
        let mut engine = WgpuEngine::open("wgpu:noop").expect("the noop backend");
        let outcome = engine.replay(&Request {
            objects: &OBJECTS,
            words: &[],
            data: &[],
            stop_after: None,
            reads: &[],
            window: 0,
        });
        assert_eq!(outcome.trouble, None);
    }

    /// wire.md section 7 has kinds 1 to 11.
    #[test]
    fn the_table_has_every_kind_of_object() {
        for kind in wire::Kind::ALL {
            assert!(OBJECTS.iter().any(|object| object.kind == kind), "{kind}");
        }
        assert!(ID_MAP.is_sorted_by(|a, b| a.0 < b.0), "as a case file asks");
    }
}
