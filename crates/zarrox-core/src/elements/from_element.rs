//! The Rust types of single elements.

use super::InPlace;
use crate::data_type::DataType;
use crate::error::Result;

/// Decodes one element from its bytes in memory, which are in native byte order.
pub type Decode<T> = Box<dyn Fn(&[u8]) -> Result<T>>;

/// Appends the bytes of one element, in native byte order.
pub type Encode<T> = Box<dyn Fn(&T, &mut Vec<u8>) -> Result<()>>;

/// A Rust type as which elements of an array can be read.
///
/// | Rust | elements |
/// |---|---|
/// | numbers, `bool`, structs with `#[derive(Element)]`: [`Element`](crate::Element) | elements of the same data type |
/// | `String` | strings of fixed or variable length, and byte strings that are UTF-8 |
/// | `Vec<u8>` | byte strings of fixed or variable length |
/// | `Vec<T>` of numbers | arrays of numbers (`vlen-array`) |
/// | `Option<T>` | optional elements (`zarrs.optional`), and times, with `None` for NaT |
/// | types of `chrono` and `jiff`, with the features of the same names | `numpy.datetime64`, `numpy.timedelta64` |
/// | [`Json`](crate::json::Json) | Python objects (`json2`, `msgpack2`) |
#[diagnostic::on_unimplemented(
    message = "elements of an array cannot be read as `{Self}`",
    note = "structs become elements by `#[derive(Element)]`; text is read as `String`, times as the types of the features `chrono` and `jiff`"
)]
pub trait FromElement: Clone {
    /// Returns the function that decodes the elements of a data type.
    ///
    /// # Errors
    /// [`ErrorKind::DataTypeMismatch`](crate::ErrorKind::DataTypeMismatch) when this Rust type cannot hold elements of the data
    /// type.
    fn decoder(data_type: &DataType) -> Result<Decode<Self>>;

    /// Returns an error if this Rust type cannot hold elements of a data type.
    #[doc(hidden)]
    fn check(data_type: &DataType) -> Result<()> {
        Self::decoder(data_type).map(drop)
    }

    /// Returns true if an element is the missing value of its data type, which `Option` reads as `None`.
    fn is_missing(_data_type: &DataType, _element: &[u8]) -> bool {
        false
    }

    /// Returns the means to access memory directly, if elements have the memory layout of this Rust type.
    #[doc(hidden)]
    fn in_place() -> Option<InPlace<Self>> {
        None
    }
}

/// A Rust type that can be written as an element of an array: the types of [`FromElement`], and `&str`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be written as an element of an array",
    note = "structs become elements by `#[derive(Element)]`; text is written from `String` and `&str`; nested arrays by `arr2`"
)]
pub trait ToElement: Sized {
    /// Returns the function that encodes values as elements of a data type.
    ///
    /// # Errors
    /// [`ErrorKind::DataTypeMismatch`](crate::ErrorKind::DataTypeMismatch) when the data type cannot hold values of this Rust
    /// type.
    fn encoder(data_type: &DataType) -> Result<Encode<Self>>;

    /// Returns an error if the data type cannot hold values of this Rust type.
    #[doc(hidden)]
    fn check(data_type: &DataType) -> Result<()> {
        Self::encoder(data_type).map(drop)
    }

    /// Returns the bytes of the data type's missing value, which is written for a value of `None`.
    fn missing(_data_type: &DataType) -> Option<Vec<u8>> {
        None
    }

    /// Returns the means to access memory directly, if elements have the memory layout of this Rust type.
    #[doc(hidden)]
    fn in_place() -> Option<InPlace<Self>> {
        None
    }
}
