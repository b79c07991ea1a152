//! Cancellation of long work.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use zarrox_core::{Error, ErrorKind, Result};

/// Cancels reading and writing. [`AccessOptions::interrupt`](crate::AccessOptions::interrupt) sets it for an array; the code that
/// may cancel the work keeps a clone of it.
///
/// Cancelled work fails with [`ErrorKind::Interrupted`] when the chunks in progress are finished. Each chunk of a cancelled write
/// has either its old or its new elements.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Creates an interrupt that is not raised.
    pub fn new() -> Self {
        Self::default()
    }

    /// Cancels all present and future work with this interrupt.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns true if the interrupt was raised.
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Returns an error once the interrupt was raised, so that `?` ends the work.
    ///
    /// # Errors
    /// [`ErrorKind::Interrupted`] if the interrupt was raised.
    pub fn check(&self) -> Result<()> {
        if self.is_raised() {
            Err(Error::new(ErrorKind::Interrupted, "the operation was interrupted"))
        } else {
            Ok(())
        }
    }
}
