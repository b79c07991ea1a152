//! Work on arrays larger than memory: blocks that cover a shape in row-major order.

use std::ops::Range;

/// A block should not be much smaller than this, in bytes: enough for all cores to have chunks of it.
pub(crate) const TARGET: u64 = 64 << 20;

/// The blocks of a shape, each so that its elements follow each other in row-major order: an index in the first
/// dimensions, a range in the next, and the rest in full.
///
/// Blocks are whole rows of chunks as far as memory allows, so that no chunk is visited twice.
#[derive(Debug, Clone)]
pub(crate) struct Slabs {
    shape: Vec<u64>,
    /// The dimension that blocks take ranges of.
    axis: usize,
    /// How long these ranges are.
    rows: u64,
    /// Where ranges should end on a multiple of this, seen from `phase` before the beginning.
    chunk: u64,
    phase: u64,
    /// Where the next block begins; `None` at the end.
    next: Option<Vec<u64>>,
}

impl Slabs {
    /// Blocks of at most `memory` bytes, if one row of the last dimension fits into that, of elements of `item` bytes.
    pub(crate) fn new(shape: &[u64], chunks: &[u64], item: u64, memory: u64) -> Self {
        let empty = shape.contains(&0);
        let row = |axis: usize| shape[axis + 1..].iter().fold(item, |size, &n| size.saturating_mul(n));
        let last = shape.len().saturating_sub(1);
        let axis = if empty { 0 } else { (0..last).find(|&axis| row(axis) <= memory).unwrap_or(last) };
        let chunk = chunks.get(axis).map_or(1, |&chunk| chunk.max(1));
        let rows = if shape.is_empty() || empty { 1 } else { rows(row(axis), chunk, memory) };
        let next = (!empty).then(|| vec![0; shape.len()]);
        Self { shape: shape.to_vec(), axis, rows, chunk, phase: 0, next }
    }

    /// The same blocks for elements that lie so many rows of the first dimension further on in their array.
    pub(crate) fn starting_at(mut self, row: u64) -> Self {
        let aligned = self.axis == 0 && self.rows >= self.chunk;
        self.phase = if aligned { row % self.chunk } else { 0 };
        self
    }
}

fn rows(row: u64, chunk: u64, memory: u64) -> u64 {
    let row = row.max(1);
    let fitting = (memory / row).max(1);
    let wanted = (TARGET / row).max(chunk).min(fitting);
    if wanted < chunk { wanted } else { wanted / chunk * chunk }
}

impl Iterator for Slabs {
    type Item = Vec<Range<u64>>;

    fn next(&mut self) -> Option<Self::Item> {
        let begin = self.next.take()?;
        if begin.is_empty() {
            return Some(Vec::new());
        }
        let (axis, first) = (self.axis, begin[self.axis]);
        let late = if self.phase == 0 { 0 } else { (first + self.phase) % self.chunk };
        let end = first.saturating_add(self.rows - late).min(self.shape[axis]);
        let block = (0..begin.len()).map(|dim| match dim.cmp(&axis) {
            std::cmp::Ordering::Less => begin[dim]..begin[dim] + 1,
            std::cmp::Ordering::Equal => first..end,
            std::cmp::Ordering::Greater => 0..self.shape[dim],
        });
        let block = block.collect();
        self.next = following(begin, axis, end, &self.shape);
        Some(block)
    }
}

/// Where the block after one that ends at `end` begins.
fn following(mut begin: Vec<u64>, axis: usize, end: u64, shape: &[u64]) -> Option<Vec<u64>> {
    begin[axis] = end;
    for dim in (0..=axis).rev() {
        if begin[dim] < shape[dim] {
            return Some(begin);
        }
        begin[dim] = 0;
        *begin.get_mut(dim.checked_sub(1)?)? += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(slabs: Slabs) -> Vec<u64> {
        slabs.map(|block| block.iter().map(|range| range.end - range.start).product()).collect()
    }

    #[test]
    fn blocks_are_whole_rows_of_chunks() {
        let big = Slabs::new(&[10, 1 << 20], &[4, 100], 8, 1 << 30);
        assert_eq!(sizes(big.clone()), [8 << 20, 2 << 20]);
        let firsts: Vec<_> = big.starting_at(3).map(|block| block[0].clone()).collect();
        assert_eq!(firsts, [0..5, 5..10]);
        assert_eq!(sizes(Slabs::new(&[10, 10], &[4, 5], 8, 1 << 30)), [100]);
    }

    #[test]
    fn memory_is_kept_to_by_cutting_rows_and_then_dimensions() {
        let slabs = Slabs::new(&[4, 100], &[4, 5], 1, 200);
        assert_eq!(sizes(slabs), [200, 200]);
        let slabs = Slabs::new(&[2, 3, 100], &[2, 3, 100], 1, 100);
        assert_eq!(sizes(slabs), [100; 6]);
        let blocks: Vec<_> = Slabs::new(&[2, 5], &[1, 1], 1, 2).collect();
        assert_eq!(blocks.len(), 6);
        assert_eq!(blocks[2], [0..1, 4..5]);
        assert_eq!(blocks[3], [1..2, 0..2]);
    }

    #[test]
    fn there_are_arrays_without_dimensions_and_without_elements() {
        assert_eq!(Slabs::new(&[], &[], 8, 1).collect::<Vec<_>>(), [Vec::new()]);
        assert_eq!(Slabs::new(&[3, 0], &[1, 1], 8, 1).count(), 0);
    }

    #[test]
    fn hostile_shapes_take_no_time() {
        let first = Slabs::new(&[u64::MAX, u64::MAX], &[1, u64::MAX], 8, 1 << 20).next().unwrap();
        assert_eq!(first, [0..1, 0..1 << 17]);
    }
}
