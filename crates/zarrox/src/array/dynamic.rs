//! Arrays in memory whose element type is known only at run time.

use ndarray::{ArrayD, IxDyn};
use zarrox_core::data_type::{Endian, Storage, utf32_text};
use zarrox_core::strided::{View, ViewMut};
use zarrox_core::{DataType, Element, Error, ErrorKind, Result};

use crate::error::argument;

/// Elements in memory, row-major, in the machine's endianness: a data type, a shape, and the bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct DynArray {
    data_type: DataType,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl DynArray {
    /// An array of these bytes.
    ///
    /// # Errors
    /// When the bytes are not as many as the shape and the data type say.
    pub fn new(data_type: DataType, shape: Vec<usize>, mut bytes: Vec<u8>) -> Result<Self> {
        let size = shape.iter().try_fold(data_type.size(), |size, &n| size.checked_mul(n));
        if size != Some(bytes.len()) {
            return Err(argument(format!(
                "{} bytes are not an array of shape {shape:?} of {data_type}",
                bytes.len()
            )));
        }
        data_type.normalise(&mut ViewMut::contiguous(&mut bytes, &shape, data_type.size()));
        Ok(Self { data_type, shape, bytes })
    }

    /// An array of bytes as other programs have them: of either endianness, row-major or column-major.
    ///
    /// # Errors
    /// As for [`DynArray::new`].
    pub fn from_foreign(
        data_type: DataType,
        shape: Vec<usize>,
        bytes: Vec<u8>,
        endian: Endian,
        column_major: bool,
    ) -> Result<Self> {
        let word = if endian == Endian::NATIVE { 1 } else { data_type.storage().word() };
        let in_place = !column_major || shape.len() < 2;
        if word == 1 && in_place {
            return Self::new(data_type, shape, bytes);
        }
        let backwards: Vec<usize> = (0..shape.len()).rev().collect();
        let foreign =
            Self::new(data_type, if in_place { shape } else { permuted(&shape, &backwards) }, bytes)?;
        let view = if in_place { foreign.view() } else { foreign.view().permuted(&backwards) };
        let mut bytes = Vec::new();
        let too_large = |_| Error::new(ErrorKind::LimitExceeded, "there is not enough memory for a copy");
        bytes.try_reserve_exact(foreign.bytes.len()).map_err(too_large)?;
        view.append_to(&mut bytes, word);
        Self::new(foreign.data_type.clone(), view.shape().to_vec(), bytes)
    }

    /// The data type.
    pub fn data_type(&self) -> &DataType {
        &self.data_type
    }

    /// The shape, in elements.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The bytes of all elements, row-major.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes of all elements, row-major.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// A copy as a typed array.
    ///
    /// # Errors
    /// [`ErrorKind::DataTypeMismatch`] when the elements are of another type.
    pub fn to_typed<T: Element>(&self) -> Result<ArrayD<T>> {
        if !T::holds(&self.data_type) {
            let message = format!("the elements are {}, not {}", self.data_type, T::data_type());
            return Err(Error::new(ErrorKind::DataTypeMismatch, message));
        }
        let count = self.bytes.len() / self.data_type.size();
        let mut data = crate::memory::zeroed::<T>(count)?;
        // SAFETY: `zeroed` gave exactly this many bytes, and they do not overlap with ours. Any bytes are a valid
        // element; those of booleans are 0 or 1 since `new`.
        unsafe {
            std::ptr::copy_nonoverlapping(self.bytes.as_ptr(), data.as_mut_ptr().cast(), self.bytes.len());
        }
        ArrayD::from_shape_vec(IxDyn(&self.shape), data).map_err(|error| argument(error.to_string()))
    }

    /// The elements as text: of text types, and of byte strings that are UTF-8. Padding is left away.
    ///
    /// # Errors
    /// [`ErrorKind::DataTypeMismatch`] when the elements are no strings, [`ErrorKind::Corrupt`] when one is not UTF-8.
    pub fn to_text(&self) -> Result<ArrayD<String>> {
        let texts =
            self.bytes.chunks_exact(self.data_type.size()).map(|element| match self.data_type.storage() {
                Storage::Utf32(_) => Ok(utf32_text(element)),
                Storage::Raw(_) => {
                    let text = std::str::from_utf8(element).map_err(|error| {
                        Error::new(ErrorKind::Corrupt, "an element is not UTF-8; read it as bytes")
                            .with_source(error)
                    })?;
                    Ok(text.trim_end_matches('\0').to_owned())
                }
                _ => {
                    let message = format!("the elements are {}, not text", self.data_type);
                    Err(Error::new(ErrorKind::DataTypeMismatch, message))
                }
            });
        let texts = texts.collect::<Result<Vec<_>>>()?;
        ArrayD::from_shape_vec(IxDyn(&self.shape), texts).map_err(|error| argument(error.to_string()))
    }

    /// Text as elements of a text type or a byte string type, padded with NULs.
    ///
    /// # Errors
    /// When a text is too long for the type, or the type is none of strings.
    pub fn from_text<T: AsRef<str>>(data_type: DataType, texts: &ArrayD<T>) -> Result<Self> {
        let size = data_type.size();
        let mut bytes = Vec::new();
        for text in texts {
            let text = text.as_ref();
            let start = bytes.len();
            match data_type.storage() {
                Storage::Utf32(_) => bytes.extend(text.chars().flat_map(|c| u32::from(c).to_ne_bytes())),
                Storage::Raw(_) => bytes.extend_from_slice(text.as_bytes()),
                _ => return Err(argument(format!("text cannot be stored as {data_type}"))),
            }
            if bytes.len() - start > size {
                return Err(argument(format!("{text:?} is longer than the {size} bytes of a {data_type}")));
            }
            bytes.resize(start + size, 0);
        }
        Self::new(data_type, texts.shape().to_vec(), bytes)
    }

    pub(super) fn view(&self) -> View<'_> {
        View::contiguous(&self.bytes, &self.shape, self.data_type.size())
    }
}

fn permuted(shape: &[usize], order: &[usize]) -> Vec<usize> {
    order.iter().map(|&axis| shape[axis]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_bytes_are_brought_into_our_order() {
        let foreign = |bytes: Vec<u8>, endian, column_major| {
            DynArray::from_foreign(DataType::Int16, vec![2, 3], bytes, endian, column_major)
        };
        let values: [i16; 6] = [1, 2, 3, 4, 5, 600];
        let little: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        let big: Vec<u8> = values.iter().flat_map(|v| v.to_be_bytes()).collect();
        let columns: Vec<u8> = [1_i16, 4, 2, 5, 3, 600].iter().flat_map(|v| v.to_be_bytes()).collect();
        let wanted = ndarray::arr2(&[[1_i16, 2, 3], [4, 5, 600]]).into_dyn();
        for (bytes, endian, column_major) in
            [(little, Endian::Little, false), (big, Endian::Big, false), (columns, Endian::Big, true)]
        {
            assert_eq!(foreign(bytes, endian, column_major).unwrap().to_typed::<i16>().unwrap(), wanted);
        }
        assert!(foreign(vec![0; 11], Endian::Big, true).is_err());
    }
}
