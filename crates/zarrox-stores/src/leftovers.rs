//! Temporary files that writers of a directory have left behind: [`leftovers`].

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use crate::temporary::is_temporary;
use crate::{Key, Prefix, StoreError};

/// A file younger than this may be one that its writer has made and not locked yet.
const YOUNG: Duration = Duration::from_secs(1);

/// A temporary file whose writer is gone.
#[derive(Debug)]
pub struct Leftover {
    /// The key that its path in the directory is like; no value has it.
    pub key: Key,
    /// The size in bytes.
    pub size: u64,
    path: PathBuf,
}

impl Leftover {
    /// Deletes the file, unless somebody writes to it after all. Tells whether it did.
    ///
    /// # Errors
    ///
    /// When the file cannot be deleted.
    pub fn delete(&self) -> Result<bool, StoreError> {
        let failed = |error| StoreError::from_io("erasing", error).with_location(self.path.to_string_lossy());
        // The lock is held until the file is gone.
        let Some(_locked) = abandoned(&self.path).map_err(failed)? else { return Ok(false) };
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(error)),
            _ => Ok(true),
        }
    }
}

/// Visits the temporary files below a prefix of a [`DirectoryStore`](crate::DirectoryStore)'s directory whose writers are gone. A
/// writer holds a lock on its file. Nothing is written; links are not followed.
///
/// # Errors
///
/// When the directory cannot be listed.
pub fn leftovers(
    directory: &Path,
    prefix: &Prefix,
    visit: &mut dyn FnMut(Leftover),
) -> Result<(), StoreError> {
    let failed = |error| StoreError::from_io("listing", error).with_location(directory.to_string_lossy());
    let mut young = Vec::new();
    let mut visit_old = |found: Leftover| {
        if is_young(&found.path) {
            young.push(found);
        } else if is_abandoned(&found.path) {
            visit(found);
        }
    };
    below(directory, prefix, &mut visit_old).map_err(failed)?;
    if !young.is_empty() {
        thread::sleep(YOUNG);
    }
    young.into_iter().filter(|found| is_abandoned(&found.path)).for_each(visit);
    Ok(())
}

fn is_young(path: &Path) -> bool {
    let modified = fs::symlink_metadata(path).and_then(|file| file.modified());
    modified.is_ok_and(|time| SystemTime::now().duration_since(time).is_ok_and(|age| age < YOUNG))
}

fn is_abandoned(path: &Path) -> bool {
    matches!(abandoned(path), Ok(Some(_)))
}

/// The file with a lock on it; `None` where its writer has the lock, or it is there no more.
fn abandoned(path: &Path) -> io::Result<Option<File>> {
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    match file.try_lock() {
        Ok(()) => Ok(path.exists().then_some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Visits all temporary files below a prefix.
fn below(directory: &Path, prefix: &Prefix, visit: &mut dyn FnMut(Leftover)) -> io::Result<()> {
    let mut prefixes = vec![prefix.clone()];
    while let Some(prefix) = prefixes.pop() {
        let entries = match fs::read_dir(directory.join(prefix.as_str())) {
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                continue;
            }
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            let kind = entry.file_type()?;
            if kind.is_dir() {
                // Names that are no prefixes are none of the store's.
                prefixes.extend(prefix.child(&name));
            } else if kind.is_file()
                && is_temporary(&name)
                && let Ok(key) = prefix.key(&name)
            {
                let size = entry.metadata().map_or(0, |file| file.len());
                visit(Leftover { key, size, path: entry.path() });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(directory: &Path, prefix: &str) -> Vec<(String, u64)> {
        let mut found = Vec::new();
        let mut visit = |leftover: Leftover| found.push((leftover.key.to_string(), leftover.size));
        leftovers(directory, &Prefix::new(prefix).unwrap(), &mut visit).unwrap();
        found.sort();
        found
    }

    #[test]
    fn files_whose_writer_lives_are_no_leftovers() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        fs::create_dir_all(path.join("a/b")).unwrap();
        for name in [".zarrox-1-1.tmp", "a/.zarrox-1-2.tmp", "a/b/.zarrox-2-0.tmp", "a/c.tmp"] {
            let file = File::create(path.join(name)).unwrap();
            file.set_len(3).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(9)).unwrap();
        }
        let writer = File::open(path.join("a/b/.zarrox-2-0.tmp")).unwrap();
        writer.lock().unwrap();
        let dead = [(".zarrox-1-1.tmp".to_owned(), 3), ("a/.zarrox-1-2.tmp".to_owned(), 3)];
        assert_eq!(found(path, ""), dead);
        assert_eq!(found(path, "a/"), dead[1..]);
        assert_eq!(found(path, "nothing/"), []);
        let mut deleted = Vec::new();
        leftovers(path, &Prefix::root(), &mut |leftover| deleted.push(leftover.delete().unwrap())).unwrap();
        assert_eq!(deleted, [true, true]);
        assert_eq!(found(path, ""), []);
        drop(writer);
        assert_eq!(found(path, ""), [("a/b/.zarrox-2-0.tmp".to_owned(), 3)]);
        assert!(path.join("a/c.tmp").exists());
    }
}
