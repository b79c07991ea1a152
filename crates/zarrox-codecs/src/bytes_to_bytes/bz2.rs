//! `numcodecs.bz2`: bzip2.
//!
//! Specification: <https://numcodecs.readthedocs.io/en/stable/compression/bz2.html>
//!
//! | member | value |
//! |---|---|
//! | `level` | 1 to 9: the size of the blocks that are sorted, in units of 100 kB |
//!
//! Names: `numcodecs.bz2` in v3, `bz2` in v2. In the lenient mode, `level` defaults to 1.
//!
//! Files that consist of several streams can be read. The last stream may be followed by zeros.

use bzip2::Compression;
use bzip2::{Action, Compress, Decompress, Status};
use zarrox_core::CodecSpec;
use zarrox_core::codec::{BytesToBytes, Codec, CodecContext, CodecDef, CodecError, CodecKind, Size};
use zarrox_core::json::Map;
use zarrox_core::json::json;

use crate::config;
use crate::error::too_large;
use crate::error::truncated;

/// The definition of `numcodecs.bz2`.
pub(crate) static DEF: CodecDef = CodecDef::new("numcodecs.bz2", CodecKind::BytesToBytes, create)
    .aliases(&["bz2", "https://codec.zarrs.dev/bytes_to_bytes/bz2"])
    .v2_id("bz2")
    .with_from_v2(|members, _| Ok(config::from_v2(members, json!({"level": 1}))));

/// bzip2: high compression, but very slow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bz2 {
    level: i32,
}

impl Bz2 {
    /// Creates the codec with a compression level, 1 to 9 (smallest).
    pub fn level(level: i32) -> Self {
        Self { level }
    }
}

impl Default for Bz2 {
    fn default() -> Self {
        Self::level(1)
    }
}

impl From<Bz2> for CodecSpec {
    fn from(bz2: Bz2) -> Self {
        Self { name: DEF.name.to_owned(), configuration: bz2.configuration() }
    }
}

fn create(configuration: &Map, context: &CodecContext<'_>) -> Result<Codec, CodecError> {
    let config = config::read(configuration, context, &["level"])?;
    let level = config.integer("level", 1..=9, 1)?;
    Ok(Codec::BytesToBytes(Box::new(Bz2 { level })))
}

impl BytesToBytes for Bz2 {
    fn configuration(&self) -> Map {
        config::members(json!({"level": self.level}))
    }

    fn encoded_size(&self, decoded: Size) -> Size {
        decoded.compressed()
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<(), CodecError> {
        let mut stream = Compress::new(Compression::new(self.level.unsigned_abs()), 30);
        let mut rest = decoded;
        loop {
            // The library's upper bound, so that one call suffices.
            encoded.try_reserve(rest.len() + rest.len() / 100 + 600)?;
            let before = stream.total_in();
            let status = stream.compress_vec(rest, encoded, Action::Finish);
            let status = status.map_err(|error| {
                CodecError::invalid(format!("compression failed: {error}")).with_source(error)
            })?;
            if status == Status::StreamEnd {
                return Ok(());
            }
            rest = after(rest, stream.total_in() - before);
        }
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<usize, CodecError> {
        let (mut rest, mut length) = (encoded, 0);
        loop {
            let (read, written) = decode_stream(rest, &mut decoded[length..])?;
            rest = &rest[read..];
            length += written;
            if rest.iter().all(|&byte| byte == 0) {
                return Ok(length);
            }
        }
    }
}

/// Decodes one stream. Returns the number of bytes that were read and the number that were written.
fn decode_stream(encoded: &[u8], decoded: &mut [u8]) -> Result<(usize, usize), CodecError> {
    let mut stream = Decompress::new(false);
    let (mut read, mut written) = (0, 0);
    loop {
        let status = stream.decompress(&encoded[read..], &mut decoded[written..]);
        let status =
            status.map_err(|error| CodecError::corrupt(format!("damaged: {error}")).with_source(error))?;
        let (total_in, total_out) = (to_usize(stream.total_in()), to_usize(stream.total_out()));
        if status == Status::StreamEnd {
            return Ok((total_in, total_out));
        }
        // The library continues until it runs out of input or output space.
        if (total_in, total_out) == (read, written) || total_in == encoded.len() {
            let full = total_out == decoded.len() && total_in < encoded.len();
            return Err(if full { too_large(decoded.len()) } else { truncated(encoded.len()) });
        }
        (read, written) = (total_in, total_out);
    }
}

fn after(bytes: &[u8], count: u64) -> &[u8] {
    bytes.get(to_usize(count)..).unwrap_or_default()
}

fn to_usize(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use zarrox_core::Strictness;
    use zarrox_core::json::json;
    use zarrox_testkit::codec::{Integrity, bytes_to_bytes_suite};

    use super::*;
    use crate::registry;
    use crate::testing::{configured, decode, hex, steps, through_v2};

    #[test]
    fn suite() {
        for level in [1, 9] {
            bytes_to_bytes_suite(&registry(), &Bz2::level(level).into(), Integrity::Checked);
        }
    }

    #[test]
    fn golden() {
        // `numcodecs.BZ2(1)`
        let golden =
            hex("425a68313141592653597558a17e000000c0047fe004002000542290d0f5014aa31067fd5d91608b245a\
             22f08bd22f8831406280d4f50200bf1772453850907558a17e");
        assert_eq!(decode("numcodecs.bz2", &golden, 2000).unwrap(), steps());
        let mut encoded = Vec::new();
        Bz2::level(1).encode(&steps(), &mut encoded).unwrap();
        assert_eq!(encoded, golden);
        let two = [golden.repeat(2), vec![0; 3]].concat();
        assert_eq!(decode("numcodecs.bz2", &two, 4000).unwrap(), steps().repeat(2));
        let error = decode("numcodecs.bz2", &two, 3999).unwrap_err().to_string();
        assert!(error.contains("more than"), "{error}");
        let error = decode("numcodecs.bz2", &golden[..60], 2000).unwrap_err().to_string();
        assert!(error.contains("truncated"), "{error}");
    }

    #[test]
    fn configurations() {
        assert_eq!(configured("numcodecs.bz2", json!({}), Strictness::Lenient).unwrap(), json!({"level": 1}));
        assert!(
            configured("numcodecs.bz2", json!({"level": 0}), Strictness::Lenient)
                .unwrap_err()
                .contains("'level'")
        );
        assert_eq!(through_v2("bz2", json!({"level": 4}), 2), (json!({"level": 4}), json!({"level": 4})));
    }
}
