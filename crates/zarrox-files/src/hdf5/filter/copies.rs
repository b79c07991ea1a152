//! The two kinds of copies in LZ decoders: literals, and matches, which repeat bytes already decoded.
//!
//! Most copies are only a few bytes long. If the buffer has room, a whole block of constant size is copied instead, which
//! needs no function call.

/// The size in bytes of a block for literals.
const LITERALS: usize = 32;

/// The size in bytes of a block for matches.
const REPEATED: usize = 16;

/// Copies the first `length` bytes of `bytes` to position `at` of `out`, and returns the rest of `bytes`; `None` if
/// `bytes` is too short, or if the copy does not fit. Bytes after the copy may also be overwritten.
#[inline]
pub(super) fn literal<'b>(bytes: &'b [u8], length: usize, out: &mut [u8], at: usize) -> Option<&'b [u8]> {
    if length <= LITERALS
        && let (Some(from), Some(to)) = (bytes.get(..LITERALS), out.get_mut(at..at + LITERALS))
    {
        to.copy_from_slice(from);
        return bytes.get(length..);
    }
    let (literal, rest) = bytes.split_at_checked(length)?;
    out.get_mut(at..)?.get_mut(..length)?.copy_from_slice(literal);
    Some(rest)
}

/// Copies `length` bytes within `out` to position `at`, from `distance` bytes before it. The ranges may overlap. Returns
/// `None` if the copy does not fit. Bytes after the copy may also be overwritten.
#[inline]
pub(super) fn repeat(out: &mut [u8], at: usize, distance: usize, length: usize) -> Option<()> {
    let start = at.checked_sub(distance).filter(|_| distance > 0)?;
    let end = at.checked_add(length).filter(|&end| end <= out.len())?;
    // Each block is read completely before it is written, so overlapping blocks are copied correctly as long as the match
    // does not overlap itself.
    if distance >= length.min(REPEATED) && out.len() - end >= REPEATED {
        for done in (0..length).step_by(REPEATED) {
            out.copy_within(start + done..start + done + REPEATED, at + done);
        }
        return Some(());
    }
    let mut at = at;
    while at < end {
        // The bytes from `start` on are periodic, so each step can copy more bytes than the previous one.
        let part = (end - at).min(at - start);
        out.copy_within(start..start + part, at);
        at += part;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_those_of_single_bytes() {
        for (distance, length, room) in
            (1..40).flat_map(|d| (0..70).flat_map(move |l| [0, 1, 15, 16, 40].map(|r| (d, l, r))))
        {
            let mut out: Vec<u8> = (0..50).chain(std::iter::repeat_n(0, length + room)).collect();
            repeat(&mut out, 50, distance, length).unwrap();
            let mut right: Vec<u8> = (0..50).collect();
            (0..length).for_each(|_| right.push(right[right.len() - distance]));
            assert_eq!(out[..50 + length], right, "{distance} {length} {room}");
        }
        let bytes: Vec<u8> = (0..80).collect();
        for (length, room) in (0..70).flat_map(|length| [(length, 0), (length, 5), (length, 40)]) {
            let mut out = vec![0; 3 + length + room];
            assert_eq!(literal(&bytes, length, &mut out, 3).unwrap(), &bytes[length..]);
            assert_eq!(out[3..3 + length], bytes[..length]);
        }
    }

    #[test]
    fn copies_that_do_not_fit_are_refused() {
        let mut out = [0; 40];
        assert!(repeat(&mut out, 5, 6, 1).is_none() && repeat(&mut out, 5, 0, 1).is_none());
        assert!(repeat(&mut out, 30, 20, 11).is_none() && repeat(&mut out, 30, 20, usize::MAX).is_none());
        assert!(literal(&[1, 2], 3, &mut out, 0).is_none() && literal(&[0; 60], 5, &mut out, 36).is_none());
    }
}
