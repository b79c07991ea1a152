//! Numbers: the value of an element of any numeric type, and dispatch to the Rust type that holds it.

/// The changes that a cast may make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Casting {
    /// Nothing: an element that the other type has not is an error.
    Exact,
    /// The changes that NumPy's `astype` may make: integers keep their lowest bits, floats are rounded to the
    /// nearest or lose their fraction, complex numbers lose their imaginary part, all but 0 is true. Floats
    /// beyond an integer's range become its last one, and NaN 0 (NumPy leaves that to the machine). A number
    /// that a type without infinities or NaN cannot hold is still an error.
    Lossy,
}

/// The number that an element is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// A whole number; booleans are 0 and 1.
    Integer(i128),
    /// A floating-point number.
    Float(f64),
    /// A real and an imaginary part.
    Complex(f64, f64),
}

impl Number {
    /// The nearest double-precision float, without an imaginary part.
    #[expect(clippy::cast_precision_loss, reason = "rounded to the nearest")]
    pub fn to_f64(self) -> f64 {
        match self {
            Self::Integer(value) => value as f64,
            Self::Float(value) | Self::Complex(value, _) => value,
        }
    }

    /// The nearest single-precision float, rounded once, without an imaginary part.
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

    /// The imaginary part.
    pub fn imaginary(self) -> Self {
        match self {
            Self::Complex(_, imaginary) => Self::Float(imaginary),
            _ => Self::Integer(0),
        }
    }

    /// The real part.
    pub fn real(self) -> Self {
        match self {
            Self::Complex(real, _) => Self::Float(real),
            real => real,
        }
    }

    /// Returns true if both are one number: 1 and 1.0, NaN and NaN, 0 and -0.
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

#[expect(clippy::cast_possible_truncation, reason = "the value is whole and in the range of i128")]
fn exactly(value: f64) -> Option<i128> {
    (value.fract() == 0.0 && value.abs() < 2_f64.powi(126)).then_some(value as i128)
}

/// Runs `$body` with `$T` naming the Rust type of a numeric [`Storage`](super::Storage).
macro_rules! with_integer {
    ($storage:expr, $T:ident => $body:expr, else $other:expr) => {
        match $storage {
            $crate::data_type::Storage::Int(1) => {
                type $T = i8;
                $body
            }
            $crate::data_type::Storage::Int(2) => {
                type $T = i16;
                $body
            }
            $crate::data_type::Storage::Int(4) => {
                type $T = i32;
                $body
            }
            $crate::data_type::Storage::Int(8) => {
                type $T = i64;
                $body
            }
            $crate::data_type::Storage::Uint(1) => {
                type $T = u8;
                $body
            }
            $crate::data_type::Storage::Uint(2) => {
                type $T = u16;
                $body
            }
            $crate::data_type::Storage::Uint(4) => {
                type $T = u32;
                $body
            }
            $crate::data_type::Storage::Uint(8) => {
                type $T = u64;
                $body
            }
            _ => $other,
        }
    };
}
pub(super) use with_integer;

/// The element's bytes as an array of their exact number; zeros when the length is another.
pub(super) fn bytes_of<const N: usize>(element: &[u8]) -> [u8; N] {
    element.try_into().unwrap_or([0; N])
}

/// Writes the bytes of an element of this size; `false` when it has another.
pub(super) fn write(element: &mut [u8], bytes: &[u8]) -> bool {
    let fits = element.len() == bytes.len();
    if fits {
        element.copy_from_slice(bytes);
    }
    fits
}
