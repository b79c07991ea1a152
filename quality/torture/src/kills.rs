//! Killing processes at random moments, and checking the results.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::thread;

use fastrand::Rng;
use zarrox::{Format, OpenOptions};

use crate::check::{check, checked};
use crate::fault::{Fault, Faults};
use crate::job::{Hand, Job, Operation, Worker};
use crate::leftovers::{check_files, check_keys};
use crate::model::{Elements, Model};
use crate::outcome::Outcome;
use crate::place::{Kind, Opened, Place, Site};
use crate::plan::{self, Planner};
use crate::process::{Death, Ended, Launcher, Progress};
use crate::round::{HANDS, Round};
use crate::world::{self, ARENA, DAMAGED, LOG, PULSE};

/// The number of rounds after which a new hierarchy is begun, since archives only grow.
const ROUNDS: usize = 20;
/// The number of faults after which a store is given up.
const MOST_FAULTS: usize = 100;

/// The outcome of killing processes over a store.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) kills: usize,
    pub(crate) rounds: usize,
    /// The interrupted operations, by name.
    pub(crate) interrupted: BTreeMap<&'static str, usize>,
    pub(crate) faults: Faults,
}

/// Kills processes over hierarchies in a store. The plan follows from the seed.
pub(crate) fn campaign(kind: Kind, site: &Site, seed: u64, kills: usize) -> Outcome<Tally> {
    let mut tally = Tally::default();
    let mut rng = Rng::with_seed(seed);
    let mut hierarchy = 0;
    while tally.kills < kills && tally.faults.list().len() < MOST_FAULTS {
        hierarchy += 1;
        let format = if hierarchy % 2 == 0 { Format::V2 } else { Format::V3 };
        let place = site.place(kind, &format!("kill{hierarchy}"))?;
        let copies = (0..HANDS).map(|index| site.place(kind, &format!("kill{hierarchy}-copy{index}")));
        let copies = copies.collect::<Outcome<Vec<Place>>>()?;
        world::create(&place.open()?, format).map_err(|error| error.to_string())?;
        let model = Model::new(format);
        let history = Vec::new();
        let mut scene = Scene { kind, place, copies, model, number: 1, history, faults: Faults::default() };
        for _ in 0..ROUNDS {
            tally.rounds += 1;
            scene.history.push(format!("round {}", tally.rounds));
            scene.round(&mut rng, &mut tally)?;
            if !scene.faults.is_empty() || tally.kills >= kills {
                break;
            }
        }
        for (fault, message) in scene.faults.list() {
            tally
                .faults
                .add(*fault, format!("hierarchy {hierarchy} ({format}), round {}: {message}", tally.rounds));
        }
        // A damaged hierarchy is kept for inspection, with the operations that led to it.
        if scene.faults.is_empty() {
            scene.discard();
        } else {
            site.write(&format!("kill{hierarchy}.txt"), &scene.history.join("\n"))?;
        }
    }
    Ok(tally)
}

/// A hierarchy over which processes are killed.
struct Scene {
    kind: Kind,
    place: Place,
    /// The locations of converted copies, one for each process.
    copies: Vec<Place>,
    model: Model,
    /// The number of the last operation that wrote elements.
    number: u64,
    /// The operations of all processes, a line for each.
    history: Vec<String>,
    faults: Faults,
}

impl Scene {
    /// Runs processes, kills one or more, checks, repeats interrupted operations, and checks again.
    fn round(&mut self, rng: &mut Rng, tally: &mut Tally) -> Outcome {
        let round = Round::new(rng, self.kind, &self.model);
        if round.damages() {
            world::create_damaged(&self.place.open()?).map_err(|error| error.to_string())?;
            self.model.arrays.insert(DAMAGED.to_owned(), Elements::damaged());
        }
        let hands = (0..round.of).zip(&self.copies).map(|(index, copy)| {
            Planner::new(rng, &mut self.number, round.worker(index), &self.model, copy.clone()).hand()
        });
        let hands: Vec<Hand> = hands.collect();
        let together = if round.together { hands.len() } else { 1 };
        let workers = hands.chunks(together).enumerate().map(|(index, hands)| {
            let job = Job {
                place: self.place.clone(),
                hands: hands.to_vec(),
                again: false,
                unsettled: round.unsettled(),
            };
            let dies = round.may_die(index as u64) && (index == 0 || !round.may_die(0) || rng.bool());
            let death = dies.then(|| plan::death(rng, self.kind.is_remote(), hands.len()));
            (job, death)
        });
        let workers: Vec<(Job, Option<Death>)> = workers.collect();
        let launcher = Launcher::zarrox()?;
        let ends: Vec<Outcome<Ended>> = thread::scope(|scope| {
            let start = |(job, death): &'_ (Job, Option<Death>)| {
                let (launcher, job, death) = (launcher.clone(), job.clone(), *death);
                scope.spawn(move || launcher.run(&job, death, None))
            };
            let running: Vec<_> = workers.iter().map(start).collect();
            running
                .into_iter()
                .map(|process| process.join().unwrap_or_else(|_| Err("a thread panicked".to_owned())))
                .collect()
        });
        let mut pending = Vec::new();
        for ((job, _), ended) in workers.iter().zip(ends) {
            self.take(job, &ended?, &mut pending, tally);
        }
        self.judge(pending)
    }

    /// Applies the completed operations of a process to the model.
    fn take(&mut self, job: &Job, ended: &Ended, pending: &mut Vec<Operation>, tally: &mut Tally) {
        let mut names = Vec::new();
        for (hand, progress) in job.hands.iter().zip(&ended.hands) {
            self.record(hand, progress, ended.killed);
            let done = hand.operations[..progress.done].iter().enumerate();
            done.filter(|(index, _)| !progress.taken.contains(index))
                .for_each(|(_, operation)| self.model.apply(operation));
            let current = hand.operations.get(progress.done).filter(|_| progress.begun);
            names.extend(current.map(Operation::name));
            pending.extend(current.cloned());
        }
        for message in &ended.errors {
            let name = if names.is_empty() { "the process".to_owned() } else { names.join(" or ") };
            self.faults.add(Fault::Failed, format!("{name}: {message}"));
        }
        if ended.killed {
            tally.kills += 1;
            if names.is_empty() {
                names.push("nothing");
            }
            names.into_iter().for_each(|name| *tally.interrupted.entry(name).or_default() += 1);
        }
    }

    /// Records the operations of a hand that were done or begun.
    fn record(&mut self, hand: &Hand, progress: &Progress, killed: bool) {
        self.history.push(if killed { "  a hand that was killed" } else { "  a hand" }.to_owned());
        for (index, operation) in hand.operations.iter().enumerate().take(progress.done + 1) {
            let state = match index < progress.done {
                true if progress.taken.contains(&index) => "taken",
                true => "done",
                false if progress.begun => "begun",
                false => "not begun",
            };
            self.history.push(format!("    {state}: {operation:?}"));
        }
    }

    /// Returns the hierarchy, if its store can be opened.
    fn opened(&mut self) -> Option<Opened> {
        self.place.open().map_err(|message| self.faults.add(Fault::Unreadable, message)).ok()
    }

    fn judge(&mut self, pending: Vec<Operation>) -> Outcome {
        self.check(&pending);
        if !self.faults.is_empty() {
            return Ok(());
        }
        // An interrupted change of a whole node is repeated before any other write. A repair removes the rows of killed appends.
        let (structural, others): (Vec<_>, Vec<_>) = pending.into_iter().partition(Operation::is_structural);
        let structural =
            structural.into_iter().map(again).map(|operation| Hand { operations: vec![operation] });
        self.work(structural.collect(), Fault::NotContinued)?;
        self.work(vec![Hand { operations: vec![Operation::Repair] }], Fault::Failed)?;
        let arrived = self.check(&others);
        if !self.faults.is_empty() {
            return Ok(());
        }
        let is_there = |operation: &Operation| matches!(operation, Operation::Append { number, .. } if arrived.contains(number));
        let (there, missing): (Vec<_>, Vec<_>) = others.into_iter().partition(is_there);
        there.iter().for_each(|operation| self.model.apply(operation));
        self.repeat(missing)?;
        self.check(&[]);
        let Some(at) = self.opened() else { return Ok(()) };
        if self.model.consolidated {
            self.check_consolidated(&at);
        }
        self.check_nothing_is_found(&at);
        check_keys(&at, &mut self.faults);
        if self.kind == Kind::Directory {
            for place in self.copies.iter().chain([&self.place]) {
                check_files(Path::new(&place.url), &mut self.faults);
            }
        }
        Ok(())
    }

    /// Compares the hierarchy with the model. Where several states are possible, the model takes over the state of the hierarchy.
    /// Returns the pending appends that are complete.
    fn check(&mut self, pending: &[Operation]) -> BTreeSet<u64> {
        let Some(at) = self.opened() else { return BTreeSet::new() };
        let seen = check(&at, &self.model, pending, &mut self.faults);
        // The rows of interrupted appends are checked again after a repair, and are known then.
        if !pending.iter().any(|operation| matches!(operation, Operation::Append { .. })) {
            self.model.holes = seen.holes;
        }
        if let (Some(arena), Some(found)) = (self.model.arrays.get_mut(ARENA[0]), seen.arena) {
            arena.settle(&found);
        }
        if pending.is_empty() {
            self.model.arrays.values_mut().for_each(Elements::forget_chunks);
        }
        seen.arrived
    }

    /// Repeats the interrupted commands, checks that growing shows only fill values, and writes once to every directory.
    fn repeat(&mut self, missing: Vec<Operation>) -> Outcome {
        let hands = missing.into_iter().map(|operation| Hand { operations: vec![operation] });
        self.work(hands.collect(), Fault::NotContinued)?;
        let probe = |(array, rows): (&str, u64)| Operation::Probe { array: array.to_owned(), rows };
        let mut operations: Vec<Operation> = [(LOG, 8), (PULSE, 20)].map(probe).into();
        if self.model.consolidated {
            operations.push(Operation::Consolidate);
        }
        if self.kind == Kind::Directory {
            operations.push(Operation::Sweep);
        }
        self.work(vec![Hand { operations }], Fault::Failed)
    }

    /// Runs a process that is not killed.
    fn work(&mut self, hands: Vec<Hand>, fault: Fault) -> Outcome {
        if hands.is_empty() {
            return Ok(());
        }
        let job = Job { place: self.place.clone(), hands, again: true, unsettled: Vec::new() };
        let ended = Launcher::zarrox()?.run(&job, None, None)?;
        for (hand, progress) in job.hands.iter().zip(&ended.hands) {
            self.record(hand, progress, ended.killed);
            hand.operations[..progress.done].iter().for_each(|operation| self.model.apply(operation));
        }
        let missed =
            |(hand, progress): (&Hand, &Progress)| hand.operations.get(progress.done).map(Operation::name);
        let missed: Vec<&str> = job.hands.iter().zip(&ended.hands).filter_map(missed).collect();
        for message in ended.errors {
            self.faults.add(fault, format!("{}: {message}", missed.join(" or ")));
        }
        Ok(())
    }

    /// Checks that a check finds nothing except rows of killed writers between the rows of others.
    fn check_nothing_is_found(&mut self, at: &Opened) {
        match checked(at, None) {
            Ok(found) => {
                let found = found.into_iter().filter(|_| self.model.holes == 0);
                found
                    .take(1)
                    .for_each(|first| self.faults.add(Fault::Left, format!("a check finds: {first}")));
            }
            Err(error) => self.faults.add(Fault::Failed, format!("check: {error}")),
        }
    }

    fn check_consolidated(&mut self, at: &Opened) {
        match at.root().and_then(|root| root.check_consolidated()) {
            Ok(differences) if differences.is_empty() => {}
            Ok(differences) => {
                let message = format!("consolidated metadata differs in {} nodes", differences.len());
                self.faults.add(Fault::Stale, message);
            }
            Err(error) => self.faults.add(Fault::Unreadable, format!("consolidated metadata: {error}")),
        }
    }

    /// Deletes the hierarchy. A failure costs only space.
    fn discard(&self) {
        for place in self.copies.iter().chain([&self.place]) {
            let _ = place.open().map(|at| OpenOptions::new().delete((at.store.clone(), &at.path)));
        }
    }
}

/// Returns the operation that repeats an interrupted operation, without other writers.
fn again(operation: Operation) -> Operation {
    match operation {
        Operation::Recreate { at, .. } => Operation::Recreate { at, by: Worker::ALONE },
        operation => operation,
    }
}
