//! The interface of a format: its documents, and their conversion to the model and back.

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

/// The source of a document: stored bytes, or a document that was parsed together with other documents.
#[derive(Debug, Clone, Copy)]
pub enum Source<'a> {
    /// The stored bytes.
    Bytes(&'a [u8]),
    /// The parsed document.
    Json(&'a Json),
}

impl<'a> Source<'a> {
    /// Returns the sources of stored documents.
    pub fn stored(documents: &'a [Option<Vec<u8>>]) -> Vec<Option<Self>> {
        documents.iter().map(|document| document.as_deref().map(Self::Bytes)).collect()
    }

    /// Returns the members of the document. A document that is already parsed was parsed with the right strictness.
    pub(super) fn parsed(self, strictness: Strictness) -> Result<Cow<'a, Map>> {
        match self {
            Self::Bytes(bytes) => json::parse_document(bytes, strictness).map(Cow::Owned),
            Self::Json(json) => json::as_object(json).map(Cow::Borrowed),
        }
    }

    /// Returns the members, for access one by one.
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
    /// True if an unknown data type may be replaced by the fallback that the document names.
    pub data_type_fallback: bool,
}

impl<'a> ReadContext<'a> {
    /// Creates a context with this strictness and default options.
    pub const fn new(registry: &'a Registry, strictness: Strictness) -> Self {
        Self { registry, strictness, data_type_fallback: false }
    }
}

/// An in-place change to a node's documents. All other members are unchanged.
#[derive(Debug, Clone, Copy)]
pub enum Change<'a> {
    /// Sets the shape of an array.
    Shape(&'a [u64]),
    /// Sets the shape of an array, and the grid with the chunks that the shape needs. Only formats with rectilinear grids support
    /// this change.
    Growth(&'a [u64], &'a ChunkGrid),
    /// Sets all attributes.
    Attributes(&'a Map),
    /// Sets members of an array's document, in the form of its format. A `dimension_separator` of `null` is removed.
    Members(&'a Map),
}

/// The definition of a format: its documents, and their conversion to the model and back.
pub trait FormatDef: fmt::Debug + Sync {
    /// Returns the display name of the format: `v2`, `v3`.
    fn name(&self) -> &'static str;

    /// Returns the layout of new hierarchies, and of existing hierarchies unless an entry document defines another layout.
    fn layout(&self) -> Layout;

    /// Returns the key of the entry document at the root, which defines the layout of the whole hierarchy; `None` if nodes are
    /// independent.
    fn entry_key(&self) -> Option<&'static str> {
        None
    }

    /// Returns the layout that an entry document defines. The argument is `None` if the document is missing. Returns `Ok(None)`
    /// if the hierarchy does not have this format. An error means that the hierarchy has this format, but is not valid or not
    /// supported.
    fn entry_from_document(
        &self,
        _document: Option<&[u8]>,
        _context: &ReadContext<'_>,
    ) -> Result<Option<Layout>> {
        Ok(Some(self.layout()))
    }

    /// Returns true if a hierarchy without an entry document may still have this format, if the caller or the name of the
    /// hierarchy specifies the format.
    fn may_lack_entry(&self) -> bool {
        false
    }

    /// Returns the entry document of a new hierarchy; `None` if the format has none.
    fn new_entry(&self) -> Result<Option<Vec<u8>>> {
        Ok(None)
    }

    /// Reads a node from its documents, in the order of [`Layout::documents`] (`None` for missing ones). Returns `Ok(None)` if
    /// they do not describe a node of this format. The layout determines whether missing documents mean an implicit group.
    #[expect(
        clippy::wrong_self_convention,
        reason = "a format converts documents to nodes; `to_documents` is the inverse"
    )]
    fn from_documents(
        &self,
        documents: &[Option<Source<'_>>],
        context: &ReadContext<'_>,
    ) -> Result<Option<NodeMetadata>>;

    /// Returns the index in [`Layout::documents`] of the group's document, if the array's document comes before it. A node with
    /// an array's document is an array, so that the group's document is not read.
    fn group_document(&self) -> Option<usize> {
        None
    }

    /// Returns the attributes of an implicit group from documents for which [`FormatDef::from_documents`] returns no node. The
    /// layout of the hierarchy must have implicit groups. Returns `None` if the documents do not belong to a group.
    fn implicit_group(
        &self,
        documents: &[Option<Source<'_>>],
        _context: &ReadContext<'_>,
    ) -> Result<Option<Map>> {
        Ok(documents.iter().all(Option::is_none).then(Map::default))
    }

    /// Returns the documents of a node in the strict form, or an error that names the property that this format cannot represent.
    fn to_documents(
        &self,
        path: &NodePath,
        node: &NodeMetadata,
        registry: &Registry,
    ) -> Result<Vec<Document>>;

    /// Returns the documents that a change rewrites, given all documents as for [`FormatDef::from_documents`]. If attributes are
    /// set for an implicit group, all documents are missing.
    fn patch(&self, documents: &[Option<Vec<u8>>], change: Change<'_>) -> Result<Vec<Document>>;

    /// Returns the node after a change, and its changed documents, without storing them. Callers use this function to complete
    /// the documents of a new node, and to check a change before it is written.
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

    /// Returns the codecs of a new array: the chosen codecs, and the codecs that this format applies to every chunk.
    fn new_codecs(&self, codecs: Vec<CodecSpec>) -> Vec<CodecSpec> {
        codecs
    }

    /// Returns the codecs of an array without the codecs that this format adds: the inverse of [`FormatDef::new_codecs`].
    fn plain_codecs(&self, codecs: Vec<CodecSpec>) -> Vec<CodecSpec> {
        codecs
    }

    /// Returns the default encoding of chunk keys.
    fn default_chunk_key_encoding(&self) -> ChunkKeyEncoding;

    /// Returns the default chunk shape, for elements of this size.
    fn default_chunks(&self, shape: &[u64], item: usize) -> Vec<u64> {
        about_a_mebibyte(shape, item)
    }

    /// Returns true if documents have a member for a single compressor, which is the last codec.
    fn has_one_compressor(&self) -> bool {
        true
    }

    /// Returns the default compressor of the format's reference implementation, for elements of this size.
    fn default_compressor(&self, item: usize) -> CodecSpec;

    /// Returns the location of consolidated metadata; `None` if the format has none.
    fn consolidation(&self) -> Option<Consolidation> {
        None
    }

    /// Returns true if the fill value may be `null`, which leaves the value undefined.
    fn has_undefined_fill(&self) -> bool {
        false
    }

    /// Returns the codecs of the index of new shards; `None` if the format has no shards.
    fn index_codecs(&self) -> Option<Vec<CodecSpec>> {
        None
    }
}
