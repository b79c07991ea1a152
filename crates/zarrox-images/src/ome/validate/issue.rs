//! The issues that a validation finds.

use std::fmt;

pub use zarrox_tools::check::Severity;

/// A part of the metadata that is not as OME-Zarr has it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Issue {
    /// The path of the node, relative to the group that was validated; empty for that itself.
    pub path: String,
    /// The severity: an error where the specification demands otherwise, a warning where it recommends otherwise.
    pub severity: Severity,
    /// The defect.
    pub message: String,
}

impl fmt::Display for Issue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} /{}: {}", self.severity, self.path, self.message)
    }
}
