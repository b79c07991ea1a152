//! Arithmetic on numbers of any type: filters, and exact scaling of real numbers.

pub(crate) mod arithmetic;
pub(crate) mod filter;
