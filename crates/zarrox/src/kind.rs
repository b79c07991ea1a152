//! The kinds of nodes, determined with as few reads as possible: if the name of a document determines the kind, only its
//! existence is checked.

use zarrox_core::internals::metadata::Layout;
use zarrox_core::{Format, NodeMetadata, NodePath, Result};

use crate::group::{Group, Node};
use crate::location::{Location, Purpose};

/// The number of nodes whose documents are requested in parallel.
const TOGETHER: usize = 1_000;

/// The kind of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NodeKind {
    /// An array.
    Array,
    /// A group.
    Group,
}

/// The kind of an existing node.
struct Kind {
    kind: NodeKind,
    /// False for a group without a document.
    explicit: bool,
}

impl Node {
    /// Returns the kind of the node.
    pub fn kind(&self) -> NodeKind {
        match self {
            Self::Array(_) => NodeKind::Array,
            Self::Group(_) => NodeKind::Group,
        }
    }
}

impl Group {
    /// Returns the names of all nodes directly below the group, sorted, without opening the nodes as [`Group::children`] does.
    ///
    /// # Errors
    /// When the store cannot be listed.
    pub fn child_names(&self) -> Result<Vec<String>> {
        Ok(self.child_kinds()?.into_iter().map(|(name, _)| name).collect())
    }

    /// Returns the kinds of all nodes directly below the group, sorted by name, without opening the nodes.
    ///
    /// In Zarr v2 and the drafts of v3, the name of a document determines the kind of the node. The document is not read, and a
    /// node has that kind even if it cannot be opened. In other formats, a node whose document cannot be parsed is listed with
    /// the reason.
    ///
    /// # Errors
    /// When the store cannot be listed.
    #[doc(hidden)]
    pub fn child_kinds(&self) -> Result<Vec<(String, Result<NodeKind>)>> {
        let mut kinds = Vec::new();
        self.each_place(&mut |name, place| {
            let kind = place.kind().transpose();
            kinds.extend(kind.map(|found| (name, found.map(|found| found.kind))));
            Ok(())
        })?;
        Ok(kinds)
    }

    /// Returns the kind of the node at a path below the group, without opening it; `None` if [`Group::open`] would find no node.
    /// See [`Group::child_kinds`].
    ///
    /// # Errors
    /// When a document that determines the kind cannot be read or parsed.
    pub fn kind(&self, path: &str) -> Result<Option<NodeKind>> {
        let place = self.below(path)?.probed(Purpose::Open);
        let Some(Kind { kind, explicit }) = place.kind()? else { return Ok(None) };
        // A prefix without a document may be what remains of an unfinished conversion.
        Ok((explicit || crate::hierarchy::journal::check_finished(&place).is_ok()).then_some(kind))
    }

    /// Visits the locations of possible nodes directly below the group, sorted by name.
    pub(crate) fn each_place(&self, visitor: &mut dyn FnMut(String, Location) -> Result<()>) -> Result<()> {
        self.each_place_after("", TOGETHER, &mut |name, place| visitor(name, place).map(|()| false))
    }

    /// Visits locations like [`each_place`](Self::each_place), but only those whose names sort after `after`, and stops once the
    /// visitor returns true. The documents of at most `together` nodes are requested in parallel.
    pub(crate) fn each_place_after(
        &self,
        after: &str,
        together: usize,
        visitor: &mut dyn FnMut(String, Location) -> Result<bool>,
    ) -> Result<()> {
        // A directory whose name is not a valid node name is not a node.
        let below = |name: String| self.path().join(&name).ok().map(|path| (name, path));
        let names = self.location().names_below(self.metadata().format)?.into_iter();
        let names = names.filter(|name| name.as_str() > after).filter_map(below);
        let (names, paths): (Vec<String>, Vec<NodePath>) = names.unzip();
        let mut names = names.into_iter();
        for paths in paths.chunks(together.clamp(1, TOGETHER)) {
            let location = self.location().probed_for(paths, Purpose::OpenIn(self.metadata().format));
            for (path, name) in paths.iter().zip(&mut names) {
                if visitor(name, location.at(path.clone()))? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

impl Location {
    /// Returns true if there is an array or a group, whether or not its documents can be parsed.
    pub fn holds_node(&self) -> Result<bool> {
        match self.kind() {
            Ok(kind) => Ok(kind.is_some()),
            Err(_) => Ok(self.existing_node()?.is_some()),
        }
    }

    fn kind(&self) -> Result<Option<Kind>> {
        Ok(self.first_format(|format, layout| self.kind_as(format, layout))?.map(|(_, _, kind)| kind))
    }

    /// Returns the kind of the node in this format, if there is one.
    fn kind_as(&self, format: Format, layout: &Layout) -> Result<Option<Kind>> {
        if let Some(kind) = self.named_kind(format, layout)? {
            return Ok(Some(Kind { kind, explicit: true }));
        }
        if self.is_named(format) && !layout.implicit_groups() {
            return Ok(None);
        }
        Ok(self.look_for(format, layout)?.map(|(node, explicit)| {
            let kind = match node {
                NodeMetadata::Array(_) => NodeKind::Array,
                NodeMetadata::Group(_) => NodeKind::Group,
            };
            Kind { kind, explicit }
        }))
    }

    /// Returns true if the names of documents determine the kind, and checking names is cheaper than reading documents. In a
    /// remote store, it is cheaper to read the documents of many nodes in parallel.
    fn is_named(&self, format: Format) -> bool {
        format.def().group_document().is_some() && !self.is_remote()
    }

    /// Returns the kind that follows from the names of the documents.
    fn named_kind(&self, format: Format, layout: &Layout) -> Result<Option<NodeKind>> {
        let Some(group) = format.def().group_document().filter(|_| self.is_named(format)) else {
            return Ok(None);
        };
        for (index, name) in layout.documents().iter().enumerate().take(group + 1) {
            if self.has_document(layout.key(&self.path, name))? {
                return Ok(Some(if index == group { NodeKind::Group } else { NodeKind::Array }));
            }
        }
        Ok(None)
    }

    fn has_document(&self, key: String) -> Result<bool> {
        match self.copy() {
            Some(copy) => Ok(copy.get(&key).is_some()),
            None => self.has(key),
        }
    }
}
