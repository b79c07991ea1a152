//! Items shared by the stores of this crate and of Zarrox's other crates. They are not public API and may change at any time.

pub use crate::key::valid;
pub use crate::local::directory::sweep;
pub use crate::local::durable::{create_directories, directory_of, sync_directory};
pub use crate::local::file_lock::{MOMENT, retry_for};
pub use crate::local::files::{FileLock, Identity, identity, is_unsupported, read_exact_at, write_all_at};
pub use crate::local::held::{HeldLock, LOCK_TIMEOUT, NOTICE};
pub use crate::store::{check_rename, checked_length, ranges_of, reserved, stamp_of};

/// The threads on which asynchronous clients run.
#[cfg(feature = "async")]
pub mod runtime {
    pub use crate::runtime::{handle, wait};
}
