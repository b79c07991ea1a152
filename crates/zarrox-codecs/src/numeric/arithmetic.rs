//! Subtraction of an offset and multiplication by a scale, in the arithmetic of the data type itself.

use zarrox_core::internals::number::{
    BLOCK, Half, Integer, Number, OutOfRange, RealType, Rounding, bf16, f16, for_each, marked,
};
use zarrox_core::with_machine;

/// `(element - offset) * scale`, and its inverse.
#[derive(Debug)]
pub(crate) struct Arithmetic {
    real: RealType,
    offset: Number,
    scale: Number,
}

/// The direction of the conversion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Encode,
    Decode,
}

/// A message with the operator and the two numbers for which there is no valid result.
type NoResult = String;

impl Arithmetic {
    /// Creates the arithmetic. The offset and the scale must be finite numbers in the data type, and the scale must not be 0.
    pub(crate) fn new(real: RealType, offset: Number, scale: Number) -> Self {
        Self { real, offset, scale }
    }

    /// Converts elements. Both slices have the same number of elements.
    pub(crate) fn apply(&self, from: &[u8], to: &mut [u8], direction: Direction) -> Result<(), NoResult> {
        let item = self.real.size();
        let mut bad = [false; BLOCK];
        for (from, to) in from.chunks(item * BLOCK).zip(to.chunks_mut(item * BLOCK)) {
            let bad = &mut bad[..from.len() / item];
            if self.ordinary(from, to, bad, direction) {
                continue;
            }
            for index in marked(bad) {
                let at = index * item..(index + 1) * item;
                self.exact(&from[at.clone()], &mut to[at], direction)?;
            }
            bad.fill(false);
        }
        Ok(())
    }

    /// Converts the elements that the fast loops can handle, and marks all others. Returns false if any element was marked.
    fn ordinary(&self, from: &[u8], to: &mut [u8], bad: &mut [bool], direction: Direction) -> bool {
        match &self.real {
            RealType::Integer(integer) if integer.is_full() => (),
            RealType::Binary(_) => (),
            RealType::Integer(_) | RealType::Table(_) => {
                bad.fill(true);
                return false;
            }
        }
        let numbers = (self.offset, self.scale);
        with_machine!(self.real.machine(), T => <T as Scaled>::apply(from, to, bad, numbers, direction))
    }

    /// Converts one element of any type.
    fn exact(&self, from: &[u8], to: &mut [u8], direction: Direction) -> Result<(), NoResult> {
        let (element, offset, scale) = (self.real.read(from), self.offset, self.scale);
        match (&self.real, element, offset, scale) {
            (
                RealType::Integer(integer),
                Number::Integer(element),
                Number::Integer(offset),
                Number::Integer(scale),
            ) => {
                let result = match direction {
                    Direction::Encode => encoded(*integer, element, offset, scale)?,
                    Direction::Decode => decoded(*integer, element, offset, scale)?,
                };
                self.write(Number::Integer(result), to).ok_or_else(|| result.to_string())
            }
            (_, element, offset, scale) => {
                let (element, offset, scale) = (element.to_f64(), offset.to_f64(), scale.to_f64());
                let mut step = |value: f64, left: f64, sign: char, right: f64| {
                    let written = self.write(Number::Float(value), to);
                    written.map(|()| self.real.read(to).to_f64()).ok_or_else(|| no_result(left, sign, right))
                };
                match direction {
                    Direction::Encode => {
                        let moved = step(element - offset, element, '-', offset)?;
                        step(moved * scale, moved, '*', scale)?;
                    }
                    Direction::Decode => {
                        let scaled = step(element / scale, element, '/', scale)?;
                        step(scaled + offset, scaled, '+', offset)?;
                    }
                }
                Ok(())
            }
        }
    }

    fn write(&self, value: Number, to: &mut [u8]) -> Option<()> {
        let range = if self.real.has_infinities() { OutOfRange::Clamp } else { OutOfRange::Refuse };
        self.real.write(value, Rounding::NearestEven, range, to).ok()
    }
}

fn no_result(left: impl std::fmt::Debug, sign: char, right: impl std::fmt::Debug) -> NoResult {
    format!("{left:?} {sign} {right:?} has no result")
}

/// Encodes an integer. Each intermediate result must be in the range of the type.
fn encoded(integer: Integer, element: i128, offset: i128, scale: i128) -> Result<i128, NoResult> {
    let range = integer.least()..=integer.most();
    let moved = element - offset;
    if !range.contains(&moved) {
        return Err(no_result(element, '-', offset));
    }
    let scaled = moved.checked_mul(scale).filter(|scaled| range.contains(scaled));
    scaled.ok_or_else(|| no_result(moved, '*', scale))
}

/// Decodes an integer. The final result must be in the range of the type.
fn decoded(integer: Integer, element: i128, offset: i128, scale: i128) -> Result<i128, NoResult> {
    if element % scale != 0 {
        return Err(no_result(element, '/', scale));
    }
    let value = element / scale + offset;
    let inside = (integer.least()..=integer.most()).contains(&value);
    if inside { Ok(value) } else { Err(no_result(element / scale, '+', offset)) }
}

/// The fast loop for each machine type. A loop returns false if it marked any element.
trait Scaled {
    fn apply(
        from: &[u8],
        to: &mut [u8],
        bad: &mut [bool],
        numbers: (Number, Number),
        direction: Direction,
    ) -> bool;
}

// Integers, computed in an integer type of twice the width. The division uses floats, in which an integral quotient is exact.
macro_rules! narrow_integers {
    ($($T:ty, $Wide:ty, $Float:ty;)*) => {$(
        impl Scaled for $T {
            #[expect(clippy::cast_possible_truncation, reason = "offset and scale fit the type; results are checked")]
            #[expect(clippy::allow_attributes, reason = "some types are unsigned")]
            #[allow(clippy::cast_sign_loss, clippy::cast_possible_wrap, clippy::cast_lossless, reason = "results are checked")]
            fn apply(
                from: &[u8],
                to: &mut [u8],
                bad: &mut [bool],
                (offset, scale): (Number, Number),
                direction: Direction,
            ) -> bool {
                let (offset, scale) = (offset.to_i128() as $Wide, scale.to_i128() as $Wide);
                let (least, most) = (<$T>::MIN as $Wide, <$T>::MAX as $Wide);
                let inside = |value: $Wide| least <= value && value <= most;
                match direction {
                    // If a product of unsigned numbers is too large, it becomes negative, which is out of range as well.
                    Direction::Encode => for_each(from, to, bad, |x: $T| {
                        let moved = x as $Wide - offset;
                        let result = moved.wrapping_mul(scale);
                        (result as $T, !(inside(moved) && inside(result)))
                    }),
                    Direction::Decode if scale == 1 => for_each(from, to, bad, |x: $T| {
                        let result = x as $Wide + offset;
                        (result as $T, !inside(result))
                    }),
                    Direction::Decode => {
                        let divisor = scale as $Float;
                        // If the unit in the last place of a sum is 1, the last bits of the sum are the bits of the integer.
                        let shift = 1.5 * (1_u64 << (<$Float>::MANTISSA_DIGITS - 1)) as $Float;
                        for_each(from, to, bad, |x: $T| {
                            let sum = (x as $Float / divisor + shift).to_bits();
                            let quotient = sum.wrapping_sub(shift.to_bits()).cast_signed();
                            let result = quotient + offset;
                            (result as $T, !(quotient.wrapping_mul(scale) == x as $Wide && inside(result)))
                        })
                    }
                }
            }
        }
    )*};
}
narrow_integers! {
    i8, i32, f32;
    u8, i32, f32;
    i16, i32, f32;
    u16, i32, f32;
    i32, i64, f64;
    u32, i64, f64;
}

// For 64-bit integers, there is neither a wider machine type nor a float type that represents them exactly.
macro_rules! wide_integers {
    ($($T:ty),*) => {$(
        impl Scaled for $T {
            #[expect(clippy::cast_possible_truncation, reason = "offset and scale fit the type")]
            #[expect(clippy::allow_attributes, reason = "some types are signed")]
            #[allow(clippy::cast_sign_loss, reason = "offset and scale fit the type")]
            fn apply(
                from: &[u8],
                to: &mut [u8],
                bad: &mut [bool],
                (offset, scale): (Number, Number),
                direction: Direction,
            ) -> bool {
                let (offset, scale) = (offset.to_i128() as $T, scale.to_i128() as $T);
                match direction {
                    Direction::Encode => for_each(from, to, bad, |x: $T| {
                        let (moved, out) = x.overflowing_sub(offset);
                        let (result, beyond) = moved.overflowing_mul(scale);
                        (result, out || beyond)
                    }),
                    Direction::Decode if scale == 1 => for_each(from, to, bad, |x: $T| {
                        let (result, out) = x.overflowing_add(offset);
                        (result, out)
                    }),
                    Direction::Decode => for_each(from, to, bad, |x: $T| {
                        let quotient = x.wrapping_div(scale);
                        let (result, out) = quotient.overflowing_add(offset);
                        let (product, wrong) = quotient.overflowing_mul(scale);
                        (result, out || wrong || product != x)
                    }),
                }
            }
        }
    )*};
}
wide_integers!(i64, u64);

macro_rules! floats {
    ($($T:ty),*) => {$(
        impl Scaled for $T {
            #[expect(clippy::allow_attributes, reason = "some types are not narrower")]
            #[allow(clippy::cast_possible_truncation, clippy::unnecessary_cast, trivial_numeric_casts, reason = "offset and scale fit the type")]
            fn apply(
                from: &[u8],
                to: &mut [u8],
                bad: &mut [bool],
                (offset, scale): (Number, Number),
                direction: Direction,
            ) -> bool {
                let (offset, scale) = (offset.to_f64() as $T, scale.to_f64() as $T);
                match direction {
                    Direction::Encode => for_each(from, to, bad, |x: $T| ((x - offset) * scale, false)),
                    Direction::Decode => for_each(from, to, bad, |x: $T| (x / scale + offset, false)),
                }
            }
        }
    )*};
}
floats!(f32, f64);

// 16-bit floats, with each operation done in 32 bits. Since these have at least twice the precision plus two bits, rounding twice
// is equivalent to rounding once.
macro_rules! halves {
    ($($T:ty),*) => {$(
        impl Scaled for $T {
            fn apply(
                from: &[u8],
                to: &mut [u8],
                bad: &mut [bool],
                (offset, scale): (Number, Number),
                direction: Direction,
            ) -> bool {
                let (offset, scale) = (offset.to_f32(), scale.to_f32());
                let rounded = |value: f32| Self::of_single(value, Rounding::NearestEven).0;
                match direction {
                    Direction::Encode => for_each(from, to, bad, |x: $T| {
                        (rounded(rounded(x.to_single() - offset).to_single() * scale), false)
                    }),
                    Direction::Decode => for_each(from, to, bad, |x: $T| {
                        (rounded(rounded(x.to_single() / scale).to_single() + offset), false)
                    }),
                }
            }
        }
    )*};
}
halves!(f16, bf16);
