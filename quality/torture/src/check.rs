//! The check of a hierarchy against its model.

use std::collections::{BTreeMap, BTreeSet};

use ndarray::{ArrayD, Axis, s};
use zarrox::{Array, Consolidated, Group, Node, OpenMode, OpenOptions};
use zarrox_tools::check::{Check, Finding, Repair, Severity};

use crate::element::{describe, element, origin};
use crate::fault::{Fault, Faults};
use crate::job::Operation;
use crate::model::{Created, Elements, Model};
use crate::place::Opened;
use crate::world::{self, ARENA, DAMAGED, LOG, NOTES, NUMBER, PULSE, SWEPT};

/// The state of a hierarchy where the model allows several.
#[derive(Debug, Default)]
pub(crate) struct Observed {
    /// The numbers of the pending appends that are complete.
    pub(crate) arrived: BTreeSet<u64>,
    /// The rows of fill values in the array that grows by appending.
    pub(crate) holes: usize,
    /// The elements of the arena, if it could be read.
    pub(crate) arena: Option<Vec<u64>>,
}

/// Compares a hierarchy with the model. The pending operations were interrupted: each stored object may be in its state before or
/// after.
pub(crate) fn check(at: &Opened, model: &Model, pending: &[Operation], faults: &mut Faults) -> Observed {
    // The copies of metadata documents are checked separately.
    let options = OpenOptions::new().mode(OpenMode::Read).consolidated(Consolidated::Never);
    let root = match at.open_with(&options) {
        Ok(root) => root,
        Err(error) => {
            faults.add(Fault::Unreadable, format!("the root: {error}"));
            return Observed::default();
        }
    };
    let mut judge = Judge { root, model, pending, faults, at, seen: Observed::default() };
    judge.nodes();
    judge.boards();
    judge.notes();
    judge.groups();
    judge.copies();
    judge.log();
    judge.seen
}

struct Judge<'a> {
    root: Group,
    model: &'a Model,
    pending: &'a [Operation],
    faults: &'a mut Faults,
    at: &'a Opened,
    seen: Observed,
}

impl Judge<'_> {
    fn array(&mut self, path: &str) -> Option<Array> {
        let array = self.root.open(path).and_then(Node::into_array);
        array.map_err(|error| self.faults.add(Fault::Unreadable, format!("'{path}': {error}"))).ok()
    }

    fn values(&mut self, path: &str, array: &Array) -> Option<Vec<u64>> {
        let values = array.read::<ArrayD<u64>>(..).map(|values| values.iter().copied().collect());
        values.map_err(|error| self.faults.add(Fault::Unreadable, format!("'{path}': {error}"))).ok()
    }

    /// Checks the arrays that are written by boxes.
    fn boards(&mut self) {
        for path in self.model.arrays.keys() {
            if path == ARENA[0] {
                self.arena();
            } else {
                self.board(path, path);
            }
        }
    }

    /// Checks that the array that is moved and replaced is at a possible path. While it is replaced in a store that cannot
    /// exchange nodes, it may be missing.
    fn arena(&mut self) {
        let structural = self.pending.iter().filter(|operation| operation.is_structural());
        let (mut may_be_gone, mut places) = (false, BTreeSet::from([&*self.model.arena]));
        for operation in structural {
            match operation {
                Operation::Move { from, to } => places.extend([&**from, &**to]),
                Operation::Recreate { .. } => may_be_gone = true,
                Operation::Reshape { array, .. } if world::known_as(array) == ARENA[0] => {
                    may_be_gone |= !self.at.exchanges();
                }
                _ => {}
            }
        }
        let mut is_there = false;
        for place in ARENA {
            match self.root.contains(place) {
                Ok(false) => {}
                Ok(true) if places.contains(place) => {
                    is_there = true;
                    self.seen.arena = self.board(ARENA[0], place);
                }
                Ok(true) => self.faults.add(Fault::Stale, format!("the arena is also at '{place}'")),
                Err(error) => self.faults.add(Fault::Unreadable, format!("'{place}': {error}")),
            }
        }
        if !is_there && !may_be_gone {
            self.faults.add(Fault::Lost, "the arena is missing".to_owned());
        }
    }

    /// Compares an array that is written by boxes, and may have been moved. Returns its elements if they could be read.
    fn board(&mut self, path: &str, place: &str) -> Option<Vec<u64>> {
        let array = self.array(place)?;
        let mut expected = self.shaped(path, &self.model.arrays[path], &array)?;
        let found = match path == DAMAGED {
            true => self.whole_part(&array, &expected)?,
            false => self.values(path, &array)?,
        };
        for operation in self.pending {
            match operation {
                Operation::Reshape { array, chunks, shards, .. } if world::known_as(array) == path => {
                    expected.chunks.push(shards.as_ref().unwrap_or(chunks).clone());
                }
                Operation::Recreate { .. } if path == ARENA[0] => {
                    expected.unsure.extend(0..expected.values.len());
                }
                _ => {}
            }
        }
        for operation in self.pending {
            if let Operation::Write { array, start, shape, number } = operation
                && array == path
            {
                accept(&mut expected, start, shape, *number, &found);
            }
        }
        for &at in expected.unsure.iter().filter(|at| found[**at] == 0) {
            expected.values[at] = 0;
        }
        self.compare(path, &expected.values, &found);
        Some(found)
    }

    /// Returns the elements of the damaged array. The damaged elements may be lost, or unreadable; then the expected elements are
    /// returned.
    fn whole_part(&mut self, array: &Array, expected: &Elements) -> Option<Vec<u64>> {
        let [rows, columns] = world::DAMAGED_SHAPE;
        let left = array.read::<ArrayD<u64>>(crate::element::selection(&[0, 0], &[rows, columns / 2]));
        let left = left.map_err(|error| self.faults.add(Fault::Unreadable, format!("'{DAMAGED}': {error}")));
        let mut found =
            ArrayD::from_shape_vec(crate::element::lengths(&world::DAMAGED_SHAPE), expected.values.clone())
                .ok()?;
        found.slice_mut(s![.., ..left.as_ref().ok()?.shape()[1]]).assign(&left.ok()?);
        Some(found.into_iter().collect())
    }

    /// Returns the array before its pending writes, in the stored shape.
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
        let (expected, found) = (describe(expected[first]), describe(found[first]));
        let message = format!(
            "'{path}': {} elements, the first at {first}: {found} instead of {expected}",
            wrong.len()
        );
        self.faults.add(fault, message);
    }

    /// Checks the appended blocks, and records the pending appends that are complete.
    fn log(&mut self) {
        let is_replaced =
            |operation: &Operation| matches!(operation, Operation::Reshape { array, .. } if array == LOG);
        if !self.at.exchanges()
            && self.pending.iter().any(is_replaced)
            && self.root.contains(LOG).is_ok_and(|is_there| !is_there)
        {
            return;
        }
        let Some(array) = self.array(LOG) else { return };
        let Ok(values) = array
            .read::<ArrayD<u64>>(..)
            .map_err(|error| self.faults.add(Fault::Unreadable, error.to_string()))
        else {
            return;
        };
        let rows: Vec<Vec<u64>> =
            values.axis_iter(Axis(0)).map(|row| row.iter().copied().collect()).collect();
        let mut pending = BTreeMap::new();
        for operation in self.pending {
            if let Operation::Append { rows, number, .. } = operation {
                pending.insert(*number, *rows);
            }
        }
        let interrupted: u64 = if self.at.reserves() { pending.values().sum() } else { 0 };
        // Rows of a killed append remain if only a part of them fits repeated appends. The next append that fits uses them.
        let free = array.unwritten_rows().unwrap_or_default().into_iter().filter(|rows| rows.is_cleared);
        let free: u64 = free.map(|rows| rows.end - rows.start).sum();
        let most_holes = self.model.holes.max(usize::try_from(free).unwrap_or(0))
            + usize::try_from(interrupted).unwrap_or(0);
        let blocks = Blocks { array: LOG, done: &self.model.blocks, pending: &pending, most_holes };
        (self.seen.arrived, self.seen.holes) = blocks.check(&rows, self.faults);
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
            self.faults.add(Fault::Torn, format!("unexpected attributes: {}", unknown.join(", ")));
        }
    }

    fn groups(&mut self) {
        for path in &self.model.groups {
            if let Err(error) = self.root.open(path).and_then(Node::into_group) {
                self.faults.add(Fault::Lost, format!("the group '{path}': {error}"));
            }
        }
    }

    /// Checks that all nodes can be opened, and that created nodes are unchanged.
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
                    self.faults.add(Fault::Lost, format!("the array '{path}' is missing"));
                }
                continue;
            };
            if let Err(message) = possible.accept(array) {
                self.faults.add(Fault::Torn, format!("the array '{path}': {message}"));
            }
        }
        self.moves(&found);
    }

    /// Checks that a node whose move was interrupted is at one of its two paths at least.
    fn moves(&mut self, found: &BTreeMap<String, Array>) {
        for operation in self.pending {
            if let Operation::Move { from, to } = operation
                && !operation.is_structural()
                && !found.contains_key(from)
                && !found.contains_key(to)
            {
                self.faults.add(Fault::Lost, format!("the array is neither at '{from}' nor at '{to}'"));
            }
        }
    }

    /// Returns the contents that an array can have.
    fn possible(&self, path: &str) -> Possible {
        let mut possible = Possible { whole: Vec::new(), partial: Vec::new(), absent: true };
        if let Some(made) = self.model.made.get(path) {
            possible.whole.push(*made);
            possible.absent = false;
        }
        for operation in self.pending {
            match operation {
                Operation::Put { path: own, number } if own == path => {
                    possible.partial.push(Created::Put(*number));
                }
                Operation::Import { path: own, number } if own == path => {
                    possible.whole.push(Created::Put(*number));
                }
                Operation::Rechunk { path: own, .. } if own == path => possible.partial.push(Created::Copy),
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

    /// Checks copies of the source: after an interrupted conversion or copy, the node is missing, or a complete copy.
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

/// Checks a whole hierarchy, and repairs it. Returns the findings above the severity of notes.
pub(crate) fn checked(at: &Opened, repair: Option<Repair>) -> zarrox::Result<Vec<Finding>> {
    run(Check::open_with(&OpenOptions::new(), (at.store.clone(), &at.path))?, repair)
}

/// Runs a check, with a repair. Returns the findings above the severity of notes.
pub(crate) fn run(check: Check, repair: Option<Repair>) -> zarrox::Result<Vec<Finding>> {
    let check = match repair {
        Some(repair) => check.repair(repair),
        None => check,
    };
    let mut found = Vec::new();
    check.run(|finding| {
        found.push(finding);
        Ok(())
    })?;
    found.retain(|finding| finding.severity() != Severity::Note);
    Ok(found)
}

/// Writes the completed parts of a box. In each stored object, the write is complete or has not happened.
fn accept(expected: &mut Elements, start: &[u64], shape: &[u64], number: u64, found: &[u64]) {
    for part in expected.parts(start, shape) {
        let has_arrived = |at: &usize| found.get(*at) == Some(&element(number, *at as u64));
        if part.iter().all(has_arrived) {
            part.iter().for_each(|&at| expected.values[at] = element(number, at as u64));
        }
    }
}

/// The possible contents of a created array.
struct Possible {
    /// Complete arrays.
    whole: Vec<Created>,
    /// Some chunks of the array, and fill values otherwise.
    partial: Vec<Created>,
    absent: bool,
}

impl Possible {
    fn accept(&self, array: &Array) -> Result<(), String> {
        let values = array.read::<ArrayD<u64>>(..).map_err(|error| error.to_string())?;
        let values: Vec<u64> = values.iter().copied().collect();
        let number = array.attributes().get(NUMBER).and_then(zarrox::json::Json::as_u64);
        if self.whole.iter().any(|made| is_created(*made, number, &values, false))
            || self.partial.iter().any(|made| is_created(*made, number, &values, true))
        {
            return Ok(());
        }
        let first = values.iter().map(|value| describe(*value)).next().unwrap_or_default();
        Err(format!("operation {number:?} by its attributes, and {first} by its first element"))
    }
}

/// Returns true if an array has the attributes and the elements of its creation; a partial array may lack elements.
fn is_created(made: Created, number: Option<u64>, values: &[u64], partial: bool) -> bool {
    let expected: Vec<u64> = match made {
        Created::Put(own) if number == Some(own) => {
            (0..world::PUT_LENGTH).map(|at| element(own, at)).collect()
        }
        Created::Put(_) => return false,
        Created::Copy => world::original().iter().copied().collect(),
    };
    let is_right = |(expected, found): (&u64, &u64)| expected == found || (partial && *found == 0);
    values.len() == expected.len() && expected.iter().zip(values).all(is_right)
}

/// Blocks of appended rows.
pub(crate) struct Blocks<'a> {
    /// The name of the array in messages.
    pub(crate) array: &'a str,
    /// The blocks that must exist, and their rows.
    pub(crate) done: &'a BTreeMap<u64, u64>,
    /// The blocks that may exist.
    pub(crate) pending: &'a BTreeMap<u64, u64>,
    /// The largest number of rows of fill values. A writer that is killed after a later writer has finished leaves the rows that
    /// it reserved.
    pub(crate) most_holes: usize,
}

impl Blocks<'_> {
    /// Checks that each block exists once, in one piece. Returns the pending blocks that exist, and the number of rows of fill
    /// values.
    pub(crate) fn check(&self, rows: &[Vec<u64>], faults: &mut Faults) -> (BTreeSet<u64>, usize) {
        let array = self.array;
        let holes = rows.iter().filter(|row| is_hole(row)).count();
        if holes > self.most_holes {
            let message = format!(
                "{holes} rows of '{array}' have fill values, more than the limit of {}",
                self.most_holes
            );
            faults.add(Fault::Torn, message);
        }
        // The append of the last rows stores the shape.
        if rows.last().is_some_and(|row| is_hole(row)) {
            faults.add(Fault::Torn, format!("the last row of '{array}' has fill values"));
        }
        (self.check_blocks(rows, faults), holes)
    }

    fn check_blocks(&self, rows: &[Vec<u64>], faults: &mut Faults) -> BTreeSet<u64> {
        let (array, mut seen) = (self.array, BTreeSet::new());
        let mut row = 0;
        while row < rows.len() {
            let number = rows[row].iter().map(|value| origin(*value).0).max().unwrap_or(0);
            if number == 0 {
                row += 1;
                continue;
            }
            let length = self.done.get(&number).or(self.pending.get(&number)).copied();
            let Some(length) = length.and_then(|length| usize::try_from(length).ok()) else {
                faults.add(
                    Fault::Torn,
                    format!("row {row} of '{array}' belongs to the unexpected operation {number}"),
                );
                return seen;
            };
            let has_holes = self.most_holes > 0 && self.pending.contains_key(&number);
            let first = if has_holes { first_row(rows, row) } else { row };
            let end = first + length;
            if end > rows.len() || !is_block(&rows[first..end], number, has_holes) || !seen.insert(number) {
                let message = format!(
                    "the block of operation {number} at row {row} of '{array}' is torn or duplicated"
                );
                faults.add(Fault::Torn, message);
                return seen;
            }
            row = end;
        }
        let lost: Vec<u64> = self.done.keys().filter(|number| !seen.contains(number)).copied().collect();
        if !lost.is_empty() {
            let message =
                format!("{} blocks are missing in '{array}', the first of operation {}", lost.len(), lost[0]);
            faults.add(Fault::Lost, message);
        }
        seen.retain(|number| self.pending.contains_key(number));
        seen
    }
}

fn is_hole(row: &[u64]) -> bool {
    row.iter().all(|value| *value == 0)
}

/// Returns the row at which the block of a row begins. The elements contain their position in the block.
fn first_row(rows: &[Vec<u64>], row: usize) -> usize {
    let columns = rows[row].len().max(1);
    let position = rows[row].iter().find(|value| **value != 0).map_or(0, |value| origin(*value).1);
    row.saturating_sub(usize::try_from(position).unwrap_or(0) / columns)
}

/// Returns true if rows are a block as it was appended. With `has_holes`, some elements may be fill values instead.
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

    fn faults_of(rows: &[Vec<u64>], most_holes: usize) -> Vec<Fault> {
        let (done, pending) = (BTreeMap::from([(1, 2), (2, 1)]), BTreeMap::from([(3, 2)]));
        let mut faults = Faults::default();
        Blocks { array: LOG, done: &done, pending: &pending, most_holes }.check(rows, &mut faults);
        faults.list().iter().map(|(fault, _)| *fault).collect()
    }

    #[test]
    fn blocks_are_whole_and_there_once() {
        let all = [block(2, 1), block(1, 2)].concat();
        assert_eq!(faults_of(&all, 0), []);
        assert_eq!(faults_of(&[all.clone(), block(3, 2)].concat(), 0), []);
        assert_eq!(faults_of(&block(1, 2), 0), [Fault::Lost]);
        assert_eq!(faults_of(&[all.clone(), block(2, 1)].concat(), 0), [Fault::Torn]);
        assert_eq!(faults_of(&[all.clone(), block(4, 1)].concat(), 0), [Fault::Torn]);
        assert_eq!(faults_of(&[all.clone(), block(3, 1)].concat(), 0), [Fault::Torn]);
        let holes = [all, vec![vec![0, 0], block(3, 2)[1].clone()]].concat();
        assert_eq!(faults_of(&holes, 0), [Fault::Torn; 2]);
        assert_eq!(faults_of(&holes, 1), []);
    }

    #[test]
    fn rows_of_fill_values_are_counted() {
        let holes = vec![vec![0, 0]; 2];
        let between = [block(2, 1), holes.clone(), block(1, 2)].concat();
        assert_eq!(faults_of(&between, 1), [Fault::Torn]);
        assert_eq!(faults_of(&between, 2), []);
        assert_eq!(faults_of(&[block(2, 1), block(1, 2), holes].concat(), 2), [Fault::Torn], "at the end");
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
