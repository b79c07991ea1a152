//! The chunk index of a dataset: a version 1 B-tree, which every reader supports.

use super::messages::NOWHERE;

/// The maximum number of chunks in a node of the tree.
const CHILDREN: usize = 64;

/// A chunk, with its position in elements and its location in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chunk {
    pub(super) position: Vec<u64>,
    pub(super) address: u64,
    pub(super) size: u32,
}

/// A child of a node: another node or a chunk. `first` is the key of its first chunk.
struct Child {
    first: Vec<u8>,
    address: u64,
}

/// Returns the bytes of the index, which will be written at the address `start`, and the address of its root. `chunks`
/// must be sorted by position.
pub(super) fn index(chunks: &[Chunk], chunk_shape: &[u32], item: u32, start: u64) -> (Vec<u8>, u64) {
    let key = |chunk: &Chunk| {
        let mut key = chunk.size.to_le_bytes().to_vec();
        key.extend_from_slice(&[0; 4]);
        chunk.position.iter().chain([&0]).for_each(|offset| key.extend_from_slice(&offset.to_le_bytes()));
        key
    };
    let Some(last) = chunks.last() else { return (Vec::new(), NOWHERE) };
    // The key after the last chunk must be larger along each dimension.
    let mut end = vec![0; 8];
    let behind = last.position.iter().zip(chunk_shape).map(|(offset, &length)| offset + u64::from(length));
    behind.chain([u64::from(item)]).for_each(|offset| end.extend_from_slice(&offset.to_le_bytes()));
    let mut children: Vec<Child> =
        chunks.iter().map(|chunk| Child { first: key(chunk), address: chunk.address }).collect();
    let (mut bytes, mut level) = (Vec::new(), 0);
    loop {
        children = nodes(&children, level, &end, start, &mut bytes);
        if let [root] = children.as_slice() {
            return (bytes, root.address);
        }
        level += 1;
    }
}

/// Appends the nodes of one level, and returns the children for the level above.
fn nodes(children: &[Child], level: u8, end: &[u8], start: u64, bytes: &mut Vec<u8>) -> Vec<Child> {
    let size = 24 + CHILDREN * 8 + (CHILDREN + 1) * end.len();
    let first = start + bytes.len() as u64;
    let groups: Vec<&[Child]> = children.chunks(CHILDREN).collect();
    let address = |index: usize| first + (index * size) as u64;
    let mut above = Vec::with_capacity(groups.len());
    for (index, group) in groups.iter().enumerate() {
        let begin = bytes.len();
        bytes.extend_from_slice(b"TREE\x01");
        bytes.push(level);
        bytes.extend_from_slice(&u16::try_from(group.len()).unwrap_or(u16::MAX).to_le_bytes());
        let left = index.checked_sub(1).map_or(NOWHERE, address);
        let right = if index + 1 < groups.len() { address(index + 1) } else { NOWHERE };
        bytes.extend_from_slice(&left.to_le_bytes());
        bytes.extend_from_slice(&right.to_le_bytes());
        for child in *group {
            bytes.extend_from_slice(&child.first);
            bytes.extend_from_slice(&child.address.to_le_bytes());
        }
        let next = groups.get(index + 1).and_then(|group| group.first());
        bytes.extend_from_slice(next.map_or(end, |next| &next.first));
        bytes.resize(begin + size, 0);
        if let Some(first) = group.first() {
            above.push(Child { first: first.first.clone(), address: address(index) });
        }
    }
    above
}
