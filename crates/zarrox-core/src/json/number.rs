//! Numbers that keep their text.

use std::fmt;

/// A JSON number, or one of Python's three additional tokens: `NaN`, `Infinity` and `-Infinity`.
///
/// A number that was parsed is written with the same digits: `1.50`, `1e400`, `12345678901234567890123`.
#[derive(Clone)]
pub struct JsonNumber(Repr);

#[derive(Clone)]
enum Repr {
    Unsigned(u64),
    /// A negative integer.
    Negative(i64),
    /// The text of all other numbers: fractions, exponents, large integers, `-0` and the tokens.
    Text(Box<str>),
}

const NAN: &str = "NaN";
const INFINITY: &str = "Infinity";
const MINUS_INFINITY: &str = "-Infinity";

/// The tokens that only Python writes.
pub(super) const TOKENS: [&str; 3] = [NAN, INFINITY, MINUS_INFINITY];

impl JsonNumber {
    /// Creates a number from its text, which the parser has validated.
    pub(super) fn of_text(text: &str) -> Self {
        // Each integer has exactly one textual form, except 0, which can also be written `-0`.
        let integer = match text.strip_prefix('-') {
            None => text.parse().ok().map(Repr::Unsigned),
            Some("0") => None,
            Some(_) => text.parse().ok().map(Repr::Negative),
        };
        Self(integer.unwrap_or_else(|| Repr::Text(text.into())))
    }

    pub(super) fn unsigned(value: u64) -> Self {
        Self(Repr::Unsigned(value))
    }

    /// Creates a number from a float; infinities and NaN become tokens.
    #[doc(hidden)]
    pub fn from_f64(value: f64) -> Self {
        let text = match value {
            _ if value.is_nan() => NAN.into(),
            f64::INFINITY => INFINITY.into(),
            f64::NEG_INFINITY => MINUS_INFINITY.into(),
            _ => format!("{value:?}").into(),
        };
        Self(Repr::Text(text))
    }

    /// Returns the number as `u64`, if it is written as an integer in that range.
    pub fn as_u64(&self) -> Option<u64> {
        self.as_i128().and_then(|value| value.try_into().ok())
    }

    /// Returns the number as `i64`, if it is written as an integer in that range.
    pub fn as_i64(&self) -> Option<i64> {
        self.as_i128().and_then(|value| value.try_into().ok())
    }

    /// Returns the number as `i128`, if it is written as an integer in that range. `-0` does not count as one, because integers
    /// have no signed zero.
    #[doc(hidden)]
    pub fn as_i128(&self) -> Option<i128> {
        match &self.0 {
            Repr::Unsigned(value) => Some((*value).into()),
            Repr::Negative(value) => Some((*value).into()),
            Repr::Text(text) if **text == *"-0" => None,
            Repr::Text(text) => text.parse().ok(),
        }
    }

    /// Returns the nearest finite float, or the value of a token. Returns `None` if the number is too large.
    #[expect(clippy::cast_precision_loss, reason = "the method returns the nearest float")]
    pub fn as_f64(&self) -> Option<f64> {
        match &self.0 {
            Repr::Unsigned(value) => Some(*value as f64),
            Repr::Negative(value) => Some(*value as f64),
            // Rust uses the same names as the tokens.
            Repr::Text(text) => {
                text.parse().ok().filter(|value: &f64| value.is_finite() || self.as_token().is_some())
            }
        }
    }

    /// Returns the nearest float, which is infinite if the number is too large, or the value of a token.
    pub fn to_f64(&self) -> f64 {
        self.as_f64().unwrap_or_else(|| self.to_string().parse().unwrap_or(f64::NAN))
    }

    /// Returns the token with this name.
    pub(super) fn of_token(name: &str) -> Option<Self> {
        TOKENS.contains(&name).then(|| Self(Repr::Text(name.into())))
    }

    /// Returns the name of the token, if the number is one.
    #[doc(hidden)]
    pub fn as_token(&self) -> Option<&'static str> {
        match &self.0 {
            Repr::Text(text) => TOKENS.into_iter().find(|token| **token == **text),
            _ => None,
        }
    }

    /// Returns the value, if the number is written as a float.
    fn as_written_float(&self) -> Option<f64> {
        self.as_i128().is_none().then(|| self.as_f64()).flatten()
    }

    /// Returns true if two numbers are equal, including the sign of zero.
    pub(super) fn is_identical(&self, other: &Self) -> bool {
        self == other && self.as_f64().map(f64::to_bits) == other.as_f64().map(f64::to_bits)
    }
}

/// Compares integers by value, floats by value regardless of their text, and tokens by text, so that `NaN` equals itself.
impl PartialEq for JsonNumber {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Repr::Unsigned(a), Repr::Unsigned(b)) => a == b,
            (Repr::Negative(a), Repr::Negative(b)) => a == b,
            (Repr::Text(a), Repr::Text(b)) if a == b => true,
            (Repr::Text(_), Repr::Text(_)) => {
                self.as_written_float().is_some_and(|value| other.as_written_float() == Some(value))
            }
            _ => false,
        }
    }
}

impl Eq for JsonNumber {}

impl fmt::Display for JsonNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Unsigned(value) => value.fmt(f),
            Repr::Negative(value) => value.fmt(f),
            Repr::Text(text) => f.write_str(text),
        }
    }
}

impl fmt::Debug for JsonNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Number({self})")
    }
}

macro_rules! from_unsigned {
    ($($T:ty)*) => {$(
        impl From<$T> for JsonNumber {
            fn from(value: $T) -> Self {
                Self(Repr::Unsigned(value.into()))
            }
        }
    )*};
}

macro_rules! from_signed {
    ($($T:ty)*) => {$(
        impl From<$T> for JsonNumber {
            fn from(value: $T) -> Self {
                let value = i64::from(value);
                Self(u64::try_from(value).map_or(Repr::Negative(value), Repr::Unsigned))
            }
        }
    )*};
}

from_unsigned!(u8 u16 u32 u64);
from_signed!(i8 i16 i32 i64);

impl From<usize> for JsonNumber {
    fn from(value: usize) -> Self {
        Self(Repr::Unsigned(value as u64))
    }
}

impl From<i128> for JsonNumber {
    fn from(value: i128) -> Self {
        Self::of_text(&value.to_string())
    }
}

impl From<u128> for JsonNumber {
    fn from(value: u128) -> Self {
        Self::of_text(&value.to_string())
    }
}

impl From<f64> for JsonNumber {
    fn from(value: f64) -> Self {
        Self::from_f64(value)
    }
}

impl From<f32> for JsonNumber {
    fn from(value: f32) -> Self {
        Self::from_f64(value.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_keeps_its_text() {
        for text in [
            "0",
            "-0",
            "18446744073709551615",
            "18446744073709551616",
            "-9223372036854775808",
            "-9223372036854775809",
            "12345678901234567890123",
            "1.50",
            "1e400",
            "-0.0",
            "1E+2",
            "NaN",
            "-Infinity",
        ] {
            assert_eq!(JsonNumber::of_text(text).to_string(), text);
        }
    }

    #[test]
    fn a_number_has_the_value_of_its_text() {
        let of = JsonNumber::of_text;
        assert_eq!((of("7").as_u64(), of("-7").as_u64(), of("7.0").as_u64()), (Some(7), None, None));
        assert_eq!((of("-7").as_i64(), of("9223372036854775808").as_i64()), (Some(-7), None));
        assert_eq!(of("-9223372036854775809").as_i128(), Some(i128::from(i64::MIN) - 1));
        assert_eq!(of("12345678901234567890123").as_f64(), Some(1.2345678901234568e22));
        assert_eq!(
            (of("-0").as_i64(), of("-0").as_f64().map(f64::to_bits)),
            (None, Some((-0.0_f64).to_bits()))
        );
        assert_eq!((of("1e400").as_f64(), of("Infinity").as_f64()), (None, Some(f64::INFINITY)));
        assert!(of("NaN").as_f64().is_some_and(f64::is_nan) && of("1e400").to_f64() == f64::INFINITY);
        assert_eq!((of("NaN").as_token(), of("1.5").as_token()), (Some("NaN"), None));
        assert_eq!(JsonNumber::from(f64::NEG_INFINITY), of("-Infinity"));
        assert_eq!((JsonNumber::from(-1_i8), JsonNumber::from(1_i8)), (of("-1"), of("1")));
    }

    #[test]
    fn equal_numbers_may_be_written_in_several_ways() {
        let of = JsonNumber::of_text;
        for (a, b) in [("1.5", "1.50"), ("1e2", "100.0"), ("NaN", "NaN"), ("0.0", "-0.0"), ("1e400", "1e400")]
        {
            assert_eq!(of(a), of(b));
        }
        for (a, b) in [
            ("1", "1.0"),
            ("NaN", "Infinity"),
            ("1e400", "1e401"),
            ("12345678901234567890123", "12345678901234567890124"),
            ("12345678901234567890123", "1.2345678901234567890123e22"),
        ] {
            assert_ne!(of(a), of(b));
        }
        assert!(!of("0.0").is_identical(&of("-0.0")) && of("NaN").is_identical(&of("NaN")));
    }
}
