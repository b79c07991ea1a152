//! Arrays of `ndarray` as views of memory.

use ndarray::{ArrayBase, ArrayViewD, Axis, Data, Dimension, RawData};
use zarrox_core::Element;
use zarrox_core::strided::{Dims, View, ViewMut};

/// The elements of an `ndarray`, of whatever layout, as a view.
pub(super) fn view_of<T, S, D>(values: &ArrayBase<S, D>) -> View<'_>
where
    T: Element,
    S: Data + RawData<Elem = T>,
    D: Dimension,
{
    let item = size_of::<T>();
    let strides: Dims<isize> = values.strides().iter().map(|stride| stride * item.cast_signed()).collect();
    // SAFETY: shape and strides are those of an array that is borrowed as long as the view; elements are plain data.
    unsafe { View::from_raw(values.as_ptr().cast(), values.shape(), &strides, item) }
}

/// Removes leading axes of length 1 that the selection does not have: NumPy assigns such values as well.
pub(super) fn without_leading_ones<T, S, D>(values: &ArrayBase<S, D>, ndim: usize) -> ArrayViewD<'_, T>
where
    S: Data + RawData<Elem = T>,
    D: Dimension,
{
    let mut values = values.view().into_dyn();
    while values.ndim() > ndim && values.len_of(Axis(0)) == 1 {
        values = values.index_axis_move(Axis(0), 0);
    }
    values
}

/// Memory as a view of elements of `item` bytes. Panics if the length of the memory differs from the shape.
pub(super) fn contiguous_view<'a, T: Element>(
    data: &'a mut [T],
    shape: &[usize],
    item: usize,
) -> ViewMut<'a> {
    ViewMut::contiguous(bytes_of_mut(data), shape, item)
}

/// The memory of elements. Booleans among what is written must be 0 or 1 before anybody looks at them as such.
pub fn bytes_of_mut<T: Element>(data: &mut [T]) -> &mut [u8] {
    // SAFETY: the slice has as many bytes, and every pattern of bytes that is written is a valid element, but for booleans, of
    // which the comment speaks.
    unsafe { std::slice::from_raw_parts_mut(data.as_mut_ptr().cast::<u8>(), size_of_val(data)) }
}

/// The memory of elements.
pub fn bytes_of<T: Element>(data: &[T]) -> &[u8] {
    // SAFETY: the slice has as many bytes, and elements are plain data without padding.
    unsafe { std::slice::from_raw_parts(data.as_ptr().cast::<u8>(), size_of_val(data)) }
}
