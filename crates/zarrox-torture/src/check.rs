//! The judge: compares a hierarchy with what it must be.

use std::collections::{BTreeMap, BTreeSet};

use ndarray::Axis;
use zarrox::{Array, Consolidated, Group, Node, OpenMode, OpenOptions};

use crate::element::{element, origin, told};
use crate::fault::{Fault, Faults};
use crate::job::Operation;
use crate::model::{Elements, Made, Model};
use crate::place::Opened;
use crate::world::{self, LOG, NOTES, NUMBER, PULSE, SWEPT};

/// Compares a hierarchy with the model. The pending operations were interrupted: each stored object may be as it was before or
/// as it would be after. Returns the numbers of those pending appends that have arrived.
pub(crate) fn check(at: &Opened, model: &Model, pending: &[Operation], faults: &mut Faults) -> BTreeSet<u64> {
    // The copies of documents are judged for themselves.
    let options = OpenOptions::new().mode(OpenMode::Read).consolidated(Consolidated::Never);
    let root = match at.open_with(&options) {
        Ok(root) => root,
        Err(error) => {
            faults.add(Fault::Unreadable, format!("the root: {error}"));
            return BTreeSet::new();
        }
    };
    let mut judge = Judge { root, model, pending, faults, grows_first: at.grows_first() };
    judge.nodes();
    judge.boards();
    judge.notes();
    judge.groups();
    judge.copies();
    judge.log()
}

struct Judge<'a> {
    root: Group,
    model: &'a Model,
    pending: &'a [Operation],
    faults: &'a mut Faults,
    grows_first: bool,
}

impl Judge<'_> {
    fn array(&mut self, path: &str) -> Option<Array> {
        let array = self.root.open(path).and_then(Node::into_array);
        array.map_err(|error| self.faults.add(Fault::Unreadable, format!("'{path}': {error}"))).ok()
    }

    fn values(&mut self, path: &str, array: &Array) -> Option<Vec<u64>> {
        let values = array.read::<u64>(..).map(|values| values.iter().copied().collect());
        values.map_err(|error| self.faults.add(Fault::Unreadable, format!("'{path}': {error}"))).ok()
    }

    /// The arrays that are written by boxes.
    fn boards(&mut self) {
        for (path, before) in &self.model.arrays {
            let Some(array) = self.array(path) else { continue };
            let Some(found) = self.values(path, &array) else { continue };
            let Some(mut expected) = self.shaped(path, before, &array) else { continue };
            for operation in self.pending {
                if let Operation::Write { array, start, shape, number } = operation
                    && array == path
                {
                    accept(&mut expected, start, shape, *number, &found);
                }
            }
            self.compare(path, &expected.values, &found);
        }
    }

    /// The array before its pending writes, in the shape that is stored.
    fn shaped(&mut self, path: &str, before: &Elements, array: &Array) -> Option<Elements> {
        let mut expected = before.clone();
        if array.shape() == expected.shape {
            return Some(expected);
        }
        let resized = |operation: &&Operation| {
            matches!(operation, Operation::Resize { array: name, length }
                if name == path && array.shape() == [*length])
        };
        if path == PULSE && self.pending.iter().any(|operation| resized(&operation)) {
            expected.resize(array.shape()[0]);
            return Some(expected);
        }
        let message = format!("'{path}' has the shape {:?}, not {:?}", array.shape(), before.shape);
        self.faults.add(Fault::Stale, message);
        None
    }

    fn compare(&mut self, path: &str, expected: &[u64], found: &[u64]) {
        let wrong: Vec<usize> = (0..expected.len()).filter(|&at| expected[at] != found[at]).collect();
        let Some(&first) = wrong.first() else { return };
        let fault =
            if origin(expected[first]).0 > origin(found[first]).0 { Fault::Lost } else { Fault::Torn };
        let (expected, found) = (told(expected[first]), told(found[first]));
        let message = format!(
            "'{path}': {} elements, the first at {first}: {found} instead of {expected}",
            wrong.len()
        );
        self.faults.add(fault, message);
    }

    /// The blocks that were appended. Returns those of pending appends.
    fn log(&mut self) -> BTreeSet<u64> {
        let Some(array) = self.array(LOG) else { return BTreeSet::new() };
        let Ok(values) =
            array.read::<u64>(..).map_err(|error| self.faults.add(Fault::Unreadable, error.to_string()))
        else {
            return BTreeSet::new();
        };
        let rows: Vec<Vec<u64>> =
            values.axis_iter(Axis(0)).map(|row| row.iter().copied().collect()).collect();
        let mut pending = self.model.holed.clone();
        for operation in self.pending {
            if let Operation::Append { rows, number, .. } = operation {
                pending.insert(*number, *rows);
            }
        }
        let blocks = Blocks { done: &self.model.blocks, pending: &pending, grows_first: self.grows_first };
        blocks.check(&rows, self.faults)
    }

    fn notes(&mut self) {
        let attributes = match self.root.open(NOTES) {
            Ok(node) => node.attributes().clone(),
            Err(error) => return self.faults.add(Fault::Unreadable, format!("'{NOTES}': {error}")),
        };
        let mut expected = self.model.attributes.clone();
        for operation in self.pending {
            if let Operation::SetAttribute { name, number, .. } = operation
                && attributes.get(name).and_then(zarrox::json::Json::as_u64) == Some(*number)
            {
                expected.insert(name.clone(), *number);
            }
        }
        for (name, number) in &expected {
            let found = attributes.get(name).and_then(zarrox::json::Json::as_u64);
            if found != Some(*number) {
                let message = format!("the attribute '{name}' is {found:?} instead of {number}");
                self.faults.add(Fault::Lost, message);
            }
        }
        let unknown = attributes.keys().filter(|name| *name != SWEPT && !expected.contains_key(*name));
        let unknown: Vec<String> = unknown.cloned().collect();
        if !unknown.is_empty() {
            self.faults.add(Fault::Torn, format!("attributes that nobody set: {}", unknown.join(", ")));
        }
    }

    fn groups(&mut self) {
        for path in &self.model.groups {
            if let Err(error) = self.root.open(path).and_then(Node::into_group) {
                self.faults.add(Fault::Lost, format!("the group '{path}': {error}"));
            }
        }
    }

    /// All nodes can be opened, and those that were made are what they were made.
    fn nodes(&mut self) {
        let mut found = BTreeMap::new();
        let mut unreadable = Vec::new();
        let visited = self.root.visit(&mut |path, node| {
            match node {
                Ok(Node::Array(array)) if path.starts_with("made/") => {
                    found.insert(path.to_owned(), array.clone());
                }
                Ok(_) => {}
                Err(error) => unreadable.push(format!("'{path}': {error}")),
            }
            Ok(())
        });
        unreadable.extend(visited.err().map(|error| error.to_string()));
        unreadable.into_iter().for_each(|message| self.faults.add(Fault::Unreadable, message));
        let paths: BTreeSet<String> = found.keys().chain(self.model.made.keys()).cloned().collect();
        for path in paths {
            let possible = self.possible(&path);
            let Some(array) = found.get(&path) else {
                if !possible.absent {
                    self.faults.add(Fault::Lost, format!("the array '{path}' is gone"));
                }
                continue;
            };
            if let Err(message) = possible.accept(array) {
                self.faults.add(Fault::Torn, format!("the array '{path}': {message}"));
            }
        }
        self.moves(&found);
    }

    /// A node whose move was interrupted is at one of its places at least.
    fn moves(&mut self, found: &BTreeMap<String, Array>) {
        for operation in self.pending {
            if let Operation::Move { from, to } = operation
                && !found.contains_key(from)
                && !found.contains_key(to)
            {
                self.faults.add(Fault::Lost, format!("the array is neither at '{from}' nor at '{to}'"));
            }
        }
    }

    /// The contents that an array can have.
    fn possible(&self, path: &str) -> Possible {
        let mut possible = Possible { whole: Vec::new(), partial: Vec::new(), absent: true };
        if let Some(made) = self.model.made.get(path) {
            possible.whole.push(*made);
            possible.absent = false;
        }
        for operation in self.pending {
            match operation {
                Operation::Put { path: own, number } if own == path => {
                    possible.partial.push(Made::Put(*number));
                }
                Operation::Import { path: own, number } if own == path => {
                    possible.whole.push(Made::Put(*number));
                }
                Operation::Rechunk { path: own, .. } if own == path => possible.partial.push(Made::Copy),
                Operation::Delete { path: own } if own == path => {}
                Operation::Move { from, .. } if from == path => {}
                Operation::Move { from, to } if to == path => {
                    possible.whole.extend(self.model.made.get(from).copied());
                }
                _ => continue,
            }
            possible.absent = true;
        }
        possible
    }

    /// Copies of the source: where a conversion or a copy was interrupted, there is no node, or a whole copy.
    fn copies(&mut self) {
        for place in &self.model.copies {
            let deleted = Operation::Discard { at: place.clone() };
            let copy = place.open().and_then(|at| {
                let checked = at.root().and_then(|root| world::check_copy(&root));
                checked.map_err(|error| error.to_string())
            });
            if let Err(message) = copy
                && !self.pending.contains(&deleted)
            {
                self.faults.add(Fault::Lost, format!("a converted copy: {message}"));
            }
        }
        for operation in self.pending {
            let (Operation::Convert { to, .. } | Operation::Copy { to, .. }) = operation else { continue };
            let Ok(root) = to.open().and_then(|at| at.root().map_err(|error| error.to_string())) else {
                continue;
            };
            if let Err(error) = world::check_copy(&root) {
                self.faults.add(Fault::Torn, format!("a copy that is not finished: {error}"));
            }
        }
    }
}

/// Writes those parts of a box that have arrived: in each stored object all of it, or nothing.
fn accept(expected: &mut Elements, start: &[u64], shape: &[u64], number: u64, found: &[u64]) {
    for part in expected.parts(start, shape) {
        let has_arrived = |at: &usize| found.get(*at) == Some(&element(number, *at as u64));
        if part.iter().all(has_arrived) {
            part.iter().for_each(|&at| expected.values[at] = element(number, at as u64));
        }
    }
}

/// The contents that an array that was made can have.
struct Possible {
    /// All of it.
    whole: Vec<Made>,
    /// Some chunks of it, and fill values otherwise.
    partial: Vec<Made>,
    absent: bool,
}

impl Possible {
    fn accept(&self, array: &Array) -> Result<(), String> {
        let values = array.read::<u64>(..).map_err(|error| error.to_string())?;
        let values: Vec<u64> = values.iter().copied().collect();
        let number = array.attributes().get(NUMBER).and_then(zarrox::json::Json::as_u64);
        if self.whole.iter().any(|made| is_made(*made, number, &values, false))
            || self.partial.iter().any(|made| is_made(*made, number, &values, true))
        {
            return Ok(());
        }
        let first = values.iter().map(|value| told(*value)).next().unwrap_or_default();
        Err(format!("operation {number:?} by its attributes, and {first} by its first element"))
    }
}

/// Returns true if an array has the attributes and the elements that it was made with; a partial one may lack elements.
fn is_made(made: Made, number: Option<u64>, values: &[u64], partial: bool) -> bool {
    let expected: Vec<u64> = match made {
        Made::Put(own) if number == Some(own) => (0..world::PUT_LENGTH).map(|at| element(own, at)).collect(),
        Made::Put(_) => return false,
        Made::Copy => world::original().iter().copied().collect(),
    };
    let is_right = |(expected, found): (&u64, &u64)| expected == found || (partial && *found == 0);
    values.len() == expected.len() && expected.iter().zip(values).all(is_right)
}

/// Blocks of rows that were appended.
pub(crate) struct Blocks<'a> {
    /// Those that must be there, and their rows.
    pub(crate) done: &'a BTreeMap<u64, u64>,
    /// Those that may be there.
    pub(crate) pending: &'a BTreeMap<u64, u64>,
    /// True where the array grows before the rows are written, so that rows of killed writers can be fill values.
    pub(crate) grows_first: bool,
}

impl Blocks<'_> {
    /// Checks that each block is there once, in one piece. Returns the pending ones that are there.
    pub(crate) fn check(&self, rows: &[Vec<u64>], faults: &mut Faults) -> BTreeSet<u64> {
        let mut seen = BTreeSet::new();
        let mut row = 0;
        while row < rows.len() {
            let number = rows[row].iter().map(|value| origin(*value).0).max().unwrap_or(0);
            if number == 0 {
                if !self.grows_first {
                    faults.add(Fault::Torn, format!("row {row} of '{LOG}' has fill values"));
                    return seen;
                }
                row += 1;
                continue;
            }
            let length = self.done.get(&number).or(self.pending.get(&number)).copied();
            let Some(length) = length.and_then(|length| usize::try_from(length).ok()) else {
                faults.add(
                    Fault::Torn,
                    format!("row {row} of '{LOG}' is of operation {number}, which is not expected"),
                );
                return seen;
            };
            let has_holes = self.grows_first && self.pending.contains_key(&number);
            let first = if has_holes { first_row(rows, row) } else { row };
            let end = first + length;
            if end > rows.len() || !is_block(&rows[first..end], number, has_holes) || !seen.insert(number) {
                let message =
                    format!("the block of operation {number} at row {row} of '{LOG}' is torn or there twice");
                faults.add(Fault::Torn, message);
                return seen;
            }
            row = end;
        }
        let lost: Vec<u64> = self.done.keys().filter(|number| !seen.contains(number)).copied().collect();
        if !lost.is_empty() {
            let message =
                format!("{} blocks are not in '{LOG}', the first of operation {}", lost.len(), lost[0]);
            faults.add(Fault::Lost, message);
        }
        seen.retain(|number| self.pending.contains_key(number));
        seen
    }
}

/// The row at which the block begins that has this row: its elements tell their position in it.
fn first_row(rows: &[Vec<u64>], row: usize) -> usize {
    let columns = rows[row].len().max(1);
    let position = rows[row].iter().find(|value| **value != 0).map_or(0, |value| origin(*value).1);
    row.saturating_sub(usize::try_from(position).unwrap_or(0) / columns)
}

/// Returns true if rows are a block as it was appended; with holes, if some are.
fn is_block(rows: &[Vec<u64>], number: u64, has_holes: bool) -> bool {
    let values = rows.iter().flatten().enumerate();
    values.into_iter().all(|(at, value)| *value == element(number, at as u64) || (has_holes && *value == 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(number: u64, rows: u64) -> Vec<Vec<u64>> {
        (0..rows).map(|row| (0..2).map(|column| element(number, row * 2 + column)).collect()).collect()
    }

    fn faults_of(rows: &[Vec<u64>], grows_first: bool) -> Vec<Fault> {
        let (done, pending) = (BTreeMap::from([(1, 2), (2, 1)]), BTreeMap::from([(3, 2)]));
        let mut faults = Faults::default();
        Blocks { done: &done, pending: &pending, grows_first }.check(rows, &mut faults);
        faults.list().iter().map(|(fault, _)| *fault).collect()
    }

    #[test]
    fn blocks_are_whole_and_there_once() {
        let all = [block(2, 1), block(1, 2)].concat();
        assert_eq!(faults_of(&all, false), []);
        assert_eq!(faults_of(&[all.clone(), block(3, 2)].concat(), false), []);
        assert_eq!(faults_of(&block(1, 2), false), [Fault::Lost]);
        assert_eq!(faults_of(&[all.clone(), block(2, 1)].concat(), false), [Fault::Torn]);
        assert_eq!(faults_of(&[all.clone(), block(4, 1)].concat(), false), [Fault::Torn]);
        assert_eq!(faults_of(&[all.clone(), block(3, 1)].concat(), false), [Fault::Torn]);
        let holes = [all, vec![vec![0, 0], block(3, 2)[1].clone()]].concat();
        assert_eq!(faults_of(&holes, false), [Fault::Torn]);
        assert_eq!(faults_of(&holes, true), []);
    }

    #[test]
    fn a_pending_write_is_whole_in_each_stored_object() {
        let before = Elements::new(&[8], &[4]);
        let found = |wrong: Option<usize>| -> Vec<u64> {
            (0..8).map(|at| if at < 4 && Some(at) != wrong { element(5, at as u64) } else { 0 }).collect()
        };
        for (wrong, arrived) in [(None, true), (Some(2), false)] {
            let mut expected = before.clone();
            accept(&mut expected, &[0], &[8], 5, &found(wrong));
            assert_eq!(expected.values == found(wrong), arrived);
        }
    }
}
