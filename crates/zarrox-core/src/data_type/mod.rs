//! Data types: what an element is, how it lies in memory, and what each format calls it.
//!
//! [`Storage`] is the closed list of memory layouts, and all that codecs see. A [`DataType`] adds a meaning and
//! names; types that need no layout of their own come as [`DataType::Extension`]. A family of types is one
//! file that implements [`Family`] and one line in [`FAMILIES`](crate::registry::FAMILIES).

pub(crate) mod bool;
pub(crate) mod bytes;
mod cast;
pub(crate) mod complex;
mod display;
mod element;
mod endian;
mod family;
pub(crate) mod float;
pub(crate) mod integer;
mod lookup;
mod model;
mod number;
pub(crate) mod object;
pub(crate) mod optional;
mod python;
pub(crate) mod ragged;
pub(crate) mod raw;
#[doc(hidden)]
pub mod record;
pub(crate) mod small_complex;
pub(crate) mod small_float;
pub(crate) mod small_int;
mod storage;
mod structure;
pub(crate) mod time;
mod unknown;
pub(crate) mod utf32;
pub(crate) mod variable;

pub use cast::Cast;
pub use element::{Element, Optional};
pub use endian::{ByteOrder, Endian};
pub(crate) use family::KnownTypes;
pub use family::{Family, FamilyRef, TypeString};
use family::{bad_fill, check_length, length_bytes};
pub use float::odd_single;
pub use lookup::split_sub_array;
pub use model::{DataType, Extension, Field, LARGEST, Structure};
pub use number::{Casting, Number};
pub use object::PICKLE;
pub(crate) use object::nests_lists;
pub use python::float as python_float;
pub use storage::{Leaf, Storage, StructLayout};
pub(crate) use structure::Structures;
pub use time::{NOT_A_TIME, TimeKind, TimeType, TimeUnit};
pub(crate) use unknown::Unknown;
pub use utf32::text as utf32_text;
pub use variable::{BYTES as VARIABLE_BYTES, TEXT as VARIABLE_TEXT};
