//! The built-in number types by name, and the dispatch to their Rust types.

/// A built-in number type, by its name.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Machine {
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F16,
    BF16,
    F32,
    F64,
}

/// Runs an expression with a type alias for the Rust type of a built-in number type.
#[macro_export]
#[doc(hidden)]
macro_rules! with_machine {
    ($machine:expr, $T:ident => $body:expr) => {
        $crate::with_machine!(@ $machine, $T => $body, I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64,
            F16 $crate::internals::number::f16, BF16 $crate::internals::number::bf16, F32 f32, F64 f64)
    };
    (@ $machine:expr, $T:ident => $body:expr, $($name:ident $type:ty),*) => {
        match $machine {
            $($crate::internals::number::Machine::$name => {
                type $T = $type;
                $body
            })*
        }
    };
}
