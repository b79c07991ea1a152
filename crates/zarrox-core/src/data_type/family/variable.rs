//! Variable-length strings and byte strings: v3 `string` and `bytes`; v2 `|O` with the codecs `vlen-utf8`, `vlen-bytes` and, for
//! strings from a short list, `categorize`.
//!
//! `bytes` is the name in the registry of Zarr extensions. zarr-python has written `variable_length_bytes` since version 3.1, and
//! reads both.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::object::is_object;
use super::{DataType, Endian, Extension, Family, Storage, bad_fill};
use crate::codec::CodecSpec;
use crate::error::Result;
use crate::fill_value::FillValue;
use crate::json::{Json, Map};
use crate::strictness::Strictness;

/// The family of variable-length types.
#[derive(Debug)]
pub(crate) struct Variable;

/// The name of variable-length strings.
pub const TEXT: &str = "string";
/// The name of variable-length byte strings.
pub const BYTES: &str = "bytes";
/// The name of variable-length byte strings in zarr-python.
const ZARR_PYTHON: &str = "variable_length_bytes";

/// Returns the type with this v3 name.
pub(in crate::data_type) fn named(name: &str) -> DataType {
    let name = name.to_owned();
    DataType::Extension(Box::new(Extension {
        name,
        configuration: Map::default(),
        storage: Storage::Variable,
    }))
}

impl DataType {
    /// Returns the type of variable-length UTF-8 strings: v3's `string`, v2's objects with `vlen-utf8`.
    pub fn string() -> Self {
        named(TEXT)
    }

    /// Returns the type of variable-length byte strings: v3's `bytes`, v2's objects with `vlen-bytes`.
    pub fn bytes() -> Self {
        named(BYTES)
    }

    /// Returns true if the elements are variable-length strings or byte strings.
    #[doc(hidden)]
    pub fn is_text_or_bytes(&self) -> bool {
        Variable.has(self)
    }

    /// Returns true if elements of another variable-length type may be valid for this one as well: every string is a byte string,
    /// and a byte string may be UTF-8.
    pub(crate) fn has_elements_of(&self, other: &Self) -> bool {
        self == other || (self.is_text_or_bytes() && other.is_text_or_bytes())
    }
}

impl Family for Variable {
    fn parse_v3(&self, name: &str, _: &Map) -> Option<Result<DataType>> {
        match name {
            TEXT | BYTES => Some(Ok(named(name))),
            ZARR_PYTHON => Some(Ok(named(BYTES))),
            _ => None,
        }
    }

    fn parse_object(&self, dtype: &Json, codec: &Map) -> Option<Result<DataType>> {
        if !is_object(dtype) {
            return None;
        }
        match codec.get("id").and_then(Json::as_str) {
            Some("vlen-utf8" | "categorize") => Some(Ok(named(TEXT))),
            Some("vlen-bytes") => Some(Ok(named(BYTES))),
            _ => None,
        }
    }

    fn examples(&self) -> Vec<DataType> {
        vec![named(TEXT), named(BYTES)]
    }

    fn has(&self, data_type: &DataType) -> bool {
        data_type.is_named(TEXT) || data_type.is_named(BYTES)
    }

    fn to_v2(&self, _: &DataType, _: Endian) -> Result<Json> {
        Ok("|O".into())
    }

    fn default_codec(&self, data_type: &DataType) -> Option<CodecSpec> {
        let name = if data_type.is_named(TEXT) { "vlen-utf8" } else { "vlen-bytes" };
        Some(CodecSpec::new(name, Json::Null))
    }

    fn fill_from_json(&self, data_type: &DataType, json: &Json, strictness: Strictness) -> Result<FillValue> {
        let lenient = strictness == Strictness::Lenient;
        let bytes = match (json, data_type.is_named(TEXT)) {
            (Json::String(text), true) => Some(text.as_bytes().to_vec()),
            (Json::String(text), false) => STANDARD.decode(text).ok(),
            (Json::Array(list), false) => list.iter().map(byte).collect(),
            (Json::Number(number), is_text) if lenient => match number.as_token() {
                // In a string type, Python's tokens such as `NaN` are ordinary words.
                Some(token) if is_text => Some(token.as_bytes().to_vec()),
                // The default of zarr-python 2 for all objects, which is read as an empty element here.
                _ => (number.as_u64() == Some(0)).then(Vec::new),
            },
            _ => None,
        };
        let wanted = if data_type.is_named(TEXT) { "a string" } else { "base64, or a list of bytes" };
        bytes.map(FillValue::new).ok_or_else(|| bad_fill(data_type, json, wanted))
    }

    fn fill_to_v3(&self, data_type: &DataType, fill: &FillValue) -> Json {
        match std::str::from_utf8(fill.as_bytes()) {
            Ok(text) if data_type.is_named(TEXT) => text.into(),
            _ => STANDARD.encode(fill.as_bytes()).into(),
        }
    }

    fn format(&self, data_type: &DataType, element: &[u8]) -> String {
        match std::str::from_utf8(element) {
            Ok(text) if data_type.is_named(TEXT) => super::python::text(&text.chars().map(u32::from)),
            _ => super::python::bytes(element),
        }
    }
}

fn byte(json: &Json) -> Option<u8> {
    json.as_u64().and_then(|value| u8::try_from(value).ok())
}

#[cfg(test)]
mod tests {
    use crate::json::json;

    use super::*;
    use crate::registry::Registry;

    #[test]
    fn names_and_fill_values() {
        let registry = Registry::new();
        for (name, fill, bytes) in [("string", "é", "é".as_bytes()), ("bytes", "AP8=", &[0, 255])] {
            let data_type = registry.data_type_from_v3(&json!(name)).unwrap();
            let family = registry.family(&data_type).unwrap();
            assert_eq!(family.to_v3(&data_type).unwrap(), json!(name));
            assert_eq!(family.to_v2(&data_type, Endian::Little).unwrap(), json!("|O"));
            let value = family.fill_from_json(&data_type, &json!(fill), Strictness::Strict).unwrap();
            assert_eq!(value.as_bytes(), bytes);
            assert_eq!(family.fill_to_v3(&data_type, &value), json!(fill));
            assert_eq!(family.default_fill(&data_type).as_bytes(), b"");
            assert!(family.fill_from_json(&data_type, &json!(0), Strictness::Lenient).is_ok());
            for bad in [json!(0), json!(null), json!([256]), json!({})] {
                assert!(family.fill_from_json(&data_type, &bad, Strictness::Strict).is_err(), "{bad}");
            }
        }
        let bytes = registry.data_type_from_v3(&json!("variable_length_bytes")).unwrap();
        let fill = registry
            .family(&bytes)
            .unwrap()
            .fill_from_json(&bytes, &json!([1, 2]), Strictness::Strict)
            .unwrap();
        assert_eq!((bytes.to_string().as_str(), fill.as_bytes()), ("bytes", &[1, 2][..]));
    }

    #[test]
    fn the_codec_says_what_objects_are() {
        let registry = Registry::new();
        let object = |codecs: Json| {
            let codecs: Vec<Map> =
                codecs.as_array().unwrap().iter().filter_map(|c| c.as_object().cloned()).collect();
            registry.object_type_from_v2(&codecs).map(|data_type| data_type.to_string())
        };
        assert_eq!(object(json!([{"id": "vlen-utf8"}])).unwrap(), "string");
        assert_eq!(object(json!([{"id": "zlib"}, {"id": "vlen-bytes"}])).unwrap(), "bytes");
        assert!(object(json!([{"id": "zlib"}])).unwrap_err().to_string().contains("objects"));
    }

    #[test]
    fn elements_print_as_python_prints_them() {
        let format = |name, element: &str| Variable.format(&named(name), element.as_bytes());
        assert_eq!(format(TEXT, "it's é"), "\"it's é\"");
        assert_eq!(format(BYTES, "ab"), "b'ab'");
    }
}
