//! The model of a node: arrays and groups of any format.

use crate::codec::{ChunkSpec, CodecChain, CodecContext, CodecSpec};
use crate::data_type::DataType;
use crate::error::{Error, Result};
use crate::fill_value::FillValue;
use crate::grid::{ChunkGrid, ChunkKeyEncoding};
use crate::json::{Json, Map};
use crate::registry::Registry;
use crate::strictness::Strictness;

/// A format of metadata documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// Zarr version 1: single arrays.
    V1,
    /// Zarr version 2.
    V2,
    /// Zarr version 3.
    V3,
    /// The experimental version 3 of zarr-python 2.12 to 2.18.
    V3Experimental,
    /// The 2022 draft of version 3.
    V3Draft,
    /// N5, with the axes in NumPy's order.
    N5,
}

/// An array of any format.
#[derive(Debug, Clone, PartialEq)]
pub struct ArrayMetadata {
    /// The format of the documents.
    pub format: Format,
    /// The shape, in elements.
    pub shape: Vec<u64>,
    /// The data type.
    pub data_type: DataType,
    /// The unknown data type in the document, if [`data_type`](Self::data_type) is its fallback.
    pub fallback_from: Option<Box<Json>>,
    /// The chunk grid of the array.
    pub chunk_grid: ChunkGrid,
    /// The encoding of chunk keys.
    pub chunk_key_encoding: ChunkKeyEncoding,
    /// False if the document does not define the separator of chunk keys, as in old v2 documents, or the key of the only chunk,
    /// as in documents of the drafts. In this case, the stored keys must be examined.
    pub separator_declared: bool,
    /// The value of elements that were never written. `None` only for `null` in v1 and v2, which leaves the value undefined.
    pub fill_value: Option<FillValue>,
    /// The codecs that encode chunks.
    pub codecs: Vec<CodecSpec>,
    /// The user's attributes.
    pub attributes: Map,
    /// An optional name for each dimension.
    pub dimension_names: Option<Vec<Option<String>>>,
    /// Unknown members that need not be understood.
    pub extra: Map,
}

impl ArrayMetadata {
    /// Returns the value of elements that were never written; if it is undefined, the data type's default, as in zarr-python.
    #[doc(hidden)]
    pub fn fill_element(&self, registry: &Registry) -> Result<FillValue> {
        match &self.fill_value {
            Some(fill) => Ok(fill.clone()),
            None => Ok(registry.family(&self.data_type)?.default_fill(&self.data_type)),
        }
    }

    /// Creates a codec pipeline for unknown or invalid codecs. Every access to a chunk returns an error with the reason.
    ///
    /// # Errors
    /// When a chunk of this shape does not fit into memory.
    #[doc(hidden)]
    pub fn unusable_chain(
        &self,
        registry: &Registry,
        strictness: Strictness,
        limit: usize,
        why: &str,
    ) -> Result<CodecChain> {
        let chunk = self.chunk_spec(self.chunk_grid.largest_chunk(), registry)?;
        Ok(CodecChain::unusable(
            &self.codecs,
            &CodecContext { chunk: &chunk, registry, strictness, limit },
            why,
        ))
    }

    fn chunk_spec(&self, shape: &[u64], registry: &Registry) -> Result<ChunkSpec> {
        let chunk = ChunkSpec::new(shape, self.data_type.storage(), self.fill_element(registry)?)?;
        Ok(chunk.of_type(&self.data_type))
    }

    /// Creates the codec pipeline for this array's chunks.
    #[doc(hidden)]
    pub fn chain(&self, registry: &Registry, strictness: Strictness, limit: usize) -> Result<CodecChain> {
        self.chain_of(self.chunk_grid.largest_chunk(), registry, strictness, limit)
    }

    /// Creates the codec pipeline for chunks of this shape, for a grid with several shapes.
    #[doc(hidden)]
    pub fn chain_of(
        &self,
        chunk_shape: &[u64],
        registry: &Registry,
        strictness: Strictness,
        limit: usize,
    ) -> Result<CodecChain> {
        if let Some(unknown) = registry.unknown_among(&self.data_type, &[]) {
            return Err(Error::unsupported(unknown));
        }
        let chunk = self.chunk_spec(chunk_shape, registry)?;
        let context = CodecContext { chunk: &chunk, registry, strictness, limit };
        registry.check_object_codecs(&self.data_type, &self.codecs)?;
        Ok(CodecChain::new(&self.codecs, &context)?)
    }

    /// Returns true if two arrays are equal, regardless of the form of their documents.
    #[doc(hidden)]
    pub fn is_same(&self, other: &Self, registry: &Registry, chunk_limit: usize) -> Result<bool> {
        let complete = |array: &Self| -> Result<Self> {
            let codecs = array.chain(registry, Strictness::Lenient, chunk_limit)?.specs();
            Ok(Self { codecs, separator_declared: true, ..array.clone() })
        };
        Ok(self == other || complete(self)? == complete(other)?)
    }

    /// Checks the rules that the model has for all formats.
    #[doc(hidden)]
    pub fn validate(&self) -> Result<()> {
        check_rank(&self.shape)?;
        self.chunk_grid.check(&self.shape)?;
        match &self.dimension_names {
            Some(names) if names.len() != self.shape.len() => Err(Error::metadata(format!(
                "{} dimension names are given, but the array has {} dimensions",
                names.len(),
                self.shape.len()
            ))),
            _ => Ok(()),
        }
    }
}

/// The maximum number of dimensions of an array, as in NumPy. Some functions recurse over the dimensions, so their number must be
/// limited.
const MAX_RANK: usize = 64;

/// Rejects shapes with too many dimensions.
fn check_rank(shape: &[u64]) -> Result<()> {
    if shape.len() <= MAX_RANK {
        return Ok(());
    }
    let message = format!("the shape has {} dimensions; at most {MAX_RANK} are supported", shape.len());
    Err(Error::unsupported(message))
}

/// A group of any format.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupMetadata {
    /// The format of the documents.
    pub format: Format,
    /// The user's attributes.
    pub attributes: Map,
    /// Unknown members that need not be understood.
    pub extra: Map,
}

impl GroupMetadata {
    /// Creates a group without attributes.
    #[doc(hidden)]
    pub fn new(format: Format) -> Self {
        Self { format, attributes: Map::default(), extra: Map::default() }
    }
}

/// An array or a group.
#[derive(Debug, Clone, PartialEq)]
pub enum NodeMetadata {
    /// An array.
    Array(ArrayMetadata),
    /// A group.
    Group(GroupMetadata),
}
