//! `vlen-utf8`: stores variable-length strings one after the other, each preceded by its length.
//!
//! Specification: <https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/vlen-utf8>
//!
//! It has no configuration. Names: `vlen-utf8` in v3 and v2 (also `numcodecs.vlen-utf8`).

use zarrox_core::CodecSpec;
use zarrox_core::codec::{Codec, CodecContext, CodecDef, CodecError, CodecKind};
use zarrox_core::json::{Json, Map};

use crate::array_to_bytes::vlen;
use crate::array_to_bytes::vlen::{Elements, check_utf8};
use crate::config;

const NAME: &str = "vlen-utf8";

/// The definition of `vlen-utf8`.
pub(crate) static DEF: CodecDef = CodecDef::new(NAME, CodecKind::ArrayToBytes, create)
    .aliases(&["numcodecs.vlen-utf8"])
    .v2_id(NAME)
    .with_from_v2(|_, _| Ok(Map::default()))
    .with_to_v2(|_| Ok(Map::default()));

/// Stores variable-length strings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct VlenUtf8;

impl From<VlenUtf8> for CodecSpec {
    fn from(_: VlenUtf8) -> Self {
        Self::new(NAME, Json::Null)
    }
}

fn create(configuration: &Map, context: &CodecContext<'_>) -> Result<Codec, CodecError> {
    config::read(configuration, context, &[])?;
    vlen::codec(VlenUtf8, context)
}

impl Elements for VlenUtf8 {
    const NAME: &'static str = NAME;

    fn pass(&self, element: &[u8], out: &mut Vec<u8>) -> Result<(), CodecError> {
        check_utf8(element)?;
        out.extend_from_slice(element);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use zarrox_testkit::codec::Random;
    use zarrox_testkit::variable::variable_suite;

    use super::*;
    use crate::registry;

    #[test]
    fn suite() {
        let texts = |random: &mut Random| {
            let length = random.below(6);
            let characters = ['a', 'é', '日', '😀', '\0', ' '];
            (0..length).map(|_| characters[random.below(6)]).collect::<String>().into_bytes()
        };
        variable_suite(&registry(), &[VlenUtf8.into()], texts);
        variable_suite(&registry(), &[VlenUtf8.into(), crate::Zstd::level(1).into()], texts);
        variable_suite(
            &registry(),
            &[VlenUtf8.into(), crate::Gzip::level(1).into(), crate::Crc32c::default().into()],
            texts,
        );
    }
}
