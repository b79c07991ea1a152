//! Floats of 16 bits, which the machine has not: from and to those of 32 bits.

use super::native::for_each;
use super::rounding::{OutOfRange, Rounding, each_rounding, round_small_f32};

/// `float16` as `f32`, which has all its numbers.
pub(crate) fn widen_float16(from: &[u8], to: &mut [u8], bad: &mut [bool]) {
    for_each(from, to, bad, |half: u16| {
        let magnitude = u32::from(half & 0x7fff);
        // The exponents are 112 apart; by a multiplication also those of the numbers that have none.
        let finite = f32::from_bits(magnitude << 13) * f32::from_bits((127 + 112) << 23);
        let special = if magnitude >= 0x7c00 { 0x7f80_0000 } else { 0 };
        (f32::from_bits(finite.to_bits() | special | u32::from(half & 0x8000) << 16), true)
    });
}

/// `bfloat16` as `f32`, of which it is the first half.
pub(crate) fn widen_bfloat16(from: &[u8], to: &mut [u8], bad: &mut [bool]) {
    for_each(from, to, bad, |half: u16| (f32::from_bits(u32::from(half) << 16), true));
}

/// The number that rounds a magnitude whose `dropped` lowest bits are cut, when added to it.
#[inline(always)]
fn increment(bits: u32, dropped: u32, rounding: Rounding) -> u32 {
    let (half, negative) = (1 << (dropped - 1), bits >> 31);
    match rounding {
        Rounding::NearestEven => half - 1 + (bits >> dropped & 1),
        Rounding::NearestAway => half,
        Rounding::TowardsZero => 0,
        Rounding::TowardsPositive => (1 - negative) * (2 * half - 1),
        Rounding::TowardsNegative => negative * (2 * half - 1),
    }
}

/// A magnitude of 16 bits with its sign; not good when it is too large for what was finite.
#[expect(clippy::cast_possible_truncation, reason = "no more than infinity's pattern")]
#[inline(always)]
fn packed(number: f32, magnitude: u32, infinity: u32, clamp: bool) -> (u16, bool) {
    let sign = number.to_bits() >> 16 & 0x8000;
    // The first bit of the fraction makes NaN of infinity.
    let quiet = if number.is_nan() { (infinity & !(infinity << 1)) >> 1 } else { 0 };
    let good = (magnitude < infinity) | clamp | !number.is_finite();
    ((magnitude.min(infinity) | quiet | sign) as u16, good)
}

/// `f32` as `bfloat16`.
pub(crate) fn to_bfloat16(
    from: &[u8],
    to: &mut [u8],
    bad: &mut [bool],
    rounding: Rounding,
    range: OutOfRange,
) {
    let clamp = range == OutOfRange::Clamp;
    each_rounding!(rounding, R => for_each(from, to, bad, |number: f32| {
        let magnitude = number.to_bits() & 0x7fff_ffff;
        packed(number, (magnitude + increment(number.to_bits(), 16, R)) >> 16, 0x7f80, clamp)
    }));
}

/// `f32` as `float16`.
pub(crate) fn to_float16(
    from: &[u8],
    to: &mut [u8],
    bad: &mut [bool],
    rounding: Rounding,
    range: OutOfRange,
) {
    let clamp = range == OutOfRange::Clamp;
    each_rounding!(rounding, R => for_each(from, to, bad, |number: f32| {
        let magnitude = number.to_bits() & 0x7fff_ffff;
        let (rounded, good) = packed(number, normal(number.to_bits(), R), 0x7c00, clamp);
        let (small, _) = packed(number, subnormal(number, R), 0x7c00, clamp);
        // Before the smallest of 16 bits that has an exponent. Both are there already: no branch, but a mask.
        let is_small = magnitude < 0x3880_0000;
        let mask = u16::from(is_small).wrapping_neg();
        (small & mask | rounded & !mask, good | is_small)
    }));
}

#[inline(always)]
fn normal(bits: u32, rounding: Rounding) -> u32 {
    let magnitude = (bits & 0x7fff_ffff).wrapping_sub(112 << 23);
    magnitude.wrapping_add(increment(bits, 13, rounding)) >> 13
}

/// The numbers without an exponent are multiples of 2^-24.
#[inline(always)]
fn subnormal(number: f32, rounding: Rounding) -> u32 {
    let steps = round_small_f32(number * 16_777_216.0, rounding);
    // From 0 to 1024 where it is used: the last bits of a sum whose last place is 1.
    (steps.abs() + 8_388_608.0).to_bits() & 0xffff
}
