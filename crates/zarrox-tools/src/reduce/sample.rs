//! The element types of reductions.

use std::cmp::Ordering;
use std::ops::Add;

use half::{bf16, f16};
use num_complex::Complex;
use zarrox_core::{DataType, Error, ErrorKind};

/// The maximum number of elements of a block whose mean is computed as a whole. A sum of this many elements does not overflow.
pub const MOST: u64 = 1 << 15;

/// An element type of reductions.
pub(super) trait Sample: Copy + PartialEq + Send + Sync + 'static {
    /// A sum of at most [`MOST`] elements.
    type Sum: Copy + Default + Add<Output = Self::Sum> + Send + Sync;

    /// Reads an element in native byte order.
    fn load(bytes: &[u8]) -> Self;

    /// Writes the element in native byte order.
    fn store(self, bytes: &mut [u8]);

    fn wide(self) -> Self::Sum;

    /// Returns the mean of `count` elements, at least one.
    fn mean(sum: Self::Sum, count: u32) -> Self;

    /// Returns the mean of 2 to the power `power` elements.
    #[inline(always)]
    fn mean_of_power(sum: Self::Sum, power: u32) -> Self {
        Self::mean(sum, 1 << power)
    }

    /// Returns true if the element is less than or equal to another one. NaN is unordered.
    fn at_most(self, other: Self) -> bool;

    #[expect(clippy::eq_op, reason = "only NaN is not equal to itself")]
    #[inline(always)]
    fn is_nan(self) -> bool {
        self != self
    }

    /// Orders elements; NaN comes last.
    fn order(&self, other: &Self) -> Ordering {
        match (self.at_most(*other), other.at_most(*self)) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (false, false) => self.is_nan().cmp(&other.is_nan()),
        }
    }

    /// Returns the smaller element, or NaN if one is NaN.
    #[inline(always)]
    fn lower(self, other: Self) -> Self {
        if self.at_most(other) || self.is_nan() { self } else { other }
    }

    /// Returns the larger element, or NaN if one is NaN.
    #[inline(always)]
    fn higher(self, other: Self) -> Self {
        if other.at_most(self) || self.is_nan() { self } else { other }
    }

    /// Returns the mean of two elements.
    fn middle(self, other: Self) -> Self {
        Self::mean(self.wide() + other.wide(), 2)
    }
}

/// The methods that all numbers have in common.
macro_rules! number {
    () => {
        #[inline(always)]
        fn load(bytes: &[u8]) -> Self {
            let mut own = [0; size_of::<Self>()];
            own.copy_from_slice(bytes);
            Self::from_ne_bytes(own)
        }

        #[inline(always)]
        fn store(self, bytes: &mut [u8]) {
            bytes.copy_from_slice(&self.to_ne_bytes());
        }

        #[inline(always)]
        fn at_most(self, other: Self) -> bool {
            self <= other
        }
    };
}

macro_rules! integers {
    ($($type:ty as $sum:ty),* $(,)?) => {$(
        #[expect(clippy::allow_attributes, reason = "not every type needs all of them")]
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_possible_wrap, clippy::cast_lossless, clippy::unnecessary_cast,
            reason = "a mean lies between elements; a count is at most 2^15")]
        impl Sample for $type {
            type Sum = $sum;
            number!();

            #[inline(always)]
            fn wide(self) -> $sum {
                <$sum>::from(self)
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
                // Without rounding of halves, the remainder never reaches 1.
                let half = (count >> 1).max(1);
                let is_up = (rest > half) | ((rest == half) & (whole & 1 == 1));
                (whole + is_up as $sum) as Self
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

macro_rules! floats {
    ($($type:ty, $wide:expr, $narrow:expr);* $(;)?) => {$(
        impl Sample for $type {
            type Sum = f64;
            number!();

            #[inline(always)]
            fn wide(self) -> f64 {
                $wide(self)
            }

            #[inline(always)]
            fn mean(sum: f64, count: u32) -> Self {
                $narrow(sum / f64::from(count))
            }
        }
    )*};
}

#[expect(clippy::cast_possible_truncation, reason = "rounded to the nearest")]
fn single(wide: f64) -> f32 {
    wide as f32
}

floats! {
    f16, f16::to_f64, f16::from_f64;
    bf16, bf16::to_f64, bf16::from_f64;
    f32, f64::from, single;
    f64, std::convert::identity, std::convert::identity;
}

/// Complex numbers are ordered by their real parts, and then by their imaginary parts, so that the most frequent element is
/// well-defined.
impl<F: Sample<Sum = f64>> Sample for Complex<F> {
    type Sum = Complex<f64>;

    fn load(bytes: &[u8]) -> Self {
        let (re, im) = bytes.split_at(bytes.len() / 2);
        Self::new(F::load(re), F::load(im))
    }

    fn store(self, bytes: &mut [u8]) {
        let (re, im) = bytes.split_at_mut(bytes.len() / 2);
        self.re.store(re);
        self.im.store(im);
    }

    fn wide(self) -> Complex<f64> {
        Complex::new(self.re.wide(), self.im.wide())
    }

    fn mean(sum: Complex<f64>, count: u32) -> Self {
        Self::new(F::mean(sum.re, count), F::mean(sum.im, count))
    }

    fn at_most(self, other: Self) -> bool {
        self.re.order(&other.re).then_with(|| self.im.order(&other.im)).is_le()
    }
}

/// Runs `$body` with `$T` as the Rust type of elements. Booleans are bytes, 0 or 1.
macro_rules! with_sample {
    ($data_type:expr, $T:ident => $body:expr) => {
        $crate::reduce::sample::with_sample!(@ $data_type, $T => $body,
            bool as u8, i8 as i8, i16 as i16, i32 as i32, i64 as i64, u8 as u8, u16 as u16, u32 as u32, u64 as u64,
            half::f16 as half::f16, half::bf16 as half::bf16, f32 as f32, f64 as f64,
            num_complex::Complex<f32> as num_complex::Complex<f32>, num_complex::Complex<f64> as num_complex::Complex<f64>)
    };
    (@ $data_type:expr, $T:ident => $body:expr, $($held:ty as $type:ty),*) => {{
        $(if <$held as zarrox_core::Element>::holds($data_type) {
            type $T = $type;
            return $body;
        })*
        Err($crate::reduce::sample::unreducible($data_type))
    }};
}

pub(super) fn unreducible(data_type: &DataType) -> Error {
    Error::new(ErrorKind::Unsupported, format!("elements of {data_type} are neither numbers nor booleans"))
}

pub(super) use with_sample;
