//! Names and strings. HDF5 stores them as bytes, and Zarr as Unicode.
//!
//! Strings are decoded as UTF-8 if they are valid, and otherwise as Latin-1, which old programs wrote. The declared
//! character set is ignored, since many programs declare ASCII for all strings.

use super::format::Padding;

/// Decodes bytes as UTF-8 if they are valid, and otherwise as Latin-1.
pub(super) fn lenient(bytes: &[u8]) -> String {
    crate::netcdf::text_of(bytes.to_vec())
}

/// Returns a fixed-length string without its padding, according to the rules of HDF5.
pub(super) fn unpadded(bytes: &[u8], padding: Padding) -> &[u8] {
    let end = match padding {
        Padding::NullTerminated => bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len()),
        Padding::NullPadded => bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1),
        Padding::SpacePadded => bytes.iter().rposition(|&byte| byte != b' ').map_or(0, |last| last + 1),
    };
    &bytes[..end]
}

/// Returns a variable-length string up to its first NUL, where C programs end it.
pub(super) fn terminated(mut bytes: Vec<u8>) -> Vec<u8> {
    if let Some(end) = bytes.iter().position(|&byte| byte == 0) {
        bytes.truncate(end);
    }
    bytes
}

/// Returns the reason why a link with the given name cannot be a Zarr node; `None` if it can.
pub(super) fn refused_name(name: &str) -> Option<&'static str> {
    const DOCUMENTS: [&str; 5] = ["zarr.json", ".zarray", ".zgroup", ".zattrs", ".zmetadata"];
    if name.is_empty() {
        return Some("a Zarr node needs a name");
    }
    if name.chars().all(|c| c == '.') {
        return Some("a Zarr name cannot consist of periods only");
    }
    if name.contains(['/', '\\', '\0']) {
        return Some("a Zarr name cannot contain a slash, a backslash or NUL");
    }
    if name.len() > 255 {
        return Some("a Zarr name has at most 255 bytes");
    }
    DOCUMENTS.contains(&name).then_some("it is the name of a Zarr metadata document")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_utf8_or_latin_1() {
        assert_eq!(lenient("größe".as_bytes()), "größe");
        assert_eq!(lenient(b"T (\xb0C)"), "T (°C)");
        assert_eq!(lenient(b""), "");
    }

    #[test]
    fn padding_is_that_of_the_type() {
        assert_eq!(unpadded(b"ab\0junk", Padding::NullTerminated), b"ab");
        assert_eq!(unpadded(b"ab\0cd\0\0", Padding::NullPadded), b"ab\0cd");
        assert_eq!(unpadded(b"ab  ", Padding::SpacePadded), b"ab");
        assert_eq!(unpadded(b"\0\0", Padding::NullTerminated), b"");
        assert_eq!(terminated(b"ab\0c".to_vec()), b"ab");
    }

    #[test]
    fn names_that_no_key_has_are_refused() {
        for name in ["", ".", "..", "a\\b", "a\0", "zarr.json", &"x".repeat(256)] {
            assert!(refused_name(name).is_some(), "{name}");
        }
        for name in ["a", ".a", "a b", "__x", "ä", "c", "x.zarray"] {
            assert!(refused_name(name).is_none(), "{name}");
        }
    }
}
