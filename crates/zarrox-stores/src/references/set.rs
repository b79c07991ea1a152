//! The set of all references, in either format.

use super::lazy::LazySet;
use super::reference::{Reference, Visit};
use crate::{DirListing, Key, Prefix, StoreError, key_map};

/// References by key.
pub(super) enum Set {
    /// References of a JSON document.
    Memory(key_map::Map<Reference>),
    /// References of Parquet files.
    Lazy(LazySet),
}

impl Set {
    pub(super) fn find(&self, key: &Key) -> Result<Option<Reference>, StoreError> {
        match self {
            Self::Memory(map) => Ok(map.get(key).cloned()),
            Self::Lazy(set) => set.find(key),
        }
    }

    /// Visits the references below a prefix until the visitor breaks.
    pub(super) fn visit(&self, prefix: &Prefix, visit: &mut Visit<'_>) -> Result<(), StoreError> {
        match self {
            Self::Memory(map) => {
                for (key, reference) in key_map::below(map, prefix) {
                    if visit(key, reference)?.is_break() {
                        break;
                    }
                }
                Ok(())
            }
            Self::Lazy(set) => set.visit(prefix, visit).map(drop),
        }
    }

    pub(super) fn list_dir(&self, prefix: &Prefix) -> Result<DirListing, StoreError> {
        match self {
            Self::Memory(map) => key_map::list_dir(map, prefix),
            Self::Lazy(set) => set.list_dir(prefix),
        }
    }
}
