//! Elements that can be read, one by one.

use std::collections::BTreeMap;
use std::sync::Arc;

use zarrox::data_type::Storage;
use zarrox::stores::Store;
use zarrox::{Array, Consolidated, DimSelection, DynArray, Group, Node, OpenOptions};

/// The largest number of elements of an array that are read.
const MOST: u64 = 64;

/// The depth to which groups are walked.
const DEPTH: usize = 12;

/// The elements of arrays, by the paths of the arrays and the positions in them.
pub(crate) type Elements = BTreeMap<(String, Vec<u64>), Vec<u8>>;

/// Returns options with low limits, so that metadata with large demands is an error.
pub(crate) fn options() -> OpenOptions {
    OpenOptions::new().threads(1).memory(1 << 20).chunk_limit(1 << 16).chunk_cache(0)
}

/// Returns the readable elements near the first element of every array, by the array's own document.
pub(crate) fn readable(store: &Arc<dyn Store>, root: &str) -> Elements {
    let mut elements = Elements::new();
    match options().consolidated(Consolidated::Never).open((store.clone(), root)) {
        Ok(Node::Array(array)) => add(&mut elements, "", &array),
        Ok(Node::Group(group)) => walk(&group, "", DEPTH, &mut |path, array| add(&mut elements, path, array)),
        Err(_) => {}
    }
    elements
}

/// Visits all arrays below a group.
pub(crate) fn walk(group: &Group, above: &str, depth: usize, visit: &mut dyn FnMut(&str, &Array)) {
    let Ok(children) = group.children() else { return };
    for child in children {
        let path = format!("{above}/{}", child.name);
        match child.node {
            Ok(Node::Array(array)) => visit(&path, &array),
            Ok(Node::Group(group)) if depth > 0 => walk(&group, &path, depth - 1, visit),
            _ => {}
        }
    }
}

fn add(elements: &mut Elements, path: &str, array: &Array) {
    let corner = corner(array.shape());
    let slices: Vec<DimSelection> = corner.iter().map(|&length| DimSelection::from(0..length)).collect();
    let whole = array.read::<DynArray>(slices).ok();
    let count: u64 = corner.iter().product();
    let mut values = whole.as_ref().map(|whole| whole.elements());
    for number in 0..count {
        let at = position(number, &corner);
        let value = match &mut values {
            Some(values) => values.next().map(<[u8]>::to_vec),
            None => one(array, &at),
        };
        if let Some(value) = value {
            elements.insert((path.to_owned(), at), value);
        }
    }
}

fn one(array: &Array, at: &[u64]) -> Option<Vec<u8>> {
    let position: Vec<DimSelection> = at.iter().map(|&index| DimSelection::from(index..index + 1)).collect();
    let element = array.read::<DynArray>(position).ok()?;
    if array.data_type().storage() == Storage::Variable {
        // A repair does not preserve elements of variable length in a damaged chunk, so that the whole chunk must be readable.
        let chunk = at.iter().zip(array.unit_shape()).zip(array.shape()).map(|((&index, length), &end)| {
            let start = index - index % length.max(1);
            DimSelection::from(start..start.saturating_add(length).min(end))
        });
        array.read::<DynArray>(chunk.collect::<Vec<_>>()).ok()?;
    }
    element.elements().next().map(<[u8]>::to_vec)
}

/// Returns the lengths of the region to read.
fn corner(shape: &[u64]) -> Vec<u64> {
    let mut left = MOST;
    let length = |&length: &u64| {
        let length = length.min(left.max(1));
        left /= length.max(1);
        length
    };
    shape.iter().map(length).collect()
}

/// Returns the position of an element from its row-major index.
fn position(number: u64, shape: &[u64]) -> Vec<u64> {
    let (mut rest, mut position) = (number, vec![0; shape.len()]);
    for (index, &length) in position.iter_mut().zip(shape).rev() {
        (*index, rest) = (rest % length, rest / length);
    }
    position
}
