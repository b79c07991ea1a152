//! References in a JSON document of version 0 (a flat mapping) or version 1.
//!
//! `serde_json` parses the references one by one. This module counts all memory that the references take, since a document from
//! an untrusted source may be of any size.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value as Json;
use serde_json::value::RawValue;

use super::document::Document;
use super::generate::generate;
use super::reference::{Budget, Problem, Reference};
use super::template::{Scope, render};
use crate::{Key, StoreErrorKind, key_map};

/// The number of bytes that a node of a JSON tree takes, not counting its strings.
const NODE: u64 = 64;
/// The prefix of a Base64-encoded string.
const BASE64: &str = "base64:";

/// Parses the references of a document.
pub(super) fn parse(document: &[u8], limit: u64) -> Result<key_map::Map<Reference>, Problem> {
    let document = Document::new(document);
    let mut reader = Reader::new(&document, limit);
    members(document.readable(), &mut |name, value| reader.member(&name, value))?;
    reader.finish()
}

/// Visits the members of an object until the visitor fails.
pub(super) fn members<'a>(
    object: &'a [u8],
    visit: &mut dyn FnMut(String, &'a RawValue) -> Result<(), Problem>,
) -> Result<(), Problem> {
    let mut problem = None;
    let mut input = serde_json::Deserializer::from_slice(object);
    let read = input.deserialize_map(Members { visit, problem: &mut problem }).and_then(|()| input.end());
    match (problem, read) {
        (Some(problem), _) => Err(problem),
        (None, Ok(())) => Ok(()),
        // The messages of other errors may quote the document.
        (None, Err(error)) if error.is_syntax() || error.is_eof() => {
            Err(Problem::corrupt(format!("the references are not JSON: {error}")))
        }
        (None, Err(_)) => Err(Problem::corrupt("the references are not a JSON object")),
    }
}

/// Parses a value to a tree, and counts its memory. Large integers become floats.
pub(super) fn tree(value: &RawValue, budget: &mut Budget) -> Result<Json, Problem> {
    let mut problem = None;
    let mut input = serde_json::Deserializer::from_str(value.get());
    let read = Tree { budget, problem: &mut problem }.deserialize(&mut input);
    match problem {
        Some(problem) => Err(problem),
        None => read.map_err(|error| Problem::corrupt(format!("it is not JSON: {error}"))),
    }
}

/// Returns the bytes of a string. A string that begins with `base64:` is decoded.
pub(super) fn text_bytes(text: String) -> Result<Bytes, String> {
    match text.strip_prefix(BASE64) {
        Some(encoded) => match STANDARD.decode(encoded) {
            Ok(bytes) => Ok(bytes.into()),
            Err(_) => Err("the string after 'base64:' is not valid base64".into()),
        },
        None => Ok(text.into()),
    }
}

/// The references read so far, and the other members of the document.
struct Reader<'a> {
    document: &'a Document<'a>,
    budget: Budget,
    /// All distinct URLs.
    urls: HashSet<Arc<str>>,
    references: key_map::Map<Reference>,
    /// The error to return if the document turns out to have version 0, in which references are not in the member `refs`.
    flat_problem: Option<Problem>,
    flat: key_map::Map<Reference>,
    version: Option<Json>,
    templates: Option<Json>,
    rules: Option<Json>,
    has_references: bool,
}

impl<'a> Reader<'a> {
    fn new(document: &'a Document<'a>, limit: u64) -> Self {
        Self {
            document,
            budget: Budget::new(limit),
            urls: HashSet::new(),
            references: key_map::Map::default(),
            flat_problem: None,
            flat: key_map::Map::default(),
            version: None,
            templates: None,
            rules: None,
            has_references: false,
        }
    }

    /// Reads a member of the document.
    fn member(&mut self, name: &str, value: &RawValue) -> Result<(), Problem> {
        match name {
            "version" => self.version = Some(tree(value, &mut self.budget)?),
            "templates" => self.templates = Some(tree(value, &mut self.budget)?),
            "gen" => self.rules = Some(tree(value, &mut self.budget)?),
            "refs" => {
                self.has_references = true;
                members(value.get().as_bytes(), &mut |key, value| {
                    let (key, reference) = self.reference(&key, value)?;
                    self.references.insert(key, reference);
                    Ok(())
                })?;
            }
            _ => match self.reference(name, value) {
                Ok((key, reference)) => drop(self.flat.insert(key, reference)),
                Err(problem) if problem.kind == StoreErrorKind::TooLarge => return Err(problem),
                Err(problem) => drop(self.flat_problem.get_or_insert(problem)),
            },
        }
        Ok(())
    }

    fn reference(&mut self, key: &str, value: &RawValue) -> Result<(Key, Reference), Problem> {
        let wrong = |message: String| Problem::corrupt(message).at(key);
        let own = Key::new(key)
            .map_err(|error| wrong(format!("the name of the reference is not a valid key: {error}")))?;
        let reference = match value.get().as_bytes().first() {
            Some(b'"') => Reference::Inline(text(value).and_then(text_bytes).map_err(wrong)?),
            Some(b'{') => Reference::Inline(Bytes::copy_from_slice(self.document.written(value))),
            Some(b'[') => {
                let (url, range) = target(value).map_err(wrong)?;
                let url = url.map(|url| shared(&mut self.urls, &mut self.budget, url)).transpose()?;
                Reference::Target { url, range }
            }
            _ => {
                return Err(wrong(
                    "a reference must be a string, a JSON object, or a list with a URL".into(),
                ));
            }
        };
        let inline = if let Reference::Inline(bytes) = &reference { bytes.len() } else { 0 };
        self.budget.take_reference(key.len() + inline)?;
        Ok((own, reference))
    }

    fn finish(mut self) -> Result<key_map::Map<Reference>, Problem> {
        match &self.version {
            None if self.has_references => {
                let message = "the references have a member 'refs', but no version; add \"version\": 1";
                Err(Problem::corrupt(message))
            }
            None => match self.flat_problem {
                Some(problem) => Err(problem),
                None => Ok(self.flat),
            },
            Some(version) if version.as_u64() == Some(1) => {
                self.flat.clear();
                self.expand()?;
                Ok(self.references)
            }
            Some(_) => Err(Problem::corrupt("the version of the references must be 0 or 1")),
        }
    }

    /// Expands templates and rules.
    fn expand(&mut self) -> Result<(), Problem> {
        let templates = templates(self.templates.take())?;
        if !templates.is_empty() {
            self.render_urls(&templates)?;
        }
        let rules = match self.rules.take() {
            None | Some(Json::Null) => return Ok(()),
            Some(Json::Array(rules)) => rules,
            Some(_) => return Err(Problem::corrupt("'gen' must be a list of rules")),
        };
        for rule in &rules {
            generate(rule, &templates, &mut self.budget, &mut |(key, url, range), budget| {
                budget.take_reference(key.len())?;
                let url = shared(&mut self.urls, budget, url)?;
                let wrong =
                    |error| Problem::corrupt(format!("a name from 'gen' is not a valid key: {error}"));
                let key = Key::new(key).map_err(wrong)?;
                self.references.insert(key, Reference::Target { url: Some(url), range });
                Ok(())
            })?;
        }
        Ok(())
    }

    fn render_urls(&mut self, templates: &BTreeMap<String, String>) -> Result<(), Problem> {
        let scope = Scope { templates, variables: &BTreeMap::new() };
        let mut rendered: HashMap<Arc<str>, Arc<str>> = HashMap::new();
        for (key, reference) in &mut self.references {
            let Reference::Target { url: Some(url), .. } = reference else { continue };
            if !url.contains("{{") {
                continue;
            }
            let made = match rendered.get(url) {
                Some(made) => Arc::clone(made),
                None => {
                    let wrong = |message| Problem::corrupt(message).at(key.as_str());
                    let made: Arc<str> = render(url, scope).map_err(wrong)?.into();
                    self.budget.take(NODE + made.len() as u64)?;
                    rendered.insert(Arc::clone(url), Arc::clone(&made));
                    made
                }
            };
            *url = made;
        }
        Ok(())
    }
}

fn templates(templates: Option<Json>) -> Result<BTreeMap<String, String>, Problem> {
    let wrong = || Problem::corrupt("'templates' must be an object of strings");
    let members = match templates {
        None | Some(Json::Null) => return Ok(BTreeMap::new()),
        Some(Json::Object(members)) => members,
        Some(_) => return Err(wrong()),
    };
    let text = |(name, value)| if let Json::String(text) = value { Ok((name, text)) } else { Err(wrong()) };
    members.into_iter().map(text).collect()
}

/// Returns the shared copy of a URL, which all references to the URL use.
fn shared(urls: &mut HashSet<Arc<str>>, budget: &mut Budget, url: String) -> Result<Arc<str>, Problem> {
    if let Some(known) = urls.get(&*url) {
        return Ok(Arc::clone(known));
    }
    budget.take_reference(url.len())?;
    let url: Arc<str> = url.into();
    urls.insert(Arc::clone(&url));
    Ok(url)
}

/// Parses a value that is a string.
fn text(value: &RawValue) -> Result<String, String> {
    serde_json::from_str(value.get()).map_err(|error| format!("it is not JSON: {error}"))
}

/// The offset and the length in bytes; `None` for the whole object.
type Range = Option<(u64, u64)>;

/// Parses a reference that is a list. Returns its URL and byte range.
fn target(list: &RawValue) -> Result<(Option<String>, Range), String> {
    let mut input = serde_json::Deserializer::from_str(list.get());
    let items = input.deserialize_seq(Items).map_err(|error| format!("it is not JSON: {error}"))?;
    let url = match items.first() {
        Some(item) if item.get().starts_with('"') => Some(text(item)?),
        Some(item) if item.get() == "null" => None,
        _ => return Err("the first element of a reference must be a URL or a path".into()),
    };
    let integer = |item: &RawValue| item.get().parse::<u64>().ok();
    let range = match items[1..] {
        [] => Some(None),
        [offset, length] => integer(offset).zip(integer(length)).map(Some),
        _ => None,
    };
    let wrong = "a reference must be [url] or [url, offset, length] with non-negative integers";
    Ok((url, range.ok_or(wrong)?))
}

/// A deserializer for objects, used by [`members`].
struct Members<'v, 'a> {
    visit: &'v mut dyn FnMut(String, &'a RawValue) -> Result<(), Problem>,
    problem: &'v mut Option<Problem>,
}

impl<'a> Visitor<'a> for Members<'_, 'a> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some((name, value)) = members.next_entry()? {
            (self.visit)(name, value).map_err(|problem| broken_off(self.problem, problem))?;
        }
        Ok(())
    }
}

/// Stores the problem, and returns an error that stops the parser.
fn broken_off<E: Error>(place: &mut Option<Problem>, problem: Problem) -> E {
    *place = Some(problem);
    E::custom("")
}

/// The maximum number of list elements that are stored: one more than a valid list has.
const ITEMS: usize = 4;

/// A deserializer for the first elements of a list.
struct Items;

impl<'a> Visitor<'a> for Items {
    type Value = Vec<&'a RawValue>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'a>>(self, mut elements: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::with_capacity(ITEMS);
        while items.len() < ITEMS
            && let Some(item) = elements.next_element()?
        {
            items.push(item);
        }
        while elements.next_element::<IgnoredAny>()?.is_some() {}
        Ok(items)
    }
}

/// A deserializer for any JSON value, which counts each node.
struct Tree<'a> {
    budget: &'a mut Budget,
    problem: &'a mut Option<Problem>,
}

impl Tree<'_> {
    fn inner(&mut self) -> Tree<'_> {
        Tree { budget: self.budget, problem: self.problem }
    }

    fn count<E: Error>(&mut self, bytes: usize) -> Result<(), E> {
        self.budget.take(NODE + bytes as u64).map_err(|problem| broken_off(self.problem, problem))
    }

    fn counted<E: Error>(mut self, bytes: usize, value: impl Into<Json>) -> Result<Json, E> {
        self.count(bytes)?;
        Ok(value.into())
    }
}

impl<'de> DeserializeSeed<'de> for Tree<'_> {
    type Value = Json;

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<Json, D::Error> {
        input.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Tree<'_> {
    type Value = Json;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Json, E> {
        self.counted(0, Json::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Json, E> {
        self.counted(0, value)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Json, E> {
        self.counted(0, value)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Json, E> {
        self.counted(0, value)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Json, E> {
        self.counted(0, value)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Json, E> {
        self.counted(value.len(), value)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut elements: A) -> Result<Json, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = elements.next_element_seed(self.inner())? {
            values.push(value);
        }
        self.counted(0, values)
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut members: A) -> Result<Json, A::Error> {
        let mut map = serde_json::Map::default();
        while let Some(name) = members.next_key::<String>()? {
            self.count(name.len())?;
            let value = members.next_value_seed(self.inner())?;
            map.insert(name, value);
        }
        self.counted(0, map)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<key_map::Map<Reference>, Problem> {
        parse(text.as_bytes(), 1 << 20)
    }

    fn target(url: &str, range: Option<(u64, u64)>) -> Reference {
        Reference::Target { url: Some(url.into()), range }
    }

    #[test]
    fn both_versions_are_read() {
        let flat =
            r#"{"a": "text", "b": "base64:AAH/", "c": {"zarr_format": 2}, "d": ["u"], "e/0": ["u", 5, 7]}"#;
        for text in [flat.to_owned(), format!(r#"{{"refs": {flat}, "other": [1], "version": 1}}"#)] {
            let found = parsed(&text).unwrap();
            assert_eq!(found.len(), 5, "{text}");
            assert_eq!(found["a"], Reference::Inline("text".into()));
            assert_eq!(found["b"], Reference::Inline(Bytes::from_static(&[0, 1, 255])));
            assert_eq!(found["c"], Reference::Inline(r#"{"zarr_format": 2}"#.into()));
            assert_eq!(found["d"], target("u", None));
            assert_eq!(found["e/0"], target("u", Some((5, 7))));
        }
        assert!(parsed("{}").unwrap().is_empty());
    }

    #[test]
    fn inlined_objects_stay_as_they_are_written() {
        let object =
            r#"{"b": 12345678901234567890123, "a": [NaN, -Infinity, 1.50, 1e400, -0], "t": "a \"NaN"}"#;
        for text in [
            format!(r#"{{"c":  {object} , "d": ["NaN", 1, 2]}}"#),
            format!(r#"{{"version": 1, "refs": {{"d": ["NaN", 1, 2], "c": {object}}}}}"#),
        ] {
            let found = parsed(&text).unwrap();
            assert_eq!(found["c"], Reference::Inline(object.into()));
            assert_eq!(found["d"], target("NaN", Some((1, 2))));
        }
    }

    #[test]
    fn the_example_of_the_specification() {
        let text = r#"{"version": 1, "templates": {"u": "server.domain/path", "f": "{{c}}"},
            "gen": [{"key": "gen_key{{i}}", "url": "http://{{u}}_{{i}}", "offset": "{{(i + 1) * 1000}}", "length": "1000",
                "dimensions": {"i": {"stop": 5}}}],
            "refs": {"key0": "data", "key1": ["http://target_url", 10000, 100], "key2": ["http://{{u}}", 10000, 100],
                "key3": ["http://{{f(c='text')}}", 10000, 100]}}"#;
        let found = parsed(text).unwrap();
        assert_eq!(found.len(), 9);
        assert_eq!(found["key2"], target("http://server.domain/path", Some((10_000, 100))));
        assert_eq!(found["key3"], target("http://text", Some((10_000, 100))));
        assert_eq!(found["gen_key4"], target("http://server.domain/path_4", Some((5000, 1000))));
    }

    #[test]
    fn malformed_references_are_named() {
        for (text, key, word) in [
            ("", None, "not JSON"),
            ("[]", None, "not a JSON object"),
            (r#""https://me:secret@host""#, None, "not a JSON object"),
            (r#"{"a": "b""#, None, "not JSON"),
            (r#"{"a": "b"} x"#, None, "not JSON"),
            (r#"{"refs": {}}"#, None, "version"),
            (r#"{"version": 2, "refs": {}}"#, None, "version"),
            (r#"{"version": "1", "refs": {}}"#, None, "version"),
            (r#"{"version": 1, "refs": []}"#, None, "object"),
            (r#"{"a": 1}"#, Some("a"), "must be a string"),
            (r#"{"a": null}"#, Some("a"), "must be a string"),
            (r#"{"a": []}"#, Some("a"), "URL or a path"),
            (r#"{"a": [1, 2, 3]}"#, Some("a"), "URL or a path"),
            (r#"{"a": ["secret", 2]}"#, Some("a"), "[url, offset, length]"),
            (r#"{"a": ["secret", -2, 3]}"#, Some("a"), "[url, offset, length]"),
            (r#"{"a": ["secret", NaN, 1]}"#, Some("a"), "[url, offset, length]"),
            (r#"{"a": {"b": nan}}"#, None, "not JSON"),
            (r#"{"a": ["secret", 2, 1.5]}"#, Some("a"), "[url, offset, length]"),
            (r#"{"a": ["secret", 2, 3, 4, 5, [6]]}"#, Some("a"), "[url, offset, length]"),
            (r#"{"a": ["secret", 18446744073709551616, 3]}"#, Some("a"), "[url, offset, length]"),
            (r#"{"a": "base64:secret?"}"#, Some("a"), "base64"),
            (r#"{"../a": "b"}"#, Some("../a"), "not a valid key"),
            (r#"{"version": 1, "refs": {"/a": "b"}}"#, Some("/a"), "not a valid key"),
            (r#"{"version": 1, "templates": {"u": "v"}, "refs": {"a": ["{{w}}"]}}"#, Some("a"), "'w'"),
            (r#"{"version": 1, "templates": {"u": 1}}"#, None, "'templates'"),
            (r#"{"version": 1, "gen": {}}"#, None, "'gen'"),
        ] {
            let problem = parsed(text).unwrap_err();
            assert_eq!((problem.kind, problem.key.as_deref()), (StoreErrorKind::Corrupt, key), "{text}");
            assert!(problem.message.contains(word), "{text}: {}", problem.message);
            assert!(!problem.message.contains("secret"), "{text}: {}", problem.message);
        }
    }

    #[test]
    fn memory_has_a_bound() {
        let list = format!(r#"{{"version": 1, "gen": [{}1]}}"#, "1,".repeat(20_000));
        let many: Vec<_> = (0..20_000).map(|n| format!(r#""{n}": ["u{n}"]"#)).collect();
        let many = format!("{{{}}}", many.join(","));
        let object = format!(r#"{{"a": {{"b": [{}1]}}}}"#, "1,".repeat(1 << 19));
        for text in [list, many, object] {
            assert_eq!(parsed(&text).unwrap_err().kind, StoreErrorKind::TooLarge);
        }
    }
}
