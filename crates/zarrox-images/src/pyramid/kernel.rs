//! Loops that reduce cells of elements. A row of the result is made of rows of the source, which are contiguous.

use multiversion::multiversion;
use zarrox_core::{DataType, Result};

use super::elements::{Elements, typed, typed_mut};
use super::method::Method;
use super::pixel::{Pixel, with_pixel};

/// The loops over elements of one type.
pub(super) trait Reduce {
    /// Memory for elements.
    fn memory(&self) -> Box<dyn Elements>;

    /// Reduces a block of a shape by a factor for each dimension, into a part of a larger block that begins at `origin`.
    fn reduce(
        &mut self,
        from: (&dyn Elements, &[usize]),
        factors: &[usize],
        into: (&mut dyn Elements, &[usize]),
        origin: &[usize],
    ) -> Result<()>;
}

/// The loops over elements of a data type.
///
/// # Errors
/// [`ErrorKind::Unsupported`](zarrox_core::ErrorKind::Unsupported) when elements are neither numbers nor booleans.
pub(super) fn reducer(data_type: &DataType, method: Method, skip_nan: bool) -> Result<Box<dyn Reduce>> {
    with_pixel!(data_type, T => Ok(Box::new(Reducer::<T>::new(method, skip_nan))))
}

/// Reduces blocks, with memory that is used again.
struct Reducer<T: Pixel> {
    method: Method,
    skip_nan: bool,
    sums: Vec<T::Sum>,
    counts: Vec<u32>,
    cell: Vec<T>,
    starts: Vec<usize>,
}

impl<T: Pixel> Reduce for Reducer<T> {
    fn memory(&self) -> Box<dyn Elements> {
        Box::new(Vec::<T>::new())
    }

    fn reduce(
        &mut self,
        (from, shape): (&dyn Elements, &[usize]),
        factors: &[usize],
        (into, into_shape): (&mut dyn Elements, &[usize]),
        origin: &[usize],
    ) -> Result<()> {
        self.reduce_block((typed(from)?, shape), factors, (typed_mut(into)?, into_shape), origin);
        Ok(())
    }
}

impl<T: Pixel> Reducer<T> {
    fn new(method: Method, skip_nan: bool) -> Self {
        let skip_nan = skip_nan && T::HAS_NAN;
        let (sums, counts, cell, starts) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { method, skip_nan, sums, counts, cell, starts }
    }

    fn reduce_block(
        &mut self,
        (from, shape): (&[T], &[usize]),
        factors: &[usize],
        (into, into_shape): (&mut [T], &[usize]),
        origin: &[usize],
    ) {
        if from.is_empty() {
            return;
        }
        let Some((&factor, outer_factors)) = factors.split_last() else {
            into.copy_from_slice(from);
            return;
        };
        let last = outer_factors.len();
        let (outer, width) = (&shape[..last], shape[last]);
        let length = width.div_ceil(factor);
        let mut place = vec![0; last];
        loop {
            find_rows(&mut self.starts, (outer, outer_factors), &place, width);
            let at = (0..last).fold(0, |at, dim| at * into_shape[dim] + origin[dim] + place[dim]);
            let begin = at * into_shape[last] + origin[last];
            self.row(from, width, factor, &mut into[begin..begin + length]);
            // The next row of the result.
            let next = (0..last).rev().find(|&dim| (place[dim] + 1) * outer_factors[dim] < outer[dim]);
            let Some(next) = next else { return };
            place[next] += 1;
            place[next + 1..].fill(0);
        }
    }

    fn row(&mut self, values: &[T], width: usize, factor: usize, into: &mut [T]) {
        match self.method {
            Method::Mean if self.skip_nan => self.mean_of_numbers(values, width, factor, into),
            Method::Mean => self.mean(values, width, factor, into),
            Method::Nearest => {
                let row = &values[self.starts[0]..self.starts[0] + width];
                row.iter().step_by(factor).zip(into).for_each(|(value, into)| *into = *value);
            }
            Method::Min if self.skip_nan => self.extreme(values, width, factor, into, number_or(T::lower)),
            Method::Max if self.skip_nan => self.extreme(values, width, factor, into, number_or(T::higher)),
            Method::Min => self.extreme(values, width, factor, into, T::lower),
            Method::Max => self.extreme(values, width, factor, into, T::higher),
            Method::Median => self.by_cells(values, width, factor, into, median),
            Method::Mode => self.modes(values, width, factor, into),
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "a cell has at most 2^15 elements")]
    fn mean(&mut self, values: &[T], width: usize, factor: usize, into: &mut [T]) {
        self.sums.clear();
        self.sums.resize(into.len(), T::NOTHING);
        for &start in &self.starts {
            add_row(&mut self.sums, &values[start..start + width], factor);
        }
        let (full, rest) = (width / factor, width % factor);
        let count = (self.starts.len() * factor) as u32;
        means(&mut into[..full], &self.sums[..full], count);
        if rest > 0 {
            into[full] = T::mean(self.sums[full], (self.starts.len() * rest) as u32);
        }
    }

    fn mean_of_numbers(&mut self, values: &[T], width: usize, factor: usize, into: &mut [T]) {
        self.sums.clear();
        self.sums.resize(into.len(), T::NOTHING);
        self.counts.clear();
        self.counts.resize(into.len(), 0);
        for &start in &self.starts {
            let cells = values[start..start + width].chunks(factor);
            for ((sum, count), cell) in self.sums.iter_mut().zip(&mut self.counts).zip(cells) {
                let numbers = cell.iter().filter(|value| !value.is_nan());
                let add = |(sum, count), value: &T| (T::plus(sum, value.wide()), count + 1);
                let (more, found) = numbers.fold((T::NOTHING, 0), add);
                (*sum, *count) = (T::plus(*sum, more), *count + found);
            }
        }
        let first = self.starts[0];
        for (index, into) in into.iter_mut().enumerate() {
            *into = match self.counts[index] {
                // All are NaN.
                0 => values[first + index * factor],
                count => T::mean(self.sums[index], count),
            };
        }
    }

    fn extreme(
        &self,
        values: &[T],
        width: usize,
        factor: usize,
        into: &mut [T],
        choose: impl Fn(T, T) -> T + Copy,
    ) {
        for (index, &start) in self.starts.iter().enumerate() {
            extreme_row(into, &values[start..start + width], factor, index == 0, choose);
        }
    }

    fn modes(&mut self, values: &[T], width: usize, factor: usize, into: &mut [T]) {
        let starts = std::mem::take(&mut self.starts);
        let mut cell = std::mem::take(&mut self.cell);
        for (index, into) in into.iter_mut().enumerate() {
            let (begin, end) = (index * factor, ((index + 1) * factor).min(width));
            let first = values[starts[0] + begin];
            // Labels are the same in most cells.
            let is_first = |value: &T| *value == first;
            *into = match starts.iter().all(|start| values[start + begin..start + end].iter().all(is_first)) {
                true => first,
                false => {
                    self.gather(&mut cell, values, &starts, begin..end);
                    if cell.is_empty() { first } else { mode(&mut cell) }
                }
            };
        }
        (self.starts, self.cell) = (starts, cell);
    }

    fn by_cells(
        &mut self,
        values: &[T],
        width: usize,
        factor: usize,
        into: &mut [T],
        work: impl Fn(&mut [T]) -> T,
    ) {
        let starts = std::mem::take(&mut self.starts);
        let mut cell = std::mem::take(&mut self.cell);
        for (index, into) in into.iter_mut().enumerate() {
            let (begin, end) = (index * factor, ((index + 1) * factor).min(width));
            self.gather(&mut cell, values, &starts, begin..end);
            *into = if cell.is_empty() { values[starts[0] + begin] } else { work(&mut cell) };
        }
        (self.starts, self.cell) = (starts, cell);
    }

    /// The elements of a cell that count.
    fn gather(&self, cell: &mut Vec<T>, values: &[T], starts: &[usize], along: std::ops::Range<usize>) {
        cell.clear();
        for start in starts {
            cell.extend_from_slice(&values[start + along.start..start + along.end]);
        }
        if self.skip_nan {
            cell.retain(|value| !value.is_nan());
        }
    }
}

/// Finds the beginnings of the source's rows that become one row, given its shape and factors without those of the last dimension.
fn find_rows(starts: &mut Vec<usize>, (outer, factors): (&[usize], &[usize]), place: &[usize], width: usize) {
    starts.clear();
    starts.push(0);
    for dim in 0..outer.len() {
        let begin = place[dim] * factors[dim];
        let end = (begin + factors[dim]).min(outer[dim]);
        let before = starts.len();
        // Each beginning so far is that of as many rows as the cell is long.
        for along in begin + 1..end {
            for index in 0..before {
                starts.push(starts[index] * outer[dim] + along);
            }
        }
        for start in &mut starts[..before] {
            *start = *start * outer[dim] + begin;
        }
    }
    starts.sort_unstable();
    starts.iter_mut().for_each(|start| *start *= width);
}

/// Chooses between two elements of which NaN is none.
fn number_or<T: Pixel>(choose: fn(T, T) -> T) -> impl Fn(T, T) -> T + Copy {
    move |a, b| match (a.is_nan(), b.is_nan()) {
        (true, _) => b,
        (_, true) => a,
        _ => choose(a, b),
    }
}

/// The median; NaN if there is one.
fn median<T: Pixel>(cell: &mut [T]) -> T {
    cell.sort_unstable_by(T::order);
    let (half, last) = (cell.len() / 2, cell[cell.len() - 1]);
    match () {
        () if last.is_nan() => last,
        () if cell.len() % 2 == 1 => cell[half],
        () => cell[half - 1].middle(cell[half]),
    }
}

/// The smallest of the most frequent elements.
fn mode<T: Pixel>(cell: &mut [T]) -> T {
    cell.sort_unstable_by(T::order);
    let (mut best, mut most) = (cell[0], 0);
    let (mut current, mut count) = (cell[0], 0);
    for &value in cell.iter() {
        if value.order(&current).is_ne() {
            (current, count) = (value, 0);
        }
        count += 1;
        if count > most {
            (best, most) = (current, count);
        }
    }
    best
}

/// Adds the sums of cells of one row.
#[multiversion(targets("x86_64+avx2"))]
fn add_row<T: Pixel>(sums: &mut [T::Sum], row: &[T], factor: usize) {
    match factor {
        1 => {
            for (sum, value) in sums.iter_mut().zip(row) {
                *sum = T::plus(*sum, value.wide());
            }
        }
        2 => {
            let pairs = row.chunks_exact(2);
            let rest = pairs.remainder();
            for (sum, pair) in sums.iter_mut().zip(pairs) {
                *sum = T::plus(*sum, T::plus(pair[0].wide(), pair[1].wide()));
            }
            if let ([value], Some(sum)) = (rest, sums.last_mut()) {
                *sum = T::plus(*sum, value.wide());
            }
        }
        _ => {
            for (sum, cell) in sums.iter_mut().zip(row.chunks(factor)) {
                let more = cell[1..].iter().fold(cell[0].wide(), |sum, value| T::plus(sum, value.wide()));
                *sum = T::plus(*sum, more);
            }
        }
    }
}

/// The means of cells of so many elements.
#[multiversion(targets("x86_64+avx2"))]
fn means<T: Pixel>(into: &mut [T], sums: &[T::Sum], count: u32) {
    if T::SHIFTS && count.is_power_of_two() {
        let power = count.trailing_zeros();
        for (into, sum) in into.iter_mut().zip(sums) {
            *into = T::mean_of_power(*sum, power);
        }
        return;
    }
    for (into, sum) in into.iter_mut().zip(sums) {
        *into = T::mean(*sum, count);
    }
}

/// Chooses among the elements of cells of one row, and of the rows before.
#[multiversion(targets("x86_64+avx2"))]
fn extreme_row<T: Pixel>(
    into: &mut [T],
    row: &[T],
    factor: usize,
    is_first: bool,
    choose: impl Fn(T, T) -> T + Copy,
) {
    if factor == 2 {
        let pairs = row.chunks_exact(2);
        let rest = pairs.remainder();
        for (into, pair) in into.iter_mut().zip(pairs) {
            let chosen = choose(pair[0], pair[1]);
            *into = if is_first { chosen } else { choose(*into, chosen) };
        }
        if let ([value], Some(into)) = (rest, into.last_mut()) {
            *into = if is_first { *value } else { choose(*into, *value) };
        }
        return;
    }
    for (into, cell) in into.iter_mut().zip(row.chunks(factor)) {
        let chosen = cell[1..].iter().fold(cell[0], |chosen, value| choose(chosen, *value));
        *into = if is_first { chosen } else { choose(*into, chosen) };
    }
}
