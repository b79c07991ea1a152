//! Data types: what an element is, how it lies in memory, and what each format calls it.
//!
//! [`Storage`] is the closed list of memory layouts, and all that codecs see. A [`DataType`] adds a meaning and
//! names; types that need no layout of their own come as [`DataType::Extension`]. A family of types is one
//! file that implements [`Family`] and one line in [`FAMILIES`](crate::registry::FAMILIES).

mod cast;
mod dispatch;
mod display;
mod element;
mod endian;
pub(crate) mod family;
mod lookup;
mod model;
mod number;
mod number_cast;
mod real;
#[doc(hidden)]
pub mod record;
mod storage;

pub use crate::number::{Number, Primitive};
pub use cast::{Cast, Casting};
#[doc(hidden)]
pub use dispatch::{Complex, f16};
pub use element::{Element, Optional};
pub use endian::{ByteOrder, Endian};
pub(crate) use family::KnownTypes;
pub(crate) use family::object::nests_lists;
pub use family::object::{PICKLE, has_objects};
pub use family::python::float as python_float;
pub(crate) use family::structure::Structures;
pub use family::time::{NOT_A_TIME, TimeKind, TimeType, TimeUnit};
pub(crate) use family::unknown::Unknown;
pub use family::utf32::text as utf32_text;
pub use family::variable::{BYTES as VARIABLE_BYTES, TEXT as VARIABLE_TEXT};
pub use family::{Family, FamilyRef, TypeString};
pub use lookup::split_sub_array;
pub use model::{DataType, Extension, Field, LARGEST, Structure};
#[doc(hidden)]
pub use number_cast::NumberCast;
pub use storage::{Leaf, Storage, StructLayout};
