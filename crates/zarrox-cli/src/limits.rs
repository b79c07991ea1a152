//! Resource limits of the system: makes exceeding one an ordinary error.

/// Blocks the signal that is sent when a write exceeds the file size limit (`ulimit -f`). The signal would end the process; if it
/// is blocked, the write fails, and incomplete output is removed. Call this function before starting threads, which inherit the
/// signal mask.
#[cfg(unix)]
pub(crate) fn block_file_size_signal() {
    use nix::sys::signal::{SigSet, Signal};
    // If this fails, the signal ends the process.
    let _ = SigSet::from(Signal::SIGXFSZ).thread_block();
}

#[cfg(not(unix))]
pub(crate) fn block_file_size_signal() {}
