//! `numcodecs.adler32`: stores an Adler-32 checksum, as used by zlib, with the bytes.
//!
//! Specification: <https://numcodecs.readthedocs.io/en/stable/checksum32.html>
//!
//! | member | value |
//! |---|---|
//! | `location` | `"start"` (the default) or `"end"` |
//!
//! Names: `numcodecs.adler32` in v3, `adler32` in v2.
//!
//! Encoded bytes: the Adler-32 of the bytes as a little-endian `u32`, followed by the bytes themselves, or the other way round.

use zarrox_core::CodecSpec;
use zarrox_core::codec::{CodecDef, CodecKind};
use zarrox_core::json::Map;

use crate::bytes_to_bytes::checksum::{self, Checked, Checksum, ChecksumLocation};
use crate::config;

/// The definition of `numcodecs.adler32`.
pub(crate) static DEF: CodecDef =
    CodecDef::new("numcodecs.adler32", CodecKind::BytesToBytes, |configuration, context| {
        let config = config::read(configuration, context, &["location"])?;
        Ok(Checked::codec(Adler32 { location: ChecksumLocation::read(config)? }))
    })
    .v2_id("adler32")
    .with_from_v2(|members, _| Ok(ChecksumLocation::from_v2(members)));

/// Stores an Adler-32 checksum, by default before the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Adler32 {
    location: Option<ChecksumLocation>,
}

impl Adler32 {
    /// Sets the location of the checksum.
    pub fn at(location: ChecksumLocation) -> Self {
        Self { location: Some(location) }
    }
}

impl From<Adler32> for CodecSpec {
    fn from(adler32: Adler32) -> Self {
        checksum::spec(DEF.name, &adler32)
    }
}

impl Checksum for Adler32 {
    fn configuration(&self) -> Map {
        ChecksumLocation::to_members(self.location)
    }

    fn location(&self) -> ChecksumLocation {
        self.location.unwrap_or(ChecksumLocation::Start)
    }

    fn compute(&self, bytes: &[u8]) -> u32 {
        simd_adler32::adler32(&bytes)
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
        for adler32 in [Adler32::default(), Adler32::at(ChecksumLocation::End)] {
            bytes_to_bytes_suite(&registry(), &adler32.into(), Integrity::Checked);
        }
    }

    #[test]
    fn as_numcodecs_stores_it() {
        // `numcodecs.Adler32().encode(…)`, and with `location='end'`.
        let start =
            |bytes: &[u8], stored| golden(DEF.name, json!({}), bytes, stored, ChecksumLocation::Start);
        start(b"abc", "27014d02");
        start(b"", "01000000");
        start(&steps(), "9511b998");
        golden(DEF.name, json!({"location": "end"}), b"abc", "27014d02", ChecksumLocation::End);
    }

    #[test]
    fn configurations() {
        locations(DEF.name, "adler32");
    }
}
