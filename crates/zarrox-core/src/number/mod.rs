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
mod primitive;
mod rounding;
mod table;
mod value;

#[doc(hidden)]
pub use self::half::{Half, half_of};
#[doc(hidden)]
pub use ::half::{bf16, f16};
#[doc(hidden)]
pub use cast::{RealCast, Refused, marked};
#[cfg(test)]
pub(crate) use exact::round_to_whole;
#[doc(hidden)]
pub use exact::{Binary, Integer, Missing, RealType, pattern, write_pattern};
#[doc(hidden)]
pub use kernels::{Kernel, Machine, Rules, kernel};
#[doc(hidden)]
pub use loops::{BLOCK, for_each, map};
pub use primitive::{Plain, Primitive};
pub use rounding::Rounding;
#[doc(hidden)]
pub use rounding::{OutOfRange, Policy};
#[doc(hidden)]
pub use table::Table;
pub use value::Number;
