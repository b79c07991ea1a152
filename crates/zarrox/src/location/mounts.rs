//! The mounts of the system: the same directory can be reachable through several mounts, even from within another directory.

use std::fs;
use std::path::{Path, PathBuf};

use crate::locate;

/// The list of the mounts of this process, in the order in which they were mounted.
const MOUNTS: &str = "/proc/self/mountinfo";

/// A directory of a file system, identified by its path within that file system.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Region<'t> {
    /// The device number of the file system.
    device: &'t str,
    path: PathBuf,
}

/// A directory of a file system, and its mount point.
#[derive(Debug)]
struct Mount<'t> {
    region: Region<'t>,
    point: PathBuf,
}

/// Returns true if, according to the mounts, a directory at or below one path is also at or below the other path. Returns false
/// if the system does not list its mounts.
pub(super) fn are_overlapping(one: &Path, other: &Path) -> bool {
    let Ok(text) = fs::read_to_string(MOUNTS) else { return false };
    let mounts: Vec<Mount<'_>> = text.lines().filter_map(Mount::parse).collect();
    let regions = |path: &Path| real(path).map(|path| regions(&mounts, &path)).unwrap_or_default();
    let others = regions(other);
    regions(one).iter().any(|one| others.iter().any(|other| one.overlaps(other)))
}

/// Returns the path with links resolved; the part that does not exist is left unchanged.
fn real(path: &Path) -> Option<PathBuf> {
    let path = std::path::absolute(path).ok()?;
    let (existing, missing) = locate::deepest_existing(&path)?;
    Some(existing.join(missing))
}

/// Returns the region that a path refers to, and the regions that are mounted below it.
fn regions<'t>(mounts: &[Mount<'t>], path: &Path) -> Vec<Region<'t>> {
    let above = mounts.iter().filter(|mount| path.starts_with(&mount.point));
    // If several mounts have the same mount point, only the last one is visible.
    let own = above.max_by_key(|mount| mount.point.components().count());
    let own = own.and_then(|mount| {
        let below = path.strip_prefix(&mount.point).ok()?;
        Some(Region { device: mount.region.device, path: mount.region.path.join(below) })
    });
    let below = mounts.iter().filter(|mount| mount.point.starts_with(path)).map(|mount| mount.region.clone());
    own.into_iter().chain(below).collect()
}

impl Region<'_> {
    fn overlaps(&self, other: &Self) -> bool {
        self.device == other.device
            && (self.path.starts_with(&other.path) || other.path.starts_with(&self.path))
    }
}

impl<'t> Mount<'t> {
    /// Parses a line of the list: the IDs of the mount and of its parent, the device, the directory within it, and the mount
    /// point.
    fn parse(line: &'t str) -> Option<Self> {
        let mut words = line.split(' ');
        let (device, path, point) = (words.nth(2)?, words.next()?, words.next()?);
        Some(Self { region: Region { device, path: unescaped(path) }, point: unescaped(point) })
    }
}

/// Decodes a path in which bytes such as spaces are escaped as a backslash and three octal digits.
fn unescaped(text: &str) -> PathBuf {
    let mut parts = text.split('\\');
    let mut path = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.get(..3).and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) if byte.is_ascii() => {
                path.push(char::from(byte));
                path.push_str(&part[3..]);
            }
            _ => {
                path.push('\\');
                path.push_str(part);
            }
        }
    }
    path.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `/d` is mounted at `/bind`, `/d/s/g/sub` at `/inside`, and `/t` within `/d/s/h`.
    const LIST: &str = "\
        21 1 254:0 / / rw - ext4 /dev/vda rw\n\
        22 21 0:5 / /proc rw - proc proc rw\n\
        30 21 254:0 /d /bind rw - ext4 /dev/vda rw\n\
        31 21 254:0 /d/s/g/sub /inside rw - ext4 /dev/vda rw\n\
        32 21 254:0 /t /d/s/h/a\\040mount rw - ext4 /dev/vda rw";

    #[test]
    fn paths_overlap_by_whichever_mounts_they_are_reached() {
        let mounts: Vec<_> = LIST.lines().filter_map(Mount::parse).collect();
        for (one, other, expected) in [
            ("/d/s/g", "/inside/new", true),
            ("/d/s/g", "/d/s/g2", false),
            ("/inside", "/bind/s", true),
            ("/inside", "/bind/s/h", false),
            ("/d/s/h", "/t/new", true),
            ("/t/x", "/d/s/h/a mount", true),
            ("/d/s/h/b", "/t", false),
            ("/d", "/proc", false),
        ] {
            let others = regions(&mounts, Path::new(other));
            let found = regions(&mounts, Path::new(one));
            let overlaps = found.iter().any(|one| others.iter().any(|other| one.overlaps(other)));
            assert_eq!(overlaps, expected, "{one} {other}: {found:?} {others:?}");
        }
    }
}
