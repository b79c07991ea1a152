//! [`Work`]: the floats that casts calculate with.

use std::ops::{BitOr, BitXor, Sub};

use super::{Primitive, Rounding};

/// Floats that the machine calculates with.
pub(super) trait Work: Primitive + Into<f64> + Sub<Output = Self> {
    /// The bits of the significand, including the one that is not stored.
    const SIGNIFICAND: u32;
    type Pattern: Copy + Default + PartialEq + BitOr<Output = Self::Pattern> + BitXor<Output = Self::Pattern>;

    fn pattern(self) -> Self::Pattern;

    /// The nearest float.
    fn of(value: i128) -> Self;
    fn next_down(self) -> Self;

    /// A whole number.
    fn rounded(self, rounding: Rounding) -> Self;

    /// A whole number of less than a quarter of all that the fraction holds, in two's complement: the last bits of a sum whose last place
    /// is 1. The casts of the language have an answer for all floats, and do not become vectors.
    fn whole_bits(self) -> u64;

    /// The nearest number of a range; NaN stays.
    #[inline(always)]
    fn within(self, (least, greatest): (Self, Self)) -> Self {
        let value = if self < least { least } else { self };
        if value > greatest { greatest } else { value }
    }

    /// 0 instead of NaN.
    #[inline(always)]
    fn or_zero(self) -> Self {
        if self.is_nan() { Self::default() } else { self }
    }
}

macro_rules! work {
    ($($T:ty as $Pattern:ty)*) => {$(
        impl Work for $T {
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
            #[allow(clippy::cast_lossless, clippy::unnecessary_cast, trivial_numeric_casts, clippy::allow_attributes, reason = "one text for both types")]
            fn whole_bits(self) -> u64 {
                const SHIFT: $T = 1.5 * (1_u64 << (<$T>::MANTISSA_DIGITS - 1)) as $T;
                (self + SHIFT).to_bits().wrapping_sub(SHIFT.to_bits()) as u64
            }
        }
    )*};
}
work!(f32 as u32 f64 as u64);
