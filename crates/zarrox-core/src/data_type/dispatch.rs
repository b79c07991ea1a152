//! Code that is generic over the Rust type of elements, for data types that are known only at run time.

#[doc(hidden)]
pub use half::f16;
#[doc(hidden)]
pub use num_complex::Complex;

/// Runs an expression with a type alias for the Rust type of a data type's elements: a number or `bool`. Other data types take the
/// last branch.
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
