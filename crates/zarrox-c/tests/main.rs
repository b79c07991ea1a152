//! The header matches the source, the examples run, and bad arguments are errors.

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

mod header;
mod hostile;
#[cfg(unix)]
mod programs;
mod random;
