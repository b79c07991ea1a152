//! Work that takes long, and that Ctrl-C ends.

use std::sync::{Mutex, PoisonError, mpsc};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use zarrox::{AccessOptions, Array, Interrupt};

use crate::error::OrRaise;

/// From so many bytes on, work may take long: starting a thread costs a thousandth of it.
pub(crate) const LONG: usize = 16 << 20;

/// How often it is asked whether somebody wants to end the work.
const PAUSE: Duration = Duration::from_millis(50);

/// Whether every request to the array's store is a journey.
pub(crate) fn is_far(array: &Array) -> bool {
    array.capabilities().in_flight.is_some()
}

/// Does work with an array without Python's lock. The work goes to a thread of its own, while this one asks Python whether a signal has
/// come; if its handler raises an exception, the work is called off.
pub(crate) fn unless_interrupted<R: Send>(
    py: Python<'_>,
    array: &Array,
    work: impl FnOnce(&Array) -> zarrox::Result<R> + Send,
) -> PyResult<R> {
    let interrupt = Interrupt::new();
    let array = array.with_options(&AccessOptions::new().interrupt(&interrupt));
    let (done, answer) = mpsc::channel();
    let answer = Mutex::new(answer);
    let mut raised = None;
    let result = std::thread::scope(|scope| {
        scope.spawn(move || done.send(work(&array)));
        loop {
            let received =
                py.detach(|| answer.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(PAUSE));
            match received {
                Ok(result) => return Some(result),
                Err(mpsc::RecvTimeoutError::Disconnected) => return None,
                Err(mpsc::RecvTimeoutError::Timeout) if raised.is_none() => {
                    if let Err(error) = py.check_signals() {
                        interrupt.raise();
                        raised = Some(error);
                    }
                }
                Err(mpsc::RecvTimeoutError::Timeout) => {}
            }
        }
    });
    match (raised, result) {
        (Some(error), _) => Err(error),
        (None, Some(result)) => result.or_raise(),
        (None, None) => Err(PyRuntimeError::new_err("the work has failed in a way that it should not")),
    }
}
