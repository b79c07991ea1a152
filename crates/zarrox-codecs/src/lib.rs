//! The codecs of Zarr, each in a file of its own, and a registry of all of them.
//!
//! Most programs only need [`registry`]. To choose the codecs of a new array, there is a type for each codec:
//!
//! ```
//! use zarrox_codecs::{Bytes, Sharding, Zstd};
//! use zarrox_core::CodecSpec;
//!
//! let inner: [CodecSpec; 2] = [Bytes::little().into(), Zstd::level(3).into()];
//! let sharded: CodecSpec = Sharding::new([64, 64], inner).into();
//! assert_eq!(sharded.name, "sharding_indexed");
//! ```

mod array_to_array;
mod array_to_bytes;
mod bytes_to_bytes;
mod config;
mod disabled;
mod error;
mod libraries;
mod n5;
mod numeric;
mod sharding;
#[cfg(test)]
mod testing;

use zarrox_core::Registry;
use zarrox_core::codec::CodecDef;

pub use array_to_array::astype::AsType;
pub use array_to_array::bitround::BitRound;
pub use array_to_array::cast_value::{CastValue, Rounding};
pub use array_to_array::categorize::Categorize;
pub use array_to_array::delta::Delta;
pub use array_to_array::fixedscaleoffset::FixedScaleOffset;
pub use array_to_array::packbits_filter::PackBitsFilter;
pub use array_to_array::quantize::Quantize;
pub use array_to_array::reshape::{Reshape, ReshapeAxis};
pub use array_to_array::scale_offset::ScaleOffset;
pub use array_to_array::squeeze::Squeeze;
pub use array_to_array::transpose::Transpose;
pub use array_to_bytes::bytes::Bytes;
pub use array_to_bytes::json2::Json2;
pub use array_to_bytes::msgpack2::MsgPack2;
pub use array_to_bytes::packbits::{PackBits, PackBitsPadding};
#[cfg(feature = "pco")]
pub use array_to_bytes::pcodec::{Pcodec, PcodecDelta};
pub use array_to_bytes::vlen::array::VlenArray;
pub use array_to_bytes::vlen::bytes::VlenBytes;
pub use array_to_bytes::vlen::utf8::VlenUtf8;
pub use array_to_bytes::vlen::zarrs::ZarrsVlen;
pub use array_to_bytes::vlen::zarrs_v2::ZarrsVlenV2;
pub use array_to_bytes::zarrs_optional::ZarrsOptional;
#[cfg(feature = "zfp")]
pub use array_to_bytes::zfp::Zfp;
#[cfg(feature = "zfp")]
pub use array_to_bytes::zfp::zfpy::Zfpy;
pub use bytes_to_bytes::adler32::Adler32;
pub use bytes_to_bytes::base64::Base64;
#[cfg(feature = "blosc")]
pub use bytes_to_bytes::blosc::{Blosc, BloscCompressor, Shuffle};
#[cfg(feature = "bzip2")]
pub use bytes_to_bytes::bz2::Bz2;
pub use bytes_to_bytes::checksum::ChecksumLocation;
pub use bytes_to_bytes::conditional::Conditional;
pub use bytes_to_bytes::crc32::Crc32;
pub use bytes_to_bytes::crc32c::Crc32c;
pub use bytes_to_bytes::fletcher32::Fletcher32;
#[cfg(any(feature = "libdeflate", feature = "pure"))]
pub use bytes_to_bytes::gzip::Gzip;
pub use bytes_to_bytes::jenkins_lookup3::JenkinsLookup3;
#[cfg(any(feature = "lz4", feature = "pure"))]
pub use bytes_to_bytes::lz4::Lz4;
#[cfg(feature = "lzma")]
pub use bytes_to_bytes::lzma::Lzma;
pub use bytes_to_bytes::shuffle::ByteShuffle;
pub use bytes_to_bytes::v2_filter::V2Filter;
#[cfg(any(feature = "libdeflate", feature = "pure"))]
pub use bytes_to_bytes::zlib::Zlib;
#[cfg(any(feature = "zstd", feature = "pure"))]
pub use bytes_to_bytes::zstd::Zstd;
pub use n5::block::{N5Block, N5BlockMode};
pub use n5::default::N5Default;
#[cfg(any(feature = "lz4", feature = "pure"))]
pub use n5::lz4::N5Lz4;
pub use sharding::{IndexLocation, Sharding};

/// Items that other crates of this workspace use beyond the public interface. They are exempt from semantic versioning and change
/// without notice.
#[doc(hidden)]
pub mod internals {
    pub use crate::bytes_to_bytes::checksum::has_checksum;
    pub use crate::libraries::libraries;
}

/// The definitions of all codecs of this crate.
pub static ALL: &[&CodecDef] = &[
    &array_to_bytes::bytes::DEF,
    &array_to_bytes::packbits::DEF,
    &array_to_array::transpose::DEF,
    &array_to_array::reshape::DEF,
    &array_to_array::squeeze::DEF,
    &array_to_array::cast_value::DEF,
    &array_to_array::scale_offset::DEF,
    &sharding::DEF,
    &array_to_bytes::vlen::utf8::DEF,
    &array_to_bytes::vlen::bytes::DEF,
    &array_to_bytes::vlen::array::DEF,
    &array_to_bytes::vlen::zarrs::DEF,
    &array_to_bytes::zarrs_optional::DEF,
    &array_to_bytes::vlen::zarrs_v2::DEF,
    &array_to_bytes::json2::DEF,
    &array_to_bytes::json2::LEGACY,
    &array_to_bytes::msgpack2::DEF,
    &array_to_bytes::msgpack2::LEGACY,
    &array_to_array::categorize::DEF,
    &array_to_bytes::pickle::DEF,
    &array_to_array::astype::DEF,
    &array_to_array::bitround::DEF,
    &array_to_array::bitround::REGISTERED,
    &array_to_array::delta::DEF,
    &array_to_array::fixedscaleoffset::DEF,
    &array_to_array::packbits_filter::DEF,
    &array_to_array::quantize::DEF,
    #[cfg(feature = "pco")]
    &array_to_bytes::pcodec::DEF,
    #[cfg(feature = "zfp")]
    &array_to_bytes::zfp::DEF,
    #[cfg(feature = "zfp")]
    &array_to_bytes::zfp::zfpy::DEF,
    #[cfg(feature = "blosc")]
    &bytes_to_bytes::blosc::DEF,
    #[cfg(any(feature = "libdeflate", feature = "pure"))]
    &bytes_to_bytes::gzip::DEF,
    #[cfg(any(feature = "libdeflate", feature = "pure"))]
    &bytes_to_bytes::zlib::DEF,
    #[cfg(any(feature = "zstd", feature = "pure"))]
    &bytes_to_bytes::zstd::DEF,
    #[cfg(any(feature = "lz4", feature = "pure"))]
    &bytes_to_bytes::lz4::DEF,
    #[cfg(feature = "bzip2")]
    &bytes_to_bytes::bz2::DEF,
    #[cfg(feature = "lzma")]
    &bytes_to_bytes::lzma::DEF,
    &n5::default::DEF,
    #[cfg(any(feature = "lz4", feature = "pure"))]
    &n5::lz4::DEF,
    &bytes_to_bytes::shuffle::DEF,
    &bytes_to_bytes::v2_filter::DEF,
    &bytes_to_bytes::base64::DEF,
    &bytes_to_bytes::conditional::DEF,
    &bytes_to_bytes::crc32c::DEF,
    &bytes_to_bytes::crc32c::NUMCODECS,
    &bytes_to_bytes::crc32::DEF,
    &bytes_to_bytes::adler32::DEF,
    &bytes_to_bytes::fletcher32::DEF,
    &bytes_to_bytes::jenkins_lookup3::DEF,
];

/// Returns a registry with the core data types and all codecs of this crate. If the Cargo feature of a codec is disabled, the
/// registry still knows its name, and the error for using the codec names the feature.
pub fn registry() -> Registry {
    Registry::new().with_codecs(ALL).with_codecs(disabled::ALL)
}
