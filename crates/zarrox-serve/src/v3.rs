//! `/v3/ROOT/KEY`: any hierarchy as Zarr 3 with consolidated metadata.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use zarrox::stores::{Bytes, Key};
use zarrox::{AccessOptions, ErrorKind, Group, Interrupt, Node, NodePath};

use crate::content::{self, BYTES, Content, Prepared, Wanted};
use crate::data::{self, Listing};
use crate::failure::{Answer, Failure};
use crate::place::Place;
use crate::query::{NoParameters, Query};
use crate::root::{ATTEMPTS, Opened, Root};

/// The name of a node's document.
const DOCUMENT: &str = "zarr.json";

/// The names of the documents of other formats, which clients probe.
const OTHERS: [&str; 5] = [".zarray", ".zgroup", ".zattrs", ".zmetadata", "attributes.json"];

/// The maximum number of nodes in consolidated metadata.
const MOST_NODES: usize = 20_000;
/// The maximum time for finding these nodes.
const LONGEST: Duration = Duration::from_secs(10);

/// The maximum number of segments in a chunk key.
const LONGEST_KEY: usize = 34;

/// The cache key of a re-encoded chunk: the root, the path of the array, the chunk, and the version of the source.
type ChunkVersion = (String, String, Vec<u64>, String);

/// A cache of re-encoded chunks, for clients that request consecutive ranges.
pub(crate) struct Encoded(Cache<ChunkVersion, Bytes, Weight>);

#[derive(Clone)]
struct Weight;

impl Weighter<ChunkVersion, Bytes> for Weight {
    fn weight(&self, place: &ChunkVersion, bytes: &Bytes) -> u64 {
        (bytes.len() + place.1.len() + 8 * place.2.len() + 256) as u64
    }
}

impl Encoded {
    /// Creates a cache of at most this many bytes.
    pub(crate) fn new(bytes: u64) -> Self {
        Self(Cache::with_weighter(256, bytes, Weight))
    }

    fn get(&self, version: &ChunkVersion, make: impl FnOnce() -> Answer<Bytes>) -> Answer<Bytes> {
        // Requests for a chunk wait for the request that encodes it.
        self.0.get_or_insert_with(version, make)
    }
}

/// Responds to a request for a key of the Zarr 3 hierarchy.
pub(crate) async fn answer(
    State(encoded): State<Arc<Encoded>>,
    place: Place,
    _: Query<NoParameters>,
    wanted: Wanted,
) -> Answer<Response> {
    if place.is_directory || place.path.is_empty() {
        return place.json(wanted, |root, path, _| listing(root, path)).await;
    }
    let Place { root, path, .. } = place;
    let workers = root.workers.clone();
    let (above, name) = path.rsplit_once('/').unwrap_or(("", &path));
    if OTHERS.contains(&name) {
        return Err(Failure::missing(format!("'{name}' is not a document of Zarr 3")));
    }
    if name == DOCUMENT {
        let node = above.to_owned();
        let document = workers.run(move |interrupt| document(&root, &node, interrupt)).await?;
        return content::document(&wanted, document);
    }
    let prepared = workers.run(move |interrupt| chunk(&root, &encoded, &path, &wanted, interrupt)).await?;
    Ok(prepared.into_response(&workers))
}

/// Returns the entries of a node.
fn listing(root: &Root, path: &str) -> Answer<Listing> {
    let opened = root.node(path)?;
    let prefix = if path.is_empty() { String::new() } else { format!("{path}/") };
    let names = match &opened.node {
        Node::Group(group) => group.child_names()?,
        Node::Array(_) => vec!["c".to_owned()],
    };
    Ok(Listing { prefix, keys: vec![DOCUMENT.to_owned()], prefixes: names, next: None })
}

/// Returns the document of a node. The document of a group has consolidated metadata.
fn document(root: &Root, path: &str, interrupt: &Interrupt) -> Answer<Vec<u8>> {
    let opened = root.node(path)?;
    match opened.document.get() {
        Some((document, below)) if below.iter().all(|node| node.is_current()) => {
            return Ok(document.to_vec());
        }
        _ => {}
    }
    let (document, below) = made(root, path, &opened, interrupt)?;
    // If an older node is cached, it is reopened soon.
    let _ = opened.document.set((document.as_slice().into(), below));
    Ok(document)
}

/// Returns the document of a node, and the nodes in its consolidated metadata.
fn made(
    root: &Root,
    path: &str,
    opened: &Opened,
    interrupt: &Interrupt,
) -> Answer<(Vec<u8>, Vec<Arc<Opened>>)> {
    let own = opened.v3()?;
    if let Node::Group(group) = &opened.node {
        let start = Instant::now();
        let may_go_on =
            |count: usize| !interrupt.is_raised() && count < MOST_NODES && start.elapsed() < LONGEST;
        // Incomplete consolidated metadata would hide the other nodes.
        if let Some(below) = all_below(root, path, opened, group, may_go_on)? {
            let nodes = below.iter().filter_map(|(path, node)| Some((path.clone(), node.v3().ok()?)));
            if let Some((_, document)) = own.consolidated(nodes)? {
                return Ok((document, below.into_iter().map(|(_, node)| node).collect()));
            }
        }
    }
    let documents = own.documents()?;
    let found = documents.into_iter().find(|(name, _)| name == DOCUMENT).map(|(_, bytes)| bytes);
    let document = found.ok_or_else(|| Failure::missing("the node has no document"))?;
    Ok((document, Vec::new()))
}

/// Nodes below another node, with their relative paths.
type Below = Vec<(NodePath, Arc<Opened>)>;

/// All nodes below a group that can be opened, with their relative paths; `None` if there are too many.
fn all_below(
    root: &Root,
    at: &str,
    opened: &Opened,
    group: &Group,
    may_go_on: impl Fn(usize) -> bool,
) -> Answer<Option<Below>> {
    let above = if at.is_empty() { String::new() } else { format!("{at}/") };
    let mut found = Vec::new();
    let visited = group.visit(&mut |path, node| {
        if let Ok(node) = node {
            let kept = root.keep(&format!("{above}{path}"), node.clone(), opened);
            found.push((NodePath::new(path)?, kept));
        }
        match may_go_on(found.len()) {
            true => Ok(()),
            false => Err(zarrox::Error::new(ErrorKind::LimitExceeded, "there are too many nodes")),
        }
    });
    match visited {
        Err(error) if error.kind() == ErrorKind::LimitExceeded => Ok(None),
        visited => Ok(visited.map(|()| Some(found))?),
    }
}

/// Returns a chunk of the current array. A chunk that was read while the document changed may belong to either version.
fn chunk(
    root: &Root,
    encoded: &Encoded,
    key: &str,
    wanted: &Wanted,
    interrupt: &Interrupt,
) -> Answer<Prepared> {
    for _ in 0..ATTEMPTS {
        let place = place_of(root, key)?;
        let opened = place.1.clone();
        let prepared = chunk_of(root, encoded, key, place, wanted, interrupt);
        if !opened.is_outdated() {
            return prepared;
        }
    }
    Err(Failure::new(StatusCode::CONFLICT, "conflict", "the array is being changed; retry the request"))
}

fn chunk_of(
    root: &Root,
    encoded: &Encoded,
    key: &str,
    (path, opened, chunk): (String, Arc<Opened>, Vec<u64>),
    wanted: &Wanted,
    interrupt: &Interrupt,
) -> Answer<Prepared> {
    let translation = opened.v3()?.with_options(&AccessOptions::new().interrupt(interrupt));
    if let Some(stored) = translation.stored_key(&chunk)? {
        return data::stored(&opened.store, &Key::new(stored)?, BYTES, wanted);
    }
    let version = version(&opened, translation.source_key(&chunk)?)?;
    if version.is_none() && !translation.has_chunk(&chunk)? {
        return Err(missing(key));
    }
    let make =
        |chunk: &[u64]| -> Answer<Bytes> { translation.encode_chunk(chunk)?.ok_or_else(|| missing(key)) };
    let bytes = match version {
        Some(version) => {
            let place = (root.name.clone(), path, chunk, version);
            encoded.get(&place, || make(&place.2))?
        }
        // A value without a version may change between requests.
        None => make(&chunk)?,
    };
    let tag = content::tag_of(&[&bytes]);
    content::prepare(wanted, Content::Bytes(bytes), BYTES, Some(tag))
}

fn missing(key: &str) -> Failure {
    Failure::missing(format!("there is no '{key}'"))
}

/// Returns the version of the stored chunk from which a chunk is encoded. `None` if the chunk is encoded from several stored
/// chunks, or has no version.
fn version(opened: &Opened, key: Option<String>) -> Answer<Option<String>> {
    let Some(key) = key.map(Key::new).transpose()? else { return Ok(None) };
    let value = opened.store.open_with(&key, None)?;
    Ok(value.and_then(|value| data::tag(&*opened.store, &key, &*value)))
}

/// Returns the array and the chunk of a key.
fn place_of(root: &Root, key: &str) -> Answer<(String, Arc<Opened>, Vec<u64>)> {
    let names: Vec<&str> = key.split('/').collect();
    let is_part = |name: &&&str| {
        let digits = name.strip_prefix('c').unwrap_or(name).replace('.', "");
        digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    let length = names.iter().rev().take(LONGEST_KEY).take_while(|name| is_part(name)).count();
    let starts = names.len() - length..names.len();
    // The keys of most arrays begin with `c`; without it, a number can also be a name.
    let begins = |at: &usize| names[*at].starts_with('c');
    let (likely, others): (Vec<usize>, Vec<usize>) = starts.partition(begins);
    for at in likely.into_iter().rev().chain(others) {
        let path = names[..at].join("/");
        match root.node(&path) {
            Ok(opened) => {
                if !matches!(opened.node, Node::Array(_)) {
                    continue;
                }
                if let Some(chunk) = opened.v3()?.chunk_of(&names[at..].join("/")) {
                    return Ok((path, opened, chunk));
                }
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(missing(key))
}
