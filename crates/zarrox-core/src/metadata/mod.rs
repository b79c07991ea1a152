//! One model of nodes for all formats, and the formats that are read into it and written from it.
//!
//! A format is one file here: the keys of its documents, how they are read into the model, and how the model is
//! written to them. Past [`FormatDef::from_documents`] nothing asks which format a node came from.

mod consolidated;
mod drafts;
mod last_codecs;
mod layout;
mod members;
mod n5;
mod n5_compression;
mod v1;
mod v2;
mod v3;
mod v3_draft;
mod v3_experimental;

use std::borrow::Cow;
use std::fmt;

use crate::codec::{ChunkSpec, CodecChain, CodecContext, CodecSpec};
use crate::data_type::DataType;
use crate::error::{Error, Result};
use crate::fill_value::FillValue;
use crate::grid::{ChunkGrid, ChunkKeyEncoding, about_a_mebibyte};
use crate::json::{self, Json, Map};
use crate::path::NodePath;
use crate::registry::Registry;
use crate::strictness::Strictness;

use members::Members;

pub use consolidated::{Consolidation, Documents, StoredDocuments, may_have_inline, same_document};
pub use last_codecs::LastCodecs;
pub use layout::{Extent, Layout};

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
    /// The draft of version 3 of 2022.
    V3Draft,
    /// N5, with the axes in NumPy's order.
    N5,
}

/// All formats, in the order in which they are looked for.
static FORMATS: &[(Format, &dyn FormatDef)] = &[
    (Format::V3, &v3::V3),
    (Format::V2, &v2::V2),
    (Format::V1, &v1::V1),
    // Their nodes are looked for where nobody else has any, at the price of another document.
    (Format::V3Experimental, &v3_experimental::V3Experimental),
    (Format::V3Draft, &v3_draft::V3Draft),
    (Format::N5, &n5::N5),
];

impl Format {
    /// All formats, in the order in which they are looked for where none is named.
    pub fn all() -> impl Iterator<Item = Self> {
        FORMATS.iter().map(|(format, _)| *format)
    }

    /// What the format does.
    pub fn def(self) -> &'static dyn FormatDef {
        FORMATS.iter().find(|(format, _)| *format == self).map_or(FORMATS[0].1, |(_, def)| *def)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.def().name())
    }
}

/// A document: its name, one of [`Layout::documents`], and its bytes.
pub type Document = (&'static str, Vec<u8>);

/// A document that is read: as it is stored, or as it was parsed together with others.
#[derive(Debug, Clone, Copy)]
pub enum Source<'a> {
    /// Its bytes.
    Bytes(&'a [u8]),
    /// What was parsed out of them.
    Json(&'a Json),
}

impl<'a> Source<'a> {
    /// Each of several documents that are stored.
    pub fn stored(documents: &'a [Option<Vec<u8>>]) -> Vec<Option<Self>> {
        documents.iter().map(|document| document.as_deref().map(Self::Bytes)).collect()
    }

    /// The document's members. What was parsed already was parsed as strictly as it should be.
    fn parsed(self, strictness: Strictness) -> Result<Cow<'a, Map>> {
        match self {
            Self::Bytes(bytes) => json::parse_document(bytes, strictness).map(Cow::Owned),
            Self::Json(json) => json::as_object(json).map(Cow::Borrowed),
        }
    }

    /// The same, to be read one after the other.
    fn members(self, strictness: Strictness) -> Result<Members<'a>> {
        match self {
            Self::Bytes(bytes) => Members::parse(bytes, strictness),
            Self::Json(json) => json::as_object(json).map(|map| Members::new(Cow::Borrowed(map), strictness)),
        }
    }
}

/// What documents are read with.
#[derive(Debug, Clone, Copy)]
pub struct ReadContext<'a> {
    /// The data types and codecs that are known.
    pub registry: &'a Registry,
    /// How forgiving to be.
    pub strictness: Strictness,
    /// Whether an unknown data type may be read as the known one that its document names in its place.
    pub data_type_fallback: bool,
    /// The codecs of the last array that was read with the same registry and as forgivingly.
    pub last_codecs: Option<&'a LastCodecs>,
}

impl<'a> ReadContext<'a> {
    /// So forgiving, and nothing else.
    pub const fn new(registry: &'a Registry, strictness: Strictness) -> Self {
        Self { registry, strictness, data_type_fallback: false, last_codecs: None }
    }
}

/// Something of a node that is changed in place: all other members of its documents stay as they are.
#[derive(Debug, Clone, Copy)]
pub enum Change<'a> {
    /// An array's shape.
    Shape(&'a [u64]),
    /// An array's shape, and the grid with the chunks that it needs. Only formats with rectilinear grids have such a change.
    Growth(&'a [u64], &'a ChunkGrid),
    /// All attributes.
    Attributes(&'a Map),
    /// Members of an array's document, in the words of its format. A `dimension_separator` that is `null` is left away.
    Members(&'a Map),
}

/// Puts members into a document.
fn put_members(map: &mut Map, members: &Map) {
    map.extend(members.clone());
    if map.get("dimension_separator").is_some_and(Json::is_null) {
        map.shift_remove("dimension_separator");
    }
}

/// What a format is: its documents, and the way from them to the model and back.
pub trait FormatDef: fmt::Debug + Sync {
    /// The format's name, for people: `v2`, `v3`.
    fn name(&self) -> &'static str;

    /// Where new hierarchies have their documents and chunks; and all others, unless an entry document says where.
    fn layout(&self) -> Layout;

    /// The key of the document at the root that says how the whole hierarchy is laid out; `None` where each node stands
    /// for itself.
    fn entry_key(&self) -> Option<&'static str> {
        None
    }

    /// The layout that an entry document says (`None` where it is missing). `Ok(None)` when the hierarchy is not of this
    /// format: an error means that it is, and that it cannot be understood.
    fn entry_from_document(
        &self,
        _document: Option<&[u8]>,
        _context: &ReadContext<'_>,
    ) -> Result<Option<Layout>> {
        Ok(Some(self.layout()))
    }

    /// Whether a hierarchy whose entry document is missing is one of this format all the same where its name, or who opens
    /// it, says so.
    fn may_lack_entry(&self) -> bool {
        false
    }

    /// The entry document of a new hierarchy; `None` where it has none.
    fn new_entry(&self) -> Result<Option<Vec<u8>>> {
        Ok(None)
    }

    /// Reads a node from its documents, given in the order of [`Layout::documents`] (`None` where one is missing).
    /// `Ok(None)` when there is no node of this format. Whether missing documents mean an implicit group, the layout says.
    #[expect(
        clippy::wrong_self_convention,
        reason = "a format makes nodes of documents, as `to_documents` does the reverse"
    )]
    fn from_documents(
        &self,
        documents: &[Option<Source<'_>>],
        context: &ReadContext<'_>,
    ) -> Result<Option<NodeMetadata>>;

    /// The place among [`Layout::documents`] of the document that makes a node a group, where the one before makes it an array:
    /// of an array it is not read.
    fn group_document(&self) -> Option<usize> {
        None
    }

    /// The attributes of the group that documents mean by which alone [`FormatDef::from_documents`] finds no node, in a hierarchy whose
    /// layout has implicit groups. `None` when they are no group's.
    fn implicit_group(
        &self,
        documents: &[Option<Source<'_>>],
        _context: &ReadContext<'_>,
    ) -> Result<Option<Map>> {
        Ok(documents.iter().all(Option::is_none).then(Map::default))
    }

    /// The documents of a node, in the strict form, or an error that names what this format cannot say.
    fn to_documents(
        &self,
        path: &NodePath,
        node: &NodeMetadata,
        registry: &Registry,
    ) -> Result<Vec<Document>>;

    /// The documents that a change rewrites, given all as for [`FormatDef::from_documents`]. All are missing where attributes are
    /// given to an implicit group.
    fn patch(&self, documents: &[Option<Vec<u8>>], change: Change<'_>) -> Result<Vec<Document>>;

    /// The codecs of a new array, given those that its creator asks for: puts around them what this format has around all
    /// chunks.
    fn new_codecs(&self, codecs: Vec<CodecSpec>) -> Vec<CodecSpec> {
        codecs
    }

    /// The codecs of an array of this format as others would have them: the reverse of [`FormatDef::new_codecs`].
    fn plain_codecs(&self, codecs: Vec<CodecSpec>) -> Vec<CodecSpec> {
        codecs
    }

    /// How chunks are named when the creator does not say.
    fn default_chunk_key_encoding(&self) -> ChunkKeyEncoding;

    /// The shape of chunks whose creator does not say, for elements of this size.
    fn default_chunks(&self, shape: &[u64], item: usize) -> Vec<u64> {
        about_a_mebibyte(shape, item)
    }

    /// The compressor of arrays whose creator does not say, for elements of this size: the one that this
    /// format's own implementation takes.
    fn default_compressor(&self, item: usize) -> CodecSpec;

    /// How the metadata of a whole hierarchy is kept together; `None` where the format has no way.
    fn consolidation(&self) -> Option<Consolidation> {
        None
    }

    /// Whether the fill value may be `null`, which leaves it undefined.
    fn has_undefined_fill(&self) -> bool {
        false
    }

    /// The codecs of the index of new shards; `None` where the format has no shards.
    fn index_codecs(&self) -> Option<Vec<CodecSpec>> {
        None
    }
}

/// An array, whatever format it was read from.
#[derive(Debug, Clone, PartialEq)]
pub struct ArrayMetadata {
    /// The format of the documents.
    pub format: Format,
    /// The shape, in elements.
    pub shape: Vec<u64>,
    /// The data type.
    pub data_type: DataType,
    /// The data type as the document says it, where it is not known and [`data_type`](Self::data_type) is the one to take
    /// in its place.
    pub fallback_from: Option<Box<Json>>,
    /// How the array is divided into chunks.
    pub chunk_grid: ChunkGrid,
    /// How chunks are named.
    pub chunk_key_encoding: ChunkKeyEncoding,
    /// False where the document leaves it open which separator chunk keys have, as old v2 documents do, or which key
    /// the only chunk has, as those of the drafts do: then the keys themselves must be looked at.
    pub separator_declared: bool,
    /// What an element is that nobody has written; `None` only where v1 and v2 say `null`: undefined.
    pub fill_value: Option<FillValue>,
    /// How chunks are encoded.
    pub codecs: Vec<CodecSpec>,
    /// The user's attributes.
    pub attributes: Map,
    /// A name, or none, for each dimension.
    pub dimension_names: Option<Vec<Option<String>>>,
    /// Members that this library does not know and need not understand.
    pub extra: Map,
}

impl ArrayMetadata {
    /// The element that fills what nobody has written: where that is undefined, the data type's default, as zarr-python has it.
    pub fn fill_element(&self, registry: &Registry) -> Result<FillValue> {
        match &self.fill_value {
            Some(fill) => Ok(fill.clone()),
            None => Ok(registry.family(&self.data_type)?.default_fill(&self.data_type)),
        }
    }

    /// In the place of codecs of which some cannot be made: says why whenever a chunk is to be read or written.
    ///
    /// # Errors
    /// When no chunk of this shape can be in memory.
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

    /// The codecs, ready to work on this array's chunks.
    pub fn chain(&self, registry: &Registry, strictness: Strictness, limit: usize) -> Result<CodecChain> {
        self.chain_of(self.chunk_grid.largest_chunk(), registry, strictness, limit)
    }

    /// The same for chunks of this shape, which a grid of several shapes has.
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

    /// Whether two arrays are the same, however their documents say it.
    pub fn is_same(&self, other: &Self, registry: &Registry, chunk_limit: usize) -> Result<bool> {
        let complete = |array: &Self| -> Result<Self> {
            let codecs = array.chain(registry, Strictness::Lenient, chunk_limit)?.specs();
            Ok(Self { codecs, separator_declared: true, ..array.clone() })
        };
        Ok(self == other || complete(self)? == complete(other)?)
    }

    /// Checks what every format demands of the model.
    pub fn validate(&self) -> Result<()> {
        check_rank(&self.shape)?;
        self.chunk_grid.check(&self.shape)?;
        match &self.dimension_names {
            Some(names) if names.len() != self.shape.len() => Err(Error::metadata(format!(
                "{} dimension names are given for {} dimensions",
                names.len(),
                self.shape.len()
            ))),
            _ => Ok(()),
        }
    }
}

/// The most dimensions that an array may have: as in NumPy. Some work recurses over them, so that there must be a limit.
const MAX_RANK: usize = 64;

/// Refuses shapes of more dimensions than any array has.
fn check_rank(shape: &[u64]) -> Result<()> {
    if shape.len() <= MAX_RANK {
        return Ok(());
    }
    let message =
        format!("the shape has {} dimensions; {MAX_RANK} are the most that are supported", shape.len());
    Err(Error::unsupported(message))
}

/// A group, whatever format it was read from.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupMetadata {
    /// The format of the documents.
    pub format: Format,
    /// The user's attributes.
    pub attributes: Map,
    /// Members that this library does not know and need not understand.
    pub extra: Map,
}

impl GroupMetadata {
    /// A group without attributes.
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
