//! Numbers that are given in another type than the elements have: literals without a suffix are `i32` and `f64`.

use zarrox_core::data_type::Casting;
use zarrox_core::{DataType, Error, ErrorKind, Registry, Result};

/// The element of a data type that has the same value as one of another type.
///
/// # Errors
/// [`ErrorKind::DataTypeMismatch`] when no element has this value, or the types are not comparable.
pub(in crate::array) fn exact(
    element: &[u8],
    own: &DataType,
    wanted: &DataType,
    registry: &Registry,
) -> Result<Vec<u8>> {
    let mismatch = |why: String| Error::new(ErrorKind::DataTypeMismatch, why);
    let cast = registry
        .cast(own, wanted, Casting::Exact)
        .map_err(|_| mismatch(format!("the elements are {wanted}, not {own}")))?;
    let mut exact = vec![0; wanted.size()];
    cast.element(element, &mut exact).map_err(|error| {
        let example = suffix(wanted).map_or(String::new(), |suffix| format!(", with the suffix `_{suffix}`"));
        mismatch(format!("the elements are {wanted}, and {error}; give the value as {wanted}{example}"))
    })?;
    Ok(exact)
}

/// The suffix of a literal of this type.
fn suffix(data_type: &DataType) -> Option<&'static str> {
    Some(match data_type {
        DataType::Int8 => "i8",
        DataType::Int16 => "i16",
        DataType::Int32 => "i32",
        DataType::Int64 => "i64",
        DataType::UInt8 => "u8",
        DataType::UInt16 => "u16",
        DataType::UInt32 => "u32",
        DataType::UInt64 => "u64",
        DataType::Float32 => "f32",
        DataType::Float64 => "f64",
        _ => return None,
    })
}
