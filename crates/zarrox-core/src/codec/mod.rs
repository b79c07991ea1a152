//! Codecs: their traits, their definitions, and the chain that turns a chunk into stored bytes.
//!
//! A codec is made for one kind of chunk (a [`ChunkSpec`]). It is synchronous and never holds a store: it works on bytes that it
//! is given, and requests them with [`Fetch`]es.

mod array_to_array;
mod array_to_bytes;
mod byte_stream;
mod bytes_to_bytes;
mod chain;
mod chunk_spec;
mod chunk_table;
pub mod coalesce;
mod codec_spec;
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
pub use array_to_bytes::{ArrayAccess, ArrayToBytes, InPlace, InnerChunks, RegionRanges};
pub use byte_stream::ByteStream;
pub use bytes_to_bytes::{BytesAccess, BytesToBytes, DecodeRanges, DecodeStream, Framed, Framing};
pub use chain::CodecChain;
pub use chunk_spec::{ChunkSpec, Size};
pub use chunk_table::{ChunkTable, Entry, Mended, Salvaged};
pub use codec_spec::CodecSpec;
pub use def::{CHUNK_LIMIT, Codec, CodecKind, same_from_v2, same_to_v2};
pub use elementwise::Elementwise;
pub use encoded::{Blocks, Encoded};
pub use fetch::{DeferredDecode, Fetch, Sink};
pub use growing::{decode_growing, is_believed};
pub use options::{DecodeOptions, EncodeOptions, Update};
pub use range::{ByteRange, Window};
pub use read_part::{ReadPart, ReadRegion};
pub use resolve::resolve;
pub use write_part::{DividedPart, FieldPlace, WritePart};

pub use crate::error::CodecError;
pub use crate::registry::{CodecContext, CodecDef};
pub use crate::selection::ChunkElements;
