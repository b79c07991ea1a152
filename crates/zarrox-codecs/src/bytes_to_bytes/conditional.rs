//! `conditional`: applies codecs only to some chunks. Each chunk records which codecs were applied.
//!
//! Specification: <https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/conditional>
//!
//! | member | value |
//! |---|---|
//! | `codecs` | the codecs, all of them bytes→bytes |
//! | `header_bits` | the number of bits in the header: a multiple of 8, by default the smallest that suffices |
//!
//! Name: `conditional` in v3; v2 does not have it.
//!
//! Encoded bytes: the header, in which the lowest bit of the first byte belongs to the first codec, followed by the bytes,
//! encoded with the codecs whose bits are set. The writer applies a codec only if this reduces the number of bytes. A codec that
//! never does, such as a checksum, therefore belongs beside `conditional`, not inside it.

use zarrox_core::CodecSpec;
use zarrox_core::codec::{
    BytesAccess, BytesToBytes, Codec, CodecContext, CodecDef, CodecError, CodecKind, Size,
};
use zarrox_core::internals::codec::Framed;
use zarrox_core::internals::scratch::{Scratch, with_vec};
use zarrox_core::json::Map;
use zarrox_core::json::json;

use crate::config::{self, codec_to_json};
use crate::error::too_large;
use crate::error::truncated;

const NAME: &str = "conditional";

/// The definition of `conditional`.
pub(crate) static DEF: CodecDef = CodecDef::new(NAME, CodecKind::BytesToBytes, create);

/// The maximum number of bits in a header. More codecs would indicate an error or an attack.
const MAX_BITS: i32 = 8 << 10;

/// Applies codecs only to chunks that they make smaller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conditional {
    codecs: Vec<CodecSpec>,
    header_bits: Option<u32>,
}

impl Conditional {
    /// Applies these bytes→bytes codecs conditionally.
    pub fn new(codecs: impl IntoIterator<Item = CodecSpec>) -> Self {
        Self { codecs: codecs.into_iter().collect(), header_bits: None }
    }

    /// Sets the number of bits in the header. It may exceed the number of codecs, so that more codecs can be added to the array
    /// later.
    #[must_use]
    pub fn header_bits(self, bits: u32) -> Self {
        Self { header_bits: Some(bits), ..self }
    }
}

impl From<Conditional> for CodecSpec {
    fn from(conditional: Conditional) -> Self {
        let bits = conditional
            .header_bits
            .map_or_else(|| header_size(&conditional.codecs) * 8, |bits| bits as usize);
        Self { name: NAME.to_owned(), configuration: members(&conditional.codecs, bits) }
    }
}

fn members(codecs: &[CodecSpec], header_bits: usize) -> Map {
    let codecs: Vec<_> = codecs.iter().map(codec_to_json).collect();
    config::members(json!({"codecs": codecs, "header_bits": header_bits}))
}

/// Returns the size of the header in bytes, which has one bit for each codec.
fn header_size<T>(codecs: &[T]) -> usize {
    codecs.len().div_ceil(8)
}

fn create(configuration: &Map, context: &CodecContext<'_>) -> Result<Codec, CodecError> {
    let config = config::read(configuration, context, &["codecs", "header_bits"])?;
    let specs = config.codecs("codecs", None)?;
    let mut codecs = Vec::with_capacity(specs.len());
    for spec in specs {
        match spec.create(context).map_err(|e| e.at("'codecs'"))? {
            (name, Codec::BytesToBytes(codec)) => codecs.push(Named { name, codec }),
            (name, _) => {
                let message = format!(
                    "'codecs': '{name}' works on arrays, but only codecs for bytes can be conditional"
                );
                return Err(CodecError::invalid(message));
            }
        }
    }
    let header = match config.get("header_bits") {
        None => header_size(&codecs),
        Some(json) => {
            let bits = config.integer("header_bits", 0..=MAX_BITS, 0)?;
            let bytes = usize::try_from(bits).ok().filter(|bits| bits % 8 == 0).map(|bits| bits / 8);
            bytes.filter(|&bytes| bytes >= header_size(&codecs)).ok_or_else(|| {
                let wants = format!("a multiple of 8, and a bit for each of {} codecs", codecs.len());
                config::wrong("header_bits", json, &wants)
            })?
        }
    };
    Ok(Codec::BytesToBytes(Box::new(ConditionalCodec { codecs, header, limit: context.limit })))
}

/// A codec, and its name for errors.
#[derive(Debug)]
struct Named {
    name: &'static str,
    codec: Box<dyn BytesToBytes>,
}

/// The codec for chunks of one shape and data type.
#[derive(Debug)]
struct ConditionalCodec {
    codecs: Vec<Named>,
    /// The length of the header, in bytes.
    header: usize,
    /// The maximum size of the intermediate bytes between two codecs.
    limit: usize,
}

impl BytesToBytes for ConditionalCodec {
    fn configuration(&self) -> Map {
        let spec = |named: &Named| CodecSpec {
            name: named.name.to_owned(),
            configuration: named.codec.configuration(),
        };
        members(&self.codecs.iter().map(spec).collect::<Vec<_>>(), self.header * 8)
    }

    /// Returns the maximum size, because other writers may apply any of the codecs to any chunk.
    fn encoded_size(&self, decoded: Size) -> Size {
        let largest =
            self.codecs.iter().fold(decoded.limit(), |size, Named { codec, .. }| largest(&**codec, size));
        Size::AtMost(largest).plus(self.header)
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<(), CodecError> {
        let start = encoded.len();
        encoded.resize(start + self.header, 0);
        with_vec(|best| {
            with_vec(|trial| {
                let mut applied = false;
                for (index, Named { name, codec }) in self.codecs.iter().enumerate() {
                    let bytes = if applied { best.as_slice() } else { decoded };
                    trial.clear();
                    codec.encode(bytes, trial).map_err(|e| e.in_codec(name))?;
                    if trial.len() < bytes.len() {
                        applied = true;
                        encoded[start + index / 8] |= 1 << (index % 8);
                        std::mem::swap(best, trial);
                    }
                }
                encoded.extend_from_slice(if applied { best } else { decoded });
                Ok(())
            })
        })
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<usize, CodecError> {
        let (applied, bytes) = self.applied(encoded)?;
        let Some((first, others)) = applied.split_first() else {
            let room = decoded.len();
            decoded.get_mut(..bytes.len()).ok_or_else(|| too_large(room))?.copy_from_slice(bytes);
            return Ok(bytes.len());
        };
        // The maximum number of input bytes for each of the other codecs.
        let mut sizes = vec![largest(&*first.codec, decoded.len())];
        sizes.extend(others.iter().scan(sizes[0], |size, named| {
            *size = largest(&*named.codec, *size);
            Some(*size)
        }));
        self.decode_others(bytes, others, &sizes, |bytes| {
            first.codec.decode(bytes, decoded).map_err(|e| e.in_codec(first.name))
        })
    }

    fn decoded_size(&self, encoded: &[u8]) -> Option<usize> {
        match self.applied(encoded).ok()? {
            (applied, bytes) if applied.is_empty() => Some(bytes.len()),
            (applied, bytes) if applied.len() == 1 => applied[0].codec.decoded_size(bytes),
            _ => None,
        }
    }

    fn access(&self) -> BytesAccess<'_> {
        BytesAccess::Framed(self)
    }
}

impl Framed for ConditionalCodec {
    fn unframed<'e>(&self, encoded: &'e [u8]) -> Result<Option<&'e [u8]>, CodecError> {
        let (applied, mut bytes) = self.applied(encoded)?;
        for named in applied.into_iter().rev() {
            match named.codec.access().unframed(bytes).map_err(|e| e.in_codec(named.name))? {
                Some(decoded) => bytes = decoded,
                None => return Ok(None),
            }
        }
        Ok(Some(bytes))
    }
}

impl ConditionalCodec {
    /// Returns the codecs that were applied, and the bytes after the header.
    fn applied<'e>(&self, encoded: &'e [u8]) -> Result<(Vec<&Named>, &'e [u8]), CodecError> {
        let (header, bytes) =
            encoded.split_at_checked(self.header).ok_or_else(|| truncated(encoded.len()))?;
        let is_set = |&bit: &usize| header[bit / 8] >> (bit % 8) & 1 == 1;
        if let Some(bit) = (self.codecs.len()..header.len() * 8).find(is_set) {
            let message = format!("codec {bit} was applied, but there are only {}", self.codecs.len());
            return Err(CodecError::corrupt(message));
        }
        Ok(((0..self.codecs.len()).filter(is_set).map(|index| &self.codecs[index]).collect(), bytes))
    }

    /// Decodes through all applied codecs except the first, and calls `work` with the result.
    fn decode_others<R>(
        &self,
        encoded: &[u8],
        others: &[&Named],
        sizes: &[usize],
        work: impl FnOnce(&[u8]) -> Result<R, CodecError>,
    ) -> Result<R, CodecError> {
        let Some((Named { name, codec }, before)) = others.split_last() else { return work(encoded) };
        if let Some(decoded) = codec.access().unframed(encoded).map_err(|e| e.in_codec(name))? {
            return self.decode_others(decoded, before, sizes, work);
        }
        let size = sizes[before.len()];
        if size > self.limit {
            let message = format!("it would take {size} bytes of memory, and the limit is {}", self.limit);
            return Err(CodecError::limit(message).in_codec(name));
        }
        let mut decoded = Scratch::with_len(size)?;
        let length = codec.decode(encoded, &mut decoded).map_err(|e| e.in_codec(name))?;
        decoded.truncate(length);
        self.decode_others(&decoded, before, sizes, work)
    }
}

/// Returns the maximum number of bytes that result from `size` bytes, whether or not a codec is applied.
fn largest(codec: &dyn BytesToBytes, size: usize) -> usize {
    size.max(codec.encoded_size(Size::AtMost(size)).limit())
}

#[cfg(test)]
mod tests {
    use zarrox_core::Strictness;
    use zarrox_core::json::Json;
    use zarrox_testkit::codec::{Integrity, array_suite, bytes_to_bytes_suite};

    use super::*;
    use crate::testing::{configured, hex, make, spec, steps};
    use crate::{Bytes, Bz2, Crc32c, Gzip, Zstd, registry};

    #[test]
    fn suite() {
        let registry = registry();
        let both = || [Zstd::level(1).into(), Gzip::level(1).into()];
        for conditional in [
            Conditional::new([]),
            Conditional::new(both()),
            Conditional::new(both()).header_bits(32),
            Conditional::new([Conditional::new([Bz2::level(1).into()]).into(), Crc32c::default().into()]),
        ] {
            bytes_to_bytes_suite(&registry, &conditional.clone().into(), Integrity::Unchecked);
            array_suite(&registry, &[&[7], &[40, 300]], Integrity::Checked, |_| {
                vec![Bytes::big().into(), conditional.clone().into(), Crc32c::default().into()]
            });
        }
    }

    #[test]
    fn golden() {
        // Created by hand from the specification, since no other implementation has this codec. The checksum was computed with
        // `crc32c`, and the gzip member with Python's `gzip.compress(b'abc', mtime=0)`.
        let specs = json!([{"name": "crc32c"}, {"name": "gzip", "configuration": {"level": 9}}]);
        let conditional = |bits| {
            make(&spec(NAME, json!({"codecs": specs, "header_bits": bits})), Strictness::Strict).unwrap()
        };
        let gzip = hex("1f8b08000000000002034b4c4a0600c241243503000000");
        for (bits, stored) in [
            (8, [&[0][..], b"abc"].concat()),
            (8, [&[1][..], b"abc", &hex("b73f4b36")].concat()),
            (8, [&[2][..], &gzip].concat()),
            (16, [&[2, 0][..], &gzip].concat()),
        ] {
            let mut decoded = [0; 3];
            assert_eq!(conditional(bits).decode(&stored, &mut decoded).unwrap(), 3);
            assert_eq!(&decoded, b"abc");
        }
        let mut encoded = Vec::new();
        conditional(16).encode(b"abc", &mut encoded).unwrap();
        assert_eq!(encoded, b"\0\0abc", "neither codec makes this few bytes smaller");
    }

    #[test]
    fn codecs_are_applied_where_they_help() {
        let nested = json!({"codecs": [{"name": "crc32c"}, {"name": "gzip", "configuration": {"level": 5}},
            {"name": "numcodecs.bz2", "configuration": {"level": 1}}]});
        let codec = make(&spec(NAME, nested), Strictness::Lenient).unwrap();
        let data = steps();
        let mut encoded = Vec::new();
        codec.encode(&data, &mut encoded).unwrap();
        assert_eq!(encoded[0], 0b010);
        assert!(encoded.len() < 100 && codec.access().unframed(&encoded).unwrap().is_none());
        let noise = zarrox_testkit::codec::Random::new(1).bytes(1000);
        let mut encoded = Vec::new();
        codec.encode(&noise, &mut encoded).unwrap();
        assert_eq!((encoded[0], &encoded[1..]), (0, noise.as_slice()));
        assert_eq!(codec.access().unframed(&encoded).unwrap().unwrap(), noise);
    }

    #[test]
    fn what_others_apply_is_decoded() {
        // All codecs were applied, although none of them reduces the number of bytes.
        let all =
            [Bz2::level(1).into(), Gzip::level(1).into(), Crc32c::default().into(), Zstd::level(1).into()];
        let noise = zarrox_testkit::codec::Random::new(2).bytes(50);
        let mut bytes = noise.clone();
        for spec in &all {
            let mut encoded = Vec::new();
            make(spec, Strictness::Lenient).unwrap().encode(&bytes, &mut encoded).unwrap();
            bytes = encoded;
        }
        let codec = make(&Conditional::new(all).into(), Strictness::Strict).unwrap();
        let stored = [&[0b1111], bytes.as_slice()].concat();
        assert!(codec.encoded_size(Size::Exact(50)).limit() >= stored.len());
        let mut decoded = vec![0; 50];
        assert_eq!(codec.decode(&stored, &mut decoded).unwrap(), 50);
        assert_eq!(decoded, noise);
    }

    #[test]
    fn damaged_headers_say_why() {
        let codec =
            make(&Conditional::new([Crc32c::default().into()]).header_bits(16).into(), Strictness::Strict)
                .unwrap();
        for (bad, says) in [
            (&[][..], "truncated: 0 bytes are not enough"),
            (&[0], "truncated: 1 bytes are not enough"),
            (&[2, 0, 1], "codec 1 was applied, but there are only 1"),
            (&[0, 128, 1], "codec 15 was applied, but there are only 1"),
            (&[1, 0, 1], "codec 'crc32c': truncated"),
        ] {
            let error = codec.decode(bad, &mut [0; 10]).unwrap_err().to_string();
            assert!(error.starts_with(says), "{error}");
        }
    }

    #[test]
    fn configurations() {
        let gzip = json!({"name": "gzip", "configuration": {"level": 1}});
        let many = |count: usize| vec![gzip.clone(); count];
        let configured = |json, strictness| configured(NAME, json, strictness);
        for (count, bits) in [(0, 0), (1, 8), (8, 8), (9, 16)] {
            let complete = json!({"codecs": many(count), "header_bits": bits});
            assert_eq!(configured(json!({"codecs": many(count)}), Strictness::Strict).unwrap(), complete);
        }
        let aliased = json!({"codecs": ["numcodecs.gzip"]});
        assert_eq!(configured(aliased.clone(), Strictness::Lenient).unwrap()["codecs"][0]["name"], "gzip");
        assert!(configured(aliased, Strictness::Strict).unwrap_err().contains("'codecs': 'numcodecs.gzip'"));
        let error = |codecs: Json, bits: Json| {
            configured(json!({"codecs": codecs, "header_bits": bits}), Strictness::Lenient).unwrap_err()
        };
        assert!(configured(json!({}), Strictness::Lenient).unwrap_err().ends_with("lacks 'codecs'"));
        assert!(error(json!(["bytes"]), json!(8)).contains("only codecs for bytes can be conditional"));
        assert!(error(json!(["nosuch"]), json!(8)).contains("'codecs': unknown codec 'nosuch'"));
        for bits in [json!(-8), json!(7), json!(1 << 20), json!(u64::MAX), json!("8")] {
            assert!(error(json!(many(1)), bits.clone()).contains("'header_bits' is"), "{bits}");
        }
        assert!(error(json!(many(9)), json!(8)).contains("a bit for each of 9 codecs"));
    }
}
