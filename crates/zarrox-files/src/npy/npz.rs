//! [`Npz`]: NumPy's `.npz` files, which are ZIP archives of `.npy` files. They are read and written with the crate `zip`.

use std::fmt;
use std::io::{self, BufReader, Read};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use zarrox::{Error, ErrorKind, Result};
use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

use super::header::Header;
use crate::input::temporary::{Temporary, writing};
use crate::input::{Input, Reader, corrupt, failed as io_failed, unsupported};

/// The number of bytes read at a time when a checksum is verified.
const PIECE: usize = 1 << 18;

type Archive = ZipArchive<BufReader<Reader>>;

/// An archive that is open for reading.
pub(super) struct Npz {
    input: Arc<Input>,
    archive: Arc<Mutex<Archive>>,
}

/// The elements of a member.
pub(super) struct Member {
    input: Arc<Input>,
    archive: Arc<Mutex<Archive>>,
    file: String,
    /// The length of the `.npy` header in bytes.
    header: u64,
    /// The position, size and checksum of the member, if it is stored uncompressed.
    stored: Option<(u64, u64, u32)>,
    /// The decompressed content of a compressed member.
    unpacked: OnceLock<Input>,
    /// True once the checksum has been verified or the member decompressed. This is done only once.
    once: Mutex<bool>,
}

impl Npz {
    pub(super) fn open(input: &Arc<Input>) -> Result<Self> {
        let reader = BufReader::new(Reader::new(Arc::clone(input)));
        let archive = Arc::new(Mutex::new(ZipArchive::new(reader).map_err(failed)?));
        Ok(Self { input: Arc::clone(input), archive })
    }

    /// Returns the names of the arrays.
    pub(super) fn names(&self) -> Result<Vec<String>> {
        let archive = self.archive.lock().unwrap_or_else(PoisonError::into_inner);
        let name = |file: &str| {
            let name = file.strip_suffix(".npy").map(str::to_owned);
            name.ok_or_else(|| unsupported(format!("its member '{file}' is not an array")))
        };
        archive.file_names().map(|file| name(&file.map_err(failed)?)).collect()
    }

    /// Returns the header of an array, its elements, and the size of the elements in bytes.
    pub(super) fn member(&self, name: &str) -> Result<(Header, Member, u64)> {
        let file = format!("{name}.npy");
        let mut archive = self.archive.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found = archive.by_name(&file).map_err(failed)?;
        let (size, crc) = (found.size(), found.crc32());
        let is_stored = found.compression() == CompressionMethod::Stored;
        let stored = found.data_start().filter(|_| is_stored).map(|start| (start, size, crc));
        let mut counted = Counted { reader: &mut found, count: 0 };
        let header = Header::read(&mut counted).map_err(|error| error.at(format!("member '{name}'")))?;
        let length = counted.count;
        let member = Member {
            input: Arc::clone(&self.input),
            archive: Arc::clone(&self.archive),
            file,
            header: length,
            stored,
            unpacked: OnceLock::new(),
            once: Mutex::new(false),
        };
        Ok((header, member, size.saturating_sub(length)))
    }
}

impl Member {
    /// Returns the file that contains the elements, and their position in it. The checksum is verified on the first read.
    pub(super) fn elements(&self) -> Result<(&Input, u64)> {
        self.prepare()?;
        match (self.stored, self.unpacked.get()) {
            (Some((start, ..)), _) => Ok((&self.input, start.saturating_add(self.header))),
            (None, Some(unpacked)) => Ok((unpacked, self.header)),
            (None, None) => Err(corrupt(format!("'{}' cannot be decompressed", self.file))),
        }
    }

    fn prepare(&self) -> Result<()> {
        let mut is_ready = self.once.lock().unwrap_or_else(PoisonError::into_inner);
        if !*is_ready {
            match self.stored {
                Some((start, size, crc)) => self.check(start, size, crc)?,
                None => drop(self.unpacked.set(self.unpack()?)),
            }
            *is_ready = true;
        }
        Ok(())
    }

    fn check(&self, start: u64, size: u64, crc: u32) -> Result<()> {
        let (mut hasher, mut buffer, mut done) = (crc32fast::Hasher::new(), vec![0; PIECE], 0);
        while done < size {
            let wanted = usize::try_from(size - done).unwrap_or(PIECE).min(PIECE);
            let read = self.input.read_into(&mut buffer[..wanted], start.saturating_add(done))?;
            if read == 0 {
                return Err(corrupt(format!("'{}' is truncated", self.file)));
            }
            hasher.update(&buffer[..read]);
            done += read as u64;
        }
        if hasher.finalize() == crc {
            Ok(())
        } else {
            Err(corrupt(format!("the checksum of '{}' is wrong", self.file)))
        }
    }

    fn unpack(&self) -> Result<Input> {
        let mut archive = self.archive.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found = archive.by_name(&self.file).map_err(failed)?;
        let size = found.size();
        let mut temporary = Temporary::new();
        let mut buffer = vec![0; PIECE];
        let mut done = 0;
        loop {
            let reading = |error| io_failed(&format!("reading '{}'", self.file), error);
            let read = found.read(&mut buffer).map_err(reading)?;
            if read == 0 {
                return temporary.finish(PathBuf::from(&self.file));
            }
            done += read as u64;
            // Data beyond the declared size must not fill up the disk.
            if done > size {
                return Err(corrupt(format!("'{}' has more than the announced {size} bytes", self.file)));
            }
            io::Write::write_all(&mut temporary, &buffer[..read]).map_err(writing)?;
        }
    }
}

impl fmt::Debug for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Member").field("file", &self.file).finish_non_exhaustive()
    }
}

/// A reader that counts the bytes it returns.
struct Counted<'r, R> {
    reader: &'r mut R,
    count: u64,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.count += read as u64;
        Ok(read)
    }
}

/// Returns the error for an archive that cannot be read.
pub(super) fn failed(error: ZipError) -> Error {
    let kind = match error {
        ZipError::Io(error) => return io_failed("reading or writing the archive", error),
        ZipError::UnsupportedArchive(_) | ZipError::CompressionMethodNotSupported(_) => {
            ErrorKind::Unsupported
        }
        ZipError::FileNotFound => ErrorKind::NotFound,
        _ => ErrorKind::Corrupt,
    };
    Error::new(kind, error.to_string()).with_source(error)
}
