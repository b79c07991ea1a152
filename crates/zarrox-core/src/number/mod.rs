//! Numbers, and the casts between them.
//!
//! [`Primitive`] is the trait of the built-in types, [`Number`] is a number of any type, and `Policy` determines how a cast
//! treats a number that a type cannot represent. A cast has two paths. Loops over many elements (`kernels.rs`) handle ordinary
//! numbers and mark all others; the exact path (`exact.rs`) converts one number at a time, for any types and rules. `RealCast`
//! combines both.
//!
//! The arithmetic is implemented here, because no crate casts exactly between all of these types, including floats of 4 to 64
//! bits, with rules for rounding and range; `num-rational` and `dashu` also allocate memory for each number.

mod cast;
mod compute_float;
mod exact;
mod half;
mod kernels;
mod loops;
mod machine;
mod primitive;
mod real_type;
mod rounding;
mod table;
mod value;

pub use self::half::{Half, half_of};
pub use ::half::{bf16, f16};
pub use cast::{CastFailure, RealCast, marked};
#[cfg(test)]
pub(crate) use exact::round_to_whole;
pub use exact::{Binary, Integer, pattern, write_pattern};
pub use kernels::{Kernel, Rules, kernel};
pub use loops::{BLOCK, for_each, map};
pub use machine::Machine;
pub use primitive::{Plain, Primitive};
pub use real_type::RealType;
pub use rounding::Rounding;
pub use rounding::{Missing, OutOfRange, Policy};
pub use table::Table;
pub use value::Number;
