//! The shared implementation of all checksums: four bytes before or after the bytes that they cover.
//!
//! A checksum is a small module with a type that implements [`Checksum`]. [`Checked`] turns it into a codec.

use std::fmt;

use zarrox_core::CodecSpec;
use zarrox_core::codec::{BytesAccess, BytesToBytes, Codec, CodecError, Size};
use zarrox_core::internals::codec::{Framed, Framing};
use zarrox_core::json::{Json, Map};

use crate::config::Config;
use crate::error::too_large;
use crate::error::truncated;

/// The size of a checksum, in bytes.
const SIZE: usize = 4;

/// The location of a checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChecksumLocation {
    /// Before the bytes.
    Start,
    /// After the bytes.
    End,
}

impl ChecksumLocation {
    /// Reads the member `location`, if present.
    pub(crate) fn read(config: Config<'_>) -> Result<Option<Self>, CodecError> {
        let choices = [("start", Self::Start), ("end", Self::End)];
        config.get("location").map(|_| config.choice("location", &choices, Self::Start)).transpose()
    }

    /// Returns the member `location`, if it was given.
    pub(crate) fn to_members(said: Option<Self>) -> Map {
        let name = said.map(|location| match location {
            Self::Start => "start",
            Self::End => "end",
        });
        name.map(|name| ("location".to_owned(), Json::from(name))).into_iter().collect()
    }

    /// Converts v2 members. In v2, `null` has the same meaning as an absent member.
    pub(crate) fn from_v2(members: &Map) -> Map {
        let said = members.get("location").filter(|json| !json.is_null());
        said.map(|json| ("location".to_owned(), json.clone())).into_iter().collect()
    }
}

/// A configured checksum of 32 bits.
pub(crate) trait Checksum: fmt::Debug + Send + Sync + 'static {
    /// Returns the complete configuration.
    fn configuration(&self) -> Map;

    /// Returns the location of the checksum. A checksum is stored in little-endian order.
    fn location(&self) -> ChecksumLocation;

    /// Returns the checksum of some bytes.
    fn compute(&self, bytes: &[u8]) -> u32;

    /// See [`BytesToBytes::name`].
    fn name(&self) -> Option<&'static str> {
        None
    }
}

/// A codec that stores a checksum with the bytes and verifies it.
#[derive(Debug)]
pub(crate) struct Checked<C>(C);

impl<C: Checksum> Checked<C> {
    /// Creates the codec.
    pub(crate) fn codec(checksum: C) -> Codec {
        Codec::BytesToBytes(Box::new(Self(checksum)))
    }

    fn place(&self) -> Framing {
        match self.0.location() {
            ChecksumLocation::Start => Framing { before: SIZE, after: 0 },
            ChecksumLocation::End => Framing { before: 0, after: SIZE },
        }
    }

    /// Returns the bytes and their stored checksum.
    fn split<'e>(&self, encoded: &'e [u8]) -> Result<(&'e [u8], u32), CodecError> {
        let parts = match self.0.location() {
            ChecksumLocation::Start => encoded.split_first_chunk().map(|(stored, bytes)| (bytes, stored)),
            ChecksumLocation::End => encoded.split_last_chunk(),
        };
        let (bytes, stored) = parts.ok_or_else(|| truncated(encoded.len()))?;
        Ok((bytes, u32::from_le_bytes(*stored)))
    }

    fn verify(&self, bytes: &[u8], stored: u32) -> Result<(), CodecError> {
        let computed = self.0.compute(bytes);
        if computed == stored {
            return Ok(());
        }
        Err(CodecError::corrupt(format!("the checksum is {computed:08x}, but {stored:08x} is stored")))
    }

    /// Returns the bytes if they match the checksum.
    fn check<'e>(&self, encoded: &'e [u8]) -> Result<&'e [u8], CodecError> {
        let (bytes, stored) = self.split(encoded)?;
        self.verify(bytes, stored)?;
        Ok(bytes)
    }
}

impl<C: Checksum> BytesToBytes for Checked<C> {
    fn configuration(&self) -> Map {
        self.0.configuration()
    }

    fn name(&self) -> Option<&'static str> {
        self.0.name()
    }

    fn encoded_size(&self, decoded: Size) -> Size {
        decoded.plus(SIZE)
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<(), CodecError> {
        let checksum = self.0.compute(decoded).to_le_bytes();
        encoded.try_reserve(decoded.len() + SIZE)?;
        let (first, last) = match self.0.location() {
            ChecksumLocation::Start => (checksum.as_slice(), decoded),
            ChecksumLocation::End => (decoded, checksum.as_slice()),
        };
        encoded.extend_from_slice(first);
        encoded.extend_from_slice(last);
        Ok(())
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<usize, CodecError> {
        let bytes = self.check(encoded)?;
        let room = decoded.len();
        decoded.get_mut(..bytes.len()).ok_or_else(|| too_large(room))?.copy_from_slice(bytes);
        Ok(bytes.len())
    }

    fn decoded_size(&self, encoded: &[u8]) -> Option<usize> {
        encoded.len().checked_sub(SIZE)
    }

    fn access(&self) -> BytesAccess<'_> {
        BytesAccess::Framed(self)
    }
}

impl<C: Checksum> Framed for Checked<C> {
    fn unframed<'e>(&self, encoded: &'e [u8]) -> Result<Option<&'e [u8]>, CodecError> {
        self.check(encoded).map(Some)
    }

    fn framing(&self) -> Option<Framing> {
        Some(self.place())
    }
}

/// Returns the codec with this name and the configuration of a checksum.
pub(crate) fn spec(name: &str, checksum: &impl Checksum) -> CodecSpec {
    CodecSpec { name: name.to_owned(), configuration: checksum.configuration() }
}

/// The codecs that store a checksum of each chunk regardless of their configuration.
const CHECKED: [&str; 8] =
    ["crc32c", "crc32", "adler32", "fletcher32", "jenkins_lookup3", "gzip", "zlib", "bz2"];

/// Returns true if decoding detects any change to a chunk, because one of these codecs, or of the codecs of the inner chunks,
/// stores a checksum. Pipelines without a checksum only detect some changes, and decode others to wrong elements.
pub fn has_checksum(codecs: &[CodecSpec]) -> bool {
    codecs.iter().any(|codec| {
        let inner = codec.configuration.get("codecs").and_then(Json::as_array);
        let inner: Option<Vec<CodecSpec>> =
            inner.map(|list| list.iter().filter_map(CodecSpec::from_json).collect());
        match codec.name.strip_prefix("numcodecs.").unwrap_or(&codec.name) {
            "zstd" => codec.configuration.get("checksum") == Some(&Json::Bool(true)),
            name => CHECKED.contains(&name) || inner.is_some_and(|inner| has_checksum(&inner)),
        }
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use zarrox_core::Strictness;
    use zarrox_core::json::json;

    use super::*;
    use crate::testing::{configured, hex, make, spec, through_v2};

    /// Tests that `bytes` have this checksum, and that damage is reported.
    pub(crate) fn golden(
        name: &str,
        configuration: Json,
        bytes: &[u8],
        checksum: &str,
        at: ChecksumLocation,
    ) {
        let what = format!("{name} {configuration}");
        let codec = make(&spec(name, configuration), Strictness::Lenient).unwrap();
        let stored = hex(checksum);
        let (framing, whole) = match at {
            ChecksumLocation::Start => (Framing { before: 4, after: 0 }, [&stored[..], bytes].concat()),
            ChecksumLocation::End => (Framing { before: 0, after: 4 }, [bytes, &stored[..]].concat()),
        };
        let BytesAccess::Framed(framed) = codec.access() else { panic!("{what}") };
        assert_eq!(framed.framing(), Some(framing), "{what}");
        let mut encoded = Vec::new();
        codec.encode(bytes, &mut encoded).unwrap();
        assert_eq!(encoded, whole, "{what}");
        assert_eq!(framed.unframed(&whole).unwrap().unwrap(), bytes, "{what}");
        assert_eq!(codec.decoded_size(&whole), Some(bytes.len()), "{what}");
        let right = u32::from_le_bytes(stored.try_into().unwrap());
        encoded[framing.after.min(1) * bytes.len()] ^= 0x10;
        let error = codec.decode(&encoded, &mut vec![0; bytes.len()]).unwrap_err().to_string();
        assert_eq!(
            error,
            format!("the checksum is {right:08x}, but {:08x} is stored", right ^ 0x10),
            "{what}"
        );
        let error = codec.decode(&encoded[..3], &mut []).unwrap_err().to_string();
        assert!(error.contains("truncated"), "{what}: {error}");
    }

    /// The location is only written if it was given explicitly.
    pub(crate) fn locations(name: &str, id: &str) {
        for said in [json!({}), json!({"location": "start"}), json!({"location": "end"})] {
            for strictness in [Strictness::Lenient, Strictness::Strict] {
                assert_eq!(configured(name, said.clone(), strictness).unwrap(), said);
            }
            assert_eq!(through_v2(id, said.clone(), 4), (said.clone(), said));
        }
        let null = json!({"location": null});
        assert_eq!(configured(name, null.clone(), Strictness::Lenient).unwrap(), json!({}));
        assert_eq!(through_v2(id, null, 4).0, json!({}));
        for wrong in [json!({"location": "middle"}), json!({"location": 4})] {
            let error = configured(name, wrong.clone(), Strictness::Lenient).unwrap_err();
            assert!(error.contains("one of start, end"), "{wrong}: {error}");
        }
    }
}
