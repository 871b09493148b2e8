//! Stream cases: a world, a stream over it, an id map, zero to three faults.

use arbitrary::{Result, Unstructured};
use wire::Op;

use super::faults::{Fault, LEFT_TO_DEVICE, MALFORMED, OUT_OF_RANGE, STRICT, Work};
use super::loose::loose;
use super::memory::{Ground, at_edge, bundle_at_edge, ground};
use super::proper::{Draft, WINDOW, action, proper};
use super::rows::break_table;
use super::world::{World, world};
use super::{Made, WORLD_BYTES, below, once_in};
use crate::case::{Object, StreamCase};

/// A case for the readers: half proper, half loose, with faults of every kind, in words, blob, descriptors and object table.
pub fn stream_case(u: &mut Unstructured<'_>) -> Result<Made<StreamCase>> {
    let world = world(u)?;
    let draft = if once_in(u, 2)? {
        proper(u, &world)?
    } else {
        loose(u, &world)?
    };
    let max_workgroups = *u.choose(&[0, 0, 0, 1, 256, 65535, 65536, u32::MAX])?;
    let (mut work, mut host) = translated(u, world, draft, max_workgroups)?;
    let mut faults = Vec::new();
    for _ in 0..fault_count(u)? {
        let from: &[Fault] = match below(u, 6)? {
            0..=2 => &MALFORMED,
            3 | 4 => &OUT_OF_RANGE,
            _ if once_in(u, 2)? => &STRICT,
            _ => &LEFT_TO_DEVICE,
        };
        put(&mut work, u, from, &mut faults)?;
    }
    let descriptors = descriptors(u, &work, &mut faults)?;
    if once_in(u, 6)? {
        for _ in 0..1 + below(u, 3)? {
            faults.extend(break_table(&mut host, u)?);
        }
    }
    let mut blob = wire::encode_blob(&work.draft.words, &work.draft.data);
    if once_in(u, 32)? {
        damage(u, &mut blob)?;
        faults.push("damaged-blob");
    }
    Ok(Made {
        case: case(work, host, descriptors, blob),
        faults,
    })
}

/// A case for the GPU: proper, with at most one fault, which Decode lets through; or one command at an edge of the strict check's rules,
/// which may be past it.
pub fn replay_case(u: &mut Unstructured<'_>) -> Result<Made<StreamCase>> {
    let of_world = &mut Unstructured::new(u.bytes(WORLD_BYTES.min(u.len()))?);
    let mut world = world(of_world)?;
    let ground = ground(&mut world, of_world)?;
    let (mut faults, kind) = (Vec::new(), below(u, 16)?);
    if kind == 10 && once_in(u, 4)? {
        faults.extend(bundle_at_edge(u, &mut world, &ground)?);
    }
    let draft = match kind {
        6..=10 if faults.is_empty() => edge(u, &world, &ground, &mut faults)?,
        _ => proper(u, &world)?,
    };
    let (mut work, host) = translated(u, world, draft, 0)?;
    match kind {
        0..=10 => {}
        11 | 12 => put(&mut work, u, &OUT_OF_RANGE, &mut faults)?,
        13 | 14 => put(&mut work, u, &STRICT, &mut faults)?,
        _ => put(&mut work, u, &LEFT_TO_DEVICE, &mut faults)?,
    }
    let blob = wire::encode_blob(&work.draft.words, &work.draft.data);
    Ok(Made {
        case: case(work, host, Vec::new(), blob),
        faults,
    })
}

/// Something proper, and then a command at an edge.
fn edge(u: &mut Unstructured<'_>, world: &World, ground: &Ground, names: &mut Vec<&'static str>) -> Result<Draft> {
    let mut draft = Draft::default();
    action(u, world, &mut draft)?;
    draft.push(Op::Submit, &[]);
    names.extend(at_edge(u, world, ground, &mut draft)?);
    draft.push(Op::Submit, &[]);
    Ok(draft)
}

/// Puts a fault in. Not every stream has a place for every fault, so several are tried.
fn put(work: &mut Work, u: &mut Unstructured<'_>, from: &[Fault], names: &mut Vec<&'static str>) -> Result<()> {
    for _ in 0..4 {
        let fault = &from[below(u, from.len() as u32)? as usize];
        if (fault.put)(work, u)? {
            names.push(fault.name);
            return Ok(());
        }
    }
    Ok(())
}

fn fault_count(u: &mut Unstructured<'_>) -> Result<u32> {
    Ok(match below(u, 16)? {
        0..=6 => 0,
        7..=12 => 1,
        13 | 14 => 2,
        _ => 3,
    })
}

/// The stream in the guest's ids, with the map from them, and the replayer's table.
fn translated(
    u: &mut Unstructured<'_>,
    mut world: World,
    mut draft: Draft,
    max_workgroups: u32,
) -> Result<(Work, Vec<Object>)> {
    let host = world.objects.clone();
    let guest = guest_ids(u)?;
    // A stream of our own making that does not decode would be our mistake; it stays as it is, and the coverage shows it.
    let data_len = draft.data.len() as u32;
    let _ = wire::remap(&mut draft.words, data_len, |id| Some(guest(id)));
    for object in &mut world.objects {
        object.id = guest(object.id);
        object
            .refs
            .iter_mut()
            .filter(|id| **id != 0)
            .for_each(|id| *id = guest(*id));
    }
    for buffer in &mut world.buffers {
        buffer.id = guest(buffer.id);
    }
    let mut id_map: Vec<(u32, u32)> = host.iter().map(|object| (guest(object.id), object.id)).collect();
    id_map.sort_unstable();
    Ok((
        Work {
            draft,
            id_map,
            world,
            max_workgroups,
            window: WINDOW,
        },
        host,
    ))
}

/// An injective map of ids that keeps 0 and 2^32 - 1 apart: the identity, a shift, or a scramble of all 32 bits.
fn guest_ids(u: &mut Unstructured<'_>) -> Result<impl Fn(u32) -> u32 + use<>> {
    let (factor, shift): (u32, u32) = match below(u, 4)? {
        0 => (1, 0),
        1 => (1, 1 + below(u, 200)?),
        2 => (1, u32::MAX - 64),
        _ => (u.arbitrary::<u32>()? | 1, 0),
    };
    Ok(move |id: u32| match id.wrapping_mul(factor).wrapping_add(shift) {
        // Ids of a table are below 2^20, so nothing else is mapped here.
        0 => shift.wrapping_add(factor.wrapping_mul(1 << 20)),
        mapped => mapped,
    })
}

/// Now and then the guest's own creation descriptors come along, whole or broken.
fn descriptors(u: &mut Unstructured<'_>, work: &Work, faults: &mut Vec<&'static str>) -> Result<Vec<Vec<u8>>> {
    let mut list = Vec::new();
    if !once_in(u, 4)? {
        return Ok(list);
    }
    for _ in 0..1 + below(u, 3)? {
        let object = u.choose(&work.world.objects)?;
        let mut bytes = (object.refs.len() as u32).to_le_bytes().to_vec();
        object
            .refs
            .iter()
            .for_each(|id| bytes.extend_from_slice(&id.to_le_bytes()));
        bytes.extend_from_slice(&object.body.as_bytes()[..object.body.len().min(40)]);
        match below(u, 8)? {
            0 => {
                bytes.truncate(below(u, 9)? as usize);
                faults.push("descriptor-cut");
            }
            1 => {
                let count: u32 = *u.choose(&[4096, 4097, 0x4000_0000, u32::MAX])?;
                bytes[..4].copy_from_slice(&count.to_le_bytes());
                faults.push("descriptor-count");
            }
            2 if bytes.len() >= 8 && !object.refs.is_empty() => {
                let id: u32 = *u.choose(&[0, 0xDEAD_BEEF, u32::MAX])?;
                bytes[4..8].copy_from_slice(&id.to_le_bytes());
                faults.push("descriptor-id");
            }
            _ => {}
        }
        list.push(bytes);
    }
    Ok(list)
}

/// Damages the header, cuts the blob or makes it longer.
pub fn damage(u: &mut Unstructured<'_>, blob: &mut Vec<u8>) -> Result<()> {
    match below(u, 6)? {
        0 => blob[below(u, 4)? as usize] ^= 1 << below(u, 8)?,
        1 => blob[4 + below(u, 4)? as usize] ^= 1 << below(u, 8)?,
        2 => blob[8 + below(u, 8)? as usize] ^= 1 << below(u, 8)?,
        3 => blob.push(0),
        4 => blob.truncate(below(u, 17)? as usize),
        _ => blob.truncate(below(u, blob.len() as u32)? as usize),
    }
    Ok(())
}

fn case(work: Work, objects: Vec<Object>, descriptors: Vec<Vec<u8>>, blob: Vec<u8>) -> StreamCase {
    StreamCase {
        objects,
        id_map: work.id_map,
        descriptors,
        blob,
        max_workgroups: work.max_workgroups,
        window: work.window,
    }
}
