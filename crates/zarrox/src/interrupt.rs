//! Cancelling long-running work.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use zarrox_core::{Error, ErrorKind, Result};

/// A handle that cancels reading and writing. It is set for an array with
/// [`AccessOptions::interrupt`](crate::AccessOptions::interrupt); the code that may cancel the work keeps a clone.
///
/// Cancelled work fails with [`ErrorKind::Interrupted`] once the chunks in progress are finished. Each chunk of a cancelled write
/// has either its old or its new elements.
#[derive(Debug, Clone, Default)]
pub struct Interrupt {
    raised: Arc<AtomicBool>,
    /// Another interrupt that cancels the same work.
    other: Option<Arc<Interrupt>>,
}

impl Interrupt {
    /// Creates an interrupt that has not been raised.
    pub fn new() -> Self {
        Self::default()
    }

    /// Cancels all current and future work that uses this interrupt.
    pub fn raise(&self) {
        self.raised.store(true, Ordering::Relaxed);
    }

    /// Returns true if the interrupt was raised.
    pub fn is_raised(&self) -> bool {
        self.raised.load(Ordering::Relaxed) || self.other.as_ref().is_some_and(|other| other.is_raised())
    }

    /// Returns an interrupt that is raised as soon as this one or another one is raised.
    #[cfg(feature = "async")]
    pub(crate) fn or(&self, other: &Self) -> Self {
        Self { raised: Arc::clone(&self.raised), other: Some(Arc::new(other.clone())) }
    }

    /// Returns an error once the interrupt has been raised, so that `?` ends the work.
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
