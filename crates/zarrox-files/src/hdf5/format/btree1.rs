//! Version 1 B-trees (section III.A.1).

use std::collections::HashSet;

use zarrox::Result;

use super::model::Address;
use super::source::Source;
use crate::input::corrupt;

const WHAT: &str = "a node of a B-tree of version 1";
/// The maximum number of levels.
const MOST_DEPTH: u8 = 64;

/// A tree, with its node type and the length of its keys.
pub(super) struct Tree<'s> {
    pub(super) source: &'s Source,
    pub(super) kind: u8,
    pub(super) key: usize,
}

impl Tree<'_> {
    /// Calls a function with the key and address of each child of each leaf, in order.
    pub(super) fn each(
        &self,
        root: Address,
        found: &mut dyn FnMut(&[u8], Address) -> Result<()>,
    ) -> Result<()> {
        let mut visited = HashSet::new();
        self.node(root, None, &mut visited, found)
    }

    /// Visits a node of the given level.
    fn node(
        &self,
        address: Address,
        level: Option<u8>,
        visited: &mut HashSet<Address>,
        found: &mut dyn FnMut(&[u8], Address) -> Result<()>,
    ) -> Result<()> {
        if !visited.insert(address) {
            return Err(corrupt(format!("{WHAT} at {address} occurs twice")));
        }
        let offset = self.source.sizes.offset;
        let prefix = 8 + 2 * offset;
        let start = self.source.read(address, prefix as u64)?;
        let mut cursor = self.source.cursor(&start, WHAT);
        cursor.signature(b"TREE")?;
        let (kind, here, count) = (cursor.u8()?, cursor.u8()?, usize::from(cursor.u16()?));
        if kind != self.kind || here > MOST_DEPTH || level.is_some_and(|level| level != here) {
            return Err(corrupt(format!("{WHAT} at {address} has the kind {kind} and the level {here}")));
        }
        // The key after the last child is not needed.
        let position = address.saturating_add(prefix as u64);
        let bytes = self.source.read(position, (count * (self.key + offset)) as u64)?;
        for entry in bytes.chunks_exact(self.key + offset) {
            let (key, child) = entry.split_at(self.key);
            let child = self.source.cursor(child, WHAT).defined_address()?;
            match here.checked_sub(1) {
                Some(below) => self.node(child, Some(below), visited, found)?,
                None => found(key, child)?,
            }
        }
        Ok(())
    }
}
