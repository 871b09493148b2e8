//! Stream cases.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// A command stream, the host's object table and what the host grants.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamCase {
    /// The replayer's object table, in an order in which every reference stands after what it names. Ids are the replayer's.
    pub objects: Vec<Object>,
    /// Which of the guest's ids the host grants, as (guest, host), ascending and each guest once.
    pub id_map: Vec<(u32, u32)>,
    /// Creation descriptors that the guest sends, in the guest's ids; they are split and remapped, and make no object.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "hex_list")]
    pub descriptors: Vec<Vec<u8>>,
    /// The stream as a blob (wire.md section 1), in the guest's ids, as it is, also when it is broken.
    #[serde(with = "hex::serde")]
    pub blob: Vec<u8>,
    /// The dispatch bound, 0 for the default (wire.md section 5).
    pub max_workgroups: u32,
    /// The bytes of the read window that the stream was granted (wire.md section 6).
    pub window: u32,
}

/// One object of the replayer's table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Object {
    /// The replayer's id, not 0.
    pub id: u32,
    /// What it is.
    #[serde(with = "kind_name")]
    pub kind: wire::Kind,
    /// The ids of the objects that it refers to, in the order of wire.md section 7.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refs: Vec<u32>,
    /// The body of its descriptor: JSON of the WebGPU dictionary.
    pub body: String,
}

/// What CheckRanges and the read check ask of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferFacts {
    /// The replayer's id.
    pub id: u32,
    /// WebGPU's usage bits.
    pub usage: u32,
    /// Bytes.
    pub size: u64,
}

#[derive(Deserialize)]
struct BufferBody {
    size: u64,
    usage: u32,
}

/// The buffers of a table, each id once. A buffer whose body is not `{"size", "usage"}` is none.
pub fn buffer_facts(objects: &[Object]) -> Vec<BufferFacts> {
    let facts = |object: &Object| {
        if object.kind != wire::Kind::Buffer || !object.refs.is_empty() {
            return None;
        }
        let body: BufferBody = serde_json::from_str(&object.body).ok()?;
        Some(BufferFacts {
            id: object.id,
            usage: body.usage,
            size: body.size,
        })
    };
    // A later row of an id takes its place, also when it is no buffer.
    let mut known = BTreeSet::from([0]);
    let last = objects.iter().rev().filter(|object| known.insert(object.id));
    let mut list: Vec<BufferFacts> = last.filter_map(facts).collect();
    list.reverse();
    list
}

mod kind_name {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(kind: &wire::Kind, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(kind.name())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<wire::Kind, D::Error> {
        let name = String::deserialize(from)?;
        let known = wire::Kind::ALL.into_iter().find(|kind| kind.name() == name);
        known.ok_or_else(|| D::Error::custom(format!("`{name}` is no kind of object (wire.md section 7)")))
    }
}

mod hex_list {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    pub fn serialize<S: Serializer>(list: &[Vec<u8>], to: S) -> Result<S::Ok, S::Error> {
        list.iter().map(hex::encode).collect::<Vec<_>>().serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Vec<u8>>, D::Error> {
        let list = Vec::<String>::deserialize(from)?;
        list.iter()
            .map(|text| hex::decode(text).map_err(D::Error::custom))
            .collect()
    }
}
