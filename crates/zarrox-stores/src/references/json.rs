//! References in a JSON document, of version 0 (a flat mapping) and version 1.
//!
//! The document is read as a stream into the references themselves, and all that is kept of it is counted.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value as Json;

use super::generate::generate;
use super::reference::{Budget, Problem, Reference};
use super::template::{Scope, render};
use crate::{Key, key_map};

/// The bytes that a node of a JSON tree takes beyond its texts.
const NODE: u64 = 64;
/// What begins a text that stands for other bytes.
const BASE64: &str = "base64:";

/// The references of a document.
pub(super) fn parse(document: &[u8], limit: u64) -> Result<key_map::Map<Reference>, Problem> {
    let mut reader = Reader::new(limit);
    let mut input = serde_json::Deserializer::from_slice(document);
    let read = (&mut reader).deserialize(&mut input).and_then(|()| input.end());
    match (reader.problem.take(), read) {
        (Some(problem), _) => Err(problem),
        (None, Ok(())) => reader.finish(),
        // The words of other errors may have parts of the document.
        (None, Err(error)) if error.is_syntax() || error.is_eof() => {
            Err(Problem::corrupt(format!("the references are no JSON: {error}")))
        }
        (None, Err(_)) => Err(Problem::corrupt("the references are no JSON object")),
    }
}

/// Any document, as a tree that takes no more memory than this.
pub(super) fn tree(document: &[u8], limit: u64) -> Result<Json, Problem> {
    let mut reader = Reader::new(limit);
    let mut input = serde_json::Deserializer::from_slice(document);
    let read = Tree(&mut reader).deserialize(&mut input).and_then(|tree| input.end().map(|()| tree));
    match reader.problem {
        Some(problem) => Err(problem),
        None => read.map_err(|error| Problem::corrupt(format!("it is no JSON: {error}"))),
    }
}

/// The bytes of a text: `base64:` stands for others than its own.
pub(super) fn text_bytes(text: String) -> Result<Bytes, String> {
    match text.strip_prefix(BASE64) {
        Some(encoded) => match STANDARD.decode(encoded) {
            Ok(bytes) => Ok(bytes.into()),
            Err(_) => Err("what follows 'base64:' is no base64".into()),
        },
        None => Ok(text.into()),
    }
}

/// What has been read of a document so far.
struct Reader {
    budget: Budget,
    /// All URLs, each once.
    urls: HashSet<Arc<str>>,
    references: key_map::Map<Reference>,
    /// What would be wrong if this were version 0, whose references are not in the member `refs`.
    flat_problem: Option<Problem>,
    flat: key_map::Map<Reference>,
    version: Option<Json>,
    templates: Option<Json>,
    rules: Option<Json>,
    has_references: bool,
    /// Why reading was broken off.
    problem: Option<Problem>,
}

impl Reader {
    fn new(limit: u64) -> Self {
        Self {
            budget: Budget::new(limit),
            urls: HashSet::new(),
            references: key_map::Map::new(),
            flat_problem: None,
            flat: key_map::Map::new(),
            version: None,
            templates: None,
            rules: None,
            has_references: false,
            problem: None,
        }
    }

    /// Breaks off.
    fn fail<E: Error>(&mut self, problem: Problem) -> E {
        self.problem = Some(problem);
        E::custom("")
    }

    fn reference(&mut self, key: &str, raw: Raw) -> Result<(Key, Reference), Problem> {
        let wrong = |message: String| Problem::corrupt(message).at(key);
        let own = Key::new(key).map_err(|error| wrong(format!("the reference's name is no key: {error}")))?;
        let reference = match raw {
            Raw::Text(text) => Reference::Inline(text_bytes(text).map_err(wrong)?),
            Raw::Object(object) => Reference::Inline(object.to_string().into()),
            Raw::List(items) => self.target(items).map_err(wrong)?,
            Raw::Other => {
                return Err(wrong("a reference is a text, a JSON object, or a list with a URL".into()));
            }
        };
        let inline = if let Reference::Inline(bytes) = &reference { bytes.len() } else { 0 };
        self.budget.take_reference(key.len() + inline)?;
        Ok((own, reference))
    }

    fn target(&mut self, items: Vec<Item>) -> Result<Reference, String> {
        let mut items = items.into_iter();
        let url = match items.next() {
            Some(Item::Text(url)) => Some(url),
            Some(Item::Null) => None,
            _ => return Err("the first element of a reference must be a URL or a path".into()),
        };
        let range = match (items.next(), items.next(), items.next()) {
            (None, ..) => None,
            (Some(Item::Integer(offset)), Some(Item::Integer(length)), None) => Some((offset, length)),
            _ => {
                return Err("a reference is [url] or [url, offset, length], with integers from 0 on".into());
            }
        };
        Ok(Reference::Target { url: url.map(|url| self.unique(url.into())), range })
    }

    fn unique(&mut self, url: Arc<str>) -> Arc<str> {
        if let Some(known) = self.urls.get(&url) {
            return Arc::clone(known);
        }
        self.urls.insert(Arc::clone(&url));
        url
    }

    fn finish(mut self) -> Result<key_map::Map<Reference>, Problem> {
        match &self.version {
            None if self.has_references => {
                let message = "the references have a member 'refs', but no version; write \"version\": 1";
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
            Some(_) => Err(Problem::corrupt("the references are of another version than 0 and 1")),
        }
    }

    /// Puts templates in, and follows rules.
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
        let mut budget = std::mem::replace(&mut self.budget, Budget::new(0));
        for rule in &rules {
            generate(rule, &templates, &mut budget, &mut |(key, url, range), budget| {
                let url = self.unique(url.into());
                budget.take_reference(key.len() + url.len())?;
                let wrong = |error| Problem::corrupt(format!("a name from 'gen' is no key: {error}"));
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
    let wrong = || Problem::corrupt("'templates' must be an object of texts");
    let members = match templates {
        None | Some(Json::Null) => return Ok(BTreeMap::new()),
        Some(Json::Object(members)) => members,
        Some(_) => return Err(wrong()),
    };
    let text = |(name, value)| if let Json::String(text) = value { Ok((name, text)) } else { Err(wrong()) };
    members.into_iter().map(text).collect()
}

/// The whole document.
impl<'de> DeserializeSeed<'de> for &mut Reader {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<(), D::Error> {
        input.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for &mut Reader {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(name) = members.next_key::<String>()? {
            match name.as_str() {
                "version" => self.version = Some(members.next_value_seed(Tree(self))?),
                "templates" => self.templates = Some(members.next_value_seed(Tree(self))?),
                "gen" => self.rules = Some(members.next_value_seed(Tree(self))?),
                "refs" => {
                    self.has_references = true;
                    members.next_value_seed(References(self))?;
                }
                _ => {
                    let raw = members.next_value_seed(RawSeed(self))?;
                    match self.reference(&name, raw) {
                        Ok((key, reference)) => drop(self.flat.insert(key, reference)),
                        Err(problem) => drop(self.flat_problem.get_or_insert(problem)),
                    }
                }
            }
        }
        Ok(())
    }
}

/// The member `refs`.
struct References<'a>(&'a mut Reader);

impl<'de> DeserializeSeed<'de> for References<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<(), D::Error> {
        input.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for References<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object of references")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(name) = members.next_key::<String>()? {
            let raw = members.next_value_seed(RawSeed(self.0))?;
            match self.0.reference(&name, raw) {
                Ok((key, reference)) => drop(self.0.references.insert(key, reference)),
                Err(problem) => return Err(self.0.fail(problem)),
            }
        }
        Ok(())
    }
}

/// A reference as it is written.
enum Raw {
    Text(String),
    Object(Json),
    List(Vec<Item>),
    Other,
}

/// An element of a list.
enum Item {
    Null,
    Text(String),
    Integer(u64),
    Other,
}

/// How many elements of a list are kept: one more than there may be.
const ITEMS: usize = 4;

/// Reads a [`Raw`].
struct RawSeed<'a>(&'a mut Reader);

impl<'de> DeserializeSeed<'de> for RawSeed<'_> {
    type Value = Raw;

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<Raw, D::Error> {
        input.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for RawSeed<'_> {
    type Value = Raw;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a reference")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Raw, E> {
        Ok(Raw::Text(text.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Raw, A::Error> {
        Tree(self.0).deserialize(MapAccessDeserializer::new(members)).map(Raw::Object)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Raw, A::Error> {
        let mut items = Vec::new();
        while items.len() < ITEMS
            && let Some(item) = elements.next_element_seed(ItemSeed)?
        {
            items.push(item);
        }
        while elements.next_element::<IgnoredAny>()?.is_some() {}
        if let Some(Item::Text(url)) = items.first()
            && !self.0.urls.contains(url.as_str())
            && let Err(problem) = self.0.budget.take_reference(url.len())
        {
            return Err(self.0.fail(problem));
        }
        Ok(Raw::List(items))
    }

    fn visit_unit<E: Error>(self) -> Result<Raw, E> {
        Ok(Raw::Other)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Raw, E> {
        Ok(Raw::Other)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Raw, E> {
        Ok(Raw::Other)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Raw, E> {
        Ok(Raw::Other)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Raw, E> {
        Ok(Raw::Other)
    }
}

/// Reads an [`Item`].
struct ItemSeed;

impl<'de> DeserializeSeed<'de> for ItemSeed {
    type Value = Item;

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<Item, D::Error> {
        input.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ItemSeed {
    type Value = Item;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a URL or an integer")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Item, E> {
        Ok(Item::Text(text.to_owned()))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Item, E> {
        Ok(Item::Integer(number))
    }

    fn visit_unit<E: Error>(self) -> Result<Item, E> {
        Ok(Item::Null)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Item, E> {
        Ok(Item::Other)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Item, E> {
        Ok(Item::Other)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Item, E> {
        Ok(Item::Other)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Item, A::Error> {
        while elements.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Item::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Item, A::Error> {
        while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Item::Other)
    }
}

/// Reads any JSON, each node of which is counted.
struct Tree<'a>(&'a mut Reader);

impl Tree<'_> {
    fn counted<E: Error>(self, bytes: usize, value: impl Into<Json>) -> Result<Json, E> {
        match self.0.budget.take(NODE + bytes as u64) {
            Ok(()) => Ok(value.into()),
            Err(problem) => Err(self.0.fail(problem)),
        }
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

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Json, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = elements.next_element_seed(Tree(self.0))? {
            values.push(value);
        }
        self.counted(0, values)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Json, A::Error> {
        let mut map = serde_json::Map::new();
        while let Some(name) = members.next_key::<String>()? {
            if let Err(problem) = self.0.budget.take(NODE + name.len() as u64) {
                return Err(self.0.fail(problem));
            }
            let value = members.next_value_seed(Tree(self.0))?;
            map.insert(name, value);
        }
        self.counted(0, map)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StoreErrorKind;

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
            assert_eq!(found["c"], Reference::Inline(r#"{"zarr_format":2}"#.into()));
            assert_eq!(found["d"], target("u", None));
            assert_eq!(found["e/0"], target("u", Some((5, 7))));
        }
        assert!(parsed("{}").unwrap().is_empty());
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
    fn what_is_malformed_is_named() {
        for (text, key, word) in [
            ("", None, "no JSON"),
            ("[]", None, "no JSON object"),
            (r#""https://me:secret@host""#, None, "no JSON object"),
            (r#"{"a": "b""#, None, "no JSON"),
            (r#"{"a": "b"} x"#, None, "no JSON"),
            (r#"{"refs": {}}"#, None, "version"),
            (r#"{"version": 2, "refs": {}}"#, None, "version"),
            (r#"{"version": "1", "refs": {}}"#, None, "version"),
            (r#"{"version": 1, "refs": []}"#, None, "object"),
            (r#"{"a": 1}"#, Some("a"), "is a text"),
            (r#"{"a": null}"#, Some("a"), "is a text"),
            (r#"{"a": []}"#, Some("a"), "URL or a path"),
            (r#"{"a": [1, 2, 3]}"#, Some("a"), "URL or a path"),
            (r#"{"a": ["secret", 2]}"#, Some("a"), "[url, offset, length]"),
            (r#"{"a": ["secret", -2, 3]}"#, Some("a"), "[url, offset, length]"),
            (r#"{"a": ["secret", 2, 1.5]}"#, Some("a"), "[url, offset, length]"),
            (r#"{"a": ["secret", 2, 3, 4, 5, [6]]}"#, Some("a"), "[url, offset, length]"),
            (r#"{"a": ["secret", 18446744073709551616, 3]}"#, Some("a"), "[url, offset, length]"),
            (r#"{"a": "base64:secret?"}"#, Some("a"), "base64"),
            (r#"{"../a": "b"}"#, Some("../a"), "no key"),
            (r#"{"version": 1, "refs": {"/a": "b"}}"#, Some("/a"), "no key"),
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
        let object = format!(r#"{{"a": {{"b": [{}1]}}}}"#, "1,".repeat(20_000));
        for text in [list, many, object] {
            assert_eq!(parsed(&text).unwrap_err().kind, StoreErrorKind::TooLarge);
        }
    }
}
