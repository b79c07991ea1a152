//! What each process has for itself: [`PerProcess`].

use std::sync::{Mutex, PoisonError};

/// A value that is made when a process first asks for it, and once more in each process that is forked off: threads, which a fork
/// does not copy.
#[derive(Debug)]
pub struct PerProcess<T>(Mutex<Option<(u32, T)>>);

impl<T: Clone> PerProcess<T> {
    /// One that nobody has asked for.
    pub const fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// This process's value.
    pub fn get(&self, make: impl FnOnce() -> T) -> T {
        let process = std::process::id();
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, value)) = known.as_ref().filter(|(owner, _)| *owner == process) {
            return value.clone();
        }
        let value = make();
        // What the parent had is neither ours to end nor to wait for.
        std::mem::forget(known.replace((process, value.clone())));
        value
    }
}

impl<T: Clone> Default for PerProcess<T> {
    fn default() -> Self {
        Self::new()
    }
}
