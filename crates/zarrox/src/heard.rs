//! Hearing of what is done.

use std::fmt;
use std::sync::Arc;

/// Hears how many elements of a chunk were read or written, from any thread.
#[derive(Clone, Default)]
pub(crate) struct Heard(Option<Arc<dyn Fn(u64) + Send + Sync>>);

impl Heard {
    pub(crate) fn new(listener: impl Fn(u64) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(listener)))
    }

    pub(crate) fn tell(&self, elements: usize) {
        if let Some(listener) = &self.0 {
            listener(elements as u64);
        }
    }
}

impl fmt::Debug for Heard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Heard" } else { "Unheard" })
    }
}
