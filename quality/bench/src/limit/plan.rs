//! The files that a selection touches, their leaves, and the part of each.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::document::Document;
use super::part::{Mask, Masked, Part, Points, Positions, Product};
use crate::case::{Selection, is_masked};
use crate::failure::Failure;
use crate::region::{Region, lengths};

/// The work on one file, or on some leaves of it.
pub(super) struct Task {
    pub(super) chunk: Vec<usize>,
    pub(super) leaves: Vec<Leaf>,
}

/// A leaf of a file, and what is meant of it.
pub(super) struct Leaf {
    /// Its number in the file.
    pub(super) index: usize,
    pub(super) part: Part,
    /// True if it lies in the array as a whole.
    pub(super) inside: bool,
    /// True if everything of it that lies in the array is meant.
    pub(super) covered: bool,
}

/// All that a selection touches.
pub(super) struct Plan<'d> {
    document: &'d Document,
    touched: Touched,
    /// In how many tasks a file is divided.
    divided: usize,
}

enum Touched {
    /// The combinations of what is touched along each axis.
    Product { axes: Vec<Axis>, strides: Vec<usize>, mask: Option<Arc<Mask>> },
    /// Files, and the leaves of each with their points.
    Points { list: Arc<Vec<(usize, usize)>>, files: Vec<(usize, Leaves)> },
}

type Leaves = Vec<(usize, Range<usize>)>;

/// The leaves and files that are touched along an axis.
struct Axis {
    /// The leaves, by their numbers along the whole axis.
    leaves: Vec<(usize, Positions)>,
    /// The files, and which of the leaves are in each.
    files: Vec<(usize, Range<usize>)>,
}

impl Axis {
    fn new(leaves: Vec<(usize, Positions)>, leaves_per_file: usize) -> Self {
        let mut files: Vec<(usize, Range<usize>)> = Vec::new();
        for (index, (leaf, _)) in leaves.iter().enumerate() {
            let file = leaf / leaves_per_file;
            match files.last_mut().filter(|(known, _)| *known == file) {
                Some((_, range)) => range.end = index + 1,
                None => files.push((file, index..index + 1)),
            }
        }
        Self { leaves, files }
    }
}

/// Evenly spaced positions, by leaves.
fn even(range: &Range<usize>, step: usize, leaf: usize) -> Vec<(usize, Positions)> {
    let (mut at, mut place) = (range.start, 0);
    let mut leaves = Vec::new();
    while at < range.end {
        let index = at / leaf;
        let count = (range.end.min((index + 1) * leaf) - at).div_ceil(step);
        leaves.push((index, Positions::Even { start: at - index * leaf, step, count, place }));
        at += count * step;
        place += count;
    }
    leaves
}

/// Listed positions, by leaves.
fn listed(indices: &[i64], length: usize, leaf: usize) -> Vec<(usize, Positions)> {
    let mut places: Vec<(usize, usize)> =
        indices.iter().enumerate().map(|(place, &index)| (position(index, length), place)).collect();
    places.sort_by_key(|(at, _)| *at);
    let by_leaf = places.chunk_by(|a, b| a.0 / leaf == b.0 / leaf);
    let one = |places: &[(usize, usize)]| {
        let index = places[0].0 / leaf;
        let list = places.iter().map(|(at, place)| (at - index * leaf, *place)).collect();
        (index, Positions::Listed(list))
    };
    by_leaf.map(one).collect()
}

/// Negative positions count from the end.
fn position(index: i64, length: usize) -> usize {
    (if index < 0 { index + length as i64 } else { index }) as usize
}

/// The distances of row-major elements of this size.
pub(super) fn strides(shape: &[usize], width: usize) -> Vec<usize> {
    let mut strides = vec![width; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis];
    }
    strides
}

/// A mask that was made before it is used.
pub(super) fn mask_of(document: &Document, seed: u64) -> Vec<bool> {
    let count: usize = document.shape.iter().product();
    (0..count as u64).map(|index| is_masked(index, seed)).collect()
}

/// Where a mask is true: a list for each axis.
fn masked_positions(shape: &[usize], flags: &[bool]) -> Vec<Vec<i64>> {
    let true_ones: Vec<usize> = (0..flags.len()).filter(|&flat| flags[flat]).collect();
    let axes = shape.iter().zip(strides(shape, 1));
    let along = |(length, stride)| true_ones.iter().map(|flat| (flat / stride % length) as i64).collect();
    axes.map(along).collect()
}

impl<'d> Plan<'d> {
    /// A box, and its values row-major.
    pub(super) fn of_box(document: &'d Document, region: &Region) -> Self {
        let lists = region.iter().zip(&document.leaf).map(|(range, &leaf)| even(range, 1, leaf)).collect();
        let lengths: Vec<usize> = lengths(region);
        Self::product(document, lists, &lengths, None)
    }

    /// A selection with the number of its elements. A mask's flags were made before.
    pub(super) fn of(
        document: &'d Document,
        selection: &Selection,
        flags: Option<&Arc<Vec<bool>>>,
    ) -> Result<(Self, usize), Failure> {
        let axes = document.shape.iter().zip(&document.leaf);
        let (lists, lengths): (Vec<_>, Vec<usize>) = match selection {
            Selection::Strided(slices) => {
                let ranges = slices.iter().zip(axes).map(|(slice, (&length, &leaf))| {
                    let range = slice.start..slice.stop.min(length);
                    (even(&range, slice.step, leaf), range.len().div_ceil(slice.step))
                });
                ranges.unzip()
            }
            Selection::Orthogonal(indices) => {
                let lists = indices.iter().zip(axes);
                lists.map(|(list, (&length, &leaf))| (listed(list, length, leaf), list.len())).unzip()
            }
            Selection::Blocks(blocks) => {
                let chunks = document.stored.iter().zip(&document.shape).zip(blocks);
                let region = chunks.map(|((chunk, length), block)| {
                    (block.start * chunk).min(*length)..(block.end * chunk).min(*length)
                });
                let region: Region = region.collect();
                let count = lengths(&region).iter().product();
                return Ok((Self::of_box(document, &region), count));
            }
            Selection::Coordinates(indices) => {
                let count = indices.first().map_or(0, Vec::len);
                return Ok((Self::points(document, indices), count));
            }
            Selection::Mask { .. } => {
                if !document.is_row_major() {
                    let indices =
                        masked_positions(&document.shape, flags.map_or(&[], |flags| flags.as_slice()));
                    return Ok((Self::points(document, &indices), indices.first().map_or(0, Vec::len)));
                }
                let mask = Mask::new(flags.cloned().unwrap_or_default(), &document.shape, &document.leaf);
                let count = mask.count;
                let lists = axes.map(|(&length, &leaf)| even(&(0..length), 1, leaf)).collect();
                let plan = Self::product(document, lists, &document.shape, Some(Arc::new(mask)));
                return Ok((plan, count));
            }
        };
        let count = lengths.iter().product();
        Ok((Self::product(document, lists, &lengths, None), count))
    }

    fn product(
        document: &'d Document,
        lists: Vec<Vec<(usize, Positions)>>,
        lengths: &[usize],
        mask: Option<Arc<Mask>>,
    ) -> Self {
        let axes = lists.into_iter().zip(document.leaves());
        let axes = axes.map(|(leaves, per_file)| Axis::new(leaves, per_file)).collect();
        let strides = strides(lengths, document.width());
        Self { document, touched: Touched::Product { axes, strides, mask }, divided: 1 }
    }

    fn points(document: &'d Document, indices: &[Vec<i64>]) -> Self {
        let (width, per_file) = (document.width(), document.leaves());
        let grid: Vec<usize> = document
            .shape
            .iter()
            .zip(&document.stored)
            .map(|(length, chunk)| length.div_ceil(*chunk))
            .collect();
        let in_leaf = leaf_strides(document);
        let leaves_in_file: usize = per_file.iter().product();
        let count = indices.first().map_or(0, Vec::len);
        // Each point's leaf, and its place there.
        let placed = |point: usize| {
            let (mut file, mut leaf, mut offset) = (0, 0, 0);
            for (axis, list) in indices.iter().enumerate() {
                let at = position(list[point], document.shape[axis]);
                let along = at / document.leaf[axis];
                file = file * grid[axis] + along / per_file[axis];
                leaf = leaf * per_file[axis] + along % per_file[axis];
                offset += at % document.leaf[axis] * in_leaf[axis];
            }
            (file * leaves_in_file + leaf, offset)
        };
        let keys = leaves_in_file * grid.iter().product::<usize>();
        let (list, leaves) = group((0..count).map(placed), keys, width, document.is_read_in_blocks());
        let mut files: Vec<(usize, Leaves)> = Vec::new();
        for (key, range) in leaves {
            let (file, leaf) = (key / leaves_in_file, key % leaves_in_file);
            match files.last_mut().filter(|(known, _)| *known == file) {
                Some((_, leaves)) => leaves.push((leaf, range)),
                None => files.push((file, vec![(leaf, range)])),
            }
        }
        Self { document, touched: Touched::Points { list: Arc::new(list), files }, divided: 1 }
    }

    /// Divides files where there are not enough of them for so many threads.
    pub(super) fn divided_for(mut self, threads: usize) -> Self {
        let files = self.files();
        if self.document.shards.is_some() && files > 0 && files < 2 * threads {
            self.divided = (2 * threads).div_ceil(files).min(self.document.leaves().iter().product());
        }
        self
    }

    pub(super) fn document(&self) -> &'d Document {
        self.document
    }

    fn files(&self) -> usize {
        match &self.touched {
            Touched::Product { axes, .. } => axes.iter().map(|axis| axis.files.len()).product(),
            Touched::Points { files, .. } => files.len(),
        }
    }

    pub(super) fn count(&self) -> usize {
        self.files() * self.divided
    }

    /// The number of bytes that are worked on at most.
    pub(super) fn bytes(&self) -> usize {
        self.files() * self.document.stored.iter().product::<usize>() * self.document.width()
    }

    pub(super) fn task(&self, index: usize) -> Task {
        let (file, piece) = (index / self.divided, index % self.divided);
        match &self.touched {
            Touched::Product { axes, strides, mask } => {
                self.product_task(axes, strides, mask.as_ref(), file, piece)
            }
            Touched::Points { list, files } => {
                let (file, leaves) = &files[file];
                let share = leaves.len().div_ceil(self.divided);
                let mut chunk = Vec::new();
                let mut rest = *file;
                for axis in (0..self.document.shape.len()).rev() {
                    let count = self.document.shape[axis].div_ceil(self.document.stored[axis]);
                    chunk.push(rest % count);
                    rest /= count;
                }
                chunk.reverse();
                let leaves = leaves.iter().skip(piece * share).take(share).map(|(index, range)| {
                    let width = self.document.width();
                    let part = Part::Points(Points { list: list.clone(), range: range.clone(), width });
                    Leaf { index: *index, part, inside: false, covered: false }
                });
                Task { chunk, leaves: leaves.collect() }
            }
        }
    }

    fn product_task(
        &self,
        axes: &[Axis],
        strides: &[usize],
        mask: Option<&Arc<Mask>>,
        mut file: usize,
        piece: usize,
    ) -> Task {
        let mut chosen: Vec<&(usize, Range<usize>)> = Vec::with_capacity(axes.len());
        for axis in axes.iter().rev() {
            chosen.push(&axis.files[file % axis.files.len()]);
            file /= axis.files.len();
        }
        chosen.reverse();
        let count: usize = chosen.iter().map(|(_, range)| range.len()).product();
        let share = count.div_ceil(self.divided);
        let mut touched: Vec<&(usize, Positions)> = Vec::with_capacity(axes.len());
        let in_leaf = leaf_strides(self.document);
        let leaves = (piece * share..count.min((piece + 1) * share)).map(|mut number| {
            touched.clear();
            for (axis, (_, range)) in axes.iter().zip(&chosen).rev() {
                touched.push(&axis.leaves[range.start + number % range.len()]);
                number /= range.len();
            }
            touched.reverse();
            self.leaf(&touched, &in_leaf, strides, mask)
        });
        Task { leaves: leaves.collect(), chunk: chosen.iter().map(|(file, _)| *file).collect() }
    }

    fn leaf(
        &self,
        touched: &[&(usize, Positions)],
        in_leaf: &[usize],
        strides: &[usize],
        mask: Option<&Arc<Mask>>,
    ) -> Leaf {
        let document = self.document;
        let (mut index, mut inside, mut covered) = (0, true, mask.is_none());
        let mut region = Region::with_capacity(touched.len());
        for (axis, (leaf, positions)) in touched.iter().enumerate() {
            let length = document.leaf[axis];
            let per_file = document.stored[axis] / length;
            index = index * per_file + leaf % per_file;
            let range = leaf * length..((leaf + 1) * length).min(document.shape[axis]);
            inside &= range.len() == length;
            covered &= matches!(positions, Positions::Even { step: 1, count, .. } if *count == range.len());
            region.push(range);
        }
        let width = document.width();
        let part = match mask {
            Some(mask) => Part::Masked(Masked { mask: mask.clone(), region, width }),
            None => {
                let axis = |&axis: &usize| (&touched[axis].1, in_leaf[axis], strides[axis]);
                let axes: Vec<_> = document.order.iter().map(axis).collect();
                Part::Product(Product::new(&axes, width))
            }
        };
        Leaf { index, part, inside, covered }
    }
}

/// The distances of a leaf's elements along each axis, as they are stored.
fn leaf_strides(document: &Document) -> Vec<usize> {
    let stored: Vec<usize> = document.order.iter().map(|&axis| document.leaf[axis]).collect();
    let mut by_axis = vec![0; stored.len()];
    for (stride, &axis) in strides(&stored, document.width()).into_iter().zip(&document.order) {
        by_axis[axis] = stride;
    }
    by_axis
}

/// Points by their leaves; in the order of the leaf's bytes where that matters.
fn group(
    points: impl Iterator<Item = (usize, usize)>,
    keys: usize,
    width: usize,
    ordered: bool,
) -> (Vec<(usize, usize)>, Leaves) {
    let points: Vec<(usize, usize)> = points.collect();
    let mut leaves = Leaves::new();
    let mut list = vec![(0, 0); points.len()];
    if keys <= 4 * points.len() + 1024 {
        let mut ends = vec![0; keys + 1];
        points.iter().for_each(|(key, _)| ends[key + 1] += 1);
        for key in 0..keys {
            ends[key + 1] += ends[key];
            if ends[key + 1] > ends[key] {
                leaves.push((key, ends[key]..ends[key + 1]));
            }
        }
        for (place, (key, offset)) in points.iter().enumerate() {
            list[ends[*key]] = (*offset, place * width);
            ends[*key] += 1;
        }
    } else {
        let mut by_key: BTreeMap<usize, Vec<(usize, usize)>> = BTreeMap::new();
        for (place, (key, offset)) in points.iter().enumerate() {
            by_key.entry(*key).or_default().push((*offset, place * width));
        }
        list.clear();
        for (key, points) in by_key {
            let start = list.len();
            list.extend(points);
            leaves.push((key, start..list.len()));
        }
    }
    if ordered {
        leaves.iter().for_each(|(_, range)| list[range.clone()].sort_unstable());
    }
    (list, leaves)
}
