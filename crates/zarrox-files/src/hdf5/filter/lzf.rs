//! LZF, h5py's own filter. It is here since no library that is kept up has it.

use zarrox::Result;

use super::given::Given;
use super::undo::Undo;
use crate::hdf5::format::Filter;
use crate::input::{corrupt, zeroed};

#[derive(Debug)]
struct Lzf;

pub(super) fn create(_: &Filter) -> Result<Box<dyn Undo>> {
    Ok(Box::new(Lzf))
}

impl Undo for Lzf {
    fn undo(&self, bytes: Vec<u8>, given: Given) -> Result<Vec<u8>> {
        let most = given.size.unwrap_or(given.limit);
        decode(&bytes, most)
            .filter(|decoded| given.size.is_none_or(|size| size == decoded.len()))
            .ok_or_else(|| corrupt(format!("a chunk of {most} bytes compressed with LZF is damaged")))
    }
}

/// The most bytes that LZF makes of one.
const RATIO: usize = 88;

/// The bytes that are copied at once, where there is room: as many as the longest literal has, and most repetitions.
const LITERAL: usize = 32;
const REPEATED: usize = 16;

/// Returns the decoded bytes; `None` if they are damaged, or more than `most`.
fn decode(bytes: &[u8], most: usize) -> Option<Vec<u8>> {
    let mut decoded = zeroed(most.min(bytes.len().saturating_mul(RATIO))).ok()?;
    let length = decode_into(bytes, &mut decoded)?;
    decoded.truncate(length);
    Some(decoded)
}

/// Returns the number of bytes that were decoded. Those behind them have any values.
fn decode_into(mut bytes: &[u8], out: &mut [u8]) -> Option<usize> {
    let mut at = 0;
    while let Some((&control, rest)) = bytes.split_first() {
        let control = usize::from(control);
        if control < 32 {
            let length = control + 1;
            match (rest.first_chunk::<LITERAL>(), out.get_mut(at..)?.first_chunk_mut()) {
                (Some(literal), Some(room)) => *room = *literal,
                _ => out.get_mut(at..at + length)?.copy_from_slice(rest.get(..length)?),
            }
            at += length;
            bytes = &rest[length..];
            continue;
        }
        let (mut length, mut rest) = ((control >> 5) + 2, rest);
        if control >> 5 == 7 {
            let (&more, behind) = rest.split_first()?;
            length += usize::from(more);
            rest = behind;
        }
        let (&low, rest) = rest.split_first()?;
        bytes = rest;
        repeat(out, at, ((control & 31) << 8 | usize::from(low)) + 1, length)?;
        at += length;
    }
    Some(at)
}

/// Puts `length` bytes at a position, which are those from `distance` bytes before it on; the two may overlap.
fn repeat(out: &mut [u8], at: usize, distance: usize, length: usize) -> Option<()> {
    let start = at.checked_sub(distance)?;
    if at + length > out.len() {
        return None;
    }
    if distance >= REPEATED && out.len() - at >= length + REPEATED {
        for done in (0..length).step_by(REPEATED) {
            let block: [u8; REPEATED] = *out[start + done..].first_chunk()?;
            *out[at + done..].first_chunk_mut()? = block;
        }
        return Some(());
    }
    let mut done = 0;
    while done < length {
        // All bytes from the start on repeat themselves, so that more can be copied each time.
        let part = (length - done).min(distance + done);
        out.copy_within(start..start + part, at + done);
        done += part;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_bytes_are_an_error() {
        assert_eq!(decode(&[1, b'a', b'b', 0x20, 1], 5).unwrap(), b"ababa");
        for damaged in [&[5, 1][..], &[0x20, 0], &[0xe0], &[0, 1, 0xe0, 255, 0]] {
            assert!(decode(damaged, 4).is_none(), "{damaged:?}");
        }
    }

    /// As [`decode`], byte by byte.
    fn decoded(bytes: &[u8], most: usize) -> Option<Vec<u8>> {
        let (mut out, mut bytes) = (Vec::new(), bytes.iter().map(|&byte| usize::from(byte)));
        while let Some(control) = bytes.next() {
            if control < 32 {
                for _ in 0..=control {
                    out.push(bytes.next()?.to_le_bytes()[0]);
                }
            } else {
                let more = if control >> 5 == 7 { bytes.next()? } else { 0 };
                let distance = ((control & 31) << 8) + bytes.next()? + 1;
                for _ in 0..(control >> 5) + 2 + more {
                    out.push(out[out.len().checked_sub(distance)?]);
                }
            }
        }
        (out.len() <= most).then_some(out)
    }

    #[test]
    fn any_bytes_are_decoded_as_byte_by_byte() {
        let mut state = 1_u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(state >> 33).unwrap() % below
        };
        let mut count = 0;
        for _ in 0..20_000 {
            // Two long literals, for what is repeated.
            let mut bytes: Vec<u8> = (0..66).map(|at| if at % 33 == 0 { 31 } else { at }).collect();
            for _ in 0..random(12) {
                let head = [random(32), 0x20 * (1 + random(6)), 0xe0, 0x20 + random(0xe0)][random(31) / 10];
                bytes.push(head.to_le_bytes()[0]);
                let behind = if head < 32 { head + 1 } else { 1 + head / 0xe0 };
                bytes.extend((0..behind).map(|_| random(64).to_le_bytes()[0]));
            }
            bytes.truncate(bytes.len() - random(20) / 19 * random(bytes.len()));
            let whole = decoded(&bytes, usize::MAX);
            let length = whole.as_ref().map_or(100, Vec::len);
            count += usize::from(whole.is_some_and(|whole| whole.len() > 100));
            for most in [length.saturating_sub(1), length, length + 1, length + 15, length + 100] {
                assert_eq!(decode(&bytes, most), decoded(&bytes, most), "{bytes:?} {most}");
            }
        }
        assert!(count > 1000, "{count}");
    }
}
