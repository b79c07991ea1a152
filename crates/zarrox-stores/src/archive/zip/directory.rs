//! The central directory: finding, reading and writing it.

use std::ops::Range;

use bytes::Bytes;

use super::format::{self, CentralRecord, Content, End};
use super::source::Source;
use super::torn::hole_before_torn_end;
use crate::{Key, StoreError, StoreErrorKind, key_map};

/// The maximum length of the records at the end: a comment of 64 KiB, and the zip64 records before it.
const LONGEST_END: u64 =
    (u16::MAX as usize + format::END_LENGTH + format::LOCATOR_LENGTH + format::END_64_LENGTH) as u64;
/// The maximum length of a local header including the name.
const LONGEST_HEADER: u64 = format::LOCAL_LENGTH + u16::MAX as u64;
/// The maximum number of invalid names that a warning shows.
const SHOWN: usize = 5;

/// The content of an archive.
#[derive(Default)]
pub(super) struct Directory {
    pub(super) entries: key_map::Map<Entry>,
    /// Entries that are not values, such as directories. They are preserved unchanged.
    others: Vec<Old>,
    /// The records that `Old` values refer to.
    records: Bytes,
    comment: Bytes,
    /// The offset of the archive in the file. It is not 0 after a self-extracting program.
    pub(super) base: u64,
    /// The offset of the directory in the file.
    pub(super) start: u64,
    /// The offset of the end of the last record in the file.
    end: u64,
    /// The length to which the file must be truncated, if a writer died while writing another directory.
    pub(super) torn: Option<u64>,
}

/// One value in an archive.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) content: Content,
    /// The offset of the local header in the file.
    pub(super) header: u64,
    /// The offset of the next entry or of the directory. The entry must not extend beyond it.
    pub(super) limit: u64,
    /// The original record of an entry that another program wrote.
    old: Option<Old>,
}

/// A record of the directory that is written back unchanged.
#[derive(Clone, Copy, Debug)]
struct Old {
    header: u64,
    start: usize,
    length: usize,
}

impl Entry {
    /// Creates an entry at an unused offset in the file.
    pub(super) fn new(content: Content, header: u64, limit: u64) -> Self {
        Self { content, header, limit, old: None }
    }
}

impl Directory {
    /// Reads the directory of an archive.
    pub(super) fn read(source: &Source) -> Result<Self, StoreError> {
        let size = source.size()?;
        let directory = match Self::ending_at(source, size) {
            Err(error) => return Self::before_torn_end(source, size)?.ok_or(error),
            Ok(directory) => directory,
        };
        if directory.end < size {
            tracing::warn!("{} bytes after the end of a zip archive are ignored", size - directory.end);
        }
        Ok(directory)
    }

    /// Reads the last complete directory, which precedes a torn directory.
    fn before_torn_end(source: &Source, size: u64) -> Result<Option<Self>, StoreError> {
        let Some(hole) = hole_before_torn_end(source, size)? else { return Ok(None) };
        // The last fields of the end record can be zeros too.
        let mut ends = hole..=size.min(hole + format::END_LENGTH as u64);
        let found = ends.find_map(|end| {
            let directory = Self::ending_at(source, end).ok()?;
            (directory.end == end).then_some(Self { torn: Some(end), ..directory })
        });
        if found.is_some() {
            tracing::warn!("the last writer of a zip archive died: its unfinished changes are ignored");
        }
        Ok(found)
    }

    /// Reads the directory of an archive that ends at the given offset in the file.
    fn ending_at(source: &Source, size: u64) -> Result<Self, StoreError> {
        let start = size.saturating_sub(LONGEST_END);
        let tail = Tail { source, start, bytes: source.read(start, size - start)? };
        let found = tail.find()?;
        let length = found.end.length;
        let begin = found.directory;
        let records = match begin.checked_sub(start).and_then(|begin| usize::try_from(begin).ok()) {
            // The bytes are copied, so that the rest of the buffer need not stay in memory.
            Some(begin) => Bytes::copy_from_slice(
                tail.bytes
                    .get(begin..)
                    .and_then(|all| all.get(..usize::try_from(length).ok()?))
                    .unwrap_or_default(),
            ),
            None => source.read(begin, length)?,
        };
        let base = begin - found.end.offset;
        let (comment, end) = (found.comment, found.place);
        let directory = Self { records, comment, base, start: begin, end, ..Self::default() };
        directory.parsed(found.end.records)
    }

    /// Returns the end of the last entry that this process has written at or after this offset.
    pub(super) fn end_from(&self, begin: u64) -> u64 {
        let appended = self.entries.values().filter(|entry| entry.header >= begin);
        appended.map(|entry| entry.limit).fold(begin, u64::max)
    }

    fn parsed(mut self, expected: u64) -> Result<Self, StoreError> {
        let records = self.records.clone();
        let (mut at, mut count) = (0, 0_u64);
        let mut ignored = Vec::new();
        let mut headers = Vec::new();
        while at < records.len() {
            let record = format::parse_central(&records[at..]).map_err(corrupt)?;
            let header =
                self.base.checked_add(record.offset).ok_or_else(|| corrupt("an offset is too large"))?;
            let old = Old { header, start: at, length: record.length };
            headers.push(header);
            self.add(&record, old, &mut ignored);
            at += record.length;
            count += 1;
        }
        // Some programs only store the lowest 16 bits of the count.
        if count != expected && count & 0xffff != expected {
            return Err(corrupt(format!(
                "the directory has {count} records, but its header says {expected}"
            )));
        }
        self.set_limits(headers);
        warn_of(&ignored);
        Ok(self)
    }

    fn add(&mut self, record: &CentralRecord<'_>, old: Old, ignored: &mut Vec<String>) {
        let key = record.name.as_deref().and_then(key_of);
        let Some(key) = key else {
            if !record.raw_name.ends_with(b"/") && !record.raw_name.ends_with(b"\\") {
                ignored.push(record.raw_name.escape_ascii().to_string());
            }
            return self.others.push(old);
        };
        // If several entries have the same name, the last one wins.
        self.entries
            .insert(key, Entry { content: record.content, header: old.header, limit: 0, old: Some(old) });
    }

    /// Sets the limits of the entries. An entry must not extend into the next one or into the directory.
    fn set_limits(&mut self, mut headers: Vec<u64>) {
        headers.sort_unstable();
        for entry in self.entries.values_mut() {
            let next = headers.partition_point(|header| *header <= entry.header);
            entry.limit = headers.get(next).map_or(self.start, |header| self.start.min(*header));
        }
    }

    /// Encodes the directory for an offset in the file, together with the end records of the archive.
    pub(super) fn to_bytes(&self, place: u64) -> Vec<u8> {
        let others = self.others.iter().map(|old| (old.header, None, Some(*old)));
        let entries = self.entries.iter().map(|(key, entry)| (entry.header, Some((key, entry)), entry.old));
        let mut all: Vec<_> = others.chain(entries).collect();
        // The records are sorted by the offsets of their entries, so that readers can read the entries sequentially.
        all.sort_by_key(|(header, ..)| *header);
        let mut out = Vec::new();
        for (header, entry, old) in &all {
            match (old, entry) {
                (Some(old), _) => out.extend(&self.records[old.start..][..old.length]),
                (None, Some((key, entry))) => {
                    format::write_central(&mut out, key.as_str(), &entry.content, header - self.base);
                }
                (None, None) => {}
            }
        }
        let (records, length) = (all.len() as u64, out.len() as u64);
        let end = End { records, length, offset: place - self.base, split: false };
        format::write_end(&mut out, &end, &self.comment);
        out
    }
}

/// The last bytes of an archive.
struct Tail<'a> {
    source: &'a Source,
    start: u64,
    bytes: Bytes,
}

/// The records at the end of an archive, with consistent lengths and offsets.
struct Found {
    end: End,
    comment: Bytes,
    /// The offset of the directory in the file.
    directory: u64,
    /// The offset of the end of the last record in the file.
    place: u64,
}

impl Tail<'_> {
    /// Finds the last end record that is consistent with the preceding bytes.
    ///
    /// Either a self-extracting program may precede the archive, or unrelated bytes may follow it, but not both. The program must
    /// not itself be an archive, since an archive inside a truncated archive is easily mistaken for the whole archive.
    fn find(&self) -> Result<Found, StoreError> {
        let mut reason = None;
        for at in (0..=self.bytes.len().saturating_sub(format::END_LENGTH)).rev() {
            let Some((end, comment)) = format::parse_end(&self.bytes[at..]) else { continue };
            let comment = at + format::END_LENGTH..at + format::END_LENGTH + comment;
            match self.check(at, end, comment) {
                Ok(found) => return Ok(found),
                Err(error) => reason = reason.or(Some(error)),
            }
        }
        Err(reason.unwrap_or_else(|| {
            let message = "this is not a zip archive, or it is truncated: no directory was found at its end";
            corrupt(message)
        }))
    }

    fn check(&self, at: usize, narrow: End, comment: Range<usize>) -> Result<Found, StoreError> {
        let (end, records_end) = match self.find_64(at)? {
            Some((end, place)) => (end, place),
            None => (narrow, self.start + at as u64),
        };
        if end.split {
            let message = "the archive is split into several parts; join them first";
            return Err(StoreError::new(StoreErrorKind::Unsupported, "opening", message));
        }
        let outside = || corrupt("the directory is outside the archive: the archive is truncated or damaged");
        let directory = records_end.checked_sub(end.length).ok_or_else(outside)?;
        let base = directory.checked_sub(end.offset).ok_or_else(outside)?;
        if end.length > 0 && *self.source.read(directory, end.length.min(4))? != *format::CENTRAL {
            return Err(corrupt("no directory was found at the offset in the end record"));
        }
        let kept = self
            .bytes
            .get(comment.clone())
            .ok_or_else(|| corrupt("the comment of the archive is truncated"))?;
        let trailing = self.bytes.len() - comment.end;
        if base > 0
            && (trailing > 0
                || format::parse_local(&self.source.read(0, base.min(LONGEST_HEADER))?).is_some())
        {
            return Err(corrupt(
                "the archive that ends here is only a part of the file: the outer archive is truncated",
            ));
        }
        let place = self.start + comment.end as u64;
        Ok(Found { end, comment: Bytes::copy_from_slice(kept), directory, place })
    }

    /// Returns the zip64 end record that belongs to the end record at `at`, and its offset, if there is one.
    fn find_64(&self, at: usize) -> Result<Option<(End, u64)>, StoreError> {
        let locator = at.checked_sub(format::LOCATOR_LENGTH);
        let Some((before, offset)) =
            locator.and_then(|before| Some((before, format::parse_locator(&self.bytes[before..])?)))
        else {
            return Ok(None);
        };
        // The record is right before the locator, unless another program added data to the record.
        if let Some(place) = before.checked_sub(format::END_64_LENGTH)
            && let Some(end) = format::parse_end_64(&self.bytes[place..])
        {
            return Ok(Some((end, self.start + place as u64)));
        }
        let room = (self.start + before as u64).checked_sub(offset);
        if room.is_none_or(|room| room < format::END_64_LENGTH as u64) {
            return Err(corrupt("the zip64 end record is outside the archive"));
        }
        let bytes = self.source.read(offset, format::END_64_LENGTH as u64)?;
        let end = format::parse_end_64(&bytes)
            .ok_or_else(|| corrupt("the zip64 end record of the archive is missing"))?;
        Ok(Some((end, offset)))
    }
}

/// Returns the key of the entry with this name. The entry `./a` has the key `a`. The entry `a\b`, as written by old Windows
/// programs, has the key `a/b`. Names that lead out of the archive, such as `/a` and `../a`, are not keys.
pub(super) fn key_of(name: &str) -> Option<Key> {
    if let Ok(key) = Key::new(name) {
        return Some(key);
    }
    let name = name.replace('\\', "/");
    let segments: Vec<&str> = name.split('/').filter(|&segment| segment != ".").collect();
    Key::new(segments.join("/")).ok()
}

pub(super) fn corrupt(message: impl Into<String>) -> StoreError {
    StoreError::new(StoreErrorKind::Corrupt, "reading", message)
}

fn warn_of(ignored: &[String]) {
    if let Some(shown) = ignored.get(..ignored.len().min(SHOWN)).filter(|shown| !shown.is_empty()) {
        let count = ignored.len();
        tracing::warn!(
            "{count} entries of a zip archive are ignored, since their names lead out of it or are not valid keys: {shown:?}"
        );
    }
}
