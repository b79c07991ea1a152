//! Serialisation of types that implement `serde` to JSON.

use std::fmt::{self, Display};

use serde::ser::{self, Impossible, Serialize, Serializer};

use super::{Json, Map};
use crate::error::{Error, Result};

/// Serialises a value to JSON. NaN and infinities become the tokens that Python writes.
///
/// # Errors
/// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) when the type's own `Serialize` fails, or when a key of a map is
/// neither a string nor a number.
pub fn to_value<T: Serialize + ?Sized>(value: &T) -> Result<Json> {
    value.serialize(ToValue).map_err(|Failure(message)| Error::argument(message))
}

/// Serialises a struct or a map to a JSON object, such as attributes. NaN and infinities become the tokens that Python writes.
///
/// ```
/// # #[derive(serde::Serialize)]
/// struct Variable {
///     units: String,
///     valid_max: f64,
/// }
///
/// let variable = Variable { units: "K".to_owned(), valid_max: f64::INFINITY };
/// let attributes = zarrox_core::json::to_map(&variable)?;
/// assert_eq!(zarrox_core::json::to_line(&attributes), r#"{"units":"K","valid_max":Infinity}"#);
/// # Ok::<(), zarrox_core::Error>(())
/// ```
///
/// # Errors
/// The errors of [`to_value`]; also when the value is not an object.
pub fn to_map<T: Serialize + ?Sized>(value: &T) -> Result<Map> {
    match to_value(value)? {
        Json::Object(map) => Ok(map),
        other => Err(Error::argument(format!("expected a struct or a map, found {}", super::kind(&other)))),
    }
}

#[derive(Debug)]
struct Failure(String);

impl Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Failure {}

impl ser::Error for Failure {
    fn custom<T: Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

struct ToValue;

macro_rules! numbers {
    ($($serialize:ident $T:ty,)*) => {$(
        fn $serialize(self, value: $T) -> Result<Json, Failure> {
            Ok(value.into())
        }
    )*};
}

impl Serializer for ToValue {
    type Ok = Json;
    type Error = Failure;
    type SerializeSeq = List;
    type SerializeTuple = List;
    type SerializeTupleStruct = List;
    type SerializeTupleVariant = List;
    type SerializeMap = Members;
    type SerializeStruct = Members;
    type SerializeStructVariant = Members;

    numbers! {
        serialize_bool bool,
        serialize_i8 i8,
        serialize_i16 i16,
        serialize_i32 i32,
        serialize_i64 i64,
        serialize_i128 i128,
        serialize_u8 u8,
        serialize_u16 u16,
        serialize_u32 u32,
        serialize_u64 u64,
        serialize_u128 u128,
        serialize_f32 f32,
        serialize_f64 f64,
        serialize_str &str,
    }

    fn serialize_char(self, value: char) -> Result<Json, Failure> {
        Ok(value.to_string().into())
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<Json, Failure> {
        Ok(bytes.into())
    }

    fn serialize_none(self) -> Result<Json, Failure> {
        Ok(Json::Null)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Json, Failure> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<Json, Failure> {
        Ok(Json::Null)
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<Json, Failure> {
        Ok(Json::Null)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<Json, Failure> {
        Ok(variant.into())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<Json, Failure> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<Json, Failure> {
        Ok(within(Some(variant), value.serialize(self)?))
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<List, Failure> {
        Ok(List { items: Vec::with_capacity(length.unwrap_or(0)), variant: None })
    }

    fn serialize_tuple(self, length: usize) -> Result<List, Failure> {
        self.serialize_seq(Some(length))
    }

    fn serialize_tuple_struct(self, _: &'static str, length: usize) -> Result<List, Failure> {
        self.serialize_seq(Some(length))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<List, Failure> {
        Ok(List { items: Vec::with_capacity(length), variant: Some(variant) })
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Members, Failure> {
        Ok(Members::default())
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Members, Failure> {
        Ok(Members::default())
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Members, Failure> {
        Ok(Members { variant: Some(variant), ..Members::default() })
    }
}

/// Returns the value of an enum variant with data: an object with the name as its only member.
fn within(variant: Option<&'static str>, json: Json) -> Json {
    match variant {
        Some(variant) => Map::from([(variant, json)]).into(),
        None => json,
    }
}

struct List {
    items: Vec<Json>,
    variant: Option<&'static str>,
}

macro_rules! list {
    ($($Trait:ident $serialize:ident,)*) => {$(
        impl ser::$Trait for List {
            type Ok = Json;
            type Error = Failure;

            fn $serialize<T: Serialize + ?Sized>(&mut self, item: &T) -> Result<(), Failure> {
                self.items.push(item.serialize(ToValue)?);
                Ok(())
            }

            fn end(self) -> Result<Json, Failure> {
                Ok(within(self.variant, Json::Array(self.items)))
            }
        }
    )*};
}

list! {
    SerializeSeq serialize_element,
    SerializeTuple serialize_element,
    SerializeTupleStruct serialize_field,
    SerializeTupleVariant serialize_field,
}

#[derive(Default)]
struct Members {
    map: Map,
    /// The name of the next member.
    name: String,
    variant: Option<&'static str>,
}

impl ser::SerializeMap for Members {
    type Ok = Json;
    type Error = Failure;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Failure> {
        self.name = key.serialize(Name)?;
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failure> {
        self.map.insert(std::mem::take(&mut self.name), value.serialize(ToValue)?);
        Ok(())
    }

    fn end(self) -> Result<Json, Failure> {
        Ok(within(self.variant, self.map.into()))
    }
}

macro_rules! fields {
    ($($Trait:ident)*) => {$(
        impl ser::$Trait for Members {
            type Ok = Json;
            type Error = Failure;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Failure> {
                self.map.insert(name.to_owned(), value.serialize(ToValue)?);
                Ok(())
            }

            fn end(self) -> Result<Json, Failure> {
                ser::SerializeMap::end(self)
            }
        }
    )*};
}

fields!(SerializeStruct SerializeStructVariant);

/// Serializes the names of members.
struct Name;

fn not_a_name<T>() -> Result<T, Failure> {
    Err(Failure("the keys of a map must be text or numbers".to_owned()))
}

macro_rules! names {
    ($($serialize:ident $T:ty,)*) => {$(
        fn $serialize(self, value: $T) -> Result<String, Failure> {
            Ok(value.to_string())
        }
    )*};
}

impl Serializer for Name {
    type Ok = String;
    type Error = Failure;
    type SerializeSeq = Impossible<String, Failure>;
    type SerializeTuple = Impossible<String, Failure>;
    type SerializeTupleStruct = Impossible<String, Failure>;
    type SerializeTupleVariant = Impossible<String, Failure>;
    type SerializeMap = Impossible<String, Failure>;
    type SerializeStruct = Impossible<String, Failure>;
    type SerializeStructVariant = Impossible<String, Failure>;

    names! {
        serialize_bool bool,
        serialize_i8 i8,
        serialize_i16 i16,
        serialize_i32 i32,
        serialize_i64 i64,
        serialize_i128 i128,
        serialize_u8 u8,
        serialize_u16 u16,
        serialize_u32 u32,
        serialize_u64 u64,
        serialize_u128 u128,
        serialize_char char,
        serialize_str &str,
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<String, Failure> {
        Ok(variant.to_owned())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<String, Failure> {
        value.serialize(self)
    }

    fn serialize_f32(self, _: f32) -> Result<String, Failure> {
        not_a_name()
    }

    fn serialize_f64(self, _: f64) -> Result<String, Failure> {
        not_a_name()
    }

    fn serialize_bytes(self, _: &[u8]) -> Result<String, Failure> {
        not_a_name()
    }

    fn serialize_none(self) -> Result<String, Failure> {
        not_a_name()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, _: &T) -> Result<String, Failure> {
        not_a_name()
    }

    fn serialize_unit(self) -> Result<String, Failure> {
        not_a_name()
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<String, Failure> {
        not_a_name()
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<String, Failure> {
        not_a_name()
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self::SerializeSeq, Failure> {
        not_a_name()
    }

    fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, Failure> {
        not_a_name()
    }

    fn serialize_tuple_struct(
        self,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleStruct, Failure> {
        not_a_name()
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, Failure> {
        not_a_name()
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, Failure> {
        not_a_name()
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self::SerializeStruct, Failure> {
        not_a_name()
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, Failure> {
        not_a_name()
    }
}
