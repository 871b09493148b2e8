//! The smallest case that shows the same finding.
//!
//! A case is made smaller step by step, and each step is taken when the case still has the finding's signature. Which steps there are
//! depends on the kind of case: `streams`, `layouts` and `binds` list them, the largest first. Of a list always the first step
//! that keeps the signature is taken, so that the same case comes to the same end wherever it runs and however many candidates are asked
//! about at once. Nothing depends on the clock but where a limit ends the work.

mod binds;
mod bodies;
mod findings;
mod jury;
mod layouts;
mod lower;
mod streams;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

pub use findings::findings;
pub use jury::Jury;

use crate::case::Case;

/// Says which signatures each of some cases has.
pub type Judge<'a> = dyn FnMut(&[Case]) -> Vec<BTreeSet<String>> + 'a;

/// So many candidates are asked about at once: a process answers a batch for little more than one question.
const BATCH: usize = 16;

/// What ends the work early.
pub struct Limits<'a> {
    /// So long after the start.
    pub limit: Duration,
    /// When this is set.
    pub stop: &'a AtomicBool,
}

/// Why the work ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// No step makes the case smaller.
    Smallest,
    /// The time was up.
    Limit,
    /// It was stopped.
    Stopped,
}

/// A case, made smaller.
#[derive(Clone, Debug, PartialEq)]
pub struct Minimized {
    /// The smallest that was found.
    pub case: Case,
    /// Why there was no smaller one.
    pub end: End,
    /// How many cases were asked about.
    pub asked: u64,
}

/// Makes a case smaller as long as it keeps its signature; `keep` is given each case that does: the given one, then always a smaller one.
/// `None` where the case has not that signature in the first place. The limit ends the work at the case that is being asked about; the given
/// one is asked about in any case.
pub fn minimize(
    case: &Case,
    signature: &str,
    judge: &mut Judge<'_>,
    limits: &Limits<'_>,
    keep: &mut dyn FnMut(&Case),
) -> Option<Minimized> {
    let mut search = Search {
        signature,
        judge,
        until: Instant::now().checked_add(limits.limit),
        stop: limits.stop,
        keep,
        asked: 0,
        each: Duration::ZERO,
        end: End::Smallest,
    };
    if search.shows(std::slice::from_ref(case)) != [true] {
        return None;
    }
    (search.keep)(case);
    let case = match case {
        Case::Stream(case) => streams::minimize(case, &mut search),
        Case::Layout(case) => Case::Layout(search.run(case.clone(), layouts::STEPS, |case| Case::Layout(case.clone()))),
        Case::Bind(case) => Case::Bind(search.run(case.clone(), binds::STEPS, |case| Case::Bind(case.clone()))),
    };
    Some(Minimized {
        case,
        end: search.end,
        asked: search.asked,
    })
}

/// The cases that are each one step smaller than the given one, the smallest first.
type Step<T> = for<'a> fn(&'a T) -> Candidates<'a, T>;
type Candidates<'a, T> = Box<dyn Iterator<Item = T> + 'a>;

struct Search<'a> {
    signature: &'a str,
    judge: &'a mut Judge<'a>,
    until: Option<Instant>,
    stop: &'a AtomicBool,
    keep: &'a mut dyn FnMut(&Case),
    asked: u64,
    /// What one case took when cases were asked about last.
    each: Duration,
    end: End,
}

impl Search<'_> {
    /// Takes steps until none keeps the signature, or time is up.
    fn run<T: Clone + PartialEq>(&mut self, mut current: T, steps: &[Step<T>], case: fn(&T) -> Case) -> T {
        let mut smaller = true;
        while smaller {
            smaller = false;
            for step in steps {
                smaller |= self.take(&mut current, *step, case);
            }
        }
        current
    }

    /// Takes one kind of step as often as it goes. After a step the next candidates are tried first: those before them have just failed.
    fn take<T: Clone + PartialEq>(&mut self, current: &mut T, step: Step<T>, case: fn(&T) -> Case) -> bool {
        let (mut at, mut taken) = (0, false);
        let (until, stop) = (self.until, self.stop);
        loop {
            // Of a huge case already the candidates that are passed over take their time.
            let numbered = || step(current).enumerate().take_while(move |_| !is_up(until, stop));
            let candidates = numbered().skip(at).chain(numbered().take(at));
            let candidates = candidates.filter(|(_, next)| next != current);
            let Some((found, next)) = self.first(candidates, case) else {
                return taken;
            };
            (self.keep)(&case(&next));
            (*current, at, taken) = (next, found, true);
        }
    }

    /// The first candidate with the signature.
    fn first<T>(
        &mut self,
        mut candidates: impl Iterator<Item = (usize, T)>,
        case: fn(&T) -> Case,
    ) -> Option<(usize, T)> {
        loop {
            let (mut batch, mut cases) = (Vec::new(), Vec::new());
            for (at, candidate) in candidates.by_ref() {
                let asked = case(&candidate);
                if asked.check().is_ok() {
                    batch.push((at, candidate));
                    cases.push(asked);
                }
                if batch.len() == BATCH || !batch.is_empty() && self.is_late(batch.len()) {
                    break;
                }
            }
            if self.is_over() || batch.is_empty() {
                return None;
            }
            let shows = self.shows(&cases);
            if let Some(first) = shows.iter().position(|shows| *shows) {
                return Some(batch.swap_remove(first));
            }
        }
    }

    fn shows(&mut self, cases: &[Case]) -> Vec<bool> {
        self.asked += cases.len() as u64;
        let started = Instant::now();
        let signatures = (self.judge)(cases);
        self.each = started.elapsed() / cases.len().max(1) as u32;
        signatures.iter().map(|all| all.contains(self.signature)).collect()
    }

    /// Whether one case more than so many would be answered after the limit.
    fn is_late(&self, cases: usize) -> bool {
        let due = self.each.saturating_mul(cases as u32 + 1);
        self.until.is_some_and(|until| Instant::now() + due >= until)
    }

    fn is_over(&mut self) -> bool {
        if is_up(self.until, self.stop) {
            self.end = match self.stop.load(Ordering::Relaxed) {
                true => End::Stopped,
                false => End::Limit,
            };
        }
        self.end != End::Smallest
    }
}

fn is_up(until: Option<Instant>, stop: &AtomicBool) -> bool {
    stop.load(Ordering::Relaxed) || until.is_some_and(|until| Instant::now() >= until)
}

/// How large a case is, for a person: `3 commands, 2 objects`.
pub fn size(case: &Case) -> String {
    let many = |count: usize, noun: &str| match count {
        1 => format!("1 {noun}"),
        _ => format!("{count} {noun}s"),
    };
    match case {
        Case::Stream(case) => {
            let commands = many(streams::commands(case), "command");
            format!("{commands}, {}", many(case.objects.len(), "object"))
        }
        Case::Layout(case) => {
            let bindings = many(case.groups.iter().flatten().flatten().count(), "binding");
            let lines = case.shader.as_ref().map(|shader| shader.wgsl.lines().count());
            lines.map_or(bindings.clone(), |lines| {
                format!("{bindings}, {} of WGSL", many(lines, "line"))
            })
        }
        Case::Bind(case) => {
            let bindings = many(case.group_layouts.iter().flatten().count(), "binding");
            format!("{bindings}, {}", many(case.commands.len(), "command"))
        }
    }
}
