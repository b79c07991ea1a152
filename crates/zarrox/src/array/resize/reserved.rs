//! Rows that are reserved for appends, recorded in a small object within the array.
//!
//! If no lock excludes all writers, an append first reserves its rows here, writes them outside the shape, and stores the shape
//! last. The object exists while an append is running. If the store does not support conditional deletes, an object without
//! reservations remains.

use zarrox_core::internals::json::to_bytes;
use zarrox_core::json::{self, Json, json};
use zarrox_core::{Error, ErrorKind, Result};
use zarrox_stores::Key;

use super::super::Array;
use crate::guarded::until_unchanged;
use crate::hierarchy::{APPENDS, DOCUMENT_LIMIT, Owner};

/// A range of reserved rows along an axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reserved {
    pub(super) axis: usize,
    pub(super) start: u64,
    pub(super) end: u64,
    /// True if another append has grown the array beyond these rows, so that readers see them.
    pub(super) is_seen: bool,
    /// True if no other append may run at the same time.
    pub(super) alone: bool,
    /// The writer of the rows; `None` for rows that have fill values and are free for another append.
    pub(super) owner: Option<Owner>,
}

impl Reserved {
    pub(super) fn is_of(&self, owner: &Owner) -> bool {
        self.owner.as_ref().is_some_and(|mine| mine.is(owner))
    }

    /// Returns true if the rows are free.
    pub(super) fn is_free(&self) -> bool {
        self.owner.is_none()
    }

    /// Returns true if the owner is dead.
    pub(super) fn is_left(&self) -> bool {
        self.owner.as_ref().is_some_and(Owner::is_gone)
    }

    /// Returns true if the owner is running.
    pub(super) fn is_held(&self) -> bool {
        self.owner.as_ref().is_some_and(|owner| !owner.is_gone())
    }

    pub(super) fn rows(&self) -> u64 {
        self.end - self.start
    }

    /// Returns true if these rows come after the other rows, along the same axis.
    pub(super) fn is_behind(&self, other: &Self) -> bool {
        self.axis == other.axis && self.start >= other.end
    }

    /// Returns true if an array of this length ends within the reserved rows. Unless a program that does not reserve rows has
    /// grown the array, this means that the owner knew an older shape and has not written yet; it will detect this, and release
    /// the rows.
    pub(super) fn is_misplaced(&self, length: u64) -> bool {
        !self.is_seen && self.is_held() && self.start < length && length < self.end
    }

    /// Returns the rows that only their owner can have written, in an array of this length. This excludes rows that other writers
    /// had appended before the reservation.
    pub(super) fn unwritten(&self, length: u64) -> Self {
        let foreign = if self.is_seen { 0 } else { length.min(self.end) };
        Self { start: self.start.max(foreign), ..self.clone() }
    }

    /// Records that an array of this length is about to grow beyond the rows. Rows within this length are removed from the
    /// reservation; its owner knew another shape, and has not written yet.
    pub(super) fn leave_out(&mut self, length: u64) {
        if self.end > length {
            *self = Self { is_seen: true, ..self.unwritten(length) };
        }
    }

    fn to_json(&self) -> Json {
        let Self { axis, start, end, is_seen, alone, owner } = self;
        let owner = owner.as_ref().map_or(Json::Null, Owner::to_json);
        json!({"axis": axis, "start": start, "end": end, "seen": is_seen, "alone": alone, "owner": owner})
    }

    fn from_json(json: &Json) -> Option<Self> {
        let map = json.as_object()?;
        let number = |name: &str| map.get(name).and_then(Json::as_u64);
        let (start, end) = (number("start")?, number("end")?);
        let owner = match map.get("owner")? {
            Json::Null => None,
            owner => Some(Owner::from_json(owner.as_object()?)?),
        };
        let axis = usize::try_from(number("axis")?).ok()?;
        let flag = |name: &str| map.get(name).and_then(Json::as_bool);
        (start <= end).then_some(())?;
        Some(Self { axis, start, end, is_seen: flag("seen")?, alone: flag("alone")?, owner })
    }
}

impl Array {
    /// Reads all reservations.
    pub(super) fn reserved(&self) -> Result<Vec<Reserved>> {
        let key = self.reserved_key()?;
        let bytes = self.location.bytes(&key, DOCUMENT_LIMIT)?;
        bytes.map_or(Ok(Vec::new()), |bytes| parsed(&bytes, &key))
    }

    /// Changes the reservations, and retries if another writer has changed them first. If `edit` returns a conflict, it is called
    /// again later.
    pub(super) fn edit_reserved<R>(
        &self,
        mut edit: impl FnMut(&mut Vec<Reserved>) -> Result<R>,
    ) -> Result<R> {
        let place = self.location.as_stored();
        let key = self.reserved_key()?;
        until_unchanged(|| {
            let held = place.locked_value(&key, DOCUMENT_LIMIT)?;
            let before = held.bytes().map_or(Ok(Vec::new()), |bytes| parsed(bytes, &key))?;
            let mut reserved = before.clone();
            let result = edit(&mut reserved)?;
            forget_last(&mut reserved);
            if reserved == before {
                return Ok(result);
            }
            if reserved.is_empty() && !place.cannot_erase_unchanged() {
                held.erase(&place)?;
            } else {
                held.replace(&place, &written(&reserved)?)?;
            }
            Ok(result)
        })
    }

    fn reserved_key(&self) -> Result<Key> {
        self.chunks.key(APPENDS).map_err(Error::from)
    }
}

/// Removes free rows that have never been visible, if no later rows are reserved.
fn forget_last(reserved: &mut Vec<Reserved>) {
    while let Some(last) =
        (0..reserved.len()).max_by_key(|&index| (reserved[index].end, reserved[index].start))
        && reserved[last].is_free()
        && !reserved[last].is_seen
    {
        reserved.remove(last);
    }
}

fn parsed(bytes: &[u8], key: &Key) -> Result<Vec<Reserved>> {
    let map = json::parse_object(bytes);
    let map = map.map_err(|error| error.at(format!("the reservations of appends, '{key}'")))?;
    let list = map.get("reserved").and_then(Json::as_array);
    let reserved = list.and_then(|list| list.iter().map(Reserved::from_json).collect());
    reserved.ok_or_else(|| {
        let message = format!("'{key}' is damaged: it does not list the rows that are reserved for appends");
        Error::new(ErrorKind::Corrupt, message)
    })
}

fn written(reserved: &[Reserved]) -> Result<Vec<u8>> {
    let about = "rows that zarrox has reserved for appends which are under way, or were interrupted";
    let reserved: Vec<Json> = reserved.iter().map(Reserved::to_json).collect();
    let Json::Object(map) = json!({"about": about, "reserved": reserved}) else { return Ok(Vec::new()) };
    to_bytes(&map)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reservations_are_read_as_they_were_written() {
        let mine =
            Reserved { axis: 1, start: 3, end: 8, is_seen: true, alone: false, owner: Some(Owner::new()) };
        let free = Reserved { owner: None, ..mine };
        let key = Key::new("a").unwrap();
        let reserved = vec![mine, free];
        assert_eq!(parsed(&written(&reserved).unwrap(), &key).unwrap(), reserved);
        for bytes in ["", "{}", r#"{"reserved": [{}]}"#, r#"{"reserved": 3}"#] {
            assert!(parsed(bytes.as_bytes(), &key).is_err(), "{bytes}");
        }
    }

    #[test]
    fn rows_of_other_writers_are_neither_cleared_nor_skipped() {
        let mine =
            Reserved { axis: 0, start: 2, end: 5, is_seen: false, alone: false, owner: Some(Owner::new()) };
        let unwritten = |rows: &Reserved, length| {
            let rows = rows.unwritten(length);
            (rows.start, rows.end)
        };
        // The owner knew a length that differed from the actual length of the array.
        assert_eq!(
            [0, 2, 3, 5, 9].map(|length| unwritten(&mine, length)),
            [(2, 5), (2, 5), (3, 5), (5, 5), (5, 5)]
        );
        let left_out = |length| {
            let mut rows = mine.clone();
            rows.leave_out(length);
            rows
        };
        assert_eq!(left_out(2), Reserved { is_seen: true, ..mine.clone() });
        assert_eq!(left_out(3), Reserved { start: 3, is_seen: true, ..mine.clone() });
        assert_eq!(left_out(5), mine, "the shape includes them: they are written");
        // The writer that skipped them has grown the array.
        assert_eq!(unwritten(&left_out(2), 9), (2, 5));
    }

    #[test]
    fn free_rows_at_the_end_are_removed_unless_they_are_seen() {
        let free = |start, end, is_seen| Reserved { axis: 0, start, end, is_seen, alone: false, owner: None };
        let held = Reserved { owner: Some(Owner::new()), ..free(4, 6, false) };
        let mut reserved = vec![free(6, 8, false), free(2, 4, false), held.clone(), free(8, 9, false)];
        forget_last(&mut reserved);
        assert_eq!(reserved, [free(2, 4, false), held]);
        let mut reserved = vec![free(2, 4, true)];
        forget_last(&mut reserved);
        assert_eq!(reserved, [free(2, 4, true)]);
    }
}
