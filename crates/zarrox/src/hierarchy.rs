//! Nodes in a store: reading, writing and changing their documents.

mod creating;
mod deletion;
#[cfg(test)]
mod faults;
mod filling;
mod holding;
pub(crate) mod journal;
mod moving;
mod owner;
mod probing;
pub(crate) mod renaming;
mod unfinished;

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use zarrox_core::Strictness;
use zarrox_core::internals::metadata::{Change, Document, Layout, ReadContext, Source};
use zarrox_core::json::Map;
use zarrox_core::{Error, ErrorKind, Format, GroupMetadata, NodeMetadata, Result};
use zarrox_stores::{Condition, Key, LockGuard, Prefix, Stamp, StoreExt};

pub(crate) use self::owner::{Owner, renewing};
pub use self::unfinished::{APPENDS, DATASET, Mark, is_mark};
use crate::guarded::{LockedValue, until_unchanged};
use crate::location::Location;
use crate::upkeep::Changes;

/// The largest metadata document that is read, in bytes.
pub const DOCUMENT_LIMIT: u64 = 256 << 20;

/// A node that was found.
pub struct Found {
    /// The location of the node, with the layout.
    pub location: Location,
    /// The metadata of the node.
    pub node: NodeMetadata,
    /// True if the node has a document; false for an implicit group.
    pub explicit: bool,
}

/// A node that exists, whether or not its documents can be parsed.
pub(crate) struct ExistingNode {
    format: Format,
    layout: Layout,
    /// False for a group that has no document.
    explicit: bool,
    /// True if the node is known to be an array.
    is_array: bool,
}

/// The node as it is stored.
type Stored<'a> = &'a NodeMetadata;

/// The documents that were read.
type Read<'a> = &'a [Option<Vec<u8>>];

/// Replaces the documents that were read.
type Write<'a> = &'a mut dyn FnMut(Vec<Document>) -> Result<()>;

impl Location {
    /// Returns the location with the layout that this format has in the hierarchy.
    pub fn settle(self, format: Format) -> Result<Self> {
        let layout = self.layout_for(format)?;
        Ok(self.with_layout(Some((format, layout))))
    }

    /// Returns the layout of documents and chunks that this format has in this hierarchy, or has by default in a new one.
    pub fn layout_for(&self, format: Format) -> Result<Layout> {
        match self.known_layout(format) {
            Some(layout) => Ok(layout),
            None => Ok(self.existing_layout(format)?.unwrap_or_else(|| format.def().layout())),
        }
    }

    /// Returns the layout of the hierarchy, if the hierarchy is known to have this format.
    pub fn known_layout(&self, format: Format) -> Option<Layout> {
        self.layout.as_ref().filter(|(known, _)| *known == format).map(|(_, layout)| layout.clone())
    }

    /// Returns the layout of the existing hierarchy; `None` if the hierarchy has another format.
    pub fn existing_layout(&self, format: Format) -> Result<Option<Layout>> {
        if let Some(copy) = self.copy().filter(|copy| copy.format == format) {
            return Ok(Some(copy.layout.clone()));
        }
        if let Some(layout) = self.known_layout(format) {
            return Ok(Some(layout));
        }
        let Some(key) = format.def().entry_key() else { return Ok(Some(format.def().layout())) };
        let entry = self.document(key.to_owned())?;
        let place = || format!("'{key}' in {}", self.store.location());
        let layout = format.def().entry_from_document(entry.as_deref(), &self.read_context());
        let layout = layout.map_err(|error| error.at(place()))?;
        let expected = self.expected == Some(format) && format.def().may_lack_entry();
        Ok(if expected { Some(format.def().layout()) } else { layout })
    }

    /// Returns the prefix of the node's chunks.
    pub(crate) fn chunks(&self, format: Format) -> Result<Prefix> {
        Prefix::new(self.layout_for(format)?.chunks(&self.path)).map_err(Error::from)
    }

    /// Returns the total size of the node's documents, in bytes.
    pub fn size_of_documents(&self, format: Format) -> Result<u64> {
        let mut size = 0;
        for key in self.layout_for(format)?.keys(&self.path) {
            let key = Key::new(key)?;
            size += self.store.size(&key)?.unwrap_or_default();
        }
        Ok(size)
    }

    /// Returns the names that may belong to nodes directly below this group, sorted.
    pub fn names_below(&self, format: Format) -> Result<BTreeSet<String>> {
        let layout = self.layout_for(format)?;
        let mut names = match self.names() {
            Some(copy) => {
                let (keys, prefixes) = copy.list(&layout.below(&self.path));
                layout.children(keys, prefixes)
            }
            None => {
                let prefix = Prefix::new(layout.below(&self.path))?;
                let listing = self.store.list_dir(&prefix)?;
                layout.children(listing.keys.iter().map(Key::name), listing.prefixes.iter().map(Prefix::name))
            }
        };
        self.hide_holder(format, &layout, &mut names)?;
        Ok(names)
    }

    /// Finds the node, if there is one.
    pub fn find(&self) -> Result<Option<Found>> {
        let found = self.first_format(|format, layout| {
            let seen = self.look_at_document(layout)?;
            Ok(self.look_for(format, layout)?.map(|found| (found, seen)))
        })?;
        Ok(found.map(|(format, layout, ((node, explicit), seen))| {
            let mut location = self.clone().with_layout(Some((format, layout))).with_probe(None);
            location.read_ahead.seen = seen;
            Found { location, node, explicit }
        }))
    }

    /// Returns the key and the stamp of the document that is about to be read.
    fn look_at_document(&self, layout: &Layout) -> Result<Option<(Key, Stamp)>> {
        let Some(key) = self.first_document_key(layout)?.filter(|_| self.copy().is_none()) else {
            return Ok(None);
        };
        let stamp = self.store.stamp(&key)?;
        let was_read = self.read_ahead.probe.as_ref().is_some_and(|probe| probe.known(&key).is_some());
        let stamp = if was_read && stamp != Stamp::Unknown { Stamp::Missing } else { stamp };
        Ok(Some((key, stamp)))
    }

    /// Calls `look` with each possible format and its layout, and returns the first result that is not `None`, with the format
    /// and the layout.
    pub(crate) fn first_format<T>(
        &self,
        look: impl Fn(Format, &Layout) -> Result<Option<T>>,
    ) -> Result<Option<(Format, Layout, T)>> {
        for format in self.formats() {
            let Some(layout) = self.existing_layout(format)? else { continue };
            if let Some(found) = look(format, &layout)? {
                return Ok(Some((format, layout, found)));
            }
            if layout.implicit_groups() {
                break;
            }
        }
        Ok(None)
    }

    /// Returns the metadata of the node, if there is one.
    pub fn find_node(&self) -> Result<Option<NodeMetadata>> {
        Ok(self.find()?.map(|found| found.node))
    }

    pub(crate) fn look_for(&self, format: Format, layout: &Layout) -> Result<Option<(NodeMetadata, bool)>> {
        match self.look_here(format, layout)? {
            Some((_, false)) if self.is_inside_array(format, layout)? => Ok(None),
            found => Ok(found),
        }
    }

    /// Returns true if a node above is an array, in a layout in which the keys of chunks can look like keys of nodes below the
    /// array.
    fn is_inside_array(&self, format: Format, layout: &Layout) -> Result<bool> {
        if !layout.chunks(&self.path).starts_with(&layout.below(&self.path)) {
            return Ok(false);
        }
        for path in self.path.ancestors() {
            if let Some((NodeMetadata::Array(_), _)) = self.at(path).look_here(format, layout)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn look_here(&self, format: Format, layout: &Layout) -> Result<Option<(NodeMetadata, bool)>> {
        if let Some(copy) = self.copy() {
            let keys = layout.keys(&self.path);
            let documents: Vec<_> = keys.iter().map(|key| copy.get(key).map(Source::Json)).collect();
            return self.node_of(format, layout, &documents);
        }
        let documents = needed(format, layout.keys(&self.path), |key| self.document(key))?;
        self.node_of(format, layout, &Source::stored(&documents))
    }

    /// Adds the path of the node and the key of the document to an error about a document.
    fn place_document(&self, error: Error, layout: &Layout) -> Error {
        let key = error.document().map(|name| layout.key(&self.path, name));
        let error = error.at(format!("'{}'", self.path)).with_path(&self.path);
        match key {
            Some(key) => error.with_key(key),
            None => error,
        }
    }

    /// Returns the node that these documents describe, and whether it has a document: an implicit group has none.
    pub fn node_of(
        &self,
        format: Format,
        layout: &Layout,
        documents: &[Option<Source<'_>>],
    ) -> Result<Option<(NodeMetadata, bool)>> {
        let node = format.def().from_documents(documents, &self.read_context());
        if let Some(node) = node.map_err(|error| self.place_document(error, layout))? {
            return Ok(Some((node, true)));
        }
        if !layout.implicit_groups() {
            return Ok(None);
        }
        let attributes = format.def().implicit_group(documents, &self.read_context());
        let Some(attributes) = attributes.map_err(|error| self.place_document(error, layout))? else {
            return Ok(None);
        };
        let explicit = documents.iter().any(Option::is_some);
        // A root always has an entry document, unless the format does not require one.
        let is_there = explicit
            || (self.path.is_root() && !format.def().may_lack_entry())
            || self.any_below(&layout.below(&self.path))?;
        let group = GroupMetadata { attributes, ..GroupMetadata::new(format) };
        Ok(is_there.then(|| (NodeMetadata::Group(group), explicit)))
    }

    /// Returns the node that exists at this location, whether or not its documents can be parsed.
    pub(crate) fn existing_node(&self) -> Result<Option<ExistingNode>> {
        for format in self.formats() {
            let layout = match self.existing_layout(format) {
                Ok(Some(layout)) => layout,
                Ok(None) => continue,
                // The layout of keys is unknown, but every key in the store belongs to the root.
                Err(error) if is_unclear(&error) && self.path.is_root() => {
                    let layout = format.def().layout();
                    return Ok(Some(ExistingNode { format, layout, explicit: true, is_array: false }));
                }
                Err(error) => return Err(error),
            };
            match self.look_for(format, &layout) {
                Ok(None) if layout.implicit_groups() => break,
                Ok(None) => {}
                Ok(Some((node, explicit))) => {
                    let is_array = matches!(node, NodeMetadata::Array(_));
                    return Ok(Some(ExistingNode { format, layout, explicit, is_array }));
                }
                Err(error) if is_unclear(&error) => {
                    return Ok(Some(ExistingNode { format, layout, explicit: true, is_array: false }));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// Returns the location such that a hierarchy is recognised only by its documents, not by the name of its directory, so that
    /// files of other programs are never deleted.
    fn by_documents(&self) -> Self {
        self.clone().expecting(None)
    }

    /// Returns the node that exists at this location, whatever its format.
    fn existing_node_of_any_format(&self) -> Result<Option<ExistingNode>> {
        self.by_documents().of_format(None).existing_node()
    }

    fn existing_node_or_error(&self, purpose: &str) -> Result<ExistingNode> {
        self.by_documents().existing_node()?.ok_or_else(|| {
            let message =
                format!("there is no node at '{}' in {} to {purpose}", self.path, self.store.location());
            Error::new(ErrorKind::NotFound, message).with_path(&self.path)
        })
    }

    /// Returns the format of the nearest node above that can be parsed, which a new node at this location should have as well.
    pub fn inherited_format(&self) -> Result<Option<Format>> {
        for path in self.path.ancestors().into_iter().rev() {
            match self.at(path).find_node() {
                Ok(Some(node)) => return Ok(Some(format_of(&node))),
                Ok(None) => {}
                Err(error) if is_unclear(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// Returns the default format of a new node at this location.
    pub(crate) fn new_format(&self) -> Result<Format> {
        let inherited = || self.inherited_format().transpose();
        let format = self.format.map(Ok).or_else(inherited).transpose()?;
        Ok(format.or(self.expected).unwrap_or(Format::V3))
    }

    pub(crate) fn read_context(&self) -> ReadContext<'_> {
        ReadContext {
            registry: &self.context.registry,
            strictness: self.context.strictness,
            data_type_fallback: self.context.data_type_fallback,
        }
    }

    /// Returns the formats that a node at this location can have.
    pub fn formats(&self) -> impl Iterator<Item = Format> {
        let known = self.layout.as_ref().filter(|(_, layout)| layout.implicit_groups());
        let known = known.map(|(format, _)| *format).or(self.copy().map(|copy| copy.format));
        let only = known.or(self.format);
        Format::all().filter(move |format| only.is_none_or(|only| only == *format))
    }

    /// Reads the documents of the node, in the order of the layout's keys.
    ///
    /// # Errors
    /// The errors of the store.
    pub fn documents(&self, layout: &Layout) -> Result<Vec<Option<Vec<u8>>>> {
        layout.keys(&self.path).into_iter().map(|key| self.document(key)).collect()
    }

    /// Reads the node's first document, which determines whether the node is an array or a group.
    pub(crate) fn first_document(&self, format: Format) -> Result<Map> {
        // The copy of the group's own document does not include the consolidated metadata that the stored document contains.
        let is_holder = self.copy().is_some_and(|copy| copy.group == self.path);
        let place = if is_holder { self.as_stored() } else { self.clone() };
        let documents = place.documents(&place.layout_for(format)?)?;
        match documents.into_iter().flatten().next() {
            Some(bytes) => zarrox_core::internals::json::parse_document(&bytes, Strictness::Lenient),
            None => Ok(Map::default()),
        }
    }

    fn document(&self, key: String) -> Result<Option<Vec<u8>>> {
        match self.copy() {
            Some(copy) => Ok(copy.document(&key)),
            None => self.stored_document(key),
        }
    }

    /// Locks a document and reads its stored bytes, in order to change it.
    pub(crate) fn locked_document(&self, key: &Key) -> Result<LockedValue> {
        self.locked_value(key, DOCUMENT_LIMIT)
    }

    /// Erases a document.
    ///
    /// # Errors
    /// The errors of the store.
    pub fn erase(&self, key: String) -> Result<()> {
        let key = Key::new(key)?;
        self.store.erase(&key).map_err(Error::from).map(drop)
    }

    /// Returns true if there is any key below a prefix. Directories without files do not count.
    pub fn any_below(&self, prefix: &str) -> Result<bool> {
        if let Some(copy) = self.copy() {
            return Ok(copy.any_below(prefix));
        }
        let prefix = Prefix::new(prefix)?;
        let mut any = false;
        let mut visit = |_, _| {
            any = true;
            ControlFlow::Break(())
        };
        self.store.list_prefix(&prefix, &mut visit)?;
        Ok(any)
    }

    /// Stores a document if the condition holds.
    ///
    /// # Errors
    /// The errors of the store; [`ErrorKind::AlreadyExists`] or [`ErrorKind::Conflict`] if the condition does not hold.
    pub fn put(&self, key: String, document: &[u8], condition: Condition<'_>) -> Result<()> {
        let key = Key::new(key)?;
        self.store.set(&key, document, condition).map_err(Error::from)
    }

    /// Prevents other threads of this process from creating or changing the node.
    fn lock_documents(&self, layout: &Layout) -> Result<Option<LockGuard>> {
        let key = self.first_document_key(layout)?;
        key.map(|key| self.store.lock(&key)).transpose().map_err(Error::from)
    }

    /// Changes the documents of an existing node in place. Members that the change does not affect are kept.
    ///
    /// `prepare` is called with the node as it is currently stored, and may do work that must be done before the change becomes
    /// visible. In the meantime, no other writer changes the node, as far as the locks of the store prevent it. If the store
    /// detects that another writer has changed the node, nothing is written, and a conflict is returned.
    pub(crate) fn change<R>(
        &self,
        format: Format,
        prepare: impl FnOnce(&NodeMetadata, &mut dyn FnMut(Change<'_>) -> Result<()>) -> Result<R>,
    ) -> Result<R> {
        self.rewritten(format, |node, documents, write| {
            prepare(node, &mut |change| write(format.def().patch(documents, change)?))
        })
    }

    /// Works like `change`, but writes documents that `prepare` creates from the stored documents.
    pub fn rewritten<R>(
        &self,
        format: Format,
        prepare: impl FnOnce(Stored<'_>, Read<'_>, Write<'_>) -> Result<R>,
    ) -> Result<R> {
        let place = self.for_change()?;
        let holds = place.hold_shared(&place.layout_for(format)?)?;
        let locked = place.hold(format)?;
        let mut is_written = false;
        let changed = prepare(&locked.node, &locked.documents, &mut |changed| {
            locked.replace(&place, changed, &mut is_written)
        });
        if is_written {
            let is_group = matches!(locked.node, NodeMetadata::Group(_));
            drop(locked);
            drop(holds);
            let kept = place.keep_copies(format, &Changes::of_node(&place.path, is_group));
            return changed.and_then(|changed| kept.map(|()| changed));
        }
        changed
    }

    /// Locks the documents of a node, and reads them.
    fn hold(&self, format: Format) -> Result<LockedNode> {
        let layout = self.layout_for(format)?;
        // Documents are always locked in the same order, so that two writers never deadlock.
        let mut locked: Vec<LockedValue> = Vec::new();
        let documents = needed(format, layout.keys(&self.path), |key| {
            locked.push(self.locked_document(&Key::new(key)?)?);
            Ok(locked.last().and_then(LockedValue::bytes).map(|bytes| bytes.to_vec()))
        })?;
        let Some((node, _)) = self.node_of(format, &layout, &Source::stored(&documents))? else {
            return Err(self.converted_or_gone(format));
        };
        Ok(LockedNode { node, documents, locked, layout })
    }

    /// Returns the error for a node that no longer has documents of this format.
    fn converted_or_gone(&self, format: Format) -> Error {
        let other = self.clone().of_format(None).find_node().ok().flatten();
        let other = other.map(|node| format_of(&node));
        Error::new(
            ErrorKind::NotFound,
            match other.filter(|other| *other != format) {
                Some(other) => format!("'{}' was converted to Zarr {other}; open it again", self.path),
                None => format!("'{}' does not exist any more", self.path),
            },
        )
    }
}

/// A node that is about to be changed, and whose documents are locked.
struct LockedNode {
    node: NodeMetadata,
    documents: Vec<Option<Vec<u8>>>,
    locked: Vec<LockedValue>,
    layout: Layout,
}

impl LockedNode {
    /// Stores changed documents, and sets `is_written` once a document has been stored.
    fn replace(&self, place: &Location, changed: Vec<Document>, is_written: &mut bool) -> Result<()> {
        for (name, bytes) in changed {
            let key = Key::new(self.layout.key(&place.path, name))?;
            match self.locked.iter().find(|locked| *locked.key() == key) {
                Some(locked) => locked.replace(place, &bytes)?,
                None => place.locked_document(&key)?.replace(place, &bytes)?,
            }
            *is_written = true;
        }
        Ok(())
    }
}

/// Returns true if the error means that a node exists, but its documents cannot be parsed.
fn is_unclear(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::InvalidMetadata | ErrorKind::Unsupported)
}

/// Returns the format of a node's documents.
pub fn format_of(node: &NodeMetadata) -> Format {
    match node {
        NodeMetadata::Array(array) => array.format,
        NodeMetadata::Group(group) => group.format,
    }
}

/// Reads the documents of a node of this format, given all keys that they can have. The document of groups is not read for an
/// array. The attributes are read only if another document exists, since attributes alone do not make a node.
pub fn needed<K, D>(
    format: Format,
    keys: impl IntoIterator<Item = K>,
    mut read: impl FnMut(K) -> Result<Option<D>>,
) -> Result<Vec<Option<D>>> {
    let group = format.def().group_document();
    let mut documents: Vec<Option<D>> = Vec::new();
    for (index, key) in keys.into_iter().enumerate() {
        let is_found = documents.iter().any(Option::is_some);
        let is_needed = if group == Some(index) { !is_found } else { index == 0 || is_found };
        documents.push(if is_needed { read(key)? } else { None });
    }
    Ok(documents)
}

/// Reads, edits and writes back the attributes of a node, and retries if another writer has changed the node first. Returns the
/// attributes that were stored.
pub fn update_attributes(location: &Location, format: Format, mut edit: impl FnMut(&mut Map)) -> Result<Map> {
    until_unchanged(|| {
        location.change(format, |node, write| {
            let mut attributes = match node {
                NodeMetadata::Array(array) => array.attributes.clone(),
                NodeMetadata::Group(group) => group.attributes.clone(),
            };
            edit(&mut attributes);
            write(Change::Attributes(&attributes))?;
            Ok(attributes)
        })
    })
}
