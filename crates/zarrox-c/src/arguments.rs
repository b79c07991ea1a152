//! Arguments from C: strings, lists, and pointers to results. Null pointers are errors.

use std::ffi::{CStr, c_char};

use zarrox::internals::argument;
use zarrox::json::{self, Json, Map};
use zarrox::{Error, Result};

/// Returns the error for a null pointer.
pub(crate) fn null(name: &str) -> Error {
    argument(format!("'{name}' must not be NULL"))
}

/// Returns a string.
///
/// # Safety
/// The pointer is null, or points to a NUL-terminated string that does not change during `'a`.
pub(crate) unsafe fn text<'a>(pointer: *const c_char, name: &str) -> Result<&'a str> {
    if pointer.is_null() {
        return Err(null(name));
    }
    // SAFETY: the pointer is not null, and the caller guarantees the rest.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_str().map_err(|error| argument(format!("'{name}' is not UTF-8: {error}")))
}

/// Returns a JSON object; an empty object for null.
///
/// # Safety
/// As for [`text`].
pub(crate) unsafe fn object(pointer: *const c_char, name: &str) -> Result<Map> {
    if pointer.is_null() {
        return Ok(Map::default());
    }
    // SAFETY: the caller guarantees it.
    let text = unsafe { text(pointer, name) }?;
    match json::parse(text.as_bytes()) {
        Ok(Json::Object(map)) => Ok(map),
        Ok(_) => Err(argument(format!("'{name}' must be a JSON object"))),
        Err(error) => Err(argument(format!("'{name}': {error}"))),
    }
}

/// Returns a list. Null with a length of 0 is an empty list.
///
/// # Safety
/// The pointer is null, or points to `length` values that do not change during `'a`.
pub(crate) unsafe fn list<'a, T>(pointer: *const T, length: usize, name: &str) -> Result<&'a [T]> {
    if length == 0 {
        return Ok(&[]);
    }
    check_place(pointer, name)?;
    if length > isize::MAX.unsigned_abs() / size_of::<T>().max(1) {
        return Err(argument(format!(
            "{length} values do not fit into memory: the length of '{name}' is wrong"
        )));
    }
    // SAFETY: the pointer is neither null nor misaligned, the list is not larger than the address space, and the caller
    // guarantees the rest.
    Ok(unsafe { std::slice::from_raw_parts(pointer, length) })
}

/// Returns the value that a pointer refers to, or `None` for null.
///
/// # Safety
/// The pointer is null, or points to a value that does not change during `'a`.
pub(crate) unsafe fn value<'a, T>(pointer: *const T, name: &str) -> Result<Option<&'a T>> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: the pointer is not null, and the caller guarantees the rest.
    unsafe { list(pointer, 1, name) }.map(<[T]>::first)
}

/// Returns an error if a pointer is null or misaligned.
pub(crate) fn check_place<T>(pointer: *const T, name: &str) -> Result<()> {
    if pointer.is_null() {
        return Err(null(name));
    }
    if !pointer.is_aligned() {
        return Err(argument(format!("'{name}' is not aligned to {} bytes", align_of::<T>())));
    }
    Ok(())
}

/// A pointer to the caller's memory for a result.
pub(crate) struct OutPointer<T>(*mut T);

impl<T> OutPointer<T> {
    /// Checks the pointer to the memory for a result, before the result is computed.
    ///
    /// # Safety
    /// The pointer is null, or a value can be written to it as long as this object exists.
    pub(crate) unsafe fn new(pointer: *mut T, name: &str) -> Result<Self> {
        check_place(pointer.cast_const(), name)?;
        Ok(Self(pointer))
    }

    /// Writes the result.
    pub(crate) fn set(self, value: T) {
        // SAFETY: `new` has checked the pointer, and its caller guarantees that it can be written to.
        unsafe { self.0.write(value) };
    }
}
