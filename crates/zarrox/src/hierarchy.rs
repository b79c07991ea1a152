//! Nodes in a store: reading, writing and changing their documents.

use std::sync::Arc;

use zarrox_core::metadata::{Change, FormatDef, LiftContext};
use zarrox_core::{Error, ErrorKind, Format, GroupMetadata, NodeMetadata, NodePath, Result};
use zarrox_stores::{Condition, Key, Prefix, Store};

use crate::error::{argument, from_store};
use crate::group::Node;
use crate::options::Context;

/// The largest metadata document that is read, in bytes.
const DOCUMENT_LIMIT: u64 = 256 << 20;

/// A place in a store where a node is, or could be.
#[derive(Debug, Clone)]
pub(crate) struct Location {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) path: NodePath,
    /// The one format to look for; all if none.
    pub(crate) format: Option<Format>,
    pub(crate) context: Arc<Context>,
}

impl Location {
    /// Another place in the same store.
    pub(crate) fn at(&self, path: NodePath) -> Self {
        Self { path, ..self.clone() }
    }

    /// The key of this name below the node.
    pub(crate) fn key(&self, name: &str) -> Result<Key> {
        Key::new(self.path.key(name)).map_err(from_store)
    }

    /// The prefix of everything that belongs to the node.
    pub(crate) fn prefix(&self) -> Result<Prefix> {
        Prefix::new(self.path.prefix()).map_err(from_store)
    }

    /// The node, with its metadata; an error when there is none.
    pub(crate) fn open_node(&self) -> Result<Node> {
        let Some(node) = self.find_node()? else {
            let tried: Vec<&str> = self.formats().map(|format| format.def().name()).collect();
            return Err(Error::new(
                ErrorKind::NotFound,
                format!(
                    "there is no Zarr array or group at '{}' in {} (looked for {})",
                    self.path,
                    self.store.location(),
                    tried.join(" and ")
                ),
            ));
        };
        Node::new(self.clone(), node)
    }

    /// The metadata of the node, if there is one.
    pub(crate) fn find_node(&self) -> Result<Option<NodeMetadata>> {
        for format in self.formats() {
            let documents = self.documents(format.def())?;
            if let Some(node) = self.lift(format.def(), &documents)? {
                return Ok(Some(node));
            }
        }
        Ok(None)
    }

    /// Whether there is a node, of whatever kind, and whether it can be understood or not.
    pub(crate) fn holds_node(&self) -> Result<bool> {
        match self.find_node() {
            Ok(node) => Ok(node.is_some()),
            Err(error) if matches!(error.kind(), ErrorKind::InvalidMetadata | ErrorKind::Unsupported) => {
                Ok(true)
            }
            Err(error) => Err(error),
        }
    }

    /// The format of the nearest node above, which a new node here should have too.
    pub(crate) fn inherited_format(&self) -> Option<Format> {
        let above = self.path.ancestors().into_iter().rev();
        above.filter_map(|path| self.at(path).find_node().ok().flatten()).map(|node| format_of(&node)).next()
    }

    /// Moves the node, with everything below it, to another place in the same store.
    pub(crate) fn move_node(&self, to: &Self) -> Result<()> {
        if self.path.contains(&to.path) || to.path.contains(&self.path) {
            return Err(argument(format!("'{}' cannot be moved to '{}'", self.path, to.path)));
        }
        let format = self.format_to_move()?;
        to.prepare_for_move(format)?;
        self.store.rename_prefix(&self.prefix()?, &to.prefix()?).map_err(from_store)
    }

    /// Makes sure that there is a node here, and nothing in another hierarchy's root.
    pub(crate) fn check_move_to(&self, root: &Self) -> Result<()> {
        self.format_to_move()?;
        root.make_room(false, false)
    }

    /// The format that groups above the node's new place should have; that of a node nobody understands is unknown.
    fn format_to_move(&self) -> Result<Format> {
        match self.find_node() {
            Ok(Some(node)) => Ok(format_of(&node)),
            Ok(None) => {
                let message = format!("there is no node at '{}' in {}", self.path, self.store.location());
                Err(Error::new(ErrorKind::NotFound, message))
            }
            Err(_) if self.holds_node()? => Ok(self.inherited_format().unwrap_or(Format::V3)),
            Err(error) => Err(error),
        }
    }

    /// Deletes the node, with everything below it.
    pub(crate) fn delete(&self) -> Result<()> {
        if !self.holds_node()? {
            let message =
                format!("there is no node at '{}' in {} to delete", self.path, self.store.location());
            return Err(Error::new(ErrorKind::NotFound, message));
        }
        self.store.erase_prefix(&self.prefix()?).map_err(from_store)
    }

    /// Makes sure that a node can be moved here: nothing is here, and the groups above are.
    fn prepare_for_move(&self, format: Format) -> Result<()> {
        self.check_ancestors()?;
        self.make_room(false, false)?;
        self.create_ancestors(format)
    }

    fn lift(&self, format: &dyn FormatDef, documents: &[Option<Vec<u8>>]) -> Result<Option<NodeMetadata>> {
        let context = LiftContext { registry: &self.context.registry, mode: self.context.strictness };
        format.lift(documents, &context).map_err(|error| error.at(format!("'{}'", self.path)))
    }

    fn formats(&self) -> impl Iterator<Item = Format> {
        Format::all().filter(|format| self.format.is_none_or(|only| only == *format))
    }

    fn documents(&self, format: &dyn FormatDef) -> Result<Vec<Option<Vec<u8>>>> {
        format.keys(&self.path).into_iter().map(|key| self.document(key)).collect()
    }

    fn document(&self, key: String) -> Result<Option<Vec<u8>>> {
        let key = Key::new(key).map_err(from_store)?;
        let Some(value) = self.store.open(&key).map_err(from_store)? else { return Ok(None) };
        if value.size() > DOCUMENT_LIMIT {
            let message = format!("the document '{key}' has {} bytes, which is no metadata", value.size());
            return Err(Error::new(ErrorKind::LimitExceeded, message));
        }
        let bytes = value.read(0, value.size()).map_err(from_store)?;
        Ok(Some(bytes.into()))
    }

    /// Writes a new node, and its ancestors where they are missing.
    ///
    /// Unless told to overwrite, nothing may be at the place. What is overwritten must be a node: a directory of
    /// other files is never deleted.
    pub(crate) fn create_node(&self, node: &NodeMetadata, overwrite: bool) -> Result<()> {
        let format = format_of(node);
        let documents = format.def().lower(&self.path, node, &self.context.registry)?;
        self.check_names(format)?;
        self.check_ancestors()?;
        self.make_room(overwrite, matches!(node, NodeMetadata::Group(_)))?;
        self.create_ancestors(format)?;
        for (key, bytes) in documents {
            self.put(key, &bytes, Condition::Always)?;
        }
        Ok(())
    }

    /// No node may have the name of a document, which would be in its place.
    fn check_names(&self, format: Format) -> Result<()> {
        let documents = format.def().keys(&NodePath::root());
        match self.path.as_str().split('/').find(|name| documents.iter().any(|document| document == name)) {
            None => Ok(()),
            Some(name) => {
                Err(argument(format!("'{name}' cannot be the name of a node: it is that of a document")))
            }
        }
    }

    /// No node may lie inside an array.
    fn check_ancestors(&self) -> Result<()> {
        for path in self.path.ancestors() {
            if let Ok(Some(NodeMetadata::Array(_))) = self.at(path.clone()).find_node() {
                return Err(argument(format!(
                    "'{}' cannot be created: '{path}' above it is an array",
                    self.path
                )));
            }
        }
        Ok(())
    }

    fn make_room(&self, overwrite: bool, for_group: bool) -> Result<()> {
        let prefix = self.prefix()?;
        let listing = self.store.list_dir(&prefix).map_err(from_store)?;
        if listing.keys.is_empty() && listing.prefixes.is_empty() {
            return Ok(());
        }
        let exists = |message: String| Err(Error::new(ErrorKind::AlreadyExists, message));
        let is_node = Self { format: None, ..self.clone() }.holds_node()?;
        match (is_node, overwrite) {
            (true, true) => self.store.erase_prefix(&prefix).map_err(from_store),
            (true, false) => exists(format!(
                "there is a node already at '{}' in {}; ask for overwriting to replace it",
                self.path,
                self.store.location()
            )),
            // A prefix that only holds other nodes is a group that nobody has written down.
            (false, false) if for_group && listing.keys.is_empty() && !self.path.is_root() => Ok(()),
            (false, _) => exists(format!(
                "'{}' in {} holds other files and is not a Zarr node; it is left alone",
                self.path,
                self.store.location()
            )),
        }
    }

    fn create_ancestors(&self, format: Format) -> Result<()> {
        let group = NodeMetadata::Group(GroupMetadata::new(format));
        for path in self.path.ancestors() {
            let above = self.at(path);
            let keys = format.def().keys(&above.path);
            let known = keys.into_iter().map(|key| self.has(key)).collect::<Result<Vec<bool>>>()?;
            if known.contains(&true) {
                continue;
            }
            for (key, bytes) in format.def().lower(&above.path, &group, &self.context.registry)? {
                match self.put(key, &bytes, Condition::Absent) {
                    // Somebody else was faster.
                    Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                    result => result?,
                }
            }
        }
        Ok(())
    }

    fn put(&self, key: String, document: &[u8], condition: Condition) -> Result<()> {
        let key = Key::new(key).map_err(from_store)?;
        self.store.set(&key, document, condition).map_err(from_store)
    }

    fn has(&self, key: String) -> Result<bool> {
        let key = Key::new(key).map_err(from_store)?;
        Ok(self.store.size(&key).map_err(from_store)?.is_some())
    }

    /// Changes the documents of an existing node in place; all that the change does not speak of stays.
    ///
    /// `prepare` sees the node as it is stored now, and may do work that must come before the change is visible;
    /// meanwhile nobody else in this process changes the node.
    pub(crate) fn change<R>(
        &self,
        format: Format,
        prepare: impl FnOnce(&NodeMetadata, &mut dyn FnMut(Change<'_>) -> Result<()>) -> Result<R>,
    ) -> Result<R> {
        let format = format.def();
        let keys = format.keys(&self.path);
        let lock = Key::new(keys.first().cloned().unwrap_or_default()).map_err(from_store)?;
        let _guard = self.store.lock(&lock).map_err(from_store)?;
        let documents = self.documents(format)?;
        let Some(node) = self.lift(format, &documents)? else {
            return Err(Error::new(ErrorKind::NotFound, format!("'{}' is not there any more", self.path)));
        };
        prepare(&node, &mut |change| {
            for (key, bytes) in format.patch(&self.path, &documents, change)? {
                self.put(key, &bytes, Condition::Always)?;
            }
            Ok(())
        })
    }
}

fn format_of(node: &NodeMetadata) -> Format {
    match node {
        NodeMetadata::Array(array) => array.format,
        NodeMetadata::Group(group) => group.format,
    }
}
