//! Options of an export.

use zarrox::Result;

/// The conventions of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Convention {
    /// HDF5 as h5py writes it.
    Hdf5,
    /// NetCDF-4.
    NetCdf,
}

/// A function that hears of so many elements of an array that are done. An error ends the export.
pub(crate) type Progress<'a> = &'a (dyn Fn(u64) -> Result<()> + Sync);

/// The options of an export.
#[derive(Clone, Copy)]
pub(crate) struct Options<'a> {
    pub(crate) convention: Convention,
    /// The memory for chunks, in bytes.
    pub(crate) memory: usize,
    pub(crate) progress: Progress<'a>,
}
