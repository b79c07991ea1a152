//! Drivers that serve fetches from bytes in memory, and from a stream.

use super::{ByteStream, Fetch, Sink};
use crate::error::CodecError;
use crate::scratch::Scratch;

/// Serves fetches, and the fetches that follow from them, from an object in memory.
pub fn resolve(fetches: Vec<Fetch<'_>>, object: &[u8]) -> Result<(), CodecError> {
    for fetch in fetches {
        if let Sink::Deferred(mut decode) = fetch.sink {
            resolve(decode.fetches()?, object)?;
            decode.finish()?;
            continue;
        }
        let bytes = fetch.range.of(object)?;
        resolve(fetch.complete(bytes)?, object)?;
    }
    Ok(())
}

/// The number of bytes that are decoded and discarded in one step.
const SKIP: usize = 64 << 10;

/// Serves fetches from a stream of exactly `size` bytes. The fetches must not return further fetches. The stream is decoded
/// to its end, so that damage after the last fetch is detected as well.
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
            Sink::Stream(_) | Sink::Deferred(_) => {
                return Err(CodecError::unsupported("only single ranges can be read from a stream"));
            }
            Sink::Then(work) => {
                exactly(stream, &mut buffer[..length], size)?;
                if !work(&buffer[..length])?.is_empty() {
                    return Err(CodecError::unsupported(
                        "a fetch from a stream cannot lead to further fetches",
                    ));
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
