//! The decision at each step: [`Schedule`].

use std::collections::BTreeMap;
use std::fmt;

use zarrox_stores::StoreErrorKind;

/// A generator of random numbers.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// Creates a generator from a seed.
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

    /// Returns a number below `end`, which is not 0.
    pub fn below(&mut self, end: u64) -> u64 {
        self.number() % end
    }

    /// Returns true in `chance` of 1,000 cases.
    pub fn chance(&mut self, of_thousand: u64) -> bool {
        self.below(1000) < of_thousand
    }

    /// Returns one of several values; `None` if there are none.
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> Option<T> {
        if items.is_empty() {
            return None;
        }
        usize::try_from(self.below(items.len() as u64)).ok().and_then(|index| items.get(index).copied())
    }
}

/// A decision at a step, before its call is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// This task runs next.
    Switch(usize),
    /// The call fails without effect.
    Fail(StoreErrorKind),
    /// The call is done, but fails.
    FailWhenDone(StoreErrorKind),
    /// The process is killed: its locks are released, and its later calls have no effect.
    Kill,
    /// The machine crashes: all processes are killed, and each change that was not flushed may be lost. The number determines
    /// which ones.
    Crash(u64),
    /// The clock changes by this number of milliseconds.
    Clock(i64),
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Switch(task) => write!(f, "task {task} runs"),
            Self::Fail(kind) => write!(f, "the call fails: {kind:?}"),
            Self::FailWhenDone(kind) => write!(f, "the call is done, but fails: {kind:?}"),
            Self::Kill => f.write_str("the process is killed"),
            Self::Crash(_) => f.write_str("the machine crashes"),
            Self::Clock(time) => write!(f, "the clock changes by {time} ms"),
        }
    }
}

/// The probability of each decision at a step, in units of 1/1,000.
#[derive(Debug, Clone, Copy, Default)]
pub struct Odds {
    /// Another task runs.
    pub switch: u64,
    /// A call fails.
    pub fail: u64,
    /// A process is killed.
    pub kill: u64,
    /// The machine crashes.
    pub crash: u64,
    /// The clock changes.
    pub clock: u64,
    /// The largest number of failed calls, killed processes and crashes of a run, in total.
    pub faults: usize,
}

/// The decisions of a run by their steps: given decisions, or random decisions that are recorded.
#[derive(Debug, Clone)]
pub struct Schedule {
    decisions: BTreeMap<u64, Decision>,
    random: Option<(Random, Odds)>,
}

/// The facts on which a decision depends.
pub(super) struct Situation {
    /// The other tasks that can run.
    pub(super) others: Vec<usize>,
    /// True if the call changes something.
    pub(super) writes: bool,
    /// True if a response may be lost, as that of a server.
    pub(super) loses_answers: bool,
    /// True if the task cannot run.
    pub(super) waits: bool,
}

impl Schedule {
    /// Creates a schedule of random decisions from a seed.
    #[must_use]
    pub fn random(seed: u64, odds: Odds) -> Self {
        Self { decisions: BTreeMap::new(), random: Some((Random::new(seed), odds)) }
    }

    /// Creates a schedule of given decisions; at all other steps the same task continues as long as it can.
    #[must_use]
    pub fn given(decisions: BTreeMap<u64, Decision>) -> Self {
        Self { decisions, random: None }
    }

    /// Returns the decisions.
    #[must_use]
    pub fn decisions(&self) -> &BTreeMap<u64, Decision> {
        &self.decisions
    }

    /// Returns true if a call failed, a process was killed or the machine crashed.
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
