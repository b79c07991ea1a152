//! Locks of files, which other processes may hold.

use std::time::Duration;

/// How long a file's lock that another process holds is tried again: for an instant, a program that this process starts holds the
/// locks of all files that are open here.
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
