//! `lockstep inspect`: a blob to text and a text to a blob.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use wire::{Blob, Reason, STREAM_VERSION};

use super::CLEAN;
use crate::case::Case;
use crate::findings::{MAX_CASE_FILE, parse_case};
use crate::input;
use crate::say;
use crate::text;

const EXAMPLES: &str = "Examples:
  cargo lockstep inspect stream.wire                 a blob as text
  cargo lockstep inspect finding.json > stream.txt   a case's stream as text, to be changed by hand
  cargo lockstep inspect stream.txt -o stream.wire   and back
  cargo lockstep inspect stream.txt                  a text checked and put in form

reference/TEXT.md gives the language. A stream that readers refuse is shown too, up to what is refused and why.
Exit status: 0 shown or written, 2 bad use or bad input.";

/// `lockstep inspect`'s arguments.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A blob (it begins with WIRE), the case file of a stream (it begins with {), or a text; - is standard input
    file: PathBuf,
    /// Write the stream there as a blob, instead of text on standard output; - is standard output
    #[arg(short = 'o', long, value_name = "OUT")]
    to_blob: Option<PathBuf>,
}

/// Shows the stream or writes it. The error is one line: the file, for a text line and column too, what is wrong, how to mend it.
pub fn run(args: &Args) -> anyhow::Result<u8> {
    let name = match args.file.as_os_str() == "-" {
        true => "standard input".to_owned(),
        false => args.file.display().to_string(),
    };
    let bytes = contents(&args.file).with_context(|| format!("{name}: cannot read it"))?;
    let bytes = stream_in(&name, bytes)?;
    let blob = Blob::parse(&bytes)
        .map_err(|refused| anyhow::anyhow!("{name}: refused as a blob: {}", blob_rule(&bytes, refused.reason)))?;
    match &args.to_blob {
        None => say::out(text::write(&blob).as_bytes()),
        Some(out) if out.as_os_str() == "-" => say::out(&bytes),
        Some(out) => std::fs::write(out, &bytes).with_context(|| format!("{}: cannot write it", out.display())),
    }?;
    Ok(CLEAN)
}

fn contents(file: &Path) -> std::io::Result<Vec<u8>> {
    if file.as_os_str() != "-" {
        return input::bytes(file, MAX_CASE_FILE);
    }
    let mut bytes = Vec::new();
    std::io::stdin().lock().read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The blob that a file is, holds or says.
pub(super) fn stream_in(name: &str, bytes: Vec<u8>) -> anyhow::Result<Vec<u8>> {
    if bytes.starts_with(b"WIRE") {
        return Ok(bytes);
    }
    if bytes.trim_ascii_start().starts_with(b"{") {
        return match parse_case(name, &bytes)?.case {
            Case::Stream(case) => Ok(case.blob),
            Case::Layout(_) | Case::Bind(_) => {
                anyhow::bail!("{name}: the case is no stream; inspect shows streams, and repro this one")
            }
        };
    }
    let text = std::str::from_utf8(&bytes).map_err(|error| {
        let at = error.valid_up_to();
        anyhow::anyhow!(
            "{name}: not a blob (no WIRE at its start), not a case file and not text (not UTF-8 at byte {at})"
        )
    })?;
    text::read(text).map_err(|error| anyhow::anyhow!("{name}:{error}"))
}

/// What is wrong with a blob that is refused whole (wire.md section 1).
fn blob_rule(bytes: &[u8], reason: Reason) -> String {
    let field = |at: usize| {
        bytes
            .get(at..at + 4)
            .and_then(|field| field.try_into().ok())
            .map(u32::from_le_bytes)
    };
    let length = bytes.len();
    let why = match (reason, field(4), field(8), field(12)) {
        (Reason::BadMagic, ..) => "it does not begin with WIRE".to_owned(),
        (Reason::BadVersion, Some(version), ..) => format!("its version is {version}, and not {STREAM_VERSION}"),
        (Reason::BadLength, _, Some(words), Some(data)) => {
            let due = 16 + 4 * u64::from(words) + u64::from(data);
            format!("{words} words and {data} bytes of data make {due} bytes, and it has {length}")
        }
        _ => format!("its header is 16 bytes, and it has {length}"),
    };
    format!("{reason}: {why}")
}
