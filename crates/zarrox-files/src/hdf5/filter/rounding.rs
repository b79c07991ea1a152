//! BitGroom and Granular BitRound, which round elements on writing. Decoding leaves the elements unchanged.

use zarrox::{CodecSpec, Result};

use super::given::Given;
use super::undo::{Effect, Undo};
use crate::hdf5::format::Filter;

#[derive(Debug)]
struct Rounding;

pub(super) fn create(_: &Filter) -> Result<Box<dyn Undo>> {
    Ok(Box::new(Rounding))
}

impl Undo for Rounding {
    fn encoded_size(&self, size: usize) -> Option<usize> {
        Some(size)
    }

    fn undo(&self, bytes: Vec<u8>, _: Given) -> Result<Vec<u8>> {
        Ok(bytes)
    }

    fn codecs(&self, _: usize) -> Option<Vec<CodecSpec>> {
        Some(Vec::new())
    }

    fn effect(&self) -> Effect {
        Effect::None
    }
}
