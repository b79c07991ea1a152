//! Input and output files: errors name them, and incomplete output is removed.

use std::fs::{self, File};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use tempfile::{NamedTempFile, TempPath};
use zarrox::stores::internals::flush_name;
use zarrox::{Error, ErrorKind, Result};

/// Returns the error for a failed operation on a file or stream, such as "reading 'a.npy'".
pub(crate) fn failed(operation: &str, error: io::Error) -> Error {
    let kind = match error.kind() {
        io::ErrorKind::NotFound => ErrorKind::NotFound,
        io::ErrorKind::AlreadyExists => ErrorKind::AlreadyExists,
        io::ErrorKind::PermissionDenied => ErrorKind::Forbidden,
        io::ErrorKind::ReadOnlyFilesystem => ErrorKind::ReadOnly,
        io::ErrorKind::StorageFull => ErrorKind::StorageFull,
        io::ErrorKind::Unsupported => ErrorKind::Unsupported,
        io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData => ErrorKind::Corrupt,
        _ => ErrorKind::Unreachable,
    };
    Error::new(kind, format!("{operation} failed: {error}")).with_source(error)
}

/// Opens a file for reading.
pub(crate) fn open(path: &Path) -> Result<File> {
    File::open(path).map_err(|error| failed(&format!("opening '{}'", path.display()), error))
}

/// True if finished files are flushed to the disk.
static FLUSHES: AtomicBool = AtomicBool::new(false);

/// Sets whether files are flushed to the disk before they are finished: `--sync`.
pub(crate) fn flush(flush: bool) {
    FLUSHES.store(flush, Relaxed);
}

/// Returns true if files are flushed to the disk before they are finished.
pub(crate) fn flushes() -> bool {
    FLUSHES.load(Relaxed)
}

/// An output file that gets its final name only when it is complete.
#[derive(Debug)]
pub(crate) struct Output {
    file: File,
    /// The name, for error messages.
    name: String,
    /// The temporary file; `None` for a pipe or a device, which is written directly.
    target: Option<Target>,
}

#[derive(Debug)]
struct Target {
    temporary: TempPath,
    path: PathBuf,
    overwrite: bool,
}

impl Output {
    /// Creates a file for writing. An existing file is replaced only with `overwrite`.
    pub(crate) fn create(path: &Path, overwrite: bool) -> Result<Self> {
        let name = format!("'{}'", path.display());
        let creating = |error| failed(&format!("creating {name}"), error);
        // A symbolic link is kept, and its target is replaced.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        match fs::metadata(&path) {
            Ok(metadata) if metadata.is_dir() => {
                return Err(exists(&path, "is a directory"));
            }
            Ok(metadata) if !metadata.is_file() => {
                let file = File::options().write(true).open(&path).map_err(creating)?;
                return Ok(Self { file, name, target: None });
            }
            Ok(_) if !overwrite => return Err(exists(&path, "already exists; --force replaces it")),
            _ => {}
        }
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let temporary = temporary(directory.unwrap_or(Path::new("."))).map_err(creating)?;
        let (file, temporary) = temporary.into_parts();
        Ok(Self { file, name, target: Some(Target { temporary, path, overwrite }) })
    }

    /// Returns true if the file can be written in any order.
    pub(crate) fn can_seek(&self) -> bool {
        self.target.is_some()
    }

    fn named(&self, error: &io::Error) -> io::Error {
        io::Error::new(error.kind(), format!("{}: {error}", self.name))
    }

    /// Renames the complete file to its final name.
    pub(crate) fn finish(self) -> Result<()> {
        let Some(Target { temporary, path, overwrite }) = self.target else { return Ok(()) };
        let flushing = |error| failed(&format!("flushing '{}'", path.display()), error);
        if flushes() {
            self.file.sync_all().map_err(flushing)?;
        }
        drop(self.file);
        let persisted = if overwrite { temporary.persist(&path) } else { temporary.persist_noclobber(&path) };
        persisted.map_err(|error| match error.error.kind() {
            io::ErrorKind::AlreadyExists => {
                exists(&path, "was created meanwhile by another program; --force replaces it")
            }
            _ => failed(&format!("creating '{}'", path.display()), error.error),
        })?;
        if flushes() { flush_name(&path).map_err(flushing) } else { Ok(()) }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes).map_err(|error| self.named(&error))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush().map_err(|error| self.named(&error))
    }
}

impl Seek for Output {
    fn seek(&mut self, position: io::SeekFrom) -> io::Result<u64> {
        self.file.seek(position).map_err(|error| self.named(&error))
    }
}

fn exists(path: &Path, what: &str) -> Error {
    Error::new(ErrorKind::AlreadyExists, format!("'{}' {what}", path.display()))
}

/// Creates a temporary file with the default permissions of new files.
fn temporary(directory: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".zarrox-").suffix(".tmp");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(directory)
}
