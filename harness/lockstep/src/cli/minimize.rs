//! `lockstep minimize`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::asked::{self, Given};
use super::run::duration;
use super::{CLEAN, stop_on_signals};
use crate::case::{Case, CaseFile};
use crate::findings::{read_case, write_case};
use crate::minimize::{End, Limits, minimize, size};
use crate::say;
use crate::setup;

const HELP: &str = "Examples:
  cargo lockstep minimize reports/out/findings/NAME.json
  cargo lockstep minimize case.json --signature 'ranges: native vs replay-js: accept vs out-of-range DrawIndirect'

The smallest case so far is written as it goes; run again, it goes on from there.
Exit status: 0 minimised as far as the limit let, 2 bad use, bad input or a case that does not show its finding.";

/// `lockstep minimize`'s arguments.
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// A case file, such as a finding's
    file: PathBuf,
    /// Where the smallest case goes; NAME.min.json beside the file unless said otherwise
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// How long at most: 10s, 5m
    #[arg(long, default_value = "10s", value_parser = duration)]
    limit: Duration,
    /// The finding to keep; the file's own, or the first that the case shows, unless said otherwise
    #[arg(long, value_name = "TEXT")]
    signature: Option<String>,
    #[command(flatten)]
    given: Given,
}

/// Minimises a case.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<u8> {
    let (file, from) = (read_case(&args.file)?, args.file.display());
    let outside = args.given.introduce()?;
    let named = args.signature.clone().or(file.signature.clone());
    let mut jury = asked::jury(&setup::look(), &outside, &file.case, named.as_deref());
    if let Some(why) = named.as_deref().and_then(|named| asked::why_not_shown(named, &jury)) {
        anyhow::bail!("{from}: {why}");
    }
    let Some(signature) = named.or_else(|| jury.all(&file.case).into_iter().next()) else {
        anyhow::bail!("{from}: the case shows no finding, so that there is nothing to keep");
    };
    let to = args.out.clone().unwrap_or_else(|| args.file.with_extension("min.json"));
    let start = resumed(&to, &signature, &args.file)?.unwrap_or_else(|| file.case.clone());
    let stop = stop_on_signals("lockstep: ending; the smallest case so far is written");
    let limits = Limits {
        limit: args.limit,
        stop: &stop,
    };
    let smaller = |case: &Case| CaseFile {
        signature: Some(signature.clone()),
        // It is no case of a generator's any more, and its answers are others.
        origin: None,
        expect: None,
        case: case.clone(),
        ..file.clone()
    };
    let mut written = Ok(());
    let mut keep = |case: &Case| {
        written = write_case(&to, &smaller(case));
        if written.is_err() {
            stop.store(true, Ordering::Relaxed);
        }
    };
    let mut judge = |cases: &[Case]| jury.signatures(cases, &signature);
    let Some(minimized) = minimize(&start, &signature, &mut judge, &limits, &mut keep) else {
        anyhow::bail!("{from}: the case does not show `{signature}` here; `cargo lockstep repro` says what it shows");
    };
    written?;
    match minimized.end {
        End::Smallest => {}
        End::Limit => say::line(format_args!(
            "lockstep: ended after {:?}; run it again to go on",
            args.limit
        )),
        End::Stopped => say::line("lockstep: ended early; run it again to go on"),
    }
    let (before, after) = (size(&file.case), size(&minimized.case));
    writeln!(
        out,
        "{}: {after}, of {before}; {} cases asked about",
        to.display(),
        minimized.asked
    )?;
    Ok(CLEAN)
}

/// The case that an earlier run left at `to`.
///
/// # Errors
///
/// There is another file.
fn resumed(to: &Path, signature: &str, from: &Path) -> anyhow::Result<Option<Case>> {
    if to == from || !to.is_file() {
        return Ok(None);
    }
    let file = read_case(to)?;
    let same = file.signature.as_deref() == Some(signature);
    anyhow::ensure!(
        same,
        "{}: there is a case of another finding; remove it, or name another file by --out",
        to.display()
    );
    Ok(Some(file.case))
}
