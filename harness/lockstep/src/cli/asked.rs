//! Who is asked about one case.

use super::run::{maker, put_in_place, readers};
use super::settings::Settings;
use crate::case::Case;
use crate::gpu::engine;
use crate::minimize::Jury;
use crate::readers::outside::{Introduced, Outside, Readers};
use crate::setup::Parts;

/// The readers of the command line, for `repro`, `minimize` and `corpus`.
#[derive(clap::Args)]
pub struct Given {
    #[command(flatten)]
    readers: Readers,
    /// The subject, as exec:COMMAND, in the place of `wire` and `mslmap`, as `run` takes it
    #[arg(long, value_name = "exec:COMMAND", value_parser = Outside::parse)]
    subject: Option<Outside>,
}

impl Given {
    /// They, with the names that they say; further readers are those of lockstep.toml where the command line has none.
    pub(super) fn introduce(&self) -> anyhow::Result<Introduced> {
        let kept = Settings::load(None)?.run.reader;
        self.readers.clone().or(kept).introduce(self.subject.as_ref())
    }
}

/// All who are here with those from outside; engines where the case is a stream and the finding, if it is known, an engine's.
pub(super) fn jury(parts: &Parts, outside: &Introduced, case: &Case, signature: Option<&str>) -> Jury {
    let mut cast = readers(parts);
    cast.references.extend(outside.readers.iter().cloned().map(maker));
    if let Some(subject) = &outside.subject {
        put_in_place(subject, &mut cast);
    }
    let of_engines = |signature: &str| signature.starts_with("gpu:") || signature.starts_with("strict:");
    if matches!(case, Case::Stream(_)) && signature.is_none_or(of_engines) {
        cast.engines = engine::available().into_iter().map(|engine| engine.id).collect();
    }
    Jury::of(&cast)
}

/// Why a case that was kept for a finding may well show nothing: it takes a whole recording, or somebody whom the finding names was not asked.
pub(super) fn why_not_shown(signature: &str, jury: &Jury) -> Option<String> {
    if signature.starts_with("recorded: ") {
        return Some(format!(
            "the case was kept for `{signature}`, and it takes the whole recording: `cargo lockstep run --recorded FOLDER` shows it again"
        ));
    }
    jury.lacks(signature).map(|who| not_asked(signature, who))
}

/// The line about somebody whom the finding names and who was not asked.
fn not_asked(signature: &str, who: &str) -> String {
    format!(
        "the case was kept for `{signature}`, and `{who}` that is named there was not asked; a reader is added by --reader 'exec:COMMAND', a \
         subject by --subject, and `cargo lockstep doctor` says which engines are here"
    )
}
