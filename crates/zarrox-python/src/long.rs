//! Long work that Ctrl-C can interrupt.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use zarrox::stores::internals::per_process::PerProcess;
use zarrox::{AccessOptions, Array, Error, ErrorKind, Interrupt};

use crate::error::OrRaise;

/// The number of bytes above which work may take long. Passing such work to another thread costs about a thousandth of its time.
pub(crate) const LONG: usize = 16 << 20;

/// The pause between two checks for an interrupt.
const PAUSE: Duration = Duration::from_millis(50);

/// Returns true if every request to the array's store is a round trip over a network.
pub(crate) fn is_remote(array: &Array) -> bool {
    array.capabilities().in_flight.is_some()
}

/// A flag that interrupts the work of another thread.
#[pyclass(frozen, name = "Interrupt", module = "zarrox._native")]
pub(crate) struct PyInterrupt(pub(crate) Interrupt);

#[pymethods]
impl PyInterrupt {
    #[new]
    fn new() -> Self {
        Self(Interrupt::new())
    }

    fn set(&self) {
        self.0.raise();
    }
}

/// Runs work with an array without the GIL. Python delivers signals only to the main thread, so the work of the main thread runs
/// on another thread, while the main thread checks for signals. If a signal handler raises an exception, the work is interrupted.
pub(crate) fn unless_interrupted<R: Send>(
    py: Python<'_>,
    array: &Array,
    work: impl FnOnce(&Array) -> zarrox::Result<R> + Send,
) -> PyResult<R> {
    interruptible(py, |interrupt| work(&array.with_options(&AccessOptions::new().interrupt(interrupt))))
}

/// Runs work that checks for an interrupt without the GIL, like [`unless_interrupted`].
pub(crate) fn interruptible<R: Send>(
    py: Python<'_>,
    work: impl FnOnce(&Interrupt) -> zarrox::Result<R> + Send,
) -> PyResult<R> {
    let interrupt = Interrupt::new();
    if !is_main_thread(py)? {
        return py.detach(|| work(&interrupt)).or_raise();
    }
    let mut raised = None;
    let result = beside(
        py,
        || work(&interrupt),
        || {
            if raised.is_none()
                && let Err(error) = py.check_signals()
            {
                interrupt.raise();
                raised = Some(error);
            }
        },
    );
    match (raised, result) {
        (Some(error), _) => Err(error),
        (None, Some(result)) => result.or_raise(),
        (None, None) => Err(PyRuntimeError::new_err("the operation failed because of an error in zarrox")),
    }
}

fn is_main_thread(py: Python<'_>) -> PyResult<bool> {
    let threading = py.import("threading")?;
    let main = threading.call_method0("main_thread")?.getattr("ident")?;
    threading.call_method0("get_ident")?.eq(main)
}

type Job = Box<dyn FnOnce() + Send>;

/// Returns the channel to the thread that works for Python's main thread. The thread is kept between calls, so that its buffers
/// and compressor contexts are reused.
fn worker() -> Option<Sender<Job>> {
    static WORKER: PerProcess<Option<Sender<Job>>> = PerProcess::new();
    WORKER.get(|| {
        let (sender, jobs) = mpsc::channel::<Job>();
        let work = move || jobs.into_iter().for_each(|job| job());
        std::thread::Builder::new().name("zarrox-main".to_owned()).spawn(work).ok()?;
        Some(sender)
    })
}

/// Runs work on the other thread, and calls a function periodically on this thread until the work is done. Returns `None` if the
/// work panicked.
fn beside<R: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> R + Send,
    mut now_and_then: impl FnMut(),
) -> Option<R> {
    let Some(worker) = worker() else { return Some(py.detach(work)) };
    let (done, answer) = mpsc::channel();
    let answer = Answer(Mutex::new(answer));
    let job: Box<dyn FnOnce() + Send + '_> = Box::new(move || {
        let result = catch_unwind(AssertUnwindSafe(work)).ok();
        // This is the last step: nothing is borrowed afterwards.
        let _ = done.send(result);
    });
    // SAFETY: the data that the job borrows outlives this function, and the function does not return before
    // the job has ended: see `Answer`.
    let job = unsafe { std::mem::transmute::<Box<dyn FnOnce() + Send + '_>, Job>(job) };
    worker.send(job).ok()?;
    loop {
        match py.detach(|| answer.wait(PAUSE)) {
            Ok(result) => return result,
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) => now_and_then(),
        }
    }
}

/// The result of a job. It is always awaited, even if a panic unwinds the caller.
struct Answer<R: Send>(Mutex<Receiver<Option<R>>>);

impl<R: Send> Answer<R> {
    fn wait(&self, pause: Duration) -> Result<Option<R>, RecvTimeoutError> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(pause)
    }
}

impl<R: Send> Drop for Answer<R> {
    fn drop(&mut self) {
        // An error means that the job was dropped: it has ended, or was never started.
        let is_there = || self.0.lock().unwrap_or_else(PoisonError::into_inner).recv().is_ok();
        Python::attach(|py| py.detach(|| while is_there() {}));
    }
}

/// Returns a progress listener that fails once the interrupt is raised.
pub(crate) fn watch(
    interrupt: &Interrupt,
) -> impl Fn(zarrox::Progress) -> zarrox::Result<()> + Send + Sync + 'static {
    let interrupt = interrupt.clone();
    move |_| match interrupt.is_raised() {
        true => Err(Error::new(ErrorKind::Interrupted, "the work was interrupted")),
        false => Ok(()),
    }
}
