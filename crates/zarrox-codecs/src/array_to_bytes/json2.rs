//! `json2`: stores Python objects as a single JSON list. Its predecessor `json` does not store the shape in the list.
//!
//! Documentation: <https://numcodecs.readthedocs.io/en/stable/json.html>
//!
//! The members are the arguments of Python's encoder and decoder:
//!
//! | member | value |
//! |---|---|
//! | `encoding` | the encoding of the text: `utf-8` or `ascii` |
//! | `skipkeys` | whether keys that JSON cannot represent are omitted together with their values |
//! | `ensure_ascii` | whether non-ASCII characters are written as escape sequences |
//! | `check_circular` | no effect here |
//! | `allow_nan` | whether `NaN` and `Infinity` may be written |
//! | `indent` | `null` for a single line, or the indentation per level: a number of spaces or a string |
//! | `separators` | the separator between two values, and the separator between a key and its value |
//! | `sort_keys` | whether objects are sorted by key |
//! | `strict` | whether readers reject control characters in strings |
//!
//! Names: `numcodecs.json2`, `json2` in v3; `json2` in v2; the names of `json` have the same form. zarr-python 3 does
//! not support these codecs in v3.

use zarrox_core::CodecSpec;
use zarrox_core::codec::{
    ArrayToBytes, ChunkSpec, Codec, CodecContext, CodecDef, CodecError, CodecKind, EncodeOptions, ReadRegion,
    Size,
};
use zarrox_core::internals::msgpack::Token;
use zarrox_core::json::json;
use zarrox_core::json::{Json, Map};
use zarrox_core::strided::View;

use crate::array_to_bytes::json_text::{Style, to_msgpack};
use crate::array_to_bytes::object_lists::{self, Trailer};
use crate::array_to_bytes::vlen;
use crate::config;
use crate::config::Config;

const NAME: &str = "numcodecs.json2";

/// The definition of `json2`.
pub(crate) static DEF: CodecDef = CodecDef::new(NAME, CodecKind::ArrayToBytes, |configuration, context| {
    create(configuration, context, NAME, Trailer::TypeAndShape)
})
.aliases(&["json2"])
.v2_id("json2")
.with_from_v2(|members, _| Ok(config::from_v2(members, defaults())));

/// The definition of `json`.
pub(crate) static LEGACY: CodecDef =
    CodecDef::new("numcodecs.json", CodecKind::ArrayToBytes, |configuration, context| {
        create(configuration, context, LEGACY.name, Trailer::Type)
    })
    .aliases(&["json"])
    .v2_id("json")
    .with_from_v2(|members, _| Ok(config::from_v2(members, defaults())));

fn defaults() -> Json {
    json!({
        "encoding": "utf-8", "skipkeys": false, "ensure_ascii": true, "check_circular": true, "allow_nan": true,
        "indent": null, "separators": [",", ":"], "sort_keys": true, "strict": true,
    })
}

/// Stores Python objects as JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Json2;

impl From<Json2> for CodecSpec {
    fn from(_: Json2) -> Self {
        Self::new(NAME, defaults())
    }
}

fn create(
    configuration: &Map,
    context: &CodecContext<'_>,
    name: &'static str,
    trailer: Trailer,
) -> Result<Codec, CodecError> {
    let complete = config::members(defaults());
    let known: Vec<&str> = complete.keys().map(String::as_str).collect();
    let config = config::read(configuration, context, &known)?;
    vlen::check_variable(context.chunk)?;
    let encodings = [("utf-8", false), ("utf8", false), ("ascii", true)];
    let ascii = config.choice("encoding", &encodings, false)?;
    let style = style(config)?;
    let strict = config.boolean("strict", true)?;
    let configuration = json!({
        "encoding": if ascii { "ascii" } else { "utf-8" },
        "skipkeys": style.skip_keys,
        "ensure_ascii": style.ascii,
        "check_circular": config.boolean("check_circular", true)?,
        "allow_nan": style.allow_nan,
        "indent": config.get("indent").unwrap_or(&Json::Null),
        "separators": [style.item_separator, style.key_separator],
        "sort_keys": style.sort_keys,
        "strict": strict,
    });
    Ok(Codec::ArrayToBytes(Box::new(JsonCodec {
        name,
        chunk: context.chunk.clone(),
        configuration: config::members(configuration),
        trailer,
        ascii,
        style,
        strict,
    })))
}

fn style(config: Config<'_>) -> Result<Style, CodecError> {
    let indent = match config.get("indent") {
        None | Some(Json::Null) => None,
        Some(Json::String(text)) if text.chars().all(|c| " \t\n\r".contains(c)) => Some(text.clone()),
        Some(json) => match config.to_integer(json) {
            Some(spaces) if spaces <= 100 => Some(" ".repeat(usize::try_from(spaces).unwrap_or(0))),
            _ => return Err(config::wrong("indent", json, "null, a number of at most 100, or white space")),
        },
    };
    let (item_separator, key_separator) = separators(config, indent.is_some())?;
    Ok(Style {
        skip_keys: config.boolean("skipkeys", false)?,
        ascii: config.boolean("ensure_ascii", true)?,
        allow_nan: config.boolean("allow_nan", true)?,
        sort_keys: config.boolean("sort_keys", true)?,
        indent,
        item_separator,
        key_separator,
    })
}

/// Reads the separators: a comma and a colon, each with optional white space. JSON text with other separators cannot be read, not
/// even by Python.
fn separators(config: Config<'_>, indented: bool) -> Result<(String, String), CodecError> {
    let spaced = if indented { [", ", ": "] } else { [",", ":"] };
    let Some(json) = config.get("separators") else {
        return Ok(spaced.map(str::to_owned).into());
    };
    let list: Vec<&str> = json.as_array().into_iter().flatten().filter_map(Json::as_str).collect();
    let trimmed = |text: &str, mark: &str| text.trim_matches([' ', '\t', '\n', '\r']) == mark;
    match list[..] {
        [item, key] if trimmed(item, ",") && trimmed(key, ":") => Ok((item.to_owned(), key.to_owned())),
        _ => Err(config::wrong("separators", json, "a comma and a colon")),
    }
}

/// The codec for chunks of one shape and data type.
#[derive(Debug)]
struct JsonCodec {
    name: &'static str,
    chunk: ChunkSpec,
    configuration: Map,
    trailer: Trailer,
    /// True if the text may only contain ASCII characters.
    ascii: bool,
    style: Style,
    strict: bool,
}

fn same(token: Token<'_>) -> Result<Token<'_>, CodecError> {
    Ok(token)
}

impl JsonCodec {
    fn text<'e>(&self, encoded: &'e [u8]) -> Result<&'e str, CodecError> {
        if self.ascii && !encoded.is_ascii() {
            return Err(CodecError::corrupt("the text is not ASCII"));
        }
        std::str::from_utf8(encoded).map_err(|error| {
            CodecError::corrupt(format!("the text is not UTF-8: {error}")).with_source(error)
        })
    }
}

impl ArrayToBytes for JsonCodec {
    fn configuration(&self) -> Map {
        self.configuration.clone()
    }

    fn encoded_size(&self) -> Size {
        Size::UNKNOWN
    }

    fn decode(&self, encoded: &[u8], part: ReadRegion<'_>) -> Result<(), CodecError> {
        let list = self.text(encoded).and_then(|text| to_msgpack(text, self.strict));
        let decoded =
            list.and_then(|list| object_lists::decode(&list, self.trailer, &self.chunk, part, same));
        decoded.map_err(|e| e.in_codec(self.name))
    }

    fn encode(&self, chunk: &View<'_>, _: EncodeOptions, encoded: &mut Vec<u8>) -> Result<bool, CodecError> {
        let list = object_lists::encode(chunk, self.trailer, same)?;
        let mut text = String::new();
        self.style.write(&list, &mut text)?;
        if self.ascii && !text.is_ascii() {
            let message = "the text is not ASCII, but the encoding is, and 'ensure_ascii' is false";
            return Err(CodecError::unsupported(message));
        }
        encoded.extend_from_slice(text.as_bytes());
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use zarrox_core::Strictness;
    use zarrox_testkit::codec::Random;
    use zarrox_testkit::variable::variable_suite;

    use super::*;
    use crate::registry;
    use crate::testing::{objects, spec};

    #[test]
    fn suite() {
        let values = |random: &mut Random| objects::random(random);
        let with = |changes: Json| {
            let mut configuration = config::members(defaults());
            configuration.extend(config::members(changes));
            CodecSpec { name: NAME.to_owned(), configuration }
        };
        let legacy = spec("numcodecs.json", defaults());
        variable_suite(&registry(), &[Json2.into()], values);
        variable_suite(&registry(), &[legacy], values);
        variable_suite(&registry(), &[Json2.into(), crate::Zstd::level(1).into()], values);
        variable_suite(&registry(), &[with(json!({"indent": 1, "ensure_ascii": false}))], values);
        variable_suite(&registry(), &[with(json!({"encoding": "ascii", "strict": false}))], values);
        variable_suite(&registry(), &[with(json!({"separators": [" , ", "\n: "], "indent": "\t"}))], values);
    }

    #[test]
    fn golden() {
        // numcodecs 0.15.1: `JSON().encode(x)` of arrays of objects.
        let cases: [(&[u64], Json, &str); 4] = [
            (&[2], json!(["a", "b"]), r#"["a","b","|O",[2]]"#),
            (&[], json!(["x"]), r#"["x","|O",[]]"#),
            (
                &[2, 2],
                json!(["a", null, [1, 2], {"b": 1, "a": 1.5}]),
                r#"[["a",null],[[1,2],{"a":1.5,"b":1}],"|O",[2,2]]"#,
            ),
            (&[2], json!([[1, 2], [3, 4]]), r#"[[1,2],[3,4],"|O",[2]]"#),
        ];
        for (shape, values, text) in cases {
            let codec = Json2.into();
            assert_eq!(objects::encode(&codec, shape, &values).unwrap(), text.as_bytes());
            assert_eq!(objects::decode(&codec, shape, text.as_bytes()).unwrap(), values);
        }
        // numcodecs 0.5.5: `JSON().encode(x)`.
        let legacy = spec("numcodecs.json", json!({}));
        let text = br#"[["a",1],["b",2],"|O"]"#;
        let values = json!(["a", 1, "b", 2]);
        assert_eq!(objects::decode(&legacy, &[2, 2], text).unwrap(), values);
        assert_eq!(objects::encode(&legacy, &[2, 2], &values).unwrap(), text);
    }

    #[test]
    fn invalid_chunks_are_errors() {
        let decode =
            |text: &str| objects::decode(&Json2.into(), &[2], text.as_bytes()).unwrap_err().to_string();
        for (text, says) in [
            ("", "not JSON"),
            ("{}", "expected a list"),
            (r#"["a","b","|O"]"#, "has 3 values, but 4 are expected"),
            (r#"["a","b","|O",[3]]"#, "shape"),
            (r#"["a","b","|O",[2,1]]"#, "has 2 values"),
            (r#"["a","b","|O",["2"]]"#, "shape"),
            (r#"["a","b","<U1",[2]]"#, "'<U1'"),
            (r#"["a","b",1,[2]]"#, "type"),
        ] {
            let error = decode(text);
            assert!(
                error.starts_with("codec 'numcodecs.json2': ") && error.contains(says),
                "{text}: {error}"
            );
        }
        let error = objects::decode(&Json2.into(), &[1, 2], br#"[["a"],"|O",[1,2]]"#).unwrap_err();
        assert!(error.to_string().contains("a row has 1"), "{error}");
        let deep = format!(r#"[{}1{},0,"|O",[2]]"#, "[".repeat(600), "]".repeat(600));
        assert!(decode(&deep).contains("deep"));
    }

    #[test]
    fn configurations() {
        let make = |changes| objects::chain(&spec(NAME, changes), &[2], Strictness::Lenient);
        let complete = |changes| Json::Object(make(changes).unwrap().specs().remove(0).configuration);
        assert_eq!(complete(json!({})), defaults());
        assert_eq!(
            complete(json!({})).to_string(),
            r#"{"encoding":"utf-8","skipkeys":false,"ensure_ascii":true,"check_circular":true,"allow_nan":true,"#.to_owned()
                + r#""indent":null,"separators":[",",":"],"sort_keys":true,"strict":true}"#
        );
        assert_eq!(complete(json!({"indent": 2}))["separators"], json!([", ", ": "]));
        for (bad, says) in [
            (json!({"separators": [";", "="]}), "separators"),
            (json!({"separators": [","]}), "separators"),
            (json!({"encoding": "utf-16"}), "encoding"),
            (json!({"indent": "--"}), "indent"),
            (json!({"indent": 1e9}), "indent"),
            (json!({"sort_keys": 1}), "sort_keys"),
        ] {
            let error = make(bad).unwrap_err().to_string();
            assert!(error.contains(&format!("'{says}'")), "{error}");
        }
    }
}
