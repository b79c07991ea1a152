//! The acts of a task: [`Actor`].

use ndarray::ArrayD;
use std::collections::BTreeMap;
use std::sync::Arc;

use zarrox::internals::GrownArray;
use zarrox::stores::Store;
use zarrox::stores::internals::NamedStore;
use zarrox::{Array, Error, ErrorKind, Format, Group, Result};
use zarrox_images::pyramid::{Downsample, Pyramid, Reduction};
use zarrox_testkit::simulation::{SimStore, Stage};
use zarrox_tools::Copier;
use zarrox_tools::check::{Check, Repair};

use crate::element::{elements, origin, selection};
use crate::world::{self, LOG, NOTES, of_numbers};

use super::plan::Act;
use super::world::{
    BOARD, DAMAGED, DAMAGED_SHAPE, DATASET, MOVED, PULSE, PULSE_LENGTH, SHAPE, SOURCE, VARIABLES, World,
    options,
};

/// The attempts to write to an array that is moved or rechunked in the meantime: each opens it again.
const ATTEMPTS: usize = 3;

/// The stores of a process.
pub(super) struct Machine {
    pub(super) stores: [Arc<dyn Store>; 2],
    names: [NamedStore; 2],
}

impl Machine {
    /// Opens the stores as a process does.
    pub(super) fn new(stage: &Stage, process: usize) -> Self {
        let stores = [0, 1].map(|disk| Arc::new(SimStore::new(stage, disk, process)) as Arc<dyn Store>);
        let names = [0, 1].map(|disk: usize| {
            let name = stores[disk].location().replace("sim://", "");
            NamedStore::new(format!("{name}-{process}"), stores[disk].clone())
        });
        Self { stores, names }
    }

    pub(super) fn root(&self) -> Result<Group> {
        options().open((self.stores[0].clone(), ""))?.into_group()
    }

    /// Opens the board, at any of its paths.
    pub(super) fn board(&self) -> Result<Array> {
        let mut first = None;
        for (store, path) in [(0, BOARD), (0, MOVED), (1, MOVED)] {
            match options().open((self.stores[store].clone(), path)) {
                Ok(node) => return node.into_array(),
                Err(error) if error.kind() == ErrorKind::NotFound => drop(first.get_or_insert(error)),
                Err(error) => return Err(error),
            }
        }
        Err(first.unwrap_or_else(|| Error::new(ErrorKind::NotFound, "the board is missing")))
    }
}

/// A task with its handles.
pub(super) struct Actor {
    machine: Arc<Machine>,
    world: World,
    task: u64,
    /// Handles that stay open, so that their state becomes stale.
    arrays: BTreeMap<&'static str, Array>,
    board: Option<Array>,
    /// True if an earlier process may have done the act.
    again: bool,
}

impl Actor {
    pub(super) fn new(machine: Arc<Machine>, world: World, task: u64, again: bool) -> Self {
        Self { machine, world, task, arrays: BTreeMap::new(), board: None, again }
    }

    /// Does an act. Returns the elements that the act has read, if it reads.
    pub(super) fn act(&mut self, act: Act) -> Result<Option<Vec<u64>>> {
        match act {
            Act::Write { start, shape, number } => self.write_board(start, shape, number)?,
            Act::Mend { at, number } => {
                let values = elements(number, &at, &[1, 1], &DAMAGED_SHAPE);
                self.array(DAMAGED)?.write(selection(&at, &[1, 1]), &values)?;
            }
            Act::Read => {
                self.board = None;
                return self.read().map(Some);
            }
            Act::ReadAgain => return self.read().map(Some),
            Act::Append { rows, number } => {
                let values = elements(number, &[0, 0], &[rows, 2], &[rows, 2]);
                self.array(LOG)?.append(&values, 0)?;
            }
            Act::Grow { rows, number } => self.grow(rows, number)?,
            Act::Resize { length } => self.array(PULSE)?.resize([length])?,
            Act::Pulse { chunk, number } => self.pulse(chunk, number)?,
            Act::Attribute { number } => {
                let name = format!("of-{}", self.task);
                let mut node = self.machine.root()?.open(NOTES)?;
                node.update_attributes(|attributes| drop(attributes.insert(name.clone(), number.into())))?;
            }
            Act::Create { number } => {
                let array = of_numbers(self.machine.root()?.create_array(self.own())).shape([4]).chunks([2]);
                let attributes = [(world::NUMBER, number)];
                let array = array.attributes(attributes).overwrite(true).create()?;
                array.write(.., elements(number, &[0], &[4], &[4]))?;
            }
            Act::Remove => missing_is_done(self.machine.root()?.delete(self.own()))?,
            Act::Copy => self.copy()?,
            Act::Downsample => self.downsample()?,
            Act::Consolidate => self.machine.root()?.consolidate_metadata()?,
            Act::Repair => {
                let check = Check::open_with(&options(), (self.machine.stores[0].clone(), ""))?;
                check.repair(Repair::default()).run(|_| Ok(()))?;
            }
            act => self.structural(act)?,
        }
        Ok(None)
    }

    fn array(&mut self, path: &'static str) -> Result<&mut Array> {
        if !self.arrays.contains_key(path) {
            self.arrays.insert(path, self.machine.root()?.open(path)?.into_array()?);
        }
        self.arrays.get_mut(path).ok_or_else(|| Error::new(ErrorKind::NotFound, path))
    }

    fn board(&mut self) -> Result<&Array> {
        if self.board.is_none() {
            self.board = Some(self.machine.board()?);
        }
        self.board.as_ref().ok_or_else(|| Error::new(ErrorKind::NotFound, BOARD))
    }

    fn write_board(&mut self, start: [u64; 2], shape: [u64; 2], number: u64) -> Result<()> {
        let values = elements(number, &start, &shape, &SHAPE);
        let mut written = Ok(());
        for _ in 0..ATTEMPTS {
            written = self.board().and_then(|board| board.write(selection(&start, &shape), &values));
            match &written {
                Err(error) if matches!(error.kind(), ErrorKind::Conflict | ErrorKind::NotFound) => {
                    self.board = None;
                }
                _ => return written,
            }
        }
        written
    }

    fn read(&mut self) -> Result<Vec<u64>> {
        Ok(self.board()?.read::<ArrayD<u64>>(..)?.iter().copied().collect())
    }

    fn pulse(&mut self, chunk: u64, number: u64) -> Result<()> {
        let array = self.array(PULSE)?;
        let (length, start) = (array.shape()[0], chunk * PULSE_LENGTH.1);
        if start >= length {
            return Ok(());
        }
        let count = PULSE_LENGTH.1.min(length - start);
        let values = elements(number, &[start], &[count], &[length]);
        array.write(selection(&[start], &[count]), &values)
    }

    /// Appends rows to all arrays of the dataset. If an earlier process may have appended the rows, looks for them first.
    fn grow(&self, rows: u64, number: u64) -> Result<()> {
        let group = self.machine.root()?.open_group(DATASET)?;
        group.grow_with(
            || Ok(()),
            |growth| {
                let open = |name: &str| group.open_array(name);
                let mut arrays = VARIABLES.into_iter().map(open).collect::<Result<Vec<Array>>>()?;
                if self.again && has_rows(&arrays[0], number)? {
                    return Ok(());
                }
                let before = arrays[0].shape()[0];
                let after = before + rows;
                let longer = |name: &str| GrownArray { path: name.to_owned(), axis: 0, before, after };
                growth.note(&VARIABLES.map(longer), true)?;
                let values = elements(number, &[0, 0], &[rows, 2], &[rows, 2]);
                let shapes = vec![vec![after, 2]; arrays.len()];
                Array::grow_together(&mut arrays, &shapes, |grown| {
                    let new = selection(&[before, 0], &[rows, 2]);
                    grown.iter().try_for_each(|array| array.write(new.clone(), &values))
                })
            },
        )
    }

    /// Returns the path of the array that only this task creates.
    fn own(&self) -> String {
        made(self.task)
    }

    fn copy(&self) -> Result<()> {
        let store = &self.machine.stores[0];
        let copier = Copier::new().open_options(options()).chunks([4, 1]);
        let planned = copier.plan((store.clone(), SOURCE), (store.clone(), &copied(self.task)))?;
        self.existing_is_done(planned.run().map(drop))
    }

    fn downsample(&self) -> Result<()> {
        let store = &self.machine.stores[0];
        let pyramid = Downsample::new().open_options(options()).method(Reduction::Nearest).levels(1);
        let planned = pyramid.plan_into((store.clone(), SOURCE), (store.clone(), &halved(self.task)));
        self.existing_is_done(planned.and_then(Pyramid::run).map(drop))
    }

    /// Converts the error of an existing node to a success: an earlier attempt or act of the task may have created it.
    fn existing_is_done(&self, created: Result<()>) -> Result<()> {
        match created {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            created => created,
        }
    }

    fn structural(&mut self, act: Act) -> Result<()> {
        let machine = Arc::clone(&self.machine);
        let url = |disk: usize, path: &str| machine.names[disk].url(path);
        let copier = Copier::new().open_options(options());
        match act {
            Act::Move => self.moved_is_done(machine.root()?.move_node(BOARD, MOVED)),
            Act::MoveAcross => self.moved_is_done(copier.move_node(url(0, BOARD), url(1, MOVED)).map(drop)),
            Act::Rechunk => copier.chunks([3, 1]).no_shards().run_in_place(url(0, BOARD)).map(drop),
            Act::Reshard => copier.chunks([2, 2]).shards([4, 4]).run_in_place(url(0, BOARD)).map(drop),
            Act::Convert => {
                let convert = Copier::new().format(Format::V3).open_options(options());
                convert.plan_in_place((machine.stores[0].clone(), ""))?.run().map(drop)
            }
            Act::Delete => missing_is_done(machine.root()?.delete(BOARD)),
            _ => {
                let root = machine.root()?;
                missing_is_done(root.delete(BOARD))?;
                self.world.board(&root).map(drop)
            }
        }
    }

    /// Converts the error of a missing node to a success if an interrupted command has moved the board already.
    fn moved_is_done(&self, moved: Result<()>) -> Result<()> {
        match moved {
            Err(error)
                if self.again && error.kind() == ErrorKind::NotFound && self.machine.board().is_ok() =>
            {
                Ok(())
            }
            moved => moved,
        }
    }
}

/// Returns true if an operation has appended its rows.
fn has_rows(array: &Array, number: u64) -> Result<bool> {
    Ok(array.read::<ArrayD<u64>>(..)?.iter().any(|value| origin(*value).0 == number))
}

/// Converts the error of a missing node to a success: an interrupted deletion may have finished.
fn missing_is_done(deleted: Result<()>) -> Result<()> {
    match deleted {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        deleted => deleted,
    }
}

/// Returns the path of the array that a task creates.
pub(super) fn made(task: u64) -> String {
    format!("made{task}")
}

/// Returns the path of the copy that a task makes.
pub(super) fn copied(task: u64) -> String {
    format!("copy{task}")
}

/// Returns the path of the pyramid that a task makes.
pub(super) fn halved(task: u64) -> String {
    format!("half{task}")
}
