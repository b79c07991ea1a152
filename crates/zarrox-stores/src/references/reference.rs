//! One reference, and the memory that many of them may take.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

use bytes::Bytes;

use crate::{Key, StoreError, StoreErrorKind};

/// The bytes that a reference takes beyond its texts: its place in a map, and what each allocation costs.
const OVERHEAD: u64 = 96;

/// Where the value of a key is.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Reference {
    /// Here.
    Inline(Bytes),
    /// In an object of another store.
    Target {
        /// The URL or path as it was written; `None` for the target that the options name.
        url: Option<Arc<str>>,
        /// Offset and length; all of the object when `None`.
        range: Option<(u64, u64)>,
    },
}

impl fmt::Debug for Reference {
    /// Without the URL, which may have secrets.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Inline(bytes) => write!(formatter, "Inline({} bytes)", bytes.len()),
            Self::Target { range, .. } => write!(formatter, "Target({range:?})"),
        }
    }
}

/// The function that receives references, until it breaks off.
pub(super) type Visit<'a> = dyn FnMut(&Key, &Reference) -> Result<ControlFlow<()>, StoreError> + 'a;

/// A problem with references, and the key that has it.
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

/// The number of bytes that references may still take.
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
        self.left = self.left.checked_sub(bytes).ok_or_else(|| self.exceeded("they take"))?;
        Ok(())
    }

    /// Takes what a reference with texts of so many bytes needs.
    pub(super) fn take_reference(&mut self, text: usize) -> Result<(), Problem> {
        self.take(OVERHEAD + text as u64)
    }

    /// Refuses so many references before the first of them is made.
    pub(super) fn check_count(&self, count: u128) -> Result<(), Problem> {
        if count.saturating_mul(u128::from(OVERHEAD)) <= u128::from(self.left) {
            return Ok(());
        }
        Err(self.exceeded(&format!("{count} references of one generator take")))
    }

    pub(super) fn exceeded(&self, what: &str) -> Problem {
        let message = format!(
            "{what} more memory than the limit of {} bytes; raise the option 'memory_limit' if you trust them",
            self.limit
        );
        Problem { kind: StoreErrorKind::TooLarge, key: None, message }
    }
}
