//! Concurrent appends in stores that support conditional writes, but have no locks that exclude all writers.
//!
//! 1. The writer reserves its rows, after the end of the array and after all rows that other writers have reserved.
//! 2. It writes the rows outside the shape, where readers do not see them yet.
//! 3. It stores the new shape. If earlier rows are still being written by other writers, readers see fill values there in the
//!    meantime.
//! 4. It removes the reservation.
//!
//! If a writer dies before the third step, the array is unchanged, and the reservation remains. The next append, or a check,
//! detects that the writer is dead, clears the rows and takes them over; if other writers have appended later rows, the cleared
//! rows are recorded as free. Rows that are reserved by a live writer are never touched by other writers.

use zarrox_core::{
    ChunkGrid, DimSelection, Error, ErrorKind, IntoSelection, NodeMetadata, Result, Selection,
};

use super::super::Array;
use super::appended_shape;
use super::reserved::Reserved;
use crate::guarded::{until_unchanged, wait_for_others};
use crate::hierarchy::{Owner, renewing};

/// The number of attempts to reserve rows while other writers keep changing the shape.
const ATTEMPTS: u32 = 100;

/// The number of times that an append waits for other appends to release rows that start within the shape. If such rows remain
/// afterwards, the append skips them; the skipped rows have fill values until another append uses them.
const PATIENCE: u32 = 30;

/// The number of attempts to remove a reservation whose rows are stored.
const REMOVALS: u32 = 6;

/// A reservation of this process. If it is dropped before it has been removed, other writers clear its rows.
struct Reservation<'a> {
    array: &'a Array,
    owner: Owner,
    is_done: bool,
}

impl Reservation<'_> {
    /// Runs work while renewing the lease of the owner.
    fn renewing<R>(&self, work: impl FnOnce() -> R) -> R {
        // A failed renewal is retried before the lease expires.
        renewing(|| drop(self.array.each_of(&self.owner, Owner::renew)), work)
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        if !self.is_done {
            // If the update fails, other writers eventually detect that the lease is no longer renewed.
            let _ = self.array.give_up(&self.owner);
        }
    }
}

/// A guard that prevents all other writers from appending until it is dropped.
pub struct ExclusiveAppender<'a>(Reservation<'a>);

impl ExclusiveAppender<'_> {
    /// Runs work that may take a long time, while renewing the lease.
    pub(super) fn renewing<R>(&self, work: impl FnOnce() -> R) -> R {
        self.0.renewing(work)
    }
}

impl Drop for ExclusiveAppender<'_> {
    fn drop(&mut self) {
        self.0.is_done = self.0.array.without(&self.0.owner).is_ok();
    }
}

/// Rows that were reserved for an append that failed, or whose writer is dead.
#[derive(Debug)]
pub struct UnwrittenRows {
    /// The axis along which rows are appended.
    pub axis: usize,
    /// The first row.
    pub start: u64,
    /// The row after the last one.
    pub end: u64,
    /// True if the rows have already been cleared to fill values.
    pub is_cleared: bool,
}

/// The outcome of an attempt to reserve rows.
enum Attempt {
    /// `rows` were reserved. `before` are the earlier rows that other writers have reserved; all reserved rows end at or before
    /// `behind`.
    Reserved { rows: Reserved, behind: u64, was_free: bool, before: Vec<Reserved> },
    /// Rows of dead writers must be cleared first.
    Left,
    /// Another append is about to release rows. An append of later rows would leave some of them unwritten.
    Misplaced,
}

/// What happened to rows that were reserved with an out-of-date shape.
enum Settled {
    /// Other writers have skipped the rows and appended after them, so the rows can be written.
    LeftOut,
    /// The rows are no longer reserved.
    Freed,
    /// Other writers have reserved later rows, which they are about to release.
    Waits,
}

/// The state of written rows when the shape is about to be stored.
enum State {
    /// Another writer has taken the rows.
    Taken,
    /// The shape does not include the rows yet.
    Unseen,
    /// Another writer has grown the array beyond the rows, or was about to do so.
    Seen,
    /// The shape includes the rows, and they are no longer reserved.
    Done,
}

impl Array {
    /// Appends concurrently with other writers.
    pub(super) fn append_reserved(
        &mut self,
        values: &[u64],
        axis: usize,
        write: impl FnOnce(&Self, Selection) -> Result<()>,
    ) -> Result<Vec<u64>> {
        // An array whose shape cannot be changed is reported before anything is written.
        self.location.for_change()?;
        let (owner, array) = (Owner::new(), self.clone());
        let mut reservation = Reservation { array: &array, owner, is_done: false };
        let rows = self.reserve(&reservation.owner, values, axis)?;
        let grown = self.grown_to(axis, rows.end)?;
        let mut is_stored = false;
        let written = reservation.renewing(|| write(&grown, selected(&rows, self.ndim())));
        let stored = written.and_then(|()| self.store_shape(&reservation.owner, &rows, &mut is_stored));
        match stored {
            // The rows are stored, even if the consolidated metadata could not be updated.
            stored if is_stored => {
                let removed = self.remove_reservation(&reservation.owner);
                reservation.is_done = removed.is_ok();
                removed.map_err(|error| {
                    error.at(
                        "the shape includes the rows, but their reservation remains, so that other writers may clear them",
                    )
                })?;
                stored.map(|()| self.shape().to_vec())
            }
            Ok(()) => Ok(self.shape().to_vec()),
            Err(error) => {
                // If clearing fails as well, the cause is probably the same: the first error is reported.
                let cancelled = self.cancel(&reservation.owner, &grown);
                reservation.is_done = cancelled.is_ok();
                if !cancelled.is_ok_and(|is_seen| is_seen) {
                    return Err(error);
                }
                let Reserved { start, end, .. } = rows;
                Err(error.at(format!(
                    "other writers have appended after the positions {start} to {end}, which have fill values until the next append takes \
                     them"
                )))
            }
        }
    }

    /// Reserves rows for values of this shape.
    fn reserve(&mut self, owner: &Owner, values: &[u64], axis: usize) -> Result<Reserved> {
        for attempt in 0..ATTEMPTS {
            let is_patient = attempt < PATIENCE;
            let (rows, behind, was_free, before) = match self.try_reserve(owner, values, axis, is_patient)? {
                Attempt::Reserved { rows, behind, was_free, before } => (rows, behind, was_free, before),
                Attempt::Left => {
                    self.clear_left()?;
                    continue;
                }
                Attempt::Misplaced => {
                    wait_for_others(attempt);
                    continue;
                }
            };
            // The shape is reliable only from here on: every writer that grows the array from now on sees the reservation.
            let checked = self.refresh_stored().and_then(|()| appended_shape(self.shape(), values, axis));
            if let Err(error) = checked {
                self.withdraw(owner)?;
                return Err(error.at(self.place()));
            }
            let length = self.shape()[axis];
            if is_patient && before.iter().any(|other| other.is_misplaced(length)) {
                self.free(owner, length)?;
                wait_for_others(attempt);
                continue;
            }
            if was_free || rows.start == behind.max(length) {
                return Ok(rows);
            }
            if self.settle(owner, &rows, length)? {
                return Ok(Reserved { is_seen: true, ..rows });
            }
        }
        Err(Error::new(ErrorKind::Conflict, "other writers kept changing the shape; nothing was written"))
    }

    /// Releases rows that start within the shape; `length` is the length of the array along the axis of the rows. Returns true if
    /// a later append has skipped all of the rows, so that they can be written after all.
    ///
    /// An array that grows beyond unwritten rows has fill values there, so appends with later rows release theirs first. By the
    /// time these rows are released, no later rows are reserved, and the reservation is removed.
    fn settle(&self, owner: &Owner, rows: &Reserved, length: u64) -> Result<bool> {
        let mut attempt = 0;
        loop {
            let settled = self.edit_reserved(|reserved| {
                let mine = reserved.iter().find(|rows| rows.is_of(owner));
                let mine = mine.ok_or_else(|| {
                    lost("it did not renew its lease in time and another writer took its rows")
                })?;
                if mine.is_seen && (mine.start, mine.end) == (rows.start, rows.end) {
                    return Ok(Settled::LeftOut);
                }
                let is_behind = |other: &Reserved| other.is_held() && other.is_behind(mine);
                if attempt < PATIENCE && mine.is_misplaced(length) && reserved.iter().any(is_behind) {
                    return Ok(Settled::Waits);
                }
                free_unwritten(reserved, owner, |_| Some(length));
                Ok(Settled::Freed)
            })?;
            match settled {
                Settled::LeftOut => return Ok(true),
                Settled::Freed => return Ok(false),
                Settled::Waits => wait_for_others(attempt),
            }
            attempt += 1;
        }
    }

    fn try_reserve(&self, owner: &Owner, values: &[u64], axis: usize, is_patient: bool) -> Result<Attempt> {
        let (Some(&length), Some(&count)) = (self.shape().get(axis), values.get(axis)) else {
            return Err(appended_shape(self.shape(), values, axis)
                .err()
                .unwrap_or_else(|| lost("it has no such axis")));
        };
        // Chunks that are added to a grid as it grows belong to a single append.
        let alone = matches!(self.metadata.chunk_grid, ChunkGrid::Rectilinear(_));
        self.edit_reserved(|reserved| {
            if reserved.iter().any(Reserved::is_left) {
                return Ok(Attempt::Left);
            }
            let excludes = |other: &Reserved| {
                other.is_held() && !other.is_of(owner) && (alone || other.alone || other.axis != axis)
            };
            if reserved.iter().any(excludes) {
                return Err(Error::new(ErrorKind::Conflict, "another writer is appending to the array"));
            }
            let before = |rows: &Reserved| {
                reserved.iter().filter(|other| rows.is_behind(other)).cloned().collect::<Vec<_>>()
            };
            let end = |others: &[Reserved]| others.iter().map(|rows| rows.end).max().unwrap_or(0);
            // An earlier request whose response was lost has already reserved the rows. Other writers may have reserved later
            // rows since.
            if let Some(rows) = reserved.iter().find(|rows| rows.is_of(owner)) {
                let (rows, before) = (rows.clone(), before(rows));
                return Ok(Attempt::Reserved { rows, behind: end(&before), was_free: false, before });
            }
            let mine = |start| Reserved {
                axis,
                start,
                end: start + count,
                is_seen: false,
                alone,
                owner: Some(owner.clone()),
            };
            let is_fit = |rows: &Reserved| rows.is_free() && rows.axis == axis && rows.rows() >= count;
            // The smallest free range that fits is taken, so that larger ones remain for longer appends.
            let fits = reserved.iter().enumerate().filter(|(_, rows)| count > 0 && is_fit(rows));
            let free = fits.min_by_key(|(_, rows)| rows.rows()).map(|(index, _)| index);
            let last = reserved.iter().filter(|rows| rows.axis == axis).map(|rows| rows.end).max();
            let behind = last.unwrap_or(0);
            let rows = match free {
                Some(free) => Reserved { is_seen: reserved[free].is_seen, ..mine(reserved[free].start) },
                None => {
                    let start = behind.max(length);
                    start.checked_add(count).ok_or_else(|| crate::pool::too_many("the elements"))?;
                    mine(start)
                }
            };
            let before = before(&rows);
            if is_patient && before.iter().any(|other| other.is_misplaced(length)) {
                return Ok(Attempt::Misplaced);
            }
            if let Some(free) = free {
                reserved[free].start = rows.end;
                if reserved[free].rows() == 0 {
                    reserved.remove(free);
                }
            }
            reserved.push(rows.clone());
            Ok(Attempt::Reserved { rows, behind, was_free: free.is_some(), before })
        })
    }

    /// Stores a shape that includes the rows, unless it is already stored. Earlier rows of other writers become visible, and are
    /// marked as seen.
    fn store_shape(&mut self, owner: &Owner, rows: &Reserved, is_done: &mut bool) -> Result<()> {
        let (location, format) = (self.location.clone(), self.metadata.format);
        let reserved_in = self.shape().to_vec();
        let mut attempts = 0;
        until_unchanged(|| {
            attempts += 1;
            location.change(format, |node, store| {
                self.refresh(node)?;
                let (axis, length) = (rows.axis, self.shape()[rows.axis]);
                let is_as_long = |dim: usize| dim == axis || self.shape()[dim] == reserved_in[dim];
                if !(0..self.ndim()).all(is_as_long) {
                    return Ok(Err(lost("the shape of the array has changed meanwhile")));
                }
                let state = self.edit_reserved(|reserved| {
                    for other in
                        reserved.iter_mut().filter(|other| other.axis == axis && other.end <= rows.start)
                    {
                        other.leave_out(length);
                    }
                    let Some(mine) = reserved.iter().position(|rows| rows.is_of(owner)) else {
                        return Ok(State::Taken);
                    };
                    if !reserved[mine].is_seen {
                        return Ok(State::Unseen);
                    }
                    if length >= rows.end {
                        // The shape includes the rows. Once their reservation is removed, no other writer can clear them: the
                        // append is complete.
                        reserved.remove(mine);
                        return Ok(State::Done);
                    }
                    Ok(State::Seen)
                })?;
                // A request whose response was lost may have stored the shape already.
                let is_stored = length == rows.end && attempts > 1;
                match state {
                    State::Taken => {
                        return Ok(Err(lost(
                            "it did not renew its lease in time and another writer took its rows",
                        )));
                    }
                    State::Unseen if length > rows.start && !is_stored => {
                        return Ok(Err(lost("a program that does not reserve rows has appended meanwhile")));
                    }
                    State::Done | State::Seen | State::Unseen => {}
                }
                if rows.end > length {
                    let grown = self.grown_to(axis, rows.end)?;
                    store(self.change_to(&grown))?;
                    *self = grown;
                }
                *is_done = true;
                Ok(Ok(()))
            })
        })?
    }

    /// Removes the reservation of rows that the stored shape includes. While the reservation exists, an append that knows an
    /// older shape can mark the rows as seen before it detects the new shape, and the next append would then clear them.
    /// Temporary failures are therefore retried.
    fn remove_reservation(&self, owner: &Owner) -> Result<()> {
        for attempt in 1..REMOVALS {
            match self.without(owner) {
                Err(error) if error.kind() != ErrorKind::Interrupted => wait_for_others(attempt),
                removed => return removed,
            }
        }
        self.without(owner)
    }

    /// Clears and frees the rows of a failed append. Returns true if another writer has made them visible to readers.
    fn cancel(&mut self, owner: &Owner, grown: &Self) -> Result<bool> {
        // The shape is read before the reservations, since rows are marked as seen before the shape includes them.
        self.refresh_stored()?;
        let reserved = self.reserved()?;
        // If another writer has taken the rows, it may have written to them.
        let Some(mine) = reserved.into_iter().find(|rows| rows.is_of(owner)) else { return Ok(false) };
        let length = self.shape()[mine.axis];
        grown.clear_rows(&mine.unwritten(length))?;
        self.edit_reserved(|reserved| {
            let is_seen = reserved.iter().any(|rows| rows.is_of(owner) && rows.is_seen);
            free_unwritten(reserved, owner, |_| Some(length));
            Ok(is_seen)
        })
    }

    /// Clears and frees the rows of dead writers.
    #[doc(hidden)]
    pub fn clear_left(&mut self) -> Result<()> {
        let owner = Owner::new();
        let is_any = self.edit_reserved(|reserved| {
            let mut left = reserved.iter_mut().filter(|rows| rows.is_left()).peekable();
            let is_any = left.peek().is_some();
            left.for_each(|rows| rows.owner = Some(owner.clone()));
            Ok(is_any)
        })?;
        if !is_any {
            return Ok(());
        }
        let array = self.clone();
        let mut reservation = Reservation { array: &array, owner, is_done: false };
        // The shape is read before the reservations, since rows are marked as seen before the shape includes them.
        self.refresh_stored()?;
        let shape = self.shape().to_vec();
        let length = |axis: usize| shape.get(axis).copied();
        for rows in self.reserved()?.iter().filter(|rows| rows.is_of(&reservation.owner)) {
            if let Some(length) = length(rows.axis) {
                self.grown_to(rows.axis, rows.end)?.clear_rows(&rows.unwritten(length))?;
            }
        }
        self.edit_reserved(|reserved| {
            free_unwritten(reserved, &reservation.owner, length);
            Ok(())
        })?;
        reservation.is_done = true;
        Ok(())
    }

    /// Excludes other appends if no lock does: waits for running appends, and clears the rows of dead writers. `None` if a lock
    /// excludes other appends.
    #[doc(hidden)]
    pub fn alone(&self) -> Result<Option<ExclusiveAppender<'_>>> {
        if !self.location.is_guarded() {
            return Ok(None);
        }
        self.clone().clear_left()?;
        let owner = Owner::new();
        self.edit_reserved(|reserved| {
            reserved.retain(|rows| !rows.is_of(&owner));
            if reserved.iter().any(|rows| !rows.is_free()) {
                return Err(Error::new(ErrorKind::Conflict, "another writer is appending to the array"));
            }
            let owner = Some(owner.clone());
            reserved.push(Reserved { axis: 0, start: 0, end: 0, is_seen: true, alone: true, owner });
            Ok(())
        })?;
        Ok(Some(ExclusiveAppender(Reservation { array: self, owner, is_done: false })))
    }

    /// Returns true if a writer is appending under a reservation, which is the case only where no lock excludes other writers.
    #[doc(hidden)]
    pub fn is_appended_to(&self) -> Result<bool> {
        Ok(self.reserved()?.iter().any(Reserved::is_held))
    }

    /// Returns the rows of dead writers, and the free rows.
    #[doc(hidden)]
    pub fn unwritten_rows(&self) -> Result<Vec<UnwrittenRows>> {
        let reserved = self.reserved()?;
        let is_unwritten = |rows: &&Reserved| (rows.is_free() || rows.is_left()) && rows.rows() > 0;
        let unwritten = |rows: &Reserved| {
            let Reserved { axis, start, end, .. } = *rows;
            UnwrittenRows { axis, start, end, is_cleared: rows.is_free() }
        };
        Ok(reserved.iter().filter(is_unwritten).map(unwritten).collect())
    }

    /// Removes free rows outside the shape from the reservations.
    pub(super) fn forget_outside(&self) -> Result<()> {
        let shape = self.shape();
        self.edit_reserved(|reserved| {
            for rows in reserved.iter_mut().filter(|rows| rows.is_free()) {
                let length = shape.get(rows.axis).copied().unwrap_or(0);
                (rows.start, rows.end) = (rows.start.min(length), rows.end.min(length));
            }
            reserved.retain(|rows| !rows.is_free() || rows.rows() > 0);
            Ok(())
        })
    }

    /// Removes the reservations of an owner.
    fn without(&self, owner: &Owner) -> Result<()> {
        self.edit_reserved(|reserved| {
            reserved.retain(|rows| !rows.is_of(owner));
            Ok(())
        })
    }

    /// Frees the rows that an owner has reserved but not written, in an array of this length.
    fn free(&self, owner: &Owner, length: u64) -> Result<()> {
        self.edit_reserved(|reserved| {
            free_unwritten(reserved, owner, |_| Some(length));
            Ok(())
        })
    }

    /// Removes the reservation of an owner that has written nothing and does not know the shape. If other writers have reserved
    /// later rows, and thus skip the rows of this owner, the reservation remains, and its rows are cleared later.
    fn withdraw(&self, owner: &Owner) -> Result<()> {
        self.edit_reserved(|reserved| {
            let is_left_out = |mine: &Reserved| {
                mine.is_seen || reserved.iter().any(|other| !other.is_of(owner) && other.is_behind(mine))
            };
            let is_any = reserved.iter().any(|rows| rows.is_of(owner) && is_left_out(rows));
            if !is_any {
                reserved.retain(|rows| !rows.is_of(owner));
            }
            reserved
                .iter_mut()
                .filter(|rows| rows.is_of(owner))
                .filter_map(|rows| rows.owner.as_mut())
                .for_each(Owner::give_up);
            Ok(())
        })
    }

    fn give_up(&self, owner: &Owner) -> Result<()> {
        self.each_of(owner, Owner::give_up)
    }

    fn each_of(&self, owner: &Owner, change: impl Fn(&mut Owner)) -> Result<()> {
        self.edit_reserved(|reserved| {
            reserved
                .iter_mut()
                .filter(|rows| rows.is_of(owner))
                .filter_map(|rows| rows.owner.as_mut())
                .for_each(&change);
            Ok(())
        })
    }

    /// Updates the shape of this handle to the stored shape.
    pub(super) fn refresh_stored(&mut self) -> Result<()> {
        let node: Option<NodeMetadata> = self.location.as_stored().find_node()?;
        let gone = || Error::new(ErrorKind::NotFound, format!("'{}' does not exist any more", self.path()));
        let node = node.ok_or_else(gone)?;
        self.check_generation()?;
        self.take_over(&node)
    }

    /// Returns the array, grown to at least this length along an axis.
    fn grown_to(&self, axis: usize, length: u64) -> Result<Self> {
        let mut shape = self.shape().to_vec();
        shape[axis] = shape[axis].max(length);
        self.resized(&shape).map_err(|error| error.at(self.place()))
    }

    /// Fills rows with fill values, without changing other elements.
    fn clear_rows(&self, rows: &Reserved) -> Result<()> {
        let (mut before, mut behind) = (self.clone(), self.clone());
        before.metadata.shape[rows.axis] = rows.start;
        behind.metadata.shape[rows.axis] = rows.end;
        before.clear_between(&behind)
    }
}

/// Frees the rows of an owner that contain only fill values. `length` returns the length of the array along an axis.
fn free_unwritten(reserved: &mut Vec<Reserved>, owner: &Owner, length: impl Fn(usize) -> Option<u64>) {
    let free = |rows: Reserved| match rows.is_of(owner) {
        true => length(rows.axis)
            .map(|length| Reserved { owner: None, ..rows.unwritten(length) })
            .filter(|rows| rows.rows() > 0),
        false => Some(rows),
    };
    *reserved = std::mem::take(reserved).into_iter().filter_map(free).collect();
}

fn selected(rows: &Reserved, ndim: usize) -> Selection {
    let mut place = vec![DimSelection::ALL; ndim];
    place[rows.axis] = DimSelection::from(rows.start..rows.end);
    place.into_selection()
}

fn lost(why: &str) -> Error {
    Error::new(ErrorKind::Conflict, format!("the append was undone, since {why}; append again"))
}

#[cfg(test)]
mod tests {
    use ndarray::arr1;
    use zarrox_core::DataType;
    use zarrox_testkit::remote::Remote;

    use super::*;
    use crate::OpenOptions;

    /// Returns the rows that an append reserves, and the earlier rows that other writers have reserved.
    fn reserved(array: &Array, owner: &Owner) -> (Reserved, Vec<Reserved>) {
        match array.try_reserve(owner, &[2], 0, true).unwrap() {
            Attempt::Reserved { rows, before, .. } => (rows, before),
            Attempt::Left | Attempt::Misplaced => panic!("no rows were reserved"),
        }
    }

    #[test]
    fn no_append_comes_after_rows_that_were_reserved_by_an_old_shape() {
        let remote = Remote::default();
        let builder = OpenOptions::new().create_array((remote.blocking(), "a"));
        let old = builder.shape([0]).chunks([2]).data_type(DataType::Int32).create().unwrap();
        old.clone().append(arr1(&[1]), 0).unwrap();
        let now = OpenOptions::new().open((remote.blocking(), "a")).unwrap().into_array().unwrap();
        let [first, second, third] = [(); 3].map(|()| Owner::new());

        // Both appends assume that the array is empty. The rows of the second append come after those of the first, which start
        // within the shape.
        let (rows, _) = reserved(&old, &first);
        let (behind, before) = reserved(&old, &second);
        assert_eq!(((rows.start, rows.end), (behind.start, behind.end)), ((0, 2), (2, 4)));
        assert!(before.iter().any(|other| other.is_misplaced(1)));
        // An append that knows the current shape does not reserve rows after them.
        assert!(matches!(now.try_reserve(&third, &[2], 0, true).unwrap(), Attempt::Misplaced));

        // The second append detects this when it reads the shape, and releases its rows; then the first append releases its own
        // rows.
        now.free(&second, 1).unwrap();
        assert!(!now.settle(&first, &rows, 1).unwrap());
        assert_eq!(now.reserved().unwrap(), []);
        for (mut array, value) in [(old.clone(), 2), (old, 3), (now, 4)] {
            array.append(arr1(&[value; 2]), 0).unwrap();
        }
        let array = OpenOptions::new().open((remote.blocking(), "a")).unwrap().into_array().unwrap();
        assert_eq!(array.read::<ndarray::ArrayD<i32>>(..).unwrap(), arr1(&[1, 2, 2, 3, 3, 4, 4]).into_dyn());
        assert_eq!(array.reserved().unwrap(), []);
    }

    #[test]
    fn withdrawn_rows_stay_recorded_while_other_rows_are_after_them() {
        let remote = Remote::default();
        let builder = OpenOptions::new().create_array((remote.blocking(), "a"));
        let mut array = builder.shape([1]).chunks([2]).data_type(DataType::Int32).create().unwrap();
        let [first, second] = [(); 2].map(|()| Owner::new());
        let (rows, _) = reserved(&array, &first);
        reserved(&array, &second);
        array.withdraw(&first).unwrap();
        let left = array.reserved().unwrap();
        assert!(left.iter().any(|left| left.is_left() && (left.start, left.end) == (rows.start, rows.end)));
        array.withdraw(&second).unwrap();
        array.append(arr1(&[5; 2]), 0).unwrap();
        assert_eq!(array.read::<ndarray::ArrayD<i32>>(..).unwrap(), arr1(&[0, 5, 5]).into_dyn());
        assert_eq!(array.reserved().unwrap(), []);
    }
}
