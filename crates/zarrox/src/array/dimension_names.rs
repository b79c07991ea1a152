//! Dimension names in formats whose metadata does not define any: xarray's attribute.

use zarrox_core::ArrayMetadata;

/// The attribute in which xarray stores the dimension names, in formats whose metadata does not define any.
pub const ARRAY_DIMENSIONS: &str = "_ARRAY_DIMENSIONS";

/// Returns the names of all dimensions, if xarray's attribute contains them.
pub fn attribute_names(array: &ArrayMetadata) -> Option<Vec<Option<String>>> {
    let names = array.attributes.get(ARRAY_DIMENSIONS)?.as_array()?;
    let names: Vec<Option<String>> = names.iter().map(|name| name.as_str().map(str::to_owned)).collect();
    (names.len() == array.shape.len() && names.iter().all(Option::is_some)).then_some(names)
}
