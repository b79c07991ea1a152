//! Elements as JSON in the form of v3 metadata, except that bytes and timestamps are strings.

use crate::data_type::VARIABLE_BYTES;
use crate::data_type::{Field, Storage};
use crate::json::{Json, Map};
use crate::{DataType, FillValue, Registry, Result};

use super::DynArray;

impl DynArray {
    /// Returns the elements as JSON, the inverse of [`DynArray::from_json`]: nested lists in the form of fill values, or one
    /// element. Structured elements become objects; bytes and timestamps become strings.
    ///
    /// ```
    /// use zarrox_core::{DataType, DynArray, Registry};
    /// let registry = Registry::new();
    /// let values = DynArray::from_values(DataType::Float32, &ndarray::arr1(&[1.5, f32::NAN]))?;
    /// assert_eq!(values.to_json(&registry)?.to_string(), r#"[1.5,"NaN"]"#);
    /// # Ok::<(), zarrox_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the data type is unknown.
    pub fn to_json(&self, registry: &Registry) -> Result<Json> {
        let elements =
            self.elements().map(|element| Self::element_to_json(&self.data_type, element, registry));
        let elements = elements.collect::<Result<Vec<_>>>()?;
        Ok(nested(&self.shape, &mut elements.into_iter()))
    }

    /// Returns one element of a data type as JSON.
    ///
    /// # Errors
    /// When the data type is unknown.
    #[doc(hidden)]
    pub fn element_to_json(data_type: &DataType, element: &[u8], registry: &Registry) -> Result<Json> {
        if let Some(structure) = data_type.fields() {
            let field = |field: &Field| Ok((field.name.clone(), field_json(field, element, registry)?));
            return Ok(Json::Object(structure.fields().iter().map(field).collect::<Result<Map>>()?));
        }
        let family = registry.family(data_type)?;
        Ok(if is_text(data_type) {
            Json::String(family.format(data_type, element))
        } else {
            family.fill_to_v3(data_type, &FillValue::new(element))
        })
    }
}

/// Returns true for types whose elements become strings.
fn is_text(data_type: &DataType) -> bool {
    matches!(data_type.storage(), Storage::Raw(_))
        || data_type.is_named(VARIABLE_BYTES)
        || data_type.is_named("numpy.datetime64")
}

fn field_json(field: &Field, element: &[u8], registry: &Registry) -> Result<Json> {
    let bytes = element.get(field.offset..).and_then(|rest| rest.get(..field.size())).unwrap_or_default();
    let inside = bytes.chunks_exact(field.data_type.size().max(1));
    let inside = inside.map(|element| DynArray::element_to_json(&field.data_type, element, registry));
    let inside = inside.collect::<Result<Vec<_>>>()?;
    Ok(nested(&field.shape, &mut inside.into_iter()))
}

/// Returns the items in nested lists of this shape.
fn nested(shape: &[usize], items: &mut impl Iterator<Item = Json>) -> Json {
    match shape.split_first() {
        None => items.next().unwrap_or_default(),
        Some((&length, inner)) => Json::Array((0..length).map(|_| nested(inner, items)).collect()),
    }
}
