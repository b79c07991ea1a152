//! Where arrays are put.

use std::sync::Arc;

use zarrox::stores::MemoryStore;
use zarrox::{AccessOptions, Array, ArrayBuilder, OpenOptions};

/// Where an array is stored.
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

    /// Begins to create an array, which exists as long as what is returned with it.
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

/// The array with threads of its own, which hold no memory yet that they reuse.
pub(crate) fn with_new_threads(array: &Array, options: AccessOptions) -> Array {
    array.with_options(&options.threads(8))
}

/// Begins to create an array in memory.
pub(crate) fn in_memory() -> ArrayBuilder {
    OpenOptions::new().create_array((Arc::new(MemoryStore::new()), ""))
}

/// A directory that is removed when it is dropped, on the disk that programs are built on.
pub(crate) fn directory() -> tempfile::TempDir {
    tempfile::tempdir_in(std::env::current_dir().unwrap().join("target"))
        .unwrap_or_else(|_| tempfile::tempdir().unwrap())
}
