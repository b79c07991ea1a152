//! An offset and a scale, in the arithmetic of the data type itself.

use super::kernels::{BLOCK, Machine, machine, with_machine};
use super::native::for_each;
use super::{
    BFLOAT16, FLOAT16, Integer, OutOfRange, Real, RealType, Rounding, marked, to_bfloat16, to_float16,
    widen_bfloat16, widen_float16,
};

/// `(element - offset) * scale`, and back.
#[derive(Debug)]
pub(crate) struct Arithmetic {
    real: RealType,
    offset: Real,
    scale: Real,
}

/// Which of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Encode,
    Decode,
}

/// Two numbers and the sign between them that have no result.
type Refused = String;

impl Arithmetic {
    /// The scale is not 0, and both are finite numbers of the type.
    pub(crate) fn new(real: RealType, offset: Real, scale: Real) -> Self {
        Self { real, offset, scale }
    }

    /// Calculates elements; both slices hold equally many.
    pub(crate) fn apply(&self, from: &[u8], to: &mut [u8], direction: Direction) -> Result<(), Refused> {
        let item = self.real.size();
        let mut bad = [false; BLOCK];
        for (from, to) in from.chunks(item * BLOCK).zip(to.chunks_mut(item * BLOCK)) {
            let bad = &mut bad[..from.len() / item];
            bad.fill(false);
            self.ordinary(from, to, bad, direction);
            for index in marked(bad) {
                let at = index * item..(index + 1) * item;
                self.exact(&from[at.clone()], &mut to[at], direction)?;
            }
        }
        Ok(())
    }

    /// Does what loops can, and marks the rest.
    fn ordinary(&self, from: &[u8], to: &mut [u8], bad: &mut [bool], direction: Direction) {
        match &self.real {
            RealType::Integer(integer) if !integer.is_full() => bad.fill(true),
            RealType::Table(_) => bad.fill(true),
            RealType::Binary(FLOAT16 | BFLOAT16) => {
                let (offset, scale) = (narrow(self.offset.to_f64()), narrow(self.scale.to_f64()));
                match direction {
                    Direction::Encode => {
                        self.half(from, to, bad, |x| x - offset);
                        self.half_again(to, bad, |x| x * scale);
                    }
                    Direction::Decode => {
                        self.half(from, to, bad, |x| x / scale);
                        self.half_again(to, bad, |x| x + offset);
                    }
                }
            }
            RealType::Integer(_) | RealType::Binary(_) => {
                let numbers = (self.offset, self.scale);
                with_machine!(machine(&self.real), T => <T as Scaled>::apply(from, to, bad, numbers, direction));
            }
        }
    }

    /// One operation on floats of 16 bits. 32 bits are more than twice as many and two: rounding twice is as rounding once.
    fn half(&self, from: &[u8], to: &mut [u8], bad: &mut [bool], operation: impl Fn(f32) -> f32) {
        let (mut wide, mut result) = ([0; 4 * BLOCK], [0; 4 * BLOCK]);
        let (wide, result) = (&mut wide[..2 * from.len()], &mut result[..2 * from.len()]);
        let is_bfloat16 = matches!(self.real, RealType::Binary(BFLOAT16));
        let widen = if is_bfloat16 { widen_bfloat16 } else { widen_float16 };
        let narrow = if is_bfloat16 { to_bfloat16 } else { to_float16 };
        widen(from, wide, bad);
        for_each(wide, result, bad, |number: f32| (operation(number), true));
        narrow(result, to, bad, Rounding::NearestEven, OutOfRange::Clamp);
    }

    fn half_again(&self, elements: &mut [u8], bad: &mut [bool], operation: impl Fn(f32) -> f32) {
        debug_assert!(matches!(self.real, RealType::Binary(FLOAT16 | BFLOAT16)));
        let mut before = [0; 2 * BLOCK];
        let before = &mut before[..elements.len()];
        before.copy_from_slice(elements);
        self.half(before, elements, bad, operation);
    }

    /// One element of any type.
    fn exact(&self, from: &[u8], to: &mut [u8], direction: Direction) -> Result<(), Refused> {
        let (element, offset, scale) = (self.real.read(from), self.offset, self.scale);
        match (&self.real, element, offset, scale) {
            (RealType::Integer(integer), Real::Whole(element), Real::Whole(offset), Real::Whole(scale)) => {
                let result = match direction {
                    Direction::Encode => encoded(*integer, element, offset, scale)?,
                    Direction::Decode => decoded(*integer, element, offset, scale)?,
                };
                self.write(Real::Whole(result), to).ok_or_else(|| result.to_string())
            }
            (_, element, offset, scale) => {
                let (element, offset, scale) = (element.to_f64(), offset.to_f64(), scale.to_f64());
                let mut step = |value: f64, left: f64, sign: char, right: f64| {
                    let written = self.write(Real::Float(value), to);
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

    fn write(&self, value: Real, to: &mut [u8]) -> Option<()> {
        let range = if self.real.has_infinities() { OutOfRange::Clamp } else { OutOfRange::Error };
        self.real.write(value, Rounding::NearestEven, range, to).ok()
    }
}

fn no_result(left: impl std::fmt::Debug, sign: char, right: impl std::fmt::Debug) -> Refused {
    format!("{left:?} {sign} {right:?} has no result")
}

/// Each result must be one of the type's.
fn encoded(integer: Integer, element: i128, offset: i128, scale: i128) -> Result<i128, Refused> {
    let range = integer.least()..=integer.most();
    let moved = element - offset;
    if !range.contains(&moved) {
        return Err(no_result(element, '-', offset));
    }
    let scaled = moved.checked_mul(scale).filter(|scaled| range.contains(scaled));
    scaled.ok_or_else(|| no_result(moved, '*', scale))
}

/// The last result must be one of the type's.
fn decoded(integer: Integer, element: i128, offset: i128, scale: i128) -> Result<i128, Refused> {
    if element % scale != 0 {
        return Err(no_result(element, '/', scale));
    }
    let value = element / scale + offset;
    let inside = (integer.least()..=integer.most()).contains(&value);
    if inside { Ok(value) } else { Err(no_result(element / scale, '+', offset)) }
}

#[expect(clippy::cast_possible_truncation, reason = "a number of a type that has no more bits")]
fn narrow(value: f64) -> f32 {
    value as f32
}

/// A loop for each of the machine's types.
trait Scaled {
    fn apply(from: &[u8], to: &mut [u8], bad: &mut [bool], numbers: (Real, Real), direction: Direction);
}

// Integers, in a type of twice the bits; and divided as floats, where the quotient of those that are divisible is exact.
macro_rules! narrow_integers {
    ($($T:ty, $Wide:ty, $Float:ty;)*) => {$(
        impl Scaled for $T {
            #[expect(clippy::cast_possible_truncation, reason = "offset and scale are of the type; results are looked at")]
            #[expect(clippy::allow_attributes, reason = "not all types have a sign")]
            #[allow(clippy::cast_sign_loss, clippy::cast_possible_wrap, clippy::cast_lossless, reason = "results are looked at")]
            fn apply(
                from: &[u8],
                to: &mut [u8],
                bad: &mut [bool],
                (offset, scale): (Real, Real),
                direction: Direction,
            ) {
                let (offset, scale) = (offset.to_i128() as $Wide, scale.to_i128() as $Wide);
                let (least, most) = (<$T>::MIN as $Wide, <$T>::MAX as $Wide);
                let inside = |value: $Wide| least <= value && value <= most;
                match direction {
                    // A product of unsigned numbers that is too large becomes negative, which is outside as well.
                    Direction::Encode => for_each(from, to, bad, |x: $T| {
                        let moved = x as $Wide - offset;
                        let result = moved.wrapping_mul(scale);
                        (result as $T, inside(moved) && inside(result))
                    }),
                    Direction::Decode if scale == 1 => for_each(from, to, bad, |x: $T| {
                        let result = x as $Wide + offset;
                        (result as $T, inside(result))
                    }),
                    Direction::Decode => {
                        let divisor = scale as $Float;
                        // The last bits of a sum whose last place is 1 are those of the integer.
                        let shift = 1.5 * (1_u64 << (<$Float>::MANTISSA_DIGITS - 1)) as $Float;
                        for_each(from, to, bad, |x: $T| {
                            let sum = (x as $Float / divisor + shift).to_bits();
                            let quotient = sum.wrapping_sub(shift.to_bits()).cast_signed();
                            let result = quotient + offset;
                            (result as $T, quotient.wrapping_mul(scale) == x as $Wide && inside(result))
                        });
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

// Those of 64 bits have neither.
macro_rules! wide_integers {
    ($($T:ty),*) => {$(
        impl Scaled for $T {
            #[expect(clippy::cast_possible_truncation, reason = "offset and scale are of the type")]
            #[expect(clippy::allow_attributes, reason = "not all types have no sign")]
            #[allow(clippy::cast_sign_loss, reason = "offset and scale are of the type")]
            fn apply(
                from: &[u8],
                to: &mut [u8],
                bad: &mut [bool],
                (offset, scale): (Real, Real),
                direction: Direction,
            ) {
                let (offset, scale) = (offset.to_i128() as $T, scale.to_i128() as $T);
                match direction {
                    Direction::Encode => for_each(from, to, bad, |x: $T| {
                        let (moved, out) = x.overflowing_sub(offset);
                        let (result, beyond) = moved.overflowing_mul(scale);
                        (result, !out && !beyond)
                    }),
                    Direction::Decode if scale == 1 => for_each(from, to, bad, |x: $T| {
                        let (result, out) = x.overflowing_add(offset);
                        (result, !out)
                    }),
                    Direction::Decode => for_each(from, to, bad, |x: $T| {
                        let quotient = x.wrapping_div(scale);
                        let (result, out) = quotient.overflowing_add(offset);
                        let (product, wrong) = quotient.overflowing_mul(scale);
                        (result, !out && !wrong && product == x)
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
            #[expect(clippy::allow_attributes, reason = "not all types are narrower")]
            #[allow(clippy::cast_possible_truncation, clippy::unnecessary_cast, trivial_numeric_casts, reason = "offset and scale are of the type")]
            fn apply(
                from: &[u8],
                to: &mut [u8],
                bad: &mut [bool],
                (offset, scale): (Real, Real),
                direction: Direction,
            ) {
                let (offset, scale) = (offset.to_f64() as $T, scale.to_f64() as $T);
                match direction {
                    Direction::Encode => for_each(from, to, bad, |x: $T| ((x - offset) * scale, true)),
                    Direction::Decode => for_each(from, to, bad, |x: $T| (x / scale + offset, true)),
                }
            }
        }
    )*};
}
floats!(f32, f64);
