//! Arrays.

mod astype;
mod builder;
mod cached;
mod chains;
mod chunks;
pub(crate) mod dimension_names;
mod fetch;
mod field_views;
mod fields;
mod generation;
mod index_cache;
mod info;
pub(crate) mod internals;
mod iterate;
mod parts;
mod raw;
mod read;
mod regions;
mod resize;
mod shape;
mod show;
mod stored;
mod view;
mod write;

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use serde::de::DeserializeOwned;
use zarrox_core::data_type::Storage;
use zarrox_core::internals::error::ErrorPlace;
use zarrox_core::internals::metadata::Change;
use zarrox_core::json::{self, Json, Map};
use zarrox_core::strided::Dims;
use zarrox_core::{
    ArrayMetadata, ChunkGrid, ChunkKeyEncoding, CodecChain, CodecSpec, DataType, Error, ErrorKind, FillValue,
    Format, FromElement, NodeMetadata, NodePath, Result, Separator,
};
use zarrox_stores::{Capabilities, Key, Prefix};

use self::dimension_names::{ARRAY_DIMENSIONS, attribute_names};
use crate::access::AccessOptions;
use crate::hierarchy::update_attributes;
use crate::location::Location;

use chains::Chains;
use generation::Generation;
use index_cache::IndexCache;

pub use astype::AsTypeView;
pub use builder::ArrayBuilder;
pub use info::ArrayInfo;
pub use iterate::indices;
pub use iterate::{Chunks, Rows};
pub use raw::RawChunks;
pub use regions::ChunkIndex;
pub use resize::{DatasetRemains, dataset_remains, settle_dataset};
pub use resize::{ExclusiveAppender, GrownArray, Growth, UnwrittenRows};
pub use shape::Shape;
pub use stored::cell;
pub use stored::{InnerChunk, StoredChunk, StoredRead, StoredWrite, WrittenChunks};
pub use view::ArrayView;

/// An array. Its metadata is in memory, and its chunks are in a store.
///
/// Elements are read and written through `&self`, from any number of threads. Concurrent writes to the same chunk or shard are
/// serialised, so that no update is lost. Methods that change the metadata take `&mut self`.
#[derive(Clone)]
pub struct Array {
    location: Location,
    metadata: ArrayMetadata,
    /// The codec pipeline for the largest chunk shape of the grid. In a regular grid, it is the pipeline of all chunks.
    chain: Arc<CodecChain>,
    /// The state that all handles share.
    shared: Arc<Shared>,
    /// The prefix of all chunk keys.
    chunks: Prefix,
    /// The state of the array's document, if the document is stored and the store can detect changes to it.
    generation: Option<Arc<Generation>>,
}

/// The state that all handles of an array share.
#[derive(Debug, Default)]
struct Shared {
    /// The codec pipelines for chunk shapes other than the largest one of the grid.
    chains: Chains,
    /// Cached bytes of stored objects, such as shard indexes.
    index_cache: IndexCache,
    /// The detected encoding of chunk keys, if the metadata does not define one.
    keys: OnceLock<ChunkKeyEncoding>,
    /// The lock that is held while the encoding of chunk keys is detected, so that it is detected only once.
    asking: Mutex<()>,
    /// The size in memory, in bytes, of the unit that is decoded as a whole: a chunk, or an inner chunk of a shard.
    unit: usize,
    /// True if elements are read as raw bytes in the stored byte order.
    as_stored: bool,
    /// The reason why elements can be neither read nor written, if there is one.
    unreadable: Option<String>,
}

impl Array {
    /// Opens the array at a location from its metadata.
    pub(crate) fn new(location: Location, metadata: ArrayMetadata) -> Result<Self> {
        let location = location.settle(metadata.format)?;
        let chunks = location.chunks(metadata.format)?;
        let chain = chains::chain_for(&metadata, &location.context);
        let (chain, unreadable) = chains::or_unusable(chain, &metadata, &location.context)
            .map_err(|error| error.at(ErrorPlace::array(&location.path)))?;
        let generation = Generation::of_found(&location, &metadata)?.map(Arc::new);
        let shared = Arc::new(Shared { unit: unit_of(&chain), unreadable, ..Shared::default() });
        let array = Self { location, metadata, chain, shared, chunks, generation };
        array.check_inner_chunks().map_err(|error| error.at(array.place()))?;
        Ok(array)
    }

    /// Rebuilds the codec pipeline after the grid has changed.
    fn renew_chain(&mut self) -> Result<()> {
        self.chain = chains::chain_for(&self.metadata, &self.location.context)?;
        let Shared { keys, as_stored, unreadable, .. } = &*self.shared;
        self.shared = Arc::new(Shared {
            keys: keys.clone(),
            unit: unit_of(&self.chain),
            as_stored: *as_stored,
            unreadable: unreadable.clone(),
            ..Shared::default()
        });
        Ok(())
    }

    /// Returns a handle to the array with other options for reading and writing.
    #[must_use]
    pub fn with_options(&self, options: &AccessOptions) -> Self {
        let mut array = self.clone();
        let mut context = (*array.location.context).clone();
        options.apply(&mut context);
        array.location.context = Arc::new(context);
        array
    }

    /// Returns the array with the options of another handle.
    #[cfg(feature = "async")]
    pub(crate) fn with_context_of(mut self, other: &Self) -> Self {
        self.location.context = Arc::clone(&other.location.context);
        self
    }

    /// Returns the location of the array.
    #[doc(hidden)]
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// Returns the prefix of all chunk keys.
    #[doc(hidden)]
    pub fn chunks_prefix(&self) -> &Prefix {
        &self.chunks
    }

    /// Returns the capabilities of the array's store.
    #[doc(hidden)]
    pub fn capabilities(&self) -> Capabilities {
        self.location.store.capabilities()
    }

    /// Returns the path of the array in its hierarchy.
    pub fn path(&self) -> &NodePath {
        &self.location.path
    }

    /// Returns the metadata from the array's documents. If the documents do not define the encoding of chunk keys,
    /// [`RawChunks::key_encoding`] detects it.
    pub fn metadata(&self) -> &ArrayMetadata {
        &self.metadata
    }

    /// Returns the shape, in elements.
    pub fn shape(&self) -> &[u64] {
        &self.metadata.shape
    }

    /// Returns the name of the array: the last part of its path, which is empty for the root.
    pub fn name(&self) -> &str {
        self.location.path.name()
    }

    /// Returns the number of elements; `None` if it exceeds `u64`.
    pub fn size(&self) -> Option<u64> {
        product(self.shape())
    }

    /// Returns the format of the array's documents.
    pub fn format(&self) -> Format {
        self.metadata.format
    }

    /// Returns the number of dimensions.
    pub fn ndim(&self) -> usize {
        self.metadata.shape.len()
    }

    /// Returns the data type.
    pub fn data_type(&self) -> &DataType {
        &self.metadata.data_type
    }

    /// Returns the size of all elements in memory, in bytes; `None` if it exceeds `u64`. Variable-length elements count with the
    /// size of their references.
    pub fn nbytes(&self) -> Option<u64> {
        if self.shape().contains(&0) {
            return Some(0);
        }
        let item = self.data_type().size() as u64;
        self.shape().iter().try_fold(item, |size, &length| size.checked_mul(length))
    }

    /// Returns the encoding of chunk keys. If the metadata does not define it, as in old v2 documents, it is detected once from
    /// the stored keys.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub(crate) fn chunk_key_encoding(&self) -> Result<ChunkKeyEncoding> {
        if self.metadata.separator_declared {
            return Ok(self.metadata.chunk_key_encoding);
        }
        if let Some(known) = self.shared.keys.get() {
            return Ok(*known);
        }
        let _guard = self.shared.asking.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = self.shared.keys.get() {
            return Ok(*known);
        }
        let found = undeclared_separator(&self.location, &self.chunks, &self.metadata)
            .map_err(|error| error.at(self.place()))?;
        Ok(*self.shared.keys.get_or_init(|| found.unwrap_or(self.metadata.chunk_key_encoding)))
    }

    /// Returns the chunk grid: the grid of shards, if the array has shards.
    pub fn chunk_grid(&self) -> &ChunkGrid {
        &self.metadata.chunk_grid
    }

    /// Returns the shape of the chunks of the [grid](Self::chunk_grid), each of which is stored as one object. In a rectilinear
    /// grid, this is the largest chunk length along each dimension.
    pub fn chunk_shape(&self) -> &[u64] {
        self.metadata.chunk_grid.largest_chunk()
    }

    /// Returns the shape of the inner chunks, if the array has shards. A shard is a chunk that contains inner chunks, each of
    /// which can be read individually.
    pub fn inner_chunk_shape(&self) -> Option<Vec<u64>> {
        Some(self.chain.inner_chunk_shape()?.into_iter().map(|length| length as u64).collect())
    }

    /// Returns the shape of the units that are decoded as a whole: the inner chunk shape if the array has shards, otherwise the
    /// chunk shape.
    #[doc(hidden)]
    pub fn unit_shape(&self) -> Vec<u64> {
        self.inner_chunk_shape().unwrap_or_else(|| self.chunk_shape().to_vec())
    }

    /// Returns the shard shape, if the array has shards.
    #[doc(hidden)]
    pub fn shard_shape(&self) -> Option<&[u64]> {
        self.chain.inner_chunk_shape().map(|_| self.chunk_shape())
    }

    /// Returns the number of possible stored objects (shards if the array has shards, otherwise chunks) along each dimension.
    #[doc(hidden)]
    pub fn grid_shape(&self) -> Vec<u64> {
        self.metadata.chunk_grid.grid_shape(self.shape())
    }

    /// Returns the fill value as bytes, as it is represented in memory.
    #[doc(hidden)]
    pub fn fill_bytes(&self) -> FillValue {
        self.chain.chunk().fill().clone()
    }

    /// Returns the codecs with their complete configurations.
    pub fn codecs(&self) -> Vec<CodecSpec> {
        if self.unreadable().is_some() { self.metadata.codecs.clone() } else { self.chain.specs() }
    }

    /// Returns the reason why elements can be neither read nor written: the unknown data type or codec of an array that was
    /// opened with [`OpenOptions::metadata_only`](crate::OpenOptions::metadata_only).
    #[doc(hidden)]
    pub fn unreadable(&self) -> Option<&str> {
        self.shared.unreadable.as_deref()
    }

    /// Returns the unknown data type of the metadata, if its fallback type is read instead. See
    /// [`OpenOptions::data_type_fallback`](crate::OpenOptions::data_type_fallback).
    #[doc(hidden)]
    pub fn fallback_from(&self) -> Option<&zarrox_core::json::Json> {
        self.metadata.fallback_from.as_deref()
    }

    /// Reads the first metadata document of the array, as its format defines it.
    ///
    /// # Errors
    /// When the document cannot be read.
    #[doc(hidden)]
    pub fn document(&self) -> Result<Map> {
        self.location.first_document(self.metadata.format)
    }

    /// Returns the dimension names, if there are any.
    pub fn dimension_names(&self) -> Option<&[Option<String>]> {
        self.metadata.dimension_names.as_deref()
    }

    /// Returns the value of elements that were never written.
    ///
    /// # Errors
    /// [`ErrorKind::DataTypeMismatch`] when `T` cannot hold the elements.
    pub fn fill_value<T: FromElement>(&self) -> Result<T> {
        let decode = T::decoder(self.data_type()).map_err(|error| error.at(self.place()))?;
        decode(self.fill_bytes().as_bytes()).map_err(|error| error.at(self.place()))
    }

    /// Returns the user's attributes.
    pub fn attributes(&self) -> &Map {
        &self.metadata.attributes
    }

    /// Deserialises the user's attributes as [`json::from_map`](crate::json::from_map) does.
    /// [`json::to_map`](crate::json::to_map) serialises a value to attributes.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidMetadata`](crate::ErrorKind::InvalidMetadata), with the name of the attribute, when an attribute does
    /// not fit the type.
    pub fn attributes_as<T: DeserializeOwned>(&self) -> Result<T> {
        json::from_map(self.attributes()).map_err(|error| error.at("attributes").at(self.place()))
    }

    /// Flushes the store, which completes a zip archive. See [`Store::flush`](zarrox_stores::Store::flush).
    ///
    /// # Errors
    /// When flushing fails.
    pub fn flush(&self) -> Result<()> {
        self.location.store.flush().map_err(Error::from)
    }

    /// Replaces all attributes.
    ///
    /// # Errors
    /// When the array cannot be written.
    pub fn set_attributes(&mut self, attributes: impl Into<Map>) -> Result<()> {
        let attributes = attributes.into();
        self.update_attributes(move |map| map.clone_from(&attributes))
    }

    /// Reads the stored attributes, calls `edit` to change them, and writes them back. If another writer has changed them in the
    /// meantime, the update is retried, so `edit` may be called more than once.
    ///
    /// # Errors
    /// When the array cannot be read or written.
    pub fn update_attributes(&mut self, edit: impl FnMut(&mut Map)) -> Result<()> {
        self.metadata.attributes = update_attributes(&self.location, self.metadata.format, edit)?;
        Ok(())
    }

    /// Replaces the fill value, which is given as JSON in the form of the format's metadata. Elements that were never written are
    /// then read as the new value.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] when the data type cannot represent the value; and when the array cannot be written.
    #[doc(hidden)]
    pub fn set_fill_value_json(&mut self, fill: Json) -> Result<()> {
        self.change_members(&Map::from_iter([("fill_value".to_owned(), fill)]))
    }

    /// Changes members of the array's document, in the form that its format defines.
    #[doc(hidden)]
    pub fn change_members(&mut self, members: &Map) -> Result<()> {
        let (location, format) = (self.location.clone(), self.metadata.format);
        let metadata = location.change(format, |node, write| {
            let metadata = patched(&location, format, node, Change::Members(members))
                .map_err(|error| crate::error::argument(error.to_string()))?;
            write(Change::Members(members))?;
            Ok(metadata)
        })?;
        *self = Self::new(location.as_stored(), metadata)?.now_stored()?;
        Ok(())
    }

    /// Renames a dimension, in `dimension_names` or, if that is where the names are stored, in xarray's attribute
    /// `_ARRAY_DIMENSIONS`.
    ///
    /// ```
    /// # use zarrox::prelude::*;
    /// # let directory = tempfile::tempdir()?;
    /// # let array = zarrox::create_array(directory.path().join("a.zarr")).shape([2, 3]).data_type(DataType::Int8);
    /// let mut array = array.dimension_names(["y", "x"]).create()?;
    /// array.rename_dimension("x", "lon")?;
    /// assert_eq!(array.dimension_names().unwrap()[1].as_deref(), Some("lon"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] when no dimension has the old name, [`ErrorKind::AlreadyExists`] when another dimension has the
    /// new name; and when the array cannot be written.
    pub fn rename_dimension(&mut self, from: &str, to: &str) -> Result<()> {
        let own = self.metadata.dimension_names.clone();
        let is_attribute = own.is_none();
        let names = own.or_else(|| attribute_names(&self.metadata)).unwrap_or_default();
        let has = |name: &str| names.iter().any(|own| own.as_deref() == Some(name));
        if !has(from) {
            return Err(
                Error::new(ErrorKind::NotFound, format!("no dimension is named '{from}'")).at(self.place())
            );
        }
        if has(to) {
            let message = format!("a dimension is named '{to}' already");
            return Err(Error::new(ErrorKind::AlreadyExists, message).at(self.place()));
        }
        let renamed =
            |name: Option<String>| if name.as_deref() == Some(from) { Some(to.to_owned()) } else { name };
        let names = Json::from(names.into_iter().map(renamed).collect::<Vec<_>>());
        if is_attribute {
            return self
                .update_attributes(|map| drop(map.insert(ARRAY_DIMENSIONS.to_owned(), names.clone())));
        }
        self.change_members(&Map::from_iter([("dimension_names".to_owned(), names)]))
    }

    /// Formats an element as NumPy does.
    ///
    /// # Errors
    /// When the number of bytes differs from the size of an element.
    #[doc(hidden)]
    pub fn format_element(&self, element: &[u8]) -> Result<String> {
        let storage = self.data_type().storage();
        if storage != Storage::Variable && element.len() != storage.size() {
            return Err(crate::error::argument("the bytes are not those of one element"));
        }
        Ok(self.location.context.registry.family(self.data_type())?.format(self.data_type(), element))
    }

    /// Returns the shape as `usize`.
    fn lengths(shape: &[u64]) -> Result<Dims<usize>> {
        let length = |&n: &u64| usize::try_from(n).map_err(|_| crate::pool::too_many("the elements"));
        shape.iter().map(length).collect()
    }

    /// Checks that the metadata is up to date, if it was read from consolidated metadata.
    fn confirm(&self) -> Result<()> {
        match &self.generation {
            None => Ok(()),
            Some(generation) => generation
                .confirm_copy(&self.location, &self.metadata)
                .map_err(|error| error.at(self.place())),
        }
    }

    /// Returns the array as stored, once its documents have been written.
    fn now_stored(mut self) -> Result<Self> {
        self.generation = Generation::of_stored(&self.location, &self.metadata)?.map(Arc::new);
        Ok(self)
    }

    /// Calls `read`, and then checks that the stored array is still the one that the handle was opened for.
    fn checked<R>(&self, read: impl FnOnce() -> Result<R>) -> Result<R> {
        self.begin()?;
        self.checked_after(read)
    }

    /// Reads the stamp of the array's document, and compares metadata from consolidated metadata with the document.
    fn begin(&self) -> Result<()> {
        let Some(generation) = &self.generation else { return Ok(()) };
        generation.begin(&self.location, &self.metadata).map_err(|error| error.at(self.place()))
    }

    /// Calls `read`, which calls [`begin`](Self::begin) itself, and then checks that the stored array is still the one that the
    /// handle was opened for.
    fn checked_after<R>(&self, read: impl FnOnce() -> Result<R>) -> Result<R> {
        let Some(generation) = &self.generation else { return read() };
        let result = read();
        // A read can fail because the grid is out of date, so the error of the check takes precedence.
        generation.check(&self.location, &self.metadata).map_err(|error| error.at(self.place()))?;
        result
    }

    /// Returns true if the metadata was read from consolidated metadata, is not confirmed yet, and confirming it takes a round trip
    /// over a network.
    fn is_confirmed_by_a_request(&self) -> bool {
        self.location.is_remote() && self.generation.as_ref().is_some_and(|generation| generation.is_copy())
    }

    /// Checks that the stored array is still the one that the handle was opened for, and calls `write`. A shared hold prevents
    /// the array from being moved, replaced or deleted in the meantime.
    #[doc(hidden)]
    pub fn writing<R>(&self, write: impl FnOnce() -> Result<R>) -> Result<R> {
        let Some(generation) = &self.generation else { return write() };
        let checked = generation.hold(&self.location).and_then(|hold| {
            generation.check(&self.location, &self.metadata)?;
            Ok(hold)
        });
        let _hold = checked.map_err(|error| error.at(self.place()))?;
        write()
    }

    /// Returns an error unless the stored array is still the one that the handle was opened for.
    #[doc(hidden)]
    pub fn check_generation(&self) -> Result<()> {
        let Some(generation) = &self.generation else { return Ok(()) };
        generation.check(&self.location, &self.metadata)
    }

    fn key(&self, chunk: &[u64]) -> Result<Key> {
        self.confirm()?;
        self.unconfirmed_key(chunk)
    }

    /// Returns the key of a chunk, also if the metadata was read from consolidated metadata and is not confirmed yet.
    fn unconfirmed_key(&self, chunk: &[u64]) -> Result<Key> {
        self.chunks.key(&self.chunk_key_encoding()?.encode(chunk)).map_err(Error::from)
    }

    /// Returns the location of this array, as it is named in errors.
    pub(crate) fn place(&self) -> ErrorPlace {
        ErrorPlace::array(self.path()).in_store(self.location.store.location())
    }
}

/// Returns the metadata that an array has after a change to its documents. Nothing is stored.
fn patched(
    location: &Location,
    format: Format,
    node: &NodeMetadata,
    change: Change<'_>,
) -> Result<ArrayMetadata> {
    let (def, layout) = (format.def(), location.layout_for(format)?);
    let documents = def.to_documents(&location.path, node, &location.context.registry)?;
    match def.changed(&layout, documents, Some(change), &location.read_context())? {
        (Some(NodeMetadata::Array(array)), _) => Ok(array),
        _ => Err(crate::error::argument("the array was replaced by another node; open it again")),
    }
}

/// Detects the encoding of chunk keys if the metadata does not define it: old nested stores use the separator `/` in chunk keys
/// without declaring it, and writers of the drafts of v3 disagree about the chunk key of a zero-dimensional array.
fn undeclared_separator(
    location: &Location,
    chunks: &Prefix,
    metadata: &ArrayMetadata,
) -> Result<Option<ChunkKeyEncoding>> {
    let is_stored = |encoding: ChunkKeyEncoding| -> Result<bool> {
        let first = vec![0; metadata.shape.len()];
        let key = chunks.key(&encoding.encode(&first))?;
        Ok(location.store.size(&key)?.is_some())
    };
    let declared = metadata.chunk_key_encoding;
    if metadata.shape.is_empty() {
        let Some(other) = declared.other_scalar() else { return Ok(None) };
        return Ok((!is_stored(declared)? && is_stored(other)?).then_some(other));
    }
    if metadata.shape.len() < 2 || is_stored(ChunkKeyEncoding::V2(Separator::Dot))? {
        return Ok(None);
    }
    if !location.store.capabilities().listable {
        return Ok(is_stored(ChunkKeyEncoding::V2(Separator::Slash))?
            .then_some(ChunkKeyEncoding::V2(Separator::Slash)));
    }
    let listing = location.store.list_dir(chunks)?;
    let numbered = |prefix: &Prefix| prefix.name().bytes().all(|byte| byte.is_ascii_digit());
    let nested = listing.prefixes.iter().any(numbered);
    Ok(nested.then_some(ChunkKeyEncoding::V2(Separator::Slash)))
}

/// Returns the size in bytes of the unit that is decoded as a whole: a chunk, or an inner chunk of a shard.
fn unit_of(chain: &CodecChain) -> usize {
    let inner = chain.inner_chunk_shape().map(|shape| shape.iter().product::<usize>());
    inner.map_or(chain.chunk().size(), |count| count * chain.chunk().item())
}

/// Returns the number of elements in an array of this shape; `None` if it exceeds `u64`.
fn product(shape: &[u64]) -> Option<u64> {
    if shape.contains(&0) {
        return Some(0);
    }
    shape.iter().try_fold(1_u64, |size, &length| size.checked_mul(length))
}
