//! A stream while it is put together, with what is due for it by sections 2 and 3 of wire.md.

use wire::{Context, Kind, Op, Reason};

use super::commands::{
    Change, Command, DATA, Order, RENDER_PASS, TO_ZERO, contexts_of, guest, host, may_stand, plain, transfer,
};
use super::{Due, Edge};
use crate::case::{Object, StreamCase};
use crate::generators::world::buffer_usage::{COPY_DST, MAP_READ};
use crate::readers::answer::Refused;

/// Bytes of the buffer that plain commands name.
pub const BUFFER: u64 = 64;
/// The granted read window.
pub const WINDOW: u32 = 256;

/// The host of a case that is about something else: one buffer, one texture, an id of each kind granted.
pub fn plain_host() -> StreamCase {
    let grants = Kind::ALL.map(|kind| (guest(kind), host(kind)));
    StreamCase {
        objects: vec![
            buffer(host(Kind::Buffer), BUFFER, MAP_READ | COPY_DST),
            Object {
                id: host(Kind::Texture),
                kind: Kind::Texture,
                refs: Vec::new(),
                body: r#"{"size":[8,8,1],"format":"r32uint","usage":3}"#.into(),
            },
        ],
        id_map: grants.into_iter().chain([(TO_ZERO, 0)]).collect(),
        window: WINDOW,
        ..StreamCase::default()
    }
}

/// A buffer of the replayer's table.
pub fn buffer(id: u32, size: u64, usage: u32) -> Object {
    Object {
        id,
        kind: Kind::Buffer,
        refs: Vec::new(),
        body: format!(r#"{{"size":{size},"usage":{usage}}}"#),
    }
}

/// Grants `from` as `to`, whatever it was granted as.
pub fn grant(case: &mut StreamCase, from: u32, to: u32) {
    case.id_map.retain(|pair| pair.0 != from);
    case.id_map.push((from, to));
    case.id_map.sort_unstable();
}

/// A refusal, and where it stands in the order of section 3: commands first, then their checks.
struct Fault {
    order: (usize, Order),
    refused: Refused,
}

/// A stream and its faults.
pub struct Draft {
    words: Vec<u32>,
    starts: Vec<u32>,
    ids: Vec<usize>,
    context: Context,
    open: Option<(u32, Op)>,
    faults: Vec<Fault>,
    /// From here on more may be wrong than the table says.
    unsure: Option<(usize, Order)>,
    /// Bytes of its data.
    pub data: u32,
}

impl Draft {
    /// A stream that stands in `context`, by a Begin command where that needs one.
    pub fn within(context: Context) -> Draft {
        let mut draft = Draft {
            words: Vec::new(),
            starts: Vec::new(),
            ids: Vec::new(),
            context: Context::Outside,
            open: None,
            faults: Vec::new(),
            unsure: None,
            data: DATA,
        };
        match context {
            Context::Render => draft.push(&RENDER_PASS),
            Context::Compute => draft.push(plain(Op::BeginComputePass)),
            Context::Outside | Context::Bundle => {}
        }
        draft
    }

    /// The index of the next command.
    pub fn commands(&self) -> u32 {
        self.starts.len() as u32
    }

    fn fault(&mut self, order: Order, at: usize, op: Option<Op>, reason: Reason) {
        let start = self.starts.last().map_or(0, |&start| start as usize);
        self.faults.push(Fault {
            order: (start, order),
            refused: Refused {
                at: (start + at) as u32,
                op,
                reason,
            },
        });
    }

    /// Appends a command as it is.
    pub fn push(&mut self, command: &Command) {
        self.push_with(command, &[]);
    }

    /// Appends a command with changes.
    pub fn push_with(&mut self, command: &Command, changes: &[&Change]) {
        let start = self.words.len();
        let op = command.op;
        self.starts.push(start as u32);
        self.words.extend(&command.words);
        let words = &mut self.words[start..];
        for &(at, word) in changes.iter().flat_map(|change| &change.set) {
            words[at] = word;
        }
        let left = changes.iter().find_map(|change| change.cut);
        let failed = left.map_or_else(|| transfer(op, words, self.data), |_| Vec::new());
        self.words.truncate(start + left.unwrap_or(command.words.len()));
        self.ids.extend(command.ids.iter().map(|at| start + at));
        if !may_stand(op, self.context) {
            self.fault((2, 0), 0, Some(op), Reason::WrongContext);
        }
        for wrong in changes.iter().filter_map(|change| change.wrong).chain(failed) {
            self.fault(wrong.order, wrong.at, Some(op), wrong.reason);
        }
        if changes.iter().any(|change| change.moves) {
            self.unsure.get_or_insert((start, (3, 1)));
        }
        self.follow(op, start as u32);
    }

    fn follow(&mut self, op: Op, start: u32) {
        (self.context, self.open) = match op {
            Op::BeginRenderPass => (Context::Render, Some((start, op))),
            Op::BeginComputePass => (Context::Compute, Some((start, op))),
            Op::EndPass => (Context::Outside, None),
            _ => return,
        };
    }

    /// Appends a word that is no opcode.
    pub fn push_unknown(&mut self, word: u32) {
        self.starts.push(self.words.len() as u32);
        self.words.push(word);
        self.fault((1, 0), 0, None, Reason::UnknownOp);
    }

    /// Appends words to a command that was cut: they become its arguments, and what they come to is not for the table to say,
    /// unless the command is still `missing` some then.
    pub fn fill(&mut self, words: &[u32], missing: bool) {
        let start = self.starts.last().map_or(0, |&start| start as usize);
        self.words.extend(words);
        if !missing {
            self.unsure = Some((start, (3, 0)));
        }
    }

    /// Ends an open pass, and submits.
    pub fn end(mut self) -> Draft {
        if self.open.is_some() {
            self.push(plain(Op::EndPass));
        }
        self.push(plain(Op::Submit));
        self
    }

    /// The first fault that `reads` looks at, or the accepted stream; `None` where the table does not say.
    fn due<T>(&self, reads: impl Fn(&Fault) -> bool, accepted: impl FnOnce() -> T) -> Option<Result<T, Refused>> {
        let first = self
            .faults
            .iter()
            .filter(|fault| reads(fault))
            .min_by_key(|fault| fault.order);
        let known = |fault: &&Fault| self.unsure.is_none_or(|unsure| fault.order < unsure);
        match (first, self.open) {
            (Some(fault), _) => Some(Err(fault.refused)).filter(|_| known(&fault)),
            (None, _) if self.unsure.is_some() => None,
            (None, Some((at, op))) => Some(Err(Refused {
                at,
                op: Some(op),
                reason: Reason::OpenPass,
            })),
            (None, None) => Some(Ok(accepted())),
        }
    }

    /// The edge, for `host`.
    pub fn edge_for(self, name: String, host: StreamCase) -> Edge {
        let not_of_remap = |fault: &Fault| fault.refused.reason != Reason::UnknownId;
        let due = Due {
            header: Some(Ok(())),
            decode: self.due(not_of_remap, || self.starts.clone()),
            remap: self.due(|_| true, || self.rewritten(&host.id_map)),
            ..Due::default()
        };
        let data: Vec<u8> = (0..self.data).map(|at| at as u8).collect();
        Edge {
            family: "",
            name,
            case: StreamCase {
                blob: wire::encode_blob(&self.words, &data),
                ..host
            },
            due,
        }
    }

    /// The edge, for the plain host.
    pub fn edge(self, name: String) -> Edge {
        self.edge_for(name, plain_host())
    }

    fn rewritten(&self, map: &[(u32, u32)]) -> Vec<u32> {
        let mut words = self.words.clone();
        for &at in &self.ids {
            let granted = map.iter().find(|pair| pair.0 == words[at] && words[at] != 0);
            words[at] = granted.map_or(words[at], |pair| pair.1);
        }
        words
    }
}

/// The first context that `op` may stand in.
pub fn first_context(op: Op) -> Context {
    contexts_of(op).next().unwrap_or(Context::Outside)
}
