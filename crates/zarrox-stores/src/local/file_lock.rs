//! File locks that other processes may hold.

use std::thread;
use std::time::{Duration, Instant};

/// The time during which a lock that another process holds is retried. A program that this process starts briefly holds the locks
/// of all open files.
pub const MOMENT: Duration = Duration::from_millis(100);

/// The pause between two attempts.
const PAUSE: Duration = Duration::from_millis(2);

/// Retries while the file lock `is_taken`, for at most `longest`.
///
/// # Errors
///
/// The error of the last attempt.
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
