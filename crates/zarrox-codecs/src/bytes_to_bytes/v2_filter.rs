//! `v2_filter`: applies a v2 filter to bytes instead of the elements of an array.
//!
//! | member | value |
//! |---|---|
//! | `filter` | the filter as in v3 metadata: one whose configuration contains its types, or `numcodecs.packbits` |
//!
//! Names: none. v2 metadata contains the filter itself, and v3 has no equivalent, so this name never occurs in metadata.
//!
//! A filter of numcodecs interprets its input as numbers of the filter's own `dtype`. If that is the data type of the array,
//! which is the usual case, the codec pipeline contains the filter itself and not this codec. This codec is for filters whose
//! input is the output of another codec (`[shuffle, delta]`), or whose byte order differs from that of the array (`>i4` elements,
//! and the `dtype` `<i4`).
//!
//! Bytes that do not decode to themselves are rejected. numcodecs would store them, and thus lose data.

use zarrox_core::codec::{BytesToBytes, Codec, CodecContext, CodecDef, CodecError, CodecKind, Size};
use zarrox_core::data_type::{Endian, Storage};
use zarrox_core::internals::scratch::Scratch;
use zarrox_core::json::json;
use zarrox_core::json::{Json, Map};
use zarrox_core::strided::{ViewMut, VlenBuffer};
use zarrox_core::{CodecSpec, DataType, Registry};

use crate::array_to_array::packbits_filter;
use crate::array_to_bytes::linear_chain::LinearChain;
use crate::config;
use crate::error::too_large;
use crate::numeric::filter::dtype::{self, Dtype};

/// The definition of `v2_filter`.
pub(crate) static DEF: CodecDef = CodecDef::new("v2_filter", CodecKind::BytesToBytes, create);

/// Applies a v2 filter to the bytes that the preceding codecs produce.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct V2Filter {
    filter: CodecSpec,
}

impl V2Filter {
    /// Creates the codec from a filter. The filter interprets the bytes as numbers of its own type.
    pub fn new(filter: impl Into<CodecSpec>) -> Self {
        Self { filter: filter.into() }
    }
}

impl From<V2Filter> for CodecSpec {
    fn from(codec: V2Filter) -> Self {
        Self::new(DEF.name, json!({"filter": config::codec_to_json(&codec.filter)}))
    }
}

fn create(configuration: &Map, context: &CodecContext<'_>) -> Result<Codec, CodecError> {
    let config = config::read(configuration, context, &["filter"])?;
    let json = config.get("filter").ok_or_else(|| config::missing("filter"))?;
    let filter = CodecSpec::from_json(json).ok_or_else(|| config::wrong("filter", json, "a codec"))?;
    let (seen, encoded) = types(&filter, context.registry)?;
    let data_type = DataType::of_storage(&seen.storage).ok_or_else(|| not_of_bytes(&filter.name))?;
    // The count of numbers in a chunk, if no preceding codec changes the number of bytes.
    let usual = context.chunk.size() / seen.storage.size();
    let bytes = bytes_codec(encoded.as_ref());
    let chain = LinearChain::new(vec![filter, bytes], &data_type, usual.max(1), context)?;
    let size = encoded.map(|dtype| dtype.storage.size());
    Ok(Codec::BytesToBytes(Box::new(FilterOfBytes { seen, size, chain })))
}

/// Returns the types of a filter's decoded and encoded numbers. The latter is `None` if the filter packs bits.
fn types(filter: &CodecSpec, registry: &Registry) -> Result<(Dtype, Option<Dtype>), CodecError> {
    let def = registry.codec(&filter.name).map_err(|error| CodecError::unsupported(error.to_string()))?;
    if def.name == packbits_filter::DEF.name {
        return Ok((Dtype { storage: Storage::Uint(1), endian: None }, None));
    }
    let member = |names: [&'static str; 2]| {
        let mut given = names.iter().filter_map(|name| Some((*name, filter.configuration.get(name)?)));
        let (name, json) = given.next().ok_or_else(|| not_of_bytes(def.name))?;
        dtype::read(name, json).map_err(|error| error.in_codec(def.name))
    };
    if def.kind != CodecKind::ArrayToArray {
        return Err(not_of_bytes(def.name));
    }
    Ok((member(["dtype", "decode_dtype"])?, Some(member(["astype", "encode_dtype"])?)))
}

fn not_of_bytes(name: &str) -> CodecError {
    CodecError::unsupported(format!(
        "the codec '{name}' has bytes as its input here, and its configuration does not name their data type"
    ))
}

/// Returns the codec that stores a filter's encoded numbers.
fn bytes_codec(encoded: Option<&Dtype>) -> CodecSpec {
    let endian = encoded.filter(|dtype| dtype.storage.word() > 1).map(Dtype::stored_order);
    CodecSpec::new("bytes", endian.map_or(Json::Null, |endian| json!({"endian": endian.name()})))
}

fn check_whole(length: usize, size: usize) -> Result<(), String> {
    if length.is_multiple_of(size) {
        return Ok(());
    }
    Err(format!("{length} bytes are not a whole number of elements of {size} bytes"))
}

/// The codec for any number of bytes.
#[derive(Debug)]
struct FilterOfBytes {
    /// The type of the numbers in the decoded bytes.
    seen: Dtype,
    /// The size of an encoded number in bytes; `None` if bits are packed.
    size: Option<usize>,
    /// The filter for any number of elements.
    chain: LinearChain,
}

impl BytesToBytes for FilterOfBytes {
    fn configuration(&self) -> Map {
        let filter = self.chain.usual().specs().into_iter().next();
        config::members(json!({"filter": filter.map(|spec| config::codec_to_json(&spec))}))
    }

    fn encoded_size(&self, decoded: Size) -> Size {
        let item = self.seen.storage.size();
        match decoded {
            Size::UNKNOWN => Size::UNKNOWN,
            Size::Exact(n) if n.is_multiple_of(item) => Size::Exact(self.encoded_length(n / item)),
            other => Size::AtMost(self.encoded_length(other.limit() / item)),
        }
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<(), CodecError> {
        check_whole(decoded.len(), self.seen.storage.size()).map_err(CodecError::invalid)?;
        let start = encoded.len();
        let mut numbers = Scratch::with_len(decoded.len())?;
        numbers.copy_from_slice(decoded);
        self.swap(&mut numbers);
        match (numbers.is_empty(), self.size) {
            (true, None) => encoded.push(0),
            _ => self.chain.encode(&numbers, &VlenBuffer::new(), encoded)?,
        }
        let length = self.decode(&encoded[start..], &mut numbers)?;
        if numbers.get(..length) == Some(decoded) {
            return Ok(());
        }
        Err(CodecError::invalid(
            "the filter has bytes as its input, which it would not restore exactly; put it before the codecs that produce bytes, \
             and on elements of the filter's own type",
        ))
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<usize, CodecError> {
        let length = self.decoded_length(encoded).map_err(CodecError::corrupt)?;
        let room = decoded.len();
        let decoded = decoded.get_mut(..length).ok_or_else(|| too_large(room))?;
        if length > 0 {
            self.chain.decode(encoded, decoded, &VlenBuffer::new())?;
            self.swap(decoded);
        }
        Ok(length)
    }

    fn decoded_size(&self, encoded: &[u8]) -> Option<usize> {
        self.decoded_length(encoded).ok()
    }
}

impl FilterOfBytes {
    fn encoded_length(&self, numbers: usize) -> usize {
        match self.size {
            Some(size) => numbers.saturating_mul(size),
            None => 1 + numbers.div_ceil(8),
        }
    }

    fn decoded_length(&self, encoded: &[u8]) -> Result<usize, String> {
        let Some(size) = self.size else {
            let length = packbits_filter::count(encoded);
            return length.ok_or_else(|| format!("{} bytes are not packed bits", encoded.len()));
        };
        check_whole(encoded.len(), size)?;
        Ok((encoded.len() / size).saturating_mul(self.seen.storage.size()))
    }

    /// Converts numbers from their own byte order to the machine's, or vice versa.
    fn swap(&self, numbers: &mut [u8]) {
        let storage = &self.seen.storage;
        if storage.word() > 1 && self.seen.stored_order() != Endian::NATIVE {
            let count = numbers.len() / storage.size();
            ViewMut::contiguous(numbers, &[count], storage.size()).reverse_words(storage.word());
        }
    }
}

#[cfg(test)]
mod tests {
    use zarrox_core::Strictness;
    use zarrox_testkit::codec::{Integrity, bytes_to_bytes_suite_of};

    use super::*;
    use crate::registry;
    use crate::testing::{configured, hex, make, spec};
    use crate::{BitRound, Categorize, Delta, FixedScaleOffset, PackBitsFilter, Transpose, Zlib};

    fn codec(filter: impl Into<CodecSpec>) -> Box<dyn BytesToBytes> {
        make(&V2Filter::new(filter).into(), Strictness::Strict).unwrap()
    }

    fn encoded(codec: &dyn BytesToBytes, decoded: &[u8]) -> Result<Vec<u8>, CodecError> {
        let mut encoded = Vec::new();
        codec.encode(decoded, &mut encoded).map(|()| encoded)
    }

    fn decoded(codec: &dyn BytesToBytes, encoded: &[u8], room: usize) -> Result<Vec<u8>, CodecError> {
        let mut decoded = vec![0; room];
        let length = codec.decode(encoded, &mut decoded)?;
        decoded.truncate(length);
        Ok(decoded)
    }

    #[test]
    fn suite() {
        for (size, filter) in [
            (1, Delta::new("|u1")),
            (1, Delta::new("|u1").stored_as("<u2")),
            (2, Delta::new(">u2")),
            (4, Delta::new("<i4").stored_as(">i8")),
            (8, Delta::new(">i8").stored_as("<i8")),
        ] {
            let filter = V2Filter::new(filter).into();
            bytes_to_bytes_suite_of(size, &registry(), &filter, Integrity::Unchecked);
        }
    }

    /// `codec.encode(numpy.arange(1, 13, dtype="u1") ** 2)`, of numcodecs 0.15.1.
    #[test]
    fn as_numcodecs_encodes_bytes() {
        let plain: Vec<u8> = (1..13).map(|number| number * number).collect();
        for (filter, expected) in [
            (CodecSpec::from(Delta::new("|u1")), "01030507090b0d0f11131517"),
            (Delta::new("|u1").stored_as("<i2").into(), "010003000500070009000b000d000f001100130015001700"),
            (Delta::new(">i4").into(), "010409101820283038404850"),
            (Delta::new(">i4").stored_as("<i8").into(), "100904010000000030282018000000005048403800000000"),
            (Delta::new("<u2").stored_as(">u4").into(), "0000040100000c080000141000001c180000242000002c28"),
            (
                FixedScaleOffset::new(">u2", 1.0, 1.0).stored_as("<f8").into(),
                "000000000030704000000000001ea240000000000023b94000000000809fc84000000000c058d44000000000c063de40",
            ),
        ] {
            let codec = codec(filter);
            let expected = hex(expected);
            assert_eq!(encoded(&*codec, &plain).unwrap(), expected, "{codec:?}");
            assert_eq!(decoded(&*codec, &expected, 12).unwrap(), plain, "{codec:?}");
            assert_eq!(codec.encoded_size(Size::Exact(12)), Size::Exact(expected.len()), "{codec:?}");
            assert_eq!(codec.decoded_size(&expected), Some(12), "{codec:?}");
        }
        let bits = codec(PackBitsFilter);
        let plain = [1, 0, 1, 1, 0, 0, 0, 1, 0, 1];
        assert_eq!(encoded(&*bits, &plain).unwrap(), [6, 0xb1, 0x40]);
        assert_eq!(decoded(&*bits, &[6, 0xb1, 0x40], 12).unwrap(), plain);
        assert_eq!(bits.encoded_size(Size::Exact(10)), Size::Exact(3));
    }

    #[test]
    fn no_bytes() {
        assert!(encoded(&*codec(Delta::new("<i4")), &[]).unwrap().is_empty());
        assert!(decoded(&*codec(Delta::new("<i4")), &[], 0).unwrap().is_empty());
        assert_eq!(encoded(&*codec(PackBitsFilter), &[]).unwrap(), [0]);
        assert!(decoded(&*codec(PackBitsFilter), &[0], 0).unwrap().is_empty());
    }

    #[test]
    fn sizes() {
        let wider = codec(Delta::new("<u2").stored_as("<i8"));
        assert_eq!(wider.encoded_size(Size::Exact(6)), Size::Exact(24));
        assert_eq!(wider.encoded_size(Size::Exact(7)), Size::AtMost(24), "which cannot be encoded");
        assert_eq!(wider.encoded_size(Size::AtMost(7)), Size::AtMost(24));
        let narrower = codec(Delta::new("<i8").stored_as("|i1"));
        assert_eq!(narrower.encoded_size(Size::UNKNOWN), Size::UNKNOWN);
    }

    #[test]
    fn partial_numbers_are_rejected() {
        let delta = codec(Delta::new("<i4").stored_as("<i2"));
        let error = encoded(&*delta, &[0; 6]).unwrap_err().to_string();
        assert!(error.contains("6 bytes are not a whole number of elements of 4 bytes"), "{error}");
        let error = decoded(&*delta, &[0; 3], 100).unwrap_err().to_string();
        assert!(error.contains("3 bytes are not a whole number of elements of 2 bytes"), "{error}");
        assert!(decoded(&*delta, &[0; 6], 11).unwrap_err().is_overflow());
        let bits = codec(PackBitsFilter);
        for damaged in [&[][..], &[1], &[8, 0], &[255, 0, 0], &[9, 0, 0]] {
            let error = decoded(&*bits, damaged, 100).unwrap_err().to_string();
            assert!(error.contains("are not packed bits"), "{damaged:?}: {error}");
        }
    }

    /// Elements that numcodecs stores but reads back as different elements are rejected.
    #[test]
    fn lossy_elements_are_rejected() {
        let refused = |filter: CodecSpec, plain: &[u8]| {
            let codec = codec(filter);
            let error = encoded(&*codec, plain).unwrap_err().to_string();
            assert!(error.contains("would not restore exactly"), "{codec:?}: {error}");
        };
        refused(PackBitsFilter.into(), &[0, 1, 2]);
        refused(FixedScaleOffset::new("|u1", 0.0, 0.5).into(), &[3, 4]);
        refused(Delta::new("<f4").into(), &hex("0000803fec78ad6000004040"));
    }

    #[test]
    fn configurations() {
        let complete = json!({"filter": {"name": "numcodecs.delta", "configuration": {"dtype": ">i4", "astype": "<i2"}}});
        assert_eq!(configured(DEF.name, complete.clone(), Strictness::Strict).unwrap(), complete);
        let alias = json!({"filter": {"name": "delta", "configuration": {"dtype": ">i4", "astype": "i2"}}});
        assert_eq!(configured(DEF.name, alias, Strictness::Lenient).unwrap(), complete);
        let of = |filter: CodecSpec| CodecSpec::from(V2Filter::new(filter)).configuration;
        for (configuration, named) in [
            (config::members(json!({})), "'filter'"),
            (config::members(json!({"filter": 1})), "'filter'"),
            (config::members(json!({"filter": "nosuch"})), "nosuch"),
            (config::members(json!({"filter": "numcodecs.delta", "more": 1})), "more"),
            (
                of(spec("numcodecs.delta", json!({"astype": "<i4"}))),
                "'numcodecs.delta' has bytes as its input here",
            ),
            (of(spec("numcodecs.delta", json!({"dtype": "<i4", "astype": "<M8[s]"}))), "'astype'"),
            (of(spec("numcodecs.delta", json!({"dtype": "|b1", "astype": "|b1"}))), "booleans"),
            (of(BitRound::keepbits(3).into()), "'numcodecs.bitround' has bytes as its input here"),
            (of(Categorize::labels(["a"]).fixed(2).into()), "'dtype'"),
            (of(Transpose::order([0]).into()), "'transpose' has bytes as its input here"),
            (of(Zlib::level(1).into()), "'numcodecs.zlib' has bytes as its input here"),
            (of(V2Filter::new(Delta::new("|u1")).into()), "'v2_filter' has bytes as its input here"),
        ] {
            let error = configured(DEF.name, configuration.clone().into(), Strictness::Strict).unwrap_err();
            assert!(error.contains(named), "{configuration:?}: {error}");
        }
    }
}
