//! `categorize`: stores strings from a short list as numbers. The labels are numbered from 1. 0 represents any string that is not
//! in the list, and is decoded to the empty string.
//!
//! Documentation: <https://numcodecs.readthedocs.io/en/stable/filter/categorize.html>
//!
//! | member | value |
//! |---|---|
//! | `labels` | the strings |
//! | `dtype` | the type of the elements: `\|O`, or fixed-length strings such as `<U5` |
//! | `astype` | the integer type of the stored numbers: `\|u1`, `<u2`, … |
//!
//! Names: `numcodecs.categorize`, `categorize` in v3; `categorize` in v2.

use std::collections::HashMap;

use zarrox_core::codec::{ArrayToArray, ChunkSpec, Codec, CodecContext, CodecDef, CodecError, CodecKind};
use zarrox_core::data_type::{Endian, Storage, TypeString};
use zarrox_core::internals::data_type::utf32_text;
use zarrox_core::json::json;
use zarrox_core::json::{Json, Map};
use zarrox_core::strided::{View, ViewMut};
use zarrox_core::{CodecSpec, FillValue};

use crate::config;

const NAME: &str = "numcodecs.categorize";

/// The definition of `categorize`.
pub(crate) static DEF: CodecDef = CodecDef::new(NAME, CodecKind::ArrayToArray, create)
    .aliases(&["categorize"])
    .v2_id("categorize")
    .with_from_v2(|members, _| {
        Ok(config::from_v2(members, json!({"labels": null, "dtype": null, "astype": "|u1"})))
    });

/// Strings from a short list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Categorize {
    labels: Vec<String>,
    dtype: String,
}

impl Categorize {
    /// Stores variable-length strings. Only these labels are preserved.
    pub fn labels<L: Into<String>>(labels: impl IntoIterator<Item = L>) -> Self {
        Self { labels: labels.into_iter().map(Into::into).collect(), dtype: "|O".to_owned() }
    }

    /// Stores fixed-length strings of this number of characters.
    #[must_use]
    pub fn fixed(mut self, characters: usize) -> Self {
        self.dtype = format!("<U{characters}");
        self
    }
}

impl From<Categorize> for CodecSpec {
    fn from(codec: Categorize) -> Self {
        let astype = match codec.labels.len() {
            0..=255 => "|u1",
            256..=65535 => "<u2",
            _ => "<u4",
        };
        Self::new(NAME, json!({"labels": codec.labels, "dtype": codec.dtype, "astype": astype}))
    }
}

fn create(configuration: &Map, context: &CodecContext<'_>) -> Result<Codec, CodecError> {
    let config = config::read(configuration, context, &["labels", "dtype", "astype"])?;
    let member = |name| config.get(name).ok_or_else(|| config::missing(name));
    let json = member("labels")?;
    let labels: Option<Vec<String>> =
        json.as_array().and_then(|list| list.iter().map(|label| label.as_str().map(str::to_owned)).collect());
    let labels = labels.ok_or_else(|| config::wrong("labels", json, "a list of texts"))?;
    let dtype = member("dtype")?;
    check_dtype(context.chunk.storage(), dtype)?;
    let astype = match config.get("astype") {
        None if !config.is_strict() => Json::from("|u1"),
        _ => member("astype")?.clone(),
    };
    let storage = astype.as_str().and_then(TypeString::parse).as_ref().and_then(integers);
    let storage =
        storage.ok_or_else(|| config::wrong("astype", &astype, "a type of integers, such as \"|u1\""))?;
    if most(&storage) < labels.len() as u64 {
        let message = format!("{} labels are more than {astype} has numbers", labels.len());
        return Err(CodecError::invalid(message));
    }
    // If labels are duplicated, numcodecs uses the number of the last duplicate.
    let numbers = labels.iter().zip(1_u64..).map(|(label, number)| (label.clone(), number)).collect();
    let configuration = config::members(json!({"labels": labels, "dtype": dtype, "astype": astype}));
    let mut codec = CategorizeCodec {
        decoded: context.chunk.storage().clone(),
        configuration,
        labels,
        numbers,
        encoded: context.chunk.clone(),
    };
    let fill = codec.number(context.chunk.fill().as_bytes(), &storage)?;
    let shape: Vec<u64> = context.chunk.shape().iter().map(|&length| length as u64).collect();
    codec.encoded = ChunkSpec::new(&shape, storage, FillValue::new(fill))?;
    Ok(Codec::ArrayToArray(Box::new(codec)))
}

/// Checks that the data type of the elements matches the configuration.
fn check_dtype(storage: &Storage, dtype: &Json) -> Result<(), CodecError> {
    let said = dtype.as_str().and_then(TypeString::parse);
    let characters = |said: TypeString<'_>| said.size().filter(|_| said.kind == 'U');
    match (storage, said) {
        (Storage::Variable, Some(said)) if said.kind == 'O' => Ok(()),
        (Storage::Utf32(bytes), Some(said)) if characters(said) == Some(bytes / 4) => Ok(()),
        (Storage::Variable | Storage::Utf32(_), _) => {
            Err(config::wrong("dtype", dtype, "the data type of the array's elements"))
        }
        _ => Err(CodecError::invalid(
            "this codec stores text, but the array has other elements of a fixed size",
        )),
    }
}

/// Returns the layout of an integer type in memory.
fn integers(dtype: &TypeString<'_>) -> Option<Storage> {
    let size = dtype.size().filter(|size| [1, 2, 4, 8].contains(size))?;
    if dtype.endian.is_none() && size > 1 {
        return None;
    }
    match dtype.kind {
        'i' => Some(Storage::Int(size)),
        'u' => Some(Storage::Uint(size)),
        _ => None,
    }
}

/// Returns the largest integer of a type.
fn most(storage: &Storage) -> u64 {
    let bits = u32::try_from(8 * storage.size()).unwrap_or(64);
    let sign = u32::from(matches!(storage, Storage::Int(_)));
    u64::MAX >> (64 - bits + sign)
}

/// The codec for chunks of one shape and data type.
#[derive(Debug)]
struct CategorizeCodec {
    configuration: Map,
    labels: Vec<String>,
    /// The numbers by label.
    numbers: HashMap<String, u64>,
    decoded: Storage,
    encoded: ChunkSpec,
}

impl CategorizeCodec {
    /// Returns the bytes of the number that represents an element.
    fn number(&self, element: &[u8], storage: &Storage) -> Result<Vec<u8>, CodecError> {
        let number = if self.decoded == Storage::Variable {
            let text = std::str::from_utf8(element);
            let text = text.map_err(|error| CodecError::invalid(format!("a text is not UTF-8: {error}")))?;
            self.numbers.get(text)
        } else {
            self.numbers.get(&utf32_text(element))
        };
        let number = number.copied().unwrap_or(0);
        let size = storage.size();
        Ok(match Endian::NATIVE {
            Endian::Little => number.to_le_bytes()[..size].to_vec(),
            Endian::Big => number.to_be_bytes()[8 - size..].to_vec(),
        })
    }

    /// Returns the label of a number in memory.
    fn label(&self, number: &[u8]) -> Result<&str, CodecError> {
        let append = |value: u64, byte: &u8| value << 8 | u64::from(*byte);
        let value = match Endian::NATIVE {
            Endian::Little => number.iter().rev().fold(0, append),
            Endian::Big => number.iter().fold(0, append),
        };
        let Some(index) = value.checked_sub(1) else { return Ok("") };
        let label = usize::try_from(index).ok().and_then(|index| self.labels.get(index));
        label.map(String::as_str).ok_or_else(|| {
            CodecError::corrupt(format!(
                "the stored number {value} has no label; there are {} labels",
                self.labels.len()
            ))
        })
    }
}

impl ArrayToArray for CategorizeCodec {
    fn configuration(&self) -> Map {
        self.configuration.clone()
    }

    fn encoded_chunk(&self) -> &ChunkSpec {
        &self.encoded
    }

    fn encode(&self, decoded: &View<'_>, encoded: &mut ViewMut<'_>) -> Result<(), CodecError> {
        let mut numbers = Vec::new();
        decoded.for_each_element(|element| {
            numbers.extend(self.number(element, self.encoded.storage())?);
            Ok::<_, CodecError>(())
        })?;
        encoded.copy_from(&View::contiguous(&numbers, decoded.shape(), self.encoded.item()), 1);
        Ok(())
    }

    fn decode(&self, encoded: &View<'_>, decoded: &mut ViewMut<'_>) -> Result<(), CodecError> {
        let (mut bytes, mut lengths) = (Vec::new(), Vec::new());
        let size = self.decoded.size();
        encoded.for_each_element(|number| {
            let (label, start) = (self.label(number)?, bytes.len());
            if self.decoded == Storage::Variable {
                bytes.extend_from_slice(label.as_bytes());
                lengths.push(label.len());
            } else {
                // Labels that are too long are truncated, as in NumPy.
                bytes.extend(label.chars().take(size / 4).flat_map(|c| u32::from(c).to_ne_bytes()));
                bytes.resize(start + size, 0);
            }
            Ok::<_, CodecError>(())
        })?;
        if self.decoded == Storage::Variable {
            return decoded.set_elements(bytes, lengths);
        }
        decoded.copy_from(&View::contiguous(&bytes, encoded.shape(), size), 1);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use zarrox_core::codec::EncodeOptions;
    use zarrox_core::{CodecChain, Strictness};
    use zarrox_testkit::codec::Random;
    use zarrox_testkit::variable::variable_suite;

    use super::*;
    use crate::testing::{chain, chunk, decode_chunk, objects, spec};
    use crate::{Bytes, registry};

    #[test]
    fn suite() {
        let texts = ["", "a", "é", "long label", "日本"];
        for astype in ["|u1", "|i1", ">u2", "<i8"] {
            let codec = json!({"labels": &texts[1..], "dtype": "|O", "astype": astype});
            let bytes = if astype.starts_with('|') { spec("bytes", json!({})) } else { Bytes::big().into() };
            variable_suite(&registry(), &[spec(NAME, codec), bytes], |random: &mut Random| {
                texts[random.below(texts.len())].into()
            });
        }
    }

    #[test]
    fn golden() {
        // numcodecs 0.15.1: `Categorize(['a', 'é'], dtype=object).encode(['b', 'a', 'é', ''])`; 'b' decodes to the empty string.
        let codecs = [Categorize::labels(["a", "é"]).into(), spec("bytes", json!({}))];
        let chunk = ChunkSpec::new(&[4], Storage::Variable, FillValue::new([])).unwrap();
        let chain = chain(&codecs, &chunk, &registry(), Strictness::Strict).unwrap();
        let texts = ["b", "a", "é", ""].map(|text| text.as_bytes().to_vec());
        assert_eq!(objects::encode_with(&chain, &texts).unwrap(), [0, 1, 2, 0]);
        let decoded = objects::decode_with(&chain, &[0, 1, 2, 0]).unwrap();
        assert_eq!(decoded, ["", "a", "é", ""].map(|text| text.as_bytes().to_vec()));
        let error = objects::decode_with(&chain, &[0, 1, 2, 3]).unwrap_err().to_string();
        assert!(error.contains("the stored number 3 has no label; there are 2 labels"), "{error}");
    }

    fn fixed(configuration: Json) -> Result<CodecChain, CodecError> {
        let specs = [spec(NAME, configuration), spec("bytes", json!({}))];
        chain(&specs, &chunk(&[3], Storage::Utf32(12)), &registry(), Strictness::Lenient)
    }

    #[test]
    fn text_of_a_fixed_length() {
        let chain = fixed(json!({"labels": ["abc", "é", "too long"], "dtype": "<U3"})).unwrap();
        let text = |text: &str| {
            let mut bytes: Vec<u8> = text.chars().flat_map(|c| u32::from(c).to_ne_bytes()).collect();
            bytes.resize(12, 0);
            bytes
        };
        let elements = [text("é"), text(""), text("abc")].concat();
        let mut encoded = Vec::new();
        let all = EncodeOptions { store_empty_chunks: true };
        chain.encode(&View::contiguous(&elements, &[3], 12), all, &mut encoded).unwrap();
        assert_eq!(encoded, [2, 0, 1]);
        assert_eq!(decode_chunk(&chain, &encoded).unwrap(), elements);
        assert_eq!(decode_chunk(&chain, &[3, 3, 0]).unwrap()[..12], text("too"));
    }

    #[test]
    fn configurations() {
        let many: Vec<String> = (0..256).map(|label| label.to_string()).collect();
        for (bad, says) in [
            (json!({"dtype": "<U3"}), "'labels'"),
            (json!({"labels": "a", "dtype": "<U3"}), "'labels'"),
            (json!({"labels": [1], "dtype": "<U3"}), "'labels'"),
            (json!({"labels": ["a"]}), "'dtype'"),
            (json!({"labels": ["a"], "dtype": "<U4"}), "'dtype'"),
            (json!({"labels": ["a"], "dtype": "|O"}), "'dtype'"),
            (json!({"labels": ["a"], "dtype": "<U3", "astype": "<f4"}), "'astype'"),
            (json!({"labels": ["a"], "dtype": "<U3", "astype": "|O"}), "'astype'"),
            (json!({"labels": ["a"], "dtype": "<U3", "astype": "<u3"}), "'astype'"),
            (json!({"labels": many, "dtype": "<U3"}), "256 labels"),
        ] {
            let error = fixed(bad).unwrap_err().to_string();
            assert!(error.contains("codec 'numcodecs.categorize'") && error.contains(says), "{error}");
        }
        let astype = |count: usize| {
            CodecSpec::from(Categorize::labels(vec!["x"; count])).configuration["astype"].clone()
        };
        assert_eq!([astype(255), astype(256), astype(65536)], [json!("|u1"), json!("<u2"), json!("<u4")]);
    }
}
