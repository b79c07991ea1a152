//! `crc32c`: stores a CRC32C checksum with the bytes.
//!
//! Specification: <https://zarr-specs.readthedocs.io/en/latest/v3/codecs/crc32c/index.html>
//!
//! It has no configuration, and the checksum follows the bytes. In numcodecs, the checksum can also precede the bytes:
//!
//! | member | value |
//! |---|---|
//! | `location` | `"end"` (the default) or `"start"` |
//!
//! Names: `crc32c` in v3 and v2. In v3, the codec is named `numcodecs.crc32c` if the checksum is at the start. In the lenient
//! mode, both names are accepted for both locations.
//!
//! Encoded bytes: the bytes themselves, followed by their CRC32C as a little-endian `u32`, or the other way round.

use zarrox_core::codec::{Codec, CodecContext, CodecDef, CodecError, CodecKind};
use zarrox_core::json::Map;
use zarrox_core::{CodecSpec, Strictness};

use crate::bytes_to_bytes::checksum::{self, Checked, Checksum, ChecksumLocation};
use crate::config;

/// The definition of `crc32c`.
pub(crate) static DEF: CodecDef =
    CodecDef::new("crc32c", CodecKind::BytesToBytes, |configuration, context| {
        create(configuration, context, ChecksumLocation::End)
    })
    .v2_id("crc32c")
    .with_from_v2(|members, _| match ChecksumLocation::from_v2(members).get("location") {
        Some(location) if location != "end" => {
            Err(CodecError::invalid(format!("the checksum is at the end, not at {location}")))
        }
        _ => Ok(Map::default()),
    });

/// The definition of the variant that only numcodecs supports.
pub(crate) static NUMCODECS: CodecDef =
    CodecDef::new("numcodecs.crc32c", CodecKind::BytesToBytes, |configuration, context| {
        create(configuration, context, ChecksumLocation::Start)
    })
    .v2_id("crc32c")
    .with_from_v2(|members, item| match (DEF.from_v2)(members, item) {
        Ok(_) => Err(CodecError::invalid("a checksum at the end is the codec 'crc32c'")),
        Err(_) => Ok(ChecksumLocation::from_v2(members)),
    });

/// Stores a CRC32C checksum, by default after the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Crc32c {
    location: ChecksumLocation,
}

impl Crc32c {
    /// Sets the location of the checksum. A checksum at the start can only be read by readers that support numcodecs' codec.
    pub fn at(location: ChecksumLocation) -> Self {
        Self { location }
    }

    fn definition(self) -> &'static CodecDef {
        match self.location {
            ChecksumLocation::Start => &NUMCODECS,
            ChecksumLocation::End => &DEF,
        }
    }
}

impl Default for Crc32c {
    fn default() -> Self {
        Self::at(ChecksumLocation::End)
    }
}

impl From<Crc32c> for CodecSpec {
    fn from(crc32c: Crc32c) -> Self {
        checksum::spec(crc32c.definition().name, &crc32c)
    }
}

/// In the lenient mode, each definition also accepts the other one's location.
fn create(
    configuration: &Map,
    context: &CodecContext<'_>,
    own: ChecksumLocation,
) -> Result<Codec, CodecError> {
    let strict_core = context.strictness == Strictness::Strict && own == ChecksumLocation::End;
    let known: &[&str] = if strict_core { &[] } else { &["location"] };
    let config = config::read(configuration, context, known)?;
    let location = ChecksumLocation::read(config)?.unwrap_or(ChecksumLocation::End);
    if config.is_strict() && location != own {
        return Err(CodecError::invalid(
            "'numcodecs.crc32c' without the location \"start\" is an alias of the codec 'crc32c'; only lenient reading \
             accepts it",
        ));
    }
    Ok(Checked::codec(Crc32c { location }))
}

impl Checksum for Crc32c {
    fn configuration(&self) -> Map {
        ChecksumLocation::to_members((self.location == ChecksumLocation::Start).then_some(self.location))
    }

    fn location(&self) -> ChecksumLocation {
        self.location
    }

    fn compute(&self, bytes: &[u8]) -> u32 {
        crc32c::crc32c(bytes)
    }

    fn name(&self) -> Option<&'static str> {
        Some(self.definition().name)
    }
}

#[cfg(test)]
mod tests {
    use zarrox_core::data_type::Storage;
    use zarrox_core::json::json;
    use zarrox_testkit::codec::{Integrity, bytes_to_bytes_suite};

    use super::*;
    use crate::bytes_to_bytes::checksum::tests::golden;
    use crate::registry;
    use crate::testing::{chain, chunk, configured, spec, through_v2};

    #[test]
    fn suite() {
        for crc32c in [Crc32c::default(), Crc32c::at(ChecksumLocation::Start)] {
            bytes_to_bytes_suite(&registry(), &crc32c.into(), Integrity::Checked);
        }
    }

    #[test]
    fn as_numcodecs_stores_it() {
        // `numcodecs.CRC32C()` and `CRC32C(location='start')` for the `u16` numbers 0 to 15, and for the letters.
        let numbers: Vec<u8> = (0..16_u16).flat_map(u16::to_le_bytes).collect();
        for (bytes, stored) in [(&numbers[..], "268b10f3"), (b"abc", "b73f4b36")] {
            golden("crc32c", json!({}), bytes, stored, ChecksumLocation::End);
            let start = json!({"location": "start"});
            golden("numcodecs.crc32c", start, bytes, stored, ChecksumLocation::Start);
        }
    }

    #[test]
    fn one_at_the_start_has_another_name() {
        let (start, end) = (json!({"location": "start"}), json!({"location": "end"}));
        let numcodecs = ("numcodecs.crc32c", start.clone());
        let core = ("crc32c", json!({}));
        let cases = [
            ("crc32c", json!({}), &core),
            ("crc32c", end.clone(), &core),
            ("crc32c", start.clone(), &numcodecs),
            ("numcodecs.crc32c", json!({}), &core),
            ("numcodecs.crc32c", end, &core),
            ("numcodecs.crc32c", start, &numcodecs),
        ];
        let chunk = chunk(&[10], Storage::Uint(1));
        for (name, configuration, complete) in cases {
            let specs = [spec("bytes", json!({})), spec(name, configuration)];
            let made = |strictness| chain(&specs, &chunk, &registry(), strictness).map(|chain| chain.specs());
            let complete = spec(complete.0, complete.1.clone());
            assert_eq!(made(Strictness::Lenient).unwrap()[1], complete);
            assert_eq!(made(Strictness::Strict).is_ok(), specs[1] == complete, "{}", specs[1]);
        }
    }

    #[test]
    fn v2_has_one_name_for_both() {
        let name =
            |members| registry().codec_from_v2("crc32c", &config::members(members)).map(|def| def.name);
        for end in [json!({}), json!({"location": null}), json!({"location": "end"})] {
            assert_eq!(name(end.clone()).unwrap(), "crc32c");
            assert_eq!(through_v2("crc32c", end, 2), (json!({}), json!({})));
        }
        let start = json!({"location": "start"});
        assert_eq!(name(start.clone()).unwrap(), "numcodecs.crc32c");
        assert_eq!(through_v2("crc32c", start.clone(), 2), (start.clone(), start));
        let wrong = json!({"location": "middle"});
        let (v3, _) = through_v2("crc32c", wrong.clone(), 2);
        let error = configured(name(wrong).unwrap(), v3, Strictness::Lenient).unwrap_err();
        assert!(error.contains("one of start, end"), "{error}");
    }

    #[test]
    fn configurations() {
        let error = configured("crc32c", json!({"location": "end"}), Strictness::Strict).unwrap_err();
        assert!(error.contains("'location': this codec has no configuration"), "{error}");
        let error = configured("numcodecs.crc32c", json!({}), Strictness::Strict).unwrap_err();
        assert!(error.contains("an alias of the codec 'crc32c'"), "{error}");
    }
}
