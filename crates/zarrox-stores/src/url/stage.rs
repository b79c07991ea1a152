//! Chains of stores: `s3://bucket/a.zip|zip:path` and fsspec's `zip://path::s3://bucket/a.zip`.

use super::options::StorageOption;
use super::text::StoreUrl;

/// The disk caches that can precede a URL.
pub(super) const CACHES: &[&str] = &["simplecache", "filecache"];

/// The storage options of caches.
pub(super) const CACHE_OPTIONS: &[StorageOption] =
    &[StorageOption::text("cache_directory", "the directory of the copies [default: ~/.cache/zarrox]")];

/// The archive formats that can be opened in a file or at a URL.
pub(super) const ARCHIVES: &[&str] = &["zip"];

/// The storage options of archives.
pub(super) const ARCHIVE_OPTIONS: &[StorageOption] = &[StorageOption::SYNC];

/// Splits off the outermost stage of a chain: `zip:path` and the rest.
pub(super) fn split(text: &str) -> Option<(Stage<'_>, &str)> {
    if let Some((outer, stage)) = text.rsplit_once('|')
        && let Some((name, path)) = stage.split_once(':')
        && is_name(name)
    {
        return Some((Stage { name, path }, outer));
    }
    let (stage, outer) = text.split_once("::")?;
    let (name, path) = stage.split_once("://").unwrap_or((stage, ""));
    is_name(name).then_some((Stage { name, path }, outer))
}

/// Returns true if a string is a URL or a chain of stores rather than a path.
#[must_use]
pub fn is_url(text: &str) -> bool {
    StoreUrl::is_url(text) || split(text).is_some()
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}

/// A stage in a chain of URLs. It creates a store from the preceding store or value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stage<'a> {
    pub(super) name: &'a str,
    pub(super) path: &'a str,
}

/// Returns the path if the string has no scheme or begins with `file://`.
pub(super) fn local(text: &str) -> Option<&str> {
    if StoreUrl::is_url(text) { strip_file_scheme(text) } else { Some(text) }
}

/// Returns the path in a `file://` URL; `None` for any other text. On Windows, the path of `file:///C:/data` is `C:/data`, and
/// that of `file://server/share` is `//server/share`.
#[must_use]
pub fn strip_file_scheme(text: &str) -> Option<&str> {
    let path = text.strip_prefix("file://")?;
    Some(if cfg!(windows) {
        windows_path(path).unwrap_or_else(|| text.trim_start_matches("file:"))
    } else {
        path
    })
}

/// Returns the path on Windows for the part of a `file://` URL after its scheme. Returns `None` if it begins with a server.
fn windows_path(path: &str) -> Option<&str> {
    let begins_with_drive = |path: &str| {
        let mut characters = path.chars();
        characters.next().is_some_and(|drive| drive.is_ascii_alphabetic()) && characters.next() == Some(':')
    };
    match path.strip_prefix('/') {
        Some(rest) if begins_with_drive(rest) => Some(rest),
        None if !path.is_empty() && !begins_with_drive(path) && !path.starts_with('\\') => None,
        _ => Some(path),
    }
}

/// Joins two paths.
pub(super) fn joined(path: &str, below: &str) -> String {
    let below = below.trim_matches('/');
    if path.is_empty() || below.is_empty() { format!("{path}{below}") } else { format!("{path}/{below}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_urls_on_windows_begin_with_a_drive_or_a_server() {
        for (path, expected) in [
            ("/C:/data/x.zarr", Some("C:/data/x.zarr")),
            ("C:/data", Some("C:/data")),
            (r"C:\data", Some(r"C:\data")),
            (r"\\server\share", Some(r"\\server\share")),
            ("/data", Some("/data")),
            ("server/share/x.zarr", None),
        ] {
            assert_eq!(windows_path(path), expected);
        }
        assert_eq!(strip_file_scheme("s3://b/a"), None);
        assert_eq!(strip_file_scheme("/a"), None);
    }

    #[test]
    fn chains_are_taken_apart_and_paths_are_not() {
        let stage = |name, path| Stage { name, path };
        assert_eq!(split("s3://b/a.zip|zip:x/y"), Some((stage("zip", "x/y"), "s3://b/a.zip")));
        assert_eq!(split("zip://x/y::s3://b/a.zip"), Some((stage("zip", "x/y"), "s3://b/a.zip")));
        assert_eq!(split("simplecache::s3://b/a"), Some((stage("simplecache", ""), "s3://b/a")));
        for path in ["a|b", "a/b::c", "C::", "s3://b/a", "a|B:c", "::a", "a.zarr/x|y/z"] {
            assert_eq!(split(path), None, "{path}");
        }
        assert_eq!(joined("a", "b/"), "a/b");
        assert_eq!(joined("", "b"), "b");
        assert_eq!(joined("a", ""), "a");
    }
}
