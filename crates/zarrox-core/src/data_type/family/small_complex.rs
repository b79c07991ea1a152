//! Complex numbers of two small floats: `complex_float16`, `complex_bfloat16`, `complex_float8_e4m3` … v3 only.
//!
//! <https://github.com/zarr-developers/zarr-extensions/tree/main/data-types>

use super::{DataType, Extension, Family, Number, Storage};
use super::{bad_fill, complex, float, small_float};
use crate::error::Result;
use crate::fill_value::FillValue;
use crate::json::{Json, Map};
use crate::strictness::Strictness;

/// The family of small complex types.
#[derive(Debug)]
pub(crate) struct SmallComplexes;

const PREFIX: &str = "complex_";

/// Returns the type of the two parts, and its family.
fn part_named(name: &str) -> Option<(DataType, &'static dyn Family)> {
    match name.strip_prefix(PREFIX)? {
        "float16" => Some((DataType::Float16, &float::Floats)),
        part => Some((small_float::named(part)?, &small_float::SmallFloats)),
    }
}

fn part_of(data_type: &DataType) -> Option<(DataType, &'static dyn Family)> {
    let DataType::Extension(extension) = data_type else { return None };
    part_named(&extension.name)
}

/// Returns the complex type with parts of this type.
pub(in crate::data_type) fn of_parts(part: &DataType) -> DataType {
    let (name, storage) = (format!("{PREFIX}{part}"), Storage::Complex(2 * part.size()));
    DataType::Extension(Box::new(Extension { name, configuration: Map::default(), storage }))
}

impl Family for SmallComplexes {
    fn parse_v3(&self, name: &str, _: &Map) -> Option<Result<DataType>> {
        part_named(name).map(|(part, _)| Ok(of_parts(&part)))
    }

    fn examples(&self) -> Vec<DataType> {
        let small = small_float::SmallFloats.examples();
        std::iter::once(DataType::Float16).chain(small).map(|part| of_parts(&part)).collect()
    }

    fn has(&self, data_type: &DataType) -> bool {
        part_of(data_type).is_some()
    }

    fn fill_from_json(&self, data_type: &DataType, json: &Json, strictness: Strictness) -> Result<FillValue> {
        let bad = || bad_fill(data_type, json, complex::WANTS);
        let (part, family) = part_of(data_type).ok_or_else(bad)?;
        let (real, imaginary) = complex::parts(json, strictness).ok_or_else(bad)?;
        let mut bytes =
            family.fill_from_json(&part, &real, strictness).map_err(|_| bad())?.as_bytes().to_vec();
        bytes.extend(family.fill_from_json(&part, &imaginary, strictness).map_err(|_| bad())?.as_bytes());
        Ok(FillValue::new(bytes))
    }

    fn fill_to_v3(&self, data_type: &DataType, fill: &FillValue) -> Json {
        let Some((part, family)) = part_of(data_type) else { return Json::Null };
        let (real, imaginary) = complex::halves(fill.as_bytes());
        let json = |half: &[u8]| family.fill_to_v3(&part, &FillValue::new(half));
        Json::Array(vec![json(real), json(imaginary)])
    }

    fn number(&self, data_type: &DataType, element: &[u8]) -> Option<Number> {
        let (part, family) = part_of(data_type)?;
        let (real, imaginary) = complex::halves(element);
        let float = |half: &[u8]| family.number(&part, half).map(Number::to_f64);
        Some(Number::Complex(float(real)?, float(imaginary)?))
    }

    fn write_number(&self, data_type: &DataType, number: Number, element: &mut [u8]) -> bool {
        let Some((part, family)) = part_of(data_type) else { return false };
        let (real, imaginary) = element.split_at_mut(element.len() / 2);
        family.write_number(&part, number.real(), real)
            && family.write_number(&part, number.imaginary(), imaginary)
    }

    fn format(&self, data_type: &DataType, element: &[u8]) -> String {
        let Some((part, family)) = part_of(data_type) else { return String::new() };
        let (real, imaginary) = complex::halves(element);
        complex::joined(&family.format(&part, real), &family.format(&part, imaginary))
    }
}

#[cfg(test)]
mod tests {
    use crate::json::json;

    use super::super::Endian;
    use super::*;
    use crate::registry::Registry;

    fn named(name: &str) -> DataType {
        Registry::new().data_type_from_v3(&json!(name)).unwrap()
    }

    #[test]
    fn every_small_float_has_its_complex_type() {
        assert_eq!(SmallComplexes.examples().len(), 13);
        for (name, size, word) in [
            ("complex_float16", 4, 2),
            ("complex_bfloat16", 4, 2),
            ("complex_float8_e4m3", 2, 1),
            ("complex_float8_e8m0fnu", 2, 1),
            ("complex_float6_e2m3fn", 2, 1),
            ("complex_float4_e2m1fn", 2, 1),
        ] {
            let data_type = named(name);
            assert_eq!((data_type.size(), data_type.storage().word()), (size, word), "{name}");
            assert_eq!(data_type.to_string(), name);
        }
        assert_eq!(named("complex_float32"), DataType::Complex64);
        assert_eq!(named("complex_float64"), DataType::Complex128);
        for unknown in ["complex_", "complex_int8", "complex_complex_float16", "complex_float8"] {
            assert!(Registry::new().data_type_from_v3(&json!(unknown)).is_err(), "{unknown}");
        }
    }

    #[test]
    fn fill_values_are_pairs_of_the_parts_fill_values() {
        for data_type in SmallComplexes.examples() {
            let pair = json!([0.5, 2.0]);
            let fill = SmallComplexes.fill_from_json(&data_type, &pair, Strictness::Strict).unwrap();
            assert_eq!(SmallComplexes.fill_to_v3(&data_type, &fill), pair, "{data_type}");
            assert_eq!(SmallComplexes.format(&data_type, fill.as_bytes()), "(0.5+2j)", "{data_type}");
            for bad in [json!(null), json!([1.0]), json!([1.0, 2.0, 3.0]), json!(["one", 1.0]), json!({})] {
                let error = SmallComplexes.fill_from_json(&data_type, &bad, Strictness::Lenient).unwrap_err();
                assert!(error.to_string().contains(&data_type.to_string()), "{error}");
            }
            assert_eq!(
                SmallComplexes.fill_from_json(&data_type, &json!(1), Strictness::Strict).unwrap_err().kind(),
                crate::ErrorKind::InvalidMetadata
            );
            assert_eq!(
                SmallComplexes.to_v2(&data_type, Endian::Little).unwrap_err().kind(),
                crate::ErrorKind::Unsupported
            );
        }
        let half = named("complex_float16");
        let fill =
            SmallComplexes.fill_from_json(&half, &json!(["NaN", "0x8000"]), Strictness::Strict).unwrap();
        assert_eq!(SmallComplexes.format(&half, fill.as_bytes()), "(nan-0j)");
        assert!(SmallComplexes.fill_from_json(&half, &json!(1), Strictness::Lenient).is_ok());
    }
}
