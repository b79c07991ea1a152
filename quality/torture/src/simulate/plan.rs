//! The plan of one simulated run, which follows from its seed: [`Plan`].

use std::fmt;

use zarrox_testkit::simulation::{Kind, Odds, Random};

use super::world::World;

/// The largest number of tasks of a run. Each task has its own elements, names and paths in chunks, documents and groups that all
/// share.
pub(super) const TASKS: u64 = 4;

/// One act of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    /// Writes a box of the board with only elements of the task.
    Write { start: [u64; 2], shape: [u64; 2], number: u64 },
    /// Writes elements of the task in a shard that is damaged elsewhere.
    Mend { at: [u64; 2], number: u64 },
    /// Reads the whole board, with a handle that may be stale.
    ReadAgain,
    /// Opens the board again and reads it.
    Read,
    /// Appends rows to the log.
    Append { rows: u64, number: u64 },
    /// Appends the same rows to all arrays of the dataset.
    Grow { rows: u64, number: u64 },
    /// Changes the length of the array that only one task changes.
    Resize { length: u64 },
    /// Writes a chunk of that array.
    Pulse { chunk: u64, number: u64 },
    /// Sets an attribute of the task.
    Attribute { number: u64 },
    /// Creates an array of the task, replacing an existing node, and fills it.
    Create { number: u64 },
    /// Deletes the array of the task.
    Remove,
    /// Copies the source.
    Copy,
    /// Creates a pyramid of the source.
    Downsample,
    /// Writes consolidated metadata.
    Consolidate,
    /// Checks and repairs the whole hierarchy.
    Repair,
    /// Moves the board to another path.
    Move,
    /// Moves the board to another store.
    MoveAcross,
    /// Rechunks the board in place.
    Rechunk,
    /// Reshards the board in place.
    Reshard,
    /// Converts the whole hierarchy in place.
    Convert,
    /// Deletes the board.
    Delete,
    /// Deletes the board and creates another one in its place.
    Recreate,
}

impl Act {
    /// Returns the name in reports and on the command line.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Write { .. } => "write",
            Self::Mend { .. } => "write-damaged",
            Self::ReadAgain => "stale-read",
            Self::Read => "read",
            Self::Append { .. } => "append",
            Self::Grow { .. } => "append-dataset",
            Self::Resize { .. } => "resize",
            Self::Pulse { .. } => "write-resized",
            Self::Attribute { .. } => "attributes",
            Self::Create { .. } => "create",
            Self::Remove => "remove",
            Self::Copy => "copy",
            Self::Downsample => "downsample",
            Self::Consolidate => "consolidate",
            Self::Repair => "repair",
            Self::Move => "mv",
            Self::MoveAcross => "mv-across",
            Self::Rechunk => "rechunk",
            Self::Reshard => "reshard",
            Self::Convert => "convert",
            Self::Delete => "rm",
            Self::Recreate => "rm-create",
        }
    }

    /// Returns true if the act moves or replaces the board.
    pub(super) fn is_structural(self) -> bool {
        matches!(
            self,
            Self::Move
                | Self::MoveAcross
                | Self::Rechunk
                | Self::Reshard
                | Self::Convert
                | Self::Delete
                | Self::Recreate
        )
    }

    /// Returns true if the act reads or writes the board.
    pub(super) fn is_of_board(self) -> bool {
        self.is_structural() || matches!(self, Self::Write { .. } | Self::Read | Self::ReadAgain)
    }
}

/// The acts of one task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hand {
    /// The number of the task, which its elements contain.
    pub(super) task: u64,
    pub(super) process: usize,
    pub(super) acts: Vec<Act>,
}

/// One simulated run.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) seed: u64,
    pub(super) kind: Kind,
    pub(super) world: World,
    /// True if each write is durable when it returns.
    pub(super) sync: bool,
    pub(super) hands: Vec<Hand>,
    pub(super) odds: Odds,
}

/// A number that is mixed into the seed of a run for all choices about datasets, so that the other choices of a seed stay the
/// same.
const OF_DATASETS: u64 = 0x0da7_a5e7;

/// The administrative operations, of which a run has at most one.
const STRUCTURAL: [Act; 7] =
    [Act::Move, Act::MoveAcross, Act::Rechunk, Act::Reshard, Act::Convert, Act::Delete, Act::Recreate];

impl Plan {
    /// Creates the plan of a seed, without the operations and faults with these names.
    pub(super) fn new(seed: u64, without: &[String]) -> Self {
        let mut random = Random::new(seed);
        let allowed = |name: &str| !without.iter().any(|other| other == name);
        let kinds: Vec<Kind> = Kind::ALL.into_iter().filter(|kind| allowed(kind.name())).collect();
        let kind = random.pick(&kinds).unwrap_or(Kind::Directory);
        let odds = odds(&mut random, kind, &allowed);
        // Without a flush, changes of several objects have no guarantee.
        let sync = odds.crash == 0 || random.chance(600);
        let only_data = odds.crash > 0 && !sync;
        let structural = random.pick(&STRUCTURAL).filter(|act| !only_data && allowed(act.name()));
        let structural = structural.filter(|_| random.chance(500));
        let v2 = structural == Some(Act::Convert) || (structural != Some(Act::Reshard) && random.chance(200));
        let world = World {
            v2,
            sharded: !v2 && structural != Some(Act::Reshard) && random.chance(500),
            consolidated: random.chance(300) && allowed("consolidate"),
            damaged: !v2 && !only_data && random.chance(250) && allowed("repair"),
            dataset: false,
        };
        let mut plan = Self { seed, kind, world, sync, hands: Vec::new(), odds };
        plan.make_hands(&mut random, structural, only_data, &allowed);
        if !only_data && allowed("append-dataset") {
            plan.add_dataset(&mut Random::new(seed ^ OF_DATASETS));
        }
        plan
    }

    /// Adds appends to a dataset in some runs.
    fn add_dataset(&mut self, random: &mut Random) {
        self.world.dataset = random.chance(250);
        if !self.world.dataset {
            return;
        }
        for hand in &mut self.hands {
            for _ in 0..random.below(3) {
                let at = usize::try_from(random.below(hand.acts.len() as u64 + 1)).unwrap_or(0);
                let number = 1_000 + 100 * hand.task + hand.acts.len() as u64;
                hand.acts.insert(at, Act::Grow { rows: 1 + random.below(3), number });
            }
        }
    }

    fn make_hands(
        &mut self,
        random: &mut Random,
        structural: Option<Act>,
        only_data: bool,
        allowed: &dyn Fn(&str) -> bool,
    ) {
        // In a bucket, nodes are replaced only without other users; databases lock among the threads of one process.
        // An interrupted conversion is repeated before any other write.
        let is_interrupted = structural == Some(Act::Convert) && self.odds.faults > 0;
        let is_alone = structural.is_some() && (self.kind == Kind::Bucket || is_interrupted);
        let is_one_process = structural.is_some() && self.kind == Kind::Database;
        let tasks = if is_alone { 1 } else { 2 + random.below(TASKS - 1) };
        let mut number = 1;
        for task in 0..tasks {
            let acts = 1 + random.below(3);
            let mut hand = Hand { task, process: 0, acts: Vec::new() };
            // Threads of one process share its locks.
            let has_own = random.chance(700) && !is_one_process;
            hand.process = usize::try_from(if has_own { task } else { 0 }).unwrap_or(0);
            for _ in 0..acts {
                number += 1;
                let act = self.act(random, task, number, only_data, structural.is_some());
                // No node is created below a group that is being converted.
                let makes = matches!(act, Act::Create { .. } | Act::Copy | Act::Downsample);
                if allowed(act.name()) && !(makes && structural == Some(Act::Convert)) {
                    hand.acts.push(act);
                }
            }
            self.hands.push(hand);
        }
        let repair = self.world.damaged.then_some(Act::Repair);
        for act in structural.into_iter().chain(repair) {
            let hand = usize::try_from(random.below(tasks)).unwrap_or(0);
            let last = self.hands[hand].acts.len();
            // Handles that were opened before the change do not notice it.
            let at =
                if is_alone { last } else { usize::try_from(random.below(last as u64 + 1)).unwrap_or(0) };
            self.hands[hand].acts.insert(at, act);
        }
    }

    fn act(&self, random: &mut Random, task: u64, number: u64, only_data: bool, board: bool) -> Act {
        if self.world.damaged && task < 2 && random.chance(500) {
            return Act::Mend { at: [random.below(2), task], number };
        }
        if board && random.chance(600) {
            return if random.chance(700) { write(random, task, number) } else { Act::ReadAgain };
        }
        match random.below(if only_data { 60 } else { 100 }) {
            0..25 => write(random, task, number),
            25..32 => Act::Read,
            32..38 => Act::ReadAgain,
            38..50 => Act::Append { rows: 1 + random.below(2), number },
            50..60 => Act::Attribute { number },
            60..70 if task == 0 => match random.chance(500) {
                true => Act::Resize { length: random.below(9) },
                false => Act::Pulse { chunk: random.below(4), number },
            },
            60..76 => Act::Create { number },
            76..84 => Act::Remove,
            84..89 => Act::Copy,
            89..92 => Act::Downsample,
            _ => Act::Consolidate,
        }
    }
}

/// Returns a box of elements of a task: a part of its column, in chunks that it shares, or in its own chunk.
fn write(random: &mut Random, task: u64, number: u64) -> Act {
    let number = if random.chance(100) { 0 } else { number };
    if task < 2 && random.chance(300) {
        let whole = random.chance(600);
        let (start, shape) = if whole { ([4, 2 * task], [2, 2]) } else { ([5, 2 * task], [1, 2]) };
        return Act::Write { start, shape, number };
    }
    let row = random.below(4);
    Act::Write { start: [row, task], shape: [1 + random.below(4 - row), 1], number }
}

fn odds(random: &mut Random, kind: Kind, allowed: &dyn Fn(&str) -> bool) -> Odds {
    let switch = random.pick(&[15, 60, 250]).unwrap_or(60);
    let clock = if allowed("clock") && random.chance(200) { 20 } else { 0 };
    let mut odds = Odds { switch, clock, ..Odds::default() };
    let rate = random.pick(&[8, 30]).unwrap_or(8);
    match random.below(10) {
        0..2 if allowed("fail") => (odds.fail, odds.faults) = (rate, 2),
        2..5 if allowed("kill") => (odds.kill, odds.faults) = (rate, 2),
        5..7 if kind == Kind::Directory && allowed("crash") => (odds.crash, odds.faults) = (rate, 1),
        _ => {}
    }
    odds
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, kind, world, sync, .. } = self;
        let sync = if *sync { "" } else { ", nothing is flushed" };
        write!(f, "seed {seed}: {}, {world}{sync}", kind.name())?;
        for (index, hand) in self.hands.iter().enumerate() {
            write!(f, "\n  task {index} of process {}, with elements {}:", hand.process, hand.task)?;
            let acts: Vec<String> = hand.acts.iter().map(|act| format!(" {act:?}")).collect();
            f.write_str(&acts.join(";"))?;
        }
        Ok(())
    }
}
