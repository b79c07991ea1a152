//! The names of temporary files.

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::{StoreError, StoreErrorKind};

const START: &str = ".zarrox-";
const END: &str = ".tmp";

/// Returns true if this is the name of a temporary file.
pub fn is_temporary(name: &str) -> bool {
    name.starts_with(START) && name.ends_with(END)
}

/// Returns an error for a key whose file would be mistaken for a temporary file.
pub fn check(key: &str) -> Result<(), StoreError> {
    if !key.rsplit('/').next().is_some_and(is_temporary) {
        return Ok(());
    }
    let message = "names of the form '.zarrox-….tmp' are reserved for temporary files";
    Err(StoreError::new(StoreErrorKind::InvalidKey, "writing", message))
}

/// Returns a unique name for a temporary file, even if another host or a forked process writes to the same directory.
pub fn next_name() -> String {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    name(std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed))
}

/// Returns the name of the lock file of a file or directory with this identity.
#[cfg(any(not(unix), zarrox_portable_fs))]
pub(crate) fn lock_name((volume, file): (u64, u64)) -> String {
    format!("{START}lock-{volume:x}-{file:x}{END}")
}

/// Returns a file name for a process. A forked process inherits the hash keys and the counter of its parent, but not the process
/// ID.
fn name(process: u32, count: u64) -> String {
    static KEYS: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    format!("{START}{:x}-{count:x}{END}", KEYS.hash_one(process))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_new_and_known_again() {
        assert_ne!(next_name(), next_name());
        assert!(is_temporary(&next_name()));
        assert!(!is_temporary(".zarrox-notes"));
        assert!(!is_temporary("a.tmp"));
    }

    #[test]
    fn forked_processes_have_other_names() {
        assert_ne!(name(1, 0), name(2, 0));
        assert_eq!(name(1, 0), name(1, 0));
    }
}
