//! The metadata of a Parquet file, in the Thrift compact protocol.
//!
//! Some writers store metadata that Thrift readers tolerate, but the crate `parquet` rejects: private fields whose IDs
//! the format has since assigned to other fields; values of an unexpected type, which readers skip; empty lists without
//! an element type; and converted types that the format does not define. These are corrected in a copy of the metadata.

use parquet::errors::Result;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};

use super::pages::Source;

/// The last bytes of a file. They are preceded by the length of the metadata in four bytes.
const MAGIC: &[u8; 4] = b"PAR1";

/// The maximum nesting depth of structures that are skipped.
const DEPTH: u8 = 32;

/// The Thrift field types.
const I16: u8 = 4;
const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

/// A field of a structure.
enum Field {
    /// A value of the given type.
    Value(u8),
    /// An enumeration value below the given number. Higher values are not defined.
    Code(u64),
    /// A structure, with its fields if they are examined.
    Struct(Option<&'static Structure>),
    /// A list of elements of the given type, which are not structures.
    List(u8),
    /// A list of structures.
    Structs(Option<&'static Structure>),
}

use Field::{Code, List, Struct, Structs, Value};

/// The fields 1, 2, 3, … of a structure.
type Structure = [Field];

static FILE: &Structure = &[
    Value(I32),
    Structs(Some(SCHEMA)),
    Value(I64),
    Structs(Some(GROUP)),
    Structs(Some(KEY_VALUE)),
    Value(BINARY),
    Structs(None),
    Struct(None),
    Value(BINARY),
];
static SCHEMA: &Structure = &[
    Value(I32),
    Value(I32),
    Value(I32),
    Value(BINARY),
    Value(I32),
    Code(22),
    Value(I32),
    Value(I32),
    Value(I32),
    Struct(None),
];
static GROUP: &Structure =
    &[Structs(Some(CHUNK)), Value(I64), Value(I64), Structs(None), Value(I64), Value(I64), Value(I16)];
static KEY_VALUE: &Structure = &[Value(BINARY), Value(BINARY)];
static CHUNK: &Structure = &[
    Value(BINARY),
    Value(I64),
    Struct(Some(COLUMN)),
    Value(I64),
    Value(I32),
    Value(I64),
    Value(I32),
    Struct(None),
    Value(BINARY),
];
static COLUMN: &Structure = &[
    Value(I32),
    List(I32),
    List(BINARY),
    Value(I32),
    Value(I64),
    Value(I64),
    Value(I64),
    Structs(Some(KEY_VALUE)),
    Value(I64),
    Value(I64),
    Value(I64),
    Struct(None),
    Structs(None),
    Value(I64),
    Value(I32),
    Struct(None),
    Struct(None),
];

impl Field {
    fn kind(&self) -> u8 {
        match self {
            Value(kind) => *kind,
            Code(_) => I32,
            Struct(_) => STRUCT,
            List(_) | Structs(_) => LIST,
        }
    }
}

/// Reads the metadata of a file.
///
/// # Errors
/// If the metadata is damaged or unsupported.
pub(super) fn metadata(source: &Source) -> Result<ParquetMetaData> {
    match stored(source).and_then(|stored| corrected(&stored)) {
        Some(bytes) => ParquetMetaDataReader::decode_metadata(&bytes),
        None => ParquetMetaDataReader::new().parse_and_finish(source),
    }
}

/// Returns the stored bytes of the metadata; `None` if their length is invalid or the metadata is encrypted.
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

/// Returns corrected metadata that the crate can read; `None` if nothing needs to be corrected or the metadata is damaged.
fn corrected(stored: &[u8]) -> Option<Vec<u8>> {
    let mut copy = Copy { rest: stored, out: Vec::new(), is_corrected: false };
    copy.structure(FILE)?;
    copy.is_corrected.then_some(copy.out)
}

/// A copy of metadata in progress.
struct Copy<'b> {
    rest: &'b [u8],
    out: Vec<u8>,
    is_corrected: bool,
}

impl<'b> Copy<'b> {
    fn structure(&mut self, fields: &Structure) -> Option<()> {
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
            let field = fields.get(index);
            if field.is_some_and(|field| self.is_foreign(field, kind)) {
                self.skip(kind, DEPTH)?;
                self.is_corrected = true;
                continue;
            }
            self.header(number, written, kind)?;
            written = number;
            match field {
                Some(Struct(Some(inner))) => self.structure(inner)?,
                Some(Structs(inner)) => self.list(STRUCT, *inner)?,
                Some(List(kind)) => self.list(*kind, None)?,
                _ => self.value(kind)?,
            }
        }
    }

    /// Returns true if a value has an unexpected type, or is an enumeration value that the format does not define.
    fn is_foreign(&self, field: &Field, kind: u8) -> bool {
        let number = || Copy { rest: self.rest, out: Vec::new(), is_corrected: false }.zigzag();
        field.kind() != kind || matches!(field, Code(end) if number().is_none_or(|number| number >= *end))
    }

    fn list(&mut self, expected: u8, fields: Option<&Structure>) -> Option<()> {
        let before = self.rest;
        let (kind, count) = self.list_header()?;
        if count == 0 && kind != expected {
            self.out.push(expected);
            self.is_corrected = true;
            return Some(());
        }
        if kind != expected {
            return None;
        }
        self.keep(before);
        match fields {
            Some(fields) => (0..count).try_for_each(|_| self.structure(fields)),
            None => (0..count).try_for_each(|_| self.value(kind)),
        }
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

    /// Writes the ID and type of a field. `before` is the ID of the previous field.
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
            // A boolean value is encoded in the type of its field.
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

    /// Skips an element of a list. In lists, booleans occupy a byte.
    fn skip_element(&mut self, kind: u8, depth: u8) -> Option<()> {
        if matches!(kind, 1 | 2) { self.take(1) } else { self.skip(kind, depth) }
    }

    fn list_header(&mut self) -> Option<(u8, u64)> {
        let header = self.byte()?;
        let count = if header >> 4 == 15 { self.varint()? } else { u64::from(header >> 4) };
        // Each element occupies at least one byte.
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

    /// Reads a zigzag-encoded integer, which must be nonnegative.
    fn zigzag(&mut self) -> Option<u64> {
        self.varint().filter(|value| value % 2 == 0).map(|value| value / 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns metadata with one row group of one column, which has the given fields.
    fn of(column: &[u8]) -> Vec<u8> {
        let chunk = [&[0x26, 8, 0x1c], column, &[0, 0]].concat();
        let group = [&[0x19, 0x1c], chunk.as_slice(), &[0x16, 2, 0]].concat();
        [&[0x15, 2, 0x39, 0x1c], group.as_slice(), &[0x28, 1, b'a', 0]].concat()
    }

    #[test]
    fn fields_of_another_type_are_left_out() {
        let sound = [0x15, 2, 0xa6, 0xac, 2, 0x36, 4];
        assert_eq!(corrected(&of(&sound)), None, "there are none");
        // These fields take the place of a number: a list of nested structures, a boolean, a map, and a string.
        let list = [0x19, 0x2c, 0x15, 8, 0x1c, 0x15, 2, 0, 0, 0x15, 8, 0];
        for foreign in [&list[..], &[0x11], &[0x1b, 1, 0x85, 1, b'a', 2], &[0x18, 2, b'a', b'b']] {
            // Field 15 is between fields 14 and 16; field 16 is a structure.
            let with = [&[0x15, 2, 0xd6, 4][..], foreign, &[0x1c, 0x16, 2, 0]].concat();
            let without = [0x15, 2, 0xd6, 4, 0x2c, 0x16, 2, 0];
            assert_eq!(corrected(&of(&with)).unwrap(), of(&without), "{foreign:?}");
        }
        // The difference between two field IDs is stored as a separate integer if it exceeds 15.
        let (with, without) = ([0x18, 0, 0x05, 36, 2], [0x05, 36, 2]);
        assert_eq!(corrected(&of(&with)).unwrap(), of(&without));
    }

    #[test]
    fn what_thrift_tolerates_is_corrected() {
        // Version 1; a schema whose root has a name, a converted type and no columns; no rows; row groups; and key-value pairs.
        let of = |converted: u8, groups: u8, pairs: &[u8]| {
            let root = [&[0x48, 1, b's', 0x15, 0, 0x15, converted], &[0][..]].concat();
            let schema = [&[0x15, 2, 0x19, 0x1c], root.as_slice()].concat();
            [schema.as_slice(), &[0x16, 0, 0x19, groups], pairs, &[0]].concat()
        };
        let pair = [0x19, 0x1c, 0x18, 1, b'k', 0x18, 1, b'v', 0];
        assert_eq!(corrected(&of(0, 0x0c, &pair)), None);
        let without_code = {
            let mut bytes = of(0, 0x0c, &[]);
            bytes.drain(9..11);
            bytes
        };
        let number = [0x19, 0x1c, 0x18, 1, b'k', 0x16, 2, 0];
        let without_value = [0x19, 0x1c, 0x18, 1, b'k', 0];
        for (stored, expected) in [
            (of(48, 0x0c, &[]), without_code),
            (of(0, 0x00, &[]), of(0, 0x0c, &[])),
            (of(0, 0x0c, &[0x19, 3]), of(0, 0x0c, &[0x19, 0x0c])),
            (of(0, 0x0c, &number), of(0, 0x0c, &without_value)),
        ] {
            assert_eq!(corrected(&stored).unwrap(), expected);
            ParquetMetaDataReader::decode_metadata(&stored).unwrap_err();
            ParquetMetaDataReader::decode_metadata(&expected).unwrap();
        }
    }

    #[test]
    fn damaged_metadata_are_left_as_they_are() {
        let with = of(&[0x15, 2, 0xd6, 4, 0x19, 0x2c, 0x15, 8, 0, 0]);
        for length in 0..with.len() {
            let _ = corrected(&with[..length]);
            for value in [0, 0xff, 0x1c, 0x9c, 0xfc, 0x80] {
                let mut damaged = with.clone();
                damaged[length] = value;
                let _ = corrected(&damaged);
            }
        }
        assert_eq!(corrected(&with[..5]), None);
        assert_eq!(corrected(&[0x4c; 10_000]), None);
    }
}
