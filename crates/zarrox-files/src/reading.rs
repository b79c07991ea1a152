//! [`Reading`]: the way in which a file is read.

use zarrox::DataType;
use zarrox::data_type::Casting;

use crate::external::External;
use crate::npy::raw::RawElements;
use crate::store::Skipped;

/// The data type to which elements are converted, and how numbers are cast; `None` to refuse other numbers.
pub(crate) type Wanted = (DataType, Option<Casting>);

/// The way in which a file is read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reading {
    /// True if chunks that are encoded from elements are not compressed, since they will be encoded again.
    pub(crate) is_plain: bool,
    /// True if encoded chunks that are passed on as stored are decoded, to see that they are not damaged.
    #[cfg_attr(not(feature = "hdf5"), expect(dead_code, reason = "only HDF5 has such chunks"))]
    pub(crate) checks: bool,
    /// The damaged chunks that are left out; `None` if they are an error.
    pub(crate) skipped: Option<Skipped>,
    /// The elements of files that have no header; `None` for other files.
    pub(crate) raw: Option<RawElements>,
    /// The data type that elements of NumPy are stored as; `None` for that of the file.
    pub(crate) stored: Option<Wanted>,
    /// The array of an archive of NumPy that is read; `None` for all.
    #[cfg_attr(not(feature = "npz"), expect(dead_code, reason = "this build reads no archives"))]
    pub(crate) member: Option<String>,
    /// The nodes of an archive of NumPy that are read; all if there are none.
    #[cfg_attr(not(feature = "npz"), expect(dead_code, reason = "this build reads no archives"))]
    pub(crate) nodes: Vec<String>,
    /// The types of columns of CSV that are not to be found.
    pub(crate) columns: Vec<(String, DataType)>,
    /// The level of TIFF: 0 for the images themselves, and others for overviews of them.
    #[cfg_attr(not(feature = "tiff"), expect(dead_code, reason = "this build reads no TIFF"))]
    pub(crate) level: usize,
    /// True if images of TIFF become OME-Zarr: a group with all levels, their axes and their scales.
    #[cfg_attr(not(feature = "tiff"), expect(dead_code, reason = "this build reads no TIFF"))]
    pub(crate) ome: bool,
    /// The directories in which files that the file names are opened.
    pub(crate) external: External,
}
