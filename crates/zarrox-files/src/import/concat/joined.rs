//! [`Joined`]: the concatenation of arrays from several files along a dimension.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use zarrox::data_type::Storage;
use zarrox::stores::Bytes;
use zarrox::{Array, DataType, DimSelection, DynArray, FillValue, Format, Result};

use super::block::Block;
use super::sources::Sources;
use super::values;
use crate::chunks::{Chunks, Elements, EncodedOnRead, VisitChunk, each_position};
use crate::fill::FILL_VALUE;
use crate::input::corrupt;
use crate::times::Shift;

/// The stored chunks of an array in a file.
#[derive(Debug, Clone)]
pub(crate) struct Stored {
    grid: Vec<u64>,
    /// The linear index in row-major order and the size in bytes of each chunk, sorted by index.
    chunks: Vec<(u64, u64)>,
    is_all: bool,
}

impl Stored {
    /// Lists the stored chunks of an array.
    pub(crate) fn of(array: &Array) -> Result<Self> {
        let grid = array.grid_shape();
        let count = grid.iter().try_fold(1_u64, |count, &length| count.checked_mul(length));
        let count = count.ok_or_else(|| corrupt("there are too many chunks"))?;
        let mut chunks = Vec::new();
        array.raw().visit(&mut |chunk, size| {
            let Some(chunk) = chunk else { return };
            chunks.push((number(&grid, &chunk), size));
        })?;
        chunks.sort_unstable();
        chunks.shrink_to_fit();
        let is_all = chunks.len() as u64 == count;
        Ok(Self { grid, chunks, is_all })
    }

    /// Returns true if all chunks are stored.
    pub(crate) fn is_all(&self) -> bool {
        self.is_all
    }

    /// Returns true if any chunk is stored.
    pub(super) fn any(&self) -> bool {
        !self.chunks.is_empty()
    }

    /// Returns the size of a stored chunk in bytes.
    pub(crate) fn size(&self, chunk: &[u64]) -> Option<u64> {
        let is_inside = chunk.len() == self.grid.len()
            && chunk.iter().zip(&self.grid).all(|(index, count)| index < count);
        if !is_inside {
            return None;
        }
        let number = number(&self.grid, chunk);
        let at = self.chunks.binary_search_by_key(&number, |(number, _)| *number).ok()?;
        self.chunks.get(at).map(|(_, size)| *size)
    }

    /// Calls a function with the chunk index and size of each stored chunk.
    pub(crate) fn each(&self, visit: VisitChunk<'_>) -> ControlFlow<()> {
        let mut position = vec![0; self.grid.len()];
        for (number, size) in &self.chunks {
            let mut rest = *number;
            for (index, length) in position.iter_mut().zip(&self.grid).rev() {
                (*index, rest) = (rest % length.max(&1), rest / length.max(&1));
            }
            visit(&position, *size)?;
        }
        ControlFlow::Continue(())
    }
}

fn number(grid: &[u64], chunk: &[u64]) -> u64 {
    let next = |number: u64, (length, index): (&u64, &u64)| number.wrapping_mul(*length).wrapping_add(*index);
    grid.iter().zip(chunk).fold(0, next)
}

/// A piece of a joined array: the part that comes from one source.
#[derive(Debug)]
pub(super) struct Piece {
    /// The index of the source.
    pub(super) source: usize,
    /// The start and length of the piece along the dimension.
    pub(super) offset: u64,
    pub(super) length: u64,
    /// The number of elements of the array in the file; `None` if the file lacks the array.
    pub(super) elements: Option<u64>,
    /// The stored chunks; `None` if the source lacks the array, in which case all elements are missing values.
    pub(super) stored: Option<Stored>,
    /// The missing value used if the source lacks the array; `None` if it is the fill value.
    pub(super) missing: Option<FillValue>,
    /// The chunk shape of the source.
    pub(super) chunks: Vec<u64>,
    /// True if stored chunks can be copied unchanged where they are aligned with the joined grid.
    pub(super) is_as_stored: bool,
    /// True if the fill value differs from that of the joined array.
    pub(super) has_other_fill: bool,
    /// The conversion of times to the units of the joined array.
    pub(super) shift: Option<Shift>,
}

impl Piece {
    fn end(&self) -> u64 {
        self.offset + self.length
    }

    /// Returns true if all chunks of the piece must be stored.
    fn is_everywhere(&self) -> bool {
        self.has_other_fill || self.stored.as_ref().is_some_and(Stored::is_all)
    }
}

/// An array whose elements come from several files.
#[derive(Debug)]
pub(super) struct Joined {
    pub(super) sources: Arc<Sources>,
    pub(super) path: String,
    /// The dimension along which the pieces are concatenated.
    pub(super) axis: usize,
    /// True if the dimension is new: the arrays in the files do not have it.
    pub(super) is_new: bool,
    pub(super) shape: Vec<u64>,
    pub(super) chunk_shape: Vec<u64>,
    pub(super) grid: Vec<u64>,
    pub(super) data_type: DataType,
    pub(super) fill: FillValue,
    /// The pieces in order, without gaps.
    pub(super) pieces: Vec<Piece>,
}

/// A range of elements along each dimension.
pub(super) type Region = Vec<(u64, u64)>;

impl Joined {
    /// Returns the pieces that overlap a range along the dimension.
    fn pieces_in(&self, start: u64, end: u64) -> &[Piece] {
        let first = self.pieces.partition_point(|piece| piece.end() <= start);
        let last = self.pieces.partition_point(|piece| piece.offset < end);
        self.pieces.get(first..last.max(first)).unwrap_or_default()
    }

    /// Returns the region of a chunk that is inside the array.
    pub(super) fn region_of(&self, chunk: &[u64]) -> Region {
        let range = |((&index, &length), &shape): ((&u64, &u64), &u64)| {
            let start = index.saturating_mul(length).min(shape);
            (start, start.saturating_add(length).min(shape))
        };
        chunk.iter().zip(&self.chunk_shape).zip(&self.shape).map(range).collect()
    }

    /// Converts a position or shape in the joined array to one in the array of a file.
    fn of_source<T: Copy>(&self, lengths: &[T]) -> Vec<T> {
        let is_kept = |dim: &usize| !(self.is_new && *dim == self.axis);
        lengths.iter().enumerate().filter(|(dim, _)| is_kept(dim)).map(|(_, length)| *length).collect()
    }

    /// Returns the piece that stores an identical chunk, and the index of that chunk in it; `None` if no piece stores one.
    fn as_stored(&self, chunk: &[u64]) -> Option<(&Piece, Vec<u64>)> {
        let region = self.region_of(chunk);
        let (start, end) = *region.get(self.axis)?;
        let [piece] = self.pieces_in(start, end) else { return None };
        let length = *self.chunk_shape.get(self.axis)?;
        let distance = start.checked_sub(piece.offset)?;
        if !piece.is_as_stored || !distance.is_multiple_of(length) || end > piece.end() {
            return None;
        }
        let mut position = chunk.to_vec();
        *position.get_mut(self.axis)? = distance / length;
        Some((piece, self.of_source(&position)))
    }

    /// Returns true if a chunk of the grid is stored.
    pub(super) fn is_stored(&self, chunk: &[u64]) -> bool {
        match self.as_stored(chunk) {
            Some((piece, position)) => {
                piece.stored.as_ref().is_some_and(|stored| stored.size(&position).is_some())
            }
            None => self.has_any(chunk),
        }
    }

    /// Returns true if any element of a chunk is stored.
    fn has_any(&self, chunk: &[u64]) -> bool {
        let region = self.region_of(chunk);
        let Some(&(start, end)) = region.get(self.axis) else { return false };
        self.pieces_in(start, end).iter().any(|piece| {
            if piece.is_everywhere() {
                return true;
            }
            let Some(stored) = &piece.stored else { return false };
            let inside = self.inside(piece, &region);
            let chunks =
                |((begin, end), length): (&(u64, u64), &u64)| (begin / length, end.div_ceil(*length));
            let range: Region = inside.iter().zip(&piece.chunks).map(chunks).collect();
            let counts: Vec<u64> = range.iter().map(|(begin, end)| end - begin).collect();
            let found = each_position(&counts, &mut |at| {
                let chunk: Vec<u64> = at.iter().zip(&range).map(|(at, (begin, _))| at + begin).collect();
                if stored.size(&chunk).is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            found.is_break()
        })
    }

    /// Returns the part of a region that lies in a piece, as a region of the array in the file.
    fn inside(&self, piece: &Piece, region: &[(u64, u64)]) -> Region {
        let mut inside = region.to_vec();
        if let Some(along) = inside.get_mut(self.axis) {
            let (start, end) = (along.0.max(piece.offset), along.1.min(piece.end()));
            *along = (start.saturating_sub(piece.offset), end.saturating_sub(piece.offset));
        }
        self.of_source(&inside)
    }

    /// Reads a region into an array of the given shape, and fills the remaining elements with the fill value.
    pub(super) fn read(&self, region: &[(u64, u64)], shape: &[u64]) -> Result<DynArray> {
        let mut block = Block::new(&self.data_type, shape, self.fill.as_bytes())?;
        let Some(&(start, end)) = region.get(self.axis) else { return block.finish() };
        for piece in self.pieces_in(start, end) {
            if piece.stored.is_none() && piece.missing.is_none() {
                continue;
            }
            let mut at = vec![0; region.len()];
            if let Some(along) = at.get_mut(self.axis) {
                *along = piece.offset.max(start) - start;
            }
            let mut lengths: Vec<u64> = region.iter().map(|(begin, end)| end - begin).collect();
            if let Some(along) = lengths.get_mut(self.axis) {
                *along = piece.end().min(end) - piece.offset.max(start);
            }
            let part = match &piece.missing {
                Some(missing) => Block::new(&self.data_type, &lengths, missing.as_bytes())?.finish()?,
                None => {
                    let part = self.part(piece, &self.inside(piece, region));
                    part.map_err(|error| error.at(self.sources.name(piece.source)))?
                }
            };
            block.put(&at, &lengths, &part)?;
        }
        block.finish()
    }

    /// Reads a region of the array in a file.
    fn part(&self, piece: &Piece, inside: &[(u64, u64)]) -> Result<DynArray> {
        let array = self.sources.array(piece.source, &self.path)?;
        let selection: Vec<DimSelection> =
            inside.iter().map(|&(begin, end)| DimSelection::from(begin..end)).collect();
        let part = array.read::<DynArray>(selection)?;
        let Some(shift) = piece.shift else { return Ok(part) };
        let is_missing = array.attributes().contains_key(FILL_VALUE)
            || (array.metadata().format == Format::V2 && array.metadata().fill_value.is_some());
        values::shifted(&part, shift, array.fill_bytes().as_bytes(), is_missing)
    }

    /// Reads the encoded bytes of a chunk that a file stores in identical form; `None` if no file does. The inner value
    /// is `None` if the chunk is not stored.
    pub(super) fn encoded(&self, chunk: &[u64]) -> Result<Option<Option<Bytes>>> {
        let Some((piece, position)) = self.as_stored(chunk) else { return Ok(None) };
        let array = self.sources.array(piece.source, &self.path)?;
        let encoded = array.raw().read(&position);
        encoded.map(Some).map_err(|error| error.at(self.sources.name(piece.source)))
    }
}

/// The elements of a joined array, shared by its chunks and its encoder.
impl Elements for Arc<Joined> {
    fn grid(&self) -> &[u64] {
        &self.grid
    }

    fn chunk_shape(&self) -> Vec<u64> {
        self.chunk_shape.clone()
    }

    fn is_stored(&self, chunk: &[u64]) -> bool {
        Joined::is_stored(self, chunk)
    }

    fn visit(&self, visit: &mut dyn FnMut(&[u64]) -> ControlFlow<()>) -> ControlFlow<()> {
        if self.pieces.iter().all(|piece| piece.length == 0 || piece.is_everywhere()) {
            return each_position(&self.grid, visit);
        }
        let mut chunks = BTreeSet::new();
        for piece in self.pieces.iter().filter(|piece| piece.length > 0) {
            let add = &mut |region: Region| {
                let range: Region = region
                    .iter()
                    .zip(&self.chunk_shape)
                    .map(|((begin, end), length)| (begin / length, end.div_ceil(*length)))
                    .collect();
                let counts: Vec<u64> = range.iter().map(|(begin, end)| end - begin).collect();
                let _ = each_position(&counts, &mut |at| {
                    chunks.insert(
                        at.iter().zip(&range).map(|(at, (begin, _))| at + begin).collect::<Vec<u64>>(),
                    );
                    ControlFlow::Continue(())
                });
            };
            if piece.has_other_fill {
                let mut region: Region = self.shape.iter().map(|&length| (0, length)).collect();
                if let Some(along) = region.get_mut(self.axis) {
                    *along = (piece.offset, piece.end());
                }
                add(region);
                continue;
            }
            let Some(stored) = &piece.stored else { continue };
            let _ = stored.each(&mut |chunk, _| {
                add(self.region_in(piece, chunk));
                ControlFlow::Continue(())
            });
        }
        chunks.iter().try_for_each(|chunk| visit(chunk))
    }

    fn read(&self, chunk: &[u64]) -> Result<DynArray> {
        Joined::read(self, &self.region_of(chunk), &self.chunk_shape)
    }
}

impl Joined {
    /// Returns the number of elements that the files provide.
    pub(super) fn elements(&self) -> u64 {
        let row = self.shape.iter().enumerate().filter(|(dim, _)| *dim != self.axis);
        let row = row.fold(1_u64, |count, (_, &length)| count.saturating_mul(length));
        let of = |piece: &Piece| piece.elements.unwrap_or(row.saturating_mul(piece.length));
        self.pieces.iter().fold(0, |count, piece| count.saturating_add(of(piece)))
    }

    /// Returns the region of the joined array that is covered by a chunk of a file.
    fn region_in(&self, piece: &Piece, chunk: &[u64]) -> Region {
        let mut of_source = chunk.iter().zip(&piece.chunks);
        let range = |dim: usize, &shape: &u64| {
            if dim == self.axis && self.is_new {
                return (piece.offset, piece.end());
            }
            let (index, length) = of_source.next().map_or((0, 1), |(index, length)| (*index, *length));
            let most = if dim == self.axis { piece.length } else { shape };
            let start = index.saturating_mul(length).min(most);
            let end = start.saturating_add(length).min(most);
            if dim == self.axis { (piece.offset + start, piece.offset + end) } else { (start, end) }
        };
        let mut range = range;
        self.shape.iter().enumerate().map(|(dim, shape)| range(dim, shape)).collect()
    }
}

/// The chunks of a joined array, either unchanged from one file or encoded on each read.
#[derive(Debug)]
pub(super) struct JoinedChunks {
    pub(super) joined: Arc<Joined>,
    pub(super) encoded: EncodedOnRead,
}

impl Chunks for JoinedChunks {
    fn ndim(&self) -> usize {
        self.joined.shape.len()
    }

    fn any(&self) -> bool {
        self.encoded.any()
    }

    fn size(&self, chunk: &[u64]) -> Option<u64> {
        let is_inside = chunk.len() == self.joined.grid.len()
            && chunk.iter().zip(&self.joined.grid).all(|(index, count)| index < count);
        if !is_inside {
            return None;
        }
        match self.joined.as_stored(chunk) {
            Some((piece, position)) => piece.stored.as_ref()?.size(&position),
            None => self.encoded.size(chunk),
        }
    }

    fn visit(&self, visit: VisitChunk<'_>) -> ControlFlow<()> {
        self.joined.visit(&mut |chunk| match self.size(chunk) {
            Some(size) => visit(chunk, size),
            None => ControlFlow::Continue(()),
        })
    }

    fn read(&self, chunk: &[u64]) -> Result<Option<Bytes>> {
        if self.size(chunk).is_none() {
            return Ok(None);
        }
        match self.joined.encoded(chunk)? {
            Some(encoded) => Ok(encoded),
            None => self.encoded.read(chunk),
        }
    }
}

/// Returns true if elements of the data type have variable length.
pub(super) fn is_variable(data_type: &DataType) -> bool {
    data_type.storage() == Storage::Variable
}
