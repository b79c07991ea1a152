//! Fixed-length byte strings: v3 `null_terminated_bytes` and `raw_bytes` with a `length_bytes`; v2 `|S<n>`.
//!
//! Shorter strings are padded with NUL bytes. v2's `|V<n>` is the core type of [raw bits](super::raw).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::{DataType, Endian, Extension, Family, Storage, TypeString, bad_fill};
use crate::error::Result;
use crate::fill_value::FillValue;
use crate::json::{Json, Map};
use crate::strictness::Strictness;

/// The family of byte strings.
#[derive(Debug)]
pub(crate) struct ByteStrings;

const TERMINATED: &str = "null_terminated_bytes";
const RAW: &str = "raw_bytes";

/// Creates a byte string type with this v3 name.
fn sized(name: &str, bytes: usize) -> Result<DataType> {
    super::check_length(name, bytes)?;
    let mut configuration = Map::default();
    configuration.insert("length_bytes".to_owned(), bytes.into());
    let name = name.to_owned();
    Ok(DataType::Extension(Box::new(Extension { name, configuration, storage: Storage::Raw(bytes) })))
}

impl DataType {
    /// Creates the type of fixed-length byte strings, padded with NULs, such as NumPy's `S5`.
    ///
    /// # Errors
    /// When an element would be too large.
    pub fn null_terminated_bytes(bytes: usize) -> Result<Self> {
        sized(TERMINATED, bytes)
    }
}

/// Returns the display name, such as `S5`.
pub(in crate::data_type) fn numpy_name(data_type: &DataType) -> Option<String> {
    data_type.is_named(TERMINATED).then(|| format!("S{}", data_type.size()))
}

impl Family for ByteStrings {
    fn parse_v3(&self, name: &str, configuration: &Map) -> Option<Result<DataType>> {
        if name != TERMINATED && name != RAW {
            return None;
        }
        Some(super::length_bytes(name, configuration).and_then(|bytes| sized(name, bytes)))
    }

    fn parse_v2(&self, dtype: &TypeString<'_>) -> Option<Result<DataType>> {
        let bytes = dtype.size().filter(|_| dtype.kind == 'S')?;
        Some(sized(TERMINATED, bytes))
    }

    fn examples(&self) -> Vec<DataType> {
        [TERMINATED, RAW].into_iter().filter_map(|name| sized(name, 5).ok()).collect()
    }

    fn has(&self, data_type: &DataType) -> bool {
        data_type.is_named(TERMINATED) || data_type.is_named(RAW)
    }

    fn to_v2(&self, data_type: &DataType, _: Endian) -> Result<Json> {
        let kind = if data_type.is_named(RAW) { 'V' } else { 'S' };
        Ok(format!("|{kind}{}", data_type.size()).into())
    }

    fn fill_from_json(&self, data_type: &DataType, json: &Json, strictness: Strictness) -> Result<FillValue> {
        let size = data_type.size();
        let bytes = match json {
            Json::String(text) => STANDARD.decode(text).ok(),
            // Early versions of zarr-python wrote 0 for an empty value.
            Json::Number(number) if strictness == Strictness::Lenient && number.as_u64() == Some(0) => {
                Some(Vec::new())
            }
            _ => None,
        };
        let Some(mut bytes) = bytes.filter(|bytes| bytes.len() <= size) else {
            return Err(bad_fill(data_type, json, &format!("the base64 of at most {size} bytes")));
        };
        bytes.resize(size, 0);
        Ok(FillValue::new(bytes))
    }

    fn fill_to_v3(&self, data_type: &DataType, fill: &FillValue) -> Json {
        let bytes = fill.as_bytes();
        STANDARD.encode(if data_type.is_named(RAW) { bytes } else { trimmed(bytes) }).into()
    }

    /// Keeps trailing NULs: TensorStore requires the full length.
    fn fill_to_v2(&self, _: &DataType, fill: &FillValue) -> Json {
        STANDARD.encode(fill.as_bytes()).into()
    }

    fn format(&self, data_type: &DataType, element: &[u8]) -> String {
        if data_type.is_named(RAW) {
            return super::raw::format(element);
        }
        super::python::bytes(trimmed(element))
    }
}

/// Returns the bytes without trailing NULs.
fn trimmed(bytes: &[u8]) -> &[u8] {
    let length = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    &bytes[..length]
}

#[cfg(test)]
mod tests {
    use crate::json::json;

    use super::*;
    use crate::registry::Registry;

    #[test]
    fn names_and_fill_values_in_both_formats() {
        let registry = Registry::new();
        let (five, endian) = registry.data_type_from_v2(&json!("|S5")).unwrap();
        assert_eq!(endian, None);
        let v3 = json!({"name": "null_terminated_bytes", "configuration": {"length_bytes": 5}});
        assert_eq!(registry.data_type_from_v3(&v3).unwrap(), five);
        let family = registry.family(&five).unwrap();
        assert_eq!(family.to_v3(&five).unwrap(), v3);
        assert_eq!(family.to_v2(&five, Endian::Little).unwrap(), json!("|S5"));
        for (json, bytes) in [("YWI=", b"ab\0\0\0"), ("YWIAAAA=", b"ab\0\0\0"), ("", b"\0\0\0\0\0")] {
            let fill = family.fill_from_json(&five, &json!(json), Strictness::Strict).unwrap();
            assert_eq!(fill.as_bytes(), bytes);
        }
        let fill = FillValue::new(*b"ab\0\0\0");
        assert_eq!(family.fill_to_v3(&five, &fill), json!("YWI="));
        assert_eq!(family.fill_to_v2(&five, &fill), json!("YWIAAAA="));
        assert!(family.fill_from_json(&five, &json!(0), Strictness::Lenient).is_ok());
        for bad in [json!("YWJjZGVm"), json!("?"), json!(1), json!([1])] {
            assert!(family.fill_from_json(&five, &bad, Strictness::Lenient).is_err(), "{bad}");
        }
    }

    #[test]
    fn elements_print_as_python_prints_them() {
        let data_type = sized(TERMINATED, 4).unwrap();
        let format = |element: &[u8]| ByteStrings.format(&data_type, element);
        assert_eq!(format(b"ab\0\0"), "b'ab'");
        assert_eq!(format(b"a\0b\0"), "b'a\\x00b'");
        assert_eq!(format(b"it's"), "b\"it's\"");
        assert_eq!(format(b"'\"\\\n"), "b'\\'\"\\\\\\n'");
        assert_eq!(format(b"\xff\0\0\0"), "b'\\xff'");
    }

    #[test]
    fn lengths_are_bounded() {
        let registry = Registry::new();
        for bad in ["|S0", "|S99999999", "|S"] {
            assert!(registry.data_type_from_v2(&json!(bad)).is_err(), "{bad}");
        }
        for bad in
            [json!({}), json!({"length_bytes": 0}), json!({"length_bytes": -1}), json!({"length_bytes": "5"})]
        {
            let v3 = json!({"name": "raw_bytes", "configuration": bad});
            assert!(registry.data_type_from_v3(&v3).is_err(), "{v3}");
        }
    }
}
