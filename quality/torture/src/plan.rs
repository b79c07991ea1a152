//! The plan of a round, which follows from a seed and the current state.
//!
//! Each process has its own elements, attributes and paths, in chunks, documents and groups that other processes change as well:
//! so the value of every element is known, whichever process was faster.

use std::time::Duration;

use fastrand::Rng;
use zarrox::Format;

use crate::job::{Hand, Layout, Operation, Worker};
use crate::model::Model;
use crate::place::Place;
use crate::process::Death;
use crate::round::Rights;
use crate::world::{self, ARENA, CHUNK, DAMAGED, LOG, NOTES, PULSE, SIDE};

/// The operations of a process in a round.
const OPERATIONS: usize = 12;

/// The generator of the lists of processes.
pub(crate) struct Planner<'a> {
    rng: &'a mut Rng,
    /// The number of the last operation that writes elements.
    number: &'a mut u64,
    worker: Worker,
    rights: Rights,
    /// The hierarchy before the next operation of the process, as far as it belongs to the process.
    model: Model,
    /// The location of a converted copy.
    copy: Place,
}

impl<'a> Planner<'a> {
    pub(crate) fn new(
        rng: &'a mut Rng,
        number: &'a mut u64,
        (worker, rights): (Worker, Rights),
        model: &Model,
        copy: Place,
    ) -> Self {
        let mut model = model.clone();
        // The nodes of other processes are ignored.
        model.made.retain(|path, _| path.starts_with(&own_group(worker)));
        model.copies.retain(|place| *place == copy);
        Self { rng, number, worker, rights, model, copy }
    }

    /// Returns a list of operations.
    pub(crate) fn hand(mut self) -> Hand {
        let mut operations = Vec::new();
        while operations.len() < OPERATIONS {
            if let Some(operation) = self.operation() {
                self.model.apply(&operation);
                operations.push(operation);
            }
        }
        if self.rights.mends {
            operations.insert(self.rng.usize(0..operations.len()), Operation::Repair);
        }
        if self.rights.converts {
            // The conversion is early in the list, so that it meets writers and is likely to be killed.
            operations.insert(self.rng.usize(0..3), Operation::Upgrade);
        }
        Hand { operations }
    }

    /// Returns an operation; `None` if it has nothing to work on.
    fn operation(&mut self) -> Option<Operation> {
        if self.rights.changes && self.rng.u32(0..4) == 0 {
            return Some(self.change());
        }
        let most = if self.rights.makes { 100 } else { 67 };
        match self.rng.u32(0..most) {
            0..34 => Some(self.write()),
            34..40 => Some(self.erase()),
            40..52 => Some(Operation::Append {
                array: LOG.to_owned(),
                rows: self.rng.u64(1..5),
                number: self.next(),
            }),
            52..60 => self.resize_or_write_pulse(),
            60..67 => Some(self.set_attribute()),
            67..71 => Some(Operation::Import { path: self.free_path()?, number: self.next() }),
            71..75 => Some(Operation::Put { path: self.new_path(), number: self.next() }),
            75..80 => Some(Operation::Move { from: self.own_path()?, to: self.free_path()? }),
            80..85 => Some(Operation::Delete { path: self.own_path()? }),
            85..88 => Some(Operation::Require { path: format!("shared/{}", self.rng.u32(0..9)) }),
            88..90 => Some(Operation::Consolidate),
            90 if self.rights.repairs => Some(Operation::Repair),
            90..94 => {
                let chunks = vec![self.rng.u64(1..7), self.rng.u64(1..9)];
                Some(Operation::Rechunk { path: self.new_path(), chunks })
            }
            _ => Some(self.convert()),
        }
    }

    fn next(&mut self) -> u64 {
        *self.number += 1;
        *self.number
    }

    fn board(&mut self) -> String {
        let is_board = |path: &&String| match path.as_str() {
            PULSE | DAMAGED => false,
            path => path != ARENA[0] || self.rights.arena,
        };
        let boards: Vec<&String> = self.model.arrays.keys().filter(is_board).collect();
        // The thread that changes the arena writes into it as well.
        match self.rights.changes && self.rng.bool() {
            true => ARENA[0].to_owned(),
            false => boards[self.rng.usize(0..boards.len())].clone(),
        }
    }

    /// Moves, replaces or rechunks the arena, or rechunks the log.
    fn change(&mut self) -> Operation {
        let at = self.model.arena.clone();
        let other = if at == ARENA[0] { ARENA[1] } else { ARENA[0] };
        let compressed = self.rng.bool();
        match self.rng.u32(0..10) {
            0..2 => Operation::Move { from: at, to: other.to_owned() },
            2..4 => Operation::Recreate { at, by: self.worker },
            4..6 if self.rights.changes_log => {
                let chunks = vec![self.rng.u64(1..9), self.rng.u64(1..=world::COLUMNS)];
                Operation::Reshape { array: LOG.to_owned(), chunks, shards: None, compressed }
            }
            // Only v3 has shards.
            6..8 if self.model.format == Format::V3 => {
                let chunks = [self.rng.u64(2..6), self.rng.u64(2..6)];
                let shards = chunks.map(|length| length * self.rng.u64(1..4));
                Operation::Reshape {
                    array: at,
                    chunks: chunks.to_vec(),
                    shards: Some(shards.to_vec()),
                    compressed,
                }
            }
            _ => {
                let chunks = vec![self.rng.u64(3..13), self.rng.u64(3..13)];
                Operation::Reshape { array: at, chunks, shards: None, compressed }
            }
        }
    }

    /// Writes a chunk, a part of one, or parts of several.
    fn write(&mut self) -> Operation {
        if self.model.arrays.contains_key(DAMAGED) && self.worker.index < 2 && self.rng.u32(0..8) == 0 {
            // This worker's column of the intact part of the damaged array.
            let start = vec![self.rng.u64(0..world::DAMAGED_SHAPE[0]), self.worker.index];
            return Operation::Write {
                array: DAMAGED.to_owned(),
                start,
                shape: vec![1; 2],
                number: self.next(),
            };
        }
        let (array, number) = (self.board(), self.next());
        let (start, shape) = match self.worker.of {
            1 if self.rng.bool() => self.any_box(),
            _ => self.own_box(),
        };
        Operation::Write { array, start, shape, number }
    }

    fn erase(&mut self) -> Operation {
        let (start, shape) = self.own_box();
        Operation::Write { array: self.board(), start, shape, number: 0 }
    }

    /// Returns a random box of a board.
    fn any_box(&mut self) -> (Vec<u64>, Vec<u64>) {
        let start = [self.rng.u64(0..SIDE), self.rng.u64(0..SIDE)];
        let shape = start.map(|start| self.rng.u64(1..=SIDE - start));
        (start.to_vec(), shape.to_vec())
    }

    /// Returns a box of elements that belong to this worker: in a chunk of its own, or in its quarter of one.
    fn own_box(&mut self) -> (Vec<u64>, Vec<u64>) {
        let (chunk, side) = loop {
            let chunk = [self.rng.u64(0..SIDE / CHUNK), self.rng.u64(0..SIDE / CHUNK)];
            let corner = chunk.map(|index| index * CHUNK);
            let order = chunk[0] * (SIDE / CHUNK) + chunk[1];
            if order.is_multiple_of(2) && self.worker.owns(corner) {
                break (corner, CHUNK);
            }
            let half = CHUNK / 2;
            let quarter = [corner[0] + self.rng.u64(0..2) * half, corner[1] + self.rng.u64(0..2) * half];
            if order % 2 == 1 && self.worker.owns(quarter) {
                break (quarter, half);
            }
        };
        if self.rng.bool() {
            return (chunk.to_vec(), vec![side; 2]);
        }
        let start = [self.rng.u64(0..side), self.rng.u64(0..side)];
        let shape = start.map(|start| self.rng.u64(1..=side - start));
        (vec![chunk[0] + start[0], chunk[1] + start[1]], shape.to_vec())
    }

    /// Changes the shape of an array that only one process changes, since the elements outside would be unknown otherwise.
    fn resize_or_write_pulse(&mut self) -> Option<Operation> {
        if self.worker.index != 0 {
            return None;
        }
        let length = self.model.arrays[PULSE].shape[0];
        if length == 0 || self.rng.bool() {
            return Some(Operation::Resize { array: PULSE.to_owned(), length: self.rng.u64(0..=40) });
        }
        let start = self.rng.u64(0..length);
        let shape = vec![self.rng.u64(1..=length - start)];
        Some(Operation::Write { array: PULSE.to_owned(), start: vec![start], shape, number: self.next() })
    }

    fn set_attribute(&mut self) -> Operation {
        let name = format!("{}-{}", self.worker.index, self.rng.u32(0..4));
        Operation::SetAttribute { node: NOTES.to_owned(), name, number: self.next() }
    }

    /// Returns one of the few paths at which this process creates arrays, whether it is in use or not.
    fn new_path(&mut self) -> String {
        format!("{}/{}", own_group(self.worker), self.rng.u32(0..4))
    }

    fn own_path(&mut self) -> Option<String> {
        let paths: Vec<&String> = self.model.made.keys().collect();
        let path = paths.get(self.rng.usize(0..paths.len().max(1)))?;
        Some((*path).clone())
    }

    fn free_path(&mut self) -> Option<String> {
        let path = self.new_path();
        (!self.model.made.contains_key(&path)).then_some(path)
    }

    /// Copies the source, in one of several ways.
    fn copy(&mut self, format: String) -> Operation {
        let to = self.copy.clone();
        // Only v3 has shards.
        match self.rng.u32(0..if format == "v3" { 6 } else { 5 }) {
            0 => Operation::Convert { to, format },
            1 => Operation::Copy { to, format, layout: Layout::Same },
            2 => {
                let chunks = vec![self.rng.u64(1..7), self.rng.u64(1..9)];
                Operation::Copy { to, format, layout: Layout::Chunks(chunks) }
            }
            3 => Operation::Copy { to, format, layout: Layout::Hdf5 },
            4 => Operation::Copy { to, format, layout: Layout::Pyramid },
            _ => {
                let [rows, columns] = world::ORIGINAL_CHUNKS;
                let shards = vec![rows * self.rng.u64(1..4), columns * self.rng.u64(1..4)];
                Operation::Copy { to, format, layout: Layout::Shards(shards) }
            }
        }
    }

    /// Makes a copy in the other format, converts it in place, and deletes it.
    fn convert(&mut self) -> Operation {
        let own = self.model.format.to_string();
        let other = if own == "v2" { "v3" } else { "v2" }.to_owned();
        if !self.model.copies.contains(&self.copy) {
            return self.copy(other);
        }
        // The chunks of a v3 array that was never v2 have keys that v2 does not support.
        match self.rng.u32(if own == "v2" || self.model.upgraded { 2..3 } else { 0..3 }) {
            0 => Operation::ConvertInPlace { at: self.copy.clone(), format: own },
            1 => Operation::ConvertInPlace { at: self.copy.clone(), format: other },
            _ => Operation::Discard { at: self.copy.clone() },
        }
    }
}

fn own_group(worker: Worker) -> String {
    format!("made/{}", worker.index)
}

/// Returns the moment of a process's death. Short and long times are equally likely: most operations are short.
pub(crate) fn death(rng: &mut Rng, remote: bool, hands: usize) -> Death {
    let longest = if remote { 17 } else { 14 };
    let power = rng.u32(3..longest);
    let micros = rng.u64(1 << power..2 << power);
    Death {
        hand: rng.usize(0..hands),
        operation: rng.usize(0..OPERATIONS),
        after: Duration::from_micros(micros),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn hands(seed: u64, of: u64) -> Vec<Hand> {
        let (mut rng, mut number) = (Rng::with_seed(seed), 1);
        let model = Model::new(Format::V3);
        let copy = Place { url: "copy".to_owned(), options: BTreeMap::new(), scratch: "scratch".into() };
        let rights = Rights {
            changes: true,
            changes_log: true,
            arena: true,
            makes: true,
            repairs: true,
            ..Rights::default()
        };
        let workers = (0..of).map(|index| (Worker { index, of }, rights));
        workers
            .map(|worker| Planner::new(&mut rng, &mut number, worker, &model, copy.clone()).hand())
            .collect()
    }

    #[test]
    fn the_plan_follows_from_the_seed() {
        let operations =
            |seed| hands(seed, 3).into_iter().flat_map(|hand| hand.operations).collect::<Vec<_>>();
        assert_eq!(operations(5), operations(5));
        assert_ne!(operations(5), operations(6));
    }

    #[test]
    fn no_element_belongs_to_two_processes() {
        let mut owner = BTreeMap::new();
        for seed in 0..200 {
            for (process, hand) in hands(seed, 3).into_iter().enumerate() {
                for operation in hand.operations {
                    let Operation::Write { array, start, shape, .. } = operation else { continue };
                    let elements = Model::new(Format::V3).arrays.remove(&array).unwrap();
                    for at in elements.parts(&start, &shape).into_iter().flatten() {
                        if elements.shape == [SIDE; 2] {
                            let (at, side) = (at as u64, SIDE);
                            let worker = Worker { index: process as u64, of: 3 };
                            assert!(worker.owns([at / side, at % side]), "{array} {at}");
                        }
                        let first = *owner.entry((array.clone(), at)).or_insert(process);
                        assert_eq!(first, process, "{array} {at}");
                    }
                }
            }
        }
        assert!(owner.len() > 1000, "{}", owner.len());
    }
}
