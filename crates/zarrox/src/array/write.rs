//! Writing: a selection is projected onto chunks, as for reading, and each part is merged into its stored object.

use zarrox_core::codec::EncodeOptions;
use zarrox_core::internals::codec::{Encoded, FieldPlace, Update, WritePart};
use zarrox_core::internals::scratch::with_vec;
use zarrox_core::internals::selection::{Projection, Projections, ResolvedSelection, merged, ordered};
use zarrox_core::strided::{Dims, Span, View};
use zarrox_core::{CodecChain, DataType, DynArray, Error, ErrorKind, Result};
use zarrox_stores::{Condition, Key, StoreExt};

use super::Array;
use super::read::chunk_place;
use super::view::ArrayView;
use crate::error::argument;
use crate::guarded::{LockedValue, until_unchanged};

impl ArrayView<'_> {
    /// Writes elements of any data type from memory that has the shape and the element size of the selection.
    ///
    /// # Errors
    /// The errors of [`ArrayView::write`], and an error for variable-length elements, which [`write`](ArrayView::write) supports.
    #[doc(hidden)]
    pub fn write_raw(&self, values: View<'_>) -> Result<()> {
        let resolved = self.resolved()?;
        self.check_raw(values.shape(), values.item())?;
        self.array.write_resolved(resolved, self.data_type(), values, None)
    }
}

impl Array {
    pub(super) fn shape_mismatch(&self, selected: &[usize], given: &[usize]) -> Error {
        let message =
            format!("values of shape {given:?} cannot be written to a selection of shape {selected:?}");
        argument(message).at(self.place())
    }

    /// Writes values of `data_type`, which are whole elements or the given fields of elements.
    pub(super) fn write_resolved(
        &self,
        resolved: &ResolvedSelection,
        data_type: &DataType,
        values: View<'_>,
        fields: Option<&[FieldPlace]>,
    ) -> Result<()> {
        self.check_writable()?;
        if resolved.is_empty() {
            return Ok(());
        }
        data_type.check_range(&values).map_err(|error| error.at(self.place()))?;
        let values = ordered(resolved, values);
        let copy;
        let values = match merged(resolved, values.clone()) {
            Some(values) => values,
            // The caller's memory is not contiguous across the dimensions that form one axis of the selection.
            None => {
                let mut elements = DynArray::empty(data_type.clone(), values.shape().to_vec())?;
                elements.view_mut().copy_from(&values, 1);
                copy = elements;
                merged(resolved, copy.view()).ok_or_else(|| argument("the memory of the values has gaps"))?
            }
        };
        let projections = Projections::new(&self.metadata.chunk_grid, resolved)?;
        let size = self.chain.chunk().size();
        let write = |index| {
            let Projection { chunk, elements } = projections.get(index);
            let count = elements.elements().len();
            let source = elements.memory(&values);
            let part = WritePart::new(elements.into_elements(), source);
            let part = match fields {
                Some(fields) => part.with_fields(fields),
                None => part,
            };
            let all = part.region().is_some_and(|region| self.covers(&chunk, region));
            self.write_chunk_part(&chunk, &part, all)?;
            self.location.context.chunk_listener.call(count);
            Ok(())
        };
        self.writing(|| self.location.pool().run(projections.count, size, self.at_once_written(), write))
    }

    /// Returns the number of chunks that may be written at the same time. Each takes memory for the old stored bytes, the
    /// elements, and the new stored bytes.
    pub(super) fn at_once_written(&self) -> usize {
        (self.location.context.memory / self.chain.chunk().size().saturating_mul(3).max(1)).max(1)
    }

    pub(super) fn check_writable(&self) -> Result<()> {
        if let Some(why) = self.unreadable() {
            return Err(Error::new(ErrorKind::Unsupported, why).at(self.place()));
        }
        if self.location.store.capabilities().writable {
            return Ok(());
        }
        Err(Error::new(ErrorKind::ReadOnly, "it was opened for reading only").at(self.place()))
    }

    /// Returns true if a region contains every element of its chunk that lies inside the array.
    fn covers(&self, chunk: &[u64], region: &[Span]) -> bool {
        let covers = |(dim, region): (usize, &Span)| {
            let place = self.metadata.chunk_grid.chunk_place(dim, chunk[dim]);
            let (start, length) = place.unwrap_or((u64::MAX, 0));
            let inside = self.shape()[dim].saturating_sub(start).min(length);
            usize::try_from(inside).is_ok_and(|inside| region.covers(inside))
        };
        region.iter().enumerate().all(covers)
    }

    /// Writes a part of a chunk; `all` is true if the part contains every element of the chunk that is inside the array.
    ///
    /// The chunk is locked before it is read for merging, and unlocked after the new chunk is stored. No work done under the lock
    /// waits for other threads. Elements outside the array are kept as well, since another handle may be appending there, or may
    /// already have done so.
    pub(super) fn write_chunk_part(&self, chunk: &[u64], part: &WritePart<'_>, all: bool) -> Result<()> {
        self.location.context.interrupt.check()?;
        let key = self.key(chunk)?;
        let options = self.encode_options();
        let write = || {
            let chain = self.chain_of(chunk)?;
            with_vec(|encoded| {
                if part.covers(chain.chunk().shape()) {
                    let chunk = chain.encoded(part.source(), options, encoded)?;
                    return self.location.overwrite(&key, || self.store_chunk(&key, &chunk));
                }
                until_unchanged(|| {
                    encoded.clear();
                    let old = self.location.locked_value(&key, chain.limit() as u64)?;
                    self.merge_chunk(&chain, &old, part, all, encoded)
                })
            })
        };
        write().map_err(|error| error.at(chunk_place(chunk, &key)).at(self.place()))
    }

    /// Merges a part into the stored chunk. The chunk is replaced only if it has not changed since it was read.
    pub(super) fn merge_chunk(
        &self,
        chain: &CodecChain,
        old: &LockedValue,
        part: &WritePart<'_>,
        all: bool,
        encoded: &mut Vec<u8>,
    ) -> Result<()> {
        let existing = old.bytes().map(|bytes| &**bytes);
        let mut options = self.encode_options();
        options.store_empty_chunks |= existing.is_some() && self.location.cannot_erase_unchanged();
        let update = match chain.update(existing, part, options, encoded) {
            // When a damaged chunk is replaced as a whole, no elements of the array are lost.
            Err(error) if all && error.kind() == ErrorKind::Corrupt => {
                encoded.clear();
                chain.update(None, part, options, encoded)?
            }
            result => result?,
        };
        match update {
            Update::Unchanged => Ok(()),
            Update::Empty => old.erase(&self.location),
            Update::Encoded => old.replace(&self.location, encoded),
        }
    }

    /// Returns the options for encoding chunks. If the fill value is undefined, every chunk is stored, since other programs may
    /// read a missing chunk as another value.
    pub(super) fn encode_options(&self) -> EncodeOptions {
        let asked = self.location.context.encode;
        EncodeOptions { store_empty_chunks: asked.store_empty_chunks || self.metadata.fill_value.is_none() }
    }

    /// Stores an encoded chunk, or erases it.
    pub(super) fn store_chunk(&self, key: &Key, encoded: &Encoded<'_>) -> Result<()> {
        let store = &self.location.store;
        let stored = match encoded {
            Encoded::Nothing => store.erase(key).map(drop),
            Encoded::Bytes(bytes) => store.set(key, bytes, Condition::Always),
            Encoded::Blocks(blocks) => {
                store.set_parts(key, blocks.length(), &|write| blocks.each(&mut *write), Condition::Always)
            }
        };
        stored.map_err(Error::from)
    }

    /// Stores a chunk that was encoded without reading the stored chunk.
    pub(super) fn store_update(&self, key: &Key, update: Update, encoded: &[u8]) -> Result<()> {
        match update {
            Update::Encoded => self.store_chunk(key, &Encoded::Bytes(encoded)),
            Update::Empty | Update::Unchanged => self.store_chunk(key, &Encoded::Nothing),
        }
    }

    /// Sets a region of a chunk to the fill value. The elements of a missing chunk already have this value.
    pub(super) fn clear_chunk_region(&self, chunk: &[u64], region: Dims<Span>) -> Result<()> {
        let shape: Dims<usize> = region.iter().map(|span| span.count).collect();
        let fill = DynArray::from_elements(
            self.data_type().clone(),
            vec![],
            [self.chain.chunk().fill().as_bytes()],
        )?;
        self.write_chunk_part(chunk, &WritePart::of_region(region, fill.view().broadcast_to(&shape)), false)
    }
}
