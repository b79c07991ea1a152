//! The interface of a format: its documents, and the way from them to the model and back.

use std::borrow::Cow;
use std::fmt;

use super::consolidated::Consolidation;
use super::last_codecs::LastCodecs;
use super::layout::Layout;
use super::members::Members;
use super::model::NodeMetadata;
use crate::codec::CodecSpec;
use crate::error::Result;
use crate::grid::{ChunkGrid, ChunkKeyEncoding, about_a_mebibyte};
use crate::json::{self, Json, Map};
use crate::path::NodePath;
use crate::registry::Registry;
use crate::strictness::Strictness;

/// A document: its name, one of [`Layout::documents`], and its bytes.
pub type Document = (&'static str, Vec<u8>);

/// A document that is read: as it is stored, or as it was parsed together with others.
#[derive(Debug, Clone, Copy)]
pub enum Source<'a> {
    /// Its bytes.
    Bytes(&'a [u8]),
    /// The parsed documents.
    Json(&'a Json),
}

impl<'a> Source<'a> {
    /// Each of several documents that are stored.
    pub fn stored(documents: &'a [Option<Vec<u8>>]) -> Vec<Option<Self>> {
        documents.iter().map(|document| document.as_deref().map(Self::Bytes)).collect()
    }

    /// The document's members. What was parsed already was parsed as strictly as it should be.
    pub(super) fn parsed(self, strictness: Strictness) -> Result<Cow<'a, Map>> {
        match self {
            Self::Bytes(bytes) => json::parse_document(bytes, strictness).map(Cow::Owned),
            Self::Json(json) => json::as_object(json).map(Cow::Borrowed),
        }
    }

    /// The members, to be read one after the other.
    pub(super) fn members(self, strictness: Strictness) -> Result<Members<'a>> {
        match self {
            Self::Bytes(bytes) => Members::parse(bytes, strictness),
            Self::Json(json) => json::as_object(json).map(|map| Members::new(Cow::Borrowed(map), strictness)),
        }
    }
}

/// The context in which documents are read.
#[derive(Debug, Clone, Copy)]
pub struct ReadContext<'a> {
    /// The data types and codecs that are known.
    pub registry: &'a Registry,
    /// The strictness of the reader.
    pub strictness: Strictness,
    /// True if an unknown data type may be read as the known one that its document names in its place.
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

/// The definition of a format: its documents, and the way from them to the model and back.
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

    /// Returns whether a hierarchy whose entry document is missing is one of this format all the same where
    /// its name, or who opens it, says so.
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

    /// The node that documents describe after a change, and these documents. Nothing is stored: the documents of a new node are
    /// made complete, and a change of an existing node is checked before it is written.
    fn changed(
        &self,
        layout: &Layout,
        mut documents: Vec<Document>,
        change: Option<Change<'_>>,
        context: &ReadContext<'_>,
    ) -> Result<(Option<NodeMetadata>, Vec<Document>)> {
        let listed = |documents: &[Document]| -> Vec<Option<Vec<u8>>> {
            let find =
                |name: &&str| documents.iter().find(|(own, _)| own == name).map(|(_, bytes)| bytes.clone());
            layout.documents().iter().map(find).collect()
        };
        if let Some(change) = change {
            for (name, bytes) in self.patch(&listed(&documents), change)? {
                documents.retain(|(own, _)| *own != name);
                documents.push((name, bytes));
            }
        }
        let node = self.from_documents(&Source::stored(&listed(&documents)), context)?;
        Ok((node, documents))
    }

    /// The codecs of a new array, given those that its creator asks for: puts around them what this format has around all
    /// chunks.
    fn new_codecs(&self, codecs: Vec<CodecSpec>) -> Vec<CodecSpec> {
        codecs
    }

    /// The codecs of an array of this format as others would have them: the reverse of [`FormatDef::new_codecs`].
    fn plain_codecs(&self, codecs: Vec<CodecSpec>) -> Vec<CodecSpec> {
        codecs
    }

    /// The names of chunks when the creator does not give an encoding.
    fn default_chunk_key_encoding(&self) -> ChunkKeyEncoding;

    /// The shape of chunks whose creator does not say, for elements of this size.
    fn default_chunks(&self, shape: &[u64], item: usize) -> Vec<u64> {
        about_a_mebibyte(shape, item)
    }

    /// The compressor of arrays whose creator does not say, for elements of this size: the one that this
    /// format's own implementation takes.
    fn default_compressor(&self, item: usize) -> CodecSpec;

    /// The place of the consolidated metadata of a hierarchy; `None` where the format has none.
    fn consolidation(&self) -> Option<Consolidation> {
        None
    }

    /// Returns true if the fill value may be `null`, which leaves it undefined.
    fn has_undefined_fill(&self) -> bool {
        false
    }

    /// The codecs of the index of new shards; `None` where the format has no shards.
    fn index_codecs(&self) -> Option<Vec<CodecSpec>> {
        None
    }
}
