//! LZF, h5py's own filter. It is here since no library that is kept up has it.

use zarrox::Result;

use super::given::Given;
use super::undo::Undo;
use crate::hdf5::format::Filter;
use crate::input::corrupt;

#[derive(Debug)]
struct Lzf;

pub(super) fn create(_: &Filter) -> Result<Box<dyn Undo>> {
    Ok(Box::new(Lzf))
}

impl Undo for Lzf {
    fn undo(&self, bytes: Vec<u8>, given: Given) -> Result<Vec<u8>> {
        let most = given.size.unwrap_or(given.limit);
        decode(&bytes, most)
            .filter(|decoded| given.size.is_none_or(|size| size == decoded.len()))
            .ok_or_else(|| corrupt(format!("a chunk of {most} bytes compressed with LZF is damaged")))
    }
}

/// Returns the decoded bytes; `None` if they are damaged, or more than `most`.
fn decode(bytes: &[u8], most: usize) -> Option<Vec<u8>> {
    let mut decoded = Vec::new();
    decoded.try_reserve_exact(most).ok()?;
    let mut bytes = bytes;
    while let Some((&control, rest)) = bytes.split_first() {
        let control = usize::from(control);
        if control < 32 {
            let (literal, rest) = rest.split_at_checked(control + 1)?;
            bytes = rest;
            if decoded.len() + literal.len() > most {
                return None;
            }
            decoded.extend_from_slice(literal);
            continue;
        }
        let (mut length, mut rest) = (control >> 5, rest);
        if length == 7 {
            let (&more, behind) = rest.split_first()?;
            length += usize::from(more);
            rest = behind;
        }
        let (&low, rest) = rest.split_first()?;
        bytes = rest;
        let distance = ((control & 31) << 8 | usize::from(low)) + 1;
        if decoded.len() + length + 2 > most {
            return None;
        }
        repeat(&mut decoded, distance, length + 2)?;
    }
    Some(decoded)
}

/// Appends `length` bytes from `distance` bytes before the end, which may overlap with what is appended.
pub(super) fn repeat(decoded: &mut Vec<u8>, distance: usize, length: usize) -> Option<()> {
    let start = decoded.len().checked_sub(distance)?;
    let mut left = length;
    while left > 0 {
        // All bytes from the start on repeat themselves, so that more can be copied each time.
        let part = left.min(decoded.len() - start);
        if part == 0 {
            return None;
        }
        decoded.extend_from_within(start..start + part);
        left -= part;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_bytes_are_an_error() {
        assert_eq!(decode(&[1, b'a', b'b', 0x20, 1], 5).unwrap(), b"ababa");
        for damaged in [&[5, 1][..], &[0x20, 0], &[0xe0], &[0, 1, 0xe0, 255, 0]] {
            assert!(decode(damaged, 4).is_none(), "{damaged:?}");
        }
    }
}
