//! JSON in the form of Zarr documents.
//!
//! Python writes `NaN`, `Infinity`, `-Infinity` and integers of any size into documents, and a change of a document must keep
//! everything else. `serde_json` has no such values: its feature `arbitrary_precision` keeps the digits of numbers but not these
//! tokens, and would apply to every crate of a program, where it breaks `untagged` and `flatten`ed numbers. So the values, the
//! parser and the writer are our own; [`serde`](https://serde.rs) can read and write values as well.

mod deserializer;
mod macros;
mod map;
mod number;
mod outline;
mod parse;
mod serde;
mod serializer;
mod value;
mod write;

use std::fmt;

pub use crate::__json as json;
use crate::error::{Error, Result};
use crate::strictness::Strictness;

pub use deserializer::{from_map, from_value};
pub use macros::ToJson;
pub use map::{IntoIter, Iter, IterMut};
pub use number::JsonNumber;
pub(crate) use outline::Outline;
pub(crate) use parse::List;
use parse::MAX_DEPTH;
pub use serializer::{to_map, to_value};
pub use value::{Json, JsonIndex, Map};

/// Parses a value. The bare tokens `NaN`, `Infinity` and `-Infinity`, which Python writes although JSON does not have them, are
/// [numbers](JsonNumber).
pub fn parse(bytes: &[u8]) -> Result<Json> {
    parse::value(bytes, true).map_err(not_json)
}

/// Parses a document that must be an object, as leniently as [`parse_document`] can: what was read is changed and copied, too.
pub fn parse_object(bytes: &[u8]) -> Result<Map> {
    parse_document(bytes, Strictness::Lenient)
}

/// Parses a metadata document. With strictness it must be JSON without Python's tokens, and without the byte order mark of UTF-8 in
/// front, which editors write.
pub fn parse_document(bytes: &[u8], strictness: Strictness) -> Result<Map> {
    let bytes = without_mark(bytes, strictness);
    object(parse::value(bytes, strictness == Strictness::Lenient).map_err(not_json)?)
}

/// Parses a metadata document into the list of its members.
pub(crate) fn parse_members(bytes: &[u8], strictness: Strictness) -> Result<List<'_>> {
    Ok(parse_members_without(bytes, strictness, None)?.0)
}

/// Parses a metadata document into the list of its members, except one member that is only checked. Returns whether that member
/// exists.
pub(crate) fn parse_members_without<'a>(
    bytes: &'a [u8],
    strictness: Strictness,
    left_out: Option<[&str; 2]>,
) -> Result<(List<'a>, bool)> {
    let bytes = without_mark(bytes, strictness);
    let members = parse::members(bytes, strictness == Strictness::Lenient, left_out).map_err(not_json)?;
    members.map_err(|other| no_object(&other))
}

/// The byte order mark of UTF-8.
const MARK: &str = "\u{feff}";

/// Returns the bytes of a document without the byte order mark of UTF-8, which is only skipped leniently.
fn without_mark(bytes: &[u8], strictness: Strictness) -> &[u8] {
    let text = bytes.strip_prefix(MARK.as_bytes());
    text.filter(|_| strictness == Strictness::Lenient).unwrap_or(bytes)
}

fn object(json: Json) -> Result<Map> {
    match json {
        Json::Object(map) => Ok(map),
        other => Err(no_object(&other)),
    }
}

/// Returns the object of a parsed document.
pub(crate) fn as_object(json: &Json) -> Result<&Map> {
    json.as_object().ok_or_else(|| no_object(json))
}

fn no_object(json: &Json) -> Error {
    Error::metadata(format!("expected a JSON object, found {}", kind(json)))
}

fn not_json(error: parse::NotJson) -> Error {
    Error::metadata(format!("this is not JSON: {error}")).with_source(error)
}

/// The document as bytes, indented, with a newline at the end. It is an error if it is nested too deep to be parsed again.
pub fn to_bytes(map: &Map) -> Result<Vec<u8>> {
    let mut text = indented(map, 2)?;
    text.push('\n');
    Ok(text.into_bytes())
}

/// The object in one line.
pub fn to_line(map: &Map) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write::object(&mut text, map, None);
    text
}

fn indented(map: &Map, indent: usize) -> Result<String> {
    map.values().try_for_each(|json| check_depth(json, 1))?;
    let mut text = String::new();
    write::object(&mut text, map, Some(indent))
        .map_err(|_| Error::argument("the document cannot be serialised as JSON"))?;
    Ok(text)
}

/// Checks that a value so many levels deep in a document can be parsed again.
fn check_depth(json: &Json, levels: usize) -> Result<()> {
    if fits(json, MAX_DEPTH - levels) {
        return Ok(());
    }
    let message = format!("lists and objects in metadata cannot be nested more than {MAX_DEPTH} deep");
    Err(Error::argument(message))
}

/// The map with the members of all objects sorted by name, as in zarr-python 2.
pub fn sorted(map: Map) -> Map {
    fn value(json: Json) -> Json {
        match json {
            Json::Object(map) => sorted(map).into(),
            Json::Array(list) => list.into_iter().map(value).collect(),
            other => other,
        }
    }
    let mut members: Vec<(String, Json)> = map.into_iter().map(|(name, json)| (name, value(json))).collect();
    members.sort_by(|(a, _), (b, _)| a.cmp(b));
    members.into_iter().collect()
}

/// The document in the form of zarr-python 2: indented by four, without a final newline, and in ASCII, with other characters
/// escaped. zarr-python 1, and early versions of 2, read nothing else.
pub fn to_ascii(map: &Map) -> Result<Vec<u8>> {
    let text = indented(map, 4)?;
    let mut ascii = Vec::with_capacity(text.len());
    for character in text.chars() {
        if character.is_ascii() {
            ascii.push(character as u8);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            ascii.extend(format!("\\u{unit:04x}").into_bytes());
        }
    }
    Ok(ascii)
}

/// Returns true if a value has at most so many levels of lists and objects.
fn fits(json: &Json, levels: usize) -> bool {
    let Some(below) = levels.checked_sub(1) else { return !(json.is_array() || json.is_object()) };
    match json {
        Json::Array(list) => list.iter().all(|json| fits(json, below)),
        Json::Object(map) => map.values().all(|json| fits(json, below)),
        _ => true,
    }
}

/// A configuration for messages: `(level=3, checksum=false)`; empty if there is none.
pub(crate) fn write_configuration(f: &mut fmt::Formatter<'_>, configuration: &Map) -> fmt::Result {
    if configuration.is_empty() {
        return Ok(());
    }
    let members: Vec<_> = configuration.iter().map(|(name, value)| format!("{name}={value}")).collect();
    write!(f, "({})", members.join(", "))
}

/// A value for messages: text without quotes, and at most so many characters.
pub fn shown(json: &Json, longest: usize) -> String {
    let text = json.as_str().map_or_else(|| json.to_string(), |text| format!("\"{text}\""));
    if text.chars().nth(longest).is_none() {
        text
    } else {
        text.chars().take(longest).chain(['…']).collect()
    }
}

/// The kind of a JSON value, for messages.
pub fn kind(json: &Json) -> &'static str {
    match json {
        Json::Null => "null",
        Json::Bool(_) => "a boolean",
        Json::Number(_) => "a number",
        Json::String(_) => "a string",
        Json::Array(_) => "a list",
        Json::Object(_) => "an object",
    }
}

/// Returns true if two objects have the same members in the same order with identical values, including the signs of zeros.
pub(crate) fn are_identical(a: &Map, b: &Map) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|((name, x), (other, y))| name == other && is_identical(x, y))
}

/// Returns true if two values are identical, including the order of members and the signs of zeros.
pub(crate) fn is_identical(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Number(x), Json::Number(y)) => x.is_identical(y),
        (Json::Array(x), Json::Array(y)) => {
            x.len() == y.len() && x.iter().zip(y).all(|(x, y)| is_identical(x, y))
        }
        (Json::Object(x), Json::Object(y)) => are_identical(x, y),
        _ => a == b,
    }
}

/// A changed object in which unchanged members keep their text: a program that reads numbers as floats and writes them again
/// would lose digits.
pub fn with_texts_of(changed: Map, before: &Map) -> Map {
    let kept = |name: &str, json: &Json| before.get(name).filter(|old| is_identical(old, json)).cloned();
    let member = |(name, json): (String, Json)| {
        let json = kept(&name, &json).unwrap_or(json);
        (name, json)
    };
    changed.into_iter().map(member).collect()
}

/// A non-negative integer; if lenient, also a float without a fraction.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be whole and in range"
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
