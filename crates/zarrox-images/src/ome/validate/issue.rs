//! The issues that are found by validation.

use std::fmt;

pub use zarrox_tools::check::Severity;

/// A violation of the OME-Zarr specification in the metadata of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Issue {
    /// The path of the node, relative to the validated group; empty for the group itself.
    pub path: String,
    /// The severity: an error for a violated requirement, a warning for a violated recommendation.
    pub severity: Severity,
    /// A description of the defect.
    pub message: String,
}

impl fmt::Display for Issue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} /{}: {}", self.severity, self.path, self.message)
    }
}
