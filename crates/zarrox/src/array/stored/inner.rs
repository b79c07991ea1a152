//! The inner chunks of shards, as listed in the shard indexes.

use zarrox_core::codec::Window;
use zarrox_core::internals::codec::Entry;
use zarrox_core::{Error, ErrorKind, Result};
use zarrox_stores::{ByteRange, Key};

use crate::array::Array;

/// An inner chunk of a shard.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InnerChunk {
    /// The index of the inner chunk in the grid of inner chunks of the whole array.
    pub index: Vec<u64>,
    /// The offset and the length of its bytes within the shard; `None` if the inner chunk is missing.
    pub place: Option<(u64, u64)>,
}

impl Array {
    /// Reads the inner chunks of the shard with this key. See [`RawChunks::inner_chunks`](super::super::RawChunks::inner_chunks).
    pub(in crate::array) fn inner_chunks(&self, shard: &[u64], key: &str) -> Result<Option<Vec<InnerChunk>>> {
        let entries = self.with_chain(shard, |chain| {
            let Some(table) = chain.table() else { return Ok(None) };
            let grid = table.grid().to_vec();
            let order = chain.order().map(<[usize]>::to_vec);
            let first = match table.index_range(Window { offset: 0, length: None }) {
                Ok(zarrox_core::codec::ByteRange::Suffix { length }) => Some(ByteRange::Suffix { length }),
                Ok(zarrox_core::codec::ByteRange::From { offset, length }) => {
                    Some(ByteRange::From { offset, length })
                }
                Err(_) => None,
            };
            let Some(value) = self.location.store.open_with(&Key::new(key)?, first)? else {
                return Ok(None);
            };
            let size = value.size();
            let (offset, length) =
                table.index_range(Window::of_size(size)).and_then(|range| range.within(size))?;
            let index = value.read(offset, length)?;
            let places = table
                .entries(&index)?
                .into_iter()
                .map(|entry| match entry {
                    Entry::Empty => None,
                    Entry::Stored { offset, length } => Some((offset, length)),
                })
                .collect::<Vec<_>>();
            Ok::<_, Error>(Some((grid, order, places)))
        })?;
        let entries = entries.map_err(|error| {
            Error::new(ErrorKind::Corrupt, format!("the index of shard '{key}': {error}")).with_source(error)
        })?;
        let Some((grid, order, places)) = entries else { return Ok(None) };
        let inner = self.unit_shape();
        let start = |dim: usize| self.chunk_grid().chunk_place(dim, shard[dim]).map_or(0, |(start, _)| start);
        let chunk = |(number, place): (usize, Option<(u64, u64)>)| {
            let cell = cell(number, &grid, order.as_deref());
            let index = |(dim, cell): (usize, u64)| start(dim) / inner[dim].max(1) + cell;
            InnerChunk { index: cell.into_iter().enumerate().map(index).collect(), place }
        };
        Ok(Some(places.into_iter().enumerate().map(chunk).collect()))
    }
}

/// Returns the index of an inner chunk, in the order of the array's axes.
pub fn cell(number: usize, grid: &[usize], order: Option<&[usize]>) -> Vec<u64> {
    let (mut rest, mut stored) = (number, vec![0; grid.len()]);
    for (index, &count) in stored.iter_mut().zip(grid).rev() {
        (*index, rest) = ((rest % count.max(1)) as u64, rest / count.max(1));
    }
    let Some(order) = order.filter(|order| order.len() == stored.len()) else { return stored };
    let mut cell = vec![0; grid.len()];
    for (&axis, &index) in order.iter().zip(&stored) {
        cell[axis] = index;
    }
    cell
}
