//! Directories of TIFF: the tags of each image, in the classic form and that of BigTIFF.
//!
//! Specification: <https://www.itu.int/itudoc/itu-t/com16/tiff-fx/docs/tiff6.pdf>
//!
//! The crate `tiff` limits tags to 1 MiB before it can be told otherwise, inverts elements of some images, has no images of many bands, and a
//! version of Zstandard that cannot be linked together with ours.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use zarrox::data_type::Endian;
use zarrox::{Error, ErrorKind, Result};

use crate::input::{Input, corrupt};

/// The most tags of a directory.
const MOST_TAGS: u64 = 1 << 16;

/// The most directories.
const MOST_DIRECTORIES: usize = 1 << 20;

/// A file and its form.
#[derive(Debug, Clone)]
pub(super) struct File {
    pub(super) input: Arc<Input>,
    pub(super) endian: Endian,
    is_big: bool,
}

/// The place of the values of a tag.
#[derive(Debug, Clone, Copy)]
struct Entry {
    kind: u16,
    count: u64,
    offset: u64,
}

/// The tags of an image.
#[derive(Debug)]
pub(super) struct Directory {
    file: File,
    entries: BTreeMap<u16, Entry>,
}

impl File {
    /// The file, and the position of its first directory.
    pub(super) fn open(input: Arc<Input>) -> Result<(Self, u64)> {
        let start = input.start(16)?;
        let endian = match start.get(..2) {
            Some(b"II") => Endian::Little,
            Some(b"MM") => Endian::Big,
            _ => return Err(corrupt("the file is no TIFF")),
        };
        let mut file = Self { input, endian, is_big: false };
        let number = |range: std::ops::Range<usize>| {
            start.get(range).map(|bytes| file.number(bytes)).ok_or_else(|| corrupt("the header is cut off"))
        };
        let first = match number(2..4)? {
            42 => number(4..8)?,
            43 if (number(4..6)?, number(6..8)?) == (8, 0) => number(8..16)?,
            version => return Err(corrupt(format!("there is no version {version} of TIFF"))),
        };
        file.is_big = start[2..4].contains(&43);
        Ok((file, first))
    }

    /// The number of some bytes.
    fn number(&self, bytes: &[u8]) -> u64 {
        let join = |number, &byte: &u8| number << 8 | u64::from(byte);
        match self.endian {
            Endian::Big => bytes.iter().fold(0, join),
            Endian::Little => bytes.iter().rev().fold(0, join),
        }
    }

    /// All directories from a position on.
    pub(super) fn directories(&self, first: u64) -> Result<Vec<Directory>> {
        let (mut all, mut seen, mut next) = (Vec::new(), BTreeSet::new(), first);
        while next != 0 {
            if !seen.insert(next) {
                return Err(corrupt("the directories are a circle"));
            }
            if all.len() == MOST_DIRECTORIES {
                let message = format!("the file has more than {MOST_DIRECTORIES} images");
                return Err(Error::new(ErrorKind::LimitExceeded, message));
            }
            let (directory, following) = self.directory(next)?;
            all.push(directory);
            next = following;
        }
        Ok(all)
    }

    /// A directory, and the position of the next one.
    fn directory(&self, position: u64) -> Result<(Directory, u64)> {
        let (of_count, of_entry, of_offset) = if self.is_big { (8_u64, 20_u64, 8_u64) } else { (2, 12, 4) };
        let count = self.number(&self.input.read(position, of_count)?);
        if count > MOST_TAGS {
            return Err(corrupt(format!("a directory has {count} tags")));
        }
        let bytes = self.input.read(position + of_count, count * of_entry + of_offset)?;
        let size = usize::try_from(of_entry).unwrap_or(12);
        let mut entries = BTreeMap::new();
        let mut parts = bytes.chunks_exact(size);
        for (nth, part) in (0_u64..).zip(parts.by_ref().take(usize::try_from(count).unwrap_or(0))) {
            let kind = u16::try_from(self.number(&part[2..4])).unwrap_or(0);
            let count = self.number(&part[4..if self.is_big { 12 } else { 8 }]);
            let Some(item) = size_of(kind) else { continue };
            let value = &part[if self.is_big { 12 } else { 8 }..];
            let is_inside = count.checked_mul(item).is_some_and(|size| size <= of_offset);
            let offset = match is_inside {
                true => position + of_count + (nth + 1) * of_entry - of_offset,
                false => self.number(value),
            };
            let tag = u16::try_from(self.number(&part[..2])).unwrap_or(0);
            entries.entry(tag).or_insert(Entry { kind, count, offset });
        }
        let last = bytes.len() - usize::try_from(of_offset).unwrap_or(4);
        Ok((Directory { file: self.clone(), entries }, self.number(&bytes[last..])))
    }
}

/// The size of a value in bytes.
fn size_of(kind: u16) -> Option<u64> {
    match kind {
        1 | 2 | 6 | 7 => Some(1),
        3 | 8 => Some(2),
        4 | 9 | 11 | 13 => Some(4),
        5 | 10 | 12 | 16..=18 => Some(8),
        _ => None,
    }
}

impl Directory {
    /// The size of the values of all tags in bytes.
    pub(super) fn total(&self) -> u64 {
        self.entries.keys().fold(0, |size: u64, &tag| size.saturating_add(self.size(tag)))
    }

    /// The size of the values of a tag in bytes.
    pub(super) fn size(&self, tag: u16) -> u64 {
        let entry = self.entries.get(&tag);
        entry.map_or(0, |entry| entry.count.saturating_mul(size_of(entry.kind).unwrap_or(1)))
    }

    /// The bytes of a tag, and the size of each value.
    pub(super) fn bytes(&self, tag: u16) -> Result<Option<(Vec<u8>, u16)>> {
        let Some(entry) = self.entries.get(&tag) else { return Ok(None) };
        let bytes = self.file.input.read(entry.offset, self.size(tag))?;
        Ok(Some((bytes, entry.kind)))
    }

    /// The whole numbers of a tag, which has no negative ones; empty if it is not there.
    pub(super) fn numbers(&self, tag: u16) -> Result<Vec<u64>> {
        let Some((bytes, kind)) = self.bytes(tag)? else { return Ok(Vec::new()) };
        if matches!(kind, 2 | 5..=6 | 8..=12 | 17) {
            return Err(corrupt(format!("the tag {tag} has no whole numbers")));
        }
        let size = usize::try_from(size_of(kind).unwrap_or(1)).unwrap_or(1);
        Ok(bytes.chunks_exact(size).map(|bytes| self.file.number(bytes)).collect())
    }

    /// The only whole number of a tag, or the first one.
    pub(super) fn number(&self, tag: u16) -> Result<Option<u64>> {
        // Only one is read, however many there are.
        let Some(entry) = self.entries.get(&tag).filter(|entry| entry.count > 0) else { return Ok(None) };
        let one =
            Self { file: self.file.clone(), entries: BTreeMap::from([(tag, Entry { count: 1, ..*entry })]) };
        Ok(one.numbers(tag)?.first().copied())
    }

    /// The floats of a tag.
    pub(super) fn floats(&self, tag: u16) -> Result<Vec<f64>> {
        match self.bytes(tag)? {
            Some((bytes, 12)) => {
                Ok(bytes.chunks_exact(8).map(|bytes| f64::from_bits(self.file.number(bytes))).collect())
            }
            Some(_) => Err(corrupt(format!("the tag {tag} has no floats"))),
            None => Ok(Vec::new()),
        }
    }

    /// The text of a tag.
    pub(super) fn text(&self, tag: u16) -> Result<Option<String>> {
        const MOST: u64 = 16 << 20;
        if self.size(tag) > MOST {
            return Ok(None);
        }
        Ok(self.bytes(tag)?.map(|(mut bytes, _)| {
            while bytes.last() == Some(&0) {
                bytes.pop();
            }
            String::from_utf8(bytes)
                .unwrap_or_else(|old| old.as_bytes().iter().map(|&byte| char::from(byte)).collect())
        }))
    }
}
