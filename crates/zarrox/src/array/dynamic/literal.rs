//! Numbers that are given in another type than the elements have: literals without a suffix are `i32` and `f64`.

use zarrox_core::data_type::Casting;
use zarrox_core::{DataType, Error, ErrorKind, Registry, Result};

use super::DynArray;

impl DynArray {
    /// Casts to the elements of an array that have the same values.
    ///
    /// # Errors
    /// [`ErrorKind::DataTypeMismatch`] when the types cannot be cast, or an element has no counterpart of the same value.
    pub(in crate::array) fn cast_exactly(&self, wanted: &DataType, registry: &Registry) -> Result<Self> {
        self.cast(wanted, Casting::Exact, registry).map_err(|error| {
            let message = match error.kind() {
                ErrorKind::Unsupported => format!("the elements are {wanted}, not {}", self.data_type),
                _ => {
                    let suffix = suffix(wanted)
                        .map_or(String::new(), |suffix| format!(", with the suffix `_{suffix}`"));
                    format!(
                        "the elements are {wanted}, and {}; give the value as {wanted}{suffix}",
                        error.message()
                    )
                }
            };
            Error::new(ErrorKind::DataTypeMismatch, message)
        })
    }
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
