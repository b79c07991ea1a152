//! Deserialisation of JSON to types that implement `serde`.

use std::fmt::{self, Display};

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error as _, MapAccess, SeqAccess,
    VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use super::serde::NUMBER;
use super::{Iter, Json, JsonNumber, Map};
use crate::error::{Error, Result};

/// Deserialises JSON to a type that implements `serde`.
///
/// A float is read from a number, from one of Python's tokens for NaN and infinities, and from a string with the name of one of
/// these tokens, as in strict JSON.
///
/// # Errors
/// [`InvalidMetadata`](crate::ErrorKind::InvalidMetadata), with the path to the member, when the value does not fit the type.
pub fn from_value<T: DeserializeOwned>(json: &Json) -> Result<T> {
    T::deserialize(ValueDeserializer(json)).map_err(Failure::into_error)
}

/// Deserialises a JSON object to a type that implements `serde`, as [`from_value`] does.
///
/// ```
/// # #[derive(serde::Deserialize)]
/// struct Variable {
///     units: String,
///     valid_max: Option<f64>,
/// }
///
/// let attributes = zarrox_core::json::parse_object(br#"{"units": "K", "valid_max": NaN}"#)?;
/// let variable: Variable = zarrox_core::json::from_map(&attributes)?;
/// assert_eq!(variable.units, "K");
/// assert!(variable.valid_max.is_some_and(f64::is_nan));
/// # Ok::<(), zarrox_core::Error>(())
/// ```
///
/// # Errors
/// The errors of [`from_value`].
pub fn from_map<T: DeserializeOwned>(map: &Map) -> Result<T> {
    T::deserialize(Members::of(map)).map_err(Failure::into_error)
}

/// The reason for a failure, and the enclosing members and items, from the innermost to the outermost.
#[derive(Debug)]
struct Failure {
    message: String,
    path: Vec<String>,
}

impl Failure {
    fn within(mut self, place: &impl Display) -> Self {
        self.path.push(place.to_string());
        self
    }

    fn into_error(self) -> Error {
        let error = Error::metadata(self.message);
        if self.path.is_empty() {
            return error;
        }
        let path: Vec<_> = self.path.into_iter().rev().collect();
        error.at(format!("'{}'", path.join(".")))
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

impl de::Error for Failure {
    fn custom<T: Display>(message: T) -> Self {
        Self { message: message.to_string(), path: Vec::new() }
    }
}

/// A value to deserialise.
#[derive(Clone, Copy)]
struct ValueDeserializer<'a>(&'a Json);

impl<'a> ValueDeserializer<'a> {
    fn float(self) -> Option<f64> {
        match self.0 {
            Json::Number(number) => Some(number.to_f64()),
            Json::String(text) => JsonNumber::of_token(text).map(|number| number.to_f64()),
            _ => None,
        }
    }

    /// Returns the text of a number.
    fn digits(self) -> Option<String> {
        match self.0 {
            Json::Number(number) => Some(number.to_string()),
            _ => None,
        }
    }

    fn visit_float<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Failure> {
        match self.float() {
            Some(value) => visitor.visit_f64(value),
            None => self.deserialize_any(visitor),
        }
    }
}

impl<'de> Deserializer<'de> for ValueDeserializer<'de> {
    type Error = Failure;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        match self.0 {
            Json::Null => visitor.visit_unit(),
            Json::Bool(value) => visitor.visit_bool(*value),
            // Not as a 128-bit integer, which serde's own buffers do not support.
            Json::Number(number) => match (number.as_u64(), number.as_i64()) {
                (Some(value), _) => visitor.visit_u64(value),
                (_, Some(value)) => visitor.visit_i64(value),
                _ => visitor.visit_f64(number.to_f64()),
            },
            Json::String(text) => visitor.visit_borrowed_str(text),
            Json::Array(list) => {
                let mut items = Items { list, next: 0 };
                let value = visitor.visit_seq(&mut items)?;
                match items.next == list.len() {
                    true => Ok(value),
                    false => Err(Failure::invalid_length(list.len(), &"fewer items")),
                }
            }
            Json::Object(map) => Members::of(map).deserialize_any(visitor),
        }
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        self.visit_float(visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        self.visit_float(visitor)
    }

    fn deserialize_i128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        match self.digits().and_then(|digits| digits.parse().ok()) {
            Some(value) => visitor.visit_i128(value),
            None => self.deserialize_any(visitor),
        }
    }

    fn deserialize_u128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        match self.digits().and_then(|digits| digits.parse().ok()) {
            Some(value) => visitor.visit_u128(value),
            None => self.deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        match self.0 {
            Json::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Failure> {
        match self.digits().filter(|_| name == NUMBER) {
            Some(digits) => visitor.visit_bytes(digits.as_bytes()),
            None => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        match self.0 {
            Json::String(variant) => visitor.visit_enum(Variant { name: variant, data: None }),
            Json::Object(map) => Members::of(map).deserialize_enum(name, variants, visitor),
            other => Err(Failure::custom(format!(
                "expected the name of a variant or an object, found {}",
                super::kind(other)
            ))),
        }
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        self.deserialize_byte_buf(visitor)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        let byte = |item: &Json| item.as_u64().and_then(|value| u8::try_from(value).ok());
        match self.0.as_array().and_then(|list| list.iter().map(byte).collect::<Option<Vec<u8>>>()) {
            Some(bytes) => visitor.visit_byte_buf(bytes),
            None => self.deserialize_any(visitor),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 char str string unit unit_struct seq tuple tuple_struct map struct identifier
    }
}

struct Items<'a> {
    list: &'a [Json],
    next: usize,
}

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Failure;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Failure> {
        let Some(item) = self.list.get(self.next) else { return Ok(None) };
        let read = seed.deserialize(ValueDeserializer(item)).map_err(|failure| failure.within(&self.next))?;
        self.next += 1;
        Ok(Some(read))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.list.len() - self.next)
    }
}

/// An object to deserialise, member by member.
struct Members<'a> {
    members: Iter<'a>,
    /// The member whose name was read last.
    member: Option<(&'a str, &'a Json)>,
}

impl<'a> Members<'a> {
    fn of(map: &'a Map) -> Self {
        Self { members: map.iter(), member: None }
    }
}

impl<'de> Deserializer<'de> for Members<'de> {
    type Error = Failure;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        visitor.visit_map(self)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Failure> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        mut self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        match (self.members.next(), self.members.next()) {
            (Some((name, data)), None) => visitor.visit_enum(Variant { name, data: Some(data) }),
            _ => Err(Failure::custom("expected an object with the name of a variant as its only member")),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}

impl<'de> MapAccess<'de> for Members<'de> {
    type Error = Failure;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Failure> {
        self.member = self.members.next().map(|(name, value)| (name.as_str(), value));
        let Some((name, _)) = self.member else { return Ok(None) };
        seed.deserialize(Name(name)).map(Some).map_err(|failure| failure.within(&name))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Failure> {
        let (name, value) =
            self.member.take().ok_or_else(|| Failure::custom("a value was read before its name"))?;
        seed.deserialize(ValueDeserializer(value)).map_err(|failure| failure.within(&name))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.members.len())
    }
}

/// The name of a member, which can also be read as a number.
struct Name<'a>(&'a str);

macro_rules! parsed {
    ($($deserialize:ident $visit:ident,)*) => {$(
        fn $deserialize<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
            match self.0.parse() {
                Ok(value) => visitor.$visit(value),
                Err(_) => self.deserialize_any(visitor),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for Name<'de> {
    type Error = Failure;

    parsed! {
        deserialize_bool visit_bool,
        deserialize_i8 visit_i8,
        deserialize_i16 visit_i16,
        deserialize_i32 visit_i32,
        deserialize_i64 visit_i64,
        deserialize_i128 visit_i128,
        deserialize_u8 visit_u8,
        deserialize_u16 visit_u16,
        deserialize_u32 visit_u32,
        deserialize_u64 visit_u64,
        deserialize_u128 visit_u128,
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        visitor.visit_borrowed_str(self.0)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Failure> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        visitor.visit_enum(Variant { name: self.0, data: None })
    }

    forward_to_deserialize_any! {
        f32 f64 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

/// A variant of an enum, and its data.
struct Variant<'a> {
    name: &'a str,
    data: Option<&'a Json>,
}

impl<'de> EnumAccess<'de> for Variant<'de> {
    type Error = Failure;
    type Variant = Data<'de>;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Data<'de>), Failure> {
        let variant = seed.deserialize(BorrowedStrDeserializer::new(self.name))?;
        Ok((variant, Data(self)))
    }
}

struct Data<'a>(Variant<'a>);

impl<'a> Data<'a> {
    fn read<T>(self, read: impl FnOnce(ValueDeserializer<'a>) -> Result<T, Failure>) -> Result<T, Failure> {
        let Variant { name, data } = self.0;
        let data = data.ok_or_else(|| Failure::custom(format!("the variant '{name}' needs data")))?;
        read(ValueDeserializer(data)).map_err(|failure| failure.within(&name))
    }
}

impl<'de> VariantAccess<'de> for Data<'de> {
    type Error = Failure;

    fn unit_variant(self) -> Result<(), Failure> {
        let Variant { name, data } = self.0;
        match data {
            None | Some(Json::Null) => Ok(()),
            Some(_) => Err(Failure::custom(format!("the variant '{name}' has no data"))),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Failure> {
        self.read(|data| seed.deserialize(data))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Failure> {
        self.read(|data| data.deserialize_seq(visitor))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        self.read(|data| data.deserialize_map(visitor))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Serialize};

    use super::super::{json, parse, parse_object, to_line, to_map, to_value};
    use super::*;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Axis {
        Time,
        Space(f64),
        Pair(u8, i16),
        Named { name: String, unit: Option<String> },
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Inner {
        axes: Vec<Axis>,
        by_year: BTreeMap<u16, (i8, bool)>,
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Outer {
        large: u128,
        low: i128,
        bytes: [u8; 3],
        letter: char,
        unit: (),
        #[serde(rename = "_FillValue")]
        fill: Option<f32>,
        none: Option<Inner>,
        some: Option<Inner>,
        json: Json,
        map: Map,
        #[serde(flatten)]
        rest: BTreeMap<String, Json>,
    }

    fn outer() -> Outer {
        let axes = vec![
            Axis::Time,
            Axis::Space(0.1),
            Axis::Pair(1, -2),
            Axis::Named { name: "x".to_owned(), unit: None },
        ];
        Outer {
            large: u128::MAX,
            low: i128::MIN,
            bytes: [1, 2, 255],
            letter: 'é',
            unit: (),
            fill: Some(-0.5),
            none: None,
            some: Some(Inner { axes, by_year: BTreeMap::from([(1999, (-1, true))]) }),
            json: json!([null, {"a": 12345678901234567890123_i128}]),
            map: Map::from([("b", 1), ("a", 2)]),
            rest: BTreeMap::from([("units".to_owned(), json!("K"))]),
        }
    }

    #[test]
    fn types_are_converted_to_json_and_back() {
        let value = outer();
        let map = to_map(&value).unwrap();
        assert_eq!(
            to_line(&map),
            concat!(
                r#"{"large":340282366920938463463374607431768211455,"low":-170141183460469231731687303715884105728,"#,
                r#""bytes":[1,2,255],"letter":"é","unit":null,"_FillValue":-0.5,"none":null,"#,
                r#""some":{"axes":["time",{"space":0.1},{"pair":[1,-2]},{"named":{"name":"x","unit":null}}],"#,
                r#""by_year":{"1999":[-1,true]}},"json":[null,{"a":12345678901234567890123}],"#,
                r#""map":{"b":1,"a":2},"units":"K"}"#
            )
        );
        assert_eq!(from_map::<Outer>(&map).unwrap(), value);
        assert_eq!(from_value::<Outer>(&map.into()).unwrap(), value);
    }

    #[test]
    fn other_libraries_read_the_same_json() {
        let value = Outer { large: 1, low: -1, json: Json::Null, ..outer() };
        let theirs = serde_json::to_value(&value).unwrap();
        assert_eq!(serde_json::to_value(to_map(&value).unwrap()).unwrap(), theirs);
        assert_eq!(from_map::<Outer>(&serde_json::from_value(theirs).unwrap()).unwrap(), value);
    }

    #[test]
    fn nan_and_infinities_stay() {
        let map = parse_object(br#"{"a": NaN, "b": "NaN", "c": -Infinity, "d": "Infinity"}"#).unwrap();
        let floats: BTreeMap<String, Option<f64>> = from_map(&map).unwrap();
        assert!(floats["a"].unwrap().is_nan() && floats["b"].unwrap().is_nan());
        assert_eq!((floats["c"], floats["d"]), (Some(f64::NEG_INFINITY), Some(f64::INFINITY)));
        assert_eq!(to_line(&to_map(&floats).unwrap()), r#"{"a":NaN,"b":NaN,"c":-Infinity,"d":Infinity}"#);
        assert!(json!(f64::NAN).as_f64().unwrap().is_nan());
    }

    #[test]
    fn json_inside_of_a_type_keeps_its_digits() {
        let text = r#"{"a":[1.50,1e400,NaN,-0,0.1000000000000000055]}"#;
        assert_eq!(
            from_map::<Map>(&parse_object(text.as_bytes()).unwrap()).map(|map| to_line(&map)).unwrap(),
            text
        );
        let error = to_value(&parse(b"[1e400]").unwrap()).unwrap_err();
        assert_eq!(error.to_string(), "the number 1e400 exceeds the range of 64-bit floats");
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let mut map = to_map(&outer()).unwrap();
        map["some"]["axes"] = json!(["time", {"named": {"name": 7}}]);
        let error = from_map::<Outer>(&map).unwrap_err();
        assert_eq!(
            error.to_string(),
            "'some.axes.1.named.name': invalid type: integer `7`, expected a string"
        );
        for (json, message) in [
            (json!([1, 2, 3]), "invalid length 3, expected fewer items"),
            (json!([1]), "invalid length 1, expected a tuple of size 2"),
            (json!({"a": 1}), "invalid type: map, expected a tuple of size 2"),
            (json!([1, "NaN"]), "'1': invalid type: string \"NaN\", expected u8"),
        ] {
            assert_eq!(from_value::<(u8, u8)>(&json).unwrap_err().to_string(), message);
        }
        for (json, message) in [
            (json!("space"), "the variant 'space' needs data"),
            (json!({"time": 1}), "the variant 'time' has no data"),
            (
                json!({"time": 1, "space": 2}),
                "expected an object with the name of a variant as its only member",
            ),
            (json!(1), "expected the name of a variant or an object, found a number"),
        ] {
            assert_eq!(from_value::<Axis>(&json).unwrap_err().to_string(), message);
        }
        assert_eq!(to_map(&1).unwrap_err().to_string(), "expected a struct or a map, found a number");
        let keys = BTreeMap::from([((1, 2), 3)]);
        assert_eq!(to_map(&keys).unwrap_err().to_string(), "the keys of a map must be text or numbers");
    }
}
