//! Converts HDF5 elements to Zarr elements, and resolves references.

use std::collections::HashMap;
use std::sync::Arc;

use zarrox::data_type::Endian;
use zarrox::internals::data_type::ByteOrder;
use zarrox::json::Json;
use zarrox::{DynArray, Error, ErrorKind, FillValue, Result};

use super::format::{Address, File};
use super::text::{lenient, terminated};
use super::types::{Form, Mapped, Piece};
use crate::input::{corrupt, reserved};

/// The maximum total size in bytes of the strings in one chunk, so that many references to the same string cannot exhaust memory.
const MOST_TEXT: usize = 1 << 30;

/// The parts of a file that values may refer to.
#[derive(Debug, Clone)]
pub(super) struct Heap {
    pub(super) file: File,
    /// The paths of nodes by address.
    pub(super) paths: Arc<HashMap<Address, String>>,
}

impl Heap {
    /// Returns the bytes of a variable-length value. `reference` contains the number of elements and their location in
    /// the global heap.
    pub(super) fn sequence(&self, reference: &[u8], item: usize) -> Result<Vec<u8>> {
        let damaged = || corrupt("a reference to an element of variable length is truncated");
        let (count, rest) = reference.split_first_chunk::<4>().ok_or_else(damaged)?;
        let (address, rest) = rest.split_at_checked(self.file.offset_size()).ok_or_else(damaged)?;
        let index = rest.first_chunk::<4>().ok_or_else(damaged)?;
        let count = u32::from_le_bytes(*count) as usize;
        let address = little(address);
        if count == 0 || address == 0 {
            return Ok(Vec::new());
        }
        let mut bytes = self.file.global(address, u32::from_le_bytes(*index))?;
        let size = count.checked_mul(item).filter(|&size| size <= bytes.len()).ok_or_else(|| {
            corrupt(format!(
                "{count} elements of {item} bytes do not fit into a heap object of {} bytes",
                bytes.len()
            ))
        })?;
        bytes.truncate(size);
        Ok(bytes)
    }

    /// Returns the string that a reference points to.
    pub(super) fn text(&self, reference: &[u8]) -> Result<Vec<u8>> {
        let text = terminated(self.sequence(reference, 1)?);
        Ok(if std::str::from_utf8(&text).is_ok() { text } else { lenient(&text).into_bytes() })
    }

    /// Returns the path of the object that a reference points to. The path is empty for a null reference, and consists of
    /// `unlinked:` and the address for an object without a link.
    pub(super) fn path(&self, reference: &[u8]) -> String {
        let reference = reference.get(..self.file.offset_size()).unwrap_or(reference);
        let address = little(reference);
        if address == 0 || reference.iter().all(|&byte| byte == 0xff) {
            return String::new();
        }
        self.paths.get(&address).cloned().unwrap_or_else(|| format!("unlinked:{address}"))
    }

    /// Converts stored elements to a Zarr array of the given shape.
    pub(super) fn elements(&self, mapped: &Mapped, shape: Vec<usize>, bytes: Vec<u8>) -> Result<DynArray> {
        let data_type = mapped.data_type.clone();
        match &mapped.form {
            Form::Same(endian) => DynArray::from_foreign(
                data_type,
                shape,
                bytes,
                &ByteOrder::One(*endian),
                zarrox::Order::RowMajor,
            ),
            Form::Pieces(pieces) => {
                let packed = packed(pieces, &bytes, mapped.item)?;
                DynArray::from_foreign(
                    data_type,
                    shape,
                    packed,
                    &ByteOrder::One(Endian::Little),
                    zarrox::Order::RowMajor,
                )
            }
            Form::Text => self.texts(mapped, shape, &bytes, |reference| self.text(reference)),
            Form::Lists(pieces, size) => self.texts(mapped, shape, &bytes, |reference| {
                packed(pieces, &self.sequence(reference, *size)?, *size)
            }),
            Form::Paths => {
                self.texts(mapped, shape, &bytes, |reference| Ok(self.path(reference).into_bytes()))
            }
        }
    }

    fn texts(
        &self,
        mapped: &Mapped,
        shape: Vec<usize>,
        bytes: &[u8],
        text: impl Fn(&[u8]) -> Result<Vec<u8>>,
    ) -> Result<DynArray> {
        let mut texts = Vec::with_capacity(bytes.len() / mapped.item.max(1));
        let mut total = 0_usize;
        for reference in bytes.chunks_exact(mapped.item.max(1)) {
            let text = text(reference)?;
            total = total.saturating_add(text.len());
            if total > MOST_TEXT {
                let message = "the texts of one chunk take more than 1 GiB";
                return Err(Error::new(ErrorKind::LimitExceeded, message));
            }
            texts.push(text);
        }
        DynArray::from_elements(mapped.data_type.clone(), shape, texts)
    }

    /// Returns the fill value as JSON; `None` for an array-typed element whose items differ, which a Zarr fill value
    /// cannot represent.
    pub(super) fn fill(&self, mapped: &Mapped, bytes: &[u8]) -> Result<Option<Json>> {
        let inner =
            mapped.inner.iter().try_fold(mapped.item as u64, |size, &length| size.checked_mul(length));
        if inner != Some(bytes.len() as u64) {
            return Err(corrupt("the fill value does not have the size of an element"));
        }
        let mut parts = bytes.chunks_exact(mapped.item.max(1));
        let Some(first) = parts.next() else { return Ok(None) };
        if parts.any(|part| part != first) {
            return Ok(None);
        }
        let element = self.elements(mapped, vec![], first.to_vec())?;
        let registry = zarrox::codecs::registry();
        let fill = FillValue::new(element.elements().next().unwrap_or_default());
        Ok(Some(registry.family(&mapped.data_type)?.fill_to_v3(&mapped.data_type, &fill)))
    }
}

/// Converts the pieces of elements of `item` bytes into contiguous memory.
fn packed(pieces: &[Piece], bytes: &[u8], item: usize) -> Result<Vec<u8>> {
    let size: usize = pieces.iter().map(|piece| piece.size).sum();
    let count = bytes.len() / item.max(1);
    let mut packed = reserved(count.saturating_mul(size))?;
    for element in bytes.chunks_exact(item.max(1)) {
        pieces.iter().for_each(|piece| piece.append(element, &mut packed));
    }
    Ok(packed)
}

/// Decodes a little-endian integer of at most 8 bytes.
pub(super) fn little(bytes: &[u8]) -> u64 {
    let mut wide = [0; 8];
    wide.iter_mut().zip(bytes).for_each(|(to, &from)| *to = from);
    u64::from_le_bytes(wide)
}
