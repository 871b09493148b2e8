//! Plain commands, where each may stand, and every change that makes an edge of one.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use wire::{Arg, ArgKind, Context, Kind, Op, Reason, layout};

use super::values::{halves, values};

/// Section 2, column "where".
const WHERE: [(Op, &str); 24] = [
    (Op::SetPipeline, "R C"),
    (Op::SetBindGroup, "R C"),
    (Op::Draw, "R"),
    (Op::DrawIndexed, "R"),
    (Op::SetVertexBuffer, "R"),
    (Op::SetIndexBuffer, "R"),
    (Op::SetViewport, "R"),
    (Op::SetScissorRect, "R"),
    (Op::SetBlendConstant, "R"),
    (Op::SetStencilReference, "R"),
    (Op::ExecuteBundles, "R"),
    (Op::DrawIndirect, "R"),
    (Op::DrawIndexedIndirect, "R"),
    (Op::BeginRenderPass, "T"),
    (Op::EndPass, "R C"),
    (Op::BeginComputePass, "T"),
    (Op::Dispatch, "C"),
    (Op::DispatchIndirect, "C"),
    (Op::WriteBuffer, "T R C"),
    (Op::CopyBufferToBuffer, "T"),
    (Op::CopyTextureToTexture, "T"),
    (Op::WriteTexture, "T R C"),
    (Op::ReadBuffer, "T R C"),
    (Op::Submit, "T"),
];

/// The contexts of a stream.
pub const CONTEXTS: [Context; 3] = [Context::Outside, Context::Render, Context::Compute];

/// The letter of section 2.
pub fn letter(context: Context) -> &'static str {
    match context {
        Context::Outside => "T",
        Context::Render => "R",
        Context::Compute => "C",
        Context::Bundle => "B",
    }
}

/// Whether `op` may stand in `context`.
pub fn may_stand(op: Op, context: Context) -> bool {
    WHERE.iter().any(|row| row.0 == op && row.1.contains(letter(context)))
}

/// Where `op` may stand.
pub fn contexts_of(op: Op) -> impl Iterator<Item = Context> {
    CONTEXTS.into_iter().filter(move |&context| may_stand(op, context))
}

/// The guest's id of the object of a kind. The guest's ids and the replayer's have none in common.
pub fn guest(kind: Kind) -> u32 {
    16 + kind.word()
}

/// The replayer's id of it.
pub fn host(kind: Kind) -> u32 {
    kind.word()
}

/// A guest's id that the host does not grant.
pub const NOT_GRANTED: u32 = 99;
/// A guest's id that the host would replace by 0.
pub const TO_ZERO: u32 = 98;
/// Bytes of data of a stream, unless a case says otherwise.
pub const DATA: u32 = 16;

/// An argument of a command.
pub struct Field {
    /// Such as `color[1].loadOp`.
    pub name: String,
    /// Its first word, counted from the opcode.
    pub at: usize,
    /// What its words are.
    pub kind: ArgKind,
}

/// A command that nothing is wrong with.
pub struct Command {
    /// Its opcode.
    pub op: Op,
    /// The opcode and the arguments.
    pub words: Vec<u32>,
    /// The arguments, those in lists too.
    pub fields: Vec<Field>,
    /// Words that are ids.
    pub ids: Vec<usize>,
}

/// One of each opcode, with two items in a list and with a depth attachment, in the order of section 2.
pub static PLAIN: LazyLock<Vec<Command>> = LazyLock::new(|| Op::ALL.map(|op| Command::new(op, 2, true)).into());

/// The shortest BeginRenderPass.
pub static RENDER_PASS: LazyLock<Command> = LazyLock::new(|| Command::new(Op::BeginRenderPass, 0, false));

/// The command of [`PLAIN`].
pub fn plain(op: Op) -> &'static Command {
    let known = PLAIN.iter().find(|command| command.op == op);
    known.expect("there is one of each opcode")
}

impl Command {
    /// A command with so many items in its list and, where it may have one, with or without a depth attachment.
    pub fn new(op: Op, items: u32, depth: bool) -> Command {
        let mut command = Command {
            op,
            words: vec![op.word()],
            fields: Vec::new(),
            ids: Vec::new(),
        };
        command.arguments(layout(op), ("", ""), items, depth);
        command
    }

    fn arguments(&mut self, args: &[Arg], (before, after): (&str, &str), items: u32, depth: bool) {
        for arg in args {
            let name = self.new_name(format!("{before}{}{after}", arg.name));
            let at = self.words.len();
            self.fields.push(Field {
                name,
                at,
                kind: arg.kind,
            });
            match arg.kind {
                ArgKind::Id(kinds) | ArgKind::OptionalId(kinds) => {
                    self.ids.push(at);
                    self.words.push(guest(kinds[0]));
                }
                ArgKind::U32 | ArgKind::I32 => self.words.push(plain_word(arg.name)),
                ArgKind::F32 => self.words.push(1.0f32.to_bits()),
                ArgKind::U64 => self.words.extend(halves(8)),
                ArgKind::Enum(_) | ArgKind::Bool => self.words.push(1),
                ArgKind::List { item, .. } => {
                    self.words.push(items);
                    for index in 0..items {
                        match item.len() {
                            1 => self.arguments(item, ("", &format!("[{index}]")), items, depth),
                            _ => self.arguments(item, (&format!("color[{index}]."), ""), items, depth),
                        }
                    }
                }
                ArgKind::Optional(inside) => {
                    self.words.push(u32::from(depth));
                    if depth {
                        self.arguments(inside, ("depth.", ""), items, depth);
                    }
                }
            }
        }
    }

    /// A texture copy has its origin and aspect twice; the second is the destination's.
    fn new_name(&self, name: String) -> String {
        match self.fields.iter().any(|field| field.name == name) {
            true => format!("dst.{name}"),
            false => name,
        }
    }

    /// A command with a list of one-word items, however many, and no names for them.
    pub fn counted(op: Op, items: u32) -> Command {
        let mut command = Command::new(op, 1, false);
        let item = command.words.pop().unwrap_or(0);
        let last = command.words.len();
        command.words[last - 1] = items;
        let is_id = command.ids.last() == Some(&last);
        command.words.extend(std::iter::repeat_n(item, items as usize));
        if is_id {
            command.ids.pop();
            command.ids.extend(last..command.words.len());
        }
        command.fields.clear();
        command
    }

    /// The word of its count.
    fn count(&self) -> Option<usize> {
        let counted = layout(self.op)
            .iter()
            .position(|arg| matches!(arg.kind, ArgKind::List { .. }))?;
        // Before a count stand arguments of one word only.
        Some(1 + counted)
    }

    /// The hasDepth word.
    pub fn flag(&self) -> Option<usize> {
        (self.op == Op::BeginRenderPass).then(|| 2 + 8 * self.words[1] as usize)
    }

    /// The field of a name.
    pub fn field(&self, name: &str) -> &Field {
        let known = self.fields.iter().find(|field| field.name == name);
        known.expect("a name of the table of section 2")
    }
}

/// Words that fit the buffer, the data and the checks 8 to 10; 1 is good everywhere else.
fn plain_word(name: &str) -> u32 {
    match name {
        "dataOffset" => 4,
        "length" | "dataLength" | "size" => 8,
        _ => 1,
    }
}

/// Where a check stands in the order of section 3: its number, and its place among the words or parts of that check.
pub type Order = (u8, usize);

/// What is wrong: the check that fails, the word that it names (counted from the opcode) and the reason.
#[derive(Clone, Copy)]
pub struct Wrong {
    /// Which check.
    pub order: Order,
    /// The word that it names.
    pub at: usize,
    /// Why.
    pub reason: Reason,
}

/// A change to a plain command.
#[derive(Clone, Default)]
pub struct Change {
    /// Such as `color[1].loadOp = 3`.
    pub name: String,
    /// Words, counted from the opcode, and what they become.
    pub set: Vec<(usize, u32)>,
    /// How many words are left, opcode included.
    pub cut: Option<usize>,
    /// What becomes wrong by checks 1 to 7. Checks 8 to 10 look at words together: see [`transfer`].
    pub wrong: Option<Wrong>,
    /// Whether it moves what comes after it, so that more may be wrong than is said here.
    pub moves: bool,
}

impl Change {
    /// Whether both can be made: no word is set by both, and no more than one cuts.
    pub fn fits(&self, other: &Change) -> bool {
        let sets = |at: usize| other.set.iter().any(|word| word.0 == at);
        !self.set.iter().any(|word| sets(word.0)) && (self.cut.is_none() || other.cut.is_none())
    }
}

/// Every field at each of its edge values.
pub fn changes(command: &Command) -> Vec<Change> {
    let of_field = |field: &Field| {
        let mut list: Vec<Change> = values(&field.kind)
            .into_iter()
            .map(|value| Change {
                name: format!("{} = {}", field.name, value.shown),
                set: (field.at..).zip(value.words.iter().copied()).collect(),
                cut: None,
                wrong: wrong(field, value.reason, value.words[0]),
                moves: value.reason.is_none() && moves(field, command.words[field.at], value.words[0]),
            })
            .collect();
        if field.kind == ArgKind::U64 {
            list.push(high_word(field));
        }
        list
    };
    command.fields.iter().flat_map(of_field).collect()
}

/// A u64 of which the high word alone is 2^21, so 2^53 and more, and the low word stays: another fault may be in that one.
fn high_word(field: &Field) -> Change {
    Change {
        name: format!("{} + 2^53", field.name),
        set: vec![(field.at + 1, 1 << 21)],
        wrong: wrong(field, Some(Reason::UnsafeInteger), 0),
        ..Change::default()
    }
}

fn wrong(field: &Field, reason: Option<Reason>, word: u32) -> Option<Wrong> {
    let is_id = matches!(field.kind, ArgKind::Id(_) | ArgKind::OptionalId(_));
    // No edge value is an id that the host grants.
    let reason = reason.or((is_id && word != 0).then_some(Reason::UnknownId))?;
    let order = match field.kind {
        ArgKind::List { .. } => (4, 0),
        ArgKind::Optional(_) => (6, 0),
        _ => (7, field.at),
    };
    Some(Wrong {
        order,
        at: field.at,
        reason,
    })
}

fn moves(field: &Field, from: u32, to: u32) -> bool {
    matches!(field.kind, ArgKind::List { .. } | ArgKind::Optional(_)) && from != to
}

/// `command`, cut so that `left` of its words are there.
pub fn cut(command: &Command, left: usize) -> Change {
    let order = match (command.count(), command.flag()) {
        (None, _) => (3, 0),
        (Some(count), _) if left <= count => (3, 0),
        (_, Some(flag)) if left > flag => (6, 1),
        _ => (5, 0),
    };
    Change {
        name: format!("cut to {left} of {} words", command.words.len()),
        cut: Some(left),
        wrong: Some(Wrong {
            order,
            at: 0,
            reason: Reason::Truncated,
        }),
        ..Change::default()
    }
}

/// What checks 8 to 10 say of a command whose words are all there, in their order.
pub fn transfer(op: Op, words: &[u32], data: u32) -> Vec<Wrong> {
    let sum = |a: usize, b: usize| u64::from(words[a]) + u64::from(words[b]);
    let past_data = |offset| sum(offset, offset + 1) > u64::from(data);
    // (the check, whether it fails, the word that it names, the reason)
    let checks: Vec<(Order, bool, usize, Reason)> = match op {
        Op::WriteBuffer => vec![
            ((8, 0), past_data(4), 4, Reason::DataRange),
            ((9, 0), !words[5].is_multiple_of(4), 5, Reason::WriteSize),
        ],
        Op::WriteTexture => vec![((8, 0), past_data(7), 7, Reason::DataRange)],
        Op::ReadBuffer => vec![
            // 2^32 is a multiple of 8, so the low word decides.
            ((10, 0), !words[2].is_multiple_of(8), 2, Reason::ReadAlignment),
            (
                (10, 1),
                words[4] == 0 || !words[4].is_multiple_of(4),
                4,
                Reason::ReadSize,
            ),
            ((10, 2), sum(4, 5) > 64 << 20, 5, Reason::ReadWindow),
        ],
        _ => Vec::new(),
    };
    let failed = checks.into_iter().filter(|check| check.1);
    failed
        .map(|(order, _, at, reason)| Wrong { order, at, reason })
        .collect()
}

/// Changes that fail one of the checks 8 to 10, by the names of section 2.
const TRANSFERS: [(Op, &str, u32); 11] = [
    (Op::WriteBuffer, "dataOffset", DATA + 1),
    (Op::WriteBuffer, "dataOffset", u32::MAX),
    (Op::WriteBuffer, "length", DATA),
    (Op::WriteBuffer, "length", 6),
    (Op::WriteTexture, "dataOffset", DATA + 1),
    (Op::WriteTexture, "dataLength", u32::MAX),
    (Op::ReadBuffer, "offset", 12),
    (Op::ReadBuffer, "size", 0),
    (Op::ReadBuffer, "size", 6),
    (Op::ReadBuffer, "windowOffset", 64 << 20),
    (Op::ReadBuffer, "windowOffset", u32::MAX - 7),
];

/// Changes that leave the command refused: of each field the first and the last value for each reason, ids that are not
/// granted, and those of checks 8 to 10. Cuts are not among them.
pub fn faults(command: &Command) -> Vec<Change> {
    let all = changes(command);
    let key = |change: &Change| change.wrong.map(|wrong| (wrong.order, wrong.reason));
    let mut list: Vec<Change> = all
        .iter()
        .enumerate()
        .filter(|(index, change)| {
            let same = |other: &Change| key(other) == key(change);
            key(change).is_some() && (!all[..*index].iter().any(same) || !all[index + 1..].iter().any(same))
        })
        .map(|(_, change)| change.clone())
        .collect();
    for &at in &command.ids {
        let field = command.fields.iter().find(|field| field.at == at);
        list.extend(field.map(|field| Change {
            name: format!("{} granted as 0", field.name),
            set: vec![(at, TO_ZERO)],
            wrong: wrong(field, None, TO_ZERO),
            ..Change::default()
        }));
    }
    for &(_, name, word) in TRANSFERS.iter().filter(|row| row.0 == command.op) {
        list.push(Change {
            name: format!("{name} = {word}"),
            set: vec![(command.field(name).at, word)],
            ..Change::default()
        });
    }
    list
}

/// Of [`faults`] the first for each check and reason.
pub fn one_of_each(command: &Command) -> Vec<Change> {
    let mut seen = BTreeSet::new();
    let mut list = faults(command);
    list.retain(|change| {
        let of_transfer = || (10, change.set[0].0);
        let (check, reason) = match change.wrong {
            Some(wrong) => ((wrong.order.0, 0), Some(wrong.reason)),
            None => (of_transfer(), None),
        };
        seen.insert((check, reason))
    });
    list
}
