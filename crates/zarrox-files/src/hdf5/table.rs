//! The places of the chunks of a dataset.

use std::ops::ControlFlow;

use hdf5_reader::Hdf5File;
use hdf5_reader::btree_v1::{BTreeV1Key, collect_btree_v1_leaves_storage};
use hdf5_reader::chunk_index::{
    ChunkEntry, collect_implicit_chunk_entries, collect_v2_chunk_entries_storage, single_chunk_entry,
};
use hdf5_reader::extensible_array::collect_extensible_array_chunk_entries_storage;
use hdf5_reader::fixed_array::collect_fixed_array_chunk_entries_storage;
use hdf5_reader::messages::layout::ChunkIndexing;
use zarrox::Result;

use super::error::damaged;
use crate::input::corrupt;

/// The place of a chunk in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// The number of the chunk in row-major order.
    number: u64,
    pub(super) address: u64,
    /// The stored size in bytes.
    pub(super) size: u64,
    /// A bit for each filter that was left out.
    pub(super) mask: u32,
}

/// The stored chunks of a dataset, in row-major order.
#[derive(Debug)]
pub(super) struct Table {
    grid: Vec<u64>,
    places: Vec<Place>,
}

/// The description of a chunked dataset.
pub(super) struct Chunked<'a> {
    pub(super) shape: &'a [u64],
    pub(super) max_shape: Option<&'a [u64]>,
    /// The shape of a chunk.
    pub(super) chunks: &'a [u32],
    /// The size of a decoded chunk in bytes.
    pub(super) chunk_size: u64,
    /// The size of an element in bytes.
    pub(super) item: usize,
    /// The address of the index.
    pub(super) address: u64,
    pub(super) index: Option<&'a ChunkIndexing>,
    pub(super) is_filtered: bool,
}

impl Table {
    /// Reads the index of a dataset.
    pub(super) fn read(file: &Hdf5File, dataset: &Chunked<'_>) -> Result<Self> {
        let grid: Vec<u64> = dataset
            .shape
            .iter()
            .zip(dataset.chunks)
            .map(|(&n, &chunk)| n.div_ceil(u64::from(chunk)))
            .collect();
        let is_absent = dataset.address == u64::MAX || dataset.shape.contains(&0);
        let entries = if is_absent { Vec::new() } else { entries(file, dataset).map_err(damaged)? };
        let mut places = Vec::with_capacity(entries.len());
        for entry in entries {
            let Some(number) = number(&entry, dataset, &grid)? else { continue };
            let is_whole = !dataset.is_filtered || entry.size == 0;
            let size = if is_whole { dataset.chunk_size } else { entry.size };
            if entry.address != u64::MAX {
                places.push(Place { number, address: entry.address, size, mask: entry.filter_mask });
            }
        }
        places.sort_unstable_by_key(|place| place.number);
        if places.windows(2).any(|pair| pair[0].number == pair[1].number) {
            return Err(corrupt("the index has a chunk twice"));
        }
        Ok(Self { grid, places })
    }

    pub(super) fn grid(&self) -> &[u64] {
        &self.grid
    }

    pub(super) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Returns true if every chunk has passed all filters.
    pub(super) fn is_uniform(&self) -> bool {
        self.places.iter().all(|place| place.mask == 0)
    }

    /// The place of a chunk. Dimensions that elements have of their own have one chunk.
    pub(super) fn find(&self, chunk: &[u64]) -> Option<Place> {
        let (own, inner) = chunk.split_at_checked(self.grid.len())?;
        if inner.iter().any(|&index| index != 0)
            || own.iter().zip(&self.grid).any(|(index, count)| index >= count)
        {
            return None;
        }
        let number = own.iter().zip(&self.grid).fold(0, |number, (&index, &count)| number * count + index);
        let found = self.places.binary_search_by_key(&number, |place| place.number).ok()?;
        Some(self.places[found])
    }

    /// Visits the positions of all chunks, with so many dimensions, and their sizes.
    pub(super) fn visit(
        &self,
        ndim: usize,
        visit: &mut dyn FnMut(&[u64], u64) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let mut position = vec![0; ndim];
        for place in &self.places {
            let mut number = place.number;
            for (index, &count) in position[..self.grid.len()].iter_mut().zip(&self.grid).rev() {
                *index = number % count;
                number /= count;
            }
            visit(&position, place.size)?;
        }
        ControlFlow::Continue(())
    }
}

/// The number of a chunk in row-major order; `None` for one outside of the shape, which stays after a dataset was made smaller.
fn number(entry: &ChunkEntry, dataset: &Chunked<'_>, grid: &[u64]) -> Result<Option<u64>> {
    if entry.offsets.len() != grid.len() {
        return Err(corrupt("a chunk in the index has another number of dimensions"));
    }
    let mut number = 0_u64;
    for ((&offset, &chunk), &count) in entry.offsets.iter().zip(dataset.chunks).zip(grid) {
        if offset % u64::from(chunk) != 0 {
            return Err(corrupt("a chunk in the index is not on the grid"));
        }
        let index = offset / u64::from(chunk);
        if index >= count {
            return Ok(None);
        }
        let next = number.checked_mul(count).and_then(|number| number.checked_add(index));
        number = next.ok_or_else(|| corrupt("there are too many chunks"))?;
    }
    Ok(Some(number))
}

fn entries(file: &Hdf5File, dataset: &Chunked<'_>) -> hdf5_reader::error::Result<Vec<ChunkEntry>> {
    let Chunked { shape, chunks, address, item, .. } = *dataset;
    let (storage, superblock) = (file.storage(), file.superblock());
    let (offset_size, length_size) = (superblock.offset_size, superblock.length_size);
    let ndim = u32::try_from(shape.len()).unwrap_or(u32::MAX);
    match dataset.index {
        None => {
            let leaves = collect_btree_v1_leaves_storage(
                storage,
                address,
                offset_size,
                length_size,
                Some(ndim),
                chunks,
                None,
            )?;
            leaves.into_iter().map(|(key, address)| of_leaf(key, address, shape.len())).collect()
        }
        Some(ChunkIndexing::SingleChunk { filtered_size, filters }) => {
            Ok(vec![single_chunk_entry(address, *filtered_size, *filters, shape.len())])
        }
        Some(ChunkIndexing::BTreeV2) => {
            collect_v2_chunk_entries_storage(storage, address, offset_size, length_size, ndim, chunks, None)
        }
        Some(ChunkIndexing::Implicit) => {
            collect_implicit_chunk_entries(address, shape, chunks, item, None, storage.len())
        }
        Some(ChunkIndexing::FixedArray { .. }) => collect_fixed_array_chunk_entries_storage(
            storage,
            address,
            offset_size,
            length_size,
            shape,
            chunks,
            None,
        ),
        Some(ChunkIndexing::ExtensibleArray { .. }) => collect_extensible_array_chunk_entries_storage(
            storage,
            address,
            offset_size,
            length_size,
            shape,
            dataset.max_shape,
            chunks,
            None,
        ),
    }
}

fn of_leaf(key: BTreeV1Key, address: u64, ndim: usize) -> hdf5_reader::error::Result<ChunkEntry> {
    match key {
        BTreeV1Key::RawData { chunk_size, filter_mask, mut offsets } => {
            offsets.truncate(ndim);
            Ok(ChunkEntry { address, size: u64::from(chunk_size), filter_mask, offsets })
        }
        _ => Err(hdf5_reader::error::Error::InvalidData("the index of chunks is one of a group".to_owned())),
    }
}
