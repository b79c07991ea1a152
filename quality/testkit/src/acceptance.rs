//! Unusual metadata documents: the expected meaning of each, and which of the large implementations open the document.
//!
//! The documents are in `acceptance/cases.json`, each as one change of the minimal document, which all implementations open.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "the cases are part of the source, so invalid ones are bugs"
)]

use zarrox_core::Strictness;
use zarrox_core::json::{self, Json, Map};
use zarrox_core::{Format, NodeMetadata, Registry, Result};

/// The tested implementations, in the order of [`Case::peers`].
pub const PEERS: [&str; 3] = ["zarr-python 3.4.2", "tensorstore 0.1.86", "zarrs 0.23"];

const CASES: &str = include_str!("../acceptance/cases.json");

/// An unusual document.
#[derive(Debug, Clone)]
pub struct Case {
    /// A short description.
    pub name: String,
    /// The format of the document.
    pub format: Format,
    /// The members that differ from the minimal document, as text.
    pub change: String,
    /// The expected result of lenient reading.
    pub lenient: Expectation,
    /// The expected result of strict reading.
    pub strict: Expectation,
    /// Which of the [`PEERS`] open the document.
    pub peers: [bool; 3],
    document: Vec<u8>,
}

/// The expected result of reading a document.
#[derive(Debug, Clone)]
pub enum Expectation {
    /// The document opens, and has this fill value as displayed, and this shape.
    Opens(String, Vec<u64>),
    /// Opening fails with a message that contains this text.
    Refused(String),
}

/// An opened array: its fill value as displayed, and its shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opened {
    /// The fill value.
    pub fill: String,
    /// The shape.
    pub shape: Vec<u64>,
}

/// Returns all cases.
pub fn cases() -> Vec<Case> {
    let all = json::parse(CASES.as_bytes()).unwrap();
    let list = all["cases"].as_array().unwrap();
    list.iter().map(|case| Case::new(case, &all["minimal"])).collect()
}

impl Case {
    fn new(case: &Json, minimal: &Json) -> Self {
        let version = case["format"].to_string();
        let mut document = minimal[&version].as_object().unwrap().clone();
        let none = Map::default();
        let set = case["set"].as_object().unwrap_or(&none);
        let mut change: Vec<String> = set.iter().map(|(name, json)| format!("\"{name}\": {json}")).collect();
        document.extend(set.clone());
        for name in case["remove"].as_array().into_iter().flatten() {
            assert!(document.remove(name.as_str().unwrap()).is_some(), "{name} is not in the document");
            change.push(format!("no {name}"));
        }
        let (mut change, mut document) = (change.join(", "), Json::Object(document).to_string());
        if case["bare"] == true {
            (change, document) = (change.replace("\"NaN\"", "NaN"), document.replace("\"NaN\"", "NaN"));
        }
        Self {
            name: case["name"].as_str().unwrap().to_owned(),
            format: if version == "2" { Format::V2 } else { Format::V3 },
            change,
            lenient: Expectation::new(&case["lenient"]),
            strict: Expectation::new(&case["strict"]),
            peers: [0, 1, 2].map(|peer| case["peers"][peer].as_bool().unwrap()),
            document: document.into_bytes(),
        }
    }

    /// Opens the document, and creates its codecs.
    ///
    /// # Errors
    /// When the document cannot be read with this strictness.
    pub fn open(&self, registry: &Registry, strictness: Strictness) -> Result<Opened> {
        let context = zarrox_core::internals::metadata::ReadContext::new(registry, strictness);
        let format = self.format.def();
        let mut documents = vec![None; format.layout().documents().len()];
        documents[0] = Some(zarrox_core::internals::metadata::Source::Bytes(&self.document));
        let Some(NodeMetadata::Array(array)) = format.from_documents(&documents, &context)? else {
            panic!("{}: it is not an array", self.name);
        };
        array.chain(registry, strictness, usize::MAX)?;
        let fill = array.fill_element(registry)?;
        let fill = registry.family(&array.data_type)?.format(&array.data_type, fill.as_bytes());
        Ok(Opened { fill, shape: array.shape })
    }

    /// Returns the difference from the expected result with a strictness, if there is one.
    pub fn complaint(&self, registry: &Registry, strictness: Strictness) -> Option<String> {
        let expected = if strictness == Strictness::Lenient { &self.lenient } else { &self.strict };
        let found = self.open(registry, strictness);
        let fault = match (&found, expected) {
            (Ok(opened), Expectation::Opens(fill, shape)) => {
                if *fill == opened.fill && *shape == opened.shape {
                    return None;
                }
                "the array differs"
            }
            (Err(error), Expectation::Refused(why)) if error.to_string().contains(why) => return None,
            (Err(_), Expectation::Refused(_)) => "it should fail for another reason",
            (Ok(_), Expectation::Refused(_)) => "it should fail",
            (Err(_), Expectation::Opens(..)) => "it should open",
        };
        Some(format!(
            "v{:?} {:?} {strictness:?}: {fault}: {found:?}, not {expected:?}",
            self.format, self.name
        ))
    }
}

impl Expectation {
    fn new(json: &Json) -> Self {
        if let Some(why) = json["refused"].as_str() {
            return Self::Refused(why.to_owned());
        }
        let length = |n: &Json| n.as_u64().unwrap();
        let shape = json["shape"].as_array().map_or(vec![4], |shape| shape.iter().map(length).collect());
        Self::Opens(json["fill"].as_str().unwrap().to_owned(), shape)
    }
}
