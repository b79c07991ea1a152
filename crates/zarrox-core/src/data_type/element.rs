//! The Rust types that elements are read into.

use half::f16;
use num_complex::Complex;

use super::DataType;

/// A Rust type that holds elements of a data type, byte for byte.
///
/// # Safety
/// The type must be plain data without padding or niches: every pattern of bytes must be a valid value, but for
/// `bool`, which the library brings to 0 or 1 before it hands it out.
pub unsafe trait Element: Copy + Send + Sync + PartialEq + std::fmt::Debug + 'static {
    /// The data type that an array of these is created with.
    fn data_type() -> DataType;

    /// Whether elements of this data type can be read as this Rust type.
    fn holds(data_type: &DataType) -> bool {
        *data_type == Self::data_type()
    }
}

macro_rules! elements {
    ($($T:ty => $data_type:expr),+ $(,)?) => {$(
        // SAFETY: a primitive number, or two of one kind side by side; `bool` is the trait's named exception.
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

// SAFETY: bytes.
unsafe impl<const N: usize> Element for [u8; N] {
    fn data_type() -> DataType {
        DataType::RawBits(N)
    }
}
