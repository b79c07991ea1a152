//! The faults of a store.

use std::collections::BTreeMap;

/// A kind of fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fault {
    /// Data or a node is missing.
    Lost,
    /// There is a mixture of written data, or data that was never written.
    Torn,
    /// An old state is present instead of a later one.
    Stale,
    /// A node or a chunk cannot be read.
    Unreadable,
    /// An operation failed.
    Failed,
    /// An interrupted operation could not be repeated.
    NotContinued,
    /// An object is left behind.
    Left,
}

impl Fault {
    /// Returns the name in reports.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Lost => "lost",
            Self::Torn => "torn",
            Self::Stale => "stale",
            Self::Unreadable => "unreadable",
            Self::Failed => "failed",
            Self::NotContinued => "not continued",
            Self::Left => "left behind",
        }
    }
}

/// The faults that were found.
#[derive(Debug, Clone, Default)]
pub(crate) struct Faults(Vec<(Fault, String)>);

impl Faults {
    pub(crate) fn add(&mut self, fault: Fault, message: String) {
        self.0.push((fault, message));
    }

    pub(crate) fn list(&self) -> &[(Fault, String)] {
        &self.0
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number of faults of each kind, as text.
    pub(crate) fn counts(&self) -> String {
        let mut counts: BTreeMap<Fault, usize> = BTreeMap::new();
        self.0.iter().for_each(|(fault, _)| *counts.entry(*fault).or_default() += 1);
        let counts: Vec<String> =
            counts.iter().map(|(fault, count)| format!("{count} {}", fault.name())).collect();
        if counts.is_empty() { "0".to_owned() } else { counts.join(", ") }
    }
}
