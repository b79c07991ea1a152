//! Views of individual fields of structured elements.

use std::sync::Arc;

use zarrox_core::data_type::{Field, Structure};
use zarrox_core::internals::codec::FieldPlace;
use zarrox_core::{DataType, Result};

use super::fields::Fields;
use super::view::ArrayView;
use crate::error::argument;

impl ArrayView<'_> {
    /// Selects one field of structured elements, which is then read and written without the other fields. The dimensions of an
    /// array field are appended to those of the selection. The names of nested fields are separated by dots. An unknown field is
    /// reported when the view is read or written.
    ///
    /// ```
    /// # use zarrox::{prelude::*, s};
    /// # let directory = tempfile::tempdir()?;
    /// let point = DataType::structure([("x", DataType::Float32), ("id", DataType::Int64)])?;
    /// let array = zarrox::create_array(directory.path().join("a.zarr")).shape([4]).data_type(point).create()?;
    /// array.field("id").slice(s![1..]).write([7_i64, 8, 9])?;
    /// assert_eq!(array.vindex([3, 0]).field("id").read::<Vec<i64>>()?, [9, 0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn field(&self, name: &str) -> Self {
        let structure = self.structure();
        let found = structure.and_then(|own| own.field(name).ok_or_else(|| own.no_field(name)));
        self.with_fields(found.map(|field| {
            let place = FieldPlace { source: field.offset, target: 0, size: field.size() };
            Fields { data_type: field.data_type, inner: field.shape, places: [place].into_iter().collect() }
        }))
    }

    /// Selects several fields of structured elements, in the given order; the elements of the view are structures of these
    /// fields. Writing leaves the other fields unchanged.
    ///
    /// ```
    /// # use zarrox::{prelude::*, s};
    /// # let directory = tempfile::tempdir()?;
    /// # let point = [("x", DataType::Float32), ("y", DataType::Float32), ("id", DataType::Int64)];
    /// # let array = zarrox::create_array(directory.path().join("a.zarr"))
    /// #     .shape([4]).data_type(DataType::structure(point)?).create()?;
    /// let places = array.slice(..).fields(&["y", "x"]);
    /// let last: DynArray = places.slice(s![2..]).read()?;
    /// places.slice(s![..2]).write(&last)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn fields(&self, names: &[&str]) -> Self {
        let chosen = self.structure().and_then(|structure| structure.select(names));
        self.with_fields(chosen.map(|(chosen, fields)| {
            let place = |(from, to): (&Field, &Field)| FieldPlace {
                source: from.offset,
                target: to.offset,
                size: from.size(),
            };
            let places = fields.iter().zip(chosen.fields()).map(place).collect();
            Fields { data_type: DataType::Struct(Arc::new(chosen)), inner: Vec::new(), places }
        }))
    }

    /// Returns the structured data type of the view's elements.
    fn structure(&self) -> Result<&Structure> {
        let data_type = self.data_type();
        let is_whole = self.inner().is_empty();
        data_type
            .fields()
            .filter(|_| is_whole)
            .ok_or_else(|| argument(format!("the elements are {data_type}, which has no fields")))
    }

    fn with_fields(&self, fields: Result<Fields>) -> Self {
        let (resolved, fields) = match fields {
            Ok(fields) => (self.resolved.clone(), Some(Arc::new(self.in_whole_elements(fields)))),
            Err(error) => (self.resolved.clone().and(Err(error)), None),
        };
        Self { array: self.array, resolved, fields }
    }

    /// Converts the offsets of fields, which are relative to the fields that this view selects, to offsets within whole elements.
    fn in_whole_elements(&self, mut fields: Fields) -> Fields {
        let Some(own) = &self.fields else { return fields };
        let start = |offset: usize| {
            let inside = |place: &&FieldPlace| (place.target..place.target + place.size).contains(&offset);
            own.places.iter().find(inside).map_or(offset, |place| place.source + offset - place.target)
        };
        fields.places.iter_mut().for_each(|place| place.source = start(place.source));
        fields
    }
}
