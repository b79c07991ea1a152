//! Panics of libraries at damaged data, which become errors.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    /// The number of calls of [`caught`] that this thread is in.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Calls code of a library that panics at some damaged data. Returns `None` if it panicked.
pub fn caught<T>(work: impl FnOnce() -> T) -> Option<T> {
    DEPTH.set(DEPTH.get() + 1);
    let result = catch_unwind(AssertUnwindSafe(work));
    DEPTH.set(DEPTH.get() - 1);
    result.ok()
}

/// Prints no messages for panics that [`caught`] converts to errors. Other panics have the messages that they had before.
///
/// This function changes the hook for panics of the whole process, and is therefore for programs only.
pub fn silence_caught() {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if DEPTH.get() == 0 {
            hook(panic);
        }
    }));
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn only_caught_panics_are_silent() {
        let outer = std::panic::take_hook();
        let count = Arc::new(AtomicUsize::new(0));
        let (counter, thread) = (Arc::clone(&count), std::thread::current().id());
        // Other tests of this process may panic at the same time.
        std::panic::set_hook(Box::new(move |panic| match std::thread::current().id() == thread {
            true => drop(counter.fetch_add(1, Ordering::Relaxed)),
            false => outer(panic),
        }));
        silence_caught();
        assert_eq!(caught(|| caught(|| -> usize { panic!("inner") }).map_or(1, |_| 2)), Some(1));
        assert_eq!(caught(|| -> usize { panic!("damaged") }), None);
        assert_eq!(count.load(Ordering::Relaxed), 0);
        assert!(catch_unwind(|| panic!("a defect")).is_err());
        assert_eq!(count.load(Ordering::Relaxed), 1);
    }
}
