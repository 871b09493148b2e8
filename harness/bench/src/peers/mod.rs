//! Other ways to carry the same commands, each read as a host would that trusts nobody: validated, then every command visited and held to
//! the rules of wire.md section 3.
//!
//! Each says only whether it accepts: which command is refused and why is more than these libraries say.

pub mod command;
pub mod flat;

use command::{Command, Rules};
use wire::Context;

/// A stream's commands in a peer's bytes, and the function that reads them.
pub struct Peer {
    /// Such as `serde+postcard`.
    pub name: &'static str,
    /// The bytes of some commands.
    pub encode: fn(&[Command]) -> Vec<u8>,
    /// How many commands there are, where every rule holds.
    pub read: fn(&[u8], u32) -> Option<usize>,
    /// The commands again.
    pub decode: fn(&[u8]) -> Vec<Command>,
}

/// All of them.
pub const PEERS: [Peer; 4] = [
    Peer {
        name: "serde+postcard",
        encode: |commands| postcard::to_stdvec(commands).expect("commands are written"),
        read: |bytes, data_len| hold(postcard::from_bytes::<Vec<Command>>(bytes).ok()?.iter(), data_len),
        decode: |bytes| postcard::from_bytes(bytes).expect("they come back"),
    },
    Peer {
        name: "serde+bincode",
        encode: |commands| bincode::serde::encode_to_vec(commands, BINCODE).expect("commands are written"),
        read: |bytes, data_len| {
            let (commands, _): (Vec<Command>, _) = bincode::serde::decode_from_slice(bytes, BINCODE).ok()?;
            hold(commands.iter(), data_len)
        },
        decode: |bytes| {
            bincode::serde::decode_from_slice(bytes, BINCODE)
                .expect("they come back")
                .0
        },
    },
    Peer {
        name: "rkyv",
        encode: |commands| {
            rkyv::to_bytes::<rkyv::rancor::Error>(&commands.to_vec())
                .expect("commands are written")
                .to_vec()
        },
        read: |bytes, data_len| {
            let commands = rkyv::access::<Archive, rkyv::rancor::Failure>(bytes).ok()?;
            hold(commands.iter(), data_len)
        },
        decode: |bytes| {
            let commands = rkyv::access::<Archive, rkyv::rancor::Error>(bytes).expect("they are valid");
            rkyv::deserialize::<Vec<Command>, rkyv::rancor::Error>(commands).expect("they come back")
        },
    },
    Peer {
        name: "flatbuffers",
        encode: flat::encode,
        read: flat::read,
        decode: flat::decode,
    },
];

/// Numbers of a fixed length, which are faster to read.
const BINCODE: bincode::config::Configuration<bincode::config::LittleEndian, bincode::config::Fixint> =
    bincode::config::standard().with_fixed_int_encoding();

type Archive = rkyv::vec::ArchivedVec<command::ArchivedCommand>;

/// How many commands there are, where every rule holds and no pass is open at the end.
fn hold<'a, C: Rules + 'a>(commands: impl Iterator<Item = &'a C>, data_len: u32) -> Option<usize> {
    let (mut context, mut count) = (Context::Outside, 0);
    for command in commands {
        context = command.next(context, data_len)?;
        count += 1;
    }
    (context == Context::Outside).then_some(count)
}
