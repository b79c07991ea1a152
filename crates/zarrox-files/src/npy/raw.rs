//! [`RawElements`]: elements in a file without a header.

use zarrox::data_type::{Endian, Storage};
use zarrox::internals::data_type::ByteOrder;
use zarrox::{DataType, Error, ErrorKind, Order, Result};

use super::header::Header;
use crate::input::corrupt;

/// A file of elements without a header, in row-major order.
///
/// ```no_run
/// use zarrox::DataType;
/// use zarrox_files::{Import, RawElements};
///
/// let rows = RawElements::new(DataType::Float32, [None, Some(640)]).offset(128);
/// Import::new().raw(rows).run("scan.bin", "scan.zarr")?;
/// # Ok::<(), zarrox::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct RawElements {
    data_type: DataType,
    endian: ByteOrder,
    shape: Vec<Option<u64>>,
    offset: u64,
}

impl RawElements {
    /// Creates a description of elements with the given data type and shape, in native byte order. One length can be
    /// `None`; it is computed from the size of the file.
    pub fn new(data_type: DataType, shape: impl IntoIterator<Item = Option<u64>>) -> Self {
        let endian = ByteOrder::One(Endian::NATIVE);
        Self { data_type, endian, shape: shape.into_iter().collect(), offset: 0 }
    }

    /// Sets the byte order.
    #[must_use]
    pub fn byte_order(self, endian: ByteOrder) -> Self {
        Self { endian, ..self }
    }

    /// Sets the number of bytes before the elements.
    #[must_use]
    pub fn offset(self, bytes: u64) -> Self {
        Self { offset: bytes, ..self }
    }

    /// Returns the number of bytes before the elements.
    pub(super) fn begin(&self) -> u64 {
        self.offset
    }

    /// Returns the header for elements with a total size of `available` bytes, which is `None` for a stream.
    pub(super) fn header(&self, available: Option<u64>) -> Result<Header> {
        let Self { data_type, endian, .. } = self.clone();
        if data_type.storage() == Storage::Variable {
            return Err(argument(format!(
                "elements of {data_type} have a variable size, so raw elements cannot be separated"
            )));
        }
        let shape = self.known_shape(available)?;
        Ok(Header { data_type, endian, order: Order::RowMajor, shape })
    }

    fn known_shape(&self, available: Option<u64>) -> Result<Vec<u64>> {
        if self.shape.iter().all(Option::is_some) {
            return Ok(self.shape.iter().copied().flatten().collect());
        }
        let item = self.data_type.size() as u64;
        let mut lengths = self.shape.iter().flatten();
        let row = lengths.try_fold(item, |size, &length| size.checked_mul(length)).filter(|&row| row > 0);
        let row =
            row.ok_or_else(|| argument("a length of -1 is ambiguous, since the other lengths contain 0"))?;
        let available = available
            .ok_or_else(|| argument("a length of -1 works only for files; give the length for a stream"))?;
        if available % row != 0 {
            return Err(corrupt(format!(
                "the file has {available} bytes of elements, which is not a multiple of the row size of {row} bytes"
            )));
        }
        Ok(self.shape.iter().map(|length| length.unwrap_or(available / row)).collect())
    }
}

fn argument(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidArgument, message)
}
