//! Updating consolidated metadata: a change to a node also changes the copies of its documents in groups above.
//!
//! The documents of the changed nodes are read again and written into each copy, under a lock that excludes other threads of this
//! process, and only if the copy is still the one that was read. The last writer therefore stores the most recent documents. If a
//! copy cannot be updated, the change itself is kept. If a copy cannot be read or stored, the error names the copy that is out of
//! date. A copy that cannot be parsed was already unusable, so a warning is enough.

use std::collections::BTreeSet;
use std::error::Error as _;
use std::path::Path;
use std::sync::Arc;

use zarrox_core::internals::metadata::{Consolidation, Layout, StoredDocuments};
use zarrox_core::{Error, ErrorKind, Format, NodePath, Result};
use zarrox_stores::{DirectoryStore, StoreError};

use crate::guarded::until_unchanged;
use crate::locate::root_of;
use crate::location::Location;
use crate::policy::Upkeep;

/// A change to a document.
pub(crate) enum Edit {
    /// The document is not changed.
    Keep,
    /// The document is replaced or created.
    Write(Vec<u8>),
    /// The document is erased.
    Erase,
}

/// The nodes of a hierarchy that are affected by a change.
#[derive(Debug, Default)]
pub struct Changes {
    /// Nodes whose own documents are new or changed.
    nodes: Vec<NodePath>,
    /// Nodes that were created, deleted or replaced, together with all nodes below them.
    whole: Vec<NodePath>,
    /// Groups among `nodes` that could have consolidated metadata in a separate document.
    groups: Vec<NodePath>,
    /// True if the format of the nodes differs from that of the consolidated metadata to update.
    foreign: bool,
}

impl Changes {
    /// Creates a change to the documents of one node.
    pub(crate) fn of_node(path: &NodePath, is_group: bool) -> Self {
        let groups = if is_group { vec![path.clone()] } else { Vec::new() };
        Self { nodes: vec![path.clone()], groups, ..Self::default() }
    }

    /// Creates a change for nodes that were created, deleted or replaced, together with all nodes below them.
    pub fn of_all_below(paths: &[&NodePath]) -> Self {
        Self { whole: paths.iter().map(|path| (*path).clone()).collect(), ..Self::default() }
    }

    /// Creates a change for a new node whose format differs from the format of the groups above.
    pub(crate) fn foreign(path: &NodePath) -> Self {
        Self { foreign: true, ..Self::of_all_below(&[path]) }
    }

    /// Adds new nodes to the change.
    pub fn and(mut self, nodes: Vec<NodePath>) -> Self {
        self.nodes.extend(nodes);
        self
    }

    /// Returns the changes with paths relative to an outer hierarchy, in which the root of this hierarchy is the node `below`.
    fn seen_from_above(&self, below: &NodePath) -> Result<Self> {
        let joined = |paths: &[NodePath]| -> Result<Vec<NodePath>> {
            paths.iter().map(|path| below.join(path.as_str())).collect()
        };
        let (nodes, whole, groups) = (joined(&self.nodes)?, joined(&self.whole)?, joined(&self.groups)?);
        Ok(Self { nodes, whole, groups, foreign: self.foreign })
    }

    /// Returns all groups whose consolidated metadata may contain the nodes.
    fn holders(&self) -> BTreeSet<NodePath> {
        let above = self.nodes.iter().chain(&self.whole).flat_map(NodePath::ancestors);
        above.chain(self.groups.iter().cloned()).collect()
    }
}

impl Location {
    /// Applies the [`Upkeep`] policy to all consolidated metadata that contains copies of the changed nodes.
    ///
    /// An error is never reported as a conflict, since the change has been made and must not be retried.
    pub fn keep_copies(&self, format: Format, changes: &Changes) -> Result<()> {
        let Some(consolidation) = format.def().consolidation() else { return Ok(()) };
        if self.context.upkeep == Upkeep::Leave {
            return Ok(());
        }
        let place = self.clone().with_copy(None);
        let keep = || {
            let layout = place.layout_for(format)?;
            Ok(match place.in_whole_hierarchy(&layout)? {
                None => place.keep_copies_here(format, consolidation, &layout, changes),
                Some((place, below)) => {
                    place.keep_copies_here(format, consolidation, &layout, &changes.seen_from_above(&below)?)
                }
            })
        };
        keep().unwrap_or_else(|error| place.without_copy(error))
    }

    /// Updates consolidated metadata of other formats after a node has been created below groups of these formats.
    pub(crate) fn keep_foreign_copies(&self, formats: &[Format], path: &NodePath) -> Result<()> {
        let kept = formats.iter().map(|format| self.keep_copies(*format, &Changes::foreign(path)));
        kept.fold(Ok(()), Result::and)
    }

    /// If this store is a directory inside a larger hierarchy, returns this location in the store of the whole hierarchy, and the
    /// path of this store's root in that store. Otherwise returns `None`.
    fn in_whole_hierarchy(&self, layout: &Layout) -> Result<Option<(Self, NodePath)>> {
        let Some(directory) = self.store.directory().filter(|_| !layout.implicit_groups()) else {
            return Ok(None);
        };
        let root = root_of(directory);
        let below = directory.strip_prefix(&root).ok().and_then(Path::to_str).unwrap_or_default();
        if below.is_empty() {
            return Ok(None);
        }
        let below = NodePath::new(below)?;
        let store = Arc::new(DirectoryStore::open(root)?);
        let path = below.join(self.path.as_str())?;
        Ok(Some((self.clone().with_probe(None).moved_to(store, path), below)))
    }

    fn keep_copies_here(
        &self,
        format: Format,
        consolidation: Consolidation,
        layout: &Layout,
        changes: &Changes,
    ) -> Result<()> {
        let keyed = |group: NodePath| consolidation.key(layout, &group).map(|key| (group, key));
        let holders: Vec<_> = changes.holders().into_iter().filter_map(keyed).collect();
        let asked = self.probed_keys(holders.iter().map(|(_, key)| key.clone()));
        let mut all = Ok(());
        for (group, key) in holders {
            let holder = self.at(group).with_probe(None);
            let kept = match asked.stored_document(key.clone()) {
                Ok(document)
                    if !document.as_ref().is_some_and(|document| consolidation.may_be_in(document)) =>
                {
                    continue;
                }
                Ok(_) => holder.keep_copy(format, consolidation, layout, &key, changes),
                Err(error) => Err(error),
            };
            all = all.and(kept.or_else(|error| holder.without_copy(error)));
        }
        all
    }

    fn keep_copy(
        &self,
        format: Format,
        consolidation: Consolidation,
        layout: &Layout,
        key: &str,
        changes: &Changes,
    ) -> Result<()> {
        if self.context.upkeep == Upkeep::Drop {
            return until_unchanged(|| self.drop_consolidated(format));
        }
        until_unchanged(|| {
            self.replace_document(key.to_owned(), |existing| {
                let Some(existing) = existing else { return Ok(Edit::Keep) };
                let nodes = self.documents_of(format, layout, changes)?;
                let updated = consolidation.updated(layout, &self.path, existing, &changes.whole, &nodes)?;
                Ok(updated.map_or(Edit::Keep, Edit::Write))
            })
        })
    }

    /// Reads the current documents of the nodes.
    fn documents_of(&self, format: Format, layout: &Layout, changes: &Changes) -> Result<StoredDocuments> {
        let paths = || changes.nodes.iter().chain(&changes.whole);
        let asked = self.probed_keys(paths().flat_map(|path| layout.keys(path)));
        let mut found = StoredDocuments::new();
        for path in paths() {
            found.insert(path.clone(), asked.at(path.clone()).documents(layout)?);
        }
        for path in &changes.whole {
            let place = self.at(path.clone());
            if changes.foreign {
                place.check_other_format(format)?;
            } else if found[path].iter().any(Option::is_some) || layout.implicit_groups() {
                found.extend(place.all_documents(format, layout)?);
            }
        }
        Ok(found)
    }

    /// Reports that a copy is out of date: as an error if the store has failed, or as a warning if the copy cannot be parsed.
    fn without_copy(&self, error: Error) -> Result<()> {
        let place = self.path.key("");
        let place = format!("{}/{place}", self.store.location());
        let place = place.trim_end_matches('/');
        let message = format!(
            "the consolidated metadata of '{place}' does not include the change: {error}; `zarrox consolidate {place}` \
             writes it anew"
        );
        let is_of_store = error.source().is_some_and(|source| source.is::<StoreError>());
        let is_broken = matches!(
            error.kind(),
            ErrorKind::InvalidMetadata | ErrorKind::Unsupported | ErrorKind::InvalidArgument
        );
        if is_broken && !is_of_store {
            tracing::warn!("{message}");
            return Ok(());
        }
        let kind = if error.kind() == ErrorKind::Conflict { ErrorKind::TimedOut } else { error.kind() };
        Err(Error::new(kind, format!("the change was made, but {message}")).with_source(error))
    }
}
