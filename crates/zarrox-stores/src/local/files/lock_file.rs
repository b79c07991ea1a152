//! Locks in files of their own, for systems that refuse to replace a file while it is open, as a locked file is.
//!
//! A lock ends with its process, and its file is removed with it. On Windows, the lock is the open file itself: its sharing mode
//! keeps other processes from opening it, and the system removes the file when it is closed. Elsewhere, the file is locked.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use crate::Hold;

/// The lock of a file or directory, until it is dropped.
pub struct LockFile {
    #[cfg_attr(windows, expect(dead_code, reason = "the system removes the file when it is closed"))]
    file: File,
    #[cfg_attr(windows, expect(dead_code, reason = "the system removes the file when it is closed"))]
    path: PathBuf,
    /// A forked process must not remove the file of its parent.
    #[cfg_attr(windows, expect(dead_code, reason = "Windows does not fork"))]
    process: u32,
}

impl LockFile {
    /// Tries to acquire the lock in the file at a path.
    pub(super) fn try_lock(path: &Path, how: Hold) -> Result<Self, TryLockError> {
        let file = open_locked(path, how)?;
        Ok(Self { file, path: path.to_owned(), process: std::process::id() })
    }
}

#[cfg(windows)]
fn open_locked(path: &Path, how: Hold) -> Result<File, TryLockError> {
    use std::os::windows::fs::OpenOptionsExt;

    const ACCESS: u32 = 0x8000_0000 | DELETE;
    const DELETE: u32 = 0x0001_0000;
    const DELETE_ON_CLOSE: u32 = 0x0400_0000;
    const SHARE_ALL: u32 = 7;
    const SHARE_DELETE: u32 = 4;
    const SHARING_VIOLATION: i32 = 32;
    let mut options = OpenOptions::new();
    // With these accesses, an exclusive lock keeps others from opening the file, but not from removing its directory.
    let share = if how == Hold::Shared { SHARE_ALL } else { SHARE_DELETE };
    options.write(true).create(true).access_mode(ACCESS).share_mode(share).custom_flags(DELETE_ON_CLOSE);
    options.open(path).map_err(|error| match error.raw_os_error() {
        Some(SHARING_VIOLATION) => TryLockError::WouldBlock,
        // A file that is being removed can neither be opened nor created.
        _ if error.kind() == io::ErrorKind::PermissionDenied && fs::symlink_metadata(path).is_ok() => {
            TryLockError::WouldBlock
        }
        _ => TryLockError::Error(error),
    })
}

#[cfg(not(windows))]
fn open_locked(path: &Path, how: Hold) -> Result<File, TryLockError> {
    use super::identity::{identity, identity_of};

    loop {
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).open(path).map_err(TryLockError::Error)?;
        let locked = match how {
            Hold::Shared => file.try_lock_shared(),
            Hold::Exclusive => file.try_lock(),
        };
        if matches!(locked, Err(TryLockError::Error(_))) {
            // The file system does not support locks, so that no other process has locked the file.
            let _ = fs::remove_file(path);
        }
        locked?;
        // The previous holder may have removed the file in the meantime.
        let opened = identity(&file).map_err(TryLockError::Error)?;
        match identity_of(path) {
            Ok(there) if there == opened => return Ok(file),
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(TryLockError::Error(error)),
            _ => {}
        }
    }
}

#[cfg(not(windows))]
impl Drop for LockFile {
    fn drop(&mut self) {
        // The last of several holders of a shared lock removes the file.
        if self.process == std::process::id() && self.file.try_lock().is_ok() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_exclude_each_other_and_leave_no_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lock");
        let lock = |how| LockFile::try_lock(&path, how);
        let alone = lock(Hold::Exclusive).unwrap();
        for how in [Hold::Shared, Hold::Exclusive] {
            assert!(matches!(lock(how), Err(TryLockError::WouldBlock)));
        }
        drop(alone);
        assert!(!path.exists());
        let (first, second) = (lock(Hold::Shared).unwrap(), lock(Hold::Shared).unwrap());
        assert!(matches!(lock(Hold::Exclusive), Err(TryLockError::WouldBlock)));
        drop(first);
        assert!(matches!(lock(Hold::Exclusive), Err(TryLockError::WouldBlock)));
        drop(second);
        assert!(!path.exists());
        drop(lock(Hold::Exclusive).unwrap());
        assert!(matches!(LockFile::try_lock(&path.join("below"), Hold::Shared), Err(TryLockError::Error(_))));
    }
}
