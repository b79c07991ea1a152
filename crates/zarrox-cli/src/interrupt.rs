//! Ctrl-C: long work ends before its next chunk, so that it can clean up.

use std::process;
use std::sync::LazyLock;

use zarrox::{AccessOptions, Array, Error, ErrorKind, Interrupt, Result};

/// The exit code that shells expect after an interruption.
pub(crate) const CODE: u8 = 130;

static SIGNAL: LazyLock<Interrupt> = LazyLock::new(Interrupt::new);

/// Starts to catch interrupts. A second interrupt ends the process at once.
pub(crate) fn catch() {
    catch_and(|| {});
}

/// Starts to catch interrupts like [`catch`], and calls a function at the first one.
pub(crate) fn catch_and(then: impl Fn() + Send + 'static) {
    // If signals cannot be caught, they end the process as usual.
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

/// Fails after an interrupt. Long work calls it where it can end.
pub(crate) fn check() -> Result<()> {
    if seen() { Err(interrupted()) } else { Ok(()) }
}

/// Like [`check`], and tells what is there and how to go on.
pub(crate) fn check_or(advice: &str) -> Result<()> {
    match seen() {
        true => Err(Error::new(ErrorKind::Interrupted, format!("interrupted; {advice}"))),
        false => Ok(()),
    }
}

/// Replaces the error of interrupted work by one that tells what is there and how to go on.
pub(crate) fn or_told<T>(result: Result<T>, advice: &str) -> Result<T> {
    result.map_err(|error| match error.kind() {
        ErrorKind::Interrupted => Error::new(ErrorKind::Interrupted, format!("interrupted; {advice}")),
        _ => error,
    })
}

/// The advice after work that reads.
pub(crate) const NOTHING_CHANGED: &str = "nothing was changed";

/// The advice after a copy.
pub(crate) const CONTINUES: &str = "the chunks that were copied stay, and the same command continues";

/// Replaces the error of interrupted work by one that names the interrupt.
pub(crate) fn or_interrupted<T>(result: Result<T>) -> Result<T> {
    result.map_err(|error| if error.kind() == ErrorKind::Interrupted { interrupted() } else { error })
}

fn interrupted() -> Error {
    Error::new(ErrorKind::Interrupted, "interrupted")
}

/// An array whose reads and writes stop after an interrupt, and which reports the number of elements of each finished chunk.
pub(crate) fn watched(array: &Array, heard: impl Fn(u64) + Send + Sync + 'static) -> Array {
    array.with_options(&options().on_chunk(heard))
}

/// Options for work that an interruption calls off.
pub(crate) fn options() -> AccessOptions {
    AccessOptions::new().interrupt(&SIGNAL)
}
