//! Code that is generic over the Rust type of elements, for data types that are known only at run time.

#[doc(hidden)]
pub use half::f16;
#[doc(hidden)]
pub use num_complex::Complex;

/// Runs an expression with a type alias for the Rust type of a data type's elements: a number or `bool`. The last branch
/// handles other data types.
///
/// ```
/// use zarrox_core::{DataType, with_element_type};
///
/// fn size(data_type: &DataType) -> Option<usize> {
///     with_element_type!(data_type, T => Some(size_of::<T>()), _ => None)
/// }
/// assert_eq!(size(&DataType::Float32), Some(4));
/// assert_eq!(size(&DataType::string()), None);
/// ```
#[macro_export]
macro_rules! with_element_type {
    ($data_type:expr, $T:ident => $body:expr, _ => $other:expr $(,)?) => {
        $crate::with_element_type!(@ $data_type, $T, $body, $other,
            Bool bool, Int8 i8, Int16 i16, Int32 i32, Int64 i64, UInt8 u8, UInt16 u16, UInt32 u32, UInt64 u64,
            Float16 $crate::internals::data_type::f16, Float32 f32, Float64 f64,
            Complex64 $crate::internals::data_type::Complex<f32>, Complex128 $crate::internals::data_type::Complex<f64>)
    };
    (@ $data_type:expr, $T:ident, $body:expr, $other:expr, $($variant:ident $type:ty),+) => {
        match $data_type {
            $($crate::DataType::$variant => {
                type $T = $type;
                $body
            })+
            _ => $other,
        }
    };
}

/// Runs an expression with a type alias for the Rust type of the numbers that have a given in-memory layout. The first word names
/// the accepted types: `element` accepts numbers and booleans, `number` all numbers, `integer` integers, and `float` floats.
#[macro_export]
#[doc(hidden)]
macro_rules! with_storage {
    (element $storage:expr, $T:ident => $body:expr, else $other:expr) => {
        $crate::with_storage!(@ $storage, $T => $body, $crate::with_storage!(number $storage, $T => $body, else $other), Bool => bool)
    };
    (number $storage:expr, $T:ident => $body:expr, else $other:expr) => {
        $crate::with_storage!(@ $storage, $T => $body, $other,
            Int(1) => i8, Int(2) => i16, Int(4) => i32, Int(8) => i64,
            Uint(1) => u8, Uint(2) => u16, Uint(4) => u32, Uint(8) => u64,
            Float(2) => $crate::internals::data_type::f16, Float(4) => f32, Float(8) => f64,
            Complex(8) => $crate::internals::data_type::Complex<f32>, Complex(16) => $crate::internals::data_type::Complex<f64>)
    };
    (integer $storage:expr, $T:ident => $body:expr, else $other:expr) => {
        $crate::with_storage!(@ $storage, $T => $body, $other,
            Int(1) => i8, Int(2) => i16, Int(4) => i32, Int(8) => i64,
            Uint(1) => u8, Uint(2) => u16, Uint(4) => u32, Uint(8) => u64)
    };
    (float $storage:expr, $T:ident => $body:expr, else $other:expr) => {
        $crate::with_storage!(@ $storage, $T => $body, $other,
            Float(2) => $crate::internals::data_type::f16, Float(4) => f32, Float(8) => f64)
    };
    (@ $storage:expr, $T:ident => $body:expr, $other:expr, $($kind:ident $(($size:literal))? => $type:ty),*) => {
        match $storage {
            $($crate::data_type::Storage::$kind $(($size))? => {
                type $T = $type;
                $body
            })*
            _ => $other,
        }
    };
}
