//! Views of strided memory, and copies between them: the innermost loops of reading and writing.
//!
//! Most of the crate's `unsafe` code is in this module and in `selection::gather`, which copies between views. A view is a
//! pointer, a shape in elements and strides in bytes. It can only be created over memory that may be used for the view's
//! lifetime, and every method that narrows a view checks its bounds.

pub(crate) mod layout;
pub(crate) mod loops;
mod span;

use std::marker::PhantomData;

use smallvec::SmallVec;

use crate::error::CodecError;
pub use crate::vlen::VlenBuffer;
use crate::vlen::VlenRef;
use layout::Layout;
pub(crate) use layout::contiguous_strides;
use loops::Loops;
pub use span::{Dims, Span};

/// A strided view of read-only memory.
#[derive(Debug, Clone)]
pub struct View<'a> {
    pub(crate) pointer: *const u8,
    pub(crate) layout: Layout,
    /// The bytes of the elements, if they have variable length.
    pub(crate) vlen: Option<&'a VlenBuffer>,
    marker: PhantomData<&'a [u8]>,
}

/// A strided view of writable memory, with exclusive access.
#[derive(Debug)]
pub struct ViewMut<'a> {
    pub(crate) pointer: *mut u8,
    pub(crate) layout: Layout,
    /// The destination of the elements' bytes, if they have variable length.
    pub(crate) vlen: Option<&'a VlenBuffer>,
    marker: PhantomData<&'a mut [u8]>,
}

// SAFETY: a `View` gives only shared access to plain bytes, like `&[u8]`.
unsafe impl Send for View<'_> {}
// SAFETY: as above.
unsafe impl Sync for View<'_> {}
// SAFETY: a `ViewMut` is exclusive access to plain bytes, like `&mut [u8]`.
unsafe impl Send for ViewMut<'_> {}
// SAFETY: through `&ViewMut`, only the `unsafe` `alias` allows writes.
unsafe impl Sync for ViewMut<'_> {}

impl<'a> View<'a> {
    /// Creates a row-major view of a slice. Panics if the length of the slice differs from the shape.
    pub fn contiguous(bytes: &'a [u8], shape: &[usize], item: usize) -> Self {
        let layout = Layout::contiguous(shape, item);
        assert_eq!(layout.len_bytes(), bytes.len(), "the slice must have the length of the shape");
        Self { pointer: bytes.as_ptr(), layout, vlen: None, marker: PhantomData }
    }

    /// Creates a view of a part of a slice with this shape and these strides in bytes, beginning at its first
    /// byte. Panics if the last element is outside the slice, or a stride is negative.
    #[doc(hidden)]
    pub fn of_strided(bytes: &'a [u8], shape: &[usize], strides: &[isize], item: usize) -> Self {
        assert_eq!(shape.len(), strides.len(), "there must be one stride for each dimension");
        if !shape.contains(&0) {
            let last: usize = shape.iter().zip(strides).map(|(&n, &stride)| (n - 1) * positive(stride)).sum();
            assert!(last + item <= bytes.len(), "the last element must lie inside the slice");
        }
        let layout = Layout::new(shape, strides, item);
        Self { pointer: bytes.as_ptr(), layout, vlen: None, marker: PhantomData }
    }

    /// Creates a view that broadcasts one element to a whole array, with strides of zero.
    #[doc(hidden)]
    pub fn broadcast(element: &'a [u8], shape: &[usize]) -> Self {
        let strides = SmallVec::from_elem(0, shape.len());
        let layout = Layout { shape: shape.into(), strides, item: element.len() };
        Self { pointer: element.as_ptr(), layout, vlen: None, marker: PhantomData }
    }

    /// Creates a view that broadcasts this single element to a whole array.
    #[must_use]
    #[doc(hidden)]
    pub fn broadcast_to(mut self, shape: &[usize]) -> View<'a> {
        assert!(self.shape().iter().all(|&length| length == 1), "only a single element can be broadcast");
        self.layout.shape = shape.into();
        self.layout.strides = SmallVec::from_elem(0, shape.len());
        self
    }

    /// Returns the elements broadcast to another shape as in NumPy's assignment: leading axes of length 1 may be missing or
    /// extra. Returns `None` if the shapes are incompatible.
    #[doc(hidden)]
    pub fn broadcast_like_numpy(mut self, shape: &[usize]) -> Option<View<'a>> {
        let own = self.shape();
        let (ones, fitting) = own.split_at(own.len().saturating_sub(shape.len()));
        let (added, wanted) = shape.split_at(shape.len() - fitting.len());
        let fits = fitting.iter().zip(wanted).all(|(own, wanted)| *own == 1 || own == wanted);
        if !fits || ones.iter().any(|&length| length != 1) {
            return None;
        }
        let strides = &self.layout.strides[ones.len()..];
        let strides =
            fitting.iter().zip(strides).map(|(&length, &stride)| if length == 1 { 0 } else { stride });
        self.layout.strides = added.iter().map(|_| 0).chain(strides).collect();
        self.layout.shape = shape.into();
        Some(self)
    }

    /// Creates a view of any memory.
    ///
    /// # Safety
    /// Every element that shape and strides (in bytes) reach from `pointer` must be initialised memory that may be read, and that
    /// is not written, for `'a`.
    #[doc(hidden)]
    pub unsafe fn from_raw(pointer: *const u8, shape: &[usize], strides: &[isize], item: usize) -> Self {
        let layout = Layout::new(shape, strides, item);
        Self { pointer, layout, vlen: None, marker: PhantomData }
    }

    /// Sets the buffer of a view of references to variable-length elements, whose bytes are in `vlen`.
    #[must_use]
    #[doc(hidden)]
    pub fn with_vlen(mut self, vlen: &'a VlenBuffer) -> View<'a> {
        self.vlen = (self.item() == VlenRef::SIZE).then_some(vlen);
        self
    }

    /// Returns the shape, in elements.
    pub fn shape(&self) -> &[usize] {
        &self.layout.shape
    }

    /// Returns the size of an element, in bytes.
    pub fn item(&self) -> usize {
        self.layout.item
    }

    /// Returns the `size` bytes that begin at `offset` in each element. Panics if an element is smaller.
    #[must_use]
    #[doc(hidden)]
    pub fn field(mut self, offset: usize, size: usize) -> View<'a> {
        assert!(offset + size <= self.item(), "the field must lie inside the element");
        self.pointer = self.pointer.wrapping_add(offset);
        self.layout.item = size;
        self.vlen = None;
        self
    }

    /// Calls `work` with the bytes of each element in row-major order, until `work` returns an error.
    pub fn for_each_element<E>(&self, mut work: impl FnMut(&'a [u8]) -> Result<(), E>) -> Result<(), E> {
        let mut result = Ok(());
        let row_major = Layout::contiguous(self.shape(), self.item());
        Loops::new(&self.layout, &row_major).runs(|offset, _, run| {
            for i in 0..run.count.cast_signed() {
                // SAFETY: the loops only visit elements of the view, each `item` bytes long and readable for 'a.
                let bytes =
                    unsafe { slice_or_empty(self.pointer.offset(offset + i * run.source), self.layout.item) };
                result = work(self.vlen.map_or(bytes, |vlen| vlen.element(bytes)));
                if result.is_err() {
                    return false;
                }
            }
            true
        });
        result
    }

    /// Returns the part at these spans, one for each dimension. Panics if a span is outside the view.
    #[must_use]
    pub fn region(&self, spans: &[Span]) -> View<'a> {
        let mut view = self.clone();
        let offset = view.layout.narrow(spans);
        view.pointer = view.pointer.wrapping_offset(offset);
        view
    }

    /// Returns the elements with permuted axes: new axis `i` is old axis `order[i]`.
    #[must_use]
    #[doc(hidden)]
    pub fn permuted(mut self, order: &[usize]) -> View<'a> {
        self.layout.permute(order);
        self
    }

    /// Returns the elements, in row-major order, with another shape; `None` if the elements have gaps, or the shape has a
    /// different number of elements.
    #[doc(hidden)]
    pub fn reshaped(mut self, shape: &[usize]) -> Option<View<'a>> {
        self.layout.reshape(shape).then_some(self)
    }

    /// Returns the elements with one axis reversed.
    #[must_use]
    #[doc(hidden)]
    pub fn reversed(mut self, dim: usize) -> View<'a> {
        let offset = self.layout.reverse(dim);
        self.pointer = self.pointer.wrapping_offset(offset);
        self
    }

    /// Returns the elements with an axis of length 1 inserted at `dim`.
    #[must_use]
    #[doc(hidden)]
    pub fn with_axis(mut self, dim: usize) -> View<'a> {
        self.layout.insert_axis(dim);
        self
    }

    /// Returns the elements without an axis, whose length must be 1.
    #[must_use]
    #[doc(hidden)]
    pub fn without_axis(mut self, dim: usize) -> View<'a> {
        self.layout.remove_axis(dim);
        self
    }

    /// Returns the elements with `count` axes from `dim` on merged into one. If `count` is zero, an axis of length 1 is inserted.
    /// Returns `None` if the elements are not evenly spaced.
    #[doc(hidden)]
    pub fn merged(mut self, dim: usize, count: usize) -> Option<View<'a>> {
        self.layout.merge(dim, count).then_some(self)
    }

    /// Splits an axis at `middle`: returns the part before `middle`, and the part from `middle` on.
    #[must_use]
    #[doc(hidden)]
    pub fn split(self, dim: usize, middle: usize) -> (View<'a>, View<'a>) {
        let (before, after, offset) = self.layout.halves(dim, middle);
        let pointer = self.pointer.wrapping_offset(offset);
        (View { layout: before, ..self }, View { pointer, layout: after, ..self })
    }

    /// Appends all elements in row-major order; `word` has the same meaning as for [`ViewMut::copy_from`].
    pub fn append_to(&self, bytes: &mut Vec<u8>, word: usize) {
        let length = self.layout.len_bytes();
        bytes.reserve(length);
        let end = bytes.spare_capacity_mut().as_mut_ptr().cast();
        let layout = Layout::contiguous(self.shape(), self.item());
        ViewMut { pointer: end, layout, vlen: None, marker: PhantomData }.copy_from(self, word);
        // SAFETY: `length` bytes were reserved, and the copy has initialised all of them.
        unsafe { bytes.set_len(bytes.len() + length) };
    }

    /// Returns the bytes as a slice, if they are contiguous in row-major order.
    pub fn as_slice(&self) -> Option<&'a [u8]> {
        if !self.layout.is_contiguous() {
            return None;
        }
        // SAFETY: a contiguous layout reaches exactly `len_bytes` from the pointer, all readable for 'a.
        Some(unsafe { slice_or_empty(self.pointer, self.layout.len_bytes()) })
    }

    /// Returns true if the elements have the same bytes as those of another view of the same shape.
    #[doc(hidden)]
    pub fn equals(&self, other: &View<'_>) -> bool {
        if self.vlen.is_some() || other.vlen.is_some() {
            return elements(self) == elements(other);
        }
        if let (Some(own), Some(others)) = (self.as_slice(), other.as_slice()) {
            return own == others;
        }
        assert_eq!(self.shape(), other.shape(), "both views must have the same shape");
        assert_eq!(self.item(), other.item(), "both views must have elements of the same size");
        let loops = Loops::new(&self.layout, &other.layout);
        // SAFETY: the loops only visit elements of both layouts.
        unsafe {
            match self.item() {
                1 => loops.equal::<u8>(self.pointer, other.pointer),
                2 => loops.equal::<u16>(self.pointer, other.pointer),
                4 => loops.equal::<u32>(self.pointer, other.pointer),
                8 => loops.equal::<u64>(self.pointer, other.pointer),
                16 => loops.equal::<u128>(self.pointer, other.pointer),
                item => loops.equal_items(self.pointer, other.pointer, item),
            }
        }
    }

    /// Returns true if every element equals these bytes.
    #[doc(hidden)]
    pub fn all_equal(&self, element: &[u8]) -> bool {
        if self.vlen.is_some() {
            let same = |bytes: &[u8]| if bytes == element { Ok(()) } else { Err(()) };
            return self.for_each_element(same).is_ok();
        }
        assert_eq!(element.len(), self.layout.item, "the element must have the size of the view's elements");
        Loops::new(&self.layout, &self.layout).runs(|offset, _, run| {
            (0..run.count).all(|i| {
                let at = offset + i.cast_signed() * run.source;
                // SAFETY: the loops only visit elements of the view, each `item` bytes long.
                let bytes = unsafe { std::slice::from_raw_parts(self.pointer.offset(at), element.len()) };
                bytes == element
            })
        })
    }
}

/// Returns the bytes of each element, in row-major order.
fn elements<'a>(view: &View<'a>) -> Vec<&'a [u8]> {
    let mut all = Vec::new();
    let Ok(()) = view.for_each_element(|element| {
        all.push(element);
        Ok::<_, std::convert::Infallible>(())
    });
    all
}

impl<'a> ViewMut<'a> {
    /// Creates a row-major view of a slice. Panics if the length of the slice differs from the shape.
    pub fn contiguous(bytes: &'a mut [u8], shape: &[usize], item: usize) -> Self {
        let layout = Layout::contiguous(shape, item);
        assert_eq!(layout.len_bytes(), bytes.len(), "the slice must have the length of the shape");
        Self { pointer: bytes.as_mut_ptr(), layout, vlen: None, marker: PhantomData }
    }

    /// Creates a view of any memory.
    ///
    /// # Safety
    /// Every element that shape and strides (in bytes) reach from `pointer` must be initialised memory that may be written, that
    /// no two positions share, and that is not used otherwise, for `'a`.
    #[doc(hidden)]
    pub unsafe fn from_raw(pointer: *mut u8, shape: &[usize], strides: &[isize], item: usize) -> Self {
        let layout = Layout::new(shape, strides, item);
        Self { pointer, layout, vlen: None, marker: PhantomData }
    }

    /// Creates a second view of the same memory, so that several threads can write parts of it.
    ///
    /// # Safety
    /// The holders of aliases must use disjoint parts of the memory.
    #[must_use]
    #[inline]
    #[doc(hidden)]
    pub unsafe fn alias(&self) -> ViewMut<'a> {
        Self { pointer: self.pointer, layout: self.layout.clone(), vlen: self.vlen, marker: PhantomData }
    }

    /// Sets the buffer of a view of references to variable-length elements, whose bytes go to `vlen`.
    #[must_use]
    #[doc(hidden)]
    pub fn with_vlen(mut self, vlen: &'a VlenBuffer) -> ViewMut<'a> {
        self.vlen = (self.item() == VlenRef::SIZE).then_some(vlen);
        self
    }

    /// Returns a read-only view of the same memory.
    #[doc(hidden)]
    pub fn as_view(&self) -> View<'_> {
        View { pointer: self.pointer, layout: self.layout.clone(), vlen: self.vlen, marker: PhantomData }
    }

    /// Returns the shape, in elements.
    pub fn shape(&self) -> &[usize] {
        &self.layout.shape
    }

    /// Returns the size of an element, in bytes.
    pub fn item(&self) -> usize {
        self.layout.item
    }

    /// Returns the `size` bytes that begin at `offset` in each element. Panics if an element is smaller.
    #[must_use]
    #[doc(hidden)]
    pub fn into_field(mut self, offset: usize, size: usize) -> ViewMut<'a> {
        assert!(offset + size <= self.item(), "the field must lie inside the element");
        self.pointer = self.pointer.wrapping_add(offset);
        self.layout.item = size;
        self.vlen = None;
        self
    }

    /// Sets variable-length elements, in row-major order, to consecutive ranges of `bytes` with these lengths. Returns an error
    /// if the view has no buffer, or a different number of elements.
    pub fn set_elements(
        &mut self,
        bytes: Vec<u8>,
        lengths: impl IntoIterator<Item = usize>,
    ) -> Result<(), CodecError> {
        let vlen = self.vlen.ok_or_else(|| CodecError::invalid("the elements have a fixed length"))?;
        let mut references = Vec::new();
        vlen.push(bytes, lengths, &mut references);
        if references.len() != self.layout.len_bytes() {
            return Err(CodecError::invalid("the number of lengths differs from the number of elements"));
        }
        let shape: Dims<usize> = self.shape().into();
        self.copy_plain(&View::contiguous(&references, &shape, VlenRef::SIZE), 1);
        Ok(())
    }

    /// Reborrows the view: the original cannot be used in the meantime.
    #[must_use]
    pub fn reborrow(&mut self) -> ViewMut<'_> {
        ViewMut { pointer: self.pointer, layout: self.layout.clone(), vlen: self.vlen, marker: PhantomData }
    }

    /// Returns the part at these spans, one for each dimension. Panics if a span is outside the view.
    #[must_use]
    pub fn into_region(mut self, spans: &[Span]) -> ViewMut<'a> {
        let offset = self.layout.narrow(spans);
        self.pointer = self.pointer.wrapping_offset(offset);
        self
    }

    /// Returns the elements with permuted axes: new axis `i` is old axis `order[i]`.
    #[must_use]
    #[doc(hidden)]
    pub fn permuted(mut self, order: &[usize]) -> ViewMut<'a> {
        self.layout.permute(order);
        self
    }

    /// Returns the elements, in row-major order, with another shape; `None` if the elements have gaps, or the shape has a
    /// different number of elements.
    #[doc(hidden)]
    pub fn reshaped(mut self, shape: &[usize]) -> Option<ViewMut<'a>> {
        self.layout.reshape(shape).then_some(self)
    }

    /// Returns the elements with one axis reversed.
    #[must_use]
    #[doc(hidden)]
    pub fn reversed(mut self, dim: usize) -> ViewMut<'a> {
        let offset = self.layout.reverse(dim);
        self.pointer = self.pointer.wrapping_offset(offset);
        self
    }

    /// Returns the elements with an axis of length 1 inserted at `dim`.
    #[must_use]
    #[doc(hidden)]
    pub fn with_axis(mut self, dim: usize) -> ViewMut<'a> {
        self.layout.insert_axis(dim);
        self
    }

    /// Returns the elements without an axis, whose length must be 1.
    #[must_use]
    #[doc(hidden)]
    pub fn without_axis(mut self, dim: usize) -> ViewMut<'a> {
        self.layout.remove_axis(dim);
        self
    }

    /// Returns the elements with `count` axes from `dim` on merged into one. If `count` is zero, an axis of length 1 is inserted.
    /// Returns `None` if the elements are not evenly spaced.
    #[doc(hidden)]
    pub fn merged(mut self, dim: usize, count: usize) -> Option<ViewMut<'a>> {
        self.layout.merge(dim, count).then_some(self)
    }

    /// Splits an axis at `middle`: returns the part before `middle`, and the part from `middle` on.
    #[must_use]
    #[doc(hidden)]
    pub fn split(self, dim: usize, middle: usize) -> (ViewMut<'a>, ViewMut<'a>) {
        // The two parts share no position of the axis.
        let (before, after, offset) = self.layout.halves(dim, middle);
        let pointer = self.pointer.wrapping_offset(offset);
        (ViewMut { layout: before, ..self }, ViewMut { pointer, layout: after, ..self })
    }

    /// Returns the bytes as a slice, if they are contiguous in row-major order.
    pub fn as_slice_mut(&mut self) -> Option<&mut [u8]> {
        if !self.layout.is_contiguous() {
            return None;
        }
        // SAFETY: a contiguous layout reaches exactly `len_bytes` from the pointer, all exclusively borrowed for 'a.
        Some(unsafe { slice_or_empty_mut(self.pointer, self.layout.len_bytes()) })
    }

    /// Returns the axis with the smallest stride. Axes of length 0 or 1 are ignored; `None` if all axes are.
    #[doc(hidden)]
    pub fn fastest_axis(&self) -> Option<usize> {
        let axes = (0..self.shape().len()).rev().filter(|&axis| self.shape()[axis] > 1);
        axes.min_by_key(|&axis| self.layout.strides[axis].unsigned_abs())
    }

    /// Returns true if the bytes are contiguous in row-major order.
    #[doc(hidden)]
    pub fn is_contiguous(&self) -> bool {
        self.layout.is_contiguous()
    }

    /// Converts a contiguous view to its slice; returns the view if it is not contiguous.
    #[expect(clippy::result_large_err, reason = "the caller uses the returned view at once")]
    #[doc(hidden)]
    pub fn into_slice(self) -> Result<&'a mut [u8], Self> {
        if !self.layout.is_contiguous() {
            return Err(self);
        }
        // SAFETY: as in `as_slice_mut`; the view is consumed, so that the slice is the only reference.
        Ok(unsafe { slice_or_empty_mut(self.pointer, self.layout.len_bytes()) })
    }

    /// Copies all elements of `source`, which has the same shape. `word` is the number of bytes that are reversed as a unit to
    /// swap the byte order, or 1. The bytes of variable-length elements are copied to this view's buffer.
    pub fn copy_from(&mut self, source: &View<'_>, word: usize) {
        let buffers = self.vlen.zip(source.vlen);
        let Some((vlen, _)) = buffers.filter(|(own, other)| !std::ptr::eq(*own, *other)) else {
            return self.copy_plain(source, word);
        };
        let (mut bytes, mut lengths) = (Vec::new(), Vec::new());
        let taken = source.for_each_element(|element| {
            bytes.extend_from_slice(element);
            lengths.push(element.len());
            Ok::<_, std::convert::Infallible>(())
        });
        let Ok(()) = taken;
        let mut references = Vec::with_capacity(lengths.len() * VlenRef::SIZE);
        vlen.push(bytes, lengths, &mut references);
        self.copy_plain(&View::contiguous(&references, source.shape(), VlenRef::SIZE), 1);
    }

    /// Copies the bytes in strided memory, without interpreting references to variable-length elements.
    fn copy_plain(&mut self, source: &View<'_>, word: usize) {
        assert_eq!(self.shape(), source.shape(), "both views must have the same shape");
        assert_eq!(self.item(), source.item(), "both views must have elements of the same size");
        let has_words = word > 1 && word < self.item();
        let (item, loops) = if has_words {
            (word, Loops::new(&of_words(&source.layout, word), &of_words(&self.layout, word)))
        } else {
            (self.item(), Loops::new(&source.layout, &self.layout))
        };
        // SAFETY: the loops only visit elements of both layouts; `ViewMut` is exclusive, so they do not overlap.
        unsafe {
            match (item, word > 1) {
                (1, _) => loops.copy::<u8>(source.pointer, self.pointer, |x| x),
                (2, false) => loops.copy::<u16>(source.pointer, self.pointer, |x| x),
                (4, false) => loops.copy::<u32>(source.pointer, self.pointer, |x| x),
                (8, false) => loops.copy::<u64>(source.pointer, self.pointer, |x| x),
                (16, false) => loops.copy::<u128>(source.pointer, self.pointer, |x| x),
                (2, true) => loops.map::<u16>(source.pointer, self.pointer, u16::swap_bytes),
                (4, true) => loops.map::<u32>(source.pointer, self.pointer, u32::swap_bytes),
                (8, true) => loops.map::<u64>(source.pointer, self.pointer, u64::swap_bytes),
                (16, true) => loops.map::<u128>(source.pointer, self.pointer, u128::swap_bytes),
                _ => loops.copy_items(source.pointer, self.pointer, item),
            }
        }
    }

    /// Replaces each byte with the result of `map`.
    #[doc(hidden)]
    pub fn map_bytes(&mut self, map: impl Fn(u8) -> u8) {
        self.for_each_mut(|element| element.iter_mut().for_each(|byte| *byte = map(*byte)));
    }

    /// Reverses the bytes of every word in every element.
    #[doc(hidden)]
    pub fn reverse_words(&mut self, word: usize) {
        self.for_each_mut(|element| element.chunks_exact_mut(word).for_each(<[u8]>::reverse));
    }

    fn for_each_mut(&mut self, mut work: impl FnMut(&mut [u8])) {
        let item = self.item();
        Loops::new(&self.layout, &self.layout).runs(|_, offset, run| {
            for i in 0..run.count.cast_signed() {
                // SAFETY: the loops only visit elements of the view, each `item` bytes long, and the view is exclusive.
                let element = unsafe {
                    std::slice::from_raw_parts_mut(self.pointer.offset(offset + i * run.target), item)
                };
                work(element);
            }
            true
        });
    }

    /// Sets every element to these bytes.
    pub fn fill(&mut self, element: &[u8]) {
        let mut reference = Vec::new();
        let element = match self.vlen {
            Some(vlen) => {
                vlen.push(element.to_vec(), [element.len()], &mut reference);
                reference.as_slice()
            }
            None => element,
        };
        if let (Some(&first), Some(slice)) = (element.first(), self.as_slice_mut())
            && element.iter().all(|&byte| byte == first)
        {
            slice.fill(first);
            return;
        }
        let shape: Dims<usize> = self.shape().into();
        self.copy_plain(&View::broadcast(element, &shape), 1);
    }
}

/// Returns the layout of the words of the elements, which has an additional last axis.
fn of_words(elements: &Layout, word: usize) -> Layout {
    let mut layout = elements.clone();
    layout.shape.push(layout.item / word);
    layout.strides.push(word.cast_signed());
    layout.item = word;
    layout
}

fn positive(stride: isize) -> usize {
    usize::try_from(stride).unwrap_or(usize::MAX / 2)
}

/// # Safety
/// `length` bytes from `pointer` must be initialised and readable for `'a`.
pub(crate) unsafe fn slice_or_empty<'a>(pointer: *const u8, length: usize) -> &'a [u8] {
    if length == 0 {
        return &[];
    }
    // SAFETY: the caller's guarantee.
    unsafe { std::slice::from_raw_parts(pointer, length) }
}

/// # Safety
/// `length` bytes from `pointer` must be initialised and exclusively borrowed for `'a`.
unsafe fn slice_or_empty_mut<'a>(pointer: *mut u8, length: usize) -> &'a mut [u8] {
    if length == 0 {
        return &mut [];
    }
    // SAFETY: the caller's guarantee.
    unsafe { std::slice::from_raw_parts_mut(pointer, length) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the elements permuted one by one, with divisions, as a reference result.
    fn naive(source: &[u8], shape: &[usize], order: &[usize], item: usize, word: usize) -> Vec<u8> {
        let strides = contiguous_strides(shape, item);
        let out: Vec<usize> = order.iter().map(|&axis| shape[axis]).collect();
        let mut bytes = Vec::new();
        for flat in 0..out.iter().product() {
            let (mut rest, mut offset) = (flat, 0);
            for (dim, &length) in out.iter().enumerate().rev() {
                offset += (rest % length).cast_signed() * strides[order[dim]];
                rest /= length;
            }
            let element = &source[offset.unsigned_abs()..][..item];
            for unit in element.chunks(word) {
                bytes.extend(unit.iter().rev());
            }
        }
        bytes
    }

    #[test]
    fn permuting_copies_equal_the_naive_loop() {
        let shape = [5, 1, 67, 40];
        for item in [1, 2, 3, 4, 8, 16] {
            let source: Vec<u8> = (0..shape.iter().product::<usize>() * item)
                .map(|i| u8::try_from(i * 7 % 251).unwrap())
                .collect();
            for order in [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1], [0, 3, 1, 2]] {
                for word in [1, 2, 4, 8, 16] {
                    if word > 1 && (item % word != 0 || item == 3) {
                        continue;
                    }
                    let view = View::contiguous(&source, &shape, item).permuted(&order);
                    let mut out = vec![0; source.len()];
                    let out_shape: Vec<usize> = view.shape().to_vec();
                    ViewMut::contiguous(&mut out, &out_shape, item).copy_from(&view, word);
                    assert_eq!(out, naive(&source, &shape, &order, item, word), "{item} {order:?} {word}");
                    let mut appended = vec![1, 2, 3];
                    view.append_to(&mut appended, word);
                    assert_eq!((&appended[..3], &appended[3..]), (&[1, 2, 3][..], &out[..]));
                }
            }
        }
    }

    #[test]
    fn views_are_equal_if_all_bytes_are() {
        let spans = [Span { start: 1, step: 2, count: 3 }, Span { start: 0, step: 1, count: 4 }];
        for item in [1, 2, 3, 4, 8, 16] {
            let source: Vec<u8> = (0..6 * 4 * item).map(|i: usize| i.to_le_bytes()[0]).collect();
            let view = || View::contiguous(&source, &[6, 4], item);
            for one in [view(), view().region(&spans), view().reversed(1), view().permuted(&[1, 0])] {
                let mut copy = Vec::new();
                one.append_to(&mut copy, 1);
                assert!(one.equals(&View::contiguous(&copy, one.shape(), item)));
                for at in 0..copy.len() {
                    copy[at] ^= 1;
                    let other = View::contiguous(&copy, one.shape(), item);
                    assert!(!one.equals(&other) && !other.equals(&one), "{item} {at}");
                    copy[at] ^= 1;
                }
            }
        }
        let none = View::contiguous(&[], &[2, 3], 0);
        assert!(none.equals(&none.clone().permuted(&[1, 0]).permuted(&[1, 0]).reversed(0)));
    }

    #[test]
    fn regions_and_reversals_reach_the_right_elements() {
        let source: Vec<u8> = (0..24).collect();
        let spans = [Span { start: 1, step: 2, count: 2 }, Span { start: 0, step: 3, count: 2 }];
        let view = View::contiguous(&source, &[4, 6], 1).region(&spans).reversed(1);
        let mut out = [0; 4];
        ViewMut::contiguous(&mut out, &[2, 2], 1).copy_from(&view, 1);
        assert_eq!(out, [9, 6, 21, 18]);
    }

    #[test]
    fn fill_and_all_equal_agree() {
        let mut bytes = vec![9_u8; 4 * 6 * 2];
        let spans = [Span { start: 0, step: 2, count: 2 }, Span { start: 1, step: 1, count: 3 }];
        ViewMut::contiguous(&mut bytes, &[4, 6], 2).into_region(&spans).fill(&[1, 2]);
        let view = View::contiguous(&bytes, &[4, 6], 2);
        assert!(view.region(&spans).all_equal(&[1, 2]));
        assert!(!view.all_equal(&[1, 2]));
        assert_eq!(bytes.iter().filter(|&&b| b == 1).count(), 6);
    }

    #[test]
    fn empty_and_zero_dimensional_views_work() {
        let mut bytes = [0_u8; 4];
        ViewMut::contiguous(&mut bytes, &[], 4).copy_from(&View::contiguous(&[1, 2, 3, 4], &[], 4), 4);
        assert_eq!(bytes, [4, 3, 2, 1]);
        let mut none = [];
        ViewMut::contiguous(&mut none, &[0, 3], 4).copy_from(&View::contiguous(&[], &[0, 3], 4), 1);
        assert!(View::contiguous(&[], &[0, 3], 4).all_equal(&[0; 4]));
    }

    #[test]
    fn views_without_elements_may_have_any_lengths() {
        let huge = 1 << 40;
        for shape in [[0, huge, huge, huge], [huge, huge, 0, huge], [huge, huge, huge, 0]] {
            let order = [3, 1, 2, 0];
            let view = View::contiguous(&[], &shape, 8).reversed(1).permuted(&order);
            let mut none = Vec::new();
            view.append_to(&mut none, 8);
            assert_eq!(view.as_slice(), Some(none.as_slice()));
            assert!(view.all_equal(&[0; 8]));
            let mut out = ViewMut::contiguous(&mut none, &shape, 8).reversed(2).permuted(&order);
            out.copy_from(&view, 8);
            out.fill(&[1; 8]);
        }
    }

    #[test]
    fn only_what_has_no_gaps_takes_another_shape() {
        let source: Vec<u8> = (0..24).collect();
        let view = View::contiguous(&source, &[4, 6], 1);
        assert_eq!(view.clone().reshaped(&[2, 12]).unwrap().shape(), [2, 12]);
        let half = 1 << (usize::BITS / 2);
        for wrong in [&[23][..], &[0], &[], &[half, half, 24]] {
            assert!(view.clone().reshaped(wrong).is_none(), "{wrong:?}");
        }
        assert!(view.permuted(&[1, 0]).reshaped(&[24]).is_none());
        let empty = ViewMut::contiguous(&mut [], &[0, 6], 1).reshaped(&[half, half, half, 0]);
        assert!(empty.is_some_and(|empty| empty.is_contiguous()));
    }

    #[test]
    #[should_panic(expected = "leaves dimension")]
    fn a_region_cannot_leave_its_view() {
        let _ = View::contiguous(&[0; 4], &[4], 1).region(&[Span { start: 2, step: 2, count: 2 }]);
    }
}
