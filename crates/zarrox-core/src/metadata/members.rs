//! Access to the members of a document, with errors that name the member.

use std::borrow::Cow;

use crate::error::{Error, Result};
use crate::json::{self, Json, Map, integer, kind};
use crate::strictness::Strictness;

/// The member of a group's document that contains consolidated metadata, and its own member that contains the copies of other
/// nodes' documents.
pub(super) const COPIES: [&str; 2] = ["consolidated_metadata", "metadata"];

/// The members of a document. Members that have still not been accessed at the end are unknown.
///
/// The members are a list, not a map: a document has few members, and most members are accessed once. Searching a short list
/// costs less than hashing all names.
pub(super) struct Members<'a> {
    /// The members, in the order of the document. The last of several members with the same name is the valid one.
    list: List<'a>,
    /// The names of the existing members that were accessed.
    read: Vec<&'static str>,
    strictness: Strictness,
}

type List<'a> = Vec<(Cow<'a, str>, Cow<'a, Json>)>;

impl<'a> Members<'a> {
    /// Creates the members of a parsed object.
    pub(super) fn new(map: Cow<'a, Map>, strictness: Strictness) -> Self {
        let list = match map {
            Cow::Borrowed(map) => {
                map.iter().map(|(name, json)| (name.as_str().into(), Cow::Borrowed(json))).collect()
            }
            Cow::Owned(map) => map.into_iter().map(|(name, json)| (name.into(), Cow::Owned(json))).collect(),
        };
        Self::listed(list, strictness)
    }

    /// Parses the members of a stored document. The copies of other nodes' documents in a group, of which there are often
    /// thousands, are omitted.
    pub(super) fn parse(bytes: &'a [u8], strictness: Strictness) -> Result<Self> {
        let (mut list, are_left_out) = json::parse_members_without(bytes, strictness, Some(COPIES))?;
        let is_group =
            |list: &[(_, Json)]| list.iter().any(|(name, json)| name == "node_type" && json == "group");
        if are_left_out && !is_group(&list) {
            list = json::parse_members(bytes, strictness)?;
        }
        Ok(Self::listed(list.into_iter().map(|(name, json)| (name, Cow::Owned(json))).collect(), strictness))
    }

    fn listed(list: List<'a>, strictness: Strictness) -> Self {
        let read = Vec::with_capacity(list.len());
        Self { list, read, strictness }
    }

    pub(super) fn lenient(&self) -> bool {
        self.strictness == Strictness::Lenient
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    pub(super) fn get(&self, name: &str) -> Option<&Json> {
        self.list.iter().rfind(|(known, _)| known == name).map(|(_, json)| &**json)
    }

    /// Returns a member, which is borrowed or owned depending on the document, and marks it as accessed.
    pub(super) fn optional(&mut self, name: &'static str) -> Option<Cow<'a, Json>> {
        if self.read.contains(&name) {
            return None;
        }
        let (_, json) = self.list.iter_mut().rfind(|(known, _)| known == name)?;
        let json = match json {
            Cow::Borrowed(json) => Cow::Borrowed(*json),
            Cow::Owned(json) => Cow::Owned(json.take()),
        };
        self.read.push(name);
        Some(json)
    }

    /// Returns a member as an owned value, and marks it as accessed.
    pub(super) fn take(&mut self, name: &'static str) -> Option<Json> {
        self.optional(name).map(Cow::into_owned)
    }

    pub(super) fn required(&mut self, name: &'static str) -> Result<Cow<'a, Json>> {
        self.optional(name).ok_or_else(|| Error::metadata(format!("the member '{name}' is missing")))
    }

    /// Returns a list of lengths, such as a shape.
    pub(super) fn lengths(&mut self, name: &'static str) -> Result<Vec<u64>> {
        let json = self.required(name)?;
        lengths(name, &json, self.strictness)
    }

    /// Returns an object. A missing member is read as an empty object, and so is `null` in lenient mode.
    pub(super) fn object(&mut self, name: &'static str) -> Result<Map> {
        match self.take(name) {
            None => Ok(Map::default()),
            Some(Json::Null) if self.lenient() => Ok(Map::default()),
            Some(Json::Object(map)) => Ok(map),
            Some(other) => Err(wrong(name, "an object", &other)),
        }
    }

    /// Checks the `zarr_format` member.
    pub(super) fn zarr_format(&mut self, version: u64) -> Result<()> {
        let json = self.required("zarr_format")?;
        if integer(&json, self.strictness) == Some(version) {
            return Ok(());
        }
        Err(Error::metadata(format!("zarr_format is {json}; expected {version}")))
    }

    /// Returns all members that were not accessed.
    pub(super) fn rest(self) -> Map {
        if self.read.len() == self.list.len() {
            return Map::default();
        }
        let unread = self.list.into_iter().filter(|(name, _)| !self.read.contains(&&**name));
        unread.map(|(name, json)| (name.into_owned(), json.into_owned())).collect()
    }
}

/// Returns the error for a member of the wrong type.
pub(super) fn wrong(name: &str, wants: &str, json: &Json) -> Error {
    let shown = json::shown(json, 80);
    Error::metadata(format!("the member '{name}' must be {wants}, but it is {} ({shown})", kind(json)))
}

/// Parses a list of lengths; in lenient mode, floats without a fraction are accepted.
pub(super) fn lengths(name: &str, json: &Json, strictness: Strictness) -> Result<Vec<u64>> {
    let list = json.as_array().ok_or_else(|| wrong(name, "a list of non-negative integers", json))?;
    list.iter()
        .map(|item| {
            integer(item, strictness).ok_or_else(|| wrong(name, "a list of non-negative integers", json))
        })
        .collect()
}

/// Adds members to a document.
pub(super) fn put_members(map: &mut Map, members: &Map) {
    map.extend(members.clone());
    if map.get("dimension_separator").is_some_and(Json::is_null) {
        map.remove("dimension_separator");
    }
}

/// Corrects chunk lengths of 0 along dimensions of length 0, which zarr-python wrote. Since there are no chunks, any length is
/// correct.
pub(super) fn correct_empty_chunks(chunk_shape: &mut [u64], shape: &[u64], strictness: Strictness) {
    for (chunk, &length) in chunk_shape.iter_mut().zip(shape) {
        if *chunk == 0 && length == 0 && strictness == Strictness::Lenient {
            *chunk = 1;
        }
    }
}

/// Returns the error for an invalid separator.
pub(super) fn bad_separator(text: &str) -> Error {
    Error::metadata(format!("the separator of chunk keys must be \".\" or \"/\", but it is {text:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_of_other_documents_are_left_out_of_groups_alone() {
        let document = |kind: &str| {
            let copies = json::json!({"kind": "inline", "metadata": {"a": {"zarr_format": 3}}});
            json::json!({"consolidated_metadata": copies, "node_type": kind}).to_string()
        };
        let copies = |text: &str| {
            let mut members = Members::parse(text.as_bytes(), Strictness::Lenient).unwrap();
            members.take("consolidated_metadata").unwrap()
        };
        assert_eq!(copies(&document("group")), json::json!({"kind": "inline", "metadata": {}}));
        assert_eq!(copies(&document("array"))["metadata"]["a"]["zarr_format"], 3);
        let broken = document("group").replace("{\"zarr_format\":3}", "{\"zarr_format\":}");
        assert!(
            Members::parse(broken.as_bytes(), Strictness::Lenient).is_err(),
            "the member must still be validated"
        );
    }

    #[test]
    fn a_list_equals_a_map() {
        let documents = [
            r#"{"a": 1, "b": [2], "c\u0061": {"d": null}}"#,
            r#"{"a": 1, "b": 2, "a": 3, "c": 4, "c": 5}"#,
            r#"{"a": NaN, "b": "NaN"}"#,
            "{}",
        ];
        for document in documents {
            let map = json::parse_object(document.as_bytes()).unwrap();
            let parsed = || Members::parse(document.as_bytes(), Strictness::Lenient).unwrap();
            let borrowed = || Members::new(Cow::Borrowed(&map), Strictness::Lenient);
            let owned = || Members::new(Cow::Owned(map.clone()), Strictness::Lenient);
            type Make<'a, 'b> = &'a dyn Fn() -> Members<'b>;
            let all: [Make<'_, '_>; 3] = [&parsed, &borrowed, &owned];
            for members in all {
                assert_eq!(members().rest(), map, "{document}");
                let mut members = members();
                assert_eq!(members.optional("a").as_deref(), map.get("a"), "{document}");
                assert_eq!(members.optional("a"), None, "{document}");
                let mut rest = map.clone();
                rest.remove("a");
                assert_eq!(members.rest(), rest, "{document}");
            }
        }
    }

    #[test]
    fn what_cannot_be_parsed_is_the_same_error_for_members_and_maps() {
        let deep = format!("{{\"a\": {}}}", "[".repeat(200) + &"]".repeat(200));
        for document in ["", "[]", "{\"a\": }", "{} {}", "{\"a\": \"\\ud800\"}", &deep] {
            for strictness in [Strictness::Lenient, Strictness::Strict] {
                let members = Members::parse(document.as_bytes(), strictness).err().unwrap().to_string();
                let map = json::parse_document(document.as_bytes(), strictness).unwrap_err().to_string();
                assert_eq!(members, map, "{document}");
            }
        }
        assert_eq!(
            Members::parse(b"{\"a\": NaN}", Strictness::Strict).map(drop).unwrap_err().kind(),
            crate::ErrorKind::InvalidMetadata
        );
        assert_eq!(
            Members::parse(b"{\"\xff\": 1}", Strictness::Lenient).map(drop).unwrap_err().kind(),
            crate::ErrorKind::InvalidMetadata
        );
    }
}
