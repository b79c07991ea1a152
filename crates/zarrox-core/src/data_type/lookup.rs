//! Lookup of data types in a registry, by their readable names and inside optional types.

use std::borrow::Borrow;
use std::str::FromStr;

use super::DataType;
use super::family::{object, optional, time};
use crate::error::{Error, Result};
use crate::json::Json;
use crate::registry::{CORE, Registry};

/// Parses the readable name of a type that every registry has. See [`DataType::parse`].
///
/// ```
/// use zarrox_core::DataType;
///
/// assert_eq!("string".parse::<DataType>()?, DataType::string());
/// assert_eq!("<f4".parse::<DataType>()?, DataType::Float32);
/// assert_eq!("U5".parse::<DataType>()?, DataType::fixed_length_utf32(5)?);
/// assert_eq!("S5".parse::<DataType>()?, DataType::null_terminated_bytes(5)?);
/// # Ok::<(), zarrox_core::Error>(())
/// ```
impl FromStr for DataType {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Self::parse(name, &CORE)
    }
}

impl DataType {
    /// Returns the optional type with values of this type.
    ///
    /// # Errors
    /// When the type is one that the program registered, or v3 does not have it.
    pub fn optional(value: impl Borrow<Self>) -> Result<Self> {
        optional::of(value.borrow(), &CORE)
    }

    /// Returns the type of the values of an optional type.
    pub fn optional_value(&self) -> Option<Self> {
        optional::value_of(self, &CORE)
    }

    /// Parses the readable name of a type: a v3 name (`float32`, `r24`), a v2 name (`<f4`, `|V3`), a NumPy name (`f4`, `M8[ns]`,
    /// `datetime64[ns]`), or zarr-python 2's name of an object type (`object`, `array:i4`).
    pub fn parse(name: &str, registry: &Registry) -> Result<Self> {
        if name == object::NAME {
            return Ok(Self::object());
        }
        if let Some(item) = name.strip_prefix("array:") {
            return Self::vlen_array(Self::parse(item, registry)?);
        }
        let v2 = |name: String| registry.data_type_from_v2(&Json::from(name)).map(|(data_type, _)| data_type);
        let v3 = || registry.data_type_from_v3(&Json::from(name));
        v2(name.to_owned()).or_else(|_| v3()).or_else(|error| {
            let name = time::type_string(name);
            let numpy = v2(format!("<{name}")).or_else(|_| v2(format!("|{name}")));
            numpy.map_err(|_| error)
        })
    }
}

/// Splits the name of a NumPy sub-array type, such as `(2, 3)f4`, into the shape and the name of the base type. The shape is
/// empty if the name has none. Zarr has no such elements: an array of sub-arrays is an array with more dimensions.
///
/// # Errors
/// When there are brackets without a shape.
pub fn split_sub_array(name: &str) -> Result<(Vec<u64>, &str)> {
    let Some((shape, inner)) = name.strip_prefix('(').and_then(|rest| rest.split_once(')')) else {
        return Ok((Vec::new(), name));
    };
    let lengths = shape.split(',').map(str::trim).filter(|length| !length.is_empty());
    let shape: Option<Vec<u64>> = lengths.map(|length| length.parse().ok().filter(|&n| n > 0)).collect();
    match shape.filter(|shape| !shape.is_empty()) {
        Some(shape) => Ok((shape, inner.trim())),
        None => Err(Error::argument(format!("'{name}' has no shape between its brackets"))),
    }
}
