//! Killing processes at random moments, and judging what they leave.

use std::collections::BTreeMap;
use std::path::Path;
use std::thread;

use fastrand::Rng;
use zarrox::{Format, OpenOptions};

use crate::Outcome;
use crate::check::check;
use crate::fault::{Fault, Faults};
use crate::job::{Hand, Job, Operation};
use crate::leftovers::{check_files, check_keys};
use crate::model::Model;
use crate::place::{Kind, Opened, Place, Site};
use crate::plan::{self, Planner, Worker};
use crate::process::{Ended, Launcher, Progress};
use crate::world::{self, LOG, PULSE};

/// After so many rounds a new hierarchy is begun, since archives only grow.
const ROUNDS: usize = 20;
/// The most processes at the same time.
const PROCESSES: u64 = 3;
/// A store in which more is found is not worth the time.
const MOST_FAULTS: usize = 100;

/// What the killing of processes over a store has shown.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) kills: usize,
    pub(crate) rounds: usize,
    /// The operations that were interrupted, by their names.
    pub(crate) interrupted: BTreeMap<&'static str, usize>,
    pub(crate) faults: Faults,
}

/// Kills so many processes over hierarchies in a store. The plan follows from the seed.
pub(crate) fn campaign(kind: Kind, site: &Site, seed: u64, kills: usize) -> Outcome<Tally> {
    let mut tally = Tally::default();
    let mut rng = Rng::with_seed(seed);
    let mut hierarchy = 0;
    while tally.kills < kills && tally.faults.list().len() < MOST_FAULTS {
        hierarchy += 1;
        let format = if hierarchy % 3 == 0 { Format::V2 } else { Format::V3 };
        let place = site.place(kind, &format!("kill{hierarchy}"))?;
        let copies = (0..PROCESSES).map(|index| site.place(kind, &format!("kill{hierarchy}-copy{index}")));
        let copies = copies.collect::<Outcome<Vec<Place>>>()?;
        world::create(&place.open()?, format).map_err(|error| error.to_string())?;
        let model = Model::new(format);
        let mut scene = Scene { kind, place, copies, model, number: 1, faults: Faults::default() };
        for _ in 0..ROUNDS {
            tally.rounds += 1;
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
        // What is damaged stays, to be looked at.
        if scene.faults.is_empty() {
            scene.discard();
        }
    }
    Ok(tally)
}

/// A hierarchy over which processes are killed.
struct Scene {
    kind: Kind,
    place: Place,
    /// The places for converted copies, one for each process.
    copies: Vec<Place>,
    model: Model,
    /// The number of the last operation that wrote elements.
    number: u64,
    faults: Faults,
}

impl Scene {
    /// Lets processes work, kills one or more, judges, repeats what was interrupted, and judges again.
    fn round(&mut self, rng: &mut Rng, tally: &mut Tally) -> Outcome {
        let of = if self.kind.is_of_one_process() { 1 } else { rng.u64(1..=PROCESSES) };
        let workers = (0..of).zip(&self.copies).map(|(index, copy)| {
            let worker = Worker { index, of };
            let hand = Planner::new(rng, &mut self.number, worker, &self.model, copy.clone()).hand();
            let death = (index == 0 || rng.bool()).then(|| plan::death(rng, self.kind.is_remote()));
            (hand, death)
        });
        let workers: Vec<_> = workers.collect();
        let launcher = Launcher::ours()?;
        let ends: Vec<Outcome<Ended>> = thread::scope(|scope| {
            let start = |(hand, death): &(Hand, _)| {
                let job = Job { place: self.place.clone(), hands: vec![hand.clone()], again: false };
                let (launcher, death) = (launcher.clone(), *death);
                scope.spawn(move || launcher.run(&job, death, None))
            };
            let running: Vec<_> = workers.iter().map(start).collect();
            running
                .into_iter()
                .map(|process| process.join().unwrap_or_else(|_| Err("a thread panicked".to_owned())))
                .collect()
        });
        let mut pending = Vec::new();
        for ((hand, _), ended) in workers.iter().zip(ends) {
            self.take(hand, &ended?, &mut pending, tally);
        }
        self.judge(pending)
    }

    /// Takes over what a process has done.
    fn take(&mut self, hand: &Hand, ended: &Ended, pending: &mut Vec<Operation>, tally: &mut Tally) {
        let progress = &ended.hands[0];
        hand.operations[..progress.done].iter().for_each(|operation| self.model.apply(operation));
        let current = hand.operations.get(progress.done).filter(|_| progress.begun);
        for message in &ended.errors {
            let name = current.map_or("the process", Operation::name);
            self.faults.add(Fault::Failed, format!("{name}: {message}"));
        }
        if ended.killed {
            tally.kills += 1;
            *tally.interrupted.entry(current.map_or("nothing", Operation::name)).or_default() += 1;
        }
        pending.extend(current.cloned());
    }

    /// The hierarchy, if its store can be opened.
    fn opened(&mut self) -> Option<Opened> {
        self.place.open().map_err(|message| self.faults.add(Fault::Unreadable, message)).ok()
    }

    fn judge(&mut self, pending: Vec<Operation>) -> Outcome {
        let Some(at) = self.opened() else { return Ok(()) };
        let arrived = check(&at, &self.model, &pending, &mut self.faults);
        let grows_first = at.grows_first();
        // No other process could open some databases.
        drop(at);
        let is_missing = |operation: &Operation| !matches!(operation, Operation::Append { number, .. } if arrived.contains(number));
        let (missing, there): (Vec<_>, Vec<_>) = pending.into_iter().partition(is_missing);
        for operation in &there {
            match operation {
                Operation::Append { number, rows, .. } if grows_first => {
                    self.model.holed.insert(*number, *rows);
                }
                operation => self.model.apply(operation),
            }
        }
        if !self.faults.is_empty() {
            return Ok(());
        }
        self.repeat(missing)?;
        let Some(at) = self.opened() else { return Ok(()) };
        check(&at, &self.model, &[], &mut self.faults);
        if self.model.consolidated {
            self.check_consolidated(&at);
        }
        check_keys(&at, &mut self.faults);
        if self.kind == Kind::Directory {
            for place in self.copies.iter().chain([&self.place]) {
                check_files(Path::new(&place.url), &mut self.faults);
            }
        }
        Ok(())
    }

    /// Gives the interrupted commands again, makes sure that growing brings nothing to light, and writes once into every directory.
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

    /// Lets a process work that is not killed.
    fn work(&mut self, hands: Vec<Hand>, fault: Fault) -> Outcome {
        let job = Job { place: self.place.clone(), hands, again: true };
        let ended = Launcher::ours()?.run(&job, None, None)?;
        for (hand, progress) in job.hands.iter().zip(&ended.hands) {
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

    /// Deletes the hierarchy. What stays costs only room.
    fn discard(&self) {
        for place in self.copies.iter().chain([&self.place]) {
            let _ = place.open().map(|at| OpenOptions::new().delete_in(at.store.clone(), &at.path));
        }
    }
}
