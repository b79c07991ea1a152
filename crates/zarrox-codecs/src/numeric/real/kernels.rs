//! Loops from one of the machine's numbers to another. What is not ordinary (a number that would have to be wrapped, say) they
//! mark, and leave to others.

use super::RealType;
use super::native::{Native, all, for_each};
use super::rounding::{OutOfRange, Rounding, each_rounding, round_small_f32, round_small_f64};

/// The number of elements that are worked on together: what they need stays in the cache next to the core.
pub(crate) const BLOCK: usize = 1024;

/// The rules of a cast beside its two types.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    pub(super) rounding: Rounding,
    pub(super) range: OutOfRange,
    /// The first and the last number of a type of integers, and whether they are those of the machine's.
    pub(super) least: i128,
    pub(super) most: i128,
    pub(super) full: bool,
}

/// A loop that fills a slice, and marks what it cannot.
pub(super) type Kernel = fn(&[u8], &mut [u8], &mut [bool], &Rules);

/// One of the machine's numbers that casts to another.
trait CastTo<T>: Native {
    fn cast(from: &[u8], to: &mut [u8], bad: &mut [bool], rules: &Rules);
}

macro_rules! integer_to_integers {
    ($($S:ty),*) => {$(
        integer_to_integers!($S => i8, i16, i32, i64, u8, u16, u32, u64);
    )*};
    ($S:ty => $($T:ty),*) => {$(
        impl CastTo<$T> for $S {
            #[expect(clippy::allow_attributes, reason = "not all pairs lose anything")]
            #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss, reason = "limits are clipped; numbers are wrapped where they are wanted so")]
            #[allow(clippy::cast_lossless, trivial_numeric_casts, clippy::unnecessary_cast, reason = "one text for all pairs")]
            fn cast(from: &[u8], to: &mut [u8], bad: &mut [bool], rules: &Rules) {
                let all = (<$S>::MIN, <$S>::MAX);
                let limits = (
                    rules.least.max(all.0 as i128) as $S,
                    rules.most.min(all.1 as i128) as $S,
                );
                let (clamp, good) = match rules.range {
                    OutOfRange::Clamp => (limits, all),
                    OutOfRange::Wrap if rules.full => (all, all),
                    OutOfRange::Wrap | OutOfRange::Error => (all, limits),
                };
                for_each(from, to, bad, |number: $S| {
                    let clamped = number.max(clamp.0).min(clamp.1);
                    (clamped as $T, (good.0 <= number) & (number <= good.1))
                });
            }
        }
    )*};
}
integer_to_integers!(i8, i16, i32, i64, u8, u16, u32, u64);

macro_rules! float_to_integers {
    ($S:ty, $round:ident, $to_integer:ident => $($T:ty),*) => {$(
        impl CastTo<$T> for $S {
            fn cast(from: &[u8], to: &mut [u8], bad: &mut [bool], rules: &Rules) {
                float_to_integer!($S, $round, $to_integer => $T)(from, to, bad, rules);
            }
        }
    )*};
}

/// The loop for one way of rounding and of making an integer.
macro_rules! float_to_integer {
    ($S:ty, $round:ident, $to_integer:ident => $T:ty) => {{
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_precision_loss,
                reason = "limits are looked at again; numbers are clamped, or marked"
            )]
            #[expect(clippy::allow_attributes, reason = "not all types lose the sign")]
            #[allow(clippy::cast_sign_loss, reason = "numbers are clamped, or marked")]
            fn cast(from: &[u8], to: &mut [u8], bad: &mut [bool], rules: &Rules) {
                // The first one is a power of two or 0. The last one has no float of its own: the one below it then.
                let least = rules.least as $S;
                let most = rules.most as $S;
                let most = if most as i128 > rules.most { most.next_down() } else { most };
                if rules.range == OutOfRange::Clamp {
                    // What the cast itself does for all of the machine's integers, it does exactly.
                    let last = if rules.full && most < rules.most as $S { <$S>::INFINITY } else { most };
                    return each_rounding!(rules.rounding, R => for_each(from, to, bad, |number: $S| {
                        let rounded = $round(number, R);
                        let raised = if rounded < least { least } else { rounded };
                        let clamped = if raised > last { last } else { raised };
                        ($to_integer!(clamped, $S, $T), number.abs() <= <$S>::MAX)
                    }));
                }
                each_rounding!(rules.rounding, R => for_each(from, to, bad, |number: $S| {
                    let rounded = $round(number, R);
                    ($to_integer!(rounded, $S, $T), (least <= rounded) & (rounded <= most))
                }));
            }
            cast
    }};
}

/// The cast to integers of 64 bits, to which vectors of floats have no cast.
macro_rules! float_to_long_integers {
    ($S:ty => $($T:ty),*) => {$(
        impl CastTo<$T> for $S {
            fn cast(from: &[u8], to: &mut [u8], bad: &mut [bool], rules: &Rules) {
                // That leaves room for a bit of fraction below a last place of 1.
                let short = (1_u64 << (<$S>::MANTISSA_DIGITS - 2)) as $S;
                if all::<$S>(from, |number| number.abs() < short) {
                    float_to_integer!($S, round_small_f64, all_bits => $T)(from, to, bad, rules);
                } else {
                    float_to_integer!($S, round_f64, saturated => $T)(from, to, bad, rules);
                }
            }
        }
    )*};
}

/// A whole number as an integer: what the machine does for one, and clamps.
macro_rules! saturated {
    ($number:expr, $S:ty, $T:ty) => {
        $number as $T
    };
}

/// A whole number as an integer of fewer bits than the float's fraction: the last bits of a sum whose last place is 1.
macro_rules! last_bits {
    ($number:expr, $S:ty, $T:ty) => {
        ($number + 1.5 * (1_u64 << (<$S>::MANTISSA_DIGITS - 1)) as $S).to_bits() as $T
    };
}

/// The cast to integers of as many bits as the float has.
macro_rules! all_bits {
    ($number:expr, $S:ty, $T:ty) => {{
        let shift = 1.5 * (1_u64 << (<$S>::MANTISSA_DIGITS - 1)) as $S;
        ($number + shift).to_bits().wrapping_sub(shift.to_bits()) as $T
    }};
}
float_to_integers!(f32, round_small_f32, last_bits => i8, i16, u8, u16);
float_to_integers!(f64, round_small_f64, last_bits => i8, i16, i32, u8, u16, u32);
float_to_long_integers!(f64 => i64, u64);

macro_rules! integers_to_float {
    ($T:ty => $($S:ty),*) => {$(
        impl CastTo<$T> for $S {
            #[expect(clippy::allow_attributes, reason = "not all types lose anything")]
            #[allow(clippy::cast_precision_loss, clippy::cast_lossless, reason = "the machine rounds to the nearest")]
            fn cast(from: &[u8], to: &mut [u8], bad: &mut [bool], rules: &Rules) {
                if rules.rounding == Rounding::NearestEven || <$S>::BITS < <$T>::MANTISSA_DIGITS {
                    return for_each(from, to, bad, |number: $S| (number as $T, true));
                }
                // All these are exact, and only some of those beyond.
                let exact = 1_u64 << <$T>::MANTISSA_DIGITS;
                for_each(from, to, bad, |number: $S| {
                    (number as $T, number.abs_diff(0) as u64 <= exact)
                });
            }
        }
    )*};
}
macro_rules! single_to_integers {
    ($($T:ty),*) => {$(
        impl CastTo<$T> for f32 {
            /// Casts through floats of 64 bits, which hold all of them.
            fn cast(from: &[u8], to: &mut [u8], bad: &mut [bool], rules: &Rules) {
                let mut wide = [0; 8 * BLOCK];
                let wide = &mut wide[..2 * from.len()];
                for_each(from, wide, bad, |number: Self| (f64::from(number), true));
                <f64 as CastTo<$T>>::cast(wide, to, bad, rules);
            }
        }
    )*};
}
single_to_integers!(i32, i64, u32, u64);

integers_to_float!(f32 => i8, i16, i32, i64, u8, u16, u32, u64);
integers_to_float!(f64 => i8, i16, i32, i64, u8, u16, u32, u64);

macro_rules! float_to_wider {
    ($($S:ty => $T:ty),*) => {$(
        impl CastTo<$T> for $S {
            #[expect(clippy::allow_attributes, reason = "not all are the same type")]
            #[allow(clippy::cast_lossless, clippy::unnecessary_cast, trivial_numeric_casts, reason = "one text for all pairs")]
            fn cast(from: &[u8], to: &mut [u8], bad: &mut [bool], _: &Rules) {
                for_each(from, to, bad, |number: $S| (number as $T, true));
            }
        }
    )*};
}
float_to_wider!(f32 => f32, f32 => f64, f64 => f64);

impl CastTo<f32> for f64 {
    fn cast(from: &[u8], to: &mut [u8], bad: &mut [bool], rules: &Rules) {
        let clamp = rules.range == OutOfRange::Clamp && rules.rounding == Rounding::NearestEven;
        each_rounding!(rules.rounding, R => for_each(from, to, bad, |number: Self| {
            let (nearest, tie) = nearest_f32(number);
            let wide = Self::from(nearest);
            let step = match R {
                Rounding::NearestEven => 0,
                Rounding::TowardsZero => -i32::from(wide.abs() > number.abs()),
                Rounding::TowardsPositive => up(nearest, wide < number),
                Rounding::TowardsNegative => -up(nearest, wide > number),
                Rounding::NearestAway => i32::from(tie && wide.abs() < number.abs()),
            };
            let rounded = f32::from_bits(nearest.to_bits().wrapping_add_signed(step));
            // Near the end of the range, each way of rounding has a limit of its own.
            let inside = (rounded.abs() <= f32::MAX) & (nearest.abs() <= f32::MAX);
            (rounded, clamp | inside | !number.is_finite())
        }));
    }
}

/// The step of a float's pattern to the next one above, if it is wanted.
#[inline(always)]
fn up(number: f32, wanted: bool) -> i32 {
    if number.is_sign_negative() { -i32::from(wanted) } else { i32::from(wanted) }
}

/// The nearest float of 32 bits, and whether there were two.
#[expect(clippy::cast_possible_truncation, reason = "rounded to the nearest")]
#[inline(always)]
fn nearest_f32(number: f64) -> (f32, bool) {
    let nearest = number as f32;
    let missing = number - f64::from(nearest);
    // The distance to the next one further from zero. All are exact in 64 bits.
    let next = f32::from_bits((nearest.to_bits() & 0x7fff_ffff).saturating_add(1));
    let gap = f64::from(next) - f64::from(nearest.abs());
    (nearest, missing.abs() * 2.0 == gap)
}

/// `f64` as the `f32` towards zero, in which a 1 in the last place stands for what is lost: rounding that once more, to fewer
/// bits, is as good as rounding once.
pub(super) fn to_odd(from: &[u8], to: &mut [u8], bad: &mut [bool]) {
    for_each(from, to, bad, |number: f64| {
        #[expect(clippy::cast_possible_truncation, reason = "corrected below")]
        let nearest = number as f32;
        let wide = f64::from(nearest);
        let away = u32::from(wide.abs() > number.abs());
        let inexact = u32::from(wide != number && !number.is_nan());
        let odd = f32::from_bits((nearest.to_bits() - away) | inexact);
        (odd, (nearest.abs() <= f32::MAX) | !number.is_finite())
    });
}

/// A float as a whole one; only with operations that every machine has for several numbers at once.
#[inline(always)]
pub(super) fn round_f64(number: f64, rounding: Rounding) -> f64 {
    // From here on all are whole.
    const WHOLE: f64 = (1_u64 << (f64::MANTISSA_DIGITS - 1)) as f64;
    let magnitude = number.abs();
    let nearest = (magnitude + WHOLE) - WHOLE;
    let down = nearest - if nearest > magnitude { 1.0 } else { 0.0 };
    let up = down + if down < magnitude { 1.0 } else { 0.0 };
    let negative = number < 0.0;
    let rounded = match rounding {
        Rounding::NearestEven => nearest,
        Rounding::TowardsZero => down,
        Rounding::TowardsPositive => {
            if negative {
                down
            } else {
                up
            }
        }
        Rounding::TowardsNegative => {
            if negative {
                up
            } else {
                down
            }
        }
        Rounding::NearestAway => {
            if magnitude - down >= 0.5 {
                up
            } else {
                down
            }
        }
    };
    if magnitude < WHOLE { rounded.copysign(number) } else { number }
}

/// One of the machine's numbers, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Machine {
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F32,
    F64,
}

/// The machine's numbers that hold those of a type.
pub(super) fn machine(real: &RealType) -> Machine {
    match real {
        RealType::Integer(integer) => match (integer.size, integer.signed) {
            (1, true) => Machine::I8,
            (2, true) => Machine::I16,
            (4, true) => Machine::I32,
            (_, true) => Machine::I64,
            (1, false) => Machine::U8,
            (2, false) => Machine::U16,
            (4, false) => Machine::U32,
            (_, false) => Machine::U64,
        },
        RealType::Binary(binary) if binary.size < 8 => Machine::F32,
        RealType::Binary(_) | RealType::Table(_) => Machine::F64,
    }
}

/// Runs `$body` with `$T` naming the Rust type of one of the machine's numbers.
macro_rules! with_machine {
    ($machine:expr, $T:ident => $body:expr) => {
        match $machine {
            Machine::F32 => {
                type $T = f32;
                $body
            }
            Machine::F64 => {
                type $T = f64;
                $body
            }
            Machine::I8 => {
                type $T = i8;
                $body
            }
            Machine::I16 => {
                type $T = i16;
                $body
            }
            Machine::I32 => {
                type $T = i32;
                $body
            }
            Machine::I64 => {
                type $T = i64;
                $body
            }
            Machine::U8 => {
                type $T = u8;
                $body
            }
            Machine::U16 => {
                type $T = u16;
                $body
            }
            Machine::U32 => {
                type $T = u32;
                $body
            }
            Machine::U64 => {
                type $T = u64;
                $body
            }
        }
    };
}
pub(super) use with_machine;

/// The loop from one to the other.
pub(super) fn kernel(from: Machine, to: Machine) -> Kernel {
    with_machine!(from, S => with_machine!(to, T => <S as CastTo<T>>::cast))
}
