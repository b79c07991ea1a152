//! The types of attributes.

use std::collections::HashMap;

use zarrox::DataType;
use zarrox::json::{Json, Map};

use super::TYPES;
use super::names::{escaped, parts, plain};
use crate::fill::{self, FILL_VALUE, whole};

/// Attributes that have the type of their variable according to the NetCDF and CF conventions.
const OF_VARIABLE: [&str; 7] =
    ["_FillValue", "missing_value", "valid_min", "valid_max", "valid_range", "flag_values", "flag_masks"];

/// A NetCDF type. Types have the same names as in CDL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NcType {
    Byte,
    Char,
    Short,
    Int,
    Float,
    Double,
    UByte,
    UShort,
    UInt,
    Int64,
    UInt64,
    String,
}

/// All types and their names.
const NAMES: [(NcType, &str); 12] = [
    (NcType::Byte, "byte"),
    (NcType::Char, "char"),
    (NcType::Short, "short"),
    (NcType::Int, "int"),
    (NcType::Float, "float"),
    (NcType::Double, "double"),
    (NcType::UByte, "ubyte"),
    (NcType::UShort, "ushort"),
    (NcType::UInt, "uint"),
    (NcType::Int64, "int64"),
    (NcType::UInt64, "uint64"),
    (NcType::String, "string"),
];

impl NcType {
    /// Returns the CDL name of the type.
    pub(crate) fn name(self) -> &'static str {
        NAMES.iter().find(|(found, _)| *found == self).map_or("", |(_, name)| name)
    }

    fn of_name(name: &str) -> Option<Self> {
        NAMES.iter().find(|(_, found)| *found == name).map(|(found, _)| *found)
    }

    /// Returns the NetCDF type of elements; `None` for elements that are neither numbers nor variable-length strings.
    pub(crate) fn of_elements(data_type: &DataType) -> Option<Self> {
        Some(match data_type {
            DataType::Int8 => Self::Byte,
            DataType::Int16 => Self::Short,
            DataType::Int32 => Self::Int,
            DataType::Int64 => Self::Int64,
            DataType::UInt8 => Self::UByte,
            DataType::UInt16 => Self::UShort,
            DataType::UInt32 => Self::UInt,
            DataType::UInt64 => Self::UInt64,
            DataType::Float32 => Self::Float,
            DataType::Float64 => Self::Double,
            _ if data_type.is_named("string") => Self::String,
            _ => return None,
        })
    }

    /// Returns true for types of the classic data model.
    pub(crate) fn is_classic(self) -> bool {
        matches!(self, Self::Byte | Self::Char | Self::Short | Self::Int | Self::Float | Self::Double)
    }

    /// Returns true for floating-point types.
    pub(crate) fn is_float(self) -> bool {
        matches!(self, Self::Float | Self::Double)
    }

    /// Returns `elements`, the type of the variable, for an attribute that must have the same type, provided that the
    /// type can represent the value.
    pub(crate) fn of_variable(name: &str, value: &Json, elements: Option<Self>) -> Option<Self> {
        let own = elements.filter(|_| OF_VARIABLE.contains(&name))?;
        let fits = match own {
            Self::String => name == FILL_VALUE && value.is_string(),
            // Float values are encoded in base64.
            _ if name == FILL_VALUE && own.is_float() && value.as_str().and_then(fill::decode).is_some() => {
                true
            }
            _ => own.bytes(value).is_some_and(|bytes| !bytes.is_empty()),
        };
        fits.then_some(own)
    }

    /// Returns the type that an export to NetCDF gives an attribute by default; `None` if its values are neither numbers
    /// nor strings. `elements` is the type of the variable.
    pub(crate) fn usual(name: &str, value: &Json, elements: Option<Self>) -> Option<Self> {
        if let Some(own) = Self::of_variable(name, value, elements) {
            return Some(own);
        }
        if value.is_string() {
            return Some(Self::Char);
        }
        let leaves = leaves(value);
        let all = |is: &dyn Fn(&Json) -> bool| !leaves.is_empty() && leaves.iter().all(|leaf| is(leaf));
        match () {
            () if all(&|leaf| leaf.as_bool().is_some()) => Some(Self::Byte),
            () if all(&|leaf| leaf.as_i64().is_some_and(|value| i32::try_from(value).is_ok())) => {
                Some(Self::Int)
            }
            () => Self::of_leaves(&leaves),
        }
    }

    /// Returns the type that an export to HDF5 gives an attribute by default. See [`NcType::usual`]. For booleans, there
    /// is no such type.
    pub(crate) fn usual_in_hdf5(name: &str, value: &Json, elements: Option<Self>) -> Option<Self> {
        Self::of_variable(name, value, elements).or_else(|| Self::of_leaves(&leaves(value)))
    }

    /// Returns the widest type among values of the same kind; `None` for mixed values. An empty list counts as a list of floats.
    pub(crate) fn of_leaves(leaves: &[&Json]) -> Option<Self> {
        let all = |is: &dyn Fn(&Json) -> bool| leaves.iter().all(|leaf| is(leaf));
        Some(match () {
            () if leaves.is_empty() => Self::Double,
            () if all(&|leaf| leaf.as_i64().is_some()) => Self::Int64,
            () if all(&|leaf| leaf.as_u64().is_some()) => Self::UInt64,
            () if all(&Json::is_number) => Self::Double,
            () if all(&Json::is_string) => Self::String,
            () => return None,
        })
    }

    /// Encodes numbers in little-endian byte order; `None` if the type cannot represent them or is not numeric.
    pub(crate) fn bytes(self, value: &Json) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        for leaf in leaves(value) {
            let wide = match (self, leaf) {
                (Self::Char | Self::String, _) => return None,
                (Self::Float | Self::Double, _) => {
                    let number = float(leaf)?;
                    #[expect(clippy::cast_possible_truncation, reason = "the nearest float is meant")]
                    let narrow = number as f32;
                    if self == Self::Double {
                        bytes.extend_from_slice(&number.to_le_bytes());
                    } else if narrow.is_finite() || !number.is_finite() {
                        bytes.extend_from_slice(&narrow.to_le_bytes());
                    } else {
                        return None;
                    }
                    continue;
                }
                (_, Json::Bool(value)) => i128::from(*value),
                (_, Json::Number(number)) => number.as_i128().or_else(|| whole(number.as_f64()?))?,
                _ => return None,
            };
            bytes.extend_from_slice(&self.integer(wide)?);
        }
        Some(bytes)
    }

    /// Encodes an integer in little-endian byte order; `None` if the type cannot represent it.
    fn integer(self, value: i128) -> Option<Vec<u8>> {
        Some(match self {
            Self::Byte => i8::try_from(value).ok()?.to_le_bytes().to_vec(),
            Self::UByte => u8::try_from(value).ok()?.to_le_bytes().to_vec(),
            Self::Short => i16::try_from(value).ok()?.to_le_bytes().to_vec(),
            Self::UShort => u16::try_from(value).ok()?.to_le_bytes().to_vec(),
            Self::Int => i32::try_from(value).ok()?.to_le_bytes().to_vec(),
            Self::UInt => u32::try_from(value).ok()?.to_le_bytes().to_vec(),
            Self::Int64 => i64::try_from(value).ok()?.to_le_bytes().to_vec(),
            Self::UInt64 => u64::try_from(value).ok()?.to_le_bytes().to_vec(),
            Self::Char | Self::String | Self::Float | Self::Double => return None,
        })
    }
}

/// Returns a float, which may be given as a string such as "NaN".
fn float(value: &Json) -> Option<f64> {
    match value {
        Json::Number(number) => Some(number.to_f64()),
        Json::String(name) => match name.as_str() {
            "NaN" => Some(f64::NAN),
            "Infinity" => Some(f64::INFINITY),
            "-Infinity" => Some(f64::NEG_INFINITY),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the leaf values of nested lists.
fn leaves(value: &Json) -> Vec<&Json> {
    let Json::Array(list) = value else { return vec![value] };
    list.iter().flat_map(leaves).collect()
}

/// The types of the attributes of one object.
#[derive(Debug, Default, Clone)]
pub(crate) struct Types(HashMap<String, NcType>);

impl Types {
    /// Returns the types recorded in the attribute. Invalid entries are ignored.
    pub(crate) fn of(attributes: &Map) -> Self {
        let text = attributes.get(TYPES).and_then(Json::as_str).unwrap_or_default();
        let entry = |part: &str| {
            let (name, of) = match parts(part, ':').as_slice() {
                [name, of] => (plain(name), NcType::of_name(of)?),
                _ => return None,
            };
            Some((name, of))
        };
        Self(parts(text, ';').into_iter().filter_map(entry).collect())
    }

    /// Returns the recorded type of an attribute.
    pub(crate) fn get(&self, name: &str) -> Option<NcType> {
        self.0.get(name).copied()
    }

    /// Formats types, in the given order, as the value of the attribute.
    pub(super) fn text(types: &[(String, &str)]) -> String {
        let entry = |(name, of): &(String, &str)| format!("{}: {of}", escaped(name));
        types.iter().map(entry).collect::<Vec<_>>().join("; ")
    }
}

/// Returns the attribute for strings whose fill value is also their missing-value marker.
#[cfg(feature = "tables")]
pub(crate) fn text_is_missing() -> (String, Json) {
    let of = (FILL_VALUE.to_owned(), NcType::String.name());
    (TYPES.to_owned(), Types::text(&[of]).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarrox::json::json;

    #[test]
    fn the_usual_type_is_that_of_the_variable_or_the_smallest_that_ncgen_takes() {
        let usual = |name: &str, value: Json, elements| NcType::usual(name, &value, elements);
        assert_eq!(usual("a", json!(1), Some(NcType::Short)), Some(NcType::Int));
        assert_eq!(usual("flag_masks", json!([1, 2]), Some(NcType::Short)), Some(NcType::Short));
        assert_eq!(usual("flag_masks", json!([1, 70000]), Some(NcType::Short)), Some(NcType::Int));
        assert_eq!(usual("valid_min", json!("NaN"), Some(NcType::Float)), Some(NcType::Float));
        assert_eq!(usual("valid_min", json!("NaN"), Some(NcType::Short)), Some(NcType::Char));
        assert_eq!(usual("a", json!([1, 5_000_000_000_u64]), None), Some(NcType::Int64));
        assert_eq!(usual("a", json!(u64::MAX), None), Some(NcType::UInt64));
        assert_eq!(usual("a", json!([1, 2.5]), None), Some(NcType::Double));
        assert_eq!(usual("a", json!("NaN"), None), Some(NcType::Char));
        assert_eq!(usual("a", json!(["x", "y"]), None), Some(NcType::String));
        assert_eq!(usual("a", json!([]), None), Some(NcType::Double));
        assert_eq!(usual("_FillValue", json!("AAAAAAAA+H8="), Some(NcType::Float)), Some(NcType::Float));
        assert_eq!(usual("_FillValue", json!("n/a"), Some(NcType::String)), Some(NcType::String));
        assert_eq!(usual("a", json!({"b": 1}), None), None);
    }

    #[test]
    fn types_survive_their_text() {
        let types = [("a b".to_owned(), NcType::Short.name()), ("c:d".to_owned(), NcType::String.name())];
        let text = Types::text(&types);
        assert_eq!(text, r"a\ b: short; c\:d: string");
        let again = Types::of(&[(TYPES.to_owned(), Json::from(text))].into_iter().collect());
        assert_eq!((again.get("a b"), again.get("c:d")), (Some(NcType::Short), Some(NcType::String)));
        let odd = [(TYPES.to_owned(), Json::from("a; b: strange; c: int; : int; ;"))].into_iter().collect();
        assert_eq!(Types::of(&odd).get("c"), Some(NcType::Int));
    }

    #[test]
    fn numbers_have_bytes_only_in_types_that_have_them() {
        assert_eq!(NcType::Byte.bytes(&json!([1, -1])), Some(vec![1, 0xff]));
        assert_eq!(NcType::Byte.bytes(&json!(128)), None);
        assert_eq!(NcType::Short.bytes(&json!(3.0)), Some(vec![3, 0]));
        assert_eq!(NcType::Short.bytes(&json!(3.5)), None);
        assert_eq!(NcType::Float.bytes(&json!(1e300)), None);
        assert_eq!(NcType::Float.bytes(&json!("-Infinity")), Some(f32::NEG_INFINITY.to_le_bytes().to_vec()));
    }
}
