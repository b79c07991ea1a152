//! The numbers that filters calculate with, and what one becomes as another: NumPy's `astype`.
//!
//! All loops are over elements of one type, without a branch for each, so that the compiler makes vectors of them: of those that every
//! machine of its kind has, and once more of AVX2's, which the program looks for when it runs. Floats become integers by arithmetic
//! (`whole.rs`).

use std::convert::identity;

use half::f16;
use multiversion::multiversion;
use zarrox_core::data_type::{Storage, odd_single};

use super::whole::{Whole, by_blocks, by_double, by_single};

/// A number as it lies in memory, in the machine's endianness.
pub(crate) trait Element: Copy + 'static {
    /// Its bytes.
    type Bytes: Copy;

    /// The whole elements of a piece of memory.
    fn elements(memory: &[u8]) -> &[Self::Bytes];

    /// The same, to write to.
    fn elements_mut(memory: &mut [u8]) -> &mut [Self::Bytes];

    /// The number of these bytes.
    fn get(bytes: Self::Bytes) -> Self;

    /// The bytes of the number.
    fn put(self) -> Self::Bytes;
}

macro_rules! element {
    ($($T:ty: $size:literal, $get:expr, $put:expr;)*) => {$(
        impl Element for $T {
            type Bytes = [u8; $size];

            fn elements(memory: &[u8]) -> &[Self::Bytes] {
                memory.as_chunks().0
            }

            fn elements_mut(memory: &mut [u8]) -> &mut [Self::Bytes] {
                memory.as_chunks_mut().0
            }

            #[inline(always)]
            fn get(bytes: Self::Bytes) -> Self {
                $get(bytes)
            }

            #[inline(always)]
            fn put(self) -> Self::Bytes {
                $put(self)
            }
        }
    )*};
}

/// A complex number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Complex<T>(pub(crate) T, pub(crate) T);

element! {
    bool: 1, |[byte]: [u8; 1]| byte != 0, |value: bool| [u8::from(value)];
    i8: 1, i8::from_ne_bytes, i8::to_ne_bytes;
    i16: 2, i16::from_ne_bytes, i16::to_ne_bytes;
    i32: 4, i32::from_ne_bytes, i32::to_ne_bytes;
    i64: 8, i64::from_ne_bytes, i64::to_ne_bytes;
    u8: 1, u8::from_ne_bytes, u8::to_ne_bytes;
    u16: 2, u16::from_ne_bytes, u16::to_ne_bytes;
    u32: 4, u32::from_ne_bytes, u32::to_ne_bytes;
    u64: 8, u64::from_ne_bytes, u64::to_ne_bytes;
    f16: 2, f16::from_ne_bytes, f16::to_ne_bytes;
    f32: 4, f32::from_ne_bytes, f32::to_ne_bytes;
    f64: 8, f64::from_ne_bytes, f64::to_ne_bytes;
    Complex<f32>: 8,
        |[a, b, c, d, e, f, g, h]: [u8; 8]| Complex(f32::from_ne_bytes([a, b, c, d]), f32::from_ne_bytes([e, f, g, h])),
        |Complex(real, imaginary): Complex<f32>| {
            let ([a, b, c, d], [e, f, g, h]) = (real.to_ne_bytes(), imaginary.to_ne_bytes());
            [a, b, c, d, e, f, g, h]
        };
    Complex<f64>: 16,
        |bytes: [u8; 16]| {
            let [real, imaginary] = [0, 8].map(|at| std::array::from_fn(|i| bytes[at + i]));
            Complex(f64::from_ne_bytes(real), f64::from_ne_bytes(imaginary))
        },
        |Complex(real, imaginary): Complex<f64>| {
            let (real, imaginary) = (real.to_ne_bytes(), imaginary.to_ne_bytes());
            std::array::from_fn(|i| if i < 8 { real[i] } else { imaginary[i - 8] })
        };
}

/// Integers, whose sums wrap.
pub(crate) trait Integer: Element + CastTo<f64> {
    fn add(self, other: Self) -> Self;
    fn subtract(self, other: Self) -> Self;
    fn multiply(self, other: Self) -> Self;

    /// The integer itself, where there is one.
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

/// Floats, whose every operation is rounded to the type, as NumPy's are.
pub(crate) trait Float: Element {
    fn from_double(value: f64) -> Self;
    fn add(self, other: Self) -> Self;
    fn subtract(self, other: Self) -> Self;
    fn multiply(self, other: Self) -> Self;
    fn divide(self, other: Self) -> Self;

    /// The nearest whole number, of two the even one.
    fn round_even(self) -> Self;

    /// The number without its fraction.
    fn truncate(self) -> Self;
}

macro_rules! float {
    ($($T:ty: $wide:expr, $narrow:expr;)*) => {$(
        impl Float for $T {
            #[inline(always)]
            fn from_double(value: f64) -> Self {
                value.cast_to()
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
    f16: single_of, half_of_single;
    f32: identity, identity;
    f64: identity, identity;
}

/// What numbers become as another type.
pub(crate) trait CastTo<T>: Copy {
    /// Integers keep their lowest bits, floats are rounded to the nearest or lose their fraction, complex numbers lose their
    /// imaginary part, all but 0 is true. Where NumPy leaves the result to the machine, floats beyond an integer's range become its
    /// last one and NaN 0.
    fn cast_to(self) -> T;

    /// The same with many.
    fn cast_all(from: &[u8], to: &mut [u8])
    where
        Self: Element,
        T: Element,
    {
        map(from, to, |value: Self| value.cast_to());
    }
}

macro_rules! cast {
    // Between numbers of which Rust casts one to another as NumPy does.
    ($($from:ty => $($to:ty)*;)*) => {$($(
        impl CastTo<$to> for $from {
            #[inline(always)]
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                clippy::allow_attributes,
                reason = "the lowest bits, or rounded to the nearest; not all types have something to lose"
            )]
            fn cast_to(self) -> $to {
                self as $to
            }
        }
    )*)*};
}

cast! {
    i8 => i8 i16 i32 i64 u8 u16 u32 u64 f32 f64;
    i16 => i8 i16 i32 i64 u8 u16 u32 u64 f32 f64;
    i32 => i8 i16 i32 i64 u8 u16 u32 u64 f32 f64;
    i64 => i8 i16 i32 i64 u8 u16 u32 u64 f32 f64;
    u8 => i8 i16 i32 i64 u8 u16 u32 u64 f32 f64;
    u16 => i8 i16 i32 i64 u8 u16 u32 u64 f32 f64;
    u32 => i8 i16 i32 i64 u8 u16 u32 u64 f32 f64;
    u64 => i8 i16 i32 i64 u8 u16 u32 u64 f32 f64;
    f32 => f32 f64;
    f64 => f32 f64;
}

macro_rules! cast_to_long {
    ($($from:ty => $($to:ty)*;)*) => {$($(
        impl CastTo<$to> for $from {
            #[inline(always)]
            fn cast_to(self) -> $to {
                Whole::of(self.into())
            }

            fn cast_all(from: &[u8], to: &mut [u8]) {
                by_blocks::<Self, $to>(from, to, |from, to| {
                    map(from, to, |value: Self| -> $to { value.cast_to() });
                    true
                });
            }
        }
    )*)*};
}

cast_to_long! {
    f32 => i64 u64;
    f64 => i64 u64;
}

macro_rules! cast_by {
    ($($from:ty => $($to:ty)*: $cast:expr;)*) => {$($(
        impl CastTo<$to> for $from {
            #[inline(always)]
            fn cast_to(self) -> $to {
                let cast: fn($from) -> $to = $cast;
                cast(self)
            }
        }
    )*)*};
}

cast_by! {
    bool => bool: |value| value;
    bool => i8 i16 i32 i64 u8 u16 u32 u64 f16 f32 f64 Complex<f32> Complex<f64>:
        |value| u8::from(value).cast_to();
    i8 => bool: |value| value != 0;
    i16 => bool: |value| value != 0;
    i32 => bool: |value| value != 0;
    i64 => bool: |value| value != 0;
    u8 => bool: |value| value != 0;
    u16 => bool: |value| value != 0;
    u32 => bool: |value| value != 0;
    u64 => bool: |value| value != 0;
    f16 => bool: |value| single_of(value) != 0.0;
    f32 => bool: |value| value != 0.0;
    f64 => bool: |value| value != 0.0;
    Complex<f32> => bool: |value| (value.0 != 0.0) | (value.1 != 0.0);
    Complex<f64> => bool: |value| (value.0 != 0.0) | (value.1 != 0.0);

    f16 => f16: |value| value;
    f16 => i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 Complex<f32> Complex<f64>:
        |value| single_of(value).cast_to();
    // What is not exact as a double is too large for a half.
    i8 => f16: |value| half_of(value.into());
    i16 => f16: |value| half_of(value.into());
    i32 => f16: |value| half_of(value.into());
    i64 => f16: |value| half_of(value.cast_to());
    u8 => f16: |value| half_of(value.into());
    u16 => f16: |value| half_of(value.into());
    u32 => f16: |value| half_of(value.into());
    u64 => f16: |value| half_of(value.cast_to());
    f32 => f16: half_of_single;
    f64 => f16: half_of;
    f32 => i8: |value| by_single!(value.trunc(), i8).0;
    f32 => i16: |value| by_single!(value.trunc(), i16).0;
    f32 => u8: |value| by_single!(value.trunc(), u8).0;
    f32 => u16: |value| by_single!(value.trunc(), u16).0;
    f32 => i32 u32: |value| Whole::saturating(f64::from(value).trunc());
    f64 => i8 i16 i32 u8 u16 u32: |value| Whole::saturating(value.trunc());

    i8 => Complex<f32> Complex<f64>: |value| Complex(value.cast_to(), 0.0);
    i16 => Complex<f32> Complex<f64>: |value| Complex(value.cast_to(), 0.0);
    i32 => Complex<f32> Complex<f64>: |value| Complex(value.cast_to(), 0.0);
    i64 => Complex<f32> Complex<f64>: |value| Complex(value.cast_to(), 0.0);
    u8 => Complex<f32> Complex<f64>: |value| Complex(value.cast_to(), 0.0);
    u16 => Complex<f32> Complex<f64>: |value| Complex(value.cast_to(), 0.0);
    u32 => Complex<f32> Complex<f64>: |value| Complex(value.cast_to(), 0.0);
    u64 => Complex<f32> Complex<f64>: |value| Complex(value.cast_to(), 0.0);
    f32 => Complex<f32> Complex<f64>: |value| Complex(value.cast_to(), 0.0);
    f64 => Complex<f32> Complex<f64>: |value| Complex(value.cast_to(), 0.0);
    Complex<f32> => i8 i16 i32 i64 u8 u16 u32 u64 f16 f32 f64: |value| value.0.cast_to();
    Complex<f64> => i8 i16 i32 i64 u8 u16 u32 u64 f16 f32 f64: |value| value.0.cast_to();
    Complex<f32> => Complex<f32> Complex<f64>:
        |value| Complex(value.0.cast_to(), value.1.cast_to());
    Complex<f64> => Complex<f32> Complex<f64>:
        |value| Complex(value.0.cast_to(), value.1.cast_to());
}

/// The half that is nearest to a double, rounded once.
#[inline(always)]
fn half_of(value: f64) -> f16 {
    half_of_single(odd_single(value))
}

/// The half that is nearest to a single, by arithmetic that every machine has vector instructions for.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "the bits of a half")]
fn half_of_single(value: f32) -> f16 {
    let bits = value.to_bits();
    let magnitude = bits & 0x7fff_ffff;
    // The sum with a half rounds the least halves, which have no exponent, and has their bits at the end.
    let least = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0.5_f32.to_bits());
    let odd = magnitude >> 13 & 1;
    let normal = magnitude.wrapping_add(0xc800_0fff + odd) >> 13;
    let finite = if magnitude < 0x3880_0000 { least } else { normal };
    let infinite = if magnitude > 0x7f80_0000 { 0x7e00 | magnitude >> 13 & 0x3ff } else { 0x7c00 };
    let half = if magnitude < 0x4780_0000 { finite } else { infinite };
    f16::from_bits((half | bits >> 16 & 0x8000) as u16)
}

/// The single that a half is.
#[inline(always)]
fn single_of(value: f16) -> f32 {
    let bits = u32::from(value.to_bits());
    let magnitude = (bits & 0x7fff) << 13;
    // The exponents of singles begin 112 before those of halves: times 2¹¹².
    let number = (f32::from_bits(magnitude) * f32::from_bits(0x7780_0000)).to_bits();
    let single = if magnitude < 0x0f80_0000 { number } else { magnitude | 0x7f80_0000 };
    f32::from_bits(single | (bits & 0x8000) << 16)
}

fn cast_wrapping<S: Element + CastTo<f64>, T: Element + Whole>(from: &[u8], to: &mut [u8]) {
    map(from, to, |value: S| T::wrapping(Float::truncate(value.cast_to())));
}

/// Casts elements to another type: as many as there are.
pub(crate) type Cast = fn(&[u8], &mut [u8]);

fn cast_elements<S: Element + CastTo<T>, T: Element>(from: &[u8], to: &mut [u8]) {
    S::cast_all(from, to);
}

/// The same for whole numbers; false when one becomes another number.
pub(crate) type CheckedCast = fn(&[u8], &mut [u8]) -> bool;

/// Numbers that are cast to integers with a check.
trait Fit<T>: Element {
    fn cast_checked(from: &[u8], to: &mut [u8]) -> bool;
}

macro_rules! fit {
    ($($from:ty)*) => {$(
        fit!(@ $from => i8 i16 i32 i64 u8 u16 u32 u64);
    )*};
    (@ $from:ty => $($to:ty)*) => {$(
        impl Fit<$to> for $from {
            fn cast_checked(from: &[u8], to: &mut [u8]) -> bool {
                // Where only one of the types has a sign, the highest bit may change its meaning.
                let loses = <$from>::MIN != 0 && <$to>::MIN == 0;
                let gains = <$from>::MIN == 0 && <$to>::MIN != 0 && <$from>::BITS == <$to>::BITS;
                let highest = if loses || gains { 1 << (<$from>::BITS - 1) } else { 0 };
                let mut misfit = 0;
                map(from, to, |value: $from| {
                    let cast: $to = value.cast_to();
                    let back: $from = cast.cast_to();
                    misfit |= (back ^ value) | (value & highest);
                    cast
                });
                misfit == 0
            }
        }
    )*};
}

fit!(i8 i16 i32 i64 u8 u16 u32 u64);

macro_rules! fit_float {
    ($($from:ty => $by:ident $($to:ty)*;)*) => {$($(
        impl Fit<$to> for $from {
            fn cast_checked(from: &[u8], to: &mut [u8]) -> bool {
                let mut misfit = 0;
                map(from, to, |value: $from| {
                    let (cast, changed) = $by!(value, $to);
                    misfit |= changed;
                    cast
                });
                misfit == 0
            }
        }
    )*)*};
}

macro_rules! fit_long {
    ($($from:ty => $($to:ty)*;)*) => {$($(
        impl Fit<$to> for $from {
            fn cast_checked(from: &[u8], to: &mut [u8]) -> bool {
                by_blocks::<Self, $to>(from, to, |from, to| {
                    let mut misfit = 0;
                    map(from, to, |value: Self| {
                        let (cast, changed) = by_double!(value, $to);
                        misfit |= changed;
                        cast
                    });
                    misfit == 0
                })
            }
        }
    )*)*};
}

fit_long! {
    f16 => i64 u64;
    f32 => i64 u64;
    f64 => i64 u64;
}

fit_float! {
    f16 => by_single i8 i16 u8 u16;
    f16 => by_double i32 u32;
    f32 => by_single i8 i16 u8 u16;
    f32 => by_double i32 u32;
    f64 => by_double i8 i16 i32 u8 u16 u32;
}

/// Runs `$body` with `$T` naming the type of the elements that lie in memory so.
macro_rules! with_element {
    ($storage:expr, $T:ident => $body:expr, else $other:expr) => {
        $crate::numeric::filter::element::with_element!(@ $storage, $T => $body, $other,
            Bool => bool, Int(1) => i8, Int(2) => i16, Int(4) => i32, Int(8) => i64,
            Uint(1) => u8, Uint(2) => u16, Uint(4) => u32, Uint(8) => u64,
            Float(2) => half::f16, Float(4) => f32, Float(8) => f64,
            Complex(8) => $crate::numeric::filter::element::Complex<f32>,
            Complex(16) => $crate::numeric::filter::element::Complex<f64>)
    };
    (@ $storage:expr, $T:ident => $body:expr, $other:expr, $($kind:ident $(($size:literal))? => $type:ty),*) => {
        match $storage {
            $(zarrox_core::data_type::Storage::$kind $(($size))? => {
                type $T = $type;
                $body
            })*
            _ => $other,
        }
    };
}
pub(crate) use with_element;

/// The same for all but booleans.
macro_rules! with_number {
    ($storage:expr, $T:ident => $body:expr, else $other:expr) => {
        $crate::numeric::filter::element::with_element!(@ $storage, $T => $body, $other,
            Int(1) => i8, Int(2) => i16, Int(4) => i32, Int(8) => i64,
            Uint(1) => u8, Uint(2) => u16, Uint(4) => u32, Uint(8) => u64,
            Float(2) => half::f16, Float(4) => f32, Float(8) => f64,
            Complex(8) => $crate::numeric::filter::element::Complex<f32>,
            Complex(16) => $crate::numeric::filter::element::Complex<f64>)
    };
}
pub(crate) use with_number;

/// The same for integers and floats.
macro_rules! with_real {
    ($storage:expr, $T:ident => $body:expr, else $other:expr) => {
        $crate::numeric::filter::element::with_element!(@ $storage, $T => $body, $other,
            Int(1) => i8, Int(2) => i16, Int(4) => i32, Int(8) => i64,
            Uint(1) => u8, Uint(2) => u16, Uint(4) => u32, Uint(8) => u64,
            Float(2) => half::f16, Float(4) => f32, Float(8) => f64)
    };
}

/// The same for integers only.
macro_rules! with_integer {
    ($storage:expr, $T:ident => $body:expr, else $other:expr) => {
        $crate::numeric::filter::element::with_element!(@ $storage, $T => $body, $other,
            Int(1) => i8, Int(2) => i16, Int(4) => i32, Int(8) => i64,
            Uint(1) => u8, Uint(2) => u16, Uint(4) => u32, Uint(8) => u64)
    };
}
pub(crate) use with_integer;

/// The same for floats only.
macro_rules! with_float {
    ($storage:expr, $T:ident => $body:expr, else $other:expr) => {
        $crate::numeric::filter::element::with_element!(@ $storage, $T => $body, $other,
            Float(2) => half::f16, Float(4) => f32, Float(8) => f64)
    };
}
pub(crate) use with_float;

/// How elements that lie in memory so are cast to those of another type; `None` where one of them is no number.
pub(crate) fn cast(from: &Storage, to: &Storage) -> Option<Cast> {
    with_element!(from, S => with_element!(to, T => Some(cast_elements::<S, T>), else None), else None)
}

/// The same with a check, for a cast of whole numbers to integers.
pub(crate) fn checked_cast(from: &Storage, to: &Storage) -> Option<CheckedCast> {
    with_real!(from, S => with_integer!(to, T => Some(<S as Fit<T>>::cast_checked), else None), else None)
}

/// The cast of floats to integers that wrap, which is what most machines do for NumPy where it leaves it to them. Sums of
/// differences that wrapped come back by it. `None` for other types.
pub(crate) fn wrapping_cast(from: &Storage, to: &Storage) -> Option<Cast> {
    if let Storage::Int(_) | Storage::Uint(_) = from {
        return None;
    }
    with_number!(from, S => with_integer!(to, T => Some(cast_wrapping::<S, T>), else None), else None)
}

/// Makes each element another.
#[multiversion(targets("x86_64+avx2"))]
pub(crate) fn map<S: Element, T: Element>(from: &[u8], to: &mut [u8], mut map: impl FnMut(S) -> T) {
    for (from, to) in S::elements(from).iter().zip(T::elements_mut(to)) {
        *to = map(S::get(*from)).put();
    }
}

#[cfg(test)]
mod tests {
    use zarrox_testkit::codec::Random;

    use super::*;

    #[test]
    fn halves_are_those_of_the_standard() {
        for bits in 0..=u16::MAX {
            let half = f16::from_bits(bits);
            let single = single_of(half);
            assert!(single == half.to_f32() || (single.is_nan() && half.is_nan()), "{bits:x}");
            let back = half_of_single(single);
            assert!(back == half || (back.is_nan() && half.is_nan()), "{bits:x}");
        }
        let mut random = Random::new(3);
        for _ in 0..100_000 {
            let bits = random.number().to_le_bytes();
            let single =
                f32::from_ne_bytes([bits[0], bits[1], bits[2], 0x30 | bits[3] & 0x8f | bits[4] & 0x48]);
            let expected = f16::from_f32_const(single);
            let found = half_of_single(single);
            assert!(found == expected || (found.is_nan() && expected.is_nan()), "{single}: {found}");
        }
    }

    #[test]
    fn doubles_become_halves_in_one_step() {
        // As a single, this is just between two halves, and would go to the even one.
        let between = 1.0 + 2_f64.powi(-11);
        assert_eq!(half_of(between), f16::from_f32(1.0));
        assert_eq!(half_of(between + 2_f64.powi(-40)), f16::from_bits(0x3c01));
        assert_eq!(half_of(-between - 2_f64.powi(-40)), f16::from_bits(0xbc01));
        assert_eq!(half_of(between - 2_f64.powi(-40)), f16::from_f32(1.0));
        assert_eq!(half_of(1e300), f16::INFINITY);
        assert_eq!(half_of(-1e-300).to_bits(), 0x8000);
        assert!(half_of(f64::NAN).is_nan());
    }

    /// Casts numbers and shows what they become.
    fn shown<S: Element, T: Element + std::fmt::Debug>(
        cast: impl Fn(&[u8], &mut [u8]) -> bool,
        numbers: &[S],
    ) -> (bool, Vec<T>)
    where
        S::Bytes: AsRef<[u8]>,
    {
        let from: Vec<u8> = numbers.iter().flat_map(|number| number.put().as_ref().to_vec()).collect();
        let mut to = vec![0; numbers.len() * size_of::<T::Bytes>()];
        let fits = cast(&from, &mut to);
        (fits, T::elements(&to).iter().map(|bytes| T::get(*bytes)).collect())
    }

    #[test]
    fn what_numpy_leaves_to_the_machine() {
        let numbers = [f64::NAN, f64::INFINITY, -f64::INFINITY, 1e10, -1.9, 255.9, 256.0, -0.9];
        let plain = |to: Storage| {
            let cast = cast(&Storage::Float(8), &to).unwrap();
            move |from: &[u8], to: &mut [u8]| {
                cast(from, to);
                true
            }
        };
        let saturated = shown::<f64, u8>(plain(Storage::Uint(1)), &numbers).1;
        assert_eq!(saturated, [0, 255, 0, 255, 0, 255, 255, 0]);
        let saturated = shown::<f64, i64>(plain(Storage::Int(8)), &[f64::NAN, 1e30, -1e30]).1;
        assert_eq!(saturated, [0, i64::MAX, i64::MIN]);
        let wrapping = wrapping_cast(&Storage::Float(8), &Storage::Uint(1)).unwrap();
        let wrapped = shown::<f64, u8>(|from, to| (wrapping(from, to), true).1, &numbers).1;
        assert_eq!(wrapped, [0, 0, 0, 0, 255, 255, 0, 0]);
    }

    #[test]
    fn whole_numbers_are_checked() {
        let check = |to: Storage, number: f64| {
            let both = [Storage::Float(8), Storage::Float(4)].map(|from| checked_cast(&from, &to).unwrap());
            let mut into = [0; 8];
            let fits = both[0](&number.put(), &mut into[..to.size()]);
            #[expect(clippy::cast_possible_truncation, reason = "exact, or out of the range")]
            let single = both[1](&(number as f32).put(), &mut into[..to.size()]);
            assert_eq!(fits, single, "{number} to {to:?}");
            fits
        };
        for (to, least, greatest) in [
            (Storage::Int(1), -128.0, 127.0),
            (Storage::Uint(1), 0.0, 255.0),
            (Storage::Int(2), -32768.0, 32767.0),
            (Storage::Uint(2), 0.0, 65535.0),
        ] {
            assert!(check(to.clone(), least) && check(to.clone(), greatest) && check(to.clone(), -0.0));
            assert!(!check(to.clone(), least - 1.0) && !check(to.clone(), greatest + 1.0));
            assert!(!check(to.clone(), f64::NAN) && !check(to, f64::INFINITY));
        }
        for (to, beyond) in [(Storage::Int(8), 2_f64.powi(63)), (Storage::Uint(8), 2_f64.powi(64))] {
            assert!(
                !check(to.clone(), beyond) && check(to.clone(), beyond / 2.0) && !check(to, -beyond - 3e12)
            );
        }
        let integers = |number: i64, to: Storage| {
            checked_cast(&Storage::Int(8), &to).unwrap()(&number.put(), &mut [0; 8][..to.size()])
        };
        assert!(
            integers(-1, Storage::Int(1)) && integers(255, Storage::Uint(1)) && integers(0, Storage::Uint(8))
        );
        assert!(
            !integers(-1, Storage::Uint(8))
                && !integers(-1, Storage::Uint(1))
                && !integers(128, Storage::Int(1))
        );
        let highest = checked_cast(&Storage::Uint(1), &Storage::Int(1)).unwrap();
        assert!(!highest(&[128], &mut [0]) && highest(&[127], &mut [0]));
    }
}
