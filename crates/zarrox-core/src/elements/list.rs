//! Byte strings and arrays of numbers as variable-length elements.

use super::{Decode, Encode, FromElement, InPlace, ToElement, mismatch};
use crate::data_type::{DataType, Element, VARIABLE_BYTES};
use crate::error::{Error, ErrorKind, Result};
use crate::strided::{View, ViewMut};

/// Returns the type of the items of a variable-length element, if the element is a list.
pub(super) fn item_type(data_type: &DataType) -> Option<DataType> {
    if data_type.is_named(VARIABLE_BYTES) { Some(DataType::UInt8) } else { data_type.vlen_item() }
}

/// Returns the type of the items of an element, if `Vec<T>` holds the elements.
fn item_of<T: Element>(data_type: &DataType) -> Result<DataType> {
    let item = item_type(data_type).filter(|item| T::holds(item));
    item.ok_or_else(|| mismatch(data_type, &format!("lists of {}", T::data_type())))
}

impl<T: Element> FromElement for Vec<T> {
    fn decoder(data_type: &DataType) -> Result<Decode<Self>> {
        let item = item_of::<T>(data_type)?;
        Ok(Box::new(move |element| {
            let count = element.len() / size_of::<T>();
            if count * size_of::<T>() != element.len() {
                let message = format!("{} bytes are not an array of {item}", element.len());
                return Err(Error::new(ErrorKind::Corrupt, message));
            }
            let place = InPlace::<T>::new();
            let mut items = place.zeroed(count)?;
            let memory = place.bytes_mut(&mut items);
            memory.copy_from_slice(element);
            item.normalise(&mut ViewMut::contiguous(memory, &[count], size_of::<T>()));
            Ok(items)
        }))
    }
}

/// Appends the bytes of one element.
fn encode<T: Element>(item: &DataType, items: &[T], bytes: &mut Vec<u8>) -> Result<()> {
    let memory = InPlace::<T>::new().bytes(items);
    item.check_range(&View::contiguous(memory, &[items.len()], size_of::<T>()))?;
    bytes.extend_from_slice(memory);
    Ok(())
}

impl<T: Element> ToElement for Vec<T> {
    fn encoder(data_type: &DataType) -> Result<Encode<Self>> {
        let item = item_of::<T>(data_type)?;
        Ok(Box::new(move |items, bytes| encode(&item, items, bytes)))
    }
}

impl<T: Element> ToElement for &[T] {
    fn encoder(data_type: &DataType) -> Result<Encode<Self>> {
        let item = item_of::<T>(data_type)?;
        Ok(Box::new(move |items, bytes| encode(&item, items, bytes)))
    }
}
