//! Bytes that arrive one after the other.

use crate::error::CodecError;

/// Hands out bytes in order: stored ones, or those that a codec decodes.
pub trait ByteStream {
    /// Fills the buffer with the next bytes and returns their number: fewer than fit only at the end.
    fn fill(&mut self, buffer: &mut [u8]) -> Result<usize, CodecError>;
}

/// Bytes in memory as a stream.
impl ByteStream for &[u8] {
    fn fill(&mut self, buffer: &mut [u8]) -> Result<usize, CodecError> {
        let (now, later) = self.split_at(buffer.len().min(self.len()));
        buffer[..now.len()].copy_from_slice(now);
        *self = later;
        Ok(now.len())
    }
}
