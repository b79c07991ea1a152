//! Reading: a selection is projected onto chunks, and the codec pipeline of each chunk requests the bytes that it needs.

use std::cell::Cell;

use zarrox_core::data_type::Storage;
use zarrox_core::internals::codec::ReadPart;
use zarrox_core::internals::elements::Source;
use zarrox_core::internals::error::ErrorPlace;
use zarrox_core::internals::selection::{Projection, Projections, ResolvedSelection, merged, ordered};
use zarrox_core::strided::{Dims, ViewMut};
use zarrox_core::{DataType, DynArray, Error, ErrorKind, Result};
use zarrox_stores::Key;

use super::Array;
use super::view::ArrayView;
use crate::error::argument;

impl ArrayView<'_> {
    /// Reads elements of any data type into memory that has the shape and the element size of the selection.
    ///
    /// # Errors
    /// The errors of [`ArrayView::read_into`], and an error for variable-length elements, which can be read into a [`DynArray`].
    #[doc(hidden)]
    pub fn read_raw(&self, out: ViewMut<'_>) -> Result<()> {
        let resolved = self.resolved_for_reading()?;
        self.check_raw(out.shape(), out.item())?;
        self.array.read_resolved(resolved, out)
    }

    /// Returns an error for memory whose shape or element size differs from that of the selection.
    pub(super) fn check_raw(&self, shape: &[usize], item: usize) -> Result<()> {
        let selected = Array::lengths(&self.resolved_for_reading()?.shape())?;
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
}

impl Array {
    /// Calls `work` with a source of elements of this shape and data type, which calls `read` to obtain the elements. The
    /// location of the array is added to errors that do not come from `read`.
    pub(super) fn with_source<R>(
        &self,
        shape: Dims<usize>,
        data_type: &DataType,
        work: impl FnOnce(&Source<'_>) -> Result<R>,
        read: &dyn Fn(ViewMut<'_>) -> Result<()>,
    ) -> Result<R> {
        let has_failed = Cell::new(false);
        let read = |out: ViewMut<'_>| {
            let done = read(out);
            has_failed.set(done.is_err());
            done
        };
        let result = work(&Source { shape, data_type, read: &read, memory: None });
        result.map_err(|error| if has_failed.get() { error } else { error.at(self.place()) })
    }

    pub(super) fn read_resolved(&self, resolved: &ResolvedSelection, mut out: ViewMut<'_>) -> Result<()> {
        let (own, at_once) = (self.data_type(), self.at_once());
        let result =
            self.read_projections(resolved, own, out.reborrow(), at_once, |projection, out, objects| {
                self.read_chunk_part(projection, out, objects)
            });
        // Booleans are normalised even after an error, since the memory may belong to the caller.
        self.data_type().normalise(&mut out);
        result
    }

    /// Calls `read` for each chunk of the selection, with the output and the number of chunks. At most `at_once` calls run at the
    /// same time. The output has one axis for each axis of the selection, and elements of `data_type`; each call writes only the
    /// elements of its own chunk.
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
            // The caller's memory is not contiguous across the dimensions that form one axis of the selection.
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
            // SAFETY: no two projections of a selection share an element of the output, and each is read only into its own
            // elements.
            let axes = unsafe { axes.alias() };
            read(&projection, axes, projections.count)?;
            self.location.context.chunk_listener.call(projection.elements.elements().len());
            Ok(())
        };
        let pool = self.location.pool();
        if self.is_confirmed_by_a_request() {
            // The document is requested with the chunks. No element is returned before it has been compared.
            let task = |index: usize| index.checked_sub(1).map_or_else(|| self.begin(), read);
            self.checked_after(|| pool.run(projections.count.saturating_add(1), size, at_once, task))?;
        } else {
            self.checked(|| pool.run(projections.count, size, at_once, read))?;
        }
        if let Some(elements) = copy {
            out.copy_from(&elements.view(), 1);
        }
        Ok(())
    }

    /// Returns the number of chunks that may be decoded at the same time. Each takes memory for its stored bytes and its
    /// elements.
    pub(super) fn at_once(&self) -> usize {
        (self.location.context.memory / self.shared.unit.saturating_mul(2).max(1)).max(1)
    }

    /// Returns the number of chunks that may be decoded at the same time if all selected elements of each chunk are held in
    /// memory as well, before they are converted.
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
        let key = self.unconfirmed_key(&projection.chunk)?;
        let place = |error: Error| error.at(chunk_place(&projection.chunk, &key)).at(self.place());
        let chain = self.chain_of(&projection.chunk).map_err(place)?;
        self.read_object(&chain, &key, part, objects).map(drop).map_err(place)
    }
}

/// Returns the location of a chunk, as it is named in errors.
pub(super) fn chunk_place(chunk: &[u64], key: &Key) -> ErrorPlace {
    ErrorPlace::chunk(chunk, key)
}
