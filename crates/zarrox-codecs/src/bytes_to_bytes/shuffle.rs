//! `numcodecs.shuffle`: stores the first bytes of all elements, then all second bytes, and so on, which compress better.
//!
//! Specification: <https://numcodecs.readthedocs.io/en/stable/filter/shuffle.html>
//!
//! | member | value |
//! |---|---|
//! | `elementsize` | the number of bytes of an element |
//!
//! Names: `numcodecs.shuffle` in v3, `shuffle` in v2. In v2, `elementsize` defaults to 4. In the lenient mode, an absent
//! `elementsize` in v3 is the size of the elements that reach the array→bytes codec, as in zarr-python; and a size below 1 counts
//! as 1, which leaves the bytes unchanged.
//!
//! Only whole elements can be encoded. numcodecs also rejects a remainder.

use zarrox_core::codec::{
    BytesAccess, BytesToBytes, Codec, CodecContext, CodecDef, CodecError, CodecKind, Size,
};
use zarrox_core::internals::codec::Framed;
use zarrox_core::json::Map;
use zarrox_core::json::json;
use zarrox_core::{CodecSpec, Strictness};

use crate::bytes_to_bytes::byte_planes::{join, split};
use crate::config;
use crate::error::too_large;

/// The definition of `numcodecs.shuffle`.
pub(crate) static DEF: CodecDef = CodecDef::new("numcodecs.shuffle", CodecKind::BytesToBytes, create)
    .v2_id("shuffle")
    .with_from_v2(|members, _| Ok(config::from_v2(members, json!({"elementsize": 4}))));

/// Groups the bytes of elements by their position within the element, so that they compress better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByteShuffle {
    element_size: u32,
}

impl ByteShuffle {
    /// Creates the codec for elements of this size in bytes.
    pub fn element_size(bytes: u32) -> Self {
        Self { element_size: bytes.max(1) }
    }

    fn item(self) -> usize {
        usize::try_from(self.element_size).unwrap_or(usize::MAX)
    }

    /// Checks that this number of bytes is a multiple of the element size.
    fn check(self, length: usize) -> Result<(), String> {
        if length.is_multiple_of(self.item()) {
            return Ok(());
        }
        Err(format!("{length} bytes are not a whole number of elements of {} bytes", self.element_size))
    }
}

impl From<ByteShuffle> for CodecSpec {
    fn from(shuffle: ByteShuffle) -> Self {
        Self { name: DEF.name.to_owned(), configuration: shuffle.configuration() }
    }
}

fn create(configuration: &Map, context: &CodecContext<'_>) -> Result<Codec, CodecError> {
    let config = config::read(configuration, context, &["elementsize"])?;
    let lowest = if config.is_strict() { 1 } else { i32::MIN };
    let element_size = if context.strictness == Strictness::Lenient && config.get("elementsize").is_none() {
        default_element_size(context)?
    } else {
        config.integer("elementsize", lowest..=i32::MAX, 1)?.max(1).unsigned_abs()
    };
    Ok(Codec::BytesToBytes(Box::new(ByteShuffle::element_size(element_size))))
}

fn default_element_size(context: &CodecContext<'_>) -> Result<u32, CodecError> {
    let unclear =
        || CodecError::invalid("the configuration lacks 'elementsize', and the elements have no fixed size");
    let item = (!context.chunk.is_variable()).then_some(context.chunk.item());
    item.and_then(|item| u32::try_from(item).ok()).ok_or_else(unclear)
}

impl BytesToBytes for ByteShuffle {
    fn configuration(&self) -> Map {
        config::members(json!({"elementsize": self.element_size}))
    }

    fn encoded_size(&self, decoded: Size) -> Size {
        decoded
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<(), CodecError> {
        self.check(decoded.len()).map_err(CodecError::invalid)?;
        if self.element_size == 1 {
            encoded.extend_from_slice(decoded);
            return Ok(());
        }
        let start = encoded.len();
        encoded.resize(start + decoded.len(), 0);
        split(decoded, &mut encoded[start..], self.item());
        Ok(())
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<usize, CodecError> {
        self.check(encoded.len()).map_err(CodecError::corrupt)?;
        let room = decoded.len();
        let decoded = decoded.get_mut(..encoded.len()).ok_or_else(|| too_large(room))?;
        match self.element_size {
            1 => decoded.copy_from_slice(encoded),
            _ => join(encoded, decoded, self.item()),
        }
        Ok(encoded.len())
    }

    fn decoded_size(&self, encoded: &[u8]) -> Option<usize> {
        Some(encoded.len())
    }

    fn access(&self) -> BytesAccess<'_> {
        match self.element_size {
            1 => BytesAccess::Framed(self),
            _ => BytesAccess::Whole,
        }
    }
}

/// One-byte elements are unchanged.
impl Framed for ByteShuffle {
    fn unframed<'e>(&self, encoded: &'e [u8]) -> Result<Option<&'e [u8]>, CodecError> {
        Ok((self.element_size == 1).then_some(encoded))
    }
}

#[cfg(test)]
mod tests {
    use zarrox_core::data_type::Storage;
    use zarrox_testkit::codec::{Integrity, bytes_to_bytes_suite_of};

    use super::*;
    use crate::registry;
    use crate::testing::{chain, chunk, configured, make, spec, steps, through_v2};
    use zarrox_core::ErrorKind;
    use zarrox_testkit::errors::assert_error;

    #[test]
    fn suite() {
        for size in [1, 2, 3, 4, 8, 12, 16, 24] {
            let shuffle = ByteShuffle::element_size(size);
            bytes_to_bytes_suite_of(shuffle.item(), &registry(), &shuffle.into(), Integrity::Unchecked);
        }
    }

    #[test]
    fn as_numcodecs_stores_it() {
        // `numcodecs.Shuffle(elementsize=n).encode(bytes(range(24)))`
        let cases: [(i32, [u8; 24]); 7] = [
            (2, [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23]),
            (3, [0, 3, 6, 9, 12, 15, 18, 21, 1, 4, 7, 10, 13, 16, 19, 22, 2, 5, 8, 11, 14, 17, 20, 23]),
            (4, [0, 4, 8, 12, 16, 20, 1, 5, 9, 13, 17, 21, 2, 6, 10, 14, 18, 22, 3, 7, 11, 15, 19, 23]),
            (8, [0, 8, 16, 1, 9, 17, 2, 10, 18, 3, 11, 19, 4, 12, 20, 5, 13, 21, 6, 14, 22, 7, 15, 23]),
            (12, [0, 12, 1, 13, 2, 14, 3, 15, 4, 16, 5, 17, 6, 18, 7, 19, 8, 20, 9, 21, 10, 22, 11, 23]),
            (1, std::array::from_fn(|i| u8::try_from(i).unwrap())),
            (0, std::array::from_fn(|i| u8::try_from(i).unwrap())),
        ];
        let data: Vec<u8> = (0..24).collect();
        for (size, golden) in cases {
            let spec = spec(DEF.name, json!({"elementsize": size}));
            let codec = make(&spec, Strictness::Lenient).unwrap();
            let mut encoded = Vec::new();
            codec.encode(&data, &mut encoded).unwrap();
            assert_eq!(encoded, golden, "{size}");
            let mut decoded = [0; 24];
            assert_eq!(codec.decode(&golden, &mut decoded).unwrap(), 24, "{size}");
            assert_eq!(decoded, data.as_slice(), "{size}");
        }
    }

    #[test]
    fn a_remainder_is_an_error() {
        let codec = make(&ByteShuffle::element_size(7).into(), Strictness::Strict).unwrap();
        let error = codec.encode(&steps(), &mut Vec::new()).unwrap_err().to_string();
        assert_eq!(error, "2000 bytes are not a whole number of elements of 7 bytes");
        let error = codec.decode(&steps(), &mut [0; 2000]).unwrap_err().to_string();
        assert_eq!(error, "2000 bytes are not a whole number of elements of 7 bytes");
        let large =
            make(&ByteShuffle::element_size(i32::MAX.unsigned_abs()).into(), Strictness::Strict).unwrap();
        assert_error(
            large.decode(&steps(), &mut [0; 2000]),
            ErrorKind::Corrupt,
            "not a whole number of elements",
        );
        assert_eq!(large.decode(&[], &mut []).unwrap(), 0);
    }

    #[test]
    fn configurations() {
        let size = |size| json!({"elementsize": size});
        assert_eq!(configured(DEF.name, size(4), Strictness::Strict).unwrap(), size(4));
        assert_eq!(configured(DEF.name, size(-1), Strictness::Lenient).unwrap(), size(1));
        for wrong in [json!({}), size(0), json!({"elementsize": 4.0}), json!({"elementsize": null})] {
            assert!(configured(DEF.name, wrong, Strictness::Strict).unwrap_err().contains("elementsize"));
        }
        for wrong in [json!({"elementsize": "4"}), json!({"elementsize": 1_u64 << 40})] {
            assert!(configured(DEF.name, wrong, Strictness::Lenient).unwrap_err().contains("an integer"));
        }
        assert_eq!(through_v2("shuffle", json!({}), 8), (size(4), size(4)));
        assert_eq!(through_v2("shuffle", size(2), 8), (size(2), size(2)));
    }

    /// zarr-python 3.4.2 writes the size of the elements that reach the codec for `zarr.codecs.numcodecs.Shuffle()`, and
    /// interprets a configuration without a size in the same way.
    #[test]
    fn elements_say_their_size() {
        for (storage, bytes) in [(Storage::Uint(2), 2), (Storage::Complex(16), 16), (Storage::Raw(5), 5)] {
            let endian = if bytes == 5 { json!({}) } else { json!({"endian": "little"}) };
            let specs = [spec("bytes", endian), spec(DEF.name, json!({}))];
            let made = chain(&specs, &chunk(&[10], storage), &registry(), Strictness::Lenient).unwrap();
            assert_eq!(made.specs()[1], ByteShuffle::element_size(bytes).into());
        }
        let specs = [spec("vlen-utf8", json!({})), spec(DEF.name, json!({}))];
        let error =
            chain(&specs, &chunk(&[10], Storage::Variable), &registry(), Strictness::Lenient).unwrap_err();
        assert!(error.to_string().contains("have no fixed size"), "{error}");
    }
}
