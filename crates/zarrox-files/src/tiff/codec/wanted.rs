//! [`Wanted`]: the samples that a decoder must return.

use zarrox::data_type::Endian;

use super::super::sample::Sample;

/// The samples of a strip or tile that a decoder must return.
#[derive(Debug, Clone, Copy)]
pub(in crate::tiff) struct Wanted<'a> {
    pub(in crate::tiff) rows: usize,
    pub(in crate::tiff) columns: usize,
    /// The number of interleaved samples in a pixel.
    pub(in crate::tiff) samples: usize,
    pub(in crate::tiff) sample: &'a Sample,
    /// The total size of the samples in bytes.
    pub(in crate::tiff) size: usize,
    pub(in crate::tiff) endian: Endian,
}
