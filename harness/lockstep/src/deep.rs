//! A stack that no shader overflows, and a time that none takes longer.
//!
//! naga walks an expression by recursion: `a+b+c+…`, `- - - x` and `else if` go one level deeper with every operator, and on a usual
//! stack some ten thousand of them end the whole program, which no `catch_unwind` can hold. So what reads WGSL runs in a thread whose
//! stack grows with the text. It is also quadratic in a function's statements, so that a megabyte may take it hours.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread::Builder;
use std::time::Duration;

/// The longest WGSL, and the longest descriptor body, that is read. Its stack has to be there.
pub const MAX_WGSL: usize = 2 << 20;
/// How long one shader may take.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// What a thread has without any WGSL.
const BASE: usize = 8 << 20;
/// naga 30.0.2 needs at most 570 bytes of stack for each byte of WGSL (`&*&*&*…x`).
const A_BYTE: usize = 1 << 10;
/// Texts up to this length share threads, which wait for the next one: a thread of its own costs more than reading a short text.
const SHORT: usize = 64 << 10;

/// The stack for so many bytes of WGSL. Pages that nothing touches cost nothing.
pub fn stack(wgsl: usize) -> usize {
    BASE.saturating_add(A_BYTE.saturating_mul(wgsl))
}

/// Runs `body`, which reads that many bytes of WGSL. A panic of it goes on in the caller.
///
/// # Errors
///
/// The text is longer than [`MAX_WGSL`], the system has no such stack, or it takes longer than [`PATIENCE`]: then the thread is left
/// to itself.
pub fn run<T: Send + 'static>(wgsl: usize, body: impl FnOnce() -> T + Send + 'static) -> Result<T, String> {
    if wgsl > MAX_WGSL {
        return Err(format!("{wgsl} bytes of WGSL; at most {MAX_WGSL} are read"));
    }
    let (ended, result) = sync_channel(1);
    let job: Job = Box::new(move || {
        let done = catch_unwind(AssertUnwindSafe(body));
        Box::new(move || {
            // Nobody hears what comes too late.
            let _ = ended.send(done);
        })
    });
    let size = stack(wgsl.max(SHORT));
    start(wgsl, size, job)
        .map_err(|error| format!("{wgsl} bytes of WGSL need {} MiB of stack: {error}", size >> 20))?;
    match result.recv_timeout(PATIENCE) {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(panic)) => resume_unwind(panic),
        Err(RecvTimeoutError::Timeout) => Err(format!("naga takes longer than {} s", PATIENCE.as_secs())),
        Err(RecvTimeoutError::Disconnected) => Err("the thread that read it is gone".into()),
    }
}

/// Does its work, and gives what is left to do when the thread is free again: to tell the caller.
type Job = Box<dyn FnOnce() -> Box<dyn FnOnce()> + Send>;

/// The threads for short texts that have nothing to do.
static IDLE: Mutex<Vec<Sender<Job>>> = Mutex::new(Vec::new());

fn idle() -> std::sync::MutexGuard<'static, Vec<Sender<Job>>> {
    IDLE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Gives the job to a thread with that stack.
fn start(wgsl: usize, size: usize, job: Job) -> std::io::Result<()> {
    if wgsl > SHORT {
        return Builder::new().stack_size(size).spawn(move || job()()).map(drop);
    }
    let waiting = idle().pop();
    let unsent = match waiting {
        Some(thread) => thread.send(job).err().map(|unsent| unsent.0),
        None => Some(job),
    };
    let Some(job) = unsent else {
        return Ok(());
    };
    let work = move || {
        let (more, jobs) = channel::<Job>();
        let mut next = Some(job);
        while let Some(job) = next {
            let tell = job();
            idle().push(more.clone());
            tell();
            next = jobs.recv().ok();
        }
    };
    Builder::new().stack_size(size).spawn(work).map(drop)
}
