//! The division of a pass: blocks of each level, of which a block of the next level is made.
//!
//! A block of a level is made of whole blocks of the level before, and has whole chunks. So each chunk is written once, a thread has
//! one block of each level at a time, and the memory grows with the number of levels and not with the size of the image. From the level
//! `split` on, blocks belong to no thread: all threads hand in what they made. Threads take blocks in an order in which all blocks of one
//! block of the next level follow each other, so that few of these are incomplete at a time.

use super::levels::Reduced;

/// Work is divided into this many pieces for each thread, so that all end at about one time.
const PIECES: usize = 8;

/// A part that is read at once has several chunks up to this size, in bytes, so that it stays in a cache.
const CACHED: u64 = 1 << 20;

/// A level of a pass: its shape, and the lengths of its stored objects. Those of the first level are the lengths that are decoded at once.
#[derive(Debug, Clone)]
pub(super) struct Level {
    pub(super) shape: Vec<u64>,
    pub(super) unit: Vec<u64>,
}

/// The blocks of a pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chain {
    /// The shape of each level; the first one is read.
    pub(super) shapes: Vec<Vec<u64>>,
    /// The factors from each level to the next.
    pub(super) factors: Vec<Vec<u64>>,
    /// The lengths of a block of each level.
    pub(super) blocks: Vec<Vec<u64>>,
    /// The level whose blocks are pieces of work.
    pub(super) split: usize,
    /// The number of threads.
    pub(super) workers: usize,
    item: u64,
}

/// The memory for a pass.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    pub(super) threads: usize,
    /// The bytes for all blocks and threads.
    pub(super) memory: u64,
    /// The bytes that each thread needs beside its blocks, for chunks that are decoded and encoded.
    pub(super) beside: u64,
    /// The size of an element, in bytes.
    pub(super) item: u64,
}

impl Chain {
    /// The chain with as many levels as there is room for. `first` has the lengths of what is read, and `written` the lengths of objects of a
    /// copy of the first level, if there is one.
    pub(super) fn new(
        first: &Level,
        written: Option<&[u64]>,
        levels: &[(Reduced, Level)],
        room: Room,
    ) -> Self {
        let build =
            |depth: usize, is_aligned| Self::build(first, written, &levels[..depth], room, is_aligned);
        let mut last = None;
        for least in [room.threads.div_ceil(2), 1] {
            for depth in (levels.len().min(1)..=levels.len()).rev() {
                for is_aligned in [true, false] {
                    let chain = build(depth, is_aligned);
                    let fitting =
                        (least..=room.threads).rev().find_map(|workers| chain.fitted(workers, room));
                    if let Some(chain) = fitting {
                        return chain;
                    }
                    last = Some(chain);
                }
            }
        }
        // There is no room for one block of each level, but less is impossible.
        let smallest = last.unwrap_or_else(|| build(0, true));
        let split = smallest.split_for(1);
        Self { split, workers: 1, ..smallest }
    }

    fn build(
        first: &Level,
        written: Option<&[u64]>,
        levels: &[(Reduced, Level)],
        room: Room,
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
        lengthen(&mut block, &first.shape, room.item);
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
        Self { shapes: shapes.collect(), factors, blocks, split: 0, workers: 1, item: room.item }
    }

    /// The chain for so many threads, if there is room for it.
    fn fitted(&self, workers: usize, room: Room) -> Option<Self> {
        let chain = Self { split: self.split_for(workers), workers, ..self.clone() };
        (chain.bytes(room.beside) <= room.memory).then_some(chain)
    }

    /// The highest level that has enough blocks for so many threads.
    fn split_for(&self, workers: usize) -> usize {
        let enough = (workers * PIECES) as u128;
        (0..self.blocks.len()).rev().find(|&level| self.count(level) >= enough).unwrap_or(0)
    }

    /// The most bytes that are in memory at a time.
    pub(super) fn bytes(&self, beside: u64) -> u64 {
        let workers = self.workers as u64;
        let sum = |levels: &[Vec<u64>]| {
            levels.iter().map(|block| bytes(block, self.item)).fold(0, u64::saturating_add)
        };
        let (own, shared) = (sum(&self.blocks[..=self.split]), sum(&self.blocks[self.split + 1..]));
        let of_each = own.saturating_add(beside).saturating_mul(workers);
        of_each.saturating_add(shared.saturating_mul(workers + 1))
    }

    /// The number of levels below the first one.
    pub(super) fn depth(&self) -> usize {
        self.factors.len()
    }

    /// The number of blocks of a level along each dimension.
    pub(super) fn grid(&self, level: usize) -> Vec<u64> {
        let lengths = self.shapes[level].iter().zip(&self.blocks[level]);
        lengths.map(|(length, block)| length.div_ceil((*block).max(1))).collect()
    }

    fn count(&self, level: usize) -> u128 {
        self.grid(level).iter().fold(1, |count, &along| count.saturating_mul(along.into()))
    }

    /// The begin and the end of a block along each dimension.
    pub(super) fn region(&self, level: usize, block: &[u64]) -> Vec<(u64, u64)> {
        let along = |(dim, index): (usize, &u64)| {
            let (length, shape) = (self.blocks[level][dim], self.shapes[level][dim]);
            let begin = index.saturating_mul(length);
            (begin, begin.saturating_add(length).min(shape))
        };
        block.iter().enumerate().map(along).collect()
    }

    /// The first block of the level before that a block is made of, and the first that it is not, along each dimension.
    pub(super) fn children(&self, level: usize, block: &[u64]) -> Vec<(u64, u64)> {
        let (grid, region) = (self.grid(level - 1), self.region(level, block));
        let along = |(dim, (begin, end)): (usize, (u64, u64))| {
            let (factor, length) = (self.factors[level - 1][dim], self.blocks[level - 1][dim].max(1));
            let last = end.saturating_mul(factor).div_ceil(length).min(grid[dim]);
            (begin.saturating_mul(factor) / length, last)
        };
        region.into_iter().enumerate().map(along).collect()
    }

    /// The block of the next level that a block becomes a part of.
    pub(super) fn parent(&self, level: usize, block: &[u64]) -> Vec<u64> {
        let along = |(dim, (begin, _)): (usize, (u64, u64))| {
            begin / self.factors[level][dim] / self.blocks[level + 1][dim].max(1)
        };
        self.region(level, block).into_iter().enumerate().map(along).collect()
    }

    /// The part of the first level that a block is made of.
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

    /// The lengths of the parts of the first level that blocks of a level are made of.
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

/// Makes a block longer, along the last dimensions first, as long as it stays small.
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

/// Blocks of a level, in an order in which all blocks of one block of the next level follow each other.
pub(super) struct Order<'c> {
    chain: &'c Chain,
    /// The blocks of each level, from the last one down, that were not reached yet.
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

/// Counts through a range along each dimension, in row-major order.
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

    fn chain(shape: &[u64], factors: &[u64], unit: &[u64], read: &[u64], room: Room) -> Chain {
        let level = |shape: &[u64]| Level { shape: shape.to_vec(), unit: unit.to_vec() };
        let below = levels(shape, factors, unit, None).unwrap();
        let below: Vec<_> =
            below.into_iter().map(|reduced| (reduced.clone(), level(&reduced.shape))).collect();
        Chain::new(&Level { unit: read.to_vec(), ..level(shape) }, None, &below, room)
    }

    const ROOM: Room = Room { threads: 2, memory: 64 << 20, beside: 0, item: 2 };

    #[test]
    fn blocks_lie_in_blocks() {
        for (shape, factors, unit, read) in [
            ([1000, 900], [2, 2], [32, 32], [100, 50]),
            ([1000, 901], [3, 2], [25, 31], [25, 31]),
            ([999, 17], [2, 5], [7, 9], [64, 64]),
            ([4000, 1], [2, 2], [128, 128], [1, 1]),
            ([640, 480], [1, 2], [1, 480], [640, 1]),
        ] {
            let chain = chain(&shape, &factors, &unit, &read, ROOM);
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
        let chain = chain(&[1 << 13, 1 << 13], &[2, 2], &[64, 64], &[64, 64], ROOM);
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
        assert_eq!(changes, above, "no block is left before it is complete");
    }

    #[test]
    fn memory_bounds_threads_and_levels() {
        let wide = Room { memory: 96 << 20, ..ROOM };
        let wide = chain(&[1 << 16, 1 << 16, 1 << 16], &[2; 3], &[128; 3], &[128; 3], wide);
        assert_eq!((wide.workers, wide.depth()), (2, 9));
        assert!(wide.bytes(0) <= 96 << 20);
        let tight = Room { memory: 40 << 20, ..ROOM };
        let tight = chain(&[1 << 16, 1 << 16, 1 << 16], &[2; 3], &[128; 3], &[128; 3], tight);
        assert!(tight.bytes(0) <= 40 << 20);
        assert_eq!(tight.workers, 1);
        let none =
            chain(&[1 << 16, 1 << 16, 1 << 16], &[2; 3], &[128; 3], &[128; 3], Room { memory: 0, ..ROOM });
        assert_eq!((none.workers, none.depth()), (1, 1));
        // Chunks that fit badly are read again rather than that a block fills the memory.
        let odd = chain(&[1 << 16, 1 << 16, 1 << 16], &[2; 3], &[64; 3], &[100; 3], ROOM);
        assert_eq!(odd.blocks[0], [128; 3]);
    }
}
