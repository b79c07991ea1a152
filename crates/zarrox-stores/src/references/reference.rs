//! A single reference, and the memory budget for all references.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

use bytes::Bytes;

use crate::{Key, StoreError, StoreErrorKind};

/// The number of bytes that a reference takes, not counting its strings: its map entry, and the overhead of each allocation.
const OVERHEAD: u64 = 96;

/// The location of a key's value.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Reference {
    /// The value is contained in the references.
    Inline(Bytes),
    /// The value is in an object of another store.
    Target {
        /// The URL or path as written; `None` for the target set in the options.
        url: Option<Arc<str>>,
        /// The offset and the length in bytes; `None` for the whole object.
        range: Option<(u64, u64)>,
    },
}

impl fmt::Debug for Reference {
    /// Omits the URL, which may contain secrets.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Inline(bytes) => write!(formatter, "Inline({} bytes)", bytes.len()),
            Self::Target { range, .. } => write!(formatter, "Target({range:?})"),
        }
    }
}

/// A function that receives references until it returns `Break`.
pub(super) type Visit<'a> = dyn FnMut(&Key, &Reference) -> Result<ControlFlow<()>, StoreError> + 'a;

/// An error in the references, and the key that it concerns.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) kind: StoreErrorKind,
    pub(super) key: Option<String>,
    pub(super) message: String,
}

impl Problem {
    pub(super) fn corrupt(message: impl Into<String>) -> Self {
        Self { kind: StoreErrorKind::Corrupt, key: None, message: message.into() }
    }

    pub(super) fn at(self, key: impl Into<String>) -> Self {
        Self { key: Some(key.into()), ..self }
    }

    pub(super) fn into_error(self, location: &str) -> StoreError {
        let error = StoreError::new(self.kind, "reading the references", self.message);
        let error = error.with_location(location);
        match self.key {
            Some(key) => error.with_key(key),
            None => error,
        }
    }
}

/// The number of bytes that are left for references.
#[derive(Debug)]
pub(super) struct Budget {
    limit: u64,
    left: u64,
}

impl Budget {
    pub(super) fn new(limit: u64) -> Self {
        Self { limit, left: limit }
    }

    pub(super) fn take(&mut self, bytes: u64) -> Result<(), Problem> {
        self.left = self.left.checked_sub(bytes).ok_or_else(|| self.exceeded("they need"))?;
        Ok(())
    }

    /// Reserves the memory for a reference with `text` bytes of strings.
    pub(super) fn take_reference(&mut self, text: usize) -> Result<(), Problem> {
        self.take(OVERHEAD + text as u64)
    }

    /// Returns an error if `count` references would exceed the limit. It is called before the first of them is created.
    pub(super) fn check_count(&self, count: u128) -> Result<(), Problem> {
        if count.saturating_mul(u128::from(OVERHEAD)) <= u128::from(self.left) {
            return Ok(());
        }
        Err(self.exceeded(&format!("{count} references of one generator need")))
    }

    pub(super) fn exceeded(&self, what: &str) -> Problem {
        let message = format!(
            "{what} more memory than the limit of {} bytes; raise the option 'memory_limit' if you trust them",
            self.limit
        );
        Problem { kind: StoreErrorKind::TooLarge, key: None, message }
    }
}
