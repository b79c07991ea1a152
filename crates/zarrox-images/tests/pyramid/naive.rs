//! A reference implementation of downsampling: plain loops over cells.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "the reference rounds as it is documented"
)]

use ndarray::{ArrayD, IxDyn};
use zarrox_images::pyramid::Reduction;

/// An element of the reference.
pub(super) trait Plain: Copy + PartialEq + std::fmt::Debug {
    /// Returns the mean of elements, given row by row.
    fn mean(rows: &[Vec<Self>]) -> Self;
    fn is_nan(self) -> bool;
    fn less(self, other: Self) -> bool;
}

macro_rules! whole {
    ($($type:ty),*) => {$(
        impl Plain for $type {
            fn mean(rows: &[Vec<Self>]) -> Self {
                let all: Vec<i128> = rows.iter().flatten().map(|value| i128::from(*value)).collect();
                let (sum, count) = (all.iter().sum::<i128>(), all.len() as i128);
                // Rounds to the nearest integer, and ties to the even integer.
                let below = sum.div_euclid(count);
                let rest = 2 * sum.rem_euclid(count);
                let mean = if rest > count || (rest == count && below % 2 != 0) { below + 1 } else { below };
                Self::try_from(mean).unwrap()
            }

            fn is_nan(self) -> bool {
                false
            }

            fn less(self, other: Self) -> bool {
                self < other
            }
        }
    )*};
}

whole!(u8, i16, u16, u32, i64, u64);

impl Plain for bool {
    fn mean(rows: &[Vec<Self>]) -> Self {
        let all: Vec<bool> = rows.iter().flatten().copied().collect();
        2 * all.iter().filter(|value| **value).count() > all.len()
    }

    fn is_nan(self) -> bool {
        false
    }

    fn less(self, other: Self) -> bool {
        !self & other
    }
}

macro_rules! real {
    ($($type:ty),*) => {$(
        impl Plain for $type {
            fn mean(rows: &[Vec<Self>]) -> Self {
                let count = rows.iter().map(Vec::len).sum::<usize>() as f64;
                let row = |row: &Vec<Self>| row.iter().fold(0.0, |sum, value| sum + f64::from(*value));
                (rows.iter().fold(0.0, |sum, own| sum + row(own)) / count) as $type
            }

            fn is_nan(self) -> bool {
                <$type>::is_nan(self)
            }

            fn less(self, other: Self) -> bool {
                self < other
            }
        }
    )*};
}

real!(f32, f64);

/// Returns the next level.
pub(super) fn reduced<T: Plain>(
    values: &ArrayD<T>,
    factors: &[usize],
    method: Reduction,
    skip_nan: bool,
) -> ArrayD<T> {
    let factors: Vec<usize> =
        values.shape().iter().zip(factors).map(|(length, factor)| (*factor).min(*length)).collect();
    let shape: Vec<usize> = values.shape().iter().zip(&factors).map(|(n, f)| n.div_ceil(*f)).collect();
    ArrayD::from_shape_fn(IxDyn(&shape), |index| {
        let last = factors.len() - 1;
        let range = |dim: usize| {
            let begin = index[dim] * factors[dim];
            begin..(begin + factors[dim]).min(values.shape()[dim])
        };
        // The starts of rows, in row-major order.
        let mut starts = vec![Vec::new()];
        for dim in 0..last {
            let longer = |start: &Vec<usize>| {
                range(dim).map(|along| [&start[..], &[along]].concat()).collect::<Vec<_>>()
            };
            starts = starts.iter().flat_map(longer).collect();
        }
        let row = |start: &Vec<usize>| {
            range(last).map(|along| values[IxDyn(&[&start[..], &[along]].concat())]).collect()
        };
        let rows: Vec<Vec<T>> = starts.iter().map(row).collect();
        cell(&rows, method, skip_nan)
    })
}

fn cell<T: Plain>(rows: &[Vec<T>], method: Reduction, skip_nan: bool) -> T {
    let first = rows[0][0];
    if method == Reduction::Nearest {
        return first;
    }
    let mut rows = rows.to_vec();
    if skip_nan {
        rows.iter_mut().for_each(|row| row.retain(|value| !value.is_nan()));
    }
    let mut all: Vec<T> = rows.iter().flatten().copied().collect();
    if all.is_empty() {
        return first;
    }
    if method != Reduction::Mode
        && let Some(nan) = all.iter().find(|value| value.is_nan())
    {
        return *nan;
    }
    let order = |a: &T, b: &T| match (a.less(*b), b.less(*a)) {
        (true, _) => std::cmp::Ordering::Less,
        (_, true) => std::cmp::Ordering::Greater,
        _ => a.is_nan().cmp(&b.is_nan()),
    };
    all.sort_by(order);
    let middle = all.len() / 2;
    match method {
        Reduction::Mean => T::mean(&rows),
        Reduction::Min => all[0],
        Reduction::Max => all[all.len() - 1],
        Reduction::Median if all.len() % 2 == 1 => all[middle],
        Reduction::Median => T::mean(&[vec![all[middle - 1], all[middle]]]),
        _ => {
            let times = |value: &T| all.iter().filter(|other| order(value, other).is_eq()).count();
            let most = all.iter().map(times).max().unwrap();
            *all.iter().find(|value| times(value) == most).unwrap()
        }
    }
}
