//! Statistics of many elements each, of which further values come in boxes.

use std::sync::{Mutex, MutexGuard, PoisonError};

use zarrox_core::DataType;
use zarrox_core::internals::data_type::Primitive;

use super::counted::with_type;
use super::kernel::{Moments, moments};
use super::measure::Measure;

/// The statistics of the elements of a box, of a type that is known only at run time. Several threads may add at a time.
pub(super) trait Reduce: Send + Sync {
    /// Adds a box of values in row-major order, some of whose axes are reduced.
    fn add(&self, bytes: &[u8], lengths: &[u64], reduced: &[bool]);

    /// Adds one value so many times to each element, after all boxes were added.
    fn finish(&mut self, value: &[u8], times: u64);

    /// The bytes of a statistic of all elements; `None` if there is none of an element.
    fn bytes(&mut self, measure: Measure) -> Option<Vec<u8>>;
}

/// Statistics of nothing, in so many copies that as many threads can add to them at a time.
pub(super) fn reduction(
    data_type: &DataType,
    elements: usize,
    copies: usize,
    with_deviation: bool,
) -> Box<dyn Reduce> {
    with_type!(data_type, boxed(elements, copies, with_deviation))
}

/// The size of the statistics of one element, in bytes.
pub(super) fn size(data_type: &DataType) -> usize {
    with_type!(data_type, size_of_one())
}

fn boxed<T: Primitive + 'static>(elements: usize, copies: usize, with_deviation: bool) -> Box<dyn Reduce> {
    let copy = || Reduction::<T>::new(elements, with_deviation);
    Box::new(Copies { first: Mutex::new(copy()), others: (1..copies).map(|_| Mutex::new(copy())).collect() })
}

fn size_of_one<T: Primitive>() -> usize {
    Reduction::<T>::SIZE
}

/// Statistics of the same elements, each over a part of the values.
struct Copies<T> {
    first: Mutex<Reduction<T>>,
    others: Vec<Mutex<Reduction<T>>>,
}

impl<T: Primitive> Copies<T> {
    /// A copy that nobody works on, or the first one.
    fn free(&self) -> MutexGuard<'_, Reduction<T>> {
        let unused = [&self.first].into_iter().chain(&self.others).find_map(|one| one.try_lock().ok());
        unused.unwrap_or_else(|| self.first.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn first(&mut self) -> &mut Reduction<T> {
        self.first.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Primitive> Reduce for Copies<T> {
    fn add(&self, bytes: &[u8], lengths: &[u64], reduced: &[bool]) {
        self.free().add(bytes, lengths, reduced);
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
        match T::NAN {
            None if is_extreme && found.has_gaps() => None,
            none => Some(found.bytes(measure, none.unwrap_or(T::LOWEST))),
        }
    }
}

/// The statistics of the elements of a box, each over what was added to it.
struct Reduction<T> {
    /// The numbers of values that are no NaN. As floats they are exact up to 2^53, and divide without a conversion.
    counts: Vec<f64>,
    sums: Vec<f64>,
    low: Vec<T>,
    high: Vec<T>,
    /// The means and the sums of the squares of differences from them; empty if nobody wants deviations.
    means: Vec<f64>,
    squares: Vec<f64>,
    /// The number of values of each element, with NaN.
    total: u64,
}

impl<T: Primitive> Reduction<T> {
    /// The size of the statistics of one element, in bytes.
    const SIZE: usize = 4 * size_of::<f64>() + 2 * size_of::<T>();

    /// Statistics of nothing.
    fn new(elements: usize, with_deviation: bool) -> Self {
        let deviations = if with_deviation { elements } else { 0 };
        Self {
            counts: vec![0.0; elements],
            sums: vec![0.0; elements],
            low: vec![T::HIGHEST; elements],
            high: vec![T::LOWEST; elements],
            means: vec![0.0; deviations],
            squares: vec![0.0; deviations],
            total: 0,
        }
    }

    /// Adds a box of values in row-major order, some of whose axes are reduced.
    fn add(&mut self, bytes: &[u8], lengths: &[u64], reduced: &[bool]) {
        let rows = Rows::new(lengths, reduced);
        if rows.length == 0 {
            return;
        }
        let mut rows_of_bytes = bytes.chunks_exact(rows.length * size_of::<T>());
        rows.each(|element| {
            let Some(row) = rows_of_bytes.next() else { return };
            match rows.is_reduced {
                true => self.join_at(element, &moments::<T>(row), row),
                false => self.add_row(element, row),
            }
        });
        let along = lengths.iter().zip(reduced).filter(|(_, reduced)| **reduced);
        self.total += along.map(|(&length, _)| length).product::<u64>();
    }

    /// Adds one value to each element of a row.
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
            // Welford's way, by which squares are of small differences.
            let apart = if value == value { value.to_f64() - means[at] } else { 0.0 };
            let step = apart / counts[at].max(1.0);
            means[at] += step;
            squares[at] += apart * (apart - step);
        }
    }

    /// Adds the values of a row to one element.
    fn join_at(&mut self, element: usize, found: &Moments, row: &[u8]) {
        if found.count == 0 {
            return;
        }
        for value in row.chunks_exact(size_of::<T>()).map(T::of_bytes) {
            self.low[element] = if value < self.low[element] { value } else { self.low[element] };
            self.high[element] = if value > self.high[element] { value } else { self.high[element] };
        }
        #[expect(clippy::cast_precision_loss, reason = "the number of values of a row")]
        let count = found.count as f64;
        self.join_moments(element, count, found.mean * count, found.mean, found.squares);
    }

    fn join_moments(&mut self, element: usize, count: f64, sum: f64, mean: f64, squares: f64) {
        let own = self.counts[element];
        if !self.means.is_empty() && count > 0.0 {
            let (apart, all) = (mean - self.means[element], own + count);
            self.means[element] += apart * (count / all);
            self.squares[element] += squares + apart * apart * (own / all * count);
        }
        self.counts[element] += count;
        self.sums[element] += sum;
    }

    /// Adds one value so many times to each element.
    #[expect(clippy::cast_precision_loss, clippy::eq_op, reason = "a weight; NaN differs from itself")]
    fn add_repeated(&mut self, value: T, times: u64) {
        self.total += times;
        if value != value || times == 0 {
            return;
        }
        let (count, mean) = (times as f64, value.to_f64());
        for element in 0..self.counts.len() {
            self.join_moments(element, count, mean * count, mean, 0.0);
            self.low[element] = if value < self.low[element] { value } else { self.low[element] };
            self.high[element] = if value > self.high[element] { value } else { self.high[element] };
        }
    }

    /// Adds other values of the same elements.
    fn join(&mut self, other: &Self) {
        self.total += other.total;
        for element in 0..self.counts.len() {
            let of = |values: &Vec<f64>| values.get(element).copied().unwrap_or(0.0);
            let (count, sum) = (other.counts[element], other.sums[element]);
            self.join_moments(element, count, sum, of(&other.means), of(&other.squares));
            let (low, high) = (other.low[element], other.high[element]);
            self.low[element] = if low < self.low[element] { low } else { self.low[element] };
            self.high[element] = if high > self.high[element] { high } else { self.high[element] };
        }
    }

    /// Returns true if an element has nothing but NaN, or nothing.
    fn has_gaps(&self) -> bool {
        self.counts.contains(&0.0)
    }

    /// The bytes of a statistic of all elements. Extremes of nothing are `none`.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts are whole")]
    fn bytes(&self, measure: Measure, none: T) -> Vec<u8> {
        let mut bytes = Vec::new();
        let quotient = |dividend: f64, count: f64| if count > 0.0 { dividend / count } else { f64::NAN };
        for (element, &count) in self.counts.iter().enumerate() {
            match measure {
                Measure::Count => (count as u64).append_to(&mut bytes),
                Measure::Nan => (self.total - count as u64).append_to(&mut bytes),
                Measure::Min => if count > 0.0 { self.low[element] } else { none }.append_to(&mut bytes),
                Measure::Max => if count > 0.0 { self.high[element] } else { none }.append_to(&mut bytes),
                Measure::Mean => quotient(self.sums[element], count).append_to(&mut bytes),
                Measure::Std => quotient(self.squares[element], count).sqrt().append_to(&mut bytes),
            }
        }
        bytes
    }
}

/// The contiguous rows of a box: each belongs to one element, or to as many elements as it has values.
struct Rows {
    length: usize,
    is_reduced: bool,
    /// The lengths of the axes before, and the distances between their elements in the result.
    outer: Vec<(u64, usize)>,
}

impl Rows {
    fn new(lengths: &[u64], reduced: &[bool]) -> Self {
        let is_reduced = reduced.last().copied().unwrap_or(true);
        let inner = reduced.iter().rev().take_while(|&&other| other == is_reduced).count();
        let split = lengths.len() - inner;
        let size = |lengths: &[u64]| {
            let size = lengths.iter().fold(1_u64, |size, &length| size.saturating_mul(length));
            usize::try_from(size).unwrap_or(usize::MAX)
        };
        let kept = |from: usize| -> Vec<u64> {
            let after = lengths.iter().zip(reduced).skip(from);
            after.filter(|(_, reduced)| !**reduced).map(|(&length, _)| length).collect()
        };
        let distance = |dim: usize| if reduced[dim] { 0 } else { size(&kept(dim + 1)) };
        let outer = (0..split).map(|dim| (lengths[dim], distance(dim))).collect();
        Self { length: size(&lengths[split..]), is_reduced, outer }
    }

    /// Calls a function with the first element of each row, in the order of the rows.
    fn each(&self, mut work: impl FnMut(usize)) {
        if self.outer.iter().any(|(length, _)| *length == 0) {
            return;
        }
        let (mut index, mut element) = (vec![0_u64; self.outer.len()], 0_usize);
        loop {
            work(element);
            let next = (0..self.outer.len()).rev().find(|&dim| {
                let (length, distance) = self.outer[dim];
                index[dim] += 1;
                element += distance;
                let is_inside = index[dim] < length;
                if !is_inside {
                    element -= distance * usize::try_from(length).unwrap_or(0);
                    index[dim] = 0;
                }
                is_inside
            });
            if next.is_none() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_lead_to_their_elements() {
        let found = |lengths: &[u64], reduced: &[bool]| {
            let rows = Rows::new(lengths, reduced);
            let mut all = Vec::new();
            rows.each(|element| all.push(element));
            (rows.length, rows.is_reduced, all)
        };
        assert_eq!(found(&[2, 3, 4], &[true, false, false]), (12, false, vec![0, 0]));
        assert_eq!(found(&[2, 3, 4], &[false, true, true]), (12, true, vec![0, 1]));
        assert_eq!(found(&[2, 3, 4], &[false, true, false]), (4, false, vec![0, 0, 0, 4, 4, 4]));
        assert_eq!(found(&[2, 3, 4], &[true, false, true]), (4, true, vec![0, 1, 2, 0, 1, 2]));
        assert_eq!(found(&[2, 3], &[true, true]), (6, true, vec![0]));
    }
}
