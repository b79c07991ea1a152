//! Grouping of points by chunk in one pass: the cost is proportional to the number of points and of touched chunks.

use std::cmp::Ordering;
use std::ops::{Deref, Range};
use std::sync::Arc;

use crate::grid::Run;
use crate::scratch::Positions;
use crate::strided::Dims;

use super::PlacedPoints;

/// Points, grouped by chunk.
#[derive(Debug, Clone)]
pub struct Grouped {
    /// The points. The points of one chunk are consecutive and in their original order.
    pub points: Arc<PlacedPoints>,
    /// Each touched chunk, in row-major order: its index along each of these dimensions, and the range of its points.
    pub chunks: Vec<(Dims<usize>, Range<usize>)>,
}

impl PlacedPoints {
    /// Groups points by chunk. `coordinates` contains a list of positions for each dimension, in the order of the result. `runs`
    /// contains the runs of equal chunks along each dimension, which must cover the positions.
    ///
    /// Points that are already in the order of their chunks are not moved or copied.
    pub fn group<R: Deref<Target = [Run]>>(coordinates: Dims<Arc<Positions>>, runs: &[R]) -> Grouped {
        assert_eq!(coordinates.len(), runs.len(), "there are runs for each dimension");
        let count = coordinates.first().map_or(0, |list| list.len());
        assert!(coordinates.iter().all(|list| list.len() == count), "all lists are equally long");
        let order: Dims<usize> = (0..runs.len()).collect();
        let runs: Dims<&[Run]> = runs.iter().map(Deref::deref).collect();
        let points = Arc::new(Self::placed(coordinates, None));
        group_range(&points, 0..count, &order, &runs)
    }
}

/// Groups a range of points by chunk. `order` lists the dimensions, the most significant in the order of the chunks first. The
/// chunk indices and `runs` have the dimensions in this order.
pub(super) fn group_range(
    points: &Arc<PlacedPoints>,
    range: Range<usize>,
    order: &[usize],
    runs: &[&[Run]],
) -> Grouped {
    let lists: Dims<&[usize]> = order.iter().map(|&k| &points.coordinates()[k][range.clone()]).collect();
    let dims: Dims<Dim<'_>> = order
        .iter()
        .zip(runs)
        .filter_map(|(&k, runs)| Some(Dim::new(points.extent(k, &range)?, runs)))
        .collect();
    let (borders, moved) = if range.is_empty() || dims.len() < lists.len() {
        (vec![0], Reordering::No)
    } else if let ([list], [dim]) = (lists.as_slice(), dims.as_slice())
        && list.is_sorted()
    {
        (borders_of_sorted(list, dim.runs), Reordering::No)
    } else {
        match dims.iter().try_fold(1_usize, |total, dim| total.checked_mul(dim.width?)) {
            Some(1) => (vec![0, range.len()], Reordering::No),
            Some(total) => order_by_key(keys(&lists, &dims, range.len()), total),
            None => order_by_comparison(&lists, runs),
        }
    };
    let (points, start) = match moved {
        Reordering::No => (points.clone(), range.start),
        Reordering::From(from) => (gathered(points, &range, from), 0),
        Reordering::To(to) => (scattered(points, &range, &to), 0),
    };
    let chunk = |border: usize| {
        let along = order.iter().zip(runs);
        along.map(|(&k, runs)| chunk_at(runs, points.coordinates()[k][start + border]).0).collect()
    };
    let chunks = borders.windows(2).map(|pair| (chunk(pair[0]), start + pair[0]..start + pair[1])).collect();
    Grouped { chunks, points }
}

/// Permutes a range of points: the `n`-th point becomes the point with the index `from[n]`.
fn gathered(points: &PlacedPoints, range: &Range<usize>, mut from: Positions) -> Arc<PlacedPoints> {
    let moved = |list: &Arc<Positions>| {
        let list = &list[range.clone()];
        Arc::new(from.iter().map(|&i| list[i]).collect())
    };
    let coordinates = points.coordinates().iter().map(moved).collect();
    match points.places().map(|places| &places[range.clone()]) {
        Some(places) => from.iter_mut().for_each(|i| *i = places[*i]),
        None if range.start > 0 => from.iter_mut().for_each(|i| *i += range.start),
        None => {}
    }
    Arc::new(PlacedPoints::placed(coordinates, Some(from)))
}

/// Permutes a range of points: the `n`-th point moves to the index `to[n]`.
fn scattered(points: &PlacedPoints, range: &Range<usize>, to: &[usize]) -> Arc<PlacedPoints> {
    let moved = |list: &[usize]| {
        let mut moved: Positions = std::iter::repeat_n(0, to.len()).collect();
        to.iter().zip(list).for_each(|(&to, &value)| moved[to] = value);
        moved
    };
    let coordinates = points.coordinates().iter().map(|list| Arc::new(moved(&list[range.clone()]))).collect();
    let places = match points.places() {
        Some(places) => moved(&places[range.clone()]),
        None => {
            let mut places: Positions = std::iter::repeat_n(0, to.len()).collect();
            to.iter().zip(range.clone()).for_each(|(&to, place)| places[to] = place);
            places
        }
    };
    Arc::new(PlacedPoints::placed(coordinates, Some(places)))
}

/// A reordering of points.
enum Reordering {
    /// The order is unchanged.
    No,
    /// The old index for each new index.
    From(Positions),
    /// The new index for each old index.
    To(Positions),
}

/// The boundaries between the points of different chunks, from 0 to the number of points, and the new order.
type Order = (Vec<usize>, Reordering);

/// Returns the index of the chunk that contains a position, its start and its length.
fn chunk_at(runs: &[Run], position: usize) -> (usize, usize, usize) {
    let run = &runs[runs.partition_point(|run| run.start <= position as u64).saturating_sub(1)];
    let nth = (position as u64).saturating_sub(run.start) / run.length;
    (number(run.first + nth), number(run.start + nth * run.length), number(run.length))
}

fn number(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

/// The touched chunks along one dimension.
struct Dim<'a> {
    runs: &'a [Run],
    /// The first touched chunk: index, start and length.
    first: (usize, usize, usize),
    /// The number of chunks from the first to the last touched chunk, if the number fits into `usize`.
    width: Option<usize>,
    /// The maximum position.
    last: usize,
}

impl<'a> Dim<'a> {
    /// Creates the touched chunks from the minimum to the maximum position.
    fn new((least, last): (usize, usize), runs: &'a [Run]) -> Self {
        let first = chunk_at(runs, least);
        let width = chunk_at(runs, last).0 - first.0;
        Self { runs, first, width: width.checked_add(1), last }
    }

    /// Extends the key of each point with the number of its chunk along this dimension, counted from the first touched chunk.
    fn extend_keys(&self, keys: &mut [usize], list: &[usize], width: usize) {
        let (index, start, length) = self.first;
        let run = |position| self.runs.partition_point(|run| run.start <= position as u64);
        if width == 1 {
            return;
        }
        if run(start) != run(self.last) {
            return append(keys, list, width, |position| chunk_at(self.runs, position).0 - index);
        }
        if length.is_power_of_two() {
            let shift = length.trailing_zeros();
            return append(keys, list, width, |position| (position - start) >> shift);
        }
        if u32::try_from((self.last - start) | length).is_ok() {
            // This is exact for a dividend and a divisor of 32 bits. The reciprocal is too large by less than 2^-64. Multiplied
            // by the dividend, this error is less than 2^-32, while a quotient differs from the next integer by at least 1 /
            // divisor.
            let reciprocal = u128::from(u64::MAX / length as u64 + 1);
            #[expect(clippy::cast_possible_truncation, reason = "the quotient is at most the dividend")]
            let divided = |position: usize| (((position - start) as u128 * reciprocal) >> 64) as usize;
            return append(keys, list, width, divided);
        }
        append(keys, list, width, |position| (position - start) / length);
    }
}

#[inline(always)]
fn append(keys: &mut [usize], list: &[usize], width: usize, chunk: impl Fn(usize) -> usize) {
    for (key, &position) in keys.iter_mut().zip(list) {
        *key = *key * width + chunk(position);
    }
}

/// Returns the boundaries between chunks in an ascending list of positions. The search doubles its steps, so that it is cheap
/// both for chunks with few points and for chunks with many points.
fn borders_of_sorted(list: &[usize], runs: &[Run]) -> Vec<usize> {
    let mut borders = vec![0];
    let mut begin = 0;
    while let Some(&position) = list.get(begin) {
        let (_, start, length) = chunk_at(runs, position);
        let last = start.saturating_add(length - 1);
        let mut step = 1;
        while list.get(begin + step).is_some_and(|&position| position <= last) {
            step *= 2;
        }
        let known = begin + step / 2;
        let end = list.len().min(begin + step);
        begin = known + list[known..end].partition_point(|&position| position <= last);
        borders.push(begin);
    }
    borders
}

/// Returns the row-major number of each point's chunk in the bounding box of all touched chunks.
fn keys(lists: &[&[usize]], dims: &[Dim<'_>], count: usize) -> Positions {
    let mut keys: Positions = std::iter::repeat_n(0, count).collect();
    for (list, dim) in lists.iter().zip(dims) {
        dim.extend_keys(&mut keys, list, dim.width.unwrap_or(usize::MAX));
    }
    keys
}

/// Returns the order of the points when they are sorted by these keys, which are less than `total`.
fn order_by_key(mut keys: Positions, total: usize) -> Order {
    if keys.is_sorted() {
        return (borders_where(keys.len(), |i| keys[i] != keys[i - 1]), Reordering::No);
    }
    if total / 2 <= keys.len() {
        return order_by_counting(keys, total);
    }
    let total_bits = usize::BITS - total.leading_zeros();
    let index_bits = usize::BITS - keys.len().leading_zeros();
    if total_bits + index_bits <= usize::BITS {
        // The key and the index are in one word, so that all words differ and any sort is stable.
        keys.iter_mut().enumerate().for_each(|(i, key)| *key = *key << index_bits | i);
        keys.sort_unstable();
        let borders = borders_where(keys.len(), |i| keys[i] >> index_bits != keys[i - 1] >> index_bits);
        let mask = (1 << index_bits) - 1;
        keys.iter_mut().for_each(|key| *key &= mask);
        return (borders, Reordering::From(keys));
    }
    let mut order: Positions = (0..keys.len()).collect();
    order.sort_by_key(|&i| keys[i]);
    (borders_where(order.len(), |i| keys[order[i]] != keys[order[i - 1]]), Reordering::From(order))
}

/// Sorts like [`order_by_key`], with a counter for each possible key.
fn order_by_counting(mut keys: Positions, total: usize) -> Order {
    let mut ends = vec![0_usize; total];
    for &key in keys.iter() {
        ends[key] += 1;
    }
    let mut borders = vec![0];
    let mut sum = 0;
    for end in &mut ends {
        let count = std::mem::replace(end, sum);
        sum += count;
        if count > 0 {
            borders.push(sum);
        }
    }
    for key in keys.iter_mut() {
        let next = &mut ends[*key];
        *key = *next;
        *next += 1;
    }
    (borders, Reordering::To(keys))
}

/// Returns the order of the points if the touched range has more chunks than a key can count.
fn order_by_comparison(lists: &[&[usize]], runs: &[&[Run]]) -> Order {
    let compare = |a: usize, b: usize| {
        let along = lists.iter().zip(runs);
        along.fold(Ordering::Equal, |order, (list, runs)| {
            order.then_with(|| chunk_at(runs, list[a]).0.cmp(&chunk_at(runs, list[b]).0))
        })
    };
    let count = lists[0].len();
    if (1..count).all(|i| compare(i - 1, i).is_le()) {
        return (borders_where(count, |i| compare(i - 1, i).is_ne()), Reordering::No);
    }
    let mut order: Positions = (0..count).collect();
    order.sort_by(|&a, &b| compare(a, b));
    (borders_where(count, |i| compare(order[i - 1], order[i]).is_ne()), Reordering::From(order))
}

/// Returns the boundaries of groups: 0, each index for which `differs` returns true, and `count`.
fn borders_where(count: usize, differs: impl Fn(usize) -> bool) -> Vec<usize> {
    let inner = (1..count).filter(|&i| differs(i));
    std::iter::once(0).chain(inner).chain(std::iter::once(count)).collect()
}
