//! Contiguous elements in a file, divided into chunks.

use std::fmt::Debug;
use std::ops::ControlFlow;

use zarrox::data_type::Endian;
use zarrox::internals::data_type::ByteOrder;
use zarrox::stores::Bytes;
use zarrox::{DataType, DynArray, Result};

use crate::chunks::{Elements, each_position};
use crate::input::{Input, corrupt};

/// The size in bytes of a chunk of contiguous elements.
pub(crate) const CHUNK: u64 = 4 << 20;

/// The location of the elements.
#[derive(Debug, Clone)]
pub(crate) enum ElementLocation {
    /// A file, and the offset of the first element.
    File(std::sync::Arc<Input>, u64),
    /// Parts of files, in order, each with its offset and length.
    #[cfg_attr(
        all(not(feature = "hdf5"), not(test)),
        expect(dead_code, reason = "only HDF5 stores elements like this")
    )]
    Parts(Vec<(std::sync::Arc<Input>, u64, u64)>),
    /// Memory.
    #[cfg_attr(
        all(not(feature = "hdf5"), not(test)),
        expect(dead_code, reason = "only HDF5 stores elements like this")
    )]
    Memory(Bytes),
    /// Not stored: all elements are the fill value.
    Absent,
}

/// The division of an array into chunks of contiguous elements: whole rows, a few mebibytes per chunk.
#[derive(Debug, Clone)]
pub(crate) struct Runs {
    shape: Vec<u64>,
    chunk_shape: Vec<u64>,
    grid: Vec<u64>,
    /// The size of an element in bytes.
    item: u64,
}

/// The byte range of a chunk within the elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) offset: u64,
    /// The length inside the array.
    pub(crate) length: u64,
    /// The length of a whole chunk.
    pub(crate) whole: u64,
}

impl Runs {
    /// Divides an array of the given shape into chunks. `item` is the size of an element in bytes.
    pub(crate) fn new(shape: &[u64], item: u64) -> Self {
        Self::of_chunks(shape, runs(shape, item, CHUNK), item)
    }

    fn of_chunks(shape: &[u64], chunk_shape: Vec<u64>, item: u64) -> Self {
        let grid = shape.iter().zip(&chunk_shape).map(|(length, chunk)| length.div_ceil(*chunk)).collect();
        Self { shape: shape.to_vec(), chunk_shape, grid, item }
    }

    /// Returns the shape of a chunk.
    pub(crate) fn chunk_shape(&self) -> &[u64] {
        &self.chunk_shape
    }

    /// Returns the number of chunks along each dimension.
    pub(crate) fn grid(&self) -> &[u64] {
        &self.grid
    }

    /// Returns true if there are no elements.
    pub(crate) fn is_empty(&self) -> bool {
        self.shape.contains(&0)
    }

    /// Returns the byte range of a chunk.
    pub(crate) fn extent(&self, chunk: &[u64]) -> Extent {
        let (mut first, mut count, mut whole) = (0_u64, 1_u64, 1_u64);
        for (dim, &index) in chunk.iter().enumerate() {
            let (length, of_chunk) = (self.shape[dim], self.chunk_shape[dim]);
            let start = index * of_chunk;
            first = first * length + start;
            count *= of_chunk.min(length - start);
            whole *= of_chunk;
        }
        Extent { offset: first * self.item, length: count * self.item, whole: whole * self.item }
    }

    /// Returns the length in bytes of the chunk that begins at the given offset.
    pub(crate) fn length_at(&self, offset: u64) -> u64 {
        let divided = (0..self.shape.len()).rev().find(|&dim| self.chunk_shape[dim] < self.shape[dim]);
        let size =
            |lengths: &[u64]| lengths.iter().fold(self.item, |size, &length| size.saturating_mul(length));
        let Some(dim) = divided else { return size(&self.shape) };
        let inner = size(&self.shape[dim + 1..]);
        let row = inner.saturating_mul(self.shape[dim]).max(1);
        (self.chunk_shape[dim] * inner).min(row - offset % row)
    }
}

/// Elements in row-major order, in contiguous chunks.
#[derive(Debug)]
pub(crate) struct Rows {
    place: ElementLocation,
    runs: Runs,
}

impl Rows {
    /// Creates the elements of an array of the given shape. `available` is the number of bytes in the source.
    pub(crate) fn new(place: ElementLocation, shape: &[u64], item: u64, available: u64) -> Result<Self> {
        let size = shape.iter().try_fold(item, |size, &length| size.checked_mul(length));
        let is_there = !matches!(place, ElementLocation::Absent) && !shape.contains(&0);
        if is_there && size.is_none_or(|size| size > available) {
            return Err(corrupt(format!(
                "there are {available} bytes, fewer than the shape {shape:?} needs"
            )));
        }
        Ok(Self { place, runs: Runs::new(shape, item) })
    }

    /// Returns the shape of a chunk.
    pub(crate) fn chunk_shape(&self) -> &[u64] {
        self.runs.chunk_shape()
    }

    /// Returns the number of chunks along each dimension.
    pub(crate) fn grid(&self) -> &[u64] {
        self.runs.grid()
    }

    /// Returns true if there are elements.
    pub(crate) fn any(&self) -> bool {
        !matches!(self.place, ElementLocation::Absent) && !self.runs.is_empty()
    }

    /// Visits all chunks.
    pub(crate) fn visit(&self, visit: &mut dyn FnMut(&[u64]) -> ControlFlow<()>) -> ControlFlow<()> {
        if self.any() { each_position(self.grid(), visit) } else { ControlFlow::Continue(()) }
    }

    /// Returns the bytes of a chunk. Bytes past the end of the array are zero.
    pub(crate) fn read(&self, chunk: &[u64]) -> Result<Vec<u8>> {
        self.read_behind(0, chunk)
    }

    /// Returns the bytes of the same chunk of another array of this shape, which begins `distance` bytes after this array.
    pub(crate) fn read_behind(&self, distance: u64, chunk: &[u64]) -> Result<Vec<u8>> {
        let Extent { offset, length: size, whole } = self.runs.extent(chunk);
        let mut bytes = match &self.place {
            ElementLocation::File(input, start) => {
                let offset = start.checked_add(offset).and_then(|offset| offset.checked_add(distance));
                input.read(offset.ok_or_else(|| corrupt("an offset exceeds 64 bits"))?, size)?
            }
            ElementLocation::Parts(parts) => {
                let offset = offset.checked_add(distance);
                parts_of(parts, offset.ok_or_else(|| corrupt("an offset exceeds 64 bits"))?, size)?
            }
            ElementLocation::Memory(bytes) => {
                let range = usize::try_from(offset).ok().zip(usize::try_from(offset + size).ok());
                let range = range.and_then(|(start, end)| bytes.get(start..end));
                range.ok_or_else(|| corrupt("the elements are truncated"))?.to_vec()
            }
            ElementLocation::Absent => Vec::new(),
        };
        bytes.resize(usize::try_from(whole).unwrap_or(bytes.len()), 0);
        Ok(bytes)
    }
}

/// Reads bytes from parts of files as if they were concatenated.
fn parts_of(parts: &[(std::sync::Arc<Input>, u64, u64)], offset: u64, size: u64) -> Result<Vec<u8>> {
    let (mut bytes, mut skipped, mut missing) = (Vec::new(), offset, size);
    for (input, start, length) in parts {
        if missing == 0 {
            break;
        }
        let inside = skipped.min(*length);
        let taken = missing.min(length - inside);
        if taken > 0 {
            bytes.extend_from_slice(&input.read(start.saturating_add(inside), taken)?);
        }
        (skipped, missing) = (skipped - inside, missing - taken);
    }
    if missing > 0 {
        return Err(corrupt("the elements are truncated"));
    }
    Ok(bytes)
}

/// The format in which a file stores elements.
pub(crate) trait Form: Debug + Send + Sync {
    /// Decodes elements into an array of the given shape.
    fn decode(&self, shape: Vec<usize>, bytes: Vec<u8>) -> Result<DynArray>;

    /// Decodes the elements of a chunk of the given shape.
    fn elements(&self, shape: &[u64], bytes: Vec<u8>) -> Result<DynArray> {
        let shape = shape.iter().map(|&length| usize::try_from(length)).collect::<Result<_, _>>();
        self.decode(shape.map_err(|_| corrupt("a chunk is too large"))?, bytes)
    }
}

/// Elements of one data type in one byte order.
#[derive(Debug)]
pub(crate) struct Ordered {
    pub(crate) data_type: DataType,
    pub(crate) endian: Endian,
}

impl Form for Ordered {
    fn decode(&self, shape: Vec<usize>, bytes: Vec<u8>) -> Result<DynArray> {
        DynArray::from_foreign(
            self.data_type.clone(),
            shape,
            bytes,
            &ByteOrder::One(self.endian),
            zarrox::Order::RowMajor,
        )
    }
}

/// An array of contiguous elements in a single format.
#[derive(Debug)]
pub(crate) struct Whole<F> {
    pub(crate) rows: Rows,
    pub(crate) form: F,
}

impl<F: Form> Elements for Whole<F> {
    fn grid(&self) -> &[u64] {
        self.rows.grid()
    }

    fn chunk_shape(&self) -> Vec<u64> {
        self.rows.chunk_shape().to_vec()
    }

    fn is_stored(&self, _: &[u64]) -> bool {
        self.rows.any()
    }

    fn visit(&self, visit: &mut dyn FnMut(&[u64]) -> ControlFlow<()>) -> ControlFlow<()> {
        self.rows.visit(visit)
    }

    fn read(&self, chunk: &[u64]) -> Result<DynArray> {
        self.form.elements(self.rows.chunk_shape(), self.rows.read(chunk)?)
    }
}

/// Returns the shape of contiguous chunks of at most `most` bytes. Chunks span the last dimensions and have length 1
/// along the first dimensions.
pub(crate) fn runs(shape: &[u64], item: u64, most: u64) -> Vec<u64> {
    let mut chunk = vec![1; shape.len()];
    let mut size = item.max(1);
    for (dim, &length) in shape.iter().enumerate().rev() {
        let most = (most / size).max(1);
        chunk[dim] = length.clamp(1, most);
        if length > most {
            break;
        }
        size = size.saturating_mul(length.max(1));
    }
    chunk
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarrox::ErrorKind;
    use zarrox_testkit::errors::assert_error;

    #[test]
    fn chunks_are_contiguous_and_small() {
        assert!(runs(&[], 8, CHUNK).is_empty());
        assert_eq!(runs(&[0, 10], 8, CHUNK), [1, 10]);
        assert_eq!(runs(&[10, 10], 8, CHUNK), [10, 10]);
        assert_eq!(runs(&[4, 1024, 1024], 4, CHUNK), [1, 1024, 1024]);
        assert_eq!(runs(&[4, 1024, 1 << 30], 4, CHUNK), [1, 1, 1 << 20]);
    }

    #[test]
    fn chunks_have_the_elements_of_their_place() {
        let rows = |shape: &[u64], chunk: &[u64]| {
            let size: u64 = shape.iter().product();
            let bytes: Vec<u8> = (0..=u8::MAX).cycle().zip(0..size).map(|(value, _)| value).collect();
            let mut rows = Rows::new(ElementLocation::Memory(bytes.into()), shape, 1, size).unwrap();
            rows.runs = Runs::of_chunks(shape, chunk.to_vec(), 1);
            rows
        };
        let array = rows(&[5, 3], &[2, 3]);
        assert_eq!(array.read(&[0, 0]).unwrap(), [0, 1, 2, 3, 4, 5]);
        assert_eq!(array.read(&[2, 0]).unwrap(), [12, 13, 14, 0, 0, 0]);
        let array = rows(&[2, 5], &[1, 2]);
        assert_eq!(array.read(&[1, 1]).unwrap(), [7, 8]);
        assert_eq!(array.read(&[1, 2]).unwrap(), [9, 0]);
    }

    #[test]
    fn runs_follow_each_other() {
        for (shape, chunk) in [(&[3, 5, 2][..], &[1, 2, 2][..]), (&[7], &[3]), (&[2, 3], &[2, 3]), (&[], &[])]
        {
            let runs = Runs::of_chunks(shape, chunk.to_vec(), 2);
            let mut end = 0;
            let _ = each_position(runs.grid(), &mut |position| {
                let Extent { offset, length, .. } = runs.extent(position);
                assert_eq!((offset, length), (end, runs.length_at(offset)));
                end = offset + length;
                ControlFlow::Continue(())
            });
            assert_eq!(end, 2 * shape.iter().product::<u64>());
        }
    }

    #[test]
    fn parts_of_files_follow_one_another() {
        let directory = tempfile::tempdir().unwrap();
        let input = |name: &str, bytes: &[u8]| {
            let path = directory.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            std::sync::Arc::new(Input::open(&path).unwrap())
        };
        let parts = vec![(input("a", &[9, 0, 1]), 1, 2), (input("b", &[2, 3, 4, 5]), 0, 4)];
        let rows = Rows::new(ElementLocation::Parts(parts.clone()), &[6], 1, 6).unwrap();
        assert_eq!(rows.read(&[0]).unwrap(), [0, 1, 2, 3, 4, 5]);
        assert_eq!(parts_of(&parts, 1, 3).unwrap(), [1, 2, 3]);
        assert_eq!(parts_of(&parts, 3, 2).unwrap(), [3, 4]);
        assert_error(parts_of(&parts, 3, 4), ErrorKind::Corrupt, "truncated");
    }

    #[test]
    fn fewer_bytes_than_elements_are_an_error() {
        let bytes = || ElementLocation::Memory(vec![0; 7].into());
        assert_error(Rows::new(bytes(), &[2, 4], 1, 7), ErrorKind::Corrupt, "there are 7 bytes");
        assert_error(
            Rows::new(bytes(), &[u64::MAX, u64::MAX], 1, 7),
            ErrorKind::Corrupt,
            "there are 7 bytes",
        );
        assert!(!Rows::new(bytes(), &[0, u64::MAX], 1, 7).unwrap().any());
    }
}
