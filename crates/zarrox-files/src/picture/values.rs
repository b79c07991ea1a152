//! Converts elements to numbers, and determines missing-value markers.

use zarrox::data_type::{Casting, Storage};
use zarrox::{Array, DataType, DynArray, Error, ErrorKind, Registry, Result};

/// Converts numbers to floats. Complex numbers are converted to their magnitudes.
///
/// # Errors
/// [`ErrorKind::Unsupported`] if the elements are not numbers.
pub fn floats(values: &DynArray, registry: &Registry) -> Result<Vec<f64>> {
    let double = |item: &[u8]| f64::from_ne_bytes(item.try_into().unwrap_or_default());
    if let Storage::Complex(_) = values.data_type().storage() {
        let wide = values.cast(&DataType::Complex128, Casting::Lossy, registry)?;
        let parts = wide.as_bytes().chunks_exact(16).map(|item| double(&item[..8]).hypot(double(&item[8..])));
        return Ok(parts.collect());
    }
    let wide = values.cast(&DataType::Float64, Casting::Lossy, registry).map_err(|_| {
        Error::new(ErrorKind::Unsupported, format!("elements of {} are not numbers", values.data_type()))
    })?;
    Ok(wide.as_bytes().chunks_exact(8).map(double).collect())
}

/// Returns the missing-value markers of an array or one of its fields: the values of the attributes `_FillValue` and
/// `missing_value`, and the fill value if it is not 0.
pub fn missing_values(array: &Array, field: Option<&str>, registry: &Registry) -> Vec<f64> {
    let named =
        ["_FillValue", "missing_value"].iter().filter_map(|name| number(array.attributes().get(name)?));
    let fill = array.fill_bytes();
    let fill = DynArray::from_elements(array.data_type().clone(), vec![], [fill.as_bytes()]).ok();
    let fill = fill.and_then(|fill| match field {
        Some(name) => fill.field(name).ok(),
        None => Some(fill),
    });
    let fill = fill.and_then(|fill| fill.cast(&DataType::Float64, Casting::Lossy, registry).ok());
    let fill = fill.and_then(|fill| fill.to::<Vec<f64>>().ok()?.first().copied());
    named.chain(fill.filter(|&value| value != 0.0)).collect()
}

/// Returns the number in an attribute, which may be a float as encoded by xarray.
fn number(value: &zarrox::json::Json) -> Option<f64> {
    let number = match value.as_str() {
        Some(text) => crate::fill::decode(text)?.as_f64(),
        None => value.as_f64(),
    };
    number.filter(|number| number.is_finite())
}
