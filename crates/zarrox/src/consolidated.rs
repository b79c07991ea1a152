//! Consolidated metadata: one document with copies of the documents of all nodes below a group.
//!
//! Nodes can then be opened from memory: their documents come from the copies instead of the store, and everything else is the
//! same. The copies may be out of date. Before the first element of an array is read or written, its copies are therefore
//! compared with its own documents. After a change, documents are read from the store.

use std::collections::BTreeSet;
use std::fmt;

use zarrox_core::internals::metadata::{Consolidation, Layout, Source, StoredDocuments, same_document};
use zarrox_core::{ArrayMetadata, Error, ErrorKind, Format, NodeMetadata, NodePath, Result};
use zarrox_stores::{Key, Prefix};

use crate::group::Group;
use crate::guarded::until_unchanged;
use crate::hierarchy::{Found, format_of};
use crate::location::{ConsolidatedMetadata, Location};
use crate::policy::{Consolidated, Upkeep};
use crate::upkeep::Edit;

/// The documents of one node; `None` for documents that do not exist.
type Documents = Vec<Option<Vec<u8>>>;

/// The number of attempts to write consolidated metadata while other writers change nodes.
const ATTEMPTS: usize = 20;

/// How a node differs between the consolidated metadata and its own documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Staleness {
    /// The node exists, but the consolidated metadata does not contain it.
    Missing,
    /// The consolidated metadata contains the node, but it does not exist.
    Extra,
    /// The node's own documents differ from their copies.
    Changed,
}

/// A node whose own documents differ from the consolidated metadata.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub struct StaleNode {
    /// The path of the node relative to the group; empty for the group itself.
    pub path: String,
    /// How the node differs.
    pub kind: Staleness,
}

impl fmt::Display for StaleNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            Staleness::Missing => "is missing in the consolidated metadata",
            Staleness::Extra => "is only in the consolidated metadata",
            Staleness::Changed => "differs from the consolidated metadata",
        };
        write!(f, "/{} {what}", self.path)
    }
}

/// The result of comparing consolidated metadata with the nodes' own documents.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Freshness {
    /// All nodes agree with the consolidated metadata.
    UpToDate,
    /// The number of nodes that differ from the consolidated metadata.
    OutOfDate(usize),
    /// The reason why the consolidated metadata cannot be parsed or compared.
    Broken(String),
    /// The documents were not compared, since in a remote store this would take a request for each node.
    Unknown,
}

impl fmt::Display for Freshness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UpToDate => write!(f, "up to date"),
            Self::OutOfDate(1) => write!(f, "out of date for 1 node"),
            Self::OutOfDate(nodes) => write!(f, "out of date for {nodes} nodes"),
            Self::Broken(reason) => write!(f, "broken: {reason}"),
            Self::Unknown => write!(f, "not compared"),
        }
    }
}

impl Location {
    /// Returns the location with all documents in memory, if the group has consolidated metadata and the policy is to use it.
    pub fn consolidated(&self, policy: Consolidated, reading: bool) -> Result<Self> {
        let wanted = match policy {
            Consolidated::Never => false,
            Consolidated::Auto => reading,
            Consolidated::Require => true,
        };
        if !wanted {
            return Ok(self.clone());
        }
        for format in self.formats().filter(|format| format.def().consolidation().is_some()) {
            if policy == Consolidated::Auto && self.is_array(format)? {
                break;
            }
            match self.copy_of(format) {
                Ok(Some(copy)) => {
                    let layout = Some((format, copy.layout.clone()));
                    return Ok(self.clone().with_layout(layout).with_copy(Some(copy.into())));
                }
                // This format takes precedence over the remaining ones, so the node is opened from its own documents.
                Ok(None) if self.is_node(format) => break,
                Ok(None) => {}
                Err(error) if policy == Consolidated::Auto && is_broken(&error) => {
                    // The nodes' own documents are read instead.
                    let place = self.store.location();
                    tracing::debug!(%error, "the consolidated metadata of '{}' in {place} is not used", self.path);
                }
                Err(error) => return Err(error),
            }
        }
        match policy {
            Consolidated::Require => Err(self.not_consolidated()),
            _ => Ok(self.clone()),
        }
    }

    /// Returns true if the document of an array is stored at this location. Arrays have no consolidated metadata.
    fn is_array(&self, format: Format) -> Result<bool> {
        let (Some(group), Ok(Some(layout))) = (format.def().group_document(), self.existing_layout(format))
        else {
            return Ok(false);
        };
        for name in layout.documents().iter().take(group) {
            if self.stored_document(layout.key(&self.path, name))?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn is_node(&self, format: Format) -> bool {
        let Ok(Some(layout)) = self.existing_layout(format) else { return false };
        matches!(self.look_for(format, &layout), Ok(Some(_)))
    }

    /// Returns the consolidated metadata of the group at this location, if it has any in this format.
    ///
    /// # Errors
    /// The errors of reading and parsing it.
    pub fn copy_of(&self, format: Format) -> Result<Option<ConsolidatedMetadata>> {
        let Some(consolidation) = format.def().consolidation() else { return Ok(None) };
        let Some(layout) = self.existing_layout(format)? else { return Ok(None) };
        let Some(key) = consolidation.key(&layout, &self.path) else { return Ok(None) };
        let Some(document) = self.stored_document(key.clone())? else { return Ok(None) };
        let documents = consolidation.documents_in(&layout, &self.path, &document, self.context.strictness);
        let documents = documents.map_err(|error| error.at(format!("consolidated metadata '{key}'")))?;
        let group = self.path.clone();
        Ok(documents.map(|documents| ConsolidatedMetadata::new(group, format, layout, documents)))
    }

    fn not_consolidated(&self) -> Error {
        let message =
            format!("there is no consolidated metadata at '{}' in {}", self.path, self.store.location());
        Error::new(ErrorKind::NotFound, message)
    }

    /// Returns the location for changing documents. From then on, the documents in memory are no longer used, since they do not
    /// include the change.
    pub(crate) fn for_change(&self) -> Result<Self> {
        let Some(copy) = self.copy() else { return Ok(self.as_stored()) };
        if self.context.upkeep == Upkeep::Leave {
            let message = format!(
                "'{}' was opened by the consolidated metadata of '{}', which is not updated \
                 (Upkeep::Leave) and would be out of date; open the node with Consolidated::Never, or set another Upkeep",
                self.path, copy.group
            );
            return Err(Error::new(ErrorKind::ReadOnly, message));
        }
        copy.stop_using();
        Ok(self.as_stored())
    }

    /// Returns how and under which key consolidated metadata is stored in this format.
    fn consolidation(&self, format: Format) -> Result<(Consolidation, Layout, String)> {
        let layout = self.layout_for(format)?;
        let consolidation = format.def().consolidation();
        let key = consolidation.and_then(|consolidation| consolidation.key(&layout, &self.path));
        match consolidation.zip(key) {
            Some((consolidation, key)) => Ok((consolidation, layout, key)),
            None => Err(Error::new(
                ErrorKind::Unsupported,
                format!(
                    "'{}' cannot have consolidated metadata: Zarr {format} does not define it",
                    self.path
                ),
            )),
        }
    }

    /// Returns true if a group of this format can have consolidated metadata at this location.
    pub fn can_consolidate(&self, format: Format) -> Result<bool> {
        let layout = self.layout_for(format)?;
        Ok(format
            .def()
            .consolidation()
            .is_some_and(|consolidation| consolidation.key(&layout, &self.path).is_some()))
    }

    /// Returns true if this group has consolidated metadata, whether it is used or not.
    pub fn has_consolidated(&self, format: Format) -> Result<bool> {
        match self.as_stored().copy_of(format) {
            Ok(copy) => Ok(copy.is_some()),
            Err(error) if is_broken(&error) => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// Removes from `names` the prefix that is not a group because it contains only consolidated metadata.
    pub(crate) fn hide_holder(
        &self,
        format: Format,
        layout: &Layout,
        names: &mut BTreeSet<String>,
    ) -> Result<()> {
        let Some(Consolidation::AtRoot(key)) = format.def().consolidation().filter(|_| self.path.is_root())
        else {
            return Ok(());
        };
        let holder = |name: &String| {
            let path = self.path.join(name).ok()?;
            let prefix = layout.below(&path);
            key.strip_prefix(&prefix).filter(|rest| !rest.contains('/')).map(|_| (path, prefix, name.clone()))
        };
        let Some((path, prefix, name)) = names.iter().find_map(holder) else { return Ok(()) };
        let alone = match self.names() {
            Some(copy) => !copy.any_below(&prefix),
            None => {
                let prefix = Prefix::new(prefix)?;
                let listing = self.store.list_dir(&prefix)?;
                let theirs = listing.keys.iter().filter(|found| found.as_str() != key).count();
                theirs == 0 && listing.prefixes.is_empty() && !listing.keys.is_empty()
            }
        };
        let documents = self.at(path).documents(layout)?;
        // If zarr-python has written a group there, its name is kept, since zarr-python lists it.
        if alone && documents.iter().all(Option::is_none) {
            names.remove(&name);
        }
        Ok(())
    }

    /// Writes the consolidated metadata of this group from the stored documents.
    pub fn consolidate(&self, format: Format) -> Result<()> {
        self.consolidate_after(format, &|_, _| Ok(()))
    }

    /// Writes the consolidated metadata of this group, after calling `keep` with the key and the bytes of the document that will
    /// be replaced.
    pub fn consolidate_after(&self, format: Format, keep: &dyn Fn(&str, &[u8]) -> Result<()>) -> Result<()> {
        let place = self.as_stored();
        let (consolidation, _, key) = place.consolidation(format)?;
        for attempt in 0..ATTEMPTS {
            let mut is_exact = false;
            until_unchanged(|| {
                place.replace_document(key.clone(), |existing| {
                    existing.filter(|_| attempt == 0).map_or(Ok(()), |existing| keep(&key, existing))?;
                    // Writers update existing consolidated metadata under the lock of its document. But a writer that changed a
                    // node before the consolidated metadata was first stored found none to update, and where only conditional
                    // writes protect the document, a writer may have found nothing to change in the old consolidated metadata. In
                    // these two cases, the result is compared with the nodes.
                    is_exact = !place.is_guarded()
                        && existing.is_some_and(|document| consolidation.may_be_in(document));
                    place.new_consolidated(format, existing).map(Edit::Write)
                })
            })?;
            if is_exact || place.compare_consolidated(format)?.is_empty() {
                return Ok(());
            }
        }
        let message = "other writers kept changing nodes, so the consolidated metadata is out of date; consolidate again";
        Err(Error::new(ErrorKind::Conflict, message))
    }

    /// Returns true if two documents describe the same elements, possibly in different notations. Attributes are ignored.
    pub fn is_same_array(&self, a: &ArrayMetadata, b: &ArrayMetadata) -> Result<bool> {
        let a = ArrayMetadata { attributes: b.attributes.clone(), extra: b.extra.clone(), ..a.clone() };
        a.is_same(b, &self.context.registry, self.context.chunk_limit)
    }

    /// Returns an error if the consolidated metadata of this group cannot be built from the stored documents.
    pub fn can_consolidate_now(&self, format: Format) -> Result<()> {
        let place = self.as_stored();
        let (_, _, key) = place.consolidation(format)?;
        let existing = place.stored_document(key)?;
        place.new_consolidated(format, existing.as_deref()).map(drop)
    }

    /// Builds the consolidated metadata of this group from the stored documents, and from the existing document that will contain
    /// it.
    fn new_consolidated(&self, format: Format, existing: Option<&[u8]>) -> Result<Vec<u8>> {
        let (consolidation, layout, _) = self.consolidation(format)?;
        let entry = match format.def().entry_key() {
            Some(key) => self.stored_document(key.to_owned())?.map(|document| (key, document)),
            None => None,
        };
        let entry = entry.as_ref().map(|(key, document)| (*key, document.as_slice()));
        let nodes = self.all_documents(format, &layout)?;
        consolidation.document_of(&layout, &self.path, existing, entry, &nodes)
    }

    /// Removes the consolidated metadata of this group, if it has any.
    pub fn drop_consolidated(&self, format: Format) -> Result<()> {
        if !self.has_consolidated(format)? {
            return Ok(());
        }
        let (consolidation, _, key) = self.consolidation(format)?;
        self.replace_document(key, |existing| match existing {
            Some(document) => Ok(consolidation.without(document)?.map_or(Edit::Erase, Edit::Write)),
            None => Ok(Edit::Keep),
        })
    }

    /// Reads a document, and applies the change that `edit` returns. After a conflict, nothing has been changed.
    pub(crate) fn replace_document(
        &self,
        key: String,
        edit: impl FnOnce(Option<&[u8]>) -> Result<Edit>,
    ) -> Result<()> {
        let key = Key::new(key)?;
        let existing = self.locked_document(&key)?;
        match edit(existing.bytes().map(|bytes| &**bytes))? {
            Edit::Keep => Ok(()),
            Edit::Write(document) => existing.replace(self, &document),
            Edit::Erase => existing.erase(self),
        }
    }

    /// Returns the documents of this group and of all nodes of its format below it. A node of another format is an error, since
    /// readers of the consolidated metadata would not find it.
    pub(crate) fn all_documents(&self, format: Format, layout: &Layout) -> Result<StoredDocuments> {
        let mut found = StoredDocuments::new();
        let mut level = vec![self.clone()];
        while !level.is_empty() {
            let nodes =
                self.pool().map(level, 0, usize::MAX, |place| place.documents_and_names(format, layout))?;
            level = Vec::new();
            for (place, documents, names) in nodes.into_iter().flatten() {
                let below = names.iter().filter_map(|name| place.path.join(name).ok());
                level.extend(below.map(|path| place.at(path)));
                found.insert(place.address.path, documents);
            }
        }
        Ok(found)
    }

    /// Returns the documents of the node at this location, and the names of the nodes below it; `None` if there is no node.
    fn documents_and_names(
        self,
        format: Format,
        layout: &Layout,
    ) -> Result<Option<(Self, Documents, Vec<String>)>> {
        let documents = self.documents(layout)?;
        let is_group = match self.node_of(format, layout, &Source::stored(&documents)) {
            Ok(Some((node, _))) => matches!(node, NodeMetadata::Group(_)),
            Ok(None) => return self.check_other_format(format).map(|()| None),
            Err(error) if is_broken(&error) => false,
            Err(error) => return Err(error),
        };
        let names = if is_group { self.names_below(format)?.into_iter().collect() } else { Vec::new() };
        Ok(Some((self, documents, names)))
    }

    /// Returns an error if a node of another format exists at this location. A node of this format is not an error: another
    /// writer may have created it since this location was read.
    pub(crate) fn check_other_format(&self, format: Format) -> Result<()> {
        match self.clone().of_format(None).find() {
            Ok(Some(Found { node, .. })) if format_of(&node) != format => Err(Error::new(
                ErrorKind::Unsupported,
                format!(
                    "'{}' has the format Zarr {}, and consolidated metadata of Zarr {format} cannot contain it",
                    self.path,
                    format_of(&node)
                ),
            )),
            Err(error) if !is_broken(&error) => Err(error),
            _ => Ok(()),
        }
    }

    /// Compares the consolidated metadata of this group with the stored documents.
    fn compare_consolidated(&self, format: Format) -> Result<Vec<StaleNode>> {
        let stored = self.as_stored();
        let layout = stored.layout_for(format)?;
        stored.consolidation(format)?;
        let Some(copy) = stored.copy_of(format)? else { return Err(self.not_consolidated()) };
        let copied = stored.clone().with_copy(Some(copy.into()));
        let there = stored.all_documents(format, &layout)?;
        let consolidated = copied.all_documents(format, &layout)?;
        let mut differences = Vec::new();
        let mut differs = |path: &NodePath, kind| {
            let path = path.as_str().strip_prefix(&self.path.prefix()).unwrap_or_default().to_owned();
            differences.push(StaleNode { path, kind });
        };
        for (path, documents) in &there {
            match consolidated.get(path) {
                // An implicit group has no document to copy.
                None if documents.iter().all(Option::is_none) => {}
                None => differs(path, Staleness::Missing),
                Some(consolidated) if self.is_same_node(format, &layout, documents, consolidated) => {}
                Some(_) => differs(path, Staleness::Changed),
            }
        }
        for path in consolidated.keys().filter(|path| !there.contains_key(*path)) {
            differs(path, Staleness::Extra);
        }
        differences.sort();
        Ok(differences)
    }

    /// Returns true if two sets of documents describe the same node, possibly in different notations.
    fn is_same_node(
        &self,
        format: Format,
        layout: &Layout,
        a: &[Option<Vec<u8>>],
        b: &[Option<Vec<u8>>],
    ) -> bool {
        let same = a.iter().zip(b).all(|(a, b)| same_document(a.as_deref(), b.as_deref()));
        let node = |documents: &[Option<Vec<u8>>]| {
            self.as_stored().node_of(format, layout, &Source::stored(documents))
        };
        same || matches!((node(a), node(b)), (Ok(Some(a)), Ok(Some(b))) if a.0 == b.0)
    }
}

impl Group {
    /// Writes the group's consolidated metadata: a copy of the documents of all nodes below it, so that a single read opens all
    /// of them. Later changes to nodes through this library update it ([`Upkeep`]); changes by programs that do not update it
    /// leave it out of date.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] when the format does not define consolidated metadata, or a node below has another format; and the
    /// errors of the store.
    pub fn consolidate_metadata(&self) -> Result<()> {
        self.location().consolidate(self.metadata().format)
    }

    /// Removes the group's consolidated metadata, if it has any.
    ///
    /// # Errors
    /// The errors of the store.
    pub fn drop_consolidated_metadata(&self) -> Result<()> {
        self.location().as_stored().drop_consolidated(self.metadata().format)
    }

    /// Compares the group's consolidated metadata with the stored documents, and returns the nodes that differ; the list is empty
    /// if the metadata is up to date.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] when the group has no consolidated metadata; the errors of parsing it; and the errors of the store.
    pub fn check_consolidated(&self) -> Result<Vec<StaleNode>> {
        self.location().compare_consolidated(self.metadata().format)
    }

    /// Compares the group's own consolidated metadata with the stored documents; `None` if the group has none. In a remote store
    /// the documents are not compared; [`Group::check_consolidated`] compares them in every store.
    ///
    /// # Errors
    /// The errors of the store.
    #[doc(hidden)]
    pub fn consolidated_freshness(&self) -> Result<Option<Freshness>> {
        let (location, format) = (self.location().as_stored(), self.metadata().format);
        if !location.has_consolidated(format)? {
            return Ok(None);
        }
        if location.is_remote() {
            return Ok(Some(Freshness::Unknown));
        }
        match location.compare_consolidated(format) {
            Ok(differences) if differences.is_empty() => Ok(Some(Freshness::UpToDate)),
            Ok(differences) => Ok(Some(Freshness::OutOfDate(differences.len()))),
            Err(error) if is_broken(&error) => Ok(Some(Freshness::Broken(error.to_string()))),
            Err(error) => Err(error),
        }
    }

    /// Returns true if the group was opened from consolidated metadata: its own, or that of a group above.
    pub fn is_consolidated(&self) -> bool {
        self.location().copy().is_some()
    }
}

fn is_broken(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::InvalidMetadata | ErrorKind::Unsupported)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use zarrox_stores::MemoryStore;

    use super::*;
    use crate::OpenOptions;

    #[test]
    fn consolidated_metadata_refuses_only_nodes_of_another_format() {
        let store: Arc<dyn zarrox_stores::Store> = Arc::new(MemoryStore::new());
        OpenOptions::new().format(Format::V3).create_group((Arc::clone(&store), "g")).unwrap();
        let place = OpenOptions::new().location(store, "g").unwrap();
        place.check_other_format(Format::V3).unwrap();
        assert_eq!(place.check_other_format(Format::V2).unwrap_err().kind(), ErrorKind::Unsupported);
    }
}
