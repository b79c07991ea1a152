//! Creating arrays.

use zarrox_core::codec::CodecKind;
use zarrox_core::data_type::{Endian, LARGEST};
use zarrox_core::grid::{ChunkGrid, ChunkKeyEncoding, ChunkLengths, ChunkShape, Rectilinear, Separator};
use zarrox_core::json::{Json, Map};
use zarrox_core::metadata::{Change, Document};
use zarrox_core::selection::check_lengths;
use zarrox_core::strided::View;
use zarrox_core::{
    ArrayMetadata, CodecSpec, DataType, Element, Error, ErrorKind, FillValue, Format, NodeMetadata, Registry,
    Result,
};

use super::Array;
use crate::error::argument;
use crate::location::Location;

/// The value of elements that nobody has written.
#[derive(Debug, Clone)]
enum Fill {
    /// The data type's own default: zero, but "not a time" for times.
    Default,
    /// The bytes of an element, the type they are of, and which others they can be of.
    Element(FillValue, DataType, fn(&DataType) -> bool),
    /// JSON, as metadata has it.
    Json(Json),
}

/// An array that is about to be created: set what it should be, then [`create`](ArrayBuilder::create) it.
///
/// Only the shape and the data type must be given. The defaults are the compressor that the format's own implementation
/// takes, and for chunks about a mebibyte, in v1 and v2 what zarr-python 2 guesses.
#[derive(Debug, Clone)]
#[must_use = "nothing is created before `create` is called"]
pub struct ArrayBuilder {
    location: std::result::Result<Location, String>,
    format: Format,
    /// True if the format is the one that the place gives, since nobody has said another.
    inherits_format: bool,
    shape: Option<Vec<u64>>,
    data_type: Option<DataType>,
    sub_array: Vec<u64>,
    chunks: Option<ChunkShape>,
    chunk_grid: Option<std::result::Result<ChunkGrid, String>>,
    shards: Option<Vec<u64>>,
    endian: Endian,
    column_major: bool,
    filters: Vec<CodecSpec>,
    compressor: Option<Option<CodecSpec>>,
    codecs: Option<Vec<CodecSpec>>,
    fill: Fill,
    separator: Option<Separator>,
    chunk_key_encoding: Option<ChunkKeyEncoding>,
    attributes: Map,
    dimension_names: Option<Vec<Option<String>>>,
    overwrite: bool,
    members: Map,
}

impl ArrayBuilder {
    pub(crate) fn new(location: Result<Location>, format: Option<Format>) -> Self {
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
            column_major: false,
            filters: Vec::new(),
            compressor: None,
            codecs: None,
            fill: Fill::Default,
            separator: None,
            chunk_key_encoding: None,
            attributes: Map::default(),
            dimension_names: None,
            overwrite: false,
            members: Map::default(),
        }
    }

    /// The format of the metadata.
    pub fn format(mut self, format: Format) -> Self {
        self.format = format;
        self.inherits_format = false;
        self
    }

    /// The shape, in elements.
    pub fn shape(mut self, shape: impl Into<Vec<u64>>) -> Self {
        self.shape = Some(shape.into());
        self
    }

    /// The data type.
    pub fn data_type(mut self, data_type: DataType) -> Self {
        self.data_type = Some(data_type);
        self
    }
    /// The elements are small arrays of this shape, as NumPy's sub-array types have them. Zarr has no such elements: the
    /// shape is put behind the array's own, and, since the arrays stay in one piece, behind that of the chunks and shards.
    pub fn sub_array(mut self, shape: impl Into<Vec<u64>>) -> Self {
        self.sub_array = shape.into();
        self
    }

    /// The shape of a chunk: its lengths in elements, of which `None` is a whole dimension, or another [`ChunkShape`].
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

    /// Chunks that differ in length (v3): for each dimension a list of the lengths, or one length that is repeated. If
    /// [`chunks`](Self::chunks) are given as well, these are inside, and the lengths are those of shards.
    ///
    /// ```
    /// # use zarrox::prelude::*;
    /// # let directory = tempfile::tempdir()?;
    /// let year = zarrox::create_array(directory.path().join("a.zarr")).data_type(DataType::Float32).shape([365]);
    /// let year = year.rectilinear_chunks([[31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]]).create()?;
    /// assert_eq!(year.stored_chunk_shape(&[1])?, [28]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn rectilinear_chunks(mut self, lengths: impl IntoIterator<Item = impl Into<ChunkLengths>>) -> Self {
        let grid = Rectilinear::new(lengths).map(|grid| ChunkGrid::Rectilinear(Box::new(grid)));
        self.chunk_grid = Some(grid.map_err(|error| error.to_string()));
        self
    }

    /// The grid of stored objects: of chunks, or where [`chunks`](Self::chunks) are given as well, of shards.
    pub fn chunk_grid(mut self, grid: ChunkGrid) -> Self {
        self.chunk_grid = Some(Ok(grid));
        self
    }

    /// The shape of a shard, in elements: so many chunks are stored together in one object. Each length must be a multiple
    /// of the chunk's.
    pub fn shards(mut self, shards: impl Into<Vec<u64>>) -> Self {
        self.shards = Some(shards.into());
        self
    }

    /// The byte order of stored numbers; little-endian if not said.
    pub fn endian(mut self, endian: Endian) -> Self {
        self.endian = endian;
        self
    }

    /// Sets whether elements lie in a chunk with the first dimension varying fastest (order `F`).
    pub fn column_major(mut self, column_major: bool) -> Self {
        self.column_major = column_major;
        self
    }

    /// Adds a codec in front of the compressor.
    pub fn filter(mut self, filter: impl Into<CodecSpec>) -> Self {
        self.filters.push(filter.into());
        self
    }

    /// The codec that compresses chunks.
    pub fn compressor(mut self, compressor: impl Into<CodecSpec>) -> Self {
        self.compressor = Some(Some(compressor.into()));
        self
    }

    /// Chunks are stored uncompressed.
    pub fn no_compressor(mut self) -> Self {
        self.compressor = Some(None);
        self
    }

    /// The whole chain of codecs of a chunk, instead of byte order, order, filters and compressor.
    pub fn codecs(mut self, codecs: impl IntoIterator<Item = CodecSpec>) -> Self {
        self.codecs = Some(codecs.into_iter().collect());
        self
    }

    /// Sets the value of elements that nobody has written; zero by default ("not a time" for times).
    pub fn fill_value<T: Element>(mut self, value: T) -> Self {
        let pointer = std::ptr::from_ref(&value).cast::<u8>();
        // SAFETY: an `Element` is plain data without padding: all its bytes are initialised.
        let bytes = unsafe { std::slice::from_raw_parts(pointer, size_of::<T>()) };
        self.fill = Fill::Element(FillValue::new(bytes), T::data_type(), T::holds);
        self
    }

    /// Sets the value of elements that nobody has written, as JSON of metadata: `0`, `"NaN"`, `[1.0, -1.0]`; in v1 and v2 also `null`,
    /// which leaves it undefined (and is read as the default).
    pub fn fill_value_json(mut self, value: Json) -> Self {
        self.fill = Fill::Json(value);
        self
    }

    /// The separator between the numbers of chunk keys; the format's own if not said.
    pub fn separator(mut self, separator: Separator) -> Self {
        self.separator = Some(separator);
        self
    }

    /// Sets the encoding of chunk keys; by default that of the format's own implementation.
    pub fn chunk_key_encoding(mut self, encoding: ChunkKeyEncoding) -> Self {
        self.chunk_key_encoding = Some(encoding);
        self
    }

    /// The user's attributes.
    pub fn attributes(mut self, attributes: Map) -> Self {
        self.attributes = attributes;
        self
    }

    /// A name for each dimension (v3).
    pub fn dimension_names<N: Into<String>>(self, names: impl IntoIterator<Item = N>) -> Self {
        self.optional_dimension_names(names.into_iter().map(|name| Some(name.into())))
    }

    /// A name, or none, for each dimension (v3).
    pub fn optional_dimension_names(mut self, names: impl IntoIterator<Item = Option<String>>) -> Self {
        self.dimension_names = Some(names.into_iter().collect());
        self
    }

    /// Sets whether a node that is there already is deleted, with all below it.
    pub fn overwrite(mut self, overwrite: bool) -> Self {
        self.overwrite = overwrite;
        self
    }

    /// Members of the array's document in the words of its format, which replace those that all else that was said would give:
    /// numcodecs' `filters` and `compressor` of v2, for example. They are checked as a document is that is read.
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
    pub fn members(mut self, members: Map) -> Self {
        self.members = members;
        self
    }

    /// Creates the array: its metadata, and the groups above it where they are missing, are stored when this returns.
    ///
    /// # Errors
    /// [`ErrorKind::AlreadyExists`] when there is a node already; when something does not fit together, or the format cannot
    /// say it; and what the store says.
    pub fn create(self) -> Result<Array> {
        let location = match &self.location {
            Ok(location) => location.probed_above(),
            Err(message) => return Err(argument(message)),
        };
        let place = format!("creating '{}' in {}", location.path, location.store.location());
        self.create_at(&location).map_err(|error| error.at(place))
    }

    /// Makes the dimensions of a sub-array the last ones of the array, whose elements are then plain.
    fn folded(mut self) -> Result<Self> {
        let inner = std::mem::take(&mut self.sub_array);
        if inner.is_empty() {
            return Ok(self);
        }
        if self.chunk_grid.is_some() {
            return Err(argument(
                "the elements are arrays; a rectilinear grid needs their dimensions as dimensions of the array",
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

    fn create_at(self, location: &Location) -> Result<Array> {
        let mut this = self.folded()?;
        if this.inherits_format {
            this.format = location.new_format()?;
        }
        this.create_folded(location)
    }

    fn create_folded(self, location: &Location) -> Result<Array> {
        let metadata = self.metadata(location).map_err(as_argument)?;
        let array = Array::new(location.as_stored(), metadata.clone());
        let mut array =
            array.map_err(|error| self.refusal(location, metadata).unwrap_or(as_argument(error)))?;
        if let Some(why) = array.unreadable() {
            return Err(Error::new(ErrorKind::Unsupported, why));
        }
        // What is written is the complete, strict form of what was asked for.
        let codecs = std::mem::replace(&mut array.metadata.codecs, array.chain.specs());
        check_levels(&codecs, &array.metadata.codecs)?;
        let node = NodeMetadata::Array(array.metadata.clone());
        let documents = self.format.def().to_documents(&location.path, &node, &location.context.registry)?;
        let (metadata, documents) = self.with_members(documents, location).map_err(as_argument)?;
        // Documents of v2 leave out what follows from the other codecs, such as the size of what Blosc shuffles.
        if !self.members.is_empty() || metadata.codecs != array.metadata.codecs {
            array = Array::new(location.as_stored(), metadata).map_err(as_argument)?;
        }
        location.create_documents(self.format, false, &documents, self.overwrite)?;
        Ok(array)
    }

    /// The array that its documents make with the members that were given, and these documents.
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

    /// Why the format cannot say an array: where its codecs do not fit, that tells more.
    fn refusal(&self, location: &Location, metadata: ArrayMetadata) -> Option<Error> {
        let node = NodeMetadata::Array(metadata);
        let written = self.format.def().to_documents(&location.path, &node, &location.context.registry);
        written.err().filter(|error| error.kind() == ErrorKind::Unsupported)
    }

    fn metadata(&self, location: &Location) -> Result<ArrayMetadata> {
        let shape = self.shape.clone().ok_or_else(|| argument("the array has no shape; call `shape`"))?;
        let data_type = self.data_type.clone().ok_or_else(|| argument("the array has no data type; call `data_type`"))?;
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

    /// The grid of stored objects, and where these are shards, the shape of the chunks inside.
    fn grid(&self, shape: &[u64], item: usize) -> Result<(ChunkGrid, Option<Vec<u64>>)> {
        match (&self.chunk_grid, &self.shards) {
            (Some(_), Some(_)) => Err(argument("the chunk grid and the shards are both given; the grid already describes the shards, so give one of the two")),
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

    /// `None` where v1 or v2 shall say that it is undefined.
    fn fill_element(&self, data_type: &DataType, location: &Location) -> Result<Option<FillValue>> {
        let context = &location.context;
        let family = context.registry.family(data_type)?;
        match &self.fill {
            Fill::Default => Ok(Some(family.default_fill(data_type))),
            Fill::Element(value, _, holds) if holds(data_type) => {
                data_type.check_range(&View::broadcast(value.as_bytes(), &[]))?;
                Ok(Some(value.clone()))
            }
            Fill::Element(_, own, _) => Err(Error::new(
                ErrorKind::DataTypeMismatch,
                format!("the fill value is {own}, but the elements are {data_type}"),
            )),
            Fill::Json(Json::Null) if self.format.def().has_undefined_fill() => Ok(None),
            Fill::Json(json) => family.fill_from_json(data_type, json, context.strictness).map(Some),
        }
    }

    /// The chain of the outermost chunks: with shards, one codec that has the chunks' chain inside.
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

    fn chunk_codecs(&self, data_type: &DataType, ndim: usize, registry: &Registry) -> Vec<CodecSpec> {
        let mut codecs = Vec::new();
        if self.column_major && ndim > 1 {
            codecs.push(zarrox_codecs::Transpose::order((0..ndim).rev().collect::<Vec<_>>()).into());
        }
        let kind = |spec: &CodecSpec| registry.codec(&spec.name).map(|def| def.kind).ok();
        let of_kind = |wanted| self.filters.iter().filter(move |spec| kind(spec) == Some(wanted)).cloned();
        codecs.extend(of_kind(CodecKind::ArrayToArray));
        // A compressor of numbers stands where `bytes` does.
        let mut compressor = self.compressor.clone();
        let packs = |spec: &mut CodecSpec| kind(spec) == Some(CodecKind::ArrayToBytes);
        let given = of_kind(CodecKind::ArrayToBytes).next();
        let given = given.or_else(|| compressor.as_mut()?.take_if(packs));
        // A filter that stores objects makes numbers of them.
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

/// Refuses levels that codecs do not have. Of documents that are read they take the nearest, since it is nothing to a reader.
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

/// A level that was asked for, also of a codec inside, and the one that was taken instead.
fn other_level<'a>(asked: &'a Map, taken: &'a Map) -> Option<(&'a Json, &'a Json)> {
    asked.iter().find_map(|(name, asked)| {
        let taken = taken.get(name)?;
        match (asked.as_f64(), taken.as_f64()) {
            // The default, whatever that is.
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

/// Metadata that was asked for and breaks the rules is the caller's mistake, not damage in a store.
fn as_argument(error: Error) -> Error {
    match error.kind() {
        ErrorKind::InvalidMetadata => argument(error.to_string()),
        _ => error,
    }
}
