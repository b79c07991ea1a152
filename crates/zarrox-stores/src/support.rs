//! Items shared by the stores of this crate and of Zarrox's other crates. They are not public API and may change at any time.

pub use crate::key::valid;
#[cfg(unix)]
pub use crate::local::directory::sweep;
pub use crate::local::durable::{create_directories, directory_of, sync_directory};
pub use crate::local::file_lock::{MOMENT, retry_for};
#[cfg(unix)]
pub use crate::local::held::{HeldLock, Identity, LOCK_TIMEOUT, NOTICE, identity, is_unsupported};
pub use crate::store::{check_rename, checked_length, ranges_of, reserved, stamp_of};

/// The threads on which asynchronous clients run.
#[cfg(feature = "async")]
pub mod runtime {
    pub use crate::runtime::{handle, wait};
}
