//! The number types for filter arithmetic.
//!
//! All loops process elements of one type. See [`map`](zarrox_core::internals::number::map).

use std::convert::identity;

use zarrox_core::internals::number::{Half, Plain, Primitive, Rounding, f16, half_of};

/// Integers with wrapping arithmetic.
pub(crate) trait Integer: Primitive {
    fn add(self, other: Self) -> Self;
    fn subtract(self, other: Self) -> Self;
    fn multiply(self, other: Self) -> Self;

    /// Converts an integer, if this type can represent it.
    fn exactly(value: i128) -> Option<Self>;
}

macro_rules! integer {
    ($($T:ty)*) => {$(
        impl Integer for $T {
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn subtract(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            #[inline(always)]
            fn multiply(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }

            fn exactly(value: i128) -> Option<Self> {
                Self::try_from(value).ok()
            }
        }
    )*};
}

integer!(i8 i16 i32 i64 u8 u16 u32 u64);

/// Floats. Each operation is rounded to the type, as in NumPy.
pub(crate) trait Float: Plain {
    fn from_double(value: f64) -> Self;
    fn add(self, other: Self) -> Self;
    fn subtract(self, other: Self) -> Self;
    fn multiply(self, other: Self) -> Self;
    fn divide(self, other: Self) -> Self;

    /// Returns the nearest integer, ties to even.
    fn round_even(self) -> Self;

    /// Returns the number truncated towards zero.
    fn truncate(self) -> Self;
}

macro_rules! float {
    ($($T:ty: $wide:expr, $narrow:expr, $from_double:expr;)*) => {$(
        impl Float for $T {
            #[inline(always)]
            fn from_double(value: f64) -> Self {
                $from_double(value)
            }

            #[inline(always)]
            fn add(self, other: Self) -> Self {
                $narrow($wide(self) + $wide(other))
            }

            #[inline(always)]
            fn subtract(self, other: Self) -> Self {
                $narrow($wide(self) - $wide(other))
            }

            #[inline(always)]
            fn multiply(self, other: Self) -> Self {
                $narrow($wide(self) * $wide(other))
            }

            #[inline(always)]
            fn divide(self, other: Self) -> Self {
                $narrow($wide(self) / $wide(other))
            }

            #[inline(always)]
            fn round_even(self) -> Self {
                $narrow($wide(self).round_ties_even())
            }

            #[inline(always)]
            fn truncate(self) -> Self {
                $narrow($wide(self).trunc())
            }
        }
    )*};
}

float! {
    f16: Half::to_single, nearest_half, half_of;
    f32: identity, identity, nearest_single;
    f64: identity, identity, identity;
}

#[inline(always)]
fn nearest_half(value: f32) -> f16 {
    f16::of_single(value, Rounding::NearestEven).0
}

#[expect(clippy::cast_possible_truncation, reason = "rounded to the nearest")]
fn nearest_single(value: f64) -> f32 {
    value as f32
}
