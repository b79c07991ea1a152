//! Python objects: v2's `|O` with the codecs `json2`, `msgpack2` and their predecessors `json`, `msgpack`. In memory, an element
//! is a MessagePack value; an empty element is treated as nil. v3 has no such type.

use super::{DataType, Endian, Extension, Family, Storage, python};
use crate::codec::CodecSpec;
use crate::error::{CodecError, Error, Result};
use crate::fill_value::FillValue;
use crate::json::{Json, Map};
use crate::msgpack::{self, NIL, Token};
use crate::strictness::Strictness;

/// The family of this single type.
#[derive(Debug)]
pub(crate) struct Objects;

/// The name in the model.
pub(in crate::data_type) const NAME: &str = "object";

/// The reason why pickles are never read, and the remedy.
pub const PICKLE: &str = "reading pickled objects is not safe, since a pickle can run any program; if \
    you trust the data, rewrite the array with zarr-python and another object_codec: JSON, MsgPack, VLenUTF8, VLenBytes or \
    VLenArray";

/// Returns true for the v2 `dtype` of objects.
pub(super) fn is_object(dtype: &Json) -> bool {
    dtype.as_str() == Some("|O")
}

/// Returns true for the v2 `dtype` of objects, and for structures with an object field.
pub fn has_objects(dtype: &Json) -> bool {
    let field_has = |field: &Json| field.as_array().and_then(|parts| parts.get(1)).is_some_and(has_objects);
    is_object(dtype) || dtype.as_array().is_some_and(|fields| fields.iter().any(field_has))
}

/// Returns true if the v2 codec with this id stores a chunk as nested lists, in the order of the axes, regardless of `order`.
pub(crate) fn nests_lists(id: &str) -> bool {
    matches!(id, "json2" | "json" | "msgpack2" | "msgpack")
}

impl DataType {
    /// Returns the type of Python objects, which are MessagePack values in memory. Only v2 has this type.
    pub fn object() -> Self {
        let name = NAME.to_owned();
        Self::Extension(Box::new(Extension {
            name,
            configuration: Map::default(),
            storage: Storage::Variable,
        }))
    }
}

/// Returns the error for a type without a name in v3.
pub(in crate::data_type) fn not_in_v3(name: &str, instead: &str) -> Error {
    Error::unsupported(format!("Zarr v3 has no data type '{name}'; create the array as v2, or {instead}"))
}

fn refused() -> Error {
    not_in_v3(NAME, "store text as 'string' and bytes as 'variable_length_bytes'")
}

impl Family for Objects {
    fn parse_v3(&self, name: &str, _: &Map) -> Option<Result<DataType>> {
        (name == NAME).then(|| Err(refused()))
    }

    fn parse_object(&self, dtype: &Json, codec: &Map) -> Option<Result<DataType>> {
        let nests = codec.get("id").and_then(Json::as_str).is_some_and(nests_lists);
        (nests && is_object(dtype)).then(|| Ok(DataType::object()))
    }

    fn examples(&self) -> Vec<DataType> {
        vec![DataType::object()]
    }

    fn has(&self, data_type: &DataType) -> bool {
        data_type.is_named(NAME)
    }

    fn to_v3(&self, _: &DataType) -> Result<Json> {
        Err(refused())
    }

    fn to_v2(&self, _: &DataType, _: Endian) -> Result<Json> {
        Ok("|O".into())
    }

    fn default_codec(&self, _: &DataType) -> Option<CodecSpec> {
        Some(CodecSpec::new("numcodecs.json2", Json::Null))
    }

    fn default_fill(&self, _: &DataType) -> FillValue {
        FillValue::new([NIL])
    }

    /// Accepts every JSON value.
    fn fill_from_json(&self, _: &DataType, json: &Json, _: Strictness) -> Result<FillValue> {
        let mut bytes = Vec::new();
        msgpack::from_json(json, &mut bytes).map_err(|error| Error::from(error).at("fill_value"))?;
        Ok(FillValue::new(bytes))
    }

    /// Returns the JSON of the object. An object that JSON cannot represent becomes its Python `repr`; this does not happen to
    /// fill values from metadata, which were converted from JSON.
    fn fill_to_v3(&self, data_type: &DataType, fill: &FillValue) -> Json {
        msgpack::to_json(fill.as_bytes()).unwrap_or_else(|_| self.format(data_type, fill.as_bytes()).into())
    }

    fn format(&self, _: &DataType, element: &[u8]) -> String {
        let mut text = String::new();
        let written = msgpack::element(element).and_then(|value| repr(&mut { value }, &mut text));
        // Bytes that are not a valid value are formatted as a byte string.
        written.map_or_else(|_| python::bytes(element), |()| text)
    }
}

/// Appends a value in the form of Python's `repr`. The recursion depth is limited, because the nesting of values is.
fn repr(rest: &mut &[u8], out: &mut String) -> Result<(), CodecError> {
    match Token::take(rest)? {
        Token::Nil => out.push_str("None"),
        Token::Bool(value) => out.push_str(if value { "True" } else { "False" }),
        Token::Uint(value) => out.push_str(&value.to_string()),
        Token::Int(value) => out.push_str(&value.to_string()),
        Token::F32(value) => out.push_str(&python::float(value.into())),
        Token::F64(value) => out.push_str(&python::float(value)),
        Token::Text(text) => match std::str::from_utf8(text) {
            Ok(text) => out.push_str(&python::text(&text.chars().map(u32::from))),
            Err(_) => out.push_str(&python::bytes(text)),
        },
        Token::Bytes(bytes) => out.push_str(&python::bytes(bytes)),
        Token::Extension(kind, bytes) => {
            out.push_str(&format!("ExtType(code={kind}, data={})", python::bytes(bytes)));
        }
        Token::List(count) => {
            out.push('[');
            for index in 0..count {
                separate(index, out);
                repr(rest, out)?;
            }
            out.push(']');
        }
        Token::Map(count) => {
            out.push('{');
            for index in 0..count {
                separate(index, out);
                repr(rest, out)?;
                out.push_str(": ");
                repr(rest, out)?;
            }
            out.push('}');
        }
    }
    Ok(())
}

fn separate(index: u32, out: &mut String) {
    if index > 0 {
        out.push_str(", ");
    }
}

#[cfg(test)]
mod tests {
    use crate::json::json;

    use super::*;
    use crate::error::ErrorKind;
    use crate::registry::Registry;

    fn pack(json: &Json) -> Vec<u8> {
        Objects.fill_from_json(&DataType::object(), json, Strictness::Strict).unwrap().as_bytes().to_vec()
    }

    #[test]
    fn only_version_2_has_objects() {
        let registry = Registry::new();
        for id in ["json2", "json", "msgpack2", "msgpack"] {
            let codec = json!({"id": id}).as_object().cloned().unwrap();
            assert_eq!(registry.object_type_from_v2([&codec]).unwrap(), DataType::object());
        }
        let pickle = json!({"id": "pickle", "protocol": 5}).as_object().cloned().unwrap();
        let error = registry.object_type_from_v2([&pickle]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.to_string().contains("not safe") && error.to_string().contains("MsgPack"), "{error}");
        let family = registry.family(&DataType::object()).unwrap();
        assert_eq!(family.to_v2(&DataType::object(), Endian::Little).unwrap(), json!("|O"));
        for error in [
            family.to_v3(&DataType::object()).unwrap_err(),
            registry.data_type_from_v3(&json!("object")).unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::Unsupported);
            assert!(error.to_string().contains("Zarr v3 has no data type 'object'"), "{error}");
        }
        assert_eq!(DataType::object().to_string(), "object");
    }

    #[test]
    fn fill_values_are_any_json() {
        let object = DataType::object();
        for json in [json!(0), json!(null), json!(""), json!("NaN"), json!(-1.5), json!([1, {"a": []}])] {
            let fill = Objects.fill_from_json(&object, &json, Strictness::Strict).unwrap();
            assert_eq!(Objects.fill_to_v2(&object, &fill), json);
        }
        assert_eq!(Objects.fill_to_v2(&object, &Objects.default_fill(&object)), Json::Null);
    }

    #[test]
    fn elements_print_as_python_prints_them() {
        let format = |element: &[u8]| Objects.format(&DataType::object(), element);
        let cases = [
            (json!(null), "None"),
            (json!(true), "True"),
            (json!("it's"), "\"it's\""),
            (json!(1.5), "1.5"),
            (json!(1e16), "1e+16"),
            (json!(-7), "-7"),
            (json!([1, 2, []]), "[1, 2, []]"),
            (json!({"a": 1, "b": {}}), "{'a': 1, 'b': {}}"),
        ];
        for (json, text) in cases {
            assert_eq!(format(&pack(&json)), text);
        }
        assert_eq!(format(b""), "None");
        assert_eq!(format(b"\xc4\x02a\0"), "b'a\\x00'");
        assert_eq!(format(b"\xd4\x05x"), "ExtType(code=5, data=b'x')");
        assert_eq!(format(b"\xcb\x7f\xf8\0\0\0\0\0\0"), "nan");
        assert_eq!(format(b"\xc1"), "b'\\xc1'");
        assert!(format(&[0x91; 4000]).starts_with("b'"));
    }
}
