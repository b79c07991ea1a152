//! The acts of the tasks of a run, in the order in which they began and ended: [`History`].

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::element::element;

use super::plan::Act;
use super::world::{DAMAGED_SHAPE, FIRST, SHAPE};

/// One act of a task.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) task: u64,
    pub(super) act: Act,
    begun: u64,
    /// The time of its end, and its error; `None` if its process was killed.
    ended: Option<(u64, Option<String>)>,
    /// The elements that the act has read.
    read: Option<Vec<u64>>,
}

impl Entry {
    /// Returns true if the act succeeded.
    pub(super) fn is_done(&self) -> bool {
        matches!(self.ended, Some((_, None)))
    }

    /// Returns the error with which the act ended.
    pub(super) fn error(&self) -> Option<&str> {
        self.ended.as_ref()?.1.as_deref()
    }
}

/// All acts that have begun. Clones share the history.
#[derive(Debug, Clone, Default)]
pub(super) struct History(Arc<Mutex<Entries>>);

#[derive(Debug, Default)]
struct Entries {
    time: u64,
    list: Vec<Entry>,
}

impl Entries {
    fn now(&mut self) -> u64 {
        self.time += 1;
        self.time
    }
}

impl History {
    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that an act begins. Returns its number.
    pub(super) fn begin(&self, task: u64, act: Act) -> usize {
        let mut entries = self.lock();
        let begun = entries.now();
        entries.list.push(Entry { task, act, begun, ended: None, read: None });
        entries.list.len() - 1
    }

    /// Records that an act is done, or has failed.
    pub(super) fn end(&self, number: usize, done: Result<Option<Vec<u64>>, String>) {
        let mut entries = self.lock();
        let now = entries.now();
        let entry = &mut entries.list[number];
        match done {
            Ok(read) => (entry.read, entry.ended) = (read, Some((now, None))),
            Err(error) => entry.ended = Some((now, Some(error))),
        }
    }

    /// Returns all acts in the order in which they began.
    pub(super) fn entries(&self) -> Vec<Entry> {
        self.lock().list.clone()
    }
}

/// The values that an element may have had between two times: the number of the operation, and when it began and was done.
struct Writes(Vec<(u64, u64, Option<u64>)>);

impl Writes {
    /// Returns the values of one element. `number` returns the operation whose value an act writes. The first value is the initial
    /// one.
    fn new(entries: &[Entry], number: impl Fn(Act) -> Option<u64>) -> Self {
        let mut writes = vec![(FIRST, 0, Some(0))];
        for entry in entries {
            if let Some(number) = number(entry.act) {
                let done = entry.ended.as_ref().filter(|_| entry.is_done()).map(|(time, _)| *time);
                writes.push((number, entry.begun, done));
            }
        }
        Self(writes)
    }

    /// Returns the numbers of the operations whose values may be read between two times.
    fn between(&self, begun: u64, ended: u64) -> Vec<u64> {
        let last = self.0.iter().rposition(|(_, _, done)| done.is_some_and(|done| done < begun)).unwrap_or(0);
        self.0[last..].iter().filter(|(_, start, _)| *start < ended).map(|(number, ..)| *number).collect()
    }

    fn all(&self) -> Vec<u64> {
        self.0.iter().map(|(number, ..)| *number).collect()
    }
}

/// The allowed values of an element of the board.
#[derive(Debug, Clone, Copy)]
pub(super) struct Allowed {
    /// True if no durability was guaranteed: every value that was ever written is allowed.
    pub(super) any: bool,
    /// True if fill values are allowed as well, since the board was deleted.
    pub(super) fill: bool,
}

impl Allowed {
    /// Describes the wrong elements of the board at the end.
    pub(super) fn wrong_at_the_end(self, entries: &[Entry], found: &[u64]) -> Vec<String> {
        self.wrong(entries, found, u64::MAX - 1, u64::MAX, &SHAPE, board_number)
    }

    /// Describes the wrong elements of the left half of the damaged array.
    pub(super) fn wrong_in_damaged(self, entries: &[Entry], found: &[u64]) -> Vec<String> {
        let mut found = found.to_vec();
        // The damaged elements may be lost.
        let columns = usize::try_from(DAMAGED_SHAPE[1]).unwrap_or(1);
        for (at, value) in found.iter_mut().enumerate() {
            if at % columns >= columns / 2 {
                *value = element(FIRST, at as u64);
            }
        }
        self.wrong(entries, &found, u64::MAX - 1, u64::MAX, &DAMAGED_SHAPE, damaged_number)
    }

    /// Describes the elements of the board that readers have read although they were not allowed.
    pub(super) fn wrong_for_readers(self, entries: &[Entry]) -> Vec<String> {
        let reads = entries.iter().filter_map(|entry| {
            let (ended, _) = entry.ended.as_ref()?;
            Some((entry.begun, *ended, entry.read.as_ref()?))
        });
        reads
            .flat_map(|(begun, ended, read)| self.wrong(entries, read, begun, ended, &SHAPE, board_number))
            .collect()
    }

    fn wrong(
        self,
        entries: &[Entry],
        found: &[u64],
        begun: u64,
        ended: u64,
        shape: &[u64; 2],
        number: fn(Act, u64) -> Option<u64>,
    ) -> Vec<String> {
        let mut wrong = Vec::new();
        for (at, value) in found.iter().enumerate() {
            let at = at as u64;
            let writes = Writes::new(entries, |act| number(act, at));
            let mut allowed = if self.any { writes.all() } else { writes.between(begun, ended) };
            if self.fill {
                allowed.push(0);
            }
            if !allowed.iter().any(|number| element(*number, at) == *value) {
                let expected: Vec<String> = allowed.iter().map(u64::to_string).collect();
                let found = crate::element::describe(*value);
                wrong.push(format!(
                    "element {at} is {found} instead of operation {}'s",
                    expected.join(" or ")
                ));
            }
        }
        if found.len() as u64 != shape.iter().product::<u64>() {
            wrong.push(format!("the array has {} elements", found.len()));
        }
        wrong
    }
}

/// Returns the number of the operation whose value an act writes at a position of the board.
fn board_number(act: Act, at: u64) -> Option<u64> {
    let Act::Write { start, shape, number } = act else { return None };
    let [row, column] = [at / SHAPE[1], at % SHAPE[1]];
    let inside = |index: u64, dim: usize| (start[dim]..start[dim] + shape[dim]).contains(&index);
    (inside(row, 0) && inside(column, 1)).then_some(number)
}

/// Returns the number of the operation whose value an act writes at a position of the damaged array.
fn damaged_number(act: Act, position: u64) -> Option<u64> {
    let Act::Mend { at: [row, column], number } = act else { return None };
    (row * DAMAGED_SHAPE[1] + column == position).then_some(number)
}

/// Returns the possible final values of attributes by their names.
pub(super) fn attributes(entries: &[Entry]) -> BTreeMap<String, Vec<u64>> {
    let mut values: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for entry in entries {
        if let Act::Attribute { number } = entry.act {
            let possible = values.entry(format!("of-{}", entry.task)).or_insert_with(|| vec![0]);
            if entry.is_done() {
                possible.clear();
            }
            possible.push(number);
        }
    }
    values
}
