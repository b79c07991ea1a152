//! PNG checksums. Decoders stop after the last element and do not verify the checksum that follows it.

use flate2::Crc;
use zarrox::Result;

use crate::input::corrupt;

/// The length in bytes of the PNG signature.
const SIGNATURE: usize = 8;

/// Returns an error if the checksum of a PNG chunk does not match, or if the last chunk is missing.
pub(crate) fn check(bytes: &[u8]) -> Result<()> {
    let mut rest = bytes.get(SIGNATURE..).unwrap_or_default();
    while let Some((kind, behind)) = checked(rest)? {
        if kind == *b"IEND" {
            return Ok(());
        }
        rest = behind;
    }
    Err(corrupt("a PNG is truncated: it has no end marker"))
}

/// Verifies the checksum of the first chunk. Returns its type and the bytes after it, or `None` if the chunk is truncated.
fn checked(bytes: &[u8]) -> Result<Option<([u8; 4], &[u8])>> {
    let Some((size, rest)) = bytes.split_first_chunk::<4>() else { return Ok(None) };
    let size = usize::try_from(u32::from_be_bytes(*size)).unwrap_or(usize::MAX);
    let Some((chunk, rest)) = rest.split_at_checked(size.saturating_add(4)) else { return Ok(None) };
    let (Some((kind, _)), Some((sum, behind))) = (chunk.split_first_chunk::<4>(), rest.split_first_chunk())
    else {
        return Ok(None);
    };
    let mut crc = Crc::new();
    crc.update(chunk);
    if crc.sum() != u32::from_be_bytes(*sum) {
        let kind = kind.escape_ascii();
        return Err(corrupt(format!("a PNG is damaged: the checksum of a {kind} chunk does not match")));
    }
    Ok(Some((*kind, behind)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_of_a_png_is_checked() {
        let chunk = |kind: &[u8], data: &[u8]| {
            let mut crc = Crc::new();
            crc.update(kind);
            crc.update(data);
            [&u32::try_from(data.len()).unwrap().to_be_bytes(), kind, data, &crc.sum().to_be_bytes()].concat()
        };
        let whole =
            [b"\x89PNG\r\n\x1a\n".to_vec(), chunk(b"IDAT", b"elements"), chunk(b"IEND", b"")].concat();
        check(&whole).unwrap();
        check(&[&whole[..], b"anything"].concat()).unwrap();
        for at in SIGNATURE..whole.len() {
            assert!(check(&whole[..at]).is_err(), "{at}");
            let mut changed = whole.clone();
            changed[at] ^= 1;
            assert!(check(&changed).is_err(), "{at}");
        }
    }
}
