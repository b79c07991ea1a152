//! [`ComputeFloat`]: the float types in which casts compute.

use std::ops::{BitOr, BitXor, Sub};

use super::{Primitive, Rounding};

/// Floats with hardware arithmetic.
pub(super) trait ComputeFloat: Primitive + Into<f64> + Sub<Output = Self> {
    /// The number of bits of the significand, including the hidden bit.
    const SIGNIFICAND: u32;
    type Pattern: Copy + Default + PartialEq + BitOr<Output = Self::Pattern> + BitXor<Output = Self::Pattern>;

    fn pattern(self) -> Self::Pattern;

    /// Returns the nearest float.
    fn of(value: i128) -> Self;
    fn next_down(self) -> Self;

    /// Rounds to an integer.
    fn rounded(self, rounding: Rounding) -> Self;

    /// Returns an integral number in two's complement: the last bits of a sum whose unit in the last place is 1. The number must
    /// be smaller than a quarter of the range of the fraction. Rust's own casts handle all floats, but are not vectorised.
    fn whole_bits(self) -> u64;

    /// Clamps to a range; NaN is unchanged.
    #[inline(always)]
    fn within(self, (least, greatest): (Self, Self)) -> Self {
        let value = if self < least { least } else { self };
        if value > greatest { greatest } else { value }
    }

    /// Replaces NaN with 0.
    #[inline(always)]
    fn or_zero(self) -> Self {
        if self.is_nan() { Self::default() } else { self }
    }
}

macro_rules! work {
    ($($T:ty as $Pattern:ty)*) => {$(
        impl ComputeFloat for $T {
            const SIGNIFICAND: u32 = Self::MANTISSA_DIGITS;
            type Pattern = $Pattern;

            #[inline(always)]
            fn pattern(self) -> $Pattern {
                self.to_bits()
            }

            #[expect(clippy::cast_precision_loss, reason = "rounded to the nearest")]
            fn of(value: i128) -> Self {
                value as Self
            }

            fn next_down(self) -> Self {
                self.next_down()
            }

            #[inline(always)]
            fn rounded(self, rounding: Rounding) -> Self {
                match rounding {
                    Rounding::NearestEven => self.round_ties_even(),
                    Rounding::TowardsZero => self.trunc(),
                    Rounding::TowardsPositive => self.ceil(),
                    Rounding::TowardsNegative => self.floor(),
                    Rounding::NearestAway => self.round(),
                }
            }

            #[inline(always)]
            #[allow(clippy::cast_lossless, clippy::unnecessary_cast, trivial_numeric_casts, clippy::allow_attributes, reason = "the same code for both types")]
            fn whole_bits(self) -> u64 {
                const SHIFT: $T = 1.5 * (1_u64 << (<$T>::MANTISSA_DIGITS - 1)) as $T;
                (self + SHIFT).to_bits().wrapping_sub(SHIFT.to_bits()) as u64
            }
        }
    )*};
}
work!(f32 as u32 f64 as u64);
