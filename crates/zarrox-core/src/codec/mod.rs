//! Codecs: their traits, their definitions, and the codec pipeline that converts a chunk to stored bytes.
//!
//! A codec is created for the chunks of one specification (a [`ChunkSpec`]). It is synchronous and has no access to the store: it
//! works on the bytes that it receives, and requests them with [`Fetch`]es.

mod array_to_array;
mod array_to_bytes;
mod byte_stream;
mod bytes_to_bytes;
pub(crate) mod chain;
mod chunk_spec;
mod chunk_table;
mod coalesce;
pub(crate) mod codec_spec;
mod def;
mod elementwise;
mod encoded;
mod fetch;
mod growing;
mod options;
mod range;
mod read_part;
mod resolve;
mod write_part;

pub use array_to_array::ArrayToArray;
pub use array_to_bytes::{ArrayAccess, ArrayToBytes, RegionRanges};
pub use byte_stream::ByteStream;
pub use bytes_to_bytes::{BytesAccess, BytesToBytes, DecodeStream};
pub(crate) use chain::CodecChain;
pub use chunk_spec::{ChunkSpec, Size};
pub(crate) use codec_spec::CodecSpec;
pub use def::{CHUNK_LIMIT, Codec, CodecKind};
pub use elementwise::Elementwise;
pub use fetch::Fetch;
pub(crate) use internals::*;
pub use options::EncodeOptions;
pub use range::{ByteRange, Window};
pub use read_part::ReadRegion;

pub use crate::error::CodecError;
pub use crate::registry::{CodecContext, CodecDef};

/// Items that only other crates of this workspace use.
pub(crate) mod internals {
    pub use super::array_to_bytes::{InPlace, InnerChunks};
    pub use super::bytes_to_bytes::{DecodeRanges, Framed, Framing};
    pub use super::chunk_table::{ChunkTable, Entry, RepairOutcome, Salvaged};
    pub use super::def::{same_from_v2, same_to_v2};
    pub use super::encoded::{Blocks, Encoded};
    pub use super::fetch::{DeferredDecode, Sink};
    pub use super::growing::{decode_growing, is_trusted};
    pub use super::options::{DecodeOptions, Update};
    pub use super::read_part::ReadPart;
    pub use super::resolve::resolve;
    pub use super::write_part::{DividedPart, FieldPlace, WritePart};
    pub use crate::selection::ChunkElements;

    /// The choice of byte ranges that are read together.
    pub mod coalesce {
        pub use crate::codec::coalesce::*;
    }
}
