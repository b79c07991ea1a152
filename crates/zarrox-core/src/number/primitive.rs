//! [`Primitive`]: the built-in number types, for loops that are generic over all of them.

use half::{bf16, f16};
use num_complex::Complex;

use super::Number;

/// A boolean, a real or a complex number in its memory representation, in native byte order.
pub trait Plain: Copy + Default + PartialEq + Send + Sync + 'static {
    /// The bytes of a number.
    type Bytes: Copy + AsRef<[u8]>;

    /// Returns the complete elements in a slice of memory.
    fn elements(memory: &[u8]) -> &[Self::Bytes];

    /// Returns the complete elements in a mutable slice of memory.
    fn elements_mut(memory: &mut [u8]) -> &mut [Self::Bytes];

    /// Returns the number that these bytes represent.
    fn get(bytes: Self::Bytes) -> Self;

    /// Returns the bytes of the number.
    fn put(self) -> Self::Bytes;
}

macro_rules! plain {
    ($($T:ty: $get:expr, $put:expr;)*) => {$(
        impl Plain for $T {
            type Bytes = [u8; size_of::<$T>()];

            #[inline(always)]
            fn elements(memory: &[u8]) -> &[Self::Bytes] {
                memory.as_chunks().0
            }

            #[inline(always)]
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
    ($($T:ty)*) => {
        plain! { $($T: Self::from_ne_bytes, Self::to_ne_bytes;)* }
    };
}

plain! { i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 }
plain! {
    bool: |[byte]: [u8; 1]| byte != 0, |value: bool| [u8::from(value)];
    Complex<f32>: |bytes: [u8; 8]| parts(&bytes), |value: Complex<f32>| joined(value);
    Complex<f64>: |bytes: [u8; 16]| parts(&bytes), |value: Complex<f64>| joined(value);
}

#[inline(always)]
fn parts<T: Plain>(bytes: &[u8]) -> Complex<T> {
    let parts = T::elements(bytes);
    Complex { re: T::get(parts[0]), im: T::get(parts[1]) }
}

#[inline(always)]
fn joined<T: Plain, const N: usize>(value: Complex<T>) -> [u8; N] {
    let mut bytes = [0; N];
    let parts = T::elements_mut(&mut bytes);
    (parts[0], parts[1]) = (value.re.put(), value.im.put());
    bytes
}

/// A real number in its memory representation.
pub trait Primitive: Plain + PartialOrd {
    /// The smallest number; for floats, negative infinity.
    const LOWEST: Self;
    /// The largest number; for floats, infinity.
    const HIGHEST: Self;
    /// NaN, if the type has one.
    const NAN: Option<Self>;

    /// Returns the number that these bytes represent, in native byte order.
    ///
    /// # Panics
    /// When there are too few bytes.
    #[inline(always)]
    fn of_bytes(bytes: &[u8]) -> Self {
        Self::get(Self::elements(bytes)[0])
    }

    /// Appends the bytes of the number, in native byte order.
    #[inline(always)]
    fn append_to(self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(self.put().as_ref());
    }

    /// Returns the number as a float, rounded to nearest.
    fn to_f64(self) -> f64;

    /// Returns the exact number.
    fn to_number(self) -> Number;

    /// Returns true for NaN.
    #[expect(clippy::eq_op, reason = "only NaN is not equal to itself")]
    #[inline(always)]
    fn is_nan(self) -> bool {
        self != self
    }
}

macro_rules! primitives {
    ($($type:ty, $lowest:expr, $highest:expr, $nan:expr, $number:ident as $wide:ty;)*) => {$(
        impl Primitive for $type {
            const LOWEST: Self = $lowest;
            const HIGHEST: Self = $highest;
            const NAN: Option<Self> = $nan;

            #[allow(clippy::cast_precision_loss, clippy::cast_lossless, clippy::allow_attributes, reason = "rounded to the nearest")]
            #[inline(always)]
            fn to_f64(self) -> f64 {
                self as f64
            }

            #[inline(always)]
            fn to_number(self) -> Number {
                Number::$number(<$wide>::from(self))
            }
        }
    )*};
}

primitives! {
    i8, i8::MIN, i8::MAX, None, Integer as i128;
    i16, i16::MIN, i16::MAX, None, Integer as i128;
    i32, i32::MIN, i32::MAX, None, Integer as i128;
    i64, i64::MIN, i64::MAX, None, Integer as i128;
    u8, u8::MIN, u8::MAX, None, Integer as i128;
    u16, u16::MIN, u16::MAX, None, Integer as i128;
    u32, u32::MIN, u32::MAX, None, Integer as i128;
    u64, u64::MIN, u64::MAX, None, Integer as i128;
    f32, f32::NEG_INFINITY, f32::INFINITY, Some(f32::NAN), Float as f64;
    f64, f64::NEG_INFINITY, f64::INFINITY, Some(f64::NAN), Float as f64;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_through_bytes() {
        fn check<T: Primitive + std::fmt::Debug>(number: T, float: f64) {
            let mut bytes = Vec::new();
            number.append_to(&mut bytes);
            assert_eq!((T::of_bytes(&bytes), number.to_f64(), number.is_nan()), (number, float, false));
            assert!(T::NAN.is_none_or(Primitive::is_nan) && T::LOWEST < T::HIGHEST);
        }
        check(-3_i8, -3.0);
        check(u64::MAX, 18_446_744_073_709_551_616.0);
        check(0.1_f32, f64::from(0.1_f32));
        assert_eq!(u64::MAX.to_number(), Number::Integer(u64::MAX.into()));
    }
}
