//! The `_FillValue` attribute as xarray encodes it in Zarr.

use zarrox::data_type::Storage;
use zarrox::json::{Json, Map};
use zarrox::{ArrayMetadata, DataType, FillValue, Format, Registry};
use zarrox_tools::copy::missing;

/// The name of the NetCDF attribute for missing values.
pub(crate) const FILL_VALUE: &str = missing::FILL_VALUE;

/// Encodes a number for the attribute as xarray does for elements of this type: in base64 for floats.
pub(crate) fn encoded(data_type: &DataType, number: Json) -> Json {
    let is_float = matches!(data_type, DataType::Float16 | DataType::Float32 | DataType::Float64);
    match &number {
        Json::Number(float) if is_float => missing::encoded(float.to_f64()).into(),
        _ => number,
    }
}

/// Decodes a float that was encoded for the attribute.
pub(crate) fn decode(text: &str) -> Option<Json> {
    missing::decoded(text).map(Json::from)
}

/// Converts a value to a missing value for elements of this type: an integer or a float. Returns `None` if the type
/// cannot represent the value.
pub(crate) fn in_type(data_type: &DataType, value: &Json) -> Option<Json> {
    let number = match value {
        Json::Number(number) => number,
        _ => return None,
    };
    let integers = match data_type {
        DataType::Int8 => (i8::MIN.into(), i8::MAX.into()),
        DataType::Int16 => (i16::MIN.into(), i16::MAX.into()),
        DataType::Int32 => (i32::MIN.into(), i32::MAX.into()),
        DataType::Int64 => (i64::MIN.into(), i64::MAX.into()),
        DataType::UInt8 => (0_i128, u8::MAX.into()),
        DataType::UInt16 => (0, u16::MAX.into()),
        DataType::UInt32 => (0, u32::MAX.into()),
        DataType::UInt64 => (0, u64::MAX.into()),
        _ => return Some(number.to_f64().into()),
    };
    let whole = number.as_i128().or_else(|| whole(number.as_f64()?))?;
    let (first, last) = integers;
    if !(first..=last).contains(&whole) {
        return None;
    }
    i64::try_from(whole).map(Json::from).or_else(|_| u64::try_from(whole).map(Json::from)).ok()
}

/// Returns the integer equal to a float, or `None` if the float is not an integer or is too large to be exact.
pub(crate) fn whole(float: f64) -> Option<i128> {
    /// The bound up to which floats represent all integers exactly.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if float.fract() != 0.0 || float.abs() > EXACT {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "the float is an integer in this range")]
    Some(float as i128)
}

/// Returns true if missing values of this type are integers or floats.
pub(crate) fn is_number(data_type: &DataType) -> bool {
    use DataType::{Float16, Float32, Float64, Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64};
    matches!(
        data_type,
        Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 | UInt64 | Float16 | Float32 | Float64
    )
}

/// Returns true for strings. xarray does not read their missing values from the attribute.
pub(crate) fn is_text(data_type: &DataType) -> bool {
    missing::text_type(data_type).is_some()
}

/// The values used for elements that a file lacks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fills {
    /// The value for arrays without a missing-value marker.
    pub(crate) value: Option<Json>,
}

impl Fills {
    /// Returns the missing-value marker of an array, or the given value if the array has no marker; `None` if there is neither.
    pub(crate) fn of(
        &self,
        metadata: &ArrayMetadata,
        attributes: &Map,
        registry: &Registry,
    ) -> Option<FillValue> {
        let own = missing_value(metadata, attributes, registry);
        own.or_else(|| missing::of_attribute(&metadata.data_type, self.value.as_ref()?, registry))
    }
}

/// Returns the missing-value marker of an array: the attribute if there is one; otherwise the fill value, in formats in
/// which xarray masks the fill value; otherwise NaN for floats and NaT for times.
fn missing_value(metadata: &ArrayMetadata, attributes: &Map, registry: &Registry) -> Option<FillValue> {
    let data_type = &metadata.data_type;
    let said = [FILL_VALUE, "missing_value"].iter().find_map(|name| {
        let value = attributes.get(name)?;
        let value = value.as_array().and_then(|values| values.first()).unwrap_or(value);
        missing::of_attribute(data_type, value, registry)
    });
    let is_masked = metadata.format == Format::V2 || missing::tells_missing(attributes);
    let masked = || metadata.fill_value.clone().filter(|_| is_masked);
    let none = || match data_type.storage() {
        Storage::Float(_) => missing::of_attribute(data_type, &Json::from("NaN"), registry),
        Storage::Complex(_) => {
            missing::of_attribute(data_type, &Json::Array(vec!["NaN".into(), "NaN".into()]), registry)
        }
        Storage::Int(_) => missing::of_attribute(data_type, &Json::from("NaT"), registry),
        _ => None,
    };
    said.or_else(masked).or_else(none)
}
