//! The moments of numbers: their count, extremes and mean, and the sum of their squared deviations from the mean.

use zarrox_core::data_type::Number;
use zarrox_core::internals::data_type::Primitive;

/// The number of elements whose mean is computed before their squared deviations are added. They stay in the L1 cache.
const BLOCK: usize = 2048;

/// The number of sums that are accumulated in parallel, for SIMD.
const LANES: usize = 8;

/// The number of values, their extremes, their mean, and the sum of their squared deviations from the mean.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Moments {
    /// The number of values that are numbers.
    pub(crate) count: u64,
    /// The number of values that are NaN.
    pub(crate) nan: u64,
    /// The number of missing values.
    pub(crate) missing: u64,
    /// The smallest and the largest number.
    pub(crate) range: Option<(Number, Number)>,
    pub(crate) mean: f64,
    pub(crate) squares: f64,
}

impl Moments {
    /// Returns the moments of one value that occurs `times` times.
    pub(crate) fn of_repeated(value: Number, times: u64) -> Self {
        let mean = value.to_f64();
        match times {
            0 => Self::default(),
            _ if mean.is_nan() => Self { nan: times, ..Self::default() },
            _ => Self { count: times, range: Some((value, value)), mean, ..Self::default() },
        }
    }

    /// Adds the moments of other values.
    #[expect(clippy::cast_precision_loss, reason = "weights of means")]
    pub(crate) fn join(&mut self, other: &Self) {
        self.nan += other.nan;
        self.missing += other.missing;
        let Some((low, high)) = other.range else { return };
        let Some((own_low, own_high)) = self.range else {
            *self = Self { nan: self.nan, missing: self.missing, ..*other };
            return;
        };
        let (own, others) = (self.count as f64, other.count as f64);
        let (all, apart) = (own + others, other.mean - self.mean);
        self.mean += apart * (others / all);
        self.squares += other.squares + apart * apart * (own / all * others);
        self.count += other.count;
        self.range = Some((lower(own_low, low), higher(own_high, high)));
    }
}

fn lower(a: Number, b: Number) -> Number {
    if is_less(b, a) { b } else { a }
}

fn higher(a: Number, b: Number) -> Number {
    if is_less(a, b) { b } else { a }
}

fn is_less(a: Number, b: Number) -> bool {
    match (a, b) {
        (Number::Integer(a), Number::Integer(b)) => a < b,
        _ => a.to_f64() < b.to_f64(),
    }
}

/// Returns the moments of contiguous numbers.
pub(crate) fn moments<T: Primitive>(bytes: &[u8]) -> Moments {
    let mut all = Moments::default();
    for block in bytes.chunks(BLOCK * size_of::<T>()) {
        all.join(&of_block::<T>(block));
    }
    all
}

#[expect(clippy::cast_precision_loss, clippy::eq_op, reason = "a block is small; NaN differs from itself")]
fn of_block<T: Primitive>(block: &[u8]) -> Moments {
    let (mut sums, mut counts) = ([0.0; LANES], [0_u64; LANES]);
    let (mut low, mut high) = ([T::HIGHEST; LANES], [T::LOWEST; LANES]);
    let mut see = |lane: usize, value: T| {
        let is_number = value == value;
        sums[lane] += if is_number { value.to_f64() } else { 0.0 };
        counts[lane] += u64::from(is_number);
        low[lane] = if value < low[lane] { value } else { low[lane] };
        high[lane] = if value > high[lane] { value } else { high[lane] };
    };
    let lanes = block.chunks_exact(LANES * size_of::<T>());
    let rest = lanes.remainder();
    for values in lanes {
        for (lane, value) in values.chunks_exact(size_of::<T>()).enumerate() {
            see(lane, T::of_bytes(value));
        }
    }
    rest.chunks_exact(size_of::<T>()).enumerate().for_each(|(lane, value)| see(lane, T::of_bytes(value)));
    let count: u64 = counts.iter().sum();
    let nan = (block.len() / size_of::<T>()) as u64 - count;
    if count == 0 {
        return Moments { nan, ..Moments::default() };
    }
    let least = |a: T, b: &T| if *b < a { *b } else { a };
    let most = |a: T, b: &T| if *b > a { *b } else { a };
    let range = (low.iter().fold(low[0], least).to_number(), high.iter().fold(high[0], most).to_number());
    let mean = sums.iter().sum::<f64>() / count as f64;
    Moments { count, nan, missing: 0, range: Some(range), mean, squares: squares::<T>(block, mean) }
}

#[expect(clippy::eq_op, reason = "NaN differs from itself")]
fn squares<T: Primitive>(block: &[u8], mean: f64) -> f64 {
    let mut sums = [0.0; LANES];
    let mut add = |lane: usize, value: T| {
        let apart = if value == value { value.to_f64() - mean } else { 0.0 };
        sums[lane] += apart * apart;
    };
    let lanes = block.chunks_exact(LANES * size_of::<T>());
    let rest = lanes.remainder();
    for values in lanes {
        for (lane, value) in values.chunks_exact(size_of::<T>()).enumerate() {
            add(lane, T::of_bytes(value));
        }
    }
    rest.chunks_exact(size_of::<T>()).enumerate().for_each(|(lane, value)| add(lane, T::of_bytes(value)));
    sums.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_ne_bytes()).collect()
    }

    #[test]
    fn moments_are_those_of_two_plain_passes() {
        for length in [0_u16, 1, 7, 8, 9, 2047, 2048, 2049, 10_000] {
            let values: Vec<f32> =
                (0..length).map(|n| f32::from(n.wrapping_mul(7919) % 1009) / 3.0 + 1e6).collect();
            let found = moments::<f32>(&bytes(&values));
            assert_eq!((found.count, found.nan), (u64::from(length), 0));
            if length == 0 {
                assert_eq!(found.range, None);
                continue;
            }
            let mean = values.iter().map(|&x| f64::from(x)).sum::<f64>() / f64::from(length);
            let squares: f64 = values.iter().map(|&x| (f64::from(x) - mean).powi(2)).sum();
            assert!((found.mean - mean).abs() < 1e-6 && (found.squares - squares).abs() <= squares * 1e-9);
            let low = values.iter().copied().fold(f32::INFINITY, f32::min);
            assert_eq!(found.range.unwrap().0, Number::Float(low.into()));
        }
    }

    #[test]
    fn nan_counts_for_nothing_but_itself() {
        let found = moments::<f32>(&bytes(&[f32::NAN, 3.0, f32::NAN, -1.0]));
        assert_eq!((found.count, found.nan, found.mean), (2, 2, 1.0));
        assert_eq!(found.range, Some((Number::Float(-1.0), Number::Float(3.0))));
        let mut all = Moments::of_repeated(Number::Float(f64::NAN), 5);
        all.join(&found);
        assert_eq!((all.count, all.nan), (2, 7));
    }

    #[test]
    fn whole_numbers_keep_all_digits() {
        let values = [u64::MAX, 1, i64::MAX as u64].map(u64::to_ne_bytes).concat();
        assert_eq!(
            moments::<u64>(&values).range,
            Some((Number::Integer(1), Number::Integer(u64::MAX.into())))
        );
    }
}
