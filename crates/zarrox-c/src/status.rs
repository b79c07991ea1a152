//! The results of functions: a status for programs, and a message for people.
//!
//! The status is the return value, and the message of the last error is kept for each thread, like HDF5's error stack and
//! `errno`. A function thus needs no parameter for errors, and bindings for other languages need not free messages. Other threads
//! never change the message.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

use zarrox::{ErrorKind, Result};

/// The result of a function: success, or the kind of an error. The numbers do not change.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Success.
    Ok = 0,
    /// The node, chunk or file was not found.
    NotFound = 1,
    /// Something already exists, and overwriting was not requested.
    AlreadyExists = 2,
    /// The storage denies access.
    Forbidden = 3,
    /// The storage could not be reached, or failed.
    Unreachable = 4,
    /// The storage did not respond in time.
    TimedOut = 5,
    /// Another program or thread changed the same object at the same time.
    Conflict = 6,
    /// The callback of `zarrox_set_cancel` cancelled the operation.
    Interrupted = 7,
    /// The node or the store was opened for reading only.
    ReadOnly = 8,
    /// The storage has no space left.
    StorageFull = 9,
    /// The stored bytes are damaged: truncated, altered, or inconsistent with the metadata.
    Corrupt = 10,
    /// A metadata document violates its specification.
    InvalidMetadata = 11,
    /// A valid feature that this library, or the target format, does not support.
    Unsupported = 12,
    /// The region is out of bounds, or does not fit the array.
    InvalidSelection = 13,
    /// Another argument is invalid: a null pointer, a closed node, a wrong length, JSON with unknown members.
    InvalidArgument = 14,
    /// The type of the memory differs from the type of the array.
    DataTypeMismatch = 15,
    /// The operation would need more memory than the limits allow.
    LimitExceeded = 16,
    /// Memory could not be allocated. The stored data may be intact.
    OutOfMemory = 17,
    /// An error of a kind that this interface does not name yet.
    Other = 18,
    /// A bug of this library. The operation may be incomplete.
    Internal = 19,
}

/// Every status with its name.
const NAMES: [(Status, &CStr); 20] = [
    (Status::Ok, c"ok"),
    (Status::NotFound, c"not found"),
    (Status::AlreadyExists, c"already exists"),
    (Status::Forbidden, c"forbidden"),
    (Status::Unreachable, c"unreachable"),
    (Status::TimedOut, c"timed out"),
    (Status::Conflict, c"conflict"),
    (Status::Interrupted, c"interrupted"),
    (Status::ReadOnly, c"read-only"),
    (Status::StorageFull, c"storage full"),
    (Status::Corrupt, c"corrupt"),
    (Status::InvalidMetadata, c"invalid metadata"),
    (Status::Unsupported, c"unsupported"),
    (Status::InvalidSelection, c"invalid selection"),
    (Status::InvalidArgument, c"invalid argument"),
    (Status::DataTypeMismatch, c"data type mismatch"),
    (Status::LimitExceeded, c"limit exceeded"),
    (Status::OutOfMemory, c"out of memory"),
    (Status::Other, c"other error"),
    (Status::Internal, c"internal error"),
];

impl From<ErrorKind> for Status {
    fn from(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::NotFound => Self::NotFound,
            ErrorKind::AlreadyExists => Self::AlreadyExists,
            ErrorKind::Forbidden => Self::Forbidden,
            ErrorKind::Unreachable => Self::Unreachable,
            ErrorKind::TimedOut => Self::TimedOut,
            ErrorKind::Conflict => Self::Conflict,
            ErrorKind::Interrupted => Self::Interrupted,
            ErrorKind::ReadOnly => Self::ReadOnly,
            ErrorKind::StorageFull => Self::StorageFull,
            ErrorKind::Corrupt => Self::Corrupt,
            ErrorKind::InvalidMetadata => Self::InvalidMetadata,
            ErrorKind::Unsupported => Self::Unsupported,
            ErrorKind::InvalidSelection => Self::InvalidSelection,
            ErrorKind::InvalidArgument => Self::InvalidArgument,
            ErrorKind::DataTypeMismatch => Self::DataTypeMismatch,
            ErrorKind::LimitExceeded => Self::LimitExceeded,
            ErrorKind::OutOfMemory => Self::OutOfMemory,
            _ => Self::Other,
        }
    }
}

thread_local! {
    /// The message of the last error of this thread.
    static MESSAGE: RefCell<CString> = RefCell::default();
}

/// Runs the body of a function. Every function of the interface consists of a call of this function, so that neither an error nor
/// a panic leaves Rust.
pub(crate) fn guard(body: impl FnOnce() -> Result<()>) -> i32 {
    let (status, message) = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => return Status::Ok as i32,
        Ok(Err(error)) => (Status::from(error.kind()), error.to_string()),
        Err(panic) => (Status::Internal, format!("a bug in zarrox: {}", text_of(panic.as_ref()))),
    };
    let message: Vec<u8> = message.into_bytes().into_iter().filter(|&byte| byte != 0).collect();
    // A thread that is ending no longer has a message.
    let _ = MESSAGE.try_with(|last| last.replace(CString::new(message).unwrap_or_default()));
    status as i32
}

/// Returns the message of a panic.
fn text_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

/// Returns the message of the last error of this thread: what was wrong, where, and what to do. The message is empty if there was
/// no error, is valid until the next error of this thread, and must not be freed.
#[unsafe(no_mangle)]
pub extern "C" fn zarrox_error_message() -> *const c_char {
    MESSAGE.try_with(|last| last.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}

/// Returns the name of a status, such as "not found". The name is always valid, and must not be freed.
#[unsafe(no_mangle)]
pub extern "C" fn zarrox_status_name(status: i32) -> *const c_char {
    let known = NAMES.iter().find(|(known, _)| *known as i32 == status);
    known.map_or(c"unknown status", |(_, name)| name).as_ptr()
}

/// Returns the version of the library, such as "0.1.0". The text is always valid, and must not be freed.
#[unsafe(no_mangle)]
pub extern "C" fn zarrox_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message() -> String {
        MESSAGE.with(|last| last.borrow().to_string_lossy().into_owned())
    }

    #[test]
    fn errors_have_the_status_of_their_kind_and_their_message() {
        let status = guard(|| Err(zarrox::Error::new(ErrorKind::Corrupt, "a\0b")));
        assert_eq!((status, message().as_str()), (Status::Corrupt as i32, "ab"));
    }

    #[test]
    fn a_panic_is_an_internal_error() {
        assert_eq!(guard(|| panic!("{} happened", "it")), Status::Internal as i32);
        assert_eq!(message(), "a bug in zarrox: it happened");
    }

    #[test]
    fn names_are_in_the_order_of_the_numbers() {
        for (number, (status, _)) in NAMES.iter().enumerate() {
            assert_eq!(*status as usize, number);
        }
    }
}
