//! The links of groups (section IV.A.2.c; sections III.B to III.D for old-style groups).

use zarrox::Result;

use super::btree1::Tree;
use super::btree2::Records;
use super::header::{Header, kind};
use super::heap::fractal::FractalHeap;
use super::heap::local::LocalHeap;
use super::message::link;
use super::model::{Address, Link, Target};
use super::shared::SharedMessages;
use super::source::{Budget, Source};
use crate::input::corrupt;

const NODE: &str = "a symbol table node";
/// The length of the scratch-pad space of a symbol table entry, whose meaning depends on the cache type.
const SCRATCH: usize = 16;

/// Returns the links of a group, in creation order if the group tracks it, otherwise sorted by name.
pub(super) fn links(source: &Source, shared: &SharedMessages, header: &Header) -> Result<Vec<Link>> {
    let mut links = match header.find(kind::SYMBOLS) {
        Some(message) => old(source, &message.bytes)?,
        None => new(source, shared, header)?,
    };
    if links.iter().all(|link| link.order.is_some()) {
        links.sort_by_key(|link| link.order);
    } else {
        links.sort_by(|one, other| one.name.cmp(&other.name));
    }
    Ok(links)
}

/// Returns the links of a symbol table.
fn old(source: &Source, message: &[u8]) -> Result<Vec<Link>> {
    let mut cursor = source.cursor(message, "a symbol table message");
    let root = cursor.defined_address()?;
    let heap = LocalHeap::read(source, cursor.defined_address()?)?;
    let mut links = Vec::new();
    let tree = Tree { source, kind: 0, key: source.sizes.length };
    let mut names = Budget::new(heap.length(), "a symbol table");
    tree.each(root, &mut |_, node| symbols(source, node, &heap, &mut names, &mut links))?;
    Ok(links)
}

/// Adds the links of a symbol table node.
fn symbols(
    source: &Source,
    address: Address,
    heap: &LocalHeap,
    names: &mut Budget,
    links: &mut Vec<Link>,
) -> Result<()> {
    let start = source.read(address, 8)?;
    let mut cursor = source.cursor(&start, NODE);
    cursor.signature(b"SNOD")?;
    cursor.version(1)?;
    cursor.skip(1)?;
    let count = cursor.u16()?;
    let each = source.sizes.length + source.sizes.offset + 8 + SCRATCH;
    let bytes = source.read(address.saturating_add(8), u64::from(count) * each as u64)?;
    let mut cursor = source.cursor(&bytes, NODE);
    for _ in 0..count {
        let name = heap.name(cursor.length()?)?.to_vec();
        names.take(name.len() as u64 + 1)?;
        let object = cursor.address()?;
        let kind = cursor.u32()?;
        cursor.skip(4)?;
        let mut scratch = source.cursor(cursor.take(SCRATCH)?, NODE);
        let target = if kind == 2 {
            let path = heap.name(u64::from(scratch.u32()?))?;
            names.take(path.len() as u64)?;
            Target::Soft(path.to_vec())
        } else {
            let missing = || corrupt(format!("the link '{}' has no address", name.escape_ascii()));
            Target::Hard(object.ok_or_else(missing)?)
        };
        links.push(Link { name, order: None, target });
    }
    Ok(())
}

/// Returns the links that are stored as messages, in the header or in a heap.
fn new(source: &Source, shared: &SharedMessages, header: &Header) -> Result<Vec<Link>> {
    let mut links = Vec::new();
    for message in header.all(kind::LINK) {
        let bytes = shared.message(source, message)?;
        links.push(link::parse(source.cursor(&bytes, "a link message"))?);
    }
    let Some(info) = header.find(kind::LINK_INFO) else { return Ok(links) };
    let mut cursor = source.cursor(&info.bytes, "a link info message");
    cursor.version(0)?;
    let flags = cursor.u8()?;
    if flags & 1 != 0 {
        // The maximum creation index.
        cursor.u64()?;
    }
    let (heap, names) = (cursor.address()?, cursor.address()?);
    let Some(heap) = heap else { return Ok(links) };
    let heap = FractalHeap::read(source, heap)?;
    let names = names.ok_or_else(|| corrupt("a group has a heap of links, but no index of their names"))?;
    let records = Records::read(source, names)?.expect(5)?;
    let mut budget = heap.budget(source);
    for record in records.iter() {
        // A record begins with the hash of the name.
        let bytes = heap.object(source, record.get(4..).unwrap_or_default())?;
        budget.take(bytes.len() as u64)?;
        links.push(link::parse(source.cursor(&bytes, "a link in a heap"))?);
    }
    Ok(links)
}
