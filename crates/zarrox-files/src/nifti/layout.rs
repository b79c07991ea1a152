//! Headers of NIfTI-1, NIfTI-2 and Analyze 7.5. A table lists the offset of each field in both layouts.
//!
//! Specifications: <https://nifti.nimh.nih.gov/pub/dist/src/niftilib/nifti1.h>, <https://nifti.nimh.nih.gov/pub/dist/doc/nifti2.h>

use zarrox::Result;
use zarrox::data_type::Endian;

use self::Number::{F32, F64, I16, I32, I64, U8};
use crate::input::{corrupt, unsupported};

/// The maximum size of a header in bytes, including the four-byte extension flag after it.
pub(super) const LONGEST: usize = Version::Second.size() + 4;

/// The type of a numeric header field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Number {
    U8,
    I16,
    I32,
    I64,
    F32,
    F64,
}

impl Number {
    const fn size(self) -> usize {
        match self {
            U8 => 1,
            I16 => 2,
            I32 | F32 => 4,
            I64 | F64 => 8,
        }
    }
}

/// The offset and type of a field in NIfTI-1 and in NIfTI-2.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field {
    first: (usize, Number),
    second: (usize, Number),
}

/// The offset of a string field in NIfTI-1 and in NIfTI-2, and its length.
#[derive(Debug, Clone, Copy)]
pub(super) struct Text {
    first: usize,
    second: usize,
    length: usize,
}

const fn field(first: (usize, Number), second: (usize, Number)) -> Field {
    Field { first, second }
}

pub(super) const DIM_INFO: Field = field((39, U8), (524, U8));
pub(super) const DIM: Field = field((40, I16), (16, I64));
pub(super) const INTENT_PARAMETERS: Field = field((56, F32), (80, F64));
pub(super) const INTENT_CODE: Field = field((68, I16), (504, I32));
pub(super) const DATA_TYPE: Field = field((70, I16), (12, I16));
pub(super) const BITS: Field = field((72, I16), (14, I16));
pub(super) const SLICE_START: Field = field((74, I16), (224, I64));
pub(super) const PIXDIM: Field = field((76, F32), (104, F64));
pub(super) const OFFSET: Field = field((108, F32), (168, I64));
pub(super) const SLOPE: Field = field((112, F32), (176, F64));
pub(super) const INTERCEPT: Field = field((116, F32), (184, F64));
pub(super) const SLICE_END: Field = field((120, I16), (232, I64));
pub(super) const SLICE_CODE: Field = field((122, U8), (496, I32));
pub(super) const UNITS: Field = field((123, U8), (500, I32));
pub(super) const CAL_MAX: Field = field((124, F32), (192, F64));
pub(super) const CAL_MIN: Field = field((128, F32), (200, F64));
pub(super) const SLICE_DURATION: Field = field((132, F32), (208, F64));
pub(super) const TIME_OFFSET: Field = field((136, F32), (216, F64));
pub(super) const QFORM_CODE: Field = field((252, I16), (344, I32));
pub(super) const SFORM_CODE: Field = field((254, I16), (348, I32));
pub(super) const QUATERNION: Field = field((256, F32), (352, F64));
pub(super) const QUATERNION_OFFSET: Field = field((268, F32), (376, F64));
pub(super) const SFORM: Field = field((280, F32), (400, F64));
/// The field for the length of the first dimension if it does not fit in its usual field, according to a FreeSurfer
/// convention. NIfTI-2 does not need it.
const LARGE_LENGTH: (usize, Number) = (144, I32);

pub(super) const DESCRIPTION: Text = Text { first: 148, second: 240, length: 80 };
pub(super) const AUXILIARY: Text = Text { first: 228, second: 320, length: 24 };
pub(super) const INTENT_NAME: Text = Text { first: 328, second: 508, length: 16 };

/// The layout of a header: NIfTI-1 or NIfTI-2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    First,
    Second,
}

impl Version {
    /// Returns the size of a header in bytes.
    pub(super) const fn size(self) -> usize {
        match self {
            Self::First => 348,
            Self::Second => 540,
        }
    }

    /// Returns the offset of the magic bytes.
    const fn magic(self) -> usize {
        match self {
            Self::First => 344,
            Self::Second => 4,
        }
    }
}

/// The location of the elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The elements are in the same file as the header.
    Single,
    /// The elements are in a separate file.
    Pair,
    /// The elements are in a separate file, and the header is an Analyze 7.5 header.
    Analyze,
}

/// A header.
#[derive(Debug, Clone)]
pub(super) struct Header {
    bytes: Vec<u8>,
    pub(super) version: Version,
    pub(super) kind: Kind,
    pub(super) endian: Endian,
}

/// Determines the layout and byte order from the size of the header, which is its first field.
pub(super) fn layout(start: &[u8]) -> Option<(Version, Endian)> {
    let size: [u8; 4] = start.get(..4)?.try_into().ok()?;
    [Version::First, Version::Second].into_iter().find_map(|version| {
        let is = |number: u32| usize::try_from(number) == Ok(version.size());
        match (is(u32::from_le_bytes(size)), is(u32::from_be_bytes(size))) {
            (true, _) => Some((version, Endian::Little)),
            (_, true) => Some((version, Endian::Big)),
            _ => None,
        }
    })
}

/// Returns true if the first bytes alone identify a NIfTI file, regardless of its name.
pub(super) fn has_magic(start: &[u8]) -> bool {
    let has = |at: usize, magic: &[u8]| start.get(at..).is_some_and(|rest| rest.starts_with(magic));
    let (first, second) = (Version::First.magic(), Version::Second.magic());
    has(first, b"n+1\0") || has(first, b"ni1\0") || has(second, b"n+2\0") || has(second, b"ni2\0")
}

impl Header {
    /// Reads a header from the first bytes of a file. A header without magic bytes is an Analyze 7.5 header.
    pub(super) fn read(bytes: &[u8]) -> Result<Self> {
        let found = layout(bytes)
            .ok_or_else(|| corrupt("the file is not NIfTI: the size of its header is not set"))?;
        let (version, endian) = found;
        let size = version.size();
        let bytes = bytes
            .get(..size)
            .ok_or_else(|| {
                corrupt(format!("the header is truncated: it has {} of {size} bytes", bytes.len()))
            })?
            .to_vec();
        let magic = bytes.get(version.magic()..).unwrap_or_default();
        let kind = match (version, magic.get(..4).unwrap_or_default()) {
            (Version::First, b"n+1\0") | (Version::Second, b"n+2\0") => Kind::Single,
            (Version::First, b"ni1\0") | (Version::Second, b"ni2\0") => Kind::Pair,
            (Version::First, _) => Kind::Analyze,
            (Version::Second, _) => return Err(corrupt("the header is not a NIfTI-2 header")),
        };
        if version == Version::Second && magic.get(4..8) != Some(b"\r\n\x1a\n") {
            return Err(corrupt("line endings were converted, as in a transfer in text mode"));
        }
        Ok(Self { bytes, version, kind, endian })
    }

    /// Creates the header of a single file in native byte order. All fields are 0.
    pub(super) fn new(version: Version) -> Self {
        let mut header =
            Self { bytes: vec![0; version.size()], version, kind: Kind::Single, endian: Endian::NATIVE };
        let size = u32::try_from(version.size()).unwrap_or_default();
        header.put(0, &size.to_ne_bytes());
        let magic: &[u8] = if version == Version::First { b"n+1\0" } else { b"n+2\0\r\n\x1a\n" };
        header.put(version.magic(), magic);
        header
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn place(&self, field: Field, index: usize) -> (usize, Number) {
        let (at, number) = if self.version == Version::First { field.first } else { field.second };
        (at + index * number.size(), number)
    }

    /// Returns the bytes of a numeric field in little-endian order, padded with zeros.
    fn raw(&self, (at, number): (usize, Number)) -> [u8; 8] {
        let mut raw = [0; 8];
        let found = self.bytes.get(at..at + number.size()).unwrap_or_default();
        for (to, from) in raw.iter_mut().zip(found) {
            *to = *from;
        }
        if self.endian == Endian::Big {
            raw[..number.size()].reverse();
        }
        raw
    }

    /// Returns a number in a field as an integer. Floats are truncated.
    #[expect(clippy::cast_possible_truncation, reason = "all requested fields are integers")]
    pub(super) fn int(&self, field: Field, index: usize) -> i64 {
        self.int_at(self.place(field, index)).unwrap_or_else(|| self.float(field, index) as i64)
    }

    fn int_at(&self, place: (usize, Number)) -> Option<i64> {
        let raw @ [a, b, c, d, ..] = self.raw(place);
        Some(match place.1 {
            U8 => a.into(),
            I16 => i16::from_le_bytes([a, b]).into(),
            I32 => i32::from_le_bytes([a, b, c, d]).into(),
            I64 => i64::from_le_bytes(raw),
            F32 | F64 => return None,
        })
    }

    /// Returns a number in a field as a float.
    #[expect(clippy::cast_precision_loss, reason = "no requested field is a large integer")]
    pub(super) fn float(&self, field: Field, index: usize) -> f64 {
        let place = self.place(field, index);
        let raw @ [a, b, c, d, ..] = self.raw(place);
        match place.1 {
            F32 => f32::from_le_bytes([a, b, c, d]).into(),
            F64 => f64::from_le_bytes(raw),
            _ => self.int_at(place).unwrap_or_default() as f64,
        }
    }

    /// Returns the string in a field, up to its first NUL.
    pub(super) fn text(&self, text: Text) -> String {
        let at = if self.version == Version::First { text.first } else { text.second };
        let bytes = self.bytes.get(at..at + text.length).unwrap_or_default();
        let bytes = bytes.split(|&byte| byte == 0).next().unwrap_or_default();
        String::from_utf8_lossy(bytes).trim().to_owned()
    }

    /// Returns the length of the first dimension according to the FreeSurfer convention.
    pub(super) fn large_length(&self) -> i64 {
        self.int_at(LARGE_LENGTH).unwrap_or(-1)
    }

    /// Returns the offset of the first element in the file that contains the elements.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked before")]
    pub(super) fn begin(&self) -> Result<u64> {
        let offset = self.float(OFFSET, 0);
        if !(0.0..1e12).contains(&offset) || offset.fract() != 0.0 {
            return Err(corrupt(format!("the elements cannot begin at {offset}")));
        }
        // If a single file specifies no offset, the elements begin four bytes after the header.
        let least = if self.kind == Kind::Single { self.version.size() as u64 + 4 } else { 0 };
        Ok((offset as u64).max(least))
    }

    fn put(&mut self, at: usize, bytes: &[u8]) {
        for (to, from) in self.bytes.iter_mut().skip(at).zip(bytes) {
            *to = *from;
        }
    }

    /// Sets an integer in a field of a new header. It is an error if the field cannot represent the integer.
    #[expect(clippy::cast_precision_loss, reason = "rounded to the field's precision")]
    pub(super) fn set_int(&mut self, field: Field, index: usize, value: i64) -> Result<()> {
        let (at, number) = self.place(field, index);
        let too_large = |_| unsupported(format!("a NIfTI header cannot store the number {value}"));
        match number {
            U8 => self.put(at, &u8::try_from(value).map_err(too_large)?.to_ne_bytes()),
            I16 => self.put(at, &i16::try_from(value).map_err(too_large)?.to_ne_bytes()),
            I32 => self.put(at, &i32::try_from(value).map_err(too_large)?.to_ne_bytes()),
            I64 => self.put(at, &value.to_ne_bytes()),
            F32 => self.put(at, &(value as f32).to_ne_bytes()),
            F64 => self.put(at, &(value as f64).to_ne_bytes()),
        }
        Ok(())
    }

    /// Sets a float in a field of a new header.
    #[expect(clippy::cast_possible_truncation, reason = "rounded to the field's precision")]
    pub(super) fn set_float(&mut self, field: Field, index: usize, value: f64) {
        let (at, number) = self.place(field, index);
        match number {
            F32 => self.put(at, &(value as f32).to_ne_bytes()),
            F64 => self.put(at, &value.to_ne_bytes()),
            U8 | I16 | I32 | I64 => {}
        }
    }

    /// Sets a string in a new header. The string is truncated to the size of the field.
    pub(super) fn set_text(&mut self, text: Text, value: &str) {
        let mut end = value.len().min(text.length - 1);
        while !value.is_char_boundary(end) {
            end -= 1;
        }
        let at = if self.version == Version::First { text.first } else { text.second };
        self.put(at, &value.as_bytes()[..end]);
    }
}
