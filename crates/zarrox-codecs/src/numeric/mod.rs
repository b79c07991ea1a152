//! Arithmetic on numbers of any type: filters, and scales and offsets of exact real numbers.

pub(crate) mod arithmetic;
pub(crate) mod filter;
