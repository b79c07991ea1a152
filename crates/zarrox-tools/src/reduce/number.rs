//! Dispatch to loops over numbers, for data types that are known only at run time.

use zarrox_core::DataType;

/// Calls a loop for the Rust type of a data type, or for `f64` if the data type has no loops.
macro_rules! with_number {
    ($data_type:expr, $first:ident $(:: $rest:ident)* ( $($argument:expr),* $(,)? )) => {
        match $data_type {
            DataType::Bool | DataType::UInt8 => $first $(:: $rest)* ::<u8>($($argument),*),
            DataType::Int8 => $first $(:: $rest)* ::<i8>($($argument),*),
            DataType::Int16 => $first $(:: $rest)* ::<i16>($($argument),*),
            DataType::Int32 => $first $(:: $rest)* ::<i32>($($argument),*),
            DataType::Int64 => $first $(:: $rest)* ::<i64>($($argument),*),
            DataType::UInt16 => $first $(:: $rest)* ::<u16>($($argument),*),
            DataType::UInt32 => $first $(:: $rest)* ::<u32>($($argument),*),
            DataType::UInt64 => $first $(:: $rest)* ::<u64>($($argument),*),
            DataType::Float32 => $first $(:: $rest)* ::<f32>($($argument),*),
            _ => $first $(:: $rest)* ::<f64>($($argument),*),
        }
    };
}
pub(crate) use with_number;

/// Returns true if a data type has loops. Other elements are cast to a data type with loops.
pub(crate) fn has_loops(data_type: &DataType) -> bool {
    use DataType::{Bool, Float32, Float64, Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64};
    matches!(
        data_type,
        Bool | Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 | UInt64 | Float32 | Float64
    )
}
