//! Zarr for Rust: arrays and groups of every format, on any store, with NumPy's slices.
//!
//! ```
//! use zarrox::prelude::*;
//! use zarrox::codecs::Zstd;
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path().join("out.zarr");
//!
//! let root = zarrox::create_group(&path)?;
//! let mut t2m = root
//!     .create_array("climate/t2m")
//!     .shape([24, 721, 1440])
//!     .data_type(DataType::Float32)
//!     .chunks([12, 90, 180])
//!     .compressor(Zstd::level(3))
//!     .create()?;
//! t2m.write(s![0, .., ..], &ndarray::Array2::<f32>::ones((721, 1440)))?;
//!
//! let again = zarrox::open(path.join("climate/t2m"))?.into_array()?;
//! let corner = again.read::<f32>(s![0, ..2, -3..])?;
//! assert_eq!(corner.shape(), [2, 3]);
//! assert_eq!(corner.sum(), 6.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod access;
mod array;
#[cfg(feature = "async")]
pub mod asynchronous;
mod chunk_cache;
mod consolidated;
mod error;
mod group;
mod guarded;
mod hierarchy;
mod interrupt;
mod kind;
mod locate;
mod location;
mod memory;
mod options;
mod policy;
mod pool;
mod progress;
pub mod stores;
mod upkeep;

pub use access::AccessOptions;
pub use array::{
    Array, ArrayBuilder, ArrayInfo, ArrayView, AsTypeView, Chunks, DynArray, Growth, InnerChunk, Longer,
    Parts, Rows, StoredChunk, StoredRead, StoredWrite, Time, VlenElement, npy,
};
pub use consolidated::{Freshness, StaleNode, Staleness};
pub use group::{Child, Group, Node, Tree};
pub use hierarchy::DocumentFix;
pub use hierarchy::journal::JOURNAL;
pub use interrupt::Interrupt;
pub use kind::NodeKind;
pub use locate::{locate, store_file};
pub use options::{OpenMode, OpenOptions};
pub use policy::{Consolidated, Durability, MissingChunks, Upkeep};
pub use progress::Progress;
pub use zarrox_codecs as codecs;
pub use zarrox_core::{
    ArrayMetadata, ChunkGrid, ChunkKeyEncoding, ChunkShape, CodecSpec, DataType, DimSelection, Element,
    Error, ErrorKind, FillValue, Format, GroupMetadata, IndexArray, IntoSelection, Mask, NewAxis,
    NodeMetadata, NodePath, Order, Registry, Result, Selection, Separator, Strictness, codec, data_type,
    grid, json, msgpack, registry, s, selection, strided, vlen,
};
#[cfg(feature = "derive")]
pub use zarrox_derive::Element;

use std::path::Path;

/// What the crates of tools need of the library beyond its public interface. It changes without notice.
#[doc(hidden)]
pub mod internals {
    pub use crate::array::boxes::Boxes;
    pub use crate::array::dimension_names::{ARRAY_DIMENSIONS, attribute_names};
    pub use crate::array::{Left, bytes_of, bytes_of_mut, cell, indices, left_in, settle_left};
    pub use crate::error::argument;
    pub use crate::hierarchy::journal::{Fingerprint, Journal};
    pub use crate::hierarchy::{APPENDS, DATASET, Found, Mark, format_of, is_mark, update_attributes};
    pub use crate::locate::{check_same_kind, store_file};
    pub use crate::location::{ConsolidatedMetadata, Context, Location, Purpose, are_paths_overlapping};
    pub use crate::pool::{Pool, too_many};
    pub use crate::progress::{Listener, Tally, Work};
    pub use crate::upkeep::Changes;
}

/// The names that nearly every program uses: `use zarrox::prelude::*`. Codecs are in [`codecs`].
pub mod prelude {
    pub use crate::{Array, DataType, DynArray, Element, Format, Group, NewAxis, Node, s};
}

/// Opens the node at a path or URL for reading and writing. Its format and kind are detected.
///
/// [`stores::open_url`] lists the supported URLs.
///
/// # Errors
/// [`ErrorKind::NotFound`] when there is no node; otherwise the reason why it cannot be opened.
pub fn open(path: impl AsRef<Path>) -> Result<Node> {
    OpenOptions::new().open(path)
}

/// Opens the array at a path, for reading and writing.
///
/// # Errors
/// The errors of [`open`]; also when the node is a group.
pub fn open_array(path: impl AsRef<Path>) -> Result<Array> {
    open(path)?.into_array()
}

/// Opens the group at a path, for reading and writing.
///
/// # Errors
/// The errors of [`open`]; also when the node is an array.
pub fn open_group(path: impl AsRef<Path>) -> Result<Group> {
    open(path)?.into_group()
}

/// Creates a group at a path, in the newest format. The path must not hold a node.
///
/// # Errors
/// [`ErrorKind::AlreadyExists`] when there is something at the path.
pub fn create_group(path: impl AsRef<Path>) -> Result<Group> {
    OpenOptions::new().create_group(path)
}

/// Starts to create an array at a path.
pub fn create_array(path: impl AsRef<Path>) -> ArrayBuilder {
    OpenOptions::new().create_array(path)
}

/// The examples of the macro's page are compiled and run.
#[cfg(all(doctest, feature = "derive"))]
#[doc = include_str!("../../zarrox-derive/src/element.md")]
struct Derive;
