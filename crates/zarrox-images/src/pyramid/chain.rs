//! Dividing a pass into blocks of each level, which are downsampled to blocks of the next level.
//!
//! A block of a level is computed from whole blocks of the previous level, and consists of whole chunks. Each chunk is therefore
//! written only once, a thread has only one block of each level in memory at a time, and the memory grows with the number of
//! levels rather than with the size of the image. Above the level `split`, blocks are shared by all threads, which submit their
//! results to them. Blocks that belong to the same block of the next level are processed one after the other, so that few blocks
//! are incomplete at any time.

use super::levels::Reduced;

/// The number of tasks per thread, which is large enough that all threads finish at about the same time.
const PIECES: usize = 8;

/// Several chunks are combined to a block of at most this many bytes, so that the block stays in the processor's cache.
const CACHED: u64 = 1 << 20;

/// A level of a pass: its shape, and the shape of its stored objects, or for the first level, that of the units that are decoded
/// as a whole.
#[derive(Debug, Clone)]
pub(super) struct Level {
    pub(super) shape: Vec<u64>,
    pub(super) unit: Vec<u64>,
}

/// The blocks of a pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chain {
    /// The shape of each level. The first level is the one that is read.
    pub(super) shapes: Vec<Vec<u64>>,
    /// The scale factors from each level to the next.
    pub(super) factors: Vec<Vec<u64>>,
    /// The block shape of each level.
    pub(super) blocks: Vec<Vec<u64>>,
    /// The level whose blocks are the tasks.
    pub(super) split: usize,
    /// The number of threads.
    pub(super) workers: usize,
    item: u64,
}

/// The memory limit of a pass.
#[derive(Debug, Clone, Copy)]
pub(super) struct MemoryBudget {
    pub(super) threads: usize,
    /// The limit for all blocks and threads together, in bytes.
    pub(super) memory: u64,
    /// The number of bytes that each thread needs in addition to its blocks, for decoding and encoding chunks.
    pub(super) beside: u64,
    /// The size of an element, in bytes.
    pub(super) item: u64,
}

impl Chain {
    /// Creates the chain with as many levels as the memory limit allows. `first` is the level that is read, and `written` is the
    /// shape of the stored objects in a re-encoded copy of the first level, if there is one.
    pub(super) fn new(
        first: &Level,
        written: Option<&[u64]>,
        levels: &[(Reduced, Level)],
        budget: MemoryBudget,
    ) -> Self {
        let build =
            |depth: usize, is_aligned| Self::build(first, written, &levels[..depth], budget, is_aligned);
        let mut last = None;
        for least in [budget.threads.div_ceil(2), 1] {
            for depth in (levels.len().min(1)..=levels.len()).rev() {
                for is_aligned in [true, false] {
                    let chain = build(depth, is_aligned);
                    let fitting =
                        (least..=budget.threads).rev().find_map(|workers| chain.fitted(workers, budget));
                    if let Some(chain) = fitting {
                        return chain;
                    }
                    last = Some(chain);
                }
            }
        }
        // The memory limit is too small even for one block of each level, but no smaller chain is possible.
        let smallest = last.unwrap_or_else(|| build(0, true));
        let split = smallest.split_for(1);
        Self { split, workers: 1, ..smallest }
    }

    fn build(
        first: &Level,
        written: Option<&[u64]>,
        levels: &[(Reduced, Level)],
        budget: MemoryBudget,
        is_aligned: bool,
    ) -> Self {
        let ndim = first.shape.len();
        let factors: Vec<Vec<u64>> = levels.iter().map(|(reduced, _)| reduced.factors.clone()).collect();
        let next = |level: usize, dim: usize| factors.get(level).map_or(1, |factors| factors[dim]);
        let mut block: Vec<u64> = (0..ndim)
            .map(|dim| {
                let own = match (is_aligned, levels.first()) {
                    (false, Some((_, level))) => level.unit[dim].saturating_mul(next(0, dim)),
                    _ => first.unit[dim],
                };
                let both = lcm(own, written.map_or(1, |written| written[dim]));
                lcm(both, next(0, dim)).min(first.shape[dim])
            })
            .collect();
        lengthen(&mut block, &first.shape, budget.item);
        let mut blocks = vec![block];
        for (index, (reduced, level)) in levels.iter().enumerate() {
            let before = if index == 0 { &first.shape } else { &levels[index - 1].0.shape };
            let last = &blocks[index];
            let along = |dim: usize| {
                if last[dim] >= before[dim] {
                    return reduced.shape[dim];
                }
                let factor = reduced.factors[dim];
                let whole = lcm(level.unit[dim], next(index + 1, dim));
                lcm(whole, last[dim] / gcd(last[dim], factor)).min(reduced.shape[dim])
            };
            blocks.push((0..ndim).map(along).collect());
        }
        let shapes =
            [first.shape.clone()].into_iter().chain(levels.iter().map(|(reduced, _)| reduced.shape.clone()));
        Self { shapes: shapes.collect(), factors, blocks, split: 0, workers: 1, item: budget.item }
    }

    /// Returns the chain for a number of threads, if the memory limit allows it.
    fn fitted(&self, workers: usize, budget: MemoryBudget) -> Option<Self> {
        let chain = Self { split: self.split_for(workers), workers, ..self.clone() };
        (chain.bytes(budget.beside) <= budget.memory).then_some(chain)
    }

    /// Returns the last level that still has enough blocks for a number of threads.
    fn split_for(&self, workers: usize) -> usize {
        let enough = (workers * PIECES) as u128;
        (0..self.blocks.len()).rev().find(|&level| self.count(level) >= enough).unwrap_or(0)
    }

    /// Returns the maximum memory in use, in bytes.
    pub(super) fn bytes(&self, beside: u64) -> u64 {
        let workers = self.workers as u64;
        let sum = |levels: &[Vec<u64>]| {
            levels.iter().map(|block| bytes(block, self.item)).fold(0, u64::saturating_add)
        };
        let (own, shared) = (sum(&self.blocks[..=self.split]), sum(&self.blocks[self.split + 1..]));
        let of_each = own.saturating_add(beside).saturating_mul(workers);
        of_each.saturating_add(shared.saturating_mul(workers + 1))
    }

    /// Returns the number of levels below the first one.
    pub(super) fn depth(&self) -> usize {
        self.factors.len()
    }

    /// Returns the number of blocks of a level along each dimension.
    pub(super) fn grid(&self, level: usize) -> Vec<u64> {
        let lengths = self.shapes[level].iter().zip(&self.blocks[level]);
        lengths.map(|(length, block)| length.div_ceil((*block).max(1))).collect()
    }

    fn count(&self, level: usize) -> u128 {
        self.grid(level).iter().fold(1, |count, &along| count.saturating_mul(along.into()))
    }

    /// Returns the start and the end of a block along each dimension.
    pub(super) fn region(&self, level: usize, block: &[u64]) -> Vec<(u64, u64)> {
        let along = |(dim, index): (usize, &u64)| {
            let (length, shape) = (self.blocks[level][dim], self.shapes[level][dim]);
            let begin = index.saturating_mul(length);
            (begin, begin.saturating_add(length).min(shape))
        };
        block.iter().enumerate().map(along).collect()
    }

    /// Returns, along each dimension, the range of blocks of the previous level from which a block is computed.
    pub(super) fn children(&self, level: usize, block: &[u64]) -> Vec<(u64, u64)> {
        let (grid, region) = (self.grid(level - 1), self.region(level, block));
        let along = |(dim, (begin, end)): (usize, (u64, u64))| {
            let (factor, length) = (self.factors[level - 1][dim], self.blocks[level - 1][dim].max(1));
            let last = end.saturating_mul(factor).div_ceil(length).min(grid[dim]);
            (begin.saturating_mul(factor) / length, last)
        };
        region.into_iter().enumerate().map(along).collect()
    }

    /// Returns the block of the next level that contains a block.
    pub(super) fn parent(&self, level: usize, block: &[u64]) -> Vec<u64> {
        let along = |(dim, (begin, _)): (usize, (u64, u64))| {
            begin / self.factors[level][dim] / self.blocks[level + 1][dim].max(1)
        };
        self.region(level, block).into_iter().enumerate().map(along).collect()
    }

    /// Returns the region of the first level from which a block is computed.
    pub(super) fn source(&self, level: usize, block: &[u64]) -> Vec<(u64, u64)> {
        let mut region = self.region(level, block);
        for before in (0..level).rev() {
            for (dim, (begin, end)) in region.iter_mut().enumerate() {
                let (factor, length) = (self.factors[before][dim], self.shapes[before][dim]);
                (*begin, *end) = (begin.saturating_mul(factor), end.saturating_mul(factor).min(length));
            }
        }
        region
    }

    /// Returns the shape of the region of the first level from which a block of a level is computed.
    pub(super) fn source_lengths(&self, level: usize) -> Vec<u64> {
        let all = self.factors[..level].iter();
        all.fold(self.blocks[level].clone(), |lengths, factors| {
            lengths
                .iter()
                .zip(factors)
                .map(|(length, factor)| length.saturating_mul(*factor).max(1))
                .collect()
        })
    }
}

/// Enlarges a block, the last dimensions first, as long as it stays small.
fn lengthen(block: &mut [u64], shape: &[u64], item: u64) {
    for dim in (0..block.len()).rev() {
        while block[dim] < shape[dim] && bytes(block, item).saturating_mul(2) <= CACHED {
            block[dim] = block[dim].saturating_mul(2).min(shape[dim]);
        }
    }
}

pub(super) fn bytes(lengths: &[u64], item: u64) -> u64 {
    lengths.iter().fold(item, |size, length| size.saturating_mul(*length))
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a.max(1) } else { gcd(b, a % b) }
}

fn lcm(a: u64, b: u64) -> u64 {
    let (a, b) = (a.max(1), b.max(1));
    (a / gcd(a, b)).saturating_mul(b)
}

/// An iterator over the blocks of a level, in an order in which the blocks that belong to the same block of the next level are
/// consecutive.
pub(super) struct Order<'c> {
    chain: &'c Chain,
    /// The remaining blocks of each level, starting with the last level.
    open: Vec<(usize, Odometer)>,
}

impl<'c> Order<'c> {
    pub(super) fn new(chain: &'c Chain) -> Self {
        let all = chain.grid(chain.depth()).into_iter().map(|count| (0, count)).collect();
        Self { chain, open: vec![(chain.depth(), Odometer::new(all))] }
    }
}

impl Iterator for Order<'_> {
    type Item = Vec<u64>;

    fn next(&mut self) -> Option<Vec<u64>> {
        loop {
            let (level, odometer) = self.open.last_mut()?;
            let Some(block) = odometer.next() else {
                self.open.pop();
                continue;
            };
            let level = *level;
            if level == self.chain.split {
                return Some(block);
            }
            self.open.push((level - 1, Odometer::new(self.chain.children(level, &block))));
        }
    }
}

/// An iterator over the indices in a box, in row-major order. The box is given as a range along each dimension.
pub(super) struct Odometer {
    ranges: Vec<(u64, u64)>,
    next: Option<Vec<u64>>,
}

impl Odometer {
    pub(super) fn new(ranges: Vec<(u64, u64)>) -> Self {
        let is_empty = ranges.iter().any(|(begin, end)| begin >= end);
        let next = (!is_empty).then(|| ranges.iter().map(|(begin, _)| *begin).collect());
        Self { ranges, next }
    }
}

impl Iterator for Odometer {
    type Item = Vec<u64>;

    fn next(&mut self) -> Option<Vec<u64>> {
        let current = self.next.take()?;
        let dim = (0..current.len()).rev().find(|&dim| current[dim] + 1 < self.ranges[dim].1);
        self.next = dim.map(|dim| {
            let mut next = current.clone();
            next[dim] += 1;
            next[dim + 1..]
                .iter_mut()
                .zip(&self.ranges[dim + 1..])
                .for_each(|(index, range)| *index = range.0);
            next
        });
        Some(current)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::levels::levels;
    use super::*;

    fn chain(shape: &[u64], factors: &[u64], unit: &[u64], read: &[u64], budget: MemoryBudget) -> Chain {
        let level = |shape: &[u64]| Level { shape: shape.to_vec(), unit: unit.to_vec() };
        let below = levels(shape, factors, unit, None).unwrap();
        let below: Vec<_> =
            below.into_iter().map(|reduced| (reduced.clone(), level(&reduced.shape))).collect();
        Chain::new(&Level { unit: read.to_vec(), ..level(shape) }, None, &below, budget)
    }

    const BUDGET: MemoryBudget = MemoryBudget { threads: 2, memory: 64 << 20, beside: 0, item: 2 };

    #[test]
    fn blocks_are_multiples_of_blocks() {
        for (shape, factors, unit, read) in [
            ([1000, 900], [2, 2], [32, 32], [100, 50]),
            ([1000, 901], [3, 2], [25, 31], [25, 31]),
            ([999, 17], [2, 5], [7, 9], [64, 64]),
            ([4000, 1], [2, 2], [128, 128], [1, 1]),
            ([640, 480], [1, 2], [1, 480], [640, 1]),
        ] {
            let chain = chain(&shape, &factors, &unit, &read, BUDGET);
            assert_eq!(chain.shapes.len(), chain.blocks.len());
            for level in 1..chain.blocks.len() {
                let mut seen = BTreeSet::new();
                let all = chain.grid(level).into_iter().map(|count| (0, count)).collect();
                for block in Odometer::new(all) {
                    for child in Odometer::new(chain.children(level, &block)) {
                        assert_eq!(chain.parent(level - 1, &child), block, "{chain:?}");
                        let (region, own) = (chain.region(level - 1, &child), chain.region(level, &block));
                        for dim in 0..2 {
                            let factor = chain.factors[level - 1][dim];
                            assert_eq!(region[dim].0 % factor, 0);
                            assert!(
                                region[dim].1 % factor == 0 || region[dim].1 == chain.shapes[level - 1][dim]
                            );
                            assert!(region[dim].0 / factor >= own[dim].0);
                            assert!(region[dim].1.div_ceil(factor) <= own[dim].1);
                        }
                        assert!(seen.insert(child));
                    }
                }
                assert_eq!(seen.len() as u128, chain.count(level - 1), "{chain:?}");
            }
        }
    }

    #[test]
    fn each_block_comes_once_and_few_are_incomplete() {
        let chain = chain(&[1 << 13, 1 << 13], &[2, 2], &[64, 64], &[64, 64], BUDGET);
        let mut seen = BTreeSet::new();
        let mut last: Vec<Option<Vec<u64>>> = vec![None; chain.blocks.len()];
        let mut changes = 0_u128;
        for block in Order::new(&chain) {
            let mut at = block.clone();
            for level in chain.split..chain.depth() {
                at = chain.parent(level, &at);
                if last[level + 1].replace(at.clone()).as_ref() != Some(&at) {
                    changes += 1;
                }
            }
            assert!(seen.insert(block));
        }
        assert_eq!(seen.len() as u128, chain.count(chain.split));
        let above: u128 = (chain.split + 1..=chain.depth()).map(|level| chain.count(level)).sum();
        assert_eq!(changes, above, "each block is completed before the next one begins");
    }

    #[test]
    fn memory_bounds_threads_and_levels() {
        let wide = MemoryBudget { memory: 96 << 20, ..BUDGET };
        let wide = chain(&[1 << 16, 1 << 16, 1 << 16], &[2; 3], &[128; 3], &[128; 3], wide);
        assert_eq!((wide.workers, wide.depth()), (2, 9));
        assert!(wide.bytes(0) <= 96 << 20);
        let tight = MemoryBudget { memory: 40 << 20, ..BUDGET };
        let tight = chain(&[1 << 16, 1 << 16, 1 << 16], &[2; 3], &[128; 3], &[128; 3], tight);
        assert!(tight.bytes(0) <= 40 << 20);
        assert_eq!(tight.workers, 1);
        let none = chain(
            &[1 << 16, 1 << 16, 1 << 16],
            &[2; 3],
            &[128; 3],
            &[128; 3],
            MemoryBudget { memory: 0, ..BUDGET },
        );
        assert_eq!((none.workers, none.depth()), (1, 1));
        // Chunks that are not aligned with blocks are read repeatedly, since an aligned block would exceed the memory limit.
        let odd = chain(&[1 << 16, 1 << 16, 1 << 16], &[2; 3], &[64; 3], &[100; 3], BUDGET);
        assert_eq!(odd.blocks[0], [128; 3]);
    }
}
