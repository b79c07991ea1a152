//! Options of an export.

use std::fmt;

use zarrox::{Error, ErrorKind, Result};

use crate::store::LeftOut;

/// The conventions of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Convention {
    /// HDF5, as written by h5py.
    Hdf5,
    /// NetCDF-4.
    NetCdf,
}

impl fmt::Display for Convention {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Hdf5 => "HDF5",
            Self::NetCdf => "NetCDF",
        })
    }
}

/// A function that is called with the number of elements written since its last call. An error stops the export.
pub(crate) type Progress<'a> = &'a (dyn Fn(u64) -> Result<()> + Sync);

/// The options of an export.
#[derive(Clone, Copy)]
pub(crate) struct Options<'a> {
    pub(crate) convention: Convention,
    /// The memory limit for chunks, in bytes.
    pub(crate) memory: usize,
    pub(crate) progress: Progress<'a>,
    /// The names of unlimited dimensions, in addition to those declared in attributes.
    pub(crate) unlimited: &'a [String],
    /// A function that is called for each node or attribute that is skipped because the format cannot represent it.
    /// Without this function, a node or attribute that cannot be represented is an error.
    pub(crate) left_out: Option<&'a dyn Fn(LeftOut)>,
}

impl Options<'_> {
    /// Skips and reports a node or attribute that the format cannot represent, if the options allow it. Otherwise, and
    /// for errors of other kinds, returns the error.
    pub(super) fn leave_out(&self, path: &str, error: Error) -> Result<()> {
        match self.left_out {
            Some(listener) if error.kind() == ErrorKind::Unsupported => {
                listener(LeftOut::new(format!("/{path}"), &error));
                Ok(())
            }
            _ => Err(error),
        }
    }
}
