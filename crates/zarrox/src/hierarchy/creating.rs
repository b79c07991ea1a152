//! Creating nodes: making room, and writing the documents of the node and of missing groups above.

use zarrox_core::internals::metadata::{Document, Extent, Layout};
use zarrox_core::{Error, ErrorKind, Format, GroupMetadata, NodeMetadata, NodePath, Result};
use zarrox_stores::{Condition, Key, Prefix};

use super::{format_of, is_unclear};
use crate::error::argument;
use crate::guarded::until_unchanged;
use crate::location::Location;
use crate::upkeep::Changes;

/// Whether there are already keys at the location of a new node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Occupied {
    Nothing,
    /// No keys, only prefixes.
    Prefixes,
    Keys,
}

impl Location {
    /// Writes a new node, together with any missing ancestors.
    ///
    /// Without `overwrite`, the location must be empty. Only nodes are overwritten; a directory with other files is never
    /// deleted.
    pub(crate) fn create_node(&self, node: &NodeMetadata, overwrite: bool) -> Result<()> {
        let format = format_of(node);
        // Metadata that the format cannot represent is reported before anything is deleted.
        let documents = format.def().to_documents(&self.path, node, &self.context.registry)?;
        self.create_documents(format, matches!(node, NodeMetadata::Group(_)), &documents, overwrite)
    }

    /// Stores the documents of a new node, and those of any missing groups above it.
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
        // Documents that were read earlier are read again, since another writer may have changed them; except in a remote store,
        // where this would take another request.
        let seen = if self.is_remote() { self.clone() } else { self.as_stored() };
        // The layout is determined anew, from the existing hierarchy in the store.
        let place = self.for_change()?.with_layout(None).with_probe(seen.probed_above().read_ahead.probe);
        let layout = place.layout_for(format)?;
        place.check_names(&layout)?;
        let others = place.check_ancestors(format)?;
        let left = place.make_room(format, &layout, overwrite, is_group)?;
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

    /// Writes the documents of a new node. Storing the last document creates the node, so only one of several concurrent creators
    /// succeeds. With `overwrite`, losing the race against a concurrent creator is a conflict.
    fn put_new_documents(&self, documents: &[Document], layout: &Layout, overwrite: bool) -> Result<()> {
        let decides = self.store.capabilities().set_if_absent && !self.context.allow_foreign_files;
        let Some(((name, bytes), others)) = documents.split_last().filter(|_| decides) else {
            return self.put_documents(documents, layout);
        };
        // Existing documents were stored by a creator that has died or is still running.
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

    /// Erases the documents that a dead creator has left behind, except those that the new node has as well.
    fn erase_others(&self, left: &[Key], documents: &[Document], layout: &Layout) -> Result<()> {
        let own: Vec<String> = documents.iter().map(|(name, _)| layout.key(&self.path, name)).collect();
        let others = left.iter().filter(|key| !own.iter().any(|own| own == key.as_str()));
        others.into_iter().try_for_each(|key| self.erase(key.to_string()))
    }

    pub(super) fn put_documents(&self, documents: &[Document], layout: &Layout) -> Result<()> {
        let put = |(name, bytes): &Document| self.put(layout.key(&self.path, name), bytes, Condition::Always);
        documents.iter().try_for_each(put)
    }

    /// Returns an error if a name in the path is invalid in this layout.
    pub fn check_names(&self, layout: &Layout) -> Result<()> {
        let mut names = self.path.as_str().split('/').filter(|name| !name.is_empty());
        names.try_for_each(|name| layout.check_name(name))
    }

    /// Returns an error if the node would lie inside an array, or inside a hierarchy whose readers would not find it. Otherwise,
    /// returns the formats of groups above that differ from the format of the node.
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

    /// Ensures that the keys of the node and its chunks are free; a node to be overwritten is deleted. Returns the keys of
    /// existing documents that do not make a node on their own: a dead creator has left them behind, or a concurrent creator has
    /// just stored them.
    pub fn make_room(
        &self,
        format: Format,
        layout: &Layout,
        overwrite: bool,
        for_group: bool,
    ) -> Result<Vec<Key>> {
        let extent = layout.extent(&self.path);
        // For a root, the whole store must be empty.
        let whole = Extent { keys: Vec::new(), prefixes: vec![String::new()] };
        let taken = if self.path.is_root() { &whole } else { &extent };
        let occupied = self.occupied(taken)?;
        if occupied == Occupied::Nothing {
            // An interrupted deletion may have left only its mark. A deletion that is still running would also erase keys that
            // are stored from now on.
            let cleared = if overwrite { self.erase_left_mark() } else { self.check_not_being_deleted() };
            return cleared.map(|()| Vec::new());
        }
        let exists =
            |message: String| Err(Error::new(ErrorKind::AlreadyExists, message).with_path(&self.path));
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
            // A prefix that contains only other nodes is an implicit group.
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
            // An implicit group may become an explicit group, and an empty prefix may become any node.
            if for_group || self.occupied(&extent)? == Occupied::Nothing {
                return Ok(Vec::new());
            }
        }
        if !overwrite {
            let advice = match for_group {
                true => "open it or overwrite it",
                false => "set `overwrite` to replace it",
            };
            let place = self.store.location();
            return exists(format!("there is a node already at '{}' in {place}; {advice}", self.path));
        }
        // The entry document of the hierarchy is kept, unless the format changes.
        let deleted = if existing.format == format {
            self.delete_content(&existing)
        } else {
            self.delete_existing(&existing)
        };
        deleted.map(|()| Vec::new())
    }

    /// Returns the keys in an extent, if all of them are documents of this node.
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

    /// Returns whether an extent contains keys, only prefixes, or nothing. Directories without files do not count, since some
    /// stores keep a directory after its files have been erased.
    pub(super) fn occupied(&self, extent: &Extent) -> Result<Occupied> {
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

    /// Writes the entry document of the hierarchy and the documents of groups above, where they are missing. Returns the groups
    /// that were created.
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

    /// Stores a document unless it exists. Returns false if it exists.
    fn put_if_absent(&self, key: String, document: &[u8]) -> Result<bool> {
        if !self.store.capabilities().set_if_absent {
            // Without conditional writes, writers cannot exclude each other.
            return match self.has(key.clone())? {
                true => Ok(false),
                false => self.put(key, document, Condition::Always).map(|()| true),
            };
        }
        match self.put(key, document, Condition::Absent) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
            result => result.map(|()| true),
        }
    }
}
