//! The caller's memory as the destination of a read.

use std::mem::MaybeUninit;

use ndarray::{ArrayBase, DataMut, Dimension, RawData, ViewRepr};

use super::Source;
use super::mismatch;
use crate::data_type::{DataType, Element};
use crate::error::{Error, Result};
use crate::strided::{Dims, ViewMut};

/// Memory for one element: an [`Element`], or a `MaybeUninit` of one.
///
/// # Safety
/// The slot must have the size of the element and accept every bit pattern.
pub unsafe trait Slot {
    /// The element.
    type Element: Element;

    /// True if the memory may be uninitialised.
    const MAY_BE_UNINIT: bool;
}

// SAFETY: an element is its own slot.
unsafe impl<T: Element> Slot for T {
    type Element = T;
    const MAY_BE_UNINIT: bool = false;
}

// SAFETY: the standard library guarantees that `MaybeUninit` has the size of the element and accepts every bit pattern.
unsafe impl<T: Element> Slot for MaybeUninit<T> {
    type Element = T;
    const MAY_BE_UNINIT: bool = true;
}

/// A destination of a read: mutable arrays and array views of `ndarray`, of any layout, and slices, which receive the elements
/// in row-major order. Elements may be `MaybeUninit`: all of them are initialised if the read succeeds.
#[diagnostic::on_unimplemented(
    message = "elements cannot be read into `{Self}`",
    note = "pass `&mut array` of `ndarray`, an `ArrayViewMut`, or a slice `&mut [T]`"
)]
pub trait ElementsMut {
    /// Reads the elements into this memory.
    #[doc(hidden)]
    fn read_from(self, source: &Source<'_>) -> Result<()>;
}

impl<S: DataMut, D: Dimension> ElementsMut for &mut ArrayBase<S, D>
where
    S::Elem: Slot,
{
    fn read_from(self, source: &Source<'_>) -> Result<()> {
        check::<S::Elem>(source.data_type)?;
        if self.shape() != source.shape.as_slice() {
            let (selected, own) = (&source.shape, self.shape());
            let message = format!("the selection has the shape {selected:?}, but the memory has {own:?}");
            return Err(Error::argument(message));
        }
        if must_be_zeroed::<S::Elem>(source.data_type) {
            self.iter_mut().for_each(zero);
        }
        let item = size_of::<S::Elem>();
        // The pointer is taken before the strides, because taking it copies shared memory, and the copy may have other strides.
        let pointer = self.as_mut_ptr().cast::<u8>();
        let strides: Dims<isize> = self.strides().iter().map(|stride| stride * item.cast_signed()).collect();
        // SAFETY: shape and strides describe an array that is borrowed mutably for the whole call; elements of an owned or
        // mutably borrowed ndarray do not overlap. The elements are initialised, or only written.
        (source.read)(unsafe { ViewMut::from_raw(pointer, &source.shape, &strides, item) })
    }
}

impl<E: Slot, D: Dimension> ElementsMut for ArrayBase<ViewRepr<&mut E>, D>
where
    for<'a> ViewRepr<&'a mut E>: RawData<Elem = E> + DataMut,
{
    fn read_from(mut self, source: &Source<'_>) -> Result<()> {
        (&mut self).read_from(source)
    }
}

impl<E: Slot> ElementsMut for &mut [E] {
    fn read_from(self, source: &Source<'_>) -> Result<()> {
        check::<E>(source.data_type)?;
        let count = source.shape.iter().try_fold(1_usize, |count, &length| count.checked_mul(length));
        if count != Some(self.len()) {
            let (shape, own) = (&source.shape, self.len());
            let message = format!("the selection has the shape {shape:?}, but the slice has {own} elements");
            return Err(Error::argument(message));
        }
        if must_be_zeroed::<E>(source.data_type) {
            self.iter_mut().for_each(zero);
        }
        let item = size_of::<E>();
        let strides = crate::strided::contiguous_strides(&source.shape, item);
        // SAFETY: the slice is borrowed mutably for the whole call, and has the number of elements of the source. The elements
        // are initialised, or only written.
        (source.read)(unsafe { ViewMut::from_raw(self.as_mut_ptr().cast(), &source.shape, &strides, item) })
    }
}

impl<E: Slot> ElementsMut for &mut Vec<E> {
    fn read_from(self, source: &Source<'_>) -> Result<()> {
        self.as_mut_slice().read_from(source)
    }
}

impl<E: Slot, const N: usize> ElementsMut for &mut [E; N] {
    fn read_from(self, source: &Source<'_>) -> Result<()> {
        self.as_mut_slice().read_from(source)
    }
}

fn check<E: Slot>(data_type: &DataType) -> Result<()> {
    if E::Element::holds(data_type) {
        return Ok(());
    }
    Err(mismatch(data_type, &E::Element::data_type().to_string()))
}

/// Returns true if elements are examined after a read. Uninitialised memory must be zeroed first, in case the read fails.
fn must_be_zeroed<E: Slot>(data_type: &DataType) -> bool {
    let is_examined = matches!(data_type, DataType::Bool | DataType::Struct(_) | DataType::Extension(_));
    E::MAY_BE_UNINIT && is_examined
}

fn zero<E: Slot>(slot: &mut E) {
    // SAFETY: a slot accepts every bit pattern, and zeros are a valid `bool` as well.
    unsafe { std::ptr::write_bytes(std::ptr::from_mut(slot), 0, 1) }
}
