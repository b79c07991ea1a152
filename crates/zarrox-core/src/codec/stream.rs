//! Decoding bit by bit: what is decoded is used while it is still in the cache, and the whole chunk never lies in memory.

use super::{Fetch, Sink};
use crate::error::CodecError;
use crate::scratch::Scratch;

/// Hands out bytes in order: stored ones, or what a codec makes of them.
pub trait ByteStream {
    /// Fills the buffer with the next bytes and says how many these were: fewer than fit only at the end.
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

/// How many bytes at a time are decoded only to be passed over.
const SKIP: usize = 64 << 10;

/// Serves fetches that no others follow from, out of a stream of just `size` bytes. The stream is decoded to its end, so
/// that damage behind the last fetch is found as well.
pub(super) fn resolve_stream(
    mut fetches: Vec<Fetch<'_>>,
    stream: &mut dyn ByteStream,
    size: usize,
) -> Result<(), CodecError> {
    let mut ranges = Vec::with_capacity(fetches.len());
    for fetch in fetches.drain(..) {
        let (offset, length) = fetch.range.within(size as u64)?;
        ranges.push((as_usize(offset), as_usize(length), fetch));
    }
    ranges.sort_by_key(|(offset, ..)| *offset);
    let longest = ranges.iter().map(|(_, length, _)| *length).max().unwrap_or(0);
    let mut buffer = Scratch::with_len(longest.max(SKIP))?;
    let mut position = 0;
    for (offset, length, fetch) in ranges {
        let gap = offset
            .checked_sub(position)
            .ok_or_else(|| CodecError::unsupported("ranges of a stream overlap"))?;
        skip(stream, &mut buffer, gap, size)?;
        position = offset + length;
        match fetch.sink {
            Sink::Into(memory) => exactly(stream, memory, size)?,
            Sink::Stream(_) | Sink::Staged(_) => {
                return Err(CodecError::unsupported("only plain ranges can be taken from a stream"));
            }
            Sink::Then(work) => {
                exactly(stream, &mut buffer[..length], size)?;
                if !work(&buffer[..length])?.is_empty() {
                    return Err(CodecError::unsupported("what is streamed cannot be asked for more"));
                }
            }
        }
    }
    skip(stream, &mut buffer, size - position, size)?;
    match stream.fill(&mut buffer[..1])? {
        0 => Ok(()),
        _ => Err(CodecError::corrupt(format!("decoded to more than the {size} bytes of a chunk"))),
    }
}

fn skip(
    stream: &mut dyn ByteStream,
    buffer: &mut [u8],
    mut count: usize,
    size: usize,
) -> Result<(), CodecError> {
    while count > 0 {
        let part = count.min(buffer.len());
        exactly(stream, &mut buffer[..part], size)?;
        count -= part;
    }
    Ok(())
}

fn exactly(stream: &mut dyn ByteStream, buffer: &mut [u8], size: usize) -> Result<(), CodecError> {
    if stream.fill(buffer)? == buffer.len() {
        return Ok(());
    }
    Err(CodecError::corrupt(format!("decoded to fewer than the {size} bytes of a chunk")))
}

#[expect(clippy::cast_possible_truncation, reason = "the ranges lie inside a size in usize")]
fn as_usize(n: u64) -> usize {
    n as usize
}
