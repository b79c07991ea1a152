//! NumPy's `.npz` files: ZIP archives of `.npy` files.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

use zarrox::{Error, ErrorKind, Result};
use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use crate::files;

/// The first bytes of a ZIP archive, and those of an empty one.
pub(crate) const MAGICS: [&[u8]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];

/// An archive that is read. It is read and written by the crate `zip`.
pub(crate) struct Archive(ZipArchive<BufReader<File>>);

impl Archive {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        ZipArchive::new(BufReader::new(files::open(path)?)).map(Self).map_err(failed)
    }

    /// The names of the arrays.
    pub(crate) fn members(&self) -> Result<Vec<String>> {
        self.0.file_names().map(|file| name(&file.map_err(failed)?)).collect()
    }

    /// A reader of the `.npy` file of an array; and its offset in the archive, if it is stored uncompressed.
    pub(crate) fn member(&mut self, name: &str) -> Result<(impl Read, Option<u64>)> {
        let file = format!("{name}.npy");
        if self.0.index_for_name(&file).is_none() {
            let names = self.members().unwrap_or_default().join(", ");
            return Err(Error::new(ErrorKind::NotFound, format!("there is no array '{name}', only {names}")));
        }
        let member = self.0.by_name(&file).map_err(failed)?;
        let is_stored = member.compression() == CompressionMethod::Stored;
        let start = member.data_start().filter(|_| is_stored);
        Ok((member, start))
    }
}

fn name(file: &str) -> Result<String> {
    let name = file.strip_suffix(".npy").map(str::to_owned);
    name.ok_or_else(|| Error::new(ErrorKind::Unsupported, format!("its member '{file}' is not an array")))
}

/// An archive that is written.
pub(crate) struct Writer<W: Write + Seek> {
    zip: ZipWriter<BufWriter<Latch<W>>>,
    compress: bool,
}

impl<W: Write + Seek> Writer<W> {
    pub(crate) fn new(out: W, compress: bool) -> Self {
        Self { zip: ZipWriter::new(BufWriter::new(Latch { out, position: 0, failed: false })), compress }
    }

    /// Begins an array. The `.npy` file is written to the returned writer.
    pub(crate) fn start(&mut self, name: &str) -> Result<&mut impl Write> {
        let method = if self.compress { CompressionMethod::Deflated } else { CompressionMethod::Stored };
        let options = SimpleFileOptions::default().compression_method(method).large_file(true);
        self.zip.start_file(format!("{name}.npy"), options).map_err(failed)?;
        Ok(&mut self.zip)
    }

    pub(crate) fn finish(self) -> Result<W> {
        let out = self.zip.finish().map_err(failed)?;
        let latch = out.into_inner();
        let latch = latch.map_err(|error| files::failed("writing the archive", error.into_error()))?;
        Ok(latch.out)
    }
}

/// A writer that passes writes on until one fails, and ignores all later ones.
///
/// The failure was reported already. Without this, [`ZipWriter`] would try to finish its archive when it is dropped, and complain
/// on the standard error.
struct Latch<W> {
    out: W,
    position: u64,
    failed: bool,
}

impl<W: Write> Write for Latch<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = if self.failed { Ok(bytes.len()) } else { self.out.write(bytes) };
        let written =
            written.inspect_err(|error| self.failed = error.kind() != io::ErrorKind::Interrupted)?;
        self.position += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.failed { Ok(()) } else { self.out.flush() }
    }
}

impl<W: Seek> Seek for Latch<W> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.position = match to {
            to if !self.failed => self.out.seek(to)?,
            SeekFrom::Start(position) => position,
            SeekFrom::Current(offset) | SeekFrom::End(offset) => self.position.saturating_add_signed(offset),
        };
        Ok(self.position)
    }
}

fn failed(error: ZipError) -> Error {
    let kind = match error {
        ZipError::Io(error) => return files::failed("reading or writing the archive", error),
        ZipError::UnsupportedArchive(_) | ZipError::CompressionMethodNotSupported(_) => {
            ErrorKind::Unsupported
        }
        ZipError::FileNotFound => ErrorKind::NotFound,
        _ => ErrorKind::Corrupt,
    };
    Error::new(kind, error.to_string()).with_source(error)
}
