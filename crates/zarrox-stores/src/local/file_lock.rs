//! Locks of files, which other processes may hold.

use std::time::Duration;

/// The time for which the lock of a file that another process holds is tried again. A program that this
/// process starts holds the locks of all open files for an instant.
pub(crate) const MOMENT: Duration = Duration::from_millis(100);

/// Tries again for a [`MOMENT`] while the file's lock `is_taken`.
#[cfg(any(feature = "redb", feature = "zip"))]
pub(crate) fn for_a_moment<T, E>(
    mut attempt: impl FnMut() -> Result<T, E>,
    is_taken: impl Fn(&E) -> bool,
) -> Result<T, E> {
    let end = std::time::Instant::now() + MOMENT;
    loop {
        match attempt() {
            Err(error) if is_taken(&error) && std::time::Instant::now() < end => {
                std::thread::sleep(MOMENT / 50);
            }
            outcome => return outcome,
        }
    }
}
