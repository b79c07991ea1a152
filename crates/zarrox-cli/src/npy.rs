//! NumPy's `.npy` files: their headers, read and written. Elements are streamed by whoever needs them.
//!
//! Specification: <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>
//!
//! A header is a Python dictionary in text. It is parsed as such, never evaluated, and never taken to be longer
//! than [`LONGEST`], whatever it says of itself.

use std::io::{self, Read};

use zarrox::data_type::{ByteOrder, Endian};
use zarrox::json::Json;
use zarrox::{DataType, Error, ErrorKind, Result};

use crate::files::failed;

/// What every file begins with.
pub(crate) const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// The longest header that is read, in bytes. Only structured data types, which are not read, have longer ones.
const LONGEST: u32 = 1 << 16;

/// Elements begin at a multiple of this.
const ALIGNMENT: usize = 64;

/// NumPy leaves so much room that the first length can grow to this many digits in place.
const GROWTH_DIGITS: usize = 21;

/// What a file says of its elements.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Header {
    pub(crate) data_type: DataType,
    pub(crate) endian: Endian,
    pub(crate) column_major: bool,
    pub(crate) shape: Vec<u64>,
}

impl Header {
    /// Reads a header; what follows in the reader are the elements.
    pub(crate) fn read(reader: &mut impl Read) -> Result<Self> {
        let mut start = [0; 8];
        fill(reader, &mut start)?;
        if !start.starts_with(MAGIC) {
            return Err(corrupt("it does not begin as an .npy file"));
        }
        let length = match start[6..] {
            [1, 0] => u32::from(u16::from_le_bytes(array(reader)?)),
            [2 | 3, 0] => u32::from_le_bytes(array(reader)?),
            [major, minor] => {
                let message = format!("version {major}.{minor} of .npy is not known");
                return Err(Error::new(ErrorKind::Unsupported, message));
            }
            _ => return Err(corrupt("it ends in its version")),
        };
        if length > LONGEST {
            return Err(corrupt(&format!("its header claims {length} bytes, more than {LONGEST}")));
        }
        let mut text = vec![0; usize::try_from(length).unwrap_or_default()];
        fill(reader, &mut text)?;
        let text = String::from_utf8(text).map_err(|_| corrupt("its header is not text"))?;
        Self::parse(&text)
    }

    fn parse(text: &str) -> Result<Self> {
        let mut parser = Parser { text, at: 0 };
        let members = parser.dictionary().ok_or_else(|| {
            let shown: String = text.chars().take(80).collect();
            corrupt(&format!("its header is not a dictionary that NumPy writes: {}", shown.escape_debug()))
        })?;
        let mut header = (None, None, None);
        for (key, value) in members {
            match (key, value) {
                ("descr", value) => header.0 = Some(value),
                ("fortran_order", Value::Bool(fortran)) => header.1 = Some(fortran),
                ("shape", Value::Shape(shape)) => header.2 = Some(shape),
                (key, _) => {
                    return Err(corrupt(&format!("'{key}' in its header has a meaning that is not known")));
                }
            }
        }
        let (Some(descr), Some(column_major), Some(shape)) = header else {
            return Err(corrupt("its header lacks descr, fortran_order or shape"));
        };
        let (data_type, endian) = data_type(&descr)?;
        Ok(Self { data_type, endian, column_major, shape })
    }

    /// The header as a file begins with it, just as NumPy writes it.
    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>> {
        let descr = descr(&self.data_type, self.endian)?;
        let lengths: Vec<String> = self.shape.iter().map(u64::to_string).collect();
        let comma = if lengths.len() == 1 { "," } else { "" };
        let fortran = if self.column_major { "True" } else { "False" };
        let shape = lengths.join(", ");
        let mut text =
            format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': ({shape}{comma}), }}");
        let growing = if self.column_major { lengths.last() } else { lengths.first() };
        text.extend(growing.map(|length| " ".repeat(GROWTH_DIGITS.saturating_sub(length.len()))));
        // The second version only has more room for the length.
        let long = text.len() + ALIGNMENT > usize::from(u16::MAX);
        let before = MAGIC.len() + if long { 6 } else { 4 };
        text.push_str(&" ".repeat(ALIGNMENT - (before + text.len() + 1) % ALIGNMENT));
        text.push('\n');
        let length = u32::try_from(text.len()).map_err(|_| corrupt("its shape has too many dimensions"))?;
        let mut bytes = MAGIC.to_vec();
        bytes.extend(if long { [2, 0] } else { [1, 0] });
        bytes.extend(&length.to_le_bytes()[..before - bytes.len()]);
        bytes.extend(text.as_bytes());
        Ok(bytes)
    }

    /// How many bytes the elements take; an error when there cannot be so many.
    pub(crate) fn size(&self) -> Result<u64> {
        let item = self.data_type.size() as u64;
        let size = self.shape.iter().try_fold(item, |size, &n| size.checked_mul(n));
        let size = if self.shape.contains(&0) { Some(0) } else { size };
        size.ok_or_else(|| corrupt(&format!("there is no array of shape {:?}", self.shape)))
    }
}

fn data_type(descr: &Value<'_>) -> Result<(DataType, Endian)> {
    let unsupported = |text: &str| {
        let shown: String = text.chars().take(120).collect();
        let message = format!("arrays of NumPy's data type {} cannot be stored yet", shown.escape_debug());
        Error::new(ErrorKind::Unsupported, message)
    };
    let name = match descr {
        Value::Text(name) => *name,
        Value::Other(text) => return Err(unsupported(text)),
        Value::Bool(_) | Value::Shape(_) => return Err(corrupt("descr in its header is not a data type")),
    };
    let found = zarrox::codecs::registry().data_type_from_v2(&Json::from(name));
    let (data_type, endian) = found.map_err(|error| unsupported(&format!("'{name}'")).with_source(error))?;
    let endian = match endian {
        Some(ByteOrder::One(endian)) => endian,
        _ => Endian::NATIVE,
    };
    Ok((data_type, endian))
}

fn descr(data_type: &DataType, endian: Endian) -> Result<String> {
    let unsupported = || {
        let message = format!("NumPy's files have no data type '{data_type}'");
        Error::new(ErrorKind::Unsupported, message)
    };
    let json =
        zarrox::codecs::registry().family(data_type)?.to_v2(data_type, endian).map_err(|_| unsupported())?;
    json.as_str().map(str::to_owned).ok_or_else(unsupported)
}

fn corrupt(message: &str) -> Error {
    Error::new(ErrorKind::Corrupt, message)
}

fn fill(reader: &mut impl Read, buffer: &mut [u8]) -> Result<()> {
    reader.read_exact(buffer).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => corrupt("it ends in its header"),
        _ => failed("reading", error),
    })
}

fn array<const N: usize>(reader: &mut impl Read) -> Result<[u8; N]> {
    let mut bytes = [0; N];
    fill(reader, &mut bytes)?;
    Ok(bytes)
}

/// A value in a header's dictionary.
#[derive(Debug, PartialEq)]
enum Value<'a> {
    Text(&'a str),
    Bool(bool),
    Shape(Vec<u64>),
    /// Any other value, unread: the list of a structured data type.
    Other(&'a str),
}

/// A parser of the dictionaries that NumPy writes. Each function answers `None` where the text is anything else.
struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    fn dictionary(&mut self) -> Option<Vec<(&'a str, Value<'a>)>> {
        let mut members = Vec::new();
        self.token("{")?;
        while self.token("}").is_none() {
            let key = self.string()?;
            self.token(":")?;
            members.push((key, self.value()?));
            if self.token(",").is_none() {
                self.token("}")?;
                break;
            }
        }
        self.rest().trim().is_empty().then_some(members)
    }

    fn value(&mut self) -> Option<Value<'a>> {
        if self.token("True").is_some() {
            return Some(Value::Bool(true));
        }
        if self.token("False").is_some() {
            return Some(Value::Bool(false));
        }
        match self.rest().trim_start().chars().next()? {
            '\'' | '"' => self.string().map(Value::Text),
            '(' => self.shape().map(Value::Shape),
            '[' => self.list().map(Value::Other),
            _ => None,
        }
    }

    /// A string; NumPy writes none with escapes in it.
    fn string(&mut self) -> Option<&'a str> {
        let quote = ["'", "\""].into_iter().find(|quote| self.token(quote).is_some())?;
        let rest = self.rest();
        let length = rest.find(quote)?;
        self.at += length + 1;
        Some(&rest[..length]).filter(|text| !text.contains('\\'))
    }

    /// A tuple of lengths; Python 2 wrote an `L` behind long ones.
    fn shape(&mut self) -> Option<Vec<u64>> {
        let mut shape = Vec::new();
        self.token("(")?;
        while self.token(")").is_none() {
            let rest = self.rest().trim_start();
            let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            shape.push(rest[..digits].parse().ok()?);
            self.token(&rest[..digits])?;
            let _ = self.token("L");
            if self.token(",").is_none() {
                self.token(")")?;
                break;
            }
        }
        Some(shape)
    }

    /// A list, passed over to its end.
    fn list(&mut self) -> Option<&'a str> {
        let rest = self.rest().trim_start();
        let (mut depth, mut quote) = (0_usize, None);
        for (at, character) in rest.char_indices() {
            match (quote, character) {
                (Some(open), _) => quote = quote.filter(|_| open != character),
                (None, '\'' | '"') => quote = Some(character),
                (None, '[' | '(') => depth += 1,
                (None, ']' | ')') => depth = depth.checked_sub(1)?,
                _ => {}
            }
            if depth == 0 {
                self.at = self.text.len() - rest.len() + at + 1;
                return Some(&rest[..=at]);
            }
        }
        None
    }

    /// Passes over this text, and white space in front of it, if it is what comes next.
    fn token(&mut self, token: &str) -> Option<()> {
        let rest = self.rest().trim_start().strip_prefix(token)?;
        self.at = self.text.len() - rest.len();
        Some(())
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }
}

#[cfg(test)]
mod tests;
