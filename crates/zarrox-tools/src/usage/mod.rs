//! The disk usage of nodes: stored bytes, chunks, and orphaned objects.

use std::collections::HashSet;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

use zarrox_core::internals::metadata::Consolidation;
use zarrox_core::{Error, Format, Result};
use zarrox_stores::{Key, Prefix};

use zarrox::internals::{ErrorPlace, JOURNAL, Listener, Task};
use zarrox::{Array, Group, Node, Progress};

/// The number of shards whose indexes are read together.
const TOGETHER: usize = 1024;

/// The disk usage of one node, excluding the nodes below it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NodeUsage {
    /// The path of the node, relative to the measured node: `/`, `/a/b`.
    pub path: String,
    /// The size of the node's documents, in bytes.
    pub documents: u64,
    /// The chunks, if the node is an array.
    pub chunks: Option<ChunkUsage>,
    /// The number of stored objects that do not belong to a node or a chunk, and their size in bytes.
    pub orphans: (u64, u64),
}

impl NodeUsage {
    /// Returns the number of all stored bytes.
    pub fn bytes(&self) -> u64 {
        self.documents + self.chunks.as_ref().map_or(0, |chunks| chunks.bytes) + self.orphans.1
    }
}

/// The disk usage of the chunks of an array. Here, a chunk is a stored object: a shard, if the array has shards.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChunkUsage {
    /// The number of possible chunks; `None` if it exceeds `u64`.
    pub possible: Option<u64>,
    /// The number of stored chunks.
    pub stored: u64,
    /// The size of the stored chunks, in bytes.
    pub bytes: u64,
    /// The size of all elements in memory, in bytes; `None` if it exceeds `u64`.
    pub logical: Option<u64>,
    /// The number of stored chunks by size: index n counts the chunks of at least 2^n and less than 2^(n+1) bytes. Empty chunks
    /// are counted at index 0.
    pub sizes: Vec<u64>,
    /// The inner chunks of stored shards, if requested.
    pub inner: Option<InnerUsage>,
}

/// The disk usage of the inner chunks of stored shards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct InnerUsage {
    /// The number of stored inner chunks.
    pub stored: u64,
    /// The number of missing inner chunks, which have the fill value.
    pub empty: u64,
    /// The size of the stored chunks, in bytes.
    pub bytes: u64,
}

/// A measurement of the disk usage of nodes, with options.
///
/// Only listings are read and, with [`inner`](Self::inner), shard indexes; chunks are not read. The memory does not grow with the
/// number of chunks.
///
/// ```
/// use zarrox::{prelude::*, s};
/// use zarrox_tools::usage::Usage;
/// # let directory = tempfile::tempdir()?;
/// let root = zarrox::create_group(directory.path().join("a.zarr"))?;
/// let array = root.create_array("t").shape([100]).data_type(DataType::Int8).chunks([10]).no_compressor().create()?;
/// array.write(s![..25], 1_i8)?;
///
/// Usage::new().run(&root.into(), |node| {
///     if let Some(chunks) = node.chunks {
///         assert_eq!((chunks.stored, chunks.possible, chunks.bytes), (3, Some(10), 30));
///     }
///     Ok(())
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct Usage {
    inner: bool,
    listener: Option<Listener>,
}

impl fmt::Debug for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Usage").field("inner", &self.inner).finish_non_exhaustive()
    }
}

impl Usage {
    /// Creates a measurement that reads only listings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets whether shard indexes are read, to count the inner chunks.
    #[must_use]
    pub fn inner(self, inner: bool) -> Self {
        Self { inner, ..self }
    }

    /// Sets a listener that is called with the number of listed bytes, from any thread. An error of the listener stops the
    /// operation.
    #[must_use]
    pub fn on_progress(self, listener: impl Fn(Progress) -> Result<()> + Send + Sync + 'static) -> Self {
        Self { listener: Some(Arc::new(listener)), ..self }
    }

    /// Measures a node and all nodes below it, parents before children.
    ///
    /// # Errors
    /// If the store cannot be listed, a node cannot be opened, or a shard index is damaged; the errors of `found`.
    pub fn run(&self, node: &Node, mut found: impl FnMut(NodeUsage) -> Result<()>) -> Result<()> {
        let work = Task::new(0, self.listener.clone());
        self.node("", &node.by_own_documents()?, &work, &mut found)
    }

    fn node(
        &self,
        path: &str,
        node: &Node,
        work: &Task,
        found: &mut dyn FnMut(NodeUsage) -> Result<()>,
    ) -> Result<()> {
        match node {
            Node::Array(array) => found(self.array(path, array, work)?),
            Node::Group(group) => self.group(path, group, work, found),
        }
    }

    fn group(
        &self,
        path: &str,
        group: &Group,
        work: &Task,
        found: &mut dyn FnMut(NodeUsage) -> Result<()>,
    ) -> Result<()> {
        let children = group.children()?;
        let names: HashSet<&str> = children.iter().map(|child| child.name.as_str()).collect();
        let (documents, orphans) = sizes_of_group(group, &names)?;
        work.advance(documents + orphans.1)?;
        found(NodeUsage { path: shown(path), documents, chunks: None, orphans })?;
        // In a remote store, several arrays are measured concurrently.
        let children = group.location().pool().map(children, 0, usize::MAX, |child| {
            let below = format!("{path}/{}", child.name);
            let node = child.node.map_err(|error: Error| error.at(format!("node '{below}'")))?;
            let usage = match &node {
                Node::Array(array) => Some(self.array(&below, array, work)?),
                Node::Group(_) => None,
            };
            Ok((below, node, usage))
        })?;
        for (below, node, usage) in children {
            match usage {
                Some(usage) => found(usage)?,
                None => self.node(&below, &node, work, found)?,
            }
        }
        Ok(())
    }

    fn array(&self, path: &str, array: &Array, work: &Task) -> Result<NodeUsage> {
        self.measured(path, array, work).map_err(|error| error.at(ErrorPlace::array(array.path())))
    }

    fn measured(&self, path: &str, array: &Array, work: &Task) -> Result<NodeUsage> {
        let documents = array.location().size_of_documents(array.metadata().format)?;
        let mut chunks = ChunkUsage {
            possible: array.chunk_grid().chunk_count(array.shape()),
            stored: 0,
            bytes: 0,
            logical: array.nbytes(),
            sizes: vec![0; 64],
            inner: (self.inner && array.shard_shape().is_some()).then(InnerUsage::default),
        };
        let (mut orphans, mut batch, mut done) = ((0, 0), Vec::new(), Ok(()));
        let mut inner = chunks.inner;
        array.visit_stored(&mut |chunk, size| {
            if done.is_err() {
                return;
            }
            let Some(chunk) = chunk else {
                orphans = (orphans.0 + 1, orphans.1 + size);
                return;
            };
            chunks.stored += 1;
            chunks.bytes += size;
            chunks.sizes[size.max(1).ilog2() as usize] += 1;
            if let Some(inner) = &mut inner {
                batch.push(chunk);
                if batch.len() >= TOGETHER {
                    done = add_inner(array, std::mem::take(&mut batch), inner);
                }
            }
            if chunks.stored.is_multiple_of(TOGETHER as u64) {
                done = done.clone().and_then(|()| work.advance(0));
            }
        })?;
        done?;
        if let Some(inner) = &mut inner {
            add_inner(array, batch, inner)?;
        }
        chunks.inner = inner;
        work.advance(documents + chunks.bytes + orphans.1)?;
        let last = chunks.sizes.iter().rposition(|&count| count > 0).map_or(0, |last| last + 1);
        chunks.sizes.truncate(last);
        Ok(NodeUsage { path: shown(path), documents, chunks: Some(chunks), orphans })
    }
}

fn add_inner(array: &Array, shards: Vec<Vec<u64>>, usage: &mut InnerUsage) -> Result<()> {
    let entries = array.pool().map(shards, 0, usize::MAX, |shard| array.raw().inner_chunks(&shard))?;
    for chunk in entries.into_iter().flatten().flatten() {
        match chunk.place {
            Some((_, length)) => {
                usage.stored += 1;
                usage.bytes += length;
            }
            None => usage.empty += 1,
        }
    }
    Ok(())
}

/// Returns the size of a group's documents, and the number and total size of the objects in it that do not belong to a node.
fn sizes_of_group(group: &Group, names: &HashSet<&str>) -> Result<(u64, (u64, u64))> {
    let (location, format) = (group.location(), group.metadata().format);
    let mut documents = location.size_of_documents(format)?;
    let layout = location.layout_for(format)?;
    if layout.implicit_groups() || !location.store.capabilities().listable {
        return Ok((documents, (0, 0)));
    }
    let listing = location.store.list_dir(&Prefix::new(location.path.prefix())?)?;
    let own: Vec<String> =
        Format::all().flat_map(|format| format.def().layout().keys(&location.path)).collect();
    let copies: Vec<&str> = Format::all()
        .filter_map(|format| match format.def().consolidation() {
            Some(Consolidation::Beside(name)) => Some(name),
            _ => None,
        })
        .collect();
    let mut orphans = (0, 0);
    for key in &listing.keys {
        if own.iter().any(|own| own == key.as_str()) {
            continue;
        }
        let size = location.store.size(key)?.unwrap_or_default();
        if copies.contains(&key.name()) || key.name() == JOURNAL {
            documents += size;
        } else {
            orphans = (orphans.0 + 1, orphans.1 + size);
        }
    }
    for prefix in listing.prefixes.iter().filter(|prefix| !names.contains(prefix.name())) {
        location.store.list_prefix(prefix, &mut |_: Key, size| {
            orphans = (orphans.0 + 1, orphans.1 + size);
            ControlFlow::Continue(())
        })?;
    }
    Ok((documents, orphans))
}

fn shown(path: &str) -> String {
    if path.is_empty() { "/".to_owned() } else { path.to_owned() }
}
