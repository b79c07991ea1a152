//! Four concurrent writers, whose regions share chunks, shards, arrays and documents.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use fastrand::Rng;
use ndarray::ArrayD;
use ndarray::Axis;
use zarrox::{OpenOptions, Result as Done};

use crate::check::Blocks;
use crate::fault::Faults;
use crate::job::{Hand, Job, Operation};
use crate::model::Elements;
use crate::outcome::Outcome;
use crate::place::{Kind, Opened, Place};
use crate::process::{Death, Ended, Launcher, Progress};
use crate::world::{self, LOG, NOTES};

/// The length of the array of blocks along each axis: the array has 10⁶ elements.
const SIDE: u64 = 100;
/// The length of a stored object along each axis.
const CHUNK: u64 = 50;
/// The length of a block along each axis.
const BLOCK: u64 = 25;
/// The number of writers.
const WRITERS: u64 = 4;
/// The rows that each writer appends.
const ROWS: u64 = 100;
/// The rows of one append.
const AT_ONCE: u64 = 2;
/// The columns of the array that is appended to.
const COLUMNS: u64 = 10;
/// The attributes that each writer sets.
const ATTRIBUTES: u64 = 100;
/// The nodes that all writers create.
const NODES: u64 = 25;
/// The largest number of kills for the work of one process.
const KILLS: usize = 3;
/// The array of blocks.
const BLOCKS: &str = "blocks";

/// The objects in which blocks are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stored {
    Chunks,
    Shards,
}

/// The division of the writers among processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// One process of four threads.
    Threads,
    /// Four processes.
    Processes,
    /// Two processes of two threads.
    Both,
}

impl Mode {
    pub(crate) const ALL: [Self; 3] = [Self::Threads, Self::Processes, Self::Both];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Threads => "threads",
            Self::Processes => "processes",
            Self::Both => "both",
        }
    }

    /// Returns the number of processes.
    fn processes(self) -> usize {
        match self {
            Self::Threads => 1,
            Self::Processes => 4,
            Self::Both => 2,
        }
    }

    /// Returns the modes that a kind of store supports.
    pub(crate) fn of(kind: Kind) -> &'static [Self] {
        if kind.is_of_one_process() { &[Self::Threads] } else { &Self::ALL }
    }
}

/// The work of four writers, and the processes that do it.
#[derive(Debug)]
pub(crate) struct Crowd<'a> {
    pub(crate) launcher: &'a Launcher,
    pub(crate) place: Place,
    pub(crate) mode: Mode,
    /// Each process is killed at random, and replaced by another process, [`KILLS`] times.
    pub(crate) kills: bool,
}

/// The outcome of the work of four writers.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    /// The number of wrong elements, rows or attributes.
    pub(crate) lost: usize,
    pub(crate) kills: usize,
    pub(crate) problems: Vec<String>,
}

impl Crowd<'_> {
    /// Writes blocks of 25³ into chunks or shards of 50³.
    pub(crate) fn blocks(&self, stored: Stored, rng: &mut Rng) -> Outcome<Shown> {
        self.fresh(|at| create_blocks(at, stored))?;
        let mut hands = vec![Hand::default(); 4];
        let mut expected = Elements::new(&[SIDE; 3], &[CHUNK; 3]);
        let mut chunks: Vec<u64> = (0..8).collect();
        rng.shuffle(&mut chunks);
        let mut number = 1;
        // All writers visit the chunks in the same order, so that they meet.
        for chunk in chunks {
            for block in 0..8 {
                number += 1;
                let start: Vec<u64> =
                    (0..3).map(|dim| (chunk >> dim & 1) * CHUNK + (block >> dim & 1) * BLOCK).collect();
                expected.write(&start, &[BLOCK; 3], number);
                let operation =
                    Operation::Write { array: BLOCKS.to_owned(), start, shape: vec![BLOCK; 3], number };
                hands[usize::try_from(block % WRITERS).unwrap_or(0)].operations.push(operation);
            }
        }
        let mut shown = self.run(&hands, rng, true)?.shown;
        match self.place.open().and_then(|at| read(&at, BLOCKS)) {
            Ok(found) => shown.lost = found.iter().zip(&expected.values).filter(|(a, b)| a != b).count(),
            Err(message) => {
                shown.lost = expected.values.len();
                shown.problems.push(message);
            }
        }
        Ok(shown)
    }

    /// Appends 100 rows each, two at a time.
    pub(crate) fn appends(&self, rng: &mut Rng) -> Outcome<Shown> {
        self.fresh(create_log)?;
        let mut number = 1;
        let mut hands = vec![Hand::default(); 4];
        for hand in &mut hands {
            for _ in 0..ROWS / AT_ONCE {
                number += 1;
                hand.operations.push(Operation::Append { array: LOG.to_owned(), rows: AT_ONCE, number });
            }
        }
        let ran = self.run(&hands, rng, false)?;
        let mut shown = ran.shown;
        let at = self.place.open()?;
        let array =
            at.root().and_then(|root| root.open(LOG)?.into_array()).map_err(|error| error.to_string())?;
        let all = hands.iter().flat_map(|hand| &hand.operations).filter_map(|operation| match operation {
            Operation::Append { number, rows, .. } => Some((*number, *rows)),
            _ => None,
        });
        let (pending, done): (BTreeMap<u64, u64>, BTreeMap<u64, u64>) =
            all.partition(|(number, _)| ran.interrupted.contains(number));
        let values = match array.read::<ArrayD<u64>>(..) {
            Ok(values) => values,
            Err(error) => {
                shown.lost = usize::try_from(ROWS * WRITERS).unwrap_or(0);
                shown.problems.push(error.to_string());
                return Ok(shown);
            }
        };
        let rows: Vec<Vec<u64>> =
            values.axis_iter(Axis(0)).map(|row| row.iter().copied().collect()).collect();
        shown.lost = lost_rows(&rows, &done);
        let mut faults = Faults::default();
        let interrupted: u64 = if at.reserves() { pending.values().sum() } else { 0 };
        let most_holes = usize::try_from(interrupted).unwrap_or(0);
        Blocks { array: LOG, done: &done, pending: &pending, most_holes }.check(&rows, &mut faults);
        shown.problems.extend(faults.list().iter().map(|(_, message)| message.clone()));
        Ok(shown)
    }

    /// Sets 100 attributes each, of one node.
    pub(crate) fn attributes(&self, rng: &mut Rng) -> Outcome<Shown> {
        self.fresh(create_notes)?;
        let mut number = 1;
        let mut hands = vec![Hand::default(); 4];
        let mut expected = BTreeMap::new();
        for (writer, hand) in hands.iter_mut().enumerate() {
            for index in 0..ATTRIBUTES {
                number += 1;
                let name = format!("{writer}-{index}");
                expected.insert(name.clone(), number);
                hand.operations.push(Operation::SetAttribute { node: NOTES.to_owned(), name, number });
            }
        }
        let mut shown = self.run(&hands, rng, true)?.shown;
        let at = self.place.open()?;
        let node = at.root().and_then(|root| root.open(NOTES)).map_err(|error| error.to_string())?;
        let is_lost = |(name, number): &(&String, &u64)| {
            node.attributes().get(name).and_then(zarrox::json::Json::as_u64) != Some(**number)
        };
        shown.lost = expected.iter().filter(is_lost).count();
        Ok(shown)
    }

    /// Creates the same nodes in all writers: exactly one writer must create each of them. Opens or creates other nodes in
    /// between.
    pub(crate) fn nodes(&self, rng: &mut Rng) -> Outcome<Shown> {
        self.fresh(create_notes)?;
        let create = (0..NODES).map(|index| Operation::Create { path: format!("created/{index}") });
        let require = (0..NODES).map(|index| Operation::Require { path: format!("required/{index}") });
        let operations = create.zip(require).flat_map(|(create, require)| [create, require]).collect();
        let hands = vec![Hand { operations }; 4];
        let ran = self.run(&hands, rng, true)?;
        let mut shown = ran.shown;
        let made = usize::try_from(NODES * WRITERS).unwrap_or(0) - ran.taken;
        if !self.kills && made != usize::try_from(NODES).unwrap_or(0) {
            shown.problems.push(format!("{made} creations of {NODES} nodes succeeded"));
        }
        let root = self.place.open()?.root().map_err(|error| error.to_string())?;
        let names = (0..NODES).flat_map(|index| [format!("created/{index}"), format!("required/{index}")]);
        shown.lost = names.filter(|name| root.open(name).is_err()).count();
        Ok(shown)
    }

    /// Creates the hierarchy.
    fn fresh(&self, create: impl FnOnce(&Opened) -> Done<()>) -> Outcome {
        let at = self.place.open()?;
        // The hierarchy may exist from an earlier scene.
        let _ = OpenOptions::new().delete((at.store.clone(), &at.path));
        let created = create(&at).and_then(|()| at.store.flush().map_err(zarrox::Error::from));
        created.map_err(|error| error.to_string())
    }

    /// Runs all threads concurrently, in as many processes as the mode requires. Interrupted operations are repeated if that is
    /// allowed.
    fn run(&self, hands: &[Hand], rng: &mut Rng, again: bool) -> Outcome<Ran> {
        let each = hands.len() / self.mode.processes();
        let seeds: Vec<u64> = (0..self.mode.processes()).map(|_| rng.u64(..)).collect();
        let start = &Barrier::new(self.mode.processes());
        let rans: Vec<Outcome<Ran>> = thread::scope(|scope| {
            let processes = hands.chunks(each).zip(seeds);
            let running: Vec<_> = processes
                .map(|(hands, seed)| scope.spawn(move || self.run_hands(hands.to_vec(), seed, again, start)))
                .collect();
            running
                .into_iter()
                .map(|one| one.join().unwrap_or_else(|_| Err("a thread panicked".to_owned())))
                .collect()
        });
        let mut all = Ran::default();
        for ran in rans {
            all.add(ran?);
        }
        Ok(all)
    }

    /// Runs the threads of one process, and of its replacement after the process was killed.
    fn run_hands(&self, mut hands: Vec<Hand>, seed: u64, again: bool, start: &Barrier) -> Outcome<Ran> {
        let mut rng = Rng::with_seed(seed);
        let mut ran = Ran::default();
        loop {
            let longest = hands.iter().map(|hand| hand.operations.len()).max().unwrap_or(0);
            let death = (self.kills && ran.shown.kills < KILLS && longest > 0).then(|| Death {
                hand: rng.usize(0..hands.len()),
                operation: rng.usize(0..longest),
                after: Duration::from_micros(rng.u64(0..4000)),
            });
            let job = Job {
                place: self.place.clone(),
                hands: hands.clone(),
                again: ran.shown.kills > 0,
                unsettled: Vec::new(),
            };
            // Only the first processes begin together.
            let ended = self.launcher.run(&job, death, (ran.shown.kills == 0).then_some(start))?;
            let is_killed = ended.killed;
            ran.take(&mut hands, ended, again);
            if !is_killed {
                return Ok(ran);
            }
        }
    }
}

/// The completed work of processes.
#[derive(Debug, Default)]
struct Ran {
    shown: Shown,
    /// Numbers of interrupted operations that were not repeated.
    interrupted: BTreeSet<u64>,
    /// The number of operations in which another process was faster.
    taken: usize,
}

impl Ran {
    fn add(&mut self, other: Self) {
        self.shown.kills += other.shown.kills;
        self.shown.problems.extend(other.shown.problems);
        self.interrupted.extend(other.interrupted);
        self.taken += other.taken;
    }

    /// Removes the completed operations from the threads.
    fn take(&mut self, hands: &mut [Hand], ended: Ended, again: bool) {
        self.shown.kills += usize::from(ended.killed);
        self.shown.problems.extend(ended.errors);
        for (hand, Progress { done, begun, taken }) in hands.iter_mut().zip(ended.hands) {
            self.taken += taken.len();
            hand.operations.drain(..done);
            if begun && !again && !hand.operations.is_empty() {
                let interrupted = hand.operations.remove(0);
                if let Operation::Append { number, .. } = interrupted {
                    self.interrupted.insert(number);
                }
            }
        }
    }
}

fn create_blocks(at: &Opened, stored: Stored) -> Done<()> {
    let root = OpenOptions::new().create_group((at.store.clone(), &at.path))?;
    let array = world::of_numbers(root.create_array(BLOCKS)).shape([SIDE; 3]).no_compressor();
    match stored {
        Stored::Chunks => array.chunks([CHUNK; 3]).create()?,
        Stored::Shards => array.chunks([BLOCK; 3]).shards([CHUNK; 3]).create()?,
    };
    Ok(())
}

fn create_log(at: &Opened) -> Done<()> {
    let root = OpenOptions::new().create_group((at.store.clone(), &at.path))?;
    let array = world::of_numbers(root.create_array(LOG)).shape([0, COLUMNS]).chunks([7, COLUMNS]);
    array.no_compressor().create().map(drop)
}

fn create_notes(at: &Opened) -> Done<()> {
    let root = OpenOptions::new().create_group((at.store.clone(), &at.path))?;
    root.create_group(NOTES).map(drop)
}

fn read(at: &Opened, path: &str) -> Outcome<Vec<u64>> {
    let array = at.root().and_then(|root| root.open(path)?.into_array());
    let values = array.and_then(|array| array.read::<ArrayD<u64>>(..));
    values.map(|values| values.iter().copied().collect()).map_err(|error| error.to_string())
}

/// Returns the number of missing rows.
fn lost_rows(rows: &[Vec<u64>], done: &BTreeMap<u64, u64>) -> usize {
    let found: BTreeSet<&Vec<u64>> = rows.iter().collect();
    let expected = done.iter().flat_map(|(number, rows)| {
        let values = crate::element::elements(*number, &[0, 0], &[*rows, COLUMNS], &[*rows, COLUMNS]);
        let rows: Vec<Vec<u64>> =
            values.axis_iter(Axis(0)).map(|row| row.iter().copied().collect()).collect();
        rows
    });
    expected.filter(|row| !found.contains(row)).count()
}
