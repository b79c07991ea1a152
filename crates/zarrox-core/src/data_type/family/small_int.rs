//! Integers of 2 and 4 bits: `int2`, `int4`, `uint2`, `uint4`. v3 only.
//!
//! Each element takes one byte, whose unused upper bits have no meaning in the store. In memory, the byte is the value as an
//! 8-bit integer, so that `i8` and `u8` can hold it.
//!
//! <https://github.com/zarr-developers/zarr-extensions/tree/main/data-types>

use super::number::write;
use super::{DataType, Extension, Family, Number, Storage, Structure, bad_fill, integer};
use crate::error::{Error, Result};
use crate::fill_value::FillValue;
use crate::json::{Json, Map};
use crate::strictness::Strictness;
use crate::strided::{View, ViewMut};

/// The family of small integers.
#[derive(Debug)]
pub(crate) struct SmallInts;

#[derive(Debug)]
struct Layout {
    name: &'static str,
    bits: u32,
    signed: bool,
}

const LAYOUTS: &[Layout] = &[
    Layout { name: "int2", bits: 2, signed: true },
    Layout { name: "int4", bits: 4, signed: true },
    Layout { name: "uint2", bits: 2, signed: false },
    Layout { name: "uint4", bits: 4, signed: false },
];

impl Layout {
    fn data_type(&self) -> DataType {
        let storage = if self.signed { Storage::Int(1) } else { Storage::Uint(1) };
        let extension = Extension { name: self.name.to_owned(), configuration: Map::default(), storage };
        DataType::Extension(Box::new(extension))
    }

    /// Returns the lower bits of the byte, extended to an 8-bit integer.
    fn extended(&self, byte: u8) -> u8 {
        let unused = 8 - self.bits;
        let high = byte << unused;
        if self.signed { (high.cast_signed() >> unused).cast_unsigned() } else { high >> unused }
    }

    fn value(&self, byte: u8) -> i16 {
        let byte = self.extended(byte);
        if self.signed { byte.cast_signed().into() } else { byte.into() }
    }

    fn range(&self) -> String {
        let numbers = 1_i16 << self.bits;
        let lowest = if self.signed { -numbers / 2 } else { 0 };
        format!("{lowest} to {}", lowest + numbers - 1)
    }

    /// Returns the byte for a number, if the number is in the range of the type.
    fn byte(&self, number: i128) -> Option<u8> {
        let [byte, ..] = number.to_le_bytes();
        (i128::from(self.value(byte)) == number).then_some(byte)
    }
}

fn layout_of(data_type: &DataType) -> Option<&'static Layout> {
    let DataType::Extension(extension) = data_type else { return None };
    LAYOUTS.iter().find(|layout| layout.name == extension.name)
}

impl DataType {
    /// Normalises one-byte elements after a read: booleans become 0 or 1, and small integers become 8-bit integers, including
    /// those in the fields of structured elements and in optional values. The first byte of an optional value becomes 0 or 1.
    /// Elements of all other types are unchanged.
    ///
    /// Typed elements require this, because a `bool` with any other byte is undefined behaviour.
    #[doc(hidden)]
    pub fn normalise(&self, elements: &mut ViewMut<'_>) {
        if let Some(value) = self.fixed_optional_value() {
            elements.reborrow().into_field(0, 1).map_bytes(|byte| u8::from(byte != 0));
            if value.has_canonical_form() {
                value.normalise(&mut elements.reborrow().into_field(1, value.size()));
            }
            return;
        }
        if let Some(structure) = self.fields() {
            for field in structure.fields().iter().filter(|field| field.data_type.has_canonical_form()) {
                let item = field.data_type.size();
                for start in (field.offset..).step_by(item).take(field.count()) {
                    field.data_type.normalise(&mut elements.reborrow().into_field(start, item));
                }
            }
        } else if matches!(self.storage(), Storage::Bool) {
            elements.map_bytes(|byte| u8::from(byte != 0));
        } else if let Some(layout) = layout_of(self) {
            elements.map_bytes(|byte| layout.extended(byte));
        }
    }

    /// Returns the type of the values of an optional type, if they have a fixed length.
    fn fixed_optional_value(&self) -> Option<Self> {
        self.optional_value().filter(|value| value.storage() != Storage::Variable)
    }

    /// Returns true if different bytes may be stored for the same value.
    fn has_canonical_form(&self) -> bool {
        let inside =
            |structure: &Structure| structure.fields().iter().any(|f| f.data_type.has_canonical_form());
        matches!(self.storage(), Storage::Bool)
            || layout_of(self).is_some()
            || self.fixed_optional_value().is_some()
            || self.fields().is_some_and(inside)
    }

    /// Rejects small integers that are out of range, because they would be read as other values.
    #[doc(hidden)]
    pub fn check_range(&self, elements: &View<'_>) -> Result<()> {
        if let Some(structure) = self.fields() {
            let mut ranged = structure.fields().iter().filter(|field| field.data_type.has_canonical_form());
            return ranged.try_for_each(|field| {
                let item = field.data_type.size();
                let mut starts = (field.offset..).step_by(item).take(field.count());
                starts.try_for_each(|at| field.data_type.check_range(&elements.clone().field(at, item)))
            });
        }
        if let Some(value) = self.fixed_optional_value() {
            return value.check_range(&elements.clone().field(1, value.size()));
        }
        let Some(layout) = layout_of(self) else { return Ok(()) };
        let mut copy = Vec::new();
        let bytes = elements.as_slice().unwrap_or_else(|| {
            elements.append_to(&mut copy, 1);
            &copy
        });
        let Some(&byte) = bytes.iter().find(|&&byte| layout.extended(byte) != byte) else { return Ok(()) };
        let number = if layout.signed { byte.cast_signed().to_string() } else { byte.to_string() };
        Err(Error::argument(format!(
            "{number} is outside of the range of {}, which goes from {}",
            layout.name,
            layout.range()
        )))
    }
}

impl Family for SmallInts {
    fn parse_v3(&self, name: &str, _: &Map) -> Option<Result<DataType>> {
        LAYOUTS.iter().find(|layout| layout.name == name).map(|layout| Ok(layout.data_type()))
    }

    fn examples(&self) -> Vec<DataType> {
        LAYOUTS.iter().map(Layout::data_type).collect()
    }

    fn has(&self, data_type: &DataType) -> bool {
        layout_of(data_type).is_some()
    }

    fn fill_from_json(&self, data_type: &DataType, json: &Json, strictness: Strictness) -> Result<FillValue> {
        let layout = layout_of(data_type);
        let range = layout.map_or(String::new(), Layout::range);
        let byte = layout.zip(integer::from_json(json, strictness)).and_then(|(layout, n)| layout.byte(n));
        let byte = byte.ok_or_else(|| bad_fill(data_type, json, &format!("an integer from {range}")))?;
        Ok(FillValue::new([byte]))
    }

    fn fill_to_v3(&self, data_type: &DataType, fill: &FillValue) -> Json {
        value(data_type, fill.as_bytes()).map_or(Json::Null, Json::from)
    }

    fn number(&self, data_type: &DataType, element: &[u8]) -> Option<Number> {
        value(data_type, element).map(|value| Number::Integer(value.into()))
    }

    #[expect(clippy::cast_possible_truncation, reason = "documented at `Casting::Lossy`")]
    fn write_number(&self, data_type: &DataType, number: Number, element: &mut [u8]) -> bool {
        let Some(layout) = layout_of(data_type) else { return false };
        let whole = match number {
            Number::Integer(value) => value,
            Number::Float(value) | Number::Complex(value, _) => {
                let numbers = 1_i128 << layout.bits;
                let lowest = if layout.signed { -numbers / 2 } else { 0 };
                (value as i128).clamp(lowest, lowest + numbers - 1)
            }
        };
        let [byte, ..] = whole.to_le_bytes();
        write(element, &[layout.extended(byte)])
    }

    fn format(&self, data_type: &DataType, element: &[u8]) -> String {
        value(data_type, element).map_or_else(String::new, |value| value.to_string())
    }
}

fn value(data_type: &DataType, element: &[u8]) -> Option<i16> {
    Some(layout_of(data_type)?.value(*element.first()?))
}

#[cfg(test)]
mod tests {
    use crate::json::json;

    use super::super::Endian;
    use super::*;

    fn named(name: &str) -> DataType {
        SmallInts.parse_v3(name, &Map::default()).unwrap().unwrap()
    }

    /// Values of `ml_dtypes` 0.6.
    #[test]
    fn bytes_have_the_values_of_ml_dtypes() {
        let bytes = [0, 1, 2, 3, 7, 8, 15, 0xff, 0xf1, 0x10];
        for (name, values) in [
            ("int2", [0, 1, -2, -1, -1, 0, -1, -1, 1, 0]),
            ("int4", [0, 1, 2, 3, 7, -8, -1, -1, 1, 0]),
            ("uint2", [0, 1, 2, 3, 3, 0, 3, 3, 1, 0]),
            ("uint4", [0, 1, 2, 3, 7, 8, 15, 15, 1, 0]),
        ] {
            let data_type = named(name);
            let read = bytes.map(|byte| value(&data_type, &[byte]).unwrap());
            assert_eq!(read, values, "{name}");
            let mut elements = bytes;
            data_type.normalise(&mut ViewMut::contiguous(&mut elements, &[10], 1));
            let signed = name.starts_with('i');
            let widened = elements.map(|b| if signed { b.cast_signed().into() } else { i16::from(b) });
            assert_eq!(widened, values, "{name}");
            assert!(data_type.check_range(&View::contiguous(&elements, &[10], 1)).is_ok());
        }
    }

    #[test]
    fn optional_values_are_normalised() {
        let structure = DataType::structure([("flag", DataType::Bool), ("n", DataType::Int16)]).unwrap();
        for (value, before, after) in [
            (DataType::Bool, &[1, 7, 9, 3, 0, 2][..], &[1, 1, 1, 1, 0, 1][..]),
            (DataType::UInt8, &[2, 7, 0, 3], &[1, 7, 0, 3]),
            (named("int4"), &[1, 0x0f], &[1, 0xff]),
            (structure, &[3, 7, 7, 7], &[1, 1, 7, 7]),
            (DataType::optional(DataType::Bool).unwrap(), &[5, 6, 7], &[1, 1, 1]),
        ] {
            let data_type = DataType::optional(&value).unwrap();
            let mut elements = before.to_vec();
            let count = elements.len() / data_type.size();
            let size = data_type.size();
            data_type.normalise(&mut ViewMut::contiguous(&mut elements, &[count], size));
            assert_eq!(elements, after, "{data_type}");
        }
        let small = DataType::optional(named("uint2")).unwrap();
        let error = small.check_range(&View::contiguous(&[1, 4], &[1], 2)).unwrap_err();
        assert!(error.to_string().contains("0 to 3"), "{error}");
    }

    #[test]
    fn numbers_beyond_the_range_are_refused() {
        for (name, least, most) in [("int2", -2, 1), ("int4", -8, 7), ("uint2", 0, 3), ("uint4", 0, 15)] {
            let data_type = named(name);
            let fill = |number: i64| SmallInts.fill_from_json(&data_type, &json!(number), Strictness::Strict);
            for number in least..=most {
                let fill = fill(number).unwrap();
                assert_eq!(SmallInts.fill_to_v3(&data_type, &fill), json!(number));
                assert_eq!(SmallInts.format(&data_type, fill.as_bytes()), number.to_string());
            }
            for number in [least - 1, most + 1, 255, -129, 256, i64::MAX] {
                let message = fill(number).unwrap_err().to_string();
                assert!(message.contains(&format!("{least} to {most}")), "{message}");
            }
            for text in [json!(null), json!("x"), json!(0.5), json!([])] {
                assert!(SmallInts.fill_from_json(&data_type, &text, Strictness::Lenient).is_err(), "{text}");
            }
            assert_eq!(
                SmallInts.to_v2(&data_type, Endian::Little).unwrap_err().kind(),
                crate::ErrorKind::Unsupported
            );
        }
        assert!(SmallInts.fill_from_json(&named("int4"), &json!("-3"), Strictness::Lenient).is_ok());
        assert_eq!(
            SmallInts.fill_from_json(&named("int4"), &json!("-3"), Strictness::Strict).unwrap_err().kind(),
            crate::ErrorKind::InvalidMetadata
        );
        let refused = named("int4").check_range(&View::contiguous(&[7, 8], &[2], 1)).unwrap_err();
        assert!(refused.to_string().contains("8 is outside of the range of int4"), "{refused}");
        assert!(named("int4").check_range(&View::of_strided(&[7, 8, 1], &[2], &[2], 1)).is_ok());
    }
}
