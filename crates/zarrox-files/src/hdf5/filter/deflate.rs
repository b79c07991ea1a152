//! Deflate: a zlib stream.

use zarrox::codecs::Zlib;
use zarrox::{CodecSpec, Result};

use super::coded::Coded;
use super::given::Given;
use super::undo::Undo;
use crate::hdf5::format::Filter;

/// The level assumed for files that do not store one.
const LEVEL: u32 = 4;

#[derive(Debug)]
struct Deflate {
    level: i32,
    decoder: Coded,
}

pub(super) fn create(filter: &Filter) -> Result<Box<dyn Undo>> {
    let level = filter.parameters.first().copied().unwrap_or(LEVEL).min(9);
    let level = i32::try_from(level).unwrap_or_default();
    Ok(Box::new(Deflate { level, decoder: Coded::new(Zlib::level(level))? }))
}

impl Undo for Deflate {
    fn undo(&self, bytes: Vec<u8>, given: Given) -> Result<Vec<u8>> {
        self.decoder.decode(&bytes, given)
    }

    fn checked(&self, bytes: &[u8], given: Given) -> Result<usize> {
        self.decoder.checked(bytes, given)
    }

    fn codecs(&self, _: usize) -> Option<Vec<CodecSpec>> {
        Some(vec![Zlib::level(self.level).into()])
    }
}
