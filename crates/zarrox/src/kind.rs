//! The kinds of nodes, found out with as little reading as possible: where the name of a document tells the kind, it is enough that
//! the document is there.

use zarrox_core::metadata::Layout;
use zarrox_core::{Format, NodeMetadata, NodePath, Result};

use crate::group::Group;
use crate::location::{Location, Purpose};

/// The documents of so many nodes are asked for together.
const TOGETHER: usize = 1_000;

/// The kind of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NodeKind {
    /// An array.
    Array,
    /// A group.
    Group,
}

/// The kind of a node that was found.
struct Kind {
    kind: NodeKind,
    /// False for a group that has no document.
    explicit: bool,
}

impl Group {
    /// The names of everything directly below, sorted: those of [`Group::children`], without opening any.
    ///
    /// # Errors
    /// When the store cannot be listed.
    pub fn child_names(&self) -> Result<Vec<String>> {
        Ok(self.child_kinds()?.into_iter().map(|(name, _)| name).collect())
    }

    /// The kinds of everything directly below, sorted by name, without opening any.
    ///
    /// Zarr v2 and the drafts of v3 say in the name of a document what a node is. Then the document is not read, and a node is of
    /// that kind also where it cannot be opened. In the other formats, a node that cannot be understood is there with the reason.
    ///
    /// # Errors
    /// When the store cannot be listed.
    pub fn child_kinds(&self) -> Result<Vec<(String, Result<NodeKind>)>> {
        let mut kinds = Vec::new();
        self.each_place(&mut |name, place| {
            let kind = place.kind().transpose();
            kinds.extend(kind.map(|found| (name, found.map(|found| found.kind))));
            Ok(())
        })?;
        Ok(kinds)
    }

    /// The kind of the node at a path below the group, without opening it, as [`Group::child_kinds`] says; `None` where
    /// [`Group::open`] would find nothing.
    ///
    /// # Errors
    /// When a document that must be read for this cannot be read or understood.
    pub fn kind(&self, path: &str) -> Result<Option<NodeKind>> {
        let place = self.below(path)?.probed(Purpose::Open);
        let Some(Kind { kind, explicit }) = place.kind()? else { return Ok(None) };
        // A prefix may be no more than what an unfinished conversion left.
        Ok((explicit || crate::convert::check_finished(&place).is_ok()).then_some(kind))
    }

    /// The places where nodes directly below could be, sorted by name.
    pub(crate) fn each_place(&self, visitor: &mut dyn FnMut(String, Location) -> Result<()>) -> Result<()> {
        // A directory whose name no node can have holds no node.
        let below = |name: String| self.path().join(&name).ok().map(|path| (name, path));
        let names = self.location().names_below(self.metadata().format)?.into_iter().filter_map(below);
        let (names, paths): (Vec<String>, Vec<NodePath>) = names.unzip();
        let mut names = names.into_iter();
        // The documents of many are asked for together.
        for paths in paths.chunks(TOGETHER) {
            let location = self.location().probed_for(paths, Purpose::Open);
            for (path, name) in paths.iter().zip(&mut names) {
                visitor(name, location.at(path.clone()))?;
            }
        }
        Ok(())
    }
}

impl Location {
    /// Returns true if there is a node, of any kind, understood or not.
    pub(crate) fn holds_node(&self) -> Result<bool> {
        match self.kind() {
            Ok(kind) => Ok(kind.is_some()),
            Err(_) => Ok(self.held()?.is_some()),
        }
    }

    fn kind(&self) -> Result<Option<Kind>> {
        Ok(self.first_format(|format, layout| self.kind_as(format, layout))?.map(|(_, _, kind)| kind))
    }

    /// The kind that the node has in this format.
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

    /// True where the name of a document tells the kind, and asking for names costs less than asking for documents: from a store far
    /// away, the documents of many nodes come together.
    fn is_named(&self, format: Format) -> bool {
        format.def().group_document().is_some() && !self.is_remote()
    }

    /// The kind that the names of the documents tell.
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
