//! Bytes that are produced in order.

use crate::error::CodecError;

/// Produces bytes in order: stored bytes, or bytes that a codec decodes.
pub trait ByteStream {
    /// Fills the buffer with the next bytes and returns their number, which is less than the length of the buffer only at the end
    /// of the stream.
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
