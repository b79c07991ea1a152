//! Elements that can be reduced.

use std::cmp::Ordering;

use half::{bf16, f16};
use num_complex::Complex;
use zarrox_core::{DataType, Element, Error, ErrorKind, Result};

/// The most elements of a cell: sums of so many do not overflow.
pub(super) const MOST: u64 = 1 << 15;

/// An element that can be reduced.
pub(super) trait Pixel: Element {
    /// A sum of at most [`MOST`] elements.
    type Sum: Copy + Send + Sync;
    const ZERO: Self;
    const NOTHING: Self::Sum;
    /// True if a sum can be divided by a power of two faster than by other numbers.
    const SHIFTS: bool;
    /// True if an element can be NaN.
    const HAS_NAN: bool;
    fn wide(self) -> Self::Sum;
    fn plus(a: Self::Sum, b: Self::Sum) -> Self::Sum;
    /// The mean of so many elements, of which there is at least one.
    fn mean(sum: Self::Sum, count: u32) -> Self;
    /// The mean of 2 to this power elements.
    fn mean_of_power(sum: Self::Sum, power: u32) -> Self;
    fn is_nan(self) -> bool;
    /// Orders elements; NaN comes last.
    fn order(&self, other: &Self) -> Ordering;
    /// The smaller element, or NaN if one is.
    fn lower(self, other: Self) -> Self;
    /// The larger element, or NaN if one is.
    fn higher(self, other: Self) -> Self;
    /// The mean of two.
    fn middle(self, other: Self) -> Self {
        Self::mean(Self::plus(self.wide(), other.wide()), 2)
    }
}

macro_rules! integers {
    ($($type:ty as $sum:ty),* $(,)?) => {$(
        #[expect(clippy::allow_attributes, reason = "not every type needs all of them")]
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_possible_wrap, clippy::cast_lossless, clippy::unnecessary_cast,
            reason = "a mean lies between elements; a count is at most 2^15")]
        impl Pixel for $type {
            type Sum = $sum;
            const ZERO: Self = 0;
            const NOTHING: $sum = 0;
            const SHIFTS: bool = true;
            const HAS_NAN: bool = false;

            #[inline(always)]
            fn wide(self) -> $sum {
                <$sum>::from(self)
            }

            #[inline(always)]
            fn plus(a: $sum, b: $sum) -> $sum {
                a.wrapping_add(b)
            }

            #[inline(always)]
            fn mean(sum: $sum, count: u32) -> Self {
                let count = count as $sum;
                let (whole, rest) = (sum.div_euclid(count), sum.rem_euclid(count));
                let is_up = 2 * rest > count || (2 * rest == count && whole & 1 == 1);
                (whole + is_up as $sum) as Self
            }

            #[inline(always)]
            fn mean_of_power(sum: $sum, power: u32) -> Self {
                let count: $sum = 1 << power;
                let (whole, rest) = (sum >> power, sum & (count - 1));
                // Without a half, there is no rest that reaches 1.
                let half = (count >> 1).max(1);
                let is_up = (rest > half) | ((rest == half) & (whole & 1 == 1));
                (whole + is_up as $sum) as Self
            }

            #[inline(always)]
            fn is_nan(self) -> bool {
                false
            }

            #[inline(always)]
            fn order(&self, other: &Self) -> Ordering {
                self.cmp(other)
            }

            #[inline(always)]
            fn lower(self, other: Self) -> Self {
                if other < self { other } else { self }
            }

            #[inline(always)]
            fn higher(self, other: Self) -> Self {
                if other > self { other } else { self }
            }
        }
    )*};
}

integers! {
    i8 as i32,
    i16 as i32,
    i32 as i64,
    i64 as i128,
    u8 as u32,
    u16 as u32,
    u32 as u64,
    u64 as i128,
}

impl Pixel for bool {
    type Sum = u32;
    const ZERO: Self = false;
    const NOTHING: u32 = 0;
    const SHIFTS: bool = false;
    const HAS_NAN: bool = false;

    fn wide(self) -> u32 {
        self.into()
    }

    fn plus(a: u32, b: u32) -> u32 {
        a + b
    }

    fn mean(sum: u32, count: u32) -> Self {
        // One half is rounded to the even number, which is 0.
        2 * sum > count
    }

    fn mean_of_power(sum: u32, power: u32) -> Self {
        Self::mean(sum, 1 << power)
    }

    fn is_nan(self) -> bool {
        false
    }

    fn order(&self, other: &Self) -> Ordering {
        self.cmp(other)
    }

    fn lower(self, other: Self) -> Self {
        self & other
    }

    fn higher(self, other: Self) -> Self {
        self | other
    }
}

macro_rules! floats {
    ($($type:ty, $zero:expr, $wide:expr, $narrow:expr);* $(;)?) => {$(
        impl Pixel for $type {
            type Sum = f64;
            const ZERO: Self = $zero;
            const NOTHING: f64 = 0.0;
            const SHIFTS: bool = false;
            const HAS_NAN: bool = true;

            #[inline(always)]
            fn wide(self) -> f64 {
                $wide(self)
            }

            #[inline(always)]
            fn plus(a: f64, b: f64) -> f64 {
                a + b
            }

            #[inline(always)]
            fn mean(sum: f64, count: u32) -> Self {
                $narrow(sum / f64::from(count))
            }

            #[inline(always)]
            fn mean_of_power(sum: f64, power: u32) -> Self {
                Self::mean(sum, 1 << power)
            }

            #[inline(always)]
            fn is_nan(self) -> bool {
                <$type>::is_nan(self)
            }

            #[inline(always)]
            fn order(&self, other: &Self) -> Ordering {
                let nan = || self.is_nan().cmp(&other.is_nan());
                self.partial_cmp(other).unwrap_or_else(nan)
            }

            #[inline(always)]
            fn lower(self, other: Self) -> Self {
                if self <= other || self.is_nan() { self } else { other }
            }

            #[inline(always)]
            fn higher(self, other: Self) -> Self {
                if self >= other || self.is_nan() { self } else { other }
            }
        }
    )*};
}

#[expect(clippy::cast_possible_truncation, reason = "rounded to the nearest")]
fn single(wide: f64) -> f32 {
    wide as f32
}

floats! {
    f16, f16::ZERO, f16::to_f64, f16::from_f64;
    bf16, bf16::ZERO, bf16::to_f64, bf16::from_f64;
    f32, 0.0, f64::from, single;
    f64, 0.0, std::convert::identity, std::convert::identity;
}

macro_rules! complex {
    ($($type:ty, $narrow:expr);* $(;)?) => {$(
        impl Pixel for Complex<$type> {
            type Sum = Complex<f64>;
            const ZERO: Self = Complex::new(0.0, 0.0);
            const NOTHING: Complex<f64> = Complex::new(0.0, 0.0);
            const SHIFTS: bool = false;
            const HAS_NAN: bool = true;

            fn wide(self) -> Complex<f64> {
                Complex::new(self.re.into(), self.im.into())
            }

            fn plus(a: Complex<f64>, b: Complex<f64>) -> Complex<f64> {
                a + b
            }

            fn mean(sum: Complex<f64>, count: u32) -> Self {
                let count = f64::from(count);
                Complex::new($narrow(sum.re / count), $narrow(sum.im / count))
            }

            fn mean_of_power(sum: Complex<f64>, power: u32) -> Self {
                Self::mean(sum, 1 << power)
            }

            fn is_nan(self) -> bool {
                self.re.is_nan() || self.im.is_nan()
            }

            fn order(&self, other: &Self) -> Ordering {
                self.re.order(&other.re).then_with(|| self.im.order(&other.im))
            }

            fn lower(self, other: Self) -> Self {
                if self.order(&other).is_le() { self } else { other }
            }

            fn higher(self, other: Self) -> Self {
                if self.order(&other).is_ge() { self } else { other }
            }
        }
    )*};
}

complex! {
    f32, single;
    f64, std::convert::identity;
}

/// Runs `$body` with `$T` naming the Rust type of elements.
macro_rules! with_pixel {
    ($data_type:expr, $T:ident => $body:expr) => {
        $crate::pyramid::pixel::with_pixel!(@ $data_type, $T => $body,
            bool, i8, i16, i32, i64, u8, u16, u32, u64, half::f16, half::bf16, f32, f64,
            num_complex::Complex<f32>, num_complex::Complex<f64>)
    };
    (@ $data_type:expr, $T:ident => $body:expr, $($type:ty),*) => {{
        $(if <$type as zarrox_core::Element>::holds($data_type) {
            type $T = $type;
            return $body;
        })*
        Err($crate::pyramid::pixel::unreducible($data_type))
    }};
}

pub(super) fn unreducible(data_type: &DataType) -> Error {
    Error::new(ErrorKind::Unsupported, format!("elements of {data_type} are neither numbers nor booleans"))
}

pub(super) use with_pixel;

/// Fails if elements of a type cannot be reduced.
pub(super) fn check_element(data_type: &DataType) -> Result<()> {
    with_pixel!(data_type, T => {
        let _ = T::ZERO;
        Ok(())
    })
}
