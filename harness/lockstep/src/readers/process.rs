//! A reader in a process of its own, asked over `reference/PROTOCOL.md`.
//!
//! Two threads hold its pipes, so that a process that stops reading or writing can never block the campaign: what does not come
//! within the deadline is a [`ReaderFailed`], the process is killed, and the next question starts it anew.

use std::io::{BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use super::{Batch, BatchAnswers, ReaderFailed, StreamReader, protocol};

/// How long a process may take over one batch.
pub const DEADLINE: Duration = Duration::from_secs(30);

type Frame = std::io::Result<(u32, Vec<u8>)>;

struct Running {
    child: Child,
    to: SyncSender<Vec<u8>>,
    from: Receiver<Frame>,
}

impl Drop for Running {
    fn drop(&mut self) {
        // Both may fail for a process that has already ended, which is what is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An outside reader.
pub struct Process {
    name: String,
    command: Box<dyn Fn() -> Command + Send>,
    deadline: Duration,
    running: Option<Running>,
    due: Option<(usize, usize)>,
}

impl Process {
    /// A reader that `command` starts. It is started at the first question.
    pub fn new(name: &str, deadline: Duration, command: impl Fn() -> Command + Send + 'static) -> Process {
        Process {
            name: name.to_owned(),
            command: Box::new(command),
            deadline,
            running: None,
            due: None,
        }
    }

    fn failed(&mut self, why: impl std::fmt::Display) -> ReaderFailed {
        self.due = None;
        let ended = self
            .running
            .take()
            .and_then(|mut running| running.child.try_wait().ok().flatten());
        let why = match ended {
            Some(status) => format!("{why} (it ended with {status})"),
            None => why.to_string(),
        };
        ReaderFailed {
            reader: self.name.clone(),
            why,
        }
    }

    fn start(&mut self) -> Result<(), ReaderFailed> {
        if self.running.is_some() {
            return Ok(());
        }
        let running = spawn((self.command)()).map_err(|error| self.failed(format!("it did not start: {error}")))?;
        self.running = Some(running);
        self.send(protocol::hello())?;
        let hello = self.receive(protocol::HELLO)?;
        match hello.first_chunk::<4>().map(|four| u32::from_le_bytes(*four)) {
            Some(protocol::VERSION) => Ok(()),
            Some(other) => {
                let mine = protocol::VERSION;
                Err(self.failed(format!("it speaks version {other} of the protocol, not {mine}")))
            }
            None => Err(self.failed("an empty hello")),
        }
    }

    fn send(&mut self, frame: Vec<u8>) -> Result<(), ReaderFailed> {
        let sent = self.running.as_ref().map(|running| running.to.send(frame));
        match sent {
            Some(Ok(())) => Ok(()),
            _ => Err(self.failed("its standard input is closed")),
        }
    }

    fn receive(&mut self, kind: u32) -> Result<Vec<u8>, ReaderFailed> {
        let Some(running) = &self.running else {
            return Err(self.failed("it is not running"));
        };
        match running.from.recv_timeout(self.deadline) {
            Ok(Ok((got, payload))) if got == kind => Ok(payload),
            Ok(Ok((got, _))) => Err(self.failed(format!("a frame of type {got} where {kind} was due"))),
            Ok(Err(error)) => Err(self.failed(error)),
            Err(RecvTimeoutError::Timeout) => {
                let seconds = self.deadline.as_secs_f64();
                Err(self.failed(format!("nothing came within {seconds} s")))
            }
            Err(RecvTimeoutError::Disconnected) => Err(self.failed("its standard output ended")),
        }
    }

    fn receive_answers(&mut self, kind: u32, due: usize) -> Result<Vec<Vec<u8>>, ReaderFailed> {
        let payload = self.receive(kind)?;
        protocol::answers(&payload, due).map_err(|error| self.failed(error))
    }
}

fn spawn(mut command: Command) -> std::io::Result<Running> {
    // Ctrl-C goes to the whole group of the terminal's program. The campaign ends by itself then, and still needs its readers.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(std::io::Error::other("it has no pipes"));
    };
    let (to, frames) = sync_channel::<Vec<u8>>(4);
    thread::spawn(move || {
        // The channel closes when the reader is dropped; a write fails when the process is gone, which `receive` reports.
        while let Ok(frame) = frames.recv() {
            if stdin.write_all(&frame).and_then(|()| stdin.flush()).is_err() {
                break;
            }
        }
    });
    let (answers, from) = sync_channel::<Frame>(4);
    thread::spawn(move || {
        let mut stdout = BufReader::with_capacity(1 << 16, stdout);
        while let Some(frame) = protocol::read_frame(&mut stdout).transpose() {
            let last = frame.is_err();
            if answers.send(frame).is_err() || last {
                break;
            }
        }
    });
    Ok(Running { child, to, from })
}

impl StreamReader for Process {
    fn name(&self) -> &str {
        &self.name
    }

    fn ask(&mut self, batch: &Batch) -> Result<(), ReaderFailed> {
        self.start()?;
        self.send(protocol::streams(batch))?;
        self.send(protocol::descriptors(batch))?;
        self.due = Some((batch.streams.len(), batch.descriptors.len()));
        Ok(())
    }

    fn hear(&mut self) -> Result<BatchAnswers, ReaderFailed> {
        let Some((streams, descriptors)) = self.due.take() else {
            return Err(self.failed("it was asked nothing"));
        };
        Ok(BatchAnswers {
            streams: self.receive_answers(protocol::STREAMS, streams)?,
            descriptors: self.receive_answers(protocol::DESCRIPTORS, descriptors)?,
        })
    }
}
