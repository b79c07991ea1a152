//! TIFF directories, which contain the tags of each image, in classic TIFF and BigTIFF.
//!
//! Specification: <https://www.itu.int/itudoc/itu-t/com16/tiff-fx/docs/tiff6.pdf>
//!
//! The crate `tiff` is not used: it limits tags to 1 MiB before the limit can be changed, inverts the elements of some
//! images, does not support large numbers of bands, and depends on a version of Zstandard that cannot be linked together
//! with ours.

use std::collections::BTreeMap;
use std::sync::Arc;

use zarrox::data_type::Endian;
use zarrox::{Error, Result};

use super::tag;
use crate::input::{Input, corrupt, unsupported};

/// The maximum number of tags in a directory.
const MOST_TAGS: u64 = 1 << 16;

/// The maximum number of directories in a chain.
const MOST_DIRECTORIES: usize = 1 << 20;

/// A file, with its byte order and variant.
#[derive(Debug, Clone)]
pub(super) struct File {
    pub(super) input: Arc<Input>,
    pub(super) endian: Endian,
    is_big: bool,
}

/// The location of the values of a tag.
#[derive(Debug, Clone, Copy)]
struct Entry {
    kind: u16,
    count: u64,
    offset: u64,
}

/// The tags of an image.
#[derive(Debug, Clone)]
pub(super) struct Directory {
    file: File,
    entries: BTreeMap<u16, Entry>,
    /// The tags whose values are outside the file and are not needed to read the elements.
    outside: Vec<u16>,
}

/// The end of a chain of directories.
#[derive(Debug)]
pub(super) enum End {
    /// The last directory has no successor.
    Last,
    /// The last link leads back to a visited directory. No directory is lost.
    Back(String),
    /// The last link is invalid.
    Damaged(Error),
}

/// The tags that are needed to read the elements of an image.
const NEEDED: [u16; 25] = [
    tag::SUBFILE,
    tag::WIDTH,
    tag::HEIGHT,
    tag::BITS,
    tag::COMPRESSION,
    tag::PHOTOMETRIC,
    tag::FILL_ORDER,
    tag::STRIP_OFFSETS,
    tag::SAMPLES,
    tag::STRIP_ROWS,
    tag::STRIP_SIZES,
    tag::PLANAR,
    tag::T4_OPTIONS,
    tag::PREDICTOR,
    tag::TILE_WIDTH,
    tag::TILE_HEIGHT,
    tag::TILE_OFFSETS,
    tag::TILE_SIZES,
    tag::SUB_DIRECTORIES,
    tag::FORMAT,
    tag::JPEG_TABLES,
    tag::SUBSAMPLING,
    tag::DEPTH,
    tag::TILE_DEPTH,
    tag::LERC,
];

impl File {
    /// Opens a file, and returns it with the position of its first directory.
    pub(super) fn open(input: Arc<Input>) -> Result<(Self, u64)> {
        let start = input.start(16)?;
        let endian = match start.get(..2) {
            Some(b"II") => Endian::Little,
            Some(b"MM") => Endian::Big,
            _ => return Err(corrupt("the file is not a TIFF")),
        };
        let mut file = Self { input, endian, is_big: false };
        let number = |range: std::ops::Range<usize>| {
            start.get(range).map(|bytes| file.number(bytes)).ok_or_else(|| corrupt("the header is truncated"))
        };
        let first = match number(2..4)? {
            42 => number(4..8)?,
            43 if (number(4..6)?, number(6..8)?) == (8, 0) => number(8..16)?,
            version => return Err(corrupt(format!("unknown version {version} of TIFF"))),
        };
        file.is_big = start[2..4].contains(&43);
        Ok((file, first))
    }

    /// Decodes an unsigned integer.
    pub(super) fn number(&self, bytes: &[u8]) -> u64 {
        let join = |number, &byte: &u8| number << 8 | u64::from(byte);
        match self.endian {
            Endian::Big => bytes.iter().fold(0, join),
            Endian::Little => bytes.iter().rev().fold(0, join),
        }
    }

    /// Visits a chain of directories in order, starting with the directory at `first`.
    ///
    /// Returns how the chain ends. The directories before an invalid or circular link are visited.
    ///
    /// # Errors
    /// The error from reading the first directory, and errors from `visit`.
    pub(super) fn visit_chain(
        &self,
        first: u64,
        visit: &mut dyn FnMut(Directory) -> Result<()>,
    ) -> Result<End> {
        let (mut seen, mut next) = (BTreeMap::new(), first);
        let mut size = 0_u64;
        while next != 0 {
            let count = seen.len();
            if let Some(earlier) = seen.insert(next, count) {
                let message = format!("the directory after page {} is that of page {earlier}", count - 1);
                return Ok(End::Back(message));
            }
            if count == MOST_DIRECTORIES {
                let message = format!("the file has more than {MOST_DIRECTORIES} images");
                return Err(unsupported(message));
            }
            let (directory, following) = match self.directory(next) {
                Ok(read) => read,
                Err(error) if count == 0 => return Err(error),
                Err(error) => {
                    let place = format!("the directory after page {}, at {next}", count - 1);
                    return Ok(End::Damaged(error.at(place)));
                }
            };
            size = size.saturating_add(directory.total());
            // Many directories that share the same tag values could require more memory than the size of the file.
            if size > self.input.length().saturating_mul(2) {
                return Err(corrupt("the tags are larger than the file"));
            }
            visit(directory)?;
            next = following;
        }
        Ok(End::Last)
    }

    /// Reads the directory at a position. Also returns the position of the next directory, which is 0 for the last directory.
    pub(super) fn directory_at(&self, position: u64) -> Result<(Directory, u64)> {
        self.directory(position)
    }

    /// Reads a directory. Also returns the position of the next directory.
    fn directory(&self, position: u64) -> Result<(Directory, u64)> {
        let (of_count, of_entry, of_offset) = if self.is_big { (8_u64, 20_u64, 8_u64) } else { (2, 12, 4) };
        let count = self.number(&self.input.read(position, of_count)?);
        if count > MOST_TAGS {
            return Err(corrupt(format!("a directory has {count} tags")));
        }
        let bytes = self.input.read(position + of_count, count * of_entry + of_offset)?;
        let size = usize::try_from(of_entry).unwrap_or(12);
        let (mut entries, mut outside) = (BTreeMap::new(), Vec::new());
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
            let end = count.checked_mul(item).and_then(|size| size.checked_add(offset));
            if end.is_none_or(|end| end > self.input.length()) && !NEEDED.contains(&tag) {
                outside.push(tag);
                continue;
            }
            entries.entry(tag).or_insert(Entry { kind, count, offset });
        }
        let last = bytes.len() - usize::try_from(of_offset).unwrap_or(4);
        Ok((Directory { file: self.clone(), entries, outside }, self.number(&bytes[last..])))
    }
}

/// Returns the size in bytes of a value of the given type.
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
    /// Returns the total size in bytes of the values of all tags.
    pub(super) fn total(&self) -> u64 {
        self.entries.keys().fold(0, |size: u64, &tag| size.saturating_add(self.size(tag)))
    }

    /// Returns the total size in bytes of the values of a tag.
    pub(super) fn size(&self, tag: u16) -> u64 {
        let entry = self.entries.get(&tag);
        entry.map_or(0, |entry| entry.count.saturating_mul(size_of(entry.kind).unwrap_or(1)))
    }

    /// Returns the bytes of the values of a tag, and their type.
    pub(super) fn bytes(&self, tag: u16) -> Result<Option<(Vec<u8>, u16)>> {
        let Some(entry) = self.entries.get(&tag) else { return Ok(None) };
        let bytes = self.file.input.read(entry.offset, self.size(tag))?;
        Ok(Some((bytes, entry.kind)))
    }

    /// Returns the nonnegative integers of a tag; empty if the tag is absent.
    pub(super) fn numbers(&self, tag: u16) -> Result<Vec<u64>> {
        let Some((bytes, kind)) = self.bytes(tag)? else { return Ok(Vec::new()) };
        if matches!(kind, 2 | 5..=6 | 8..=12 | 17) {
            return Err(corrupt(format!("the tag {tag} has no integers")));
        }
        let size = usize::try_from(size_of(kind).unwrap_or(1)).unwrap_or(1);
        Ok(bytes.chunks_exact(size).map(|bytes| self.file.number(bytes)).collect())
    }

    /// Returns the first integer of a tag.
    pub(super) fn number(&self, tag: u16) -> Result<Option<u64>> {
        // Only the first value is read, since a tag can have a very large number of values.
        let Some(entry) = self.entries.get(&tag).filter(|entry| entry.count > 0) else { return Ok(None) };
        let entries = BTreeMap::from([(tag, Entry { count: 1, ..*entry })]);
        let one = Self { file: self.file.clone(), entries, outside: Vec::new() };
        Ok(one.numbers(tag)?.first().copied())
    }

    /// Returns the numeric values of a tag of any numeric type as floats.
    pub(super) fn floats(&self, tag: u16) -> Result<Vec<f64>> {
        let Some((bytes, kind)) = self.bytes(tag)? else { return Ok(Vec::new()) };
        let size = usize::try_from(size_of(kind).unwrap_or(1)).unwrap_or(1);
        let numbers = bytes.chunks_exact(size).map(|bytes| self.float(bytes, kind));
        numbers.collect::<Option<_>>().ok_or_else(|| corrupt(format!("the tag {tag} has no numbers")))
    }

    /// Converts a number to a float; `None` for strings.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        reason = "the type has this number of bits, and larger numbers are rounded"
    )]
    fn float(&self, bytes: &[u8], kind: u16) -> Option<f64> {
        let number = self.file.number(bytes);
        let half = |at: usize| bytes.get(at..at + 4).map(|half| self.file.number(half) as u32);
        Some(match kind {
            1 | 3 | 4 | 7 | 13 | 16 | 18 => number as f64,
            6 => f64::from(number as u8 as i8),
            8 => f64::from(number as u16 as i16),
            9 => f64::from(number as u32 as i32),
            17 => number as i64 as f64,
            5 => f64::from(half(0)?) / f64::from(half(4)?),
            10 => f64::from(half(0)? as i32) / f64::from(half(4)? as i32),
            11 => f64::from(f32::from_bits(number as u32)),
            12 => f64::from_bits(number),
            _ => return None,
        })
    }

    /// Returns the tags that were dropped because their values are outside the file.
    pub(super) fn outside(&self) -> &[u16] {
        &self.outside
    }

    /// Returns true if the directory has a tag.
    pub(super) fn has(&self, tag: u16) -> bool {
        self.entries.contains_key(&tag)
    }

    /// Returns the number of values of a tag.
    pub(super) fn count(&self, tag: u16) -> u64 {
        self.entries.get(&tag).map_or(0, |entry| entry.count)
    }

    /// Returns the position of the values of a tag in the file.
    pub(super) fn position(&self, tag: u16) -> Option<u64> {
        self.entries.get(&tag).map(|entry| entry.offset)
    }

    /// Returns the file that contains the directory.
    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// Returns the string value of a tag.
    pub(super) fn text(&self, tag: u16) -> Result<Option<String>> {
        const MOST: u64 = 64 << 20;
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
