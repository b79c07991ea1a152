//! Reads and writes variable-length strings and bytes.

use zarrox::data_type::Storage;
use zarrox::internals::argument;
use zarrox::{DynArray, Error, ErrorKind, Result};

use crate::arguments::{OutPointer, list};
use crate::block::{Block, zarrox_string};
use crate::cancel::{OpenArray, with_array};
use crate::element_type::ElementType;
use crate::region::{Part, zarrox_region};
use crate::status::guard;
use crate::table::zarrox_node;

/// Reads text or bytes of a region, in row-major order: elements of variable length, and text of fixed length without its
/// padding. `strings` becomes a table of `count` entries, followed by the bytes of the entries. The caller frees all of
/// it by a single `zarrox_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zarrox_read_strings(
    node: zarrox_node,
    region: *const zarrox_region,
    strings: *mut *mut zarrox_string,
    count: *mut usize,
) -> i32 {
    guard(|| {
        // SAFETY: the caller guarantees it.
        let (strings, count) =
            unsafe { (OutPointer::new(strings, "strings")?, OutPointer::new(count, "count")?) };
        with_array(node, |array| {
            // SAFETY: the caller guarantees it.
            let part = unsafe { Part::new(region, array.shape()) }?;
            let (table, length) = with_strings(array, &part, returned)?;
            strings.set(table);
            count.set(length);
            Ok(())
        })
    })
}

/// Writes text or bytes to a region, in row-major order. `count` must be the number of elements of the region.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zarrox_write_strings(
    node: zarrox_node,
    region: *const zarrox_region,
    strings: *const zarrox_string,
    count: usize,
) -> i32 {
    guard(|| {
        with_array(node, |array| {
            // SAFETY: the caller guarantees it.
            let part = unsafe { Part::new(region, array.shape()) }?;
            if part.len()? != count {
                return Err(argument(format!(
                    "the region has {} elements, but there are {count} strings",
                    part.len()?
                )));
            }
            // SAFETY: the caller guarantees it.
            let strings = unsafe { list(strings, count, "strings") }?;
            // SAFETY: the caller guarantees it for each string.
            let bytes =
                strings.iter().map(|string| unsafe { list(string.data.cast::<u8>(), string.length, "data") });
            let bytes = bytes.collect::<Result<Vec<&[u8]>>>()?;
            write(array, &part, &bytes)
        })
    })
}

fn write(array: &OpenArray<'_>, part: &Part, bytes: &[&[u8]]) -> Result<()> {
    let data_type = array.data_type();
    let kind = ElementType::of(data_type);
    if kind == ElementType::Bytes {
        let values = DynArray::from_elements(data_type.clone(), part.shape.clone(), bytes)?;
        return array.with(part, |view| view.write(&values));
    }
    let utf8 = |(index, bytes): (usize, &&[u8])| {
        let text = std::str::from_utf8(bytes)
            .map_err(|error| argument(format!("string {index} is not UTF-8: {error}")))?;
        Ok(text.to_owned())
    };
    let texts = bytes.iter().enumerate().map(utf8).collect::<Result<Vec<String>>>()?;
    let values = DynArray::from_values(data_type.clone(), texts)?;
    let values = DynArray::from_elements(data_type.clone(), part.shape.clone(), values.elements())?;
    array.with(part, |view| view.write(&values))
}

/// Calls `work` with the bytes of each string of a region.
pub(crate) fn with_strings<R>(
    array: &OpenArray<'_>,
    part: &Part,
    work: impl FnOnce(&[&[u8]]) -> Result<R>,
) -> Result<R> {
    let storage = array.data_type().storage();
    if storage == Storage::Variable {
        let elements = array.with(part, |view| view.read::<DynArray>())?;
        let bytes: Vec<&[u8]> = elements.elements().collect();
        return work(&bytes);
    }
    if !matches!(storage, Storage::Utf32(_) | Storage::Raw(_)) {
        let message =
            format!("elements of {} are not text: use zarrox_read and zarrox_write", array.data_type());
        return Err(Error::new(ErrorKind::DataTypeMismatch, message));
    }
    let texts = array.with(part, |view| view.read::<Vec<String>>())?;
    let bytes: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
    work(&bytes)
}

/// Returns a table of strings that the caller frees, and its length.
fn returned(strings: &[&[u8]]) -> Result<(*mut zarrox_string, usize)> {
    let mut block = Block::<zarrox_string>::new(strings.len(), strings.iter().map(|bytes| bytes.len()))?;
    for bytes in strings {
        let data = block.add_text(bytes);
        block.add_entry(zarrox_string { data, length: bytes.len() });
    }
    Ok((block.into_raw(), strings.len()))
}
