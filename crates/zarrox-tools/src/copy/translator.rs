//! The translation of one node to the target format.

use zarrox_core::internals::metadata::{ReadContext, Source};
use zarrox_core::{
    ArrayMetadata, CodecSpec, Error, ErrorKind, Format, GroupMetadata, NodeMetadata, NodePath, Registry,
    Result, Strictness,
};

use super::report::Obstacle;

/// The treatment of missing values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    /// xarray masks the same elements.
    AsXarray,
    /// Fill values and attributes are unchanged.
    Kept,
}

/// The translator of one node.
pub(super) struct Translator<'a> {
    pub(super) to: Format,
    /// True if chunks must stay unchanged and in place.
    pub(super) in_place: bool,
    /// The treatment of missing values.
    pub(super) missing: Missing,
    /// True if the stored chunks of arrays may be listed.
    pub(super) lists: bool,
    /// True if siblings of the node have dimension names.
    pub(super) in_data_set: bool,
    pub(super) registry: &'a Registry,
    pub(super) chunk_limit: usize,
    /// The path of the translated node.
    pub(super) path: NodePath,
    /// The name of the node for obstacles.
    pub(super) shown: &'a str,
    pub(super) obstacles: &'a mut Vec<Obstacle>,
}

impl Translator<'_> {
    pub(super) fn says(&self, node: &NodeMetadata) -> Result<()> {
        says(self.to, &self.path, node, self.registry, self.chunk_limit)
    }

    pub(super) fn says_array(&self, array: &ArrayMetadata) -> Result<()> {
        let codecs = self.in_target(array.codecs.clone());
        self.says(&NodeMetadata::Array(ArrayMetadata { codecs, ..array.clone() }))
    }

    /// Adds the codecs that the target's format adds to every chunk, unless chunks stay unchanged.
    pub(super) fn in_target(&self, codecs: Vec<CodecSpec>) -> Vec<CodecSpec> {
        if self.in_place { codecs } else { self.to.def().new_codecs(codecs) }
    }
}

/// Checks that a format can express a node; the error contains the reason.
pub(super) fn says(
    format: Format,
    path: &NodePath,
    node: &NodeMetadata,
    registry: &Registry,
    chunk_limit: usize,
) -> Result<()> {
    let def = format.def();
    let documents = def.to_documents(path, node, registry)?;
    let stored =
        |name: &&str| documents.iter().find(|(stored, _)| stored == name).map(|(_, bytes)| bytes.clone());
    let stored: Vec<Option<Vec<u8>>> = def.layout().documents().iter().map(stored).collect();
    let context = ReadContext { data_type_fallback: true, ..ReadContext::new(registry, Strictness::Lenient) };
    let stored = Source::stored(&stored);
    let back = match def.from_documents(&stored, &context)? {
        None if def.layout().implicit_groups() => {
            let group = |attributes| GroupMetadata { attributes, ..GroupMetadata::new(format) };
            def.implicit_group(&stored, &context)?.map(group).map(NodeMetadata::Group)
        }
        back => back,
    };
    let same = match (&back, node) {
        (Some(NodeMetadata::Array(back)), NodeMetadata::Array(array)) => {
            back.is_same(array, registry, chunk_limit)?
        }
        (Some(NodeMetadata::Group(back)), NodeMetadata::Group(group)) => back == group,
        _ => false,
    };
    if same {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Unsupported, format!("Zarr {format} stores it differently")))
}
