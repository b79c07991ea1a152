//! `zarrs.vlen`: stores the concatenated bytes of variable-length elements, and an index of their offsets.
//!
//! Specification: <https://docs.rs/zarrs/latest/zarrs/array/codec/array_to_bytes/vlen/index.html>, an experimental codec of the
//! Rust library zarrs, which used it for strings until version 0.20.
//!
//! | member | value |
//! |---|---|
//! | `data_codecs` | the codecs of the concatenated bytes, which are an array of `uint8` |
//! | `index_codecs` | the codecs of the index |
//! | `index_data_type` | the data type of the index: `"uint32"` or `"uint64"` |
//! | `index_location` | the location of the index: `"start"` (the default) or `"end"` |
//!
//! Names: `zarrs.vlen` in v3 (also `vlen` and a URL, in older versions); v2 does not have it.
//!
//! The index contains the offset of each element in the concatenated bytes, and finally their total length. Encoded bytes: the
//! length of the encoded index as a little-endian `u64`, the encoded index, and the encoded data; or the encoded data, the
//! encoded index, and its length. If all elements are empty, the encoded data are empty as well.

use zarrox_core::codec::{
    ArrayToBytes, ChunkSpec, Codec, CodecContext, CodecDef, CodecError, CodecKind, EncodeOptions, ReadRegion,
    Size,
};
use zarrox_core::data_type::Storage;
use zarrox_core::internals::codec::is_trusted;
use zarrox_core::internals::data_type::VARIABLE_TEXT;
use zarrox_core::internals::scratch::Scratch;
use zarrox_core::json::Map;
use zarrox_core::json::json;
use zarrox_core::strided::{Span, View, ViewMut, VlenBuffer};
use zarrox_core::{CodecChain, CodecSpec, DataType, FillValue};

use crate::Bytes;
use crate::array_to_bytes::linear_chain::LinearChain;
use crate::array_to_bytes::vlen::{check_utf8, check_variable, fill};
use crate::config::{self, codec_to_json, missing};
use crate::error::truncated;
use crate::sharding::index::{IndexLocation, LOCATIONS};

const NAME: &str = "zarrs.vlen";

/// The definition of `zarrs.vlen`.
pub(crate) static DEF: CodecDef = CodecDef::new(NAME, CodecKind::ArrayToBytes, create)
    .aliases(&["vlen", "https://codec.zarrs.dev/array_to_bytes/vlen"]);

/// Stores variable-length elements with an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZarrsVlen {
    data_codecs: Vec<CodecSpec>,
    index_codecs: Vec<CodecSpec>,
    wide: bool,
    location: IndexLocation,
}

impl Default for ZarrsVlen {
    /// Creates a codec without compression, with a 64-bit index at the start.
    fn default() -> Self {
        let plain = vec![Bytes::little().into()];
        Self { data_codecs: plain.clone(), index_codecs: plain, wide: true, location: IndexLocation::Start }
    }
}

impl ZarrsVlen {
    /// Sets the codecs of the bytes of the elements.
    #[must_use]
    pub fn data_codecs(self, codecs: impl IntoIterator<Item = CodecSpec>) -> Self {
        Self { data_codecs: codecs.into_iter().collect(), ..self }
    }

    /// Sets the codecs of the index.
    #[must_use]
    pub fn index_codecs(self, codecs: impl IntoIterator<Item = CodecSpec>) -> Self {
        Self { index_codecs: codecs.into_iter().collect(), ..self }
    }

    /// Uses a 32-bit index, which cannot represent chunks larger than 4 GiB.
    #[must_use]
    pub fn narrow_index(self) -> Self {
        Self { wide: false, ..self }
    }

    /// Sets the location of the index.
    #[must_use]
    pub fn index_location(self, location: IndexLocation) -> Self {
        Self { location, ..self }
    }

    fn members(&self) -> Map {
        let list = |codecs: &[CodecSpec]| codecs.iter().map(codec_to_json).collect::<Vec<_>>();
        config::members(json!({
            "data_codecs": list(&self.data_codecs),
            "index_codecs": list(&self.index_codecs),
            "index_data_type": if self.wide { "uint64" } else { "uint32" },
            "index_location": self.location.name(),
        }))
    }
}

impl From<ZarrsVlen> for CodecSpec {
    fn from(vlen: ZarrsVlen) -> Self {
        Self { name: NAME.to_owned(), configuration: vlen.members() }
    }
}

fn create(configuration: &Map, context: &CodecContext<'_>) -> Result<Codec, CodecError> {
    const MEMBERS: &[&str] = &["data_codecs", "index_codecs", "index_data_type", "index_location"];
    check_variable(context.chunk)?;
    let config = config::read(configuration, context, MEMBERS)?;
    config.get("index_data_type").ok_or_else(|| missing("index_data_type"))?;
    let wide = config.choice("index_data_type", &[("uint32", false), ("uint64", true)], true)?;
    // In the first version of the codec, the index was always at the start.
    let location = match config.get("index_location") {
        None => IndexLocation::Start,
        Some(_) => config.choice("index_location", LOCATIONS, IndexLocation::Start)?,
    };
    let (data_codecs, index_codecs) =
        (config.codecs("data_codecs", None)?, config.codecs("index_codecs", None)?);
    let count: usize = context.chunk.shape().iter().product();
    let word = if wide { 8 } else { 4 };
    let chunk = ChunkSpec::new(&[count as u64 + 1], Storage::Uint(word), FillValue::zero(word))?;
    if chunk.size() > context.limit {
        let message = format!("the index takes {} bytes, and the limit is {}", chunk.size(), context.limit);
        return Err(CodecError::limit(message));
    }
    let index = CodecChain::new(&index_codecs, &CodecContext { chunk: &chunk, ..*context });
    let index = index.map_err(|e| e.at("'index_codecs'"))?;
    let data =
        LinearChain::new(data_codecs, &DataType::UInt8, 1, context).map_err(|e| e.at("'data_codecs'"))?;
    let settings =
        ZarrsVlen { data_codecs: data.usual().specs(), index_codecs: index.specs(), wide, location };
    let text = context.chunk.data_type().is_ok_and(|data_type| data_type.is_named(VARIABLE_TEXT));
    let (chunk, limit) = (context.chunk.clone(), context.limit);
    Ok(Codec::ArrayToBytes(Box::new(VlenCodec { chunk, settings, index, data, text, limit })))
}

/// The codec for chunks of one shape and data type.
#[derive(Debug)]
struct VlenCodec {
    chunk: ChunkSpec,
    settings: ZarrsVlen,
    index: CodecChain,
    data: LinearChain,
    /// True if elements must be UTF-8.
    text: bool,
    limit: usize,
}

impl ArrayToBytes for VlenCodec {
    fn configuration(&self) -> Map {
        self.settings.members()
    }

    fn encoded_size(&self) -> Size {
        Size::UNKNOWN
    }

    fn decode(&self, encoded: &[u8], part: ReadRegion<'_>) -> Result<(), CodecError> {
        self.decode_part(encoded, part).map_err(|e| e.in_codec(NAME))
    }

    fn encode(&self, chunk: &View<'_>, _: EncodeOptions, encoded: &mut Vec<u8>) -> Result<bool, CodecError> {
        let (mut bytes, mut offsets) = (Vec::new(), Vec::with_capacity(self.index.chunk().size()));
        self.push_offset(0, &mut offsets)?;
        chunk.for_each_element(|element| {
            if self.text {
                check_utf8(element)?;
            }
            bytes.extend_from_slice(element);
            self.push_offset(bytes.len(), &mut offsets)
        })?;
        let at_end = self.settings.location == IndexLocation::End;
        if at_end {
            self.data.encode(&bytes, &VlenBuffer::new(), encoded).map_err(|e| e.at("data"))?;
        }
        let start = encoded.len();
        if !at_end {
            encoded.extend_from_slice(&[0; 8]);
        }
        let before = encoded.len();
        let options = EncodeOptions { store_empty_chunks: true };
        let view = View::contiguous(&offsets, self.index.chunk().shape(), self.word());
        self.index.encode(&view, options, encoded).map_err(|e| e.at("index"))?;
        let length = ((encoded.len() - before) as u64).to_le_bytes();
        if at_end {
            encoded.extend_from_slice(&length);
        } else {
            encoded[start..before].copy_from_slice(&length);
            self.data.encode(&bytes, &VlenBuffer::new(), encoded).map_err(|e| e.at("data"))?;
        }
        Ok(true)
    }
}

impl VlenCodec {
    fn word(&self) -> usize {
        self.index.chunk().item()
    }

    /// Appends an offset to the index, in the data type of the index.
    fn push_offset(&self, offset: usize, offsets: &mut Vec<u8>) -> Result<(), CodecError> {
        if self.settings.wide {
            offsets.extend_from_slice(&(offset as u64).to_ne_bytes());
            return Ok(());
        }
        let offset = u32::try_from(offset).map_err(|_| {
            CodecError::unsupported("more than 4 GiB in a chunk need the 'index_data_type' \"uint64\"")
        })?;
        offsets.extend_from_slice(&offset.to_ne_bytes());
        Ok(())
    }

    fn decode_part(&self, encoded: &[u8], mut part: ReadRegion<'_>) -> Result<(), CodecError> {
        let (index, data) = self.split(encoded)?;
        let lengths = self.lengths(index).map_err(|e| e.at("index"))?;
        let size = lengths.iter().try_fold(0_usize, |size, &length| size.checked_add(length));
        let size = size.filter(|&size| size <= self.limit).ok_or_else(|| {
            CodecError::limit(format!("one chunk would take more than the limit of {} bytes", self.limit))
        })?;
        let bytes = self.decode_data(data, size).map_err(|e| e.at("data"))?;
        let mut elements = Vec::with_capacity(lengths.len());
        let mut rest = bytes.as_slice();
        for &length in &lengths {
            let (element, later) = rest.split_at(length);
            elements.push(element);
            rest = later;
        }
        if !part.covers(self.chunk.shape()) {
            return fill(&self.chunk, &elements, part, |element, bytes| {
                bytes.extend_from_slice(element);
                if self.text { check_utf8(element) } else { Ok(()) }
            });
        }
        if self.text {
            let mut checked = elements.iter().enumerate();
            checked
                .try_for_each(|(i, element)| check_utf8(element).map_err(|e| e.at(format!("element {i}"))))?;
        }
        part.out.set_elements(bytes, lengths)
    }

    /// Decodes the concatenated bytes of all elements. `size` is their length according to the index.
    fn decode_data(&self, encoded: &[u8], size: usize) -> Result<Vec<u8>, CodecError> {
        let usual = self.data.usual();
        if !is_trusted(size, encoded)
            && let Some(decoded) = usual.decode_any_number(encoded)
        {
            let decoded = decoded?;
            if decoded.len() == size {
                return Ok(decoded.to_vec());
            }
            let message = format!("the elements have {size} bytes, but {} are stored", decoded.len());
            return Err(CodecError::corrupt(message));
        }
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(size)?;
        bytes.resize(size, 0);
        self.data.decode(encoded, &mut bytes, &VlenBuffer::new())?;
        Ok(bytes)
    }

    /// Returns the encoded index and the encoded bytes.
    fn split<'e>(&self, encoded: &'e [u8]) -> Result<(&'e [u8], &'e [u8]), CodecError> {
        let at_end = self.settings.location == IndexLocation::End;
        let length = if at_end {
            encoded.split_last_chunk()
        } else {
            encoded.split_first_chunk().map(|(a, b)| (b, a))
        };
        let (rest, length) = length.ok_or_else(|| truncated(encoded.len()))?;
        let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
        let parts = if at_end {
            rest.len()
                .checked_sub(length)
                .map(|middle| rest.split_at(middle))
                .map(|(data, index)| (index, data))
        } else {
            rest.split_at_checked(length)
        };
        parts.ok_or_else(|| {
            CodecError::corrupt(format!(
                "the header gives the index {length} bytes, but {} are stored",
                rest.len()
            ))
        })
    }

    /// Returns the length of each element in bytes.
    fn lengths(&self, encoded: &[u8]) -> Result<Vec<usize>, CodecError> {
        let shape = self.index.chunk().shape();
        let mut index = Scratch::with_len(self.index.chunk().size())?;
        let region = shape.iter().map(|&length| Span::all(length)).collect();
        let out = ViewMut::contiguous(&mut index, shape, self.word());
        self.index.decode(encoded, ReadRegion::new(region, out))?;
        let offsets: Vec<u64> = if self.settings.wide {
            index.as_chunks().0.iter().map(|offset| u64::from_ne_bytes(*offset)).collect()
        } else {
            index.as_chunks().0.iter().map(|offset| u32::from_ne_bytes(*offset).into()).collect()
        };
        if offsets.first() != Some(&0) {
            return Err(CodecError::corrupt("the first element does not begin at 0"));
        }
        let length =
            |pair: &[u64]| pair[1].checked_sub(pair[0]).and_then(|length| usize::try_from(length).ok());
        let lengths = offsets.windows(2).enumerate().map(|(i, pair)| {
            length(pair).ok_or_else(|| {
                CodecError::corrupt(format!("element {i} begins at {} and ends at {}", pair[0], pair[1]))
            })
        });
        lengths.collect()
    }
}

#[cfg(test)]
mod tests {
    use zarrox_core::Strictness;
    use zarrox_core::json::Json;
    use zarrox_testkit::codec::Random;
    use zarrox_testkit::variable::variable_suite;

    use super::*;
    use crate::testing::{chain, hex, spec};
    use crate::{Crc32c, registry};
    use zarrox_core::ErrorKind;
    use zarrox_testkit::errors::assert_error;

    #[test]
    fn suite() {
        let element = |random: &mut Random| {
            let length = random.below(6);
            random.bytes(length)
        };
        let checked = || [Bytes::little().into(), Crc32c::default().into()];
        for vlen in [
            ZarrsVlen::default(),
            ZarrsVlen::default().narrow_index().index_location(IndexLocation::End),
            ZarrsVlen::default().data_codecs(checked()).index_codecs(checked()),
        ] {
            variable_suite(&registry(), &[vlen.clone().into()], element);
            variable_suite(&registry(), &[vlen.into(), Crc32c::default().into()], element);
        }
    }

    fn make(
        shape: &[u64],
        configuration: Json,
        data_type: &str,
        strictness: Strictness,
    ) -> Result<CodecChain, String> {
        let registry = registry();
        let data_type = DataType::parse(data_type, &registry).unwrap();
        let chunk =
            ChunkSpec::new(shape, Storage::Variable, FillValue::new(*b"x")).unwrap().of_type(&data_type);
        chain(&[spec(NAME, configuration)], &chunk, &registry, strictness).map_err(|e| e.to_string())
    }

    fn decode(chain: &CodecChain, encoded: &[u8]) -> Result<Vec<Vec<u8>>, String> {
        let vlen = VlenBuffer::new();
        let mut memory = vec![0; chain.chunk().size()];
        let region = chain.chunk().shape().iter().map(|&length| Span::all(length)).collect();
        let out = chain.chunk().view_mut(&mut memory, &vlen);
        chain.decode(encoded, ReadRegion::new(region, out)).map_err(|e| e.to_string())?;
        let mut elements = Vec::new();
        let all = chain.chunk().view(&memory, &vlen).for_each_element(|element| {
            elements.push(element.to_vec());
            Ok::<_, ()>(())
        });
        all.unwrap();
        Ok(elements)
    }

    fn with(data: &[&str], index_type: &str, location: Option<&str>) -> Json {
        let named = |names: &[&str]| {
            let one = |name: &&str| match *name {
                "bytes" => json!({"name": "bytes", "configuration": {"endian": "little"}}),
                "gzip" => json!({"name": "gzip", "configuration": {"level": 5}}),
                name => json!({"name": name}),
            };
            names.iter().map(one).collect::<Vec<_>>()
        };
        let mut json = json!({"data_codecs": named(data), "index_codecs": named(&["bytes", "crc32c"]),
            "index_data_type": index_type});
        if let Some(location) = location {
            json["index_location"] = location.into();
        }
        json
    }

    /// The elements of the golden chunks.
    const TEXTS: [&str; 4] = ["a", "", "héllo", "zarr"];

    #[test]
    fn golden() {
        // zarrs 0.23.14: `Array::store_chunk` of `TEXTS` in a chunk of [2, 2], of empty strings, and of two byte strings.
        let narrow = "1800000000000000000000000100000001000000070000000b0000002b6087116168c3a96c6c6f7a617272";
        let empty = "180000000000000000000000000000000000000000000000000000003e56c5bc";
        let bytes = "10000000000000000000000002000000030000002ac63adb616263b73f4b36";
        let gzip = "1f8b08000000000000ff4bcc38bc322727bf2ab1a808001d9c72ca0b0000000000000000000000010000000000\
            0000010000000000000007000000000000000b0000000000000033ea35922c00000000000000";
        let start = Some("start");
        let cases = [
            (with(&["bytes"], "uint32", None), "string", TEXTS.to_vec(), narrow, true),
            (with(&["bytes", "crc32c"], "uint32", start), "string", vec![""; 4], empty, true),
            (with(&["bytes", "crc32c"], "uint32", start), "bytes", vec!["ab", "c"], bytes, true),
            // A different implementation of the compressor produces different bytes.
            (with(&["bytes", "gzip"], "uint64", Some("end")), "string", TEXTS.to_vec(), gzip, false),
        ];
        for (configuration, data_type, elements, golden, same) in cases {
            let chain = make(&[elements.len() as u64], configuration, data_type, Strictness::Strict).unwrap();
            let found = decode(&chain, &hex(golden)).unwrap();
            assert_eq!(found, elements.iter().map(|text| text.as_bytes()).collect::<Vec<_>>());
            let (vlen, mut memory) = (VlenBuffer::new(), vec![0; chain.chunk().size()]);
            let lengths = elements.iter().map(|text| text.len());
            let mut view = chain.chunk().view_mut(&mut memory, &vlen);
            view.set_elements(elements.concat().into_bytes(), lengths).unwrap();
            let mut encoded = Vec::new();
            chain
                .encode(&chain.chunk().view(&memory, &vlen), EncodeOptions::default(), &mut encoded)
                .unwrap();
            assert!(!same || encoded == hex(golden));
        }
    }

    #[test]
    fn damaged_chunks_say_why() {
        let plain = json!({"data_codecs": ["bytes"], "index_codecs": ["bytes"], "index_data_type": "uint32"});
        let chain = make(&[2], plain, "string", Strictness::Lenient).unwrap();
        let chunk = |length: u64, offsets: [u32; 3], data: &[u8]| {
            [&length.to_le_bytes()[..], offsets.map(u32::to_le_bytes).as_flattened(), data].concat()
        };
        assert_eq!(decode(&chain, &chunk(12, [0, 1, 3], b"abc")).unwrap(), [&b"a"[..], b"bc"]);
        for (bad, says) in [
            (vec![0; 7], "truncated: 7 bytes are not enough"),
            (
                chunk(u64::MAX, [0, 1, 3], b"abc"),
                "gives the index 18446744073709551615 bytes, but 15 are stored",
            ),
            (chunk(8, [0, 1, 3], b"abc"), "index: codec 'bytes': truncated"),
            (chunk(12, [1, 2, 3], b"abc"), "index: the first element does not begin at 0"),
            (chunk(12, [0, 4, 3], b"abc"), "index: element 1 begins at 4 and ends at 3"),
            (
                chunk(12, [0, 1, 4], b"abc"),
                "data: codec 'bytes': truncated: 3 bytes are stored, but a chunk has 4",
            ),
            (chunk(12, [0, 1, 2], b"abc"), "data: codec 'bytes': too long"),
            (chunk(12, [0, 0, 0], b"abc"), "data: 3 bytes are stored, but the chunk has no elements"),
            (chunk(12, [0, 1, u32::MAX], b"abc"), "more than the limit"),
            (chunk(12, [0, 1, 3], b"a\xc3b"), "element 1: is not UTF-8"),
        ] {
            let error = decode(&chain, &bad).unwrap_err();
            assert!(error.starts_with("codec 'zarrs.vlen': ") && error.contains(says), "{error}");
        }
    }

    #[test]
    fn configurations() {
        let complete = with(&["bytes"], "uint64", Some("end"));
        for alias in DEF.aliases {
            let chunk = ChunkSpec::new(&[2], Storage::Variable, FillValue::new([])).unwrap();
            let chain = |strictness| chain(&[spec(alias, complete.clone())], &chunk, &registry(), strictness);
            assert_eq!(chain(Strictness::Lenient).unwrap().specs()[0].name, NAME);
            assert_error(
                chain(Strictness::Strict),
                ErrorKind::InvalidMetadata,
                "an alias of the codec 'zarrs.vlen'",
            );
        }
        let configured =
            |json: Json| make(&[2], json, "bytes", Strictness::Lenient).map(|chain| chain.specs().remove(0));
        let start = configured(with(&["bytes"], "uint32", None)).unwrap();
        assert_eq!(start.configuration["index_location"], "start");
        let without = |name: &str| {
            let mut json = complete.clone();
            json.as_object_mut().unwrap().remove(name);
            configured(json).unwrap_err()
        };
        assert!(without("data_codecs").ends_with("the configuration lacks 'data_codecs'"));
        assert!(without("index_codecs").ends_with("the configuration lacks 'index_codecs'"));
        assert!(without("index_data_type").ends_with("the configuration lacks 'index_data_type'"));
        let changed = |name: &str, value: Json| {
            let mut json = complete.clone();
            json[name] = value;
            configured(json).unwrap_err()
        };
        assert!(changed("index_data_type", json!("uint16")).contains("one of uint32, uint64"));
        assert!(changed("index_location", json!("middle")).contains("one of start, end"));
        assert!(
            changed("data_codecs", json!([])).contains("'data_codecs': no codec turns the array into bytes")
        );
        assert!(
            changed("index_codecs", json!(["nosuch"])).contains("'index_codecs': unknown codec 'nosuch'")
        );
        let number = ChunkSpec::new(&[2], Storage::Uint(1), FillValue::zero(1)).unwrap();
        assert_error(
            chain(&[spec(NAME, complete.clone())], &number, &registry(), Strictness::Lenient),
            ErrorKind::InvalidMetadata,
            "have a fixed length",
        );
        let huge = make(&[1 << 40], complete.clone(), "bytes", Strictness::Lenient).unwrap_err();
        assert!(huge.contains("the index takes"), "{huge}");
    }
}
