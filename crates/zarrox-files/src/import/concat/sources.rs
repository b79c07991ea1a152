//! [`Sources`]: many files, only some of which are open at a time.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use zarrox::json::Map;
use zarrox::{
    Array, ArrayMetadata, Consolidated, Error, ErrorKind, Node, OpenMode, OpenOptions, Place, Result,
};

use crate::import::kind;
use crate::input::{corrupt, failed, unsupported};
use crate::reading::Reading;
use crate::store::{FileStore, LeftOut};

/// The maximum number of files that are open at the same time. The usual limit for a process is 1024.
const OPEN: usize = 64;

/// The location of a source.
#[derive(Debug)]
enum Origin {
    /// A file, with its length and modification time when it was first read.
    File { path: PathBuf, state: Option<(u64, Option<SystemTime>)> },
    /// A Zarr hierarchy to which files are appended.
    Hierarchy { place: Place, options: Box<OpenOptions> },
}

/// An open source.
#[derive(Debug)]
struct Opened {
    root: Node,
    arrays: Mutex<HashMap<String, Array>>,
}

/// The sources of a concatenation.
#[derive(Debug)]
pub(crate) struct Sources {
    places: Vec<Origin>,
    reading: Reading,
    /// The open sources, the most recently used source last.
    opened: Mutex<Vec<(usize, Arc<Opened>)>>,
}

/// An array of a source.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Info {
    pub(super) metadata: ArrayMetadata,
    /// The dimension names.
    pub(super) names: Vec<Option<String>>,
    /// The attributes, without those for dimension names.
    pub(super) attributes: Map,
}

/// The nodes of a source.
#[derive(Debug, Default)]
pub(super) struct Nodes {
    pub(super) groups: BTreeMap<String, Map>,
    pub(super) arrays: BTreeMap<String, Arc<Info>>,
    pub(super) left_out: Vec<LeftOut>,
}

impl Sources {
    /// Creates the sources: the hierarchy, if there is one, followed by the files.
    pub(super) fn new(
        files: &[PathBuf],
        hierarchy: Option<(&Place, &OpenOptions)>,
        reading: &Reading,
    ) -> Self {
        let hierarchy = hierarchy.map(|(place, options)| Origin::Hierarchy {
            place: place.clone(),
            options: Box::new(options.clone()),
        });
        let files = files.iter().map(|path| {
            let metadata = std::fs::metadata(path).ok();
            let state = metadata.map(|metadata| (metadata.len(), metadata.modified().ok()));
            Origin::File { path: path.clone(), state }
        });
        let places = hierarchy.into_iter().chain(files).collect();
        Self { places, reading: reading.clone(), opened: Mutex::default() }
    }

    /// Returns the number of sources.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// Reorders the sources.
    pub(super) fn reorder(&mut self, order: &[usize]) {
        let mut old: Vec<Option<Origin>> = std::mem::take(&mut self.places).into_iter().map(Some).collect();
        self.places = order.iter().filter_map(|&number| old.get_mut(number)?.take()).collect();
        self.opened.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Returns the name of a source for messages.
    pub(super) fn name(&self, number: usize) -> String {
        match self.places.get(number) {
            Some(Origin::File { path, .. }) => format!("'{}'", path.display()),
            Some(Origin::Hierarchy { place, .. }) => format!("'{place}'"),
            None => String::new(),
        }
    }

    /// Opens a source and lists its nodes.
    pub(super) fn scan(&self, number: usize) -> Result<Nodes> {
        let (opened, left_out) = self.open(number)?;
        let mut nodes = Nodes { left_out, ..Nodes::default() };
        match &opened.root {
            Node::Array(array) => {
                nodes.arrays.insert(String::new(), Arc::new(info(array)));
            }
            Node::Group(group) => {
                nodes.groups.insert(String::new(), group.attributes().clone());
                group.visit(&mut |path, node| {
                    match node {
                        Ok(Node::Array(array)) => {
                            nodes.arrays.insert(path.to_owned(), Arc::new(info(array)));
                        }
                        Ok(Node::Group(group)) => {
                            nodes.groups.insert(path.to_owned(), group.attributes().clone());
                        }
                        Err(error) => return Err(error.clone().at(format!("/{path}"))),
                    }
                    Ok(())
                })?;
            }
        }
        self.keep(number, opened);
        Ok(nodes)
    }

    /// Returns an array of a source. Reopens the source if necessary.
    pub(super) fn array(&self, number: usize, path: &str) -> Result<Array> {
        let opened = match self.found(number) {
            Some(opened) => opened,
            None => {
                let (opened, _) = self.open(number)?;
                self.keep(number, Arc::clone(&opened));
                opened
            }
        };
        let mut arrays = opened.arrays.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(array) = arrays.get(path) {
            return Ok(array.clone());
        }
        let array = match &opened.root {
            Node::Array(array) if path.is_empty() => array.clone(),
            Node::Array(_) => return Err(self.changed(number)),
            Node::Group(group) => group.open(path)?.into_array()?,
        };
        arrays.insert(path.to_owned(), array.clone());
        Ok(array)
    }

    fn found(&self, number: usize) -> Option<Arc<Opened>> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let at = opened.iter().position(|(found, _)| *found == number)?;
        let last = opened.remove(at);
        let found = Arc::clone(&last.1);
        opened.push(last);
        Some(found)
    }

    fn keep(&self, number: usize, source: Arc<Opened>) {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        opened.retain(|(found, _)| *found != number);
        if opened.len() >= OPEN {
            opened.remove(0);
        }
        opened.push((number, source));
    }

    fn open(&self, number: usize) -> Result<(Arc<Opened>, Vec<LeftOut>)> {
        let place = self.places.get(number).ok_or_else(|| corrupt("unknown file"))?;
        let (root, left_out) = match place {
            Origin::File { path, state } => {
                let now = std::fs::metadata(path)
                    .map_err(|error| failed(&format!("opening '{}'", path.display()), error))?;
                if state.is_some_and(|state| state != (now.len(), now.modified().ok())) {
                    return Err(self.changed(number));
                }
                let skipped = self.reading.skipped.clone();
                let store = kind::open(path, &self.reading)?.skipping(skipped);
                (root_of(&store)?, store.left_out().to_vec())
            }
            Origin::Hierarchy { place, options } => {
                let options = options.as_ref().clone().mode(OpenMode::Read).threads(1);
                (options.consolidated(Consolidated::Never).open(place)?, Vec::new())
            }
        };
        Ok((Arc::new(Opened { root, arrays: Mutex::default() }), left_out))
    }

    fn changed(&self, number: usize) -> Error {
        let message = format!("{} has changed while it was imported", self.name(number));
        Error::new(ErrorKind::Corrupt, message)
    }
}

/// Opens the root of a file. Its arrays are read on the calling thread, because chunks are already read in parallel.
pub(crate) fn root_of(store: &FileStore) -> Result<Node> {
    let options = OpenOptions::new().mode(OpenMode::Read).threads(1).consolidated(Consolidated::Never);
    options.open((Arc::new(store.clone()), ""))
}

fn info(array: &Array) -> Info {
    let mut attributes = array.attributes().clone();
    let told = attributes.remove(crate::ARRAY_DIMENSIONS);
    let names = array.dimension_names().map(<[_]>::to_vec).or_else(|| {
        let told = told?;
        Some(told.as_array()?.iter().map(|name| name.as_str().map(str::to_owned)).collect())
    });
    let names = names.filter(|names: &Vec<Option<String>>| names.len() == array.ndim());
    let names = names.unwrap_or_else(|| vec![None; array.ndim()]);
    Info { metadata: array.metadata().clone(), names, attributes }
}

/// Expands the inputs to a list of files. The files in a directory are in natural name order.
pub(crate) fn expanded(inputs: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut is_given = true;
    for input in inputs {
        if !input.is_dir() {
            files.push(input.clone());
            continue;
        }
        is_given = false;
        let reading = |error| failed(&format!("reading '{}'", input.display()), error);
        let mut found = Vec::new();
        for entry in std::fs::read_dir(input).map_err(reading)? {
            let path = entry.map_err(reading)?.path();
            let is_hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
            if !is_hidden && path.is_file() {
                found.push(path);
            }
        }
        if found.is_empty() {
            return Err(unsupported(format!("no files in '{}'", input.display())));
        }
        found.sort();
        files.extend(found);
    }
    let name = |path: &PathBuf| path.to_string_lossy().into_owned();
    // Sorted names come from a directory or a shell pattern; any other order is deliberate.
    if !is_given || files.is_sorted_by(|one, other| name(one) <= name(other)) {
        files.sort_by(|one, other| {
            crate::natural::natural(&name(one), &name(other)).then_with(|| one.cmp(other))
        });
    }
    if let Some(pair) = files.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(unsupported(format!("'{}' occurs twice", pair[0].display())));
    }
    Ok(files)
}
