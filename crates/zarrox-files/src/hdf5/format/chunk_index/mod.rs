//! Chunk indexes of datasets (section IV.A.2.i and appendix C of the specification).

mod element;
mod extensible_array;
mod fixed_array;
mod grid;

use zarrox::Result;

use super::btree1::Tree;
use super::btree2::Records;
use super::model::{Address, ChunkIndex, Dataset, Layout, Space, StoredChunk};
use super::source::Source;
use crate::input::corrupt;
use grid::{Grid, Stored};

/// Returns the stored chunks of a dataset that overlap its shape.
pub(super) fn read(source: &Source, dataset: &Dataset) -> Result<Vec<StoredChunk>> {
    let Layout::Chunked { chunk, index, address: Some(address) } = &dataset.layout else {
        return Ok(Vec::new());
    };
    let Space::Simple { shape, max } = &dataset.space else { return Ok(Vec::new()) };
    if chunk.len() != shape.len() {
        return Err(corrupt(format!("a dataset of the shape {shape:?} has chunks of the shape {chunk:?}")));
    }
    let size = dataset.datatype.size as u64;
    let chunk_bytes = chunk.iter().try_fold(size, |all, &length| all.checked_mul(length));
    let chunk_bytes =
        chunk_bytes.ok_or_else(|| corrupt(format!("chunks of the shape {chunk:?} are too large")))?;
    let mut grid = Grid {
        shape: shape.clone(),
        max: max.clone(),
        chunk: chunk.clone(),
        chunk_bytes,
        are_edges_unfiltered: dataset.are_edges_unfiltered,
        found: Vec::new(),
    };
    match index {
        ChunkIndex::BTree1 => btree1(source, *address, &mut grid)?,
        ChunkIndex::Single(stored) => {
            let (size, mask) = stored.unwrap_or((chunk_bytes, 0));
            grid.add(vec![0; shape.len()], Stored { address: *address, size, mask })?;
        }
        ChunkIndex::Implicit => implicit(source, *address, &mut grid)?,
        ChunkIndex::FixedArray => fixed_array::read(source, *address, &mut grid)?,
        ChunkIndex::ExtensibleArray => extensible_array::read(source, *address, &mut grid)?,
        ChunkIndex::BTree2 => btree2(source, *address, &mut grid)?,
    }
    Ok(grid.found)
}

fn btree1(source: &Source, address: Address, grid: &mut Grid) -> Result<()> {
    let rank = grid.chunk.len();
    // The last offset in a key is the offset within an element, which is always zero.
    let tree = Tree { source, kind: 1, key: 8 + 8 * (rank + 1) };
    tree.each(address, &mut |key, address| {
        let mut cursor = source.cursor(key, "the key of a chunk");
        let (size, mask) = (u64::from(cursor.u32()?), cursor.u32()?);
        let offset = (0..rank).map(|_| cursor.u64()).collect::<Result<Vec<u64>>>()?;
        grid.add(offset, Stored { address, size, mask })
    })
}

fn btree2(source: &Source, address: Address, grid: &mut Grid) -> Result<()> {
    let rank = grid.chunk.len();
    let records = Records::read(source, address)?;
    let fixed = source.sizes.offset + 8 * rank;
    let width = match records.kind {
        10 if records.size == fixed => None,
        11 if (fixed + 5..=fixed + 12).contains(&records.size) => Some(records.size - fixed - 4),
        kind => {
            let size = records.size;
            return Err(corrupt(format!(
                "an index of chunks has records of the kind {kind} and of {size} bytes"
            )));
        }
    };
    for record in records.iter() {
        let mut cursor = source.cursor(record, "the record of a chunk");
        let address = cursor.address()?;
        let (size, mask) = match width {
            Some(width) => (cursor.number(width)?, cursor.u32()?),
            None => (grid.chunk_bytes, 0),
        };
        let scaled = (0..rank).map(|_| cursor.u64()).collect::<Result<Vec<u64>>>()?;
        if let Some(address) = address {
            grid.add_scaled(&scaled, Stored { address, size, mask })?;
        }
    }
    Ok(())
}

/// Adds all chunks, which are stored contiguously.
fn implicit(source: &Source, address: Address, grid: &mut Grid) -> Result<()> {
    let order = grid.order(false)?;
    let counts = grid.counts(&grid.shape);
    if order.is_empty || counts.contains(&0) {
        return Ok(());
    }
    let size = grid.chunk_bytes;
    let mut scaled = vec![0; counts.len()];
    loop {
        let place = order.index(&scaled).and_then(|index| index.checked_mul(size)?.checked_add(address));
        let end = place.and_then(|place| place.checked_add(size));
        let place = place.zip(end).ok_or_else(|| corrupt("the address of a chunk has more than 64 bits"))?;
        source.position(place.1)?;
        grid.add_scaled(&scaled, Stored { address: place.0, size, mask: 0 })?;
        if !advance(&mut scaled, &counts) {
            return Ok(());
        }
    }
}

/// Advances to the next chunk index. Returns false after the last chunk.
fn advance(scaled: &mut [u64], counts: &[u64]) -> bool {
    for (number, &count) in scaled.iter_mut().zip(counts).rev() {
        *number += 1;
        if *number < count {
            return true;
        }
        *number = 0;
    }
    false
}
