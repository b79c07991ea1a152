//! Single fields of structured elements.

use zarrox_core::internals::codec::FieldPlace;
use zarrox_core::internals::selection::ResolvedSelection;
use zarrox_core::strided::{Dims, ViewMut};
use zarrox_core::{DataType, DynArray, Result};

use super::Array;

/// Selected fields of structured elements.
#[derive(Debug)]
pub(super) struct Fields {
    /// The type of the field, or the structure of the fields.
    pub(super) data_type: DataType,
    /// The dimensions of a field that is an array.
    pub(super) inner: Vec<usize>,
    /// Where the fields lie in the array's elements, and in elements of these fields alone.
    pub(super) places: Dims<FieldPlace>,
}

impl Fields {
    /// The places for writing, which go from elements of the fields into whole elements.
    pub(super) fn places_written(&self) -> Dims<FieldPlace> {
        let back = |&FieldPlace { source, target, size }: &FieldPlace| FieldPlace {
            source: target,
            target: source,
            size,
        };
        self.places.iter().map(back).collect()
    }

    /// Reads the fields into memory whose last dimensions are those of the field.
    pub(super) fn read(
        &self,
        array: &Array,
        resolved: &ResolvedSelection,
        mut out: ViewMut<'_>,
    ) -> Result<()> {
        if self.inner.is_empty() {
            let read = array.read_fields_into(&self.places, resolved, &self.data_type, out.reborrow());
            // This is done even after an error, since the memory may be the caller's own booleans.
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
        // A field that is an array is read as one element of so many bytes.
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
    /// Reads parts of elements into their places in elements of `data_type`.
    fn read_fields_into(
        &self,
        places: &[FieldPlace],
        resolved: &ResolvedSelection,
        data_type: &DataType,
        out: ViewMut<'_>,
    ) -> Result<()> {
        let at_once = self.at_once_whole();
        self.read_projections(resolved, data_type, out, at_once, |projection, mut out, objects| {
            // Whole elements of this chunk alone, so that only memory for the result and for a chunk of each thread is needed.
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
