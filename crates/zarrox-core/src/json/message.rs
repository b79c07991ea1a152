//! JSON in messages.

use std::fmt;

use super::value::{Json, Map};

/// Writes a configuration for messages: `(level=3, checksum=false)`; writes nothing if the configuration is
/// empty.
pub(crate) fn write_configuration(f: &mut fmt::Formatter<'_>, configuration: &Map) -> fmt::Result {
    if configuration.is_empty() {
        return Ok(());
    }
    let members: Vec<_> = configuration.iter().map(|(name, value)| format!("{name}={value}")).collect();
    write!(f, "({})", members.join(", "))
}

/// Formats a value for messages: strings without quotes, truncated to `longest` characters.
pub fn shown(json: &Json, longest: usize) -> String {
    let text = json.as_str().map_or_else(|| json.to_string(), |text| format!("\"{text}\""));
    if text.chars().nth(longest).is_none() {
        text
    } else {
        text.chars().take(longest).chain(['…']).collect()
    }
}

/// Returns the kind of a JSON value, for messages.
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
