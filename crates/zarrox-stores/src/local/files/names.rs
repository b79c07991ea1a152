//! Names that a system cannot store, and paths in the form that users know.

use std::borrow::Cow;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The prefix of paths that Windows takes literally, and that of such paths to network shares.
const VERBATIM: &str = r"\\?\";
const VERBATIM_SHARE: &str = r"\\?\UNC\";

/// Returns the absolute path without links. On Windows, it does not begin with `\\?\`: other programs do not expect this prefix,
/// and the standard library adds it to long paths.
pub(crate) fn canonicalize(path: &Path) -> io::Result<PathBuf> {
    let path = fs::canonicalize(path)?;
    Ok(match path.to_str() {
        Some(text) if cfg!(windows) => without_verbatim_prefix(text).into_owned().into(),
        _ => path,
    })
}

fn without_verbatim_prefix(path: &str) -> Cow<'_, str> {
    match (path.strip_prefix(VERBATIM_SHARE), path.strip_prefix(VERBATIM)) {
        (Some(share), _) => format!(r"\\{share}").into(),
        (None, Some(rest)) if rest.as_bytes().get(1) == Some(&b':') => rest.into(),
        _ => path.into(),
    }
}

/// The length of the longest name on the file systems of Windows.
#[cfg(any(not(unix), zarrox_portable_fs))]
const LONGEST: usize = 255;

/// Returns the reason why Windows cannot store a path of segments separated by `/`, or would store it under another name.
#[cfg(any(not(unix), zarrox_portable_fs))]
pub(super) fn refusal(path: &str) -> Option<String> {
    path.split('/').find_map(|segment| {
        let reason = reason(segment)?;
        Some(format!(
            "Windows cannot store the name '{}', {reason}; choose another name,",
            segment.escape_debug()
        ))
    })
}

#[cfg(any(not(unix), zarrox_portable_fs))]
fn reason(segment: &str) -> Option<&'static str> {
    if segment.contains(|c: char| c < ' ' || "<>:\"\\|?*".contains(c)) {
        return Some("since it contains a control character or one of <>:\"\\|?*");
    }
    if segment.encode_utf16().count() > LONGEST {
        return Some("since it is longer than 255 characters");
    }
    if segment.ends_with(['.', ' ']) {
        return Some("since it ends in a dot or a space");
    }
    is_device(segment).then_some("which it reserves for a device")
}

/// Returns true if a name means a device in each directory. A suffix does not change that.
#[cfg(any(not(unix), zarrox_portable_fs))]
fn is_device(segment: &str) -> bool {
    let stem = segment.split('.').next().unwrap_or_default().trim_end_matches(' ').to_ascii_lowercase();
    let numbered = stem.strip_prefix("com").or_else(|| stem.strip_prefix("lpt"));
    let is_number = |rest: &str| {
        let mut characters = rest.chars();
        matches!((characters.next(), characters.next()), (Some('0'..='9' | '¹' | '²' | '³'), None))
    };
    matches!(&*stem, "con" | "prn" | "aux" | "nul" | "conin$" | "conout$") || numbered.is_some_and(is_number)
}

/// Returns the existing path if it differs from the requested path only in upper and lower case. Both paths are absolute; the
/// existing path was reached without following links.
#[cfg(any(not(unix), zarrox_portable_fs))]
pub(super) fn in_other_case(wanted: &Path, existing: &Path) -> bool {
    let (Some(wanted), Some(existing)) = (wanted.to_str(), existing.to_str()) else { return false };
    let same = |one: char, other: char| one == other || one == '/' && other == '\\';
    let (mut wanted, mut existing) = (wanted.chars(), existing.chars());
    let mut differs = false;
    loop {
        match (wanted.next(), existing.next()) {
            (None, None) => return differs,
            (Some(one), Some(other)) if same(one, other) => {}
            (Some(one), Some(other)) if one.to_lowercase().eq(other.to_lowercase()) => differs = true,
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_see_paths_without_the_verbatim_prefix() {
        for (path, expected) in [
            (r"\\?\C:\data\x.zarr", r"C:\data\x.zarr"),
            (r"\\?\UNC\server\share\x", r"\\server\share\x"),
            (r"\\?\Volume{0}\x", r"\\?\Volume{0}\x"),
            (r"\\server\share", r"\\server\share"),
            ("/data/x.zarr", "/data/x.zarr"),
        ] {
            assert_eq!(without_verbatim_prefix(path), expected);
        }
    }

    #[cfg(any(not(unix), zarrox_portable_fs))]
    #[test]
    fn names_that_windows_cannot_store() {
        for name in [
            "con",
            "a/Aux/c",
            "nul.json",
            "COM1",
            "com¹",
            "lpt9.tar.gz",
            "prn ",
            "conin$",
            "a.",
            "a /b",
            "a:b",
            "<",
            "a>",
            "\"",
            "a|b",
            "what?",
            "*",
            "tab\t",
            "nul .txt",
        ] {
            assert!(refusal(name).is_some(), "{name}");
        }
        for name in
            ["", "a/c/0.0", ".zarray", "console", "com", "com10", "null", "a con", "ü/日本", "..a", "lptx"]
        {
            assert_eq!(refusal(name), None, "{name}");
        }
        assert!(refusal(&"n".repeat(256)).is_some());
        assert_eq!(refusal(&"n".repeat(255)), None);
        let refusal = refusal("a/Aux.json/c").unwrap();
        assert!(refusal.contains("'Aux.json'") && refusal.contains("device"), "{refusal}");
    }

    #[cfg(any(not(unix), zarrox_portable_fs))]
    #[test]
    fn names_that_differ_in_case_only() {
        for (wanted, existing, expected) in [
            ("/data/A/c", "/data/a/c", true),
            ("/data/Ä", "/data/ä", true),
            ("C:\\data/a/B", "C:\\data\\a\\b", true),
            ("C:\\data/a/b", "C:\\data\\a\\b", false),
            ("/data/a", "/data/b", false),
            ("/data/a", "/data/A/b", false),
        ] {
            assert_eq!(in_other_case(Path::new(wanted), Path::new(existing)), expected, "{wanted}");
        }
    }
}
