//! Recovery of the original index of a damaged shard, using the checksum of the index as proof.
//!
//! Bytes in a shard can only be assigned to inner chunks by the index. So only corrections that are consistent with the inner
//! chunks are tried, and a correction is only accepted if the checksum of the corrected index equals the stored one. If there is
//! no such correction, the inner chunks cannot be identified, even if the entries are plausible.

use std::ops::Range;

use zarrox_core::codec::{CodecError, Size, Window};
use zarrox_core::internals::codec::{DecodeOptions, Entry};

use super::index::{EMPTY, ENTRY, IndexLocation};
use super::{NAME, ShardingCodec};

/// The minimum length of a checksum that is accepted as proof, in bytes.
const CHECKSUM: usize = 4;

/// The maximum number of bytes that are hashed in the search for a wrong bit.
const HASHED: usize = 1 << 28;

/// The maximum number of conflicting entries up to which the search assumes, for each of them, that it is the only wrong one.
const ALONE: usize = 256;

/// Returns the original entries of a damaged index, if the checksum proves them.
///
/// # Errors
/// If no entries match the checksum.
pub(super) fn recover(codec: &ShardingCodec, shard: &[u8], index: &[u8]) -> Result<Vec<Entry>, CodecError> {
    let unchecked = DecodeOptions { verify_checksums: false };
    let entries = codec.all_entries(index, unchecked)?;
    let unproven = || {
        let message = "the index is damaged, and its checksum does not identify the inner chunks";
        CodecError::corrupt(message).in_codec(NAME)
    };
    let proof = Proof::new(codec, index, &entries)?.ok_or_else(unproven)?;
    if proof.is_one_bit_off {
        return Ok(entries);
    }
    let search = Search { codec, shard, proof, entries };
    search.by_places()?.or(search.by_bits()?).ok_or_else(unproven)
}

/// The stored checksum of an index.
struct Proof<'a> {
    codec: &'a ShardingCodec,
    checksum: &'a [u8],
    /// True if the stored checksum differs from that of the present entries by one bit, so that the checksum itself is damaged.
    is_one_bit_off: bool,
}

impl<'a> Proof<'a> {
    /// Finds the checksum of an index. Returns `None` if there is no checksum after the entries, or if it is too short.
    fn new(codec: &'a ShardingCodec, index: &'a [u8], entries: &[Entry]) -> Result<Option<Self>, CodecError> {
        let length = entries.len() * ENTRY;
        let encoded = encoded(codec, entries)?;
        let changed = entries
            .iter()
            .enumerate()
            .map(|(cell, &entry)| if cell == 0 { flipped(entry, 0) } else { entry });
        let other = self::encoded(codec, &changed.collect::<Vec<_>>())?;
        let is_known = encoded.len() == index.len()
            && index.len() >= length + CHECKSUM
            && encoded[..length] == index[..length]
            && encoded[length..] != other[length..];
        if !is_known {
            return Ok(None);
        }
        let checksum = &index[length..];
        let wrong: u32 = encoded[length..].iter().zip(checksum).map(|(a, b)| (a ^ b).count_ones()).sum();
        Ok(Some(Self { codec, checksum, is_one_bit_off: wrong == 1 }))
    }

    /// Returns true if the checksum of these entries equals the stored one.
    fn holds(&self, entries: &[Entry]) -> Result<bool, CodecError> {
        Ok(encoded(self.codec, entries)?.ends_with(self.checksum))
    }
}

/// The search for the original entries of an index.
struct Search<'a> {
    codec: &'a ShardingCodec,
    shard: &'a [u8],
    proof: Proof<'a>,
    /// The present entries.
    entries: Vec<Entry>,
}

impl Search<'_> {
    /// Tries to replace conflicting entries with ranges that belong to no other entry. Returns the corrected entries.
    fn by_places(&self) -> Result<Option<Vec<Entry>>, CodecError> {
        let mut places: Vec<Option<Range<usize>>> =
            self.entries.iter().map(|&entry| self.whole(entry)).collect();
        let conflicts = conflicts(&places, &self.data());
        for &cell in conflicts.iter().take(ALONE) {
            let place = places[cell].take();
            if let Some(entries) = self.filled(&places)? {
                return Ok(Some(entries));
            }
            places[cell] = place;
        }
        for cell in conflicts {
            places[cell] = None;
        }
        self.filled(&places)
    }

    /// Tries to change a single bit. Returns the corrected entries.
    fn by_bits(&self) -> Result<Option<Vec<Entry>>, CodecError> {
        let tries = HASHED / (self.entries.len() * ENTRY).max(1);
        let (doubtful, others): (Vec<_>, Vec<_>) = (0..self.entries.len()).partition(|&cell| {
            self.entries[cell] != Entry::Empty && self.whole(self.entries[cell]).is_none()
        });
        let bits = doubtful.into_iter().chain(others).flat_map(|cell| (0..128).map(move |bit| (cell, bit)));
        let mut entries = self.entries.clone();
        for (cell, bit) in bits.take(tries) {
            let entry = entries[cell];
            entries[cell] = flipped(entry, bit);
            let is_place = |entry| entry == Entry::Empty || self.whole(entry).is_some();
            if self.proof.holds(&entries)? && is_place(entries[cell]) {
                return Ok(Some(entries));
            }
            entries[cell] = entry;
        }
        Ok(None)
    }

    /// Returns the range of an entry's inner chunk, if the inner chunk can be decoded.
    fn whole(&self, entry: Entry) -> Option<Range<usize>> {
        let Entry::Stored { offset, length } = entry else { return None };
        let window = self.codec.locate(Window::of_size(self.shard.len() as u64), (offset, length));
        let Ok(Some(Window { offset, length: Some(length) })) = window else { return None };
        let start = usize::try_from(offset).ok()?;
        let range = start..start + usize::try_from(length).ok()?;
        self.codec.inner.verify(&self.shard[range.clone()]).is_ok().then_some(range)
    }

    /// Returns the range of the shard outside its index.
    fn data(&self) -> Range<usize> {
        let size = self.codec.index.size;
        match self.codec.index.location {
            IndexLocation::Start => size..self.shard.len(),
            IndexLocation::End => 0..self.shard.len().saturating_sub(size),
        }
    }

    /// Returns the entries for these ranges, with the gaps assigned to the other inner chunks, if the checksum matches.
    fn filled(&self, places: &[Option<Range<usize>>]) -> Result<Option<Vec<Entry>>, CodecError> {
        let mut entries = self.entries.clone();
        let is_open = |cell: &usize| places[*cell].is_none() && self.entries[*cell] != Entry::Empty;
        let open: Vec<usize> = (0..places.len()).filter(is_open).collect();
        let gaps = gaps(places, &self.data());
        if let ([cell], [gap]) = (open.as_slice(), gaps.as_slice()) {
            entries[*cell] = entry_of(&gap.bytes);
        } else {
            for gap in gaps {
                let cells: Vec<usize> =
                    open.iter().copied().filter(|cell| gap.cells.contains(cell)).collect();
                self.divide(&gap.bytes, &cells, &mut entries);
            }
        }
        Ok(self.proof.holds(&entries)?.then_some(entries))
    }

    /// Divides bytes among inner chunks in row-major order, if their sizes are known.
    fn divide(&self, bytes: &Range<usize>, cells: &[usize], entries: &mut [Entry]) {
        let size = match (cells, self.codec.inner.encoded_size()) {
            ([_], _) => bytes.len(),
            (_, Size::Exact(size)) => size,
            _ => return,
        };
        if size.checked_mul(cells.len()) != Some(bytes.len()) {
            return;
        }
        for (nth, &cell) in cells.iter().enumerate() {
            let start = bytes.start + nth * size;
            entries[cell] = entry_of(&(start..start + size));
        }
    }
}

/// Bytes that belong to no known inner chunk, and the inner chunks whose numbers lie between those of the gap's neighbours.
struct Gap {
    bytes: Range<usize>,
    cells: Range<usize>,
}

/// Returns the ranges sorted by offset, each with the number of its inner chunk.
fn ordered(places: &[Option<Range<usize>>]) -> Vec<(Range<usize>, usize)> {
    let place = |(cell, place): (usize, &Option<Range<usize>>)| Some((place.clone()?, cell));
    let mut ordered: Vec<_> = places.iter().enumerate().filter_map(place).collect();
    ordered.sort_unstable_by_key(|(range, cell)| (range.start, range.end, *cell));
    ordered
}

fn gaps(places: &[Option<Range<usize>>], data: &Range<usize>) -> Vec<Gap> {
    let (mut at, mut first, mut gaps) = (data.start, 0, Vec::new());
    for (range, cell) in ordered(places) {
        if range.start > at {
            gaps.push(Gap { bytes: at..range.start, cells: first..cell });
        }
        if range.end >= at {
            (at, first) = (range.end, cell + 1);
        }
    }
    if data.end > at {
        gaps.push(Gap { bytes: at..data.end, cells: first..places.len() });
    }
    gaps
}

/// Returns the inner chunks that share bytes with another inner chunk or with the index.
fn conflicts(places: &[Option<Range<usize>>], data: &Range<usize>) -> Vec<usize> {
    let ordered = ordered(places);
    let outside = |range: &Range<usize>| range.start < data.start || range.end > data.end;
    let mut conflicts: Vec<usize> =
        ordered.iter().filter(|(range, _)| outside(range)).map(|(_, cell)| *cell).collect();
    let mut furthest: Option<(usize, usize)> = None;
    for (range, cell) in ordered {
        if let Some((end, other)) = furthest
            && range.start < end
        {
            conflicts.extend([other, cell]);
        }
        if furthest.is_none_or(|(end, _)| range.end > end) {
            furthest = Some((range.end, cell));
        }
    }
    conflicts.sort_unstable();
    conflicts.dedup();
    conflicts
}

/// Returns the two numbers with which the index represents an entry.
fn numbers(entry: Entry) -> (u64, u64) {
    match entry {
        Entry::Empty => EMPTY,
        Entry::Stored { offset, length } => (offset, length),
    }
}

fn entry_of(bytes: &Range<usize>) -> Entry {
    Entry::Stored { offset: bytes.start as u64, length: bytes.len() as u64 }
}

/// Returns an entry with one of its 128 bits changed.
fn flipped(entry: Entry, bit: u32) -> Entry {
    let (offset, length) = numbers(entry);
    match (
        offset ^ 1_u64.checked_shl(bit).unwrap_or(0),
        length ^ bit.checked_sub(64).map_or(0, |bit| 1 << bit),
    ) {
        EMPTY => Entry::Empty,
        (offset, length) => Entry::Stored { offset, length },
    }
}

/// Encodes an index.
fn encoded(codec: &ShardingCodec, entries: &[Entry]) -> Result<Vec<u8>, CodecError> {
    let mut plain = Vec::with_capacity(entries.len() * ENTRY);
    for (offset, length) in entries.iter().copied().map(numbers) {
        plain.extend(offset.to_ne_bytes());
        plain.extend(length.to_ne_bytes());
    }
    let mut encoded = Vec::new();
    codec.index.encode(&plain, &mut encoded)?;
    Ok(encoded)
}
