//! Documents: parsing and writing of objects.

use super::message::kind;
use super::parse::{List, MAX_DEPTH, SyntaxError, members, value};
use super::value::{Json, Map};
use super::write;
use crate::error::{Error, Result};
use crate::strictness::Strictness;

/// Parses a metadata document. In strict mode, it must be JSON without Python's tokens and without a UTF-8 byte order mark, which
/// some editors write.
pub fn parse_document(bytes: &[u8], strictness: Strictness) -> Result<Map> {
    let bytes = without_mark(bytes, strictness);
    object(value(bytes, strictness == Strictness::Lenient).map_err(not_json)?)
}

/// Parses a metadata document into the list of its members.
pub(crate) fn parse_members(bytes: &[u8], strictness: Strictness) -> Result<List<'_>> {
    Ok(parse_members_without(bytes, strictness, None)?.0)
}

/// Parses a metadata document into the list of its members, except for one member, which is only validated. Returns true if that
/// member exists.
pub(crate) fn parse_members_without<'a>(
    bytes: &'a [u8],
    strictness: Strictness,
    left_out: Option<[&str; 2]>,
) -> Result<(List<'a>, bool)> {
    let bytes = without_mark(bytes, strictness);
    let members = members(bytes, strictness == Strictness::Lenient, left_out).map_err(not_json)?;
    members.map_err(|other| no_object(&other))
}

/// The UTF-8 byte order mark.
const MARK: &str = "\u{feff}";

/// Returns the bytes of a document without the UTF-8 byte order mark, which is skipped only in lenient mode.
pub(super) fn without_mark(bytes: &[u8], strictness: Strictness) -> &[u8] {
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

pub(super) fn no_object(json: &Json) -> Error {
    Error::metadata(format!("expected a JSON object, found {}", kind(json)))
}

pub(super) fn not_json(error: SyntaxError) -> Error {
    Error::metadata(format!("the document is not JSON: {error}")).with_source(error)
}

/// Returns the document as bytes, indented, with a newline at the end. Returns an error if the nesting is too deep to be
/// parsed again.
pub fn to_bytes(map: &Map) -> Result<Vec<u8>> {
    let mut text = indented(map, 2)?;
    text.push('\n');
    Ok(text.into_bytes())
}

fn indented(map: &Map, indent: usize) -> Result<String> {
    map.values().try_for_each(|json| check_depth(json, 1))?;
    let mut text = String::new();
    write::object(&mut text, map, Some(indent))
        .map_err(|_| Error::argument("the document cannot be serialised as JSON"))?;
    Ok(text)
}

/// Checks that a value at this depth of a document can be parsed again.
pub(super) fn check_depth(json: &Json, levels: usize) -> Result<()> {
    if fits(json, MAX_DEPTH - levels) {
        return Ok(());
    }
    let message = format!("lists and objects in metadata cannot be nested more than {MAX_DEPTH} deep");
    Err(Error::argument(message))
}

/// Returns the map with the members of all objects sorted by name, as in zarr-python 2.
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

/// Returns the document in the form of zarr-python 2: indented by four spaces, without a final newline, and in ASCII, with other
/// characters escaped. zarr-python 1, and early versions of 2, cannot read any other form.
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

/// Returns true if the nesting depth of lists and objects in a value is at most `levels`.
fn fits(json: &Json, levels: usize) -> bool {
    let Some(below) = levels.checked_sub(1) else { return !(json.is_array() || json.is_object()) };
    match json {
        Json::Array(list) => list.iter().all(|json| fits(json, below)),
        Json::Object(map) => map.values().all(|json| fits(json, below)),
        _ => true,
    }
}
