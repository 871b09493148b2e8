//! A worker's replays: which engine gets which case, and what comes of it.

use super::STRIKES;
use super::streams::Item;
use super::worker::Worker;
use crate::generators::{Lane, STREAMS_PER_WORLD};
use crate::gpu::Outcome;
use crate::gpu::engine::{Engine, EngineId, Request};
use crate::oracles::Found;
use crate::oracles::gpu::{self, Asked};
use crate::oracles::strict::{self, Said};
use crate::readers::answer::{StreamAnswer, StrictAnswer};
use crate::readers::ask;
use crate::report::results::{EngineRow, NotRun};

/// A worker's engine.
pub(super) struct Driven {
    engine: Box<dyn Engine>,
    /// Of so many cases it gets one.
    every: u64,
    /// Cases in a row over which it was lost.
    losses: u32,
}

/// What a replay costs, in replays on wgpu's noop backend, roughly.
fn cost(engine: &EngineId) -> u64 {
    match engine.id.split(':').next() {
        // Its mapAsync looks for an answer some 86 times a second.
        Some("deno") => 64,
        Some("dawn") if engine.executes => 32,
        _ if engine.id == "wgpu:noop" => 1,
        _ => 8,
    }
}

impl Driven {
    /// Engines with their shares: the cheapest gets every case, another the fewer the more it costs.
    pub(super) fn all(engines: Vec<Box<dyn Engine>>) -> Vec<Driven> {
        let least = engines.iter().map(|engine| cost(engine.about())).min().unwrap_or(1);
        let driven = engines.into_iter().map(|engine| Driven {
            every: cost(engine.about()) / least,
            engine,
            losses: 0,
        });
        driven.collect()
    }

    /// Whether it gets the case of that index. What executes gets streams over as many worlds as can be; what does not gets all streams
    /// over a world, whose objects it then makes once.
    fn takes(&self, index: u64) -> bool {
        let number = match self.engine.about().executes {
            true => index,
            false => index / STREAMS_PER_WORLD,
        };
        number.is_multiple_of(self.every)
    }

    /// Whether it works while this thread goes on, so that a second question costs a wait.
    fn is_process(&self) -> bool {
        !self.engine.about().id.starts_with("wgpu:")
    }

    /// What it is asked about its cases: each, and where a second question would cost a wait the probes too.
    fn requests<'a>(&self, cases: &[&'a Replayed<'_>]) -> Vec<Request<'a>> {
        let probes = cases.iter().filter_map(|case| case.probe());
        let probes = probes.filter(|_| self.is_process());
        cases.iter().map(|case| case.asked.request()).chain(probes).collect()
    }

    fn share<'a, 'b>(&self, cases: &'a [Replayed<'b>]) -> Vec<&'a Replayed<'b>> {
        cases.iter().filter(|case| self.takes(case.item.index)).collect()
    }
}

/// What an engine showed of a case, and which may follow from what a reference says of its stream.
pub(super) struct Suspect {
    /// The index of the case's item.
    pub(super) item: usize,
    engine: String,
    pub(super) found: Found,
}

/// A case that is replayed.
struct Replayed<'a> {
    /// The index of its item.
    at: usize,
    item: &'a Item,
    asked: Asked<'a>,
    /// What the subject's strict check says; none of a subject without one.
    said: Option<Said<'a>>,
}

impl Replayed<'_> {
    /// The replay up to and with the command that the strict check refuses, where that is another than the case's own.
    fn probe(&self) -> Option<Request<'_>> {
        let request = self.asked.request();
        let command = self.said.as_ref()?.refusal?.command;
        let earlier = request.stop_after.is_none_or(|last| last > command);
        earlier.then_some(Request {
            stop_after: Some(command),
            ..request
        })
    }
}

impl Worker<'_> {
    /// Replays a round's cases of the lane, each on its engines. Gives what these showed.
    pub(super) fn replays(&mut self, items: &[Item], answers: &[Option<StreamAnswer>]) -> Vec<Suspect> {
        let mut suspects = Vec::new();
        let of_lane = items
            .iter()
            .zip(answers)
            .enumerate()
            .filter(|(_, (item, _))| item.lane == Lane::Replays);
        let asked = of_lane.filter_map(|(at, (item, answer))| Some((at, Asked::new(&item.case, answer.as_ref()?)?)));
        let asked: Vec<(usize, Asked<'_>)> = asked.collect();
        let answers = self.shared.cast.outside.then(|| self.ask_strict(items, &asked));
        let mut cases: Vec<Replayed<'_>> = Vec::with_capacity(asked.len());
        for (number, (at, asked)) in asked.into_iter().enumerate() {
            let item = &items[at];
            let before = cases.last().and_then(|case| case.said.as_ref());
            let (cmds, objects) = (asked.cmds(), &item.case.objects);
            let said = match &answers {
                None => Some(Said::after(before, cmds, objects)),
                Some(answers) => {
                    let answer = answers.get(number).copied().flatten();
                    answer.map(|answer| Said::with(before, cmds, objects, answer))
                }
            };
            cases.push(Replayed { at, item, asked, said });
        }
        let mut engines = std::mem::take(&mut self.engines);
        let shares: Vec<Vec<&Replayed<'_>>> = engines.iter().map(|driven| driven.share(&cases)).collect();
        let requests: Vec<Vec<Request<'_>>> = engines
            .iter()
            .zip(&shares)
            .map(|(driven, share)| driven.requests(share))
            .collect();
        for (driven, requests) in engines.iter_mut().zip(&requests) {
            driven.engine.ask(requests);
        }
        for ((driven, share), requests) in engines.iter_mut().zip(&shares).zip(&requests) {
            let mut outcomes = driven.engine.outcomes(requests);
            let probes = outcomes.split_off(share.len().min(outcomes.len()));
            for (case, outcome) in share.iter().zip(&outcomes) {
                suspects.extend(self.replayed(driven, case, outcome));
            }
            self.strictly(driven, share, (&outcomes, probes), &mut suspects);
        }
        engines.retain(|driven| driven.losses < STRIKES);
        self.engines = engines;
        suspects
    }

    /// Asks a subject in a process of its own what its strict check says; nothing of a case that it does not answer.
    fn ask_strict(&mut self, items: &[Item], asked: &[(usize, Asked<'_>)]) -> Vec<Option<StrictAnswer>> {
        let queries = asked.iter().map(|(at, asked)| asked.query(&items[*at].case.objects));
        let heard = match ask::strict(self.subject.as_mut(), queries.collect()) {
            Ok(heard) => heard,
            Err(failed) => {
                self.reader_failed(None, items, failed);
                Vec::new()
            }
        };
        let name = self.subject.name();
        let answers = asked.iter().zip(heard);
        answers
            .map(|((at, _), answer)| self.sense(name, &items[*at], answer))
            .collect()
    }

    /// Holds the strict check against the outcomes. A case whose outcome does not show enough is replayed once more, up to and with the
    /// command that the check refuses; `probed` are those that were replayed so at once.
    fn strictly(
        &mut self,
        driven: &mut Driven,
        cases: &[&Replayed<'_>],
        (outcomes, probed): (&[Outcome], Vec<Outcome>),
        suspects: &mut Vec<Suspect>,
    ) {
        let id = driven.engine.about().id.clone();
        let mut probed = probed.into_iter();
        for (case, outcome) in cases.iter().zip(outcomes) {
            let Some(said) = &case.said else { continue };
            let probe = case.probe();
            let at_once = probe.filter(|_| driven.is_process()).and_then(|_| probed.next());
            let stop_after = case.asked.request().stop_after;
            if let Some(judged) = strict::judge(said, &id, outcome, stop_after) {
                self.judged_strictly(&id, (case, said), (&judged, outcome), suspects);
                continue;
            }
            let Some(probe) = probe else { continue };
            let outcome = at_once.unwrap_or_else(|| driven.engine.replay(&probe));
            if let Some(judged) = strict::judge(said, &id, &outcome, probe.stop_after) {
                self.judged_strictly(&id, (case, said), (&judged, &outcome), suspects);
            }
        }
    }

    /// Where CheckRanges is wrong about the case too, that is the finding: the strict check has all of its rules.
    fn judged_strictly(
        &mut self,
        engine: &str,
        (case, said): (&Replayed<'_>, &Said<'_>),
        (judged, outcome): (&strict::Judged, &Outcome),
        suspects: &mut Vec<Suspect>,
    ) {
        let accepted = case.asked.request().stop_after.is_none();
        if let Some(row) = self.counts.engines.get_mut(engine) {
            strict::count(&mut row.strict, said, judged, outcome, accepted);
        }
        let known = |suspect: &Suspect| suspect.item == case.at && suspect.engine == engine;
        let signature = judged.signature(engine).filter(|_| !suspects.iter().any(known));
        suspects.extend(signature.map(|signature| Suspect {
            item: case.at,
            engine: engine.to_owned(),
            found: Found {
                signature,
                summary: format!("check_strict against {engine}: {}: {}", judged.what, judged.detail),
            },
        }));
    }

    fn replayed(&mut self, driven: &mut Driven, case: &Replayed<'_>, outcome: &Outcome) -> Option<Suspect> {
        let asked = &case.asked;
        let about = driven.engine.about();
        let judged = asked.judge(about, outcome);
        let row = match self.counts.engines.get_mut(&about.id) {
            Some(row) => row,
            None => self.counts.engines.entry(about.id.clone()).or_insert(EngineRow {
                engine: about.id.clone(),
                driver: about.driver.clone(),
                executes: about.executes,
                ..EngineRow::default()
            }),
        };
        gpu::count(row, asked.commands(), &judged, outcome);
        let subject = self.subject.name();
        let suspect = judged.signature(subject, &about.id).map(|signature| Suspect {
            item: case.at,
            engine: about.id.clone(),
            found: Found {
                signature,
                summary: format!("{subject} against {}: {}: {}", about.id, judged.what, judged.detail),
            },
        });
        driven.losses = if outcome.lost { driven.losses + 1 } else { 0 };
        if driven.losses == STRIKES {
            self.shared.did_not_run(NotRun {
                what: format!("{}, to the end", about.id),
                why: format!("it was lost over {STRIKES} cases in a row"),
                mend: "see its finding; the campaign went on without it".into(),
            });
        }
        suspect
    }
}
