//! Exhaustive at the edges: wherever a rule of wire.md turns, the cases on both sides of it, all of them, in the same order always.
//!
//! [`FAMILIES`] is the table. A family goes through the opcodes, contexts, fields or lengths that its line names; what a field is comes
//! from [`wire::layout`], what is due comes from the page and is written down here, in `commands` and `values`, apart from every reader.
//! Where more than one thing is wrong the order of the checks says which is due. Nothing is drawn, so a case is named by its index.

mod bytes;
mod commands;
mod decode;
mod draft;
mod host;
mod values;

use std::sync::LazyLock;

use wire::Reason;

use crate::case::StreamCase;
use crate::readers::answer::{DescriptorAnswer, Refused};

/// A case at an edge.
#[derive(Clone, Debug, PartialEq)]
pub struct Edge {
    /// Its line of [`FAMILIES`].
    pub family: &'static str,
    /// What it shows, such as `BeginRenderPass in T: color[1].loadOp = 3`.
    pub name: String,
    /// The case.
    pub case: StreamCase,
    /// What every reader must answer.
    pub due: Due,
}

/// What the page asks for, part by part as in [`crate::readers::answer::StreamAnswer`]. `None`: the table does not say, or no reader
/// comes to this part.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Due {
    /// The blob's header.
    pub header: Option<Result<(), Reason>>,
    /// Decode: the word of each command.
    pub decode: Option<Result<Vec<u32>, Refused>>,
    /// Remap: all words, rewritten.
    pub remap: Option<Result<Vec<u32>, Refused>>,
    /// CheckRanges.
    pub ranges: Option<Result<(), Refused>>,
    /// The read check.
    pub read_check: Option<Result<(), Refused>>,
    /// The case's one descriptor.
    pub descriptor: Option<DescriptorAnswer>,
}

/// Edges, one after the other; each is made when it is asked for, with the few that belong together.
pub type Edges = Box<dyn Iterator<Item = Edge>>;

/// One line of the table: a name for reports, what it goes through, and how.
pub struct Family {
    /// Its name.
    pub name: &'static str,
    /// What it goes through.
    pub shows: &'static str,
    edges: fn() -> Edges,
}

const fn family(name: &'static str, shows: &'static str, edges: fn() -> Edges) -> Family {
    Family { name, shows, edges }
}

/// All families.
pub static FAMILIES: [Family; 19] = [
    family(
        "command sequences",
        "every sequence of up to three plain commands: contexts, passes left open",
        decode::sequences,
    ),
    family(
        "opcodes",
        "every other word up to 64, and every opcode with a high bit set, in every context",
        decode::opcodes,
    ),
    family(
        "fields",
        "every field of every opcode at every edge value, in every context",
        decode::fields,
    ),
    family(
        "cut commands",
        "every opcode and shape cut at every length, in every context, alone and with words after it",
        decode::cuts,
    ),
    family(
        "counts",
        "counts of 0, 1, 2, about the limit and past it, with their items, one word short, one word over",
        decode::counts,
    ),
    family(
        "two faults in a command",
        "every two faults of every opcode, each cut among them, in one command: the order of checks",
        decode::pairs,
    ),
    family(
        "faults in two commands",
        "a fault for each check and reason, every two of them in two commands: the first command's is due",
        decode::two_commands,
    ),
    family(
        "data of a write",
        "dataOffset and length about the length of the data and about 2^32 (checks 8 and 9)",
        decode::data,
    ),
    family(
        "reads",
        "offset, size and windowOffset of ReadBuffer about their bounds, all together (check 10)",
        decode::reads,
    ),
    family(
        "id maps",
        "every id of every opcode granted as an edge value, as itself, as 0, not granted",
        host::maps,
    ),
    family(
        "buffer ranges",
        "writes and indirect arguments about the end of buffers of every edge size (section 5)",
        host::ranges,
    ),
    family(
        "buffer copies",
        "copies about the end of either buffer; the order in which the two are looked at (section 5)",
        host::copies,
    ),
    family(
        "workgroups",
        "x, y and z about bounds of 0, 1, 65535, 65536 and 2^32 - 1 (section 5)",
        host::workgroups,
    ),
    family(
        "order of ranges",
        "every two range refusals in two commands: the first command's is due (section 5)",
        host::range_order,
    ),
    family(
        "read check",
        "every set of what can be wrong with a read, as first and second read, in every context (section 6)",
        host::read_check,
    ),
    family(
        "read ranges",
        "reads about the end of buffer and window, usages about MAP_READ (section 6)",
        host::read_ranges,
    ),
    family(
        "blob headers",
        "every field of the header at its edges, every two faults, every length (section 1)",
        bytes::headers,
    ),
    family(
        "descriptor counts",
        "counts about the limit and past it, every cut (section 7)",
        bytes::counts,
    ),
    family(
        "descriptor references",
        "three references, each granted, as itself, as 0, not granted, 0 (section 7)",
        bytes::references,
    ),
];

/// All edges, in the order of the table.
pub fn edges() -> impl Iterator<Item = Edge> {
    FAMILIES.iter().flat_map(|family| {
        let name = family.name;
        (family.edges)().map(move |edge| Edge { family: name, ..edge })
    })
}

/// How many there are.
pub fn count() -> u64 {
    static COUNT: LazyLock<u64> = LazyLock::new(|| edges().count() as u64);
    *COUNT
}

/// The edge of an index, from 0.
pub fn edge(index: u64) -> Option<Edge> {
    edges().nth(usize::try_from(index).ok()?)
}

/// Gives ranges of edges. Ranges that ascend, as a worker's rounds do, cost one way through the table in all.
#[derive(Default)]
pub struct Cursor {
    next: u64,
    rest: Option<Edges>,
}

impl Cursor {
    /// The edges of these indices.
    pub fn take(&mut self, indices: std::ops::Range<u64>) -> Vec<Edge> {
        if indices.start < self.next {
            *self = Cursor::default();
        }
        let rest = self.rest.get_or_insert_with(|| Box::new(edges()));
        let skipped = (indices.start - self.next) as usize;
        self.next = indices.end;
        rest.skip(skipped)
            .take((indices.end - indices.start) as usize)
            .collect()
    }
}
