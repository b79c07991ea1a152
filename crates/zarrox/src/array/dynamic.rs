//! Arrays in memory whose element type is known only at run time.

use ndarray::{ArrayD, IxDyn};
use zarrox_core::strided::View;
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
        if data_type == DataType::Bool {
            bytes.iter_mut().for_each(|byte| *byte = u8::from(*byte != 0));
        }
        Ok(Self { data_type, shape, bytes })
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

    pub(super) fn view(&self) -> View<'_> {
        View::contiguous(&self.bytes, &self.shape, self.data_type.size())
    }
}
