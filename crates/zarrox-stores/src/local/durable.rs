//! Directories whose entries are on the disk: a file that was flushed is lost all the same if the entry that names it is not there
//! after a power failure.

use std::fs::{self, File};
use std::io;
use std::path::Path;

/// Makes a directory and those above it that are missing; with `sync`, so that all of them outlive a power failure.
pub fn create_directories(path: &Path, sync: bool) -> io::Result<()> {
    if !sync || path.is_dir() {
        return fs::create_dir_all(path);
    }
    let above = directory_of(path);
    create_directories(above, sync)?;
    match fs::create_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => {}
        made => made?,
    }
    sync_directory(above)
}

/// Flushes the names of what is in a directory.
pub fn sync_directory(path: &Path) -> io::Result<()> {
    // Other systems have no such call.
    if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
}

/// Makes the name of a file outlive a power failure, with the names of the directories above it as far as they are open to this
/// process: whoever has made them need not have flushed them. The bytes of the file are not flushed.
///
/// # Errors
///
/// When the directory of the file cannot be flushed.
pub fn flush_name(file: &Path) -> io::Result<()> {
    let directory = fs::canonicalize(directory_of(file))?;
    sync_directory(&directory)?;
    flush_above(&directory);
    Ok(())
}

/// Flushes the directories above one that has no links in its path, as far as they are open to this process.
pub(crate) fn flush_above(directory: &Path) {
    for above in directory.ancestors().skip(1) {
        if sync_directory(above).is_err() {
            return;
        }
    }
}

/// The directory that a file is in.
pub fn directory_of(path: &Path) -> &Path {
    let named = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    named.unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_directories_are_made_with_and_without_syncing() {
        let root = tempfile::tempdir().unwrap();
        for sync in [false, true] {
            let path = root.path().join(sync.to_string()).join("a/b/c");
            create_directories(&path, sync).unwrap();
            create_directories(&path, sync).unwrap();
            assert!(path.is_dir());
        }
        fs::write(root.path().join("file"), "").unwrap();
        for sync in [false, true] {
            assert!(create_directories(&root.path().join("file"), sync).is_err());
            assert!(create_directories(&root.path().join("file/below"), sync).is_err());
        }
    }
}
