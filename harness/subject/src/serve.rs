//! The other side of `reference/PROTOCOL.md`: a reader of ours answers it, so that another program, or this one, can ask.

use std::io::{self, Read, Write};

use crate::native::answer_layout;
use crate::protocol::{self, CALLS, DESCRIPTORS, HELLO, Hello, LAYOUTS, STREAMS, STRICT, VERSION};
use crate::questions::{Batch, StreamReader};

/// The frame types that are answered here.
const ANSWERED: [&str; 5] = ["streams", "descriptors", "calls", "strict", "layouts"];

/// Answers frames until the input ends. A request that is not what PROTOCOL.md says is an error, as is a reader that fails.
pub fn serve(reader: &mut dyn StreamReader, input: &mut impl Read, output: &mut impl Write) -> anyhow::Result<()> {
    let hello = Hello {
        name: reader.name().to_owned(),
        answers: ANSWERED.map(str::to_owned).into(),
        ..Hello::default()
    };
    let Some((kind, payload)) = protocol::read_frame(input).map_err(malformed)? else {
        return Ok(());
    };
    anyhow::ensure!(
        kind == HELLO,
        "malformed request: the first frame is not hello but of type {kind}"
    );
    let version = protocol::read_version(&payload).map_err(malformed)?;
    protocol::write_frame(output, &hello.frame())?;
    if version != VERSION {
        return Ok(());
    }
    while let Some((kind, payload)) = protocol::read_frame(input).map_err(malformed)? {
        let answers = answer(reader, kind, &payload)?;
        protocol::write_frame(output, &protocol::answer(kind, &answers))?;
    }
    Ok(())
}

fn answer(reader: &mut dyn StreamReader, kind: u32, payload: &[u8]) -> anyhow::Result<Vec<Vec<u8>>> {
    let mut batch = Batch::default();
    match kind {
        STREAMS => batch.streams = protocol::read_streams(payload).map_err(malformed)?,
        DESCRIPTORS => batch.descriptors = protocol::read_descriptors(payload).map_err(malformed)?,
        CALLS => batch.calls = protocol::read_calls(payload).map_err(malformed)?,
        STRICT => batch.strict = protocol::read_calls(payload).map_err(malformed)?,
        LAYOUTS => {
            let cases = protocol::read_layouts(payload).map_err(malformed)?;
            return Ok(cases.iter().map(|case| answer_layout(case).bytes()).collect());
        }
        HELLO => anyhow::bail!("malformed request: a second hello"),
        other => anyhow::bail!("malformed request: a frame of unknown type {other}"),
    }
    reader.ask(&batch)?;
    let heard = reader.hear()?;
    Ok(match kind {
        STREAMS => heard.streams,
        DESCRIPTORS => heard.descriptors,
        CALLS => heard.calls,
        _ => heard.strict,
    })
}

fn malformed(error: io::Error) -> anyhow::Error {
    anyhow::anyhow!("malformed request: {error}")
}
