//! Values and indices, the same in every run.

use ndarray::{ArrayD, IxDyn};

/// Pseudorandom numbers, the same in every run (SplitMix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below a bound.
    pub(crate) fn below(&mut self, n: i64) -> i64 {
        (self.next() >> 1).cast_signed() % n
    }

    /// Returns `count` numbers below a bound.
    pub(crate) fn many_below(&mut self, count: usize, n: i64) -> Vec<i64> {
        (0..count).map(|_| self.below(n)).collect()
    }
}

/// Returns smooth values with some noise, which compress to about half, like measurements.
pub(crate) fn measured<T>(shape: &[usize], convert: impl Fn(u16) -> T) -> ArrayD<T> {
    let mut random = Random(7);
    let mut n = 0_u64;
    ArrayD::from_shape_simple_fn(IxDyn(shape), || {
        n += 1;
        convert(u16::try_from((n / 64) % 60_000 + random.next() % 16).unwrap())
    })
}
