//! Fixed-size elements with the memory layout of a Rust type.

use super::scalar::suffix;
use super::{Decode, Encode, FromElement, InPlace, ToElement, mismatch};
use crate::data_type::{DataType, Element};
use crate::error::{Error, ErrorKind, Result};
use crate::strided::{View, ViewMut};

fn check<T: Element>(data_type: &DataType) -> Result<()> {
    if T::holds(data_type) { Ok(()) } else { Err(mismatch(data_type, &T::data_type().to_string())) }
}

/// Returns an error for values of another type. Literals are `i32` and `f64` unless they have a suffix.
fn check_given<T: Element>(data_type: &DataType) -> Result<()> {
    check::<T>(data_type).map_err(|error| match (suffix(data_type), T::data_type()) {
        (Some(suffix), DataType::Int32 | DataType::Float64) => {
            let message = format!("{}; write literals with the suffix `_{suffix}`", error.message());
            Error::new(error.kind(), message)
        }
        _ => error,
    })
}

impl<T: Element> FromElement for T {
    fn decoder(data_type: &DataType) -> Result<Decode<Self>> {
        check::<T>(data_type)?;
        let data_type = data_type.clone();
        Ok(Box::new(move |element| {
            let place = InPlace::<T>::new();
            let mut one = place.zeroed(1)?;
            let memory = place.bytes_mut(&mut one);
            if memory.len() != element.len() {
                let message = format!("{} bytes are not one element of {data_type}", element.len());
                return Err(Error::new(ErrorKind::Corrupt, message));
            }
            memory.copy_from_slice(element);
            data_type.normalise(&mut ViewMut::contiguous(memory, &[1], element.len()));
            Ok(one[0])
        }))
    }

    fn check(data_type: &DataType) -> Result<()> {
        check::<T>(data_type)
    }

    fn in_place() -> Option<InPlace<Self>> {
        Some(InPlace::new())
    }
}

impl<T: Element> ToElement for T {
    fn encoder(data_type: &DataType) -> Result<Encode<Self>> {
        check_given::<T>(data_type)?;
        let data_type = data_type.clone();
        Ok(Box::new(move |value, bytes| {
            let element = InPlace::<T>::new().bytes(std::slice::from_ref(value));
            data_type.check_range(&View::contiguous(element, &[1], element.len()))?;
            bytes.extend_from_slice(element);
            Ok(())
        }))
    }

    fn check(data_type: &DataType) -> Result<()> {
        check_given::<T>(data_type)
    }

    fn in_place() -> Option<InPlace<Self>> {
        Some(InPlace::new())
    }
}
