//! [`Reading`]: the way in which a file is read.

use zarrox::DataType;

/// The way in which a file is read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reading {
    /// True if chunks that are made of elements are not compressed, since they will be encoded again.
    pub(crate) is_plain: bool,
    /// The types of columns of CSV that are not to be found.
    pub(crate) columns: Vec<(String, DataType)>,
    /// The level of TIFF: 0 for the images themselves, and others for smaller copies of them.
    #[cfg_attr(not(feature = "tiff"), expect(dead_code, reason = "this build reads no TIFF"))]
    pub(crate) level: usize,
}
