//! The rights of the threads of a round on shared nodes: [`Round`].
//!
//! The rules are those of `docs/safety.md`. In a directory, other processes write into a node while it is moved, replaced or
//! rechunked. In a database, only threads of the same process do; in archives and on servers, the node has no other users. During
//! a conversion in place, no node is created in the hierarchy. An interrupted conversion must be repeated before the next write,
//! so a conversion beside writers is not killed.

use fastrand::Rng;
use zarrox::Format;

use crate::job::Worker;
use crate::model::Model;
use crate::place::{Company, Kind};
use crate::world::{ARENA, DAMAGED, LOG};

/// The largest number of concurrent threads.
pub(crate) const HANDS: u64 = 3;

/// The threads of a round.
#[derive(Debug, Clone)]
pub(crate) struct Round {
    /// The number of threads.
    pub(crate) of: u64,
    /// True if the threads belong to one process.
    pub(crate) together: bool,
    /// The thread that changes whole nodes.
    changer: Option<u64>,
    /// True if that thread converts the whole hierarchy.
    converts: bool,
    company: Company,
    /// The thread that repairs the damage from before the round.
    mender: Option<u64>,
}

/// The rights of one thread.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Rights {
    /// True if the thread moves, replaces and rechunks arrays.
    pub(crate) changes: bool,
    /// True if the thread also rechunks the array that other threads append to.
    pub(crate) changes_log: bool,
    /// True if the thread ends with a conversion of the hierarchy.
    pub(crate) converts: bool,
    /// True if the thread writes into the arena.
    pub(crate) arena: bool,
    /// True if the thread creates, moves and deletes its own nodes.
    pub(crate) makes: bool,
    /// True if the thread repairs the hierarchy.
    pub(crate) repairs: bool,
    /// True if the thread repairs the hierarchy at least once.
    pub(crate) mends: bool,
}

impl Round {
    pub(crate) fn new(rng: &mut Rng, kind: Kind, model: &Model) -> Self {
        let company = kind.company();
        let converts = model.format == Format::V2 && rng.u32(0..4) == 0;
        let changes = converts || rng.bool();
        let is_alone = converts && (company != Company::Processes || rng.bool());
        let of = if is_alone { 1 } else { rng.u64(1..=HANDS) };
        let together = kind.is_of_one_process() || (changes && company == Company::Threads);
        let changer = changes.then(|| rng.u64(0..of));
        let damages = !converts && model.arrays.contains_key(DAMAGED) && rng.u32(0..3) == 0;
        let may_mend = |hand: &u64| company != Company::None || !changes || changer == Some(*hand);
        let mender = damages.then(|| rng.u64(0..of)).filter(may_mend);
        Self { of, together, changer, converts, company, mender }
    }

    /// Returns true if a chunk is damaged before the round.
    pub(crate) fn damages(&self) -> bool {
        self.mender.is_some()
    }

    /// Returns true if the process of a thread may be killed.
    pub(crate) fn may_die(&self, hand: u64) -> bool {
        !self.converts || self.of == 1 || self.changer != Some(hand)
    }

    pub(crate) fn worker(&self, index: u64) -> (Worker, Rights) {
        let is_changer = self.changer == Some(index);
        let is_open = self.changer.is_none() || is_changer || self.company != Company::None;
        let rights = Rights {
            changes: is_changer && !self.converts,
            changes_log: is_changer && !self.converts && self.company != Company::None,
            converts: is_changer && self.converts,
            arena: is_open,
            makes: !self.converts,
            repairs: is_open && !self.converts,
            mends: self.mender == Some(index),
        };
        (Worker { index, of: self.of }, rights)
    }

    /// Returns the nodes that are moved, replaced or converted in the round.
    pub(crate) fn unsettled(&self) -> Vec<String> {
        match self.changer {
            None => Vec::new(),
            Some(_) if self.converts => vec![String::new()],
            Some(_) => [ARENA[0], LOG].map(str::to_owned).into(),
        }
    }
}
