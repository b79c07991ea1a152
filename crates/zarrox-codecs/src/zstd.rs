//! `zstd`: Zstandard.
//!
//! Specification: <https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/zstd>
//!
//! | member | value |
//! |---|---|
//! | `level` | −131072 to 22; 0 is the library's default |
//! | `checksum` | whether frames end with a checksum; `false` when absent |
//!
//! Names: `zstd` in v3 (also `numcodecs.zstd`), `zstd` in v2. Leniently, an absent `level` is 0.
//!
//! Any sequence of frames is read, of known or unknown size, with skippable ones among them.

use std::cell::RefCell;
use std::io::Cursor;

use serde_json::json;
use zarrox_core::codec::{BytesToBytes, Codec, CodecContext, CodecDef, CodecKind, CodecSpec, Size};
use zarrox_core::error::CodecError;
use zarrox_core::json::Map;
use zstd_safe::{CCtx, CParameter, DCtx, compress_bound, get_error_name};

use crate::config::{self, Config};
use crate::truncated;

/// The definition of `zstd`.
pub(crate) static DEF: CodecDef = CodecDef {
    name: "zstd",
    aliases: &["numcodecs.zstd"],
    v2_id: Some("zstd"),
    kind: CodecKind::BytesToBytes,
    create,
    from_v2: |members, _| Ok(config::from_v2(members, json!({"level": 0, "checksum": false}))),
    to_v2,
};

/// Zstandard: the best choice for most data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Zstd {
    level: i32,
    checksum: bool,
}

impl Zstd {
    /// Compression level, −131072 (fastest) to 22 (smallest); 0 is the library's default, which is 3.
    pub fn level(level: i32) -> Self {
        Self { level, checksum: false }
    }

    /// Whether frames end with a checksum.
    #[must_use]
    pub fn checksum(self, checksum: bool) -> Self {
        Self { checksum, ..self }
    }

    fn parse(config: Config<'_>) -> Result<Self, CodecError> {
        let level = config.integer("level", -131_072..=22, 0)?;
        Ok(Self { level, checksum: config.boolean("checksum", false)? })
    }
}

impl From<Zstd> for CodecSpec {
    fn from(zstd: Zstd) -> Self {
        Self { name: DEF.name.to_owned(), configuration: zstd.configuration() }
    }
}

fn create(configuration: &Map, context: &CodecContext<'_>) -> Result<Codec, CodecError> {
    let config = config::read(configuration, context, &["level", "checksum"])?;
    Ok(Codec::BytesToBytes(Box::new(Zstd::parse(config)?)))
}

fn to_v2(configuration: &Map) -> Result<Map, CodecError> {
    let mut members = configuration.clone();
    // Readers that do not know the member refuse it, and absent it says the same.
    members.retain(|name, value| name != "checksum" || value.as_bool() == Some(true));
    Ok(members)
}

thread_local! {
    static COMPRESSOR: RefCell<Option<CCtx<'static>>> = const { RefCell::new(None) };
    static DECOMPRESSOR: RefCell<Option<DCtx<'static>>> = const { RefCell::new(None) };
}

impl BytesToBytes for Zstd {
    fn configuration(&self) -> Map {
        config::members(json!({"level": self.level, "checksum": self.checksum}))
    }

    fn encoded_size(&self, decoded: Size) -> Size {
        decoded.compressed()
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<(), CodecError> {
        encoded.reserve(compress_bound(decoded.len()));
        let end = encoded.len() as u64;
        let mut target = Cursor::new(encoded);
        target.set_position(end);
        COMPRESSOR.with_borrow_mut(|context| {
            let context = match context {
                Some(context) => context,
                None => context.insert(CCtx::try_create().ok_or_else(no_memory)?),
            };
            context.set_parameter(CParameter::CompressionLevel(self.level)).map_err(invalid)?;
            context.set_parameter(CParameter::ChecksumFlag(self.checksum)).map_err(invalid)?;
            context.compress2(&mut target, decoded).map_err(invalid)?;
            Ok(())
        })
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<usize, CodecError> {
        if encoded.is_empty() {
            return Err(truncated(0));
        }
        DECOMPRESSOR.with_borrow_mut(|context| {
            let context = match context {
                Some(context) => context,
                None => context.insert(DCtx::try_create().ok_or_else(no_memory)?),
            };
            context.decompress(decoded, encoded).map_err(|code| CodecError::corrupt(get_error_name(code)))
        })
    }
}

fn no_memory() -> CodecError {
    CodecError::limit("no context could be allocated")
}

fn invalid(code: usize) -> CodecError {
    CodecError::invalid(get_error_name(code))
}
