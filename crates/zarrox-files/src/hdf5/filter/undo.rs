//! [`Undo`]: the decoder interface of filters, and access to filter parameters.

use std::fmt::Debug;

use zarrox::{CodecSpec, Result};

use super::given::Given;
use crate::hdf5::format::Filter;
use crate::input::corrupt;

/// A filter with its parameters.
pub(super) trait Undo: Debug + Send + Sync {
    /// Returns the encoded size of `size` bytes, if it does not depend on the content of the bytes.
    fn encoded_size(&self, size: usize) -> Option<usize> {
        let _ = size;
        None
    }

    /// Undoes the filter.
    fn undo(&self, bytes: Vec<u8>, given: Given) -> Result<Vec<u8>>;

    /// Returns the number of decoded bytes, and discards the bytes. Returns an error if decoding fails.
    fn checked(&self, bytes: &[u8], given: Given) -> Result<usize> {
        self.undo(bytes.to_vec(), given).map(|bytes| bytes.len())
    }

    /// Returns codecs with the same encoding for elements of `item` bytes.
    fn codecs(&self, item: usize) -> Option<Vec<CodecSpec>> {
        let _ = item;
        None
    }

    /// Returns the effect of the filter, which determines where its codecs may appear in the pipeline.
    fn effect(&self) -> Effect {
        Effect::Compresses
    }
}

/// The effect of a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// The bytes are compressed.
    Compresses,
    /// The bytes are reordered. Readers support the corresponding codec only as the first bytes-to-bytes codec.
    Sorts,
    /// Bytes are added, for example a checksum.
    Adds,
    /// The bytes are unchanged.
    None,
}

/// Returns a parameter of a filter as a number of elements or bytes; 0 if it is absent.
pub(super) fn parameter(filter: &Filter, index: usize) -> usize {
    filter.parameters.get(index).and_then(|&value| usize::try_from(value).ok()).unwrap_or(0)
}

/// Returns a required parameter.
pub(super) fn required(filter: &Filter, index: usize) -> Result<usize> {
    let value = filter.parameters.get(index).and_then(|&value| usize::try_from(value).ok());
    value.ok_or_else(|| {
        let name = filter.name.as_deref().unwrap_or_default();
        corrupt(format!("the filter {} ({name}) has no parameter {index}", filter.id))
    })
}
