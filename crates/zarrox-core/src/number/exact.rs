//! Exact conversion of one real number to and from integers and binary floats.

use super::{Missing, Number, OutOfRange, Rounding};

/// Integers in two's complement, possibly with fewer bits than they occupy in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Integer {
    /// The size of an element, in bytes.
    pub size: usize,
    /// The number of significant bits.
    pub bits: u32,
    /// True if the integers are signed.
    pub signed: bool,
}

/// Binary floats in an IEEE 754 format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Binary {
    /// The size of an element, in bytes.
    pub size: usize,
    pub(super) exponent: u32,
    pub(super) mantissa: u32,
}

impl Integer {
    /// Returns the smallest integer.
    pub fn least(self) -> i128 {
        if self.signed { -(1 << (self.bits - 1)) } else { 0 }
    }

    /// Returns the largest integer.
    pub fn most(self) -> i128 {
        self.least() + ((1 << self.bits) - 1)
    }

    /// Returns true if the integers use all bits that they occupy in memory.
    pub fn is_full(self) -> bool {
        self.bits as usize == 8 * self.size
    }

    /// Returns the value of the lowest bits of a pattern.
    pub(super) fn value(self, pattern: u64) -> i128 {
        let low = i128::from(pattern) & ((1 << self.bits) - 1);
        if low > self.most() { low - (1 << self.bits) } else { low }
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the result is the lowest bits"
    )]
    pub(super) fn pattern(
        self,
        value: Number,
        rounding: Rounding,
        range: OutOfRange,
    ) -> Result<u64, Missing> {
        let (negative, whole) = match value {
            Number::Integer(whole) => (whole < 0, Some(whole)),
            Number::Float(float) | Number::Complex(float, _) if float.is_nan() => {
                return Err(Missing::NotANumber);
            }
            Number::Float(float) | Number::Complex(float, _) if float.is_infinite() => {
                return Err(Missing::Infinity);
            }
            Number::Float(float) | Number::Complex(float, _) => {
                (float < 0.0, round_to_whole(float, rounding))
            }
        };
        let inside = whole.filter(|whole| (self.least()..=self.most()).contains(whole));
        let whole = match (inside, range) {
            (Some(whole), _) => whole,
            (None, OutOfRange::Refuse) => return Err(Missing::OutOfRange),
            (None, OutOfRange::Clamp) if negative => self.least(),
            (None, OutOfRange::Clamp) => self.most(),
            // A float that is too large for 128 bits is a multiple of 2^64.
            (None, OutOfRange::Wrap) => self.value(whole.unwrap_or(0) as u64),
        };
        Ok(whole as u64)
    }
}

impl Binary {
    /// `float16`.
    pub const FLOAT16: Self = Self { size: 2, exponent: 5, mantissa: 10 };
    /// `bfloat16`.
    pub const BFLOAT16: Self = Self { size: 2, exponent: 8, mantissa: 7 };
    /// `float32`.
    pub const FLOAT32: Self = Self { size: 4, exponent: 8, mantissa: 23 };
    /// `float64`.
    pub const FLOAT64: Self = Self { size: 8, exponent: 11, mantissa: 52 };

    /// Returns the exponent of the unit in the last place of the smallest numbers.
    pub(super) fn least_place(self) -> i32 {
        2 - (1 << (self.exponent - 1)) - self.mantissa.cast_signed()
    }

    /// Returns the pattern of infinity, which follows the pattern of the largest number.
    pub(crate) fn infinity(self) -> u64 {
        ((1 << self.exponent) - 1) << self.mantissa
    }

    pub(crate) fn sign(self) -> u64 {
        1 << (self.exponent + self.mantissa)
    }

    /// Returns the value of a pattern. A 64-bit float can represent all numbers of these types.
    pub(crate) fn value(self, pattern: u64) -> f64 {
        let magnitude = pattern & (self.sign() - 1);
        let sign = if pattern & self.sign() == 0 { 1.0 } else { -1.0 };
        if magnitude >= self.infinity() {
            return sign * if magnitude == self.infinity() { f64::INFINITY } else { f64::NAN };
        }
        if self == Binary::FLOAT64 {
            return f64::from_bits(pattern);
        }
        let exponent = magnitude >> self.mantissa;
        let hidden = u64::from(exponent > 0) << self.mantissa;
        let significand = magnitude & ((1 << self.mantissa) - 1) | hidden;
        #[expect(clippy::cast_precision_loss, reason = "at most 24 bits")]
        let significand = significand as f64;
        #[expect(clippy::cast_possible_truncation, reason = "at most 255")]
        let place = self.least_place() + exponent.max(1) as i32 - 1;
        sign * significand * 2_f64.powi(place)
    }

    pub(super) fn pattern(
        self,
        value: Number,
        rounding: Rounding,
        range: OutOfRange,
    ) -> Result<u64, Missing> {
        let (negative, significand, exponent) = match value {
            Number::Integer(whole) => (whole < 0, whole.unsigned_abs(), 0),
            Number::Float(float) | Number::Complex(float, _) => {
                let sign = if float.is_sign_negative() { self.sign() } else { 0 };
                if float.is_nan() {
                    return Ok(sign | self.infinity() | 1 << (self.mantissa - 1));
                }
                if float.is_infinite() {
                    return Ok(sign | self.infinity());
                }
                let (significand, exponent) = decomposed(float);
                (float.is_sign_negative(), significand, exponent)
            }
        };
        let sign = if negative { self.sign() } else { 0 };
        if significand == 0 {
            return Ok(sign);
        }
        let length = (u128::BITS - significand.leading_zeros()).cast_signed();
        // The exponent of the unit in the last place of the result, if rounding does not carry.
        let place = (exponent + length - 1 - self.mantissa.cast_signed()).max(self.least_place());
        let rounded = match u32::try_from(place - exponent) {
            Ok(dropped) => rounded_shift(significand, dropped, rounding, negative),
            Err(_) => significand << (exponent - place).cast_unsigned(),
        };
        // The hidden bit adds one to the exponent, and so does a carry from rounding.
        let steps = u128::from((place - self.least_place()).unsigned_abs());
        let magnitude = (steps << self.mantissa) + rounded;
        match u64::try_from(magnitude) {
            Ok(magnitude) if magnitude < self.infinity() => Ok(sign | magnitude),
            _ if range == OutOfRange::Clamp => Ok(sign | self.infinity()),
            _ => Err(Missing::OutOfRange),
        }
    }
}

/// Returns the magnitude of a finite float as an integer and a power of two.
pub(super) fn decomposed(float: f64) -> (u128, i32) {
    let magnitude = float.to_bits() & (Binary::FLOAT64.sign() - 1);
    let exponent = magnitude >> Binary::FLOAT64.mantissa;
    let hidden = u64::from(exponent > 0) << Binary::FLOAT64.mantissa;
    let significand = magnitude & ((1 << Binary::FLOAT64.mantissa) - 1) | hidden;
    let place = Binary::FLOAT64.least_place() + exponent.max(1) as i32 - 1;
    (significand.into(), place)
}

/// Rounds a finite float to an integer; returns `None` if it has more than 127 bits.
pub(crate) fn round_to_whole(float: f64, rounding: Rounding) -> Option<i128> {
    if !float.is_finite() {
        return None;
    }
    let negative = float < 0.0;
    let (significand, place) = decomposed(float);
    let magnitude = match u32::try_from(place) {
        Ok(up) if significand == 0 || up < significand.leading_zeros() => significand.checked_shl(up)?,
        Ok(_) => return None,
        Err(_) => rounded_shift(significand, place.unsigned_abs(), rounding, negative),
    };
    let magnitude = i128::try_from(magnitude).ok()?;
    Some(if negative { -magnitude } else { magnitude })
}

/// Removes the lowest bits of a magnitude and rounds the result.
pub(super) fn rounded_shift(magnitude: u128, dropped: u32, rounding: Rounding, negative: bool) -> u128 {
    if dropped == 0 {
        return magnitude;
    }
    let kept = magnitude.checked_shr(dropped).unwrap_or(0);
    let rest = magnitude - kept.checked_shl(dropped).unwrap_or(0);
    // A magnitude has fewer than 128 bits, so it never reaches half of a larger unit.
    let half = 1_u128.checked_shl(dropped - 1).unwrap_or(u128::MAX);
    let up = match rounding {
        Rounding::NearestEven => rest > half || (rest == half && kept & 1 == 1),
        Rounding::NearestAway => rest >= half,
        Rounding::TowardsZero => false,
        Rounding::TowardsPositive => rest > 0 && !negative,
        Rounding::TowardsNegative => rest > 0 && negative,
    };
    kept + u128::from(up)
}

/// Returns the bits of an element.
pub fn pattern(element: &[u8]) -> u64 {
    match *element {
        [a] => a.into(),
        [a, b] => u16::from_ne_bytes([a, b]).into(),
        [a, b, c, d] => u32::from_ne_bytes([a, b, c, d]).into(),
        _ => u64::from_ne_bytes(element.try_into().unwrap_or_default()),
    }
}

/// Writes the lowest bits as an element.
#[expect(clippy::cast_possible_truncation, reason = "the remaining bits are copies of the sign")]
pub fn write_pattern(pattern: u64, element: &mut [u8]) {
    match element.len() {
        1 => element.copy_from_slice(&(pattern as u8).to_ne_bytes()),
        2 => element.copy_from_slice(&(pattern as u16).to_ne_bytes()),
        4 => element.copy_from_slice(&(pattern as u32).to_ne_bytes()),
        _ => element.copy_from_slice(&pattern.to_ne_bytes()),
    }
}
