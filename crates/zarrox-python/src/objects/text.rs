//! NumPy's variable-length strings, `StringDType`, without a Python object for each element.

use std::ffi::{c_char, c_int, c_void};
use std::ptr::NonNull;

use numpy::npyffi::{NPY_TYPES, npy_packed_static_string, npy_static_string, npy_string_allocator};
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyMemoryError, PyUnicodeDecodeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyCapsule, PyCapsuleMethods};
use zarrox::{DataType, DynArray};

use crate::error::OrRaise;

type Load = unsafe extern "C" fn(
    *mut npy_string_allocator,
    *const npy_packed_static_string,
    *mut npy_static_string,
) -> c_int;
type Pack = unsafe extern "C" fn(
    *mut npy_string_allocator,
    *mut npy_packed_static_string,
    *const c_char,
    usize,
) -> c_int;
type Acquire = unsafe extern "C" fn(*const c_void) -> *mut npy_string_allocator;
type Release = unsafe extern "C" fn(*mut npy_string_allocator);

/// The functions for this dtype in NumPy's C interface. NumPy has had the dtype and these functions since 2.0.
struct Functions {
    load: Load,
    pack: Pack,
    acquire: Acquire,
    release: Release,
}

impl Functions {
    fn get(py: Python<'_>) -> PyResult<&'static Self> {
        static FUNCTIONS: PyOnceLock<Functions> = PyOnceLock::new();
        FUNCTIONS.get_or_try_init(py, || {
            let module = py.import("numpy._core.multiarray")?;
            let capsule = module.getattr("_ARRAY_API")?.cast_into::<PyCapsule>()?;
            let table: NonNull<*const c_void> = capsule.pointer_checked(None)?.cast();
            // SAFETY: NumPy's table has these functions at these indices in every version that has the dtype, and is never freed.
            Ok(unsafe {
                let function = |place: usize| *table.as_ptr().add(place);
                Self {
                    load: std::mem::transmute::<*const c_void, Load>(function(313)),
                    pack: std::mem::transmute::<*const c_void, Pack>(function(314)),
                    acquire: std::mem::transmute::<*const c_void, Acquire>(function(316)),
                    release: std::mem::transmute::<*const c_void, Release>(function(318)),
                }
            })
        })
    }
}

/// The strings of an array. Their allocator is locked while this value exists.
struct Texts<'a> {
    functions: &'static Functions,
    allocator: *mut npy_string_allocator,
    /// The first of the contiguous elements.
    first: *mut u8,
    size: usize,
    count: usize,
    _array: &'a Bound<'a, PyUntypedArray>,
}

impl<'a> Texts<'a> {
    /// Returns the strings of a contiguous array of this dtype.
    fn of(array: &'a Bound<'a, PyUntypedArray>) -> PyResult<Self> {
        let functions = Functions::get(array.py())?;
        let dtype = array.dtype();
        // SAFETY: the dtype of the array is `StringDType`, this is its allocator, and the array is held.
        let allocator = unsafe { (functions.acquire)(dtype.as_ptr().cast_const().cast()) };
        // SAFETY: the object is an array, whose fields may be read.
        let first = unsafe { (*array.as_array_ptr()).fields.data.cast::<u8>() };
        Ok(Self { functions, allocator, first, size: dtype.itemsize(), count: array.len(), _array: array })
    }

    /// Returns the address of an element.
    fn packed(&self, index: usize) -> *mut npy_packed_static_string {
        debug_assert!(index < self.count);
        // SAFETY: the elements are contiguous.
        unsafe { self.first.add(index * self.size).cast() }
    }

    /// Returns the bytes of an element; `None` if it is missing, or cannot be read.
    fn load(&self, index: usize) -> Option<&[u8]> {
        let mut unpacked = npy_static_string { size: 0, buf: std::ptr::null() };
        // SAFETY: the allocator belongs to the element.
        let kind = unsafe { (self.functions.load)(self.allocator, self.packed(index), &raw mut unpacked) };
        if kind != 0 {
            return None;
        }
        if unpacked.size == 0 {
            return Some(&[]);
        }
        // SAFETY: the bytes belong to the allocator, which no other thread changes as long as it is acquired.
        Some(unsafe { std::slice::from_raw_parts(unpacked.buf.cast(), unpacked.size) })
    }

    /// Replaces an element.
    fn pack(&mut self, index: usize, text: &str) -> PyResult<()> {
        // SAFETY: the allocator belongs to the element, and the string is copied.
        let failed = unsafe {
            (self.functions.pack)(self.allocator, self.packed(index), text.as_ptr().cast(), text.len())
        };
        if failed != 0 {
            return Err(PyMemoryError::new_err("memory for text cannot be allocated"));
        }
        Ok(())
    }
}

impl Drop for Texts<'_> {
    fn drop(&mut self) {
        // SAFETY: the allocator was acquired, and is released once.
        unsafe { (self.functions.release)(self.allocator) };
    }
}

/// Returns true if the elements of an array are variable-length strings.
fn is_text(array: &Bound<'_, PyUntypedArray>) -> bool {
    array.dtype().num() == NPY_TYPES::NPY_VSTRING as c_int
}

/// Returns the elements of an array of strings; `None` if the array has a different dtype, or if an element is missing.
pub(crate) fn elements(
    array: &Bound<'_, PyUntypedArray>,
    data_type: &DataType,
) -> PyResult<Option<DynArray>> {
    if !is_text(array) {
        return Ok(None);
    }
    let contiguous = match array.is_c_contiguous() {
        true => array.clone(),
        false => array.call_method1("copy", ("C",))?.cast_into::<PyUntypedArray>()?,
    };
    let texts = Texts::of(&contiguous)?;
    let mut is_complete = true;
    let elements = (0..texts.count).map(|index| {
        texts.load(index).unwrap_or_else(|| {
            is_complete = false;
            &[]
        })
    });
    let elements = DynArray::from_elements(data_type.clone(), array.shape().to_vec(), elements).or_raise()?;
    drop(texts);
    Ok(is_complete.then_some(elements))
}

/// Fills a contiguous array of strings with elements. Returns false if the array has a different dtype.
pub(crate) fn fill<'e>(
    array: &Bound<'_, PyUntypedArray>,
    elements: impl Iterator<Item = &'e [u8]>,
) -> PyResult<bool> {
    if !is_text(array) || !array.is_c_contiguous() {
        return Ok(false);
    }
    let mut texts = Texts::of(array)?;
    for (index, bytes) in elements.take(texts.count).enumerate() {
        match std::str::from_utf8(bytes) {
            Ok(text) => texts.pack(index, text)?,
            Err(error) => {
                // NumPy's allocator is released before any Python code runs.
                drop(texts);
                return Err(PyUnicodeDecodeError::new_utf8(array.py(), bytes, error)?.into());
            }
        }
    }
    Ok(true)
}
