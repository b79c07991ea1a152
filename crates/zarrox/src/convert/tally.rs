//! [`Tally`]: the amount of work that is done, reported in order.

use std::sync::{Mutex, PoisonError};

use zarrox_core::Result;

/// Work that several threads do, and one listener follows. Reported amounts never decrease.
#[derive(Debug, Default)]
pub(crate) struct Tally(Mutex<u64>);

impl Tally {
    /// Adds to the work that is done, and reports the new amount. Returns it.
    ///
    /// The listener is called under the lock: otherwise a thread could report its amount after another one reported more.
    ///
    /// # Errors
    /// The errors of the listener, which end the work.
    pub(crate) fn add(&self, amount: u64, report: impl FnOnce(u64) -> Result<()>) -> Result<u64> {
        let mut done = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *done += amount;
        report(*done)?;
        Ok(*done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_reported_in_order() {
        let (tally, last) = (Tally::default(), Mutex::new(0));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for amount in 0..1000 {
                        tally
                            .add(amount, |done| {
                                let mut last = last.lock().unwrap();
                                assert!(done >= *last, "{done} after {last}");
                                *last = done;
                                Ok(())
                            })
                            .unwrap();
                    }
                });
            }
        });
        assert_eq!(*last.lock().unwrap(), 8 * 499_500);
    }
}
