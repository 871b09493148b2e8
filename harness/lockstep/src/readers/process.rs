//! A reader in a process of its own, asked over `reference/PROTOCOL.md`.
//!
//! Two threads hold its pipes, so that a process that stops reading or writing can never block the campaign: what does not come
//! within the deadline is a [`ReaderFailed`], the process is killed, and the next question starts it anew. A process that failed is
//! never asked again, and its pipes go with it, so that its answers can never be taken for those to a later batch.

use std::collections::{BTreeSet, VecDeque};
use std::io::{BufReader, ErrorKind, Read, Write};
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::ask::NoAnswer;
use super::layouts::{LayoutAnswer, LayoutReader, Refusal};
use super::protocol::Hello;
use super::{Batch, BatchAnswers, ReaderFailed, StreamReader, protocol};
use crate::case::LayoutCase;
use crate::say;
use crate::setup::process::wait;

/// How long a process may take over one frame.
pub const DEADLINE: Duration = Duration::from_secs(30);
/// How long a process whose output has ended may take to end, so that its status can be told.
const TO_END: Duration = Duration::from_secs(1);
/// One that was late once gets this part of its deadline from there on, hello apart: a campaign is not spent on waiting for it.
const ONCE_LATE: u32 = 10;

type Frame = std::io::Result<(u32, Vec<u8>)>;

struct Running {
    child: Child,
    to: SyncSender<Vec<u8>>,
    from: Receiver<Frame>,
    /// The end of what it wrote to standard error, where that is a pipe.
    errors: Option<Errors>,
    /// What it said of itself; none before.
    hello: Option<Hello>,
}

impl Drop for Running {
    fn drop(&mut self) {
        end_group(&self.child);
        // Both may fail for a process that has already ended, which is what is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Ends what the child has started too: `go run` and `npx` are only the parents of a reader.
#[cfg(unix)]
fn end_group(child: &Child) {
    let group = format!("-{}", child.id());
    let mut kill = Command::new("kill");
    // It complains when nobody is left, which is what is wanted.
    let _ = kill.args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
}

#[cfg(not(unix))]
fn end_group(_: &Child) {}

/// An outside reader.
pub struct Process {
    name: String,
    command: Box<dyn Fn() -> Command + Send>,
    deadline: Duration,
    late: bool,
    running: Option<Running>,
    due: Option<Due>,
}

/// How many answers are due, of the types that were asked.
struct Due {
    streams: Option<usize>,
    descriptors: Option<usize>,
    calls: Option<usize>,
    strict: Option<usize>,
}

impl Process {
    /// A reader that `command` starts. It is started at the first question.
    pub fn new(name: &str, deadline: Duration, command: impl Fn() -> Command + Send + 'static) -> Process {
        Process {
            name: name.to_owned(),
            command: Box::new(command),
            deadline,
            late: false,
            running: None,
            due: None,
        }
    }

    /// Starts the program, where it does not run; nothing is said yet.
    pub fn open(&mut self) -> std::io::Result<()> {
        if self.running.is_none() {
            self.running = Some(spawn((self.command)())?);
        }
        Ok(())
    }

    /// What it says of itself. Starts it where it does not run.
    pub fn hello(&mut self) -> Result<Hello, ReaderFailed> {
        self.open()
            .map_err(|error| self.failed(format!("it did not start: {error}")))?;
        if let Some(hello) = self.running.as_ref().and_then(|running| running.hello.clone()) {
            return Ok(hello);
        }
        self.send(protocol::hello())?;
        let payload = self.receive(protocol::HELLO)?;
        let hello = Hello::parse(&payload).map_err(|why| self.failed(why))?;
        if let Some(running) = &mut self.running {
            running.hello = Some(hello.clone());
        }
        Ok(hello)
    }

    /// Sends a frame of a type that its hello lists. Starts it where it does not run.
    pub fn question(&mut self, frame: Vec<u8>) -> Result<(), ReaderFailed> {
        self.quiet()?;
        self.hello()?;
        self.send(frame)
    }

    /// The answers to the frame that it was last sent, `due` of them.
    pub fn answers(&mut self, kind: u32, due: usize) -> Result<Vec<Vec<u8>>, ReaderFailed> {
        self.receive_answers(kind, Some(due))
    }

    /// Ends it; the next question starts it anew, and what it was late with is forgotten.
    pub fn close(&mut self) {
        (self.running, self.due, self.late) = (None, None, false);
    }

    fn failed(&mut self, why: impl std::fmt::Display) -> ReaderFailed {
        self.failed_waiting(why, Duration::ZERO)
    }

    fn failed_waiting(&mut self, why: impl std::fmt::Display, patience: Duration) -> ReaderFailed {
        self.due = None;
        let ended = |running: &mut Running| wait(&mut running.child, patience).ok().flatten();
        let mut running = self.running.take();
        let status = running.as_mut().and_then(ended);
        if let Some(errors) = running.and_then(|mut running| running.errors.take()) {
            errors.say(&self.name);
        }
        let why = match status {
            Some(status) => format!("{why} (it ended with {})", in_words(status)),
            None => why.to_string(),
        };
        ReaderFailed {
            reader: self.name.clone(),
            why,
        }
    }

    fn send(&mut self, frame: Vec<u8>) -> Result<(), ReaderFailed> {
        let sent = self.running.as_ref().map(|running| running.to.send(frame));
        match sent {
            Some(Ok(())) => Ok(()),
            _ => Err(self.failed_waiting("it closed its standard input", TO_END)),
        }
    }

    fn receive(&mut self, kind: u32) -> Result<Vec<u8>, ReaderFailed> {
        let Some(running) = &self.running else {
            return Err(self.failed("it is not running"));
        };
        let patience = match self.late && kind != protocol::HELLO {
            true => self.deadline / ONCE_LATE,
            false => self.deadline,
        };
        match running.from.recv_timeout(patience) {
            Ok(Ok((got, payload))) if got == kind => Ok(payload),
            Ok(Ok((got, _))) => Err(self.failed(format!("a frame of type {got} where {kind} was due"))),
            Ok(Err(error)) => Err(self.failed_waiting(error, TO_END)),
            Err(RecvTimeoutError::Timeout) => {
                self.late = true;
                let seconds = patience.as_secs_f64();
                Err(self.failed(format!("nothing came within {seconds} s")))
            }
            Err(RecvTimeoutError::Disconnected) => Err(self.failed_waiting("its standard output ended", TO_END)),
        }
    }

    /// A reader that wrote something while nothing was due is one frame ahead of every question from there on.
    fn quiet(&mut self) -> Result<(), ReaderFailed> {
        match self.running.as_ref().map(|running| running.from.try_recv()) {
            Some(Ok(_)) => Err(self.failed("it wrote to its standard output unasked")),
            Some(Err(TryRecvError::Disconnected)) => {
                Err(self.failed_waiting("its standard output ended unasked", TO_END))
            }
            Some(Err(TryRecvError::Empty)) | None => Ok(()),
        }
    }

    fn receive_answers(&mut self, kind: u32, due: Option<usize>) -> Result<Vec<Vec<u8>>, ReaderFailed> {
        let Some(due) = due else { return Ok(Vec::new()) };
        let payload = self.receive(kind)?;
        protocol::answers(&payload, due).map_err(|error| self.failed(error))
    }
}

fn in_words(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("status {code}"),
        None => status.to_string(),
    }
}

fn spawn(mut command: Command) -> std::io::Result<Running> {
    // A group of its own: it can be ended whole, and Ctrl-C ends the campaign, not the readers under it.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut tries = 0..100;
    let mut child = loop {
        match command.spawn() {
            // A program that was written just now is still open for writing in what another thread is about to start.
            Err(error) if error.kind() == ErrorKind::ExecutableFileBusy && tries.next().is_some() => {
                thread::sleep(Duration::from_millis(10));
            }
            child => break child?,
        }
    };
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
    Ok(Running {
        errors: child.stderr.take().map(Errors::of),
        child,
        to,
        from,
        hello: None,
    })
}

/// So much of what a reader writes to standard error is kept.
const MAX_ERRORS: usize = 64 << 10;

/// The end of what a process writes to standard error. It is read all the time, since a full pipe would hold the process.
struct Errors {
    last: Arc<Mutex<VecDeque<u8>>>,
    ended: Receiver<()>,
}

impl Errors {
    fn of(mut stderr: ChildStderr) -> Errors {
        let last = Arc::new(Mutex::new(VecDeque::new()));
        let (end, ended) = sync_channel(1);
        let kept = Arc::clone(&last);
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(length @ 1..) = stderr.read(&mut bytes) {
                let mut kept = lock(&kept);
                kept.extend(&bytes[..length]);
                let beyond = kept.len().saturating_sub(MAX_ERRORS);
                kept.drain(..beyond);
            }
            let _ = end.send(());
        });
        Errors { last, ended }
    }

    /// Shows it, of a process that was ended; once a reader, for one that fails at each question says the same each time. Whatever else
    /// holds the pipe open is not waited for.
    fn say(&self, reader: &str) {
        static SHOWN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
        let _ = self.ended.recv_timeout(Duration::from_millis(100));
        let mut last = lock(&self.last);
        let text = String::from_utf8_lossy(last.make_contiguous()).into_owned();
        if !text.trim().is_empty() && lock(&SHOWN).insert(reader.to_owned()) {
            let shown = format!("{reader} wrote to standard error:\n{}", text.trim_end());
            say::line(say::printable(&shown));
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl StreamReader for Process {
    fn name(&self) -> &str {
        &self.name
    }

    fn ask(&mut self, batch: &Batch) -> Result<(), ReaderFailed> {
        if self.due.take().is_some() {
            // Nobody heard the last batch. Its answers must not be taken for this one's.
            self.running = None;
        }
        self.quiet()?;
        let hello = self.hello()?;
        let due = Due {
            streams: hello.answers("streams").then_some(batch.streams.len()),
            descriptors: hello.answers("descriptors").then_some(batch.descriptors.len()),
            calls: hello.answers("calls").then_some(batch.calls.len()),
            // Only a subject is asked, and apart from the rest: the question is about words that it has answered before.
            strict: (hello.answers("strict") && !batch.strict.is_empty()).then_some(batch.strict.len()),
        };
        if due.streams.is_some() {
            self.send(protocol::streams(batch))?;
        }
        if due.descriptors.is_some() {
            self.send(protocol::descriptors(batch))?;
        }
        if due.calls.is_some() {
            self.send(protocol::calls(batch))?;
        }
        if due.strict.is_some() {
            self.send(protocol::strict(batch))?;
        }
        self.due = Some(due);
        Ok(())
    }

    fn hear(&mut self) -> Result<BatchAnswers, ReaderFailed> {
        let Some(due) = self.due.take() else {
            return Err(self.failed("it was asked nothing"));
        };
        Ok(BatchAnswers {
            streams: self.receive_answers(protocol::STREAMS, due.streams)?,
            descriptors: self.receive_answers(protocol::DESCRIPTORS, due.descriptors)?,
            calls: self.receive_answers(protocol::CALLS, due.calls)?,
            strict: self.receive_answers(protocol::STRICT, due.strict)?,
        })
    }
}

impl LayoutReader for Process {
    fn name(&self) -> &str {
        &self.name
    }

    /// One that has no answer says [`Refusal::Panic`], by which it parts from every reader that has one.
    fn answer(&mut self, case: &LayoutCase) -> LayoutAnswer {
        self.try_answer(case).unwrap_or_else(|none| {
            tracing::warn!("{none}");
            LayoutAnswer::refused(Refusal::Panic)
        })
    }

    fn try_answer(&mut self, case: &LayoutCase) -> Result<LayoutAnswer, NoAnswer> {
        self.question(protocol::layout(case))?;
        let answers = self.answers(protocol::LAYOUTS, 1)?;
        let answer = answers.first().map(Vec::as_slice).unwrap_or_default();
        LayoutAnswer::parse(answer).map_err(|error| NoAnswer::Nonsense {
            reader: self.name.clone(),
            what: format!("the answer is not one of PROTOCOL.md: {error}"),
        })
    }
}
