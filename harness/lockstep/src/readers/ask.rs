//! Asks a reader, whatever becomes of it: a panic is a failure like any other, and answers are taken apart.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::answer::{self, DescriptorAnswer, NotAnAnswer, StreamAnswer, StrictAnswer};
use super::{Batch, BatchAnswers, CallsQuery, ReaderFailed, StreamReader};
use crate::case::StreamCase;

/// Why a reader has no answer to a case. Displayed, it is one line that names the reader.
#[derive(Debug, thiserror::Error)]
pub enum NoAnswer {
    /// It failed.
    #[error(transparent)]
    Failed(#[from] ReaderFailed),
    /// What it answered is none of PROTOCOL.md's answers.
    #[error("{reader}: {what}")]
    Nonsense {
        /// Its name.
        reader: String,
        /// What is wrong with the answer.
        what: String,
    },
}

impl NoAnswer {
    /// The signature of the finding that it is.
    pub fn signature(&self) -> String {
        match self {
            NoAnswer::Failed(failed) => format!("reader {} failed", failed.reader),
            NoAnswer::Nonsense { reader, .. } => format!("reader {reader} answers nonsense"),
        }
    }
}

/// Asks about several cases, and with `calls` about their calls too. A reader that fails over all of them is asked one by one.
pub fn cases(reader: &mut dyn StreamReader, cases: &[&StreamCase], calls: bool) -> Vec<Result<CaseAnswers, NoAnswer>> {
    let queries: Vec<Option<CallsQuery>> = cases
        .iter()
        .map(|case| CallsQuery::of(case).filter(|_| calls))
        .collect();
    let question = Batch {
        calls: queries.iter().flatten().cloned().collect(),
        ..Batch::of(cases.iter().copied())
    };
    match batch(reader, &question) {
        Ok(heard) => {
            let (mut streams, mut descriptors) = (heard.streams.into_iter(), heard.descriptors.into_iter());
            let mut texts = heard.calls.into_iter();
            let each = cases.iter().zip(&queries).map(|(case, query)| BatchAnswers {
                streams: streams.next().into_iter().collect(),
                descriptors: descriptors.by_ref().take(case.descriptors.len()).collect(),
                calls: query.iter().filter_map(|_| texts.next()).collect(),
                strict: Vec::new(),
            });
            each.map(|heard| take_apart(reader.name(), heard)).collect()
        }
        Err(failed) if cases.len() < 2 => vec![Err(failed.into())],
        Err(_) => {
            let alone = cases.iter().zip(&queries);
            alone
                .map(|(asked, query)| case(reader, asked, query.as_ref()))
                .collect()
        }
    }
}

/// A reader's answers to one case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseAnswers {
    /// To its stream; none from a reader that does not answer streams.
    pub stream: Option<StreamAnswer>,
    /// To its descriptors; none from a reader that does not answer descriptors.
    pub descriptors: Vec<DescriptorAnswer>,
    /// Its calls; none where they were not asked for, or from a reader that does not replay.
    pub calls: Option<Vec<u8>>,
}

/// Asks about a batch and hears the answers.
///
/// # Errors
///
/// The reader failed or panicked.
pub fn batch(reader: &mut dyn StreamReader, batch: &Batch) -> Result<BatchAnswers, ReaderFailed> {
    let answered = catch_unwind(AssertUnwindSafe(|| reader.ask(batch).and_then(|()| reader.hear())));
    answered.unwrap_or_else(|_| {
        Err(ReaderFailed {
            reader: reader.name().to_owned(),
            why: "it panicked".into(),
        })
    })
}

/// Asks the strict check of streams over their tables, and takes the answers apart: each a refusal or none. Nothing from a reader that
/// has no strict check.
///
/// # Errors
///
/// The reader failed or panicked.
pub fn strict(
    reader: &mut dyn StreamReader,
    queries: Vec<CallsQuery>,
) -> Result<Vec<Result<StrictAnswer, NotAnAnswer>>, ReaderFailed> {
    let question = Batch {
        strict: queries,
        ..Batch::default()
    };
    let heard = batch(reader, &question)?;
    Ok(heard.strict.iter().map(|bytes| answer::parse_strict(bytes)).collect())
}

/// Asks about one case, and with `calls` about those too; hears the answers and takes them apart.
///
/// # Errors
///
/// The reader failed, or one of its answers is none.
pub fn case(
    reader: &mut dyn StreamReader,
    case: &StreamCase,
    calls: Option<&CallsQuery>,
) -> Result<CaseAnswers, NoAnswer> {
    let question = Batch {
        calls: calls.cloned().into_iter().collect(),
        ..Batch::of([case])
    };
    let heard = batch(reader, &question)?;
    take_apart(reader.name(), heard)
}

/// The answers to one case.
fn take_apart(reader: &str, heard: BatchAnswers) -> Result<CaseAnswers, NoAnswer> {
    let calls = heard.calls.into_iter().next();
    let stream = heard
        .streams
        .first()
        .map(|bytes| StreamAnswer::parse(bytes))
        .transpose();
    let descriptors = heard.descriptors.iter().map(|bytes| DescriptorAnswer::parse(bytes));
    stream
        .and_then(|stream| {
            let descriptors = descriptors.collect::<Result<_, _>>()?;
            Ok(CaseAnswers {
                stream,
                descriptors,
                calls,
            })
        })
        .map_err(|what| NoAnswer::Nonsense {
            reader: reader.to_owned(),
            what: what.to_string(),
        })
}
