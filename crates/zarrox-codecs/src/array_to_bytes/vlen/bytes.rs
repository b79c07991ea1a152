//! `vlen-bytes`: stores variable-length byte strings one after the other, each preceded by its length.
//!
//! Specification: <https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/vlen-bytes>
//!
//! It has no configuration. Names: `vlen-bytes` in v3 and v2 (also `numcodecs.vlen-bytes`).

use zarrox_core::CodecSpec;
use zarrox_core::codec::{Codec, CodecContext, CodecDef, CodecError, CodecKind};
use zarrox_core::json::{Json, Map};

use crate::array_to_bytes::vlen;
use crate::array_to_bytes::vlen::Elements;
use crate::config;

const NAME: &str = "vlen-bytes";

/// The definition of `vlen-bytes`.
pub(crate) static DEF: CodecDef = CodecDef::new(NAME, CodecKind::ArrayToBytes, create)
    .aliases(&["numcodecs.vlen-bytes"])
    .v2_id(NAME)
    .with_from_v2(|_, _| Ok(Map::default()))
    .with_to_v2(|_| Ok(Map::default()));

/// Stores variable-length byte strings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct VlenBytes;

impl From<VlenBytes> for CodecSpec {
    fn from(_: VlenBytes) -> Self {
        Self::new(NAME, Json::Null)
    }
}

fn create(configuration: &Map, context: &CodecContext<'_>) -> Result<Codec, CodecError> {
    config::read(configuration, context, &[])?;
    vlen::codec(VlenBytes, context)
}

impl Elements for VlenBytes {
    const NAME: &'static str = NAME;

    fn pass(&self, element: &[u8], out: &mut Vec<u8>) -> Result<(), CodecError> {
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
        let bytes = |random: &mut Random| {
            let length = random.below(9);
            random.bytes(length)
        };
        variable_suite(&registry(), &[VlenBytes.into()], bytes);
        variable_suite(&registry(), &[VlenBytes.into(), crate::Zstd::level(1).into()], bytes);
        variable_suite(
            &registry(),
            &[VlenBytes.into(), crate::Gzip::level(1).into(), crate::Crc32c::default().into()],
            bytes,
        );
    }
}
