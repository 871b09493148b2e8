//! What readers of layouts are asked and say; the types are those of the crate `subject`.

pub use subject::layouts::*;

use super::ask::NoAnswer;
use super::native::{self, Native};
use crate::case::LayoutCase;
use crate::oracles::slots::{self, SlotsCompared};

/// A reader of layouts.
pub trait LayoutReader: Send {
    /// Its name in reports, such as `slot-model`.
    fn name(&self) -> &str;

    /// Its answer. The plain constructor answers a case with neither immediates nor vertex pulling ([`is_extended`]), the extended one
    /// any other.
    fn answer(&mut self, case: &LayoutCase) -> LayoutAnswer;

    /// The same, of a reader that may have none: a process fails or answers nonsense.
    ///
    /// # Errors
    ///
    /// Why there is none.
    fn try_answer(&mut self, case: &LayoutCase) -> Result<LayoutAnswer, NoAnswer> {
        Ok(self.answer(case))
    }

    /// Holds its answer to a case against the subject's.
    fn compare(&self, _case: &LayoutCase, subject: &LayoutAnswer, own: &LayoutAnswer) -> SlotsCompared {
        slots::compare(subject, own)
    }
}

impl LayoutReader for Native {
    fn name(&self) -> &str {
        super::StreamReader::name(self)
    }

    fn answer(&mut self, case: &LayoutCase) -> LayoutAnswer {
        native::answer_layout(case)
    }
}
