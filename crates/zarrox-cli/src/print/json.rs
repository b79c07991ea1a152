//! Elements as JSON, in the form of v3 metadata, except bytes and points in time, which are text.

use zarrox::data_type::{Field, Storage, VARIABLE_BYTES};
use zarrox::json::{Json, Map};
use zarrox::{DataType, FillValue, Registry, Result};

/// An element.
pub(crate) fn json(data_type: &DataType, element: &[u8], registry: &Registry) -> Result<Json> {
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

/// Returns true for types whose elements are printed as text.
fn is_text(data_type: &DataType) -> bool {
    matches!(data_type.storage(), Storage::Raw(_))
        || data_type.is_named(VARIABLE_BYTES)
        || data_type.is_named("numpy.datetime64")
}

fn field_json(field: &Field, element: &[u8], registry: &Registry) -> Result<Json> {
    let inside = super::elements(field, element).map(|element| json(&field.data_type, element, registry));
    let inside = inside.collect::<Result<Vec<_>>>()?;
    Ok(nested(&field.shape, &mut inside.into_iter()))
}

/// The items in nested lists of this shape.
pub(crate) fn nested(shape: &[usize], items: &mut impl Iterator<Item = Json>) -> Json {
    match shape.split_first() {
        None => items.next().unwrap_or_default(),
        Some((&length, inner)) => Json::Array((0..length).map(|_| nested(inner, items)).collect()),
    }
}
