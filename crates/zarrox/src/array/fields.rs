//! Individual fields of structured elements.

use zarrox_core::internals::codec::FieldPlace;
use zarrox_core::internals::selection::ResolvedSelection;
use zarrox_core::strided::{Dims, ViewMut};
use zarrox_core::{DataType, DynArray, Result};

use super::Array;

/// A selection of fields of structured elements.
#[derive(Debug)]
pub(super) struct Fields {
    /// The data type of a single field, or the structure of several fields.
    pub(super) data_type: DataType,
    /// The shape of an array field.
    pub(super) inner: Vec<usize>,
    /// The offsets of the fields, both in the array's elements and in elements that consist of only these fields.
    pub(super) places: Dims<FieldPlace>,
}

impl Fields {
    /// Returns the offsets for writing, which copies the fields into whole elements.
    pub(super) fn places_written(&self) -> Dims<FieldPlace> {
        let back = |&FieldPlace { source, target, size }: &FieldPlace| FieldPlace {
            source: target,
            target: source,
            size,
        };
        self.places.iter().map(back).collect()
    }

    /// Reads the fields into memory whose last dimensions are those of the array field.
    pub(super) fn read(
        &self,
        array: &Array,
        resolved: &ResolvedSelection,
        mut out: ViewMut<'_>,
    ) -> Result<()> {
        if self.inner.is_empty() {
            let read = array.read_fields_into(&self.places, resolved, &self.data_type, out.reborrow());
            // Booleans are normalised even after an error, since the memory may belong to the caller.
            self.data_type.normalise(&mut out);
            return read;
        }
        let shape: Dims<usize> = out.shape().into();
        let memory = match out.into_slice() {
            Ok(memory) => memory,
            Err(mut scattered) => {
                let mut elements = DynArray::empty(self.data_type.clone(), shape.to_vec())?;
                self.read(array, resolved, elements.view_mut())?;
                scattered.copy_from(&elements.view(), 1);
                return Ok(());
            }
        };
        // An array field is read as a single element that comprises all of its bytes.
        let size = self.inner.iter().product::<usize>() * self.data_type.size();
        let outer = &shape[..shape.len() - self.inner.len()];
        let element = DataType::RawBits(size);
        let whole = ViewMut::contiguous(memory, outer, size);
        let read = array.read_fields_into(&self.places, resolved, &element, whole);
        self.data_type.normalise(&mut ViewMut::contiguous(memory, &shape, self.data_type.size()));
        read
    }
}

impl Array {
    /// Reads fields of the array's elements into elements of `data_type`.
    fn read_fields_into(
        &self,
        places: &[FieldPlace],
        resolved: &ResolvedSelection,
        data_type: &DataType,
        out: ViewMut<'_>,
    ) -> Result<()> {
        let at_once = self.at_once_whole();
        self.read_projections(resolved, data_type, out, at_once, |projection, mut out, objects| {
            // Whole elements are read for one chunk at a time, so memory is needed only for the result and for one chunk per
            // thread.
            let (part, back) = projection.compact();
            let mut whole = DynArray::empty(self.data_type().clone(), back.shape())?;
            self.read_chunk_part(&part, whole.view_mut(), objects)?;
            for place in places {
                let source = whole.view().field(place.source, place.size);
                back.gather(&source, out.reborrow().into_field(place.target, place.size));
            }
            Ok(())
        })
    }
}
