//! Single values, which are written to all elements of a selection.

use std::borrow::Cow;

use half::{bf16, f16};
use num_complex::Complex;

use super::{Elements, IntoElements, Target, ToElement};
use crate::Registry;
use crate::data_type::{Casting, DataType, Element};
use crate::error::{Error, ErrorKind, Result};
use crate::json::Json;

/// Converts one fixed-size value to an element of the target.
///
/// # Errors
/// [`ErrorKind::DataTypeMismatch`] when the target has no element with the same value.
pub fn scalar<T: Element>(value: &T, target: &Target<'_>) -> Result<Elements<'static>> {
    let bytes = super::InPlace::<T>::new().bytes(std::slice::from_ref(value));
    let element = if T::holds(target.data_type) {
        bytes.to_vec()
    } else {
        exact_element(&T::data_type(), bytes, target.data_type, target.registry)?
    };
    let item = element.len();
    Ok(Elements::of_bytes(element, &[], item))
}

/// Converts an element to another data type that can represent its value. This is needed because literals without a suffix are
/// `i32` and `f64`.
///
/// # Errors
/// [`ErrorKind::DataTypeMismatch`] when the data type has no element with the same value.
pub fn exact_element(
    own: &DataType,
    element: &[u8],
    wanted: &DataType,
    registry: &Registry,
) -> Result<Vec<u8>> {
    let mut exact = vec![0; wanted.size()];
    let cast = registry.cast(own, wanted, Casting::Exact);
    let done = cast.and_then(|cast| cast.element(element, &mut exact));
    done.map(|()| exact).map_err(|error| {
        let message = match error.kind() {
            ErrorKind::Unsupported => format!("the elements are {wanted}, not {own}"),
            _ => format!("the elements are {wanted}, and {}{}", error.message(), advice(wanted)),
        };
        Error::new(ErrorKind::DataTypeMismatch, message)
    })
}

/// Returns the advice for a value that the data type cannot represent.
fn advice(wanted: &DataType) -> String {
    let is_float = matches!(wanted, DataType::Float32 | DataType::Float64);
    let rounds = |suffix| format!("; the compiler rounds a literal with the suffix `_{suffix}`");
    suffix(wanted).filter(|_| is_float).map_or_else(String::new, rounds)
}

/// Returns the suffix of literals of this type.
pub(super) fn suffix(data_type: &DataType) -> Option<&'static str> {
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

macro_rules! scalars {
    ($($T:ty),+ $(,)?) => {$(
        impl IntoElements for $T {
            fn elements(&self, target: &Target<'_>) -> Result<Elements<'_>> {
                scalar(self, target)
            }
        }
    )+};
}

scalars! {
    bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64,
    Complex<f16>, Complex<bf16>, Complex<f32>, Complex<f64>,
}

macro_rules! encoded {
    ($($T:ty),+ $(,)?) => {$(
        impl IntoElements for $T {
            fn elements(&self, target: &Target<'_>) -> Result<Elements<'_>> {
                Elements::encoded(std::iter::once(self), &[], target.data_type)
            }
        }
    )+};
}

encoded!(String, &str, Cow<'_, str>, Json);

impl IntoElements for &String {
    fn elements(&self, target: &Target<'_>) -> Result<Elements<'_>> {
        Elements::encoded(std::iter::once(*self), &[], target.data_type)
    }
}

impl<T: ToElement + 'static> IntoElements for Option<T> {
    fn elements(&self, target: &Target<'_>) -> Result<Elements<'_>> {
        Elements::encoded(std::iter::once(self), &[], target.data_type)
    }
}
