//! Conversion between 16-bit and 32-bit floats, with arithmetic that has vector instructions on every machine.

use half::{bf16, f16};

use super::Plain;
use super::compute_float::ComputeFloat;
use super::rounding::Rounding;

/// A 16-bit float.
pub trait Half: Plain {
    /// Converts the number to a 32-bit float.
    fn to_single(self) -> f32;

    /// Rounds a number to a 16-bit float or infinity; returns false if it is out of range.
    fn of_single(number: f32, rounding: Rounding) -> (Self, bool);
}

impl Half for f16 {
    #[inline(always)]
    fn to_single(self) -> f32 {
        let bits = u32::from(self.to_bits());
        let magnitude = (bits & 0x7fff) << 13;
        // The smallest exponent of a single is 112 below that of a half, so the number is multiplied by 2¹¹².
        let number = (f32::from_bits(magnitude) * f32::from_bits(0x7780_0000)).to_bits();
        let single = if magnitude < 0x0f80_0000 { number } else { magnitude | 0x7f80_0000 };
        f32::from_bits(single | (bits & 0x8000) << 16)
    }

    #[inline(always)]
    fn of_single(number: f32, rounding: Rounding) -> (Self, bool) {
        let bits = number.to_bits();
        let magnitude = bits & 0x7fff_ffff;
        let normal = magnitude.wrapping_sub(112 << 23).wrapping_add(increment(bits, 13, rounding)) >> 13;
        // A mask of ones below the smallest normal half. Both results are computed, and the mask selects one, so that there is no
        // branch.
        let small = u32::from(magnitude < 0x3880_0000).wrapping_neg();
        let finite = least(number, rounding) & small | normal & !small;
        let rounded = if magnitude < 0x4780_0000 { finite } else { 0x7c00 };
        let (bits, good) = packed(number, rounded, 0x7c00, magnitude >> 13 & 0x3ff);
        (Self::from_bits(bits), good)
    }
}

impl Half for bf16 {
    #[inline(always)]
    fn to_single(self) -> f32 {
        f32::from_bits(u32::from(self.to_bits()) << 16)
    }

    #[inline(always)]
    fn of_single(number: f32, rounding: Rounding) -> (Self, bool) {
        let magnitude = number.to_bits() & 0x7fff_ffff;
        let rounded = (magnitude + increment(number.to_bits(), 16, rounding)) >> 16;
        let (bits, good) = packed(number, rounded, 0x7f80, magnitude >> 16 & 0x7f);
        (Self::from_bits(bits), good)
    }
}

/// Returns the number to add to a magnitude before its `dropped` lowest bits are discarded, so that the magnitude is rounded.
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

/// Returns the magnitude of a subnormal half: a multiple of 2⁻²⁴.
#[inline(always)]
fn least(number: f32, rounding: Rounding) -> u32 {
    // The last bits of the sum are the multiple, and the sum is rounded to nearest.
    if rounding == Rounding::NearestEven {
        return (number.abs() + 0.5).to_bits().wrapping_sub(0.5_f32.to_bits());
    }
    let steps = ComputeFloat::rounded(number * 16_777_216.0, rounding);
    (steps.abs() + 8_388_608.0).to_bits() & 0xffff
}

/// Combines a 16-bit magnitude with its sign; returns false if a finite number has become infinite.
#[expect(clippy::cast_possible_truncation, reason = "at most the pattern of a NaN")]
#[inline(always)]
fn packed(number: f32, magnitude: u32, infinity: u32, payload: u32) -> (u16, bool) {
    let sign = number.to_bits() >> 16 & 0x8000;
    // The first bit of the fraction turns infinity into a quiet NaN.
    let quiet = infinity | (infinity & !(infinity << 1)) >> 1 | payload;
    let magnitude = if number.is_nan() { quiet } else { magnitude };
    ((magnitude | sign) as u16, (magnitude < infinity) | !number.is_finite())
}

/// Converts a double to a single that still rounds to the correct 16-bit float: a number between two singles becomes the odd one
/// of them, which is never the midpoint of two 16-bit floats.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "the last bit represents the lost bits")]
pub(super) fn odd_single(value: f64) -> f32 {
    let single = value as f32;
    let back = f64::from(single);
    let toward_zero = single.to_bits() - u32::from(back.abs() > value.abs());
    let odd = f32::from_bits(toward_zero | u32::from(back != value));
    if value.is_nan() { single } else { odd }
}

/// Returns the half nearest to a double, rounded once; the conversion of the crate `half` ignores the last 32 bits.
#[inline(always)]
pub fn half_of(value: f64) -> f16 {
    f16::of_single(odd_single(value), Rounding::NearestEven).0
}

#[cfg(test)]
mod tests {
    use zarrox_testkit::codec::Random;

    use super::*;

    #[test]
    fn halves_are_those_of_the_standard() {
        for bits in 0..=u16::MAX {
            let half = f16::from_bits(bits);
            let single = half.to_single();
            assert!(single == half.to_f32() || (single.is_nan() && half.is_nan()), "{bits:x}");
            let back = f16::of_single(single, Rounding::NearestEven).0;
            assert!(back == half || (back.is_nan() && half.is_nan()), "{bits:x}");
        }
        let mut random = Random::new(3);
        for _ in 0..100_000 {
            let bits = random.number().to_le_bytes();
            let single =
                f32::from_ne_bytes([bits[0], bits[1], bits[2], 0x30 | bits[3] & 0x8f | bits[4] & 0x48]);
            let expected = f16::from_f32_const(single);
            let found = f16::of_single(single, Rounding::NearestEven).0;
            assert!(found == expected || (found.is_nan() && expected.is_nan()), "{single}: {found}");
        }
    }

    #[test]
    fn doubles_become_halves_in_one_step() {
        // As a single, this is the midpoint of two halves, and would round to the even one.
        let between = 1.0 + 2_f64.powi(-11);
        assert_eq!(half_of(between), f16::from_f32(1.0));
        assert_eq!(half_of(between + 2_f64.powi(-40)), f16::from_bits(0x3c01));
        assert_eq!(half_of(-between - 2_f64.powi(-40)), f16::from_bits(0xbc01));
        assert_eq!(half_of(between - 2_f64.powi(-40)), f16::from_f32(1.0));
        assert_eq!(half_of(1e300), f16::INFINITY);
        assert_eq!(half_of(-1e-300).to_bits(), 0x8000);
        assert!(half_of(f64::NAN).is_nan());
    }
}
