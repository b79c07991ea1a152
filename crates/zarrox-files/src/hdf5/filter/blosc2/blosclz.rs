//! BloscLZ, Blosc's own compressor.

use zarrox::Result;

use super::super::copies;
use crate::input::corrupt;

/// The largest match distance that fits into 13 bits.
const NEAR: usize = 8191;

/// Decodes bytes into `out`, which they must fill.
pub(super) fn decode_into(bytes: &[u8], out: &mut [u8]) -> Result<()> {
    decode(bytes, out)
        .filter(|&length| length == out.len())
        .map(|_| ())
        .ok_or_else(|| corrupt("a chunk compressed with BloscLZ is damaged"))
}

/// Decodes bytes into the start of `out`, and returns the number of decoded bytes; `None` if `bytes` are damaged or the
/// decoded bytes do not fit.
fn decode(bytes: &[u8], out: &mut [u8]) -> Option<usize> {
    let mut bytes = bytes.iter().as_slice();
    let mut length = 0;
    let mut mask = 31;
    while let Some((&control, rest)) = bytes.split_first() {
        bytes = rest;
        // The high bits of the first control byte are the compression level.
        let control = usize::from(control) & mask;
        mask = 255;
        if control < 32 {
            bytes = copies::literal(bytes, control + 1, out, length)?;
            length += control + 1;
            continue;
        }
        let mut next = || {
            let (&byte, rest) = bytes.split_first()?;
            bytes = rest;
            Some(usize::from(byte))
        };
        let mut repeated = (control >> 5) + 2;
        if control >> 5 == 7 {
            loop {
                let more = next()?;
                repeated += more;
                if more < 255 {
                    break;
                }
            }
        }
        let (high, low) = (control & 31, next()?);
        let distance = match (high, low) {
            (31, 255) => (next()? << 8 | next()?) + NEAR + 1,
            _ => (high << 8 | low) + 1,
        };
        copies::repeat(out, length, distance, repeated)?;
        length += repeated;
    }
    Some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_repeat_what_is_before_them() {
        let mut out = [0; 9];
        decode_into(&[1, b'a', b'b', 0xa0, 1], &mut out).unwrap();
        assert_eq!(&out, b"ababababa");
        for damaged in [
            &[1, b'a', b'b', 0xa0][..],
            &[1, b'a', b'b', 0xa0, 2],
            &[1, b'a'],
            &[1, b'a', b'b', 0xe0, 9, 1],
            &[],
        ] {
            assert!(decode_into(damaged, &mut out).is_err(), "{damaged:?}");
        }
    }
}
