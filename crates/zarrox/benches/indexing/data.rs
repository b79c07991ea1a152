//! The locations of arrays.

use std::sync::Arc;

use zarrox::stores::MemoryStore;
use zarrox::{AccessOptions, Array, ArrayBuilder, OpenOptions};

/// The location of an array.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    Memory,
    Directory,
}

pub(crate) const PLACES: [Place; 2] = [Place::Memory, Place::Directory];

impl Place {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Memory => "in memory",
            Self::Directory => "in a directory",
        }
    }

    /// Returns a builder for an array, and a guard that keeps its directory.
    pub(crate) fn array(self) -> (ArrayBuilder, Option<tempfile::TempDir>) {
        match self {
            Self::Memory => (in_memory(), None),
            Self::Directory => {
                let directory = directory();
                (zarrox::create_array(directory.path().join("array")), Some(directory))
            }
        }
    }
}

/// Returns the array with new threads, which have no buffers yet.
pub(crate) fn with_new_threads(array: &Array, options: AccessOptions) -> Array {
    array.with_options(&options.threads(8))
}

/// Returns a builder for an array in memory.
pub(crate) fn in_memory() -> ArrayBuilder {
    OpenOptions::new().create_array((Arc::new(MemoryStore::new()), ""))
}

/// Creates a temporary directory on the disk of the build directory.
pub(crate) fn directory() -> tempfile::TempDir {
    tempfile::tempdir_in(std::env::current_dir().unwrap().join("target"))
        .unwrap_or_else(|_| tempfile::tempdir().unwrap())
}
