//! Runs a program for a limited time.

use std::io::{self, Read, Seek};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How a program ended, and what it said.
#[derive(Debug)]
pub struct Ran {
    /// Its status; none when it was ended at the limit.
    pub status: Option<ExitStatus>,
    /// What it wrote to standard output and standard error.
    pub output: String,
}

impl Ran {
    /// Whether it ended by itself, and well.
    pub fn success(&self) -> bool {
        self.status.is_some_and(|status| status.success())
    }
}

/// Runs a program to its end, or ends it at the limit. It reads nothing.
pub fn run(command: &mut Command, limit: Duration) -> io::Result<Ran> {
    // A file, since a pipe stays open as long as any child of the child lives.
    let mut output = tempfile::tempfile()?;
    command
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output.try_clone()?);
    let status = wait(&mut command.spawn()?, limit)?;
    let mut bytes = Vec::new();
    output.rewind()?;
    output.read_to_end(&mut bytes)?;
    Ok(Ran {
        status,
        output: String::from_utf8_lossy(&bytes).into_owned(),
    })
}

/// Waits for a child, and ends it at the limit; then there is no status.
pub fn wait(child: &mut Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
    let start = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if start.elapsed() >= limit {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}
