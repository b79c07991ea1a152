//! Ctrl-C: long work ends before its next block, so that it can clean up what it has begun.

use std::process;
use std::sync::atomic::{AtomicBool, Ordering};

use zarrox::{Error, ErrorKind, Result};

/// The exit code that shells expect after an interruption.
pub(crate) const CODE: u8 = 130;

static SEEN: AtomicBool = AtomicBool::new(false);

/// From now on an interruption is noted; a second one ends the process at once.
pub(crate) fn catch() {
    // Where signals cannot be caught, they end the process as they always did.
    let _ = ctrlc::set_handler(|| {
        if SEEN.swap(true, Ordering::Relaxed) {
            process::exit(CODE.into());
        }
    });
}

/// Whether there was an interruption.
pub(crate) fn seen() -> bool {
    SEEN.load(Ordering::Relaxed)
}

/// An error after an interruption; to be called where work can end.
pub(crate) fn check() -> Result<()> {
    if seen() { Err(Error::new(ErrorKind::Interrupted, "interrupted")) } else { Ok(()) }
}
