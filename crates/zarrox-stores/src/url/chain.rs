//! Stores inside of stores, as a URL names them: `s3://bucket/a.zip|zip:path` and fsspec's `zip://path::s3://bucket/a.zip`.

use super::{Located, StorageOption, StorageOptions, StoreUrl, open_scheme};
use crate::{Key, StoreError, StoreErrorKind};

/// The caches on disk that can stand in front of a URL.
pub(super) const CACHES: &[&str] = &["simplecache", "filecache"];

/// The storage options that they take.
pub(super) const CACHE_OPTIONS: &[StorageOption] =
    &[StorageOption::text("cache_directory", "the directory of the copies [default: ~/.cache/zarrox]")];

/// The parts of a chain from the outside inwards: `zip:path` and what it is in.
fn split(text: &str) -> Option<(Stage<'_>, &str)> {
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

/// Whether a text has the form of a URL or of a chain, and is no path.
pub(crate) fn is_located(text: &str) -> bool {
    StoreUrl::is_url(text) || split(text).is_some()
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}

/// What is made of the store or value that stands further out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stage<'a> {
    name: &'a str,
    path: &'a str,
}

/// Finds the store of a chain, or of a single URL.
pub(super) fn open(text: &str, options: &StorageOptions) -> Result<Located, StoreError> {
    let Some((stage, outer)) = split(text) else { return archive_by_name(open_scheme(text, options)?) };
    match stage.name {
        "zip" => open_archive(outer, stage.path, options),
        #[cfg(feature = "references")]
        "reference" => super::references::open(outer, stage.path, options),
        #[cfg(not(feature = "references"))]
        "reference" => {
            let message = "references need the feature `references` of zarrox";
            let error = StoreError::new(StoreErrorKind::Unsupported, "opening", message);
            Err(error.with_location(shown(outer)))
        }
        "simplecache" | "filecache" => archive_by_name(open_cached(text, options)?),
        // A format is no store. It is found out when the node is opened.
        "zarr" | "zarr2" | "zarr3" | "n5" => {
            let mut located = open(outer, options)?;
            located.path = joined(&located.path, stage.path);
            Ok(located)
        }
        name => {
            let message = format!(
                "'{name}' is nothing that can be inside of a store; there are 'zip', 'reference', 'simplecache' and 'filecache'"
            );
            let error = StoreError::new(StoreErrorKind::Unsupported, "opening", message);
            Err(error.with_location(shown(outer)))
        }
    }
}

/// The store of a URL, behind a cache on disk where it says so.
fn open_cached(text: &str, options: &StorageOptions) -> Result<Located, StoreError> {
    match split(text) {
        Some((Stage { name: "simplecache", .. }, outer)) => {
            cached(open_cached(outer, options)?, false, options)
        }
        Some((Stage { name: "filecache", .. }, outer)) => cached(open_cached(outer, options)?, true, options),
        _ => open_scheme(text, options),
    }
}

#[cfg(all(unix, feature = "cache"))]
fn cached(located: Located, validate: bool, options: &StorageOptions) -> Result<Located, StoreError> {
    use std::path::PathBuf;
    let own = || Some(PathBuf::from(std::env::var_os("XDG_CACHE_HOME").filter(|path| !path.is_empty())?));
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache"));
    let given = options.get("cache_directory").map(PathBuf::from);
    let directory = given.or_else(|| Some(own().or_else(home)?.join("zarrox"))).ok_or_else(|| {
        let message = "there is no directory for the cache; set the storage option 'cache_directory'";
        StoreError::new(StoreErrorKind::NotFound, "opening", message)
    })?;
    let cache = crate::DiskCacheOptions::new().validate(validate).open(located.store, directory)?;
    Ok(Located { store: std::sync::Arc::new(cache), ..located })
}

#[cfg(not(all(unix, feature = "cache")))]
#[expect(clippy::needless_pass_by_value, reason = "as with the feature")]
fn cached(located: Located, _: bool, _: &StorageOptions) -> Result<Located, StoreError> {
    let message = "caches on disk need the feature `cache` of zarrox";
    let error = StoreError::new(StoreErrorKind::Unsupported, "opening", message);
    Err(error.with_location(located.store.location()))
}

/// The archive in a store where the path has one by its name; otherwise the store.
fn archive_by_name(located: Located) -> Result<Located, StoreError> {
    if located.whole || !cfg!(feature = "zip") {
        return Ok(located);
    }
    let ends = located.path.match_indices('/').map(|(at, _)| at).chain([located.path.len()]);
    let named = ends.map(|end| located.path.split_at(end)).find(|(path, _)| path.ends_with(".zip"));
    let Some((archive, rest)) = named.map(|(archive, rest)| (archive.to_owned(), rest.to_owned())) else {
        return Ok(located);
    };
    match archive_in(&located, &archive, &rest) {
        // A prefix may be called so, too.
        Err(error) if error.kind() == StoreErrorKind::NotFound => Ok(located),
        opened => opened,
    }
}

/// The archive that is a file on this machine, or a value of any store.
fn open_archive(outer: &str, path: &str, options: &StorageOptions) -> Result<Located, StoreError> {
    if let Some(file) = local(outer) {
        return archive_at(file, path, options);
    }
    let located = open_cached(outer, options)?;
    let archive = located.path.clone();
    archive_in(&located, &archive, path)
}

/// A path without a scheme, or behind `file://`.
pub(super) fn local(text: &str) -> Option<&str> {
    if StoreUrl::is_url(text) { text.strip_prefix("file://") } else { Some(text) }
}

#[cfg(all(unix, feature = "zip"))]
fn archive_at(file: &str, path: &str, options: &StorageOptions) -> Result<Located, StoreError> {
    use crate::{ZipMode, ZipStore};
    let mode = if options.creates() { ZipMode::Append } else { ZipMode::ReadWrite };
    Ok(Located::whole(ZipStore::open(file, mode)?, path))
}

#[cfg(all(unix, feature = "zip"))]
fn archive_in(located: &Located, archive: &str, path: &str) -> Result<Located, StoreError> {
    let store = crate::ZipStore::open_in(located.store.clone(), &Key::new(archive)?)?;
    Ok(Located::whole(store, path))
}

#[cfg(not(all(unix, feature = "zip")))]
fn archive_at(file: &str, _: &str, _: &StorageOptions) -> Result<Located, StoreError> {
    Err(no_archives().with_location(file))
}

#[cfg(not(all(unix, feature = "zip")))]
fn archive_in(located: &Located, archive: &str, _: &str) -> Result<Located, StoreError> {
    Err(no_archives().with_location(located.store.location()).with_key(Key::new(archive)?.as_str()))
}

#[cfg(not(all(unix, feature = "zip")))]
fn no_archives() -> StoreError {
    StoreError::new(StoreErrorKind::Unsupported, "opening", "zip archives need the feature `zip` of zarrox")
}

fn joined(path: &str, below: &str) -> String {
    let below = below.trim_matches('/');
    if path.is_empty() || below.is_empty() { format!("{path}{below}") } else { format!("{path}/{below}") }
}

/// A URL or path without secrets.
fn shown(text: &str) -> String {
    StoreUrl::parse(text).map_or_else(|_| text.to_owned(), |url| url.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

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
