//! Reads and writes elements in the caller's memory.

use std::ffi::c_void;

use zarrox::internals::argument;
use zarrox::strided::{View, ViewMut};
use zarrox::{Array, Error, ErrorKind, Result};

use crate::arguments::{list, null, value};
use crate::cancel::{OpenArray, with_array};
use crate::element_type::ElementType;
use crate::region::{Part, zarrox_region};
use crate::status::guard;
use crate::strides;
use crate::table::zarrox_node;

/// Memory of the caller for the elements of a region.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct zarrox_memory {
    /// The type of the elements, a `zarrox_type`. It must be the type of the array.
    pub r#type: i32,
    /// The first element, of any alignment.
    pub data: *mut c_void,
    /// The number of bytes from the first element on.
    pub size: usize,
    /// The distance in bytes from an element to the next element along each dimension, which may be negative; null for row-major
    /// order. In Fortran's order, the first stride is the size of an element.
    pub strides: *const isize,
}

/// Memory that has been checked against a region.
struct Checked {
    start: *mut u8,
    strides: Vec<isize>,
    item: usize,
}

// SAFETY: this is the caller's memory, and only the call with this object uses it, as the header requires.
unsafe impl Send for Checked {}

impl Checked {
    /// Checks memory against a region of an array.
    ///
    /// # Safety
    /// The pointer is null, or points to a description of memory whose strides are null or have one entry for each dimension of
    /// the region.
    unsafe fn new(memory: *const zarrox_memory, array: &Array, part: &Part) -> Result<Self> {
        // SAFETY: the caller guarantees it.
        let memory = unsafe { value(memory, "memory") }?.ok_or_else(|| null("memory"))?;
        let own = ElementType::of(array.data_type());
        if matches!(own, ElementType::String | ElementType::Bytes) {
            let message = format!(
                "elements of {} have no fixed length: use zarrox_read_strings and zarrox_write_strings",
                array.data_type()
            );
            return Err(Error::new(ErrorKind::DataTypeMismatch, message));
        }
        if memory.r#type != own as i32 {
            let message = format!(
                "the memory has elements of type {}, but the array has {}, which is type {}",
                memory.r#type,
                array.data_type(),
                own as i32
            );
            return Err(Error::new(ErrorKind::DataTypeMismatch, message));
        }
        let given = if memory.strides.is_null() {
            None
        } else {
            // SAFETY: the caller guarantees it.
            Some(unsafe { list(memory.strides, part.shape.len(), "strides") }?)
        };
        let item = array.data_type().size();
        let strides = strides::checked(given, &part.shape, item, memory.size)?;
        let start: *mut u8 = memory.data.cast();
        if part.len()? == 0 {
            return Ok(Self { start: std::ptr::dangling_mut(), strides, item });
        }
        if start.is_null() {
            return Err(null("data"));
        }
        Ok(Self { start, strides, item })
    }

    /// Returns the memory for a result.
    ///
    /// # Safety
    /// Every element of the checked shape can be read and written, and no other thread accesses the memory during `'a`.
    unsafe fn view_mut<'a>(&self, shape: &[usize]) -> Result<ViewMut<'a>> {
        strides::check_distinct(&self.strides, shape, self.item)?;
        // SAFETY: no two elements share a byte, and the caller guarantees the rest. Rust does not treat memory from C as
        // uninitialised.
        Ok(unsafe { ViewMut::from_raw(self.start, shape, &self.strides, self.item) })
    }

    /// Returns the memory with values.
    ///
    /// # Safety
    /// Every element of the checked shape is initialised, and no thread writes to the memory during `'a`.
    unsafe fn view<'a>(&self, shape: &[usize]) -> View<'a> {
        // SAFETY: the caller guarantees it.
        unsafe { View::from_raw(self.start, shape, &self.strides, self.item) }
    }
}

/// Reads a region into memory. With strides, chunks are decoded directly into this memory, without another copy. On an error, the
/// memory may be partly written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zarrox_read(
    node: zarrox_node,
    region: *const zarrox_region,
    memory: *const zarrox_memory,
) -> i32 {
    guard(|| {
        with_array(node, |array| {
            // SAFETY: the caller guarantees it.
            let part = unsafe { Part::new(region, array.shape()) }?;
            // SAFETY: the caller guarantees it.
            let memory = unsafe { Checked::new(memory, array, &part) }?;
            // SAFETY: the caller guarantees that the memory extends as far as its strides reach, and that no other thread uses
            // it.
            let out = unsafe { memory.view_mut(&part.shape) }?;
            array.with(&part, |view| view.read_raw(out))
        })
    })
}

/// Writes a region from memory. A stride of 0 repeats elements. When the function returns, the elements are stored; nothing needs to be
/// flushed. On an error, each chunk has either its old or its new elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zarrox_write(
    node: zarrox_node,
    region: *const zarrox_region,
    memory: *const zarrox_memory,
) -> i32 {
    guard(|| {
        with_array(node, |array| {
            // SAFETY: the caller guarantees it.
            let part = unsafe { Part::new(region, array.shape()) }?;
            // SAFETY: the caller guarantees it.
            let memory = unsafe { Checked::new(memory, array, &part) }?;
            // SAFETY: the caller guarantees that the memory extends as far as its strides reach, and that no thread writes to it.
            let values = unsafe { memory.view(&part.shape) };
            array.with(&part, |view| view.write_raw(values))
        })
    })
}

/// Reads a region into contiguous bytes, for results in memory that this library owns.
pub(crate) fn read_bytes(array: &OpenArray<'_>, part: &Part, bytes: &mut [u8]) -> Result<()> {
    let item = array.data_type().size();
    let size = part.len()?.checked_mul(item).filter(|size| *size <= bytes.len());
    let size = size.ok_or_else(|| argument("the memory is smaller than the region"))?;
    let out = ViewMut::contiguous(&mut bytes[..size], &part.shape, item);
    array.with(part, |view| view.read_raw(out))
}
