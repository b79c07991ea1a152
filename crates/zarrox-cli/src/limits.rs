//! Resource limits of the system for a process: exceeding one is an ordinary error.

/// Blocks the signal for a write beyond the limit for file sizes (`ulimit -f`). The signal would end the process; without it, the
/// write fails, and incomplete output is removed. Call this function before starting threads, which inherit the signal mask.
#[cfg(unix)]
pub(crate) fn block_file_size_signal() {
    use nix::sys::signal::{SigSet, Signal};
    // If this fails, the signal ends the process.
    let _ = SigSet::from(Signal::SIGXFSZ).thread_block();
}

#[cfg(not(unix))]
pub(crate) fn block_file_size_signal() {}
