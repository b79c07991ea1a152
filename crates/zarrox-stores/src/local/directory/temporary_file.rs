//! Files that are written before they are renamed to values: [`TemporaryFile`].

use std::fs::{File, Permissions};
use std::sync::Arc;

use crate::local::fault::Fault;
use crate::local::files::{DirectoryRef, facts};
use crate::local::held::HeldLock;
use crate::temporary::next_name;

/// A file that is being written. If it is dropped before it is renamed to a value, the file is removed.
///
/// The file is locked as long as it is open, which shows other processes that its writer is running.
pub(super) struct TemporaryFile<'a> {
    /// Some systems remove only closed files, so this is dropped before the name.
    pub(super) file: Arc<File>,
    name: TemporaryName<'a>,
}

/// The name of a file that is being written.
struct TemporaryName<'a> {
    directory: DirectoryRef<'a>,
    name: String,
    /// True once the file was renamed to a value.
    renamed: bool,
}

impl<'a> TemporaryFile<'a> {
    /// Creates a file with the permissions of the file that it will replace, if any.
    pub(super) fn create(
        directory: DirectoryRef<'a>,
        permissions: Option<&Permissions>,
    ) -> Result<Self, Fault> {
        loop {
            let name = next_name();
            // A name may exist if a process with the same process ID has left it, which ran earlier or on another host.
            if let Some(file) = directory.create(&name, permissions)? {
                let name = TemporaryName { directory, name, renamed: false };
                return Ok(Self { file: Arc::new(file), name });
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

    /// Returns the lock of the file, which remains locked when the file has been renamed, and its permissions.
    pub(super) fn lock(&self) -> Result<(HeldLock, Permissions), Fault> {
        let facts = facts(&*self.file)?;
        let lock = self.name.directory.lock_created(&self.file, facts.identity)?;
        Ok((HeldLock::adopt(lock, facts.identity), facts.permissions))
    }
}

impl TemporaryName<'_> {
    fn replace(&mut self, name: &str) -> Result<(), Fault> {
        self.directory.replace(&self.name, name)?;
        self.renamed = true;
        Ok(())
    }

    fn publish(&mut self, name: &str) -> Result<(), Fault> {
        self.renamed = self.directory.rename_new(&self.name, name)?;
        if self.renamed { Ok(()) } else { self.link(name) }
    }

    /// Publishes the file by a hard link, for file systems that cannot rename without replacing.
    fn link(&self, name: &str) -> Result<(), Fault> {
        self.directory.link(&self.name, name)
    }
}

impl Drop for TemporaryName<'_> {
    fn drop(&mut self) {
        if !self.renamed {
            // The failure that led here has already been reported.
            let _ = self.directory.unlink(&self.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;

    use super::*;
    use crate::local::files::Directory;

    /// Tests the fallback for file systems that cannot rename without replacing.
    #[test]
    fn publishing_with_a_link() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("b"), b"value").unwrap();
        let open = Directory::at(directory.path()).unwrap();
        let write = |name| {
            let temporary = TemporaryFile::create(open.get(), None).unwrap();
            (&*temporary.file).write_all(b"new").unwrap();
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
        let open = Directory::at(directory.path()).unwrap();
        let temporary = TemporaryFile::create(open.get(), None).unwrap();
        let name = temporary.name.name.clone();
        assert!(open.get().open_abandoned(&name).is_none());
        let TemporaryFile { file, name: kept } = temporary;
        drop(file);
        assert!(open.get().open_abandoned(&name).is_some());
        drop(kept);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}
