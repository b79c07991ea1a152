//! Groups, and nodes of either kind.

use std::fmt;

use serde::de::DeserializeOwned;
use zarrox_core::internals::error::ErrorPlace;
use zarrox_core::json::{self, Map};
use zarrox_core::{Error, ErrorKind, Format, GroupMetadata, NodeMetadata, NodePath, Result};
use zarrox_stores::Stamp;

use crate::array::{Array, ArrayBuilder, Growth};
use crate::error::argument;
use crate::hierarchy::update_attributes;
use crate::location::Location;

/// An array or a group.
#[derive(Clone)]
pub enum Node {
    /// An array.
    Array(Array),
    /// A group.
    Group(Group),
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Array(array) => fmt::Debug::fmt(array, f),
            Self::Group(group) => fmt::Debug::fmt(group, f),
        }
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Array(array) => fmt::Display::fmt(array, f),
            Self::Group(group) => fmt::Display::fmt(group, f),
        }
    }
}

impl From<Array> for Node {
    fn from(array: Array) -> Self {
        Self::Array(array)
    }
}

impl From<Group> for Node {
    fn from(group: Group) -> Self {
        Self::Group(group)
    }
}

impl Node {
    /// Opens the node at a location from its metadata.
    ///
    /// # Errors
    /// The errors of opening an array.
    #[doc(hidden)]
    pub fn new(location: Location, metadata: NodeMetadata) -> Result<Self> {
        match metadata {
            NodeMetadata::Array(metadata) => Array::new(location, metadata).map(Self::Array),
            NodeMetadata::Group(metadata) => Ok(Self::Group(Group { location, metadata })),
        }
    }

    /// Returns true if the node is an array.
    pub fn is_array(&self) -> bool {
        matches!(self, Self::Array(_))
    }

    /// Returns true if the node is a group.
    pub fn is_group(&self) -> bool {
        matches!(self, Self::Group(_))
    }

    /// Opens the node, and later the nodes below it, from their own documents. Consolidated metadata, which may be out of date
    /// after changes by other programs, is used only to find nodes in a store that cannot list its keys.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] when only the consolidated metadata contains the node; and the errors of opening it.
    #[doc(hidden)]
    pub fn by_own_documents(&self) -> Result<Self> {
        let location = self.location();
        if location.copy().is_none() {
            return Ok(self.clone());
        }
        match location.by_own_documents().find()? {
            Some(found) => Self::new(found.location, found.node),
            None => {
                let message =
                    format!("'{location}' is only in the consolidated metadata: the node does not exist");
                Err(Error::new(ErrorKind::NotFound, message))
            }
        }
    }

    /// Returns true if the store reports that the node's document has changed since the node was opened, because the node was
    /// changed, replaced, moved or deleted. In a directory, this takes one system call. Returns false if the store would have to
    /// read the document, or if the node was opened from consolidated metadata.
    ///
    /// # Errors
    /// The errors of the store.
    #[doc(hidden)]
    pub fn is_outdated(&self) -> Result<bool> {
        let Some((document, seen)) = &self.location().read_ahead.seen else { return Ok(false) };
        let (Stamp::Settled(seen) | Stamp::Recent(seen)) = seen else { return Ok(false) };
        Ok(match self.location().store.stamp(document)? {
            Stamp::Settled(now) | Stamp::Recent(now) => now != *seen,
            Stamp::Missing => true,
            Stamp::Unknown => false,
        })
    }

    /// Returns true if the document was read so soon after it was written that [`is_outdated`](Self::is_outdated) may miss a
    /// change.
    #[doc(hidden)]
    pub fn is_recent(&self) -> bool {
        matches!(self.location().read_ahead.seen, Some((_, Stamp::Recent(_))))
    }

    fn location(&self) -> &Location {
        match self {
            Self::Array(array) => array.location(),
            Self::Group(group) => group.location(),
        }
    }

    /// Returns the array, if this node is an array.
    ///
    /// # Errors
    /// When the node is a group.
    pub fn into_array(self) -> Result<Array> {
        match self {
            Self::Array(array) => Ok(array),
            Self::Group(group) => Err(argument("it is a group, not an array").at(group.place())),
        }
    }

    /// Returns the group, if this node is a group.
    ///
    /// # Errors
    /// When the node is an array.
    pub fn into_group(self) -> Result<Group> {
        match self {
            Self::Group(group) => Ok(group),
            Self::Array(array) => Err(argument("it is an array, not a group").at(array.place())),
        }
    }

    /// Returns the name of the node: the last part of its path, which is empty for the root.
    pub fn name(&self) -> &str {
        self.path().name()
    }

    /// Returns the path of the node in its hierarchy.
    pub fn path(&self) -> &NodePath {
        match self {
            Self::Array(array) => array.path(),
            Self::Group(group) => group.path(),
        }
    }

    /// Returns the user's attributes.
    pub fn attributes(&self) -> &Map {
        match self {
            Self::Array(array) => array.attributes(),
            Self::Group(group) => group.attributes(),
        }
    }

    /// Returns the stored documents of the node with their keys in the store.
    ///
    /// # Errors
    /// When the store cannot be read.
    #[doc(hidden)]
    pub fn documents(&self) -> Result<Vec<(String, zarrox_stores::Bytes)>> {
        let location = self.location();
        let mut documents = Vec::new();
        for key in location.layout_for(self.format())?.keys(&location.path) {
            if let Some(bytes) = location.store.get(&zarrox_stores::Key::new(key.clone())?)? {
                documents.push((key, bytes));
            }
        }
        Ok(documents)
    }

    /// Returns the location of the node, and its metadata with the detected encoding of chunk keys.
    #[doc(hidden)]
    pub fn as_read(&self) -> Result<(&Location, NodeMetadata)> {
        Ok(match self {
            Self::Array(array) => {
                let mut metadata = array.metadata().clone();
                if !metadata.separator_declared {
                    metadata.chunk_key_encoding = array.chunk_key_encoding()?;
                }
                (array.location(), NodeMetadata::Array(metadata))
            }
            Self::Group(group) => (group.location(), NodeMetadata::Group(group.metadata().clone())),
        })
    }

    /// Reads the stored object whose key, relative to the node, is given: a document, such as `zarr.json`, or a chunk, such as
    /// `c/0/1`.
    ///
    /// # Errors
    /// When the key is invalid, or the store cannot be read.
    #[doc(hidden)]
    pub fn stored_value(&self, key: &str) -> Result<Option<zarrox_stores::Bytes>> {
        let location = self.location();
        Ok(location.store.get(&zarrox_stores::Key::new(location.path.key(key))?)?)
    }

    /// Flushes the store, which completes a zip archive. See [`Store::flush`](zarrox_stores::Store::flush).
    ///
    /// # Errors
    /// When flushing fails.
    pub fn flush(&self) -> Result<()> {
        match self {
            Self::Array(array) => array.flush(),
            Self::Group(group) => group.flush(),
        }
    }

    /// Deserialises the user's attributes. See [`Array::attributes_as`].
    ///
    /// # Errors
    /// The errors of [`Array::attributes_as`].
    pub fn attributes_as<T: DeserializeOwned>(&self) -> Result<T> {
        match self {
            Self::Array(array) => array.attributes_as(),
            Self::Group(group) => group.attributes_as(),
        }
    }

    /// Replaces all attributes.
    ///
    /// # Errors
    /// When the node cannot be written.
    pub fn set_attributes(&mut self, attributes: impl Into<Map>) -> Result<()> {
        match self {
            Self::Array(array) => array.set_attributes(attributes),
            Self::Group(group) => group.set_attributes(attributes),
        }
    }

    /// Reads the stored attributes, calls `edit` to change them, and writes them back. If another writer has changed them in the
    /// meantime, the update is retried, so `edit` may be called more than once.
    ///
    /// # Errors
    /// When the node cannot be read or written.
    pub fn update_attributes(&mut self, edit: impl FnMut(&mut Map)) -> Result<()> {
        match self {
            Self::Array(array) => array.update_attributes(edit),
            Self::Group(group) => group.update_attributes(edit),
        }
    }

    /// Returns the format of the node's documents.
    pub fn format(&self) -> Format {
        match self {
            Self::Array(array) => array.metadata().format,
            Self::Group(group) => group.metadata.format,
        }
    }
}

impl Location {
    /// Opens the node at this location. Returns an error if there is no node.
    pub fn open_node(&self) -> Result<Node> {
        let found = self.find()?;
        if !found.as_ref().is_some_and(|found| found.explicit) {
            crate::hierarchy::journal::check_finished(self)?;
        }
        let Some(found) = found else {
            let tried: Vec<&str> = self.formats().map(|format| format.def().name()).collect();
            return Err(Error::new(
                ErrorKind::NotFound,
                format!(
                    "there is no Zarr array or group at '{}' in {} (looked for {})",
                    self.path,
                    self.store.location(),
                    tried.join(", ")
                ),
            )
            .with_path(&self.path));
        };
        Node::new(found.location, found.node)
    }
}

/// A node directly below a group.
#[derive(Debug)]
pub struct Child {
    /// The name of the child.
    pub name: String,
    /// The node, or the reason why it cannot be opened. A damaged node never hides the others.
    pub node: Result<Node>,
}

/// A group: a node that contains other nodes.
#[derive(Clone)]
pub struct Group {
    location: Location,
    metadata: GroupMetadata,
}

/// The debug form, one line without the metadata: `Group("/d/a.zarr/g", v3)`.
impl fmt::Debug for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.location.to_string();
        write!(f, "Group({place:?}, {})", self.metadata.format)
    }
}

/// zarr-python's string form: `<Group /d/a.zarr/g>`.
impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<Group {}>", self.location)
    }
}

impl Group {
    /// Returns the location of the group, as it is named in errors.
    fn place(&self) -> ErrorPlace {
        ErrorPlace::group(self.path()).in_store(self.location.store.location())
    }

    pub(crate) fn create(location: Location, format: Format, overwrite: bool) -> Result<Self> {
        let metadata = GroupMetadata::new(format);
        let location = location.settle(format)?;
        location.create_node(&NodeMetadata::Group(metadata.clone()), overwrite)?;
        Ok(Self { location: location.as_stored(), metadata })
    }

    /// Creates a group together with the nodes that `fill` creates in it. See
    /// [`OpenOptions::create_group_with`](crate::OpenOptions::create_group_with).
    pub(crate) fn create_with(
        location: Location,
        format: Format,
        overwrite: bool,
        source: &str,
        fill: impl FnOnce(&Self, bool) -> Result<()>,
    ) -> Result<Self> {
        let location = location.settle(format)?;
        let group = Self { location: location.as_stored(), metadata: GroupMetadata::new(format) };
        location.create_filled_group(format, overwrite, source, |again| fill(&group, again))?;
        Ok(group)
    }

    /// Creates a group, or opens the one that another thread or process has just created.
    pub(crate) fn create_or_find(location: &Location, format: Format) -> Result<Node> {
        match Self::create(location.clone(), format, false) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => match location.as_stored().find()? {
                Some(found) => Node::new(found.location, found.node),
                None => Err(error),
            },
            created => created.map(Node::Group),
        }
    }

    /// Returns the location of the group.
    #[doc(hidden)]
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// Returns the name of the group: the last part of its path, which is empty for the root.
    pub fn name(&self) -> &str {
        self.location.path.name()
    }

    /// Returns the path of the group in its hierarchy.
    pub fn path(&self) -> &NodePath {
        &self.location.path
    }

    /// Returns the location of the store.
    pub fn store(&self) -> String {
        self.location.store.location()
    }

    /// Flushes the store, which completes a zip archive. See [`Store::flush`](zarrox_stores::Store::flush).
    ///
    /// # Errors
    /// When flushing fails.
    pub fn flush(&self) -> Result<()> {
        self.location.store.flush().map_err(Error::from)
    }

    /// Reads the first metadata document of the group, as its format defines it. Returns an empty document if the group has none,
    /// which some formats allow.
    ///
    /// # Errors
    /// When the document cannot be read.
    #[doc(hidden)]
    pub fn document(&self) -> Result<Map> {
        self.location.first_document(self.metadata.format)
    }

    /// Returns the group's metadata.
    pub fn metadata(&self) -> &GroupMetadata {
        &self.metadata
    }

    /// Returns the format of the group's documents.
    pub fn format(&self) -> Format {
        self.metadata.format
    }

    /// Returns the user's attributes.
    pub fn attributes(&self) -> &Map {
        &self.metadata.attributes
    }

    /// Deserialises the user's attributes as [`json::from_map`](crate::json::from_map) does. [`json::to_map`](crate::json::to_map)
    /// serialises a value to attributes.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidMetadata`](crate::ErrorKind::InvalidMetadata), with the name of the attribute, when an attribute does
    /// not fit the type.
    pub fn attributes_as<T: DeserializeOwned>(&self) -> Result<T> {
        json::from_map(self.attributes()).map_err(|error| error.at("attributes").at(self.place()))
    }

    /// Replaces all attributes.
    ///
    /// # Errors
    /// When the group cannot be written.
    pub fn set_attributes(&mut self, attributes: impl Into<Map>) -> Result<()> {
        let attributes = attributes.into();
        self.update_attributes(move |map| map.clone_from(&attributes))
    }

    /// Reads the stored attributes, calls `edit` to change them, and writes them back. If another writer has changed them in the
    /// meantime, the update is retried, so `edit` may be called more than once.
    ///
    /// # Errors
    /// When the group cannot be read or written.
    pub fn update_attributes(&mut self, edit: impl FnMut(&mut Map)) -> Result<()> {
        self.metadata.attributes = update_attributes(&self.location, self.metadata.format, edit)?;
        Ok(())
    }

    /// Opens a node below the group.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) when there is no node; otherwise the reason why it cannot be opened.
    pub fn open(&self, path: impl AsRef<str>) -> Result<Node> {
        self.below(path.as_ref())?.open_node()
    }

    /// Opens an array below the group.
    ///
    /// # Errors
    /// The errors of [`Group::open`], and an error when the node is a group.
    pub fn open_array(&self, path: impl AsRef<str>) -> Result<Array> {
        self.open(path)?.into_array()
    }

    /// Opens a group below this one.
    ///
    /// # Errors
    /// The errors of [`Group::open`], and an error when the node is an array.
    pub fn open_group(&self, path: impl AsRef<str>) -> Result<Self> {
        self.open(path)?.into_group()
    }

    /// Returns true if there is an array or a group at a path below the group, even if it cannot be opened.
    ///
    /// In Zarr v2 and the drafts of v3, only the existence of the document is checked; it is not read. A document that cannot be
    /// parsed is reported by [`Group::open`].
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn contains(&self, path: impl AsRef<str>) -> Result<bool> {
        self.below(path.as_ref())?.holds_node()
    }

    /// Creates a group below this one, together with any missing groups in between.
    ///
    /// # Errors
    /// [`ErrorKind::AlreadyExists`](crate::ErrorKind::AlreadyExists) when there is a node at the path.
    pub fn create_group(&self, path: impl AsRef<str>) -> Result<Self> {
        Self::create(self.below(path.as_ref())?, self.metadata.format, false)
    }

    /// Opens the group at a path below this one, or creates it if there is no node.
    ///
    /// # Errors
    /// When the node at the path is an array or cannot be opened.
    pub fn require_group(&self, path: impl AsRef<str>) -> Result<Self> {
        let location = self.below(path.as_ref())?;
        match location.find()? {
            Some(found) => Node::new(found.location, found.node)?.into_group(),
            None => Self::create_or_find(&location, self.metadata.format)?.into_group(),
        }
    }

    /// Returns a builder for an array below this group, in the group's format.
    pub fn create_array(&self, path: impl AsRef<str>) -> ArrayBuilder {
        ArrayBuilder::new(self.below(path.as_ref()), Some(self.metadata.format))
    }

    /// Runs work that grows several arrays below the group together, such as the arrays of a dataset. Only one writer at a time
    /// runs such work.
    ///
    /// Lengths that are read during the work remain the same until the work is done, unless a writer that does not use this
    /// function changes them. A mark in the group identifies the process that does the work, and lists the arrays that were
    /// passed to [`Growth::note`]. If that process dies, the next writer undoes a partial change; if all arrays already had their
    /// new shapes, [`Growth::left`] returns them. While another writer is doing such work, `waiting` is called a few times per
    /// second; it may be [`Interrupt::check`](crate::Interrupt::check), for example. An error from `waiting` ends the wait.
    ///
    /// # Errors
    /// [`ErrorKind::TimedOut`](crate::ErrorKind::TimedOut) when the same other writer has been working for a minute; when the group
    /// cannot be written; and the errors of `waiting` and `work`.
    #[doc(hidden)]
    pub fn grow_with<R>(
        &self,
        waiting: impl Fn() -> Result<()>,
        work: impl FnOnce(&Growth) -> Result<R>,
    ) -> Result<R> {
        Growth::begin(&self.location, waiting)?.around(work)
    }

    /// Returns all nodes directly below the group, sorted by name. A node that cannot be opened is listed with the reason.
    ///
    /// # Errors
    /// When the store cannot be listed.
    pub fn children(&self) -> Result<Vec<Child>> {
        let mut children = Vec::new();
        self.each_child(&mut |child| {
            children.push(child);
            Ok(())
        })?;
        Ok(children)
    }

    /// Returns, for pagination, at most `most` nodes directly below the group whose names sort after `after`, sorted by name. No
    /// other nodes are opened. A page with fewer than `most` nodes is the last one.
    ///
    /// ```
    /// # use zarrox::prelude::*;
    /// # let directory = tempfile::tempdir()?;
    /// let root = zarrox::create_group(directory.path().join("a.zarr"))?;
    /// for name in ["a", "b", "c"] {
    ///     root.create_group(name)?;
    /// }
    /// let page = root.children_after("a", 1)?;
    /// assert_eq!(page[0].name, "b");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the store cannot be listed.
    #[doc(hidden)]
    pub fn children_after(&self, after: &str, most: usize) -> Result<Vec<Child>> {
        let mut page = Vec::new();
        self.each_place_after(after, most, &mut |name, place| {
            let node = match place.find() {
                Ok(None) => return Ok(false),
                Ok(Some(found)) => Node::new(found.location, found.node),
                Err(error) => Err(error),
            };
            page.push(Child { name, node });
            Ok(page.len() >= most)
        })?;
        Ok(page)
    }

    /// Calls `visitor` with each child in turn, so that only the children that the visitor keeps are in memory.
    #[doc(hidden)]
    pub fn each_child(&self, visitor: &mut dyn FnMut(Child) -> Result<()>) -> Result<()> {
        self.each_place(&mut |name, place| {
            let node = match place.find() {
                Ok(None) => return Ok(()),
                Ok(Some(found)) => Node::new(found.location, found.node),
                Err(error) => Err(error),
            };
            visitor(Child { name, node })
        })
    }

    /// Returns the arrays directly below the group, except those that cannot be opened.
    ///
    /// # Errors
    /// When the store cannot be listed.
    pub fn arrays(&self) -> Result<Vec<Array>> {
        let mut arrays = Vec::new();
        self.each_child(&mut |child| {
            arrays.extend(child.node.and_then(Node::into_array));
            Ok(())
        })?;
        Ok(arrays)
    }

    /// Returns the groups directly below this one, except those that cannot be opened.
    ///
    /// # Errors
    /// When the store cannot be listed.
    pub fn groups(&self) -> Result<Vec<Self>> {
        let mut groups = Vec::new();
        self.each_child(&mut |child| {
            groups.extend(child.node.and_then(Node::into_group));
            Ok(())
        })?;
        Ok(groups)
    }

    /// Visits all nodes below the group, parents before children, with their paths relative to this group. For a node that cannot
    /// be opened, the visitor is called with the reason.
    ///
    /// # Errors
    /// When the store cannot be listed, and the errors of the visitor.
    pub fn visit(&self, visitor: &mut dyn FnMut(&str, &Result<Node>) -> Result<()>) -> Result<()> {
        self.visit_below("", visitor)
    }

    fn visit_below(
        &self,
        above: &str,
        visitor: &mut dyn FnMut(&str, &Result<Node>) -> Result<()>,
    ) -> Result<()> {
        self.each_child(&mut |child| {
            let path = if above.is_empty() { child.name } else { [above, "/", &child.name].concat() };
            visitor(&path, &child.node)?;
            match &child.node {
                Ok(Node::Group(group)) => group.visit_below(&path, visitor),
                _ => Ok(()),
            }
        })
    }

    /// Returns all nodes below the group as a tree for printing.
    ///
    /// # Errors
    /// When the store cannot be listed.
    pub fn tree(&self) -> Result<Tree> {
        self.tree_to_depth(usize::MAX)
    }

    /// Returns the nodes that are at most `depth` levels below the group, as a tree for printing. Deeper nodes are not opened.
    ///
    /// # Errors
    /// When the store cannot be listed.
    #[doc(hidden)]
    pub fn tree_to_depth(&self, depth: usize) -> Result<Tree> {
        let name = if self.path().is_root() { "/" } else { self.path().name() };
        let mut tree = Tree { name: name.to_owned(), is_group: true, ..Tree::default() };
        if depth == 0 {
            return Ok(tree);
        }
        self.each_child(&mut |child| {
            let below = match &child.node {
                Ok(Node::Group(group)) => group.tree_to_depth(depth - 1)?,
                Ok(Node::Array(array)) => Tree { label: label(array), ..Tree::default() },
                Err(error) => Tree { error: Some(error.to_string()), ..Tree::default() },
            };
            tree.children.push(Tree { name: child.name, ..below });
            Ok(())
        })?;
        Ok(tree)
    }

    /// Moves a node below this group, with all nodes below it, to another path below this group.
    ///
    /// # Errors
    /// When there is no node at `from`, or `to` is occupied.
    pub fn move_node(&self, from: impl AsRef<str>, to: impl AsRef<str>) -> Result<()> {
        self.below(from.as_ref())?.move_node(&self.below(to.as_ref())?, false)
    }

    /// Deletes a node below this group, with all nodes below it.
    ///
    /// # Errors
    /// When there is no node.
    pub fn delete(&self, path: impl AsRef<str>) -> Result<()> {
        let location = self.below(path.as_ref())?;
        if location.path == *self.path() {
            return Err(argument("a group cannot delete itself; use the group above"));
        }
        location.delete()
    }

    pub(crate) fn below(&self, path: &str) -> Result<Location> {
        Ok(self.location.at(self.path().join(path)?))
    }
}

/// A group and all nodes below it, for printing.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    /// The name of the node.
    pub name: String,
    /// The description of an array: its shape and data type.
    pub label: String,
    /// The reason why the node cannot be opened.
    pub error: Option<String>,
    /// True for a group.
    pub is_group: bool,
    /// Additional lines to print below the node.
    pub details: Vec<String>,
    /// The nodes directly below.
    pub children: Vec<Tree>,
}

fn label(array: &Array) -> String {
    let shape: Vec<String> = array.shape().iter().map(u64::to_string).collect();
    let comma = if shape.len() == 1 { "," } else { "" };
    let unreadable = array.unreadable().map(|why| format!(" (cannot be read: {why})")).unwrap_or_default();
    format!("({}{comma}) {}{unreadable}", shape.join(", "), array.data_type())
}

impl Tree {
    /// Writes the lines of the nodes below this one.
    fn write(&self, f: &mut fmt::Formatter<'_>, indent: &str) -> fmt::Result {
        let line = if self.children.is_empty() { "    " } else { "│   " };
        self.details.iter().try_for_each(|detail| write!(f, "\n{indent}{line}{detail}"))?;
        for (index, child) in self.children.iter().enumerate() {
            let last = index + 1 == self.children.len();
            let (branch, below) = if last { ("└── ", "    ") } else { ("├── ", "│   ") };
            write!(f, "\n{indent}{branch}")?;
            child.write_line(f)?;
            child.write(f, &format!("{indent}{below}"))?;
        }
        Ok(())
    }

    /// Writes the line of the node.
    fn write_line(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if !self.label.is_empty() {
            write!(f, " {}", self.label)?;
        }
        match &self.error {
            Some(error) => write!(f, " (cannot be opened: {error})"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_line(f)?;
        self.write(f, "")
    }
}

impl Array {
    /// Reads the metadata again, since other processes or handles may have changed the shape or the attributes.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] when the array was deleted or moved; [`ErrorKind::InvalidArgument`] when it was replaced by a
    /// group; and the errors of the store.
    pub fn reload(&mut self) -> Result<()> {
        let found = self.location().as_stored().find()?;
        let missing = || Error::new(ErrorKind::NotFound, "it was deleted or moved").at(self.place());
        let found = found.ok_or_else(missing)?;
        *self = Node::new(found.location, found.node)?.into_array()?;
        Ok(())
    }

    /// Opens the group that contains the array; `None` for an array that is the root of its hierarchy, or if there is no group.
    ///
    /// # Errors
    /// The reason why the group cannot be opened.
    #[doc(hidden)]
    pub fn parent(&self) -> Result<Option<Group>> {
        let Some(path) = self.location().path.parent() else { return Ok(None) };
        match self.location().at(path).open_node() {
            Ok(node) => node.into_group().map(Some),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}
