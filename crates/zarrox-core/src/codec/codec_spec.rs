//! A codec in metadata: a name and a configuration.

use std::fmt;

use crate::json::{self, Json, Map};

/// A codec as in v3 metadata. The model uses this form for all formats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodecSpec {
    /// The name.
    pub name: String,
    /// The configuration; empty if the codec has none.
    pub configuration: Map,
}

impl CodecSpec {
    /// Creates a codec with this name and configuration. The configuration is a JSON object; any other value is treated as an
    /// empty object.
    pub fn new(name: impl Into<String>, configuration: Json) -> Self {
        let configuration = match configuration {
            Json::Object(map) => map,
            _ => Map::default(),
        };
        Self { name: name.into(), configuration }
    }

    /// Parses a codec from v3 metadata: an object with `name` and `configuration`, or a bare name. Returns `None` for anything
    /// else, and for objects with other members.
    #[doc(hidden)]
    pub fn from_json(json: &Json) -> Option<Self> {
        match json {
            Json::String(name) => Some(Self::new(name.as_str(), Json::Null)),
            Json::Object(map) => {
                let name = map.get("name")?.as_str()?;
                let configuration = map.get("configuration").unwrap_or(&Json::Null);
                let known =
                    |name: &String| ["name", "configuration", "must_understand"].contains(&name.as_str());
                let fits = map.keys().all(known) && matches!(configuration, Json::Object(_) | Json::Null);
                fits.then(|| Self::new(name, configuration.clone()))
            }
            _ => None,
        }
    }

    /// Returns the codecs inside the configuration, such as the codecs of a shard's inner chunks.
    #[doc(hidden)]
    pub fn inside(&self) -> Vec<Self> {
        let inside = self.configuration.get("codecs").and_then(Json::as_array);
        inside.into_iter().flatten().filter_map(Self::from_json).collect()
    }

    /// Returns true if both codecs are identical, including the signs of zeros.
    #[doc(hidden)]
    pub fn is_identical(&self, other: &Self) -> bool {
        self.name == other.name && json::are_identical(&self.configuration, &other.configuration)
    }
}

impl fmt::Display for CodecSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        json::write_configuration(f, &self.configuration)
    }
}
