//! The numbers of element types, a counterpart of NumPy's type numbers.

use zarrox::DataType;
use zarrox::data_type::Storage;

/// The layout of an element in memory, in the machine's byte order. A data type without its own number has the number of its
/// layout: times are INT64, and structures are RAW. `zarrox_data_type_name` distinguishes them.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ElementType {
    /// One byte, 0 or 1.
    Bool = 1,
    /// int8_t
    Int8 = 2,
    /// int16_t
    Int16 = 3,
    /// int32_t
    Int32 = 4,
    /// int64_t
    Int64 = 5,
    /// uint8_t
    Uint8 = 6,
    /// uint16_t
    Uint16 = 7,
    /// uint32_t
    Uint32 = 8,
    /// uint64_t
    Uint64 = 9,
    /// IEEE 754 half precision, two bytes.
    Float16 = 10,
    /// float
    Float32 = 11,
    /// double
    Float64 = 12,
    /// Two floats.
    Complex64 = 13,
    /// Two doubles.
    Complex128 = 14,
    /// Bytes of a fixed number: raw bits, structures, and numbers that C does not have.
    Raw = 15,
    /// Code points of four bytes each, padded with zeros: NumPy's U.
    Utf32 = 16,
    /// UTF-8 of variable length: `zarrox_read_strings`.
    String = 17,
    /// Bytes of variable length: `zarrox_read_strings`.
    Bytes = 18,
}

impl ElementType {
    /// Returns the element type of a data type.
    pub(crate) fn of(data_type: &DataType) -> Self {
        match data_type.storage() {
            Storage::Bool => Self::Bool,
            Storage::Int(1) => Self::Int8,
            Storage::Int(2) => Self::Int16,
            Storage::Int(4) => Self::Int32,
            Storage::Int(8) => Self::Int64,
            Storage::Uint(1) => Self::Uint8,
            Storage::Uint(2) => Self::Uint16,
            Storage::Uint(4) => Self::Uint32,
            Storage::Uint(8) => Self::Uint64,
            Storage::Float(2) => Self::Float16,
            Storage::Float(4) => Self::Float32,
            Storage::Float(8) => Self::Float64,
            Storage::Complex(8) => Self::Complex64,
            Storage::Complex(16) => Self::Complex128,
            Storage::Utf32(_) => Self::Utf32,
            Storage::Variable if *data_type == DataType::string() => Self::String,
            Storage::Variable => Self::Bytes,
            _ => Self::Raw,
        }
    }
}
