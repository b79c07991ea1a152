//! Files that are written before they are renamed to values: [`TemporaryFile`].

use std::fs::{File, TryLockError};
use std::os::fd::BorrowedFd;

use rustix::fs::{self as sys, AtFlags, Mode, OFlags};
use rustix::io::Errno;

use super::fault::Fault;
use crate::temporary::next_name;

/// A file that is being written. If it is dropped before it is renamed to a value, the file is removed.
///
/// The file is locked as long as it is open, which shows other processes that its writer is running.
pub(super) struct TemporaryFile<'a> {
    name: TemporaryName<'a>,
    pub(super) file: File,
}

/// The name of a file that is being written.
struct TemporaryName<'a> {
    directory: BorrowedFd<'a>,
    name: String,
    /// True once the file was renamed to a value.
    renamed: bool,
}

impl<'a> TemporaryFile<'a> {
    /// Creates a file with the permissions of the file that it will replace, if any.
    pub(super) fn create(directory: BorrowedFd<'a>, old_mode: Option<Mode>) -> Result<Self, Fault> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = old_mode.unwrap_or(Mode::from_raw_mode(0o666));
        loop {
            let name = next_name();
            let file = match sys::openat(directory, &name, flags, mode) {
                // The file was left by a process with the same process ID, which ran earlier or on another host.
                Err(Errno::EXIST) => continue,
                other => File::from(other?),
            };
            let temporary = Self { name: TemporaryName { directory, name, renamed: false }, file };
            if let Some(mode) = old_mode
                && has_other_permissions(&temporary.file, mode)
            {
                // File systems without permissions reject this call, but do not need it.
                let _ = sys::fchmod(&temporary.file, mode);
            }
            // A file system without locks is never swept. If the file is already locked, the holder of the lock is about to
            // remove it.
            if !matches!(temporary.file.try_lock(), Err(TryLockError::WouldBlock)) {
                return Ok(temporary);
            }
        }
    }

    /// Renames the file to a value, replacing an existing file.
    pub(super) fn replace(&mut self, name: &str) -> Result<(), Fault> {
        self.name.replace(name)
    }

    /// Renames the file to a value, unless the value exists.
    pub(super) fn publish(&mut self, name: &str) -> Result<(), Fault> {
        self.name.publish(name)
    }

    /// Returns the open file, which was renamed to a value.
    pub(super) fn into_file(self) -> File {
        self.file
    }
}

impl TemporaryName<'_> {
    fn replace(&mut self, name: &str) -> Result<(), Fault> {
        sys::renameat(self.directory, &self.name, self.directory, name)?;
        self.renamed = true;
        Ok(())
    }

    fn publish(&mut self, name: &str) -> Result<(), Fault> {
        match rename_new(self.directory, &self.name, name) {
            Ok(()) => self.renamed = true,
            Err(Errno::EXIST) => return Err(Fault::Exists),
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => self.link(name)?,
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Publishes the file by a hard link, for file systems that cannot rename without replacing.
    fn link(&mut self, name: &str) -> Result<(), Fault> {
        match sys::linkat(self.directory, &self.name, self.directory, name, AtFlags::empty()) {
            Err(Errno::EXIST) => Err(Fault::Exists),
            Err(Errno::PERM) => Err(Errno::NOTSUP.into()),
            other => Ok(other?),
        }
    }
}

impl Drop for TemporaryName<'_> {
    fn drop(&mut self) {
        if !self.renamed {
            // The failure that led here has already been reported.
            let _ = sys::unlinkat(self.directory, &self.name, AtFlags::empty());
        }
    }
}

/// Returns true if the permissions of a new file differ from the requested ones. They rarely do, and setting them would cost more
/// than this check.
fn has_other_permissions(file: &File, wanted: Mode) -> bool {
    sys::fstat(file).map_or(true, |stat| Mode::from_raw_mode(stat.st_mode) != wanted)
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn rename_new(directory: BorrowedFd<'_>, from: &str, to: &str) -> Result<(), Errno> {
    sys::renameat_with(directory, from, directory, to, sys::RenameFlags::NOREPLACE)
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn rename_new(_directory: BorrowedFd<'_>, _from: &str, _to: &str) -> Result<(), Errno> {
    Err(Errno::NOSYS)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;
    use std::os::fd::AsFd;

    use super::*;

    /// Tests the fallback for file systems that cannot rename without replacing.
    #[test]
    fn publishing_with_a_link() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("b"), b"value").unwrap();
        let open = File::open(directory.path()).unwrap();
        let write = |name| {
            let mut temporary = TemporaryFile::create(open.as_fd(), None).unwrap();
            temporary.file.write_all(b"new").unwrap();
            temporary.name.link(name)
        };
        assert!(matches!(write("b"), Err(Fault::Exists)));
        write("c").unwrap();
        assert_eq!(fs::read(directory.path().join("b")).unwrap(), b"value");
        assert_eq!(fs::read(directory.path().join("c")).unwrap(), b"new");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_file_that_is_being_written_is_locked() {
        let directory = tempfile::tempdir().unwrap();
        let open = File::open(directory.path()).unwrap();
        let temporary = TemporaryFile::create(open.as_fd(), None).unwrap();
        let other = File::open(directory.path().join(&temporary.name.name)).unwrap();
        assert!(matches!(other.try_lock(), Err(TryLockError::WouldBlock)));
        drop(temporary);
        other.try_lock().unwrap();
    }
}
