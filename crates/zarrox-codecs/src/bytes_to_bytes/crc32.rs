//! `numcodecs.crc32`: stores a CRC-32 checksum, as used by gzip, with the bytes.
//!
//! Specification: <https://numcodecs.readthedocs.io/en/stable/checksum32.html>
//!
//! | member | value |
//! |---|---|
//! | `location` | `"start"` (the default) or `"end"` |
//!
//! Names: `numcodecs.crc32` in v3, `crc32` in v2.
//!
//! Encoded bytes: the CRC-32 of the bytes as a little-endian `u32`, followed by the bytes themselves, or the other way round.

use zarrox_core::CodecSpec;
use zarrox_core::codec::{CodecDef, CodecKind};
use zarrox_core::json::Map;

use crate::bytes_to_bytes::checksum::{self, Checked, Checksum, ChecksumLocation};
use crate::config;

/// The definition of `numcodecs.crc32`.
pub(crate) static DEF: CodecDef =
    CodecDef::new("numcodecs.crc32", CodecKind::BytesToBytes, |configuration, context| {
        let config = config::read(configuration, context, &["location"])?;
        Ok(Checked::codec(Crc32 { location: ChecksumLocation::read(config)? }))
    })
    .v2_id("crc32")
    .with_from_v2(|members, _| Ok(ChecksumLocation::from_v2(members)));

/// Stores a CRC-32 checksum, by default before the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Crc32 {
    location: Option<ChecksumLocation>,
}

impl Crc32 {
    /// Sets the location of the checksum.
    pub fn at(location: ChecksumLocation) -> Self {
        Self { location: Some(location) }
    }
}

impl From<Crc32> for CodecSpec {
    fn from(crc32: Crc32) -> Self {
        checksum::spec(DEF.name, &crc32)
    }
}

impl Checksum for Crc32 {
    fn configuration(&self) -> Map {
        ChecksumLocation::to_members(self.location)
    }

    fn location(&self) -> ChecksumLocation {
        self.location.unwrap_or(ChecksumLocation::Start)
    }

    fn compute(&self, bytes: &[u8]) -> u32 {
        crc32fast::hash(bytes)
    }
}

#[cfg(test)]
mod tests {
    use zarrox_core::json::json;
    use zarrox_testkit::codec::{Integrity, bytes_to_bytes_suite};

    use super::*;
    use crate::bytes_to_bytes::checksum::tests::{golden, locations};
    use crate::registry;
    use crate::testing::steps;

    #[test]
    fn suite() {
        for crc32 in [Crc32::default(), Crc32::at(ChecksumLocation::End)] {
            bytes_to_bytes_suite(&registry(), &crc32.into(), Integrity::Checked);
        }
    }

    #[test]
    fn as_numcodecs_stores_it() {
        // `numcodecs.CRC32().encode(…)`, and with `location='end'`.
        let start =
            |bytes: &[u8], stored| golden(DEF.name, json!({}), bytes, stored, ChecksumLocation::Start);
        start(b"abc", "c2412435");
        start(b"", "00000000");
        start(&steps(), "f50a27bb");
        golden(DEF.name, json!({"location": "end"}), b"abc", "c2412435", ChecksumLocation::End);
    }

    #[test]
    fn configurations() {
        locations(DEF.name, "crc32");
    }
}
