//! Temporary files whose writers have ended.
//!
//! A writer locks its temporary file, and the kernel releases the locks of a process that dies. So an unlocked temporary file is
//! either left over, or so new that its writer has not yet locked it. If that writer then finds its file locked or removed, it
//! creates another one.

use std::fs::File;
use std::hash::BuildHasher;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use foldhash::HashMap;
use foldhash::fast::FixedState;

use super::root::Root;
use crate::local::fault::Fault;
use crate::local::files::{Directory, DirectoryRef, Listing};
use crate::sync::{Mutex, unpoisoned};
use crate::temporary::is_temporary;

/// The minimum time between two sweeps of a directory by the same process.
const PERIOD: Duration = Duration::from_secs(60);
/// The maximum number of directory entries that a writer examines. Larger directories are swept when the hierarchy is checked.
const ENTRIES: usize = 20_000;
/// The maximum number of directories for which the time of the last sweep is stored.
const DIRECTORIES: usize = 1 << 16;
/// The maximum expected time between creating a temporary file and locking it.
const UNLOCKED: Duration = Duration::from_secs(10);

/// The times at which this process last swept directories, by a hash of their paths.
static SWEPT: LazyLock<Mutex<HashMap<u64, Instant>>> = LazyLock::new(Mutex::default);

impl Root {
    /// Removes the temporary files of ended writers from a directory, before this process writes to it. A directory is swept only
    /// periodically, since listing it costs more than a write. A directory that was just `made` cannot contain such files.
    pub(super) fn sweep(&self, path: &str, directory: DirectoryRef<'_>, made: bool) {
        if !self.locks || !self.is_due(path) || made {
            return;
        }
        // A directory that cannot be listed can still be written to.
        let _ = remove_leftovers(directory);
    }

    /// Returns true if a directory was not swept within the last period, and records it as swept now.
    fn is_due(&self, path: &str) -> bool {
        let directory = FixedState::default().hash_one((&self.path, path));
        let now = Instant::now();
        let mut swept = unpoisoned(&SWEPT);
        if swept.get(&directory).is_some_and(|then| now.duration_since(*then) < PERIOD) {
            return false;
        }
        if swept.len() >= DIRECTORIES {
            swept.clear();
        }
        swept.insert(directory, now);
        true
    }

    /// Returns the temporary files below a directory whose writers have ended, as paths relative to the root. Removes the files
    /// if `remove` is set.
    pub(super) fn leftovers(&self, path: &str, remove: bool) -> Result<Vec<String>, Fault> {
        let mut found = Vec::new();
        let listing = match self.tree().open_listing(path) {
            Err(fault) if fault.is_missing() => return Ok(found),
            other => other?,
        };
        leftovers(listing, path, remove, &mut found)?;
        Ok(found)
    }
}

/// Removes the temporary files in a directory whose writers have ended. This is for databases, which create new files under
/// temporary names.
pub fn sweep(directory: &std::path::Path) {
    // A directory that cannot be listed can still be written to.
    let _ = Directory::at(directory).map(|directory| remove_leftovers(directory.get()));
}

fn leftovers(mut listing: Listing, path: &str, remove: bool, found: &mut Vec<String>) -> Result<(), Fault> {
    while let Some(entry) = listing.next() {
        let entry = entry?;
        let Some(name) = entry.name() else { continue };
        let directory = listing.directory()?;
        let below = if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
        if is_temporary(name) && is_left(directory, name, remove) {
            found.push(below);
        } else if let Ok(Some(child)) = directory.child(name) {
            leftovers(child, &below, remove, found)?;
        }
    }
    Ok(())
}

/// Removes temporary files whose writers have ended from a directory. Only its first entries are examined.
fn remove_leftovers(directory: DirectoryRef<'_>) -> Result<(), Fault> {
    let mut listing = directory.listing()?;
    for entry in std::iter::from_fn(|| listing.next()).take(ENTRIES) {
        if let Some(name) = entry?.name().filter(|name| is_temporary(name)) {
            is_left(directory, name, true);
        }
    }
    Ok(())
}

/// Returns true if the writer of a temporary file has ended, and removes the file if `remove` is set. A file that cannot be
/// examined counts as in use.
fn is_left(directory: DirectoryRef<'_>, name: &str, remove: bool) -> bool {
    let Some(file) = directory.open_abandoned(name) else { return false };
    if remove {
        // A writer that has just created the file but not yet locked it will create another one.
        return directory.unlink(name).is_ok();
    }
    !is_just_created(&file)
}

/// Returns true if the writer of a temporary file may not have locked it yet.
fn is_just_created(file: &File) -> bool {
    let Ok(metadata) = file.metadata() else { return false };
    let age = metadata.modified().ok().and_then(|modified| modified.elapsed().ok());
    metadata.len() == 0 && age.is_some_and(|age| age < UNLOCKED)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;

    use super::*;
    use crate::temporary::next_name;

    fn root(directory: &tempfile::TempDir) -> Root {
        Root::new(fs::canonicalize(directory.path()).unwrap())
    }

    fn names(directory: &tempfile::TempDir, below: &str) -> Vec<String> {
        let entries = fs::read_dir(directory.path().join(below)).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn the_next_writer_removes_only_leftovers() {
        let directory = tempfile::tempdir().unwrap();
        let root = root(&directory);
        let (left, alive) = (next_name(), next_name());
        fs::create_dir(directory.path().join("a")).unwrap();
        fs::write(directory.path().join("a").join(&left), b"half").unwrap();
        let below = Directory::at(&directory.path().join("a")).unwrap();
        let writer = below.get().create(&alive, None).unwrap().unwrap();
        (&writer).write_all(b"half").unwrap();
        assert_eq!(root.leftovers("", false).unwrap(), [format!("a/{left}")]);
        root.write("a/b", &|write| write(b"value"), super::super::write::Rule::Always).unwrap();
        let mut names = names(&directory, "a");
        names.sort();
        assert_eq!(names, [alive.clone(), "b".to_owned()]);
        drop(writer);
        assert_eq!(root.leftovers("", true).unwrap(), [format!("a/{alive}")]);
        assert_eq!(root.leftovers("", true).unwrap(), [""; 0]);
    }

    #[test]
    fn a_file_that_was_just_created_is_not_called_left() {
        let directory = tempfile::tempdir().unwrap();
        let name = next_name();
        let file = File::create(directory.path().join(&name)).unwrap();
        assert_eq!(root(&directory).leftovers("", false).unwrap(), [""; 0]);
        file.set_modified(std::time::SystemTime::now() - 2 * UNLOCKED).unwrap();
        assert_eq!(root(&directory).leftovers("", false).unwrap(), [name]);
    }

    #[test]
    fn a_directory_is_swept_now_and_then() {
        let directory = tempfile::tempdir().unwrap();
        let root = root(&directory);
        assert!(root.is_due("a"));
        assert!(!root.is_due("a"));
        assert!(root.is_due("b"));
    }
}
