//! Elements whose type is known only at run time: all code around the loops is compiled once for all types.

use std::any::Any;

use zarrox_core::internals::elements::InPlace;
use zarrox_core::{Error, ErrorKind, Result};

use super::pixel::Pixel;

/// The elements of a block, in row-major order.
pub(super) trait Elements: Any + Send {
    /// Makes room for so many elements, which have any values.
    fn resize(&mut self, count: usize);

    /// The bytes of the elements, as they are in memory.
    fn bytes(&self) -> &[u8];

    /// The bytes of the elements. Those that are written are elements of the type.
    fn bytes_mut(&mut self) -> &mut [u8];
}

impl<T: Pixel> Elements for Vec<T> {
    fn resize(&mut self, count: usize) {
        self.resize(count, T::ZERO);
    }

    fn bytes(&self) -> &[u8] {
        InPlace::<T>::new().bytes(self)
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        InPlace::<T>::new().bytes_mut(self)
    }
}

/// The elements as values of their type.
///
/// # Errors
/// [`ErrorKind::DataTypeMismatch`] when they are of another type.
pub(super) fn typed<T: Pixel>(elements: &dyn Elements) -> Result<&[T]> {
    let elements: &dyn Any = elements;
    elements.downcast_ref::<Vec<T>>().map(Vec::as_slice).ok_or_else(mismatch)
}

/// The elements as values of their type.
///
/// # Errors
/// [`ErrorKind::DataTypeMismatch`] when they are of another type.
pub(super) fn typed_mut<T: Pixel>(elements: &mut dyn Elements) -> Result<&mut [T]> {
    let elements: &mut dyn Any = elements;
    elements.downcast_mut::<Vec<T>>().map(Vec::as_mut_slice).ok_or_else(mismatch)
}

fn mismatch() -> Error {
    Error::new(ErrorKind::DataTypeMismatch, "the levels of the image have elements of several types")
}
