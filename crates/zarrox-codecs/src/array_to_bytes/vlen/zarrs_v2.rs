//! `zarrs.vlen_v2`: the format of `vlen-utf8` and `vlen-bytes`, but for elements of any variable-length type.
//!
//! Specification: <https://docs.rs/zarrs/latest/zarrs/array/codec/array_to_bytes/vlen_v2/index.html>, an experimental codec of
//! the Rust library zarrs.
//!
//! It has no configuration. Names: `zarrs.vlen_v2` in v3 (also `vlen_v2` and a URL, in older versions); v2 does not have it.

use zarrox_core::CodecSpec;
use zarrox_core::codec::{Codec, CodecContext, CodecDef, CodecError, CodecKind};
use zarrox_core::internals::data_type::VARIABLE_TEXT;
use zarrox_core::json::{Json, Map};

use crate::array_to_bytes::vlen;
use crate::array_to_bytes::vlen::{Elements, check_utf8};
use crate::config;

const NAME: &str = "zarrs.vlen_v2";

/// The definition of `zarrs.vlen_v2`.
pub(crate) static DEF: CodecDef = CodecDef::new(NAME, CodecKind::ArrayToBytes, create)
    .aliases(&["vlen_v2", "https://codec.zarrs.dev/array_to_bytes/vlen_v2"]);

/// Stores variable-length elements, each preceded by its length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ZarrsVlenV2;

impl From<ZarrsVlenV2> for CodecSpec {
    fn from(_: ZarrsVlenV2) -> Self {
        Self::new(NAME, Json::Null)
    }
}

fn create(configuration: &Map, context: &CodecContext<'_>) -> Result<Codec, CodecError> {
    config::read(configuration, context, &[])?;
    let text = context.chunk.data_type().is_ok_and(|data_type| data_type.is_named(VARIABLE_TEXT));
    vlen::codec(Unchanged { text }, context)
}

/// Elements whose stored form is the same as in memory.
#[derive(Debug)]
struct Unchanged {
    /// True if the elements must be UTF-8.
    text: bool,
}

impl Elements for Unchanged {
    const NAME: &'static str = NAME;

    fn pass(&self, element: &[u8], out: &mut Vec<u8>) -> Result<(), CodecError> {
        if self.text {
            check_utf8(element)?;
        }
        out.extend_from_slice(element);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use zarrox_core::codec::{ChunkSpec, EncodeOptions, ReadRegion};
    use zarrox_core::data_type::Storage;
    use zarrox_core::strided::{Span, VlenBuffer};
    use zarrox_core::{DataType, FillValue, Strictness};
    use zarrox_testkit::codec::Random;
    use zarrox_testkit::variable::variable_suite;

    use super::*;
    use crate::registry;
    use crate::testing::{chain, hex, spec};

    #[test]
    fn suite() {
        variable_suite(&registry(), &[ZarrsVlenV2.into()], |random: &mut Random| {
            let length = random.below(6);
            random.bytes(length)
        });
    }

    #[test]
    fn golden() {
        // zarrs 0.23.14: `Array::store_chunk` of "a", "", "héllo" and "zarr".
        let golden = hex("040000000100000061000000000600000068c3a96c6c6f040000007a617272");
        let text = DataType::parse(VARIABLE_TEXT, &registry()).unwrap();
        let chunk = ChunkSpec::new(&[4], Storage::Variable, FillValue::new(*b"x")).unwrap().of_type(&text);
        for name in DEF.aliases.iter().chain([&NAME]) {
            let chain = chain(&[spec(name, Json::Null)], &chunk, &registry(), Strictness::Lenient).unwrap();
            let (vlen, mut memory) = (VlenBuffer::new(), vec![0; chunk.size()]);
            let decode = |encoded: &[u8], memory: &mut [u8]| {
                let region = [Span::all(4)].into_iter().collect();
                chain.decode(encoded, ReadRegion::new(region, chunk.view_mut(memory, &vlen)))
            };
            decode(&golden, &mut memory).unwrap();
            let mut encoded = Vec::new();
            chain.encode(&chunk.view(&memory, &vlen), EncodeOptions::default(), &mut encoded).unwrap();
            assert_eq!(encoded, golden);
            let mut damaged = golden.clone();
            damaged[8] = 0xff;
            let error = decode(&damaged, &mut memory).unwrap_err().to_string();
            assert!(error.starts_with("codec 'zarrs.vlen_v2': element 0: is not UTF-8"), "{error}");
        }
    }
}
