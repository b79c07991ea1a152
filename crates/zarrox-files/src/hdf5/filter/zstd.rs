//! Zstandard frames.

use zarrox::{CodecSpec, Result, codecs};

use super::coded::Coded;
use super::given::Given;
use super::undo::Undo;
use crate::hdf5::format::Filter;

#[derive(Debug)]
struct Zstd {
    level: i32,
    decoder: Coded,
}

pub(super) fn create(filter: &Filter) -> Result<Box<dyn Undo>> {
    // Negative levels are stored as unsigned integers.
    let level = filter.parameters.first().map_or(3, |level| level.cast_signed()).clamp(-131_072, 22);
    Ok(Box::new(Zstd { level, decoder: Coded::new(codecs::Zstd::level(level))? }))
}

impl Undo for Zstd {
    fn undo(&self, bytes: Vec<u8>, given: Given) -> Result<Vec<u8>> {
        self.decoder.decode(&bytes, given)
    }

    fn checked(&self, bytes: &[u8], given: Given) -> Result<usize> {
        self.decoder.checked(bytes, given)
    }

    fn codecs(&self, _: usize) -> Option<Vec<CodecSpec>> {
        Some(vec![codecs::Zstd::level(self.level).into()])
    }
}
