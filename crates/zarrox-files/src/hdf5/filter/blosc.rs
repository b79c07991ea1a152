//! Blosc 1. The parameters are two versions, the element size, the chunk size, the level, the shuffle mode, and the compressor.

use zarrox::codecs::{self, BloscCompressor, Shuffle};
use zarrox::{CodecSpec, Result};

use super::coded::Coded;
use super::given::Given;
use super::undo::Undo;
use crate::hdf5::format::Filter;

#[derive(Debug)]
struct Blosc {
    filter: Filter,
    decoder: Coded,
}

pub(super) fn create(filter: &Filter) -> Result<Box<dyn Undo>> {
    // The encoded bytes are self-describing.
    let decoder = Coded::new(codecs::Blosc::new(BloscCompressor::Lz4))?;
    Ok(Box::new(Blosc { filter: filter.clone(), decoder }))
}

impl Undo for Blosc {
    fn undo(&self, bytes: Vec<u8>, given: Given) -> Result<Vec<u8>> {
        self.decoder.decode(&bytes, given)
    }

    fn checked(&self, bytes: &[u8], given: Given) -> Result<usize> {
        self.decoder.checked(bytes, given)
    }

    fn codecs(&self, item: usize) -> Option<Vec<CodecSpec>> {
        let parameter =
            |index: usize, default: u32| self.filter.parameters.get(index).copied().unwrap_or(default);
        let compressor = match parameter(6, 0) {
            0 => BloscCompressor::BloscLz,
            1 => BloscCompressor::Lz4,
            2 => BloscCompressor::Lz4Hc,
            // numcodecs cannot decode Snappy, so Snappy chunks are re-encoded.
            4 => BloscCompressor::Zlib,
            5 => BloscCompressor::Zstd,
            _ => return None,
        };
        let shuffle = match parameter(5, 1) {
            0 => Shuffle::None,
            2 => Shuffle::Bit,
            _ => Shuffle::Byte,
        };
        let item = u32::try_from(item).unwrap_or(u32::MAX).clamp(1, 255);
        let size = Some(parameter(2, 0)).filter(|size| (1..=255).contains(size)).unwrap_or(item);
        let level = i32::try_from(parameter(4, 5).min(9)).ok()?;
        let blosc = codecs::Blosc::new(compressor).level(level).shuffle(shuffle);
        Some(vec![blosc.type_size(i32::try_from(size).ok()?).into()])
    }
}
