//! Lets a callback cancel reading and writing.

use std::ffi::c_void;
use std::ops::Deref;
use std::panic::resume_unwind;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use zarrox::{AccessOptions, Array, ArrayView, Error, ErrorKind, Interrupt, Result};

use crate::callback::{Cancel, CancelCallback};
use crate::region::Part;
use crate::status::guard;
use crate::table::{self, as_array, zarrox_node};

/// The pause between two calls of the callback.
const PAUSE: Duration = Duration::from_millis(10);

/// Sets the function that decides whether reading or writing of this node is cancelled. It is called before each operation and
/// about every 10 ms during the operation, always by the thread that called the operation, so that the function can check for
/// Ctrl-C in R and Python. A cancelled operation ends with ZARROX_STATUS_INTERRUPTED when the chunks in progress are finished;
/// each chunk then has either its old or its new elements. Null removes the function. Nodes that are opened or created in this
/// node later inherit the function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zarrox_set_cancel(
    node: zarrox_node,
    callback: CancelCallback,
    data: *mut c_void,
) -> i32 {
    guard(|| {
        table::opened(node)?.set_cancel(callback.map(|callback| Cancel::new(callback, data)));
        Ok(())
    })
}

/// An open array, with the callback of its node.
pub(crate) struct OpenArray<'n> {
    array: &'n Array,
    cancel: Option<Cancel>,
}

impl Deref for OpenArray<'_> {
    type Target = Array;

    fn deref(&self) -> &Array {
        self.array
    }
}

impl OpenArray<'_> {
    /// Reads or writes a region, and calls the callback in the meantime.
    pub(crate) fn with<R: Send>(
        &self,
        part: &Part,
        work: impl FnOnce(ArrayView<'_>) -> Result<R> + Send,
    ) -> Result<R> {
        unless_cancelled(self.cancel, self.array, |array| work(array.slice(&part.selection)))
    }
}

/// Calls `work` with an open array. A group is an error.
pub(crate) fn with_array<R>(node: zarrox_node, work: impl FnOnce(&OpenArray<'_>) -> Result<R>) -> Result<R> {
    let opened = table::opened(node)?;
    let node = opened.node();
    work(&OpenArray { array: as_array(&node)?, cancel: opened.cancel() })
}

/// Runs `work` with an array. With a callback, another thread runs `work`, while this thread calls the callback.
fn unless_cancelled<R: Send>(
    cancel: Option<Cancel>,
    array: &Array,
    work: impl FnOnce(&Array) -> Result<R> + Send,
) -> Result<R> {
    let Some(cancel) = cancel else { return work(array) };
    if cancel.is_asked() {
        return Err(Error::new(ErrorKind::Interrupted, "the operation was interrupted"));
    }
    let interrupt = Interrupt::new();
    let array = &array.with_options(&AccessOptions::new().interrupt(&interrupt));
    thread::scope(|scope| {
        let (working, finished) = mpsc::channel::<()>();
        let work = move || {
            // The channel closes when the work ends or panics.
            let _working = working;
            work(array)
        };
        let worker = thread::Builder::new().name("zarrox-c".to_owned()).spawn_scoped(scope, work);
        let worker =
            worker.map_err(|error| Error::new(ErrorKind::LimitExceeded, format!("no thread: {error}")))?;
        while finished.recv_timeout(PAUSE) == Err(RecvTimeoutError::Timeout) {
            if !interrupt.is_raised() && cancel.is_asked() {
                interrupt.raise();
            }
        }
        worker.join().unwrap_or_else(|panic| resume_unwind(panic))
    })
}
