//! Blosc2: a frame with one or more chunks, whose blocks may be multidimensional.
//!
//! Specifications: the files `README_CFRAME_FORMAT.rst`, `README_CHUNK_FORMAT.rst` and `README_B2ND_METALAYER.rst` in
//! <https://github.com/Blosc/c-blosc2>

mod blosclz;
mod boxes;
mod bytes;
mod chunk;
mod frame;

use zarrox::Result;

use super::given::Given;
use super::undo::Undo;
use crate::hdf5::format::Filter;
use boxes::Boxes;
use frame::Frame;

#[derive(Debug)]
struct Blosc2;

pub(super) fn create(_: &Filter) -> Result<Box<dyn Undo>> {
    // A frame is self-describing.
    Ok(Box::new(Blosc2))
}

impl Undo for Blosc2 {
    fn undo(&self, bytes: Vec<u8>, given: Given) -> Result<Vec<u8>> {
        let frame = Frame::read(&bytes)?;
        let Some(boxes) = frame.layer("b2nd")?.map(Boxes::read).transpose()? else {
            // Padding only occurs with multidimensional blocks.
            let decoded = frame.decode(given.size.unwrap_or(given.limit))?;
            given.announced(decoded.len())?;
            return Ok(decoded);
        };
        let padded = frame.decode(boxes.padded_size(given)?)?;
        boxes.joined(&padded, given)
    }
}
