//! Zarr for Rust: N-dimensional arrays of every Zarr format, in any store, with NumPy's indexing.
//!
//! Zarr divides an array into chunks, compresses each chunk, and stores each one as a separate object, such as a file. Arrays are
//! organised in groups, which form a hierarchy. This library reads and writes Zarr v3, v2 and v1, the drafts of v3, and N5.
//!
//! # A first program
//!
//! ```
//! use zarrox::codecs::Zstd;
//! use zarrox::{prelude::*, s};
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path().join("out.zarr");
//!
//! let root = zarrox::create_group(&path)?;
//! let t2m = root
//!     .create_array("climate/t2m")
//!     .shape([24, 721, 1440])
//!     .data_type(DataType::Float32)
//!     .chunks([12, 90, 180])
//!     .compressor(Zstd::level(3))
//!     .create()?;
//! t2m.write(s![0, .., ..], &Array2::<f32>::ones((721, 1440)))?;
//!
//! let again = zarrox::open_array(path.join("climate/t2m"))?;
//! let corner: Array2<f32> = again.read(s![0, ..2, -3..])?;
//! assert_eq!(corner.sum(), 6.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A write has been stored by the time it returns. Only a zip archive must be flushed after the last write.
//!
//! # Overview
//!
//! | task | |
//! |---|---|
//! | open and create | [`open_array`], [`open_group`], [`create_array`], [`create_group`]; with options, [`OpenOptions`] |
//! | name a location | [`Place`]: a path, a URL, or a path in a store |
//! | read and write | [`Array::read`], [`Array::write`], [`Array::read_into`], [`Array::get`], [`Array::append`] |
//! | select | [`s!`], [`Array::oindex`], [`Array::vindex`], [`Array::mask`], [`Array::blocks`], [`Array::field`] |
//! | iterate | [`Array::rows`], [`Array::chunks`], [`Array::chunk_regions`] |
//! | elements whose type is known at run time | [`DynArray`], [`with_element_type!`] |
//! | Rust types of elements | [`FromElement`], [`ToElement`], [`Element`] |
//! | groups | [`Group::children`], [`Group::open`], [`Group::visit`], [`Group::tree`] |
//! | attributes | [`Array::attributes`], [`Array::update_attributes`], [`json`] |
//! | codecs | [`codecs`] |
//! | stores | [`stores`] |
//! | stored bytes of chunks | [`Array::raw`] |
//!
//! Other crates provide additional functions:
//!
//! | crate | functions |
//! |---|---|
//! | `zarrox-tools` | copy, convert, rechunk, check, compare, compute statistics |
//! | `zarrox-images` | pyramid levels, OME-Zarr |
//! | `zarrox-files` | import and export HDF5, NetCDF, TIFF and other files |
//! | `zarrox-serve` | serve nodes over HTTP |
//!
//! # Errors
//!
//! Functions that can fail return an [`Error`]. [`Error::kind`] is for programs, and the message is for people. The message names
//! the array, the chunk, the key and the codec. Missing nodes, denied access, unreachable servers and damaged data are errors of
//! different kinds. A missing chunk is read as the fill value, whereas a damaged chunk is always an error.
//!
//! # Threads
//!
//! An [`Array`] is read and written through `&self`, from any number of threads. Each call uses all cores by default
//! ([`AccessOptions::threads`]). Concurrent writes to the same chunk or shard are serialised, so that no update is lost. The same
//! applies to writes by other processes, if the store supports locks or conditional writes. Methods that change the metadata take
//! `&mut self`. An [`Interrupt`] cancels work.
//!
//! # Async
//!
//! With the feature `async`, the module `asynchronous` provides arrays and groups with asynchronous methods, for any runtime. The
//! work of the futures is done by threads of this library. Dropping a future cancels its work.
//!
//! # Features
//!
//! | feature | |
//! |---|---|
//! | `codecs` (default) | all codecs: enables the features in the next row |
//! | `blosc`, `bzip2`, `libdeflate`, `lz4`, `lzma`, `pco`, `zfp`, `zstd` | individual codecs; `libdeflate` is for gzip and zlib |
//! | `pure` | pure Rust implementations of gzip, zlib, LZ4 and Zstandard, used for those whose feature above is off |
//! | `derive` (default) | `#[derive(Element)]` for structs |
//! | `async` | arrays and groups with asynchronous methods |
//! | `chrono`, `jiff` | conversion of times to and from the types of these crates |
//! | `serde_json` | conversion of attributes to and from values of the crate `serde_json` |
//! | `http`, `s3`, `gcs`, `azure` | stores on web servers and in the cloud |
//! | `object_store`, `url` | any client of the crate `object_store` as a store; a `Url` of the crate `url` as a [`Place`] |
//! | `zip`, `references` | zip archives; kerchunk references to parts of other files |
//! | `sqlite`, `lmdb`, `redb`, `gdbm`, `berkeley-db` | embedded databases; `databases` enables all of them |
//! | `redis`, `mongodb`, `ftp`, `hdfs`, `webdav` | stores on servers; `servers` enables them, and `http`, `s3`, `gcs` and `azure` |
//! | `cache`, `retry`, `traced` | store wrappers that cache, retry and trace requests |
//! | `stores` | all stores and wrappers |
//!
//! # Further reading
//!
//! The directory `examples` of this crate has ten short programs. The guide in `docs/guide` of the repository has a chapter for
//! each topic, and `docs/safety.md` describes what happens when programs fail or run concurrently.

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
mod options;
mod place;
mod policy;
mod pool;
mod progress;
pub mod stores;
mod upkeep;

pub use access::AccessOptions;
pub use array::{
    Array, ArrayBuilder, ArrayInfo, ArrayView, AsTypeView, ChunkIndex, Chunks, InnerChunk, RawChunks, Rows,
    Shape,
};
pub use consolidated::{StaleNode, Staleness};
pub use group::{Child, Group, Node, Tree};
pub use interrupt::Interrupt;
pub use kind::NodeKind;
pub use options::{OpenMode, OpenOptions};
pub use place::Place;
pub use policy::{Consolidated, Durability, MissingChunks, Upkeep};
pub use progress::Progress;
pub use zarrox_codecs as codecs;
pub use zarrox_core::{
    ArrayMetadata, ChunkGrid, ChunkKeyEncoding, ChunkLengths, ChunkShape, CodecChain, CodecSpec, DataType,
    Decode, DimSelection, DynArray, Element, ElementsMut, Encode, Error, ErrorKind, FillValue, Format,
    FromElement, FromElements, GroupMetadata, IndexArray, IntoElements, IntoSelection, ListedLength, Mask,
    NewAxis, NodeMetadata, NodePath, Order, Rectilinear, Registry, Result, Selection, Separator, Strictness,
    ToElement, codec, data_type, json, s, strided, with_element_type,
};
#[cfg(feature = "derive")]
pub use zarrox_derive::Element;

/// Items for the other crates of this workspace beyond the public interface. They are exempt from semantic versioning and may
/// change without notice.
#[doc(hidden)]
pub mod internals {
    pub use crate::array::dimension_names::{ARRAY_DIMENSIONS, attribute_names};
    pub use crate::array::{
        DatasetRemains, ExclusiveAppender, GrownArray, Growth, StoredChunk, StoredRead, StoredWrite,
        UnwrittenRows, WrittenChunks, cell, dataset_remains, indices, settle_dataset,
    };
    pub use crate::consolidated::Freshness;
    pub use crate::error::argument;
    pub use crate::guarded::until_unchanged;
    pub use crate::hierarchy::journal::{Fingerprint, JOURNAL, Journal};
    pub use crate::hierarchy::renaming::is_renaming;
    pub use crate::hierarchy::{
        APPENDS, DATASET, DOCUMENT_LIMIT, Found, Mark, format_of, is_mark, needed, update_attributes,
    };
    pub use crate::locate::{check_same_kind, locate, store_file};
    pub use crate::location::{
        ConsolidatedMetadata, Context, Location, Purpose, Timings, are_paths_overlapping,
    };
    pub use crate::pool::{Pool, too_many};
    pub use crate::progress::{Listener, Tally, Task};
    pub use crate::upkeep::Changes;
    pub use zarrox_codecs::internals::libraries;
    pub use zarrox_core::internals::error::ErrorPlace;
    pub use zarrox_core::internals::selection::Boxes;
    pub use zarrox_core::internals::selection::Parts;
    pub use zarrox_core::internals::{
        codec, data_type, elements, grid, json, metadata, msgpack, scratch, selection, strided, vlen,
    };
    pub use zarrox_stores::internals::panics;
}

/// The items that nearly every program needs: `use zarrox::prelude::*`. Codecs are in [`codecs`].
///
/// This module can be used together with `ndarray::prelude`: in both, `Array2` and the like are types of `ndarray`. A Zarr array
/// is [`zarrox::Array`](Array). Selections are written with [`zarrox::s!`](s) or `ndarray::s!`; only `zarrox::s!` supports lists,
/// masks and NumPy's `..;-1`.
pub mod prelude {
    pub use ndarray::{Array0, Array1, Array2, Array3, Array4, ArrayD, arr0, arr1, arr2, arr3};

    pub use crate::{
        ChunkShape, DataType, DynArray, Element, Format, Group, NewAxis, Node, OpenOptions, Order,
    };
}

/// Opens the node at a path or URL for reading and writing. Its format and kind are detected.
///
/// [`stores::open_url`] lists the supported URLs.
///
/// # Errors
/// [`ErrorKind::NotFound`] when there is no node; otherwise the reason why it cannot be opened.
pub fn open(place: impl Into<Place>) -> Result<Node> {
    OpenOptions::new().open(place)
}

/// Opens the array at a path or URL, for reading and writing.
///
/// # Errors
/// The errors of [`open`], and an error when the node is a group.
pub fn open_array(place: impl Into<Place>) -> Result<Array> {
    open(place)?.into_array()
}

/// Opens the group at a path or URL, for reading and writing.
///
/// # Errors
/// The errors of [`open`], and an error when the node is an array.
pub fn open_group(place: impl Into<Place>) -> Result<Group> {
    open(place)?.into_group()
}

/// Creates a group at a path, in the newest format. There must be no node at the path.
///
/// # Errors
/// [`ErrorKind::AlreadyExists`] when the path is not empty.
pub fn create_group(place: impl Into<Place>) -> Result<Group> {
    OpenOptions::new().create_group(place)
}

/// Returns a builder for an array at a path or URL.
pub fn create_array(place: impl Into<Place>) -> ArrayBuilder {
    OpenOptions::new().create_array(place)
}

/// Compiles and runs the examples in the documentation of the macro.
#[cfg(all(doctest, feature = "derive"))]
#[doc = include_str!("../../zarrox-derive/src/element.md")]
struct Derive;
