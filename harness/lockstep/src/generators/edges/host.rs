//! Edges of the host's side: id maps (section 3), ranges (section 5), the read check (section 6).

use wire::{ArgKind, Context, Kind, Op, Reason};

use super::commands::{
    CONTEXTS, Change, Command, NOT_GRANTED, PLAIN, RENDER_PASS, Wrong, contexts_of, guest, host, letter, plain,
};
use super::draft::{Draft, buffer, first_context, grant, plain_host};
use super::values::{halves, number};
use super::{Due, Edge, Edges};
use crate::case::{Object, StreamCase};
use crate::readers::answer::Refused;

/// 2^53 - 1, the largest offset and size that a stream can say.
const SAFE: u64 = (1 << 53) - 1;

fn set(at: usize, word: u32) -> Change {
    Change {
        set: vec![(at, word)],
        ..Change::default()
    }
}

fn set_long(at: usize, value: u64) -> Change {
    let [low, high] = halves(value);
    Change {
        set: vec![(at, low), (at + 1, high)],
        ..Change::default()
    }
}

/// An id of the guest, what it is granted as, and what that shows.
const GRANTS: [(u32, Option<u32>, &str); 12] = [
    (200, Some(201), "granted"),
    (200, Some(200), "granted as itself"),
    (200, Some(1), "granted as 1"),
    (200, Some(0x8000_0000), "granted as 2^31"),
    (200, Some(u32::MAX), "granted as 2^32 - 1"),
    (200, Some(17), "granted as another id of the guest's"),
    (200, Some(0), "granted as 0"),
    (200, None, "not granted"),
    (1, Some(200), "1, granted"),
    (0x8000_0000, Some(200), "2^31, granted"),
    (u32::MAX, Some(u32::MAX), "2^32 - 1, granted as itself"),
    (u32::MAX, Some(0), "2^32 - 1, granted as 0"),
];

pub fn maps() -> Edges {
    let with_ids = PLAIN.iter().filter(|command| !command.ids.is_empty());
    Box::new(with_ids.flat_map(|command| {
        let of_id = |&at: &usize| id_edges(command, at);
        let edges: Vec<Edge> = command.ids.iter().flat_map(of_id).collect();
        edges.into_iter().chain(whole_maps(command))
    }))
}

/// One id of a command, granted in every way; and 0, which is never asked for, also where the host would grant it.
fn id_edges(command: &Command, at: usize) -> Vec<Edge> {
    let named = command.fields.iter().find(|field| field.at == at);
    let Some(field) = named else { return Vec::new() };
    let context = first_context(command.op);
    let edge = |from: u32, to: Option<u32>, what: &str, wrong: Option<Reason>| {
        let mut case = plain_host();
        if let Some(to) = to {
            grant(&mut case, from, to);
        }
        let order = (7, at);
        let change = Change {
            wrong: wrong.map(|reason| Wrong { order, at, reason }),
            ..set(at, from)
        };
        let mut draft = Draft::within(context);
        draft.push_with(command, &[&change]);
        let name = format!("{}: {} {what}", command.op, field.name);
        draft.end().edge_for(name, case)
    };
    let refused = |to: Option<u32>| to.is_none_or(|to| to == 0).then_some(Reason::UnknownId);
    let mut edges: Vec<Edge> = GRANTS
        .iter()
        .map(|&(from, to, what)| edge(from, to, what, refused(to)))
        .collect();
    let zero = matches!(field.kind, ArgKind::Id(_)).then_some(Reason::ZeroId);
    edges.push(edge(0, Some(7), "0, which the map would grant", zero));
    edges.push(edge(0, Some(0), "0, which the map would grant as 0", zero));
    edges
}

/// All ids of a command the same; ids that are granted as one another; nothing granted; and two commands alike, so that what the first
/// was rewritten to is not asked for again.
fn whole_maps(command: &'static Command) -> Vec<Edge> {
    let context = first_context(command.op);
    let edge = |case: StreamCase, change: &Change, what: &str| {
        let mut draft = Draft::within(context);
        draft.push_with(command, &[change]);
        if !matches!(command.op, Op::BeginRenderPass) {
            draft.push_with(command, &[change]);
        }
        draft.end().edge_for(format!("{}: {what}", command.op), case)
    };
    let same = Change {
        set: command.ids.iter().map(|&at| (at, guest(Kind::Buffer))).collect(),
        ..Change::default()
    };
    let mut swapped = plain_host();
    for pair in [[Kind::Buffer, Kind::Texture], [Kind::TextureView, Kind::RenderBundle]] {
        grant(&mut swapped, guest(pair[0]), guest(pair[1]));
        grant(&mut swapped, guest(pair[1]), guest(pair[0]));
    }
    let mut shifted = plain_host();
    Kind::ALL
        .iter()
        .for_each(|&kind| grant(&mut shifted, guest(kind), guest(kind) + 1));
    let first = command.ids[0];
    let nothing = Change {
        wrong: Some(Wrong {
            order: (7, first),
            at: first,
            reason: Reason::UnknownId,
        }),
        ..Change::default()
    };
    let empty = StreamCase {
        id_map: Vec::new(),
        ..plain_host()
    };
    vec![
        edge(plain_host(), &same, "all ids the same, twice"),
        edge(swapped, &Change::default(), "ids granted as each other, twice"),
        edge(shifted, &Change::default(), "ids granted as the next one, twice"),
        edge(empty, &nothing, "an empty map"),
    ]
}

/// Sizes of buffers at which a sum or a comparison may go wrong; `length` is what the command takes.
fn sizes(length: u64) -> Vec<u64> {
    let near = [length.saturating_sub(1), length, length + 1];
    let fixed = [
        0,
        1,
        64,
        (1 << 32) - 1,
        1 << 32,
        (1 << 32) + 1,
        SAFE,
        SAFE + 1,
        SAFE + 2,
        SAFE + 64,
        1 << 63,
        u64::MAX,
    ];
    ascending(near.into_iter().chain(fixed))
}

/// Offsets of a range of `length` bytes about the end of a buffer, and about the places where 32 and 53 bits end.
fn offsets(size: u64, length: u64) -> Vec<u64> {
    let fit = size.saturating_sub(length);
    let near = [
        fit.saturating_sub(1),
        fit,
        fit.saturating_add(1),
        size,
        size.saturating_add(1),
    ];
    let wrap = (1 << 32) - length.min(1 << 32);
    let fixed = [
        0,
        1,
        wrap,
        wrap + 1,
        (1 << 32) - 1,
        1 << 32,
        SAFE - length.min(SAFE),
        SAFE,
    ];
    let sayable = near.into_iter().chain(fixed).filter(|&offset| offset <= SAFE);
    ascending(sayable)
}

fn ascending(numbers: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut list: Vec<u64> = numbers.collect();
    list.sort_unstable();
    list.dedup();
    list
}

fn inside(offset: u64, length: u64, size: u64) -> bool {
    u128::from(offset) + u128::from(length) <= u128::from(size)
}

/// The plain host with another buffer in place of its own.
fn with_buffer(size: u64) -> StreamCase {
    let mut case = plain_host();
    case.objects[0] = buffer(host(Kind::Buffer), size, u32::MAX);
    case
}

/// The edge of a command that is refused by CheckRanges, or not.
fn range_edge(name: String, draft: Draft, case: StreamCase, refused: Option<Refused>) -> Edge {
    let edge = draft.edge_for(name, case);
    Edge {
        due: Due {
            ranges: Some(refused.map_or(Ok(()), Err)),
            ..edge.due
        },
        ..edge
    }
}

fn refusal(at: u32, op: Op, reason: Reason) -> Refused {
    Refused {
        at,
        op: Some(op),
        reason,
    }
}

pub fn ranges() -> Edges {
    let fixed = [
        (Op::DispatchIndirect, 12),
        (Op::DrawIndirect, 16),
        (Op::DrawIndexedIndirect, 20),
    ];
    let writes = [0, 4, 8, 12].map(|length| (Op::WriteBuffer, length));
    let rows = writes
        .into_iter()
        .chain(fixed)
        .flat_map(|row| contexts_of(row.0).map(move |context| (row, context)));
    let ends = rows.flat_map(|((op, length), context)| {
        let mut edges = Vec::new();
        for size in sizes(length) {
            for offset in offsets(size, length) {
                edges.push(range_of(op, context, length, size, offset));
            }
        }
        edges
    });
    let ops = fixed.into_iter().chain([(Op::WriteBuffer, 0)]).map(|row| row.0);
    let others = ops.flat_map(|op| contexts_of(op).flat_map(move |context| not_buffers(op, context)));
    Box::new(ends.chain(others))
}

fn range_of(op: Op, context: Context, length: u64, size: u64, offset: u64) -> Edge {
    let command = plain(op);
    let at = set_long(command.field("offset").at, offset);
    let bytes = match op {
        Op::WriteBuffer => set(command.field("length").at, length as u32),
        _ => Change::default(),
    };
    let mut draft = Draft::within(context);
    let index = draft.commands();
    draft.push_with(command, &[&at, &bytes]);
    let due = (!inside(offset, length, size)).then_some(refusal(index, op, Reason::OutOfRange));
    let name = format!(
        "{op} in {}: {length} bytes at {} of a buffer of {}",
        letter(context),
        number(offset),
        number(size)
    );
    range_edge(name, draft.end(), with_buffer(size), due)
}

/// The replayer's ids that are no buffer, and a guest's id for each.
fn no_buffers() -> [(&'static str, u32); 2] {
    [("a texture", host(Kind::Texture)), ("nothing", 77)]
}

fn not_buffers(op: Op, context: Context) -> Vec<Edge> {
    let command = plain(op);
    let edge = |(what, id)| {
        let mut case = plain_host();
        grant(&mut case, guest(Kind::Buffer), id);
        let mut draft = Draft::within(context);
        let due = refusal(draft.commands(), op, Reason::NotABuffer);
        draft.push(command);
        let name = format!("{op} in {}: the id names {what}", letter(context));
        range_edge(name, draft.end(), case, Some(due))
    };
    no_buffers().map(edge).into()
}

/// The guest's ids of the two buffers of a copy, and the replayer's.
const SRC: (u32, u32) = (301, 1);
const DST: (u32, u32) = (302, 12);

/// One end of a copy.
#[derive(Clone, Copy)]
struct End {
    object: Option<Kind>,
    size: u64,
    offset: u64,
}

impl End {
    /// What is wrong with it, by the table of section 5.
    fn refused(self, length: u64) -> Option<Reason> {
        match self.object {
            Some(Kind::Buffer) if inside(self.offset, length, self.size) => None,
            Some(Kind::Buffer) => Some(Reason::OutOfRange),
            _ => Some(Reason::NotABuffer),
        }
    }

    fn object(self, id: u32) -> Option<Object> {
        let made = buffer(id, self.size, u32::MAX);
        self.object.map(|kind| Object { kind, ..made })
    }
}

fn copy(name: String, src: End, dst: End, length: u64) -> Edge {
    let command = plain(Op::CopyBufferToBuffer);
    let mut case = plain_host();
    case.objects = [src.object(SRC.1), dst.object(DST.1)].into_iter().flatten().collect();
    for (from, to) in [SRC, DST] {
        grant(&mut case, from, to);
    }
    let changes = [
        set(command.field("src").at, SRC.0),
        set_long(command.field("srcOffset").at, src.offset),
        set(command.field("dst").at, DST.0),
        set_long(command.field("dstOffset").at, dst.offset),
        set_long(command.field("size").at, length),
    ];
    let mut draft = Draft::within(Context::Outside);
    draft.push_with(command, &changes.each_ref());
    // The destination is looked at only where the source is in order.
    let reason = src.refused(length).or(dst.refused(length));
    let due = reason.map(|reason| refusal(0, Op::CopyBufferToBuffer, reason));
    range_edge(name, draft.end(), case, due)
}

pub fn copies() -> Edges {
    let lengths = [0, 1, 4, (1 << 32) - 1, 1 << 32, SAFE - 1, SAFE];
    let about_ends = lengths.into_iter().flat_map(|length| {
        let mut edges = Vec::new();
        let wide = End {
            object: Some(Kind::Buffer),
            size: u64::MAX,
            offset: SAFE,
        };
        for size in sizes(length) {
            for offset in offsets(size, length) {
                let end = End { size, offset, ..wide };
                let [bytes, at, of] = [length, offset, size].map(number);
                for (side, src, dst) in [("source", end, wide), ("destination", wide, end)] {
                    let name = format!("CopyBufferToBuffer of {bytes} bytes at {at} of a {side} of {of}");
                    edges.push(copy(name, src, dst, length));
                }
            }
        }
        edges
    });
    Box::new(about_ends.chain(copy_order()))
}

/// Each end in order, past its end, of another kind, nothing: which of them is looked at first.
fn copy_order() -> Vec<Edge> {
    let end = |object, offset| End {
        object,
        size: 64,
        offset,
    };
    let ends = [
        ("in order", end(Some(Kind::Buffer), 56)),
        ("one byte over", end(Some(Kind::Buffer), 57)),
        ("a texture", end(Some(Kind::Texture), 0)),
        ("nothing", end(None, 0)),
    ];
    let pairs = ends.iter().flat_map(|src| ends.iter().map(move |dst| (src, dst)));
    let edge = |(src, dst): (&(&str, End), &(&str, End))| {
        let name = format!("CopyBufferToBuffer: the source {}, the destination {}", src.0, dst.0);
        copy(name, src.1, dst.1, 8)
    };
    pairs.map(edge).collect()
}

pub fn workgroups() -> Edges {
    let bounds = [0, 1, 2, 65535, 65536, u32::MAX - 1, u32::MAX];
    Box::new(bounds.into_iter().flat_map(|given: u32| {
        let bound = if given == 0 { 65535 } else { given };
        let near = [0, 1, bound - 1, bound, bound.saturating_add(1), u32::MAX];
        let counts = ascending(near.into_iter().map(u64::from));
        let mut edges = Vec::new();
        for &x in &counts {
            for &y in &counts {
                for &z in &counts {
                    edges.push(dispatch(given, bound, [x, y, z]));
                }
            }
        }
        edges
    }))
}

fn dispatch(given: u32, bound: u32, counts: [u64; 3]) -> Edge {
    let changes = [1, 2, 3].map(|at| set(at, counts[at - 1] as u32));
    let mut draft = Draft::within(Context::Compute);
    let due = refusal(draft.commands(), Op::Dispatch, Reason::TooManyWorkgroups);
    draft.push_with(plain(Op::Dispatch), &changes.each_ref());
    let mut case = plain_host();
    case.max_workgroups = given;
    let over = counts.iter().any(|&count| count > u64::from(bound));
    let [x, y, z] = counts.map(number);
    let name = format!("Dispatch {x} {y} {z} under a bound of {}", number(u64::from(given)));
    range_edge(name, draft.end(), case, over.then_some(due))
}

/// A command that CheckRanges refuses, what is wrong with it, and the reason.
type Refusable = (&'static Command, &'static str, Vec<Change>, Reason);

/// Every refusal of section 5, once.
fn refusables() -> Vec<Refusable> {
    let texture = guest(Kind::Texture);
    let named = [
        (Op::WriteBuffer, "buffer", "offset"),
        (Op::CopyBufferToBuffer, "src", "srcOffset"),
        (Op::CopyBufferToBuffer, "dst", "dstOffset"),
        (Op::DispatchIndirect, "buffer", "offset"),
        (Op::DrawIndirect, "buffer", "offset"),
        (Op::DrawIndexedIndirect, "buffer", "offset"),
    ];
    let mut list = Vec::new();
    for (op, id, offset) in named {
        let command = plain(op);
        let past = set_long(command.field(offset).at, SAFE);
        list.push((command, offset, vec![past], Reason::OutOfRange));
        let other = set(command.field(id).at, texture);
        list.push((command, id, vec![other], Reason::NotABuffer));
    }
    let many = set(1, 65536);
    list.push((plain(Op::Dispatch), "x", vec![many], Reason::TooManyWorkgroups));
    list
}

/// Two refused commands, each in a pass of its own, after one that is in order; with a Submit between them and without.
pub fn range_order() -> Edges {
    Box::new(refusables().into_iter().flat_map(|a| {
        let mut edges = Vec::new();
        for b in refusables() {
            for between in [true, false] {
                edges.push(two_refused(&a, &b, between));
            }
        }
        edges
    }))
}

fn two_refused(a: &Refusable, b: &Refusable, between: bool) -> Edge {
    let mut draft = Draft::within(Context::Outside);
    draft.push(plain(Op::WriteBuffer));
    let first = in_pass(&mut draft, a);
    if between {
        draft.push(plain(Op::Submit));
    }
    in_pass(&mut draft, b);
    let what = |refused: &Refusable| format!("{} {}", refused.0.op, refused.1);
    let then = if between { ", Submit, " } else { ", " };
    let name = format!("{}{then}{}", what(a), what(b));
    range_edge(name, draft, plain_host(), Some(refusal(first, a.0.op, a.3)))
}

/// Appends a command in the pass that it needs; gives its index.
fn in_pass(draft: &mut Draft, (command, _, changes, _): &Refusable) -> u32 {
    let begin = match first_context(command.op) {
        Context::Render => Some(&*RENDER_PASS),
        Context::Compute => Some(plain(Op::BeginComputePass)),
        _ => None,
    };
    begin.iter().for_each(|begin| draft.push(begin));
    let index = draft.commands();
    draft.push_with(command, &changes.iter().collect::<Vec<_>>());
    if begin.is_some() {
        draft.push(plain(Op::EndPass));
    }
    index
}

/// A read, what it reads from, and the window.
#[derive(Clone, Copy)]
struct ReadOf {
    object: Option<Kind>,
    usage: u32,
    buffer: u64,
    offset: u64,
    size: u32,
    window_offset: u32,
    window: u32,
}

impl ReadOf {
    const FINE: ReadOf = ReadOf {
        object: Some(Kind::Buffer),
        usage: 1,
        buffer: 64,
        offset: 56,
        size: 8,
        window_offset: 8,
        window: 16,
    };

    /// The first of section 6's four that fails.
    fn refused(self) -> Option<Reason> {
        let window_end = u64::from(self.window_offset) + u64::from(self.size);
        let checks = [
            (self.object != Some(Kind::Buffer), Reason::NotABuffer),
            (self.usage & 1 == 0, Reason::NoMapRead),
            (
                !inside(self.offset, u64::from(self.size), self.buffer),
                Reason::OutOfRange,
            ),
            (window_end > u64::from(self.window), Reason::PastWindow),
        ];
        checks.into_iter().find(|check| check.0).map(|check| check.1)
    }

    /// Its edge in a context, after `before` reads that nothing is wrong with.
    fn edge(self, name: String, context: Context, before: u32) -> Edge {
        const OTHER: (u32, u32) = (301, 21);
        let command = plain(Op::ReadBuffer);
        let mut case = plain_host();
        let made = buffer(host(Kind::Buffer), self.buffer, self.usage);
        case.objects = self.object.map(|kind| Object { kind, ..made }).into_iter().collect();
        case.objects.push(buffer(OTHER.1, 64, 1));
        grant(&mut case, OTHER.0, OTHER.1);
        case.window = self.window;
        let mut draft = Draft::within(context);
        let (id, offset, size) = (command.field("buffer"), command.field("offset"), command.field("size"));
        let window = command.field("windowOffset");
        // Of four bytes to the window's begin, where only an empty window is too small.
        for _ in 0..before {
            let changes = [set(id.at, OTHER.0), set(size.at, 4), set(window.at, 0)];
            draft.push_with(command, &changes.each_ref());
        }
        let changes = [
            set_long(offset.at, self.offset),
            set(size.at, self.size),
            set(window.at, self.window_offset),
        ];
        draft.push_with(command, &changes.each_ref());
        let due = self.refused().map(|reason| Refused {
            at: before,
            op: None,
            reason,
        });
        let edge = draft.end().edge_for(name, case);
        Edge {
            due: Due {
                // Section 5 does not look at reads.
                ranges: Some(Ok(())),
                read_check: Some(due.map_or(Ok(()), Err)),
                ..edge.due
            },
            ..edge
        }
    }
}

/// Every set of the four refusals, the first of them in both its kinds.
pub fn read_check() -> Edges {
    let objects = [
        ("a buffer", Some(Kind::Buffer)),
        ("a texture", Some(Kind::Texture)),
        ("nothing", None),
    ];
    let flags = |bits: u32| [bits & 1 != 0, bits & 2 != 0, bits & 4 != 0];
    let cases = objects
        .into_iter()
        .flat_map(|object| CONTEXTS.map(|context| (object, context)));
    Box::new(cases.flat_map(move |((what, object), context)| {
        let mut edges = Vec::new();
        for bits in 0..8 {
            for before in [0, 1, 2] {
                let [no_map_read, past_end, past_window] = flags(bits);
                let read = ReadOf {
                    object,
                    usage: if no_map_read { !1 } else { 1 },
                    offset: if past_end { 64 } else { 56 },
                    window_offset: if past_window { 9 } else { 8 },
                    ..ReadOf::FINE
                };
                let mut name = format!("read {before} in {} from {what}", letter(context));
                let wrongs = [
                    (no_map_read, "no MAP_READ"),
                    (past_end, "past its end"),
                    (past_window, "past the window"),
                ];
                for (_, wrong) in wrongs.iter().filter(|wrong| wrong.0) {
                    name += &format!(", {wrong}");
                }
                edges.push(read.edge(name, context, before));
            }
        }
        edges
    }))
}

pub fn read_ranges() -> Edges {
    Box::new(read_usages().chain(read_ends()).chain(read_windows()))
}

fn read_usages() -> impl Iterator<Item = Edge> {
    let usages = [
        0,
        1,
        2,
        3,
        4,
        9,
        0x3FE,
        0x3FF,
        0x1_0000,
        0x8000_0000,
        0x8000_0001,
        u32::MAX - 1,
        u32::MAX,
    ];
    usages.into_iter().map(|usage| {
        let read = ReadOf { usage, ..ReadOf::FINE };
        read.edge(
            format!("a read from a buffer of usage {}", number(u64::from(usage))),
            Context::Outside,
            0,
        )
    })
}

fn read_ends() -> impl Iterator<Item = Edge> {
    let sizes_read = [4, 8, 64 << 20];
    sizes_read.into_iter().flat_map(|size: u32| {
        let mut edges = Vec::new();
        for buffer in sizes(u64::from(size)) {
            // Decode lets multiples of 8 through.
            let offsets = offsets(buffer, u64::from(size)).into_iter();
            for offset in ascending(
                offsets
                    .flat_map(|offset| [offset & !7, (offset & !7) + 8])
                    .filter(|&at| at <= SAFE),
            ) {
                let read = ReadOf {
                    buffer,
                    offset,
                    size,
                    window_offset: 0,
                    window: u32::MAX,
                    ..ReadOf::FINE
                };
                let [bytes, at, of] = [u64::from(size), offset, buffer].map(number);
                edges.push(read.edge(
                    format!("a read of {bytes} bytes at {at} of a buffer of {of}"),
                    Context::Outside,
                    0,
                ));
            }
        }
        edges
    })
}

fn read_windows() -> impl Iterator<Item = Edge> {
    const REACH: u32 = 64 << 20;
    [4, 8, REACH - 4, REACH].into_iter().flat_map(|size: u32| {
        let mut edges = Vec::new();
        let starts = ascending(
            [0, 1, 4, REACH - size]
                .into_iter()
                .filter(|at| at + size <= REACH)
                .map(u64::from),
        );
        for start in starts {
            let end = start as u32 + size;
            for window in ascending(
                [0, 1, end - 1, end, end + 1, REACH, 1 << 31, u32::MAX]
                    .into_iter()
                    .map(u64::from),
            ) {
                let read = ReadOf {
                    buffer: u64::from(REACH),
                    offset: 0,
                    size,
                    window_offset: start as u32,
                    window: window as u32,
                    ..ReadOf::FINE
                };
                let [bytes, at, of] = [u64::from(size), start, window].map(number);
                edges.push(read.edge(
                    format!("a read of {bytes} bytes to {at} of a window of {of}"),
                    Context::Outside,
                    0,
                ));
            }
        }
        edges
    })
}

/// For a descriptor: what each reference is granted as.
pub fn reference_host() -> StreamCase {
    let mut case = plain_host();
    grant(&mut case, 0, 7);
    grant(&mut case, 200, 200);
    grant(&mut case, 201, u32::MAX);
    grant(&mut case, u32::MAX, 1);
    debug_assert!(case.id_map.iter().all(|pair| pair.0 != NOT_GRANTED));
    case
}
