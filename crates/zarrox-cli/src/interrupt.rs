//! Handling of Ctrl-C: long operations stop before their next chunk, so that they can clean up after themselves.

use std::process;
use std::sync::LazyLock;

use zarrox::{AccessOptions, Array, Error, ErrorKind, Interrupt, Result};

/// The conventional exit code after an interrupt.
pub(crate) const CODE: u8 = 130;

static SIGNAL: LazyLock<Interrupt> = LazyLock::new(Interrupt::new);

/// Installs a handler for interrupts. A second interrupt ends the process immediately.
pub(crate) fn catch() {
    catch_and(|| {});
}

/// Installs a handler like [`catch`], which also calls a function at the first interrupt.
pub(crate) fn catch_and(then: impl Fn() + Send + 'static) {
    // If no handler can be installed, signals end the process as usual.
    let _ = ctrlc::set_handler(move || {
        if seen() {
            process::exit(CODE.into());
        }
        SIGNAL.raise();
        then();
    });
}

/// Returns true after an interrupt.
pub(crate) fn seen() -> bool {
    SIGNAL.is_raised()
}

/// Fails after an interrupt. Long operations call this function where they can stop.
pub(crate) fn check() -> Result<()> {
    if seen() { Err(interrupted()) } else { Ok(()) }
}

/// Fails after an interrupt, with an error that describes the state of the output.
pub(crate) fn check_or(advice: &str) -> Result<()> {
    match seen() {
        true => Err(Error::new(ErrorKind::Interrupted, format!("interrupted; {advice}"))),
        false => Ok(()),
    }
}

/// Replaces the error of an interrupted operation with one that describes the state of the output.
pub(crate) fn with_advice<T>(result: Result<T>, advice: &str) -> Result<T> {
    result.map_err(|error| match error.kind() {
        ErrorKind::Interrupted => Error::new(ErrorKind::Interrupted, format!("interrupted; {advice}")),
        _ => error,
    })
}

/// The advice after a read-only operation.
pub(crate) const NOTHING_CHANGED: &str = "nothing was changed";

/// The advice after a copy.
pub(crate) const CONTINUES: &str = "the chunks that were copied stay, and the same command continues";

/// Replaces the error of an interrupted operation with one that says only "interrupted".
pub(crate) fn or_interrupted<T>(result: Result<T>) -> Result<T> {
    result.map_err(|error| if error.kind() == ErrorKind::Interrupted { interrupted() } else { error })
}

fn interrupted() -> Error {
    Error::new(ErrorKind::Interrupted, "interrupted")
}

/// Returns an array whose reads and writes stop after an interrupt, and which calls the listener with the number of elements of
/// each finished chunk.
pub(crate) fn watched(array: &Array, listener: impl Fn(u64) + Send + Sync + 'static) -> Array {
    array.with_options(&options().on_chunk(listener))
}

/// Returns options for operations that stop after an interrupt.
pub(crate) fn options() -> AccessOptions {
    AccessOptions::new().interrupt(&SIGNAL)
}
