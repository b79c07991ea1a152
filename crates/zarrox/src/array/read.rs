//! Reading: a selection becomes projections onto chunks, and each chunk's codec chain says what to fetch.

use ndarray::{Array as NdArray, ArrayBase, ArrayD, DataMut, Dimension, IxDyn, RawData};
use zarrox_core::indexing::Resolved;
use zarrox_core::strided::{Dims, ViewMut};
use zarrox_core::{Element, Error, ErrorKind, IntoSelection, Result};
use zarrox_stores::Key;

use super::projection::{Projection, Projections};
use super::{Array, DynArray};
use crate::error::{argument, from_store};
use crate::memory::zeroed;
use crate::options::MissingChunks;
use crate::pool::too_many;

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
        self.read_resolved(&resolved, contiguous_view(&mut data, &shape, size_of::<T>()))?;
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
        // Before the strides are read: memory that is shared with others is copied now, and may get other strides.
        let pointer = out.as_mut_ptr().cast::<u8>();
        let strides: Dims<isize> = out.strides().iter().map(|stride| stride * item.cast_signed()).collect();
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
        self.count(&shape)?;
        let mut array = DynArray::empty(self.data_type().clone(), shape.to_vec())?;
        self.read_resolved(&resolved, array.view_mut())?;
        Ok(array)
    }

    pub(super) fn resolve(&self, selection: impl IntoSelection) -> Result<Resolved> {
        self.confirm()?;
        selection.into_selection().resolve(self.shape()).map_err(|error| error.at(self.place()))
    }

    fn count(&self, shape: &[usize]) -> Result<usize> {
        let size = shape.iter().try_fold(self.data_type().size(), |size, &n| size.checked_mul(n));
        let size =
            size.filter(|&size| isize::try_from(size).is_ok()).ok_or_else(|| too_many("the elements"))?;
        Ok(size / self.data_type().size())
    }

    fn read_resolved(&self, resolved: &Resolved, mut out: ViewMut<'_>) -> Result<()> {
        let result = self.read_projections(resolved, out.reborrow(), |projection, out, objects| {
            self.read_chunk_part(projection, out, objects)
        });
        // Also after an error: the memory may be the caller's own booleans.
        self.data_type().normalise(&mut out);
        result
    }

    /// Hands every chunk that is met, and its part of the result, to `read`, together with how many there are.
    pub(super) fn read_projections(
        &self,
        resolved: &Resolved,
        out: ViewMut<'_>,
        read: impl Fn(&Projection, ViewMut<'_>, usize) -> Result<()> + Sync,
    ) -> Result<()> {
        let out = ascending_mut(resolved, out);
        if resolved.is_empty() {
            return Ok(());
        }
        let projections = Projections::new(self, resolved)?;
        self.location.context.pool.run(projections.count, self.chain.chunk().size(), |index| {
            let projection = projections.get(index);
            // SAFETY: no two projections of a selection share a position of the output.
            let out = unsafe { out.alias() }.into_region(&projection.out);
            read(&projection, out, projections.count)
        })
    }

    pub(super) fn read_chunk_part(
        &self,
        projection: &Projection,
        out: ViewMut<'_>,
        objects: usize,
    ) -> Result<()> {
        let key = self.key(&projection.chunk)?;
        let place = |error: Error| error.at(chunk_place(&projection.chunk, &key)).at(self.place());
        let Some(value) = self.location.store.open(&key).map_err(|e| place(from_store(e)))? else {
            return self.read_missing(out).map_err(place);
        };
        let chain = self.chain_of(&projection.chunk).map_err(place)?;
        self.read_value(&chain, &key, &*value, &projection.region, out, objects).map_err(place)
    }

    pub(super) fn read_missing(&self, mut out: ViewMut<'_>) -> Result<()> {
        if self.location.context.missing == MissingChunks::Error {
            let message = "the chunk is missing, and the array is read as one that must be complete";
            return Err(Error::new(ErrorKind::NotFound, message));
        }
        out.fill(self.chain.chunk().fill().as_bytes());
        Ok(())
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

/// Memory as a view of elements of `item` bytes. Panics when there is not just as much memory as the shape says.
pub(super) fn contiguous_view<'a, T: Element>(
    data: &'a mut [T],
    shape: &[usize],
    item: usize,
) -> ViewMut<'a> {
    // SAFETY: the slice has as many bytes, and every pattern of bytes that is written is a valid element; booleans are
    // brought to 0 or 1 before anybody looks at them as such.
    let bytes = unsafe { std::slice::from_raw_parts_mut(data.as_mut_ptr().cast::<u8>(), size_of_val(data)) };
    ViewMut::contiguous(bytes, shape, item)
}
