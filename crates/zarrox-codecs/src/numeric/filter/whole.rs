//! Whole floats as integers, by arithmetic: `as`, which has an answer for every float, does not become vectors.

use multiversion::multiversion;

use super::element::{CastTo, Element, map};

/// An integer type that floats are cast to.
pub(super) trait Whole: Sized {
    /// The least and the greatest of its elements that are doubles.
    const RANGE: (f64, f64);

    /// The integer that a whole number in the range is.
    fn of(value: f64) -> Self;

    /// The integer that a whole number is, or the last one where it is beyond.
    #[inline(always)]
    fn saturating(value: f64) -> Self {
        Self::of(within(value, Self::RANGE))
    }

    /// Rounds to an integer; beyond the last one it goes on with the first, as far as doubles hold all whole
    /// numbers.
    #[inline(always)]
    fn wrapping(value: f64) -> Self {
        Self::saturating(value)
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
            fn of(value: f64) -> Self {
                (value + 6_755_399_441_055_744.0).to_bits() as $T
            }

            #[inline(always)]
            fn wrapping(value: f64) -> Self {
                // The last bits of the ends are 0.
                Self::of(within(value, (-2_251_799_813_685_248.0, 2_251_799_813_685_248.0)))
            }
        }
    )*};
}

whole!(i8 i16 i32 u8 u16 u32);

/// An integer of 64 bits, for which vectors of doubles have no cast.
pub(super) trait Long: Whole + Element {
    /// Between these, exclusively, they need none.
    const SHORT: (f64, f64);

    /// The integer that a whole number between them is.
    fn of_short(value: f64) -> Self;
}

macro_rules! long {
    ($($T:ty: $least:literal, $greatest:literal, $below:literal;)*) => {$(
        impl Long for $T {
            const SHORT: (f64, f64) = ($below, 2_251_799_813_685_248.0);

            #[inline(always)]
            #[allow(clippy::cast_sign_loss, clippy::allow_attributes, reason = "the number is none below 0 then")]
            fn of_short(value: f64) -> Self {
                const LAST_PLACE_ONE: f64 = 6_755_399_441_055_744.0;
                (value + LAST_PLACE_ONE).to_bits().wrapping_sub(LAST_PLACE_ONE.to_bits()) as Self
            }
        }

        impl Whole for $T {
            const RANGE: (f64, f64) = ($least, $greatest);

            #[inline(always)]
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                clippy::allow_attributes,
                reason = "the value is in the range, or becomes the last one"
            )]
            fn of(value: f64) -> Self {
                value as Self
            }

            #[inline(always)]
            fn saturating(value: f64) -> Self {
                Self::of(value)
            }
        }
    )*};
}

long! {
    i64: -9_223_372_036_854_775_808.0, 9_223_372_036_854_774_784.0, -2_251_799_813_685_248.0;
    u64: 0.0, 18_446_744_073_709_549_568.0, -1.0;
}

/// The number of numbers that become integers of 64 bits that are looked at together.
const BLOCK: usize = 512;

/// Casts numbers to integers of 64 bits without their fraction. `others` casts the blocks in which not all are short, and says whether
/// they fit.
pub(super) fn by_blocks<S: Element + CastTo<f64>, T: Long>(
    from: &[u8],
    to: &mut [u8],
    others: impl Fn(&[u8], &mut [u8]) -> bool,
) -> bool {
    let blocks = from.chunks(BLOCK * size_of::<S::Bytes>());
    let mut fit = true;
    for (from, to) in blocks.zip(to.chunks_mut(BLOCK * size_of::<T::Bytes>())) {
        if all_between::<S>(from, T::SHORT) {
            map(from, to, |value: S| T::of_short(value.cast_to().trunc()));
        } else {
            fit &= others(from, to);
        }
    }
    fit
}

/// Returns true if all numbers are between two others.
#[multiversion(targets("x86_64+avx2"))]
fn all_between<S: Element + CastTo<f64>>(numbers: &[u8], (least, greatest): (f64, f64)) -> bool {
    let mut all = true;
    for number in S::elements(numbers) {
        let number = S::get(*number).cast_to();
        all &= (least < number) & (number < greatest);
    }
    all
}

/// The nearest number of a range; of NaN, 0.
#[inline(always)]
pub(super) fn within(value: f64, (least, greatest): (f64, f64)) -> f64 {
    let value = if value < least { least } else { value };
    let value = if value > greatest { greatest } else { value };
    if value.is_nan() { 0.0 } else { value }
}

/// A whole number as an integer, or the last one where it is beyond, and the bits that this changed.
macro_rules! by_double {
    ($value:expr, $to:ty) => {{
        let value: f64 = $value.cast_to();
        let inside = $crate::numeric::filter::whole::within(
            value,
            <$to as $crate::numeric::filter::whole::Whole>::RANGE,
        );
        (
            <$to as $crate::numeric::filter::whole::Whole>::saturating(value),
            inside.to_bits() ^ value.to_bits(),
        )
    }};
}
pub(super) use by_double;

/// The loop for integers of no more than 16 bits, with twice as many numbers in a vector.
macro_rules! by_single {
    ($value:expr, $to:ty) => {{
        let value: f32 = $value.cast_to();
        let (least, greatest) = (f32::from(<$to>::MIN), f32::from(<$to>::MAX));
        let inside = if value < least { least } else { value };
        let inside = if inside > greatest { greatest } else { inside };
        let inside = if inside.is_nan() { 0.0 } else { inside };
        let last_bits: $to = (inside + 12_582_912.0).to_bits().cast_to();
        (last_bits, inside.to_bits() ^ value.to_bits())
    }};
}
pub(super) use by_single;

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use zarrox_core::data_type::Storage;
    use zarrox_testkit::codec::Random;

    use super::*;
    use crate::numeric::filter::cast::{cast, checked_cast};

    /// Casts doubles, and singles, in pieces, and compares with what each becomes alone, and whether that is the same number.
    fn compare<T: Element + PartialEq + Debug>(
        to: &Storage,
        numbers: &[f64],
        one: impl Fn(f64) -> (T, bool),
    ) {
        #[expect(clippy::cast_possible_truncation, reason = "rounded")]
        let singles: Vec<f32> = numbers.iter().map(|number| *number as f32).collect();
        let rounded: Vec<f64> = singles.iter().map(|number| f64::from(*number)).collect();
        for length in [1, 60, 700, 2000] {
            for (numbers, singles) in rounded.chunks(length).zip(singles.chunks(length)) {
                compare_piece(&Storage::Float(4), to, bytemuck::cast_slice(singles), numbers, &one);
            }
            for numbers in numbers.chunks(length) {
                compare_piece(&Storage::Float(8), to, bytemuck::cast_slice(numbers), numbers, &one);
            }
        }
    }

    fn compare_piece<T: Element + PartialEq + Debug>(
        from: &Storage,
        to: &Storage,
        memory: &[u8],
        numbers: &[f64],
        one: impl Fn(f64) -> (T, bool),
    ) {
        let mut found = vec![0xa5; numbers.len() * to.size()];
        cast(from, to).unwrap()(memory, &mut found);
        for (number, found) in numbers.iter().zip(T::elements(&found)) {
            assert_eq!(T::get(*found), one(*number).0, "{number:?} to {to:?}");
        }
        if numbers.iter().all(|number| number.fract() == 0.0) {
            let fit = numbers.iter().all(|number| one(*number).1);
            assert_eq!(checked_cast(from, to).unwrap()(memory, &mut found), fit, "{numbers:?} to {to:?}");
        }
    }

    macro_rules! compare_with_rust {
        ($numbers:expr, $($T:ty: $storage:expr;)*) => {$(
            #[expect(clippy::allow_attributes, reason = "not all types have no sign")]
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_lossless, reason = "it is compared")]
            compare::<$T>(&$storage, $numbers, |number| (number as $T, number as i128 == (number as $T) as i128));
        )*};
    }

    #[test]
    fn as_rust_casts() {
        let mut random = Random::new(7);
        for limit in [1e2, 3e4, 3e9, 2e15, 4e18, 3e19] {
            #[expect(clippy::cast_precision_loss, reason = "no more than two millions")]
            let mut number = || (random.below(2_000_001) as f64 - 1e6) / 1e6 * limit;
            let mut fractions: Vec<f64> = (0..2000).map(|_| number()).collect();
            let mut whole: Vec<f64> = fractions.iter().map(|number| number.round()).collect();
            let positive: Vec<f64> = whole.iter().map(|number| number.abs()).collect();
            // In the midst of the others, what few are.
            (fractions[1000], fractions[1900]) = (f64::NAN, f64::NEG_INFINITY);
            (whole[10], whole[1500]) = (-0.0, 1e25);
            for numbers in [fractions, whole, positive] {
                compare_with_rust! { &numbers,
                    i8: Storage::Int(1);
                    i16: Storage::Int(2);
                    i32: Storage::Int(4);
                    i64: Storage::Int(8);
                    u8: Storage::Uint(1);
                    u16: Storage::Uint(2);
                    u32: Storage::Uint(4);
                    u64: Storage::Uint(8);
                }
            }
        }
    }
}
