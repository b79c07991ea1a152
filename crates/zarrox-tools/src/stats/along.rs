//! Statistics along axes: one parallel pass, in bounded memory.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use zarrox_core::{DataType, Error, ErrorKind, Result, Selection};
use zarrox_stores::MemoryStore;

use super::Statistics;
use super::counted::Counted;
use crate::pass::{Pass, Region, elements_of};
use crate::rechunk::{Cells, StoredCells, selection};
use crate::reduce::{self, Measure, Running, running, size};
use zarrox::internals::{ErrorPlace, Task, argument};
use zarrox::{Array, DynArray};

/// The size in bytes up to which several chunks are combined into one part.
const CACHED: u64 = 1 << 20;

/// The maximum number of stored or selected parts.
const MOST: usize = 1 << 26;

/// The number of blocks of results that are computed concurrently, for each thread.
const BEGUN: usize = 4;

/// The ranges of one axis into which the array is divided for reading.
enum Cuts {
    /// Ranges of equal length; the last range may be shorter.
    Even { length: u64, axis: u64 },
    /// Ranges of a selection.
    Listed(Vec<(u64, u64)>),
}

impl Cuts {
    fn count(&self) -> u64 {
        match self {
            Self::Even { length, axis } => axis.div_ceil(*length),
            Self::Listed(ranges) => ranges.len() as u64,
        }
    }

    fn get(&self, index: u64) -> (u64, u64) {
        match self {
            Self::Even { length, axis } => {
                (index * length, (index * length).saturating_add(*length).min(*axis))
            }
            Self::Listed(ranges) => {
                usize::try_from(index).ok().and_then(|index| ranges.get(index)).copied().unwrap_or_default()
            }
        }
    }
}

/// The division of the computation: blocks of the result, and the parts of the array for each block.
struct Division {
    shape: Vec<u64>,
    reduced: Vec<bool>,
    cuts: Vec<Cuts>,
    /// The parts that are read, in the order of their blocks: each as the number of its block, and its own number along the
    /// reduced axes. `None` for all parts.
    stored: Option<Vec<(u64, u64)>>,
}

impl Division {
    /// Returns the product of numbers along the kept or the reduced axes.
    fn product(&self, reduced: bool, number: impl Fn(usize) -> u64) -> u64 {
        let dims = (0..self.shape.len()).filter(|&dim| self.reduced[dim] == reduced);
        dims.fold(1, |all: u64, dim| all.saturating_mul(number(dim)))
    }

    fn blocks(&self) -> u64 {
        self.product(false, |dim| self.cuts[dim].count())
    }

    /// Returns the number of values for each element of the result.
    fn depth(&self) -> u64 {
        self.product(true, |dim| self.shape[dim])
    }

    /// Returns the ranges that have a number along the kept or along the reduced axes.
    fn ranges(&self, reduced: bool, mut number: u64) -> Region {
        let mut ranges = Vec::new();
        for dim in (0..self.shape.len()).rev().filter(|&dim| self.reduced[dim] == reduced) {
            let count = self.cuts[dim].count().max(1);
            ranges.push(self.cuts[dim].get(number % count));
            number /= count;
        }
        ranges.reverse();
        ranges
    }

    /// Returns the region of a part of the array.
    fn region(&self, block: &[(u64, u64)], along: &[(u64, u64)]) -> Region {
        let (mut kept, mut reduced) = (block.iter(), along.iter());
        let range = |&is_reduced: &bool| if is_reduced { reduced.next() } else { kept.next() };
        self.reduced.iter().filter_map(range).copied().collect()
    }

    /// Returns the division of each axis into blocks, each of which is reduced to one element.
    fn reduced_blocks(&self) -> Vec<reduce::Division> {
        let of = |&reduced: &bool| if reduced { reduce::Division::ALL } else { reduce::Division::EACH };
        self.reduced.iter().map(of).collect()
    }

    /// Returns the shape of the results of a block, including the reduced axes.
    fn results(&self, block: &[(u64, u64)]) -> Result<Vec<usize>> {
        let one = vec![(0, 1); self.shape.len() - block.len()];
        let length = |(begin, end): &(u64, u64)| usize::try_from(end - begin);
        let lengths: Result<_, _> = self.region(block, &one).iter().map(length).collect();
        lengths.map_err(|_| argument("a chunk exceeds the address space"))
    }

    /// Returns the ranges of a part along the kept axes.
    fn block_of(&self, region: &[(u64, u64)]) -> Region {
        region.iter().zip(&self.reduced).filter(|(_, reduced)| !**reduced).map(|(&range, _)| range).collect()
    }

    /// Returns the parts of a block that are read, by their numbers along the reduced axes.
    fn parts(&self, block: u64) -> Vec<u64> {
        match &self.stored {
            None => (0..self.product(true, |dim| self.cuts[dim].count())).collect(),
            Some(stored) => {
                let begin = stored.partition_point(|&(other, _)| other < block);
                stored[begin..]
                    .iter()
                    .take_while(|(other, _)| *other == block)
                    .map(|&(_, part)| part)
                    .collect()
            }
        }
    }
}

/// The output arrays of statistics.
type Outputs<'a> = &'a [(Measure, &'a Array)];

impl Statistics {
    /// Returns the shape of statistics along axes of an array: the shape of the array, or of the selection, without these axes.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] if an axis is out of bounds or repeated; the errors of selecting.
    pub fn shape_along(&self, array: &Array, axes: &[usize]) -> Result<Vec<u64>> {
        let shape = self.selected_shape(array)?;
        let reduced = flags(&shape, axes)?;
        Ok(shape.into_iter().zip(reduced).filter(|(_, reduced)| !reduced).map(|(length, _)| length).collect())
    }

    /// Computes statistics along axes of an array: each element of a result is computed from all elements along these axes. NaN
    /// is ignored.
    ///
    /// ```
    /// use zarrox::prelude::*;
    /// use zarrox_tools::Statistics;
    /// use zarrox_tools::stats::Measure;
    /// # let directory = tempfile::tempdir()?;
    /// let array = zarrox::create_array(directory.path().join("a.zarr")).shape([2, 3]).data_type(DataType::Int32).create()?;
    /// array.write(.., arr2(&[[1, 2, 3], [5, 2, 7]]))?;
    ///
    /// let found = Statistics::new().along(&array, &[0], &[Measure::Max, Measure::Mean])?;
    /// assert_eq!(found[0].to::<Vec<i32>>()?, [5, 2, 7]);
    /// assert_eq!(found[1].to::<Vec<f64>>()?, [3.0, 2.0, 5.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`along_into`](Self::along_into).
    pub fn along(&self, array: &Array, axes: &[usize], measures: &[Measure]) -> Result<Vec<DynArray>> {
        let shape = self.shape_along(array, axes)?;
        let of = Counted::new(array, self.field.as_deref())?.data_type;
        let chunks: Vec<u64> = match self.part {
            Some(_) => shape.iter().map(|&length| length.max(1)).collect(),
            None => (0..array.ndim())
                .filter(|dim| !axes.contains(dim))
                .map(|dim| array.unit_shape()[dim])
                .collect(),
        };
        let make = |measure: &Measure| {
            let builder = array.open_options().create_array((Arc::new(MemoryStore::new()), ""));
            let builder = builder.shape(shape.clone()).data_type(measure.data_type(&of));
            builder.chunks(chunks.clone()).no_compressor().create()
        };
        let arrays: Vec<Array> = measures.iter().map(make).collect::<Result<_>>()?;
        let outputs: Vec<_> = measures.iter().copied().zip(&arrays).collect();
        self.along_into(array, axes, &outputs)?;
        arrays.iter().map(|array| array.read::<DynArray>(Selection::all())).collect()
    }

    /// Computes statistics along axes of an array, and writes each statistic into an array with the shape from
    /// [`shape_along`](Self::shape_along) and the data type from [`Measure::data_type`]. Results in progress take at most half of
    /// the [`memory`](Self::memory). Histograms, percentiles, unique elements and [`missing`](Self::missing) are not supported
    /// along axes.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] if an axis is out of bounds, the shape of an output differs, or an extreme of zero integers
    /// is requested; [`ErrorKind::Unsupported`] if the elements are not real numbers; the errors of reading and writing.
    pub fn along_into(&self, array: &Array, axes: &[usize], outputs: &[(Measure, &Array)]) -> Result<()> {
        if self.bins > 0 || self.unique > 0 || !self.percentiles.is_empty() {
            return Err(argument("histograms, percentiles and unique elements are not supported along axes"));
        }
        if !self.missing.is_empty() {
            return Err(argument("missing values are not supported along axes"));
        }
        let place = |error: Error| error.at(ErrorPlace::array(array.path()));
        let counted = Counted::new(array, self.field.as_deref()).map_err(place)?;
        let shape = self.shape_along(array, axes)?;
        for (measure, output) in outputs {
            if output.shape() != shape.as_slice() {
                let message = format!(
                    "the {measure} has the shape {shape:?}, but its output array {:?}",
                    output.shape()
                );
                return Err(argument(message));
            }
            let expected = measure.data_type(&counted.data_type);
            if *output.data_type() != expected {
                let message = format!(
                    "the {measure} has the data type {expected}, but its output array {}",
                    output.data_type()
                );
                return Err(Error::new(ErrorKind::DataTypeMismatch, message));
            }
        }
        if shape.contains(&0) {
            return Ok(());
        }
        let division = self.division(array, axes)?;
        self.reduce(array, &counted, &division, outputs)
    }

    fn selected_shape(&self, array: &Array) -> Result<Vec<u64>> {
        match &self.part {
            Some(part) => array.slice(part.clone()).shape(),
            None => Ok(array.shape().to_vec()),
        }
    }

    fn division(&self, array: &Array, axes: &[usize]) -> Result<Division> {
        let shape = self.selected_shape(array)?;
        let reduced = flags(&shape, axes)?;
        if shape.contains(&0) {
            let cuts =
                shape.iter().map(|&length| Cuts::Even { length: length.max(1), axis: length }).collect();
            return Ok(Division { shape, reduced, cuts, stored: None });
        }
        if let Some(part) = &self.part {
            let most = (CACHED / array.data_type().size().max(1) as u64).max(1);
            let mut cuts: Vec<BTreeMap<u64, u64>> = shape.iter().map(|_| BTreeMap::new()).collect();
            for region in array.slice(part.clone()).parts(most, zarrox::Order::RowMajor)? {
                for (cuts, range) in cuts.iter_mut().zip(region) {
                    cuts.insert(range.start, range.end);
                }
            }
            let cuts = cuts.into_iter().map(|cuts| Cuts::Listed(cuts.into_iter().collect())).collect();
            return Ok(Division { shape, reduced, cuts, stored: None });
        }
        let lengths = self.lengths(array, &reduced);
        let cuts: Vec<Cuts> =
            lengths.iter().zip(&shape).map(|(&length, &axis)| Cuts::Even { length, axis }).collect();
        let mut stored = StoredCells::new();
        Cells::new(&shape, lengths).add_stored(array, &mut stored, MOST)?;
        let mut division = Division { shape, reduced, cuts, stored: None };
        let mut numbers: Vec<(u64, u64)> = stored.into_keys().map(|cell| numbers(&division, cell)).collect();
        numbers.sort_unstable();
        division.stored = Some(numbers);
        Ok(division)
    }

    /// Returns the shape of parts: whole stored objects, or chunks if objects are too large. Along the reduced axes, small
    /// objects are combined.
    fn lengths(&self, array: &Array, reduced: &[bool]) -> Vec<u64> {
        let item = array.data_type().size().max(1) as u64;
        let size = |lengths: &[u64]| lengths.iter().fold(item, |size, &length| size.saturating_mul(length));
        let shape = array.shape();
        let most = self.memory as u64 / (2 * array.cores().threads() as u64);
        let whole: Vec<u64> = array.chunk_grid().largest_chunk().to_vec();
        let units = if size(&whole) > most { array.unit_shape() } else { whole };
        let mut lengths: Vec<u64> =
            units.iter().zip(shape).map(|(&unit, &axis)| unit.clamp(1, axis.max(1))).collect();
        for wanted in [true, false] {
            for dim in (0..shape.len()).rev().filter(|&dim| reduced[dim] == wanted) {
                let times = (CACHED / size(&lengths).max(1)).max(1);
                lengths[dim] = lengths[dim]
                    .saturating_mul(times)
                    .min(shape[dim].div_ceil(units[dim].max(1)) * units[dim].max(1));
            }
        }
        lengths
    }

    fn reduce(
        &self,
        array: &Array,
        counted: &Counted,
        division: &Division,
        outputs: Outputs<'_>,
    ) -> Result<()> {
        let work = Task::new(self.memory, self.listener.clone());
        let with_deviation = outputs.iter().any(|(measure, _)| *measure == Measure::Std);
        let elements = division.product(false, |dim| {
            let (begin, end) = division.cuts[dim].get(0);
            end - begin
        });
        let bytes =
            usize::try_from(elements).unwrap_or(usize::MAX).saturating_mul(size(counted.number_type()));
        let room = (self.memory / 2 / bytes.max(1)).max(1);
        let threads = array.cores().threads();
        let at_once = room.min(threads * BEGUN) as u64;
        let mut first = 0;
        while first < division.blocks() {
            let band = first..division.blocks().min(first + at_once);
            // As far as the memory allows, threads that work on the same block have separate results.
            let count = usize::try_from(band.end - band.start).unwrap_or(1).max(1);
            let copies = threads.div_ceil(count).min((room / count).max(1));
            first = band.end;
            let blocks = self.band(array, counted, division, band, (copies, with_deviation), &work)?;
            for (block, mut found) in blocks {
                write(counted, &block, found.as_mut(), outputs)?;
            }
        }
        Ok(())
    }

    /// Computes the statistics of some blocks.
    fn band(
        &self,
        array: &Array,
        counted: &Counted,
        division: &Division,
        band: Range<u64>,
        (copies, with_deviation): (usize, bool),
        work: &Task,
    ) -> Result<Vec<(Region, Box<dyn Running>)>> {
        let (begin, divisions) = (band.start, division.reduced_blocks());
        let mut parts: Vec<(usize, u64, Region)> = Vec::new();
        let (mut blocks, mut reductions, mut absent) = (BTreeMap::new(), Vec::new(), Vec::new());
        for number in band {
            let block = division.ranges(false, number);
            let mut left = division.depth();
            for (nth, part) in division.parts(number).into_iter().enumerate() {
                let along = division.ranges(true, part);
                left -= elements_of(&along);
                parts.push((nth, number - begin, division.region(&block, &along)));
            }
            let results = division.results(&block)?;
            reductions.push(running(counted.number_type(), &results, copies, &[], with_deviation));
            blocks.insert(block, blocks.len());
            absent.push(left);
        }
        // Consecutive parts belong to different blocks, which are processed concurrently.
        parts.sort_by_key(|(nth, block, _)| (*nth, *block));
        let regions: Vec<Region> = parts.into_iter().map(|(_, _, region)| region).collect();
        let pass = Pass::of_regions(array, self.part.clone(), regions, self.memory / 2);
        pass.run(
            work,
            || (),
            |(), region, values| {
                let values = counted.values(values[0])?;
                let numbers = counted.numbers(&values)?;
                let block = blocks.get(&division.block_of(region)).copied().unwrap_or_default();
                let own: Region = region.iter().map(|(begin, end)| (0, end - begin)).collect();
                reductions[block].add(numbers.as_bytes(), &divisions, &own);
                Ok(())
            },
        )?;
        let finished = reductions.into_iter().zip(absent).map(|(mut all, absent)| {
            all.finish(&counted.fill_number, absent);
            all
        });
        // The blocks in the map are ordered by their numbers, and thus by their ranges.
        Ok(blocks.into_keys().zip(finished).collect())
    }
}

/// Writes the statistics of a block to the output arrays.
fn write(
    counted: &Counted,
    block: &[(u64, u64)],
    found: &mut dyn Running,
    outputs: Outputs<'_>,
) -> Result<()> {
    let shape: Vec<usize> =
        block.iter().map(|(begin, end)| usize::try_from(end - begin).unwrap_or(usize::MAX)).collect();
    for (measure, output) in outputs {
        let bytes = found
            .bytes(*measure)
            .ok_or_else(|| argument(format!("the axes have no elements, so the {measure} is undefined")))?;
        let values = match measure {
            Measure::Min | Measure::Max => {
                counted.uncast(DynArray::new(counted.number_type().clone(), shape.clone(), bytes)?)?
            }
            Measure::Count | Measure::Nan => DynArray::new(DataType::UInt64, shape.clone(), bytes)?,
            Measure::Mean | Measure::Std => DynArray::new(DataType::Float64, shape.clone(), bytes)?,
        };
        let part: Selection = selection(block).into_iter().collect();
        output.write(part, &values)?;
    }
    Ok(())
}

/// Returns a flag for each axis: true if it is one of `axes`.
fn flags(shape: &[u64], axes: &[usize]) -> Result<Vec<bool>> {
    let mut reduced = vec![false; shape.len()];
    for &axis in axes {
        match reduced.get_mut(axis) {
            Some(flag) if !*flag => *flag = true,
            Some(_) => return Err(argument(format!("the axis {axis} is repeated"))),
            None => {
                return Err(argument(format!(
                    "axis {axis} is out of bounds: the array has {} dimensions",
                    shape.len()
                )));
            }
        }
    }
    if axes.is_empty() { Err(argument("the list of axes is empty")) } else { Ok(reduced) }
}

/// Returns the number of the block of a cell, and the number of the cell along the reduced axes.
#[expect(clippy::cast_possible_truncation, reason = "a remainder of a division by a u64")]
fn numbers(division: &Division, mut cell: u128) -> (u64, u64) {
    let (mut block, mut part) = ((0, 1), (0, 1));
    for dim in (0..division.shape.len()).rev() {
        let count = division.cuts[dim].count().max(1);
        let (number, factor) = if division.reduced[dim] { &mut part } else { &mut block };
        *number += (cell % u128::from(count)) as u64 * *factor;
        *factor *= count;
        cell /= u128::from(count);
    }
    (block.0, part.0)
}
