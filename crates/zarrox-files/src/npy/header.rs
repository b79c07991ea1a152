//! [`Header`]: the header of NumPy's `.npy` files.
//!
//! Specification: <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>
//!
//! A header is a Python dictionary literal of at most [`LONGEST`] bytes. It is parsed, and never evaluated. The crate
//! `npyz` is not used because it allocates as much memory as a header claims to need, and because it only writes element
//! types that are known at compile time.

use std::io::{self, Read};

use crate::npy::MAGIC;
use zarrox::data_type::Endian;
use zarrox::internals::data_type::ByteOrder;
use zarrox::{DataType, Error, ErrorKind, Order, Result};

use super::literal::{self, Value};
use crate::input::{corrupt, failed, unsupported};

/// The maximum size of a header in bytes. Only structures with thousands of fields would exceed it.
pub(super) const LONGEST: u32 = 1 << 18;

/// The header of a file: the data type, memory order and shape of its elements.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Header {
    pub(super) data_type: DataType,
    pub(super) endian: ByteOrder,
    pub(super) order: Order,
    pub(super) shape: Vec<u64>,
}

impl Header {
    /// Reads a header. Afterwards, the reader is positioned at the first element.
    pub(super) fn read(reader: &mut impl Read) -> Result<Self> {
        let mut start = [0; 8];
        fill(reader, &mut start)?;
        if !start.starts_with(MAGIC) {
            return Err(corrupt("it has no .npy header; raw elements need a data type and a shape"));
        }
        let length = match start[6..] {
            [1, 0] => u32::from(u16::from_le_bytes(array(reader)?)),
            [2 | 3, 0] => u32::from_le_bytes(array(reader)?),
            [major, minor] => {
                return Err(unsupported(format!("version {major}.{minor} of .npy is not supported")));
            }
            _ => return Err(corrupt("it ends within its version")),
        };
        if length > LONGEST {
            return Err(corrupt(format!("its header claims {length} bytes, more than {LONGEST}")));
        }
        let mut text = vec![0; usize::try_from(length).unwrap_or_default()];
        fill(reader, &mut text)?;
        let text = match start[6] {
            // The header is encoded in Latin-1, whose bytes equal the code points.
            1 | 2 => text.into_iter().map(char::from).collect(),
            _ => String::from_utf8(text).map_err(|_| corrupt("its header is not UTF-8"))?,
        };
        Self::parse(&text)
    }

    fn parse(text: &str) -> Result<Self> {
        let members = literal::dictionary(text).ok_or_else(|| {
            let shown: String = text.chars().take(80).collect();
            corrupt(format!("its header is not a dictionary in NumPy's syntax: {}", shown.escape_debug()))
        })?;
        let mut header = (None, None, None);
        for (key, value, written) in members {
            match (key.as_str(), value) {
                ("descr", value) => header.0 = Some((value, written)),
                ("fortran_order", Value::Bool(fortran)) => header.1 = Some(fortran),
                ("shape", Value::Tuple(lengths)) => header.2 = Some(shape(&lengths)?),
                (key, _) => {
                    let key = key.escape_debug();
                    return Err(corrupt(format!("its header has the unknown member '{key}'")));
                }
            }
        }
        let (Some((descr, written)), Some(is_fortran), Some(shape)) = header else {
            return Err(corrupt("its header lacks descr, fortran_order or shape"));
        };
        let (data_type, endian) = data_type(&descr, written)?;
        let order = if is_fortran { Order::ColumnMajor } else { Order::RowMajor };
        Ok(Self { data_type, endian, order, shape })
    }

    /// Returns the total size of the elements in bytes, or an error if it is too large.
    pub(super) fn size(&self) -> Result<u64> {
        let count = self.shape.iter().try_fold(1, |count: u64, &n| count.checked_mul(n));
        let size = count.and_then(|count| count.checked_mul(self.data_type.size() as u64));
        let size = if self.shape.contains(&0) { Some(0) } else { size };
        size.ok_or_else(|| corrupt(format!("an array of shape {:?} is too large", self.shape)))
    }
}

fn shape(lengths: &[Value]) -> Result<Vec<u64>> {
    let length = |length: &Value| match length {
        Value::Number(length) => Ok(*length),
        _ => Err(corrupt("shape in its header is not a tuple of lengths")),
    };
    lengths.iter().map(length).collect()
}

/// Returns the data type for a `descr`. `written` is its text in the header.
fn data_type(descr: &Value, written: &str) -> Result<(DataType, ByteOrder)> {
    if !matches!(descr, Value::Text(_) | Value::List(_)) {
        return Err(corrupt("descr in its header is not a data type"));
    }
    let found = zarrox::codecs::registry().data_type_from_v2(&descr.to_json());
    let (data_type, order) = found.map_err(|error| {
        let printed = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
        let shown: String = written.chars().take(120).map(printed).collect();
        let hint = match descr {
            Value::Text(name) if name.ends_with('O') => {
                "; they are pickled Python objects; if they are text, save the array with astype('U')"
            }
            _ => "",
        };
        let message = format!("arrays of NumPy's data type {shown} cannot be stored{hint}");
        Error::new(ErrorKind::Unsupported, message).with_source(error)
    })?;
    Ok((data_type, order.unwrap_or(ByteOrder::One(Endian::NATIVE))))
}

fn fill(reader: &mut impl Read, buffer: &mut [u8]) -> Result<()> {
    reader.read_exact(buffer).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => corrupt("it ends within its header"),
        _ => failed("reading its header", error),
    })
}

fn array<const N: usize>(reader: &mut impl Read) -> Result<[u8; N]> {
    let mut bytes = [0; N];
    fill(reader, &mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
#[path = "header_tests.rs"]
mod tests;
