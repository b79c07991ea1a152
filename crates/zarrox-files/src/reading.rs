//! [`Reading`]: options for reading a file.

use zarrox::DataType;
use zarrox::data_type::Casting;

use crate::external::External;
use crate::npy::raw::RawElements;
use crate::store::Skipped;

/// The data type to which elements are converted, and the casting rule for numbers; `None` if numbers may not be cast.
pub(crate) type Wanted = (DataType, Option<Casting>);

/// Options for reading a file.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reading {
    /// True to leave chunks that are encoded on each read uncompressed, since they will be re-encoded.
    pub(crate) is_plain: bool,
    /// True to also decode chunks that are passed on unchanged, to check that they are not damaged.
    #[cfg_attr(not(feature = "hdf5"), expect(dead_code, reason = "only HDF5 has such chunks"))]
    pub(crate) checks: bool,
    /// The record of skipped damaged chunks; `None` if damage is an error.
    pub(crate) skipped: Option<Skipped>,
    /// The description of the elements of files without a header; `None` for all other files.
    pub(crate) raw: Option<RawElements>,
    /// The data type of arrays from NumPy files; `None` for the type in the file.
    pub(crate) stored: Option<Wanted>,
    /// The array to read from a NumPy archive; `None` for all arrays.
    #[cfg_attr(not(feature = "npz"), expect(dead_code, reason = "this build does not read archives"))]
    pub(crate) member: Option<String>,
    /// The nodes to read from a NumPy archive; empty for all nodes.
    #[cfg_attr(not(feature = "npz"), expect(dead_code, reason = "this build does not read archives"))]
    pub(crate) nodes: Vec<String>,
    /// The types of CSV columns that the caller sets; all others are inferred.
    pub(crate) columns: Vec<(String, DataType)>,
    /// The level to read from a TIFF file: 0 for the images themselves, higher levels for overviews.
    #[cfg_attr(not(feature = "tiff"), expect(dead_code, reason = "this build does not read TIFF"))]
    pub(crate) level: usize,
    /// True if TIFF images become OME-Zarr: a group with all levels, their axes and scales.
    #[cfg_attr(not(feature = "tiff"), expect(dead_code, reason = "this build does not read TIFF"))]
    pub(crate) ome: bool,
    /// The directories from which referenced files may be opened.
    pub(crate) external: External,
}
