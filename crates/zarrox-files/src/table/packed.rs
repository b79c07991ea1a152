//! Packed numbers, which are converted to values with the CF attributes `scale_factor` and `add_offset`.

use zarrox::data_type::{Casting, Storage};
use zarrox::json::Json;
use zarrox::{Array, DataType, DynArray, Registry, Result};

use crate::fill;
use crate::input::unsupported;

/// The maximum number of decimal places.
const MOST_DIGITS: u32 = 18;

/// The conversion from packed numbers to values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Packing {
    /// Elements are the unscaled integers of decimals with the given number of decimal places.
    Decimal(u32),
    /// Floats are divided by the given power of ten. This is more accurate than multiplication by the inverse of the power.
    Divided(f64),
    /// Numbers are multiplied by the scale, then the offset is added.
    Linear {
        /// The value of the attribute `scale_factor`.
        scale: f64,
        /// The value of the attribute `add_offset`.
        offset: f64,
    },
}

impl Packing {
    /// Returns the packing of an array; `None` if its elements are not packed.
    ///
    /// # Errors
    /// If an attribute is not a number, or if the elements are complex.
    pub(super) fn of(array: &Array, name: &str) -> Result<Option<Self>> {
        let is_integer = match array.data_type().storage() {
            _ if array.data_type().time().is_some() => return Ok(None),
            Storage::Int(_) | Storage::Uint(_) => true,
            Storage::Float(_) => false,
            Storage::Complex(_) => false,
            _ => return Ok(None),
        };
        let scale = number(array, name, "scale_factor")?.unwrap_or(1.0);
        let offset = number(array, name, "add_offset")?.unwrap_or(0.0);
        if (scale, offset) == (1.0, 0.0) {
            return Ok(None);
        }
        if matches!(array.data_type().storage(), Storage::Complex(_)) {
            return Err(unsupported(format!(
                "column '{name}': packed complex numbers are not supported in a table"
            )));
        }
        let digits = digits(scale).filter(|_| offset == 0.0);
        Ok(Some(match digits {
            Some(digits) if is_integer => Self::Decimal(digits),
            Some(digits) => Self::Divided(10_f64.powi(i32::try_from(digits).unwrap_or_default())),
            None => Self::Linear { scale, offset },
        }))
    }

    /// Returns the number of decimal places, if the values are decimals.
    pub(super) fn decimals(self) -> Option<u32> {
        match self {
            Self::Decimal(digits) => Some(digits),
            Self::Divided(_) | Self::Linear { .. } => None,
        }
    }

    /// Converts elements to values: unchanged for decimals, otherwise as float64.
    pub(super) fn values(self, elements: DynArray, registry: &Registry) -> Result<DynArray> {
        if self.decimals().is_some() {
            return Ok(elements);
        }
        let numbers = elements
            .cast(&DataType::Float64, Casting::Lossy, registry)?
            .to::<zarrox::prelude::ArrayD<f64>>()?;
        let values = numbers.mapv(|number| match self {
            Self::Decimal(_) => number,
            Self::Divided(power) => number / power,
            Self::Linear { scale, offset } => number * scale + offset,
        });
        DynArray::from_values(DataType::Float64, &values)
    }
}

/// Formats a decimal, given its formatted unscaled integer.
pub(super) fn decimal(integer: &str, decimals: u32) -> String {
    let decimals = usize::try_from(decimals).unwrap_or_default();
    if decimals == 0 {
        return integer.to_owned();
    }
    let (sign, digits) = integer.strip_prefix('-').map_or(("", integer), |digits| ("-", digits));
    let digits = format!("{digits:0>width$}", width = decimals + 1);
    let (whole, part) = digits.split_at(digits.len() - decimals);
    format!("{sign}{whole}.{part}")
}

/// Returns the number of decimal places of multiples of `scale`; `None` if `scale` is not a power of ten below 1.
fn digits(scale: f64) -> Option<u32> {
    let is_power = |digits: &u32| format!("1e-{digits}").parse::<f64>().is_ok_and(|power| power == scale);
    (1..=MOST_DIGITS).find(is_power)
}

/// Returns the number in an attribute, which may be a list with a single number, or a float as encoded by xarray.
fn number(array: &Array, column: &str, name: &str) -> Result<Option<f64>> {
    let Some(stored) = array.attributes().get(name) else { return Ok(None) };
    let value = match stored {
        Json::Array(list) => list.first().filter(|_| list.len() == 1),
        other => Some(other),
    };
    let value = match value {
        Some(Json::String(text)) => fill::decode(text).and_then(|number| number.as_f64()),
        value => value.and_then(Json::as_f64),
    };
    match value.filter(|number| number.is_finite()) {
        Some(number) => Ok(Some(number)),
        None => Err(unsupported(format!(
            "column '{column}': the attribute '{name}' is {stored} and not a number, so that the values are unknown; correct or remove it"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_have_their_point() {
        let texts = [("123", 2), ("-5", 2), ("0", 1), ("7", 0), ("-123456", 6), ("-9223372036854775808", 18)];
        let found: Vec<String> = texts.iter().map(|&(text, decimals)| decimal(text, decimals)).collect();
        assert_eq!(found, ["1.23", "-0.05", "0.0", "7", "-0.123456", "-9.223372036854775808"]);
    }

    #[test]
    fn only_powers_of_ten_are_decimals() {
        assert_eq!([0.1, 0.01, 1e-18].map(digits), [Some(1), Some(2), Some(18)]);
        assert_eq!([1.0, 10.0, 0.02, f64::from(0.01_f32), 1e-19, 0.0].map(digits), [None; 6]);
    }
}
