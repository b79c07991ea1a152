//! Mutations of the keys: values that are lost or misplaced.

use crate::contents::Contents;
use crate::input::Input;

/// Names for new keys: of documents, of chunks, and unusual ones.
const NAMES: [&str; 32] = [
    "zarr.json",
    ".zarray",
    ".zgroup",
    ".zattrs",
    ".zmetadata",
    "attributes.json",
    "attrs",
    "meta",
    "c/0/0",
    "c/9/9",
    "c.0.0",
    "0.0",
    "0/0",
    "1/1",
    "00/0",
    "c/18446744073709551615/0",
    "c/99999999999999999999/0",
    "a.replaced0/zarr.json",
    "A/zarr.json",
    "x/y/zarr.json",
    ".zarrox-quarantine/a.damaged",
    ".zarrox-a.tmp",
    ".zarrox-convert.json",
    "g",
    "g/g",
    "c",
    "a b/ß",
    "...",
    "-1/0",
    "meta/root/x.array.json",
    "meta/root.group.json",
    "data/root/x/c0/0",
];

/// The documents that mark unfinished work: a node that is being deleted or moved.
const MARKS: [&str; 8] = [
    r#"{"format": "v3"}"#,
    r#"{"format": "v2"}"#,
    r#"{"format": "n5"}"#,
    r#"{"format": "v3-experimental"}"#,
    r#"{"format": "v3", "moved_to": "/x"}"#,
    r#"{"format": "v3", "moved_from": "/a"}"#,
    r#"{"format": "v2", "moved_from": "/a"}"#,
    "{}",
];

/// The stored values of a hierarchy, and the key of the value to damage.
#[derive(Debug)]
pub(crate) struct Place<'p> {
    pub(crate) contents: &'p mut Contents,
    /// The prefix of the hierarchy's keys; nothing outside is damaged.
    pub(crate) prefix: &'p str,
    /// The hierarchy's keys.
    pub(crate) keys: &'p [String],
    /// The key of the value to damage.
    pub(crate) key: &'p str,
}

/// Removes the value.
pub(crate) fn remove(_: &mut Input<'_>, place: &mut Place<'_>) {
    place.contents.remove(place.key);
}

/// Exchanges two values.
pub(crate) fn swap(input: &mut Input<'_>, place: &mut Place<'_>) {
    let other = input.one_of(place.keys);
    if let (Some(a), Some(b)) = (place.contents.get(place.key).cloned(), place.contents.get(other).cloned()) {
        place.contents.insert(place.key.to_owned(), b);
        place.contents.insert(other.clone(), a);
    }
}

/// Replaces the value by a copy of another value.
pub(crate) fn copy(input: &mut Input<'_>, place: &mut Place<'_>) {
    if let Some(value) = place.contents.get(input.one_of(place.keys)).cloned() {
        place.contents.insert(place.key.to_owned(), value);
    }
}

/// Adds a key beside the value's key or above it, with an existing value.
pub(crate) fn add(input: &mut Input<'_>, place: &mut Place<'_>) {
    let name = match input.byte_or(0) {
        255 => {
            let length = input.below(40);
            String::from_utf8_lossy(input.take(length)).into_owned()
        }
        choice => NAMES[usize::from(choice) % NAMES.len()].to_owned(),
    };
    let value = place.contents.get(input.one_of(place.keys)).cloned().unwrap_or_default();
    let mut directory = place.key;
    for _ in 0..=input.below(3) {
        directory = above(directory);
    }
    let directory = if directory.is_empty() { place.prefix.to_owned() } else { format!("{directory}/") };
    if directory.starts_with(place.prefix) {
        place.contents.insert(format!("{directory}{name}"), value);
    }
}

/// Renames a directory.
pub(crate) fn rename(input: &mut Input<'_>, place: &mut Place<'_>) {
    let (prefix, key) = (place.prefix, place.key);
    let inside = &key[prefix.len()..];
    let ends: Vec<usize> = inside.match_indices('/').map(|(at, _)| prefix.len() + at).collect();
    if ends.is_empty() {
        return;
    }
    let from = &key[..*input.one_of(&ends)];
    let to = match input.below(5) {
        0 => format!("{from}.replaced0"),
        1 => from.to_uppercase(),
        2 => format!("{from}/inside"),
        3 => format!("{prefix}g"),
        _ => format!("{prefix}new/{}", &from[prefix.len()..]),
    };
    let below = format!("{from}/");
    let moved: Vec<String> = place.contents.keys().filter(|key| key.starts_with(&below)).cloned().collect();
    for key in moved.iter().filter(|_| to.starts_with(prefix)) {
        if let Some(value) = place.contents.remove(key) {
            place.contents.insert(format!("{to}/{}", &key[below.len()..]), value);
        }
    }
}

/// Removes the values with short names in a directory, such as documents.
pub(crate) fn empty(_: &mut Input<'_>, place: &mut Place<'_>) {
    let name = place.key.rsplit('/').next().unwrap_or_default();
    let below = place.key[..place.key.len() - name.len()].to_owned();
    place.contents.retain(|other, _| !other.starts_with(&below) || other.len() - below.len() > 16);
}

/// Marks a node above the value as a node whose deletion or move has begun.
pub(crate) fn mark(input: &mut Input<'_>, place: &mut Place<'_>) {
    let mark = *input.one_of(&MARKS);
    let mut node = place.key;
    for _ in 0..=input.below(4) {
        node = above(node);
    }
    let name = match node.strip_prefix(place.prefix) {
        None | Some("") => format!("{}.zarrox-unfinished.json", place.prefix),
        Some(_) => {
            let name = node.rsplit('/').next().unwrap_or_default();
            format!("{}.zarrox-unfinished-{name}.json", &node[..node.len() - name.len()])
        }
    };
    place.contents.insert(name, mark.as_bytes().to_vec());
}

/// Returns the parent directory of a key or a directory; empty for the root.
fn above(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(above, _)| above)
}
