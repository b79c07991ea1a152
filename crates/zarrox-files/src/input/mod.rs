//! Thread-safe random-access input: files, and bytes in memory.

#[cfg(any(feature = "nifti", feature = "npz", feature = "tables"))]
pub(crate) mod temporary;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
#[cfg(any(feature = "images", feature = "nifti", feature = "npz", feature = "tiff"))]
use std::sync::Arc;

use zarrox::stores::Bytes;
use zarrox::stores::internals::support::read_exact_at;
use zarrox::{Error, ErrorKind, Result};

/// A file that is open for reading.
#[derive(Debug)]
pub(crate) struct Input {
    content: Content,
    name: PathBuf,
    path: PathBuf,
    length: u64,
}

/// The bytes of a file.
#[derive(Debug)]
enum Content {
    File(File),
    Memory(Bytes),
}

impl Input {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let failed = |error| self::failed(&format!("opening '{}'", path.display()), error);
        let file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if !metadata.is_file() {
            let message = format!("'{}' does not support random access", path.display());
            return Err(Error::new(ErrorKind::InvalidArgument, message));
        }
        let name = path.to_owned();
        let path = std::fs::canonicalize(path).unwrap_or_else(|_| name.clone());
        Ok(Self { content: Content::File(file), name, path, length: metadata.len() })
    }

    /// Wraps an open file. `name` is used in error messages.
    pub(crate) fn of(file: File, name: PathBuf) -> Result<Self> {
        let failed = |error| self::failed(&format!("reading '{}'", name.display()), error);
        let length = file.metadata().map_err(failed)?.len();
        Ok(Self { content: Content::File(file), path: name.clone(), name, length })
    }

    /// Wraps bytes in memory as a file with the given name.
    pub(crate) fn in_memory(bytes: Bytes, name: PathBuf) -> Self {
        let length = bytes.len() as u64;
        Self { content: Content::Memory(bytes), path: name.clone(), name, length }
    }

    /// Returns true if the content is in memory.
    #[cfg(any(test, feature = "nifti"))]
    pub(crate) fn is_in_memory(&self) -> bool {
        matches!(self.content, Content::Memory(_))
    }

    /// Returns the name of the file as given by the caller. The suffix of this name is used even if the file is a symbolic link.
    pub(crate) fn name(&self) -> &Path {
        &self.name
    }

    /// Returns the canonical path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the length in bytes.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Reads a byte range. The range is checked against the length of the file before memory is allocated.
    pub(crate) fn read(&self, offset: u64, length: u64) -> Result<Vec<u8>> {
        if offset.checked_add(length).is_none_or(|end| end > self.length) {
            return Err(corrupt(format!(
                "cannot read {length} bytes at offset {offset}: the file has {} bytes",
                self.length
            )));
        }
        let length = usize::try_from(length).map_err(|_| out_of_memory(length))?;
        let mut bytes = zeroed(length)?;
        self.fill(&mut bytes, offset)?;
        Ok(bytes)
    }

    /// Reads bytes at an offset until the buffer is full or the file ends, and returns the number of bytes read.
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

    /// Reads at most the first `most` bytes.
    pub(crate) fn start(&self, most: u64) -> Result<Vec<u8>> {
        self.read(0, most.min(self.length))
    }

    fn read_exact_at(&self, out: &mut [u8], offset: u64) -> io::Result<()> {
        match &self.content {
            Content::File(file) => read_exact_at(file, out, offset),
            Content::Memory(bytes) => {
                let begin = usize::try_from(offset).unwrap_or(usize::MAX);
                let bytes = bytes.get(begin..).and_then(|bytes| bytes.get(..out.len()));
                out.copy_from_slice(bytes.ok_or(io::ErrorKind::UnexpectedEof)?);
                Ok(())
            }
        }
    }
}

/// One of many files. It is opened only when it is read.
#[cfg(any(feature = "images", feature = "tiff"))]
#[derive(Debug, Clone)]
pub(crate) enum Source {
    Open(Arc<Input>),
    Closed(Arc<PathBuf>),
}

#[cfg(any(feature = "images", feature = "tiff"))]
impl Source {
    /// Returns the open file.
    pub(crate) fn input(&self) -> Result<Arc<Input>> {
        match self {
            Self::Open(input) => Ok(Arc::clone(input)),
            Self::Closed(path) => Input::open(path).map(Arc::new),
        }
    }

    /// Returns the name of the file.
    #[cfg(feature = "images")]
    pub(crate) fn name(&self) -> &Path {
        match self {
            Self::Open(input) => input.name(),
            Self::Closed(path) => path,
        }
    }
}

/// A sequential reader of a file.
#[cfg(any(feature = "images", feature = "nifti", feature = "npz"))]
#[derive(Debug, Clone)]
pub(crate) struct Reader {
    input: Arc<Input>,
    position: u64,
}

#[cfg(any(feature = "images", feature = "nifti", feature = "npz"))]
impl Reader {
    pub(crate) fn new(input: Arc<Input>) -> Self {
        Self { input, position: 0 }
    }
}

#[cfg(any(feature = "images", feature = "nifti", feature = "npz"))]
impl io::Read for Reader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let left = self.input.length.saturating_sub(self.position);
        let length = usize::try_from(left).unwrap_or(usize::MAX).min(out.len());
        self.input.read_exact_at(&mut out[..length], self.position)?;
        self.position += length as u64;
        Ok(length)
    }
}

#[cfg(any(feature = "images", feature = "npz"))]
impl io::Seek for Reader {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        let position = match to {
            io::SeekFrom::Start(position) => Some(position),
            io::SeekFrom::End(distance) => self.input.length.checked_add_signed(distance),
            io::SeekFrom::Current(distance) => self.position.checked_add_signed(distance),
        };
        self.position = position.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}

/// Returns an empty buffer with capacity for `length` bytes, or an error if it cannot be allocated.
pub(crate) fn reserved(length: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(length).map_err(|_| out_of_memory(length as u64))?;
    Ok(bytes)
}

/// Returns a buffer of `length` zeros, or an error if it cannot be allocated.
pub(crate) fn zeroed(length: usize) -> Result<Vec<u8>> {
    let mut bytes = reserved(length)?;
    bytes.resize(length, 0);
    Ok(bytes)
}

fn out_of_memory(length: u64) -> Error {
    Error::new(ErrorKind::OutOfMemory, format!("memory allocation of {length} bytes failed"))
}

/// Returns the error for damaged content.
pub(crate) fn corrupt(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Corrupt, message)
}

/// Returns the error for unsupported content.
pub(crate) fn unsupported(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Unsupported, message)
}

/// Returns the error for a failed file operation, such as "reading 'a.nc'".
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
