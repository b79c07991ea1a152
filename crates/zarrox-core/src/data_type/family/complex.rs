//! Complex numbers: v3 `complex64`, `complex128`; v2 `c8`, `c16` with a byte order.

use super::{DataType, Endian, Family, Number, TypeString, bad_fill, float};
use crate::error::Result;
use crate::fill_value::FillValue;
use crate::json::{Json, Map};
use crate::strictness::Strictness;

/// The family of the complex types.
#[derive(Debug)]
pub(crate) struct Complexes;

pub(in crate::data_type) const WANTS: &str = "[real, imaginary], each a float's fill value";

impl Family for Complexes {
    fn parse_v3(&self, name: &str, _: &Map) -> Option<Result<DataType>> {
        Some(Ok(match name {
            "complex64" | "complex_float32" => DataType::Complex64,
            "complex128" | "complex_float64" => DataType::Complex128,
            _ => return None,
        }))
    }

    fn parse_v2(&self, dtype: &TypeString<'_>) -> Option<Result<DataType>> {
        dtype.endian?;
        Some(Ok(match (dtype.kind, dtype.size()?) {
            ('c', 8) => DataType::Complex64,
            ('c', 16) => DataType::Complex128,
            _ => return None,
        }))
    }

    fn examples(&self) -> Vec<DataType> {
        vec![DataType::Complex64, DataType::Complex128]
    }

    fn has(&self, data_type: &DataType) -> bool {
        matches!(data_type, DataType::Complex64 | DataType::Complex128)
    }

    fn to_v2(&self, data_type: &DataType, endian: Endian) -> Result<Json> {
        Ok(format!("{}c{}", endian.character(), data_type.size()).into())
    }

    fn fill_from_json(&self, data_type: &DataType, json: &Json, strictness: Strictness) -> Result<FillValue> {
        let bad = || bad_fill(data_type, json, WANTS);
        let (real, imaginary) = parts(json, strictness).ok_or_else(bad)?;
        let part = |part: &Json| float::from_json(part, data_type.size() / 2, strictness).ok_or_else(bad);
        let (mut bytes, imaginary) = (part(&real)?, part(&imaginary)?);
        bytes.extend(imaginary);
        Ok(FillValue::new(bytes))
    }

    fn fill_to_v3(&self, _: &DataType, fill: &FillValue) -> Json {
        let (real, imaginary) = halves(fill.as_bytes());
        Json::Array(vec![float::to_v3(real), float::to_v3(imaginary)])
    }

    fn fill_to_v2(&self, _: &DataType, fill: &FillValue) -> Json {
        let (real, imaginary) = halves(fill.as_bytes());
        Json::Array(vec![float::to_v2(real), float::to_v2(imaginary)])
    }

    fn number(&self, _: &DataType, element: &[u8]) -> Option<Number> {
        let (real, imaginary) = halves(element);
        Some(Number::Complex(float::value(real), float::value(imaginary)))
    }

    fn write_number(&self, _: &DataType, number: Number, element: &mut [u8]) -> bool {
        let (real, imaginary) = element.split_at_mut(element.len() / 2);
        float::write_number(number.real(), real) && float::write_number(number.imaginary(), imaginary)
    }

    fn format(&self, _: &DataType, element: &[u8]) -> String {
        let (real, imaginary) = halves(element);
        joined(&float::format(real), &float::format(imaginary))
    }
}

/// Returns the fill values of the two parts from `[real, imaginary]`, or in lenient mode from a real number alone.
pub(in crate::data_type) fn parts(json: &Json, strictness: Strictness) -> Option<(Json, Json)> {
    match json {
        Json::Array(parts) if parts.len() == 2 => Some((parts[0].clone(), parts[1].clone())),
        Json::Number(_) if strictness == Strictness::Lenient => Some((json.clone(), 0.into())),
        _ => None,
    }
}

pub(in crate::data_type) fn halves(element: &[u8]) -> (&[u8], &[u8]) {
    element.split_at(element.len() / 2)
}

/// Joins the formatted parts of a complex number. NumPy prints the parts without `.0`, and omits a real part that is positive
/// zero.
pub(in crate::data_type) fn joined(real: &str, imaginary: &str) -> String {
    let part = |text: &str| text.strip_suffix(".0").unwrap_or(text).to_owned();
    let (real, imaginary) = (part(real), part(imaginary));
    if real == "0" {
        return format!("{imaginary}j");
    }
    let sign = if imaginary.starts_with('-') { "" } else { "+" };
    format!("({real}{sign}{imaginary}j)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complex_numbers_print_as_numpys_str_prints_them() {
        let c8 = |a: f32, b: f32| {
            Complexes.format(&DataType::Complex64, &[a.to_ne_bytes(), b.to_ne_bytes()].concat())
        };
        assert_eq!([c8(0.0, 1.0), c8(0.0, -0.0), c8(0.0, f32::NAN)], ["1j", "-0j", "nanj"]);
        assert_eq!([c8(-0.0, 1.0), c8(1e6, 0.5), c8(1.0, -2.0)], ["(-0+1j)", "(1e+06+0.5j)", "(1-2j)"]);
    }
}
