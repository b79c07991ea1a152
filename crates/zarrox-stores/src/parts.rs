//! [`ByteParts`]: bytes, in the parts in which they arrived over a connection.

use std::ops::Range;

use bytes::Bytes;

/// The length in bytes below which parts are joined on arrival, so that the overhead for each part stays small.
#[cfg(any(feature = "s3", feature = "azure", feature = "http"))]
const SHORT: usize = 16 << 10;

static NOTHING: Bytes = Bytes::new();

/// Bytes, in the parts in which they arrived over a connection. The parts are joined only if a caller needs contiguous bytes. A
/// caller that copies the bytes to another buffer thus copies them only once.
#[derive(Clone, Debug, Default)]
pub struct ByteParts {
    parts: Vec<Bytes>,
    length: usize,
}

impl ByteParts {
    /// Returns the number of bytes.
    #[must_use]
    #[doc(hidden)]
    pub fn len(&self) -> usize {
        self.length
    }

    /// Returns true if there are no bytes.
    #[must_use]
    #[doc(hidden)]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Returns all bytes, if they are contiguous.
    #[must_use]
    #[doc(hidden)]
    pub fn as_bytes(&self) -> Option<&Bytes> {
        match self.parts.as_slice() {
            [] => Some(&NOTHING),
            [whole] => Some(whole),
            _ => None,
        }
    }

    /// Returns a range of the bytes as one buffer, without copying if a single part contains the range. Returns `None` if the
    /// range is out of bounds.
    #[must_use]
    #[doc(hidden)]
    pub fn slice(&self, range: Range<usize>) -> Option<Bytes> {
        let length = range.len();
        let mut pieces = self.pieces(range)?.peekable();
        let first = pieces.next().unwrap_or_default();
        if pieces.peek().is_none() {
            return Some(first);
        }
        let mut together = Vec::with_capacity(length);
        together.extend_from_slice(&first);
        pieces.for_each(|piece| together.extend_from_slice(&piece));
        Some(together.into())
    }

    /// Copies the bytes that start at `offset` into the buffer. Returns `None` if there are too few bytes.
    #[must_use]
    #[doc(hidden)]
    pub fn copy_to(&self, offset: usize, mut buffer: &mut [u8]) -> Option<()> {
        for piece in self.pieces(offset..offset.checked_add(buffer.len())?)? {
            let (here, rest) = buffer.split_at_mut(piece.len());
            here.copy_from_slice(&piece);
            buffer = rest;
        }
        Some(())
    }

    /// Returns the pieces of a range: one for each part that the range intersects.
    fn pieces(&self, range: Range<usize>) -> Option<impl Iterator<Item = Bytes>> {
        let within = range.start <= range.end && range.end <= self.length;
        let starts =
            self.parts.iter().scan(0, |next, part| Some(std::mem::replace(next, *next + part.len())));
        let pieces = self.parts.iter().zip(starts).map(move |(part, start)| {
            let clamp = |place: usize| place.saturating_sub(start).min(part.len());
            part.slice(clamp(range.start)..clamp(range.end))
        });
        within.then(|| pieces.filter(|piece| !piece.is_empty()))
    }
}

impl From<Bytes> for ByteParts {
    fn from(bytes: Bytes) -> Self {
        let length = bytes.len();
        Self { parts: if length == 0 { Vec::new() } else { vec![bytes] }, length }
    }
}

impl From<Vec<u8>> for ByteParts {
    fn from(bytes: Vec<u8>) -> Self {
        Bytes::from(bytes).into()
    }
}

impl From<ByteParts> for Bytes {
    fn from(parts: ByteParts) -> Self {
        parts.slice(0..parts.length).unwrap_or_default()
    }
}

/// The parts that have arrived so far.
#[cfg(any(feature = "s3", feature = "azure", feature = "http"))]
#[derive(Debug, Default)]
pub(crate) struct Arriving {
    here: ByteParts,
    /// The short parts that follow the parts in `here`, joined.
    short: Vec<u8>,
}

#[cfg(any(feature = "s3", feature = "azure", feature = "http"))]
impl Arriving {
    pub(crate) fn len(&self) -> usize {
        self.here.length + self.short.len()
    }

    pub(crate) fn push(&mut self, part: Bytes) {
        if part.len() < SHORT {
            self.short.extend_from_slice(&part);
        }
        if part.len() >= SHORT || self.short.len() >= SHORT {
            self.close();
        }
        if part.len() >= SHORT {
            self.here.length += part.len();
            self.here.parts.push(part);
        }
    }

    fn close(&mut self) {
        if !self.short.is_empty() {
            self.here.length += self.short.len();
            self.here.parts.push(std::mem::take(&mut self.short).into());
        }
    }

    pub(crate) fn complete(mut self) -> ByteParts {
        self.close();
        self.here
    }
}

#[cfg(all(test, any(feature = "s3", feature = "azure", feature = "http")))]
mod tests {
    use super::*;

    #[test]
    fn parts_are_as_their_bytes_in_one_piece() {
        for lengths in [&[][..], &[1], &[SHORT], &[5, 7], &[SHORT, 3, SHORT - 1, 9, 2 * SHORT, 0, SHORT, 1]] {
            let all: Vec<u8> =
                (0..lengths.iter().sum::<usize>()).map(|n| u8::try_from(n * 31 % 251).unwrap()).collect();
            let mut arriving = Arriving::default();
            let mut next = 0;
            for length in lengths {
                arriving.push(Bytes::copy_from_slice(&all[next..next + length]));
                next += length;
                assert_eq!(arriving.len(), next);
            }
            let parts = arriving.complete();
            assert_eq!((parts.len(), parts.is_empty()), (all.len(), all.is_empty()));
            assert!(parts.parts.iter().all(|part| !part.is_empty()));
            let places = [0, 1, 2, 15, SHORT - 1, SHORT, SHORT + 1, SHORT + 3, 2 * SHORT + 2, all.len()];
            for start in places {
                for end in places.into_iter().filter(|end| *end >= start) {
                    let expected = all.get(start..end);
                    assert_eq!(parts.slice(start..end).as_deref(), expected, "{start}..{end}");
                    let mut buffer = vec![0; end - start];
                    assert_eq!(parts.copy_to(start, &mut buffer).is_some(), expected.is_some());
                    assert_eq!(expected.unwrap_or(&buffer), buffer, "{start}..{end}");
                }
            }
            assert_eq!(parts.slice(0..all.len() + 1), None);
            assert_eq!(Bytes::from(parts), all);
        }
    }
}
