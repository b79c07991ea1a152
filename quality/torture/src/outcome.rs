//! The result of everything here.

/// Nothing or a value, or a message.
pub(crate) type Outcome<T = ()> = Result<T, String>;
