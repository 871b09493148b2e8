//! `lockstep serve`: a reader of this program's own, for whoever speaks reference/PROTOCOL.md.

use clap::ValueEnum;

use super::CLEAN;
use crate::readers::native::Native;
use crate::readers::serve::serve;

const EXAMPLES: &str = "Examples:
  cargo lockstep run --edges --reader 'exec:target/release/lockstep serve native'   the program against itself

A frame is a length in 4 bytes, little-endian, and as many bytes; reference/PROTOCOL.md has them all.
Exit status: 0 the input ended, 2 bad use or a frame that is none.";

/// `lockstep serve`'s arguments.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The reader that answers
    #[arg(value_enum)]
    reader: Reader,
}

/// A reader that can be served.
#[derive(Clone, Copy, ValueEnum)]
enum Reader {
    /// The crate `wire`
    Native,
}

/// Answers on standard output what standard input asks, until it ends.
pub fn run(args: &Args) -> anyhow::Result<u8> {
    let mut reader = match args.reader {
        Reader::Native => Native::default(),
    };
    serve(&mut reader, &mut std::io::stdin().lock(), &mut std::io::stdout().lock())?;
    Ok(CLEAN)
}
