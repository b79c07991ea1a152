//! JSON values, which differ from those of `serde_json` in their numbers.

use std::borrow::Cow;
use std::ops::{Index, IndexMut};

use foldhash::fast::RandomState;
use indexmap::IndexMap;

use super::JsonNumber;

/// A JSON value. Its [numbers](JsonNumber) keep their text, and may be Python's tokens.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Json {
    /// `null`.
    #[default]
    Null,
    /// `true` and `false`.
    Bool(bool),
    /// A number.
    Number(JsonNumber),
    /// A string.
    String(String),
    /// A list.
    Array(Vec<Json>),
    /// An object.
    Object(Map),
}

/// The value of a missing member.
pub(super) const NULL: Json = Json::Null;

/// A JSON object: attributes, configurations, documents. Its members keep their order.
///
/// ```
/// use zarrox_core::json::Map;
///
/// let mut attributes = Map::from([("units", "K")]);
/// attributes.insert("scale".to_owned(), 0.5.into());
/// assert_eq!(attributes["units"], "K");
/// assert!(attributes["offset"].is_null());
/// ```
///
/// [`to_map`](super::to_map) and [`from_map`](super::from_map) convert a map to and from types that implement `serde`'s traits.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Map(pub(super) IndexMap<String, Json, RandomState>);

impl Json {
    /// Returns the boolean, if the value is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            _ => None,
        }
    }

    fn as_number(&self) -> Option<&JsonNumber> {
        match self {
            Self::Number(number) => Some(number),
            _ => None,
        }
    }

    /// Returns the integer, if the value is one in the range of `u64`.
    pub fn as_u64(&self) -> Option<u64> {
        self.as_number()?.as_u64()
    }

    /// Returns the integer, if the value is one in the range of `i64`.
    pub fn as_i64(&self) -> Option<i64> {
        self.as_number()?.as_i64()
    }

    /// Returns the float nearest to the number; for a token, the NaN or infinity that it names.
    pub fn as_f64(&self) -> Option<f64> {
        self.as_number()?.as_f64()
    }

    /// Returns the string, if the value is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the list, if the value is one.
    pub fn as_array(&self) -> Option<&Vec<Self>> {
        match self {
            Self::Array(list) => Some(list),
            _ => None,
        }
    }

    /// Returns a mutable reference to the list, if the value is one.
    pub fn as_array_mut(&mut self) -> Option<&mut Vec<Self>> {
        match self {
            Self::Array(list) => Some(list),
            _ => None,
        }
    }

    /// Returns the object, if the value is one.
    pub fn as_object(&self) -> Option<&Map> {
        match self {
            Self::Object(map) => Some(map),
            _ => None,
        }
    }

    /// Returns a mutable reference to the object, if the value is one.
    pub fn as_object_mut(&mut self) -> Option<&mut Map> {
        match self {
            Self::Object(map) => Some(map),
            _ => None,
        }
    }

    /// Returns true for null.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Returns true for a number, including the tokens.
    pub fn is_number(&self) -> bool {
        matches!(self, Self::Number(_))
    }

    /// Returns true for a string.
    pub fn is_string(&self) -> bool {
        matches!(self, Self::String(_))
    }

    /// Returns true for a list.
    pub fn is_array(&self) -> bool {
        matches!(self, Self::Array(_))
    }

    /// Returns true for an object.
    pub fn is_object(&self) -> bool {
        matches!(self, Self::Object(_))
    }

    /// Returns a member of the object, or an item of the list.
    pub fn get(&self, index: impl JsonIndex) -> Option<&Self> {
        index.of(self)
    }

    /// Returns the value as strict JSON: Python's tokens become strings with their names, as in fill values of Zarr v3.
    #[must_use]
    #[doc(hidden)]
    pub fn without_tokens(&self) -> Self {
        match self {
            Self::Number(number) => number.as_token().map_or_else(|| self.clone(), Self::from),
            Self::Array(list) => list.iter().map(Self::without_tokens).collect(),
            Self::Object(map) => {
                map.iter().map(|(name, value)| (name.as_str(), value.without_tokens())).collect()
            }
            _ => self.clone(),
        }
    }

    /// Returns the value, and leaves null in its place.
    #[doc(hidden)]
    pub fn take(&mut self) -> Self {
        std::mem::take(self)
    }
}

/// The name of a member, or the index of an item.
pub trait JsonIndex {
    /// Returns the value with this name or index, if it exists.
    fn of<'a>(&self, json: &'a Json) -> Option<&'a Json>;
}

impl JsonIndex for usize {
    fn of<'a>(&self, json: &'a Json) -> Option<&'a Json> {
        json.as_array()?.get(*self)
    }
}

impl JsonIndex for str {
    fn of<'a>(&self, json: &'a Json) -> Option<&'a Json> {
        json.as_object()?.get(self)
    }
}

impl JsonIndex for String {
    fn of<'a>(&self, json: &'a Json) -> Option<&'a Json> {
        self.as_str().of(json)
    }
}

impl<T: JsonIndex + ?Sized> JsonIndex for &T {
    fn of<'a>(&self, json: &'a Json) -> Option<&'a Json> {
        (**self).of(json)
    }
}

/// A missing member is null.
impl<I: JsonIndex> Index<I> for Json {
    type Output = Self;

    fn index(&self, index: I) -> &Self {
        index.of(self).unwrap_or(&NULL)
    }
}

/// A missing member is created. A value that is not an object becomes an object.
impl IndexMut<&str> for Json {
    fn index_mut(&mut self, name: &str) -> &mut Self {
        if !self.is_object() {
            *self = Self::Object(Map::default());
        }
        match self {
            Self::Object(map) => &mut map[name],
            other => other,
        }
    }
}

/// # Panics
/// When the value is not an array, or the array has no such item.
impl IndexMut<usize> for Json {
    #[expect(clippy::panic, reason = "the program has to know the length, as with a `Vec`")]
    fn index_mut(&mut self, index: usize) -> &mut Self {
        match self {
            Self::Array(items) => &mut items[index],
            _ => panic!("a value that is not an array has no item {index}"),
        }
    }
}

macro_rules! numbers {
    ($($T:ty)*) => {$(
        impl From<$T> for Json {
            fn from(value: $T) -> Self {
                Self::Number(value.into())
            }
        }

        impl PartialEq<$T> for Json {
            fn eq(&self, other: &$T) -> bool {
                self.as_number() == Some(&JsonNumber::from(*other))
            }
        }
    )*};
}

numbers!(u8 u16 u32 u64 usize u128 i8 i16 i32 i64 i128 f32 f64);

impl From<JsonNumber> for Json {
    fn from(number: JsonNumber) -> Self {
        Self::Number(number)
    }
}

impl From<bool> for Json {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<String> for Json {
    fn from(text: String) -> Self {
        Self::String(text)
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl From<Cow<'_, str>> for Json {
    fn from(text: Cow<'_, str>) -> Self {
        Self::String(text.into_owned())
    }
}

impl From<Map> for Json {
    fn from(map: Map) -> Self {
        Self::Object(map)
    }
}

impl<T: Into<Self>> From<Vec<T>> for Json {
    fn from(list: Vec<T>) -> Self {
        list.into_iter().collect()
    }
}

impl<T: Into<Self>, const N: usize> From<[T; N]> for Json {
    fn from(list: [T; N]) -> Self {
        list.into_iter().collect()
    }
}

impl<T: Clone + Into<Self>> From<&[T]> for Json {
    fn from(list: &[T]) -> Self {
        list.iter().cloned().collect()
    }
}

impl<T: Into<Self>> From<Option<T>> for Json {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl<T: Into<Self>> FromIterator<T> for Json {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Self::Array(items.into_iter().map(Into::into).collect())
    }
}

impl<K: Into<String>, T: Into<Self>> FromIterator<(K, T)> for Json {
    fn from_iter<I: IntoIterator<Item = (K, T)>>(members: I) -> Self {
        Self::Object(members.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}

impl PartialEq<str> for Json {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == Some(other)
    }
}

impl PartialEq<&str> for Json {
    fn eq(&self, other: &&str) -> bool {
        self == *other
    }
}

impl PartialEq<String> for Json {
    fn eq(&self, other: &String) -> bool {
        self == other.as_str()
    }
}

impl PartialEq<Json> for String {
    fn eq(&self, other: &Json) -> bool {
        other == self
    }
}

impl PartialEq<bool> for Json {
    fn eq(&self, other: &bool) -> bool {
        self.as_bool() == Some(*other)
    }
}
