//! The HDF5 filters, which encode the chunks of a dataset. They are decoded here, or mapped to Zarr codecs with the same
//! encoding.
//!
//! Each filter has its own file and an entry in [`ALL`].

mod bits;
mod bitshuffle;
mod blosc;
mod blosc2;
mod bzip2;
mod coded;
mod copies;
mod deflate;
mod fletcher32;
mod given;
mod lz4;
mod lzf;
mod nbit;
mod refused;
mod rounding;
mod scale_offset;
mod shuffle;
mod szip;
#[cfg(test)]
mod tests;
mod undo;
mod zfp;
mod zstd;

use std::sync::Arc;

use zarrox::{CodecSpec, Result};

use super::format::Filter;
use crate::input::{corrupt, unsupported};
use given::Given;
use undo::{Effect, Undo};

/// A kind of filter.
#[derive(Debug)]
struct Definition {
    /// The registered filter ID.
    id: u16,
    /// Checks the parameters, and returns the filter.
    create: fn(&Filter) -> Result<Box<dyn Undo>>,
}

/// The filters that can be decoded.
static ALL: &[Definition] = &[
    Definition { id: 1, create: deflate::create },
    Definition { id: 2, create: shuffle::create },
    Definition { id: 3, create: fletcher32::create },
    Definition { id: 4, create: szip::create },
    Definition { id: 5, create: nbit::create },
    Definition { id: 6, create: scale_offset::create },
    Definition { id: 307, create: bzip2::create },
    Definition { id: 32000, create: lzf::create },
    Definition { id: 32001, create: blosc::create },
    Definition { id: 32004, create: lz4::create },
    Definition { id: 32008, create: bitshuffle::create },
    Definition { id: 32013, create: zfp::create },
    Definition { id: 32015, create: zstd::create },
    Definition { id: 32022, create: rounding::create },
    Definition { id: 32023, create: rounding::create },
    Definition { id: 32026, create: blosc2::create },
];

/// The filters of a dataset, in the order in which they were applied. Clones share the filters.
#[derive(Debug, Clone)]
pub(super) struct Pipeline(Arc<[Box<dyn Undo>]>);

impl Pipeline {
    /// Creates the pipeline for the described filters.
    ///
    /// # Errors
    /// If a filter is unknown, or if its parameters are invalid.
    pub(super) fn new(filters: &[Filter]) -> Result<Self> {
        filters.iter().map(create).collect::<Result<Vec<_>>>().map(|filters| Self(filters.into()))
    }

    /// Returns bytes-to-bytes codecs with the same encoding, if every filter has an equivalent codec and at least one
    /// filter changes the bytes.
    pub(super) fn codecs(&self, item: usize) -> Option<Vec<CodecSpec>> {
        let effects: Vec<Effect> = self.0.iter().map(|filter| filter.effect()).collect();
        let unsorted = effects.iter().position(|effect| !matches!(effect, Effect::Sorts | Effect::None));
        let is_sorted_late =
            effects.iter().skip(unsorted.unwrap_or(0)).any(|&effect| effect == Effect::Sorts);
        if effects.iter().all(|&effect| effect == Effect::None) || is_sorted_late {
            return None;
        }
        let codecs: Option<Vec<_>> = self.0.iter().map(|filter| filter.codecs(item)).collect();
        codecs.map(|codecs| codecs.concat())
    }

    /// Decodes a chunk. In `mask`, a bit is set for each skipped filter; `size` is the decoded size, and `item` is the
    /// element size, both in bytes.
    ///
    /// # Errors
    /// If the chunk is damaged, or if it uses an unsupported feature.
    pub(super) fn decode(&self, bytes: Vec<u8>, mask: u32, size: usize, item: usize) -> Result<Vec<u8>> {
        let bytes = undone(&self.stages(mask, size, item), bytes)?;
        check_length(bytes.len(), size)?;
        Ok(bytes)
    }

    /// Checks that [`Pipeline::decode`] would succeed for a chunk. Shuffles are not undone: a shuffle that a codec
    /// replaces cannot fail.
    ///
    /// # Errors
    /// Those of [`Pipeline::decode`].
    pub(super) fn check(&self, bytes: &[u8], mask: u32, size: usize, item: usize) -> Result<()> {
        let stages = self.stages(mask, size, item);
        let sorts = |filter: &dyn Undo| filter.effect() == Effect::Sorts && filter.codecs(item).is_some();
        let sorted = stages.iter().take_while(|(filter, _)| sorts(*filter)).count();
        let length = match stages[sorted..].split_first() {
            None => bytes.len(),
            Some(((filter, given), [])) => filter.checked(bytes, *given)?,
            Some(((filter, given), others)) => filter.checked(&undone(others, bytes.to_vec())?, *given)?,
        };
        check_length(length, size)
    }

    /// Returns the filters that were applied to a chunk, in order of application.
    fn stages(&self, mask: u32, size: usize, item: usize) -> Vec<Stage<'_>> {
        let skipped = (0..u32::BITS).map(|bit| mask >> bit & 1 == 1).chain(std::iter::repeat(false));
        let used = self.0.iter().zip(skipped).filter(|(_, is_skipped)| !is_skipped).map(|(filter, _)| filter);
        let mut known = Some(size);
        let limit = Given::limit(size);
        let mut stages = Vec::with_capacity(self.0.len());
        for filter in used {
            stages.push((&**filter, Given { size: known, limit, item }));
            known = known.and_then(|size| filter.encoded_size(size));
        }
        stages
    }
}

/// A filter, with the known properties of its input.
type Stage<'f> = (&'f dyn Undo, Given);

fn undone(stages: &[Stage<'_>], bytes: Vec<u8>) -> Result<Vec<u8>> {
    stages.iter().rev().try_fold(bytes, |bytes, (filter, given)| filter.undo(bytes, *given))
}

fn check_length(length: usize, size: usize) -> Result<()> {
    if length == size {
        return Ok(());
    }
    Err(corrupt(format!("a chunk has {length} bytes instead of {size}")))
}

fn create(filter: &Filter) -> Result<Box<dyn Undo>> {
    if let Some(definition) = ALL.iter().find(|definition| definition.id == filter.id) {
        return (definition.create)(filter);
    }
    let name = filter.name.as_deref().filter(|name| !name.trim().is_empty());
    let name = name.or_else(|| refused::name(filter.id)).unwrap_or("without a name");
    let advice = "h5repack -f NONE writes a file without it";
    Err(unsupported(format!("unsupported filter {} ({name}); {advice}", filter.id)))
}
