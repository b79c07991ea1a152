//! Reading and writing parts of stored chunks by key, for callers that divide selections themselves.

use zarrox_core::internals::codec::{ReadPart, WritePart};
use zarrox_core::internals::scratch::with_vec;
use zarrox_core::internals::selection::ChunkElements;
use zarrox_core::strided::{View, ViewMut};
use zarrox_core::{Error, Result};
use zarrox_stores::Key;

use crate::array::Array;
use crate::guarded::until_unchanged;

/// A stored chunk: its key in the array's store, and its shape.
#[derive(Debug, Clone)]
pub struct StoredChunk {
    /// The complete key.
    pub key: Key,
    /// The full shape of the chunk in elements, even at the edge of the array.
    pub shape: Vec<u64>,
}

/// A request to read elements of a stored chunk.
#[derive(Debug)]
#[non_exhaustive]
pub struct StoredRead<'a> {
    /// The chunk, or shard.
    pub chunk: StoredChunk,
    /// The elements.
    pub elements: ChunkElements,
    /// The destination of these elements, in native byte order.
    pub out: ViewMut<'a>,
}

impl<'a> StoredRead<'a> {
    /// Creates a request to read elements of a chunk into a destination.
    pub fn new(chunk: StoredChunk, elements: ChunkElements, out: ViewMut<'a>) -> Self {
        Self { chunk, elements, out }
    }
}

/// A request to write elements of a stored chunk.
#[derive(Debug)]
#[non_exhaustive]
pub struct StoredWrite<'a> {
    /// The chunk, or shard.
    pub chunk: StoredChunk,
    /// The elements.
    pub elements: ChunkElements,
    /// The new values of these elements.
    pub values: View<'a>,
    /// True if the other elements of the chunk may be replaced by fill values, so that the stored chunk need not be read. The
    /// other elements of a shard are kept even so.
    pub replaces: bool,
}

impl<'a> StoredWrite<'a> {
    /// Creates a request to write elements of a chunk. The other elements of the chunk are kept.
    pub fn new(chunk: StoredChunk, elements: ChunkElements, values: View<'a>) -> Self {
        Self { chunk, elements, values, replaces: false }
    }

    /// Sets [`replaces`](Self::replaces).
    #[must_use]
    pub fn replaces(self, replaces: bool) -> Self {
        Self { replaces, ..self }
    }
}

/// Reading and writing chunks by key, for programs that divide selections themselves. The array shape and the encoding of chunk
/// keys are not used.
impl Array {
    /// Reads elements of stored chunks in parallel. Returns, for each part, whether its chunk is stored; the elements of a
    /// missing chunk are set to the fill value.
    ///
    /// # Errors
    /// The errors of [`Array::read`]. After an error, the memory may be partly written.
    pub(in crate::array) fn read_stored(&self, parts: Vec<StoredRead<'_>>) -> Result<Vec<bool>> {
        let (count, size) = (parts.len(), self.chain.chunk().size());
        let read = |StoredRead { chunk, elements, out }: StoredRead<'_>| {
            self.location.context.interrupt.check()?;
            let read = || {
                let chain = self.chain_of_shape(&chunk.shape)?;
                let part = ReadPart::new(elements, out, self.location.context.decode);
                self.read_object(&chain, &chunk.key, part, count)
            };
            read().map_err(|error| self.in_stored(error, &chunk))
        };
        self.checked(|| self.location.pool().map(parts, size, self.at_once(), read))
    }

    /// Writes elements of stored chunks in parallel. A part of a chunk is merged into the stored chunk, as in [`Array::write`].
    ///
    /// # Errors
    /// The errors of [`Array::write`]. Chunks that were written before an error remain written; each chunk has either its old or
    /// its new elements.
    pub(in crate::array) fn write_stored(&self, parts: Vec<StoredWrite<'_>>) -> Result<()> {
        self.check_writable()?;
        for part in &parts {
            self.data_type().check_range(&part.values).map_err(|error| self.in_stored(error, &part.chunk))?;
        }
        let size = self.chain.chunk().size();
        let write = |part: StoredWrite<'_>| {
            self.location.context.interrupt.check()?;
            let StoredWrite { chunk, elements, values, replaces } = part;
            let part = WritePart::new(elements, values);
            self.write_stored_part(&chunk, &part, replaces).map_err(|error| self.in_stored(error, &chunk))
        };
        self.writing(|| self.location.pool().map(parts, size, self.at_once_written(), write)).map(drop)
    }

    fn write_stored_part(&self, chunk: &StoredChunk, part: &WritePart<'_>, replaces: bool) -> Result<()> {
        let chain = self.chain_of_shape(&chunk.shape)?;
        let (key, options) = (&chunk.key, self.encode_options());
        with_vec(|encoded| {
            if part.covers(chain.chunk().shape()) {
                let encoded = chain.encoded(part.source(), options, encoded)?;
                return self.location.overwrite(key, || self.store_chunk(key, &encoded));
            }
            if replaces && chain.inner_chunk_shape().is_none() {
                let update = chain.update(None, part, options, encoded)?;
                return self.location.overwrite(key, || self.store_update(key, update, encoded));
            }
            until_unchanged(|| {
                encoded.clear();
                let old = self.location.locked_value(key, chain.limit() as u64)?;
                self.merge_chunk(&chain, &old, part, false, encoded)
            })
        })
    }

    fn in_stored(&self, error: Error, chunk: &StoredChunk) -> Error {
        error
            .at(format!("chunk '{}' in {}", chunk.key, self.location.store.location()))
            .with_path(self.path())
            .with_key(&chunk.key)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use zarrox_core::strided::Span;
    use zarrox_stores::MemoryStore;

    use super::*;
    use crate::{DataType, OpenOptions};

    fn part(start: usize, count: usize) -> ChunkElements {
        ChunkElements::Box([Span { start, step: 1, count }].into_iter().collect())
    }

    fn read(chunk: StoredChunk, start: usize, out: &mut [u8]) -> StoredRead<'_> {
        let (elements, shape) = (part(start, out.len()), [out.len()]);
        StoredRead { chunk, elements, out: ViewMut::contiguous(out, &shape, 1) }
    }

    #[test]
    fn parts_of_chunks_are_written_and_read_by_their_keys() {
        let builder = OpenOptions::new().create_array((Arc::new(MemoryStore::new()), "a"));
        let array =
            builder.shape([10]).data_type(DataType::UInt8).chunks([4]).fill_value(9_u8).create().unwrap();
        let chunk =
            |n: u64| StoredChunk { key: Key::new(array.raw().key(&[n]).unwrap()).unwrap(), shape: vec![4] };
        let write = |n, start: usize, values: &[u8], replaces| {
            let (elements, shape) = (part(start, values.len()), [values.len()]);
            let values = View::contiguous(values, &shape, 1);
            array.write_stored(vec![StoredWrite { chunk: chunk(n), elements, values, replaces }]).unwrap();
        };
        write(0, 1, &[1, 2], false);
        write(0, 2, &[3], false);
        write(2, 2, &[4, 4], false);
        write(2, 0, &[5, 6], true);
        assert_eq!(
            array.read::<ndarray::ArrayD<u8>>(..).unwrap().into_raw_vec_and_offset().0,
            [9, 1, 3, 9, 9, 9, 9, 9, 5, 6]
        );
        let mut memory = [0; 5];
        let (first, second) = memory.split_at_mut(3);
        let stored = array.read_stored(vec![read(chunk(2), 1, first), read(chunk(1), 0, second)]).unwrap();
        assert_eq!((stored, memory), (vec![true, false], [6, 9, 9, 9, 9]));
    }
}
