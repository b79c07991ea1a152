//! Rules for merging the attributes of several files.

use zarrox::json::{Json, Map};

/// Attributes that define the meaning of elements. Files in which these attributes differ cannot be joined.
const MEANING: [&str; 12] = [
    "units",
    "calendar",
    "scale_factor",
    "add_offset",
    "_FillValue",
    "missing_value",
    "_Unsigned",
    "flag_values",
    "flag_masks",
    "flag_meanings",
    "dtype",
    crate::ENUM,
];

/// Returns the names of the attributes that differ between two files: those that define the meaning of elements, and all others.
pub(super) fn differing<'a>(first: &'a Map, other: &'a Map) -> (Vec<&'a str>, Vec<&'a str>) {
    let is_same = |name: &str| match (first.get(name), other.get(name)) {
        (Some(one), Some(other)) => is_same(name, one, other),
        _ => false,
    };
    let only_other = other.keys().filter(|name| !first.contains_key(name));
    let different = first.keys().chain(only_other).map(String::as_str).filter(|name| !is_same(name));
    different.partition(|name| MEANING.contains(name))
}

fn is_same(name: &str, one: &Json, other: &Json) -> bool {
    let (text, text_of_other) = (one.to_string(), other.to_string());
    if one == other || text == text_of_other {
        return true;
    }
    let is_standard = |value: &Json| matches!(value.as_str(), Some("standard" | "gregorian"));
    name == "calendar" && is_standard(one) && is_standard(other)
}

/// Returns the paths of the arrays, such as bounds, that are referenced by the attributes `names` of the array at `path`.
pub(super) fn named_by(path: &str, attributes: &Map, names: &[&str]) -> Vec<String> {
    let above = path.rsplit_once('/').map_or("", |(above, _)| above);
    let values = names.iter().filter_map(|name| attributes.get(name)?.as_str());
    let words = values.flat_map(str::split_whitespace).filter(|word| !word.ends_with(':'));
    let joined = |name: &str| if above.is_empty() { name.to_owned() } else { format!("{above}/{name}") };
    words.map(joined).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_that_say_what_elements_mean_are_told_apart() {
        let map = |text: &str| zarrox::json::parse_object(text.as_bytes()).unwrap();
        let first = map(r#"{"units": "K", "history": "a", "calendar": "standard", "n": 1}"#);
        let other = map(r#"{"units": "C", "history": "b", "calendar": "gregorian", "n": 1, "more": 2}"#);
        assert_eq!(differing(&first, &other), (vec!["units"], vec!["history", "more"]));
        let attributes = map(r#"{"bounds": "time_bnds", "coordinates": "a b"}"#);
        assert_eq!(named_by("g/time", &attributes, &["bounds"]), ["g/time_bnds"]);
        assert_eq!(named_by("v", &attributes, &["coordinates"]), ["a", "b"]);
    }
}
