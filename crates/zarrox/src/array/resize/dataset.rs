//! Growing datasets: arrays below a group whose shapes change together.
//!
//! A mark is stored in the group before the shapes are read, and removed when the whole change is stored. Only one writer at a
//! time therefore appends to a dataset, even if no lock excludes other writers. The mark records the old and the new lengths, so
//! that the next writer can determine how far a dead writer got.
//!
//! - If some array is shorter than its new length, all arrays are restored to their old shapes, which undoes the append.
//! - If all arrays have their new lengths, the rows are stored, since rows are stored before shapes. Repeating the append of the
//!   same rows does nothing.

use std::time::Duration;

use zarrox_core::internals::json::to_bytes;
use zarrox_core::json::{self, Json, json};
use zarrox_core::{Error, ErrorKind, NodeMetadata, Result};
use zarrox_stores::Key;
use zarrox_stores::internals::system::system;

use super::super::Array;
use crate::guarded::{LockedValue, backoff, until_unchanged};
use crate::hierarchy::{DATASET, DOCUMENT_LIMIT, Found, Owner, renewing};
use crate::location::Location;

/// The longest time to wait for any one other writer of the dataset.
const PATIENCE: Duration = Duration::from_secs(60);

/// How one array of a dataset grows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrownArray {
    /// The path of the array below the group.
    pub path: String,
    /// The axis along which the array grows.
    pub axis: usize,
    /// The length along this axis before the growth.
    pub before: u64,
    /// The length along this axis after the growth.
    pub after: u64,
}

/// The lease for growing the arrays below a group. See [`Group::grow_with`](crate::Group::grow_with).
#[derive(Debug, Clone)]
pub struct Growth {
    group: Location,
    owner: Owner,
    left: Vec<GrownArray>,
}

/// What a dead writer has left behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DatasetRemains {
    /// No array has grown, or another writer has changed the lengths since.
    Nothing,
    /// Some arrays have grown.
    Partial,
    /// All arrays have grown, and have their rows.
    Stored,
}

/// The content of the mark.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Mark {
    /// The owner; `None` once the work is finished, in a store that cannot erase the mark.
    owner: Option<Owner>,
    /// True if the rows are written before the shapes.
    is_written: bool,
    arrays: Vec<GrownArray>,
}

impl Growth {
    /// Waits for other writers that append to the dataset, takes the mark, and undoes the partial append of a dead writer. An
    /// error from `waiting` ends the wait.
    pub(crate) fn begin(group: &Location, waiting: impl Fn() -> Result<()>) -> Result<Self> {
        let mut growth = Self { group: group.as_stored(), owner: Owner::new(), left: Vec::new() };
        let left = growth.take(waiting)?;
        match left.settle(&growth.group) {
            Ok(DatasetRemains::Stored) => growth.left = left.arrays,
            Ok(_) => {}
            Err(error) => {
                growth.abandon();
                return Err(error.at("undoing an append to the dataset that was interrupted"));
            }
        }
        Ok(growth)
    }

    /// Runs work while renewing the lease. If the work fails, the change is undone here or by the next writer.
    pub(crate) fn around<R>(self, work: impl FnOnce(&Self) -> Result<R>) -> Result<R> {
        let mut mark = Unfinished { growth: &self, is_left: true };
        let renew = || drop(self.edit_own(|mark| mark.owner.iter_mut().for_each(Owner::renew)));
        let done = renewing(renew, || work(&self));
        if done.is_err() && !self.is_undone() {
            return done;
        }
        let ended = self.end();
        mark.is_left = ended.is_err();
        done.and_then(|done| ended.map(|()| done))
    }

    /// Returns the arrays to which a dead writer has appended all of its rows. The writer may have died before it made other
    /// changes, such as changes to attributes. The list is empty if there was no mark, or if the append was undone.
    pub fn left(&self) -> &[GrownArray] {
        &self.left
    }

    /// Records in the mark which arrays are about to grow. This must be called before the first of them grows.
    ///
    /// `is_written` is false if the shapes are stored before the rows are written.
    ///
    /// # Errors
    /// When the store cannot be written, or another writer has taken the lease because this process did not renew it in time.
    pub fn note(&self, arrays: &[GrownArray], is_written: bool) -> Result<()> {
        let is_mine = self.edit_own(|mark| {
            mark.arrays = arrays.to_vec();
            mark.is_written = is_written;
        })?;
        match is_mine {
            true => Ok(()),
            false => Err(Error::new(
                ErrorKind::Conflict,
                "another writer appends to the dataset, since this process did not renew its lease in time",
            )),
        }
    }

    /// Stores the mark in the group, and returns the mark of a dead writer.
    fn take(&self, waiting: impl Fn() -> Result<()>) -> Result<Mark> {
        let (mut waited_for, mut waited, mut attempt) = (None, Duration::ZERO, 0);
        loop {
            let there = until_unchanged(|| self.try_take())?;
            if !there.is_held() || there.is_of(&self.owner) {
                return Ok(there);
            }
            if waited_for.as_ref().is_none_or(|other| !there.is_of(other)) {
                (waited_for, waited, attempt) = (there.owner, Duration::ZERO, 0);
            }
            if waited > PATIENCE {
                let seconds = PATIENCE.as_secs();
                let message = format!(
                    "another writer has been appending to the dataset for {seconds} s; try again later"
                );
                return Err(Error::new(ErrorKind::TimedOut, message).at(self.group.to_string()));
            }
            waiting()?;
            let delay = backoff(attempt);
            system().sleep(delay);
            // The delays are added up instead of reading the clock, which can be set during the wait.
            waited += delay;
            attempt += 1;
        }
    }

    /// Stores a mark of this process if there is none, or if the owner of the existing one is dead. Returns the mark that was
    /// found, or the new mark if there was none.
    fn try_take(&self) -> Result<Mark> {
        let mine = Mark::new(Some(self.owner.clone()));
        let (held, there) = self.locked()?;
        let there = match there {
            None => mine.clone(),
            Some(there) if there.is_held() => return Ok(there),
            Some(there) => there,
        };
        held.replace(&self.group, &Mark { owner: mine.owner, ..there.clone() }.to_bytes()?)?;
        Ok(there)
    }

    /// Locks the mark, and reads it.
    fn locked(&self) -> Result<(LockedValue, Option<Mark>)> {
        let held = self.group.locked_value(&key(&self.group)?, DOCUMENT_LIMIT)?;
        let there = held.bytes().map(|bytes| Mark::parsed(bytes, held.key())).transpose()?;
        Ok((held, there))
    }

    /// Changes the mark. Returns false if this process no longer owns the mark.
    fn edit_own(&self, edit: impl Fn(&mut Mark)) -> Result<bool> {
        until_unchanged(|| {
            let (held, there) = self.locked()?;
            let Some(mut mark) = there.filter(|mark| mark.is_of(&self.owner)) else { return Ok(false) };
            edit(&mut mark);
            held.replace(&self.group, &mark.to_bytes()?)?;
            Ok(true)
        })
    }

    /// Returns true if the work was undone completely.
    fn is_undone(&self) -> bool {
        let mark = read(&self.group).ok().flatten().filter(|mark| mark.is_of(&self.owner));
        mark.is_some_and(|mark| {
            matches!(mark.settle(&self.group), Ok(DatasetRemains::Nothing | DatasetRemains::Partial))
        })
    }

    /// Removes the mark.
    fn end(&self) -> Result<()> {
        let key = key(&self.group)?;
        let removed = until_unchanged(|| {
            let (held, there) = self.locked()?;
            if !there.is_some_and(|mark| mark.is_of(&self.owner)) {
                return Ok(());
            }
            match held.erase(&self.group) {
                Err(error) if error.kind() == ErrorKind::Conflict => Err(error),
                // Some archives cannot erase objects: a mark without an owner is equivalent to no mark.
                Err(_) => held.replace(&self.group, &Mark::new(None).to_bytes()?),
                erased => erased,
            }
        });
        removed.map_err(|error| {
            error.at(format!("everything is stored, but the mark of the append could not be erased: '{key}'"))
        })
    }

    /// Gives up the mark, so that the next writer can take it.
    fn abandon(&self) {
        // If the update fails, other writers detect that the lease is no longer renewed.
        let _ = self.edit_own(|mark| mark.owner.iter_mut().for_each(Owner::give_up));
    }
}

/// Gives up the mark on drop, unless the mark has been removed.
struct Unfinished<'a> {
    growth: &'a Growth,
    is_left: bool,
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        if self.is_left {
            self.growth.abandon();
        }
    }
}

impl Mark {
    /// Creates a mark for an owner that has not changed anything yet.
    fn new(owner: Option<Owner>) -> Self {
        Self { owner, is_written: true, arrays: Vec::new() }
    }

    fn is_of(&self, owner: &Owner) -> bool {
        self.owner.as_ref().is_some_and(|mine| mine.is(owner))
    }

    fn is_held(&self) -> bool {
        self.owner.as_ref().is_some_and(|owner| !owner.is_gone())
    }

    fn is_left(&self) -> bool {
        self.owner.as_ref().is_some_and(Owner::is_gone)
    }

    /// Undoes a partial change, and returns what the writer had left behind.
    fn settle(&self, group: &Location) -> Result<DatasetRemains> {
        let (left, mut arrays) = self.look(group)?;
        if left == DatasetRemains::Partial {
            for (array, longer) in arrays.iter_mut().zip(&self.arrays) {
                if array.shape()[longer.axis] == longer.after {
                    let mut shape = array.shape().to_vec();
                    shape[longer.axis] = longer.before;
                    array.resize(&shape)?;
                }
            }
        }
        Ok(left)
    }

    /// Returns what the writer has left behind, and the arrays.
    fn look(&self, group: &Location) -> Result<(DatasetRemains, Vec<Array>)> {
        let mut arrays = Vec::with_capacity(self.arrays.len());
        for longer in &self.arrays {
            let found = group.at(group.path.join(&longer.path)?).find()?;
            let Some(Found { location, node: NodeMetadata::Array(metadata), .. }) = found else {
                return Ok((DatasetRemains::Nothing, arrays));
            };
            arrays.push(Array::new(location, metadata)?);
        }
        Ok((self.judge(&arrays), arrays))
    }

    fn judge(&self, arrays: &[Array]) -> DatasetRemains {
        let lengths = || self.arrays.iter().zip(arrays.iter().map(|array| array.shape()));
        let all = |is: fn(&GrownArray, u64) -> bool| {
            lengths().all(|(longer, shape)| shape.get(longer.axis).is_some_and(|length| is(longer, *length)))
        };
        let is_begun = !all(|longer, length| length == longer.before);
        if self.is_written && is_begun && all(|longer, length| length >= longer.after) {
            return DatasetRemains::Stored;
        }
        match is_begun && all(|longer, length| length == longer.before || length == longer.after) {
            true => DatasetRemains::Partial,
            false => DatasetRemains::Nothing,
        }
    }

    fn to_bytes(&self) -> Result<Vec<u8>> {
        let about = "an append to a dataset that zarrox has begun; give the same command again to finish it";
        let longer = |array: &GrownArray| {
            let GrownArray { path, axis, before, after } = array;
            json!({"path": path, "axis": axis, "before": before, "after": after})
        };
        let arrays: Vec<Json> = self.arrays.iter().map(longer).collect();
        let owner = self.owner.as_ref().map_or(Json::Null, Owner::to_json);
        let is_written = self.is_written;
        let document = json!({"about": about, "owner": owner, "written": is_written, "arrays": arrays});
        let Json::Object(map) = document else { return Ok(Vec::new()) };
        to_bytes(&map)
    }

    fn parsed(bytes: &[u8], key: &Key) -> Result<Self> {
        Self::from_bytes(bytes).ok_or_else(|| {
            let message = format!(
                "'{key}' is damaged: it does not record which process appends to the dataset; delete it"
            );
            Error::new(ErrorKind::Corrupt, message)
        })
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let map = json::parse_object(bytes).ok()?;
        let longer = |json: &Json| {
            let map = json.as_object()?;
            let number = |name: &str| map.get(name).and_then(Json::as_u64);
            let (axis, path) =
                (usize::try_from(number("axis")?).ok()?, map.get("path")?.as_str()?.to_owned());
            Some(GrownArray { path, axis, before: number("before")?, after: number("after")? })
        };
        let owner = match map.get("owner")? {
            Json::Null => None,
            owner => Some(Owner::from_json(owner.as_object()?)?),
        };
        Some(Self {
            owner,
            is_written: map.get("written")?.as_bool()?,
            arrays: map.get("arrays")?.as_array()?.iter().map(longer).collect::<Option<_>>()?,
        })
    }
}

/// Returns what a dead writer has left behind in a group; `None` if there is no mark, or its owner is still running.
pub fn dataset_remains(group: &Location) -> Result<Option<DatasetRemains>> {
    let group = group.as_stored();
    match read(&group)?.filter(Mark::is_left) {
        Some(mark) => Ok(Some(mark.look(&group)?.0)),
        None => Ok(None),
    }
}

/// Undoes the partial change of a dead writer, and removes the mark.
pub fn settle_dataset(group: &Location) -> Result<()> {
    Growth::begin(group, || Ok(()))?.around(|_| Ok(()))
}

fn read(group: &Location) -> Result<Option<Mark>> {
    let key = key(group)?;
    group.bytes(&key, DOCUMENT_LIMIT)?.map(|bytes| Mark::parsed(&bytes, &key)).transpose()
}

fn key(group: &Location) -> Result<Key> {
    Key::new(group.path.key(DATASET)).map_err(Error::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_read_as_they_were_written() {
        let arrays = vec![GrownArray { path: "g/a".to_owned(), axis: 1, before: 2, after: 5 }];
        let mark = Mark { owner: Some(Owner::new()), is_written: false, arrays };
        for mark in [Mark { owner: None, ..mark.clone() }, mark] {
            assert_eq!(Mark::from_bytes(&mark.to_bytes().unwrap()).unwrap(), mark);
        }
        for bytes in ["", "{}", r#"{"owner": {}, "written": true, "arrays": []}"#] {
            assert!(Mark::parsed(bytes.as_bytes(), &Key::new("a").unwrap()).is_err(), "{bytes}");
        }
    }
}
