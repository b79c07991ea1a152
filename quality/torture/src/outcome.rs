//! The result type of this program.

/// A value, or a message.
pub(crate) type Outcome<T = ()> = Result<T, String>;
