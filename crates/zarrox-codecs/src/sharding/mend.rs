//! Mending a shard: what is whole in a damaged one becomes a new one.
//!
//! Where the index can be decoded, an inner chunk is whole if it can be decoded where the index says. Where it cannot, its
//! entries are candidates: those that lead to an inner chunk which can be decoded, and share no bytes with another one. An inner
//! chunk without such an entry is found again if it is the only one that the bytes between its neighbours can be. Bytes that any
//! change leaves decodable prove nothing: then the inner chunks must be all that there is in the shard, without gaps.

use std::ops::Range;

use zarrox_core::codec::{DecodeOptions, EncodeOptions, Entry, Mended, Size, Window};
use zarrox_core::error::CodecError;

use super::index::IndexLocation;
use super::{NAME, ShardingCodec};

/// The bytes of an inner chunk in a damaged shard.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    /// It is not stored, and says so.
    Empty,
    /// Its bytes in the shard.
    Whole(Range<usize>),
    /// A shard itself, made of what was whole in it.
    Mended(Vec<u8>),
    /// Its entry leads to bytes that cannot be decoded.
    Damaged,
    /// Its entry leads nowhere.
    Unplaced,
}

/// A damaged shard, and what was found in it.
pub(super) struct Mending<'a> {
    codec: &'a ShardingCodec,
    shard: &'a [u8],
    parts: Vec<Part>,
    found: usize,
}

impl<'a> Mending<'a> {
    /// Looks for all inner chunks that are whole.
    pub(super) fn new(codec: &'a ShardingCodec, shard: &'a [u8]) -> Result<Self, CodecError> {
        let window = Window::of_size(shard.len() as u64);
        let index = codec.index.range(window).map_err(|e| e.at("index").in_codec(NAME))?.of(shard)?;
        let checked = codec.all_entries(index, DecodeOptions::default());
        let is_trusted = checked.is_ok();
        let entries = match checked {
            Ok(entries) => entries,
            Err(error) => {
                let unchecked = DecodeOptions { verify_checksums: false };
                codec.all_entries(index, unchecked).map_err(|_| error)?
            }
        };
        let mut mending = Self { codec, shard, parts: Vec::with_capacity(entries.len()), found: 0 };
        for entry in entries {
            let part = mending.part(entry, is_trusted);
            mending.parts.push(part);
        }
        if !is_trusted {
            mending.drop_conflicts();
        }
        mending.find_unplaced();
        if !is_trusted {
            mending.check_unambiguous()?;
            mending.found = mending.parts.iter().filter(|part| matches!(part, Part::Whole(_))).count();
        }
        Ok(mending)
    }

    /// The inner chunk that an entry leads to.
    fn part(&self, entry: Entry, is_trusted: bool) -> Part {
        let Entry::Stored { offset, length } = entry else { return Part::Empty };
        let window = self.codec.locate(Window::of_size(self.shard.len() as u64), (offset, length));
        let Ok(Some(Window { offset, length: Some(length) })) = window else { return Part::Unplaced };
        let (Ok(start), Ok(length)) = (usize::try_from(offset), usize::try_from(length)) else {
            return Part::Unplaced;
        };
        let bytes = &self.shard[start..start + length];
        if self.codec.inner.verify(bytes).is_ok() {
            return Part::Whole(start..start + length);
        }
        if !is_trusted {
            return Part::Unplaced;
        }
        let mut mended = Vec::new();
        match self.codec.inner.mend(bytes, false, &mut mended) {
            Ok(Some(_)) if !mended.is_empty() => Part::Mended(mended),
            // An index without a checksum may be what is wrong.
            _ if matches!(self.codec.inner.encoded_size(), Size::Exact(size) if size != length) => {
                Part::Unplaced
            }
            _ => Part::Damaged,
        }
    }

    /// The bytes of the shard that are not its index.
    fn data(&self) -> Range<usize> {
        let size = self.codec.index.size;
        match self.codec.index.location {
            IndexLocation::Start => size..self.shard.len(),
            IndexLocation::End => 0..self.shard.len().saturating_sub(size),
        }
    }

    /// The inner chunks that are whole, by their places in the shard.
    fn whole(&self) -> Vec<(Range<usize>, usize)> {
        let part = |(cell, part): (usize, &Part)| match part {
            Part::Whole(range) => Some((range.clone(), cell)),
            _ => None,
        };
        let mut whole: Vec<_> = self.parts.iter().enumerate().filter_map(part).collect();
        whole.sort_unstable_by_key(|(range, cell)| (range.start, range.end, *cell));
        whole
    }

    /// The inner chunks of which each shares bytes with another one, or with the index.
    fn conflicts(&self) -> Vec<usize> {
        let (whole, data) = (self.whole(), self.data());
        let outside = |range: &Range<usize>| range.start < data.start || range.end > data.end;
        let mut conflicts: Vec<usize> =
            whole.iter().filter(|(range, _)| outside(range)).map(|(_, cell)| *cell).collect();
        let mut furthest: Option<(usize, usize)> = None;
        for (range, cell) in whole {
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

    /// Takes back entries that cannot all be right. Where one of them alone is to blame, and all bytes have an inner chunk once
    /// it is found elsewhere, the others stay.
    fn drop_conflicts(&mut self) {
        let conflicts = self.conflicts();
        let mut alone = conflicts.iter().filter(|&&cell| {
            let mut parts = self.parts.clone();
            parts[cell] = Part::Unplaced;
            let mut trial = Self { codec: self.codec, shard: self.shard, parts, found: 0 };
            trial.find_unplaced();
            trial.conflicts().is_empty() && trial.gaps().is_empty()
        });
        let guilty = match (alone.next(), alone.next()) {
            (Some(&cell), None) => vec![cell],
            _ => conflicts,
        };
        for cell in guilty {
            self.parts[cell] = Part::Unplaced;
        }
    }

    /// The bytes between the inner chunks that are whole, each with the inner chunks before and behind it.
    fn gaps(&self) -> Vec<(Range<usize>, Option<usize>, Option<usize>)> {
        let data = self.data();
        let (mut at, mut before, mut gaps) = (data.start, None, Vec::new());
        for (range, cell) in self.whole() {
            if range.start > at {
                gaps.push((at..range.start, before, Some(cell)));
            }
            if range.end >= at {
                (at, before) = (range.end, Some(cell));
            }
        }
        if data.end > at {
            gaps.push((at..data.end, before, None));
        }
        gaps
    }

    /// Looks for inner chunks whose entries lead nowhere in the bytes that belong to no other.
    fn find_unplaced(&mut self) {
        let unplaced: Vec<usize> =
            (0..self.parts.len()).filter(|&cell| self.parts[cell] == Part::Unplaced).collect();
        let damaged = self.parts.contains(&Part::Damaged);
        // Bytes that are somebody's, only damaged, are no gap.
        if unplaced.is_empty() || damaged {
            return;
        }
        let gaps = self.gaps();
        if let ([cell], [(range, ..)]) = (unplaced.as_slice(), gaps.as_slice()) {
            self.place(*cell, range.clone());
            return;
        }
        let in_order = self.whole().windows(2).all(|pair| pair[0].1 < pair[1].1);
        if !in_order {
            return;
        }
        let before_all = (self.parts.clone(), self.found);
        for (range, before, behind) in gaps {
            let first = before.map_or(0, |cell| cell + 1);
            let last = behind.unwrap_or(self.parts.len());
            let between = unplaced.iter().copied().filter(|cell| (first..last).contains(cell));
            self.divide(range, &between.collect::<Vec<_>>());
        }
        // Bytes that are nobody's may be those of an inner chunk that was replaced.
        if !self.gaps().is_empty() {
            (self.parts, self.found) = before_all;
        }
    }

    /// Divides bytes among inner chunks in their order, where there is one way to do so.
    fn divide(&mut self, gap: Range<usize>, cells: &[usize]) {
        match (cells, self.codec.inner.encoded_size()) {
            ([cell], _) => self.place(*cell, gap),
            (_, Size::Exact(size)) if size.checked_mul(cells.len()) == Some(gap.len()) => {
                for (nth, &cell) in cells.iter().enumerate() {
                    let start = gap.start + nth * size;
                    self.place(cell, start..start + size);
                }
            }
            _ => {}
        }
    }

    /// Takes bytes for those of an inner chunk, if they can be decoded as such.
    fn place(&mut self, cell: usize, range: Range<usize>) {
        if self.codec.inner.verify(&self.shard[range.clone()]).is_ok() {
            self.parts[cell] = Part::Whole(range);
            self.found += 1;
        }
    }

    /// Refuses a shard without a trusted index in which other inner chunks could be meant.
    fn check_unambiguous(&self) -> Result<(), CodecError> {
        let whole = self.whole();
        let Some((first, _)) = whole.first() else {
            return Err(CodecError::corrupt(
                "the index is damaged, and no inner chunk can be found without it",
            )
            .in_codec(NAME));
        };
        let complete = !self.parts.contains(&Part::Unplaced) && self.gaps().is_empty();
        if complete || self.notices_changes(&self.shard[first.clone()]) {
            return Ok(());
        }
        let message = "the index is damaged, and it cannot be told which bytes are whose: the inner chunks have no checksums";
        Err(CodecError::corrupt(message).in_codec(NAME))
    }

    /// Returns true if decoding notices a changed byte. Only a few bytes are tried.
    fn notices_changes(&self, bytes: &[u8]) -> bool {
        let mut changed = bytes.to_vec();
        let tried = [bytes.len() / 4, bytes.len() / 2, bytes.len() * 3 / 4];
        tried.into_iter().all(|at| {
            let Some(byte) = changed.get_mut(at) else { return false };
            *byte ^= 1;
            let noticed = self.codec.inner.verify(&changed).is_err();
            changed[at] ^= 1;
            noticed
        })
    }

    /// Writes a shard of all that was found.
    pub(super) fn write(self, fill: bool, encoded: &mut Vec<u8>) -> Result<Mended, CodecError> {
        let base = encoded.len();
        let (mut parts, mut mended) = (self.parts.iter(), Mended { found: self.found, ..Mended::default() });
        self.codec.assemble(EncodeOptions::default(), encoded, |_, encoded| {
            self.codec.check_room(encoded.len() - base)?;
            match parts.next().unwrap_or(&Part::Empty) {
                Part::Empty => return Ok(false),
                Part::Whole(range) => {
                    encoded.extend_from_slice(&self.shard[range.clone()]);
                    mended.kept += 1;
                }
                Part::Mended(bytes) => {
                    encoded.extend_from_slice(bytes);
                    mended.lost += 1;
                }
                Part::Damaged | Part::Unplaced => {
                    mended.lost += 1;
                    if !fill {
                        return Ok(false);
                    }
                    self.codec.inner.encode_fill(encoded)?;
                }
            }
            Ok(true)
        })?;
        Ok(mended)
    }
}
