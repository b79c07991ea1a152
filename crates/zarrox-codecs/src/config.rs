//! Helpers for reading codec configurations.

use std::ops::RangeInclusive;

use zarrox_core::codec::{CodecContext, CodecError};
use zarrox_core::json::json;
use zarrox_core::json::{Json, Map};
use zarrox_core::{CodecSpec, Strictness};

/// A v3 configuration that is being read.
///
/// In the lenient mode, the `default` argument of a method replaces an absent member. In the strict mode, an absent member is an
/// error.
#[derive(Clone, Copy)]
pub(crate) struct Config<'a> {
    members: &'a Map,
    strictness: Strictness,
}

impl<'a> Config<'a> {
    /// Creates a reader. Unknown members are rejected, since they may change the meaning of the data.
    pub(crate) fn new(members: &'a Map, strictness: Strictness, known: &[&str]) -> Result<Self, CodecError> {
        match members.keys().find(|name| !known.contains(&name.as_str())) {
            None => Ok(Self { members, strictness }),
            Some(name) if known.is_empty() => {
                Err(CodecError::invalid(format!("unknown member '{name}': this codec has no configuration")))
            }
            Some(name) => {
                let known = known.join(", ");
                Err(CodecError::invalid(format!(
                    "unknown member '{name}' in the configuration; known are {known}"
                )))
            }
        }
    }

    /// Creates a reader for a configuration that does not come from v3 metadata.
    #[cfg(feature = "blosc")]
    pub(crate) fn lenient(members: &'a Map) -> Self {
        Self { members, strictness: Strictness::Lenient }
    }

    /// Returns true if only the forms that the specification defines are accepted.
    pub(crate) fn is_strict(self) -> bool {
        self.strictness == Strictness::Strict
    }

    /// Returns a member. In the lenient mode, `null` counts as absent.
    pub(crate) fn get(self, name: &str) -> Option<&'a Json> {
        self.members.get(name).filter(|json| self.is_strict() || !json.is_null())
    }

    /// Reads an integer, which must lie in a range.
    pub(crate) fn integer(
        self,
        name: &str,
        range: RangeInclusive<i32>,
        default: i32,
    ) -> Result<i32, CodecError> {
        let Some(json) = self.get(name) else { return self.absent(name, default) };
        let integer = self.to_integer(json).and_then(|n| i32::try_from(n).ok()).filter(|n| range.contains(n));
        integer.ok_or_else(|| {
            wrong(name, json, &format!("an integer from {} to {}", range.start(), range.end()))
        })
    }

    /// Reads the `level` of DEFLATE. In the lenient mode, it may be -1, which zlib interprets as 6.
    #[cfg(any(feature = "libdeflate", feature = "pure"))]
    pub(crate) fn compression_level(self, default: i32) -> Result<i32, CodecError> {
        let lowest = if self.is_strict() { 0 } else { -1 };
        let level = self.integer("level", lowest..=9, default)?;
        Ok(if level < 0 { 6 } else { level })
    }

    /// Reads a boolean that may be absent.
    pub(crate) fn boolean(self, name: &str, default: bool) -> Result<bool, CodecError> {
        let Some(json) = self.get(name) else { return Ok(default) };
        json.as_bool().ok_or_else(|| wrong(name, json, "true or false"))
    }

    /// Reads a name, which must be one of the given names, and returns the value for it.
    pub(crate) fn choice<T: Copy>(
        self,
        name: &str,
        choices: &[(&str, T)],
        default: T,
    ) -> Result<T, CodecError> {
        let Some(json) = self.get(name) else { return self.absent(name, default) };
        let chosen = choices.iter().find(|(choice, _)| json.as_str() == Some(choice));
        chosen.map(|&(_, value)| value).ok_or_else(|| {
            let names: Vec<_> = choices.iter().map(|(choice, _)| *choice).collect();
            wrong(name, json, &format!("one of {}", names.join(", ")))
        })
    }

    /// Reads a list of non-negative integers.
    pub(crate) fn integers(self, name: &str) -> Result<Vec<u64>, CodecError> {
        let json = self.get(name).ok_or_else(|| missing(name))?;
        let list = json.as_array().and_then(|list| {
            list.iter().map(|json| self.to_integer(json).and_then(|n| u64::try_from(n).ok())).collect()
        });
        list.ok_or_else(|| wrong(name, json, "a list of integers"))
    }

    /// Reads a list of codecs.
    pub(crate) fn codecs(
        self,
        name: &str,
        default: Option<Vec<CodecSpec>>,
    ) -> Result<Vec<CodecSpec>, CodecError> {
        let Some(json) = self.get(name) else {
            return default.filter(|_| !self.is_strict()).ok_or_else(|| missing(name));
        };
        let list = json.as_array().ok_or_else(|| wrong(name, json, "a list of codecs"))?;
        let lenient = |json: &Json| json.get("configuration").is_some_and(Json::is_null);
        let codec = |json| CodecSpec::from_json(json).filter(|_| !self.is_strict() || !lenient(json));
        list.iter().map(|json| codec(json).ok_or_else(|| wrong(name, json, "a list of codecs"))).collect()
    }

    /// Returns the value of an integer or, in the lenient mode, of a float without a fractional part.
    pub(crate) fn to_integer(self, json: &Json) -> Option<i64> {
        let whole = |x: &f64| !self.is_strict() && x.fract() == 0.0 && x.abs() < 9e15;
        #[expect(clippy::cast_possible_truncation, reason = "a whole number of less than 2^53")]
        json.as_i64().or_else(|| json.as_f64().filter(whole).map(|x| x as i64))
    }

    fn absent<T>(self, name: &str, default: T) -> Result<T, CodecError> {
        if self.is_strict() {
            return Err(missing(name));
        }
        Ok(default)
    }
}

/// Returns the error for an absent member that is required.
pub(crate) fn missing(name: &str) -> CodecError {
    CodecError::invalid(format!("the configuration lacks '{name}'"))
}

/// Returns the error for a member with an invalid value.
pub(crate) fn wrong(name: &str, json: &Json, wants: &str) -> CodecError {
    let shown = zarrox_core::internals::json::shown(json, 80);
    CodecError::invalid(format!("'{name}' is {shown}; expected {wants}"))
}

/// Returns the members of a JSON object as a configuration.
pub(crate) fn members(json: Json) -> Map {
    match json {
        Json::Object(map) => map,
        _ => Map::default(),
    }
}

/// Returns the v2 members that v3 also has, or else their v2 defaults. All other members are ignored, as v2 readers do.
pub(crate) fn from_v2(members: &Map, defaults: Json) -> Map {
    let mut configuration = self::members(defaults);
    for (name, value) in &mut configuration {
        if let Some(json) = members.get(name).filter(|json| !json.is_null()) {
            *value = json.clone();
        }
    }
    configuration
}

/// Returns a codec in the form of v3 metadata.
pub(crate) fn codec_to_json(spec: &CodecSpec) -> Json {
    if spec.configuration.is_empty() {
        return json!({"name": spec.name});
    }
    json!({"name": spec.name, "configuration": spec.configuration})
}

/// Creates a reader for the configuration of a codec with these members.
pub(crate) fn read<'a>(
    configuration: &'a Map,
    context: &CodecContext<'_>,
    known: &[&str],
) -> Result<Config<'a>, CodecError> {
    Config::new(configuration, context.strictness, known)
}
