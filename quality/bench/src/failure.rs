//! The reason why a case is not run, or why its work failed.

use std::error::Error;

use serde_json::{Value, json};

/// The reason why a case is not run, or why its work failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The contestant does not support the work.
    Unsupported(String),
    Error(String),
}

impl<E: Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Error(error.to_string())
    }
}

impl Failure {
    /// Returns the answer that reports the failure.
    pub(crate) fn answer(&self) -> Value {
        match self {
            Self::Unsupported(why) => json!({"unsupported": why}),
            Self::Error(message) => json!({"error": message}),
        }
    }
}
