//! The callback that cancels operations.

use std::ffi::c_void;

/// A function that returns a number other than 0 to cancel an operation. It must not unwind or jump out of the call.
pub type CancelCallback = Option<unsafe extern "C" fn(data: *mut c_void) -> i32>;

/// A callback with its data.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cancel {
    callback: unsafe extern "C" fn(data: *mut c_void) -> i32,
    data: *mut c_void,
}

// SAFETY: the header says that any thread that reads or writes the node calls the callback.
unsafe impl Send for Cancel {}
// SAFETY: as above.
unsafe impl Sync for Cancel {}

impl Cancel {
    pub(crate) fn new(callback: unsafe extern "C" fn(data: *mut c_void) -> i32, data: *mut c_void) -> Self {
        Self { callback, data }
    }

    /// Calls the callback, and returns true if it requests cancellation.
    pub(crate) fn is_asked(self) -> bool {
        // SAFETY: the caller of `zarrox_set_cancel` guarantees that the callback can be called with its data.
        unsafe { (self.callback)(self.data) != 0 }
    }
}
