//! One thread of a campaign: its readers and engines, and the round's work in order.

use std::time::Instant;

use arbitrary::Unstructured;

use super::counts::Counts;
use super::replays::Driven;
use super::{Shared, lock, share};
use crate::bind::BindPlayer;
use crate::case::{Case, Origin};
use crate::findings::Finding;
use crate::generators::{self, Lane, Made};
use crate::gpu::engine;
use crate::oracles::slots;
use crate::readers::StreamReader;
use crate::readers::layouts::LayoutReader;
use crate::report::results::NotRun;

/// Makes a case out of bytes.
pub(super) type Generator<T> = fn(&mut Unstructured<'_>) -> arbitrary::Result<Made<T>>;

/// One thread's readers and engines.
pub(super) struct Worker<'a> {
    pub(super) shared: &'a Shared<'a>,
    pub(super) subject: Box<dyn StreamReader>,
    pub(super) references: Vec<Box<dyn StreamReader>>,
    pub(super) layout_subject: Box<dyn LayoutReader>,
    pub(super) layout_references: Vec<Box<dyn LayoutReader>>,
    /// By reference and aspect, as [`slots::SlotsCompared`] counts.
    pub(super) layout_counts: Vec<[[u64; 3]; slots::ASPECTS.len()]>,
    pub(super) bind_subject: Box<dyn BindPlayer>,
    pub(super) engines: Vec<Driven>,
    pub(super) counts: Counts,
    /// Whether its round is: the campaign has been over for too long.
    is_cut_short: bool,
    bytes: Vec<u8>,
    pub(super) edges: generators::edges::Cursor,
}

/// Works until the campaign is over. Gives what the last round came to where it was cut short, and else nothing.
pub(super) fn work(shared: &Shared<'_>) -> Counts {
    let cast = shared.cast;
    let mut worker = Worker {
        shared,
        subject: (cast.subject)(),
        references: cast.references.iter().map(|make| make()).collect(),
        layout_subject: (cast.layout_subject)(),
        layout_references: cast.layout_references.iter().map(|make| make()).collect(),
        layout_counts: vec![Default::default(); cast.layout_references.len()],
        bind_subject: (cast.bind_subject)(),
        engines: Driven::all(open_engines(shared)),
        counts: Counts::default(),
        is_cut_short: false,
        bytes: Vec::new(),
        edges: generators::edges::Cursor::default(),
    };
    while let Some(round) = shared.claim() {
        worker.streams(round);
        worker.each(
            Lane::Layouts,
            round,
            generators::layout::layout_case,
            |worker, index, case| {
                worker.layout(Lane::Layouts, index, &case);
            },
        );
        worker.each(
            Lane::Shaders,
            round,
            generators::wgsl::shader_case,
            |worker, index, case| match worker.shared.cast.outside {
                true => worker.layout(Lane::Shaders, index, &case),
                false => worker.shader(index, &case),
            },
        );
        worker.each(
            Lane::Binds,
            round,
            generators::bind::bind_case,
            |worker, index, case| {
                worker.bind(index, &case);
            },
        );
        worker.count_layouts();
        let counts = std::mem::take(&mut worker.counts);
        if worker.is_cut_short {
            return counts;
        }
        shared.finish(round, counts);
    }
    Counts::default()
}

fn open_engines(shared: &Shared<'_>) -> Vec<Box<dyn engine::Engine>> {
    if !shared.plan.lanes.contains(&Lane::Replays) {
        return Vec::new();
    }
    let mut engines = Vec::new();
    for id in &shared.cast.engines {
        match engine::open(id) {
            Ok(engine) => engines.push(engine),
            Err(error) => {
                let mend = "run `cargo lockstep doctor`".to_owned();
                let missing = NotRun {
                    what: id.clone(),
                    why: format!("{error:#}"),
                    mend,
                };
                shared.did_not_run(missing);
            }
        }
    }
    engines
}

impl Worker<'_> {
    pub(super) fn origin(&self, lane: Lane, index: u64) -> Origin {
        Origin {
            lane: lane.name().into(),
            seed: self.shared.plan.seed,
            index,
        }
    }

    pub(super) fn found(&self, (lane, index): (Lane, u64), case: Case, signature: String, summary: String) {
        let finding = Finding {
            signature,
            summary,
            case,
            origin: Some(self.origin(lane, index)),
        };
        lock(&self.shared.findings).add(index / share(lane).max(1), finding);
    }

    /// Makes a lane's cases of a round and gives each to `body`, with its index.
    pub(super) fn each<T>(
        &mut self,
        lane: Lane,
        round: u64,
        generator: Generator<T>,
        mut body: impl FnMut(&mut Self, u64, T),
    ) {
        let since = Instant::now();
        let indices = self.shared.indices(lane, round);
        let mut cases = 0;
        let is_slow = self.shared.cast.outside && matches!(lane, Lane::Layouts | Lane::Shaders);
        for index in indices {
            // A subject in a process is asked about one layout at a time, and may take seconds over each: it is not asked once it is left
            // out, nor for long once the campaign is over.
            if is_slow && self.shared.left_out(self.shared.layout_subject()) {
                break;
            }
            if is_slow && self.shared.is_late() {
                self.is_cut_short = true;
                break;
            }
            cases += 1;
            generators::bytes(lane, self.shared.plan.seed, index, &mut self.bytes);
            if let Ok(made) = generator(&mut Unstructured::new(&self.bytes)) {
                self.counts.coverage.faults(&made.faults);
                body(self, index, made.case);
            }
        }
        self.counts.time(lane, cases, since);
    }
}
