//! [`Stream`]: elements that can be read once, in order.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;
use std::sync::{Mutex, PoisonError};

use zarrox::stores::Bytes;
use zarrox::{Error, ErrorKind, Result};

use crate::chunks::rows::{Extent, Runs};
use crate::input::{corrupt, failed, reserved};

/// The maximum number of bytes that are allocated before any of them have been received.
const AT_ONCE: u64 = 4 << 20;

/// Elements that are read from a stream.
///
/// Threads request chunks in any order. All chunks before a requested chunk are also read, and are kept until they are requested.
pub(super) struct Stream {
    name: String,
    runs: Runs,
    /// The total size of the elements in bytes.
    size: u64,
    /// True if additional bytes after the elements are an error.
    ends: bool,
    state: Mutex<State>,
}

struct State {
    reader: Box<dyn Read + Send>,
    position: u64,
    /// The chunks that have been read but not yet requested, by offset.
    kept: BTreeMap<u64, Bytes>,
}

impl Stream {
    pub(super) fn new(
        name: String,
        reader: Box<dyn Read + Send>,
        runs: Runs,
        size: u64,
        ends: bool,
    ) -> Result<Self> {
        let state = Mutex::new(State { reader, position: 0, kept: BTreeMap::new() });
        let stream = Self { name, runs, size, ends, state };
        if size == 0 {
            stream.check_end(&mut stream.state.lock().unwrap_or_else(PoisonError::into_inner))?;
        }
        Ok(stream)
    }

    /// Returns the bytes of a chunk. Bytes past the end of the array are zero.
    pub(super) fn read(&self, extent: Extent) -> Result<Bytes> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while state.position <= extent.offset {
            self.read_next(&mut state)?;
        }
        let found = state.kept.get(&extent.offset).cloned();
        let bytes = found.ok_or_else(|| {
            let message = format!(
                "{} can only be read once, in order; an earlier chunk was requested again",
                self.name
            );
            Error::new(ErrorKind::Unsupported, message)
        })?;
        let whole = usize::try_from(extent.whole).unwrap_or(bytes.len());
        if whole <= bytes.len() {
            return Ok(bytes);
        }
        let mut padded = reserved(whole)?;
        padded.extend_from_slice(&bytes);
        padded.resize(whole, 0);
        Ok(padded.into())
    }

    /// Drops the chunks that end before a position, given in bytes.
    pub(super) fn pass(&self, position: u64) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.kept.retain(|offset, bytes| offset.saturating_add(bytes.len() as u64) > position);
    }

    fn read_next(&self, state: &mut State) -> Result<()> {
        let (offset, length) = (state.position, self.runs.length_at(state.position));
        let bytes = self.read_up_to(state, length)?;
        state.position += bytes.len() as u64;
        if (bytes.len() as u64) < length || length == 0 {
            return Err(truncated(&self.name, state.position, self.size));
        }
        state.kept.insert(offset, bytes.into());
        if state.position >= self.size { self.check_end(state) } else { Ok(()) }
    }

    /// Reads bytes. Memory is allocated in proportion to the bytes received, not to the size stated in the header.
    fn read_up_to(&self, state: &mut State, length: u64) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        loop {
            let read = bytes.len() as u64;
            let next = (length - read).min(read.max(AT_ONCE));
            let more = usize::try_from(next).map_err(|_| corrupt("a row is too large"))?;
            bytes
                .try_reserve(more)
                .map_err(|_| Error::new(ErrorKind::OutOfMemory, "a row does not fit into memory"))?;
            let mut part = state.reader.by_ref().take(next);
            part.read_to_end(&mut bytes).map_err(|error| failed(&format!("reading {}", self.name), error))?;
            if next == 0 || (bytes.len() as u64) < read + next {
                return Ok(bytes);
            }
        }
    }

    /// Returns an error if there are bytes after the elements and they are not allowed.
    fn check_end(&self, state: &mut State) -> Result<()> {
        if !self.ends || self.read_up_to(state, 1)?.is_empty() { Ok(()) } else { Err(too_long(&self.name)) }
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Returns the error for an input with fewer elements than its shape requires.
pub(super) fn truncated(name: &str, found: u64, size: u64) -> Error {
    corrupt(format!("{name} is truncated: it has {found} of {size} bytes of elements"))
}

/// Returns the error for an input with more elements than its shape allows.
pub(super) fn too_long(name: &str) -> Error {
    corrupt(format!("{name} has more bytes than an array of this shape and data type"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_kept_until_they_are_passed() {
        let runs = Runs::new(&[3, 5 << 20], 1);
        let bytes: Vec<u8> = (0..15 << 20).map(|n: u32| (n >> 20).to_le_bytes()[0]).collect();
        let stream =
            Stream::new("it".to_owned(), Box::new(std::io::Cursor::new(bytes)), runs.clone(), 15 << 20, true);
        let stream = stream.unwrap();
        let read = |chunk: [u64; 2]| stream.read(runs.extent(&chunk));
        assert_eq!(
            read([1, 0]).unwrap()[..],
            [5, 6, 7, 8].iter().flat_map(|&n| std::iter::repeat_n(n, 1 << 20)).collect::<Vec<u8>>()
        );
        let cut = read([0, 1]).unwrap();
        assert_eq!((cut.len(), cut[0], cut[1 << 20]), (4 << 20, 4, 0));
        stream.pass((5 << 20) + 1);
        assert_eq!(read([1, 0]).unwrap()[0], 5);
        assert_eq!(read([0, 1]).unwrap_err().kind(), ErrorKind::Unsupported);
        assert_eq!(read([2, 1]).unwrap()[0], 14);
    }

    #[test]
    fn too_few_and_too_many_bytes_are_errors() {
        for (length, says) in [(9, "9 of 10 bytes"), (11, "more bytes")] {
            let runs = Runs::new(&[10], 1);
            let reader = Box::new(std::io::Cursor::new(vec![0; length]));
            let stream = Stream::new("it".to_owned(), reader, runs.clone(), 10, true).unwrap();
            let error = stream.read(runs.extent(&[0])).unwrap_err();
            assert!(error.kind() == ErrorKind::Corrupt && error.to_string().contains(says), "{error}");
        }
        assert!(Stream::new("it".to_owned(), Box::new(&[1_u8][..]), Runs::new(&[0], 1), 0, true).is_err());
    }
}
