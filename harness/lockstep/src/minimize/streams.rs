//! The steps of stream cases. Ids are never renumbered: what remains is what the case had.

use std::collections::BTreeSet;

use serde_json::json;
use wire::{Arg, ArgKind, Blob, Kind, Op};

use super::lower::{numbers, parts, without, words};
use super::{Candidates, Search, Step, bodies};
use crate::case::{Case, Object, StreamCase, buffer_facts};

/// A stream, taken apart.
#[derive(Clone, Debug, PartialEq)]
struct Draft {
    /// All but the blob.
    case: StreamCase,
    /// The words of each command. What is no whole command of the table is a command a word.
    commands: Vec<Vec<u32>>,
    data: Vec<u8>,
}

const STEPS: &[Step<Draft>] = &[
    drop_commands,
    drop_objects,
    drop_entries,
    drop_depth,
    drop_descriptors,
    drop_items,
    drop_grants,
    cut_data,
    lower_words,
    lower_together,
    lower_buffers,
    lower_grants,
    simplify_objects,
];

pub(super) fn minimize(case: &StreamCase, search: &mut Search<'_>) -> Case {
    match Draft::of(case) {
        Some(draft) => Draft::case(&search.run(draft, STEPS, Draft::case)),
        None => Case::Stream(search.run(case.clone(), BROKEN_STEPS, |case| Case::Stream(case.clone()))),
    }
}

/// The number of commands of a stream.
pub(super) fn commands(case: &StreamCase) -> usize {
    Draft::of(case).map_or(0, |draft| draft.commands.len())
}

impl Draft {
    fn of(case: &StreamCase) -> Option<Draft> {
        let blob = Blob::parse(&case.blob).ok()?;
        Some(Draft {
            commands: split(&blob.words),
            data: blob.data.to_vec(),
            case: StreamCase {
                blob: Vec::new(),
                ..case.clone()
            },
        })
    }

    fn case(&self) -> Case {
        Case::Stream(StreamCase {
            blob: wire::encode_blob(&self.commands.concat(), &self.data),
            ..self.case.clone()
        })
    }

    fn with(&self, change: impl FnOnce(&mut Draft)) -> Draft {
        let mut draft = self.clone();
        change(&mut draft);
        draft
    }
}

// A stream's words as commands, whatever their values.

fn split(words: &[u32]) -> Vec<Vec<u32>> {
    let (mut commands, mut at) = (Vec::new(), 0);
    while let Some(&opcode) = words.get(at) {
        let whole = Op::from_word(opcode).and_then(|op| length(wire::layout(op), &words[at + 1..]));
        let end = at + 1 + whole.unwrap_or(0);
        commands.push(words[at..end].to_vec());
        at = end;
    }
    commands
}

/// How many words the arguments take at the beginning of `words`; `None` where there are fewer.
fn length(args: &[Arg], words: &[u32]) -> Option<usize> {
    let mut at = 0_usize;
    for arg in args {
        let more = match arg.kind {
            ArgKind::U64 => 2,
            ArgKind::List { item, .. } => fixed_size(item).checked_mul(*words.get(at)? as usize)?.checked_add(1)?,
            ArgKind::Optional(inside) if *words.get(at)? == 1 => 1 + fixed_size(inside),
            _ => 1,
        };
        at = at.checked_add(more).filter(|at| *at <= words.len())?;
    }
    Some(at)
}

/// The words of arguments among which is no list: the table nests none.
fn fixed_size(args: &[Arg]) -> usize {
    args.iter().map(|arg| width(arg.kind)).sum()
}

fn width(kind: ArgKind) -> usize {
    match kind {
        ArgKind::U64 => 2,
        _ => 1,
    }
}

/// A number in a command.
#[derive(Clone, Copy)]
struct Field {
    at: usize,
    kind: ArgKind,
}

impl Field {
    fn get(self, command: &[u32]) -> u64 {
        let high = if width(self.kind) == 2 { command[self.at + 1] } else { 0 };
        u64::from(high) << 32 | u64::from(command[self.at])
    }

    fn set(self, command: &mut [u32], value: u64) {
        command[self.at] = value as u32;
        if width(self.kind) == 2 {
            command[self.at + 1] = (value >> 32) as u32;
        }
    }
}

/// A list in a command, or what it has or has not: a count, and so many times some words.
struct List {
    at: usize,
    size: usize,
}

/// The numbers and lists of a command. A word that is no command of the table is a number.
fn shape(command: &[u32]) -> (Vec<Field>, Vec<List>) {
    let Some(op) = Op::from_word(command[0]) else {
        let word = Field {
            at: 0,
            kind: ArgKind::U32,
        };
        return (vec![word], Vec::new());
    };
    let args = wire::layout(op);
    let (mut fields, mut lists, mut at) = (Vec::new(), Vec::new(), 1);
    if length(args, &command[1..]) != Some(command.len() - 1) {
        return (fields, lists);
    }
    for arg in args {
        match arg.kind {
            ArgKind::List { item, .. } | ArgKind::Optional(item) => {
                lists.push(List {
                    at,
                    size: fixed_size(item),
                });
                let count = match arg.kind {
                    ArgKind::Optional(_) if command[at] != 1 => 0,
                    _ => command[at],
                };
                at += 1;
                for arg in (0..count).flat_map(|_| item) {
                    fields.push(Field { at, kind: arg.kind });
                    at += width(arg.kind);
                }
            }
            kind => {
                fields.push(Field { at, kind });
                at += width(kind);
            }
        }
    }
    (fields, lists)
}

// The steps.

/// Passes as a whole, what opens and ends them, and runs of commands.
fn drop_commands(draft: &Draft) -> Candidates<'_, Draft> {
    let runs = parts(draft.commands.len()).map(|part| draft.with(|next| drop(next.commands.drain(part))));
    let whole = passes(draft).map(|(begin, end)| draft.with(|next| drop(next.commands.drain(begin..=end))));
    let inside = passes(draft).map(|(begin, end)| {
        draft.with(|next| {
            next.commands.remove(end);
            next.commands.remove(begin);
        })
    });
    Box::new(whole.chain(runs).chain(inside))
}

/// The commands that open and end each pass.
fn passes(draft: &Draft) -> impl Iterator<Item = (usize, usize)> {
    let is = |command: &[u32], ops: &[Op]| Op::from_word(command[0]).is_some_and(|op| ops.contains(&op));
    let begins = draft.commands.iter().enumerate();
    let begins = begins.filter(move |(_, command)| is(command, &[Op::BeginRenderPass, Op::BeginComputePass]));
    begins.filter_map(move |(begin, _)| {
        let mut behind = draft.commands.iter().skip(begin);
        let length = behind.position(|command| is(command, &[Op::EndPass]))?;
        Some((begin, begin + length))
    })
}

/// Objects, with all that refer to them.
fn drop_objects(draft: &Draft) -> Candidates<'_, Draft> {
    let objects = &draft.case.objects;
    Box::new(parts(objects.len()).map(move |part| {
        let mut gone: BTreeSet<u32> = objects[part.clone()].iter().map(|object| object.id).collect();
        let stays = |(at, object): &(usize, &Object)| {
            let stays = !part.contains(at) && !object.refs.iter().any(|id| gone.contains(id));
            if !stays {
                gone.insert(object.id);
            }
            stays
        };
        let left = objects
            .iter()
            .enumerate()
            .filter(stays)
            .map(|(_, object)| object.clone());
        let left = left.collect();
        draft.with(|next| next.case.objects = left)
    }))
}

/// Entries of bind group layouts, with what stands there in their groups.
fn drop_entries(draft: &Draft) -> Candidates<'_, Draft> {
    let tables = bodies::without_an_entry(&draft.case.objects);
    Box::new(tables.map(|objects| draft.with(|next| next.case.objects = objects)))
}

/// The depth attachments of all passes, with what pipelines and bundles say of them.
fn drop_depth(draft: &Draft) -> Candidates<'_, Draft> {
    let without = draft.with(|next| {
        let begins = next.commands.iter_mut();
        for command in begins.filter(|command| Op::from_word(command[0]) == Some(Op::BeginRenderPass)) {
            // Of wire.md's two lists it is the last.
            if let Some(depth) = shape(command).1.last().filter(|depth| command[depth.at] == 1) {
                command[depth.at] = 0;
                command.truncate(depth.at + 1);
            }
        }
        next.case
            .objects
            .iter_mut()
            .for_each(|object| *object = bodies::without_depth(object));
    });
    Box::new(std::iter::once(without))
}

/// What stands in the descriptors of objects, and their references. Buffers have steps of their own.
fn simplify_objects(draft: &Draft) -> Candidates<'_, Draft> {
    let objects = draft.case.objects.iter().enumerate();
    let others = objects.filter(|(_, object)| object.kind != Kind::Buffer);
    Box::new(others.flat_map(move |(at, object)| {
        bodies::simpler(object).map(move |simpler| draft.with(|next| next.case.objects[at] = simpler))
    }))
}

/// Descriptors, and parts of their bytes.
fn drop_descriptors(draft: &Draft) -> Candidates<'_, Draft> {
    let list = &draft.case.descriptors;
    let whole = parts(list.len()).map(|part| draft.with(|next| drop(next.case.descriptors.drain(part))));
    let cut = list.iter().enumerate().flat_map(move |(at, bytes)| {
        parts(bytes.len()).map(move |part| draft.with(|next| drop(next.case.descriptors[at].drain(part))))
    });
    Box::new(whole.chain(cut))
}

/// Attachments, dynamic offsets and bundles.
fn drop_items(draft: &Draft) -> Candidates<'_, Draft> {
    let commands = draft.commands.iter().enumerate();
    Box::new(commands.flat_map(move |(at, command)| {
        let lists = shape(command).1.into_iter();
        lists.flat_map(move |list| {
            let (count, first) = (command[list.at], list.at + 1);
            // A count may say anything.
            let items = (count as usize).min((command.len() - first) / list.size);
            parts(items).filter_map(move |part| {
                let words = first + part.start * list.size..first + part.end * list.size;
                let mut command = command.get(..words.end).map(|_| command.clone())?;
                command[list.at] -= part.len() as u32;
                command.drain(words);
                Some(draft.with(|next| next.commands[at] = command))
            })
        })
    }))
}

/// Granted ids.
fn drop_grants(draft: &Draft) -> Candidates<'_, Draft> {
    let map = &draft.case.id_map;
    Box::new(parts(map.len()).map(|part| draft.with(|next| next.case.id_map = without(map, part))))
}

/// The places of a write's data: where it starts and how long it is.
fn data_fields(command: &[u32]) -> Option<(usize, usize)> {
    match Op::from_word(command[0])? {
        Op::WriteBuffer if command.len() == 6 => Some((4, 5)),
        Op::WriteTexture if command.len() > 8 => Some((7, 8)),
        _ => None,
    }
}

/// Data that no write takes, the end of the data, of a write its last bytes, and zeros in their place.
fn cut_data(draft: &Draft) -> Candidates<'_, Draft> {
    let length = draft.data.len();
    let cut = numbers(length as u64).map(|left| draft.with(|next| next.data.truncate(left as usize)));
    let writes = draft.commands.iter().enumerate();
    let writes = writes.filter_map(|(at, command)| Some((at, data_fields(command)?)));
    let shorter = writes.flat_map(move |(at, (_, count))| {
        words(draft.commands[at][count]).map(move |left| {
            draft.with(|next| {
                let less = next.commands[at][count] - left;
                next.commands[at][count] = left;
                next.data.truncate(length.saturating_sub(less as usize));
            })
        })
    });
    let zeros = draft.with(|next| next.data.fill(0));
    Box::new(std::iter::once(packed(draft)).chain(cut).chain(shorter).chain([zeros]))
}

/// The same with only the data that writes take, in their order. One that takes more than there is stays as it is.
fn packed(draft: &Draft) -> Draft {
    let mut data = Vec::new();
    let mut next = draft.clone();
    for command in &mut next.commands {
        let Some((offset, count)) = data_fields(command) else {
            continue;
        };
        let (start, bytes) = (command[offset] as usize, command[count] as usize);
        let Some(taken) = start.checked_add(bytes).and_then(|end| draft.data.get(start..end)) else {
            return draft.clone();
        };
        command[offset] = data.len() as u32;
        data.extend_from_slice(taken);
    }
    if data.len() < draft.data.len() {
        next.data = data;
        return next;
    }
    draft.clone()
}

/// Every number of every command, but for ids: one that may be none becomes none.
fn lower_words(draft: &Draft) -> Candidates<'_, Draft> {
    let commands = draft.commands.iter().enumerate();
    let lower = commands.flat_map(move |(at, command)| {
        let fields = shape(command).0.into_iter();
        fields.flat_map(move |field| {
            let lower: Vec<u64> = match field.kind {
                ArgKind::Id(_) => Vec::new(),
                ArgKind::OptionalId(_) => numbers(field.get(command)).take(1).collect(),
                ArgKind::F32 => [0, 1_f32.to_bits()].into_iter().map(u64::from).collect(),
                _ => numbers(field.get(command)).collect(),
            };
            let lower = lower.into_iter().filter(move |value| *value < field.get(command));
            lower.map(move |value| draft.with(|next| field.set(&mut next.commands[at], value)))
        })
    });
    let bound = words(draft.case.max_workgroups).map(|lower| draft.with(|next| next.case.max_workgroups = lower));
    let window = words(draft.case.window).map(|lower| draft.with(|next| next.case.window = lower));
    Box::new(bound.chain(window).chain(lower))
}

/// So many commands at most have each of their numbers lowered with each buffer.
const TOGETHER: usize = 8;

/// A buffer's size and a number of a command by as much, so that a range stays as far from its end as it is.
fn lower_together(draft: &Draft) -> Candidates<'_, Draft> {
    let few = draft.commands.len() <= TOGETHER;
    let commands = draft.commands.iter().enumerate().filter(move |_| few);
    Box::new(commands.flat_map(move |(at, command)| {
        let fields = shape(command).0.into_iter();
        let fields = fields.filter(|field| !matches!(field.kind, ArgKind::Id(_) | ArgKind::OptionalId(_)));
        fields.flat_map(move |field| {
            let value = field.get(command);
            sizes(draft).flat_map(move |(object, size)| {
                numbers(value.min(size)).map(move |left| {
                    let less = value.min(size) - left;
                    draft.with(|next| {
                        field.set(&mut next.commands[at], value - less);
                        resize(&mut next.case.objects[object], size - less);
                    })
                })
            })
        })
    }))
}

/// The buffers of the table, by index, with their sizes.
fn sizes(draft: &Draft) -> impl Iterator<Item = (usize, u64)> {
    let objects = draft.case.objects.iter().enumerate();
    objects.filter_map(|(at, object)| Some((at, buffer_facts(std::slice::from_ref(object)).first()?.size)))
}

fn resize(object: &mut Object, size: u64) {
    let usage = buffer_facts(std::slice::from_ref(object))
        .first()
        .map_or(0, |facts| facts.usage);
    object.body = json!({ "size": size, "usage": usage }).to_string();
}

/// Sizes and usages of buffers.
fn lower_buffers(draft: &Draft) -> Candidates<'_, Draft> {
    let sizes = sizes(draft).flat_map(move |(object, size)| {
        numbers(size).map(move |lower| draft.with(|next| resize(&mut next.case.objects[object], lower)))
    });
    let objects = draft.case.objects.iter().enumerate();
    let usages = objects.flat_map(move |(at, object)| {
        let facts = buffer_facts(std::slice::from_ref(object));
        facts.into_iter().flat_map(move |facts| {
            let bits = (0..32).map(|bit| 1 << bit).filter(move |bit| facts.usage & bit != 0);
            bits.map(move |bit| {
                let body = json!({ "size": facts.size, "usage": facts.usage & !bit }).to_string();
                draft.with(|next| next.case.objects[at].body = body)
            })
        })
    });
    Box::new(sizes.chain(usages))
}

/// Host ids of objects that there are not.
fn lower_grants(draft: &Draft) -> Candidates<'_, Draft> {
    let map = draft.case.id_map.iter().enumerate();
    let known: BTreeSet<u32> = draft.case.objects.iter().map(|object| object.id).collect();
    let unknown = map.filter(move |(_, (_, host))| !known.contains(host));
    Box::new(unknown.flat_map(move |(at, (_, host))| {
        words(*host).map(move |lower| draft.with(|next| next.case.id_map[at].1 = lower))
    }))
}

// Of a blob that is none, bytes.

const BROKEN_STEPS: &[Step<StreamCase>] = &[drop_around, cut_blob];

fn drop_around(case: &StreamCase) -> Candidates<'_, StreamCase> {
    let next = |change: fn(&mut StreamCase)| {
        let mut next = case.clone();
        change(&mut next);
        next
    };
    Box::new(
        [
            next(|case| case.objects.clear()),
            next(|case| case.id_map.clear()),
            next(|case| case.descriptors.clear()),
            next(|case| (case.max_workgroups, case.window) = (0, 0)),
        ]
        .into_iter(),
    )
}

fn cut_blob(case: &StreamCase) -> Candidates<'_, StreamCase> {
    let next = move |blob| StreamCase { blob, ..case.clone() };
    let cut = parts(case.blob.len()).map(move |part| next(without(&case.blob, part)));
    let bytes = case.blob.iter().enumerate();
    let zeros = bytes.filter(|(_, byte)| **byte != 0).map(move |(at, _)| {
        let mut blob = case.blob.clone();
        blob[at] = 0;
        next(blob)
    });
    Box::new(cut.chain(zeros))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pass with a color and a depth attachment, and the pipeline for it.
    #[test]
    fn a_depth_attachment_goes_with_what_pipelines_say_of_it() {
        let pipeline = Object {
            id: 3,
            kind: Kind::RenderPipeline,
            refs: vec![1, 2, 0],
            body: r#"{"depthStencil":{"format":"depth16unorm"},"vertex":{}}"#.into(),
        };
        let color = [20, 1, 5, 0, 1, 1, 0, 0, 0, 0];
        let depth = [1, 6, 1, 1, 0, 0, 0, 0, 0, 0];
        let words = [&color[..], &depth, &[21]].concat();
        let case = StreamCase {
            objects: vec![pipeline],
            blob: wire::encode_blob(&words, &[]),
            ..StreamCase::default()
        };
        let draft = Draft::of(&case).expect("a blob");
        let without: Vec<Draft> = drop_depth(&draft).collect();
        assert_eq!(without.len(), 1);
        assert_eq!(without[0].commands, [[&color[..], &[0]].concat(), vec![21]]);
        assert_eq!(without[0].case.objects[0].body, r#"{"vertex":{}}"#);
    }

    /// BeginRenderPass of one color, WriteBuffer, a count past the end of the stream, an opcode that there is not.
    #[test]
    fn words_are_split_into_whole_commands_whatever_their_values() {
        let begin = [20, 1, 5, 0, 9, 9, 0, 0, 0, 0, 0];
        let write = [30, 1, 0, 0, 0, 4];
        let words = [&begin[..], &write, &[7777], &[20, 9999]].concat();
        let commands = split(&words);
        assert_eq!(commands.concat(), words);
        let begins = Op::from_word(20) == Some(Op::BeginRenderPass) && Op::from_word(30) == Some(Op::WriteBuffer);
        assert!(begins, "the numbers of wire.md section 2");
        assert_eq!(
            commands,
            [&begin[..], &write, &[7777], &[20], &[9999]].map(<[u32]>::to_vec)
        );
    }
}
