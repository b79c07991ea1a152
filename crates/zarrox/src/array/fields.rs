//! Reading and writing some fields of structured elements.

use std::sync::Arc;

use ndarray::{ArrayBase, ArrayD, Data, Dimension, IxDyn, RawData};
use zarrox_core::codec::{FieldPlace, WritePart};
use zarrox_core::data_type::Field;
use zarrox_core::indexing::Resolved;
use zarrox_core::strided::{Dims, View, ViewMut};
use zarrox_core::{DataType, Element, Error, ErrorKind, IntoSelection, Result, Selection};

use super::projection::Projections;
use super::read::contiguous_view;
use super::write::{ascending, takes, view_of};
use super::{Array, DynArray};
use crate::error::argument;
use crate::memory::zeroed;
use crate::pool::too_many;

impl Array {
    /// Reads one field of structured elements. A field that is an array adds its dimensions at the end; dots lead into nested
    /// structures.
    ///
    /// ```
    /// # use zarrox::prelude::*;
    /// # let directory = tempfile::tempdir()?;
    /// let point = DataType::structure([("x", DataType::Float32), ("id", DataType::Int64)])?;
    /// let array = zarrox::create_array(directory.path().join("a.zarr")).shape([4]).data_type(point).create()?;
    /// array.write_field("id", s![1..], &ndarray::arr1(&[7_i64, 8, 9]))?;
    /// assert_eq!(array.read_field::<i64>("id", ..)?, ndarray::arr1(&[0, 7, 8, 9]).into_dyn());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When there is no such field, or it is not of this type; and as for [`Array::read`].
    pub fn read_field<T: Element>(&self, name: &str, selection: impl IntoSelection) -> Result<ArrayD<T>> {
        let field = self.field(name)?;
        if !T::holds(&field.data_type) {
            return Err(self.other_field(&field, &T::data_type()));
        }
        let resolved = self.resolve(selection)?;
        let shape = Self::lengths(&resolved.shape())?;
        let all: Vec<usize> = shape.iter().chain(&field.shape).copied().collect();
        let count = all.iter().try_fold(1_usize, |count, &n| count.checked_mul(n));
        let count = if all.contains(&0) { Some(0) } else { count };
        let mut data = zeroed::<T>(count.ok_or_else(|| too_many("the elements"))?)?;
        let place = FieldPlace { source: field.offset, target: 0, size: field.size() };
        self.read_places(&[place], &resolved, contiguous_view(&mut data, &shape, field.size()))?;
        field.data_type.normalise(&mut contiguous_view(&mut data, &all, size_of::<T>()));
        ArrayD::from_shape_vec(IxDyn(&all), data).map_err(|error| argument(error.to_string()))
    }

    /// Reads one field without knowing its type at compile time.
    ///
    /// # Errors
    /// As for [`Array::read_field`].
    pub fn read_field_dyn(&self, name: &str, selection: impl IntoSelection) -> Result<DynArray> {
        self.read_fields(&[name], selection)?.field(name)
    }

    /// Reads some fields, in the order given, as elements of a structure of just these.
    ///
    /// # Errors
    /// When there is no such field; and as for [`Array::read`].
    pub fn read_fields(&self, names: &[&str], selection: impl IntoSelection) -> Result<DynArray> {
        let structure = self.structure()?;
        let (chosen, fields) = structure.select(names).map_err(|error| error.at(self.place()))?;
        let resolved = self.resolve(selection)?;
        let shape = Self::lengths(&resolved.shape())?;
        let places = fields.iter().zip(chosen.fields());
        let places: Dims<FieldPlace> = places
            .map(|(from, to)| FieldPlace { source: from.offset, target: to.offset, size: from.size() })
            .collect();
        let data_type = DataType::Struct(Arc::new(chosen));
        let mut array = DynArray::empty(data_type.clone(), shape.to_vec())?;
        self.read_places(&places, &resolved, array.view_mut())?;
        data_type.normalise(&mut array.view_mut());
        Ok(array)
    }

    /// Reads parts of elements into the places that they have in other ones.
    fn read_places(&self, places: &[FieldPlace], resolved: &Resolved, out: ViewMut<'_>) -> Result<()> {
        self.read_projections(resolved, out, |projection, mut out, objects| {
            let shape = projection.region.iter().map(|span| span.count).collect();
            // Whole elements of this chunk alone, so that no more memory is taken than the result and a chunk for each thread.
            let mut whole = DynArray::empty(self.data_type().clone(), shape)?;
            self.read_chunk_part(projection, whole.view_mut(), objects)?;
            for place in places {
                let source = whole.view().field(place.source, place.size);
                out.reborrow().into_field(place.target, place.size).copy_from(&source, 1);
            }
            Ok(())
        })
    }

    /// Writes one field of structured elements and leaves the others as they are. Values of fewer elements than the selection has
    /// are broadcast as in NumPy.
    ///
    /// # Errors
    /// When there is no such field, or it is not of this type; and as for [`Array::write`].
    pub fn write_field<T, S, D>(
        &self,
        name: &str,
        selection: impl IntoSelection,
        values: &ArrayBase<S, D>,
    ) -> Result<()>
    where
        T: Element,
        S: Data + RawData<Elem = T>,
        D: Dimension,
    {
        let field = self.field(name)?;
        if !T::holds(&field.data_type) || !field.shape.is_empty() {
            return Err(self.other_field(&field, &T::data_type()));
        }
        let selection = selection.into_selection();
        let shape = Self::lengths(&self.resolve(&selection)?.shape())?;
        let values = values.view().into_dyn();
        let Some(values) = values.broadcast(shape.as_slice()) else {
            return Err(self.shape_mismatch(&shape, values.shape()));
        };
        self.write_field_view(&field, &selection, view_of(&values))
    }

    /// Writes one field without knowing its type at compile time. The shape must be the selection's, and then the field's.
    ///
    /// # Errors
    /// As for [`Array::write_field`].
    pub fn write_field_dyn(
        &self,
        name: &str,
        selection: impl IntoSelection,
        values: &DynArray,
    ) -> Result<()> {
        let field = self.field(name)?;
        if !takes(&field.data_type, values.data_type()) {
            return Err(self.other_field(&field, values.data_type()));
        }
        let selection = selection.into_selection();
        let shape = Self::lengths(&self.resolve(&selection)?.shape())?;
        let wanted: Vec<usize> = shape.iter().chain(&field.shape).copied().collect();
        if values.shape() != wanted {
            return Err(self.shape_mismatch(&wanted, values.shape()));
        }
        let elements = View::contiguous(values.as_bytes(), &shape, field.size());
        self.write_field_view(&field, &selection, elements)
    }

    /// Writes some fields at once, and leaves the others as they are: those that the values, structures themselves, have.
    ///
    /// ```
    /// # use zarrox::prelude::*;
    /// # let directory = tempfile::tempdir()?;
    /// # let point = [("x", DataType::Float32), ("y", DataType::Float32), ("id", DataType::Int64)];
    /// # let array = zarrox::create_array(directory.path().join("a.zarr"))
    /// #     .shape([4]).data_type(DataType::structure(point)?).create()?;
    /// let last = array.read_fields(&["y", "x"], s![2..])?;
    /// array.write_fields(s![..2], &last)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When there is no such field, or it is of another type; and as for [`Array::write`].
    pub fn write_fields(&self, selection: impl IntoSelection, values: &DynArray) -> Result<()> {
        let given = values.data_type().fields().ok_or_else(|| argument("the values have no fields"))?;
        let places = given.fields().iter().map(|given| {
            let own = self.field(&given.name)?;
            if (&own.data_type, &own.shape) != (&given.data_type, &given.shape) {
                return Err(self.other_field(&own, &given.data_type));
            }
            Ok(FieldPlace { source: given.offset, target: own.offset, size: given.size() })
        });
        let places = places.collect::<Result<Dims<_>>>()?;
        let selection = selection.into_selection();
        let shape = Self::lengths(&self.resolve(&selection)?.shape())?;
        if values.shape() != shape.as_slice() {
            return Err(self.shape_mismatch(&shape, values.shape()));
        }
        self.write_places(&places, values.data_type(), &selection, values.view())
    }

    fn write_field_view(&self, field: &Field, selection: &Selection, values: View<'_>) -> Result<()> {
        let place = FieldPlace { source: 0, target: field.offset, size: field.size() };
        self.write_places(&[place], &field.data_type, selection, values)
    }

    fn write_places(
        &self,
        places: &[FieldPlace],
        data_type: &DataType,
        selection: &Selection,
        values: View<'_>,
    ) -> Result<()> {
        self.check_writable()?;
        let resolved = self.resolve(selection)?;
        if resolved.is_empty() {
            return Ok(());
        }
        data_type.check_range(&values).map_err(|error| error.at(self.place()))?;
        let values = ascending(&resolved, values);
        let projections = Projections::new(self, &resolved)?;
        self.location.context.pool.run(projections.count, self.chain.chunk().size(), |index| {
            let projection = projections.get(index);
            let source = values.region(&projection.out);
            let part = WritePart { region: projection.region.clone(), source, fields: Some(places.into()) };
            self.write_chunk_part(&projection.chunk, &part, false)
        })
    }

    /// The error for elements of another type, or shape, than a field has.
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
