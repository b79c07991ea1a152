//! Selections of elements of datasets, along each dimension or as single points.

use zarrox::{DimSelection, Result};

use super::format::{Blocks, Hyperslab};
use crate::input::{corrupt, unsupported};

/// The maximum number of elements that can be selected as single points.
const MOST_POINTS: u64 = 1 << 20;

/// Evenly spaced blocks along one dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Steps {
    start: u64,
    stride: u64,
    block: u64,
    /// The number of elements; the last block may be truncated.
    length: u64,
}

impl Steps {
    /// Converts the blocks of a selection. Unlimited blocks are truncated to `most` elements.
    ///
    /// # Errors
    /// If the numbers are too large.
    pub(super) fn of(blocks: &Blocks, most: u64) -> Result<Self> {
        let Blocks { start, stride, count, block } = *blocks;
        let block = block.unwrap_or(most);
        // The stride of a single block is irrelevant.
        let stride = if count == Some(1) { stride.max(block) } else { stride };
        let length = count.map_or(Some(most), |count| count.checked_mul(block));
        let length = if block == 0 { Some(0) } else { length };
        let steps =
            Self { start, stride: stride.max(1), block: block.max(1), length: length.unwrap_or(u64::MAX) };
        let is_sane = steps.length <= 1 << 62
            && steps.stride >= steps.block.min(steps.length)
            && steps.checked_end().is_some();
        if is_sane {
            Ok(steps)
        } else {
            Err(corrupt("a selection of a virtual dataset has blocks that are too large"))
        }
    }

    /// Returns a run of `length` contiguous elements that begins at `start`.
    pub(super) fn run(start: u64, length: u64) -> Self {
        Self { start, stride: length.max(1), block: length.max(1), length }
    }

    /// Returns the same blocks with a different number of elements.
    pub(super) fn with_length(self, length: u64) -> Self {
        Self { length, ..self }
    }

    pub(super) fn length(self) -> u64 {
        self.length
    }

    /// Returns the position of the selected element with the given index.
    pub(super) fn at(self, number: u64) -> u64 {
        let blocks = (number / self.block).saturating_mul(self.stride);
        self.start.saturating_add(blocks).saturating_add(number % self.block)
    }

    fn checked_end(self) -> Option<u64> {
        let Some(last) = self.length.checked_sub(1) else { return Some(self.start) };
        let blocks = (last / self.block).checked_mul(self.stride)?;
        self.start.checked_add(blocks)?.checked_add(last % self.block)?.checked_add(1)
    }

    /// Returns the position after the last selected element.
    pub(super) fn end(self) -> u64 {
        self.checked_end().unwrap_or(u64::MAX)
    }

    /// Returns the number of selected elements before a position.
    pub(super) fn before(self, position: u64) -> u64 {
        let Some(distance) = position.checked_sub(self.start) else { return 0 };
        let whole = (distance / self.stride).saturating_mul(self.block);
        whole.saturating_add((distance % self.stride).min(self.block)).min(self.length)
    }

    /// Returns the number of selected elements before a position, as if the number of blocks were unlimited.
    pub(super) fn endless_before(self, position: u64) -> u64 {
        self.with_length(u64::MAX).before(position)
    }

    /// Returns the selection of the elements `from..to` of these blocks.
    pub(super) fn selection(self, from: u64, to: u64) -> DimSelection {
        let is_one_run = to <= from || self.at(to - 1) - self.at(from) == to - 1 - from;
        let (start, stop) = (self.at(from), if to > from { self.at(to - 1) + 1 } else { self.at(from) });
        let step = if is_one_run {
            Some(1)
        } else if self.block == 1 {
            i64::try_from(self.stride).ok()
        } else {
            None
        };
        match (i64::try_from(start), i64::try_from(stop), step) {
            (Ok(start), Ok(stop), Some(step)) => {
                DimSelection::Slice { start: Some(start), stop: Some(stop), step }
            }
            _ => (from..to).map(|number| self.at(number)).collect::<Vec<u64>>().into(),
        }
    }
}

/// The elements of a selection: an outer product of positions along each dimension, or a list of points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Selected {
    Along(Vec<Steps>),
    Points(Vec<Vec<u64>>),
}

impl Selected {
    /// Converts a selection of elements of a dataset with the given shape.
    pub(super) fn of(hyperslab: &Hyperslab, shape: &[u64]) -> Result<Self> {
        let rank = |found: usize| {
            let message =
                "a selection of a virtual dataset has a different number of dimensions than its dataset";
            if found == shape.len() { Ok(()) } else { Err(corrupt(message)) }
        };
        Ok(match hyperslab {
            Hyperslab::All => Self::Along(shape.iter().map(|&length| Steps::run(0, length)).collect()),
            Hyperslab::None => Self::Along(shape.iter().map(|_| Steps::run(0, 0)).collect()),
            Hyperslab::Regular(blocks) => {
                rank(blocks.len())?;
                let along = blocks
                    .iter()
                    .zip(shape)
                    .map(|(blocks, &length)| Steps::of(blocks, length.saturating_sub(blocks.start)));
                Self::Along(along.collect::<Result<_>>()?)
            }
            Hyperslab::Boxes(boxes) => {
                boxes.iter().try_for_each(|(first, last)| rank(first.len()).and(rank(last.len())))?;
                match boxes.as_slice() {
                    [(first, last)] => {
                        let run = |(&first, &last): (&u64, &u64)| {
                            Steps::run(first, last.saturating_sub(first).saturating_add(1))
                        };
                        Self::Along(first.iter().zip(last).map(run).collect())
                    }
                    boxes => Self::Points(in_boxes(boxes)?),
                }
            }
            Hyperslab::Points(points) => {
                points.iter().try_for_each(|point| rank(point.len()))?;
                Self::Points(points.clone())
            }
        })
    }

    /// Returns the number of elements.
    pub(super) fn count(&self) -> u64 {
        match self {
            Self::Along(steps) => {
                steps.iter().fold(1, |count: u64, steps| count.saturating_mul(steps.length()))
            }
            Self::Points(points) => points.len() as u64,
        }
    }

    /// Returns the selected elements as single points, in order.
    pub(super) fn points(&self) -> Result<Vec<Vec<u64>>> {
        match self {
            Self::Points(points) => Ok(points.clone()),
            Self::Along(steps) => {
                few(self.count())?;
                let grid: Vec<u64> = steps.iter().map(|steps| steps.length()).collect();
                let mut points = Vec::new();
                let _ = crate::chunks::each_position(&grid, &mut |numbers| {
                    points.push(steps.iter().zip(numbers).map(|(steps, &number)| steps.at(number)).collect());
                    std::ops::ControlFlow::Continue(())
                });
                Ok(points)
            }
        }
    }
}

fn few(count: u64) -> Result<()> {
    if count <= MOST_POINTS {
        return Ok(());
    }
    Err(unsupported(format!(
        "a virtual dataset selects {count} elements one by one; at most {MOST_POINTS} are supported"
    )))
}

/// Returns the elements of hyperslabs in row-major order, as in HDF5.
fn in_boxes(boxes: &[(Vec<u64>, Vec<u64>)]) -> Result<Vec<Vec<u64>>> {
    let mut all = Vec::new();
    for (first, last) in boxes {
        let along = first
            .iter()
            .zip(last)
            .map(|(&first, &last)| Steps::run(first, last.saturating_sub(first).saturating_add(1)));
        let along = Selected::Along(along.collect());
        few(along.count().saturating_add(all.len() as u64))?;
        all.extend(along.points()?);
    }
    all.sort_unstable();
    all.dedup();
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarrox::ErrorKind;
    use zarrox_testkit::errors::assert_error;

    #[test]
    fn elements_are_counted_and_found() {
        let blocks = Blocks { start: 2, stride: 5, count: Some(3), block: Some(2) };
        let steps = Steps::of(&blocks, 100).unwrap();
        let all: Vec<u64> = (0..steps.length()).map(|number| steps.at(number)).collect();
        assert_eq!(all, [2, 3, 7, 8, 12, 13]);
        assert_eq!(steps.end(), 14);
        for position in 0..20 {
            let before = all.iter().filter(|&&at| at < position).count() as u64;
            assert_eq!(steps.before(position), before, "{position}");
        }
        assert_eq!(steps.selection(0, 2), DimSelection::Slice { start: Some(2), stop: Some(4), step: 1 });
        assert_eq!(steps.selection(1, 4), vec![3_u64, 7, 8].into());
        let single = Steps::of(&Blocks { start: 1, stride: 3, count: None, block: Some(1) }, 4).unwrap();
        assert_eq!(single.selection(0, 4), DimSelection::Slice { start: Some(1), stop: Some(11), step: 3 });
        for (start, stride, count, block) in [(0, 1, u64::MAX, 2), (u64::MAX, 1, 2, 1), (0, u64::MAX, 3, 1)] {
            let blocks = Blocks { start, stride, count: Some(count), block: Some(block) };
            assert_error(Steps::of(&blocks, 1), ErrorKind::Corrupt, "too large");
        }
    }

    #[test]
    fn boxes_are_in_the_order_of_the_dataset() {
        let boxes = Hyperslab::Boxes(vec![(vec![1, 0], vec![1, 1]), (vec![0, 2], vec![0, 2])]);
        let selected = Selected::of(&boxes, &[2, 3]).unwrap();
        assert_eq!(selected.points().unwrap(), [vec![0, 2], vec![1, 0], vec![1, 1]]);
        assert_error(Selected::of(&boxes, &[3]), ErrorKind::Corrupt, "a different number of dimensions");
    }
}
