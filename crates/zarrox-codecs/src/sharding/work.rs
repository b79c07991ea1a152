//! Limits on the work that the index of a shard may cause: no index makes more work than the shard holds.

use zarrox_core::CodecChain;
use zarrox_core::codec::{CodecError, Window};

/// The number of bytes of a shard its entries ask for. Some may share their bytes; but only a damaged index
/// makes of a small shard a lot of work.
pub(crate) struct ShardWork {
    asked: u64,
    /// The bytes of a shard, and of inner chunks that are no larger than twice their elements.
    stored: u64,
    each: u64,
    count: u64,
}

impl ShardWork {
    /// Of a shard with such inner chunks.
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

/// The number of bytes that the smallest inner chunk may take.
const SMALL: u64 = 1 << 10;
