//! A store with two handles, and the model of its content.

use std::collections::BTreeMap;
use std::sync::Arc;

use ndarray::Array2;
use zarrox::codecs::{Bytes, Sharding};
use zarrox::json::{Json, Map};
use zarrox::stores::Store;
use zarrox::{Array, prelude::*, s};
use zarrox::{Consolidated, Error, ErrorKind, OpenMode, OpenOptions};

use super::operation::{Action, Operation};
use super::reference::{self, Attributes, Elements, Nodes, Reference, Refused, is_at_or_below, places};

pub(crate) struct World {
    store: Arc<dyn Store>,
    format: Format,
    handles: [Handle; 2],
    reference: Reference,
}

/// A group at the root, and the arrays that were opened through it, which do not see later changes of the other handle.
struct Handle {
    root: Group,
    arrays: BTreeMap<String, Array>,
}

impl World {
    pub(crate) fn new(store: Arc<dyn Store>, format: Format) -> Self {
        let root = OpenOptions::new().format(format).create_group((store.clone(), "")).unwrap();
        let other = opened(&store, &OpenOptions::new()).unwrap();
        let handle = |root| Handle { root, arrays: BTreeMap::new() };
        Self { store, format, handles: [handle(root), handle(other)], reference: Reference::new() }
    }

    /// Runs the operations, each together with the model.
    pub(crate) fn check(mut self, operations: &[Operation]) {
        for (number, operation) in operations.iter().enumerate() {
            let operation = &self.aimed(operation);
            self.apply(operation);
            self.compare(&format!("after operation {number}, {operation:?}"));
        }
    }

    /// Returns the operation with the path of an existing node, if it needs a node, and a node exists.
    fn aimed(&self, operation: &Operation) -> Operation {
        let action = &operation.action;
        let fits = |path: &&String| match action.is_of_elements() {
            true => self.reference.shape(path).is_some(),
            false => !path.is_empty(),
        };
        let fitting: Vec<&String> = self.reference.nodes.keys().filter(fits).collect();
        let chosen = operation.existing.filter(|_| action.is_of_existing() && !fitting.is_empty());
        let path = chosen.map_or(&operation.path, |number| fitting[number % fitting.len()]);
        Operation { path: path.clone(), existing: None, ..operation.clone() }
    }

    fn apply(&mut self, operation: &Operation) {
        let path = operation.path.as_str();
        match &operation.action {
            Action::CreateArray { shape, chunks, is_sharded } => {
                self.create_array(operation, *shape, *chunks, *is_sharded);
            }
            Action::CreateGroup => {
                let expected = self.reference.check_new(path);
                let made = self.root(operation).create_group(path).map(drop);
                self.create_if(operation, &made, expected);
            }
            Action::RequireGroup => self.require_group(operation),
            Action::Delete => {
                let expected = self.reference.delete(path);
                agree(operation, &self.root(operation).delete(path), expected);
                self.forget(path);
            }
            Action::Move { to } => {
                let expected = self.reference.check_move(path, to);
                agree(operation, &self.root(operation).move_node(path, to), expected);
                if expected.is_ok() {
                    self.reference.move_node(path, to);
                    self.forget(path);
                }
            }
            Action::SetAttribute { name, value } => {
                self.change_attributes(operation, |map| {
                    drop(map.insert((*name).to_owned(), Json::from(*value)));
                });
                self.reference.attributes(path).map(|map| map.insert((*name).to_owned(), *value));
            }
            Action::RemoveAttribute { name } => {
                self.change_attributes(operation, |map| drop(map.remove(name)));
                self.reference.attributes(path).map(|map| map.remove(*name));
            }
            Action::Consolidate => self.consolidate(operation),
            Action::DropConsolidated => {
                self.root(operation).drop_consolidated_metadata().unwrap();
                self.reference.is_consolidated = false;
            }
            Action::Reopen => {
                let root = opened(&self.store, &OpenOptions::new()).unwrap();
                self.handles[operation.handle] = Handle { root, arrays: BTreeMap::new() };
            }
            elements => self.change_elements(operation, elements),
        }
    }

    fn root(&self, operation: &Operation) -> &Group {
        &self.handles[operation.handle].root
    }

    fn create_array(&mut self, operation: &Operation, shape: [u64; 2], chunks: [u64; 2], is_sharded: bool) {
        let path = operation.path.as_str();
        let expected = self.reference.check_new(path);
        let builder = self.root(operation).create_array(path).shape(shape).data_type(DataType::Int32);
        let builder = builder.fill_value(self.fill());
        let stored =
            if is_sharded && self.format == Format::V3 { chunks.map(|length| 2 * length) } else { chunks };
        let builder = match stored == chunks {
            true => builder.chunks(chunks),
            false => builder.chunks(stored).codecs([Sharding::new(chunks, [Bytes::little().into()]).into()]),
        };
        let made = builder.create();
        if let Ok(array) = &made {
            self.handles[operation.handle].arrays.insert(path.to_owned(), array.clone());
        }
        agree(operation, &made.map(drop), expected);
        if expected.is_ok() {
            let (attributes, elements) = (Attributes::new(), Elements::new());
            self.reference.create(path, reference::Node::Array { attributes, shape, elements });
            self.reference.chunks.insert(path.to_owned(), stored);
        }
    }

    /// In N5, the fill value is always 0.
    fn fill(&self) -> i32 {
        if self.format == Format::N5 { 0 } else { -1 }
    }

    fn create_if(&mut self, operation: &Operation, made: &zarrox::Result<()>, expected: Result<(), Refused>) {
        agree(operation, made, expected);
        if expected.is_ok() {
            self.reference.create(&operation.path, reference::Node::Group { attributes: Attributes::new() });
        }
    }

    fn require_group(&mut self, operation: &Operation) {
        let path = operation.path.as_str();
        let made = self.root(operation).require_group(path).map(drop);
        match (self.reference.nodes.get(path), self.reference.check_new(path)) {
            (Some(reference::Node::Group { .. }), _) => agree(operation, &made, Ok(())),
            (Some(reference::Node::Array { .. }), _) => agree(operation, &made, Err(Refused::Wrong)),
            (None, expected) => self.create_if(operation, &made, expected),
        }
    }

    fn consolidate(&mut self, operation: &Operation) {
        let made = self.root(operation).consolidate_metadata();
        match self.format.def().consolidation() {
            Some(_) => {
                made.unwrap();
                self.reference.is_consolidated = true;
            }
            None => assert_eq!(made.unwrap_err().kind(), ErrorKind::Unsupported),
        }
    }

    /// Removes handles of nodes that were deleted or moved.
    fn forget(&mut self, path: &str) {
        for handle in &mut self.handles {
            handle.arrays.retain(|array, _| !is_at_or_below(array, path));
        }
    }

    /// Returns the handle's array, opened earlier or now; `None` if the model has no such array; the library must then find
    /// none either.
    fn array(&mut self, operation: &Operation) -> Option<&mut Array> {
        let path = operation.path.as_str();
        let handle = &mut self.handles[operation.handle];
        if self.reference.shape(path).is_none() {
            assert!(handle.root.open(path).and_then(zarrox::Node::into_array).is_err(), "{operation:?}");
            return None;
        }
        let open = || handle.root.open(path).unwrap().into_array().unwrap();
        Some(handle.arrays.entry(path.to_owned()).or_insert_with(open))
    }

    fn change_attributes(&mut self, operation: &Operation, edit: impl Fn(&mut Map)) {
        if let Some(array) = self.array(operation) {
            return array.update_attributes(edit).unwrap();
        }
        let node = self.root(operation).open(&operation.path);
        match self.reference.nodes.contains_key(&operation.path) {
            true => node.unwrap().update_attributes(edit).unwrap(),
            false => assert_eq!(node.map(drop).unwrap_err().kind(), ErrorKind::NotFound, "{operation:?}"),
        }
    }

    fn change_elements(&mut self, operation: &Operation, action: &Action) {
        let path = operation.path.as_str();
        let (now, chunks) = (self.reference.shape(path), self.reference.chunks.get(path).copied());
        let Some(array) = self.array(operation) else { return };
        let (now, chunks) = (now.unwrap(), chunks.unwrap());
        let known = [array.shape()[0], array.shape()[1]];
        match action {
            Action::Write { start, lengths, value } => {
                // Clipped to the shape that the handle knows, which may be out of date.
                let start = [0, 1].map(|dim| start[dim].min(known[dim]));
                let lengths = [0, 1].map(|dim| lengths[dim].min(known[dim] - start[dim]));
                let [rows, columns] = lengths.map(|length| usize::try_from(length).unwrap());
                let selection = s![start[0]..start[0] + lengths[0], start[1]..start[1] + lengths[1]];
                array.write(selection, Array2::from_elem((rows, columns), *value)).unwrap();
                self.reference.write(path, places(start, lengths), Some(*value));
            }
            Action::Resize { shape } => {
                array.resize(shape).unwrap();
                assert_eq!(array.shape(), shape);
                self.reference.resize(path, *shape);
            }
            Action::Append { axis, length, value } => {
                let mut lengths = now;
                lengths[*axis] = *length;
                let [rows, columns] = lengths.map(|length| usize::try_from(length).unwrap());
                let shape = array.append(Array2::from_elem((rows, columns), *value), *axis).unwrap();
                let mut grown = now;
                grown[*axis] += length;
                assert_eq!(shape, grown);
                let mut start = [0; 2];
                start[*axis] = now[*axis];
                self.reference.resize(path, grown);
                self.reference.write(path, places(start, lengths), Some(*value));
            }
            Action::EraseChunk { index } => {
                let is_there = array.grid_shape().iter().zip(index).all(|(count, index)| index < count);
                match array.raw().erase(index) {
                    Ok(_) => assert!(is_there),
                    Err(error) => assert!(!is_there && error.kind() == ErrorKind::InvalidArgument, "{error}"),
                }
                if is_there {
                    let start = [index[0] * chunks[0], index[1] * chunks[1]];
                    self.reference.write(path, places(start, chunks), None);
                }
            }
            other => unreachable!("{other:?} changes no elements"),
        }
    }

    /// Opens the hierarchy again, and compares it with the model.
    fn compare(&self, place: &str) {
        let found = self.read(&opened(&self.store, &OpenOptions::new().mode(OpenMode::Read)).unwrap());
        assert_eq!(found, self.reference.nodes, "{place}");
        if self.reference.is_consolidated {
            let options = OpenOptions::new().mode(OpenMode::Read).consolidated(Consolidated::Require);
            let root = opened(&self.store, &options).map_err(|error| error.at(place)).unwrap();
            assert_eq!(self.read(&root), self.reference.nodes, "by consolidated metadata, {place}");
            assert_eq!(root.check_consolidated().unwrap(), [], "{place}");
        }
    }

    fn read(&self, root: &Group) -> Nodes {
        let group = |attributes: &Map| reference::Node::Group { attributes: numbers(attributes) };
        let mut nodes = Nodes::from([(String::new(), group(root.attributes()))]);
        root.visit(&mut |path, node| {
            let node = match node.as_ref().map_err(Error::clone)? {
                Node::Group(found) => group(found.attributes()),
                Node::Array(array) => self.read_array(array)?,
            };
            nodes.insert(path.to_owned(), node);
            Ok(())
        })
        .unwrap();
        nodes
    }

    fn read_array(&self, array: &Array) -> zarrox::Result<reference::Node> {
        let values = array.read::<ArrayD<i32>>(..)?;
        let elements = values.indexed_iter().filter(|(_, value)| **value != self.fill());
        let elements = elements.map(|(place, value)| ([place[0] as u64, place[1] as u64], *value)).collect();
        let shape = [array.shape()[0], array.shape()[1]];
        Ok(reference::Node::Array { attributes: numbers(array.attributes()), shape, elements })
    }
}

fn opened(store: &Arc<dyn Store>, options: &OpenOptions) -> zarrox::Result<Group> {
    options.open((store.clone(), ""))?.into_group()
}

fn numbers(attributes: &Map) -> Attributes {
    attributes.iter().map(|(name, value)| (name.clone(), value.as_u64().unwrap())).collect()
}

/// Checks that an operation succeeds or fails as in the model.
fn agree(operation: &Operation, found: &zarrox::Result<()>, expected: Result<(), Refused>) {
    let kind = found.as_ref().map_err(Error::kind).copied();
    let agrees = match expected {
        Ok(()) => kind.is_ok(),
        Err(Refused::Exists) => kind == Err(ErrorKind::AlreadyExists),
        Err(Refused::Missing) => kind == Err(ErrorKind::NotFound),
        Err(Refused::Wrong) => kind == Err(ErrorKind::InvalidArgument),
    };
    assert!(agrees, "{operation:?}: {found:?}, expected {expected:?}");
}
