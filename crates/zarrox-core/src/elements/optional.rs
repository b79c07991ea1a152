//! Optional elements, and elements whose data type has a missing value.

use super::{Decode, Encode, FromElement, ToElement, mismatch};
use crate::data_type::{DataType, Storage};
use crate::error::Result;

fn refuse(data_type: &DataType) -> crate::Error {
    mismatch(data_type, "optional")
}

/// Elements of `zarrs.optional`, and elements whose data type has a missing value, such as NaT.
impl<T: FromElement + 'static> FromElement for Option<T> {
    fn decoder(data_type: &DataType) -> Result<Decode<Self>> {
        if let Some(value_type) = data_type.optional_value() {
            let decode = T::decoder(&value_type)?;
            return Ok(Box::new(move |element| {
                let value = element.split_first().filter(|(present, _)| **present != 0);
                value.map(|(_, value)| decode(value)).transpose()
            }));
        }
        let decode = T::decoder(data_type)?;
        let data_type = Some(data_type.clone()).filter(has_missing_value).ok_or_else(|| refuse(data_type))?;
        Ok(Box::new(
            move |element| {
                if T::is_missing(&data_type, element) { Ok(None) } else { decode(element).map(Some) }
            },
        ))
    }
}

impl<T: ToElement + 'static> ToElement for Option<T> {
    fn encoder(data_type: &DataType) -> Result<Encode<Self>> {
        if let Some(value_type) = data_type.optional_value() {
            let encode = T::encoder(&value_type)?;
            let size = if value_type.storage() == Storage::Variable { 0 } else { 1 + value_type.size() };
            return Ok(Box::new(move |value, bytes| match value {
                None => {
                    bytes.resize(bytes.len() + size, 0);
                    Ok(())
                }
                Some(value) => {
                    bytes.push(1);
                    encode(value, bytes)
                }
            }));
        }
        let encode = T::encoder(data_type)?;
        let missing = T::missing(data_type).ok_or_else(|| refuse(data_type))?;
        Ok(Box::new(move |value, bytes| match value {
            None => {
                bytes.extend_from_slice(&missing);
                Ok(())
            }
            Some(value) => encode(value, bytes),
        }))
    }
}

/// Returns true for times, which have NaT.
fn has_missing_value(data_type: &DataType) -> bool {
    data_type.time().is_some()
}
