//! Arithmetic on numbers of any type: casts, filters, and exact real numbers.

pub(crate) mod filter;
pub(crate) mod number_cast;
pub(crate) mod real;
