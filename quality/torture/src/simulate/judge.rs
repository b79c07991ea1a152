//! The check of the results of a run: [`judge`].

use std::collections::BTreeMap;
use std::sync::Arc;

use ndarray::{ArrayD, Axis, Slice};
use zarrox::json::Json;
use zarrox::{Array, DimSelection, Error, ErrorKind, Group, Node};
use zarrox_testkit::simulation::{Ended, Kind};
use zarrox_tools::check::{Check, FindingKind, Repair};

use crate::check::{Blocks, run};
use crate::element::{element, origin, selection};
use crate::fault::{Fault, Faults};
use crate::leftovers::check_keys;
use crate::place::Opened;
use crate::world::{LOG, NOTES, NUMBER};

use super::act::{Actor, Machine, copied, halved, made};
use super::history::{Allowed, Entry, History, attributes};
use super::plan::{Act, Plan};
use super::world::{
    BOARD, DAMAGED, DATASET, FIRST, MOVED, PULSE, PULSE_LENGTH, SOURCE_SHAPE, VARIABLES, first, options,
};

/// Repeats the interrupted commands, and compares the hierarchy with the completed acts.
pub(super) fn judge(plan: &Plan, ended: &Ended, history: &History, machine: Arc<Machine>) -> Faults {
    let mut faults = Faults::default();
    if let Some(failure) = &ended.failure {
        faults.add(Fault::Failed, failure.clone());
    }
    let may_fail = ended.schedule.has_faults();
    let is_lossy = ended.crashed && !plan.sync;
    let begun = history.entries().iter().map(|entry| entry.act).collect();
    let is_failed = |entry: &Entry| matches!(entry.act, Act::Append { .. }) && entry.error().is_some();
    let has_failed_append = history.entries().iter().any(is_failed);
    let mut judge = Judge { plan, begun, machine, faults, may_fail, has_failed_append, is_lossy };
    judge.errors(&history.entries());
    judge.readers(&history.entries());
    judge.again(history);
    let entries = history.entries();
    judge.board(&entries);
    judge.damaged(&entries);
    judge.log(&entries);
    judge.dataset(&entries);
    judge.pulse(&entries);
    judge.attributes(&entries);
    judge.made(&entries);
    judge.copies(&entries);
    judge.grow();
    judge.left();
    judge.faults
}

struct Judge<'a> {
    plan: &'a Plan,
    /// The acts that have begun.
    begun: Vec<Act>,
    machine: Arc<Machine>,
    faults: Faults,
    /// True if calls have failed, or processes were killed.
    may_fail: bool,
    has_failed_append: bool,
    /// True if the machine has crashed and nothing was flushed.
    is_lossy: bool,
}

impl Judge<'_> {
    /// Returns true if an act for which `is_meant` is true has begun.
    fn has(&self, is_meant: impl Fn(Act) -> bool) -> bool {
        self.begun.iter().any(|act| is_meant(*act))
    }

    fn allowed(&self) -> Allowed {
        let fill = self.has(|act| matches!(act, Act::Delete | Act::Recreate));
        Allowed { any: self.is_lossy || fill, fill }
    }

    /// Checks that no act failed without an injected fault, except acts that met a change of the whole array.
    fn errors(&mut self, entries: &[Entry]) {
        let meets = |act: Act| act.is_of_board() && self.has(Act::is_structural);
        let converts = self.has(|act| act == Act::Convert);
        let judged = entries.iter().filter(|entry| !self.may_fail && !converts && !meets(entry.act));
        let failures = judged.filter_map(|entry| Some(format!("{}: {}", entry.act.name(), entry.error()?)));
        for message in failures.collect::<Vec<String>>() {
            self.faults.add(Fault::Failed, message);
        }
    }

    fn readers(&mut self, entries: &[Entry]) {
        let wrong = self.allowed().wrong_for_readers(entries);
        self.wrong("a reader", &wrong);
    }

    fn wrong(&mut self, what: &str, wrong: &[String]) {
        if let Some(first) = wrong.first() {
            let fault = if wrong.iter().any(|wrong| wrong.contains("fill value")) {
                Fault::Lost
            } else {
                Fault::Torn
            };
            self.faults.add(fault, format!("{what}: {} elements are wrong: {first}", wrong.len()));
        }
    }

    /// Repeats the interrupted commands, which must complete them.
    fn again(&mut self, history: &History) {
        let entries = history.entries();
        let arrived = self.rows(LOG).map(|rows| numbers(&rows)).unwrap_or_default();
        let mut pending: Vec<&Entry> = entries.iter().filter(|entry| !entry.is_done()).collect();
        pending.sort_by_key(|entry| !entry.act.is_structural());
        for entry in pending {
            let is_there = matches!(entry.act, Act::Append { number, .. } if arrived.contains(&number));
            let is_gone = matches!(entry.act, Act::Write { .. } | Act::Read | Act::ReadAgain)
                && self.has(|act| act == Act::Delete);
            if is_there || is_gone || (self.is_lossy && matches!(entry.act, Act::Append { .. })) {
                continue;
            }
            let number = history.begin(entry.task, entry.act);
            let mut actor = Actor::new(Arc::clone(&self.machine), self.plan.world, entry.task, true);
            let done = actor.act(entry.act).or_else(|error| match self.begins_anew(entry.act) {
                true => actor.act(entry.act),
                false => Err(error),
            });
            let done = done.map_err(|error| error.to_string());
            if let Err(error) = &done {
                self.faults.add(Fault::NotContinued, format!("repeating {}: {error}", entry.act.name()));
            }
            history.end(number, done);
        }
    }

    /// Deletes the copy of a move to another store whose source is intact, and returns true if the move begins again: a move by
    /// copying fails if the source was changed after it was copied.
    fn begins_anew(&self, act: Act) -> bool {
        let [here, there] = [0, 1].map(|store| self.machine.stores[store].clone());
        act == Act::MoveAcross
            && options().open((here, BOARD)).is_ok()
            && options().delete((there, MOVED)).is_ok()
    }

    fn root(&mut self) -> Option<Group> {
        let root = self.machine.root();
        root.map_err(|error| self.faults.add(Fault::Unreadable, format!("the root: {error}"))).ok()
    }

    fn read(&mut self, path: &str) -> Option<Vec<u64>> {
        let array = self.root()?.open(path).and_then(Node::into_array);
        let values = array.and_then(|array| array.read::<ArrayD<u64>>(..));
        let values = values.map_err(|error| self.faults.add(Fault::Unreadable, format!("'{path}': {error}")));
        Some(values.ok()?.iter().copied().collect())
    }

    fn board(&mut self, entries: &[Entry]) {
        if self.has(|act| act == Act::Delete) {
            if self.machine.board().is_ok() {
                self.faults.add(Fault::Stale, "the board was deleted but exists".to_owned());
            }
            return;
        }
        let board = match self.machine.board() {
            Ok(board) => board,
            Err(error) => return self.faults.add(Fault::Lost, format!("the board: {error}")),
        };
        match board.read::<ArrayD<u64>>(..) {
            Ok(values) => {
                let values: Vec<u64> = values.iter().copied().collect();
                let wrong = self.allowed().wrong_at_the_end(entries, &values);
                self.wrong("the board", &wrong);
            }
            Err(error) => self.faults.add(Fault::Unreadable, format!("the board: {error}")),
        }
        let is_moved = self.has(|act| matches!(act, Act::Move | Act::MoveAcross));
        let old = options().open((self.machine.stores[0].clone(), BOARD));
        if is_moved && old.is_ok() {
            self.faults
                .add(Fault::Left, format!("the board was moved but exists at '{BOARD}' and '{MOVED}'"));
        }
    }

    fn damaged(&mut self, entries: &[Entry]) {
        if !self.plan.world.damaged {
            return;
        }
        let array = self.root().and_then(|root| root.open(DAMAGED).and_then(Node::into_array).ok());
        let left = whole_half();
        let values = array
            .ok_or_else(|| "it is missing".to_owned())
            .and_then(|array| array.read::<ArrayD<u64>>(left).map_err(|error| error.to_string()));
        match values {
            Ok(values) => {
                let mut all = first(&super::world::DAMAGED_SHAPE);
                all.slice_axis_mut(Axis(1), Slice::from(0..2)).assign(&values);
                let found: Vec<u64> = all.iter().copied().collect();
                let wrong = self.allowed().wrong_in_damaged(entries, &found);
                self.wrong("the damaged array", &wrong);
            }
            Err(error) => self.faults.add(Fault::Lost, format!("the damaged array: {error}")),
        }
    }

    fn rows(&mut self, path: &str) -> Option<Vec<Vec<u64>>> {
        let values = self.read(path)?;
        Some(values.chunks(2).map(<[u64]>::to_vec).collect())
    }

    fn log(&mut self, entries: &[Entry]) {
        let Some(rows) = self.rows(LOG) else { return };
        if self.is_lossy {
            return;
        }
        let append = |act| if let Act::Append { rows, number } = act { Some((number, rows)) } else { None };
        let (done, pending) = blocks(entries, append);
        let most_holes = if self.may_have_holes() { usize::MAX } else { 0 };
        Blocks { array: LOG, done: &done, pending: &pending, most_holes }.check(&rows, &mut self.faults);
    }

    /// Checks that all arrays of the dataset have the same rows: those of each append, in one piece and once.
    fn dataset(&mut self, entries: &[Entry]) {
        if !self.plan.world.dataset || self.is_lossy {
            return;
        }
        let grow = |act| if let Act::Grow { rows, number } = act { Some((number, rows)) } else { None };
        let (done, pending) = blocks(entries, grow);
        let [Some(rows), Some(others)] = VARIABLES.map(|name| self.rows(&format!("{DATASET}/{name}"))) else {
            return;
        };
        if rows != others {
            self.faults.add(Fault::Torn, format!("the arrays of '{DATASET}' have different rows"));
        }
        Blocks { array: DATASET, done: &done, pending: &pending, most_holes: 0 }
            .check(&rows, &mut self.faults);
    }

    /// Returns true if an append may have left rows of fill values, since it was interrupted, or failed because the array was
    /// converted, when a later append was done.
    fn may_have_holes(&self) -> bool {
        let appends = self.begun.iter().filter(|act| matches!(act, Act::Append { .. })).count();
        self.plan.kind != Kind::Directory && (self.may_fail || self.has_failed_append) && appends > 1
    }

    /// Checks an array that only one task changes: all its states are known.
    fn pulse(&mut self, entries: &[Entry]) {
        if self.is_lossy {
            return;
        }
        let mut states = vec![first(&[PULSE_LENGTH.0]).iter().copied().collect::<Vec<u64>>()];
        for entry in entries {
            let change = |state: &Vec<u64>| changed(state, entry.act);
            let after: Vec<Vec<u64>> = states.iter().map(change).collect();
            if entry.is_done() {
                states = after;
            } else {
                states.extend(after);
            }
        }
        let Some(found) = self.read(PULSE) else { return };
        if !states.contains(&found) {
            let message = format!("'{PULSE}' is {found:?} instead of {:?}", states.last());
            self.faults.add(Fault::Torn, message);
        }
    }

    fn attributes(&mut self, entries: &[Entry]) {
        if self.is_lossy {
            return;
        }
        let Some(root) = self.root() else { return };
        let node = match root.open(NOTES) {
            Ok(node) => node,
            Err(error) => return self.faults.add(Fault::Unreadable, format!("'{NOTES}': {error}")),
        };
        for (name, possible) in attributes(entries) {
            let found = node.attributes().get(&name).and_then(Json::as_u64).unwrap_or(0);
            if !possible.contains(&found) {
                let message =
                    format!("the attribute '{name}' belongs to operation {found} instead of {possible:?}");
                self.faults.add(Fault::Lost, message);
            }
        }
    }

    /// Checks the arrays that belong to a single task. Each command was done in the end.
    fn made(&mut self, entries: &[Entry]) {
        if self.is_lossy {
            return;
        }
        let mut made_by: BTreeMap<u64, Option<u64>> = BTreeMap::new();
        for entry in entries.iter().filter(|entry| entry.is_done()) {
            match entry.act {
                Act::Create { number } => drop(made_by.insert(entry.task, Some(number))),
                Act::Remove => drop(made_by.insert(entry.task, None)),
                _ => {}
            }
        }
        let Some(root) = self.root() else { return };
        for (task, number) in made_by {
            let path = made(task);
            match (root.open(&path), number) {
                (Err(error), None) if error.kind() == ErrorKind::NotFound => {}
                (Ok(node), Some(number)) => {
                    let of = node.attributes().get(NUMBER).and_then(Json::as_u64);
                    let expected: Vec<u64> = (0..4).map(|at| element(number, at)).collect();
                    if self.read(&path).is_some_and(|values| values != expected) || of != Some(number) {
                        self.faults.add(
                            Fault::Lost,
                            format!("'{path}' differs from the array of operation {number}"),
                        );
                    }
                }
                (Ok(_), None) => self.faults.add(Fault::Stale, format!("'{path}' was deleted but exists")),
                (Err(error), _) => self.faults.add(Fault::Lost, format!("'{path}': {error}")),
            }
        }
    }

    fn copies(&mut self, entries: &[Entry]) {
        if self.is_lossy {
            return;
        }
        let expected: Vec<u64> = first(&SOURCE_SHAPE).iter().copied().collect();
        for entry in entries.iter().filter(|entry| entry.is_done()) {
            let path = match entry.act {
                Act::Copy => copied(entry.task),
                Act::Downsample => format!("{}/0", halved(entry.task)),
                _ => continue,
            };
            if self.read(&path).is_some_and(|values| values != expected) {
                self.faults.add(Fault::Lost, format!("'{path}' differs from its source"));
            }
        }
    }

    /// Grows arrays, which removes the leftovers of interrupted operations, and checks that they show fill values.
    fn grow(&mut self) {
        if self.plan.world.dataset {
            let grown = self.root().map(|root| root.open_group(DATASET)?.grow_with(|| Ok(()), |_| Ok(())));
            if let Some(Err(error)) = grown {
                self.faults.add(Fault::NotContinued, format!("'{DATASET}': {error}"));
            }
        }
        for path in [LOG, PULSE] {
            let Some(root) = self.root() else { return };
            if let Err(error) = root.open(path).and_then(Node::into_array).and_then(grown) {
                self.faults.add(Fault::Torn, format!("'{path}': {error}"));
            }
        }
    }

    /// Checks that a check finds nothing, and that every object belongs to a node.
    fn left(&mut self) {
        let Some(root) = self.root() else { return };
        if self.has(|act| act == Act::Consolidate) || self.plan.world.consolidated {
            self.consolidated(&root);
        }
        if self.plan.world.damaged {
            self.check(Some(Repair::default()));
        }
        self.check(None);
        let mut left = Faults::default();
        for store in &self.machine.stores {
            check_keys(&Opened { store: store.clone(), path: String::new() }, &mut left);
        }
        left.list().iter().for_each(|(fault, message)| self.faults.add(*fault, message.clone()));
    }

    fn consolidated(&mut self, root: &Group) {
        if self.may_fail || self.has(|act| act == Act::Convert) {
            // A killed writer leaves stale consolidated metadata.
            if let Err(error) = root.consolidate_metadata() {
                return self.faults.add(Fault::Failed, format!("consolidate: {error}"));
            }
        }
        match root.check_consolidated() {
            Ok(differences) if differences.is_empty() => {}
            Ok(differences) => {
                let message = format!("consolidated metadata differs in {} nodes", differences.len());
                self.faults.add(Fault::Stale, message);
            }
            Err(error) => self.faults.add(Fault::Unreadable, format!("consolidated metadata: {error}")),
        }
    }

    fn check(&mut self, repair: Option<Repair>) {
        let may_have_holes = self.may_have_holes();
        let check = Check::open_with(&options(), (self.machine.stores[0].clone(), ""));
        match check.and_then(|check| run(check, repair)) {
            Ok(_) if repair.is_some() => {}
            Ok(mut found) => {
                found.retain(|finding| finding.kind != FindingKind::UnfinishedWork || !may_have_holes);
                if let Some(first) = found.first() {
                    self.faults.add(Fault::Left, format!("a check has {} findings: {first}", found.len()));
                }
            }
            Err(error) => self.faults.add(Fault::Failed, format!("check: {error}")),
        }
    }
}

/// Returns the completed and the incomplete appends by their numbers, each with its number of rows.
fn blocks(
    entries: &[Entry],
    append: impl Fn(Act) -> Option<(u64, u64)>,
) -> (BTreeMap<u64, u64>, BTreeMap<u64, u64>) {
    let (mut done, mut pending) = (BTreeMap::new(), BTreeMap::new());
    for entry in entries {
        if let Some((number, rows)) = append(entry.act) {
            if entry.is_done() {
                done.insert(number, rows)
            } else {
                pending.insert(number, rows)
            };
        }
    }
    pending.retain(|number, _| !done.contains_key(number));
    (done, pending)
}

/// Grows an array, checks that the new part has fill values, and shrinks it again.
fn grown(mut array: Array) -> zarrox::Result<()> {
    let before = array.shape().to_vec();
    let mut shape = before.clone();
    shape[0] += PULSE_LENGTH.0;
    array.resize(&shape)?;
    let new = array.read::<ArrayD<u64>>(DimSelection::from(before[0]..shape[0]))?;
    if let Some(found) = new.iter().find(|&&found| found != 0) {
        let message = format!("what was grown shows {}", crate::element::describe(*found));
        return Err(Error::new(ErrorKind::Corrupt, message));
    }
    array.resize(&before)
}

/// Returns the elements of the array of one task after an act.
fn changed(state: &[u64], act: Act) -> Vec<u64> {
    let mut state = state.to_vec();
    match act {
        Act::Resize { length } => state.resize(usize::try_from(length).unwrap_or(0), 0),
        Act::Pulse { chunk, number } => {
            for at in chunk * PULSE_LENGTH.1..(chunk + 1) * PULSE_LENGTH.1 {
                if let Some(value) = usize::try_from(at).ok().and_then(|at| state.get_mut(at)) {
                    *value = element(number, at);
                }
            }
        }
        _ => {}
    }
    state
}

/// Returns the operations whose elements are in rows.
fn numbers(rows: &[Vec<u64>]) -> Vec<u64> {
    rows.iter().flatten().map(|value| origin(*value).0).filter(|number| *number > FIRST).collect()
}

/// Returns the intact half of the damaged array.
fn whole_half() -> zarrox::Selection {
    selection(&[0, 0], &[2, 2])
}
