//! [`Given`]: what is known about the input of a filter.

use zarrox::Result;

use crate::input::corrupt;

/// Known properties of the bytes before a filter was applied, which the decoded bytes must match.
#[derive(Debug, Clone, Copy)]
pub(super) struct Given {
    /// The number of bytes, if it can be derived from the size of the chunk.
    pub(super) size: Option<usize>,
    /// The maximum number of bytes.
    pub(super) limit: usize,
    /// The size of an element.
    pub(super) item: usize,
}

impl Given {
    /// Returns the maximum number of bytes between two filters of a chunk with `size` decoded bytes. Filters may expand
    /// the data, but none doubles its size.
    pub(super) fn limit(size: usize) -> usize {
        size.saturating_mul(2).saturating_add(4096)
    }

    /// Validates the decoded size that encoded bytes declare, and returns it.
    pub(super) fn announced(self, size: usize) -> Result<usize> {
        match self.size {
            Some(known) if known != size => {
                Err(corrupt(format!("a chunk has {size} bytes instead of {known}")))
            }
            None if size > self.limit => Err(corrupt(format!(
                "a chunk has {size} bytes, more than the {} that it may have",
                self.limit
            ))),
            _ => Ok(size),
        }
    }
}
