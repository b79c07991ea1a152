//! The division of a box into blocks, and the rows of the box that are reduced to each row of blocks.

use std::ops::Range;

/// The division of an axis into blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Division {
    /// Blocks of this length, which must not be zero. The last block may be shorter.
    Length(u64),
    /// A number of blocks, whose lengths differ by at most one. The number must not exceed the length of the axis.
    Count {
        /// The number of blocks.
        blocks: u64,
        /// The length of the axis.
        axis: u64,
    },
}

impl Division {
    /// Each element is a block by itself.
    pub(crate) const EACH: Self = Self::Length(1);

    /// A single block for the whole axis.
    pub(crate) const ALL: Self = Self::Length(u64::MAX);

    /// Returns the number of blocks along an axis of this length.
    pub fn count(self, axis: u64) -> u64 {
        match self {
            Self::Length(length) => axis.div_ceil(length.max(1)),
            Self::Count { blocks, .. } => blocks,
        }
    }

    /// Returns the block that contains the element at a position.
    pub fn block(self, position: u64) -> u64 {
        match self {
            Self::Length(length) => position / length.max(1),
            Self::Count { blocks, axis } => {
                quotient(u128::from(position) * u128::from(blocks), axis).min(blocks.saturating_sub(1))
            }
        }
    }

    /// Returns the position of the first element of a block.
    pub fn begin(self, block: u64) -> u64 {
        match self {
            Self::Length(length) => block.saturating_mul(length),
            Self::Count { blocks, axis } => {
                let product = u128::from(block) * u128::from(axis);
                quotient(product + u128::from(blocks.saturating_sub(1)), blocks)
            }
        }
    }
}

fn quotient(dividend: u128, divisor: u64) -> u64 {
    u64::try_from(dividend / u128::from(divisor.max(1))).unwrap_or(u64::MAX)
}

/// An axis of a box.
#[derive(Debug)]
pub(crate) struct Axis {
    division: Division,
    /// The position of the box along the axis.
    begin: u64,
    pub(crate) length: usize,
    /// The block of the first element.
    first: u64,
    /// The number of blocks.
    pub(crate) count: usize,
    /// The stride between adjacent blocks in the result.
    distance: usize,
}

impl Axis {
    fn new(division: Division, (begin, end): (u64, u64), distance: usize) -> Self {
        let first = division.block(begin);
        let count = if end > begin { index(division.block(end - 1) - first + 1) } else { 0 };
        Self { division, begin, length: index(end - begin), first, count, distance }
    }

    /// Returns the elements of a block, given its number in the box.
    pub(crate) fn run(&self, number: usize) -> Range<usize> {
        let at = |block| index(self.division.begin(block).saturating_sub(self.begin)).min(self.length);
        let block = self.first + number as u64;
        at(block)..at(block + 1)
    }

    pub(crate) fn is_each(&self) -> bool {
        self.division == Division::EACH
    }

    pub(crate) fn is_all(&self) -> bool {
        self.division == Division::ALL
    }

    /// Returns the length of a block that is not truncated.
    pub(crate) fn factor(&self) -> usize {
        match self.division {
            Division::Length(length) => index(length),
            Division::Count { .. } => self.run(0).len(),
        }
    }
}

fn index(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// The contiguous rows of a box, grouped by the row of blocks to which they are reduced.
#[derive(Debug)]
pub(crate) struct Rows {
    outer: Vec<Axis>,
    /// The axis along which elements are contiguous.
    pub(crate) inner: Axis,
}

impl Rows {
    /// Creates the rows of a box, given by its start and end along each axis, and by the shape of the whole result.
    pub(crate) fn new(divisions: &[Division], region: &[(u64, u64)], result: &[usize]) -> Self {
        let mut distance = 1;
        let mut axes = Vec::with_capacity(region.len().max(1));
        for ((&division, &range), &length) in divisions.iter().zip(region).zip(result).rev() {
            axes.push(Axis::new(division, range, distance));
            distance *= length;
        }
        axes.reverse();
        let mut inner = axes.pop().unwrap_or_else(|| Axis::new(Division::EACH, (0, 1), 1));
        // Axes that are contiguous in the box as well as in the result are merged.
        while let Some(axis) = axes.pop_if(|axis| {
            let is_whole = inner.first == 0 && axis.distance == inner.count;
            (axis.is_each() && inner.is_each() && is_whole) || (axis.is_all() && inner.is_all())
        }) {
            let size = (axis.length * inner.length) as u64;
            let begin = if axis.is_each() { axis.begin * inner.length as u64 } else { 0 };
            inner = Axis::new(axis.division, (begin, begin + size), 1);
        }
        Self { outer: axes, inner }
    }

    /// Calls a function for each row of blocks, with the index of the first block in the result, and the offsets in the box of
    /// the rows that are reduced to it.
    pub(crate) fn each(&self, mut work: impl FnMut(usize, &[usize])) {
        if self.inner.count == 0 || self.outer.iter().any(|axis| axis.count == 0) {
            return;
        }
        let mut number = vec![0; self.outer.len()];
        let (mut starts, mut before) = (Vec::new(), Vec::new());
        loop {
            let mut place = index(self.inner.first);
            starts.clear();
            starts.push(0);
            for (axis, &number) in self.outer.iter().zip(&number) {
                std::mem::swap(&mut starts, &mut before);
                starts.clear();
                let run = axis.run(number);
                starts
                    .extend(before.iter().flat_map(|row| run.clone().map(move |at| row * axis.length + at)));
                place += (index(axis.first) + number) * axis.distance;
            }
            starts.iter_mut().for_each(|row| *row *= self.inner.length);
            work(place, &starts);
            let next = (0..self.outer.len()).rev().find(|&dim| number[dim] + 1 < self.outer[dim].count);
            let Some(next) = next else { return };
            number[next] += 1;
            number[next + 1..].fill(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(
        divisions: &[Division],
        region: &[(u64, u64)],
        result: &[usize],
    ) -> (usize, Vec<(usize, Vec<usize>)>) {
        let rows = Rows::new(divisions, region, result);
        let mut all = Vec::new();
        rows.each(|place, starts| all.push((place, starts.to_vec())));
        (rows.inner.length, all)
    }

    #[test]
    fn rows_lead_to_their_places() {
        let along = |lengths: &[u64], reduced: &[bool]| {
            let divisions: Vec<Division> =
                reduced.iter().map(|&reduced| if reduced { Division::ALL } else { Division::EACH }).collect();
            let region: Vec<(u64, u64)> = lengths.iter().map(|&length| (0, length)).collect();
            let result = lengths.iter().zip(reduced);
            let result: Vec<usize> =
                result.map(|(&n, &reduced)| if reduced { 1 } else { index(n) }).collect();
            found(&divisions, &region, &result)
        };
        assert_eq!(along(&[2, 3, 4], &[true, false, false]), (12, vec![(0, vec![0, 12])]));
        assert_eq!(along(&[2, 3, 4], &[false, true, true]), (12, vec![(0, vec![0]), (1, vec![12])]));
        assert_eq!(
            along(&[2, 3, 4], &[false, true, false]),
            (4, vec![(0, vec![0, 4, 8]), (4, vec![12, 16, 20])])
        );
        assert_eq!(
            along(&[2, 3, 4], &[true, false, true]),
            (4, vec![(0, vec![0, 12]), (1, vec![4, 16]), (2, vec![8, 20])])
        );
        assert_eq!(along(&[2, 3], &[true, true]), (6, vec![(0, vec![0])]));
        assert_eq!(along(&[2, 0], &[false, true]), (0, vec![]));
        assert_eq!(found(&[], &[], &[]), (1, vec![(0, vec![0])]));
    }

    #[test]
    fn a_box_may_begin_within_a_block() {
        let halves = [Division::Length(2), Division::Length(3)];
        let (length, rows) = found(&halves, &[(1, 4), (2, 7)], &[3, 4]);
        assert_eq!((length, rows), (5, vec![(0, vec![0]), (4, vec![5, 10])]));
        let inner = Rows::new(&halves, &[(1, 4), (2, 7)], &[3, 4]).inner;
        assert_eq!((0..inner.count).map(|n| inner.run(n)).collect::<Vec<_>>(), [0..1, 1..4, 4..5]);
        // Parts of rows are not contiguous in the result.
        let each = found(&[Division::EACH; 2], &[(0, 2), (1, 3)], &[2, 4]);
        assert_eq!(each, (2, vec![(1, vec![0]), (5, vec![2])]));
    }

    #[test]
    fn every_element_belongs_to_a_block_between_its_ends() {
        for (axis, blocks) in [(10, 3), (7, 7), (1000, 1), (5, 2)] {
            let division = Division::Count { blocks, axis };
            let of: Vec<u64> = (0..axis).map(|n| division.block(n)).collect();
            assert!(of.is_sorted() && of[0] == 0 && of[of.len() - 1] == blocks - 1);
            for (position, &block) in (0..axis).zip(&of) {
                assert!((division.begin(block)..division.begin(block + 1)).contains(&position));
            }
        }
        let division = Division::Length(4);
        assert_eq!((division.count(9), division.block(8), division.begin(2)), (3, 2, 8));
    }
}
