//! Nodes in a store: reads, writes and changes their documents.

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
use zarrox_core::internals::metadata::{Change, Document, Extent, Layout, ReadContext, Source};
use zarrox_core::json::Map;
use zarrox_core::{Error, ErrorKind, Format, GroupMetadata, NodeMetadata, NodePath, Result};
use zarrox_stores::{Condition, Key, LockGuard, Prefix, Stamp, StoreExt};

pub(crate) use self::owner::{Owner, renewing};
pub use self::unfinished::{APPENDS, DATASET, Mark, is_mark};
use crate::error::argument;
use crate::guarded::{LockedValue, until_unchanged};
use crate::location::Location;
use crate::upkeep::Changes;

/// The largest metadata document that is read, in bytes.
pub const DOCUMENT_LIMIT: u64 = 256 << 20;

/// A node that was found.
pub struct Found {
    /// Its location, with the layout.
    pub location: Location,
    /// Its metadata.
    pub node: NodeMetadata,
    /// True if the node has a document; false for an implicit group.
    pub explicit: bool,
}

/// The keys that are stored where a node would be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Occupied {
    Nothing,
    /// No keys, only prefixes.
    Prefixes,
    Keys,
}

/// A node that exists, whether its documents can be parsed or not.
pub(crate) struct ExistingNode {
    format: Format,
    layout: Layout,
    /// False for a group that has no document.
    explicit: bool,
    /// True if it is certainly an array.
    is_array: bool,
}

/// The node that is stored.
type Stored<'a> = &'a NodeMetadata;

/// The documents that were read.
type Read<'a> = &'a [Option<Vec<u8>>];

/// Writes documents in place of those that were read.
type Write<'a> = &'a mut dyn FnMut(Vec<Document>) -> Result<()>;

impl Location {
    /// Returns the location with the layout of this format in the hierarchy.
    pub fn settle(self, format: Format) -> Result<Self> {
        let layout = self.layout_for(format)?;
        Ok(self.with_layout(Some((format, layout))))
    }

    /// Returns the layout of documents and chunks of this format in this hierarchy, or in a new one.
    pub fn layout_for(&self, format: Format) -> Result<Layout> {
        match self.known_layout(format) {
            Some(layout) => Ok(layout),
            None => Ok(self.existing_layout(format)?.unwrap_or_else(|| format.def().layout())),
        }
    }

    /// Returns the layout of the hierarchy, if its format is known to be this one.
    pub fn known_layout(&self, format: Format) -> Option<Layout> {
        self.layout.as_ref().filter(|(known, _)| *known == format).map(|(_, layout)| layout.clone())
    }

    /// Returns the layout of the existing hierarchy; `None` if it has another format.
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

    /// Returns the number of bytes of all the node's documents.
    pub fn size_of_documents(&self, format: Format) -> Result<u64> {
        let mut size = 0;
        for key in self.layout_for(format)?.keys(&self.path) {
            let key = Key::new(key)?;
            size += self.store.size(&key)?.unwrap_or_default();
        }
        Ok(size)
    }

    /// Returns the names of possible nodes directly below this group, sorted.
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

    /// Returns the stamp of the document that is about to be read.
    fn look_at_document(&self, layout: &Layout) -> Result<Option<(Key, Stamp)>> {
        let Some(key) = self.first_document_key(layout)?.filter(|_| self.copy().is_none()) else {
            return Ok(None);
        };
        let stamp = self.store.stamp(&key)?;
        let was_read = self.read_ahead.probe.as_ref().is_some_and(|probe| probe.known(&key).is_some());
        let stamp = if was_read && stamp != Stamp::Unknown { Stamp::Missing } else { stamp };
        Ok(Some((key, stamp)))
    }

    /// Calls `look` for each possible format, and returns the first result that is not `None`, with the format and the layout of
    /// the hierarchy.
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

    /// Returns true if a node above is an array whose chunks have the keys that nodes below it would have.
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

    /// Returns the node that these documents describe, and false with an implicit group.
    pub fn node_of(
        &self,
        format: Format,
        layout: &Layout,
        documents: &[Option<Source<'_>>],
    ) -> Result<Option<(NodeMetadata, bool)>> {
        let node = format.def().from_documents(documents, &self.read_context());
        if let Some(node) = node.map_err(|error| error.at(format!("'{}'", self.path)))? {
            return Ok(Some((node, true)));
        }
        if !layout.implicit_groups() {
            return Ok(None);
        }
        let attributes = format.def().implicit_group(documents, &self.read_context());
        let Some(attributes) = attributes.map_err(|error| error.at(format!("'{}'", self.path)))? else {
            return Ok(None);
        };
        let explicit = documents.iter().any(Option::is_some);
        // A root has an entry document, unless the format does not require one.
        let is_there = explicit
            || (self.path.is_root() && !format.def().may_lack_entry())
            || self.any_below(&layout.below(&self.path))?;
        let group = GroupMetadata { attributes, ..GroupMetadata::new(format) };
        Ok(is_there.then(|| (NodeMetadata::Group(group), explicit)))
    }

    /// Returns the node that exists here, whether its documents can be parsed or not.
    pub(crate) fn existing_node(&self) -> Result<Option<ExistingNode>> {
        for format in self.formats() {
            let layout = match self.existing_layout(format) {
                Ok(Some(layout)) => layout,
                Ok(None) => continue,
                // The keys of the nodes are unknown, but all of them belong to the root.
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

    /// Returns the location where only documents make a hierarchy, not the name of the directory: files of other programs are not
    /// deleted.
    fn by_documents(&self) -> Self {
        self.clone().expecting(None)
    }

    /// Returns the node that exists here, of any format.
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

    /// Returns the format of the nearest node above that can be parsed, which a new node here should have too.
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

    /// Returns the default format of a new node here.
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

    /// Returns the formats that a node here can have.
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

    /// Reads the first document of the node, which distinguishes arrays from groups.
    pub(crate) fn first_document(&self, format: Format) -> Result<Map> {
        // The copy of the group's own document lacks the consolidated documents inside of it.
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

    /// Writes a new node, and its ancestors where they are missing. Without `overwrite`, the location must be empty. Only a node
    /// is overwritten: a directory of other files is never deleted.
    pub(crate) fn create_node(&self, node: &NodeMetadata, overwrite: bool) -> Result<()> {
        let format = format_of(node);
        // Metadata that the format cannot represent is an error before anything is deleted.
        let documents = format.def().to_documents(&self.path, node, &self.context.registry)?;
        self.create_documents(format, matches!(node, NodeMetadata::Group(_)), &documents, overwrite)
    }

    /// Stores the documents of a new node, and of the groups above it where they are missing.
    pub(crate) fn create_documents(
        &self,
        format: Format,
        is_group: bool,
        documents: &[Document],
        overwrite: bool,
    ) -> Result<()> {
        let _holds = if overwrite { self.hold_alone()? } else { Vec::new() };
        let _guard = self.lock_documents(&format.def().layout())?;
        until_unchanged(|| self.try_create_documents(format, is_group, documents, overwrite))
    }

    fn try_create_documents(
        &self,
        format: Format,
        is_group: bool,
        documents: &[Document],
        overwrite: bool,
    ) -> Result<()> {
        // Another writer may have been faster; in a remote store, another request would take too long.
        let seen = if self.is_remote() { self.clone() } else { self.as_stored() };
        // The layout of the existing hierarchy is read from the store.
        let place = self.for_change()?.with_layout(None).with_probe(seen.probed_above().read_ahead.probe);
        let layout = place.layout_for(format)?;
        place.check_names(&layout)?;
        let others = place.check_ancestors(format)?;
        let left = place.make_room(format, &layout, overwrite, is_group);
        let left = left.map_err(|error| error.with_path(&place.path))?;
        let created = place.create_ancestors(format, &layout)?;
        let stored = place.put_new_documents(documents, &layout, overwrite);
        let stored = stored.and_then(|()| place.erase_others(&left, documents, &layout));
        let path = &place.path;
        let changes = if overwrite { Changes::of_all_below(&[path]) } else { Changes::of_node(path, false) };
        let kept = place.keep_copies(format, &changes.and(created));
        stored.and(kept).and(place.keep_foreign_copies(&others, path))
    }

    /// Writes the documents of a node unconditionally.
    pub fn store_documents(&self, node: &NodeMetadata, layout: &Layout) -> Result<()> {
        let documents = format_of(node).def().to_documents(&self.path, node, &self.context.registry)?;
        self.put_documents(&documents, layout)
    }

    /// Writes the documents of a new node. Storing the last one creates the node, so that only one of several concurrent creators
    /// succeeds. With `overwrite`, a concurrent creator that was faster is a conflict.
    fn put_new_documents(&self, documents: &[Document], layout: &Layout, overwrite: bool) -> Result<()> {
        let decides = self.store.capabilities().set_if_absent && !self.context.allow_foreign_files;
        let Some(((name, bytes), others)) = documents.split_last().filter(|_| decides) else {
            return self.put_documents(documents, layout);
        };
        // Documents that exist already are those of a creator that died, or that is at work.
        let mut taken = false;
        for (name, bytes) in others {
            taken |= !self.put_if_absent(layout.key(&self.path, name), bytes)?;
        }
        match self.put(layout.key(&self.path, name), bytes, Condition::Absent) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                let message = format!(
                    "another writer has just created a node at '{}' in {}",
                    self.path,
                    self.store.location()
                );
                let kind = if overwrite { ErrorKind::Conflict } else { ErrorKind::AlreadyExists };
                return Err(Error::new(kind, message).with_source(error).with_path(&self.path));
            }
            done => done?,
        }
        if taken { self.put_documents(others, layout) } else { Ok(()) }
    }

    /// Erases the documents that a dead creator has left, except those that the new node has.
    fn erase_others(&self, left: &[Key], documents: &[Document], layout: &Layout) -> Result<()> {
        let own: Vec<String> = documents.iter().map(|(name, _)| layout.key(&self.path, name)).collect();
        let others = left.iter().filter(|key| !own.iter().any(|own| own == key.as_str()));
        others.into_iter().try_for_each(|key| self.erase(key.to_string()))
    }

    fn put_documents(&self, documents: &[Document], layout: &Layout) -> Result<()> {
        let put = |(name, bytes): &Document| self.put(layout.key(&self.path, name), bytes, Condition::Always);
        documents.iter().try_for_each(put)
    }

    /// Returns an error if a name on the path is not possible in this layout.
    pub fn check_names(&self, layout: &Layout) -> Result<()> {
        let mut names = self.path.as_str().split('/').filter(|name| !name.is_empty());
        names.try_for_each(|name| layout.check_name(name))
    }

    /// Returns an error if the node would lie inside an array, or in a hierarchy whose readers would not find it. Returns the
    /// other formats of groups above.
    pub fn check_ancestors(&self, format: Format) -> Result<Vec<Format>> {
        let mut others = Vec::new();
        let whole = |format: Format| format.def().layout().implicit_groups();
        for path in self.path.ancestors() {
            let above = self.at(path.clone()).of_format(None);
            let other = match above.find_node() {
                Ok(Some(NodeMetadata::Array(_))) => {
                    return Err(argument(format!(
                        "'{}' cannot be created: '{path}' above it is an array",
                        self.path
                    )));
                }
                Ok(node) => node.map(|node| format_of(&node)),
                Err(error) if is_unclear(&error) => above.existing_node()?.map(|existing| existing.format),
                Err(error) => return Err(error),
            };
            let Some(other) = other.filter(|&other| other != format) else { continue };
            if whole(format) || whole(other) {
                return Err(argument(format!(
                    "'{}' cannot be created as {format}: '{path}' above it is {other}",
                    self.path
                )));
            }
            if !others.contains(&other) {
                others.push(other);
            }
        }
        Ok(others)
    }

    /// Makes sure that the keys of the node and its chunks are free; a node that is overwritten is deleted. Returns the keys of
    /// documents that alone do not make a node: a dead creator has left them, or a concurrent one has just stored them.
    pub fn make_room(
        &self,
        format: Format,
        layout: &Layout,
        overwrite: bool,
        for_group: bool,
    ) -> Result<Vec<Key>> {
        let extent = layout.extent(&self.path);
        // The hierarchy must be the only one in its store.
        let whole = Extent { keys: Vec::new(), prefixes: vec![String::new()] };
        let taken = if self.path.is_root() { &whole } else { &extent };
        let occupied = self.occupied(taken)?;
        if occupied == Occupied::Nothing {
            // An interrupted deletion can have left only its mark. A deletion that is at work may have listed fewer keys than
            // there will be.
            let cleared = if overwrite { self.erase_left_mark() } else { self.check_not_being_deleted() };
            return cleared.map(|()| Vec::new());
        }
        let exists = |message: String| Err(Error::new(ErrorKind::AlreadyExists, message));
        let Some(existing) = self.existing_node_of_any_format()? else {
            if self.context.allow_foreign_files {
                return Ok(Vec::new());
            }
            if let Some(mark) = self.mark()? {
                if overwrite {
                    return self.delete_marked(&mark).map(|()| Vec::new());
                }
                return exists(format!(
                    "the deletion of '{}' in {} is not finished; delete it again, or set `overwrite`",
                    self.path,
                    self.store.location()
                ));
            }
            // A prefix that only contains other nodes is an implicit group.
            if for_group && occupied == Occupied::Prefixes && !self.path.is_root() {
                return Ok(Vec::new());
            }
            if let Some(documents) = self.only_documents(taken, layout)? {
                return Ok(documents);
            }
            return exists(format!(
                "'{}' in {} holds other files and is not a Zarr node; it was not changed",
                self.path,
                self.store.location()
            ));
        };
        if !existing.explicit && existing.format == format {
            // An implicit group can become an explicit one; an empty one can become any node.
            if for_group || self.occupied(&extent)? == Occupied::Nothing {
                return Ok(Vec::new());
            }
        }
        if !overwrite {
            return exists(format!(
                "there is a node already at '{}' in {}; set `overwrite` to replace it",
                self.path,
                self.store.location()
            ));
        }
        // The entry document of the hierarchy stays, unless the format changes.
        let deleted = if existing.format == format {
            self.delete_content(&existing)
        } else {
            self.delete_existing(&existing)
        };
        deleted.map(|()| Vec::new())
    }

    /// Returns the keys in an extent, if they are all documents of this node.
    fn only_documents(&self, extent: &Extent, layout: &Layout) -> Result<Option<Vec<Key>>> {
        let documents = layout.keys(&self.path);
        let mut found = Vec::new();
        for prefix in &extent.prefixes {
            let listing = self.store.list_dir(&Prefix::new(prefix.clone())?)?;
            let is_document = |key: &Key| documents.iter().any(|document| document == key.as_str());
            if !listing.prefixes.is_empty() || !listing.keys.iter().all(is_document) {
                return Ok(None);
            }
            found.extend(listing.keys);
        }
        Ok(Some(found))
    }

    /// Returns what an extent contains. Directories without files do not count: some stores keep them when the files in them were
    /// erased.
    fn occupied(&self, extent: &Extent) -> Result<Occupied> {
        if self.read_ahead.probe.as_ref().is_some_and(|probe| probe.is_empty()) {
            return Ok(Occupied::Nothing);
        }
        for key in &extent.keys {
            if self.has(key.clone())? {
                return Ok(Occupied::Keys);
            }
        }
        let mut occupied = Occupied::Nothing;
        for text in &extent.prefixes {
            let prefix = Prefix::new(text.clone())?;
            let listing = self.store.list_dir(&prefix)?;
            if !listing.keys.is_empty() {
                return Ok(Occupied::Keys);
            }
            if !listing.prefixes.is_empty() && self.any_below(text)? {
                occupied = Occupied::Prefixes;
            }
        }
        Ok(occupied)
    }

    /// Writes the missing documents of the hierarchy and of the groups above; returns these groups.
    pub fn create_ancestors(&self, format: Format, layout: &Layout) -> Result<Vec<NodePath>> {
        if let (Some(key), Some(entry)) = (format.def().entry_key(), format.def().new_entry()?) {
            self.put_if_absent(key.to_owned(), &entry)?;
        }
        let group = NodeMetadata::Group(GroupMetadata::new(format));
        let mut created = Vec::new();
        for path in self.path.ancestors() {
            let keys = layout.keys(&path);
            let known = keys.into_iter().map(|key| self.has(key)).collect::<Result<Vec<bool>>>()?;
            if known.contains(&true) {
                continue;
            }
            for (name, bytes) in format.def().to_documents(&path, &group, &self.context.registry)? {
                self.put_if_absent(layout.key(&path, name), &bytes)?;
            }
            created.push(path);
        }
        Ok(created)
    }

    /// Returns false if another writer was faster.
    fn put_if_absent(&self, key: String, document: &[u8]) -> Result<bool> {
        match self.put(key, document, Condition::Absent) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
            result => result.map(|()| true),
        }
    }

    /// Erases a document.
    ///
    /// # Errors
    /// The errors of the store.
    pub fn erase(&self, key: String) -> Result<()> {
        let key = Key::new(key)?;
        self.store.erase(&key).map_err(Error::from).map(drop)
    }

    /// Returns true if any key lies below a prefix. Directories without files do not count.
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

    /// Keeps other threads of this process from creating or changing the node.
    fn lock_documents(&self, layout: &Layout) -> Result<Option<LockGuard>> {
        let key = self.first_document_key(layout)?;
        key.map(|key| self.store.lock(&key)).transpose().map_err(Error::from)
    }

    /// Changes the documents of an existing node in place; members that the change does not affect stay. `prepare` gets the node
    /// that is stored now, and may do work that must come before the change is visible. Meanwhile no other writer changes the
    /// node, as far as the locks of the store exclude it. If another writer has changed it, this is a conflict where the store
    /// can detect it, and nothing is written.
    pub(crate) fn change<R>(
        &self,
        format: Format,
        prepare: impl FnOnce(&NodeMetadata, &mut dyn FnMut(Change<'_>) -> Result<()>) -> Result<R>,
    ) -> Result<R> {
        self.rewritten(format, |node, documents, write| {
            prepare(node, &mut |change| write(format.def().patch(documents, change)?))
        })
    }

    /// Like [`change`](Self::change), with documents that `prepare` makes from the stored ones.
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
        // All are locked in one order, so that two writers never wait for each other's second document.
        let mut locked: Vec<LockedValue> = Vec::new();
        let documents = needed(format, layout.keys(&self.path), |key| {
            locked.push(self.locked_document(&Key::new(key)?)?);
            Ok(locked.last().and_then(LockedValue::bytes).map(|bytes| bytes.to_vec()))
        })?;
        let Some((node, _)) = self.node_of(format, &layout, &Source::stored(&documents))? else {
            return Err(Error::new(ErrorKind::NotFound, format!("'{}' does not exist any more", self.path)));
        };
        Ok(LockedNode { node, documents, locked, layout })
    }
}

/// A node that is about to be changed, whose documents are locked.
struct LockedNode {
    node: NodeMetadata,
    documents: Vec<Option<Vec<u8>>>,
    locked: Vec<LockedValue>,
    layout: Layout,
}

impl LockedNode {
    /// Stores changed documents, and sets `is_written` once one was stored.
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

/// Returns true if the error means that a node exists whose documents cannot be parsed.
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

/// Reads the documents of a node of this format, given all keys that it can have: the group's document is not read for an array,
/// and attributes alone do not make a node.
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

/// Reads, edits and writes back the attributes of a node, and repeats this when another writer was faster. Returns the attributes
/// that are stored now.
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
