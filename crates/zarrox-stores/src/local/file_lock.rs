//! Locks of files, which other processes may hold.

use std::thread;
use std::time::{Duration, Instant};

/// The time for which the lock of a file that another process holds is tried again. A program that this
/// process starts holds the locks of all open files for an instant.
pub const MOMENT: Duration = Duration::from_millis(100);

/// The pause between two attempts.
const PAUSE: Duration = Duration::from_millis(2);

/// Tries again while the file's lock `is_taken`, for no longer than `longest`.
///
/// # Errors
///
/// Those of the last attempt.
pub fn retry_for<T, E>(
    longest: Duration,
    mut attempt: impl FnMut() -> Result<T, E>,
    is_taken: impl Fn(&E) -> bool,
) -> Result<T, E> {
    let begin = Instant::now();
    loop {
        match attempt() {
            Err(error) if is_taken(&error) && begin.elapsed() < longest => thread::sleep(PAUSE),
            outcome => return outcome,
        }
    }
}
