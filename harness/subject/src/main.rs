//! Serves `wire` and `mslmap` over `reference/PROTOCOL.md`, on standard input and output.

use subject::native::Native;
use subject::serve::serve;

fn main() -> anyhow::Result<()> {
    serve(
        &mut Native::default(),
        &mut std::io::stdin().lock(),
        &mut std::io::stdout().lock(),
    )
}
