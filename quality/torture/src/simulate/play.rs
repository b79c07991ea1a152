//! One run of a plan: [`play`].

use std::collections::BTreeMap;
use std::sync::Arc;

use zarrox_testkit::simulation::{Ended, Schedule, Stage, Work};

use super::act::{Actor, Machine};
use super::history::History;
use super::judge::judge;
use super::plan::Plan;
use crate::fault::Faults;
use crate::outcome::Outcome;

/// The process that checks the results.
const JUDGE: usize = 99;

/// The results of a run.
pub(super) struct Shown {
    pub(super) ended: Ended,
    pub(super) faults: Faults,
}

impl Shown {
    /// Returns the kind of the first fault: a shrunk run must fail for the same reason.
    pub(super) fn reason(&self) -> Option<String> {
        let (fault, message) = self.faults.list().first()?;
        let words: Vec<&str> = message.split([' ', ':']).take(2).collect();
        Some(format!("{}: {}", fault.name(), words.join(" ")))
    }
}

/// Runs a plan once.
pub(super) fn play(plan: &Plan, schedule: Schedule, traced: bool) -> Outcome<Shown> {
    let stage = Stage::new(schedule, traced);
    let (first, second) = plan.world.contents().map_err(|error| error.to_string())?;
    stage.add_disk(plan.kind, plan.sync, &first);
    stage.add_disk(plan.kind, plan.sync, &second);
    // The existing data were written some time ago.
    stage.wait(10_000);
    let history = History::default();
    let mut machines: BTreeMap<usize, Arc<Machine>> = BTreeMap::new();
    let mut works: Vec<(usize, Work)> = Vec::new();
    for (index, hand) in plan.hands.clone().into_iter().enumerate() {
        let machine =
            machines.entry(hand.process).or_insert_with(|| Arc::new(Machine::new(&stage, hand.process)));
        let mut actor = Actor::new(Arc::clone(machine), plan.world, hand.task, false);
        let (stage, history) = (stage.clone(), history.clone());
        let work = move || {
            for act in hand.acts {
                stage.record(|| format!("task {index} begins {act:?}"));
                let number = history.begin(hand.task, act);
                let done = actor.act(act).map_err(|error| error.to_string());
                if !stage.is_alive(hand.process) {
                    return;
                }
                stage.record(|| match &done {
                    Ok(_) => format!("task {index} has finished"),
                    Err(error) => format!("task {index} failed: {error}"),
                });
                let failed = done.is_err();
                history.end(number, done);
                if failed {
                    return;
                }
            }
        };
        works.push((hand.process, Box::new(work)));
    }
    let ended = stage.run(works)?;
    stage.wait(10_000);
    let machine = Arc::new(Machine::new(&stage, JUDGE));
    let faults = stage.observe(JUDGE, || judge(plan, &ended, &history, machine));
    Ok(Shown { ended, faults })
}
