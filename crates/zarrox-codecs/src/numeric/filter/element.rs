//! The numbers that filters calculate with.
//!
//! All loops are over elements of one type, without a branch for each, so that the compiler makes vectors of them: of those that every
//! machine of its kind has, and once more of AVX2's, which the program looks for when it runs. Floats become integers by arithmetic
//! (`whole.rs`), and halves singles (`halves.rs`).

use std::convert::identity;

use half::f16;
use multiversion::multiversion;

use super::halves::{half_of_single, single_of};

/// A number as it lies in memory, in the machine's endianness.
pub(crate) trait Element: Copy + 'static {
    /// Its bytes.
    type Bytes: Copy;

    /// The whole elements of a piece of memory.
    fn elements(memory: &[u8]) -> &[Self::Bytes];

    /// The elements in memory, to write to.
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

/// The cast of a number to another type.
pub(crate) trait CastTo<T>: Copy {
    /// Integers keep their lowest bits, floats are rounded to the nearest or lose their fraction, complex numbers lose their
    /// imaginary part, all but 0 is true. Where NumPy leaves the result to the machine, floats beyond an integer's range become its
    /// last one and NaN 0.
    fn cast_to(self) -> T;

    /// Casts many numbers.
    fn cast_all(from: &[u8], to: &mut [u8])
    where
        Self: Element,
        T: Element,
    {
        map(from, to, |value: Self| value.cast_to());
    }
}

/// Makes each element another.
#[multiversion(targets("x86_64+avx2"))]
pub(crate) fn map<S: Element, T: Element>(from: &[u8], to: &mut [u8], mut map: impl FnMut(S) -> T) {
    for (from, to) in S::elements(from).iter().zip(T::elements_mut(to)) {
        *to = map(S::get(*from)).put();
    }
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

/// Dispatches to all numbers but booleans.
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

/// Dispatches to integers and floats.
macro_rules! with_real {
    ($storage:expr, $T:ident => $body:expr, else $other:expr) => {
        $crate::numeric::filter::element::with_element!(@ $storage, $T => $body, $other,
            Int(1) => i8, Int(2) => i16, Int(4) => i32, Int(8) => i64,
            Uint(1) => u8, Uint(2) => u16, Uint(4) => u32, Uint(8) => u64,
            Float(2) => half::f16, Float(4) => f32, Float(8) => f64)
    };
}
pub(super) use with_real;

/// Dispatches to integers only.
macro_rules! with_integer {
    ($storage:expr, $T:ident => $body:expr, else $other:expr) => {
        $crate::numeric::filter::element::with_element!(@ $storage, $T => $body, $other,
            Int(1) => i8, Int(2) => i16, Int(4) => i32, Int(8) => i64,
            Uint(1) => u8, Uint(2) => u16, Uint(4) => u32, Uint(8) => u64)
    };
}
pub(crate) use with_integer;

/// Dispatches to floats only.
macro_rules! with_float {
    ($storage:expr, $T:ident => $body:expr, else $other:expr) => {
        $crate::numeric::filter::element::with_element!(@ $storage, $T => $body, $other,
            Float(2) => half::f16, Float(4) => f32, Float(8) => f64)
    };
}
pub(crate) use with_float;
