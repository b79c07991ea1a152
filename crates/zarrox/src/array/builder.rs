//! Creating arrays.

use std::fmt;
use std::sync::Arc;

use zarrox_core::codec::CodecKind;
use zarrox_core::data_type::{Casting, Endian};
use zarrox_core::internals::data_type::LARGEST;
use zarrox_core::internals::elements::{Elements, Target, exact_element};
use zarrox_core::internals::metadata::{Change, Document};
use zarrox_core::internals::selection::check_lengths;
use zarrox_core::json::{Json, Map};
use zarrox_core::{
    ArrayMetadata, ChunkGrid, ChunkKeyEncoding, ChunkLengths, ChunkShape, CodecSpec, DataType, DynArray,
    Error, ErrorKind, FillValue, Format, IntoElements, NodeMetadata, Order, Rectilinear, Registry, Result,
    Separator,
};

use super::Array;
use super::shape::Shape;
use crate::error::argument;
use crate::location::Location;

/// The value of elements that were never written.
#[derive(Clone)]
enum Fill {
    /// The default of the data type: zero, or "not a time" for times.
    Default,
    /// One value.
    Value(Arc<dyn IntoElements + Send + Sync>),
    /// JSON, as in the metadata.
    Json(Json),
}

impl fmt::Debug for Fill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("Default"),
            Self::Value(_) => f.write_str("Value"),
            Self::Json(json) => f.debug_tuple("Json").field(json).finish(),
        }
    }
}

/// A builder for an array: set its properties, then call [`create`](ArrayBuilder::create).
///
/// Only the shape and the data type are required. The default compressor is that of the format's reference implementation. By
/// default, a chunk has about one mebibyte; in v1 and v2, the default chunk shape is the one that zarr-python 2 guesses.
#[derive(Debug, Clone)]
#[must_use = "nothing is created before `create` is called"]
pub struct ArrayBuilder {
    location: std::result::Result<Location, String>,
    format: Format,
    /// True if no format was set: the location then determines it.
    inherits_format: bool,
    shape: Option<Vec<u64>>,
    data_type: Option<DataType>,
    sub_array: Vec<u64>,
    chunks: Option<ChunkShape>,
    chunk_grid: Option<std::result::Result<ChunkGrid, String>>,
    shards: Option<Vec<u64>>,
    endian: Endian,
    order: Order,
    filters: Vec<CodecSpec>,
    compressor: Option<Option<CodecSpec>>,
    codecs: Option<Vec<CodecSpec>>,
    checksum: bool,
    fill: Fill,
    separator: Option<Separator>,
    chunk_key_encoding: Option<ChunkKeyEncoding>,
    attributes: Map,
    dimension_names: Option<Vec<Option<String>>>,
    overwrite: bool,
    members: Map,
}

impl ArrayBuilder {
    /// Creates a builder for an array at a location, in a format; `None` means the format of the group above.
    #[doc(hidden)]
    pub fn new(location: Result<Location>, format: Option<Format>) -> Self {
        Self {
            location: location.map_err(|error| error.to_string()),
            format: format.unwrap_or(Format::V3),
            inherits_format: format.is_none(),
            shape: None,
            data_type: None,
            sub_array: Vec::new(),
            chunks: None,
            chunk_grid: None,
            shards: None,
            endian: Endian::Little,
            order: Order::default(),
            filters: Vec::new(),
            compressor: None,
            codecs: None,
            checksum: false,
            fill: Fill::Default,
            separator: None,
            chunk_key_encoding: None,
            attributes: Map::default(),
            dimension_names: None,
            overwrite: false,
            members: Map::default(),
        }
    }

    /// Sets all properties to those of another array: shape, data type, chunks, codecs, fill value, dimension names and format.
    /// Later calls can override each of them.
    ///
    /// ```
    /// # use zarrox::prelude::*;
    /// # let directory = tempfile::tempdir()?;
    /// # let array = zarrox::create_array(directory.path().join("a.zarr"))
    /// #     .shape([5, 2]).data_type(DataType::Int32).chunks([3, 2]).create()?;
    /// let longer = zarrox::create_array(directory.path().join("b.zarr")).like(&array).shape([50, 2]).create()?;
    /// assert_eq!(longer.chunk_shape(), [3, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn like(mut self, array: &Array) -> Self {
        let metadata = array.metadata();
        (self.format, self.inherits_format) = (metadata.format, false);
        self.shape = Some(metadata.shape.clone());
        let codecs = array.codecs();
        // The sharding codec of a regular grid is rebuilt, so that the builder can change it.
        let (inner, sharding) = match (array.inner_chunk_shape(), codecs.as_slice()) {
            (Some(inner), [sharding]) if sharding.name == "sharding_indexed" => (Some(inner), Some(sharding)),
            _ => (None, None),
        };
        match (&metadata.chunk_grid, inner) {
            (ChunkGrid::Regular { chunk_shape }, Some(inner)) => {
                (self.chunks, self.shards) = (Some(inner.into()), Some(chunk_shape.clone()));
                self.codecs = sharding.map(CodecSpec::inside);
            }
            (ChunkGrid::Regular { chunk_shape }, None) => {
                (self.chunks, self.codecs) = (Some(chunk_shape.clone().into()), Some(codecs));
            }
            (grid, _) => (self.chunk_grid, self.codecs) = (Some(Ok(grid.clone())), Some(codecs)),
        }
        self.dimension_names.clone_from(&metadata.dimension_names);
        self.chunk_key_encoding = metadata.separator_declared.then_some(metadata.chunk_key_encoding);
        let element = |fill: &FillValue| {
            DynArray::from_elements(metadata.data_type.clone(), vec![], [fill.as_bytes()]).ok()
        };
        self.fill = match metadata.fill_value.as_ref().map(element) {
            Some(Some(element)) => Fill::Value(Arc::new(FillLike(element))),
            Some(None) => Fill::Default,
            None => Fill::Json(Json::Null),
        };
        self.data_type(metadata.data_type.clone())
    }

    /// Sets the format of the metadata.
    pub fn format(mut self, format: Format) -> Self {
        self.format = format;
        self.inherits_format = false;
        self
    }

    /// Sets the shape, in elements.
    pub fn shape(mut self, shape: impl Into<Shape>) -> Self {
        self.shape = Some(shape.into().0);
        self
    }

    /// Sets the data type.
    pub fn data_type(mut self, data_type: DataType) -> Self {
        self.data_type = Some(data_type);
        self
    }

    /// Makes each element a small array of this shape, like NumPy's subarray data types. Zarr has no subarray data types, so this
    /// shape is appended to the array shape, the chunk shape and the shard shape.
    pub fn sub_array(mut self, shape: impl Into<Shape>) -> Self {
        self.sub_array = shape.into().0;
        self
    }

    /// Sets the chunk shape: a list of lengths in elements, with `None` for a whole dimension, or another [`ChunkShape`].
    ///
    /// ```
    /// # use zarrox::prelude::*;
    /// # use zarrox::ChunkShape;
    /// # let directory = tempfile::tempdir()?;
    /// # let builder = zarrox::create_array(directory.path().join("a.zarr")).data_type(DataType::Int8).shape([60, 80]);
    /// assert_eq!(builder.clone().chunks([30, 20]).create()?.chunk_shape(), [30, 20]);
    /// # let builder = builder.overwrite(true);
    /// assert_eq!(builder.clone().chunks([None, Some(20)]).create()?.chunk_shape(), [60, 20]);
    /// assert_eq!(builder.clone().chunks(ChunkShape::One).create()?.chunk_shape(), [60, 80]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn chunks(mut self, chunks: impl Into<ChunkShape>) -> Self {
        self.chunks = Some(chunks.into());
        self
    }

    /// Sets a rectilinear grid (v3), whose chunks can have different lengths: for each dimension, a list of chunk lengths, or one
    /// length that is repeated. If [`chunks`](Self::chunks) is set as well, these are the lengths of the shards.
    ///
    /// ```
    /// # use zarrox::prelude::*;
    /// # let directory = tempfile::tempdir()?;
    /// let year = zarrox::create_array(directory.path().join("a.zarr")).data_type(DataType::Float32).shape([365]);
    /// let year = year.rectilinear_chunks([[31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]]).create()?;
    /// assert_eq!(year.raw().shape(&[1])?, [28]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn rectilinear_chunks(mut self, lengths: impl IntoIterator<Item = impl Into<ChunkLengths>>) -> Self {
        let grid = Rectilinear::new(lengths).map(|grid| ChunkGrid::Rectilinear(Box::new(grid)));
        self.chunk_grid = Some(grid.map_err(|error| error.to_string()));
        self
    }

    /// Sets the grid of stored objects: the grid of chunks, or of shards if [`chunks`](Self::chunks) is set as well.
    pub fn chunk_grid(mut self, grid: ChunkGrid) -> Self {
        self.chunk_grid = Some(Ok(grid));
        self
    }

    /// Sets the shard shape, in elements. A shard stores several inner chunks in one object. Along each dimension, the length of
    /// a shard must be a multiple of the length of an inner chunk.
    pub fn shards(mut self, shards: impl Into<Shape>) -> Self {
        self.shards = Some(shards.into().0);
        self
    }

    /// Sets the byte order of stored numbers; little-endian by default.
    pub fn endian(mut self, endian: Endian) -> Self {
        self.endian = endian;
        self
    }

    /// Sets the order of elements within stored chunks; row-major (`C`) by default. [`Order::ColumnMajor`] is `F`.
    pub fn order(mut self, order: Order) -> Self {
        self.order = order;
        self
    }

    /// Adds a codec before the compressor.
    pub fn filter(mut self, filter: impl Into<CodecSpec>) -> Self {
        self.filters.push(filter.into());
        self
    }

    /// Sets the codec that compresses chunks.
    pub fn compressor(mut self, compressor: impl Into<CodecSpec>) -> Self {
        self.compressor = Some(Some(compressor.into()));
        self
    }

    /// Stores chunks uncompressed.
    pub fn no_compressor(mut self) -> Self {
        self.compressor = Some(None);
        self
    }

    /// Sets the whole codec pipeline, in place of the byte order, the memory order, the filters and the compressor.
    pub fn codecs(mut self, codecs: impl IntoIterator<Item = CodecSpec>) -> Self {
        self.codecs = Some(codecs.into_iter().collect());
        self
    }

    /// Sets whether each chunk is stored with a checksum, so that a corrupted byte is detected when the chunk is read. Within
    /// shards, each inner chunk has its own checksum.
    ///
    /// In v3, the checksum is the codec `crc32c` after the compressor. Formats with a single compressor have no slot for a codec
    /// after it: Zstandard's own checksum is enabled; any other compressor becomes a filter, and `crc32c` takes its slot. Codecs
    /// that always have a checksum, such as gzip, are left unchanged.
    ///
    /// ```
    /// # use zarrox::prelude::*;
    /// # let directory = tempfile::tempdir()?;
    /// let array = zarrox::create_array(directory.path().join("a.zarr")).shape([4]).data_type(DataType::Int32);
    /// assert_eq!(array.checksum(true).create()?.codecs().last().unwrap().name, "crc32c");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn checksum(mut self, checksum: bool) -> Self {
        self.checksum = checksum;
        self
    }

    /// Sets the value of elements that were never written; by default zero, or "not a time" for times. A number of another type
    /// is accepted if the data type can represent its value: `0` for floats, for example.
    pub fn fill_value(mut self, value: impl IntoElements + Send + Sync + 'static) -> Self {
        self.fill = Fill::Value(Arc::new(value));
        self
    }

    /// Sets the value of elements that were never written, as JSON in the form of the metadata: `0`, `"NaN"`, `[1.0, -1.0]`. In
    /// v1 and v2, `null` leaves the fill value undefined; missing chunks are then read as the default value of the data type.
    pub fn fill_value_json(mut self, value: Json) -> Self {
        self.fill = Fill::Json(value);
        self
    }

    /// Sets the separator between the indices in chunk keys; by default the separator of the format.
    pub fn separator(mut self, separator: Separator) -> Self {
        self.separator = Some(separator);
        self
    }

    /// Sets the encoding of chunk keys; by default the encoding of the format's reference implementation.
    pub fn chunk_key_encoding(mut self, encoding: ChunkKeyEncoding) -> Self {
        self.chunk_key_encoding = Some(encoding);
        self
    }

    /// Sets the user's attributes. [`json::to_map`](crate::json::to_map) serialises a value to attributes.
    pub fn attributes(mut self, attributes: impl Into<Map>) -> Self {
        self.attributes = attributes.into();
        self
    }

    /// Sets a name for each dimension (v3).
    pub fn dimension_names<N: Into<String>>(self, names: impl IntoIterator<Item = N>) -> Self {
        self.optional_dimension_names(names.into_iter().map(|name| Some(name.into())))
    }

    /// Sets names for some of the dimensions (v3).
    #[doc(hidden)]
    pub fn optional_dimension_names(mut self, names: impl IntoIterator<Item = Option<String>>) -> Self {
        self.dimension_names = Some(names.into_iter().collect());
        self
    }

    /// Sets whether an existing node is deleted first, with all nodes below it.
    pub fn overwrite(mut self, overwrite: bool) -> Self {
        self.overwrite = overwrite;
        self
    }

    /// Sets members of the array's document, as its format defines them: for example `filters` and `compressor` of v2, in the
    /// form of numcodecs. They override the members that result from other settings. The document is checked as if it had been
    /// read from a store.
    ///
    /// ```
    /// # use zarrox::prelude::*;
    /// # let directory = tempfile::tempdir()?;
    /// let members = zarrox::json::json!({"filters": [{"id": "delta", "dtype": "<i4"}], "compressor": null});
    /// let array = zarrox::create_array(directory.path().join("a.zarr"))
    ///     .format(Format::V2).shape([4]).data_type(DataType::Int32)
    ///     .members(members.as_object().cloned().unwrap()).create()?;
    /// assert_eq!(array.codecs().len(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(hidden)]
    pub fn members(mut self, members: Map) -> Self {
        self.members = members;
        self
    }

    /// Creates the array: stores its metadata, and any missing groups above it.
    ///
    /// # Errors
    /// [`ErrorKind::AlreadyExists`] when a node exists at the location; [`ErrorKind::InvalidArgument`] when settings are
    /// inconsistent; [`ErrorKind::Unsupported`] when the format does not support a setting; and the errors of the store.
    pub fn create(self) -> Result<Array> {
        let overwrite = self.overwrite;
        self.create_by(|location, format, documents, _| {
            let created = location.create_documents(format, false, documents, overwrite);
            created.map_err(|error| location.creating(error))
        })
    }

    /// Creates the array together with its elements, which `fill` writes. The array's documents are stored last, so the array
    /// cannot be opened before it is complete.
    ///
    /// After a failure, nothing remains in the store. If the process is killed, chunks remain, together with a journal
    /// ([`JOURNAL`](crate::internals::JOURNAL)) that names the `source` of the elements. The same call with the same source and
    /// settings then writes the elements again.
    ///
    /// ```
    /// # use zarrox::prelude::*;
    /// # let directory = tempfile::tempdir()?;
    /// let array = zarrox::create_array(directory.path().join("a.zarr"));
    /// let array = array.shape([3]).data_type(DataType::Int32);
    /// let array = array.create_with("the numbers", |array| array.write(.., [1, 2, 3]))?;
    /// assert_eq!(array.read::<Vec<i32>>(..)?, [1, 2, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`create`](Self::create) and of `fill`; [`ErrorKind::AlreadyExists`] when the creation of an array from
    /// another source was interrupted at this location.
    #[doc(hidden)]
    pub fn create_with(self, source: &str, fill: impl FnOnce(&Array) -> Result<()>) -> Result<Array> {
        let overwrite = self.overwrite;
        self.create_by(|location, format, documents, array| {
            location.create_filled(format, documents, overwrite, source, || fill(array))
        })
    }

    /// Returns the metadata of the array that would be created at a location.
    #[doc(hidden)]
    pub fn plan(self, place: &Location) -> Result<ArrayMetadata> {
        Ok(self.planned(place)?.1.metadata)
    }

    /// Creates the array: calls `store` with its documents.
    fn create_by(
        self,
        store: impl FnOnce(&Location, Format, &[Document], &Array) -> Result<()>,
    ) -> Result<Array> {
        let location = match &self.location {
            Ok(location) => location.probed_above(),
            Err(message) => return Err(argument(message)),
        };
        let planned = self.planned(&location).map_err(|error| location.creating(error));
        let (format, array, documents) = planned?;
        store(&location, format, &documents, &array)?;
        array.now_stored()
    }

    /// Appends the dimensions of subarray elements to those of the array.
    fn folded(mut self) -> Result<Self> {
        let inner = std::mem::take(&mut self.sub_array);
        if inner.is_empty() {
            return Ok(self);
        }
        if self.chunk_grid.is_some() {
            return Err(argument(
                "the elements are sub-arrays; a rectilinear grid needs their dimensions as dimensions of the array",
            ));
        }
        if let Some(ChunkShape::Lengths(lengths)) = &mut self.chunks {
            lengths.extend(inner.iter().copied().map(Some));
        }
        if let Some(names) = &mut self.dimension_names {
            names.extend(inner.iter().map(|_| None));
        }
        for shape in [&mut self.shape, &mut self.shards].into_iter().flatten() {
            shape.extend(&inner);
        }
        Ok(self)
    }

    /// Returns the array that the settings describe, with its format and its documents. Nothing is stored.
    fn planned(self, location: &Location) -> Result<(Format, Array, Vec<Document>)> {
        let mut this = self.folded()?;
        if this.inherits_format {
            this.format = location.new_format()?;
        }
        let (array, documents) = this.planned_folded(location)?;
        Ok((this.format, array, documents))
    }

    fn planned_folded(&self, location: &Location) -> Result<(Array, Vec<Document>)> {
        let metadata = self.metadata(location).map_err(as_argument)?;
        let array = Array::new(location.as_stored(), metadata.clone());
        let mut array =
            array.map_err(|error| self.refusal(location, metadata).unwrap_or(as_argument(error)))?;
        if let Some(why) = array.unreadable() {
            return Err(Error::new(ErrorKind::Unsupported, why));
        }
        // The stored document is the complete, strict form of the settings.
        let codecs = std::mem::replace(&mut array.metadata.codecs, array.chain.specs());
        check_levels(&codecs, &array.metadata.codecs)?;
        let node = NodeMetadata::Array(array.metadata.clone());
        let documents = self.format.def().to_documents(&location.path, &node, &location.context.registry)?;
        let (metadata, documents) = self.with_members(documents, location).map_err(as_argument)?;
        // v2 documents omit settings that are implied by other codecs, such as the element size of Blosc's shuffle.
        if !self.members.is_empty() || metadata.codecs != array.metadata.codecs {
            array = Array::new(location.as_stored(), metadata).map_err(as_argument)?;
        }
        Ok((array, documents))
    }

    /// Returns the array that is described by its documents with the given members, together with these documents.
    fn with_members(
        &self,
        documents: Vec<Document>,
        location: &Location,
    ) -> Result<(ArrayMetadata, Vec<Document>)> {
        let layout = location.layout_for(self.format)?;
        let change = (!self.members.is_empty()).then_some(Change::Members(&self.members));
        match self.format.def().changed(&layout, documents, change, &location.read_context())? {
            (Some(NodeMetadata::Array(array)), documents) => Ok((array, documents)),
            _ => Err(argument("with the given members, the document does not describe an array")),
        }
    }

    /// Returns the reason why the format does not support an array, which is more helpful than the error from the array's codecs.
    fn refusal(&self, location: &Location, metadata: ArrayMetadata) -> Option<Error> {
        let node = NodeMetadata::Array(metadata);
        let written = self.format.def().to_documents(&location.path, &node, &location.context.registry);
        written.err().filter(|error| error.kind() == ErrorKind::Unsupported)
    }

    fn metadata(&self, location: &Location) -> Result<ArrayMetadata> {
        let shape = self.shape.clone().ok_or_else(|| argument("the array has no shape; call `shape`"))?;
        let data_type =
            self.data_type.clone().ok_or_else(|| argument("the array has no data type; call `data_type`"))?;
        if data_type.size() > LARGEST {
            let message =
                format!("an element cannot have {} bytes; at most {LARGEST} are supported", data_type.size());
            return Err(argument(message));
        }
        let (chunk_grid, inner) = self.grid(&shape, data_type.size())?;
        let codecs = self.chain(&data_type, inner, shape.len(), &location.context.registry)?;
        let encoding =
            self.chunk_key_encoding.unwrap_or_else(|| self.format.def().default_chunk_key_encoding());
        let encoding = self.separator.map_or(encoding, |separator| encoding.with_separator(separator));
        let array = ArrayMetadata {
            format: self.format,
            chunk_grid,
            chunk_key_encoding: encoding,
            separator_declared: true,
            fill_value: self.fill_element(&data_type, location)?,
            codecs,
            attributes: self.attributes.clone(),
            dimension_names: self.dimension_names.clone(),
            extra: Map::default(),
            fallback_from: None,
            shape,
            data_type,
        };
        array.validate()?;
        check_lengths(&array.shape).map_err(|error| argument(error.to_string()))?;
        Ok(array)
    }

    /// Returns the grid of stored objects; if the objects are shards, also the inner chunk shape.
    fn grid(&self, shape: &[u64], item: usize) -> Result<(ChunkGrid, Option<Vec<u64>>)> {
        match (&self.chunk_grid, &self.shards) {
            (Some(_), Some(_)) => Err(argument(
                "the chunk grid and the shards are both given; the grid already describes the shards, so give one of the two",
            )),
            (Some(grid), None) => {
                let grid = grid.clone().map_err(argument)?;
                grid.check(shape)?;
                let inner = self.chunks.as_ref().map(|chunks| chunks.within(grid.largest_chunk(), item));
                Ok((grid, inner))
            }
            (None, Some(shards)) => {
                let chunks = self.chunks.as_ref().unwrap_or(&ChunkShape::Guess).within(shards, item);
                Ok((ChunkGrid::regular(shards.clone(), shape)?, Some(chunks)))
            }
            (None, None) => {
                let given = self.chunks.as_ref().map(|chunks| chunks.resolve(shape, item));
                let chunks = given.unwrap_or_else(|| self.format.def().default_chunks(shape, item));
                Ok((ChunkGrid::regular(chunks, shape)?, None))
            }
        }
    }

    /// Returns the fill value; `None` if it is to be left undefined in a v1 or v2 document.
    fn fill_element(&self, data_type: &DataType, location: &Location) -> Result<Option<FillValue>> {
        let context = &location.context;
        let family = context.registry.family(data_type)?;
        match &self.fill {
            Fill::Default => Ok(Some(family.default_fill(data_type))),
            Fill::Value(value) => {
                let fill = one_element(&**value, &Target { data_type, registry: &context.registry });
                fill.map(Some).map_err(|error| error.at("fill value"))
            }
            Fill::Json(Json::Null) if self.format.def().has_undefined_fill() => Ok(None),
            Fill::Json(json) => family.fill_from_json(data_type, json, context.strictness).map(Some),
        }
    }

    /// Returns the codecs of the stored objects: for shards, the sharding codec, which contains the codecs of the inner chunks.
    fn chain(
        &self,
        data_type: &DataType,
        inside: Option<Vec<u64>>,
        ndim: usize,
        registry: &Registry,
    ) -> Result<Vec<CodecSpec>> {
        let inner = match &self.codecs {
            Some(codecs) => codecs.clone(),
            None => self.chunk_codecs(data_type, ndim, registry),
        };
        let inner = if self.checksum { self.with_checksum(inner) } else { inner };
        let inner = self.format.def().new_codecs(inner);
        let Some(chunks) = inside else { return Ok(inner) };
        let Some(index_codecs) = self.format.def().index_codecs() else {
            return Err(Error::new(
                ErrorKind::Unsupported,
                format!("the format {} does not support shards", self.format),
            ));
        };
        if chunks.len() != ndim {
            return Err(argument(format!(
                "the chunk shape {chunks:?} must have {ndim} dimensions, like the shards"
            )));
        }
        let sharding = zarrox_codecs::Sharding::new(chunks, inner).index_codecs(index_codecs);
        Ok(vec![sharding.into()])
    }

    /// Adds a codec that stores a checksum, unless the codecs include one already.
    fn with_checksum(&self, mut codecs: Vec<CodecSpec>) -> Vec<CodecSpec> {
        if zarrox_codecs::internals::has_checksum(&codecs) {
            return codecs;
        }
        match codecs.last_mut() {
            Some(last) if last.name == "zstd" && self.format.def().has_one_compressor() => {
                last.configuration.insert("checksum".to_owned(), Json::Bool(true));
            }
            _ => codecs.push(zarrox_codecs::Crc32c::default().into()),
        }
        codecs
    }

    fn chunk_codecs(&self, data_type: &DataType, ndim: usize, registry: &Registry) -> Vec<CodecSpec> {
        let mut codecs = Vec::new();
        if self.order == Order::ColumnMajor && ndim > 1 {
            codecs.push(zarrox_codecs::Transpose::order((0..ndim).rev().collect::<Vec<_>>()).into());
        }
        let kind = |spec: &CodecSpec| registry.codec(&spec.name).map(|def| def.kind).ok();
        let of_kind = |wanted| self.filters.iter().filter(move |spec| kind(spec) == Some(wanted)).cloned();
        codecs.extend(of_kind(CodecKind::ArrayToArray));
        // A compressor that encodes numbers replaces `bytes`.
        let mut compressor = self.compressor.clone();
        let packs = |spec: &mut CodecSpec| kind(spec) == Some(CodecKind::ArrayToBytes);
        let given = of_kind(CodecKind::ArrayToBytes).next();
        let given = given.or_else(|| compressor.as_mut()?.take_if(packs));
        // A filter that encodes objects turns them into numbers.
        let numbers = codecs.iter().any(|filter| registry.object_type_of(filter).is_some());
        let default = || match numbers {
            true => Some(zarrox_codecs::Bytes::little().into()),
            false => registry.family(data_type).ok()?.default_codec(data_type),
        };
        codecs.push(match given.or_else(default) {
            Some(codec) => codec,
            None if data_type.storage().word() == 1 => CodecSpec::new("bytes", Json::Null),
            None if self.endian == Endian::Big => zarrox_codecs::Bytes::big().into(),
            None => zarrox_codecs::Bytes::little().into(),
        });
        let known = [CodecKind::ArrayToArray, CodecKind::ArrayToBytes].map(Some);
        codecs.extend(self.filters.iter().filter(|spec| !known.contains(&kind(spec))).cloned());
        match compressor {
            Some(compressor) => codecs.extend(compressor),
            None => codecs.push(self.format.def().default_compressor(data_type.encoded_item())),
        }
        codecs
    }
}

/// Returns an error for unsupported compression levels. In a document that is read, the nearest supported level is used instead,
/// since the level has no effect on decoding.
fn check_levels(asked: &[CodecSpec], taken: &[CodecSpec]) -> Result<()> {
    for (asked, taken) in asked.iter().zip(taken) {
        if let Some((asked, nearest)) = other_level(&asked.configuration, &taken.configuration) {
            let message =
                format!("codec '{}': level {asked} does not exist; the nearest is {nearest}", taken.name);
            return Err(argument(message));
        }
    }
    Ok(())
}

/// Returns the first compression level of the codec or of an inner codec that was requested but replaced, and its replacement.
fn other_level<'a>(asked: &'a Map, taken: &'a Map) -> Option<(&'a Json, &'a Json)> {
    asked.iter().find_map(|(name, asked)| {
        let taken = taken.get(name)?;
        match (asked.as_f64(), taken.as_f64()) {
            // A default level is always accepted.
            (Some(-1.0), _) => None,
            (Some(level), Some(nearest)) if name == "level" => {
                level.total_cmp(&nearest).is_ne().then_some((asked, taken))
            }
            _ => other_level_in(asked, taken),
        }
    })
}

fn other_level_in<'a>(asked: &'a Json, taken: &'a Json) -> Option<(&'a Json, &'a Json)> {
    match (asked, taken) {
        (Json::Object(asked), Json::Object(taken)) => other_level(asked, taken),
        (Json::Array(asked), Json::Array(taken)) => {
            asked.iter().zip(taken).find_map(|(asked, taken)| other_level_in(asked, taken))
        }
        _ => None,
    }
}

/// Converts an error about invalid metadata into an error about an argument, since the metadata results from the caller's
/// settings.
fn as_argument(error: Error) -> Error {
    match error.kind() {
        ErrorKind::InvalidMetadata => argument(error.to_string()),
        _ => error,
    }
}

/// The fill value of another array, converted if the new data type can represent it.
struct FillLike(DynArray);

impl IntoElements for FillLike {
    fn elements(&self, target: &Target<'_>) -> Result<Elements<'_>> {
        let (own, Target { data_type, registry }) = (self.0.data_type(), target);
        if own == *data_type || registry.cast(own, data_type, Casting::Exact).is_err() {
            return IntoElements::elements(&self.0, target);
        }
        Ok(Elements::of_element(exact_element(own, self.0.as_bytes(), data_type, registry)?))
    }
}

/// Returns the bytes of a single element.
fn one_element(value: &dyn IntoElements, target: &Target<'_>) -> Result<FillValue> {
    let elements = value.elements(target)?;
    let view = elements.view();
    if elements.len() != 1 {
        return Err(argument(format!("the fill value is a single element, not {} elements", elements.len())));
    }
    target.data_type.check_range(&view)?;
    let mut bytes = Vec::new();
    view.for_each_element(|element| {
        bytes.extend_from_slice(element);
        Ok::<_, Error>(())
    })?;
    Ok(FillValue::new(bytes))
}
