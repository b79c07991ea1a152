//! Marks of nodes that are being renamed. A mark lies inside the node and moves with it, so its location shows whether the node
//! has already been renamed. The mark also records the remaining steps: updating consolidated metadata, and deleting a node that
//! was replaced.

use zarrox_core::internals::json::to_bytes;
use zarrox_core::internals::metadata::Layout;
use zarrox_core::json::{self, Json, json};
use zarrox_core::{ErrorKind, NodePath, Result};
use zarrox_stores::{Condition, Key};

use super::ExistingNode;
use crate::location::Location;

/// The name of the mark.
const NAME: &str = ".zarrox-renamed.json";

/// An unfinished renaming of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Renaming {
    pub(super) from: NodePath,
    pub(super) to: NodePath,
    /// The path to which the replaced node is moved aside, and where it is deleted at the end.
    pub(super) aside: Option<NodePath>,
}

/// Returns true if a key with this file name can belong to a mark.
pub fn is_renaming(name: &str) -> bool {
    name == NAME
}

impl Renaming {
    fn to_bytes(&self) -> Result<Vec<u8>> {
        let document = json!({
            "about": "an unfinished move by zarrox; give the same command again to finish it",
            "from": self.from.as_str(), "to": self.to.as_str(),
            "replaced": self.aside.as_ref().map(NodePath::as_str),
        });
        let Json::Object(map) = document else { return Ok(Vec::new()) };
        to_bytes(&map)
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let map = json::parse_object(bytes)?;
        let path = |name: &str| NodePath::new(map.get(name).and_then(Json::as_str).unwrap_or_default());
        let aside = map.get("replaced").and_then(Json::as_str).map(NodePath::new).transpose()?;
        Ok(Self { from: path("from")?, to: path("to")?, aside })
    }
}

impl Location {
    /// Reads the unfinished renaming of the existing node, if there is one.
    pub(super) fn renaming(&self, layout: &Layout) -> Result<Option<Renaming>> {
        let key = self.renaming_key(layout)?;
        let Some(bytes) = self.store.get(&key)? else { return Ok(None) };
        Renaming::from_bytes(&bytes).map(Some).map_err(|error| error.at(format!("'{key}'")))
    }

    pub(super) fn put_renaming(&self, layout: &Layout, renaming: &Renaming) -> Result<()> {
        self.put(self.renaming_key(layout)?.to_string(), &renaming.to_bytes()?, Condition::Always)
    }

    pub(super) fn erase_renaming(&self, layout: &Layout) -> Result<()> {
        self.erase(self.renaming_key(layout)?.to_string())
    }

    fn renaming_key(&self, layout: &Layout) -> Result<Key> {
        Ok(Key::new(format!("{}{NAME}", layout.below(&self.path)))?)
    }

    /// Returns the node that an unfinished renaming has moved from here to another location.
    pub(super) fn was_renamed(&self, to: &Self) -> Result<Option<(ExistingNode, Renaming)>> {
        if !self.store.capabilities().rename {
            return Ok(None);
        }
        let Some(existing) = to.existing_node_of_any_format()? else { return Ok(None) };
        let renaming = to.renaming(&existing.layout)?;
        let is_meant = |renaming: &Renaming| renaming.from == self.path && renaming.to == to.path;
        Ok(renaming.filter(is_meant).map(|renaming| (existing, renaming)))
    }

    /// Returns true if a move from here to another location was interrupted after the node had been renamed or copied, or after
    /// another node had been moved aside for it.
    pub(crate) fn is_half_moved(&self, to: &Self) -> Result<bool> {
        if self.was_renamed(to)?.is_some() || self.was_moved(to)?.is_some() {
            return Ok(true);
        }
        let Some(existing) = self.existing_node_of_any_format()? else { return Ok(false) };
        let is_meant = |renaming: Renaming| renaming.to == to.path && renaming.aside.is_some();
        Ok(self.renaming(&existing.layout)?.is_some_and(is_meant) && !to.is_explicit()?)
    }

    /// Returns the mark for a root that replaces the root of another store on this machine.
    fn root_renaming_to(&self, to: &Self) -> Result<Renaming> {
        let [from, to] = [self, to].map(|place| NodePath::new(&place.store.location()));
        let from = from?;
        Ok(Renaming { aside: Some(from.clone()), from, to: to? })
    }

    pub(crate) fn put_root_renaming(&self, to: &Self) -> Result<()> {
        self.put(NAME.to_owned(), &self.root_renaming_to(to)?.to_bytes()?, Condition::Always)
    }

    pub(crate) fn erase_root_renaming(&self) -> Result<()> {
        self.erase(NAME.to_owned())
    }

    /// Returns true if the root of another store was moved there from here, and the root that it replaced has not been removed
    /// yet.
    pub(crate) fn is_root_moved(&self, to: &Self) -> Result<bool> {
        if !self.path.is_root() || !to.path.is_root() || to.store.directory().is_none() {
            return Ok(false);
        }
        let Some(bytes) = to.store.get(&Key::new(NAME)?)? else { return Ok(false) };
        let renaming = Renaming::from_bytes(&bytes).map_err(|error| error.at(format!("'{NAME}'")))?;
        Ok(self.root_renaming_to(to).is_ok_and(|meant| meant == renaming))
    }

    /// Completes a renaming from here, once the node is at its new path.
    pub(super) fn finish_renaming(
        &self,
        to: &Self,
        existing: &ExistingNode,
        renaming: &Renaming,
    ) -> Result<()> {
        if let Some(aside) = &renaming.aside {
            // Consolidated metadata is updated before the replaced node is deleted, which may take a long time, because other
            // programs may be reading it. The update is repeated below, where a failure is reported.
            let _ = self.renew_after_move(to, existing, None);
            let replaced = self.at(aside.clone()).of_format(None);
            let deleted = match replaced.deletable() {
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
                found => found.and_then(|found| replaced.delete_existing(&found)),
            };
            deleted.map_err(|error| {
                error.at(format!(
                    "'{}' is at '{}' now, but the replaced node is still at '{aside}'; move it again",
                    self.path, to.path
                ))
            })?;
        }
        let kept = self.renew_after_move(to, existing, renaming.aside.as_ref());
        let erased = to.erase_renaming(&existing.layout).map_err(|error| {
            error.at(format!(
                "'{}' is at '{}' now, but a mark of the move is left; move it again",
                self.path, to.path
            ))
        });
        erased.and(kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_read_as_they_were_written() {
        let path = |path: &str| NodePath::new(path).unwrap();
        for aside in [None, Some(path("/a"))] {
            let renaming = Renaming { from: path("/a"), to: path("/g/b"), aside };
            assert_eq!(Renaming::from_bytes(&renaming.to_bytes().unwrap()).unwrap(), renaming);
        }
    }
}
