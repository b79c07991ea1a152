//! Virtual translations of nodes to another format: their documents and single chunks, without a copy.

use std::fmt;
use std::sync::Arc;

use zarrox::internals::{ErrorPlace, argument};
use zarrox_core::internals::metadata::StoredDocuments;
use zarrox_core::{Error, ErrorKind, Format, NodeMetadata, NodePath, Result};
use zarrox_stores::{Bytes, MemoryStore};

use super::report::{Effect, Obstacle};
use super::translator::Missing;
use super::translator::Translator;
use crate::rechunk::selection;
use zarrox::{AccessOptions, Array, DynArray, Node};

/// A virtual translation of a node to another format, as [a conversion](super::Copier) would write it. Nothing is stored:
/// documents and chunks are computed on request.
///
/// ```
/// use zarrox_tools::copy::Translation;
/// use zarrox::{prelude::*, s};
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("old.zarr");
/// # let options = zarrox::OpenOptions::new().format(Format::V2);
/// let old = options.create_array(&path).shape([4, 4]).chunks([2, 4]).data_type(DataType::Int32).create()?;
/// old.write(s![0], 7)?;
///
/// let new = Translation::new(&Node::Array(old), Format::V3)?;
/// assert_eq!(new.documents()?[0].0, "zarr.json");
/// assert_eq!(new.chunk_of("c/0/0"), Some(vec![0, 0]));
/// assert!(new.has_chunk(&[0, 0])? && !new.has_chunk(&[1, 0])?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Translation {
    format: Format,
    metadata: NodeMetadata,
    obstacles: Vec<Obstacle>,
    chunks: Option<Chunks>,
}

/// The chunks of an array.
#[derive(Clone)]
struct Chunks {
    source: Array,
    /// The array in the target's format, in a store without objects.
    target: Array,
    /// True if chunks have the same encoded bytes.
    same: bool,
    /// True if missing chunks would be read as other values.
    all: bool,
}

impl fmt::Debug for Translation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Translation({})", self.format)
    }
}

impl Translation {
    /// Translates a node.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] with the reasons, if the format cannot express the node.
    pub fn new(node: &Node, format: Format) -> Result<Self> {
        let mut obstacles = Vec::new();
        let root = NodePath::root();
        let location = match node {
            Node::Array(array) => array.location(),
            Node::Group(group) => group.location(),
        };
        let mut translator = Translator {
            to: format,
            in_place: false,
            missing: Missing::AsXarray,
            lists: false,
            in_data_set: false,
            registry: &location.context.registry,
            chunk_limit: location.context.chunk_limit,
            path: root,
            // Here, a skipped array is an error.
            shown: "/",
            obstacles: &mut obstacles,
        };
        let (metadata, chunks) = match node {
            Node::Group(group) => (translator.group(group.metadata()).map(NodeMetadata::Group), None),
            Node::Array(array) => match translate(&mut translator, array)? {
                Some((metadata, chunks)) => (Some(metadata), Some(chunks)),
                None => (None, None),
            },
        };
        let refused = obstacles.iter().any(|obstacle| obstacle.effect == Effect::Refusal);
        match metadata.filter(|_| !refused) {
            Some(metadata) => Ok(Self { format, metadata, obstacles, chunks }),
            None => Err(refusal(format, &obstacles)),
        }
    }

    /// Returns the translation with different options for reading and writing chunks.
    #[must_use]
    pub fn with_options(&self, options: &AccessOptions) -> Self {
        let with = |array: &Array| array.with_options(options);
        let chunks = self.chunks.as_ref().map(|chunks| Chunks {
            source: with(&chunks.source),
            target: with(&chunks.target),
            ..*chunks
        });
        Self { chunks, ..self.clone() }
    }

    /// Returns the metadata in the target format.
    pub fn metadata(&self) -> &NodeMetadata {
        &self.metadata
    }

    /// Returns the properties that the format stores differently, or not at all.
    pub fn obstacles(&self) -> &[Obstacle] {
        &self.obstacles
    }

    /// Returns the documents with their keys relative to the node.
    ///
    /// # Errors
    /// If a document cannot be created.
    pub fn documents(&self) -> Result<Vec<(String, Vec<u8>)>> {
        let (location, def) = (NodePath::root(), self.format.def());
        let registry = self.chunks.as_ref().map(|chunks| chunks.source.location().context.registry.clone());
        let registry = registry.unwrap_or_else(|| Arc::new(zarrox_codecs::registry()));
        let documents = def.to_documents(&location, &self.metadata, &registry)?;
        let layout = def.layout();
        Ok(documents.into_iter().map(|(name, bytes)| (layout.key(&location, name), bytes)).collect())
    }

    /// Returns the document with the consolidated metadata of a group, and its key relative to the group. `below` contains the
    /// nodes below the group with their relative paths. Returns `None` if the format has no consolidated metadata.
    ///
    /// # Errors
    /// If a document cannot be created.
    pub fn consolidated<'t>(
        &self,
        below: impl IntoIterator<Item = (NodePath, &'t Self)>,
    ) -> Result<Option<(String, Vec<u8>)>> {
        let (root, def) = (NodePath::root(), self.format.def());
        let (layout, Some(consolidation)) = (def.layout(), def.consolidation()) else { return Ok(None) };
        let Some(key) = consolidation.key(&layout, &root) else { return Ok(None) };
        let mut nodes = StoredDocuments::new();
        let own = self.documents()?;
        for (path, node) in below {
            let documents = node.documents()?;
            let stored = |name: &&str| {
                let key = layout.key(&root, name);
                documents.iter().find(|(other, _)| *other == key).map(|(_, bytes)| bytes.clone())
            };
            nodes.insert(path, layout.documents().iter().map(stored).collect());
        }
        let existing = own.iter().find(|(other, _)| *other == key).map(|(_, bytes)| bytes.as_slice());
        consolidation.document_of(&layout, &root, existing, None, &nodes).map(|bytes| Some((key, bytes)))
    }

    /// Returns the index of the chunk with this key relative to the node; `None` if the array has no such chunk, and for groups.
    pub fn chunk_of(&self, key: &str) -> Option<Vec<u64>> {
        let target = &self.chunks.as_ref()?.target;
        let prefix = target.chunks_prefix().as_str();
        let chunk = target.metadata().chunk_key_encoding.decode(key.strip_prefix(prefix)?, target.ndim())?;
        target.has_chunk(&chunk).then_some(chunk)
    }

    /// Returns the key, in the node's own store, of the encoded bytes of a chunk if these are already in the target's form;
    /// `None` if chunks must be encoded again.
    ///
    /// # Errors
    /// If the chunk index is out of bounds, or the store cannot be read.
    pub fn stored_key(&self, chunk: &[u64]) -> Result<Option<String>> {
        let chunks = self.chunks()?;
        if !chunks.same || (chunks.all && chunks.source.stored_size(chunk)?.is_none()) {
            return Ok(None);
        }
        chunks.source.raw().key(chunk).map(Some)
    }

    /// Returns true if a chunk exists, without reading it.
    ///
    /// # Errors
    /// If the chunk index is out of bounds, or the store cannot be read.
    pub fn has_chunk(&self, chunk: &[u64]) -> Result<bool> {
        let chunks = self.chunks()?;
        if chunks.all {
            return Ok(true);
        }
        let region = chunks.region(chunk)?;
        chunks.sources(&region, &mut |source| Ok(chunks.source.stored_size(source)?.is_some()))
    }

    /// Returns the key of a chunk's only source chunk, in the node's own store; `None` if the chunk has several source chunks.
    ///
    /// # Errors
    /// If the chunk index is out of bounds, or the store cannot be read.
    pub fn source_key(&self, chunk: &[u64]) -> Result<Option<String>> {
        let chunks = self.chunks()?;
        if chunks.source.chunk_grid() != chunks.target.chunk_grid() {
            return Ok(None);
        }
        chunks.source.raw().key(chunk).map(Some)
    }

    /// Returns the encoded bytes of a chunk. The chunk is decoded and encoded unless its stored bytes are already in the target's
    /// form. Returns `None` if the chunk is missing.
    ///
    /// # Errors
    /// If the chunk index is out of bounds, and the errors of reading.
    pub fn encode_chunk(&self, chunk: &[u64]) -> Result<Option<Bytes>> {
        let chunks = self.chunks()?;
        if chunks.same
            && let encoded = chunks.source.raw().read(chunk)?
            && (encoded.is_some() || !chunks.all)
        {
            return Ok(encoded);
        }
        if !self.has_chunk(chunk)? {
            return Ok(None);
        }
        let elements = selection(&chunks.region(chunk)?);
        let values = chunks.source.read::<DynArray>(elements.clone())?;
        let as_it_is = values.data_type() == chunks.target.data_type();
        let values = if as_it_is { values } else { values.packed()? };
        let target = chunks.target.in_store(Arc::new(MemoryStore::new()));
        target.write(elements, &values)?;
        target.raw().read(chunk)
    }

    fn chunks(&self) -> Result<&Chunks> {
        self.chunks.as_ref().ok_or_else(|| argument("a group has no chunks"))
    }
}

impl Chunks {
    /// Returns the region of a chunk of the target: its start and end along each dimension.
    fn region(&self, chunk: &[u64]) -> Result<Vec<(u64, u64)>> {
        let target = &self.target;
        let missing = || argument(format!("there is no chunk {chunk:?}"));
        if !target.has_chunk(chunk) {
            return Err(missing());
        }
        let dims = chunk.iter().zip(target.shape()).enumerate();
        let along = dims.map(|(dim, (&index, &length))| {
            let (start, size) = target.chunk_grid().chunk_place(dim, index)?;
            Some((start, start.saturating_add(size).min(length)))
        });
        along.collect::<Option<Vec<_>>>().ok_or_else(missing)
    }

    /// Calls `ask` with the source chunks that overlap a region, until it returns true.
    fn sources(&self, region: &[(u64, u64)], ask: &mut dyn FnMut(&[u64]) -> Result<bool>) -> Result<bool> {
        let grid = self.source.chunk_grid();
        let index = |dim: usize, position: u64| {
            let runs = grid.runs(dim);
            let run = runs.iter().rev().find(|run| run.start <= position);
            run.map_or(0, |run| run.first + (position - run.start) / run.length.max(1))
        };
        let dims = || region.iter().enumerate();
        let first: Vec<u64> = dims().map(|(dim, (begin, _))| index(dim, *begin)).collect();
        let last: Vec<u64> = dims().map(|(dim, (_, end))| index(dim, end.saturating_sub(1))).collect();
        let mut chunk = first.clone();
        loop {
            if ask(&chunk)? {
                return Ok(true);
            }
            let Some(dim) = (0..chunk.len()).rev().find(|&dim| chunk[dim] < last[dim]) else {
                return Ok(false);
            };
            chunk[dim] += 1;
            chunk[dim + 1..].copy_from_slice(&first[dim + 1..]);
        }
    }
}

/// Translates the metadata and the chunks of an array; `None` if the format cannot express it.
fn translate(translator: &mut Translator<'_>, array: &Array) -> Result<Option<(NodeMetadata, Chunks)>> {
    if let Some(why) = array.unreadable() {
        return Err(Error::new(ErrorKind::Unsupported, why.to_owned()).at(ErrorPlace::array(array.path())));
    }
    let format = translator.to;
    let keys = match array.metadata().format == format {
        true => array.raw().key_encoding()?,
        // New keys have the form that every reader supports.
        false => format.def().default_chunk_key_encoding(),
    };
    let Some(target) = translator.array(array, keys)? else { return Ok(None) };
    let options = array.open_options().store_empty_chunks(true);
    let place = options.location(Arc::new(MemoryStore::new()), "")?;
    let made = Array::by_metadata(place, target.metadata.clone())?;
    let chunks =
        Chunks { source: array.clone(), target: made, same: target.same_chunks, all: target.other_fill };
    Ok(Some((NodeMetadata::Array(target.metadata), chunks)))
}

/// Returns the error for a node that the format cannot express.
fn refusal(format: Format, obstacles: &[Obstacle]) -> Error {
    let refused = obstacles.iter().filter(|obstacle| obstacle.effect == Effect::Refusal);
    let reasons: Vec<&str> = refused.map(|obstacle| obstacle.reason.as_str()).collect();
    let reasons = if reasons.is_empty() { "it is unsupported".to_owned() } else { reasons.join("; ") };
    Error::new(ErrorKind::Unsupported, format!("Zarr {format} cannot express the node: {reasons}"))
}

#[cfg(test)]
mod tests {
    use zarrox_codecs::{Zlib, Zstd};
    use zarrox_core::{DataType, s};

    use super::*;
    use zarrox::OpenOptions;
    use zarrox_testkit::errors::assert_error;

    fn array(format: Format, builder: impl FnOnce(zarrox::ArrayBuilder) -> zarrox::ArrayBuilder) -> Array {
        let options = OpenOptions::new().format(format);
        builder(options.create_array((Arc::new(MemoryStore::new()), "a"))).create().unwrap()
    }

    #[test]
    fn chunks_are_as_they_are_stored_where_both_formats_say_the_same() {
        let plain = array(Format::V2, |builder| {
            builder.shape([5, 4]).chunks([2, 4]).data_type(DataType::Int16).compressor(Zstd::level(3))
        });
        plain.write(s![0..2], 7_i16).unwrap();
        let translation = Translation::new(&plain.clone().into(), Format::V3).unwrap();
        assert_eq!(translation.chunk_of("c/2/0"), Some(vec![2, 0]));
        for other in ["c/3/0", "c/0", "c/0/0/0", "0/0", "c", "", "zarr.json", "c/00/0"] {
            assert_eq!(translation.chunk_of(other), None, "{other}");
        }
        assert_eq!(translation.stored_key(&[0, 0]).unwrap().as_deref(), Some("a/0.0"));
        assert_eq!(translation.encode_chunk(&[0, 0]).unwrap(), plain.raw().read(&[0, 0]).unwrap());
        assert_eq!(translation.encode_chunk(&[1, 0]).unwrap(), None);
        assert_error(translation.encode_chunk(&[3, 0]), ErrorKind::InvalidArgument, "chunk [3, 0]");
    }

    #[test]
    fn other_chunks_are_encoded_anew_and_read_the_same() {
        let zlib = array(Format::N5, |builder| {
            builder.shape([5, 4]).chunks([2, 3]).data_type(DataType::Int16).compressor(Zlib::level(3))
        });
        let values = ndarray::Array2::from_shape_fn((5, 4), |(y, x)| i16::try_from(10 * y + x).unwrap());
        zlib.write(.., &values).unwrap();
        zlib.raw().erase(&[1, 1]).unwrap();
        let translation = Translation::new(&zlib.clone().into(), Format::V3).unwrap();
        assert_eq!(translation.stored_key(&[0, 0]).unwrap(), None);
        let copy = Arc::new(MemoryStore::new());
        let store = |key: &str, bytes: &[u8]| {
            use zarrox_stores::{Condition, Key, StoreExt};
            copy.set(&Key::new(key).unwrap(), bytes, Condition::Always).unwrap();
        };
        for (key, bytes) in translation.documents().unwrap() {
            store(&key, &bytes);
        }
        for y in 0..3 {
            for x in 0..2 {
                let (chunk, key) = ([y, x], format!("c/{y}/{x}"));
                assert_eq!(translation.has_chunk(&chunk).unwrap(), chunk != [1, 1]);
                let Some(bytes) = translation.encode_chunk(&chunk).unwrap() else { continue };
                store(&key, &bytes);
            }
        }
        let read = OpenOptions::new().open((copy, "")).unwrap().into_array().unwrap();
        assert_eq!(read.metadata().format, Format::V3);
        assert_eq!(
            read.read::<ndarray::ArrayD<i16>>(..).unwrap(),
            zlib.read::<ndarray::ArrayD<i16>>(..).unwrap()
        );
    }

    #[test]
    fn a_group_has_the_documents_of_all_below_it() {
        let root =
            OpenOptions::new().format(Format::V2).create_group((Arc::new(MemoryStore::new()), "")).unwrap();
        root.create_array("g/a").shape([3]).data_type(DataType::Bool).create().unwrap();
        let of = |path: &str| Translation::new(&root.open(path).unwrap(), Format::V3).unwrap();
        let (group, array) = (of("g"), of("g/a"));
        let below = [(NodePath::new("g").unwrap(), &group), (NodePath::new("g/a").unwrap(), &array)];
        let root = Translation::new(&root.clone().into(), Format::V3).unwrap();
        let (key, document) = root.consolidated(below).unwrap().unwrap();
        let document = zarrox_core::json::parse(&document).unwrap();
        let all = document["consolidated_metadata"]["metadata"].as_object().unwrap();
        assert_eq!(key, "zarr.json");
        assert_eq!(all.keys().collect::<Vec<_>>(), ["g", "g/a"]);
        assert_eq!(all["g/a"]["data_type"].as_str(), Some("bool"));
    }
}
