//! Reads integers at any position in a byte slice.

use zarrox::Result;

use crate::input::corrupt;

fn cut() -> zarrox::Error {
    corrupt("a chunk compressed with Blosc2 is truncated")
}

/// Returns `length` bytes at a position.
pub(super) fn slice(bytes: &[u8], at: usize, length: usize) -> Result<&[u8]> {
    at.checked_add(length).and_then(|end| bytes.get(at..end)).ok_or_else(cut)
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N]> {
    slice(bytes, at, N)?.first_chunk().copied().ok_or_else(cut)
}

/// Returns the byte at a position.
pub(super) fn byte(bytes: &[u8], at: usize) -> Result<u8> {
    bytes.get(at).copied().ok_or_else(cut)
}

/// Returns the signed little-endian integer at a position.
pub(super) fn little(bytes: &[u8], at: usize) -> Result<i32> {
    array(bytes, at).map(i32::from_le_bytes)
}

/// Returns a size in bytes, stored as a little-endian integer.
pub(super) fn little_size(bytes: &[u8], at: usize) -> Result<usize> {
    usize::try_from(little(bytes, at)?).map_err(|_| corrupt("a length in a Blosc2 chunk is negative"))
}

/// Returns a size in bytes, stored in `MessagePack` format: a type byte, then a big-endian integer of 2, 4 or 8 bytes.
pub(super) fn big_size(bytes: &[u8], at: usize, class: u8) -> Result<usize> {
    let value = match (byte(bytes, at)?, class) {
        (0xcd, 0xcd) => Some(i64::from(u16::from_be_bytes(array(bytes, at + 1)?))),
        (0xde, 0xde) => Some(i64::from(u16::from_be_bytes(array(bytes, at + 1)?))),
        (0xd2, 0xd2) | (0xc6, 0xc6) => Some(i64::from(i32::from_be_bytes(array(bytes, at + 1)?))),
        (0xd3, 0xd3) | (0xcf, 0xcf) => Some(i64::from_be_bytes(array(bytes, at + 1)?)),
        _ => None,
    };
    let value = value.and_then(|value| usize::try_from(value).ok());
    value.ok_or_else(|| corrupt(format!("a Blosc2 frame has an invalid number at byte {at}")))
}
