//! Integrity checks for JPEG images. They are needed because decoders fill missing pixels with grey.

use zarrox::Result;
use zune_jpeg::zune_core::options::DecoderOptions;

use crate::input::corrupt;

/// Returns decoder options that make damaged codes an error.
pub(crate) fn strict() -> DecoderOptions {
    DecoderOptions::default().set_strict_mode(true)
}

/// Returns an error if a JPEG has no end marker. Without it, the last rows may be missing, and decoders do not report this.
pub(crate) fn check_end(bytes: &[u8]) -> Result<()> {
    const END: u8 = 0xd9;
    const SCAN: u8 = 0xda;
    let mut rest = bytes;
    while let Some((marker, behind)) = next_marker(rest) {
        rest = match marker {
            END => return Ok(()),
            // Markers without a segment.
            0x01 | 0xd0..=0xd8 => behind,
            _ => {
                let size = behind.first_chunk().map_or(0, |&size| usize::from(u16::from_be_bytes(size)));
                let segment = behind.get(size.max(2)..).unwrap_or_default();
                if marker == SCAN { behind_codes(segment) } else { segment }
            }
        };
    }
    Err(corrupt("a JPEG is truncated: it has no end marker"))
}

/// Returns the next marker and the bytes after it.
fn next_marker(bytes: &[u8]) -> Option<(u8, &[u8])> {
    let start = bytes.iter().position(|&byte| byte == 0xff)?;
    let at = start + bytes[start..].iter().position(|&byte| byte != 0xff)?;
    Some((bytes[at], &bytes[at + 1..]))
}

/// Returns the bytes from the marker that ends the entropy-coded data of a scan onwards. Within the entropy-coded data,
/// 0xff is followed by 0, by 0xff, or by the number of a restart marker.
fn behind_codes(bytes: &[u8]) -> &[u8] {
    let ends = |pair: &[u8]| pair[0] == 0xff && !matches!(pair[1], 0 | 0xd0..=0xd7 | 0xff);
    bytes.windows(2).position(ends).map_or(&[], |at| &bytes[at..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jpeg_ends_behind_its_scans() {
        let whole = [
            &b"\xff\xd8\xff\xe1\0\x06\xff\xd8\xff\xd9"[..],
            b"\xff\xda\0\x03\x01codes\xff\0\xff\xd3more\xff\xff\xd9",
        ]
        .concat();
        check_end(&whole).unwrap();
        check_end(&[&whole[..], b"anything"].concat()).unwrap();
        for length in 0..whole.len() {
            assert!(check_end(&whole[..length]).is_err(), "{length}");
        }
    }
}
