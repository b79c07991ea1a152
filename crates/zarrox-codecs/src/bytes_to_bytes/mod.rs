//! Bytes→bytes codecs: compressors and checksums.

pub(crate) mod adler32;
pub(crate) mod base64;
#[cfg(feature = "blosc")]
pub(crate) mod blosc;
pub(crate) mod byte_planes;
#[cfg(feature = "bzip2")]
pub(crate) mod bz2;
pub(crate) mod checksum;
pub(crate) mod conditional;
#[cfg(any(feature = "libdeflate", feature = "pure"))]
pub(crate) mod container;
pub(crate) mod crc32;
pub(crate) mod crc32c;
#[cfg(any(feature = "libdeflate", feature = "pure"))]
pub(crate) mod deflate;
pub(crate) mod ffi;
pub(crate) mod fletcher32;
#[cfg(any(feature = "libdeflate", feature = "pure"))]
pub(crate) mod gzip;
pub(crate) mod jenkins_lookup3;
#[cfg(any(feature = "lz4", feature = "pure"))]
pub(crate) mod lz4;
#[cfg(feature = "lzma")]
pub(crate) mod lzma;
#[cfg(feature = "pure")]
pub(crate) mod pure;
pub(crate) mod shuffle;
pub(crate) mod v2_filter;
#[cfg(any(feature = "libdeflate", feature = "pure"))]
pub(crate) mod zlib;
#[cfg(any(feature = "zstd", feature = "pure"))]
pub(crate) mod zstd;
