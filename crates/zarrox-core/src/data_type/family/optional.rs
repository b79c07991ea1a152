//! Optional elements: the v3 type `zarrs.optional` (also `optional`), which the Rust library zarrs writes.
//!
//! `{"name": "zarrs.optional", "configuration": {"name": …, "configuration": {…}}}` contains the type of the values, which may be
//! optional itself. The fill value is `null`, or a list with one value. In memory, an element is a byte (1 if the value is
//! present, 0 if it is missing) followed by the value, which is zero if it is missing. If values have variable length, a missing
//! element has no bytes, and any other element is the byte 1 followed by the bytes of its value.

use std::sync::Arc;

use crate::json::json;

use super::model::OPTIONAL as NAME;
use super::variable;
use super::{
    DataType, Endian, Extension, Family, FamilyRef, KnownTypes, LARGEST, Leaf, Storage, StructLayout,
    bad_fill,
};
use crate::codec::CodecSpec;
use crate::error::{Error, Result};
use crate::fill_value::FillValue;
use crate::json::{Json, Map};
use crate::strictness::Strictness;

/// The family of optional types, whose values have known types.
#[derive(Debug)]
pub(crate) struct Optionals(pub(crate) &'static dyn KnownTypes);

/// The name that early versions of zarrs wrote.
const LEGACY: &str = "optional";

/// The maximum nesting of optional types: deeper nesting indicates an error or an attack.
const DEEPEST: usize = 8;

/// Returns the optional type of a known type.
///
/// # Errors
/// When the type is unknown, v3 does not have it, or an element would be too large.
pub(in crate::data_type) fn of(value: &DataType, known: &dyn KnownTypes) -> Result<DataType> {
    let family = known.family_of(value)?;
    if value.size() + 1 > LARGEST || depth(value, known) >= DEEPEST {
        return Err(Error::metadata(format!(
            "the type {value} is too large or nested too deeply to be optional"
        )));
    }
    let configuration = match family.to_v3(value)? {
        Json::Object(map) => map,
        name => Map::from_iter([("name".to_owned(), name), ("configuration".to_owned(), json!({}))]),
    };
    let storage = match value.storage() {
        Storage::Variable => Storage::Variable,
        fixed => with_presence_byte(&fixed),
    };
    Ok(DataType::Extension(Box::new(Extension { name: NAME.to_owned(), configuration, storage })))
}

/// Returns the type of the values of an optional type.
pub(in crate::data_type) fn value_of(data_type: &DataType, known: &dyn KnownTypes) -> Option<DataType> {
    let DataType::Extension(extension) = data_type else { return None };
    let configuration = Some(&extension.configuration).filter(|_| extension.name == NAME)?;
    value_type(configuration, known).ok()
}

/// Returns the layout of an optional value: a presence byte, which is 1 if the value is present, followed by the value.
fn with_presence_byte(value: &Storage) -> Storage {
    let inside = |leaf: Leaf| Leaf { offset: leaf.offset + 1, ..leaf };
    let mut leaves = vec![Leaf { offset: 0, size: 1, word: 1 }];
    leaves.extend(value.leaves().into_iter().map(inside));
    Storage::Struct(Arc::new(StructLayout { size: value.size() + 1, leaves }))
}

/// Returns the number of nested optional types.
fn depth(data_type: &DataType, known: &dyn KnownTypes) -> usize {
    value_of(data_type, known).map_or(0, |value| 1 + depth(&value, known))
}

fn value_type(configuration: &Map, known: &dyn KnownTypes) -> Result<DataType> {
    let name = configuration.get("name").filter(|name| name.is_string());
    if name.is_none() || configuration.keys().any(|key| !["name", "configuration"].contains(&key.as_str())) {
        let message =
            "an optional type's configuration must have the 'name' and the 'configuration' of another type";
        return Err(Error::metadata(message));
    }
    known.type_from_v3(&Json::Object(configuration.clone()))
}

impl Optionals {
    /// Returns the type of the values, with its family.
    fn value(&self, data_type: &DataType) -> Result<(DataType, FamilyRef<'static>)> {
        let value = value_of(data_type, self.0);
        let value = value.ok_or_else(|| Error::argument(format!("{data_type} is not optional")))?;
        let family = self.0.family_of(&value)?;
        Ok((value, family))
    }
}

impl Family for Optionals {
    fn parse_v3(&self, name: &str, configuration: &Map) -> Option<Result<DataType>> {
        [NAME, LEGACY].contains(&name).then(|| of(&value_type(configuration, self.0)?, self.0))
    }

    fn examples(&self) -> Vec<DataType> {
        let values = [DataType::UInt8, DataType::Float64, variable::named(variable::TEXT)];
        values.iter().filter_map(|value| of(value, self.0).ok()).collect()
    }

    fn has(&self, data_type: &DataType) -> bool {
        data_type.is_named(NAME)
    }

    /// Returns the codec that stores a boolean for each element in one array, and the present values in another array.
    fn default_codec(&self, data_type: &DataType) -> Option<CodecSpec> {
        let (value, family) = self.value(data_type).ok()?;
        let bytes = || match value.storage().word() {
            1 => CodecSpec::new("bytes", Json::Null),
            _ => CodecSpec::new("bytes", json!({"endian": Endian::Little.name()})),
        };
        let values = family.default_codec(&value).unwrap_or_else(bytes);
        Some(CodecSpec::new(
            NAME,
            json!({
                "mask_codecs": [{"name": "packbits"}],
                "data_codecs": [{"name": values.name, "configuration": values.configuration}],
            }),
        ))
    }

    fn fill_from_json(&self, data_type: &DataType, json: &Json, strictness: Strictness) -> Result<FillValue> {
        let (value, family) = self.value(data_type)?;
        match json {
            Json::Null => Ok(self.default_fill(data_type)),
            Json::Array(list) if list.len() == 1 => {
                let fill = family.fill_from_json(&value, &list[0], strictness)?;
                Ok(FillValue::new([&[1], fill.as_bytes()].concat()))
            }
            _ => Err(bad_fill(data_type, json, "null, or a list of one value")),
        }
    }

    fn fill_to_v3(&self, data_type: &DataType, fill: &FillValue) -> Json {
        let (Some(value), Ok((value_type, family))) = (present(fill.as_bytes()), self.value(data_type))
        else {
            return Json::Null;
        };
        json!([family.fill_to_v3(&value_type, &FillValue::new(value))])
    }

    /// Formats a missing element as `null`, and any other element as its value, in brackets if the value is itself optional.
    fn format(&self, data_type: &DataType, element: &[u8]) -> String {
        let (Some(value), Ok((value_type, family))) = (present(element), self.value(data_type)) else {
            return "null".to_owned();
        };
        let text = family.format(&value_type, value);
        if self.has(&value_type) { format!("[{text}]") } else { text }
    }
}

/// Returns the value of an element, if it is present.
fn present(element: &[u8]) -> Option<&[u8]> {
    element.split_first().filter(|(present, _)| **present != 0).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Registry;
    use crate::vlen::VlenRef;

    fn parse(json: &Json) -> Result<DataType> {
        Registry::new().data_type_from_v3(json)
    }

    fn of(name: &str, configuration: Json) -> Json {
        let value =
            Map::from_iter([("name".to_owned(), name.into()), ("configuration".to_owned(), configuration)]);
        json!({"name": NAME, "configuration": value})
    }

    #[test]
    fn types_survive() {
        let registry = Registry::new();
        let fields = json!([{"name": "a", "data_type": "int16"}, {"name": "b", "data_type": "float64"}]);
        for (json, size) in [
            (of("uint8", json!({})), 2),
            (of("complex128", json!({})), 17),
            (of("numpy.datetime64", json!({"unit": "s", "scale_factor": 1})), 9),
            (of("struct", json!({"fields": fields})), 11),
            (of(NAME, json!({"name": "int4", "configuration": {}})), 3),
            (of("string", json!({})), VlenRef::SIZE),
        ] {
            let data_type = parse(&json).unwrap();
            assert_eq!(registry.family(&data_type).unwrap().to_v3(&data_type).unwrap(), json);
            assert_eq!((data_type.size(), data_type.storage().size()), (size, size));
            let mut legacy = json.clone();
            legacy["name"] = LEGACY.into();
            assert_eq!(parse(&legacy).unwrap(), data_type);
        }
        let short = json!({"name": NAME, "configuration": {"name": "uint8"}});
        assert_eq!(parse(&short).unwrap(), DataType::optional(DataType::UInt8).unwrap());
    }

    #[test]
    fn the_bytes_of_the_values_have_their_order() {
        let leaves = DataType::optional(DataType::Complex64).unwrap().storage().leaves();
        assert_eq!(leaves, [Leaf { offset: 0, size: 1, word: 1 }, Leaf { offset: 1, size: 8, word: 4 }]);
    }

    #[test]
    fn fill_values_and_texts() {
        let registry = Registry::new();
        let number = parse(&of("uint8", json!({}))).unwrap();
        let nested = parse(&of(NAME, json!({"name": "uint8", "configuration": {}}))).unwrap();
        let text = parse(&of("string", json!({}))).unwrap();
        // The JSON that zarrs writes for these values.
        for (data_type, json, bytes, text) in [
            (&number, json!(null), &[0, 0][..], "null"),
            (&number, json!([42]), &[1, 42], "42"),
            (&nested, json!(null), &[0, 0, 0], "null"),
            (&nested, json!([null]), &[1, 0, 0], "[null]"),
            (&nested, json!([[42]]), &[1, 1, 42], "[42]"),
            (&text, json!(null), &[], "null"),
            (&text, json!([""]), &[1], "''"),
            (&text, json!(["a"]), &[1, b'a'], "'a'"),
        ] {
            let family = registry.family(data_type).unwrap();
            let fill = family.fill_from_json(data_type, &json, Strictness::Strict).unwrap();
            assert_eq!(fill.as_bytes(), bytes);
            assert_eq!(family.fill_to_v3(data_type, &fill), json);
            assert_eq!(family.format(data_type, bytes), text);
        }
        for bad in [json!(42), json!([]), json!([1, 2]), json!([null]), json!([256]), json!("null")] {
            let family = registry.family(&number).unwrap();
            assert!(family.fill_from_json(&number, &bad, Strictness::Lenient).is_err(), "{bad}");
        }
        let family = registry.family(&number).unwrap();
        assert_eq!(family.default_fill(&number).as_bytes(), [0, 0]);
    }

    #[test]
    fn other_types_are_refused_by_name() {
        let mut deep = json!("uint8");
        for _ in 0..DEEPEST + 1 {
            let name = deep.get("name").cloned().unwrap_or_else(|| deep.clone());
            let configuration = deep.get("configuration").cloned().unwrap_or_else(|| json!({}));
            deep = of(name.as_str().unwrap(), configuration);
        }
        for (json, says) in [
            (of("nosuch", json!({})), "nosuch"),
            (json!(NAME), "must have the 'name'"),
            (json!({"name": NAME, "configuration": {"name": 1}}), "must have the 'name'"),
            (json!({"name": NAME, "configuration": {"name": "uint8", "more": 1}}), "must have the 'name'"),
            (deep, "nested too deep"),
        ] {
            let error = parse(&json).unwrap_err().to_string();
            assert!(error.contains(says), "{json}: {error}");
        }
        let optional = DataType::optional(DataType::UInt8).unwrap();
        let error = DataType::structure([("x", optional)]).unwrap_err().to_string();
        assert!(error.contains("'x'") && error.contains("optional"), "{error}");
    }
}
