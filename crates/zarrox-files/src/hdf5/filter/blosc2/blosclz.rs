//! BloscLZ, the compressor of Blosc itself.

use zarrox::Result;

use crate::input::corrupt;

/// The distances that fit into 13 bits.
const NEAR: usize = 8191;

/// Decodes bytes that fill `out`.
pub(super) fn decode_into(bytes: &[u8], out: &mut [u8]) -> Result<()> {
    decode(bytes, out)
        .filter(|&length| length == out.len())
        .map(|_| ())
        .ok_or_else(|| corrupt("a chunk compressed with BloscLZ is damaged"))
}

/// Decodes into the front of `out`, and returns the number of bytes; `None` if they are damaged or do not fit.
fn decode(bytes: &[u8], out: &mut [u8]) -> Option<usize> {
    let mut bytes = bytes.iter().as_slice();
    let mut length = 0;
    let mut mask = 31;
    while let Some((&control, rest)) = bytes.split_first() {
        bytes = rest;
        // The first control begins with the level.
        let control = usize::from(control) & mask;
        mask = 255;
        if control < 32 {
            let (literal, rest) = bytes.split_at_checked(control + 1)?;
            bytes = rest;
            out.get_mut(length..length + literal.len())?.copy_from_slice(literal);
            length += literal.len();
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
        let start = length.checked_sub(distance)?;
        let end = length.checked_add(repeated).filter(|&end| end <= out.len())?;
        while length < end {
            // All bytes from the start on repeat themselves, so that more can be copied each time.
            let part = (end - length).min(length - start);
            out.copy_within(start..start + part, length);
            length += part;
        }
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
