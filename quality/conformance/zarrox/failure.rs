//! Why a cell failed.

use std::error::Error;

/// What went wrong, or a fact that differs.
pub(crate) type Failure = Box<dyn Error>;

/// Fails where a fact is another than it should be.
pub(crate) fn agree<T: PartialEq + std::fmt::Debug + ?Sized>(
    fact: &str,
    got: &T,
    expected: &T,
) -> Result<(), Failure> {
    if got == expected { Ok(()) } else { Err(format!("{fact}: {got:?} instead of {expected:?}").into()) }
}
