//! Version 2 B-trees (section III.A.2).

use std::collections::HashSet;

use zarrox::Result;

use super::cursor::width_of;
use super::model::Address;
use super::source::{Budget, Source, verified};
use crate::input::corrupt;

const HEADER: &str = "the header of a B-tree of version 2";
const NODE: &str = "a node of a B-tree of version 2";
/// The combined size in bytes of the prefix and the checksum of a node.
const PREFIX: u64 = 10;
/// The maximum number of levels. Every node above a leaf has at least two children.
const MOST_DEPTH: u16 = 64;

/// The concatenated records of a tree, in order.
#[derive(Debug)]
pub(super) struct Records {
    /// The record type.
    pub(super) kind: u8,
    pub(super) size: usize,
    bytes: Vec<u8>,
}

/// A child of a node.
#[derive(Debug, Clone, Copy)]
struct Child {
    address: Address,
    records: u64,
}

/// The state of a traversal.
struct Tree<'s> {
    source: &'s Source,
    kind: u8,
    node_size: u64,
    record_size: usize,
    /// The size in bytes of the field with the number of records in a node.
    width: usize,
    /// The size in bytes of the field with the number of records below a node, indexed by the level of the node.
    widths: Vec<usize>,
    visited: HashSet<Address>,
    budget: Budget,
}

impl Records {
    /// Reads all records of a tree.
    pub(super) fn read(source: &Source, address: Address) -> Result<Self> {
        let length = 22 + source.sizes.offset + source.sizes.length;
        let bytes = source.read_checked(address, length as u64, HEADER)?;
        let mut cursor = source.cursor(&bytes, HEADER);
        cursor.signature(b"BTHD")?;
        cursor.version(0)?;
        let kind = cursor.u8()?;
        let node_size = u64::from(cursor.u32()?);
        let record_size = usize::from(cursor.u16()?);
        let depth = cursor.u16()?;
        // The split and merge percentages.
        cursor.skip(2)?;
        let root = cursor.address()?;
        let records = u64::from(cursor.u16()?);
        let total = cursor.length()?;
        let mut all = Self { kind, size: record_size, bytes: Vec::new() };
        let Some(address) = root else { return Ok(all) };
        if record_size == 0 || depth > MOST_DEPTH {
            return Err(corrupt(format!(
                "a B-tree of version 2 has records of {record_size} bytes and {depth} levels"
            )));
        }
        let mut tree = Tree::new(source, kind, node_size, record_size, depth)?;
        tree.node(Child { address, records }, depth, &mut all.bytes)?;
        let found = all.bytes.len() / record_size;
        if found as u64 != total {
            return Err(corrupt(format!("a B-tree of version 2 has {found} records instead of {total}")));
        }
        Ok(all)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.bytes.chunks_exact(self.size.max(1))
    }

    /// Returns an error unless the records have the given type.
    pub(super) fn expect(self, kind: u8) -> Result<Self> {
        if self.kind == kind {
            return Ok(self);
        }
        Err(corrupt(format!("a B-tree of version 2 has records of the kind {}, not {kind}", self.kind)))
    }
}

impl<'s> Tree<'s> {
    fn new(source: &'s Source, kind: u8, node_size: u64, record_size: usize, depth: u16) -> Result<Self> {
        let too_small = || corrupt(format!("a node of {node_size} bytes has no space for records"));
        let record = record_size as u64;
        let space = node_size.checked_sub(PREFIX).ok_or_else(too_small)?;
        let mut most = space / record;
        let width = width_of(most);
        // Pointers to leaves have no total record count.
        let mut widths = vec![0];
        for level in 1..=usize::from(depth) {
            let pointer = (source.sizes.offset + width + widths[level - 1]) as u64;
            let here = space.checked_sub(pointer).ok_or_else(too_small)? / (record + pointer);
            most = (here + 1).saturating_mul(most).saturating_add(here);
            widths.push(width_of(most));
        }
        Ok(Self {
            source,
            kind,
            node_size,
            record_size,
            width,
            widths,
            visited: HashSet::new(),
            budget: Budget::of_file(source, HEADER),
        })
    }

    /// Appends the records of a node and all nodes below it, in order.
    fn node(&mut self, node: Child, level: u16, records: &mut Vec<u8>) -> Result<()> {
        if !self.visited.insert(node.address) {
            return Err(corrupt(format!("{NODE} at {} occurs twice", node.address)));
        }
        let signature = if level == 0 { b"BTLF" } else { b"BTIN" };
        let pointer = self.pointer(level);
        let pointers = if level == 0 { 0 } else { (node.records + 1) * pointer as u64 };
        let length = PREFIX + node.records * self.record_size as u64 + pointers;
        if length > self.node_size {
            return Err(corrupt(format!("{NODE} of {} bytes has {} records", self.node_size, node.records)));
        }
        self.budget.take(length)?;
        let bytes = self.source.read(node.address, length)?;
        let mut cursor = self.source.cursor(verified(&bytes, NODE)?, NODE);
        cursor.signature(signature)?;
        cursor.version(0)?;
        let kind = cursor.u8()?;
        if kind != self.kind {
            return Err(corrupt(format!("{NODE} has records of the kind {kind}, not {}", self.kind)));
        }
        let own = cursor
            .take(usize::try_from(node.records).unwrap_or(usize::MAX).saturating_mul(self.record_size))?;
        if level == 0 {
            records.extend_from_slice(own);
            return Ok(());
        }
        let mut own = own.chunks_exact(self.record_size);
        for _ in 0..=node.records {
            let address = cursor.defined_address()?;
            let child = Child { address, records: cursor.number(self.width)? };
            cursor.skip(self.widths[usize::from(level) - 1])?;
            self.node(child, level - 1, records)?;
            records.extend_from_slice(own.next().unwrap_or_default());
        }
        Ok(())
    }

    /// Returns the length in bytes of a child pointer in a node of the given level.
    fn pointer(&self, level: u16) -> usize {
        let below = usize::from(level).checked_sub(1).map_or(0, |below| self.widths[below]);
        self.source.sizes.offset + self.width + below
    }
}
