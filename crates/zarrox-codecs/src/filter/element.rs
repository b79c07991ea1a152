//! The numbers that filters calculate with, and what one becomes as another: NumPy's `astype`.
//!
//! All loops are over elements of one type, without a branch for each, so that the compiler makes vectors of them. What the machine
//! has no vector instruction for everywhere (rounding, floats to integers) is arithmetic on doubles.

use half::f16;
use zarrox_core::data_type::Storage;

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
}

macro_rules! float {
    ($($T:ty: $wide:ty, $narrow:expr, $limit:literal;)*) => {$(
        impl Float for $T {
            #[inline(always)]
            fn from_double(value: f64) -> Self {
                value.cast_to(&mut 0)
            }

            #[inline(always)]
            fn add(self, other: Self) -> Self {
                $narrow(<$wide>::from(self) + <$wide>::from(other))
            }

            #[inline(always)]
            fn subtract(self, other: Self) -> Self {
                $narrow(<$wide>::from(self) - <$wide>::from(other))
            }

            #[inline(always)]
            fn multiply(self, other: Self) -> Self {
                $narrow(<$wide>::from(self) * <$wide>::from(other))
            }

            #[inline(always)]
            fn divide(self, other: Self) -> Self {
                $narrow(<$wide>::from(self) / <$wide>::from(other))
            }

            #[inline(always)]
            fn round_even(self) -> Self {
                // From this limit on, all numbers are whole; a sum beyond it has no room for a fraction.
                let value = <$wide>::from(self);
                let magnitude = value.abs();
                let whole = (magnitude + $limit) - $limit;
                let whole = if magnitude < $limit { whole } else { magnitude };
                $narrow(whole.copysign(value))
            }
        }
    )*};
}

float! {
    f16: f32, f16::from_f32, 8_388_608.0;
    f32: f32, std::convert::identity, 8_388_608.0;
    f64: f64, std::convert::identity, 4_503_599_627_370_496.0;
}

/// What numbers become as another type.
pub(crate) trait CastTo<T>: Copy {
    /// Integers keep their lowest bits, floats are rounded to the nearest or lose their fraction, complex numbers lose their
    /// imaginary part, all but 0 is true. Where NumPy leaves the result to the machine, floats beyond an integer's range become its
    /// last one and NaN 0. An integer that is another number than before, but for a fraction, makes `misfit` no longer 0.
    fn cast_to(self, misfit: &mut u64) -> T;
}

macro_rules! cast_float {
    ($($from:ty => $($to:ty)*;)*) => {$($(
        impl CastTo<$to> for $from {
            #[inline(always)]
            #[allow(
                clippy::cast_possible_truncation,
                clippy::allow_attributes,
                reason = "rounded to the nearest; not all types have something to lose"
            )]
            fn cast_to(self, _: &mut u64) -> $to {
                self as $to
            }
        }
    )*)*};
}

cast_float! {
    i8 => f32 f64;
    i16 => f32 f64;
    i32 => f32 f64;
    i64 => f32 f64;
    u8 => f32 f64;
    u16 => f32 f64;
    u32 => f32 f64;
    u64 => f32 f64;
    f32 => f32 f64;
    f64 => f32 f64;
}

macro_rules! cast_integer {
    ($($from:ty)*) => {$(
        cast_integer!(@ $from => i8 i16 i32 i64 u8 u16 u32 u64);
    )*};
    (@ $from:ty => $($to:ty)*) => {$(
        impl CastTo<$to> for $from {
            #[inline(always)]
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                unused_comparisons,
                clippy::allow_attributes,
                reason = "the lowest bits; not all types have something to lose, or a sign"
            )]
            fn cast_to(self, misfit: &mut u64) -> $to {
                let cast = self as $to;
                *misfit |= u64::from((cast as $from != self) | ((cast < 0) != (self < 0)));
                cast
            }
        }
    )*};
}

cast_integer!(i8 i16 i32 i64 u8 u16 u32 u64);

macro_rules! cast_by {
    ($($from:ty => $($to:ty)*: $cast:expr;)*) => {$($(
        impl CastTo<$to> for $from {
            #[inline(always)]
            fn cast_to(self, misfit: &mut u64) -> $to {
                let cast: fn($from, &mut u64) -> $to = $cast;
                cast(self, misfit)
            }
        }
    )*)*};
}

cast_by! {
    bool => bool: |value, _| value;
    bool => i8 i16 i32 i64 u8 u16 u32 u64 f16 f32 f64 Complex<f32> Complex<f64>:
        |value, misfit| u8::from(value).cast_to(misfit);
    i8 => bool: |value, _| value != 0;
    i16 => bool: |value, _| value != 0;
    i32 => bool: |value, _| value != 0;
    i64 => bool: |value, _| value != 0;
    u8 => bool: |value, _| value != 0;
    u16 => bool: |value, _| value != 0;
    u32 => bool: |value, _| value != 0;
    u64 => bool: |value, _| value != 0;
    f16 => bool: |value, _| f32::from(value) != 0.0;
    f32 => bool: |value, _| value != 0.0;
    f64 => bool: |value, _| value != 0.0;
    Complex<f32> => bool: |value, _| (value.0 != 0.0) | (value.1 != 0.0);
    Complex<f64> => bool: |value, _| (value.0 != 0.0) | (value.1 != 0.0);

    f16 => f16: |value, _| value;
    f16 => i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 Complex<f32> Complex<f64>:
        |value, misfit| f32::from(value).cast_to(misfit);
    // What is not exact as a double is too large for a half.
    i8 => f16: |value, _| half_of_double(value.into());
    i16 => f16: |value, _| half_of_double(value.into());
    i32 => f16: |value, _| half_of_double(value.into());
    i64 => f16: |value, misfit| half_of_double(value.cast_to(misfit));
    u8 => f16: |value, _| half_of_double(value.into());
    u16 => f16: |value, _| half_of_double(value.into());
    u32 => f16: |value, _| half_of_double(value.into());
    u64 => f16: |value, misfit| half_of_double(value.cast_to(misfit));
    f32 => f16: |value, _| f16::from_f32(value);
    f64 => f16: |value, _| half_of_double(value);

    f32 => i8 i16 i32 i64 u8 u16 u32 u64: |value, misfit| whole(value.into(), misfit);
    f64 => i8 i16 i32 i64 u8 u16 u32 u64: |value, misfit| whole(value, misfit);

    i8 => Complex<f32> Complex<f64>: |value, misfit| Complex(value.cast_to(misfit), 0.0);
    i16 => Complex<f32> Complex<f64>: |value, misfit| Complex(value.cast_to(misfit), 0.0);
    i32 => Complex<f32> Complex<f64>: |value, misfit| Complex(value.cast_to(misfit), 0.0);
    i64 => Complex<f32> Complex<f64>: |value, misfit| Complex(value.cast_to(misfit), 0.0);
    u8 => Complex<f32> Complex<f64>: |value, misfit| Complex(value.cast_to(misfit), 0.0);
    u16 => Complex<f32> Complex<f64>: |value, misfit| Complex(value.cast_to(misfit), 0.0);
    u32 => Complex<f32> Complex<f64>: |value, misfit| Complex(value.cast_to(misfit), 0.0);
    u64 => Complex<f32> Complex<f64>: |value, misfit| Complex(value.cast_to(misfit), 0.0);
    f32 => Complex<f32> Complex<f64>: |value, misfit| Complex(value.cast_to(misfit), 0.0);
    f64 => Complex<f32> Complex<f64>: |value, misfit| Complex(value.cast_to(misfit), 0.0);
    Complex<f32> => i8 i16 i32 i64 u8 u16 u32 u64 f16 f32 f64: |value, misfit| value.0.cast_to(misfit);
    Complex<f64> => i8 i16 i32 i64 u8 u16 u32 u64 f16 f32 f64: |value, misfit| value.0.cast_to(misfit);
    Complex<f32> => Complex<f32> Complex<f64>:
        |value, misfit| Complex(value.0.cast_to(misfit), value.1.cast_to(misfit));
    Complex<f64> => Complex<f32> Complex<f64>:
        |value, misfit| Complex(value.0.cast_to(misfit), value.1.cast_to(misfit));
}

/// The half that is nearest to a double, rounded once: the single in between is made odd where it is not exact, so that it is never
/// just between two halves.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "what is lost is in the last bit")]
fn half_of_double(value: f64) -> f16 {
    let single = value as f32;
    let back = f64::from(single);
    let toward_zero = single.to_bits() - u32::from(back.abs() > value.abs());
    let odd = f32::from_bits(toward_zero | u32::from(back != value && !value.is_nan()));
    f16::from_f32(if value.is_nan() { single } else { odd })
}

/// An integer type that floats are cast to.
trait Whole: Sized {
    /// The least and the greatest of its elements that are doubles.
    const RANGE: (f64, f64);

    /// The integer that a whole number is; the last one where it is beyond.
    fn of(value: f64) -> Self;

    /// The same, but beyond the last one it goes on with the first, as far as doubles hold all whole numbers.
    fn wrapping(value: f64) -> Self {
        Self::of(value)
    }
}

macro_rules! whole {
    ($($T:ty)*) => {$(
        impl Whole for $T {
            const RANGE: (f64, f64) = (<$T>::MIN as f64, <$T>::MAX as f64);

            #[inline(always)]
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                clippy::allow_attributes,
                reason = "the last bits of the sum are the integer; not all types have something to lose"
            )]
            fn wrapping(value: f64) -> Self {
                // The last bits of the ends are 0.
                let inside = within(value, (-2_251_799_813_685_248.0, 2_251_799_813_685_248.0));
                (inside + 6_755_399_441_055_744.0).to_bits() as $T
            }

            #[inline(always)]
            fn of(value: f64) -> Self {
                Self::wrapping(within(value, Self::RANGE))
            }
        }
    )*};
}

whole!(i8 i16 i32 u8 u16 u32);

impl Whole for i64 {
    const RANGE: (f64, f64) = (-9_223_372_036_854_775_808.0, 9_223_372_036_854_774_784.0);

    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "the last one where it is beyond")]
    fn of(value: f64) -> Self {
        value as Self
    }
}

impl Whole for u64 {
    const RANGE: (f64, f64) = (0.0, 18_446_744_073_709_549_568.0);

    #[inline(always)]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the last one where it is beyond"
    )]
    fn of(value: f64) -> Self {
        value as Self
    }
}

/// The nearest number of a range; of NaN, 0.
#[inline(always)]
fn within(value: f64, (least, greatest): (f64, f64)) -> f64 {
    let value = if value < least { least } else { value };
    let value = if value > greatest { greatest } else { value };
    if value.is_nan() { 0.0 } else { value }
}

/// A float without its fraction.
#[inline(always)]
fn truncated(value: f64) -> f64 {
    const LIMIT: f64 = 4_503_599_627_370_496.0;
    let magnitude = value.abs();
    let near = (magnitude + LIMIT) - LIMIT;
    let near = near - if near > magnitude { 1.0 } else { 0.0 };
    if magnitude < LIMIT { near } else { magnitude }.copysign(value)
}

/// A float without its fraction, as an integer.
#[inline(always)]
fn whole<T: Whole>(value: f64, misfit: &mut u64) -> T {
    let near = truncated(value);
    *misfit |= near.to_bits() ^ within(near, T::RANGE).to_bits();
    T::of(near)
}

fn cast_wrapping<S: Element + CastTo<f64>, T: Element + Whole>(from: &[u8], to: &mut [u8]) {
    map(from, to, |value: S| T::wrapping(truncated(value.cast_to(&mut 0))));
}

/// Casts elements to another type: as many as there are.
pub(crate) type Cast = fn(&[u8], &mut [u8]);

fn cast_elements<S: Element + CastTo<T>, T: Element>(from: &[u8], to: &mut [u8]) {
    map(from, to, |value: S| value.cast_to(&mut 0));
}

/// The same; false when an integer is another number than before, but for a fraction.
pub(crate) type CheckedCast = fn(&[u8], &mut [u8]) -> bool;

fn check_cast<S: Element + CastTo<T>, T: Element>(from: &[u8], to: &mut [u8]) -> bool {
    let mut misfit = 0;
    for (from, to) in S::elements(from).iter().zip(T::elements_mut(to)) {
        *to = S::get(*from).cast_to(&mut misfit).put();
    }
    misfit == 0
}

/// Runs `$body` with `$T` naming the type of the elements that lie in memory so.
macro_rules! with_element {
    ($storage:expr, $T:ident => $body:expr, else $other:expr) => {
        $crate::filter::element::with_element!(@ $storage, $T => $body, $other,
            Bool => bool, Int(1) => i8, Int(2) => i16, Int(4) => i32, Int(8) => i64,
            Uint(1) => u8, Uint(2) => u16, Uint(4) => u32, Uint(8) => u64,
            Float(2) => half::f16, Float(4) => f32, Float(8) => f64,
            Complex(8) => $crate::filter::element::Complex<f32>,
            Complex(16) => $crate::filter::element::Complex<f64>)
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
        $crate::filter::element::with_element!(@ $storage, $T => $body, $other,
            Int(1) => i8, Int(2) => i16, Int(4) => i32, Int(8) => i64,
            Uint(1) => u8, Uint(2) => u16, Uint(4) => u32, Uint(8) => u64,
            Float(2) => half::f16, Float(4) => f32, Float(8) => f64,
            Complex(8) => $crate::filter::element::Complex<f32>,
            Complex(16) => $crate::filter::element::Complex<f64>)
    };
}
pub(crate) use with_number;

/// The same for integers only.
macro_rules! with_integer {
    ($storage:expr, $T:ident => $body:expr, else $other:expr) => {
        $crate::filter::element::with_element!(@ $storage, $T => $body, $other,
            Int(1) => i8, Int(2) => i16, Int(4) => i32, Int(8) => i64,
            Uint(1) => u8, Uint(2) => u16, Uint(4) => u32, Uint(8) => u64)
    };
}
pub(crate) use with_integer;

/// The same for floats only.
macro_rules! with_float {
    ($storage:expr, $T:ident => $body:expr, else $other:expr) => {
        $crate::filter::element::with_element!(@ $storage, $T => $body, $other,
            Float(2) => half::f16, Float(4) => f32, Float(8) => f64)
    };
}
pub(crate) use with_float;

/// How elements that lie in memory so are cast to those of another type; `None` where one of them is no number.
pub(crate) fn cast(from: &Storage, to: &Storage) -> Option<Cast> {
    with_element!(from, S => with_element!(to, T => Some(cast_elements::<S, T>), else None), else None)
}

/// The same with a check, for a cast to integers.
pub(crate) fn checked_cast(from: &Storage, to: &Storage) -> Option<CheckedCast> {
    with_number!(from, S => with_integer!(to, T => Some(check_cast::<S, T>), else None), else None)
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
#[inline(always)]
pub(crate) fn map<S: Element, T: Element>(from: &[u8], to: &mut [u8], map: impl Fn(S) -> T) {
    for (from, to) in S::elements(from).iter().zip(T::elements_mut(to)) {
        *to = map(S::get(*from)).put();
    }
}
