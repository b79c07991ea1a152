//! The chunks along one dimension, as runs of equal lengths.

use std::ops::Deref;

/// Consecutive chunks of the same length along a dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// The index of the first chunk.
    pub first: u64,
    /// The start of the first chunk, in elements.
    pub start: u64,
    /// The length of each chunk, in elements; not zero.
    pub length: u64,
    /// The number of chunks.
    pub count: u64,
}

impl Run {
    /// Creates an unbounded run of chunks of this length.
    pub(super) fn endless(length: u64) -> Self {
        Self { first: 0, start: 0, length, count: u64::MAX }
    }

    /// Returns the end of the last chunk, in elements.
    pub fn end(&self) -> u64 {
        self.start.saturating_add(self.length.saturating_mul(self.count))
    }
}

/// The chunks along one dimension, as runs in ascending order.
#[derive(Debug, Clone, Copy)]
pub enum Runs<'a> {
    /// Chunks of one length.
    One(Run),
    /// Chunks of several lengths.
    Many(&'a [Run]),
}

impl Deref for Runs<'_> {
    type Target = [Run];

    fn deref(&self) -> &[Run] {
        match self {
            Self::One(run) => std::slice::from_ref(run),
            Self::Many(runs) => runs,
        }
    }
}
