//! The macro for JSON values.

use std::borrow::Cow;

use super::{Json, JsonNumber, Map};

/// Values that [`json!`](super::json) takes by reference.
pub trait ToJson {
    /// Returns the value as JSON.
    fn to_json(&self) -> Json;
}

macro_rules! copied {
    ($($T:ty)*) => {$(
        impl ToJson for $T {
            fn to_json(&self) -> Json {
                (*self).into()
            }
        }
    )*};
}

copied!(bool u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 f32 f64);

impl ToJson for str {
    fn to_json(&self) -> Json {
        self.into()
    }
}

impl ToJson for String {
    fn to_json(&self) -> Json {
        self.as_str().into()
    }
}

impl ToJson for Cow<'_, str> {
    fn to_json(&self) -> Json {
        (**self).into()
    }
}

impl ToJson for JsonNumber {
    fn to_json(&self) -> Json {
        self.clone().into()
    }
}

impl ToJson for Json {
    fn to_json(&self) -> Json {
        self.clone()
    }
}

impl ToJson for Map {
    fn to_json(&self) -> Json {
        self.clone().into()
    }
}

impl<T: ToJson> ToJson for [T] {
    fn to_json(&self) -> Json {
        self.iter().map(ToJson::to_json).collect()
    }
}

impl<T: ToJson, const N: usize> ToJson for [T; N] {
    fn to_json(&self) -> Json {
        self[..].to_json()
    }
}

impl<T: ToJson> ToJson for Vec<T> {
    fn to_json(&self) -> Json {
        self[..].to_json()
    }
}

impl<T: ToJson> ToJson for Option<T> {
    fn to_json(&self) -> Json {
        self.as_ref().map_or(Json::Null, ToJson::to_json)
    }
}

impl<T: ToJson + ?Sized> ToJson for &T {
    fn to_json(&self) -> Json {
        (**self).to_json()
    }
}

/// Creates a [`Json`] value from JSON syntax: `json!({"a": [1, null, name]})`. Expressions inside are borrowed.
#[doc(hidden)]
#[macro_export]
macro_rules! __json {
    (null) => { $crate::json::Json::Null };
    ([$($items:tt)*]) => { $crate::json::Json::Array($crate::__json!(@list [] $($items)*)) };
    ({$($members:tt)*}) => { $crate::json::Json::Object($crate::__json!(@object [] $($members)*)) };

    (@list [$($done:expr,)*]) => { ::std::vec![$($done),*] };
    (@list [$($done:expr,)*] null $(, $($rest:tt)*)?) => {
        $crate::__json!(@list [$($done,)* $crate::json::Json::Null,] $($($rest)*)?)
    };
    (@list [$($done:expr,)*] [$($inner:tt)*] $(, $($rest:tt)*)?) => {
        $crate::__json!(@list [$($done,)* $crate::__json!([$($inner)*]),] $($($rest)*)?)
    };
    (@list [$($done:expr,)*] {$($inner:tt)*} $(, $($rest:tt)*)?) => {
        $crate::__json!(@list [$($done,)* $crate::__json!({$($inner)*}),] $($($rest)*)?)
    };
    (@list [$($done:expr,)*] $next:expr $(, $($rest:tt)*)?) => {
        $crate::__json!(@list [$($done,)* $crate::__json!($next),] $($($rest)*)?)
    };

    (@object []) => { $crate::json::Map::default() };
    (@object [$($done:expr,)*]) => { ::std::iter::FromIterator::from_iter([$($done),*]) };
    (@object [$($done:expr,)*] $name:tt : null $(, $($rest:tt)*)?) => {
        $crate::__json!(@object [$($done,)* (($name).into(), $crate::json::Json::Null),] $($($rest)*)?)
    };
    (@object [$($done:expr,)*] $name:tt : [$($inner:tt)*] $(, $($rest:tt)*)?) => {
        $crate::__json!(@object [$($done,)* (($name).into(), $crate::__json!([$($inner)*])),] $($($rest)*)?)
    };
    (@object [$($done:expr,)*] $name:tt : {$($inner:tt)*} $(, $($rest:tt)*)?) => {
        $crate::__json!(@object [$($done,)* (($name).into(), $crate::__json!({$($inner)*})),] $($($rest)*)?)
    };
    (@object [$($done:expr,)*] $name:tt : $value:expr $(, $($rest:tt)*)?) => {
        $crate::__json!(@object [$($done,)* (($name).into(), $crate::__json!($value)),] $($($rest)*)?)
    };

    ($other:expr) => { $crate::internals::json::ToJson::to_json(&$other) };
}
