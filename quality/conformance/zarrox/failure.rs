//! The reason why a cell failed.

use std::error::Error;

/// An error, or an unexpected value.
pub(crate) type Failure = Box<dyn Error>;

/// Fails if a fact differs from the expected one.
pub(crate) fn agree<T: PartialEq + std::fmt::Debug + ?Sized>(
    fact: &str,
    got: &T,
    expected: &T,
) -> Result<(), Failure> {
    if got == expected { Ok(()) } else { Err(format!("{fact}: {got:?} instead of {expected:?}").into()) }
}
