//! Direct access to elements with the memory layout of a Rust type.

use std::marker::PhantomData;

use ndarray::{ArrayBase, Data, Dimension};

use super::memory;
use crate::data_type::Element;
use crate::error::Result;
use crate::strided::{Dims, View};

/// A proof that a Rust type is an [`Element`]. Code that is generic over [`FromElement`](super::FromElement) or
/// [`ToElement`](super::ToElement) uses it to read and write memory without decoding.
#[derive(Debug)]
pub struct InPlace<T>(PhantomData<fn() -> T>);

impl<T> Clone for InPlace<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for InPlace<T> {}

impl<T: Element> InPlace<T> {
    /// Creates the proof for an element.
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<T: Element> Default for InPlace<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> InPlace<T> {
    /// Allocates a vector of zeros.
    ///
    /// # Errors
    /// When the memory cannot be allocated.
    pub fn zeroed(self, count: usize) -> Result<Vec<T>> {
        // SAFETY: the type is an `Element`, for which every bit pattern is valid; zeros are valid for `bool` as well.
        unsafe { memory::zeroed(count) }
    }

    /// Returns the memory of elements as bytes. Booleans must be set to 0 or 1 before they are used as `bool`.
    pub fn bytes_mut(self, data: &mut [T]) -> &mut [u8] {
        // SAFETY: the bytes are exactly the memory of `data`, and every bit pattern that is written is a valid element, except
        // for booleans, which the documentation covers.
        unsafe { std::slice::from_raw_parts_mut(data.as_mut_ptr().cast::<u8>(), size_of_val(data)) }
    }

    /// Returns the memory of elements as bytes.
    pub fn bytes(self, data: &[T]) -> &[u8] {
        // SAFETY: the bytes are exactly the memory of `data`, and elements are plain data without padding.
        unsafe { std::slice::from_raw_parts(data.as_ptr().cast::<u8>(), size_of_val(data)) }
    }

    /// Returns a view of an `ndarray` of any layout.
    pub fn view<S: Data<Elem = T>, D: Dimension>(self, values: &ArrayBase<S, D>) -> View<'_> {
        let item = size_of::<T>();
        let strides: Dims<isize> =
            values.strides().iter().map(|stride| stride * item.cast_signed()).collect();
        // SAFETY: shape and strides describe an array that is borrowed for as long as the view exists; elements are plain data.
        unsafe { View::from_raw(values.as_ptr().cast(), values.shape(), &strides, item) }
    }
}
