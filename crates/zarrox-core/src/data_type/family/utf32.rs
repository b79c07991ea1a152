//! Fixed-length strings, with four bytes for each character: v3 `fixed_length_utf32` with a `length_bytes`; v2 `<U<n>`, where `n`
//! is the number of characters. Shorter strings are padded with NULs.

use super::{DataType, Endian, Extension, Family, Storage, TypeString, bad_fill};
use crate::error::{Error, Result};
use crate::fill_value::FillValue;
use crate::json::{Json, Map};
use crate::strictness::Strictness;

/// The family of fixed-length strings.
#[derive(Debug)]
pub(crate) struct FixedText;

const NAME: &str = "fixed_length_utf32";

/// Creates the type of strings of this number of bytes, four for each character.
pub(in crate::data_type) fn of_bytes(bytes: usize) -> Result<DataType> {
    super::check_length(NAME, bytes)?;
    if !bytes.is_multiple_of(4) {
        return Err(Error::metadata(format!(
            "data type '{NAME}': length_bytes must be a multiple of 4, but it is {bytes}"
        )));
    }
    let mut configuration = Map::default();
    configuration.insert("length_bytes".to_owned(), bytes.into());
    let name = NAME.to_owned();
    Ok(DataType::Extension(Box::new(Extension { name, configuration, storage: Storage::Utf32(bytes) })))
}

impl DataType {
    /// Creates the type of strings of at most this number of characters, which take four bytes each: NumPy's `U5`.
    ///
    /// # Errors
    /// When an element would be too large.
    pub fn fixed_length_utf32(characters: usize) -> Result<Self> {
        of_bytes(characters.saturating_mul(4))
    }
}

/// Returns the display name, such as `U5`.
pub(in crate::data_type) fn numpy_name(data_type: &DataType) -> Option<String> {
    data_type.is_named(NAME).then(|| format!("U{}", data_type.size() / 4))
}

impl Family for FixedText {
    fn parse_v3(&self, name: &str, configuration: &Map) -> Option<Result<DataType>> {
        (name == NAME).then(|| super::length_bytes(name, configuration).and_then(of_bytes))
    }

    fn parse_v2(&self, dtype: &TypeString<'_>) -> Option<Result<DataType>> {
        let characters = dtype.size().filter(|_| dtype.kind == 'U' && dtype.endian.is_some())?;
        Some(of_bytes(characters.saturating_mul(4)))
    }

    fn examples(&self) -> Vec<DataType> {
        of_bytes(12).into_iter().collect()
    }

    fn has(&self, data_type: &DataType) -> bool {
        data_type.is_named(NAME)
    }

    fn to_v2(&self, data_type: &DataType, endian: Endian) -> Result<Json> {
        Ok(format!("{}U{}", endian.character(), data_type.size() / 4).into())
    }

    fn fill_from_json(&self, data_type: &DataType, json: &Json, strictness: Strictness) -> Result<FillValue> {
        let size = data_type.size();
        let wanted = || bad_fill(data_type, json, "a string");
        let text = match json {
            Json::String(text) => text.as_str(),
            // Early versions of zarr-python wrote 0 for an undefined value.
            Json::Number(number) if strictness == Strictness::Lenient && number.as_u64() == Some(0) => "",
            // In a string type, Python's tokens such as `NaN` are ordinary words.
            Json::Number(number) if strictness == Strictness::Lenient => {
                number.as_token().ok_or_else(wanted)?
            }
            _ => return Err(wanted()),
        };
        let mut bytes: Vec<u8> = text.chars().flat_map(|c| u32::from(c).to_ne_bytes()).collect();
        if bytes.len() > size {
            return Err(bad_fill(data_type, json, &format!("a string of at most {} characters", size / 4)));
        }
        bytes.resize(size, 0);
        Ok(FillValue::new(bytes))
    }

    fn fill_to_v3(&self, _: &DataType, fill: &FillValue) -> Json {
        text(fill.as_bytes()).into()
    }

    fn format(&self, _: &DataType, element: &[u8]) -> String {
        super::python::text(&code_points(element).into_iter())
    }
}

fn code_points(element: &[u8]) -> Vec<u32> {
    let points = element.chunks_exact(4).map(|bytes| u32::from_ne_bytes(super::number::bytes_of(bytes)));
    let mut points: Vec<u32> = points.collect();
    let length = points.iter().rposition(|&point| point != 0).map_or(0, |last| last + 1);
    points.truncate(length);
    points
}

/// Returns an element as a string. Invalid code points, which no writer creates intentionally, become the replacement character.
pub fn text(element: &[u8]) -> String {
    let character = |point| char::from_u32(point).unwrap_or(char::REPLACEMENT_CHARACTER);
    code_points(element).into_iter().map(character).collect()
}

#[cfg(test)]
mod tests {
    use crate::json::json;

    use super::super::ByteOrder;
    use super::*;
    use crate::registry::Registry;

    #[test]
    fn names_and_fill_values_in_both_formats() {
        let registry = Registry::new();
        let (three, endian) = registry.data_type_from_v2(&json!(">U3")).unwrap();
        assert_eq!(endian, Some(ByteOrder::One(Endian::Big)));
        assert_eq!((three.size(), three.storage().word()), (12, 4));
        let v3 = json!({"name": "fixed_length_utf32", "configuration": {"length_bytes": 12}});
        assert_eq!(registry.data_type_from_v3(&v3).unwrap(), three);
        let family = registry.family(&three).unwrap();
        assert_eq!(family.to_v3(&three).unwrap(), v3);
        assert_eq!(family.to_v2(&three, Endian::Little).unwrap(), json!("<U3"));
        for text in ["", "a", "né🧊"] {
            let fill = family.fill_from_json(&three, &json!(text), Strictness::Strict).unwrap();
            assert_eq!(family.fill_to_v3(&three, &fill), json!(text));
            assert_eq!(family.fill_to_v2(&three, &fill), json!(text));
            assert_eq!(family.format(&three, fill.as_bytes()), format!("'{text}'"));
        }
        assert_eq!(
            family.fill_from_json(&three, &json!("four"), Strictness::Lenient).unwrap_err().kind(),
            crate::ErrorKind::InvalidMetadata
        );
        let odd = json!({"name": "fixed_length_utf32", "configuration": {"length_bytes": 6}});
        assert!(registry.data_type_from_v3(&odd).unwrap_err().to_string().contains("multiple of 4"));
    }

    #[test]
    fn invalid_characters_are_printed_and_never_panic() {
        let element = [0xd800_u32, 0x0011_0000, 0x27, 0].map(u32::to_ne_bytes).concat();
        assert_eq!(super::super::python::text(&code_points(&element).into_iter()), "\"\\ud800\\U00110000'\"");
        assert_eq!(text(&element), "\u{fffd}\u{fffd}'");
    }
}
