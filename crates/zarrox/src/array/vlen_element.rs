//! Rust types for elements of variable length.

use ndarray::ArrayView1;
use zarrox_core::data_type::{VARIABLE_BYTES, VARIABLE_TEXT};
use zarrox_core::json::Json;
use zarrox_core::{DataType, Element, Error, ErrorKind, Result, msgpack};

use super::DynArray;
use super::ndarrays::view_of;

/// A Rust type for elements of variable length.
///
/// | Rust | elements |
/// |---|---|
/// | `String` | text: v3's `string`, v2's with `vlen-utf8` or `categorize` |
/// | `Vec<u8>` | bytes: v3's `bytes`, v2's with `vlen-bytes` |
/// | `Vec<T>` of numbers | arrays of numbers: v2's with `vlen-array` |
/// | `Option` of these | optional elements of these types: v3's `zarrs.optional` |
/// | `Json` | Python objects: v2's with `json2` or `msgpack2` |
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the type of array elements of variable length",
    note = "text is read as `String`, bytes as `Vec<u8>`; numbers and other elements of a fixed size are read by `read`"
)]
pub trait VlenElement: Sized {
    /// Returns true if elements of this data type can be read as this Rust type.
    fn holds(data_type: &DataType) -> bool;

    /// The name of this Rust type in errors.
    fn name() -> String;

    /// Creates the value of an element of this data type.
    ///
    /// # Errors
    /// When the bytes are not valid for the data type, or the Rust type cannot represent the value.
    fn from_element(element: &[u8]) -> Result<Self>;

    /// Appends the bytes of the element.
    ///
    /// # Errors
    /// When the value is too large for an element.
    fn append_to(&self, bytes: &mut Vec<u8>) -> Result<()>;
}

impl VlenElement for String {
    fn holds(data_type: &DataType) -> bool {
        data_type.is_named(VARIABLE_TEXT)
    }

    fn name() -> String {
        "text".to_owned()
    }

    fn from_element(element: &[u8]) -> Result<Self> {
        let text = std::str::from_utf8(element);
        text.map(str::to_owned)
            .map_err(|error| Error::new(ErrorKind::Corrupt, "an element is not UTF-8").with_source(error))
    }

    fn append_to(&self, bytes: &mut Vec<u8>) -> Result<()> {
        bytes.extend_from_slice(self.as_bytes());
        Ok(())
    }
}

impl<T: VlenElement> VlenElement for Option<T> {
    fn holds(data_type: &DataType) -> bool {
        data_type.optional_value().is_some_and(|value| T::holds(&value))
    }

    fn name() -> String {
        format!("optional {}", T::name())
    }

    fn from_element(element: &[u8]) -> Result<Self> {
        let value = element.split_first().filter(|(present, _)| **present != 0);
        value.map(|(_, value)| T::from_element(value)).transpose()
    }

    fn append_to(&self, bytes: &mut Vec<u8>) -> Result<()> {
        let Some(value) = self else { return Ok(()) };
        bytes.push(1);
        value.append_to(bytes)
    }
}

impl<T: Element> VlenElement for Vec<T> {
    fn holds(data_type: &DataType) -> bool {
        let bytes = data_type.is_named(VARIABLE_BYTES) && T::data_type() == DataType::UInt8;
        bytes || data_type.vlen_item().is_some_and(|item| T::holds(&item))
    }

    fn name() -> String {
        format!("lists of {}", T::data_type())
    }

    fn from_element(element: &[u8]) -> Result<Self> {
        if !element.len().is_multiple_of(size_of::<T>()) {
            let message = format!("{} bytes are not an array of {}", element.len(), T::data_type());
            return Err(Error::new(ErrorKind::Corrupt, message));
        }
        let shape = vec![element.len() / size_of::<T>()];
        let numbers = DynArray::new(T::data_type(), shape, element.to_vec())?.to_typed::<T>()?;
        Ok(numbers.into_raw_vec_and_offset().0)
    }

    fn append_to(&self, bytes: &mut Vec<u8>) -> Result<()> {
        view_of(&ArrayView1::from(self)).append_to(bytes, 1);
        Ok(())
    }
}

impl VlenElement for Json {
    fn holds(data_type: &DataType) -> bool {
        *data_type == DataType::object()
    }

    fn name() -> String {
        "objects".to_owned()
    }

    fn from_element(element: &[u8]) -> Result<Self> {
        Ok(msgpack::to_json(element)?)
    }

    fn append_to(&self, bytes: &mut Vec<u8>) -> Result<()> {
        Ok(msgpack::from_json(self, bytes)?)
    }
}
