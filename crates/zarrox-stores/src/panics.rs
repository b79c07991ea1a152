//! Conversion of panics to errors, for libraries that panic when they read damaged data.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    /// The number of nested calls of [`caught`] on this thread.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Calls library code that panics on some damaged data. Returns `None` if it panicked.
pub fn caught<T>(work: impl FnOnce() -> T) -> Option<T> {
    DEPTH.set(DEPTH.get() + 1);
    let result = catch_unwind(AssertUnwindSafe(work));
    DEPTH.set(DEPTH.get() - 1);
    result.ok()
}

/// Suppresses the messages of panics that [`caught`] converts to errors. The messages of other panics do not change.
///
/// This function changes the panic hook of the whole process, so only programs should call it, not libraries.
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
        // Other tests in this process may panic at the same time.
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
