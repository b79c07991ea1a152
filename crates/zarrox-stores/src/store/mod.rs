//! The interface of stores: the [`Store`](crate::Store) trait, the methods based on it, and the types of arguments and return
//! values.

mod contract;
mod ext;
mod payload;
pub mod provided;
mod range;
mod value;

pub use self::contract::{Capabilities, Condition, DirListing, GetDone, Store};
pub use self::ext::StoreExt;
pub use self::payload::{PartSource, Payload};
pub(crate) use self::provided::copy_then_erase;
pub use self::provided::{check_rename, ranges_of, stamp_of};
pub use self::range::ByteRange;
#[cfg(any(feature = "async", feature = "cache", feature = "references"))]
pub(crate) use self::range::WHOLE;
#[cfg(feature = "zip")]
pub(crate) use self::value::out_of_memory;
pub use self::value::{Stamp, Value, Version};
pub use self::value::{checked_length, reserved};
