//! JSON in the form of Zarr documents.
//!
//! Python writes `NaN`, `Infinity`, `-Infinity` and integers of any size into documents, and a program that changes a document
//! must preserve everything else in it. `serde_json` has no such values: its feature `arbitrary_precision` keeps the digits of
//! numbers but not these tokens, and would apply to every crate of a program, where it breaks numbers in `untagged` and
//! `flatten`ed types. The values, the parser and the writer are therefore implemented here. Types that implement
//! [`serde`](https://serde.rs)'s traits can be converted to and from the values.

mod deserializer;
mod document;
mod identical;
mod macros;
mod map;
mod message;
mod number;
mod outline;
mod parse;
mod serde;
mod serializer;
mod value;
mod write;

pub use crate::__json as json;
use crate::error::Result;
use crate::strictness::Strictness;

pub use deserializer::{from_map, from_value};
pub(crate) use document::{as_object, parse_members, parse_members_without};
pub(crate) use identical::are_identical;
pub(crate) use internals::*;
pub(crate) use message::write_configuration;
pub use number::JsonNumber;
pub(crate) use outline::Outline;
pub use serializer::{to_map, to_value};
pub use value::{Json, Map};

/// Items that only other crates of this workspace use.
pub(crate) mod internals {
    pub use super::document::{parse_document, sorted, to_ascii, to_bytes};
    pub use super::identical::with_texts_of;
    pub use super::macros::ToJson;
    pub use super::map::{IntoIter, Iter, IterMut};
    pub use super::message::{kind, shown};
    pub use super::value::JsonIndex;
}

/// Parses a value. The tokens `NaN`, `Infinity` and `-Infinity`, which Python writes although they are not part of JSON, are
/// [numbers](JsonNumber).
pub fn parse(bytes: &[u8]) -> Result<Json> {
    parse::value(bytes, true).map_err(document::not_json)
}

/// Parses a string as [`parse`] parses bytes.
///
/// ```
/// use zarrox_core::json::{Json, json};
///
/// assert_eq!("[1, null]".parse::<Json>()?, json!([1, null]));
/// assert!("[1,".parse::<Json>().is_err());
/// # Ok::<(), zarrox_core::Error>(())
/// ```
impl std::str::FromStr for Json {
    type Err = crate::Error;

    fn from_str(text: &str) -> Result<Self> {
        parse(text.as_bytes())
    }
}

/// Parses a document that must be an object, as leniently as metadata: Python's tokens and a byte order mark are accepted.
pub fn parse_object(bytes: &[u8]) -> Result<Map> {
    parse_document(bytes, Strictness::Lenient)
}

/// Returns the object as JSON on one line.
#[doc(hidden)]
pub fn to_line(map: &Map) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write::object(&mut text, map, None);
    text
}

/// Returns the value of a non-negative integer or, in lenient mode, of a float without a fraction.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be integral and in range"
)]
pub(crate) fn integer(json: &Json, strictness: Strictness) -> Option<u64> {
    let float = |json: &Json| json.as_f64().filter(|v| v.fract() == 0.0 && (0.0..9e15).contains(v));
    match strictness {
        Strictness::Strict => json.as_u64(),
        Strictness::Lenient => json.as_u64().or_else(|| float(json).map(|v| v as u64)),
    }
}

#[cfg(test)]
mod tests {
    use super::parse::MAX_DEPTH;
    use super::*;

    #[test]
    fn documents_may_begin_with_a_byte_order_mark() {
        let document = "\u{feff}{\"a\": {\"b\": 1}}".as_bytes();
        assert_eq!(parse_document(document, Strictness::Lenient).unwrap()["a"]["b"], Json::from(1));
        assert_eq!(parse_members(document, Strictness::Lenient).unwrap().len(), 1);
        assert_eq!(parse_object(document).unwrap()["a"]["b"], Json::from(1));
        let changes = [("b".to_owned(), Some(Json::from(2)))].into();
        let changed = Outline::new(document, &["a"]).unwrap().with(changes).unwrap().unwrap();
        assert_eq!(changed, "{\"a\": {\"b\": 2}}");
        for error in [
            parse_document(document, Strictness::Strict).map(drop),
            parse_members(document, Strictness::Strict).map(drop),
            parse_document("\u{feff}\u{feff}{}".as_bytes(), Strictness::Lenient).map(drop),
        ] {
            assert_eq!(error.unwrap_err().kind(), crate::error::ErrorKind::InvalidMetadata);
        }
    }

    #[test]
    fn identical_objects_have_the_same_zeros() {
        let map = |text: &str| parse_object(text.as_bytes()).unwrap();
        let one = map(r#"{"a": [0.0, {"b": null}], "c": "x"}"#);
        assert!(are_identical(&one, &one.clone()));
        for other in [
            r#"{"a": [-0.0, {"b": null}], "c": "x"}"#,
            r#"{"a": [0.0, {"b": 1}], "c": "x"}"#,
            r#"{"a": [0.0], "c": "x"}"#,
            r#"{"a": [0.0, {"b": null}]}"#,
        ] {
            assert!(!are_identical(&one, &map(other)), "{other}");
        }
    }

    #[test]
    fn numbers_and_tokens_are_written_as_they_were_read() {
        let text = r#"{"a":[NaN,-Infinity,"NaN",{"b":Infinity}],"c":[1.50,1e400,-0,-0.0,12345678901234567890123,1E+2]}"#;
        let map = parse_object(text.as_bytes()).unwrap();
        assert_eq!(Json::from(map.clone()).to_string(), text);
        for bytes in [to_bytes(&map).unwrap(), to_ascii(&map).unwrap()] {
            let again = parse_object(&bytes).unwrap();
            assert_eq!(Json::from(again).to_string(), text);
        }
    }

    #[test]
    fn only_lenient_reading_takes_pythons_tokens() {
        for token in ["NaN", "Infinity", "-Infinity", "[1, NaN]"] {
            let document = format!(r#"{{"a": {token}}}"#);
            assert!(parse_document(document.as_bytes(), Strictness::Lenient).is_ok());
            assert_eq!(
                parse_document(document.as_bytes(), Strictness::Strict).unwrap_err().kind(),
                crate::ErrorKind::InvalidMetadata
            );
        }
        assert!(parse_document(br#"{"a": "NaN", "b": 12345678901234567890123}"#, Strictness::Strict).is_ok());
    }

    #[test]
    fn texts_are_read_and_written_as_serde_json_has_them() {
        let texts = [
            "1",
            "-1",
            "01",
            "1.",
            ".5",
            "1e",
            "-",
            "+1",
            "1e5",
            "1E-5x",
            "truely",
            "nul",
            " [ 1 , 2 ] ",
            "[1,]",
            "[,]",
            "{\"a\" : 1 , \"b\":{}}",
            "{\"a\":1,}",
            "{a:1}",
            "{\"a\" 1}",
            "\"a",
            "\"\\u00e9\\ud83e\\uddca\\/\"",
            "\"\\ud83e\"",
            "\"\\uddca\"",
            "\"\\ud83e\\u0041\"",
            "\"\\u12\"",
            "\"\\u+123\"",
            "\"\\x\"",
            "\"\n\"",
            "\"\u{7f}é\"",
            "{\"a\":1,\"b\":2,\"a\":3}",
            "1 2",
            "",
            " ",
            "\u{feff}1",
            "[[[]]]",
            "[1 2]",
            "\"\\u0000\"",
            "18446744073709551615",
            "9223372036854775807",
            "-9223372036854775808",
            "1234567890123456789",
            "[0.5,2e-9]",
        ];
        for text in texts {
            let theirs = serde_json::from_str::<serde_json::Value>(text);
            let ours = parse(text.as_bytes());
            assert_eq!(ours.is_ok(), theirs.is_ok(), "{text}");
            let (Ok(ours), Ok(theirs)) = (ours, theirs) else { continue };
            let again: serde_json::Value = serde_json::from_str(&ours.to_string()).unwrap();
            assert_eq!(again, theirs, "{text}");
            assert_eq!(serde_json::to_value(&ours).unwrap(), theirs, "{text}");
            assert_eq!(serde_json::from_str::<Json>(text).unwrap(), ours, "{text}");
            if !text.contains('e') {
                assert_eq!(format!("{ours:#}"), format!("{theirs:#}"));
            }
        }
        assert_eq!(parse(b"\"\xff\"").unwrap_err().kind(), crate::ErrorKind::InvalidMetadata);
    }

    #[test]
    fn json_is_written_in_rust() {
        let (name, lengths) = ("n".to_owned(), vec![1_u64, 2]);
        let json =
            json!({"a": [null, {}, [], -1, true, name], name: {"x": lengths, ("y"): f64::NAN}, "z": null,});
        assert_eq!(json.to_string(), r#"{"a":[null,{},[],-1,true,"n"],"n":{"x":[1,2],"y":NaN},"z":null}"#);
        assert!(json["a"][3] == -1 && json["n"]["x"] == json!(lengths) && json["no"]["no"].is_null());
    }

    #[test]
    fn ascii_says_the_same() {
        let map = Map::from_iter([("é\\".to_owned(), Json::from("\"\u{1f9ca}\n~"))]);
        let text = to_ascii(&map).unwrap();
        assert_eq!(
            String::from_utf8(text.clone()).unwrap(),
            "{\n    \"\\u00e9\\\\\": \"\\\"\\ud83e\\uddca\\n~\"\n}"
        );
        assert_eq!(parse_object(&text).unwrap(), map);
    }

    #[test]
    fn what_is_written_can_be_read_again() {
        let nested = |levels: usize| {
            let value = (0..levels).fold(Json::Null, |json, _| Json::Array(vec![json]));
            Map::from_iter([("a".to_owned(), value)])
        };
        let deepest = nested(MAX_DEPTH - 1);
        assert_eq!(parse_object(&to_bytes(&deepest).unwrap()).unwrap(), deepest);
        let error = to_bytes(&nested(MAX_DEPTH)).unwrap_err();
        assert!(error.to_string().contains("127 deep"), "{error}");
        assert_eq!(
            parse(format!("{:#}", Json::Object(nested(MAX_DEPTH))).as_bytes()).unwrap_err().kind(),
            crate::ErrorKind::InvalidMetadata
        );
    }

    #[test]
    fn what_is_not_json_is_an_error() {
        for bad in ["", "{", "{\"a\": Nan}", "-NaN", "{NaN", "[1, 2", "\"", "\"\\"] {
            assert!(parse(bad.as_bytes()).is_err(), "{bad}");
        }
        assert!(parse_object(b"[]").unwrap_err().to_string().contains("found a list"));
        let deep = "[".repeat(1 << 20);
        assert_eq!(parse(deep.as_bytes()).unwrap_err().kind(), crate::ErrorKind::InvalidMetadata);
    }
}
