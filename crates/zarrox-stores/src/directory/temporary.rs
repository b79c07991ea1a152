//! The names of temporary files.

use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

const START: &str = ".zarrox-";
const END: &str = ".tmp";

/// Whether a file name is one that temporary files have.
pub(super) fn is_temporary(name: &str) -> bool {
    name.starts_with(START) && name.ends_with(END)
}

/// A name that no other temporary file of this process has had. Another host may have it on a shared disk.
pub(super) fn next_name() -> String {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let (process, count) = (process::id(), COUNTER.fetch_add(1, Ordering::Relaxed));
    format!("{START}{process:x}-{count:x}{END}")
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
}
