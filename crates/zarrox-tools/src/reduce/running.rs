//! Accumulates the statistics of blocks that span several boxes.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use zarrox_core::DataType;
use zarrox_core::internals::data_type::Primitive;

use super::division::{Division, Rows};
use super::{Measure, Moments, moments, with_number};

/// The statistics of blocks, for a data type that is known only at run time. Several threads may add values concurrently.
pub(crate) trait Running: Send + Sync {
    /// Adds a box of values in row-major order. `region` is the start and end of the box along each axis.
    fn add(&self, bytes: &[u8], divisions: &[Division], region: &[(u64, u64)]);

    /// Adds a box whose elements have one value.
    fn add_value(&self, value: &[u8], divisions: &[Division], region: &[(u64, u64)]);

    /// Adds one value `times` times to each block, after all boxes have been added.
    fn finish(&mut self, value: &[u8], times: u64);

    /// Returns the bytes of a statistic of all blocks; `None` if it is undefined for a block.
    fn bytes(&mut self, measure: Measure) -> Option<Vec<u8>>;
}

/// Creates empty statistics for a result of this shape, with a copy for each of `copies` threads. The values in `missing` are
/// ignored like NaN.
pub(crate) fn running(
    data_type: &DataType,
    shape: &[usize],
    copies: usize,
    missing: &[u8],
    with_deviation: bool,
) -> Box<dyn Running> {
    with_number!(data_type, boxed(shape, copies, missing, with_deviation))
}

/// Returns the size of the statistics of one block, in bytes.
pub(crate) fn size(data_type: &DataType) -> usize {
    4 * size_of::<f64>() + 2 * data_type.size()
}

fn boxed<T: Primitive + 'static>(
    shape: &[usize],
    copies: usize,
    missing: &[u8],
    with_deviation: bool,
) -> Box<dyn Running> {
    let copy = || Statistics::<T>::new(shape, missing, with_deviation);
    Box::new(Copies { first: Mutex::new(copy()), others: (1..copies).map(|_| Mutex::new(copy())).collect() })
}

/// Statistics of the same blocks, each over a part of the values.
struct Copies<T> {
    first: Mutex<Statistics<T>>,
    others: Vec<Mutex<Statistics<T>>>,
}

impl<T: Primitive> Copies<T> {
    /// Locks a free copy or, if all copies are in use, the first one.
    fn free(&self) -> MutexGuard<'_, Statistics<T>> {
        let unused = [&self.first].into_iter().chain(&self.others).find_map(|one| one.try_lock().ok());
        unused.unwrap_or_else(|| self.first.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn first(&mut self) -> &mut Statistics<T> {
        self.first.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Primitive> Running for Copies<T> {
    fn add(&self, bytes: &[u8], divisions: &[Division], region: &[(u64, u64)]) {
        self.free().add(bytes, divisions, region);
    }

    fn add_value(&self, value: &[u8], divisions: &[Division], region: &[(u64, u64)]) {
        self.free().add_value(T::of_bytes(value), divisions, region);
    }

    fn finish(&mut self, value: &[u8], times: u64) {
        for other in std::mem::take(&mut self.others) {
            self.first().join(&other.into_inner().unwrap_or_else(PoisonError::into_inner));
        }
        self.first().add_repeated(T::of_bytes(value), times);
    }

    fn bytes(&mut self, measure: Measure) -> Option<Vec<u8>> {
        let is_extreme = matches!(measure, Measure::Min | Measure::Max);
        let found = self.first();
        match T::NAN.or(found.missing.first().copied()) {
            None if is_extreme && found.has_gaps() => None,
            none => Some(found.bytes(measure, none.unwrap_or(T::LOWEST))),
        }
    }
}

/// The statistics of the blocks of a result.
struct Statistics<T> {
    shape: Vec<usize>,
    missing: Vec<T>,
    /// The number of values in each block that are not ignored. Floats are exact up to 2^53, and need no conversion before a
    /// division.
    counts: Vec<f64>,
    sums: Vec<f64>,
    low: Vec<T>,
    high: Vec<T>,
    /// The means, and the sums of the squared deviations from them; empty if deviations are not requested.
    means: Vec<f64>,
    squares: Vec<f64>,
    /// The number of values along the axes that have a single block, including NaN.
    total: u64,
}

impl<T: Primitive> Statistics<T> {
    /// Creates empty statistics.
    fn new(shape: &[usize], missing: &[u8], with_deviation: bool) -> Self {
        let blocks = shape.iter().product();
        let deviations = if with_deviation { blocks } else { 0 };
        Self {
            shape: shape.to_vec(),
            missing: missing.chunks_exact(size_of::<T>()).map(T::of_bytes).collect(),
            counts: vec![0.0; blocks],
            sums: vec![0.0; blocks],
            low: vec![T::HIGHEST; blocks],
            high: vec![T::LOWEST; blocks],
            means: vec![0.0; deviations],
            squares: vec![0.0; deviations],
            total: 0,
        }
    }

    /// Adds a box of values in row-major order.
    fn add(&mut self, bytes: &[u8], divisions: &[Division], region: &[(u64, u64)]) {
        let shape = std::mem::take(&mut self.shape);
        let rows = Rows::new(divisions, region, &shape);
        let (inner, width) = (&rows.inner, rows.inner.length * size_of::<T>());
        let counts_all = self.missing.is_empty();
        let run = |number| {
            let run = inner.run(number);
            run.start * size_of::<T>()..run.end * size_of::<T>()
        };
        let value = if inner.is_each() { None } else { repeated::<T>(bytes) };
        let runs: Vec<Range<usize>> =
            match counts_all && value.is_none() && (inner.is_each() || inner.is_all()) {
                true => Vec::new(),
                false => (0..inner.count).map(run).collect(),
            };
        rows.each(|place, starts| {
            if let Some(value) = value {
                let blocks = (place..).zip(&runs);
                let times = |run: &Range<usize>| (starts.len() * run.len() / size_of::<T>()) as u64;
                return blocks.for_each(|(block, run)| self.repeat(block, value, times(run)));
            }
            for start in starts {
                let row = &bytes[start * size_of::<T>()..start * size_of::<T>() + width];
                if counts_all && inner.is_each() {
                    self.add_row(place, row);
                } else if counts_all && inner.is_all() {
                    self.join_at(place, &moments::<T>(row), row);
                } else {
                    let blocks = (place..).zip(&runs);
                    blocks.for_each(|(block, run)| self.add_run(block, &row[run.clone()]));
                }
            }
        });
        self.shape = shape;
        self.total += total(divisions, region);
    }

    /// Adds a box whose elements have one value.
    fn add_value(&mut self, value: T, divisions: &[Division], region: &[(u64, u64)]) {
        let shape = std::mem::take(&mut self.shape);
        let rows = Rows::new(divisions, region, &shape);
        rows.each(|place, starts| {
            for number in 0..rows.inner.count {
                self.repeat(place + number, value, (starts.len() * rows.inner.run(number).len()) as u64);
            }
        });
        self.shape = shape;
        self.total += total(divisions, region);
    }

    /// Adds contiguous values to one block.
    fn add_run(&mut self, block: usize, run: &[u8]) {
        match self.missing.is_empty() {
            true => self.add_some(block, run, |_, value| !value.is_nan()),
            false => self.add_some(block, run, |missing, value| !value.is_nan() && !missing.contains(&value)),
        }
    }

    #[inline(always)]
    fn add_some(&mut self, block: usize, run: &[u8], counts: impl Fn(&[T], T) -> bool) {
        let before = self.counts[block];
        let (mut count, mut sum) = (before, self.sums[block]);
        let (mut low, mut high) = (self.low[block], self.high[block]);
        for value in run.chunks_exact(size_of::<T>()).map(T::of_bytes) {
            if counts(&self.missing, value) {
                count += 1.0;
                sum += value.to_f64();
                low = if value < low { value } else { low };
                high = if value > high { value } else { high };
            }
        }
        (self.counts[block], self.sums[block]) = (count, sum);
        (self.low[block], self.high[block]) = (low, high);
        if self.means.is_empty() {
            return;
        }
        let (mut count, mut mean, mut squares) = (before, self.means[block], self.squares[block]);
        for value in run.chunks_exact(size_of::<T>()).map(T::of_bytes) {
            if counts(&self.missing, value) {
                count += 1.0;
                (mean, squares) = with_value(mean, squares, count, value.to_f64());
            }
        }
        (self.means[block], self.squares[block]) = (mean, squares);
    }

    /// Adds one value to each block of a row.
    #[expect(clippy::eq_op, reason = "NaN differs from itself")]
    fn add_row(&mut self, first: usize, row: &[u8]) {
        let range = first..first + row.len() / size_of::<T>();
        let (counts, sums) = (&mut self.counts[range.clone()], &mut self.sums[range.clone()]);
        let (low, high) = (&mut self.low[range.clone()], &mut self.high[range.clone()]);
        for (at, value) in row.chunks_exact(size_of::<T>()).map(T::of_bytes).enumerate() {
            let is_number = value == value;
            counts[at] += f64::from(u8::from(is_number));
            sums[at] += if is_number { value.to_f64() } else { 0.0 };
            low[at] = if value < low[at] { value } else { low[at] };
            high[at] = if value > high[at] { value } else { high[at] };
        }
        if self.means.is_empty() {
            return;
        }
        let (means, squares) = (&mut self.means[range.clone()], &mut self.squares[range]);
        for (at, value) in row.chunks_exact(size_of::<T>()).map(T::of_bytes).enumerate() {
            let number = if value == value { value.to_f64() } else { means[at] };
            (means[at], squares[at]) = with_value(means[at], squares[at], counts[at].max(1.0), number);
        }
    }

    /// Adds the values of a row to one block.
    fn join_at(&mut self, block: usize, found: &Moments, row: &[u8]) {
        if found.count == 0 {
            return;
        }
        row.chunks_exact(size_of::<T>()).map(T::of_bytes).for_each(|value| self.see(block, value, value));
        #[expect(clippy::cast_precision_loss, reason = "the number of values of a row")]
        let count = found.count as f64;
        self.join_moments(block, count, found.mean * count, found.mean, found.squares);
    }

    /// Extends the range of a block.
    #[inline(always)]
    fn see(&mut self, block: usize, low: T, high: T) {
        self.low[block] = if low < self.low[block] { low } else { self.low[block] };
        self.high[block] = if high > self.high[block] { high } else { self.high[block] };
    }

    fn join_moments(&mut self, block: usize, count: f64, sum: f64, mean: f64, squares: f64) {
        let own = self.counts[block];
        if !self.means.is_empty() && count > 0.0 {
            let (apart, all) = (mean - self.means[block], own + count);
            self.means[block] += apart * (count / all);
            self.squares[block] += squares + apart * apart * (own / all * count);
        }
        self.counts[block] += count;
        self.sums[block] += sum;
    }

    /// Adds one value `times` times to each block.
    fn add_repeated(&mut self, value: T, times: u64) {
        self.total += times;
        (0..self.counts.len()).for_each(|block| self.repeat(block, value, times));
    }

    /// Adds one value `times` times to one block.
    #[expect(clippy::cast_precision_loss, reason = "a weight")]
    fn repeat(&mut self, block: usize, value: T, times: u64) {
        if value.is_nan() || times == 0 || self.missing.contains(&value) {
            return;
        }
        let (count, mean) = (times as f64, value.to_f64());
        self.join_moments(block, count, mean * count, mean, 0.0);
        self.see(block, value, value);
    }

    /// Adds other values of the same blocks.
    fn join(&mut self, other: &Self) {
        self.total += other.total;
        for block in 0..self.counts.len() {
            let of = |values: &Vec<f64>| values.get(block).copied().unwrap_or(0.0);
            let (count, sum) = (other.counts[block], other.sums[block]);
            self.join_moments(block, count, sum, of(&other.means), of(&other.squares));
            self.see(block, other.low[block], other.high[block]);
        }
    }

    /// Returns true if all values of a block are ignored, or a block has no values.
    fn has_gaps(&self) -> bool {
        self.counts.contains(&0.0)
    }

    /// Returns the bytes of a statistic of all blocks. The extremes of blocks without values are `none`.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts are whole")]
    fn bytes(&self, measure: Measure, none: T) -> Vec<u8> {
        let mut bytes = Vec::new();
        let quotient = |dividend: f64, count: f64| if count > 0.0 { dividend / count } else { f64::NAN };
        for (block, &count) in self.counts.iter().enumerate() {
            match measure {
                Measure::Count => (count as u64).append_to(&mut bytes),
                Measure::Nan => (self.total - count as u64).append_to(&mut bytes),
                Measure::Min => if count > 0.0 { self.low[block] } else { none }.append_to(&mut bytes),
                Measure::Max => if count > 0.0 { self.high[block] } else { none }.append_to(&mut bytes),
                Measure::Mean => quotient(self.sums[block], count).append_to(&mut bytes),
                Measure::Std => quotient(self.squares[block], count).sqrt().append_to(&mut bytes),
            }
        }
        bytes
    }
}

/// Returns the number of elements of a box along the axes that have a single block.
fn total(divisions: &[Division], region: &[(u64, u64)]) -> u64 {
    let along = region.iter().zip(divisions).filter(|(_, division)| **division == Division::ALL);
    along.map(|((begin, end), _)| end - begin).product()
}

/// Returns the value of all elements if they are equal, as they are in missing chunks, and `None` otherwise. Comparing elements
/// is much faster than adding them.
fn repeated<T: Primitive>(bytes: &[u8]) -> Option<T> {
    let (first, rest) = bytes.split_at_checked(size_of::<T>())?;
    (rest == &bytes[..rest.len()]).then(|| T::of_bytes(first))
}

/// Returns the mean and the sum of squared deviations after one more value; `count` includes this value. Welford's algorithm
/// squares only small differences.
#[inline(always)]
fn with_value(mean: f64, squares: f64, count: f64, value: f64) -> (f64, f64) {
    let apart = value - mean;
    let step = apart / count;
    (mean + step, squares + apart * (apart - step))
}
