//! Creating arrays.

use zarrox_core::data_type::{Endian, LARGEST};
use zarrox_core::grid::{ChunkGrid, ChunkKeyEncoding, Separator};
use zarrox_core::json::{Json, Map};
use zarrox_core::{
    ArrayMetadata, CodecSpec, DataType, Element, Error, ErrorKind, FillValue, Format, NodeMetadata, Result,
};

use super::Array;
use crate::error::argument;
use crate::hierarchy::Location;

/// What fills elements that nobody has written.
#[derive(Debug, Clone)]
enum Fill {
    /// The data type's own default: zero, but "not a time" for times.
    Default,
    /// The bytes of an element, and the type they are of.
    Element(FillValue, DataType),
    /// As in metadata.
    Json(Json),
}

/// An array that is about to be created: set what it should be, then [`create`](ArrayBuilder::create) it.
///
/// Only the shape and the data type must be given. Chunks of about a mebibyte, and the compressor that the format's own
/// implementation takes, are the defaults.
#[derive(Debug, Clone)]
#[must_use = "nothing is created before `create` is called"]
pub struct ArrayBuilder {
    location: std::result::Result<Location, String>,
    format: Format,
    shape: Option<Vec<u64>>,
    data_type: Option<DataType>,
    chunks: Option<Vec<u64>>,
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
}

impl ArrayBuilder {
    pub(crate) fn new(location: Result<Location>, format: Format) -> Self {
        Self {
            location: location.map_err(|error| error.to_string()),
            format,
            shape: None,
            data_type: None,
            chunks: None,
            shards: None,
            endian: Endian::Little,
            column_major: false,
            filters: Vec::new(),
            compressor: None,
            codecs: None,
            fill: Fill::Default,
            separator: None,
            chunk_key_encoding: None,
            attributes: Map::new(),
            dimension_names: None,
            overwrite: false,
        }
    }

    /// The format of the metadata.
    pub fn format(mut self, format: Format) -> Self {
        self.format = format;
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

    /// The shape of a chunk, in elements.
    pub fn chunks(mut self, chunks: impl Into<Vec<u64>>) -> Self {
        self.chunks = Some(chunks.into());
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

    /// Whether chunks are stored with their first dimension varying fastest (order `F`).
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

    /// What an element is that nobody has written; zero if not said ("not a time" for times).
    pub fn fill_value<T: Element>(mut self, value: T) -> Self {
        let pointer = std::ptr::from_ref(&value).cast::<u8>();
        // SAFETY: an `Element` is plain data without padding: all its bytes are initialised.
        let bytes = unsafe { std::slice::from_raw_parts(pointer, size_of::<T>()) };
        self.fill = Fill::Element(FillValue::new(bytes), T::data_type());
        self
    }

    /// What an element is that nobody has written, as metadata says it: `0`, `"NaN"`, `[1.0, -1.0]`; in v1 and v2 also `null`, which
    /// leaves it undefined (and is read as the default).
    pub fn fill_value_json(mut self, value: Json) -> Self {
        self.fill = Fill::Json(value);
        self
    }

    /// The separator between the numbers of chunk keys; the format's own if not said.
    pub fn separator(mut self, separator: Separator) -> Self {
        self.separator = Some(separator);
        self
    }

    /// How chunks are named; as the format's own implementation does if not said.
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

    /// Whether a node that is there already is deleted, with all below it.
    pub fn overwrite(mut self, overwrite: bool) -> Self {
        self.overwrite = overwrite;
        self
    }

    /// Creates the array: its metadata, and the groups above it where they are missing, are stored when this returns.
    ///
    /// # Errors
    /// [`ErrorKind::AlreadyExists`] when there is a node already; when something does not fit together, or the format cannot
    /// say it; and what the store says.
    pub fn create(self) -> Result<Array> {
        let location = match &self.location {
            Ok(location) => location.clone(),
            Err(message) => return Err(argument(message)),
        };
        let place = format!("creating '{}' in {}", location.path, location.store.location());
        self.create_at(&location).map_err(|error| error.at(place))
    }

    fn create_at(self, location: &Location) -> Result<Array> {
        let array = self.metadata(location).and_then(|metadata| Array::new(location.as_stored(), metadata));
        let mut array = array.map_err(as_argument)?;
        // What is written is the complete, strict form of what was asked for.
        array.metadata.codecs = array.chain.specs();
        location.create_node(&NodeMetadata::Array(array.metadata.clone()), self.overwrite)?;
        Ok(array)
    }

    fn metadata(&self, location: &Location) -> Result<ArrayMetadata> {
        let shape = self.shape.clone().ok_or_else(|| argument("the array needs a shape"))?;
        let data_type = self.data_type.clone().ok_or_else(|| argument("the array needs a data type"))?;
        if data_type.size() > LARGEST {
            let message =
                format!("an element cannot have {} bytes; {LARGEST} are the most", data_type.size());
            return Err(argument(message));
        }
        let chunks = self.chunks.clone().unwrap_or_else(|| default_chunks(&shape, data_type.size()));
        let codecs = self.chain(&data_type, &chunks, shape.len())?;
        let outer = self.shards.clone().unwrap_or(chunks);
        let encoding =
            self.chunk_key_encoding.unwrap_or_else(|| self.format.def().default_chunk_key_encoding());
        let encoding = self.separator.map_or(encoding, |separator| encoding.with_separator(separator));
        let array = ArrayMetadata {
            format: self.format,
            chunk_grid: ChunkGrid::regular(outer, &shape)?,
            chunk_key_encoding: encoding,
            separator_declared: true,
            fill_value: self.fill_element(&data_type, location)?,
            codecs,
            attributes: self.attributes.clone(),
            dimension_names: self.dimension_names.clone(),
            extra: Map::new(),
            fallback_from: None,
            shape,
            data_type,
        };
        array.validate()?;
        Ok(array)
    }

    /// `None` where v1 or v2 shall say that it is undefined.
    fn fill_element(&self, data_type: &DataType, location: &Location) -> Result<Option<FillValue>> {
        let context = &location.context;
        let family = context.registry.family(data_type)?;
        match &self.fill {
            Fill::Default => Ok(Some(family.default_fill(data_type))),
            Fill::Element(value, own) if own.storage() == data_type.storage() => Ok(Some(value.clone())),
            Fill::Element(_, own) => Err(Error::new(
                ErrorKind::DataTypeMismatch,
                format!("the fill value is {own}, the elements are {data_type}"),
            )),
            Fill::Json(Json::Null) if self.format.def().has_undefined_fill() => Ok(None),
            Fill::Json(json) => family.fill_from_json(data_type, json, context.strictness).map(Some),
        }
    }

    /// The chain of the outermost chunks: with shards, one codec that has the chunks' chain inside.
    fn chain(&self, data_type: &DataType, chunks: &[u64], ndim: usize) -> Result<Vec<CodecSpec>> {
        let inner = match &self.codecs {
            Some(codecs) => codecs.clone(),
            None => self.chunk_codecs(data_type, ndim),
        };
        let Some(shards) = &self.shards else { return Ok(inner) };
        let Some(index_codecs) = self.format.def().index_codecs() else {
            return Err(Error::new(ErrorKind::Unsupported, format!("Zarr {} has no shards", self.format)));
        };
        if shards.len() != chunks.len() {
            return Err(argument(format!(
                "the shard shape {shards:?} and the chunk shape {chunks:?} differ in rank"
            )));
        }
        let sharding = zarrox_codecs::Sharding::new(chunks.to_vec(), inner).index_codecs(index_codecs);
        Ok(vec![sharding.into()])
    }

    fn chunk_codecs(&self, data_type: &DataType, ndim: usize) -> Vec<CodecSpec> {
        let mut codecs = Vec::new();
        if self.column_major && ndim > 1 {
            codecs.push(zarrox_codecs::Transpose::order((0..ndim).rev().collect::<Vec<_>>()).into());
        }
        let is_array = |spec: &CodecSpec| {
            let kind = zarrox_codecs::ALL.iter().find(|def| def.name == spec.name).map(|def| def.kind);
            kind == Some(zarrox_core::codec::CodecKind::ArrayToArray)
        };
        let (arrays, bytes): (Vec<_>, Vec<_>) = self.filters.iter().cloned().partition(is_array);
        codecs.extend(arrays);
        codecs.push(match (data_type.storage().word(), self.endian) {
            (1, _) => CodecSpec::new("bytes", Json::Null),
            (_, Endian::Big) => zarrox_codecs::Bytes::big().into(),
            (_, Endian::Little) => zarrox_codecs::Bytes::little().into(),
        });
        codecs.extend(bytes);
        match &self.compressor {
            Some(compressor) => codecs.extend(compressor.clone()),
            None => codecs.push(self.format.def().default_compressor(data_type.size())),
        }
        codecs
    }
}

/// Metadata that was asked for and breaks the rules is the caller's mistake, not damage in a store.
fn as_argument(error: Error) -> Error {
    match error.kind() {
        ErrorKind::InvalidMetadata => argument(error.to_string()),
        _ => error,
    }
}

/// Chunks of at most about a mebibyte: the longest dimensions are halved until they are.
fn default_chunks(shape: &[u64], item: usize) -> Vec<u64> {
    const TARGET: u128 = 1 << 20;
    let mut chunks: Vec<u64> = shape.iter().map(|&length| length.max(1)).collect();
    let size = |chunks: &[u64]| chunks.iter().fold(item as u128, |size, &n| size.saturating_mul(n.into()));
    while size(&chunks) > TARGET {
        let Some(longest) = chunks.iter_mut().max().filter(|length| **length > 1) else { break };
        *longest = longest.div_ceil(2);
    }
    chunks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_chunks_are_small_enough_whatever_the_shape() {
        assert_eq!(default_chunks(&[], 8), [] as [u64; 0]);
        assert_eq!(default_chunks(&[0, 3], 8), [1, 3]);
        assert_eq!(default_chunks(&[1000, 1000], 1), [1000, 1000]);
        assert_eq!(default_chunks(&[4096, 4096], 4), [512, 512]);
        let chunks = default_chunks(&[u64::MAX, u64::MAX, 7], 8);
        assert!(chunks.iter().product::<u64>() * 8 <= 1 << 20, "{chunks:?}");
    }
}
