//! Detecting locations that are equal or nested, even under different names: through links, `..`, bind mounts, or file names that
//! differ in case.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use zarrox_stores::internals::is_url;

use super::{Location, mounts};
use crate::locate;
use crate::place::is_elsewhere;

impl Location {
    /// Returns true if both locations are in the same store.
    pub fn is_in_store_of(&self, other: &Self) -> bool {
        let (one, two) = (self.store.location(), other.store.location());
        let on_disk = |location: &str| (!is_url(location)).then(|| OnDisk::at(Path::new(location)));
        one == two || on_disk(&one).zip(on_disk(&two)).is_some_and(|(one, two)| one.is(&two))
    }

    /// Returns true if one location equals the other, or contains it.
    pub fn overlaps(&self, other: &Self) -> bool {
        let is_one_store = self.store.location() == other.store.location();
        if is_one_store && (self.path.contains(&other.path) || other.path.contains(&self.path)) {
            return true;
        }
        let path = |place: &Self| {
            let location = place.store.location();
            (!is_url(&location)).then(|| Path::new(&location).join(place.path.to_string().trim_matches('/')))
        };
        path(self).zip(path(other)).is_some_and(|(one, two)| overlap(&one, &two))
    }
}

/// Returns true if one path or URL refers to the same file or directory as the other, or to something inside it.
pub fn are_paths_overlapping(one: &Path, other: &Path) -> bool {
    let is_nested = |one: &Path, other: &Path| one.starts_with(other) || other.starts_with(one);
    located(one).zip(located(other)).is_some_and(|((file, inner), (other_file, other_inner))| {
        overlap(&file, &other_file) && is_nested(&inner, &other_inner)
    })
}

/// Returns the file or directory that a path or URL refers to, and the path within it: for a database, the path of the node.
fn located(path: &Path) -> Option<(PathBuf, PathBuf)> {
    if !is_elsewhere(path) {
        return Some((locate::plain(path).to_owned(), PathBuf::new()));
    }
    let file = locate::store_file(path)?;
    // If the URL spells the file differently, the path is unknown; the root is assumed.
    let inner = path.to_str()?.split_once(file.to_str()?).map_or("", |(_, inner)| inner);
    let inner = PathBuf::from(inner.trim_matches('/'));
    Some((file, inner))
}

fn overlap(one: &Path, other: &Path) -> bool {
    let (on_disk, other_on_disk) = (OnDisk::at(one), OnDisk::at(other));
    on_disk.contains(&other_on_disk)
        || other_on_disk.contains(&on_disk)
        || mounts::are_overlapping(one, other)
}

/// The identity of a file or directory: its device and inode.
#[cfg(unix)]
type Identity = (u64, u64);
/// The path without links, in the case in which it is stored.
#[cfg(not(unix))]
type Identity = PathBuf;

/// A file or directory on disk, which need not exist.
struct OnDisk {
    /// The deepest part of the path that exists, and all directories above it.
    above: Vec<Identity>,
    /// The names below the deepest existing part.
    missing: Vec<OsString>,
}

impl OnDisk {
    fn at(path: &Path) -> Self {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let (existing, missing) =
            locate::deepest_existing(&path).unwrap_or_else(|| (PathBuf::new(), path.as_path()));
        Self {
            above: existing.ancestors().filter_map(identity).collect(),
            missing: missing.iter().map(ToOwned::to_owned).collect(),
        }
    }

    fn is(&self, other: &Self) -> bool {
        self.above.first() == other.above.first() && self.missing == other.missing
    }

    fn contains(&self, inner: &Self) -> bool {
        let Some(deepest) = self.above.first() else { return false };
        match self.missing.is_empty() {
            true => inner.above.contains(deepest),
            false => inner.above.first() == Some(deepest) && inner.missing.starts_with(&self.missing),
        }
    }
}

#[cfg(unix)]
fn identity(path: &Path) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;

    std::fs::metadata(path).ok().map(|found| (found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn identity(path: &Path) -> Option<Identity> {
    std::fs::canonicalize(path).ok()
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;

    use super::*;

    #[cfg(feature = "sqlite")]
    #[test]
    fn paths_in_one_database_are_apart_unless_one_contains_the_other() {
        let directory = tempfile::tempdir().unwrap();
        let url =
            |inner: &str| PathBuf::from(format!("sqlite://{}/x.sqlite{inner}", directory.path().display()));
        for (one, other, expected) in [
            ("/g/a", "/g/b", false),
            ("/g/a", "/g/a.rechunked", false),
            ("/g", "/g/a", true),
            ("/g/a/", "/g/a", true),
            ("", "/g/a", true),
        ] {
            assert_eq!(are_paths_overlapping(&url(one), &url(other)), expected, "{one} {other}");
        }
    }

    #[test]
    fn one_directory_has_many_names() {
        let directory = tempfile::tempdir().unwrap();
        let at = |path: &str| directory.path().join(path);
        fs::create_dir_all(at("a/b")).unwrap();
        fs::create_dir_all(at("ab")).unwrap();
        std::os::unix::fs::symlink(at("a"), at("link")).unwrap();
        for (one, other, expected) in [
            ("a", "a/b", true),
            ("a/b", "a", true),
            ("a", "link/b/new/deep", true),
            ("ab/../a", "link", true),
            ("a/new", "ab/../link/new/x", true),
            ("a/new", "a/newer", false),
            ("a", "ab", false),
            ("a/b", "a/c", false),
            ("new", "a", false),
        ] {
            assert_eq!(overlap(&at(one), &at(other)), expected, "{one} {other}");
        }
    }
}
