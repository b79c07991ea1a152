//! The codecs of Zarr, one file each, and the registry that knows them all.
//!
//! [`registry`] is what most programs want. To choose codecs for a new array there is a type for each:
//!
//! ```
//! use zarrox_codecs::{Bytes, Sharding, Zstd};
//! use zarrox_core::CodecSpec;
//!
//! let inner: [CodecSpec; 2] = [Bytes::little().into(), Zstd::level(3).into()];
//! let sharded: CodecSpec = Sharding::new([64, 64], inner).into();
//! assert_eq!(sharded.name, "sharding_indexed");
//! ```

mod adler32;
mod astype;
mod base64;
mod bit_packing;
mod bitround;
#[cfg(feature = "blosc")]
mod blosc;
#[cfg(feature = "blosc")]
mod blosc_parts;
mod byte_planes;
mod bytes;
mod bz2;
mod cast_value;
mod categorize;
mod checksum;
mod conditional;
mod config;
mod crc32;
mod crc32c;
#[cfg(feature = "libdeflate")]
mod deflate;
mod delta;
mod ffi;
mod filter;
mod fixedscaleoffset;
mod fletcher32;
#[cfg(feature = "libdeflate")]
mod gzip;
mod jenkins_lookup3;
mod json2;
mod json_text;
mod linear_chain;
#[cfg(feature = "lz4")]
mod lz4;
#[cfg(feature = "lzma")]
mod lzma;
#[cfg(feature = "lzma")]
mod lzma_filters;
mod msgpack2;
mod n5_block;
mod n5_default;
#[cfg(feature = "lz4")]
mod n5_lz4;
mod number_cast;
mod numbers;
mod object_lists;
mod packbits;
mod packbits_filter;
mod pcodec;
mod pickle;
mod quantize;
mod real;
mod reshape;
mod reshape_regions;
mod scale_offset;
mod shard_index;
mod shard_work;
mod sharding;
mod shuffle;
mod squeeze;
#[cfg(test)]
mod testing;
mod transpose;
mod v2_filter;
mod vlen;
mod vlen_array;
mod vlen_bytes;
mod vlen_utf8;
mod zarrs_optional;
mod zarrs_vlen;
mod zarrs_vlen_v2;
mod zfp;
mod zfp_stream;
mod zfpy;
#[cfg(feature = "libdeflate")]
mod zlib;
#[cfg(feature = "zstd")]
mod zstd;

use zarrox_core::Registry;
use zarrox_core::codec::CodecDef;
use zarrox_core::error::CodecError;

pub use adler32::Adler32;
pub use astype::AsType;
pub use base64::Base64;
pub use bitround::BitRound;
#[cfg(feature = "blosc")]
pub use blosc::{Blosc, BloscCompressor, Shuffle};
pub use bytes::Bytes;
pub use bz2::Bz2;
pub use cast_value::{CastValue, Rounding};
pub use categorize::Categorize;
pub use checksum::ChecksumLocation;
pub use conditional::Conditional;
pub use crc32::Crc32;
pub use crc32c::Crc32c;
pub use delta::Delta;
pub use fixedscaleoffset::FixedScaleOffset;
pub use fletcher32::Fletcher32;
#[cfg(feature = "libdeflate")]
pub use gzip::Gzip;
pub use jenkins_lookup3::JenkinsLookup3;
pub use json2::Json2;
#[cfg(feature = "lz4")]
pub use lz4::Lz4;
#[cfg(feature = "lzma")]
pub use lzma::Lzma;
pub use msgpack2::MsgPack2;
pub use n5_block::{N5Block, N5BlockMode};
pub use n5_default::N5Default;
#[cfg(feature = "lz4")]
pub use n5_lz4::N5Lz4;
pub use number_cast::{NumberCast, number_cast};
pub use packbits::{PackBits, PackBitsPadding};
pub use packbits_filter::PackBitsFilter;
pub use pcodec::{Pcodec, PcodecDelta};
pub use quantize::Quantize;
pub use reshape::{Reshape, ReshapeAxis};
pub use scale_offset::ScaleOffset;
pub use sharding::{IndexLocation, Sharding};
pub use shuffle::ByteShuffle;
pub use squeeze::Squeeze;
pub use transpose::Transpose;
pub use v2_filter::V2Filter;
pub use vlen_array::VlenArray;
pub use vlen_bytes::VlenBytes;
pub use vlen_utf8::VlenUtf8;
pub use zarrs_optional::ZarrsOptional;
pub use zarrs_vlen::ZarrsVlen;
pub use zarrs_vlen_v2::ZarrsVlenV2;
pub use zfp::Zfp;
pub use zfpy::Zfpy;
#[cfg(feature = "libdeflate")]
pub use zlib::Zlib;
#[cfg(feature = "zstd")]
pub use zstd::Zstd;

/// The definitions of all codecs of this crate.
pub static ALL: &[&CodecDef] = &[
    &bytes::DEF,
    &packbits::DEF,
    &transpose::DEF,
    &reshape::DEF,
    &squeeze::DEF,
    &cast_value::DEF,
    &scale_offset::DEF,
    &sharding::DEF,
    &vlen_utf8::DEF,
    &vlen_bytes::DEF,
    &vlen_array::DEF,
    &zarrs_vlen::DEF,
    &zarrs_optional::DEF,
    &zarrs_vlen_v2::DEF,
    &json2::DEF,
    &json2::LEGACY,
    &msgpack2::DEF,
    &msgpack2::LEGACY,
    &categorize::DEF,
    &pickle::DEF,
    &astype::DEF,
    &bitround::DEF,
    &delta::DEF,
    &fixedscaleoffset::DEF,
    &packbits_filter::DEF,
    &quantize::DEF,
    &pcodec::DEF,
    &zfp::DEF,
    &zfpy::DEF,
    #[cfg(feature = "blosc")]
    &blosc::DEF,
    #[cfg(feature = "libdeflate")]
    &gzip::DEF,
    #[cfg(feature = "libdeflate")]
    &zlib::DEF,
    #[cfg(feature = "zstd")]
    &zstd::DEF,
    #[cfg(feature = "lz4")]
    &lz4::DEF,
    &bz2::DEF,
    #[cfg(feature = "lzma")]
    &lzma::DEF,
    &n5_default::DEF,
    #[cfg(feature = "lz4")]
    &n5_lz4::DEF,
    &shuffle::DEF,
    &v2_filter::DEF,
    &base64::DEF,
    &conditional::DEF,
    &crc32c::DEF,
    &crc32c::NUMCODECS,
    &crc32::DEF,
    &adler32::DEF,
    &fletcher32::DEF,
    &jenkins_lookup3::DEF,
];

/// A registry with the core data types and all codecs of this crate.
pub fn registry() -> Registry {
    ALL.iter().fold(Registry::new(), |registry, def| registry.with_codec(def))
}

/// The error for encoded bytes that want more room than their chunk has.
fn too_large(room: usize) -> CodecError {
    CodecError::overflow(room)
}

/// The error for encoded bytes that end too early.
fn truncated(length: usize) -> CodecError {
    CodecError::corrupt(format!("truncated: {length} bytes are not enough"))
}
