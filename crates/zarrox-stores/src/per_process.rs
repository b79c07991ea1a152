//! Per-process values: [`PerProcess`].

use std::sync::{Mutex, PoisonError};

/// A value that is created on first use in a process, and created anew in each forked process. It is meant for threads, which a
/// fork does not copy, and for resources that processes must not share, such as a file position.
#[derive(Debug)]
pub struct PerProcess<T>(Mutex<Option<(u32, T)>>);

impl<T: Clone> PerProcess<T> {
    /// Creates a cell without a value; the first use creates the value.
    pub const fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// Returns the value of this process.
    pub fn get(&self, make: impl FnOnce() -> T) -> T {
        match self.try_get(|| Ok::<_, std::convert::Infallible>(make())) {
            Ok(value) => value,
            Err(never) => match never {},
        }
    }

    /// Returns the value of this process; creating it may fail.
    ///
    /// # Errors
    /// The errors of `make`.
    pub fn try_get<E>(&self, make: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        let process = std::process::id();
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, value)) = known.as_ref().filter(|(owner, _)| *owner == process) {
            return Ok(value.clone());
        }
        let value = make()?;
        // The parent's value is not dropped: this process must neither stop the parent's threads nor wait for them.
        std::mem::forget(known.replace((process, value.clone())));
        Ok(value)
    }
}

impl<T> Drop for PerProcess<T> {
    fn drop(&mut self) {
        let known = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        if known.as_ref().is_some_and(|(owner, _)| *owner != std::process::id()) {
            std::mem::forget(known.take());
        }
    }
}

impl<T: Clone> Default for PerProcess<T> {
    fn default() -> Self {
        Self::new()
    }
}
