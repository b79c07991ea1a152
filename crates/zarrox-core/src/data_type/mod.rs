//! Data types: the meaning of an element, its in-memory layout, and its name in each format.
//!
//! [`Storage`] is the closed list of memory layouts, and the only part that codecs use. A [`DataType`] adds a meaning and names;
//! types outside the core list are a [`DataType::Extension`]. A family of types is one file, which implements [`Family`], and one
//! line in `FAMILIES` in `registry.rs`.

mod cast;
mod dispatch;
mod display;
pub(crate) mod element;
mod endian;
pub(crate) mod family;
mod lookup;
pub(crate) mod model;
mod number;
mod number_cast;
mod real;
mod record;
mod storage;

pub use crate::number::Number;
pub use cast::Casting;
pub(crate) use element::Element;
pub use element::Optional;
pub use endian::Endian;
pub(crate) use family::KnownTypes;
pub(crate) use family::object::nests_lists;
pub(crate) use family::structure::Structures;
pub use family::time::{NOT_A_TIME, TimeKind, TimeType, TimeUnit};
pub(crate) use family::unknown::Unknown;
pub use family::{Family, TypeString};
pub(crate) use internals::*;
pub(crate) use model::DataType;
pub use model::{Extension, Field, Structure};
pub use storage::{Storage, StructLayout};

/// Items that only other crates of this workspace use.
pub(crate) mod internals {
    pub use super::cast::Cast;
    pub use super::dispatch::{Complex, f16};
    pub use super::endian::ByteOrder;
    pub use super::family::FamilyRef;
    pub use super::family::object::{PICKLE, has_objects};
    pub use super::family::python::float as python_float;
    pub use super::family::utf32::text as utf32_text;
    pub use super::family::variable::{BYTES as VARIABLE_BYTES, TEXT as VARIABLE_TEXT};
    pub use super::lookup::split_sub_array;
    pub use super::model::LARGEST;
    pub use super::number_cast::NumberCast;
    pub use super::storage::Leaf;
    pub use crate::number::Primitive;

    /// The items used by the code that `#[derive(Element)]` generates.
    pub mod record {
        pub use crate::data_type::record::*;
    }
}
