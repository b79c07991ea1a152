//! Loops that cast built-in numbers. They mark the numbers that they cannot handle, such as numbers that would have to wrap, for
//! a slower path.

use std::ops::{BitAnd, BitOr, BitXor};

use half::{bf16, f16};

use super::compute_float::ComputeFloat;
use super::half::odd_single;
use super::loops::{all, in_two_steps};
use super::machine::Machine;
use super::rounding::each_rounding;
use super::{Half, Integer, Number, OutOfRange, Plain, Policy, Primitive, RealType, Rounding, for_each, map};

/// The rules of a cast in addition to its two types.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    policy: Policy,
    /// The smallest and the largest number of an integer type, and true if the built-in type has the same range.
    least: i128,
    most: i128,
    full: bool,
}

impl Rules {
    /// Creates the rules of a cast to a type.
    pub fn new(to: &RealType, policy: Policy) -> Self {
        let integer = match to {
            RealType::Integer(integer) => *integer,
            RealType::Binary(_) | RealType::Table(_) => Integer { size: 8, bits: 64, signed: true },
        };
        Self { policy, least: integer.least(), most: integer.most(), full: integer.is_full() }
    }

    /// Returns the rounding mode for floats, and true if out-of-range numbers become infinite.
    fn of_floats(&self) -> (Rounding, bool) {
        match self.policy {
            Policy::Exact(rounding, range) => (rounding, range == OutOfRange::Clamp),
            Policy::Lossy | Policy::Checked | Policy::Wrapping => (Rounding::NearestEven, true),
        }
    }
}

/// A loop that fills a slice, and marks the numbers that it cannot handle, unless the list of marks is empty. Returns false if
/// there are such numbers.
pub type Kernel = fn(&[u8], &mut [u8], &mut [bool], &Rules) -> bool;

/// A number that can be cast.
trait Source: Plain {
    fn to<T: Target>() -> Kernel;
}

/// A number to which other numbers can be cast.
trait Target: Plain {
    fn from_whole<S: Whole>() -> Kernel;
    fn from_real<S: Real>() -> Kernel;
}

/// Integers.
trait Whole: Primitive + BitAnd<Output = Self> + BitOr<Output = Self> + BitXor<Output = Self> {
    const BITS: u32;
    const RANGE: (i128, i128);

    /// Returns the number with these lowest bits.
    fn of_bits(bits: u64) -> Self;
    fn to_bits(self) -> u64;
    /// Truncates a float; an out-of-range float becomes the smallest or the largest number.
    fn of_float(value: f64) -> Self;
    fn to_f32(self) -> f32;
}

macro_rules! whole {
    ($($T:ty)*) => {$(
        impl Whole for $T {
            const BITS: u32 = Self::BITS;
            const RANGE: (i128, i128) = (Self::MIN as i128, Self::MAX as i128);

            #[inline(always)]
            #[allow(clippy::cast_possible_truncation, clippy::allow_attributes, reason = "the result is the lowest bits")]
            fn of_bits(bits: u64) -> Self {
                bits as Self
            }

            #[inline(always)]
            #[allow(clippy::cast_sign_loss, clippy::cast_lossless, trivial_numeric_casts, clippy::unnecessary_cast, clippy::allow_attributes, reason = "the same code for all types")]
            fn to_bits(self) -> u64 {
                self as u64
            }

            #[inline(always)]
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::allow_attributes, reason = "as documented")]
            fn of_float(value: f64) -> Self {
                value as Self
            }

            #[inline(always)]
            #[allow(clippy::cast_precision_loss, clippy::cast_lossless, clippy::allow_attributes, reason = "rounded to the nearest")]
            fn to_f32(self) -> f32 {
                self as f32
            }
        }

        impl Source for $T {
            fn to<T: Target>() -> Kernel {
                T::from_whole::<Self>()
            }
        }

        impl Target for $T {
            fn from_whole<S: Whole>() -> Kernel {
                whole_to_whole::<S, Self>
            }

            fn from_real<S: Real>() -> Kernel {
                real_to_whole::<S, Self>
            }
        }
    )*};
}
whole!(i8 i16 i32 i64 u8 u16 u32 u64);

/// Floats.
trait Real: Plain {
    /// The 32-bit or 64-bit float type that represents the number.
    type Work: ComputeFloat;

    fn to_work(self) -> Self::Work;

    /// Returns the number as a single, or the odd one of the two adjacent singles.
    fn to_single(self) -> f32;
}

macro_rules! real {
    ($($T:ty as $Work:ty: $work:expr, $single:expr, ($from_whole:expr, $from_real:expr);)*) => {$(
        impl Real for $T {
            type Work = $Work;

            #[inline(always)]
            fn to_work(self) -> $Work {
                $work(self)
            }

            #[inline(always)]
            fn to_single(self) -> f32 {
                $single(self)
            }
        }

        impl Source for $T {
            fn to<T: Target>() -> Kernel {
                T::from_real::<Self>()
            }
        }

        impl Target for $T {
            fn from_whole<S: Whole>() -> Kernel {
                $from_whole
            }

            fn from_real<S: Real>() -> Kernel {
                $from_real
            }
        }
    )*};
}
real! {
    f16 as f32: Half::to_single, Half::to_single, (whole_to_half::<S, Self>, real_to_half::<S, Self>);
    bf16 as f32: Half::to_single, Half::to_single, (whole_to_half::<S, Self>, real_to_half::<S, Self>);
    f32 as f32: std::convert::identity, std::convert::identity, (whole_to_single::<S>, real_to_single::<S>);
    f64 as f64: std::convert::identity, odd_single, (whole_to_double::<S>, real_to_double::<S>);
}

fn whole_to_whole<S: Whole, T: Whole>(from: &[u8], to: &mut [u8], bad: &mut [bool], rules: &Rules) -> bool {
    let cast = |number: S| T::of_bits(number.to_bits());
    let (least, most) = (rules.least.max(S::RANGE.0), rules.most.min(S::RANGE.1));
    let wraps = match rules.policy {
        Policy::Exact(_, range) => range == OutOfRange::Wrap && rules.full,
        Policy::Lossy | Policy::Wrapping => true,
        Policy::Checked => false,
    };
    if wraps || (least, most) == S::RANGE {
        map(from, to, cast);
        return true;
    }
    let (least, most) = (own::<S>(least), own::<S>(most));
    if let Policy::Exact(_, OutOfRange::Clamp) = rules.policy {
        map(from, to, |number: S| {
            let raised = if number < least { least } else { number };
            cast(if raised > most { most } else { raised })
        });
        return true;
    }
    if !rules.full {
        return for_each(from, to, bad, |number: S| (cast(number), (number < least) | (number > most)));
    }
    // If only one of the types is signed, the highest bit may change its meaning.
    let loses = S::RANGE.0 != 0 && T::RANGE.0 == 0;
    let gains = S::RANGE.0 == 0 && T::RANGE.0 != 0 && S::BITS >= T::BITS;
    let highest = S::of_bits(if loses || gains { 1 << (S::BITS - 1) } else { 0 });
    for_each(from, to, bad, |number: S| {
        let back = S::of_bits(cast(number).to_bits());
        (cast(number), (back ^ number) | (number & highest))
    })
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the number is in the range of the type"
)]
fn own<S: Whole>(number: i128) -> S {
    S::of_bits(number as u64)
}

fn real_to_whole<S: Real, T: Whole>(from: &[u8], to: &mut [u8], bad: &mut [bool], rules: &Rules) -> bool {
    if size_of::<S>() == 2 && matches!(rules.policy, Policy::Exact(..) | Policy::Checked) {
        let widen = |from: &[u8], to: &mut [u8], _: &mut [bool]| {
            map(from, to, |number: S| number.to_single());
            true
        };
        return in_two_steps::<S, f32, T>(from, to, bad, widen, |from, to, bad| {
            real_to_whole::<f32, T>(from, to, bad, rules)
        });
    }
    // Wrapping needs all bits of large numbers.
    if T::BITS <= 16 && rules.policy != Policy::Wrapping {
        let work = |number: S| number.to_work();
        return to_whole(from, to, bad, rules, work, |_, inside: S::Work| T::of_bits(inside.whole_bits()));
    }
    let double = |number: S| -> f64 { number.to_work().into() };
    // There is no vector instruction that casts floats to 64-bit integers.
    let are_short = T::BITS == 64 && all::<S>(from, |number| double(number).abs() < LAST_BITS);
    if are_short && T::RANGE.0 != 0 {
        return to_whole(from, to, bad, rules, double, |rounded: f64, _| T::of_bits(rounded.whole_bits()));
    }
    if T::BITS <= 32 || are_short {
        return to_whole(from, to, bad, rules, double, |_, inside: f64| T::of_bits(inside.whole_bits()));
    }
    to_whole(from, to, bad, rules, double, |rounded: f64, _| T::of_float(rounded))
}

/// The double 2⁵¹, whose last bits are 0. Smaller doubles have at least one bit for a fraction.
const LAST_BITS: f64 = 2_251_799_813_685_248.0;

/// Casts floats to integers. `work` converts a number to a float, and `whole` converts an integral float to an integer.
#[expect(clippy::eq_op, reason = "the difference of a non-finite number to itself is NaN")]
#[inline(always)]
fn to_whole<S: Plain, W: ComputeFloat, T: Whole>(
    from: &[u8],
    to: &mut [u8],
    bad: &mut [bool],
    rules: &Rules,
    work: impl Fn(S) -> W,
    whole: impl Fn(W, W) -> T,
) -> bool {
    // The smallest number is a power of two or 0. The largest number may not be representable as a float; the next lower float is
    // then used.
    let (least, nearest) = (W::of(rules.least), W::of(rules.most));
    let most =
        if Number::Float(nearest.to_f64()).to_i128() > rules.most { nearest.next_down() } else { nearest };
    let (rounding, range) = match rules.policy {
        Policy::Exact(rounding, range) => (rounding, range),
        Policy::Checked => (Rounding::TowardsZero, OutOfRange::Refuse),
        Policy::Lossy | Policy::Wrapping => {
            let wraps = rules.policy == Policy::Wrapping && T::BITS <= 32;
            let last_bits = Number::Float(LAST_BITS).to_i128();
            let limits = if wraps { (W::of(-last_bits), W::of(last_bits)) } else { (least, most) };
            map(from, to, |number: S| {
                let rounded = work(number).rounded(Rounding::TowardsZero);
                whole(rounded, rounded.within(limits).or_zero())
            });
            return true;
        }
    };
    if range == OutOfRange::Clamp {
        return each_rounding!(rounding, R => for_each(from, to, bad, |number: S| {
            let rounded = work(number).rounded(R);
            // For finite numbers, the difference is 0.
            (whole(rounded, rounded.within((least, most))), (rounded - rounded).pattern())
        }));
    }
    each_rounding!(rounding, R => for_each(from, to, bad, |number: S| {
        let rounded = work(number).rounded(R);
        let inside = rounded.within((least, most)).or_zero();
        (whole(rounded, inside), inside.pattern() ^ rounded.pattern())
    }))
}

/// Casts integers to floats. All integers up to `exact` are represented exactly, but only some of the larger integers are. The
/// hardware rounds to nearest.
#[inline(always)]
fn whole_to_real<S: Whole, T: Plain>(
    from: &[u8],
    to: &mut [u8],
    bad: &mut [bool],
    (rounding, digits): (Rounding, u32),
    make: impl Fn(S) -> T,
) -> bool {
    if rounding == Rounding::NearestEven || S::BITS < digits {
        map(from, to, make);
        return true;
    }
    let exact = 1_i64 << digits;
    let least = if S::RANGE.0 == 0 { S::LOWEST } else { S::of_bits((-exact).cast_unsigned()) };
    let greatest = S::of_bits(exact.cast_unsigned());
    for_each(from, to, bad, |number: S| (make(number), (number < least) | (number > greatest)))
}

fn whole_to_double<S: Whole>(from: &[u8], to: &mut [u8], bad: &mut [bool], rules: &Rules) -> bool {
    whole_to_real(from, to, bad, (rules.of_floats().0, f64::SIGNIFICAND), |number: S| number.to_f64())
}

fn whole_to_single<S: Whole>(from: &[u8], to: &mut [u8], bad: &mut [bool], rules: &Rules) -> bool {
    whole_to_real(from, to, bad, (rules.of_floats().0, f32::SIGNIFICAND), |number: S| number.to_f32())
}

fn whole_to_half<S: Whole, T: Half + Target>(
    from: &[u8],
    to: &mut [u8],
    bad: &mut [bool],
    rules: &Rules,
) -> bool {
    let Policy::Exact(..) = rules.policy else {
        // A number that is not exact in 64 bits is too large for a half.
        map(from, to, |number: S| T::of_single(odd_single(number.to_f64()), Rounding::NearestEven).0);
        return true;
    };
    // A number that is not exact in 64 bits is marked.
    let exact = (Rounding::TowardsZero, f64::SIGNIFICAND);
    let odd = |from: &[u8], to: &mut [u8], bad: &mut [bool]| {
        whole_to_real(from, to, bad, exact, |number: S| odd_single(number.to_f64()))
    };
    in_two_steps::<S, f32, T>(from, to, bad, odd, |from, to, bad| {
        real_to_half::<f32, T>(from, to, bad, rules)
    })
}

fn real_to_double<S: Real>(from: &[u8], to: &mut [u8], _: &mut [bool], _: &Rules) -> bool {
    map(from, to, |number: S| -> f64 { number.to_work().into() });
    true
}

fn real_to_single<S: Real>(from: &[u8], to: &mut [u8], bad: &mut [bool], rules: &Rules) -> bool {
    let (rounding, clamp) = rules.of_floats();
    if S::Work::SIGNIFICAND == f32::SIGNIFICAND {
        map(from, to, |number: S| number.to_single());
        return true;
    }
    if clamp && rounding == Rounding::NearestEven {
        map(from, to, |number: S| nearest_f32(number.to_work().into()).0);
        return true;
    }
    each_rounding!(rounding, R => for_each(from, to, bad, |number: S| {
        let number: f64 = number.to_work().into();
        let (nearest, tie) = nearest_f32(number);
        let wide = f64::from(nearest);
        let step = match R {
            Rounding::NearestEven => 0,
            Rounding::TowardsZero => -i32::from(wide.abs() > number.abs()),
            Rounding::TowardsPositive => up(nearest, wide < number),
            Rounding::TowardsNegative => -up(nearest, wide > number),
            Rounding::NearestAway => i32::from(tie && wide.abs() < number.abs()),
        };
        let rounded = f32::from_bits(nearest.to_bits().wrapping_add_signed(step));
        // Near the end of the range, each rounding mode has its own limit.
        let inside = (rounded.abs() <= f32::MAX) & (nearest.abs() <= f32::MAX);
        (rounded, !(inside | !number.is_finite()))
    }))
}

/// Returns the increment that turns the pattern of a float into that of the next larger float, or 0 unless `wanted`.
#[inline(always)]
fn up(number: f32, wanted: bool) -> i32 {
    if number.is_sign_negative() { -i32::from(wanted) } else { i32::from(wanted) }
}

/// Returns the nearest 32-bit float, and true for a tie.
#[expect(clippy::cast_possible_truncation, reason = "rounded to the nearest")]
#[inline(always)]
fn nearest_f32(number: f64) -> (f32, bool) {
    let nearest = number as f32;
    let missing = number - f64::from(nearest);
    // The distance to the next float further from zero. All of these numbers are exact in 64 bits.
    let next = f32::from_bits((nearest.to_bits() & 0x7fff_ffff).saturating_add(1));
    let gap = f64::from(next) - f64::from(nearest.abs());
    (nearest, missing.abs() * 2.0 == gap)
}

/// Casts via the odd single. Rounding it again, to fewer bits, gives the same result as rounding once.
fn real_to_half<S: Real, T: Half>(from: &[u8], to: &mut [u8], bad: &mut [bool], rules: &Rules) -> bool {
    let (rounding, clamp) = rules.of_floats();
    let becomes_infinite = clamp && rounding == Rounding::NearestEven;
    if S::Work::SIGNIFICAND > f32::SIGNIFICAND {
        let odd = |from: &[u8], to: &mut [u8], bad: &mut [bool]| {
            // The largest single may represent a much larger number.
            for_each(from, to, bad, |number: S| {
                let single = number.to_single();
                (single, (single.abs() == f32::MAX) & !becomes_infinite)
            })
        };
        return in_two_steps::<S, f32, T>(from, to, bad, odd, |from, to, bad| {
            real_to_half::<f32, T>(from, to, bad, rules)
        });
    }
    if becomes_infinite {
        map(from, to, |number: S| T::of_single(number.to_single(), Rounding::NearestEven).0);
        return true;
    }
    each_rounding!(rounding, R => for_each(from, to, bad, |number: S| {
        let (half, inside) = T::of_single(number.to_single(), R);
        (half, !(clamp | inside))
    }))
}

fn copy(from: &[u8], to: &mut [u8], _: &mut [bool], _: &Rules) -> bool {
    to.copy_from_slice(from);
    true
}

/// Returns the loop that casts from one built-in type to another.
pub fn kernel(from: Machine, to: Machine) -> Kernel {
    if from == to && matches!(to, Machine::F16 | Machine::BF16 | Machine::F32 | Machine::F64) {
        return copy;
    }
    crate::with_machine!(from, S => crate::with_machine!(to, T => <S as Source>::to::<T>()))
}
