//! What happens at which step: [`Schedule`].

use std::collections::BTreeMap;
use std::fmt;

use zarrox_stores::StoreErrorKind;

/// Numbers that follow from a seed.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// Creates the numbers of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next number (splitmix64).
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below another one, which is not 0.
    pub fn below(&mut self, end: u64) -> u64 {
        self.number() % end
    }

    /// Returns true in so many of 1,000 cases.
    pub fn chance(&mut self, of_thousand: u64) -> bool {
        self.below(1000) < of_thousand
    }

    /// One of several; `None` if there are none.
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> Option<T> {
        if items.is_empty() {
            return None;
        }
        usize::try_from(self.below(items.len() as u64)).ok().and_then(|index| items.get(index).copied())
    }
}

/// What happens at a step, before the call is made that the step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// This task goes on.
    Switch(usize),
    /// The call fails, and does nothing.
    Fail(StoreErrorKind),
    /// The call is done, and fails all the same.
    FailWhenDone(StoreErrorKind),
    /// The process is killed: its locks are released, and its calls do nothing from here on.
    Kill,
    /// The machine crashes: all processes are killed, and each change that was not flushed may be gone. Which ones are follows from
    /// the number.
    Crash(u64),
    /// The clock is turned by so many milliseconds.
    Clock(i64),
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Switch(task) => write!(f, "task {task} goes on"),
            Self::Fail(kind) => write!(f, "the call fails: {kind:?}"),
            Self::FailWhenDone(kind) => write!(f, "the call is done, and fails: {kind:?}"),
            Self::Kill => f.write_str("the process is killed"),
            Self::Crash(_) => f.write_str("the machine crashes"),
            Self::Clock(time) => write!(f, "the clock is turned by {time} ms"),
        }
    }
}

/// The chances of each decision at a step, in 1,000 steps.
#[derive(Debug, Clone, Copy, Default)]
pub struct Odds {
    /// Another task goes on.
    pub switch: u64,
    /// A call fails.
    pub fail: u64,
    /// A process is killed.
    pub kill: u64,
    /// The machine crashes.
    pub crash: u64,
    /// The clock is turned.
    pub clock: u64,
    /// The most calls that fail, processes that are killed and crashes of a run, together.
    pub faults: usize,
}

/// The decisions of a run by their steps: given ones, or ones that are made at random and noted.
#[derive(Debug, Clone)]
pub struct Schedule {
    decisions: BTreeMap<u64, Decision>,
    random: Option<(Random, Odds)>,
}

/// What a decision depends on.
pub(super) struct Situation {
    /// The other tasks that can go on.
    pub(super) others: Vec<usize>,
    /// True if the call changes something.
    pub(super) writes: bool,
    /// True if an answer may be lost on its way, as that of a server.
    pub(super) loses_answers: bool,
    /// True if the task cannot go on.
    pub(super) waits: bool,
}

impl Schedule {
    /// Decides at random, as the seed says.
    #[must_use]
    pub fn random(seed: u64, odds: Odds) -> Self {
        Self { decisions: BTreeMap::new(), random: Some((Random::new(seed), odds)) }
    }

    /// Decides as it is told; at all other steps the same task goes on as long as it can.
    #[must_use]
    pub fn given(decisions: BTreeMap<u64, Decision>) -> Self {
        Self { decisions, random: None }
    }

    /// Returns the decisions.
    #[must_use]
    pub fn decisions(&self) -> &BTreeMap<u64, Decision> {
        &self.decisions
    }

    /// Returns true if a call has failed, a process was killed or the machine has crashed.
    #[must_use]
    pub fn has_faults(&self) -> bool {
        self.decisions.values().any(|decision| is_fault(*decision))
    }

    pub(super) fn decide(&mut self, step: u64, situation: &Situation) -> Option<Decision> {
        let Some((random, odds)) = &mut self.random else { return self.decisions.get(&step).copied() };
        let decision = draw(random, odds, situation)?;
        if is_fault(decision) {
            odds.faults -= 1;
        }
        self.decisions.insert(step, decision);
        Some(decision)
    }
}

fn is_fault(decision: Decision) -> bool {
    !matches!(decision, Decision::Switch(_) | Decision::Clock(_))
}

fn draw(random: &mut Random, odds: &Odds, situation: &Situation) -> Option<Decision> {
    if situation.waits {
        return random.pick(&situation.others).map(Decision::Switch);
    }
    if odds.faults > 0 {
        if random.chance(odds.fail) {
            let kind = match situation.writes && random.chance(500) {
                true => StoreErrorKind::StorageFull,
                false => StoreErrorKind::Other,
            };
            let when_done = situation.writes && situation.loses_answers && random.chance(300);
            return Some(if when_done { Decision::FailWhenDone(kind) } else { Decision::Fail(kind) });
        }
        if random.chance(odds.kill) {
            return Some(Decision::Kill);
        }
        if random.chance(odds.crash) {
            return Some(Decision::Crash(random.number()));
        }
    }
    if random.chance(odds.clock) {
        return random.pick(&[-3_600_000, -1500, 1500, 2500, 3_600_000]).map(Decision::Clock);
    }
    if random.chance(odds.switch) {
        return random.pick(&situation.others).map(Decision::Switch);
    }
    None
}
