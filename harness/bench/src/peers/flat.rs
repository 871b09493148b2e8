//! FlatBuffers. The schema, whose code is written by hand below, since it is short and flatc is a program more to install:
//!
//! ```text
//! table Command { op: uint; args: [uint]; }
//! table Stream { commands: [Command]; }
//! ```
//!
//! One table for every opcode and not a union of 24, which would be slower to verify: the rules then read the arguments as `wire` does.

use flatbuffers::{
    FlatBufferBuilder, Follow, ForwardsUOffset, InvalidFlatbuffer, Table, VOffsetT, Vector, Verifiable, Verifier,
    VerifierOptions, WIPOffset,
};

use super::command::{Command, Rules};

const FIRST: VOffsetT = 4;
const SECOND: VOffsetT = 6;

#[derive(Clone, Copy)]
struct FlatCommand<'a>(Table<'a>);

#[derive(Clone, Copy)]
struct FlatStream<'a>(Table<'a>);

/// A table type as flatc writes it.
macro_rules! table {
    ($type:ident, |$visit:ident| $fields:expr) => {
        impl<'a> Follow<'a> for $type<'a> {
            type Inner = Self;
            unsafe fn follow(buf: &'a [u8], loc: usize) -> Self {
                // SAFETY: the caller has verified that a table is there.
                Self(unsafe { Table::new(buf, loc) })
            }
        }

        impl Verifiable for $type<'_> {
            fn run_verifier(verifier: &mut Verifier<'_, '_>, position: usize) -> Result<(), InvalidFlatbuffer> {
                let $visit = verifier.visit_table(position)?;
                $fields.finish();
                Ok(())
            }
        }
    };
}

table!(FlatCommand, |visit| visit
    .visit_field::<u32>("op", FIRST, false)?
    .visit_field::<ForwardsUOffset<Vector<'_, u32>>>(
    "args", SECOND, true
)?);
table!(FlatStream, |visit| visit.visit_field::<ForwardsUOffset<
    Vector<'_, ForwardsUOffset<FlatCommand<'_>>>,
>>("commands", FIRST, true)?);

impl<'a> FlatCommand<'a> {
    fn op(&self) -> u32 {
        // SAFETY: the table was verified with a field of this type.
        unsafe { self.0.get::<u32>(FIRST, Some(0)) }.unwrap_or(0)
    }

    fn args(&self) -> Option<Vector<'a, u32>> {
        // SAFETY: the table was verified with a field of this type.
        unsafe { self.0.get::<ForwardsUOffset<Vector<'a, u32>>>(SECOND, None) }
    }
}

impl<'a> FlatStream<'a> {
    fn commands(&self) -> Option<Vector<'a, ForwardsUOffset<FlatCommand<'a>>>> {
        // SAFETY: the table was verified with a field of this type.
        unsafe {
            self.0
                .get::<ForwardsUOffset<Vector<'a, ForwardsUOffset<FlatCommand<'a>>>>>(FIRST, None)
        }
    }
}

/// The bytes of some commands.
pub fn encode(commands: &[Command]) -> Vec<u8> {
    let mut builder = FlatBufferBuilder::new();
    let mut words = Vec::new();
    let commands: Vec<WIPOffset<FlatCommand<'_>>> = commands
        .iter()
        .map(|command| {
            words.clear();
            command.put(&mut words);
            let args = builder.create_vector(&words[1..]);
            let start = builder.start_table();
            builder.push_slot_always(SECOND, args);
            builder.push_slot(FIRST, words[0], 0);
            let end = builder.end_table(start);
            WIPOffset::new(end.value())
        })
        .collect();
    let commands = builder.create_vector(&commands);
    let start = builder.start_table();
    builder.push_slot_always(FIRST, commands);
    let end = builder.end_table(start);
    builder.finish_minimal(end);
    builder.finished_data().to_vec()
}

/// The words of each command, where the bytes are verified.
fn for_each(bytes: &[u8], mut visit: impl FnMut(&[u32]) -> Option<()>) -> Option<()> {
    let options = VerifierOptions {
        max_tables: usize::MAX,
        ..VerifierOptions::default()
    };
    let stream = flatbuffers::root_with_opts::<FlatStream<'_>>(&options, bytes).ok()?;
    let mut words = Vec::new();
    for command in stream.commands()? {
        words.clear();
        words.push(command.op());
        words.extend(command.args()?);
        visit(&words)?;
    }
    Some(())
}

/// How many commands there are, where every rule holds. The rules are those that `wire` asks of one command.
pub fn read(bytes: &[u8], data_len: u32) -> Option<usize> {
    let (mut context, mut count) = (wire::Context::Outside, 0);
    for_each(bytes, |words| {
        let (op, args) = (wire::Op::from_word(words[0])?, &words[1..]);
        context = Command::of(wire::Cmd { word: 0, op, args }).next(context, data_len)?;
        count += 1;
        Some(())
    })?;
    (context == wire::Context::Outside).then_some(count)
}

/// The commands again.
pub fn decode(bytes: &[u8]) -> Vec<Command> {
    let mut commands = Vec::new();
    for_each(bytes, |words| {
        let (op, args) = (wire::Op::from_word(words[0])?, &words[1..]);
        commands.push(Command::of(wire::Cmd { word: 0, op, args }));
        Some(())
    })
    .expect("they come back");
    commands
}
