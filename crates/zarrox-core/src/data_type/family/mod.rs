//! Families of data types: the interface for implementing a data type.

pub(crate) mod bool;
pub(crate) mod bytes;
pub(crate) mod complex;
pub(crate) mod float;
pub(crate) mod integer;
pub(crate) mod object;
pub(crate) mod optional;
pub(crate) mod python;
pub(crate) mod ragged;
pub(crate) mod raw;
pub(crate) mod small_complex;
pub(crate) mod small_float;
pub(crate) mod small_int;
pub(crate) mod structure;
pub(crate) mod time;
pub(crate) mod unknown;
pub(crate) mod utf32;
pub(crate) mod variable;

use std::fmt;
use std::ops::Deref;

use super::model::{self, DataType, Extension, Field, LARGEST, Structure};
use super::{ByteOrder, Endian, Leaf, Storage, StructLayout};
use super::{Number, number};
use crate::codec::CodecSpec;
use crate::error::{Error, Result};
use crate::fill_value::FillValue;
use crate::json::{self, Json, Map};
use crate::strictness::Strictness;

/// The parts of a v2 type string such as `<f4`.
#[derive(Debug, Clone, Copy)]
pub struct TypeString<'a> {
    /// The byte order; absent for `|`.
    pub endian: Option<Endian>,
    /// The kind character: `b i u f c V` …
    pub kind: char,
    /// The text after the kind: the size in bytes, and more for some kinds.
    pub rest: &'a str,
}

impl<'a> TypeString<'a> {
    /// Parses a v2 type string; returns `None` if it does not begin like one.
    #[doc(hidden)]
    pub fn parse(text: &'a str) -> Option<Self> {
        let mut characters = text.chars();
        let endian = match characters.next()? {
            '<' => Some(Endian::Little),
            '>' => Some(Endian::Big),
            '|' => None,
            _ => return None,
        };
        let kind = characters.next().filter(char::is_ascii)?;
        Some(Self { endian, kind, rest: characters.as_str() })
    }

    /// Returns the size in bytes, if nothing else follows the kind.
    #[doc(hidden)]
    pub fn size(&self) -> Option<usize> {
        self.rest.parse().ok().filter(|_| !self.rest.starts_with('+'))
    }
}

/// A family of data types: their names and fill values in every format.
///
/// The functions that parse a name return `None` if the name does not belong to the family. A user's family is registered with
/// [`Registry::with_data_types`](crate::Registry::with_data_types).
pub trait Family: fmt::Debug + Send + Sync {
    /// Parses a v3 name and configuration.
    fn parse_v3(&self, name: &str, configuration: &Map) -> Option<Result<DataType>>;

    /// Parses a v2 type string. The default implementation accepts none.
    fn parse_v2(&self, dtype: &TypeString<'_>) -> Option<Result<DataType>> {
        let _ = dtype;
        None
    }

    /// Returns the types of the family, for tables of all types; a single example if the size of the types varies.
    fn examples(&self) -> Vec<DataType>;

    /// Returns true if the type belongs to the family.
    fn has(&self, data_type: &DataType) -> bool;

    /// Returns the type of the objects that a v2 codec stores. `dtype` is `|O`, or a list of fields of which some are `|O`.
    /// `codec` is the codec in v2 metadata, with its `id`.
    #[doc(hidden)]
    fn parse_object(&self, dtype: &Json, codec: &Map) -> Option<Result<DataType>> {
        let _ = (dtype, codec);
        None
    }

    /// Returns the `data_type` member of v3 metadata, or an error if v3 does not support the type.
    fn to_v3(&self, data_type: &DataType) -> Result<Json> {
        Ok(match data_type {
            DataType::Extension(extension) if !extension.configuration.is_empty() => json::json!({
                "name": extension.name,
                "configuration": extension.configuration,
            }),
            named => Json::from(named.to_string()),
        })
    }

    /// Returns the v2 type string, or an error if v2 does not support the type.
    fn to_v2(&self, data_type: &DataType, endian: Endian) -> Result<Json> {
        let _ = endian;
        Err(Error::unsupported(format!("Zarr v2 has no data type '{data_type}'; create the array as v3")))
    }

    /// Returns the default array→bytes codec for this type; `None` means `bytes`.
    fn default_codec(&self, data_type: &DataType) -> Option<CodecSpec> {
        let _ = data_type;
        None
    }

    /// Returns the default fill value: zero, unless zero has a special meaning.
    fn default_fill(&self, data_type: &DataType) -> FillValue {
        match data_type.storage() {
            Storage::Variable => FillValue::new([]),
            fixed => FillValue::zero(fixed.size()),
        }
    }

    /// Parses a fill value. `Lenient` accepts every known form with a clear meaning, `Strict` only the forms of the
    /// specification. The forms of v2 and v3 do not conflict, so one parser supports both.
    fn fill_from_json(&self, data_type: &DataType, json: &Json, strictness: Strictness) -> Result<FillValue>;

    /// Returns a fill value in the form of v3 metadata.
    fn fill_to_v3(&self, data_type: &DataType, fill: &FillValue) -> Json;

    /// Returns a fill value in the form of v2 metadata.
    fn fill_to_v2(&self, data_type: &DataType, fill: &FillValue) -> Json {
        self.fill_to_v3(data_type, fill)
    }

    /// Returns the value of an element as a number; `None` for types whose elements are not numbers. Either all elements of a
    /// type are numbers, or none are.
    fn number(&self, data_type: &DataType, element: &[u8]) -> Option<Number> {
        let _ = (data_type, element);
        None
    }

    /// Writes the element for a number, with the rules of [`Casting::Lossy`](super::Casting::Lossy). Returns false if the type
    /// has no such element.
    fn write_number(&self, data_type: &DataType, number: Number, element: &mut [u8]) -> bool {
        let _ = (data_type, number, element);
        false
    }

    /// Formats an element in NumPy's style: `0.25`, `True`, `(1+2j)`.
    fn format(&self, data_type: &DataType, element: &[u8]) -> String;
}

/// Returns the error for an invalid fill value.
pub(super) fn bad_fill(data_type: &DataType, json: &Json, wants: &str) -> Error {
    let shown = json::shown(json, 80);
    Error::metadata(format!("fill_value {shown} is not valid for {data_type}; expected {wants}"))
}

/// Checks the size of elements, in bytes.
pub(super) fn check_length(name: &str, bytes: usize) -> Result<()> {
    match bytes {
        1..=LARGEST => Ok(()),
        _ => Err(Error::metadata(format!(
            "data type '{name}': the size must be 1 to {LARGEST} bytes, but it is {bytes}"
        ))),
    }
}

/// Returns the `length_bytes` of a type's configuration.
pub(super) fn length_bytes(name: &str, configuration: &Map) -> Result<usize> {
    let length = configuration.get("length_bytes").and_then(Json::as_u64);
    let length = length.and_then(|length| usize::try_from(length).ok());
    length.ok_or_else(|| {
        Error::metadata(format!("data type '{name}' needs the number 'length_bytes' in its configuration"))
    })
}

/// The family of a type, borrowed from the known types.
#[derive(Debug)]
pub struct FamilyRef<'r>(Inner<'r>);

#[derive(Debug)]
enum Inner<'r> {
    Listed(&'r dyn Family),
    Made(Box<dyn Family + 'r>),
}

impl<'r> FamilyRef<'r> {
    /// Creates a reference to a family in a list.
    pub(crate) fn listed(family: &'r dyn Family) -> Self {
        Self(Inner::Listed(family))
    }

    /// Creates a reference to a family that looks up the components of its types.
    pub(crate) fn made(family: impl Family + 'r) -> Self {
        Self(Inner::Made(Box::new(family)))
    }
}

impl<'r> Deref for FamilyRef<'r> {
    type Target = dyn Family + 'r;

    fn deref(&self) -> &Self::Target {
        match &self.0 {
            Inner::Listed(family) => *family,
            Inner::Made(family) => &**family,
        }
    }
}

/// The known data types, for families whose types consist of other types.
pub(crate) trait KnownTypes: fmt::Debug + Send + Sync {
    /// Returns the data type that a `data_type` member of v3 metadata describes.
    fn type_from_v3(&self, json: &Json) -> Result<DataType>;

    /// Returns the data type that a `dtype` member of v2 metadata describes, with its byte order if it has one.
    fn type_from_v2(&self, json: &Json) -> Result<(DataType, Option<ByteOrder>)>;

    /// Returns the `dtype` member of v2 metadata.
    fn type_to_v2(&self, data_type: &DataType, order: &ByteOrder) -> Result<Json>;

    /// Returns the family of a data type.
    fn family_of(&self, data_type: &DataType) -> Result<FamilyRef<'_>>;
}
