//! The result type of operations that can fail.

pub(crate) type Outcome<T> = Result<T, Box<dyn std::error::Error>>;
