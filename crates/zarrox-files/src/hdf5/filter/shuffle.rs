//! Shuffle: stores the first bytes of all elements, then all second bytes, and so on. The bytes of an incomplete last
//! element stay at the end.

use zarrox::codecs::ByteShuffle;
use zarrox::{CodecSpec, Result};

use super::coded::Coded;
use super::given::Given;
use super::undo::{Effect, Undo};
use crate::hdf5::format::Filter;
use crate::input::{corrupt, zeroed};

#[derive(Debug)]
struct Shuffle {
    /// The size of the shuffled elements, if it is given as a parameter. The default is the element size of the dataset.
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
        // The codec only supports whole elements.
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

/// Undoes the shuffle.
#[derive(Debug)]
pub(super) struct Unshuffle {
    size: usize,
    decoder: Coded,
}

impl Unshuffle {
    /// Creates a decoder for elements of `size` bytes.
    pub(super) fn new(size: usize) -> Result<Self> {
        let of_codec = u32::try_from(size).map_err(|_| corrupt("a shuffled element is too large"))?;
        Ok(Self { size: size.max(1), decoder: Coded::new(ByteShuffle::element_size(of_codec))? })
    }

    /// Unshuffles into `out`, which must have the length of the input.
    pub(super) fn decode_into(&self, bytes: &[u8], out: &mut [u8]) -> Result<()> {
        let whole = bytes.len() / self.size * self.size;
        let (elements, rest) = bytes.split_at(whole);
        let Some((sorted, end)) = out.split_at_mut_checked(whole).filter(|(_, end)| end.len() == rest.len())
        else {
            return Err(corrupt(format!("cannot unshuffle {} bytes into {} bytes", bytes.len(), out.len())));
        };
        self.decoder.decode_into(elements, sorted)?;
        end.copy_from_slice(rest);
        Ok(())
    }
}
