//! Limits that the system sets for a process: reaching one is an error in words.

/// Keeps a write beyond the limit for the size of files (`ulimit -f`) from ending the process: the write fails, and what it has begun is
/// cleaned up. To be called before threads are started, which inherit it.
#[cfg(unix)]
pub(crate) fn fail_in_words() {
    use nix::sys::signal::{SigSet, Signal};
    // Where this is refused, the system ends the process as before.
    let _ = SigSet::from(Signal::SIGXFSZ).thread_block();
}

#[cfg(not(unix))]
pub(crate) fn fail_in_words() {}
