//! JSON as Zarr documents have it.

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
        Err(error) => quote_bare_tokens(bytes)
            .and_then(|quoted| serde_json::from_slice(&quoted).ok())
            .ok_or_else(|| Error::metadata(format!("this is not JSON: {error}")).with_source(error)),
    }
}

/// Parses a document that must be an object.
pub fn parse_object(bytes: &[u8]) -> Result<Map> {
    match parse(bytes)? {
        Json::Object(map) => Ok(map),
        other => Err(Error::metadata(format!("expected a JSON object, found {}", kind(&other)))),
    }
}

/// The document as bytes: indented, with a newline at the end.
pub fn to_bytes(map: &Map) -> Vec<u8> {
    let mut text = format!("{:#}", Json::Object(map.clone())).into_bytes();
    text.push(b'\n');
    text
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

/// Puts quotes around the tokens that only Python's JSON has; `None` when there are none.
fn quote_bare_tokens(bytes: &[u8]) -> Option<Vec<u8>> {
    const TOKENS: [&[u8]; 3] = [b"-Infinity", b"Infinity", b"NaN"];
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
        out.extend(token);
        out.push(b'"');
        at += token.len();
        found = true;
    }
    found.then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bare_tokens_become_strings() {
        let json = parse(br#"{"a": NaN, "b": [-Infinity, Infinity], "c": "NaN \" Infinity"}"#).unwrap();
        assert_eq!(json.to_string(), r#"{"a":"NaN","b":["-Infinity","Infinity"],"c":"NaN \" Infinity"}"#);
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
