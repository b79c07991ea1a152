//! A limit on the work that the index of a shard can cause: reading must not greatly exceed the size of the shard.

use zarrox_core::CodecChain;
use zarrox_core::codec::{CodecError, Window};

/// A counter for the bytes of inner chunks that are read from a shard. Entries may share bytes, but a small
/// shard causes a lot of work only if its index is damaged.
pub(crate) struct ReadBudget {
    requested: u64,
    /// The size of the shard, in bytes. The inner chunks together may exceed it if they have at most `each` bytes on average.
    stored: u64,
    /// Twice the decoded size of an inner chunk, plus [`SMALL`], in bytes.
    each: u64,
    count: u64,
}

impl ReadBudget {
    /// Creates the counter for a shard with these inner chunks.
    pub(crate) fn new(shard: Window, inner: &CodecChain) -> Self {
        let each = (inner.chunk().size() as u64).saturating_mul(2).saturating_add(SMALL);
        Self { requested: 0, stored: shard.length.unwrap_or(u64::MAX), each, count: 0 }
    }

    /// Counts an inner chunk that is about to be read.
    pub(crate) fn add(&mut self, chunk: Window) -> Result<(), CodecError> {
        self.requested = self.requested.saturating_add(chunk.length.unwrap_or(0));
        self.count += 1;
        if self.requested > self.stored && self.requested > self.each.saturating_mul(self.count) {
            return Err(CodecError::corrupt(
                "the inner chunks overlap: together they are larger than the shard",
            ));
        }
        Ok(())
    }
}

/// The number of bytes that an inner chunk may take beyond twice its decoded size.
const SMALL: u64 = 1 << 10;
