//! The Zarr formats: data types, metadata documents, chunk grids and keys, selections, and codec pipelines, which compute the
//! byte ranges that a part of a chunk needs.
//!
//! This crate does no I/O and starts no threads. Its only global state consists of buffers that each thread reuses. A driver in
//! the crate `zarrox` reads the bytes that this crate requests.

pub mod codec;
pub mod data_type;
mod dyn_array;
mod elements;
mod error;
mod fill_value;
mod grid;
#[doc(hidden)]
pub mod internals;
pub mod json;
mod metadata;
mod msgpack;
mod number;
mod order;
mod path;
mod registry;
mod scalar;
mod scratch;
mod selection;
mod similar;
mod strictness;
pub mod strided;
mod vlen;

pub use codec::chain::CodecChain;
pub use codec::codec_spec::CodecSpec;
pub use data_type::element::Element;
pub use data_type::model::DataType;
pub use dyn_array::DynArray;
pub use elements::{Decode, ElementsMut, Encode, FromElement, FromElements, IntoElements, ToElement};
pub use error::{Error, ErrorKind, Result};
pub use fill_value::FillValue;
pub use grid::{ChunkGrid, ChunkKeyEncoding, ChunkLengths, ChunkShape, ListedLength, Rectilinear, Separator};
pub use metadata::{ArrayMetadata, Format, GroupMetadata, NodeMetadata};
pub use order::Order;
pub use path::NodePath;
pub use registry::Registry;
pub use selection::{DimSelection, IndexArray, IntoSelection, Mask, NewAxis, Selection};
pub use strictness::Strictness;
