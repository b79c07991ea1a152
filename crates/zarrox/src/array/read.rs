//! Reading: a selection becomes projections onto chunks, and each chunk's codec chain requests bytes.

use ndarray::{Array as NdArray, ArrayBase, ArrayD, DataMut, Dimension, IxDyn, RawData};
use zarrox_core::codec::ReadPart;
use zarrox_core::data_type::Storage;
use zarrox_core::error::Place;
use zarrox_core::selection::{Projection, Projections, ResolvedSelection, merged, ordered};
use zarrox_core::strided::{Dims, ViewMut};
use zarrox_core::{DataType, Element, Error, ErrorKind, Result};
use zarrox_stores::Key;

use super::ndarrays::contiguous_view;
use super::view::ArrayView;
use super::{Array, DynArray};
use crate::error::argument;
use crate::memory::zeroed;
use crate::pool::too_many;

impl ArrayView<'_> {
    /// Reads the elements into a new array.
    ///
    /// # Errors
    /// [`ErrorKind::DataTypeMismatch`] when `T` is not the array's element type, [`ErrorKind::InvalidSelection`] when the
    /// selection is invalid, [`ErrorKind::OutOfMemory`] when memory for the result cannot be allocated,
    /// [`ErrorKind::LimitExceeded`] when it would be larger than an address space, [`ErrorKind::Corrupt`] when a chunk is damaged,
    /// and errors of the store.
    pub fn read<T: Element>(&self) -> Result<ArrayD<T>> {
        let array = self.array;
        array.check_element::<T>()?;
        let resolved = self.resolved()?;
        array.read_new(resolved, |out| array.read_resolved(resolved, out))
    }

    /// Reads the elements into a new array whose number of dimensions is known at compile time.
    ///
    /// # Errors
    /// The errors of [`ArrayView::read`]; also when there is another number of dimensions.
    pub fn read_nd<T: Element, D: Dimension>(&self) -> Result<NdArray<T, D>> {
        self.check_ndim::<D>()?;
        self.read()?.into_dimensionality().map_err(|error| argument(error.to_string()))
    }

    /// Reads the elements into the caller's memory: an `ndarray` of any layout with the result's shape.
    ///
    /// # Errors
    /// The errors of [`ArrayView::read`]; also when the shapes differ. On an error the memory may be partly written.
    pub fn read_into<T, S, D>(&self, out: &mut ArrayBase<S, D>) -> Result<()>
    where
        T: Element,
        S: DataMut + RawData<Elem = T>,
        D: Dimension,
    {
        self.array.check_element::<T>()?;
        let resolved = self.resolved()?;
        self.array.read_existing(resolved, out, |out| self.array.read_resolved(resolved, out))
    }

    /// Reads the elements without knowing their type at compile time.
    ///
    /// # Errors
    /// The errors of [`ArrayView::read`].
    pub fn read_dyn(&self) -> Result<DynArray> {
        let resolved = self.resolved()?;
        let mut elements = self.array.empty_for(resolved, self.data_type())?;
        self.array.read_resolved(resolved, elements.view_mut())?;
        Ok(elements)
    }

    /// Reads the elements into memory of any kind, with the result's shape and element size.
    ///
    /// # Errors
    /// The errors of [`ArrayView::read_into`]; also when elements have variable length, for which there is
    /// [`read_dyn`](ArrayView::read_dyn).
    pub fn read_raw(&self, out: ViewMut<'_>) -> Result<()> {
        let resolved = self.resolved()?;
        self.check_raw(out.shape(), out.item())?;
        self.array.read_resolved(resolved, out)
    }

    /// Refuses memory whose shape or element size differs from the selection's.
    pub(super) fn check_raw(&self, shape: &[usize], item: usize) -> Result<()> {
        let selected = Array::lengths(&self.resolved()?.shape())?;
        if selected.as_slice() != shape {
            return Err(self.array.shape_mismatch(&selected, shape));
        }
        let own = self.data_type();
        if own.storage() == Storage::Variable || own.size() != item {
            let message = format!("elements of {own} do not fit into memory with {item} bytes for each");
            return Err(Error::new(ErrorKind::DataTypeMismatch, message).at(self.array.place()));
        }
        Ok(())
    }

    /// Refuses a number of dimensions that differs from the selection's.
    pub(super) fn check_ndim<D: Dimension>(&self) -> Result<()> {
        let found = self.resolved()?.result.len();
        match D::NDIM.filter(|&wanted| wanted != found) {
            Some(wanted) => {
                Err(argument(format!("the selection has {found} dimensions, but {wanted} are expected"))
                    .at(self.array.place()))
            }
            None => Ok(()),
        }
    }
}

impl Array {
    /// A new array with the result, which `read` writes into the given memory.
    pub(super) fn read_new<T: Element>(
        &self,
        resolved: &ResolvedSelection,
        read: impl FnOnce(ViewMut<'_>) -> Result<()>,
    ) -> Result<ArrayD<T>> {
        let shape = Array::lengths(&resolved.shape())?;
        let mut data = zeroed::<T>(count(&shape, size_of::<T>())?)?;
        read(contiguous_view(&mut data, &shape, size_of::<T>()))?;
        ArrayD::from_shape_vec(IxDyn(&shape), data).map_err(|error| argument(error.to_string()))
    }

    /// Passes the caller's memory to `read`, if it has the result's shape.
    pub(super) fn read_existing<T, S, D>(
        &self,
        resolved: &ResolvedSelection,
        out: &mut ArrayBase<S, D>,
        read: impl FnOnce(ViewMut<'_>) -> Result<()>,
    ) -> Result<()>
    where
        T: Element,
        S: DataMut + RawData<Elem = T>,
        D: Dimension,
    {
        let shape = Array::lengths(&resolved.shape())?;
        if out.shape() != shape.as_slice() {
            let message =
                format!("the selection has the shape {shape:?}, but the memory has {:?}", out.shape());
            return Err(argument(message).at(self.place()));
        }
        let item = size_of::<T>();
        // This comes before the strides are read: shared memory is copied now, and may get other strides.
        let pointer = out.as_mut_ptr().cast::<u8>();
        let strides: Dims<isize> = out.strides().iter().map(|stride| stride * item.cast_signed()).collect();
        // SAFETY: shape and strides are those of an array that is borrowed mutably for the whole call; elements of an
        // owned or mutably borrowed ndarray do not overlap, and they are initialised.
        read(unsafe { ViewMut::from_raw(pointer, &shape, &strides, item) })
    }

    /// Memory for the elements of a result of `data_type`.
    pub(super) fn empty_for(&self, resolved: &ResolvedSelection, data_type: &DataType) -> Result<DynArray> {
        let shape = Array::lengths(&resolved.shape())?;
        count(&shape, data_type.size())?;
        DynArray::empty(data_type.clone(), shape.to_vec())
    }

    pub(super) fn read_resolved(&self, resolved: &ResolvedSelection, mut out: ViewMut<'_>) -> Result<()> {
        let (own, at_once) = (self.data_type(), self.at_once());
        let result =
            self.read_projections(resolved, own, out.reborrow(), at_once, |projection, out, objects| {
                self.read_chunk_part(projection, out, objects)
            });
        // This is done even after an error, since the memory may be the caller's own booleans.
        self.data_type().normalise(&mut out);
        result
    }

    /// Calls `read` for each touched chunk with the output, which has an axis for each axis of the selection. `read` also gets
    /// the number of chunks, and at most `at_once` calls run at a time. The output has elements of `data_type`, and each call
    /// writes only to the places of its own chunk.
    pub(super) fn read_projections(
        &self,
        resolved: &ResolvedSelection,
        data_type: &DataType,
        out: ViewMut<'_>,
        at_once: usize,
        read: impl Fn(&Projection, ViewMut<'_>, usize) -> Result<()> + Sync,
    ) -> Result<()> {
        if resolved.is_empty() {
            return Ok(());
        }
        let mut out = ordered(resolved, out);
        let mut copy = None;
        let axes = match merged(resolved, out.reborrow()) {
            Some(axes) => axes,
            // The caller's memory has gaps inside of one axis of the selection.
            None => {
                let elements = copy.insert(DynArray::empty(data_type.clone(), out.shape().to_vec())?);
                merged(resolved, elements.view_mut())
                    .ok_or_else(|| argument("the memory of the result has gaps"))?
            }
        };
        let projections = Projections::new(&self.metadata.chunk_grid, resolved)?;
        let size = self.chain.chunk().size();
        let read = |index| {
            let projection = projections.get(index);
            // SAFETY: no two projections of a selection share a place in the output, and each is read only into its own.
            let axes = unsafe { axes.alias() };
            read(&projection, axes, projections.count)?;
            self.location.context.heard.tell(projection.elements.elements().len());
            Ok(())
        };
        self.checked(|| self.location.pool().run(projections.count, size, at_once, read))?;
        if let Some(elements) = copy {
            out.copy_from(&elements.view(), 1);
        }
        Ok(())
    }

    /// The number of chunks that may be decoded at a time, each of which takes memory for its stored bytes and its elements.
    pub(super) fn at_once(&self) -> usize {
        (self.location.context.memory / self.shared.unit.saturating_mul(2).max(1)).max(1)
    }

    /// The number of chunks that may be decoded at a time if all selected elements of a chunk are in memory as well, before they
    /// are converted.
    pub(super) fn at_once_whole(&self) -> usize {
        (self.location.context.memory / self.chain.chunk().size().saturating_mul(3).max(1)).max(1)
    }

    pub(super) fn read_chunk_part(
        &self,
        projection: &Projection,
        out: ViewMut<'_>,
        objects: usize,
    ) -> Result<()> {
        self.location.context.interrupt.check()?;
        let options = self.location.context.decode;
        let elements = &projection.elements;
        let part = ReadPart::new(elements.elements().clone(), elements.memory_mut(out), options);
        let key = self.key(&projection.chunk)?;
        let place = |error: Error| error.at(chunk_place(&projection.chunk, &key)).at(self.place());
        let chain = self.chain_of(&projection.chunk).map_err(place)?;
        self.read_object(&chain, &key, part, objects).map(drop).map_err(place)
    }
}

/// The number of elements of a result, if they fit into memory.
fn count(shape: &[usize], item: usize) -> Result<usize> {
    let size = shape.iter().try_fold(item, |size, &n| size.checked_mul(n));
    let size = size.filter(|&size| isize::try_from(size).is_ok()).ok_or_else(|| too_many("the elements"))?;
    Ok(size / item.max(1))
}

/// The name of a chunk for errors.
pub(super) fn chunk_place(chunk: &[u64], key: &Key) -> Place {
    Place::chunk(chunk, key)
}
