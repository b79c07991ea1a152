//! The Zarr formats: data types, metadata documents, chunk grids and keys, selections, and codec chains, which tell which bytes a
//! part of a chunk needs.
//!
//! Nothing here does I/O or starts a thread. The only state outside of values are the buffers that each thread uses again. The
//! driver in the crate `zarrox` gives this crate the bytes that it requests.

pub mod codec;
pub mod data_type;
pub mod elements;
pub mod error;
pub mod fill_value;
pub mod grid;
pub mod json;
pub mod metadata;
pub mod msgpack;
pub mod number;
mod order;
pub mod path;
pub mod registry;
mod scalar;
pub mod scratch;
pub mod selection;
mod strictness;
pub mod strided;
pub mod vlen;

pub use codec::{CodecChain, CodecSpec};
pub use data_type::{DataType, Element, Storage};
pub use elements::{ElementsMut, FromElement, FromElements, IntoElements, ToElement};
pub use error::{CodecError, Error, ErrorKind, Result};
pub use fill_value::FillValue;
pub use grid::{ChunkGrid, ChunkKeyEncoding, ChunkShape, Separator};
pub use metadata::{ArrayMetadata, Format, GroupMetadata, NodeMetadata};
pub use order::Order;
pub use path::NodePath;
pub use registry::Registry;
pub use selection::{DimSelection, IndexArray, IntoSelection, Mask, NewAxis, Selection};
pub use strictness::Strictness;
