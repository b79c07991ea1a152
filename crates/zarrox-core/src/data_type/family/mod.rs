//! Families of data types: what a data type's author implements.

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
use super::number::{self, Number};
use super::{ByteOrder, Endian, Leaf, Storage, StructLayout};
use crate::codec::CodecSpec;
use crate::error::{Error, Result};
use crate::fill_value::FillValue;
use crate::json::{self, Json, Map};
use crate::strictness::Strictness;

/// A v2 type string such as `<f4`, taken apart.
#[derive(Debug, Clone, Copy)]
pub struct TypeString<'a> {
    /// The byte order; absent for `|`.
    pub endian: Option<Endian>,
    /// The character of the kind: `b i u f c V` …
    pub kind: char,
    /// The text behind the kind: the size in bytes, for some kinds more.
    pub rest: &'a str,
}

impl<'a> TypeString<'a> {
    /// Takes a v2 type string apart; `None` when it does not begin as one.
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

    /// The size in bytes, when that is all that follows the kind.
    pub fn size(&self) -> Option<usize> {
        self.rest.parse().ok().filter(|_| !self.rest.starts_with('+'))
    }
}

/// A family of data types: their names and their fill values, in every format.
///
/// The functions that read a name answer `None` when the name is not this family's. A user's own family is
/// registered with [`Registry::with_data_types`](crate::registry::Registry::with_data_types).
pub trait Family: fmt::Debug + Send + Sync {
    /// The type of a v3 name and configuration.
    fn parse_v3(&self, name: &str, configuration: &Map) -> Option<Result<DataType>>;

    /// The type of a v2 type string; none of those that v2 has no such string for.
    fn parse_v2(&self, dtype: &TypeString<'_>) -> Option<Result<DataType>> {
        let _ = dtype;
        None
    }

    /// The family's types, for lists of what there is; of types that come in any size, one.
    fn examples(&self) -> Vec<DataType>;

    /// Returns true if the type is this family's.
    fn has(&self, data_type: &DataType) -> bool;

    /// The type of v2's `|O` elements that this codec stores, given with its `id` as v2 metadata has it.
    fn parse_object(&self, codec: &Map) -> Option<Result<DataType>> {
        let _ = codec;
        None
    }

    /// The `data_type` member of v3 metadata, or an error when v3 cannot say this type.
    fn to_v3(&self, data_type: &DataType) -> Result<Json> {
        Ok(match data_type {
            DataType::Extension(extension) if !extension.configuration.is_empty() => json::json!({
                "name": extension.name,
                "configuration": extension.configuration,
            }),
            named => Json::from(named.to_string()),
        })
    }

    /// The v2 type string, or an error when v2 cannot say this type.
    fn to_v2(&self, data_type: &DataType, endian: Endian) -> Result<Json> {
        let _ = endian;
        Err(Error::unsupported(format!("Zarr v2 has no data type '{data_type}'; create the array as v3")))
    }

    /// The codec that turns arrays of this type into bytes where their creator does not say; `bytes` if none.
    fn default_codec(&self, data_type: &DataType) -> Option<CodecSpec> {
        let _ = data_type;
        None
    }

    /// The fill value of arrays whose creator does not say: zero, but where that would mean something.
    fn default_fill(&self, data_type: &DataType) -> FillValue {
        match data_type.storage() {
            Storage::Variable => FillValue::new([]),
            fixed => FillValue::zero(fixed.size()),
        }
    }

    /// A fill value from JSON. `Lenient` takes every form that has been seen and is clear; `Strict` only what
    /// the specification has. The two formats' forms do not contradict each other, so one reader serves both.
    fn fill_from_json(&self, data_type: &DataType, json: &Json, strictness: Strictness) -> Result<FillValue>;

    /// A fill value as v3 metadata has it.
    fn fill_to_v3(&self, data_type: &DataType, fill: &FillValue) -> Json;

    /// A fill value as v2 metadata has it.
    fn fill_to_v2(&self, data_type: &DataType, fill: &FillValue) -> Json {
        self.fill_to_v3(data_type, fill)
    }

    /// The number that an element is; `None` for types whose elements are no numbers. A type has either all or none.
    fn number(&self, data_type: &DataType, element: &[u8]) -> Option<Number> {
        let _ = (data_type, element);
        None
    }

    /// Writes the element that a number becomes, as [`Casting::Lossy`](super::Casting::Lossy) says. `false` where there is none.
    fn write_number(&self, data_type: &DataType, number: Number, element: &mut [u8]) -> bool {
        let _ = (data_type, number, element);
        false
    }

    /// One element as people read it: `0.25`, `True`, `(1+2j)` — NumPy's way.
    fn format(&self, data_type: &DataType, element: &[u8]) -> String;
}

/// The error for a fill value that does not say an element of the type.
pub(super) fn bad_fill(data_type: &DataType, json: &Json, wants: &str) -> Error {
    let shown = json::shown(json, 80);
    Error::metadata(format!("fill_value {shown} is not valid for {data_type}; expected {wants}"))
}

/// Checks the number of bytes that a type gives its elements.
pub(super) fn check_length(name: &str, bytes: usize) -> Result<()> {
    match bytes {
        1..=LARGEST => Ok(()),
        _ => Err(Error::metadata(format!(
            "data type '{name}': the size must be 1 to {LARGEST} bytes, but it is {bytes}"
        ))),
    }
}

/// The `length_bytes` of a type's configuration.
pub(super) fn length_bytes(name: &str, configuration: &Map) -> Result<usize> {
    let length = configuration.get("length_bytes").and_then(Json::as_u64);
    let length = length.and_then(|length| usize::try_from(length).ok());
    length.ok_or_else(|| {
        Error::metadata(format!("data type '{name}' needs the number 'length_bytes' in its configuration"))
    })
}

/// The family of a type, borrowed from the types that are known.
#[derive(Debug)]
pub struct FamilyRef<'r>(Inner<'r>);

#[derive(Debug)]
enum Inner<'r> {
    Listed(&'r dyn Family),
    Made(Box<dyn Family + 'r>),
}

impl<'r> FamilyRef<'r> {
    /// A family that is listed.
    pub(crate) fn listed(family: &'r dyn Family) -> Self {
        Self(Inner::Listed(family))
    }

    /// A family that asks the known types for those that its own are made of.
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

/// The types that are known: a family whose types are made of other types asks for these here.
pub(crate) trait KnownTypes: fmt::Debug + Send + Sync {
    /// The type that the `data_type` member of v3 metadata says.
    fn type_from_v3(&self, json: &Json) -> Result<DataType>;

    /// The type, and its byte order if it has one, that the `dtype` member of v2 metadata says.
    fn type_from_v2(&self, json: &Json) -> Result<(DataType, Option<ByteOrder>)>;

    /// The `dtype` member of v2 metadata.
    fn type_to_v2(&self, data_type: &DataType, order: &ByteOrder) -> Result<Json>;

    /// The family that a type belongs to.
    fn family_of(&self, data_type: &DataType) -> Result<FamilyRef<'_>>;
}
