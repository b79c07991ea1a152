//! A root: a location whose nodes and stored bytes are served, and nothing outside it.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use quick_cache::sync::Cache;
use zarrox::stores::internals::{is_url, strip_file_scheme};
use zarrox::stores::{Key, Prefix, PrefixStore, Store};
use zarrox::{Consolidated, Error, ErrorKind, Format, Node, NodePath, OpenMode, OpenOptions, Place, Result};
use zarrox_files::{Kind, open_file};
use zarrox_tools::copy::Translation;

use crate::failure::{Answer, Failure};
use crate::file::{ReadFile, Source};
use crate::work::{Limits, Workers};

/// The number of attempts to read a node that is changed meanwhile.
pub(crate) const ATTEMPTS: usize = 8;

/// The maximum number of cached nodes.
const KEPT: usize = 4096;

/// A location whose nodes and stored bytes are served.
pub(crate) struct Root {
    /// The name in URLs.
    pub(crate) name: String,
    /// The path or URL, or the description of a store.
    pub(crate) place: String,
    /// True if the location is a path or URL, so that archives in it have a path or URL as well.
    has_path: bool,
    /// The store. Only values below the base are served.
    pub(crate) store: Arc<dyn Store>,
    pub(crate) options: OpenOptions,
    /// The file of another format that is read as a hierarchy.
    pub(crate) file: Option<ReadFile>,
    /// The file that was read when the root was opened.
    source: Option<Source>,
    /// The threads of short work.
    pub(crate) workers: Workers,
    /// The threads for long work, such as a check.
    pub(crate) long: Workers,
    nodes: Cache<String, Arc<Opened>>,
    /// The time for which cached nodes are considered fresh.
    fresh: Duration,
}

/// A node that was opened.
pub(crate) struct Opened {
    pub(crate) node: Node,
    /// The store of the node.
    pub(crate) store: Arc<dyn Store>,
    /// The path of the hierarchy relative to the root. It is not empty if the root contains several hierarchies.
    pub(crate) hierarchy: String,
    v3: OnceLock<Result<Translation>>,
    /// The Zarr 3 document, once it was created.
    pub(crate) document: OnceLock<Made>,
    at: Instant,
}

/// The document of a node with consolidated metadata, and the nodes in it.
pub(crate) type Made = (Arc<[u8]>, Vec<Arc<Opened>>);

impl fmt::Debug for Root {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Root({}={})", self.name, self.place)
    }
}

impl Opened {
    fn with_node(&self, node: Node) -> Self {
        let (store, hierarchy) = (self.store.clone(), self.hierarchy.clone());
        Self { node, store, hierarchy, v3: OnceLock::new(), document: OnceLock::new(), at: Instant::now() }
    }

    /// Returns true if the store reports that the node was changed since it was opened.
    pub(crate) fn is_outdated(&self) -> bool {
        self.node.is_outdated().unwrap_or(true)
    }

    /// Returns true if the store confirms that the node is unchanged.
    pub(crate) fn is_current(&self) -> bool {
        !self.node.is_recent() && !self.is_outdated()
    }

    /// Returns the Zarr 3 form of the node.
    pub(crate) fn v3(&self) -> Result<&Translation> {
        let made = self.v3.get_or_init(|| Translation::new(&self.node, Format::V3));
        made.as_ref().map_err(Clone::clone)
    }
}

impl Root {
    /// Opens the store of a root.
    ///
    /// # Errors
    /// When the path or URL has no store, or is a file that cannot be read.
    pub(crate) fn open(name: String, place: &Place, options: &OpenOptions, limits: Limits) -> Result<Self> {
        let not_unicode = || Error::new(ErrorKind::InvalidArgument, "the path of a root is not Unicode");
        let path = place.as_path().map(|path| path.to_str().ok_or_else(not_unicode)).transpose()?;
        let source = place.as_path().map(|path| Source::new(path, options, limits));
        if let Some((path, kind)) = place.as_path().and_then(file_kind) {
            let store = open_file(path)?;
            let left_out = store.left_out().iter().map(ToString::to_string).collect();
            let root = Self::of(name, Arc::new(store), options, limits);
            return Ok(Self { file: Some(ReadFile { kind, left_out }), source, ..root });
        }
        let options = options.clone().mode(OpenMode::Read).metadata_only(true);
        if let Some(references) = path.and_then(references) {
            let (store, _) = options.store(references)?;
            return Ok(Self { source, ..Self::of(name, store, &options, limits) });
        }
        let (store, base) = options.store(place)?;
        let store: Arc<dyn Store> = match base.is_root() {
            true => store,
            false => Arc::new(PrefixStore::new(store, Prefix::new(base.prefix())?)),
        };
        let root = Self::of(name, store, &options, limits);
        Ok(match path {
            Some(path) => Self { place: path.to_owned(), has_path: true, ..root },
            None => root,
        })
    }

    /// Returns true if the root is read from a file, without which its location is no hierarchy.
    pub(crate) fn is_file(&self) -> bool {
        self.source.is_some()
    }

    /// Opens the root again, if its file was replaced since it was opened.
    ///
    /// # Errors
    /// When the new file cannot be read, for example because it is not written completely yet.
    pub(crate) fn renewed(&self) -> Result<Option<Self>> {
        let replaced = self.source.as_ref().filter(|source| source.is_replaced());
        let open = |source: &Source| {
            Self::open(self.name.clone(), &source.path.clone().into(), &source.options, source.limits)
        };
        replaced.map(open).transpose()
    }

    /// Creates a root of a whole store.
    fn of(name: String, store: Arc<dyn Store>, options: &OpenOptions, limits: Limits) -> Self {
        let mut options = options.clone().mode(OpenMode::Read).metadata_only(true);
        let requests = store.capabilities().in_flight;
        if requests.is_none() && store.capabilities().listable {
            // Consolidated metadata may be stale, and listing a local store is as fast.
            options = options.consolidated(Consolidated::Never);
        }
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        // Threads that wait for a remote store do not use the cores.
        let threads = requests.map_or(cores.max(2) * 2, |requests| requests.get().clamp(8, 64));
        let shown = store.location();
        let workers = |threads| Workers::new(threads, limits.time, &shown);
        let fresh = if requests.is_some() { limits.fresh.1 } else { limits.fresh.0 };
        Self {
            workers: workers(threads),
            long: workers(2),
            name,
            place: shown,
            has_path: false,
            store,
            options,
            file: None,
            source: None,
            nodes: Cache::new(KEPT),
            fresh,
        }
    }

    /// Returns the node at a path.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if the node does not exist; the errors of opening the node.
    pub(crate) fn node(&self, path: &str) -> Result<Arc<Opened>> {
        let path = NodePath::new(path)?;
        if let Some(opened) = self.kept(path.as_str()) {
            return Ok(opened);
        }
        let opened = self.find(&path)?;
        self.nodes.insert(path.as_str().to_owned(), opened.clone());
        Ok(opened)
    }

    /// Caches a node that was opened below another node.
    pub(crate) fn keep(&self, path: &str, node: Node, like: &Opened) -> Arc<Opened> {
        if let Some(opened) = self.kept(path) {
            return opened;
        }
        let opened = Arc::new(like.with_node(node));
        self.nodes.insert(path.to_owned(), opened.clone());
        opened
    }

    /// Returns the cached node at a path, if it is fresh and its document is unchanged.
    fn kept(&self, path: &str) -> Option<Arc<Opened>> {
        self.nodes.get(path).filter(|opened| opened.at.elapsed() < self.fresh && opened.is_current())
    }

    /// Calls `look` with the node at a path. Retries with the reopened node when `look` fails and the node was changed meanwhile.
    pub(crate) fn look<R>(&self, path: &str, look: impl Fn(&Opened) -> Answer<R>) -> Answer<R> {
        for _ in 1..ATTEMPTS {
            let opened = self.node(path)?;
            match look(&opened) {
                Err(_) if opened.is_outdated() => {}
                looked => return looked,
            }
        }
        look(&*self.node(path)?)
    }

    fn find(&self, path: &NodePath) -> Result<Arc<Opened>> {
        match self.hierarchy("") {
            Ok(top) => return below(&top, path.as_str()),
            Err(error) if error.kind() != ErrorKind::NotFound || path.is_root() => return Err(error),
            Err(_) => {}
        }
        // A location that is not a node can contain several hierarchies.
        let ends = path.as_str().match_indices('/').map(|(at, _)| at).chain([path.as_str().len()]);
        for end in ends {
            let (upper, lower) = path.as_str().split_at(end);
            match self.hierarchy(upper) {
                Ok(top) => return below(&top, lower.trim_start_matches('/')),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Err(Error::new(
            ErrorKind::NotFound,
            format!("there is no Zarr array or group at '{path}' in '{}'", self.name),
        ))
    }

    /// Returns the topmost node of a hierarchy at a path.
    fn hierarchy(&self, path: &str) -> Result<Arc<Opened>> {
        if let Some(opened) = self.kept(path) {
            return Ok(opened);
        }
        let (node, store) = self.open_hierarchy(path)?;
        let opened = Arc::new(Opened {
            node,
            store,
            hierarchy: path.to_owned(),
            v3: OnceLock::new(),
            document: OnceLock::new(),
            at: Instant::now(),
        });
        self.nodes.insert(path.to_owned(), opened.clone());
        Ok(opened)
    }

    fn open_hierarchy(&self, path: &str) -> Result<(Node, Arc<dyn Store>)> {
        if path.ends_with(".zip") && self.store.contains(&Key::new(path)?)? {
            return self.open_archive(path);
        }
        let store: Arc<dyn Store> = match path {
            "" => self.store.clone(),
            _ => Arc::new(PrefixStore::new(self.store.clone(), Prefix::new(format!("{path}/"))?)),
        };
        let name = if path.is_empty() { &self.place } else { path };
        let opened = match self.options.open((store.clone(), "")) {
            // The root of an N5 hierarchy may lack a document.
            Err(error)
                if error.kind() == ErrorKind::NotFound && name.trim_end_matches('/').ends_with(".n5") =>
            {
                self.options.clone().format(Format::N5).open((store.clone(), ""))
            }
            opened => opened,
        };
        Ok((opened?, store))
    }

    /// Opens an archive in a directory. The store listed it, so no link leads out of the root.
    fn open_archive(&self, path: &str) -> Result<(Node, Arc<dyn Store>)> {
        if !self.has_path || is_url(strip_file_scheme(&self.place).unwrap_or(&self.place)) {
            return Err(Error::new(ErrorKind::Unsupported, "archives are opened in directories only"));
        }
        let file = Path::new(strip_file_scheme(&self.place).unwrap_or(&self.place)).join(path);
        let (store, _) = self.options.store(&file)?;
        Ok((self.options.open((store.clone(), ""))?, store))
    }
}

/// Returns a path with the format of its file; `None` for directories, for URLs, and for files of unknown formats.
fn file_kind(path: &Path) -> Option<(&Path, Kind)> {
    let is_file = !path.to_str().is_some_and(is_url) && path.is_file();
    // A file that no importer reads may still be a store, such as a database.
    is_file.then(|| Kind::of(path).ok().flatten()).flatten().map(|kind| (path, kind))
}

/// Returns the URL of the references in a file of JSON; `None` for other paths.
fn references(path: &str) -> Option<String> {
    let is_json = Path::new(path).extension().is_some_and(|suffix| suffix.eq_ignore_ascii_case("json"));
    (is_json && !is_url(path) && Path::new(path).is_file()).then(|| format!("reference://::{path}"))
}

/// Returns the node at a path below another node.
fn below(top: &Arc<Opened>, path: &str) -> Result<Arc<Opened>> {
    if path.is_empty() {
        return Ok(top.clone());
    }
    let node = match &top.node {
        Node::Group(group) => group.open(path)?,
        Node::Array(_) => {
            let message = format!("'{path}' is below an array, which has no children");
            return Err(Error::new(ErrorKind::NotFound, message));
        }
    };
    Ok(Arc::new(top.with_node(node)))
}

/// Returns the root of this name.
pub(crate) fn root_named<'r>(roots: &'r [Arc<Root>], name: &str) -> Answer<&'r Arc<Root>> {
    let found = roots.iter().find(|root| root.name == name);
    found.ok_or_else(|| {
        let names: Vec<&str> = roots.iter().map(|root| root.name.as_str()).collect();
        let (name, names) = (name.escape_debug(), names.join(", "));
        Failure::missing(format!("unknown root '{name}'; expected one of {names}"))
    })
}
