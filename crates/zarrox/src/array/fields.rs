//! Reading and writing single fields of structured elements.

use std::sync::Arc;

use ndarray::{ArrayBase, ArrayD, Data, Dimension, IxDyn, RawData};
use zarrox_core::codec::FieldPlace;
use zarrox_core::data_type::Field;
use zarrox_core::selection::ResolvedSelection;
use zarrox_core::strided::{Dims, View, ViewMut};
use zarrox_core::{DataType, Element, Error, ErrorKind, Result};

use super::ndarrays::{contiguous_view, view_of, without_leading_ones};
use super::view::ArrayView;
use super::write::takes;
use super::{Array, DynArray};
use crate::error::argument;
use crate::memory::zeroed;
use crate::pool::too_many;

impl ArrayView<'_> {
    /// Reads one field of structured elements. A field that is an array adds its dimensions at the end. Dots lead into nested
    /// structures.
    ///
    /// ```
    /// # use zarrox::prelude::*;
    /// # let directory = tempfile::tempdir()?;
    /// let point = DataType::structure([("x", DataType::Float32), ("id", DataType::Int64)])?;
    /// let array = zarrox::create_array(directory.path().join("a.zarr")).shape([4]).data_type(point).create()?;
    /// array.slice(s![1..]).write_field("id", &ndarray::arr1(&[7_i64, 8, 9]))?;
    /// assert_eq!(array.vindex([3, 0]).read_field::<i64>("id")?, ndarray::arr1(&[9, 0]).into_dyn());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When there is no such field, or it has another type; and the errors of [`ArrayView::read`].
    pub fn read_field<T: Element>(&self, name: &str) -> Result<ArrayD<T>> {
        let field = self.array.field(name)?;
        if !T::holds(&field.data_type) {
            return Err(self.array.other_field(&field, &T::data_type()));
        }
        let resolved = self.resolved()?;
        let shape = Array::lengths(&resolved.shape())?;
        let all: Vec<usize> = shape.iter().chain(&field.shape).copied().collect();
        let count = all.iter().try_fold(1_usize, |count, &n| count.checked_mul(n));
        let count = if all.contains(&0) { Some(0) } else { count };
        let mut data = zeroed::<T>(count.ok_or_else(|| too_many("the elements"))?)?;
        let place = FieldPlace { source: field.offset, target: 0, size: field.size() };
        // A field that is an array is read as one element of so many bytes.
        let element = DataType::RawBits(field.size());
        let out = contiguous_view(&mut data, &shape, field.size());
        self.array.read_fields_into(&[place], resolved, &element, out)?;
        field.data_type.normalise(&mut contiguous_view(&mut data, &all, size_of::<T>()));
        ArrayD::from_shape_vec(IxDyn(&all), data).map_err(|error| argument(error.to_string()))
    }

    /// Reads one field without knowing its type at compile time.
    ///
    /// # Errors
    /// The errors of [`ArrayView::read_field`].
    pub fn read_field_dyn(&self, name: &str) -> Result<DynArray> {
        self.read_fields(&[name])?.field(name)
    }

    /// Reads several fields, in the given order, as structures of these fields.
    ///
    /// # Errors
    /// When there is no such field; and the errors of [`ArrayView::read`].
    pub fn read_fields(&self, names: &[&str]) -> Result<DynArray> {
        let structure = self.array.structure()?;
        let (chosen, fields) = structure.select(names).map_err(|error| error.at(self.array.place()))?;
        let resolved = self.resolved()?;
        let shape = Array::lengths(&resolved.shape())?;
        let places = fields.iter().zip(chosen.fields());
        let places: Dims<FieldPlace> = places
            .map(|(from, to)| FieldPlace { source: from.offset, target: to.offset, size: from.size() })
            .collect();
        let data_type = DataType::Struct(Arc::new(chosen));
        let mut elements = DynArray::empty(data_type.clone(), shape.to_vec())?;
        self.array.read_fields_into(&places, resolved, &data_type, elements.view_mut())?;
        data_type.normalise(&mut elements.view_mut());
        Ok(elements)
    }

    /// Writes one field of structured elements and leaves the others unchanged. Values are broadcast as in NumPy.
    ///
    /// # Errors
    /// When there is no such field, or it has another type; and the errors of [`ArrayView::write`].
    pub fn write_field<T, S, D>(&self, name: &str, values: &ArrayBase<S, D>) -> Result<()>
    where
        T: Element,
        S: Data + RawData<Elem = T>,
        D: Dimension,
    {
        let field = self.array.field(name)?;
        if !T::holds(&field.data_type) || !field.shape.is_empty() {
            return Err(self.array.other_field(&field, &T::data_type()));
        }
        let resolved = self.resolved()?;
        let shape = Array::lengths(&resolved.shape())?;
        let fitting = without_leading_ones(values, shape.len());
        let Some(values) = fitting.broadcast(shape.as_slice()) else {
            return Err(self.array.shape_mismatch(&shape, values.shape()));
        };
        self.array.write_whole_field(&field, resolved, view_of(&values))
    }

    /// Writes one field without knowing its type at compile time. The shape of the values is the selection's followed by the
    /// field's, or can be broadcast to it.
    ///
    /// # Errors
    /// The errors of [`ArrayView::write_field`].
    pub fn write_field_dyn(&self, name: &str, values: &DynArray) -> Result<()> {
        let field = self.array.field(name)?;
        if !takes(&field.data_type, values.data_type()) {
            return Err(self.array.other_field(&field, values.data_type()));
        }
        let resolved = self.resolved()?;
        let shape = Array::lengths(&resolved.shape())?;
        let Some(fitting) = values.broadcast(&shape, &field.shape) else {
            let wanted: Vec<usize> = shape.iter().chain(&field.shape).copied().collect();
            return Err(self.array.shape_mismatch(&wanted, values.shape()));
        };
        self.array.write_whole_field(&field, resolved, fitting)
    }

    /// Writes several fields and leaves the others unchanged. The values are structures, whose fields are written.
    ///
    /// ```
    /// # use zarrox::prelude::*;
    /// # let directory = tempfile::tempdir()?;
    /// # let point = [("x", DataType::Float32), ("y", DataType::Float32), ("id", DataType::Int64)];
    /// # let array = zarrox::create_array(directory.path().join("a.zarr"))
    /// #     .shape([4]).data_type(DataType::structure(point)?).create()?;
    /// let last = array.slice(s![2..]).read_fields(&["y", "x"])?;
    /// array.slice(s![..2]).write_fields(&last)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When there is no such field, or it has another type; and the errors of [`ArrayView::write`].
    pub fn write_fields(&self, values: &DynArray) -> Result<()> {
        let array = self.array;
        let given = values.data_type().fields().ok_or_else(|| argument("the values have no fields"))?;
        let places = given.fields().iter().map(|given| {
            let own = array.field(&given.name)?;
            if (&own.data_type, &own.shape) != (&given.data_type, &given.shape) {
                return Err(array.other_field(&own, &given.data_type));
            }
            Ok(FieldPlace { source: given.offset, target: own.offset, size: given.size() })
        });
        let places = places.collect::<Result<Dims<_>>>()?;
        let resolved = self.resolved()?;
        let shape = Array::lengths(&resolved.shape())?;
        let fitting = values.broadcast(&shape, &[]);
        let fitting = fitting.ok_or_else(|| array.shape_mismatch(&shape, values.shape()))?;
        array.write_resolved(resolved, values.data_type(), fitting, Some(&places))
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

    fn write_whole_field(&self, field: &Field, resolved: &ResolvedSelection, values: View<'_>) -> Result<()> {
        let place = FieldPlace { source: 0, target: field.offset, size: field.size() };
        self.write_resolved(resolved, &field.data_type, values, Some(&[place]))
    }

    /// The error for elements whose type or shape differs from that of a field.
    fn other_field(&self, field: &Field, given: &DataType) -> Error {
        let shape: String = field.shape.iter().map(|length| format!("[{length}]")).collect();
        let message = format!("the field '{}' is {}{shape}, not {given}", field.name, field.data_type);
        Error::new(ErrorKind::DataTypeMismatch, message).at(self.place())
    }

    fn field(&self, name: &str) -> Result<Field> {
        let structure = self.structure()?;
        structure.field(name).ok_or_else(|| structure.no_field(name).at(self.place()))
    }

    fn structure(&self) -> Result<&zarrox_core::data_type::Structure> {
        let message = || argument(format!("the elements are {}, which has no fields", self.data_type()));
        self.data_type().fields().ok_or_else(|| message().at(self.place()))
    }
}
