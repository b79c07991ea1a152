//! bzip2.

use zarrox::codecs::Bz2;
use zarrox::{CodecSpec, Result};

use super::coded::Coded;
use super::given::Given;
use super::undo::Undo;
use crate::hdf5::format::Filter;

#[derive(Debug)]
struct Bzip2 {
    level: i32,
    decoder: Coded,
}

pub(super) fn create(filter: &Filter) -> Result<Box<dyn Undo>> {
    let level = filter.parameters.first().copied().unwrap_or(9).clamp(1, 9);
    let level = i32::try_from(level).unwrap_or(9);
    Ok(Box::new(Bzip2 { level, decoder: Coded::new(Bz2::level(level))? }))
}

impl Undo for Bzip2 {
    fn undo(&self, bytes: Vec<u8>, given: Given) -> Result<Vec<u8>> {
        self.decoder.decode(&bytes, given)
    }

    fn codecs(&self, _: usize) -> Option<Vec<CodecSpec>> {
        Some(vec![Bz2::level(self.level).into()])
    }
}
