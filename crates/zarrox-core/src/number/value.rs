//! A number of any type.

use std::fmt;

/// The value of an element.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// An integer; booleans are 0 and 1.
    Integer(i128),
    /// A floating-point number.
    Float(f64),
    /// A real and an imaginary part.
    Complex(f64, f64),
}

impl Number {
    /// Returns the nearest double-precision float, without the imaginary part.
    #[expect(clippy::cast_precision_loss, reason = "rounded to the nearest")]
    pub fn to_f64(self) -> f64 {
        match self {
            Self::Integer(value) => value as f64,
            Self::Float(value) | Self::Complex(value, _) => value,
        }
    }

    /// Returns the nearest single-precision float, rounded once, without the imaginary part.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        reason = "rounded to the nearest"
    )]
    #[doc(hidden)]
    pub fn to_f32(self) -> f32 {
        match self {
            Self::Integer(value) => value as f32,
            Self::Float(value) | Self::Complex(value, _) => value as f32,
        }
    }

    /// Returns the integer, or the integral part of a float.
    #[expect(clippy::cast_possible_truncation, reason = "the result is the integral part")]
    #[doc(hidden)]
    pub fn to_i128(self) -> i128 {
        match self {
            Self::Integer(value) => value,
            Self::Float(value) | Self::Complex(value, _) => value as i128,
        }
    }

    /// Returns the imaginary part.
    pub fn imaginary(self) -> Self {
        match self {
            Self::Complex(_, imaginary) => Self::Float(imaginary),
            _ => Self::Integer(0),
        }
    }

    /// Returns the real part.
    pub fn real(self) -> Self {
        match self {
            Self::Complex(real, _) => Self::Float(real),
            real => real,
        }
    }

    /// Returns true if both are the same number: 1 and 1.0, NaN and NaN, 0 and -0.
    #[doc(hidden)]
    pub fn is_same(self, other: Self) -> bool {
        match (self, other) {
            (Self::Integer(a), Self::Integer(b)) => a == b,
            (Self::Float(a), Self::Float(b)) => a == b || (a.is_nan() && b.is_nan()),
            (Self::Integer(whole), Self::Float(float)) | (Self::Float(float), Self::Integer(whole)) => {
                exactly(float) == Some(whole)
            }
            _ => self.real().is_same(other.real()) && self.imaginary().is_same(other.imaginary()),
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(value) => value.fmt(f),
            // With an exponent if there would be many digits.
            Self::Float(value) => write!(f, "{value:?}"),
            Self::Complex(real, imaginary) => write!(f, "({real:?}{imaginary:+?}j)"),
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the value is integral and in the range of i128")]
fn exactly(value: f64) -> Option<i128> {
    (value.fract() == 0.0 && value.abs() < 2_f64.powi(126)).then_some(value as i128)
}
