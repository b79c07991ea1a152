//! Durable directory entries. After a power failure, even a flushed file is lost if the directory entry that names it is not on
//! the disk.

use std::fs::{self, File};
use std::io;
use std::path::Path;

/// Creates a directory and its missing parents; with `sync`, all of them survive a power failure.
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

/// Flushes the entries of a directory.
pub fn sync_directory(path: &Path) -> io::Result<()> {
    // Other systems do not have this call.
    if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
}

/// Makes the name of a file durable, with the names of the directories above it as far as this process can open them, since the
/// program that created the directories need not have flushed their names. The bytes of the file are not flushed.
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

/// Flushes the directories above a directory whose path has no links, as far as this process can open them.
pub(crate) fn flush_above(directory: &Path) {
    for above in directory.ancestors().skip(1) {
        if sync_directory(above).is_err() {
            return;
        }
    }
}

/// Returns the directory of a file.
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
