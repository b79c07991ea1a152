//! [`Reading`]: options for reading a file.

use zarrox::DataType;
use zarrox::data_type::Casting;

use crate::external::External;
use crate::npy::raw::RawElements;
use crate::store::Skipped;

/// The data type to which elements are converted, and the rule for casting numbers; `None` to reject a conversion of
/// numbers.
pub(crate) type Wanted = (DataType, Option<Casting>);

/// Options for reading a file.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reading {
    /// True if chunks that are encoded from elements are not compressed, since they will be encoded again.
    pub(crate) is_plain: bool,
    /// True if encoded chunks that are passed on as stored are decoded as well, to check that they are not damaged.
    #[cfg_attr(not(feature = "hdf5"), expect(dead_code, reason = "only HDF5 has such chunks"))]
    pub(crate) checks: bool,
    /// The skipped damaged chunks; `None` if damage is an error.
    pub(crate) skipped: Option<Skipped>,
    /// The elements of files that have no header; `None` for other files.
    pub(crate) raw: Option<RawElements>,
    /// The data type as which elements of NumPy files are stored; `None` for the type of the file.
    pub(crate) stored: Option<Wanted>,
    /// The array of a NumPy archive that is read; `None` for all arrays.
    #[cfg_attr(not(feature = "npz"), expect(dead_code, reason = "this build does not read archives"))]
    pub(crate) member: Option<String>,
    /// The nodes of a NumPy archive that are read; empty for all nodes.
    #[cfg_attr(not(feature = "npz"), expect(dead_code, reason = "this build does not read archives"))]
    pub(crate) nodes: Vec<String>,
    /// The types of CSV columns that are set by the caller and not inferred.
    pub(crate) columns: Vec<(String, DataType)>,
    /// The level of a TIFF file: 0 for the images themselves, and higher levels for overviews.
    #[cfg_attr(not(feature = "tiff"), expect(dead_code, reason = "this build does not read TIFF"))]
    pub(crate) level: usize,
    /// True if TIFF images become OME-Zarr: a group with all levels, their axes and their scales.
    #[cfg_attr(not(feature = "tiff"), expect(dead_code, reason = "this build does not read TIFF"))]
    pub(crate) ome: bool,
    /// The directories in which files that the file refers to may be opened.
    pub(crate) external: External,
}
