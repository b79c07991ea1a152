//! Decodes filtered blocks of fractal heaps.

use std::io::Read;

use zarrox::Result;
use zarrox::codecs::Fletcher32;

use crate::hdf5::format::model::Filter;
use crate::hdf5::format::source::compare;
use crate::input::{corrupt, unsupported};

/// Undoes all filters except those in the mask.
pub(super) fn unfiltered(filters: &[Filter], mask: u32, mut bytes: Vec<u8>, size: u64) -> Result<Vec<u8>> {
    for (place, filter) in filters.iter().enumerate().rev() {
        if mask >> place & 1 == 0 {
            bytes = decoded(filter, &bytes, size)?;
        }
    }
    if bytes.len() as u64 == size {
        return Ok(bytes);
    }
    Err(corrupt(format!("a filtered part of a fractal heap has {} bytes instead of {size}", bytes.len())))
}

fn decoded(filter: &Filter, bytes: &[u8], size: u64) -> Result<Vec<u8>> {
    match filter.id {
        1 => {
            let mut decoded = Vec::new();
            // One more byte is read to detect excess data. The bytes may be followed by a checksum.
            let mut decoder = flate2::read::ZlibDecoder::new(bytes).take(size.saturating_add(5));
            let read = decoder.read_to_end(&mut decoded);
            read.map_err(|error| {
                corrupt(format!("a filtered part of a fractal heap cannot be decoded: {error}"))
            })?;
            Ok(decoded)
        }
        3 => {
            let missing = || corrupt("a filtered part of a fractal heap has no checksum");
            let (checked, stored) = bytes.split_last_chunk::<4>().ok_or_else(missing)?;
            compare(
                Fletcher32.checksum(checked),
                u32::from_le_bytes(*stored),
                "a filtered part of a fractal heap",
            )?;
            Ok(checked.to_vec())
        }
        id => Err(unsupported(format!(
            "a fractal heap has the filter {id}; only deflate (1) and fletcher32 (3) are read there"
        ))),
    }
}
