//! Durable directory entries. After a power failure, even a flushed file is lost if its directory entry is not on disk.

use std::fs::{self, File};
use std::io;
use std::path::Path;

/// Creates a directory and its missing parents. With `sync`, all of them survive a power failure.
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
    // Other systems cannot flush directories.
    if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
}

/// Makes the name of a file durable, and the names of the directories above it as far as this process can open them, since the
/// program that created them may not have flushed their names. The content of the file is not flushed.
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

/// Flushes the parent directories of a directory, as far as this process can open them. The path of the directory must not
/// contain links.
pub(crate) fn flush_above(directory: &Path) {
    for above in directory.ancestors().skip(1) {
        if sync_directory(above).is_err() {
            return;
        }
    }
}

/// Returns the directory that contains a file.
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
