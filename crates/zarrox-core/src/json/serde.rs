//! Values between Zarr's documents and types that `serde` knows.
//!
//! `serde` has no numbers that keep their text. Numbers that are not integers of 128 bits become floats here, including tokens.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};

use super::{Json, JsonNumber, Map};

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(number) => number.serialize(serializer),
            Self::String(text) => serializer.serialize_str(text),
            Self::Array(list) => serializer.collect_seq(list),
            Self::Object(map) => serializer.collect_map(map),
        }
    }
}

impl Serialize for JsonNumber {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (self.as_u64(), self.as_i64(), self.as_i128()) {
            (Some(value), ..) => serializer.serialize_u64(value),
            (_, Some(value), _) => serializer.serialize_i64(value),
            (.., Some(value)) => serializer.serialize_i128(value),
            _ => serializer.serialize_f64(self.to_f64()),
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

struct JsonVisitor;

macro_rules! visited {
    ($($visit:ident $T:ty,)*) => {$(
        fn $visit<E>(self, value: $T) -> Result<Json, E> {
            Ok(value.into())
        }
    )*};
}

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    visited!(visit_bool bool, visit_u64 u64, visit_i64 i64, visit_i128 i128, visit_f64 f64, visit_str &str, visit_string String,);

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_none<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Json::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Json, A::Error> {
        let mut map = Map::default();
        while let Some((name, value)) = members.next_entry()? {
            map.insert(name, value);
        }
        Ok(Json::Object(map))
    }
}
