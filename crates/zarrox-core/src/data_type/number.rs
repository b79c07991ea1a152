//! Dispatch from a data type to the Rust type that holds its numbers.

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
