//! The metadata of a Parquet file, in the compact form of Thrift.
//!
//! Some programs added fields of their own, whose numbers the format has since assigned to other fields. Thrift
//! distinguishes such fields by the type of each field, and skips fields with an unexpected type. The crate `parquet`
//! ignores the type, and would misread the following fields.

use parquet::errors::Result;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};

use super::pages::Source;

/// The last bytes of a file, after the length of the metadata in four bytes.
const MAGIC: &[u8; 4] = b"PAR1";

/// The maximum nesting depth of skipped structures.
const DEPTH: u8 = 32;

/// The types of fields.
const I16: u8 = 4;
const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

/// A structure that may contain foreign fields.
struct Structure {
    /// The types of the fields 1, 2, 3, …
    types: &'static [u8],
    /// The number of a field that is another such structure, or a list of such structures.
    inner: Option<(u64, &'static Structure)>,
}

static FILE: Structure = Structure {
    types: &[I32, LIST, I64, LIST, LIST, BINARY, LIST, STRUCT, BINARY],
    inner: Some((4, &GROUP)),
};
static GROUP: Structure =
    Structure { types: &[LIST, I64, I64, LIST, I64, I64, I16], inner: Some((1, &CHUNK)) };
static CHUNK: Structure = Structure {
    types: &[BINARY, I64, STRUCT, I64, I32, I64, I32, STRUCT, BINARY],
    inner: Some((3, &COLUMN)),
};
static COLUMN: Structure = Structure {
    types: &[
        I32, LIST, LIST, I32, I64, I64, I64, LIST, I64, I64, I64, STRUCT, LIST, I64, I32, STRUCT, STRUCT,
    ],
    inner: None,
};

/// Reads the metadata of a file.
///
/// # Errors
/// If the metadata is damaged or not supported.
pub(super) fn metadata(source: &Source) -> Result<ParquetMetaData> {
    match stored(source).and_then(|stored| without_foreign(&stored)) {
        Some(bytes) => ParquetMetaDataReader::decode_metadata(&bytes),
        None => ParquetMetaDataReader::new().parse_and_finish(source),
    }
}

/// Returns the bytes of the metadata; `None` if the offset is invalid, or the metadata is encrypted.
fn stored(source: &Source) -> Option<Vec<u8>> {
    let end = source.0.length().checked_sub(8)?;
    let tail = source.0.read(end, 8).ok()?;
    let (length, magic) = tail.split_first_chunk::<4>()?;
    let length = u64::from(u32::from_le_bytes(*length));
    if magic != MAGIC {
        return None;
    }
    source.0.read(end.checked_sub(length)?, length).ok()
}

/// Returns the metadata without fields of an unexpected type; `None` if all fields have the
/// expected types, or the metadata is damaged.
fn without_foreign(stored: &[u8]) -> Option<Vec<u8>> {
    let mut copy = Copy { rest: stored, out: Vec::new(), has_foreign: false };
    copy.structure(&FILE)?;
    copy.has_foreign.then_some(copy.out)
}

/// A partial copy of metadata.
struct Copy<'b> {
    rest: &'b [u8],
    out: Vec<u8>,
    has_foreign: bool,
}

impl<'b> Copy<'b> {
    fn structure(&mut self, structure: &Structure) -> Option<()> {
        let (mut number, mut written) = (0, 0);
        loop {
            let header = self.byte()?;
            if header == 0 {
                self.out.push(0);
                return Some(());
            }
            let (step, kind) = (u64::from(header >> 4), header & 15);
            number = if step == 0 { self.zigzag()? } else { number + step };
            let index = usize::try_from(number).ok()?.checked_sub(1)?;
            if structure.types.get(index).is_some_and(|&known| known != kind) {
                self.skip(kind, DEPTH)?;
                self.has_foreign = true;
                continue;
            }
            self.header(number, written, kind)?;
            written = number;
            match structure.inner.filter(|(inner, _)| *inner == number) {
                Some((_, inner)) if kind == STRUCT => self.structure(inner)?,
                Some((_, inner)) => self.list(inner)?,
                None => self.value(kind)?,
            }
        }
    }

    fn list(&mut self, structure: &Structure) -> Option<()> {
        let before = self.rest;
        let (kind, count) = self.list_header()?;
        if kind != STRUCT {
            return None;
        }
        self.keep(before);
        (0..count).try_for_each(|_| self.structure(structure))
    }

    fn value(&mut self, kind: u8) -> Option<()> {
        let before = self.rest;
        self.skip(kind, DEPTH)?;
        self.keep(before);
        Some(())
    }

    /// Copies the bytes read since the last copy.
    fn keep(&mut self, before: &[u8]) {
        self.out.extend_from_slice(&before[..before.len() - self.rest.len()]);
    }

    /// Writes the number and the type of a field after another field.
    fn header(&mut self, number: u64, before: u64, kind: u8) -> Option<()> {
        match u8::try_from(number.checked_sub(before)?) {
            Ok(step @ 1..=15) => self.out.push(step << 4 | kind),
            _ => {
                self.out.push(kind);
                let mut rest = number.checked_mul(2)?;
                while rest >= 0x80 {
                    self.out.push(0x80 | u8::try_from(rest & 0x7f).ok()?);
                    rest >>= 7;
                }
                self.out.push(u8::try_from(rest).ok()?);
            }
        }
        Some(())
    }

    fn skip(&mut self, kind: u8, depth: u8) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        match kind {
            // The type of a field holds its boolean value.
            1 | 2 => Some(()),
            3 => self.take(1),
            I16 | I32 | I64 => self.varint().map(drop),
            7 => self.take(8),
            BINARY => {
                let length = self.varint()?;
                self.take(length)
            }
            LIST | 10 => {
                let (kind, count) = self.list_header()?;
                (0..count).try_for_each(|_| self.skip_element(kind, depth))
            }
            11 => {
                let count = self.varint()?;
                let kinds = if count == 0 { 0 } else { self.byte()? };
                (0..count).try_for_each(|_| {
                    self.skip_element(kinds >> 4, depth)?;
                    self.skip_element(kinds & 15, depth)
                })
            }
            STRUCT => loop {
                let header = self.byte()?;
                if header == 0 {
                    return Some(());
                }
                if header >> 4 == 0 {
                    self.varint()?;
                }
                self.skip(header & 15, depth)?;
            },
            13 => self.take(16),
            _ => None,
        }
    }

    /// Skips an element of a list, in which booleans take a byte.
    fn skip_element(&mut self, kind: u8, depth: u8) -> Option<()> {
        if matches!(kind, 1 | 2) { self.take(1) } else { self.skip(kind, depth) }
    }

    fn list_header(&mut self) -> Option<(u8, u64)> {
        let header = self.byte()?;
        let count = if header >> 4 == 15 { self.varint()? } else { u64::from(header >> 4) };
        // Each element takes at least one byte.
        (count <= self.rest.len() as u64).then_some((header & 15, count))
    }

    fn take(&mut self, length: u64) -> Option<()> {
        self.rest = self.rest.get(usize::try_from(length).ok()?..)?;
        Some(())
    }

    fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(byte)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    /// Returns a nonnegative number of a field.
    fn zigzag(&mut self) -> Option<u64> {
        self.varint().filter(|value| value % 2 == 0).map(|value| value / 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Metadata with one group of one column, which has some fields.
    fn of(column: &[u8]) -> Vec<u8> {
        let chunk = [&[0x26, 8, 0x1c], column, &[0, 0]].concat();
        let group = [&[0x19, 0x1c], chunk.as_slice(), &[0x16, 2, 0]].concat();
        [&[0x15, 2, 0x39, 0x1c], group.as_slice(), &[0x28, 1, b'a', 0]].concat()
    }

    #[test]
    fn fields_of_another_type_are_left_out() {
        let sound = [0x15, 2, 0xa6, 0xac, 2, 0x36, 4];
        assert_eq!(without_foreign(&of(&sound)), None, "there are none");
        // These fields replace a number: a list of structures with structures, a boolean, a map, and text.
        let list = [0x19, 0x2c, 0x15, 8, 0x1c, 0x15, 2, 0, 0, 0x15, 8, 0];
        for foreign in [&list[..], &[0x11], &[0x1b, 1, 0x85, 1, b'a', 2], &[0x18, 2, b'a', b'b']] {
            // Field 15 is between field 14 and field 16, which is a structure.
            let with = [&[0x15, 2, 0xd6, 4][..], foreign, &[0x1c, 0x16, 2, 0]].concat();
            let without = [0x15, 2, 0xd6, 4, 0x2c, 0x16, 2, 0];
            assert_eq!(without_foreign(&of(&with)).unwrap(), of(&without), "{foreign:?}");
        }
        // The difference of two field numbers is a separate integer if it exceeds 15.
        let (with, without) = ([0x18, 0, 0x05, 36, 2], [0x05, 36, 2]);
        assert_eq!(without_foreign(&of(&with)).unwrap(), of(&without));
    }

    #[test]
    fn damaged_metadata_are_left_as_they_are() {
        let with = of(&[0x15, 2, 0xd6, 4, 0x19, 0x2c, 0x15, 8, 0, 0]);
        for length in 0..with.len() {
            let _ = without_foreign(&with[..length]);
            for value in [0, 0xff, 0x1c, 0x9c, 0xfc, 0x80] {
                let mut damaged = with.clone();
                damaged[length] = value;
                let _ = without_foreign(&damaged);
            }
        }
        assert_eq!(without_foreign(&with[..5]), None);
        assert_eq!(without_foreign(&[0x4c; 10_000]), None);
    }
}
