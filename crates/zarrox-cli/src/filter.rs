//! The syntax of filters on the command line.

use zarrox::CodecSpec;
use zarrox::json::{self, Json, Map};

/// Parses a codec: its name, with or without the prefix `numcodecs.`, and its configuration, such as
/// `fixedscaleoffset:scale=10,offset=273,dtype=<f4`; or a JSON object as in v3 metadata.
pub(crate) fn parse(text: &str) -> Result<CodecSpec, String> {
    if text.trim_start().starts_with('{') {
        let json = json::parse(text.as_bytes()).map_err(|error| error.to_string())?;
        return CodecSpec::from_json(&json)
            .ok_or_else(|| format!("{json} must have a \"name\", and at most a \"configuration\" besides"));
    }
    let (name, members) = text.split_once(':').unwrap_or((text, ""));
    let registry = zarrox::codecs::registry();
    let known =
        registry.codec(name).or_else(|error| registry.codec(&format!("numcodecs.{name}")).map_err(|_| error));
    let name = known.map_err(|error| error.to_string())?.name;
    let members = members.split(',').filter(|member| !member.is_empty()).map(member);
    let configuration: Map = members.collect::<Result<_, _>>()?;
    Ok(CodecSpec { name: name.to_owned(), configuration })
}

/// Parses a member of the configuration. A value that is not JSON is taken as a string.
fn member(text: &str) -> Result<(String, Json), String> {
    let (name, value) = text.split_once('=').ok_or_else(|| format!("'{text}' must have the form level=3"))?;
    let json = json::parse(value.as_bytes()).unwrap_or_else(|_| Json::from(value));
    Ok((name.to_owned(), json))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_in_short_and_as_json() {
        let shown = |text: &str| parse(text).map(|codec| codec.to_string());
        assert_eq!(shown("crc32c").unwrap(), "crc32c");
        assert_eq!(shown("crc32:location=end").unwrap(), "numcodecs.crc32(location=\"end\")");
        assert_eq!(shown("numcodecs.bz2:level=3").unwrap(), "numcodecs.bz2(level=3)");
        assert_eq!(shown(r#"{"name": "gzip", "configuration": {"level": 3}}"#).unwrap(), "gzip(level=3)");
        assert!(shown("shuffel").unwrap_err().contains("unknown codec 'shuffel'"));
        assert_eq!(shown("bz2:3").unwrap_err(), "'3' must have the form level=3");
        assert!(shown("{}").unwrap_err().contains("\"name\""));
    }
}
