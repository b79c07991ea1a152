//! Files that are read at any position, from several threads.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use zarrox::{Error, ErrorKind, Result};

/// A file that is open for reading.
#[derive(Debug)]
pub(crate) struct Input {
    file: File,
    path: PathBuf,
    length: u64,
}

impl Input {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let failed = |error| self::failed(&format!("opening '{}'", path.display()), error);
        let file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if !metadata.is_file() {
            let message = format!("'{}' is not a file that can be read in any order", path.display());
            return Err(Error::new(ErrorKind::InvalidArgument, message));
        }
        let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        Ok(Self { file, path, length: metadata.len() })
    }

    /// A file that is open, and has this name in errors.
    #[cfg(any(feature = "nifti", feature = "tables"))]
    pub(crate) fn of(file: File, path: PathBuf) -> Result<Self> {
        let length = file.metadata().map_err(|error| self::failed("reading a temporary file", error))?.len();
        Ok(Self { file, path, length })
    }

    /// The path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The length in bytes.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// The bytes of a range. The range is compared with the length of the file before memory is taken.
    pub(crate) fn read(&self, offset: u64, length: u64) -> Result<Vec<u8>> {
        if offset.checked_add(length).is_none_or(|end| end > self.length) {
            return Err(corrupt(format!(
                "{length} bytes from offset {offset} are not in the file, which has {} bytes",
                self.length
            )));
        }
        let length = usize::try_from(length).map_err(|_| too_large(length))?;
        let mut bytes = zeroed(length)?;
        self.fill(&mut bytes, offset)?;
        Ok(bytes)
    }

    /// Reads the bytes from a position on, as many as there are and have room. Returns their number.
    #[cfg(feature = "tables")]
    pub(crate) fn read_into(&self, out: &mut [u8], offset: u64) -> Result<usize> {
        let left = usize::try_from(self.length.saturating_sub(offset)).unwrap_or(usize::MAX);
        let length = left.min(out.len());
        self.fill(&mut out[..length], offset)?;
        Ok(length)
    }

    fn fill(&self, out: &mut [u8], offset: u64) -> Result<()> {
        let failed = |error| failed(&format!("reading '{}'", self.path.display()), error);
        self.read_exact_at(out, offset).map_err(failed)
    }

    /// The first bytes of the file, at most so many.
    pub(crate) fn start(&self, most: u64) -> Result<Vec<u8>> {
        self.read(0, most.min(self.length))
    }

    #[cfg(unix)]
    fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(&self.file, bytes, offset)
    }

    #[cfg(windows)]
    fn read_exact_at(&self, mut bytes: &mut [u8], mut offset: u64) -> io::Result<()> {
        while !bytes.is_empty() {
            let read = std::os::windows::fs::FileExt::seek_read(&self.file, bytes, offset)?;
            if read == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            bytes = &mut bytes[read..];
            offset += read as u64;
        }
        Ok(())
    }
}

/// Memory of zeros, or an error where there is not enough.
pub(crate) fn zeroed(length: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(length).map_err(|_| too_large(length as u64))?;
    bytes.resize(length, 0);
    Ok(bytes)
}

fn too_large(length: u64) -> Error {
    Error::new(ErrorKind::LimitExceeded, format!("there is no memory for {length} bytes"))
}

/// The error of damaged files.
pub(crate) fn corrupt(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Corrupt, message)
}

/// The error of what cannot be expressed.
pub(crate) fn unsupported(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Unsupported, message)
}

/// The error of an operation on a file, such as "reading 'a.nc'".
pub(crate) fn failed(operation: &str, error: io::Error) -> Error {
    let kind = match error.kind() {
        io::ErrorKind::NotFound => ErrorKind::NotFound,
        io::ErrorKind::AlreadyExists => ErrorKind::AlreadyExists,
        io::ErrorKind::PermissionDenied => ErrorKind::Forbidden,
        io::ErrorKind::ReadOnlyFilesystem => ErrorKind::ReadOnly,
        io::ErrorKind::StorageFull => ErrorKind::StorageFull,
        io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData => ErrorKind::Corrupt,
        _ => ErrorKind::Unreachable,
    };
    Error::new(kind, format!("{operation} failed: {error}")).with_source(error)
}
