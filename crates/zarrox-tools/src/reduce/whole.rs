//! Loops that reduce whole blocks to elements of the same data type. A row of the result is computed from contiguous rows of a box.

use multiversion::multiversion;
use zarrox_core::data_type::Storage;
use zarrox_core::{DataType, Result};

use super::Reduction;
use super::division::{Division, Rows};
use super::sample::{Sample, with_sample};

/// The loops over elements of one data type, with reused memory.
pub trait Whole {
    /// Reduces the blocks of a box, and writes them to the part of a larger result that starts at `origin`. The factors are the
    /// shape of a block. The bytes of the box and of the result are in row-major order.
    fn reduce(
        &mut self,
        from: (&[u8], &[usize]),
        factors: &[usize],
        into: (&mut [u8], &[usize]),
        origin: &[usize],
    );
}

/// Returns the loops over elements of a data type. `left_out` contains missing values, which are ignored in addition to NaN; with
/// `None`, all elements are used. A block that contains only ignored elements is reduced to one of them.
///
/// # Errors
/// [`ErrorKind::Unsupported`](zarrox_core::ErrorKind::Unsupported) if elements are neither numbers nor booleans.
pub fn whole(data_type: &DataType, reduction: Reduction, left_out: Option<&[u8]>) -> Result<Box<dyn Whole>> {
    let is_float = matches!(data_type.storage(), Storage::Float(_) | Storage::Complex(_));
    with_sample!(data_type, T => Ok(Box::new(Blocks::<T>::new(reduction, left_out, is_float))))
}

struct Blocks<T: Sample> {
    reduction: Reduction,
    /// True if some elements may be ignored.
    skips: bool,
    missing: Vec<T>,
    sums: Vec<T::Sum>,
    counts: Vec<u32>,
    block: Vec<T>,
}

impl<T: Sample> Whole for Blocks<T> {
    fn reduce(
        &mut self,
        (from, shape): (&[u8], &[usize]),
        factors: &[usize],
        (into, into_shape): (&mut [u8], &[usize]),
        origin: &[usize],
    ) {
        let divisions: Vec<Division> =
            factors.iter().map(|&factor| Division::Length(factor as u64)).collect();
        let range = |((&length, &factor), &origin): ((&usize, &usize), &usize)| {
            let begin = (origin * factor) as u64;
            (begin, begin + length as u64)
        };
        let region: Vec<(u64, u64)> = shape.iter().zip(factors).zip(origin).map(range).collect();
        let rows = Rows::new(&divisions, &region, into_shape);
        let (width, length) = (rows.inner.length * size_of::<T>(), rows.inner.count * size_of::<T>());
        let factor = rows.inner.factor().min(rows.inner.length);
        let mut of_block = Vec::new();
        rows.each(|place, starts| {
            let row = |&start: &usize| &from[start * size_of::<T>()..start * size_of::<T>() + width];
            of_block.clear();
            of_block.extend(starts.iter().map(row));
            let begin = place * size_of::<T>();
            self.row(&of_block, factor, &mut into[begin..begin + length]);
        });
    }
}

/// Returns the elements of these bytes.
#[inline(always)]
fn elements<T: Sample>(bytes: &[u8]) -> impl DoubleEndedIterator<Item = T> + '_ {
    bytes.chunks_exact(size_of::<T>()).map(T::load)
}

impl<T: Sample> Blocks<T> {
    fn new(reduction: Reduction, left_out: Option<&[u8]>, is_float: bool) -> Self {
        let missing: Vec<T> = elements(left_out.unwrap_or_default()).collect();
        Self {
            reduction,
            skips: !missing.is_empty() || (left_out.is_some() && is_float),
            missing,
            sums: Vec::new(),
            counts: Vec::new(),
            block: Vec::new(),
        }
    }

    #[inline(always)]
    fn counts(&self, value: T) -> bool {
        !value.is_nan() && !self.missing.contains(&value)
    }

    /// Reduces rows to a row of blocks of `factor` elements along the row.
    fn row(&mut self, rows: &[&[u8]], factor: usize, into: &mut [u8]) {
        match self.reduction {
            Reduction::Mean if self.skips => self.mean_of_some(rows, factor, into),
            Reduction::Mean => self.mean(rows, factor, into),
            Reduction::Nearest => extreme(&rows[..1], factor, into, |first: T, _| first),
            Reduction::Min if self.skips => self.extreme_of_some(rows, factor, into, T::lower),
            Reduction::Max if self.skips => self.extreme_of_some(rows, factor, into, T::higher),
            Reduction::Min => extreme(rows, factor, into, T::lower),
            Reduction::Max => extreme(rows, factor, into, T::higher),
            Reduction::Median => self.each_block(rows, factor, into, median),
            Reduction::Mode => self.each_block(rows, factor, into, mode),
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "a block has at most 2^15 elements")]
    fn mean(&mut self, rows: &[&[u8]], factor: usize, into: &mut [u8]) {
        self.sums.clear();
        self.sums.resize(into.len() / size_of::<T>(), T::Sum::default());
        rows.iter().for_each(|row| add_row::<T>(&mut self.sums, row, factor));
        let width = rows[0].len() / size_of::<T>();
        let (full, rest) = (width / factor, width % factor);
        let count = (rows.len() * factor) as u32;
        let (into, last) = into.split_at_mut(full * size_of::<T>());
        means::<T>(into, &self.sums[..full], count);
        if rest > 0 {
            T::mean(self.sums[full], (rows.len() * rest) as u32).store(last);
        }
    }

    fn mean_of_some(&mut self, rows: &[&[u8]], factor: usize, into: &mut [u8]) {
        let length = into.len() / size_of::<T>();
        let (mut sums, mut counts) = (std::mem::take(&mut self.sums), std::mem::take(&mut self.counts));
        sums.clear();
        sums.resize(length, T::Sum::default());
        counts.clear();
        counts.resize(length, 0);
        for row in rows {
            let blocks = row.chunks(factor * size_of::<T>());
            for ((sum, count), block) in sums.iter_mut().zip(&mut counts).zip(blocks) {
                let some = elements::<T>(block).filter(|&value| self.counts(value));
                let add = |(sum, count), value: T| (sum + value.wide(), count + 1);
                let (more, found) = some.fold((T::Sum::default(), 0), add);
                (*sum, *count) = (*sum + more, *count + found);
            }
        }
        for (index, into) in into.chunks_exact_mut(size_of::<T>()).enumerate() {
            match counts[index] {
                0 => into.copy_from_slice(&rows[0][index * factor * size_of::<T>()..][..size_of::<T>()]),
                count => T::mean(sums[index], count).store(into),
            }
        }
        (self.sums, self.counts) = (sums, counts);
    }

    /// Selects an extreme among the elements that are not ignored.
    fn extreme_of_some(
        &self,
        rows: &[&[u8]],
        factor: usize,
        into: &mut [u8],
        choose: impl Fn(T, T) -> T + Copy,
    ) {
        let is_missing = |value: T| self.missing.contains(&value);
        match self.missing.is_empty() {
            true => extreme(rows, factor, into, among(T::is_nan, choose)),
            false => extreme(rows, factor, into, among(|value| value.is_nan() || is_missing(value), choose)),
        }
    }

    /// Gathers the elements of each block that are not ignored. If all are ignored, the first element is the result.
    fn each_block(&mut self, rows: &[&[u8]], factor: usize, into: &mut [u8], work: impl Fn(&mut [T]) -> T) {
        let mut block = std::mem::take(&mut self.block);
        for (index, into) in into.chunks_exact_mut(size_of::<T>()).enumerate() {
            let begin = index * factor * size_of::<T>();
            let end = (begin + factor * size_of::<T>()).min(rows[0].len());
            let first = T::load(&rows[0][begin..begin + size_of::<T>()]);
            let parts = rows.iter().map(|row| elements::<T>(&row[begin..end]));
            // In most blocks, all labels are equal.
            if self.reduction == Reduction::Mode
                && parts.clone().all(|mut part| part.all(|value| value == first))
            {
                first.store(into);
                continue;
            }
            block.clear();
            parts.for_each(|part| block.extend(part));
            if self.skips {
                block.retain(|&value| self.counts(value));
            }
            if block.is_empty() { first } else { work(&mut block) }.store(into);
        }
        self.block = block;
    }
}

/// Returns the median; NaN if the block contains NaN.
fn median<T: Sample>(block: &mut [T]) -> T {
    block.sort_unstable_by(T::order);
    let (half, last) = (block.len() / 2, block[block.len() - 1]);
    match () {
        () if last.is_nan() => last,
        () if block.len() % 2 == 1 => block[half],
        () => block[half - 1].middle(block[half]),
    }
}

/// Returns the smallest of the most frequent elements.
fn mode<T: Sample>(block: &mut [T]) -> T {
    block.sort_unstable_by(T::order);
    let (mut best, mut most) = (block[0], 0);
    let (mut current, mut count) = (block[0], 0);
    for &value in block.iter() {
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

/// Adds the elements of one row to the sums of the blocks.
#[multiversion(targets("x86_64+avx2"))]
fn add_row<T: Sample>(sums: &mut [T::Sum], row: &[u8], factor: usize) {
    match factor {
        1 => {
            for (sum, value) in sums.iter_mut().zip(elements::<T>(row)) {
                *sum = *sum + value.wide();
            }
        }
        2 => {
            let pairs = row.chunks_exact(2 * size_of::<T>());
            let rest = pairs.remainder();
            for (sum, pair) in sums.iter_mut().zip(pairs) {
                let (a, b) = pair.split_at(size_of::<T>());
                *sum = *sum + (T::load(a).wide() + T::load(b).wide());
            }
            if let (Some(value), Some(sum)) = (elements::<T>(rest).next(), sums.last_mut()) {
                *sum = *sum + value.wide();
            }
        }
        _ => {
            for (sum, block) in sums.iter_mut().zip(row.chunks(factor * size_of::<T>())) {
                let more = elements::<T>(block).map(T::wide).reduce(|sum, value| sum + value);
                *sum = *sum + more.unwrap_or_default();
            }
        }
    }
}

/// Stores the means of blocks of `count` elements.
#[multiversion(targets("x86_64+avx2"))]
fn means<T: Sample>(into: &mut [u8], sums: &[T::Sum], count: u32) {
    let pairs = into.chunks_exact_mut(size_of::<T>()).zip(sums);
    if count.is_power_of_two() {
        let power = count.trailing_zeros();
        pairs.for_each(|(into, sum)| T::mean_of_power(*sum, power).store(into));
        return;
    }
    pairs.for_each(|(into, sum)| T::mean(*sum, count).store(into));
}

/// Selects one of two elements, either of which may be an ignored value.
fn among<T: Sample>(
    is_out: impl Fn(T) -> bool + Copy,
    choose: impl Fn(T, T) -> T + Copy,
) -> impl Fn(T, T) -> T + Copy {
    move |a, b| match (is_out(a), is_out(b)) {
        (true, _) => b,
        (_, true) => a,
        _ => choose(a, b),
    }
}

/// Selects an extreme among the elements of blocks.
fn extreme<T: Sample>(rows: &[&[u8]], factor: usize, into: &mut [u8], choose: impl Fn(T, T) -> T + Copy) {
    let Some((first, others)) = rows.split_first() else { return };
    extreme_row(into, first, factor, |_, chosen| chosen, choose);
    others.iter().for_each(|row| extreme_row(into, row, factor, choose, choose));
}

/// Selects an extreme among the elements of each block in one row, and combines it with the extremes of the preceding rows.
#[multiversion(targets("x86_64+avx2"))]
fn extreme_row<T: Sample>(
    into: &mut [u8],
    row: &[u8],
    factor: usize,
    join: impl Fn(T, T) -> T + Copy,
    choose: impl Fn(T, T) -> T + Copy,
) {
    let size = size_of::<T>();
    if factor == 2 {
        let pairs = row.chunks_exact(2 * size);
        let rest = pairs.remainder();
        for (into, pair) in into.chunks_exact_mut(size).zip(pairs) {
            let (a, b) = pair.split_at(size);
            join(T::load(into), choose(T::load(a), T::load(b))).store(into);
        }
        if let (Some(value), Some(into)) = (elements(rest).next(), into.chunks_exact_mut(size).next_back()) {
            join(T::load(into), value).store(into);
        }
        return;
    }
    for (into, block) in into.chunks_exact_mut(size).zip(row.chunks(factor * size)) {
        if let Some(chosen) = elements(block).reduce(choose) {
            join(T::load(into), chosen).store(into);
        }
    }
}
