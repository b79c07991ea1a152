//! `float16` from and to singles and doubles, by arithmetic that every machine has vector instructions for.

use half::f16;
use zarrox_core::internals::data_type::odd_single;

/// The half that is nearest to a double, rounded once.
#[inline(always)]
pub(super) fn half_of(value: f64) -> f16 {
    half_of_single(odd_single(value))
}

/// The half that is nearest to a single, by arithmetic that every machine has vector instructions for.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "the bits of a half")]
pub(super) fn half_of_single(value: f32) -> f16 {
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
pub(super) fn single_of(value: f16) -> f32 {
    let bits = u32::from(value.to_bits());
    let magnitude = (bits & 0x7fff) << 13;
    // The exponents of singles begin 112 before those of halves: times 2¹¹².
    let number = (f32::from_bits(magnitude) * f32::from_bits(0x7780_0000)).to_bits();
    let single = if magnitude < 0x0f80_0000 { number } else { magnitude | 0x7f80_0000 };
    f32::from_bits(single | (bits & 0x8000) << 16)
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
}
