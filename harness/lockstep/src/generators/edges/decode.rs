//! Edges of sections 2 and 3: what Decode and Remap say of the words.

use wire::{Context, Op, Reason};

use super::commands::{
    CONTEXTS, Change, Command, PLAIN, RENDER_PASS, Wrong, changes, contexts_of, cut, faults, letter, may_stand,
    one_of_each, plain,
};
use super::draft::{Draft, first_context};
use super::values::number;
use super::{Due, Edge, Edges};

/// Every opcode with every context, in the order of section 2.
fn everywhere() -> impl Iterator<Item = (&'static Command, Context)> {
    PLAIN
        .iter()
        .flat_map(|command| CONTEXTS.into_iter().map(move |context| (command, context)))
}

/// Every opcode with the contexts that it may stand in.
fn where_allowed() -> impl Iterator<Item = (&'static Command, Context)> {
    everywhere().filter(|(command, context)| may_stand(command.op, *context))
}

fn title(op: Op, context: Context) -> String {
    format!("{op} in {}", letter(context))
}

/// A stream of one command in a context, whole.
fn one(command: &Command, context: Context, changes: &[&Change]) -> Draft {
    let mut draft = Draft::within(context);
    draft.push_with(command, changes);
    draft.end()
}

/// Plain commands fit the plain host, so wherever they are accepted both checks accept them too.
pub fn sequences() -> Edges {
    // Passes as short as they get: what is in them is another family's.
    let with = |command: &'static Command| match command.op {
        Op::BeginRenderPass => &*RENDER_PASS,
        _ => command,
    };
    let each = move || PLAIN.iter().map(with);
    let none = std::iter::once(Vec::new());
    let ones = each().map(|a| vec![a]);
    let twos = each().flat_map(move |a| each().map(move |b| vec![a, b]));
    let threes = each().flat_map(move |a| each().flat_map(move |b| each().map(move |c| vec![a, b, c])));
    Box::new(none.chain(ones).chain(twos).chain(threes).map(|list| sequence(&list)))
}

fn sequence(list: &[&Command]) -> Edge {
    let mut draft = Draft::within(Context::Outside);
    list.iter().for_each(|command| draft.push(command));
    let names: Vec<&str> = list.iter().map(|command| command.op.name()).collect();
    let edge = draft.edge(match names.is_empty() {
        true => "no command".into(),
        false => names.join(", "),
    });
    let accepted = matches!(edge.due.remap, Some(Ok(_)));
    Edge {
        due: Due {
            ranges: accepted.then_some(Ok(())),
            read_check: accepted.then_some(Ok(())),
            ..edge.due
        },
        ..edge
    }
}

pub fn opcodes() -> Edges {
    let high = [1 << 8, 1 << 16, 1 << 24, 1 << 31];
    let low = (0..=64).filter(|&word| Op::from_word(word).is_none());
    let with_high = Op::ALL
        .into_iter()
        .flat_map(move |op| high.map(|bit: u32| op.word() | bit));
    // From 2^32 - 1 down.
    let negative = Op::ALL.map(|op| op.word().wrapping_neg());
    let words = low.chain(with_high).chain(negative).chain([1 << 31]);
    Box::new(words.flat_map(|word| {
        CONTEXTS.map(|context| {
            let mut draft = Draft::within(context);
            draft.push_unknown(word);
            let name = format!("opcode {} in {}", number(u64::from(word)), letter(context));
            draft.end().edge(name)
        })
    }))
}

pub fn fields() -> Edges {
    Box::new(everywhere().flat_map(|(command, context)| {
        let edge = move |change: Change| {
            let name = format!("{}: {}", title(command.op, context), change.name);
            one(command, context, &[&change]).edge(name)
        };
        changes(command).into_iter().map(edge)
    }))
}

/// The shapes of an opcode, with what sets them apart: a list of 0 to 3 items, a depth attachment or none.
fn shapes(op: Op) -> Vec<(String, Command)> {
    if COUNTED.iter().all(|row| row.0 != op) {
        return vec![(String::new(), Command::new(op, 0, false))];
    }
    let depths: &[bool] = if op == Op::BeginRenderPass {
        &[false, true]
    } else {
        &[false]
    };
    let shapes = (0..4).flat_map(|items| depths.iter().map(move |&depth| (items, depth)));
    shapes
        .map(|(items, depth)| {
            let with = if depth { " and depth" } else { "" };
            (format!(", {items} items{with}"), Command::new(op, items, depth))
        })
        .collect()
}

pub fn cuts() -> Edges {
    Box::new(PLAIN.iter().flat_map(|command| {
        let shapes = shapes(command.op).into_iter();
        shapes.flat_map(|(form, command)| {
            let lengths = 1..command.words.len();
            let edges = lengths.flat_map(|left| CONTEXTS.map(|context| cut_edges(&command, &form, left, context)));
            edges.flatten().collect::<Vec<_>>()
        })
    }))
}

/// A command cut, as the last of its stream and with words after it: an end of the pass, itself once more, zeros for whatever is
/// missing.
fn cut_edges(command: &Command, form: &str, left: usize, context: Context) -> Vec<Edge> {
    let end = [Op::EndPass.word(), Op::Submit.word()];
    let followers: [(&str, &[u32]); 4] = [
        ("", &[]),
        (", then EndPass and Submit", &end),
        (", then itself", &command.words),
        (", then 64 zeros", &[0; 64]),
    ];
    let change = cut(command, left);
    let edge = |(then, words): (&str, &[u32])| {
        let mut draft = Draft::within(context);
        draft.push_with(command, &[&change]);
        // Without a count the length of the command is known, whatever its words are.
        let missing = words.is_empty() || form.is_empty() && left + words.len() < command.words.len();
        draft.fill(words, missing);
        draft.edge(format!("{}{form}: {}{then}", title(command.op, context), change.name))
    };
    followers.into_iter().map(edge).collect()
}

/// The commands with a count, its limit, and the index of its word.
const COUNTED: [(Op, u32, usize); 3] = [
    (Op::SetBindGroup, 65536, 3),
    (Op::ExecuteBundles, 65536, 1),
    (Op::BeginRenderPass, 8, 1),
];

pub fn counts() -> Edges {
    let rows = COUNTED
        .into_iter()
        .flat_map(|row| contexts_of(row.0).map(move |context| (row, context)));
    Box::new(rows.flat_map(|((op, limit, at), context)| {
        let whole = [0, 1, 2, limit - 1, limit, limit + 1]
            .into_iter()
            .flat_map(move |count| whole_list(op, count, limit, at, context));
        let claims = [
            limit + 2,
            1 << 17,
            1 << 28,
            1 << 29,
            (1 << 29) + 1,
            1 << 30,
            (1 << 30) + 1,
            1 << 31,
            u32::MAX - 1,
            u32::MAX,
        ];
        let claims = claims
            .into_iter()
            .flat_map(move |count| claimed(op, count, at, context));
        let twice = (op == Op::BeginRenderPass).then(|| both_lists(limit, context));
        whole.chain(claims).chain(last_items(op, limit, context)).chain(twice)
    }))
}

/// A BeginRenderPass whose count and flag are both one too many, and all the words that they ask for: a reader that checks
/// neither goes on behind them.
fn both_lists(limit: u32, context: Context) -> Edge {
    let mut command = Command::new(Op::BeginRenderPass, limit + 1, true);
    let flag = command.flag().unwrap_or_default();
    command.words.extend_from_within(flag + 1..);
    command.words[flag] = 2;
    let name = format!("{}: a list of {}, hasDepth 2", title(command.op, context), limit + 1);
    one(&command, context, &[&too_many(1, Vec::new())]).edge(name)
}

fn too_many(at: usize, set: Vec<(usize, u32)>) -> Change {
    Change {
        set,
        wrong: Some(Wrong {
            order: (4, 0),
            at,
            reason: Reason::TooMany,
        }),
        ..Change::default()
    }
}

/// A list of the command with all its items, one word short, and one word over, which is no opcode.
fn whole_list(op: Op, count: u32, limit: u32, at: usize, context: Context) -> impl Iterator<Item = Edge> {
    let depths: &[bool] = if op == Op::BeginRenderPass {
        &[false, true]
    } else {
        &[false]
    };
    let cases = depths
        .iter()
        .flat_map(|&depth| ["", ", one word short", ", one word over"].map(|what| (depth, what)));
    cases.map(move |(depth, what)| {
        let command = match op {
            Op::BeginRenderPass => Command::new(op, count, depth),
            _ => Command::counted(op, count),
        };
        let over = too_many(at, Vec::new());
        let short = cut(&command, command.words.len() - 1);
        let mut list = Vec::new();
        list.extend((count > limit).then_some(&over));
        list.extend((what == ", one word short").then_some(&short));
        let mut draft = Draft::within(context);
        draft.push_with(&command, &list);
        if what == ", one word over" {
            draft.push_unknown(0);
        }
        let draft = if what == ", one word short" { draft } else { draft.end() };
        let with = if depth { " and depth" } else { "" };
        draft.edge(format!("{}: a list of {count}{with}{what}", title(op, context)))
    })
}

/// A count past the limit, without items and with two.
fn claimed(op: Op, count: u32, at: usize, context: Context) -> [Edge; 2] {
    [0, 2].map(|items| {
        let command = Command::new(op, items, false);
        let name = format!(
            "{}: a count of {} and {items} items",
            title(op, context),
            number(u64::from(count))
        );
        one(&command, context, &[&too_many(at, vec![(at, count)])]).edge(name)
    })
}

/// A fault in the last item of the longest list.
fn last_items(op: Op, limit: u32, context: Context) -> Vec<Edge> {
    let bad: &[(&str, u32, Reason)] = match op {
        Op::ExecuteBundles => &[
            ("0", 0, Reason::ZeroId),
            ("not granted", super::commands::NOT_GRANTED, Reason::UnknownId),
        ],
        Op::BeginRenderPass => &[("a NaN", f32::NAN.to_bits(), Reason::NonFinite)],
        _ => &[],
    };
    let command = match op {
        Op::BeginRenderPass => Command::new(op, limit, false),
        _ => Command::counted(op, limit),
    };
    // Of a BeginRenderPass the hasDepth word comes after it.
    let at = command.words.len() - 1 - usize::from(op == Op::BeginRenderPass);
    let edge = |&(what, word, reason): &(&str, u32, Reason)| {
        let change = Change {
            set: vec![(at, word)],
            wrong: Some(Wrong {
                order: (7, at),
                at,
                reason,
            }),
            ..Change::default()
        };
        let name = format!("{}: a list of {limit}, its last word {what}", title(op, context));
        one(&command, context, &[&change]).edge(name)
    };
    bad.iter().map(edge).collect()
}

pub fn pairs() -> Edges {
    Box::new(PLAIN.iter().flat_map(|command| {
        let mut list = faults(command);
        list.extend((1..command.words.len()).map(|left| cut(command, left)));
        let context = first_context(command.op);
        let mut edges = Vec::new();
        for (index, a) in list.iter().enumerate() {
            for b in list[index + 1..].iter().filter(|b| a.fits(b)) {
                let name = format!("{}: {} and {}", title(command.op, context), a.name, b.name);
                let mut draft = Draft::within(context);
                draft.push_with(command, &[a, b]);
                // A cut command stands last, since it would take what follows.
                let cut = a.cut.or(b.cut).is_some();
                edges.push(if cut { draft } else { draft.end() }.edge(name));
            }
        }
        edges
    }))
}

pub fn two_commands() -> Edges {
    let rows = where_allowed().flat_map(|(command, context)| {
        one_of_each(command)
            .into_iter()
            .map(move |fault| (command, context, fault))
    });
    Box::new(rows.flat_map(|(first, context, a)| {
        let seconds = where_allowed().filter(move |second| second.1 == context);
        seconds
            .flat_map(|(second, _)| {
                let a = &a;
                one_of_each(second).into_iter().map(move |b| {
                    let mut draft = Draft::within(context);
                    draft.push_with(first, &[a]);
                    draft.push_with(second, &[&b]);
                    let name = format!(
                        "{}: {}; then {}: {}",
                        title(first.op, context),
                        a.name,
                        second.op,
                        b.name
                    );
                    draft.end().edge(name)
                })
            })
            .collect::<Vec<_>>()
    }))
}

pub fn data() -> Edges {
    let rows = [(Op::WriteBuffer, "length"), (Op::WriteTexture, "dataLength")];
    let cases = rows
        .into_iter()
        .flat_map(|row| CONTEXTS.map(|context| (row, context)))
        .flat_map(|(row, context)| [0, 1, 3, 4, 16].map(|data| (row, context, data)));
    Box::new(cases.flat_map(|((op, length), context, data)| {
        let offsets = about(data, &[0, 1, 4, 1 << 31, u32::MAX - 15, u32::MAX - 3, u32::MAX]);
        let lengths = about(data, &[0, 1, 2, 3, 4, 8, 1 << 31, u32::MAX - 3, u32::MAX]);
        let command = plain(op);
        let (offset_at, length_at) = (command.field("dataOffset").at, command.field(length).at);
        let mut edges = Vec::new();
        for &offset in &offsets {
            for &bytes in &lengths {
                let change = Change {
                    set: vec![(offset_at, offset), (length_at, bytes)],
                    ..Change::default()
                };
                let mut draft = Draft::within(context);
                draft.data = data;
                draft.push_with(command, &[&change]);
                edges.push(draft.end().edge(format!(
                    "{}: {} bytes at {} of {data}",
                    title(op, context),
                    number(u64::from(bytes)),
                    number(u64::from(offset))
                )));
            }
        }
        edges
    }))
}

/// `edges`, and a number with its neighbours; ascending, each once.
fn about(number: u32, edges: &[u32]) -> Vec<u32> {
    let near = [number.saturating_sub(1), number, number + 1, number + 4];
    let mut list: Vec<u32> = edges.iter().copied().chain(near).collect();
    list.sort_unstable();
    list.dedup();
    list
}

pub fn reads() -> Edges {
    const REACH: u32 = 64 << 20;
    const OFFSETS: [u64; 14] = [
        0,
        1,
        2,
        4,
        7,
        8,
        (1 << 32) - 8,
        (1 << 32) - 4,
        1 << 32,
        (1 << 32) + 4,
        (1 << 53) - 8,
        (1 << 53) - 4,
        1 << 53,
        (1 << 53) + 4,
    ];
    const SIZES: [u32; 13] = [
        0,
        1,
        2,
        3,
        4,
        6,
        8,
        REACH - 4,
        REACH,
        REACH + 4,
        1 << 31,
        u32::MAX - 3,
        u32::MAX,
    ];
    const WINDOWS: [u32; 12] = [
        0,
        1,
        4,
        REACH - 8,
        REACH - 5,
        REACH - 4,
        REACH - 3,
        REACH - 1,
        REACH,
        REACH + 1,
        u32::MAX - 3,
        u32::MAX,
    ];
    let command = plain(Op::ReadBuffer);
    let at = ["offset", "size", "windowOffset"].map(|name| command.field(name).at);
    Box::new(OFFSETS.into_iter().flat_map(move |offset| {
        let [low, high] = super::values::halves(offset);
        let edges = SIZES.into_iter().flat_map(move |size| {
            WINDOWS.map(|window| {
                let safe = offset < 1 << 53;
                let change = Change {
                    set: vec![(at[0], low), (at[0] + 1, high), (at[1], size), (at[2], window)],
                    wrong: (!safe).then_some(Wrong {
                        order: (7, at[0]),
                        at: at[0],
                        reason: Reason::UnsafeInteger,
                    }),
                    ..Change::default()
                };
                let [offset, size, window] = [offset, u64::from(size), u64::from(window)].map(number);
                one(command, Context::Outside, &[&change])
                    .edge(format!("ReadBuffer of {size} bytes at {offset} to {window}"))
            })
        });
        edges.collect::<Vec<_>>()
    }))
}
