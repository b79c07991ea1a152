//! Numbers, and the one cast between them.
//!
//! [`Primitive`] is the trait over the numbers of the machine, [`Number`] a number of any type, and `Policy` says what becomes of
//! a number that a type cannot represent. There are two ways from one type to another. Loops over many elements (`kernels.rs`) do what
//! is ordinary and mark what is not; the exact way (`exact.rs`) takes one number at a time, and any types and rules. `RealCast` puts
//! both together.
//!
//! The arithmetic is our own, since no crate casts exactly between all of these types, with their 4-bit to 64-bit floats and their
//! rules for rounding and range; `num-rational` and `dashu` also allocate memory for each number.

mod cast;
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
mod work;

pub use self::half::{Half, half_of};
pub use ::half::{bf16, f16};
pub use cast::{RealCast, Refused, marked};
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
