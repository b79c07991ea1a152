//! The Rust types that elements are read into.

use half::{bf16, f16};
use num_complex::Complex;

use super::DataType;
use super::family::{small_complex, small_float, utf32};

/// The memory of an optional element. It converts to and from an [`Option`].
#[derive(Clone, Copy)]
#[repr(C, packed)]
pub struct Optional<T> {
    present: u8,
    value: T,
}

impl<T: Element> Optional<T> {
    /// Returns the value, if it is present.
    pub fn get(self) -> Option<T> {
        (self.present != 0).then_some(self.value)
    }
}

impl<T: Element> From<Option<T>> for Optional<T> {
    fn from(value: Option<T>) -> Self {
        // SAFETY: every bit pattern is a valid element; the pattern of zeros is valid for `bool` as well.
        let none = || unsafe { std::mem::zeroed() };
        Self { present: value.is_some().into(), value: value.unwrap_or_else(none) }
    }
}

impl<T: Element> From<Optional<T>> for Option<T> {
    fn from(optional: Optional<T>) -> Self {
        optional.get()
    }
}

impl<T: Element> PartialEq for Optional<T> {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl<T: Element> std::fmt::Debug for Optional<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.get().fmt(f)
    }
}

/// A Rust type whose values are elements of a data type, byte for byte.
///
/// # Safety
/// The type must be plain data without padding or niches: every bit pattern must be a valid value, except for `bool`, whose bytes
/// the library first normalises to 0 or 1.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the type of array elements of a fixed size",
    note = "structures become elements by `#[derive(Element)]`",
    note = "the times of `jiff` and `chrono` are elements with the features `jiff` and `chrono` of zarrox"
)]
pub unsafe trait Element: Copy + Send + Sync + PartialEq + std::fmt::Debug + 'static {
    /// False for types that cannot be a field of a structure, such as [`Optional`].
    #[doc(hidden)]
    const CAN_BE_FIELD: bool = true;

    /// Returns the data type of a new array of these elements.
    fn data_type() -> DataType;

    /// Returns true if elements of this data type can be read as this Rust type. The data type is either the Rust type's own, or
    /// an extension that the Rust type stores: `i64` stores the count of a `numpy.datetime64`, and `[u32; N]` the code points of
    /// a string.
    fn holds(data_type: &DataType) -> bool {
        let own = Self::data_type();
        let extends =
            matches!(data_type, DataType::Extension(extension) if extension.storage == own.storage());
        *data_type == own || extends
    }
}

macro_rules! elements {
    ($($T:ty => $data_type:expr),+ $(,)?) => {$(
        // SAFETY: a primitive number, or two numbers of the same type; the trait documents `bool` as an exception.
        unsafe impl Element for $T {
            fn data_type() -> DataType {
                $data_type
            }
        }
    )+};
}

elements! {
    bool => DataType::Bool,
    i8 => DataType::Int8,
    i16 => DataType::Int16,
    i32 => DataType::Int32,
    i64 => DataType::Int64,
    u8 => DataType::UInt8,
    u16 => DataType::UInt16,
    u32 => DataType::UInt32,
    u64 => DataType::UInt64,
    f16 => DataType::Float16,
    f32 => DataType::Float32,
    f64 => DataType::Float64,
    Complex<f32> => DataType::Complex64,
    Complex<f64> => DataType::Complex128,
}

macro_rules! exact_elements {
    ($($T:ty => $data_type:expr),+ $(,)?) => {$(
        // SAFETY: a machine-learning number type, or two numbers of the same type: plain bits.
        unsafe impl Element for $T {
            fn data_type() -> DataType {
                $data_type
            }

            // Types with the same storage represent the same number with different bits.
            fn holds(data_type: &DataType) -> bool {
                *data_type == Self::data_type()
            }
        }
    )+};
}

exact_elements! {
    bf16 => bfloat16(),
    Complex<f16> => small_complex::of_parts(&DataType::Float16),
    Complex<bf16> => small_complex::of_parts(&bfloat16()),
}

fn bfloat16() -> DataType {
    small_float::named("bfloat16").unwrap_or(DataType::RawBits(2))
}

// SAFETY: a byte and plain data, packed; any byte except 0 means that the value is present.
unsafe impl<T: Element> Element for Optional<T> {
    const CAN_BE_FIELD: bool = false;

    fn data_type() -> DataType {
        // Only a type that is too large has no optional type, and no array can have elements of that size.
        DataType::optional(T::data_type()).unwrap_or(DataType::RawBits(0))
    }

    fn holds(data_type: &DataType) -> bool {
        data_type.optional_value().is_some_and(|value| T::holds(&value))
    }
}

// SAFETY: bytes.
unsafe impl<const N: usize> Element for [u8; N] {
    fn data_type() -> DataType {
        DataType::RawBits(N)
    }
}

// SAFETY: numbers of the same type without padding.
unsafe impl<const N: usize> Element for [u32; N] {
    fn data_type() -> DataType {
        // There is no type for a length of 0 or an excessive length, and no array can have elements of that length.
        utf32::of_bytes(4 * N).unwrap_or(DataType::RawBits(0))
    }
}
