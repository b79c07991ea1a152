//! Conversion between documents and types that implement `serde`.
//!
//! `serde` has no numbers that keep their text. Tokens, and numbers that do not fit into 128-bit integers, become floats here;
//! [`from_value`](super::from_value) keeps their text where the type contains [`Json`].

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{self, Serialize, Serializer};

use super::{Json, JsonNumber, Map};

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(number) => number.serialize(serializer),
            Self::String(text) => serializer.serialize_str(text),
            Self::Array(list) => serializer.collect_seq(list),
            Self::Object(map) => map.serialize(serializer),
        }
    }
}

impl Serialize for Map {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self)
    }
}

impl Serialize for JsonNumber {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (self.as_u64(), self.as_i64(), self.as_i128()) {
            (Some(value), ..) => serializer.serialize_u64(value),
            (_, Some(value), _) => serializer.serialize_i64(value),
            (.., Some(value)) => serializer.serialize_i128(value),
            _ => match self.as_f64() {
                Some(value) => serializer.serialize_f64(value),
                None => {
                    Err(ser::Error::custom(format!("the number {self} exceeds the range of 64-bit floats")))
                }
            },
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(NUMBER, JsonVisitor)
    }
}

impl<'de> Deserialize<'de> for Map {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MapVisitor)
    }
}

/// The struct name with which [`Json`] requests the text of a number, as bytes, from this crate's deserializer. Other
/// deserializers treat it as a struct around a value.
pub(super) const NUMBER: &str = "$zarrox::JsonNumber";

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

    visited!(visit_bool bool, visit_u64 u64, visit_i64 i64, visit_i128 i128, visit_u128 u128, visit_f64 f64, visit_str &str, visit_string String,);

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_none<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_bytes<E: de::Error>(self, digits: &[u8]) -> Result<Json, E> {
        match super::parse(digits) {
            Ok(number @ Json::Number(_)) => Ok(number),
            _ => Err(E::invalid_type(de::Unexpected::Bytes(digits), &self)),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Json::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Json, A::Error> {
        MapVisitor.visit_map(members).map(Json::Object)
    }
}

struct MapVisitor;

impl<'de> Visitor<'de> for MapVisitor {
    type Value = Map;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Map, A::Error> {
        let mut map = Map::new();
        while let Some((name, value)) = members.next_entry::<String, Json>()? {
            map.insert(name, value);
        }
        Ok(map)
    }
}

#[cfg(feature = "serde_json")]
impl From<serde_json::Value> for Json {
    fn from(value: serde_json::Value) -> Self {
        use serde_json::Value;
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => value.into(),
            Value::Number(number) => JsonNumber::of_text(&number.to_string()).into(),
            Value::String(text) => text.into(),
            Value::Array(list) => list.into(),
            Value::Object(map) => Self::Object(map.into()),
        }
    }
}

#[cfg(feature = "serde_json")]
impl From<serde_json::Map<String, serde_json::Value>> for Map {
    fn from(map: serde_json::Map<String, serde_json::Value>) -> Self {
        map.into_iter().map(|(name, value)| (name, value.into())).collect()
    }
}

#[cfg(all(test, feature = "serde_json"))]
mod tests {
    use super::*;

    #[test]
    fn values_of_serde_json_are_taken() {
        let theirs = serde_json::json!({"b": [null, true, -1, 0.1, u64::MAX], "a": {"text": "x"}});
        let ours = Json::from(theirs.clone());
        assert_eq!(ours.to_string(), theirs.to_string());
        assert_eq!(serde_json::to_value(&ours).unwrap(), theirs);
    }
}
