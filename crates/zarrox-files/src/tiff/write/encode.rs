//! Encodes strips and tiles: predictors and compression.

use std::io::Write as _;

use zarrox::data_type::Endian;
use zarrox::{DataType, Result};

use crate::input::failed;
use crate::tiff::predictor::Predictor;

/// The compression of the strips and tiles of an exported TIFF.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Compression {
    /// No compression.
    None,
    /// Deflate, which all programs can read.
    #[default]
    Deflate,
    /// Zstandard, which GDAL, libtiff and tifffile can read.
    Zstandard,
}

/// The Zstandard level, at which it is about as fast as deflate.
const ZSTANDARD: i32 = 9;

impl Compression {
    /// Returns the TIFF number of the compression.
    pub(super) fn code(self) -> u16 {
        match self {
            Self::None => 1,
            Self::Deflate => 8,
            Self::Zstandard => 50000,
        }
    }

    fn compress(self, bytes: Vec<u8>) -> Result<Vec<u8>> {
        let failed = |error| failed("compressing a strip or tile", error);
        match self {
            Self::None => Ok(bytes),
            Self::Deflate => {
                let out = Vec::with_capacity(bytes.len() / 2);
                let mut encoder = flate2::write::ZlibEncoder::new(out, flate2::Compression::default());
                encoder.write_all(&bytes).map_err(failed)?;
                encoder.finish().map_err(failed)
            }
            Self::Zstandard => zstd::bulk::compress(&bytes, ZSTANDARD).map_err(failed),
        }
    }
}

/// Returns the predictor for elements of the given type. Microscopy programs cannot read the float predictor.
pub(super) fn predictor_of(data_type: &DataType, compression: Compression, with_floats: bool) -> Predictor {
    match data_type {
        _ if compression == Compression::None => Predictor::None,
        DataType::Float16 | DataType::Float32 | DataType::Float64 if with_floats => Predictor::Float,
        DataType::UInt8
        | DataType::UInt16
        | DataType::UInt32
        | DataType::UInt64
        | DataType::Int8
        | DataType::Int16
        | DataType::Int32
        | DataType::Int64 => Predictor::Horizontal,
        _ => Predictor::None,
    }
}

/// The encoding of the elements of a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Encoding {
    pub(super) compression: Compression,
    pub(super) predictor: Predictor,
    /// The number of interleaved samples in a pixel, and the size of a sample in bytes.
    pub(super) samples: usize,
    pub(super) size: usize,
    /// The TIFF sample format.
    pub(super) format: u16,
}

impl Encoding {
    /// Encodes a strip or tile whose rows have `row` bytes.
    pub(super) fn encode(self, mut bytes: Vec<u8>, row: usize) -> Result<Vec<u8>> {
        for row in bytes.chunks_exact_mut(row.max(1)) {
            match self.predictor {
                Predictor::None => {}
                Predictor::Horizontal => self.subtract_neighbours(row),
                Predictor::Float => self.split_floats(row),
            }
        }
        self.compression.compress(bytes)
    }

    fn subtract_neighbours(self, row: &mut [u8]) {
        macro_rules! subtract {
            ($T:ty) => {{
                const SIZE: usize = size_of::<$T>();
                let number = |bytes: &[u8]| <$T>::from_ne_bytes(bytes.try_into().unwrap_or_default());
                let before = self.samples * SIZE;
                for at in (before..row.len()).step_by(SIZE).rev() {
                    let own = number(&row[at..at + SIZE]);
                    let other = number(&row[at - before..at - before + SIZE]);
                    row[at..at + SIZE].copy_from_slice(&own.wrapping_sub(other).to_ne_bytes());
                }
            }};
        }
        match self.size {
            1 => subtract!(u8),
            2 => subtract!(u16),
            4 => subtract!(u32),
            _ => subtract!(u64),
        }
    }

    fn split_floats(self, row: &mut [u8]) {
        let count = row.len() / self.size.max(1);
        let before = row.to_vec();
        for (index, float) in before.chunks_exact(self.size.max(1)).enumerate() {
            for (at, &byte) in float.iter().enumerate() {
                // The most significant bytes come first.
                let plane = if Endian::NATIVE == Endian::Little { self.size - 1 - at } else { at };
                row[plane * count + index] = byte;
            }
        }
        for at in (self.samples..row.len()).rev() {
            row[at] = row[at].wrapping_sub(row[at - self.samples]);
        }
    }
}
