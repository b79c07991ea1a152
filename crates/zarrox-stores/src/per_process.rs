//! A value for each process: [`PerProcess`].

use std::sync::{Mutex, PoisonError};

/// A value that is made when a process first asks for it, and once more in each process that is forked off: threads, which a fork
/// does not copy, and what must not be shared with another process, as a position in a file.
#[derive(Debug)]
pub struct PerProcess<T>(Mutex<Option<(u32, T)>>);

impl<T: Clone> PerProcess<T> {
    /// An empty one, whose value is made on first use.
    pub const fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// This process's value.
    pub fn get(&self, make: impl FnOnce() -> T) -> T {
        match self.try_get(|| Ok::<_, std::convert::Infallible>(make())) {
            Ok(value) => value,
            Err(never) => match never {},
        }
    }

    /// This process's value, where it may be that none can be made.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn try_get<E>(&self, make: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        let process = std::process::id();
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, value)) = known.as_ref().filter(|(owner, _)| *owner == process) {
            return Ok(value.clone());
        }
        let value = make()?;
        // What the parent had is neither ours to end nor to wait for.
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
