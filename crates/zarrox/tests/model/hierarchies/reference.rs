//! The model: a map from paths to nodes.

use std::collections::BTreeMap;

/// A node. The root has the empty path.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node {
    Group { attributes: Attributes },
    Array { attributes: Attributes, shape: [u64; 2], elements: Elements },
}

pub(crate) type Attributes = BTreeMap<String, u64>;

/// The elements that differ from the fill value, by their positions.
pub(crate) type Elements = BTreeMap<[u64; 2], i32>;

/// All nodes.
pub(crate) type Nodes = BTreeMap<String, Node>;

#[derive(Debug)]
pub(crate) struct Reference {
    pub(crate) nodes: Nodes,
    /// The shapes of the stored chunks of arrays.
    pub(crate) chunks: BTreeMap<String, [u64; 2]>,
    pub(crate) is_consolidated: bool,
}

/// The reason why an operation fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    Exists,
    Missing,
    Wrong,
}

impl Reference {
    pub(crate) fn new() -> Self {
        let root = Node::Group { attributes: Attributes::new() };
        Self {
            nodes: BTreeMap::from([(String::new(), root)]),
            chunks: BTreeMap::new(),
            is_consolidated: false,
        }
    }

    pub(crate) fn shape(&self, path: &str) -> Option<[u64; 2]> {
        match self.nodes.get(path) {
            Some(Node::Array { shape, .. }) => Some(*shape),
            _ => None,
        }
    }

    pub(crate) fn attributes(&mut self, path: &str) -> Option<&mut Attributes> {
        self.nodes.get_mut(path).map(|node| match node {
            Node::Group { attributes } | Node::Array { attributes, .. } => attributes,
        })
    }

    /// Returns an error if a node cannot be created.
    pub(crate) fn check_new(&self, path: &str) -> Result<(), Refused> {
        if above(path).any(|above| self.shape(above).is_some()) {
            return Err(Refused::Wrong);
        }
        if self.nodes.contains_key(path) { Err(Refused::Exists) } else { Ok(()) }
    }

    pub(crate) fn create(&mut self, path: &str, node: Node) {
        for above in above(path) {
            let group = Node::Group { attributes: Attributes::new() };
            self.nodes.entry(above.to_owned()).or_insert(group);
        }
        self.nodes.insert(path.to_owned(), node);
    }

    pub(crate) fn check_move(&self, from: &str, to: &str) -> Result<(), Refused> {
        if is_at_or_below(to, from) || is_at_or_below(from, to) {
            return Err(Refused::Wrong);
        }
        if !self.nodes.contains_key(from) {
            return Err(Refused::Missing);
        }
        self.check_new(to)
    }

    pub(crate) fn move_node(&mut self, from: &str, to: &str) {
        for path in self.below(from) {
            let moved = format!("{to}{}", &path[from.len()..]);
            let node = self.nodes.remove(&path).unwrap();
            self.create(&moved, node);
            if let Some(chunks) = self.chunks.remove(&path) {
                self.chunks.insert(moved, chunks);
            }
        }
    }

    pub(crate) fn delete(&mut self, path: &str) -> Result<(), Refused> {
        if !self.nodes.contains_key(path) {
            return Err(Refused::Missing);
        }
        for below in self.below(path) {
            self.nodes.remove(&below);
            self.chunks.remove(&below);
        }
        Ok(())
    }

    /// Returns a node and all nodes below it.
    fn below(&self, path: &str) -> Vec<String> {
        self.nodes.keys().filter(|other| is_at_or_below(other, path)).cloned().collect()
    }

    /// Sets the elements of a box, as far as they are inside the array.
    pub(crate) fn write(
        &mut self,
        path: &str,
        places: impl IntoIterator<Item = [u64; 2]>,
        value: Option<i32>,
    ) {
        let Some(Node::Array { shape, elements, .. }) = self.nodes.get_mut(path) else { return };
        for place in places {
            let is_inside = place[0] < shape[0] && place[1] < shape[1];
            match value.filter(|_| is_inside) {
                Some(value) => drop(elements.insert(place, value)),
                None => drop(elements.remove(&place)),
            }
        }
    }

    pub(crate) fn resize(&mut self, path: &str, new: [u64; 2]) {
        let Some(Node::Array { shape, elements, .. }) = self.nodes.get_mut(path) else { return };
        *shape = new;
        elements.retain(|place, _| place[0] < new[0] && place[1] < new[1]);
    }
}

/// Returns the positions in a box.
pub(crate) fn places(start: [u64; 2], lengths: [u64; 2]) -> impl Iterator<Item = [u64; 2]> {
    (start[0]..start[0] + lengths[0])
        .flat_map(move |row| (start[1]..start[1] + lengths[1]).map(move |column| [row, column]))
}

/// Returns the paths above a path, including the root.
fn above(path: &str) -> impl Iterator<Item = &str> {
    std::iter::once("").chain(path.match_indices('/').map(move |(end, _)| &path[..end]))
}

pub(crate) fn is_at_or_below(path: &str, top: &str) -> bool {
    path.strip_prefix(top).is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || top.is_empty())
}
