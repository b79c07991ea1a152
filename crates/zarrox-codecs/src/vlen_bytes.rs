//! `vlen-bytes`: bytes of variable length, one element after the other, each with its length in front.
//!
//! Specification: <https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/vlen-bytes>
//!
//! It has no configuration. Names: `vlen-bytes` in v3 and v2 (also `numcodecs.vlen-bytes`).

use zarrox_core::codec::{
    ArrayToBytes, ChunkSpec, Codec, CodecContext, CodecDef, CodecKind, CodecSpec, EncodeOptions, Fetch,
    ReadPart, Size, Window,
};
use zarrox_core::error::CodecError;
use zarrox_core::json::{Json, Map};
use zarrox_core::strided::View;

use crate::{config, vlen};

const NAME: &str = "vlen-bytes";

/// The definition of `vlen-bytes`.
pub(crate) static DEF: CodecDef = CodecDef {
    name: NAME,
    aliases: &["numcodecs.vlen-bytes"],
    v2_id: Some(NAME),
    kind: CodecKind::ArrayToBytes,
    create,
    from_v2: |_, _| Ok(Map::new()),
    to_v2: |_| Ok(Map::new()),
};

/// Bytes of variable length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct VlenBytes;

impl From<VlenBytes> for CodecSpec {
    fn from(_: VlenBytes) -> Self {
        Self::new(NAME, Json::Null)
    }
}

fn create(configuration: &Map, context: &CodecContext<'_>) -> Result<Codec, CodecError> {
    config::read(configuration, context, &[])?;
    vlen::check_variable(context.chunk)?;
    Ok(Codec::ArrayToBytes(Box::new(VlenBytesCodec(context.chunk.clone()))))
}

/// The codec for one kind of chunk.
#[derive(Debug)]
struct VlenBytesCodec(ChunkSpec);

impl ArrayToBytes for VlenBytesCodec {
    fn configuration(&self) -> Map {
        Map::new()
    }

    fn encoded_size(&self) -> Size {
        Size::UNKNOWN
    }

    fn read<'a>(&'a self, window: Window, part: ReadPart<'a>) -> Result<Vec<Fetch<'a>>, CodecError> {
        Ok(vec![Fetch::then(window.whole(), |bytes| self.decode(bytes, part).map(|()| Vec::new()))])
    }

    fn decode(&self, encoded: &[u8], part: ReadPart<'_>) -> Result<(), CodecError> {
        let elements = vlen::split(encoded, vlen::count(&self.0));
        let decoded = elements.and_then(|elements| {
            vlen::fill(&self.0, &elements, part, |element, bytes| {
                bytes.extend_from_slice(element);
                Ok(())
            })
        });
        decoded.map_err(|e| e.in_codec(NAME))
    }

    fn encode(&self, chunk: &View<'_>, _: EncodeOptions, encoded: &mut Vec<u8>) -> Result<bool, CodecError> {
        vlen::encode(chunk, encoded, |element, encoded| {
            encoded.extend_from_slice(element);
            Ok(())
        })?;
        Ok(true)
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
