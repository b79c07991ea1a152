//! Ctrl-C: long work ends before its next chunk, so that it can clean up what it has begun.

use std::process;
use std::sync::LazyLock;

use zarrox::{AccessOptions, Array, Error, ErrorKind, Interrupt, Result};

/// The exit code that shells expect after an interruption.
pub(crate) const CODE: u8 = 130;

static SIGNAL: LazyLock<Interrupt> = LazyLock::new(Interrupt::new);

/// From now on an interruption is noted; a second one ends the process at once.
pub(crate) fn catch() {
    // Where signals cannot be caught, they end the process as they always did.
    let _ = ctrlc::set_handler(|| {
        if seen() {
            process::exit(CODE.into());
        }
        SIGNAL.raise();
    });
}

/// True if there was an interruption.
pub(crate) fn seen() -> bool {
    SIGNAL.is_raised()
}

/// An error after an interruption; to be called where work can end.
pub(crate) fn check() -> Result<()> {
    if seen() { Err(interrupted()) } else { Ok(()) }
}

/// The error after an interruption, in place of that of what it called off.
pub(crate) fn or_interrupted<T>(result: Result<T>) -> Result<T> {
    result.map_err(|error| if error.kind() == ErrorKind::Interrupted { interrupted() } else { error })
}

fn interrupted() -> Error {
    Error::new(ErrorKind::Interrupted, "interrupted")
}

/// An array of which no chunk is read or written after an interruption, and who hears of each that is: of how many
/// elements.
pub(crate) fn watched(array: &Array, heard: impl Fn(u64) + Send + Sync + 'static) -> Array {
    array.with_options(&options().on_chunk(heard))
}

/// Options for work that an interruption calls off.
pub(crate) fn options() -> AccessOptions {
    AccessOptions::new().interrupt(&SIGNAL)
}
