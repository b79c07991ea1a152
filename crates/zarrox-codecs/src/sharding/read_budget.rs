//! Limits of the work for the index of a shard: it may not exceed the size of the shard.

use zarrox_core::CodecChain;
use zarrox_core::codec::{CodecError, Window};

/// The total number of bytes of the inner chunks of a shard. Entries may share bytes; but only a damaged index turns a small
/// shard into a lot of work.
pub(crate) struct ReadBudget {
    asked: u64,
    /// The limit: the bytes of the shard; for inner chunks of at most twice the size of their elements.
    stored: u64,
    each: u64,
    count: u64,
}

impl ReadBudget {
    /// Creates the limit of a shard with these inner chunks.
    pub(crate) fn new(shard: Window, inner: &CodecChain) -> Self {
        let each = (inner.chunk().size() as u64).saturating_mul(2).saturating_add(SMALL);
        Self { asked: 0, stored: shard.length.unwrap_or(u64::MAX), each, count: 0 }
    }

    /// Counts an inner chunk that is read.
    pub(crate) fn add(&mut self, chunk: Window) -> Result<(), CodecError> {
        self.asked = self.asked.saturating_add(chunk.length.unwrap_or(0));
        self.count += 1;
        if self.asked > self.stored && self.asked > self.each.saturating_mul(self.count) {
            return Err(CodecError::corrupt(
                "the inner chunks overlap: together they are larger than the shard",
            ));
        }
        Ok(())
    }
}

/// The minimum number of bytes that is counted for an inner chunk.
const SMALL: u64 = 1 << 10;
