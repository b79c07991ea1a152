//! `crc32c`: a checksum beside the bytes.
//!
//! Specification: <https://zarr-specs.readthedocs.io/en/latest/v3/codecs/crc32c/index.html>
//!
//! There is no configuration. Leniently, and in v2, `location` may be `"start"` or `"end"`, which is the default.
//!
//! Names: `crc32c` in v3 (also `numcodecs.crc32c`), `crc32c` in v2.
//!
//! Encoded bytes: the bytes themselves, then their CRC32C as a little-endian `u32` (or the other way round).

use serde_json::json;
use zarrox_core::codec::{
    BytesToBytes, Codec, CodecContext, CodecDef, CodecKind, CodecSpec, Envelope, Size, same_to_v2,
};
use zarrox_core::error::CodecError;
use zarrox_core::json::{Json, Map};

use crate::{config, too_large, truncated};

/// The definition of `crc32c`.
pub(crate) static DEF: CodecDef = CodecDef {
    name: "crc32c",
    aliases: &["numcodecs.crc32c"],
    v2_id: Some("crc32c"),
    kind: CodecKind::BytesToBytes,
    create,
    from_v2,
    to_v2: same_to_v2,
};

/// A CRC32C checksum after the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Crc32c {
    at_start: bool,
}

impl From<Crc32c> for CodecSpec {
    fn from(crc32c: Crc32c) -> Self {
        Self { name: DEF.name.to_owned(), configuration: crc32c.configuration() }
    }
}

fn create(configuration: &Map, context: &CodecContext<'_>) -> Result<Codec, CodecError> {
    let config = config::read(configuration, context, &["location"])?;
    if config.is_strict() && !configuration.is_empty() {
        return Err(CodecError::invalid("unknown member 'location': this codec has no configuration"));
    }
    let at_start = match config.get("location") {
        None => false,
        Some(_) => config.choice("location", &[("start", true), ("end", false)], false)?,
    };
    Ok(Codec::BytesToBytes(Box::new(Crc32c { at_start })))
}

fn from_v2(members: &Map, _: usize) -> Result<Map, CodecError> {
    let location = members.get("location").filter(|json| json.as_str() != Some("end") && !json.is_null());
    Ok(location.map(|json| ("location".to_owned(), json.clone())).into_iter().collect())
}

impl BytesToBytes for Crc32c {
    fn configuration(&self) -> Map {
        // Only v2 has checksums in front: there is no other way to say it.
        config::members(if self.at_start { json!({"location": "start"}) } else { Json::Null })
    }

    fn encoded_size(&self, decoded: Size) -> Size {
        decoded.plus(4)
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<(), CodecError> {
        let checksum = crc32c::crc32c(decoded).to_le_bytes();
        encoded.reserve(decoded.len() + checksum.len());
        let (first, last) = if self.at_start { (&checksum[..], decoded) } else { (decoded, &checksum[..]) };
        encoded.extend_from_slice(first);
        encoded.extend_from_slice(last);
        Ok(())
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<usize, CodecError> {
        let plain = self.check(encoded)?;
        let room = decoded.len();
        decoded.get_mut(..plain.len()).ok_or_else(|| too_large(room))?.copy_from_slice(plain);
        Ok(plain.len())
    }

    fn envelope(&self) -> Option<Envelope> {
        Some(if self.at_start { Envelope { before: 4, after: 0 } } else { Envelope { before: 0, after: 4 } })
    }

    fn decode_borrowed<'e>(&self, encoded: &'e [u8]) -> Option<Result<&'e [u8], CodecError>> {
        Some(self.check(encoded))
    }
}

impl Crc32c {
    /// The bytes without the checksum, when it is theirs.
    fn check<'e>(&self, encoded: &'e [u8]) -> Result<&'e [u8], CodecError> {
        let parts = if self.at_start {
            encoded.split_first_chunk::<4>().map(|(checksum, plain)| (plain, checksum))
        } else {
            encoded.split_last_chunk::<4>()
        };
        let (plain, stored) = parts.ok_or_else(|| truncated(encoded.len()))?;
        let (computed, stored) = (crc32c::crc32c(plain), u32::from_le_bytes(*stored));
        if computed == stored {
            return Ok(plain);
        }
        Err(CodecError::corrupt(format!("the checksum is {computed:08x}, {stored:08x} is stored")))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use zarrox_core::data_type::Mode;
    use zarrox_testkit::codec::{Integrity, bytes_to_bytes_suite};

    use super::*;
    use crate::registry;
    use crate::testing::{configured, decode, hex, make, spec, through_v2};

    #[test]
    fn suite() {
        bytes_to_bytes_suite(&registry(), &Crc32c::default().into(), Integrity::Checked);
    }

    #[test]
    fn golden() {
        // `numcodecs.CRC32C()` and `CRC32C(location='start')` of the `u16` numbers 0 to 15.
        let data: Vec<u8> = (0..16_u16).flat_map(u16::to_le_bytes).collect();
        let encoded = [data.clone(), hex("268b10f3")].concat();
        assert_eq!(decode("crc32c", &encoded, 32).unwrap(), data);
        let mut ours = Vec::new();
        Crc32c::default().encode(&data, &mut ours).unwrap();
        assert_eq!(ours, encoded);
        let start = make(&spec("crc32c", json!({"location": "start"})), Mode::Lenient).unwrap();
        ours.clear();
        start.encode(&data, &mut ours).unwrap();
        assert_eq!(ours, [hex("268b10f3"), data.clone()].concat());
        assert_eq!(start.decode_borrowed(&ours).unwrap().unwrap(), data);
    }

    #[test]
    fn a_wrong_checksum_says_both() {
        let error = decode("crc32c", &hex("616263b73f4b37"), 3).unwrap_err().to_string();
        assert_eq!(error, "the checksum is 364b3fb7, 374b3fb7 is stored");
    }

    #[test]
    fn configurations() {
        assert_eq!(configured("crc32c", json!({}), Mode::Strict).unwrap(), json!({}));
        assert_eq!(configured("crc32c", json!({"location": "end"}), Mode::Lenient).unwrap(), json!({}));
        let error = configured("crc32c", json!({"location": "end"}), Mode::Strict).unwrap_err();
        assert!(error.contains("location"), "{error}");
        let start = json!({"location": "start"});
        assert_eq!(through_v2("crc32c", start.clone(), 2), (start.clone(), start));
        assert_eq!(through_v2("crc32c", json!({}), 2).1, json!({}));
    }
}
