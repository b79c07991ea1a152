//! The findings of a validation.

use std::fmt;

/// The weight of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// The specification recommends otherwise.
    Warning,
    /// The specification demands otherwise.
    Error,
}

impl Severity {
    /// The name: `warning` or `error`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A part of the metadata that is not as OME-Zarr has it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The path of the node, relative to the group that was validated; empty for that itself.
    pub path: String,
    /// The weight.
    pub severity: Severity,
    /// The defect.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} /{}: {}", self.severity, self.path, self.message)
    }
}
