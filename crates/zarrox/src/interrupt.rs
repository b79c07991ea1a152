//! Calling off what takes long.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use zarrox_core::{Error, ErrorKind, Result};

/// Calls off reading and writing that is under way: [`AccessOptions::interrupt`](crate::AccessOptions::interrupt) gives it to an
/// array, and a clone of it stays with whoever may want to end the work.
///
/// Work that is called off fails with [`ErrorKind::Interrupted`], as soon as the chunks in hand are done. Each chunk that was to be
/// written is the old or the new one.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// One that was not raised yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Calls off all work that looks at it, now and later.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns true if it was raised.
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn check(&self) -> Result<()> {
        if self.is_raised() {
            Err(Error::new(ErrorKind::Interrupted, "the operation was interrupted"))
        } else {
            Ok(())
        }
    }
}
