//! Reading: a selection becomes projections onto chunks, and each chunk's codec chain says what to fetch.

use ndarray::{Array as NdArray, ArrayBase, ArrayD, DataMut, Dimension, IxDyn, RawData};
use zarrox_core::codec::{Fetch, ReadPart, Sink, Window};
use zarrox_core::indexing::Resolved;
use zarrox_core::partition::{Piece, piece, piece_count};
use zarrox_core::scratch::Scratch;
use zarrox_core::strided::{Dims, Span, ViewMut};
use zarrox_core::{CodecError, DataType, Element, Error, ErrorKind, IntoSelection, Result};
use zarrox_stores::{Key, Value};

use super::{Array, DynArray};
use crate::error::{argument, from_store};
use crate::memory::zeroed;
use crate::options::MissingChunks;
use crate::pool::too_many;

/// Ranges of one object with less than this between them are fetched together, in bytes.
const GAP: u64 = 4 << 10;

/// Ranges are put together up to this many bytes, which still fit into a core's own cache.
const TOGETHER: u64 = 512 << 10;

impl Array {
    /// Reads a selection into a new array. Dimensions that are selected by a single index are dropped.
    ///
    /// ```
    /// # use zarrox::prelude::*;
    /// # let directory = tempfile::tempdir()?;
    /// # let array = zarrox::create_array(directory.path().join("a.zarr"))
    /// #     .shape([4, 6]).data_type(DataType::Int32).chunks([2, 3]).fill_value(7_i32).create()?;
    /// let column = array.read::<i32>(s![..;-1, 2])?;
    /// assert_eq!(column.shape(), [4]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::DataTypeMismatch`] when `T` is not the array's element type,
    /// [`ErrorKind::InvalidSelection`] when the selection does not fit, [`ErrorKind::LimitExceeded`] when there is
    /// not enough memory for the result, [`ErrorKind::Corrupt`] when a chunk is damaged, and what the store says.
    pub fn read<T: Element>(&self, selection: impl IntoSelection) -> Result<ArrayD<T>> {
        self.check_element::<T>()?;
        let resolved = self.resolve(selection)?;
        let shape = Self::lengths(&resolved.shape())?;
        let mut data = zeroed::<T>(self.count(&shape)?)?;
        self.read_resolved(&resolved, contiguous_view(&mut data, &shape))?;
        ArrayD::from_shape_vec(IxDyn(&shape), data).map_err(|error| argument(error.to_string()))
    }

    /// Reads a selection into a new array whose number of dimensions is known at compile time.
    ///
    /// ```
    /// # use zarrox::prelude::*;
    /// # let directory = tempfile::tempdir()?;
    /// # let array = zarrox::create_array(directory.path().join("a.zarr"))
    /// #     .shape([4, 6, 2]).data_type(DataType::Float32).chunks([2, 3, 2]).create()?;
    /// let map: ndarray::Array2<f32> = array.read_nd(s![.., .., -1])?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As for [`Array::read`]; and when the result has another number of dimensions.
    pub fn read_nd<T: Element, D: Dimension>(&self, selection: impl IntoSelection) -> Result<NdArray<T, D>> {
        let selection = selection.into_selection();
        let found = self.resolve(&selection)?.shape().len();
        if let Some(wanted) = D::NDIM.filter(|&wanted| wanted != found) {
            return Err(
                argument(format!("the selection has {found} dimensions, not {wanted}")).at(self.place())
            );
        }
        self.read(selection)?.into_dimensionality().map_err(|error| argument(error.to_string()))
    }

    /// Reads a selection into memory of the caller's: an `ndarray` of any layout and of the result's shape.
    ///
    /// # Errors
    /// As for [`Array::read`]; and when the shapes differ. On an error the memory may be partly written.
    pub fn read_into<T, S, D>(&self, selection: impl IntoSelection, out: &mut ArrayBase<S, D>) -> Result<()>
    where
        T: Element,
        S: DataMut + RawData<Elem = T>,
        D: Dimension,
    {
        self.check_element::<T>()?;
        let resolved = self.resolve(selection)?;
        let shape = Self::lengths(&resolved.shape())?;
        if out.shape() != shape.as_slice() {
            let message = format!("the selection has the shape {shape:?}, the memory has {:?}", out.shape());
            return Err(argument(message).at(self.place()));
        }
        let item = size_of::<T>();
        let strides: Dims<isize> = out.strides().iter().map(|stride| stride * item.cast_signed()).collect();
        let pointer = out.as_mut_ptr().cast::<u8>();
        // SAFETY: shape and strides are those of an array that is borrowed mutably for the whole call; elements of an
        // owned or mutably borrowed ndarray do not overlap, and they are initialised.
        let view = unsafe { ViewMut::from_raw(pointer, &shape, &strides, item) };
        self.read_resolved(&resolved, view)
    }

    /// Reads a selection without knowing the element type at compile time.
    ///
    /// # Errors
    /// As for [`Array::read`].
    pub fn read_dyn(&self, selection: impl IntoSelection) -> Result<DynArray> {
        let resolved = self.resolve(selection)?;
        let shape = Self::lengths(&resolved.shape())?;
        let item = self.data_type().size();
        let size = self.count(&shape)?.checked_mul(item).ok_or_else(|| too_many("the bytes"))?;
        let mut bytes = zeroed::<u8>(size)?;
        self.read_resolved(&resolved, ViewMut::contiguous(&mut bytes, &shape, item))?;
        DynArray::new(self.data_type().clone(), shape.to_vec(), bytes)
    }

    pub(super) fn resolve(&self, selection: impl IntoSelection) -> Result<Resolved> {
        selection.into_selection().resolve(self.shape()).map_err(|error| error.at(self.place()))
    }

    fn count(&self, shape: &[usize]) -> Result<usize> {
        let size = shape.iter().try_fold(self.data_type().size(), |size, &n| size.checked_mul(n));
        let size =
            size.filter(|&size| isize::try_from(size).is_ok()).ok_or_else(|| too_many("the elements"))?;
        Ok(size / self.data_type().size())
    }

    fn read_resolved(&self, resolved: &Resolved, out: ViewMut<'_>) -> Result<()> {
        let mut out = ascending_mut(resolved, out);
        if resolved.is_empty() {
            return Ok(());
        }
        let projections = Projections::new(self, resolved)?;
        let chunk_size = self.chain.chunk().size();
        let result = self.location.context.pool.run(projections.count, chunk_size, |index| {
            let projection = projections.get(index);
            // SAFETY: no two projections of a selection share a position of the output.
            let out = unsafe { out.alias() }.into_region(&projection.out);
            self.read_chunk_part(&projection, out, projections.count)
        });
        // Also after an error: the memory may be the caller's own booleans.
        if *self.data_type() == DataType::Bool {
            out.normalise_bools();
        }
        result
    }

    fn read_chunk_part(&self, projection: &Projection, out: ViewMut<'_>, objects: usize) -> Result<()> {
        let key = self.key(&projection.chunk)?;
        let place = |error: Error| error.at(chunk_place(&projection.chunk, &key)).at(self.place());
        let Some(value) = self.location.store.open(&key).map_err(|e| place(from_store(e)))? else {
            return self.read_missing(out).map_err(place);
        };
        self.read_value(&*value, &projection.region, out, objects).map_err(place)
    }

    pub(super) fn read_missing(&self, mut out: ViewMut<'_>) -> Result<()> {
        if self.location.context.missing == MissingChunks::Error {
            let message = "the chunk is missing, and the array is read as one that must be complete";
            return Err(Error::new(ErrorKind::NotFound, message));
        }
        out.fill(self.chain.chunk().fill().as_bytes());
        Ok(())
    }

    /// Drives the reading of one stored object: fetches what its chain asks for until it asks for no more.
    pub(super) fn read_value(
        &self,
        value: &dyn Value,
        region: &[Span],
        out: ViewMut<'_>,
        objects: usize,
    ) -> Result<()> {
        let part = ReadPart { region: region.into(), out };
        let alone = objects >= self.location.context.pool.threads() || self.shard_shape().is_none();
        if let Some(bytes) = value.as_bytes().filter(|_| alone) {
            return Ok(self.chain.decode(bytes, part)?);
        }
        let mut fetches = self.chain.read(Window::of_size(value.size()), part)?;
        while !fetches.is_empty() {
            fetches = self.fetch(value, fetches, objects)?;
        }
        Ok(())
    }

    /// One round of fetches; returns those that follow from it.
    fn fetch<'a>(
        &self,
        value: &dyn Value,
        fetches: Vec<Fetch<'a>>,
        objects: usize,
    ) -> Result<Vec<Fetch<'a>>> {
        let groups = grouped(fetches, value, self.chain.limit())?;
        let pool = &self.location.context.pool;
        // With fewer objects than threads, the parts of this one are worked on side by side.
        let largest =
            if objects < pool.threads() { groups.iter().map(|group| group.length).max() } else { None };
        let bytes = usize::try_from(largest.unwrap_or(0)).unwrap_or(usize::MAX);
        let following = pool.map(groups, bytes, |group| group.complete(value))?;
        Ok(following.into_iter().flatten().collect())
    }
}

/// Fetches that are read from the object as one range.
struct Group<'a> {
    offset: u64,
    length: u64,
    fetches: Vec<(u64, u64, Fetch<'a>)>,
}

/// Puts together fetches that lie close to each other.
fn grouped<'a>(fetches: Vec<Fetch<'a>>, value: &dyn Value, limit: usize) -> Result<Vec<Group<'a>>> {
    let mut ranges = Vec::with_capacity(fetches.len());
    for fetch in fetches {
        let (offset, length) = fetch.range.within(value.size())?;
        if usize::try_from(length).map_or(true, |length| length > limit) {
            return Err(CodecError::limit(format!(
                "{length} stored bytes would be read at once, the limit is {limit}"
            ))
            .into());
        }
        ranges.push((offset, length, fetch));
    }
    ranges.sort_by_key(|(offset, ..)| *offset);
    let in_memory = value.as_bytes().is_some();
    let mut groups: Vec<Group<'a>> = Vec::new();
    for (offset, length, fetch) in ranges {
        let alone = in_memory || matches!(fetch.sink, Sink::Into(_));
        match groups.last_mut().filter(|group| !alone && group.takes(offset, length)) {
            Some(group) => {
                group.length = group.length.max(offset + length - group.offset);
                group.fetches.push((offset, length, fetch));
            }
            None => groups.push(Group { offset, length, fetches: vec![(offset, length, fetch)] }),
        }
    }
    Ok(groups)
}

#[expect(clippy::cast_possible_truncation, reason = "lengths are checked against a limit in usize")]
impl<'a> Group<'a> {
    /// Whether a range that begins no earlier is close enough, and the whole not too long.
    fn takes(&self, offset: u64, length: u64) -> bool {
        let direct = self.fetches.iter().any(|(.., fetch)| matches!(fetch.sink, Sink::Into(_)));
        !direct && offset <= self.offset + self.length + GAP && offset + length - self.offset <= TOGETHER
    }

    fn complete(mut self, value: &dyn Value) -> Result<Vec<Fetch<'a>>> {
        if let Some((.., Fetch { sink: Sink::Into(memory), .. })) = self.fetches.first_mut() {
            value.read_at(self.offset, memory).map_err(from_store)?;
            return Ok(Vec::new());
        }
        if let Some(bytes) = value.as_bytes() {
            let (offset, length) = (self.offset as usize, self.length as usize);
            return self.hand_over(&bytes[offset..][..length]);
        }
        let mut buffer = Scratch::with_len(self.length as usize);
        value.read_at(self.offset, &mut buffer).map_err(from_store)?;
        self.hand_over(&buffer)
    }

    fn hand_over(self, bytes: &[u8]) -> Result<Vec<Fetch<'a>>> {
        let mut following = Vec::new();
        for (offset, length, fetch) in self.fetches {
            let part = &bytes[(offset - self.offset) as usize..][..length as usize];
            following.extend(fetch.complete(part)?);
        }
        Ok(following)
    }
}

/// Where a selection meets one chunk.
pub(super) struct Projection {
    /// The chunk's indices.
    pub(super) chunk: Dims<u64>,
    /// The positions inside the chunk.
    pub(super) region: Dims<Span>,
    /// The positions in the result.
    pub(super) out: Dims<Span>,
}

/// All chunks that a selection meets: their number and any one of them, without a list.
pub(super) struct Projections {
    spans: Dims<Span>,
    chunk_shape: Dims<usize>,
    counts: Dims<usize>,
    pub(super) count: usize,
}

impl Projections {
    pub(super) fn new(array: &Array, resolved: &Resolved) -> Result<Self> {
        let chunk_shape: Dims<usize> = array.chain.chunk().shape().into();
        let length = |n: u64| usize::try_from(n).map_err(|_| too_many("the elements"));
        let spans = resolved.dims.iter().map(|dim| {
            Ok(Span { start: length(dim.start)?, step: length(dim.step)?, count: length(dim.count)? })
        });
        let spans: Dims<Span> = spans.collect::<Result<_>>()?;
        let counts: Dims<usize> = spans.iter().zip(&chunk_shape).map(|(&s, &c)| piece_count(s, c)).collect();
        let count = counts.iter().try_fold(1_usize, |count, &n| count.checked_mul(n));
        let count = count.ok_or_else(|| too_many("the chunks"))?;
        Ok(Self { spans, chunk_shape, counts, count })
    }

    /// The `index`-th, in row-major order of the chunks.
    pub(super) fn get(&self, mut index: usize) -> Projection {
        let ndim = self.spans.len();
        let mut pieces: Dims<Piece> = Dims::with_capacity(ndim);
        for dim in (0..ndim).rev() {
            let nth = index % self.counts[dim];
            index /= self.counts[dim];
            pieces.push(piece(self.spans[dim], self.chunk_shape[dim], nth));
        }
        pieces.reverse();
        Projection {
            chunk: pieces.iter().map(|piece| piece.chunk as u64).collect(),
            region: pieces.iter().map(|piece| piece.span).collect(),
            out: pieces.iter().map(Piece::out_span).collect(),
        }
    }
}

/// The result with all dimensions of the array, in ascending order of their positions.
fn ascending_mut<'a>(resolved: &Resolved, mut out: ViewMut<'a>) -> ViewMut<'a> {
    for (axis, dim) in resolved.dims.iter().enumerate() {
        if dim.dropped {
            out = out.with_axis(axis);
        } else if dim.reversed {
            out = out.reversed(axis);
        }
    }
    out
}

/// What errors call a chunk.
pub(super) fn chunk_place(chunk: &[u64], key: &Key) -> String {
    format!("chunk {chunk:?} (key '{key}')")
}

/// Memory of elements as a view.
fn contiguous_view<'a, T: Element>(data: &'a mut [T], shape: &[usize]) -> ViewMut<'a> {
    let item = size_of::<T>();
    let strides = zarrox_core::strided::contiguous_strides(shape, item);
    // SAFETY: the slice has as many elements as the shape, and every pattern of bytes that is written is a valid
    // element; booleans are brought to 0 or 1 before anybody looks at them as such.
    unsafe { ViewMut::from_raw(data.as_mut_ptr().cast(), shape, &strides, item) }
}
