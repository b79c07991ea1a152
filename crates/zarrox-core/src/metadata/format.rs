//! The interface of a format: its documents, and the way from them to the model and back.

use std::borrow::Cow;
use std::fmt;

use super::consolidated::Consolidation;
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

/// A document that is read: stored bytes, or parsed together with others.
#[derive(Debug, Clone, Copy)]
pub enum Source<'a> {
    /// The stored bytes.
    Bytes(&'a [u8]),
    /// The parsed document.
    Json(&'a Json),
}

impl<'a> Source<'a> {
    /// Sources of stored documents.
    pub fn stored(documents: &'a [Option<Vec<u8>>]) -> Vec<Option<Self>> {
        documents.iter().map(|document| document.as_deref().map(Self::Bytes)).collect()
    }

    /// The members of the document. Documents that were parsed already were parsed with the right strictness.
    pub(super) fn parsed(self, strictness: Strictness) -> Result<Cow<'a, Map>> {
        match self {
            Self::Bytes(bytes) => json::parse_document(bytes, strictness).map(Cow::Owned),
            Self::Json(json) => json::as_object(json).map(Cow::Borrowed),
        }
    }

    /// The members, to be read one by one.
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
    /// The known data types and codecs.
    pub registry: &'a Registry,
    /// The strictness of the reader.
    pub strictness: Strictness,
    /// True if an unknown data type may be read as the fallback that its document names.
    pub data_type_fallback: bool,
}

impl<'a> ReadContext<'a> {
    /// A context with this strictness and default options.
    pub const fn new(registry: &'a Registry, strictness: Strictness) -> Self {
        Self { registry, strictness, data_type_fallback: false }
    }
}

/// A change of a node's documents in place. All other members stay unchanged.
#[derive(Debug, Clone, Copy)]
pub enum Change<'a> {
    /// An array's shape.
    Shape(&'a [u64]),
    /// The shape of an array, and the grid with the chunks that it needs. Only formats with rectilinear grids have such a change.
    Growth(&'a [u64], &'a ChunkGrid),
    /// All attributes.
    Attributes(&'a Map),
    /// Members of an array's document, in the form of its format. A `dimension_separator` of `null` is removed.
    Members(&'a Map),
}

/// The definition of a format: its documents, and the way from them to the model and back.
pub trait FormatDef: fmt::Debug + Sync {
    /// The format's name, for people: `v2`, `v3`.
    fn name(&self) -> &'static str;

    /// The layout of new hierarchies, and of existing ones unless an entry document says otherwise.
    fn layout(&self) -> Layout;

    /// The key of the entry document at the root, which describes the layout of the whole hierarchy; `None` if nodes are
    /// independent.
    fn entry_key(&self) -> Option<&'static str> {
        None
    }

    /// The layout that an entry document describes (`None` if it is missing). `Ok(None)` if the hierarchy does not have this
    /// format. An error means that it has this format, but cannot be understood.
    fn entry_from_document(
        &self,
        _document: Option<&[u8]>,
        _context: &ReadContext<'_>,
    ) -> Result<Option<Layout>> {
        Ok(Some(self.layout()))
    }

    /// Returns true if a hierarchy without an entry document may still have this format, if its name or the caller says so.
    fn may_lack_entry(&self) -> bool {
        false
    }

    /// The entry document of a new hierarchy; `None` if the format has none.
    fn new_entry(&self) -> Result<Option<Vec<u8>>> {
        Ok(None)
    }

    /// Reads a node from its documents, in the order of [`Layout::documents`] (`None` for missing ones). `Ok(None)` if there is
    /// no node of this format. The layout tells whether missing documents mean an implicit group.
    #[expect(
        clippy::wrong_self_convention,
        reason = "a format makes nodes of documents, as `to_documents` does the reverse"
    )]
    fn from_documents(
        &self,
        documents: &[Option<Source<'_>>],
        context: &ReadContext<'_>,
    ) -> Result<Option<NodeMetadata>>;

    /// The index in [`Layout::documents`] of the document that makes a node a group, if an earlier document makes it an array.
    /// The group's document of an array is not read.
    fn group_document(&self) -> Option<usize> {
        None
    }

    /// The attributes of an implicit group, from documents in which [`FormatDef::from_documents`] finds no node, in a hierarchy
    /// whose layout has implicit groups. `None` if they do not belong to a group.
    fn implicit_group(
        &self,
        documents: &[Option<Source<'_>>],
        _context: &ReadContext<'_>,
    ) -> Result<Option<Map>> {
        Ok(documents.iter().all(Option::is_none).then(Map::default))
    }

    /// The documents of a node in the strict form, or an error that names the property which this format cannot express.
    fn to_documents(
        &self,
        path: &NodePath,
        node: &NodeMetadata,
        registry: &Registry,
    ) -> Result<Vec<Document>>;

    /// The documents that a change rewrites, given all documents as for [`FormatDef::from_documents`]. All are missing if an
    /// implicit group gets attributes.
    fn patch(&self, documents: &[Option<Vec<u8>>], change: Change<'_>) -> Result<Vec<Document>>;

    /// The node that documents describe after a change, and these documents. Nothing is stored. This completes the documents of a
    /// new node, and checks a change of an existing node before it is written.
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

    /// The codecs of a new array, given the codecs that its creator chose: adds the codecs that this format has around all
    /// chunks.
    fn new_codecs(&self, codecs: Vec<CodecSpec>) -> Vec<CodecSpec> {
        codecs
    }

    /// The codecs of an array without those that only this format adds: the reverse of [`FormatDef::new_codecs`].
    fn plain_codecs(&self, codecs: Vec<CodecSpec>) -> Vec<CodecSpec> {
        codecs
    }

    /// The encoding of chunk keys if the creator does not choose one.
    fn default_chunk_key_encoding(&self) -> ChunkKeyEncoding;

    /// The shape of chunks if the creator does not choose one, for elements of this size.
    fn default_chunks(&self, shape: &[u64], item: usize) -> Vec<u64> {
        about_a_mebibyte(shape, item)
    }

    /// Returns true if documents have a place for one compressor, which is the last codec.
    fn has_one_compressor(&self) -> bool {
        true
    }

    /// The compressor if the creator does not choose one, for elements of this size: that of the format's reference
    /// implementation.
    fn default_compressor(&self, item: usize) -> CodecSpec;

    /// The place of consolidated metadata; `None` if the format has none.
    fn consolidation(&self) -> Option<Consolidation> {
        None
    }

    /// Returns true if the fill value may be `null`, which leaves it undefined.
    fn has_undefined_fill(&self) -> bool {
        false
    }

    /// The codecs of the index of new shards; `None` if the format has no shards.
    fn index_codecs(&self) -> Option<Vec<CodecSpec>> {
        None
    }
}
