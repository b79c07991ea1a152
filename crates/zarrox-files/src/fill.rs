//! The attribute `_FillValue` in the form in which xarray reads it from Zarr.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use zarrox::DataType;
use zarrox::json::{Json, Map};

/// The attribute for missing values in NetCDF.
const FILL_VALUE: &str = "_FillValue";

/// Encodes the attribute for missing values: floats, and text of a fixed length, are base64.
pub(crate) fn encode(data_type: &DataType, attributes: &mut Map) {
    let is_text = data_type.is_named("null_terminated_bytes");
    let is_float = matches!(data_type, DataType::Float16 | DataType::Float32 | DataType::Float64);
    let Some(value) = attributes.get_mut(FILL_VALUE) else { return };
    if is_text && let Some(text) = value.as_str() {
        *value = STANDARD.encode(text).into();
    } else if is_float && let Json::Number(number) = value {
        *value = STANDARD.encode(number.to_f64().to_le_bytes()).into();
    }
}

/// The number that an encoded attribute of floats stands for.
pub(crate) fn decode(text: &str) -> Option<Json> {
    let bytes = STANDARD.decode(text).ok()?;
    Some(Json::from(f64::from_le_bytes(bytes.try_into().ok()?)))
}
