//! The files of a selection, their leaves, and the positions of the elements of each. Plans are made before the time is measured.

use std::collections::BTreeMap;
use std::path::PathBuf;

use zarrox::strided::Span;

use super::layout::{Layout, strides};
use crate::failure::Failure;
use crate::region::{Region, lengths};

/// The work on one file, or on some of its leaves: the index of each leaf in the file, and the positions of the leaf's elements.
pub(super) struct Task {
    pub(super) file: PathBuf,
    pub(super) leaves: Vec<(usize, Placing)>,
}

/// The positions of elements in a leaf and in the result.
pub(super) enum Placing {
    /// A box, in the leaf and in the result.
    Box { part: Vec<Span>, at: Vec<Span> },
    /// Single elements: their offsets in the leaf and in the result, in bytes.
    Points(Vec<(u32, u32)>),
}

/// The work on a selection.
pub(super) struct Plan {
    pub(super) tasks: Vec<Task>,
    /// The shape of the result, and its size in bytes.
    pub(super) shape: Vec<usize>,
    pub(super) size: usize,
}

impl Plan {
    pub(super) fn of_box(layout: &Layout, region: &Region) -> Result<Self, Failure> {
        let touched = region.iter().zip(&layout.leaf).map(|(range, length)| {
            let leaves = range.start / length..range.end.div_ceil(*length);
            let spans = leaves.map(|leaf| {
                let (start, end) = (range.start.max(leaf * length), range.end.min((leaf + 1) * length));
                let span = |origin: usize| Span { start: start - origin, step: 1, count: end - start };
                (leaf, span(leaf * length), span(range.start))
            });
            spans.collect()
        });
        let touched: Vec<Vec<(usize, Span, Span)>> = touched.collect();
        let grid: Vec<usize> = touched.iter().map(Vec::len).collect();
        let leaves = (0..grid.iter().product()).map(|number| {
            let chosen = || touched.iter().zip(unravel(number, &grid)).map(|(axis, at)| axis[at]);
            let (part, at) = chosen().map(|(_, part, at)| (part, at)).unzip();
            (chosen().map(|(leaf, ..)| leaf).collect(), Placing::Box { part, at })
        });
        Self::new(layout, leaves, lengths(region))
    }

    /// Returns a plan of four-byte elements with these flat indices.
    pub(super) fn of_points(layout: &Layout, points: &[usize]) -> Result<Self, Failure> {
        if layout.width != 4 || layout.word > 1 {
            return Err(Failure::Unsupported("selections of such elements".to_owned()));
        }
        let (from, shape) = (layout.leaf_strides(), strides(&layout.shape, 1));
        let grid = layout.shape.iter().zip(&layout.leaf).map(|(length, leaf)| length.div_ceil(*leaf));
        let grid: Vec<usize> = grid.collect();
        let mut leaves: BTreeMap<usize, Vec<(u32, u32)>> = BTreeMap::new();
        for (place, point) in points.iter().enumerate() {
            let (mut number, mut offset) = (0, 0);
            for (axis, leaf) in layout.leaf.iter().enumerate() {
                let at = point / shape[axis] % layout.shape[axis];
                number = number * grid[axis] + at / leaf;
                offset += at % leaf * from[axis];
            }
            leaves.entry(number).or_default().push((offset as u32, (place * layout.width) as u32));
        }
        let leaves =
            leaves.into_iter().map(|(number, pairs)| (unravel(number, &grid), Placing::Points(pairs)));
        Self::new(layout, leaves, vec![points.len()])
    }

    fn new(
        layout: &Layout,
        leaves: impl Iterator<Item = (Vec<usize>, Placing)>,
        shape: Vec<usize>,
    ) -> Result<Self, Failure> {
        let in_file = layout.leaves();
        let mut files: BTreeMap<Vec<usize>, Vec<(usize, Placing)>> = BTreeMap::new();
        for (leaf, placing) in leaves {
            let index =
                leaf.iter().zip(&in_file).fold(0, |index, (leaf, count)| index * count + leaf % count);
            let file = leaf.iter().zip(&in_file).map(|(leaf, count)| leaf / count).collect();
            files.entry(file).or_default().push((index, placing));
        }
        let task = |(chunk, leaves): (Vec<usize>, _)| Ok(Task { file: layout.file(&chunk)?, leaves });
        let tasks = files.into_iter().map(task).collect::<Result<_, Failure>>()?;
        Ok(Self { tasks, size: shape.iter().product::<usize>() * layout.width, shape })
    }

    /// Divides the work on files if there are fewer files than threads.
    pub(super) fn divided(mut self, threads: usize) -> Self {
        let pieces = (2 * threads).div_ceil(self.tasks.len().max(1));
        let mut tasks = Vec::new();
        for Task { file, mut leaves } in self.tasks {
            let share = leaves.len().div_ceil(pieces);
            while !leaves.is_empty() {
                let rest = leaves.split_off(share.min(leaves.len()));
                tasks.push(Task { file: file.clone(), leaves: std::mem::replace(&mut leaves, rest) });
            }
        }
        self.tasks = tasks;
        self
    }
}

/// Returns the position of a row-major index in a grid.
fn unravel(number: usize, grid: &[usize]) -> Vec<usize> {
    strides(grid, 1).iter().zip(grid).map(|(stride, length)| number / stride % length).collect()
}
