//! Scalars: single elements, parsed from the JSON of each format, or cast from other values.

use crate::data_type::{DataType, Family, Number};
use crate::error::Result;
use crate::fill_value::FillValue;
use crate::json::Json;
use crate::registry::Registry;
use crate::strictness::Strictness;

/// Scalars are represented as [`FillValue`]s, the elements that occur in metadata.
impl Registry {
    /// Returns the default fill value: zero, "not a time", or empty.
    ///
    /// # Errors
    /// When no family has the data type.
    #[doc(hidden)]
    pub fn default_scalar(&self, data_type: &DataType) -> Result<FillValue> {
        Ok(self.family(data_type)?.default_fill(data_type))
    }

    /// Parses an element of metadata of any format.
    ///
    /// # Errors
    /// When no family has the data type, or the JSON is not a valid element.
    #[doc(hidden)]
    pub fn scalar_from_json(
        &self,
        data_type: &DataType,
        json: &Json,
        strictness: Strictness,
    ) -> Result<FillValue> {
        self.family(data_type)?.fill_from_json(data_type, json, strictness)
    }

    /// Converts an element to the form of v3 metadata.
    ///
    /// # Errors
    /// When no family has the data type.
    #[doc(hidden)]
    pub fn scalar_to_v3(&self, data_type: &DataType, scalar: &FillValue) -> Result<Json> {
        Ok(self.family(data_type)?.fill_to_v3(data_type, scalar))
    }

    /// Converts an element to the form of v2 metadata. (The numbers in a structured element remain in native byte order.)
    ///
    /// # Errors
    /// When no family has the data type.
    #[doc(hidden)]
    pub fn scalar_to_v2(&self, data_type: &DataType, scalar: &FillValue) -> Result<Json> {
        Ok(self.family(data_type)?.fill_to_v2(data_type, scalar))
    }

    /// Casts a value to an element if the meaning is unambiguous: a value in the form of metadata of any format, or a different
    /// kind of number that the data type can represent (`7.0`, `"7"` and `true` for integers; `1` and `"1"` for booleans; a real
    /// number for a complex number).
    ///
    /// ```
    /// use zarrox_core::{DataType, Registry};
    /// let registry = Registry::new();
    /// let seven = registry.cast_scalar(&DataType::Int16, &"7".into())?;
    /// assert_eq!(seven, registry.cast_scalar(&DataType::Int16, &7.0.into())?);
    /// assert!(registry.cast_scalar(&DataType::Int16, &7.5.into()).is_err());
    /// # Ok::<(), zarrox_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// When no family has the data type, or the data type cannot represent the value. No value is truncated, and only decimals
    /// are rounded, to the nearest float.
    #[doc(hidden)]
    pub fn cast_scalar(&self, data_type: &DataType, value: &Json) -> Result<FillValue> {
        let family = self.family(data_type)?;
        let as_metadata = family.fill_from_json(data_type, value, Strictness::Lenient);
        as_metadata.or_else(|error| exact_number(&*family, data_type, value).ok_or(error))
    }
}

/// Returns the element that has exactly the value of a number.
fn exact_number(family: &dyn Family, data_type: &DataType, value: &Json) -> Option<FillValue> {
    let number = match value {
        Json::Bool(value) => Number::Integer((*value).into()),
        Json::Number(number) => match number.as_i128() {
            Some(whole) => Number::Integer(whole),
            None => Number::Float(number.to_f64()),
        },
        Json::String(text) => match text.parse() {
            Ok(whole) => Number::Integer(whole),
            Err(_) => Number::Float(text.parse().ok()?),
        },
        _ => return None,
    };
    let mut bytes = vec![0; data_type.size()];
    let written = family.write_number(data_type, number, &mut bytes);
    let exact = written && family.number(data_type, &bytes)?.is_same(number);
    exact.then(|| FillValue::new(bytes))
}

#[cfg(test)]
mod tests {
    use crate::json::json;

    use super::*;

    /// The examples from zarr-python's documentation of data types, and one for each kind of scalar.
    #[test]
    fn scalars_go_to_json_and_back_in_both_formats() {
        let registry = Registry::new();
        for (name, v3, v2) in [
            ("int8", json!(42), json!(42)),
            ("bool", json!(true), json!(true)),
            ("float64", json!("-Infinity"), json!("-Infinity")),
            ("float32", json!("0x7fc00001"), json!("NaN")),
            ("complex64", json!([1.5, "NaN"]), json!([1.5, "NaN"])),
            ("<M8[10s]", json!("NaT"), json!(i64::MIN)),
            ("|S3", json!("YWJj"), json!("YWJj")),
            ("<U2", json!("é"), json!("é")),
            ("r16", json!([1, 255]), json!("Af8=")),
            ("string", json!("né"), json!("né")),
        ] {
            let data_type = DataType::parse(name, &registry).unwrap();
            let scalar = registry.scalar_from_json(&data_type, &v3, Strictness::Strict).unwrap();
            assert_eq!(registry.scalar_to_v3(&data_type, &scalar).unwrap(), v3, "{name}");
            assert_eq!(registry.scalar_to_v2(&data_type, &scalar).unwrap(), v2, "{name}");
            let again = registry.scalar_from_json(&data_type, &v2, Strictness::Lenient).unwrap();
            assert_eq!(registry.scalar_to_v2(&data_type, &again).unwrap(), v2, "{name}");
        }
    }

    #[test]
    fn every_type_has_a_default_scalar_that_its_metadata_can_say() {
        let registry = Registry::new();
        for data_type in registry.examples() {
            let default = registry.default_scalar(&data_type).unwrap();
            let json = registry.scalar_to_v3(&data_type, &default).unwrap();
            assert_eq!(
                registry.scalar_from_json(&data_type, &json, Strictness::Strict).unwrap(),
                default,
                "{data_type}"
            );
        }
        assert_eq!(registry.default_scalar(&DataType::Int8).unwrap().as_bytes(), [0]);
    }

    #[test]
    fn scalars_are_cast_from_what_is_clear() {
        let registry = Registry::new();
        let cast = |name: &str, value: Json| {
            let data_type = DataType::parse(name, &registry).unwrap();
            let scalar = registry.cast_scalar(&data_type, &value)?;
            Ok::<_, crate::Error>(registry.family(&data_type)?.format(&data_type, scalar.as_bytes()))
        };
        for (name, value, shown) in [
            ("int8", json!("-7"), "-7"),
            ("uint64", json!(7.0), "7"),
            ("int4", json!(true), "1"),
            ("bool", json!("1"), "True"),
            ("bool", json!(0.0), "False"),
            ("float32", json!("0.1"), "0.1"),
            ("complex128", json!("2"), "(2+0j)"),
            ("complex_float16", json!(false), "0j"),
            ("<m8[s]", json!("5"), "5"),
        ] {
            assert_eq!(cast(name, value,).unwrap(), shown, "{name}");
        }
        for (name, value) in [
            ("int8", json!(128)),
            ("int8", json!(0.5)),
            ("uint8", json!("-1")),
            ("bool", json!(2)),
            ("bool", json!("yes")),
            ("float64", json!("one")),
            ("complex64", json!([1])),
            ("float4_e2m1fn", json!("NaN")),
            ("<M8[s]", json!(0.5)),
            ("string", json!(5)),
        ] {
            let error = cast(name, value.clone()).unwrap_err();
            assert!(error.to_string().contains(&value.to_string()), "{error}");
        }
    }
}
