//! Casts between numbers, as NumPy's `astype` makes them.

use half::f16;
use zarrox_core::data_type::Storage;

use super::element::{
    CastTo, Complex, Element, Float, map, with_element, with_integer, with_number, with_real,
};
use super::halves::{half_of, half_of_single, single_of};
use super::whole::{Whole, by_blocks, by_double, by_single};

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

fn cast_wrapping<S: Element + CastTo<f64>, T: Element + Whole>(from: &[u8], to: &mut [u8]) {
    map(from, to, |value: S| T::wrapping(Float::truncate(value.cast_to())));
}

/// Casts elements to another type: as many as there are.
pub(crate) type Cast = fn(&[u8], &mut [u8]);

fn cast_elements<S: Element + CastTo<T>, T: Element>(from: &[u8], to: &mut [u8]) {
    S::cast_all(from, to);
}

/// A cast of whole numbers; false when one becomes another number.
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

/// The cast between two layouts; `None` where one of them is not of numbers.
pub(crate) fn cast(from: &Storage, to: &Storage) -> Option<Cast> {
    with_element!(from, S => with_element!(to, T => Some(cast_elements::<S, T>), else None), else None)
}

/// The checked cast of whole numbers to integers.
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

#[cfg(test)]
mod tests {
    use super::*;

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
