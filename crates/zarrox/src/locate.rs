//! Resolving a path or URL to a store and a node in it.

use std::borrow::Cow;
use std::path::{Component, MAIN_SEPARATOR, Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use zarrox_core::Strictness;
use zarrox_core::internals::metadata::ReadContext;
use zarrox_core::{Format, NodePath, Registry, Result};
use zarrox_stores::internals::{open_directory, strip_file_scheme};
use zarrox_stores::{Located, Prefix, PrefixStore, StorageOptions, Store, StoreRegistry};

use crate::error::argument;
use crate::place::{Kind, Place, is_elsewhere};
use crate::stores::registry;

/// Returns the store of a path on disk, the path of the node in it, and the format that the name of the root implies.
///
/// The root of a hierarchy is the first directory on the path that is named `*.zarr` or `*.n5`; otherwise the topmost directory
/// of an unbroken chain of groups above the path; otherwise the nearest directory that contains the entry document of a
/// hierarchy; otherwise the path itself. Knowing the root, errors can name nodes by their path in the hierarchy, and missing
/// groups above a new node can be created. A file named `*.zip` is an archive that contains a hierarchy.
pub(crate) fn store_for(
    path: &Path,
    storage: &StorageOptions,
    stores: &StoreRegistry,
) -> Result<(Arc<dyn Store>, NodePath, Option<Format>)> {
    let text =
        path.to_str().ok_or_else(|| argument(format!("the path {} is not Unicode", path.display())))?;
    if text.is_empty() {
        return Err(argument("the path is empty"));
    }
    stores.check(storage)?;
    if is_elsewhere(path) {
        return store_at(text, storage, stores);
    }
    let path = &resolved(plain(path));
    let archive = archive_of(path);
    let root = archive.map_or_else(|| root_of(path), Path::to_owned);
    let below = path.strip_prefix(&root).ok().and_then(Path::to_str).unwrap_or_default();
    let node = NodePath::new(&below.replace(MAIN_SEPARATOR, "/"))?;
    if archive.is_some() {
        return Ok((open_archive(&root, storage)?, node, None));
    }
    let named = has_extension(&root, "n5").then_some(Format::N5);
    Ok((Arc::new(open_directory(root, storage)?), node, named))
}

/// Returns the store of a location and the path of the node in it, as [`open`](crate::open) resolves them, for programs that need
/// the store itself.
///
/// # Errors
/// When the path is invalid, or the URL is not supported.
pub fn locate(place: impl Into<Place>, storage: &StorageOptions) -> Result<(Arc<dyn Store>, NodePath)> {
    match place.into().0 {
        Kind::Path(path) => store_for(&path, storage, &registry()).map(|(store, node, _)| (store, node)),
        Kind::Store(store, path) => Ok((store, NodePath::new(&path)?)),
    }
}

/// Returns the file in which the store of a path or URL is contained: an archive or a database, which need not exist yet. For
/// LMDB, it may be a directory. `None` for directory stores and remote stores.
pub fn store_file(place: impl Into<Place>) -> Option<PathBuf> {
    let place = place.into();
    let path = place.as_path()?;
    if is_elsewhere(path) {
        return registry().file_of(path.to_str()?);
    }
    archive_of(plain(path)).map(Path::to_owned)
}

/// Returns the store of a URL, the path of the node in it, and the format that the name of the root implies.
///
/// In a bucket or on a server, the root of a hierarchy is the first path segment of the URL that is named `*.zarr` or `*.n5`. If
/// there is none, the root is the URL itself: the segments above are not examined.
fn store_at(
    url: &str,
    storage: &StorageOptions,
    stores: &StoreRegistry,
) -> Result<(Arc<dyn Store>, NodePath, Option<Format>)> {
    let Located { store, path, whole } = stores.open(url, storage)?;
    if whole {
        return Ok((store, NodePath::new(&path)?, None));
    }
    let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
    let named = |end: &usize| ["zarr", "n5"].iter().any(|name| has_extension(Path::new(&path[..*end]), name));
    let (root, node) = path.split_at(ends.clone().find(named).unwrap_or(path.len()));
    let prefix = if root.is_empty() { Prefix::root() } else { Prefix::new(format!("{root}/"))? };
    let named = has_extension(Path::new(root), "n5").then_some(Format::N5);
    Ok((Arc::new(PrefixStore::new(store, prefix)), NodePath::new(node)?, named))
}

/// Returns the archive on the path: an existing file named `*.zip`, or else a missing one outside all hierarchies.
fn archive_of(path: &Path) -> Option<&Path> {
    let named: Vec<&Path> = path.ancestors().filter(|path| has_extension(path, "zip")).collect();
    let mut outermost_first = named.iter().rev().copied();
    let is_new = |path: &Path| !path.exists() && root_of(path) == path;
    outermost_first.find(|path| path.is_file()).or_else(|| named.into_iter().rev().find(|path| is_new(path)))
}

#[cfg(feature = "zip")]
fn open_archive(path: &Path, storage: &StorageOptions) -> Result<Arc<dyn Store>> {
    let store = zarrox_stores::ZipStore::open(path, zarrox_stores::ZipMode::Append)?;
    Ok(Arc::new(store.sync(storage.flag(zarrox_stores::internals::SYNC)?.unwrap_or_default())))
}

#[cfg(not(feature = "zip"))]
fn open_archive(path: &Path, _: &StorageOptions) -> Result<Arc<dyn Store>> {
    let message = format!("'{}': zip archives need the feature `zip` of zarrox", path.display());
    Err(zarrox_core::Error::new(zarrox_core::ErrorKind::Unsupported, message))
}

/// Returns an error if an archive would be moved to the name of a directory, or a directory to the name of an archive.
pub fn check_same_kind(from: &Path, to: &Path) -> Result<()> {
    if is_elsewhere(from) || is_elsewhere(to) {
        let message = "only hierarchies on this machine's disk can be moved as a whole; copy to the new location, and delete the old one";
        return Err(argument(message));
    }
    if archive_of(plain(from)).is_some() == archive_of(plain(to)).is_some() {
        return Ok(());
    }
    let message = format!(
        "'{}' and '{}' are not both archives; convert one to the other",
        from.display(),
        to.display()
    );
    Err(argument(message))
}

/// Renames a hierarchy on disk. An existing hierarchy at the new path is moved aside and deleted last.
pub(crate) fn rename(from: &Path, to: &Path, replaces: bool) -> io::Result<()> {
    let (from, to) = (plain(from), plain(to));
    if !replaces {
        if let Some(parent) = to.parent() {
            fs::create_dir_all(parent)?;
        }
        return fs::rename(from, to);
    }
    // A symbolic link is kept, and points to the new hierarchy from then on.
    let to = &fs::canonicalize(to)?;
    let aside = free_name_beside(to)?;
    fs::rename(to, &aside)?;
    let left = |error: io::Error, what: &str| {
        io::Error::new(error.kind(), format!("{what} is at {}: {error}", aside.display()))
    };
    if let Err(error) = fs::rename(from, to) {
        // The first error is reported.
        let back = fs::rename(&aside, to);
        return Err(if back.is_ok() { error } else { left(error, "the hierarchy that was there") });
    }
    let removed = if aside.is_dir() { fs::remove_dir_all(&aside) } else { fs::remove_file(&aside) };
    removed.map_err(|error| left(error, "all is moved, but the rest of the hierarchy that was there"))
}

/// Returns true if both paths refer to directories.
pub(crate) fn are_directories(one: &Path, other: &Path) -> bool {
    [one, other].into_iter().all(|path| plain(path).is_dir())
}

/// Exchanges two directories atomically. If the system cannot exchange directories, returns false and changes nothing. If the
/// second path is a symbolic link, it is kept, and points to the other directory from then on.
pub(crate) fn exchange(one: &Path, other: &Path) -> Result<bool> {
    let absolute = |path: PathBuf| {
        path.to_str().and_then(|path| Prefix::new(format!("{}/", path.strip_prefix('/')?)).ok())
    };
    let parent = |path: &Path| Some(fs::canonicalize(path.parent()?).ok()?.join(path.file_name()?));
    let one = std::path::absolute(plain(one)).ok().and_then(|path| parent(&path)).and_then(absolute);
    let other = fs::canonicalize(plain(other)).ok().and_then(absolute);
    let Some((one, other)) = one.zip(other) else { return Ok(false) };
    match zarrox_stores::DirectoryStore::open("/").and_then(|root| root.exchange(&one, &other)) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == zarrox_stores::StoreErrorKind::Unsupported => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Removes a hierarchy on disk that has been replaced.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(plain(path)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Returns an unused name beside a file or directory.
fn free_name_beside(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let name = |number: u64| {
        let mut name = name.to_owned();
        name.push(format!(".replaced{number}"));
        path.with_file_name(name)
    };
    (0..)
        .map(name)
        .find(|path| fs::symlink_metadata(path).is_err())
        .ok_or_else(|| io::ErrorKind::AlreadyExists.into())
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|own| own == extension)
}

/// Returns the path of the symbolic link, if the path is a symbolic link on this machine's disk.
pub(crate) fn link(path: &Path) -> Option<&Path> {
    // A path with a trailing `/` would refer to the target of the link.
    let link = plain(path).components().as_path();
    let is_link = !is_elsewhere(path) && std::fs::symlink_metadata(link).is_ok_and(|link| link.is_symlink());
    is_link.then_some(link)
}

/// Returns the path without the scheme `file://`.
pub(crate) fn plain(path: &Path) -> &Path {
    path.to_str().and_then(strip_file_scheme).map_or(path, Path::new)
}

/// Returns true if a path contains `..` after a name.
fn leads_back(path: &Path) -> bool {
    let mut components = path.components().skip_while(|part| !matches!(part, Component::Normal(_)));
    components.any(|part| part == Component::ParentDir)
}

/// Resolves any `..` after a name on disk, since the textual parent need not be the parent directory on disk.
fn resolved(path: &Path) -> Cow<'_, Path> {
    if !leads_back(path) {
        return path.into();
    }
    match deepest_existing(path) {
        // A trailing `/` is removed, since it would require a directory.
        Some((existing, missing)) => existing.join(missing).components().as_path().to_owned().into(),
        None => path.into(),
    }
}

/// Returns the deepest ancestor of a path that exists, with links and `..` resolved, and the names below it.
pub(crate) fn deepest_existing(path: &Path) -> Option<(PathBuf, &Path)> {
    path.ancestors().find_map(|above| {
        let existing = fs::canonicalize(above).ok()?;
        Some((existing, path.strip_prefix(above).ok()?))
    })
}

/// Returns the root of the hierarchy that contains a directory: the directory itself, or one above.
pub(crate) fn root_of(path: &Path) -> PathBuf {
    let named = |path: &&Path| has_extension(path, "zarr") || has_extension(path, "n5");
    let mut above: Vec<&Path> = path.ancestors().skip(1).take_while(|p| !p.as_os_str().is_empty()).collect();
    if leads_back(path) {
        above.clear();
    }
    if let Some(root) = above.iter().rev().find(|path| named(path)) {
        return root.to_path_buf();
    }
    // Missing groups will be created together with the node.
    let existing = above.iter().skip_while(|path| !holds_node(path) && !path.exists());
    if let Some(root) = existing.take_while(|path| holds_node(path)).last() {
        return root.to_path_buf();
    }
    let mut here_and_above = std::iter::once(path).chain(above);
    here_and_above.find(|path| is_whole_hierarchy(path)).unwrap_or(path).to_owned()
}

/// Returns true if the directory contains the document of a node, in a format without implicit groups.
fn holds_node(directory: &Path) -> bool {
    let layouts = Format::all().map(|format| format.def().layout());
    let mut keys =
        layouts.filter(|layout| !layout.implicit_groups()).flat_map(|layout| layout.keys(&NodePath::root()));
    keys.any(|key| directory.join(key).is_file())
}

/// Returns true if the directory contains an entry document: everything below it is then one hierarchy, even if directories in
/// between have no documents.
fn is_whole_hierarchy(directory: &Path) -> bool {
    let registry = Registry::new();
    let context = ReadContext::new(&registry, Strictness::Lenient);
    Format::all().any(|format| {
        let Some(entry) = format.def().entry_key().and_then(|key| small_file(&directory.join(key))) else {
            return false;
        };
        match format.def().entry_from_document(Some(&entry), &context) {
            Ok(layout) => layout.is_some_and(|layout| layout.implicit_groups()),
            // Even if the document cannot be parsed, the directory is a root.
            Err(_) => true,
        }
    })
}

/// Reads a file, if it exists and is no larger than an entry document may be.
fn small_file(path: &Path) -> Option<Vec<u8>> {
    let size = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?.len();
    if size > ENTRY_LIMIT { None } else { std::fs::read(path).ok() }
}

/// The largest size of an entry document, in bytes.
const ENTRY_LIMIT: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use zarrox_core::ErrorKind;

    #[test]
    fn the_root_is_found_by_name_or_by_its_documents() {
        assert_eq!(root_of(Path::new("/d/a.zarr/b/c.zarr/d")), Path::new("/d/a.zarr"));
        assert_eq!(root_of(Path::new("a.zarr")), Path::new("a.zarr"));
        assert_eq!(root_of(Path::new("a.n5/b/c")), Path::new("a.n5"));
        assert_eq!(root_of(Path::new("a.zarr/../b")), Path::new("a.zarr/../b"));
        let directory = tempfile::tempdir().unwrap();
        let deep = directory.path().join("x/y/z");
        std::fs::create_dir_all(&deep).unwrap();
        assert_eq!(root_of(&deep), deep);
        std::fs::write(directory.path().join("x/.zgroup"), "{}").unwrap();
        assert_eq!(root_of(&deep), deep, "y, between, is not a node");
        let missing = directory.path().join("x/new/y/z");
        assert_eq!(root_of(&missing), directory.path().join("x"), "groups that are created with the node");
        std::fs::write(directory.path().join("x/y/.zgroup"), "{}").unwrap();
        assert_eq!(root_of(&deep), directory.path().join("x"));
    }

    #[test]
    fn archives_are_files_or_new() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let archive = |name: &str| archive_of(&at(name)).map(Path::to_owned);
        assert_eq!(archive("a.zip"), Some(at("a.zip")));
        assert_eq!(archive("a.zip/b/c.zip"), Some(at("a.zip")));
        assert_eq!(archive("a.zarr/b.zip"), None, "a node of a hierarchy");
        assert_eq!(archive("a"), None);
        std::fs::create_dir(at("a.zip")).unwrap();
        assert_eq!(archive("a.zip/b"), None, "a directory");
        std::fs::write(at("a.zip/c.zip"), "").unwrap();
        assert_eq!(archive("a.zip/c.zip/d"), Some(at("a.zip/c.zip")));
        std::fs::create_dir(at("g")).unwrap();
        std::fs::write(at("g/.zgroup"), "{}").unwrap();
        assert_eq!(archive("g/a.zip"), None, "a node of a group");
    }

    #[test]
    fn unsupported_paths_are_errors() {
        let open = |path| store_for(Path::new(path), &StorageOptions::new(), &registry()).err().unwrap();
        assert_eq!(open("").kind(), ErrorKind::InvalidArgument);
        assert_eq!(open("gopher://host/a").kind(), ErrorKind::Unsupported);
        assert_eq!(open("memory://../a").kind(), ErrorKind::InvalidArgument);
    }

    #[test]
    fn urls_have_their_roots_by_name() {
        let open = |path| {
            let (store, node, format) =
                store_for(Path::new(path), &StorageOptions::new(), &registry()).unwrap();
            (store.location(), node.as_str().to_owned(), format)
        };
        let (at, node, format) = open("memory://a/b.zarr/c/d");
        assert!(at.ends_with("/a/b.zarr"), "{at}");
        assert_eq!((node.as_str(), format), ("c/d", None));
        assert_eq!(open("memory://a/b.n5").2, Some(Format::N5));
        let (at, node, _) = open("memory://a/b/c");
        assert!(at.ends_with("/a/b/c") && node.is_empty(), "{at}");
    }
}
