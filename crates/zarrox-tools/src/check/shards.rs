//! Checks of shards: their indexes and inner chunks.

use std::collections::BTreeSet;

use zarrox_core::codec::{CodecError, Window};
use zarrox_core::internals::codec::ChunkTable;
use zarrox_core::internals::scratch::Scratch;
use zarrox_core::{Error, ErrorKind, Result};
use zarrox_stores::Value;

use super::finding::FindingKind;
use zarrox::internals::{Location, cell};

/// The maximum total size of inner chunks that are read together, in bytes.
pub(super) const TOGETHER: u64 = 8 << 20;

/// The maximum size of a gap between inner chunks that are read together, in bytes.
const GAP: u64 = 64 << 10;

/// A flaw of a stored chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Flaw {
    pub(super) kind: FindingKind,
    /// The index of the inner chunk, in the order of the array's axes.
    pub(super) cell: Option<Vec<u64>>,
    pub(super) message: String,
}

impl Flaw {
    /// Creates the flaw for a decoding error, with this kind unless the error implies another kind.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`] if memory could not be allocated: the stored bytes were not judged.
    pub(super) fn of(kind: FindingKind, cell: Option<Vec<u64>>, error: CodecError) -> Result<Self> {
        let kind = match error.kind() {
            ErrorKind::OutOfMemory => return Err(error.into()),
            ErrorKind::Unsupported => FindingKind::Unsupported,
            ErrorKind::LimitExceeded => FindingKind::TooLarge,
            _ => kind,
        };
        Ok(Self { kind, cell, message: error.to_string() })
    }

    pub(super) fn unreadable(error: &Error) -> Self {
        Self { kind: FindingKind::Unreadable, cell: None, message: error.to_string() }
    }
}

/// The byte range of an inner chunk in the index.
#[derive(Debug, Clone, Copy)]
struct InnerRange {
    offset: u64,
    length: u64,
    number: usize,
}

impl InnerRange {
    fn end(self) -> u64 {
        self.offset + self.length
    }
}

/// Returns the flaws of a shard: those of its index and, with `decode`, those of every inner chunk. `order` is the order of the
/// array's axes in the shard.
pub(super) fn flaws(
    location: &Location,
    table: &dyn ChunkTable,
    order: Option<&[usize]>,
    value: &dyn Value,
    decode: bool,
    objects: usize,
) -> Result<Vec<Flaw>> {
    let size = value.size();
    let index_flaw = |error| Flaw::of(FindingKind::ShardIndex, None, error).map(|flaw| vec![flaw]);
    let range = table.index_range(Window::of_size(size)).and_then(|range| range.within(size));
    let (offset, length) = match range {
        Ok(range) => range,
        Err(error) => return index_flaw(error),
    };
    let index = value.read(offset, length)?;
    let entries = match table.entries(&index) {
        Ok(entries) => entries,
        Err(error) => return index_flaw(error),
    };
    let cell = |number| cell(number, table.grid(), order);
    let (mut flaws, mut places) = (Vec::new(), Vec::new());
    for (number, entry) in entries.into_iter().enumerate() {
        match table.place(entry, size) {
            Ok(None) => {}
            Ok(Some(window)) => {
                places.push(InnerRange { offset: window.offset, length: window.length.unwrap_or(0), number });
            }
            Err(error) => flaws.push(Flaw::of(FindingKind::ShardEntry, Some(cell(number)), error)?),
        }
    }
    places.sort_unstable_by_key(|place| (place.offset, place.length, place.number));
    let (overlapping, shared): (Vec<_>, Vec<_>) =
        overlaps(&places, (offset, length), &cell).into_iter().unzip();
    flaws.extend(overlapping);
    if decode {
        // Decoding overlapping inner chunks could take far more work than the size of the shard suggests.
        let shared: BTreeSet<_> = shared.into_iter().collect();
        places.retain(|place| !shared.contains(&place.number));
        let groups = grouped(&places);
        // With fewer objects than threads, the inner chunks of this object are decoded in parallel.
        let pool = location.pool();
        let bytes = if objects < pool.threads() { usize::try_from(TOGETHER).unwrap_or(0) } else { 0 };
        let found = pool.map(groups, bytes, usize::MAX, |group| damaged(location, table, &group, value))?;
        let damaged = found.into_iter().flatten();
        flaws.extend(damaged.map(|(number, flaw)| Flaw { cell: Some(cell(number)), ..flaw }));
    }
    Ok(flaws)
}

/// Returns the inner chunks that partly overlap one another or the index. Inner chunks with the same byte range are allowed.
fn overlaps(
    places: &[InnerRange],
    index: (u64, u64),
    cell: &dyn Fn(usize) -> Vec<u64>,
) -> Vec<(Flaw, usize)> {
    let mut flaws = Vec::new();
    let mut furthest: Option<InnerRange> = None;
    for &place in places {
        let (start, end) = (index.0, index.0 + index.1);
        if place.offset < end && place.end() > start {
            let message = format!("its bytes {} to {} overlap the index", place.offset, place.end());
            let flaw = Flaw { kind: FindingKind::ShardOverlap, cell: Some(cell(place.number)), message };
            flaws.push((flaw, place.number));
        }
        if let Some(before) = furthest
            && place.offset < before.end()
            && (place.offset, place.length) != (before.offset, before.length)
        {
            let message = format!(
                "its bytes {} to {} overlap those of inner chunk {:?}, {} to {}",
                place.offset,
                place.end(),
                cell(before.number),
                before.offset,
                before.end()
            );
            let flaw = Flaw { kind: FindingKind::ShardOverlap, cell: Some(cell(place.number)), message };
            flaws.push((flaw, place.number));
        }
        if furthest.is_none_or(|before| place.end() > before.end()) {
            furthest = Some(place);
        }
    }
    flaws
}

/// Groups inner chunks that are read together, since they are adjacent or overlap.
fn grouped(places: &[InnerRange]) -> Vec<Vec<InnerRange>> {
    let mut groups: Vec<Vec<InnerRange>> = Vec::new();
    let (mut start, mut end) = (0_u64, 0_u64);
    for &place in places {
        let joins = place.offset <= end.saturating_add(GAP) && place.end().max(end) - start <= TOGETHER;
        match groups.last_mut().filter(|_| joins) {
            Some(group) => group.push(place),
            None => {
                start = place.offset;
                end = place.offset;
                groups.push(vec![place]);
            }
        }
        end = end.max(place.end());
    }
    groups
}

/// Returns the inner chunks of a group that cannot be decoded.
fn damaged(
    location: &Location,
    table: &dyn ChunkTable,
    group: &[InnerRange],
    value: &dyn Value,
) -> Result<Vec<(usize, Flaw)>> {
    location.context.interrupt.check()?;
    let start = group.first().map_or(0, |place| place.offset);
    let end = group.iter().map(|place| place.end()).max().unwrap_or(start);
    let decode = |bytes: &[u8]| {
        let mut damaged: Vec<(usize, Flaw)> = Vec::new();
        let mut last: Option<((u64, u64), Option<Flaw>)> = None;
        for place in group {
            let range = (place.offset, place.length);
            let (from, length) = (as_usize(place.offset - start), as_usize(place.length));
            // Bytes that several entries refer to are decoded once.
            let flaw = match last.take() {
                Some((before, flaw)) if before == range => flaw,
                _ => table
                    .verify(&bytes[from..from + length])
                    .err()
                    .map(|error| Flaw::of(FindingKind::CorruptInnerChunk, None, error))
                    .transpose()?,
            };
            damaged.extend(flaw.clone().map(|flaw| (place.number, flaw)));
            last = Some((range, flaw));
        }
        Ok(damaged)
    };
    if value.is_in_memory() {
        let bytes = value.read(start, end - start)?;
        return location.on_a_core(|| decode(&bytes));
    }
    let length = usize::try_from(end - start).map_err(|_| zarrox::internals::too_many("the bytes"))?;
    let mut bytes = Scratch::with_len(length).map_err(CodecError::from)?;
    value.read_at(start, &mut bytes)?;
    location.on_a_core(|| decode(&bytes))
}

#[expect(clippy::cast_possible_truncation, reason = "of bytes that are in memory")]
fn as_usize(n: u64) -> usize {
    n as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(list: &[(u64, u64)]) -> Vec<InnerRange> {
        let place = |(number, &(offset, length)): (usize, &(u64, u64))| InnerRange { offset, length, number };
        let mut places: Vec<InnerRange> = list.iter().enumerate().map(place).collect();
        places.sort_unstable_by_key(|place| (place.offset, place.length, place.number));
        places
    }

    #[test]
    fn cells_are_in_the_order_of_the_array() {
        assert_eq!(cell(5, &[2, 3], None), [1, 2]);
        assert_eq!(cell(5, &[2, 3], Some(&[1, 0])), [2, 1]);
        assert_eq!(cell(0, &[], None), Vec::<u64>::new());
    }

    #[test]
    fn bytes_that_are_shared_in_part_are_found() {
        let count =
            |list: &[(u64, u64)]| overlaps(&places(list), (100, 20), &|number| vec![number as u64]).len();
        assert_eq!(count(&[(0, 10), (10, 10), (20, 80)]), 0);
        assert_eq!(count(&[(0, 10), (0, 10), (10, 10)]), 0, "all their bytes in common");
        assert_eq!(count(&[(0, 10), (9, 10)]), 1);
        assert_eq!(count(&[(0, 50), (5, 10), (20, 10)]), 2, "both in the large one");
        assert_eq!(count(&[(90, 11)]), 1, "with the index");
    }

    #[test]
    fn inner_chunks_are_read_in_pieces_of_bounded_size() {
        let sizes = |list: &[(u64, u64)]| grouped(&places(list)).iter().map(Vec::len).collect::<Vec<_>>();
        assert_eq!(sizes(&[(0, 10), (10, 10), (20, 80)]), [3]);
        assert_eq!(sizes(&[(0, TOGETHER), (TOGETHER, 10)]), [1, 1]);
        assert_eq!(sizes(&[(0, 10), (10 + GAP + 1, 10)]), [1, 1]);
        assert_eq!(sizes(&[(0, TOGETHER * 2), (5, 10)]), [1, 1]);
    }
}
