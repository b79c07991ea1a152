//! Writes the bytes of a file: header, strips or tiles, and directories, as classic TIFF or BigTIFF.

use std::io::{Seek, SeekFrom, Write};

use zarrox::Result;
use zarrox::data_type::Endian;

use crate::input::{failed, unsupported};

/// The maximum total size in bytes of the elements in a classic TIFF file, which has 32-bit offsets. Compressed elements
/// may be slightly larger.
const CLASSIC: u64 = 3_900_000_000;

/// The value of a tag.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Text(String),
    Shorts(Vec<u16>),
    Long(u32),
    Doubles(Vec<f64>),
    /// Offsets or sizes, which have 32 bits in classic TIFF.
    Offsets(Vec<u64>),
    /// Offsets of directories.
    Directories(Vec<u64>),
}

/// The tags of a directory, by tag number.
pub(super) type Tags = std::collections::BTreeMap<u16, Value>;

/// A file that is being written.
pub(super) struct File<W> {
    out: W,
    /// The number of bytes written so far.
    at: u64,
    is_big: bool,
}

impl<W: Write + Seek> File<W> {
    /// Starts a file for `bytes` bytes of elements, in `parts` strips or tiles.
    pub(super) fn begin(out: W, bytes: u64, parts: u64) -> Result<Self> {
        // If a strip or tile is incompressible, encoding adds a header and a checksum.
        let most = bytes.saturating_add(bytes / 1000).saturating_add(parts.saturating_mul(64));
        let mut file = Self { out, at: 0, is_big: most > CLASSIC };
        let mark: &[u8] = if Endian::NATIVE == Endian::Little { b"II" } else { b"MM" };
        file.push(mark)?;
        if file.is_big {
            file.push(&43_u16.to_ne_bytes())?;
            file.push(&8_u16.to_ne_bytes())?;
            file.push(&0_u16.to_ne_bytes())?;
        } else {
            file.push(&42_u16.to_ne_bytes())?;
        }
        file.push(&file.offset(0)?)?;
        Ok(file)
    }

    fn push(&mut self, bytes: &[u8]) -> Result<()> {
        self.out.write_all(bytes).map_err(|error| failed("writing the file", error))?;
        self.at += bytes.len() as u64;
        Ok(())
    }

    /// Encodes an offset.
    fn offset(&self, offset: u64) -> Result<Vec<u8>> {
        if self.is_big {
            return Ok(offset.to_ne_bytes().to_vec());
        }
        let offset = u32::try_from(offset).map_err(|_| unsupported("the file is larger than 4 GiB"))?;
        Ok(offset.to_ne_bytes().to_vec())
    }

    /// Writes a strip or tile, and returns its offset and size.
    pub(super) fn part(&mut self, bytes: &[u8]) -> Result<(u64, u64)> {
        let place = (self.at, bytes.len() as u64);
        self.push(bytes)?;
        Ok(place)
    }

    /// Writes consecutive directories and returns their offsets. If they are `chained`, each contains the offset of the next one.
    pub(super) fn directories(
        &mut self,
        all: impl ExactSizeIterator<Item = Tags>,
        chained: bool,
    ) -> Result<Vec<u64>> {
        let count = all.len();
        let mut offsets = Vec::with_capacity(count);
        for (number, tags) in all.enumerate() {
            if !self.at.is_multiple_of(8) {
                let padding = 8 - usize::try_from(self.at % 8).unwrap_or(0);
                self.push(&[0; 8][..padding])?;
            }
            offsets.push(self.at);
            let bytes = self.directory(&tags, chained && number + 1 < count)?;
            self.push(&bytes)?;
        }
        Ok(offsets)
    }

    /// Encodes a directory at the current offset: its entries, and the values that do not fit into the entries.
    fn directory(&self, tags: &Tags, has_next: bool) -> Result<Vec<u8>> {
        let (inline, entry) = if self.is_big { (8, 20) } else { (4, 12) };
        let head = if self.is_big { 8 } else { 2 };
        let table = head + tags.len() * entry + inline;
        let (mut entries, mut values) = (Vec::with_capacity(table), Vec::new());
        match self.is_big {
            true => entries.extend((tags.len() as u64).to_ne_bytes()),
            false => entries.extend(u16::try_from(tags.len()).unwrap_or_default().to_ne_bytes()),
        }
        for (number, value) in tags {
            let (kind, count, mut bytes) = self.encoded(value)?;
            entries.extend(number.to_ne_bytes());
            entries.extend(kind.to_ne_bytes());
            entries.extend(self.offset(count as u64)?);
            if bytes.len() <= inline {
                bytes.resize(inline, 0);
                entries.extend(bytes);
                continue;
            }
            entries.extend(self.offset(self.at + (table + values.len()) as u64)?);
            values.extend(bytes);
            values.resize(values.len().next_multiple_of(8), 0);
        }
        let end = (self.at + (table + values.len()) as u64).next_multiple_of(8);
        entries.extend(self.offset(if has_next { end } else { 0 })?);
        entries.extend(values);
        Ok(entries)
    }

    /// Encodes a value. Returns its TIFF type, the number of its elements, and its bytes.
    fn encoded(&self, value: &Value) -> Result<(u16, usize, Vec<u8>)> {
        let offsets = |offsets: &[u64]| -> Result<Vec<u8>> {
            Ok(offsets.iter().map(|&offset| self.offset(offset)).collect::<Result<Vec<_>>>()?.concat())
        };
        Ok(match value {
            Value::Text(text) => (2, text.len() + 1, [text.as_bytes(), b"\0"].concat()),
            Value::Shorts(all) => {
                (3, all.len(), all.iter().flat_map(|number| number.to_ne_bytes()).collect())
            }
            Value::Long(number) => (4, 1, number.to_ne_bytes().to_vec()),
            Value::Doubles(all) => {
                (12, all.len(), all.iter().flat_map(|number| number.to_ne_bytes()).collect())
            }
            Value::Offsets(all) => (if self.is_big { 16 } else { 4 }, all.len(), offsets(all)?),
            Value::Directories(all) => (if self.is_big { 18 } else { 13 }, all.len(), offsets(all)?),
        })
    }

    /// Completes a file. `first` is the offset of the first directory.
    pub(super) fn finish(mut self, first: u64) -> Result<()> {
        let offset = self.offset(first)?;
        let writing = |error| failed("writing the file", error);
        self.out.seek(SeekFrom::Start(if self.is_big { 8 } else { 4 })).map_err(writing)?;
        self.out.write_all(&offset).map_err(writing)?;
        self.out.seek(SeekFrom::End(0)).map_err(writing)?;
        self.out.flush().map_err(writing)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;
    use std::sync::Arc;

    use super::*;
    use crate::input::Input;
    use crate::tiff::directory;

    #[test]
    fn directories_are_read_again_in_both_forms() {
        for bytes in [1000, 5_000_000_000] {
            let mut out = Cursor::new(Vec::new());
            let mut file = File::begin(&mut out, bytes, 1).unwrap();
            let place = file.part(b"abc").unwrap();
            let tags = |number: u16| {
                let offsets = vec![place.0; usize::from(number)];
                Tags::from([
                    (256, Value::Long(7)),
                    (258, Value::Shorts(vec![8; usize::from(number)])),
                    (270, Value::Text("a text".to_owned())),
                    (273, Value::Offsets(offsets)),
                    (33550, Value::Doubles(vec![0.5, 2.0])),
                ])
            };
            let below = file.directories([tags(1)].into_iter(), false).unwrap();
            let offsets = file.directories([tags(2), tags(9)].into_iter(), true).unwrap();
            assert_eq!((below.len(), offsets.len()), (1, 2));
            file.finish(offsets[0]).unwrap();
            let out = out.into_inner();
            assert_eq!(out[2], if bytes > CLASSIC { 43 } else { 42 });
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("a.tif");
            std::fs::write(&path, out).unwrap();
            let (file, first) = directory::File::open(Arc::new(Input::open(&path).unwrap())).unwrap();
            let mut all = Vec::new();
            let end = file
                .visit_chain(first, &mut |directory| {
                    all.push(directory);
                    Ok(())
                })
                .unwrap();
            assert!(matches!(end, directory::End::Last));
            assert_eq!(all.len(), 2);
            assert_eq!(all[0].number(256).unwrap(), Some(7));
            assert_eq!(all[1].numbers(258).unwrap(), [8; 9]);
            assert_eq!(all[1].numbers(273).unwrap(), [place.0; 9]);
            assert_eq!(all[0].text(270).unwrap().as_deref(), Some("a text"));
            assert_eq!(all[0].floats(33550).unwrap(), [0.5, 2.0]);
        }
    }
}
