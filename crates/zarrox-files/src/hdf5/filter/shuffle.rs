//! Shuffle: the first bytes of all elements, then all second bytes, and so on. What is left of a last element stays at the end.

use zarrox::codecs::ByteShuffle;
use zarrox::{CodecSpec, Result};

use super::coded::Coded;
use super::given::Given;
use super::undo::{Effect, Undo};
use crate::hdf5::format::Filter;
use crate::input::{corrupt, zeroed};

#[derive(Debug)]
struct Shuffle {
    /// The size of the sorted elements, as the parameter has it; that of the elements of the dataset without it.
    size: Option<usize>,
}

pub(super) fn create(filter: &Filter) -> Result<Box<dyn Undo>> {
    let size = Some(super::undo::parameter(filter, 0)).filter(|&size| size > 0);
    Ok(Box::new(Shuffle { size }))
}

impl Undo for Shuffle {
    fn encoded_size(&self, size: usize) -> Option<usize> {
        Some(size)
    }

    fn undo(&self, bytes: Vec<u8>, given: Given) -> Result<Vec<u8>> {
        let size = self.size.unwrap_or(given.item);
        if size <= 1 || bytes.len() / size <= 1 {
            return Ok(bytes);
        }
        let mut sorted = zeroed(bytes.len())?;
        Unshuffle::new(size)?.decode_into(&bytes, &mut sorted)?;
        Ok(sorted)
    }

    fn codecs(&self, item: usize) -> Option<Vec<CodecSpec>> {
        let size = self.size.unwrap_or(item);
        // The codec knows whole elements only.
        let is_whole = size > 0 && item.is_multiple_of(size);
        is_whole
            .then(|| u32::try_from(size).ok())
            .flatten()
            .map(|size| vec![ByteShuffle::element_size(size).into()])
    }

    fn effect(&self) -> Effect {
        Effect::Sorts
    }
}

/// Brings the bytes of elements back to their places.
#[derive(Debug)]
pub(super) struct Unshuffle {
    size: usize,
    decoder: Coded,
}

impl Unshuffle {
    /// For elements of `size` bytes.
    pub(super) fn new(size: usize) -> Result<Self> {
        let of_codec = u32::try_from(size).map_err(|_| corrupt("an element to sort is too large"))?;
        Ok(Self { size: size.max(1), decoder: Coded::new(ByteShuffle::element_size(of_codec))? })
    }

    /// Fills `out` with as many bytes as there are.
    pub(super) fn decode_into(&self, bytes: &[u8], out: &mut [u8]) -> Result<()> {
        let whole = bytes.len() / self.size * self.size;
        let (elements, rest) = bytes.split_at(whole);
        let Some((sorted, end)) = out.split_at_mut_checked(whole).filter(|(_, end)| end.len() == rest.len())
        else {
            return Err(corrupt(format!("{} bytes are sorted into {} bytes", bytes.len(), out.len())));
        };
        self.decoder.decode_into(elements, sorted)?;
        end.copy_from_slice(rest);
        Ok(())
    }
}
