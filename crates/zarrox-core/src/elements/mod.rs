//! The Rust types into which elements are read, and from which they are written.
//!
//! | trait | types |
//! |---|---|
//! | [`FromElement`], [`ToElement`] | one element: numbers, structs, strings, times, optional values |
//! | [`FromElements`] | the result of a read: `ndarray`'s arrays, vectors |
//! | [`IntoElements`] | the argument of a write: arrays, views, vectors, slices, and single values |
//! | [`ElementsMut`] | the destination of a read |

mod fixed;
mod from_element;
mod from_elements;
mod in_place;
mod into_elements;
mod list;
mod memory;
mod memory_mut;
mod object;
mod optional;
mod scalar;
mod text;
#[cfg(any(test, feature = "chrono", feature = "jiff"))]
mod time;

pub use from_element::{Decode, Encode, FromElement, ToElement};
pub use from_elements::{FromElements, Source};
pub use in_place::InPlace;
pub use into_elements::{Elements, IntoElements, Target};
pub use memory::reserved;
pub use memory_mut::{ElementsMut, Slot};
pub use scalar::{exact_element, scalar};

use crate::data_type::DataType;
use crate::error::{Error, ErrorKind};

/// Returns the error for a Rust type that cannot hold the elements of a data type.
fn mismatch(data_type: &DataType, name: &str) -> Error {
    Error::new(ErrorKind::DataTypeMismatch, format!("the elements are {data_type}, not {name}"))
}

/// Returns the error for elements that exceed the address space.
pub(crate) fn too_many() -> Error {
    Error::new(ErrorKind::LimitExceeded, "the elements exceed the address space of this machine")
}

/// Formats the index of the n-th element of an array of this shape in row-major order, for errors.
pub fn place(shape: &[usize], mut index: usize) -> String {
    let mut position: Vec<usize> = shape.to_vec();
    for length in position.iter_mut().rev() {
        let count = (*length).max(1);
        (*length, index) = (index % count, index / count);
    }
    if position.is_empty() { "the element".to_owned() } else { format!("element {position:?}") }
}
