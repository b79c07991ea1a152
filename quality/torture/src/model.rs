//! The contents that a hierarchy must have: the result of all completed operations.

use std::collections::{BTreeMap, BTreeSet};

use zarrox::Format;

use crate::element::{element, position};
use crate::job::{Operation, Worker};
use crate::place::Place;
use crate::world::{self, ARENA, DAMAGED, PULSE};

/// The elements of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Elements {
    pub(crate) shape: Vec<u64>,
    /// All shapes that stored objects of the array had since the last check.
    pub(crate) chunks: Vec<Vec<u64>>,
    pub(crate) values: Vec<u64>,
    /// The positions that may also have fill values, since the array was replaced while others wrote.
    pub(crate) unsure: BTreeSet<usize>,
}

/// An array that was created by an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Created {
    /// Filled by the operation with this number.
    Put(u64),
    /// A copy of the source.
    Copy,
}

/// A hierarchy.
#[derive(Debug, Clone)]
pub(crate) struct Model {
    pub(crate) format: Format,
    /// The arrays that are written by boxes: the boards, and the array that is shrunk and grown.
    pub(crate) arrays: BTreeMap<String, Elements>,
    /// The appended blocks, and their rows. Several processes append, so that their order is unknown.
    pub(crate) blocks: BTreeMap<u64, u64>,
    /// The rows of fill values among the appended rows, from interrupted appends.
    pub(crate) holes: usize,
    pub(crate) attributes: BTreeMap<String, u64>,
    /// The arrays that were created, by their paths.
    pub(crate) made: BTreeMap<String, Created>,
    /// The groups that were required.
    pub(crate) groups: BTreeSet<String>,
    /// Hierarchies that are copies of the source.
    pub(crate) copies: Vec<Place>,
    pub(crate) consolidated: bool,
    /// The path of the arena.
    pub(crate) arena: String,
    /// True if the hierarchy was created in another format.
    pub(crate) upgraded: bool,
}

impl Elements {
    /// Returns the array with a damaged chunk, as [`world::create_damaged`] leaves it.
    pub(crate) fn damaged() -> Self {
        let mut array = Self::new(&world::DAMAGED_SHAPE, &world::DAMAGED_SHAPE);
        array.write(&[0, 0], &world::DAMAGED_SHAPE, world::ORIGINAL_NUMBER);
        array
    }

    /// Creates an array of fill values.
    pub(crate) fn new(shape: &[u64], chunk: &[u64]) -> Self {
        let count = usize::try_from(shape.iter().product::<u64>()).unwrap_or(0);
        Self {
            shape: shape.to_vec(),
            chunks: vec![chunk.to_vec()],
            values: vec![0; count],
            unsure: BTreeSet::new(),
        }
    }

    /// Writes a box.
    pub(crate) fn write(&mut self, start: &[u64], shape: &[u64], number: u64) {
        for index in indices(start, shape) {
            let at = position(index.iter().copied(), &self.shape);
            if let Some(value) = usize::try_from(at).ok().and_then(|at| self.values.get_mut(at)) {
                *value = element(number, at);
            }
        }
    }

    /// Changes the length of an array of one dimension.
    pub(crate) fn resize(&mut self, length: u64) {
        self.shape = vec![length];
        self.values.resize(usize::try_from(length).unwrap_or(0), 0);
    }

    /// Records that the array was replaced at some time while others wrote to it.
    fn recreate(&mut self, by: Worker) {
        for index in indices(&[0; 2], &self.shape) {
            let Ok(at) = usize::try_from(position(index.iter().copied(), &self.shape)) else { continue };
            if by.owns([index[0], index[1]]) {
                self.values[at] = 0;
            } else {
                self.unsure.insert(at);
            }
        }
    }

    /// Takes over the observed elements where several were possible.
    pub(crate) fn settle(&mut self, found: &[u64]) {
        for at in std::mem::take(&mut self.unsure) {
            self.values[at] = found[at];
        }
    }

    /// Removes all former chunk shapes of the array.
    pub(crate) fn forget_chunks(&mut self) {
        self.chunks.drain(..self.chunks.len().saturating_sub(1));
    }

    /// Returns the parts of a box that lie in one stored object each, for all former chunk shapes of the array, as lists of
    /// positions.
    pub(crate) fn parts(&self, start: &[u64], shape: &[u64]) -> Vec<Vec<usize>> {
        let mut parts: BTreeMap<Vec<Vec<u64>>, Vec<usize>> = BTreeMap::new();
        for index in indices(start, shape) {
            let object =
                |chunk: &Vec<u64>| index.iter().zip(chunk).map(|(index, length)| index / length).collect();
            let objects: Vec<Vec<u64>> = self.chunks.iter().map(object).collect();
            let at = usize::try_from(position(index.iter().copied(), &self.shape)).unwrap_or(usize::MAX);
            parts.entry(objects).or_default().push(at);
        }
        parts.into_values().collect()
    }
}

/// Returns all indices of a box.
fn indices(start: &[u64], shape: &[u64]) -> impl Iterator<Item = Vec<u64>> {
    let (start, shape) = (start.to_vec(), shape.to_vec());
    (0..shape.iter().product::<u64>()).map(move |mut rest| {
        let mut index = start.clone();
        for dim in (0..shape.len()).rev() {
            index[dim] += rest % shape[dim];
            rest /= shape[dim];
        }
        index
    })
}

impl Model {
    /// Creates the hierarchy as [`world::create`] leaves it.
    pub(crate) fn new(format: Format) -> Self {
        let board = Elements::new(&[world::SIDE; 2], &[world::CHUNK; 2]);
        let boards = world::boards(format).into_iter().map(|each| (each.name.to_owned(), board.clone()));
        let arena = (ARENA[0].to_owned(), board.clone());
        let pulse = (PULSE.to_owned(), Elements::new(&[40], &[world::PULSE_CHUNK]));
        let damaged = (format == Format::V3).then(|| (DAMAGED.to_owned(), Elements::damaged()));
        Self {
            format,
            arrays: boards.chain([arena, pulse]).chain(damaged).collect(),
            blocks: BTreeMap::new(),
            holes: 0,
            attributes: BTreeMap::new(),
            made: BTreeMap::new(),
            groups: BTreeSet::new(),
            copies: Vec::new(),
            consolidated: false,
            arena: ARENA[0].to_owned(),
            upgraded: false,
        }
    }

    /// Applies an operation.
    pub(crate) fn apply(&mut self, operation: &Operation) {
        match operation {
            Operation::Write { array, start, shape, number } => {
                if let Some(array) = self.arrays.get_mut(array) {
                    array.write(start, shape, *number);
                }
            }
            Operation::Append { rows, number, .. } => {
                self.blocks.insert(*number, *rows);
            }
            Operation::Resize { array, length } => {
                if let Some(array) = self.arrays.get_mut(array) {
                    array.resize(*length);
                }
            }
            Operation::SetAttribute { name, number, .. } => {
                self.attributes.insert(name.clone(), *number);
            }
            Operation::Require { path } | Operation::Create { path } => {
                self.groups.insert(path.clone());
            }
            Operation::Put { path, number } | Operation::Import { path, number } => {
                self.made.insert(path.clone(), Created::Put(*number));
            }
            Operation::Rechunk { path, .. } => {
                self.made.insert(path.clone(), Created::Copy);
            }
            Operation::Move { to, .. } if operation.is_structural() => self.arena.clone_from(to),
            Operation::Move { from, to } => {
                if let Some(moved) = self.made.remove(from) {
                    self.made.insert(to.clone(), moved);
                }
            }
            Operation::Delete { path } => {
                self.made.remove(path);
            }
            Operation::Consolidate => self.consolidated = true,
            Operation::Convert { to, .. } | Operation::Copy { to, .. } => self.copies.push(to.clone()),
            Operation::Discard { at } => self.copies.retain(|copy| copy != at),
            Operation::Reshape { array, chunks, shards, .. } => {
                if let Some(array) = self.arrays.get_mut(world::known_as(array)) {
                    array.chunks.push(shards.as_ref().unwrap_or(chunks).clone());
                }
            }
            Operation::Recreate { by, .. } => {
                if let Some(arena) = self.arrays.get_mut(ARENA[0]) {
                    arena.recreate(*by);
                    arena.chunks.push(vec![world::CHUNK; 2]);
                }
            }
            Operation::Upgrade => (self.format, self.upgraded) = (Format::V3, true),
            Operation::ConvertInPlace { .. }
            | Operation::Probe { .. }
            | Operation::Repair
            | Operation::Sweep => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_and_shrinking_are_remembered() {
        let mut model = Model::new(Format::V3);
        let (start, shape) = (vec![5], vec![4]);
        model.apply(&Operation::Write { array: PULSE.to_owned(), start, shape, number: 9 });
        assert_eq!(model.arrays[PULSE].values[5..9], [5, 6, 7, 8].map(|at| element(9, at)));
        for length in [6, 40] {
            model.apply(&Operation::Resize { array: PULSE.to_owned(), length });
        }
        assert_eq!(model.arrays[PULSE].values[5..7], [element(9, 5), 0]);
    }

    #[test]
    fn a_box_is_divided_among_stored_objects() {
        let array = Elements::new(&[4, 4], &[2, 3]);
        assert_eq!(array.parts(&[1, 2], &[2, 2]), [vec![6], vec![7], vec![10], vec![11]]);
        assert_eq!(array.parts(&[0, 0], &[1, 3]), [vec![0, 1, 2]]);
    }
}
