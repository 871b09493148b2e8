//! A worker's layouts, shaders and binds.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::worker::Worker;
use crate::case::{BindCase, Case, LayoutCase};
use crate::generators::Lane;
use crate::oracles::{self, Found, bind, msl, slots};
use crate::readers::ask::NoAnswer;
use crate::readers::slot_upstream;

/// The MSL of the cases whose index is a multiple of this is compared with wgpu-hal's too, which translates it all again.
const UPSTREAM_SHARE: u64 = 32;
/// Apple's compiler takes a tenth of a second for a text.
const APPLE_SHARE: u64 = 2048;

impl Worker<'_> {
    pub(super) fn layout(&mut self, lane: Lane, index: u64, case: &LayoutCase) {
        let compared = catch_unwind(AssertUnwindSafe(|| self.compare_layout((lane, index), case)));
        if compared.is_err() {
            let signature = slots::PANICKED.to_owned();
            self.found((lane, index), Case::Layout(case.clone()), signature.clone(), signature);
        }
    }

    fn compare_layout(&mut self, of: (Lane, u64), case: &LayoutCase) {
        let answer = match self.layout_subject.try_answer(case) {
            Ok(answer) => answer,
            Err(none) => return self.no_layout_answer(of, case, &none),
        };
        self.shared.answered(self.shared.layout_subject());
        if answer.stages.iter().any(Result::is_ok) {
            self.counts.coverage.bindings(case.groups.iter().flatten().flatten());
        }
        let mut references = Vec::new();
        for at in 0..self.layout_references.len() {
            let reference = &mut self.layout_references[at];
            let own = reference.answer(case);
            let compared = reference.compare(case, &answer, &own);
            self.counts.ledger.add(&compared.ledger);
            let sums = self.layout_counts[at].as_flattened_mut();
            sums.iter_mut()
                .zip(compared.counts.as_flattened())
                .for_each(|(sum, count)| *sum += count);
            references.push(compared.parted);
        }
        let names = self.layout_references.iter().map(|reference| reference.name());
        let parted = names.zip(references.iter().map(Vec::as_slice));
        for Found { signature, summary } in oracles::findings(self.layout_subject.name(), parted) {
            self.found(of, Case::Layout(case.clone()), signature, summary);
        }
    }

    /// A finding; and a subject that fails over a few in a row is not asked any more.
    fn no_layout_answer(&self, of: (Lane, u64), case: &LayoutCase, none: &NoAnswer) {
        let subject = self.shared.layout_subject();
        match none {
            NoAnswer::Failed(failed) => self
                .shared
                .strike(subject, &format!("{} over layouts", failed.reader), 1),
            NoAnswer::Nonsense { .. } => self.shared.answered(subject),
        }
        self.found(of, Case::Layout(case.clone()), none.signature(), none.to_string());
    }

    /// Layouts come by the ten thousand a second: their comparisons are counted apart, by reference and aspect, and only here by name.
    pub(super) fn count_layouts(&mut self) {
        let subject = self.layout_subject.name();
        for (reference, counts) in self.layout_references.iter().zip(&mut self.layout_counts) {
            for (aspect, counts) in slots::ASPECTS.iter().zip(std::mem::take(counts)) {
                if counts[0] > 0 {
                    self.counts.add(aspect, subject, reference.name(), counts);
                }
            }
        }
    }

    /// Gives a sample to Apple's compiler, where there is one.
    fn compile(&mut self, index: u64, case: &LayoutCase) {
        let Some(apple) = self
            .shared
            .cast
            .apple
            .as_ref()
            .filter(|_| index.is_multiple_of(APPLE_SHARE))
        else {
            return;
        };
        let (compiled, problems) = apple.check(case);
        *self.counts.msl.checks.entry(msl::apple::CHECK.to_owned()).or_default() += compiled;
        for problem in problems {
            let signature = msl::apple::signature(&problem);
            let summary = format!("entry point {}: {}", problem.entry_point, problem.detail);
            self.found((Lane::Shaders, index), Case::Layout(case.clone()), signature, summary);
        }
    }

    pub(super) fn bind(&mut self, index: u64, case: &BindCase) {
        let subject = &mut self.bind_subject;
        let found = match catch_unwind(AssertUnwindSafe(|| bind::check(case, subject.as_mut()).0)) {
            Ok(compared) => {
                self.counts.coverage.bound(case);
                self.counts.ledger.add(&compared.ledger);
                let (subject, reference) = (subject.name(), slot_upstream::NAME);
                self.counts
                    .add(bind::ASPECTS[0], subject, reference, compared.counts[0]);
                oracles::findings(subject, [(reference, compared.parted.as_slice())])
            }
            Err(_) => vec![Found {
                signature: bind::PANICKED.into(),
                summary: "its message is above".into(),
            }],
        };
        for Found { signature, summary } in found {
            self.found((Lane::Binds, index), Case::Bind(case.clone()), signature, summary);
        }
    }

    pub(super) fn shader(&mut self, index: u64, case: &LayoutCase) {
        let found = |signature, summary| {
            self.found((Lane::Shaders, index), Case::Layout(case.clone()), signature, summary);
        };
        // A panic, naga's or the oracle's, is a finding, and the campaign goes on.
        let check = || {
            let mut checked = msl::check(case);
            if index.is_multiple_of(UPSTREAM_SHARE) {
                checked.add(msl::upstream::check(case));
            }
            checked
        };
        let Ok(checked) = catch_unwind(AssertUnwindSafe(check)) else {
            found(
                msl::PANICKED.into(),
                "naga or the oracle panicked; its message is above".into(),
            );
            return;
        };
        for problem in &checked.problems {
            let summary = format!("entry point {}: {}", problem.entry_point, problem.detail);
            found(problem.signature(), summary);
        }
        self.counts.msl.add(&checked.counts());
        self.compile(index, case);
    }
}
