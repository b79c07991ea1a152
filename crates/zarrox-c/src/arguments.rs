//! Arguments from C: text, lists, and pointers to results. Null pointers are errors.

use std::ffi::{CStr, c_char};

use zarrox::internals::argument;
use zarrox::json::{self, Json, Map};
use zarrox::{Error, Result};

/// Returns the error for a null pointer.
pub(crate) fn null(name: &str) -> Error {
    argument(format!("'{name}' must not be NULL"))
}

/// Returns a text.
///
/// # Safety
/// The pointer is null, or points to text that ends with NUL and is not changed for `'a`.
pub(crate) unsafe fn text<'a>(pointer: *const c_char, name: &str) -> Result<&'a str> {
    if pointer.is_null() {
        return Err(null(name));
    }
    // SAFETY: the pointer is not null, and the caller states the rest.
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
    // SAFETY: the caller states it.
    let text = unsafe { text(pointer, name) }?;
    match json::parse(text.as_bytes()) {
        Ok(Json::Object(map)) => Ok(map),
        Ok(_) => Err(argument(format!("'{name}' must be a JSON object"))),
        Err(error) => Err(argument(format!("'{name}': {error}"))),
    }
}

/// Returns a list; an empty list for null with a length of 0.
///
/// # Safety
/// The pointer is null, or points to `length` values that are not changed for `'a`.
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
    // SAFETY: the pointer is neither null nor misaligned, the list is not longer than memory, and the caller
    // states the rest.
    Ok(unsafe { std::slice::from_raw_parts(pointer, length) })
}

/// Returns the value behind a pointer that may be null.
///
/// # Safety
/// The pointer is null, or points to a value that is not changed for `'a`.
pub(crate) unsafe fn value<'a, T>(pointer: *const T, name: &str) -> Result<Option<&'a T>> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: the pointer is not null, and the caller states the rest.
    unsafe { list(pointer, 1, name) }.map(<[T]>::first)
}

/// Returns an error for a pointer that is null or misaligned.
pub(crate) fn check_place<T>(pointer: *const T, name: &str) -> Result<()> {
    if pointer.is_null() {
        return Err(null(name));
    }
    if !pointer.is_aligned() {
        return Err(argument(format!("'{name}' is not aligned to {} bytes", align_of::<T>())));
    }
    Ok(())
}

/// Memory of the caller for a result.
pub(crate) struct OutPointer<T>(*mut T);

impl<T> OutPointer<T> {
    /// Checks the pointer to the memory of a result, before the result is computed.
    ///
    /// # Safety
    /// The pointer is null, or a value can be written to it as long as this object lives.
    pub(crate) unsafe fn new(pointer: *mut T, name: &str) -> Result<Self> {
        check_place(pointer.cast_const(), name)?;
        Ok(Self(pointer))
    }

    /// Writes the result.
    pub(crate) fn set(self, value: T) {
        // SAFETY: `new` has checked the pointer, and its caller states that it can be written to.
        unsafe { self.0.write(value) };
    }
}
