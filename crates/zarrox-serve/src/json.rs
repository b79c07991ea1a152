//! Parts of responses that are already JSON, and numbers that JSON cannot represent.

use serde::ser::Error as _;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use zarrox::json::Json;

/// A JSON value of a document: numbers keep their digits, and the tokens NaN and Infinity become strings.
#[derive(Debug, Clone)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Json"))]
pub(crate) struct Value(
    #[cfg_attr(test, ts(type = "null | boolean | number | string | Json[] | { [name: string]: Json }"))]
    pub(crate) Json,
);

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = self.0.without_tokens().to_string();
        RawValue::from_string(text).map_err(S::Error::custom)?.serialize(serializer)
    }
}

impl<T: Into<Json>> From<T> for Value {
    fn from(value: T) -> Self {
        Self(value.into())
    }
}

/// A float. Values that JSON cannot represent are strings.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Float(
    #[cfg_attr(test, ts(type = "number | \"NaN\" | \"Infinity\" | \"-Infinity\""))] pub(crate) f64,
);

impl Serialize for Float {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            finite if finite.is_finite() => serializer.serialize_f64(finite),
            other => Value::from(other).serialize(serializer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_stay_and_tokens_are_strings() {
        let text = r#"{"a":[1.50,1e400,NaN,-Infinity,12345678901234567890123,-0],"b":null,"ü":"\u0001"}"#;
        let value = Value(zarrox::json::parse(text.as_bytes()).unwrap());
        let expected = text.replace("NaN", "\"NaN\"").replace("-Infinity", "\"-Infinity\"");
        assert_eq!(serde_json::to_string(&value).unwrap(), expected);
        let floats = [1.5, f64::NAN, f64::INFINITY].map(Float);
        assert_eq!(serde_json::to_string(&floats).unwrap(), r#"[1.5,"NaN","Infinity"]"#);
    }
}
