//! LZF, h5py's own filter. It is implemented here because no maintained crate implements it.

use zarrox::Result;

use super::copies;
use super::given::Given;
use super::undo::Undo;
use crate::hdf5::format::Filter;
use crate::input::{corrupt, zeroed};

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

/// The number of spare bytes after the decoded bytes, so that every copy can use whole blocks.
const ROOM: usize = 64;

/// Decodes bytes; `None` if they are damaged or decode to more than `most` bytes.
fn decode(bytes: &[u8], most: usize) -> Option<Vec<u8>> {
    let mut out = zeroed(most.checked_add(ROOM)?).ok()?;
    let (mut bytes, mut at) = (bytes, 0);
    while let Some((&control, rest)) = bytes.split_first() {
        let control = usize::from(control);
        let length = if control < 32 {
            bytes = copies::literal(rest, control + 1, &mut out, at)?;
            control + 1
        } else {
            let (mut length, mut rest) = ((control >> 5) + 2, rest);
            if length == 9 {
                let (&more, behind) = rest.split_first()?;
                length += usize::from(more);
                rest = behind;
            }
            let (&low, rest) = rest.split_first()?;
            bytes = rest;
            copies::repeat(&mut out, at, ((control & 31) << 8 | usize::from(low)) + 1, length)?;
            length
        };
        at += length;
        if at > most {
            return None;
        }
    }
    out.truncate(at);
    Some(out)
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
