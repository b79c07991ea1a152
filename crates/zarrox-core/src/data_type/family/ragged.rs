//! Elements that are arrays of numbers, of any length: v2's `|O` with the codec `vlen-array`. In memory, an element consists of
//! its numbers in native byte order; the codec defines the stored form. v3 has no such type.

use std::borrow::Borrow;

use crate::json::json;

use super::object::{is_object, not_in_v3};
use super::{DataType, Endian, Extension, Family, Storage, TypeString, bad_fill};
use super::{bool, complex, float, integer, time};
use crate::codec::CodecSpec;
use crate::error::{Error, Result};
use crate::fill_value::FillValue;
use crate::json::{Json, Map};
use crate::strictness::Strictness;

/// The family of ragged types.
#[derive(Debug)]
pub(crate) struct Ragged;

/// The name in the model.
const NAME: &str = "vlen_array";

/// The families of numeric types.
static NUMBERS: [&dyn Family; 5] =
    [&bool::Bool, &integer::Integers, &float::Floats, &complex::Complexes, &time::Times];

impl DataType {
    /// Returns the type whose elements are arrays of any length of numbers of the given type. Only v2 has this type.
    ///
    /// # Errors
    /// When the type is not a core type of numbers or booleans.
    pub fn vlen_array(item: impl Borrow<Self>) -> Result<Self> {
        let item = item.borrow();
        let Some(family) = NUMBERS.into_iter().find(|family| family.has(item)) else {
            let message = format!("arrays as elements must consist of numbers, not of {item}");
            return Err(Error::argument(message));
        };
        let configuration = Map::from_iter([("data_type".to_owned(), family.to_v3(item)?)]);
        let (name, storage) = (NAME.to_owned(), Storage::Variable);
        Ok(Self::Extension(Box::new(Extension { name, configuration, storage })))
    }

    /// Returns the type of the numbers in a [`vlen_array`](DataType::vlen_array); `None` for all other types.
    pub fn vlen_item(&self) -> Option<Self> {
        let Self::Extension(extension) = self else { return None };
        let item = extension.configuration.get("data_type").filter(|_| extension.name == NAME)?;
        let name = item.as_str().or_else(|| item.get("name")?.as_str())?;
        let none = Map::default();
        let configuration = item.get("configuration").and_then(Json::as_object).unwrap_or(&none);
        NUMBERS.iter().find_map(|family| family.parse_v3(name, configuration))?.ok()
    }
}

/// Returns the family and the type of the numbers.
fn numbers(data_type: &DataType) -> Option<(&'static dyn Family, DataType)> {
    let item = data_type.vlen_item()?;
    let family = NUMBERS.into_iter().find(|family| family.has(&item))?;
    Some((family, item))
}

fn refused() -> Error {
    not_in_v3(NAME, "add a dimension")
}

impl Family for Ragged {
    fn parse_v3(&self, name: &str, _: &Map) -> Option<Result<DataType>> {
        (name == NAME).then(|| Err(refused()))
    }

    fn parse_object(&self, dtype: &Json, codec: &Map) -> Option<Result<DataType>> {
        codec.get("id").and_then(Json::as_str).filter(|id| *id == "vlen-array" && is_object(dtype))?;
        let dtype = codec.get("dtype").and_then(Json::as_str).unwrap_or_default();
        let item = TypeString::parse(dtype)
            .and_then(|dtype| NUMBERS.iter().find_map(|family| family.parse_v2(&dtype)));
        let unknown = || {
            Err(Error::unsupported(format!(
                "the codec 'vlen-array' stores arrays of {dtype:?}; only numbers are supported, such as \"<i4\""
            )))
        };
        Some(item.unwrap_or_else(unknown).and_then(|item| DataType::vlen_array(&item)))
    }

    fn examples(&self) -> Vec<DataType> {
        DataType::vlen_array(DataType::Int32).into_iter().collect()
    }

    fn has(&self, data_type: &DataType) -> bool {
        data_type.vlen_item().is_some()
    }

    fn to_v3(&self, _: &DataType) -> Result<Json> {
        Err(refused())
    }

    fn to_v2(&self, _: &DataType, _: Endian) -> Result<Json> {
        Ok("|O".into())
    }

    fn default_codec(&self, data_type: &DataType) -> Option<CodecSpec> {
        let (family, item) = numbers(data_type)?;
        let dtype = family.to_v2(&item, Endian::Little).ok()?;
        Some(CodecSpec::new("numcodecs.vlen-array", json!({"dtype": dtype})))
    }

    /// Parses `null` as an empty array, and a number as an array of one number: numcodecs stores 0, the default of zarr-python 2,
    /// this way.
    fn fill_from_json(&self, data_type: &DataType, json: &Json, strictness: Strictness) -> Result<FillValue> {
        let wanted = || bad_fill(data_type, json, "a list of numbers");
        let (family, item) = numbers(data_type).ok_or_else(wanted)?;
        let list = match json {
            Json::Null => &[],
            Json::Array(list) => list.as_slice(),
            number => std::slice::from_ref(number),
        };
        let mut bytes = Vec::new();
        for json in list {
            let fill = family.fill_from_json(&item, json, strictness).map_err(|_| wanted())?;
            bytes.extend_from_slice(fill.as_bytes());
        }
        Ok(FillValue::new(bytes))
    }

    fn fill_to_v3(&self, data_type: &DataType, fill: &FillValue) -> Json {
        let Some((family, item)) = numbers(data_type) else { return Json::Null };
        let chunks = fill.as_bytes().chunks_exact(item.size());
        chunks.map(|number| family.fill_to_v2(&item, &FillValue::new(number))).collect()
    }

    /// Returns `null`, zarr-python's undefined value, for an empty array.
    fn fill_to_v2(&self, data_type: &DataType, fill: &FillValue) -> Json {
        if fill.as_bytes().is_empty() { Json::Null } else { self.fill_to_v3(data_type, fill) }
    }

    fn format(&self, data_type: &DataType, element: &[u8]) -> String {
        let Some((family, item)) = numbers(data_type) else { return super::python::bytes(element) };
        let numbers = element.chunks_exact(item.size()).map(|number| family.format(&item, number));
        format!("[{}]", numbers.collect::<Vec<_>>().join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Registry;

    fn of(dtype: &str) -> Result<DataType> {
        let codec = json!({"id": "vlen-array", "dtype": dtype}).as_object().cloned().unwrap();
        Registry::new().object_type_from_v2([&codec])
    }

    #[test]
    fn the_codec_says_what_the_numbers_are() {
        let registry = Registry::new();
        for (dtype, item, written) in [
            ("<i4", DataType::Int32, "<i4"),
            (">i4", DataType::Int32, "<i4"),
            ("|u1", DataType::UInt8, "|u1"),
            ("|b1", DataType::Bool, "|b1"),
            ("<f2", DataType::Float16, "<f2"),
            (">c16", DataType::Complex128, "<c16"),
            (">M8[25s]", DataType::parse("<M8[25s]", &registry).unwrap(), "<M8[25s]"),
        ] {
            let ragged = of(dtype).unwrap();
            assert_eq!(ragged, DataType::vlen_array(&item).unwrap());
            assert_eq!(ragged.vlen_item(), Some(item));
            let family = registry.family(&ragged).unwrap();
            assert_eq!(family.to_v2(&ragged, Endian::Big).unwrap(), json!("|O"));
            assert!(family.to_v3(&ragged).unwrap_err().to_string().contains("'vlen_array'"));
            let codec = family.default_codec(&ragged).unwrap();
            assert_eq!(codec.configuration.get("dtype"), Some(&json!(written)));
        }
        for bad in ["", "O", "|O", "<U4", "|S4", "<i3"] {
            let error = of(bad).unwrap_err().to_string();
            assert!(error.contains("vlen-array") && error.contains(bad), "{error}");
        }
        assert_eq!(
            DataType::vlen_array(DataType::RawBits(3)).unwrap_err().kind(),
            crate::ErrorKind::InvalidArgument
        );
        assert_eq!(
            DataType::vlen_array(DataType::object()).unwrap_err().kind(),
            crate::ErrorKind::InvalidArgument
        );
        assert_eq!(of("<f8").unwrap().to_string(), "vlen_array(data_type=\"float64\")");
    }

    #[test]
    fn fill_values_and_text() {
        let ragged = of("<i2").unwrap();
        let fill = |json: Json| Ragged.fill_from_json(&ragged, &json, Strictness::Strict);
        for (json, numbers) in
            [(json!(null), &[][..]), (json!(0), &[0]), (json!([]), &[]), (json!([1, -2, 3]), &[1, -2, 3])]
        {
            let value = fill(json).unwrap();
            let bytes: Vec<u8> = numbers.iter().flat_map(|number: &i16| number.to_ne_bytes()).collect();
            assert_eq!(value.as_bytes(), bytes);
            let written = Ragged.fill_to_v2(&ragged, &value);
            assert_eq!(fill(written).unwrap(), value);
        }
        assert_eq!(Ragged.format(&ragged, fill(json!([1, -2])).unwrap().as_bytes()), "[1 -2]");
        assert_eq!(Ragged.format(&ragged, b""), "[]");
        for bad in [json!("x"), json!([1, 100_000]), json!([[1]]), json!({})] {
            assert!(fill(bad).unwrap_err().to_string().contains("a list of numbers"));
        }
    }
}
