//! JSON as Zarr documents have it.

use std::fmt;

use serde::Serialize;

use crate::data_type::Mode;
use crate::error::{Error, Result};

/// A JSON value.
pub type Json = serde_json::Value;

/// A JSON object; its members keep their order.
pub type Map = serde_json::Map<String, Json>;

/// Parses a document. The bare tokens `NaN`, `Infinity` and `-Infinity`, which Python writes though JSON does
/// not have them, are taken as the strings of the same name.
pub fn parse(bytes: &[u8]) -> Result<Json> {
    let strict = serde_json::from_slice(bytes);
    match strict {
        Ok(json) => Ok(json),
        Err(error) => quote_bare_tokens(bytes, "")
            .and_then(|quoted| serde_json::from_slice(&quoted).ok())
            .ok_or_else(|| not_json(error)),
    }
}

/// Parses a document that must be an object.
pub fn parse_object(bytes: &[u8]) -> Result<Map> {
    object(parse(bytes)?)
}

/// Parses a metadata document. In the strict mode it must be JSON, without Python's tokens.
pub fn parse_document(bytes: &[u8], mode: Mode) -> Result<Map> {
    match mode {
        Mode::Lenient => parse_object(bytes),
        Mode::Strict => object(serde_json::from_slice(bytes).map_err(not_json)?),
    }
}

fn object(json: Json) -> Result<Map> {
    match json {
        Json::Object(map) => Ok(map),
        other => Err(no_object(&other)),
    }
}

/// A document that was parsed before, which must be an object.
pub(crate) fn as_object(json: &Json) -> Result<&Map> {
    json.as_object().ok_or_else(|| no_object(json))
}

fn no_object(json: &Json) -> Error {
    Error::metadata(format!("expected a JSON object, found {}", kind(json)))
}

fn not_json(error: serde_json::Error) -> Error {
    Error::metadata(format!("this is not JSON: {error}")).with_source(error)
}

/// How deep lists and objects may be nested in a document: what is deeper, the parser refuses.
const MAX_DEPTH: usize = 127;

/// The document as bytes: indented, with a newline at the end. An error when it is nested so deep that nobody could
/// read it again.
pub fn to_bytes(map: &Map) -> Result<Vec<u8>> {
    to_text(map).map(String::into_bytes)
}

fn check_depth(map: &Map) -> Result<()> {
    if map.values().all(|json| fits(json, MAX_DEPTH - 1)) {
        return Ok(());
    }
    let message = format!("lists and objects in metadata cannot be nested more than {MAX_DEPTH} deep");
    Err(Error::argument(message))
}

fn to_text(map: &Map) -> Result<String> {
    check_depth(map)?;
    let mut text = format!("{:#}", Json::Object(map.clone()));
    text.push('\n');
    Ok(text)
}

/// The same with the members of all objects sorted by name, as zarr-python 2 writes them.
pub(crate) fn sorted(map: Map) -> Map {
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

/// The document as zarr-python 2 writes it: indented by four, without a line break at the end, and in ASCII, with other
/// characters escaped. zarr-python 1, and 2 in its first years, read nothing else.
pub fn to_ascii(map: &Map) -> Result<Vec<u8>> {
    check_depth(map)?;
    let mut text = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(b"    ");
    let written = map.serialize(&mut serde_json::Serializer::with_formatter(&mut text, formatter));
    let text = written.ok().and_then(|()| String::from_utf8(text).ok());
    let text = text.ok_or_else(|| Error::argument("the document cannot be written as JSON"))?;
    let text = unquoted(text);
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

/// Whether a value has at most so many levels of lists and objects.
fn fits(json: &Json, levels: usize) -> bool {
    let Some(below) = levels.checked_sub(1) else { return !(json.is_array() || json.is_object()) };
    match json {
        Json::Array(list) => list.iter().all(|json| fits(json, below)),
        Json::Object(map) => map.values().all(|json| fits(json, below)),
        _ => true,
    }
}

/// Shows a configuration behind the name that it belongs to: `(level=3, checksum=false)`; nothing when there is none.
pub(crate) fn write_configuration(f: &mut fmt::Formatter<'_>, configuration: &Map) -> fmt::Result {
    if configuration.is_empty() {
        return Ok(());
    }
    let members: Vec<_> = configuration.iter().map(|(name, value)| format!("{name}={value}")).collect();
    write!(f, "({})", members.join(", "))
}

/// What kind of JSON value this is, for messages.
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

/// Whether two objects have the same members in the same order, with the same values to the sign of a zero.
pub(crate) fn are_identical(a: &Map, b: &Map) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|((name, x), (other, y))| name == other && is_identical(x, y))
}

/// The same of two values.
pub(crate) fn is_identical(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Number(x), Json::Number(y)) => {
            x == y && x.as_f64().map(f64::to_bits) == y.as_f64().map(f64::to_bits)
        }
        (Json::Array(x), Json::Array(y)) => {
            x.len() == y.len() && x.iter().zip(y).all(|(x, y)| is_identical(x, y))
        }
        (Json::Object(x), Json::Object(y)) => are_identical(x, y),
        _ => a == b,
    }
}

/// What stands in front of a token that only Python's JSON has, while a document is edited: no string begins with it.
const BARE: &str = "\\u0001bare ";

/// Parses an object that will be written again, by [`rewritten`], with the tokens that only Python's JSON has as they were.
pub fn parse_to_rewrite(bytes: &[u8]) -> Result<Map> {
    match serde_json::from_slice(bytes) {
        Ok(json) => object(json),
        Err(error) => {
            let marked =
                quote_bare_tokens(bytes, BARE).and_then(|marked| serde_json::from_slice(&marked).ok());
            object(marked.ok_or_else(|| not_json(error))?)
        }
    }
}

/// An object that was parsed by [`parse_to_rewrite`] as bytes.
///
/// # Errors
/// When it is nested too deep.
pub fn rewritten(map: &Map) -> Result<Vec<u8>> {
    to_text(map).map(|text| unquoted(text).into_bytes())
}

/// The text with the tokens that [`parse_to_rewrite`] has marked as they were.
fn unquoted(text: String) -> String {
    if !text.contains(BARE) {
        return text;
    }
    TOKENS.iter().fold(text, |text, token| {
        let token = String::from_utf8_lossy(token);
        text.replace(&format!("\"{BARE}{token}\""), &token)
    })
}

const TOKENS: [&[u8]; 3] = [b"-Infinity", b"Infinity", b"NaN"];

/// Puts quotes around the tokens that only Python's JSON has, and a mark in front of them; `None` when there are none.
fn quote_bare_tokens(bytes: &[u8], mark: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(bytes.len() + 16);
    let (mut at, mut in_string, mut found) = (0, false, false);
    while let Some(&byte) = bytes.get(at) {
        if in_string && byte == b'\\' {
            out.extend(bytes[at..].iter().take(2));
            at += 2;
            continue;
        }
        in_string ^= byte == b'"';
        let token = TOKENS.into_iter().find(|token| !in_string && bytes[at..].starts_with(token));
        let Some(token) = token else {
            out.push(byte);
            at += 1;
            continue;
        };
        out.push(b'"');
        out.extend(mark.as_bytes());
        out.extend(token);
        out.push(b'"');
        at += token.len();
        found = true;
    }
    found.then_some(out)
}

/// A non-negative integer; leniently a float without a fraction.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be whole and in range"
)]
pub(crate) fn integer(json: &Json, mode: Mode) -> Option<u64> {
    let float = |json: &Json| json.as_f64().filter(|v| v.fract() == 0.0 && (0.0..9e15).contains(v));
    match mode {
        Mode::Strict => json.as_u64(),
        Mode::Lenient => json.as_u64().or_else(|| float(json).map(|v| v as u64)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_rewritten_with_pythons_tokens_as_they_were() {
        let text = br#"{"a": [NaN, -Infinity, "NaN", {"b": Infinity}], "c": "x \u0001 y"}"#;
        let mut map = parse_to_rewrite(text).unwrap();
        map.insert("d".to_owned(), 1.into());
        let again = String::from_utf8(rewritten(&map).unwrap()).unwrap();
        let words: Vec<_> = again.split_whitespace().collect();
        assert_eq!(words[3..8], ["NaN,", "-Infinity,", "\"NaN\",", "{", "\"b\":"]);
        assert!(again.contains(r#""c": "x \u0001 y""#) && again.contains("\"d\": 1"));
        assert_eq!(rewritten(&parse_to_rewrite(b"{}").unwrap()).unwrap(), b"{}\n");
        assert!(parse_to_rewrite(b"[]").is_err() && parse_to_rewrite(b"{NaN").is_err());
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
    fn bare_tokens_become_strings() {
        let json = parse(br#"{"a": NaN, "b": [-Infinity, Infinity], "c": "NaN \" Infinity"}"#).unwrap();
        assert!(parse_document(br#"{"a": NaN}"#, Mode::Lenient).is_ok());
        assert!(parse_document(br#"{"a": NaN}"#, Mode::Strict).is_err());
        assert!(parse_document(br#"{"a": "NaN"}"#, Mode::Strict).is_ok());
        assert_eq!(json.to_string(), r#"{"a":"NaN","b":["-Infinity","Infinity"],"c":"NaN \" Infinity"}"#);
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
        assert!(parse(format!("{:#}", Json::Object(nested(MAX_DEPTH))).as_bytes()).is_err());
    }

    #[test]
    fn what_is_not_json_is_an_error() {
        for bad in ["", "{", "{\"a\": Nan}", "[1, 2", "\"", "\"\\"] {
            assert!(parse(bad.as_bytes()).is_err(), "{bad}");
        }
        assert!(parse_object(b"[]").unwrap_err().to_string().contains("found a list"));
        let deep = "[".repeat(1 << 20);
        assert!(parse(deep.as_bytes()).is_err());
    }
}
