//! Sparse arrays: in a very large grid, only the stored chunks are visited.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use zarrox::data_type::Storage;
use zarrox::{Array, DynArray, Result};

use crate::chunks::each_position;

/// The maximum number of chunks in a grid that is visited completely. For larger grids, the stored chunks are listed first.
const MANY: u64 = 1 << 20;

/// Returns true if the grid of an array is very large and no chunk is stored.
pub(super) fn is_empty(array: &Array, grid: &[u64]) -> Result<bool> {
    Ok(stored_chunks(array, grid)?.is_some_and(|stored| stored.is_empty()))
}

/// Returns the chunks, in a grid with the chunk shape `chunks`, that contain stored elements, in row-major order. Returns
/// `None` if all chunks of the grid should be visited.
pub(super) fn stored_positions(
    array: &Array,
    chunks: &[u64],
    grid: &[u64],
) -> Result<Option<BTreeSet<Vec<u64>>>> {
    let Some(stored) = stored_chunks(array, grid)? else { return Ok(None) };
    let mut positions = BTreeSet::new();
    for chunk in stored {
        let first_and_count = |(dim, &index): (usize, &u64)| {
            let (start, length) = array.chunk_grid().chunk_place(dim, index)?;
            let last = start.saturating_add(length).min(array.shape()[dim]).checked_sub(1)?;
            let first = start / chunks[dim];
            Some((first, last / chunks[dim] - first + 1))
        };
        let Some(covered) = chunk.iter().enumerate().map(first_and_count).collect::<Option<Vec<_>>>() else {
            continue;
        };
        let (first, counts): (Vec<u64>, Vec<u64>) = covered.into_iter().unzip();
        let _ = each_position(&counts, &mut |offset| {
            positions.insert(first.iter().zip(offset).map(|(first, offset)| first + offset).collect());
            ControlFlow::Continue(())
        });
    }
    Ok(Some(positions))
}

/// Returns true if every element equals `element`.
pub(super) fn has_only(elements: &DynArray, element: &[u8]) -> bool {
    if elements.data_type().storage() == Storage::Variable {
        // In memory, variable-length elements are references.
        return elements.elements().all(|each| each == element);
    }
    let bytes = elements.as_bytes();
    let Some((first, _)) = bytes.split_at_checked(element.len()) else { return bytes.is_empty() };
    // If each byte equals the corresponding byte of the previous element, all elements equal the first one.
    first == element && bytes[element.len()..] == bytes[..bytes.len() - element.len()]
}

/// Returns the stored chunks or shards of the array if the grid is very large.
fn stored_chunks(array: &Array, grid: &[u64]) -> Result<Option<Vec<Vec<u64>>>> {
    let count = grid.iter().fold(1_u64, |count, &length| count.saturating_mul(length));
    if count <= MANY {
        return Ok(None);
    }
    let mut stored = Vec::new();
    array.raw().visit(&mut |chunk, _| stored.extend(chunk))?;
    Ok(Some(stored))
}

#[cfg(test)]
mod tests {
    use zarrox::DataType;

    use super::*;

    #[test]
    fn elements_are_compared_with_one() {
        let numbers = |values: &[u16]| {
            let bytes = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
            DynArray::new(DataType::UInt16, vec![values.len()], bytes).unwrap()
        };
        let seven = 7_u16.to_ne_bytes();
        for (values, is_same) in [
            (&[7, 7, 7][..], true),
            (&[7], true),
            (&[], true),
            (&[7, 7, 8], false),
            (&[8, 7, 7], false),
            (&[8, 8], false),
        ] {
            assert_eq!(has_only(&numbers(values), &seven), is_same, "{values:?}");
        }
        let texts = |values: &[&str]| {
            DynArray::from_elements(DataType::string(), vec![values.len()], values).unwrap()
        };
        assert!(has_only(&texts(&["a", "a"]), b"a") && !has_only(&texts(&["a", "b"]), b"a"));
    }
}
