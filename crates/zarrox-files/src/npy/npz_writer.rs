//! [`NpzWriter`]: NumPy's `.npz` files, which are ZIP archives of `.npy` files.

use std::fmt;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};

use zarrox::Result;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::npz::failed;
use crate::input;

/// A writer for archives of arrays.
///
/// ```
/// use std::io::{Cursor, Write};
/// use zarrox::data_type::Endian;
/// use zarrox::internals::data_type::ByteOrder;
/// use zarrox::{DataType, Order};
/// # use zarrox_files::{NpzWriter, open_bytes};
///
/// let mut archive = NpzWriter::new(Cursor::new(Vec::new()));
/// let member = archive.start("x")?;
/// member.write_all(&zarrox_files::npy::header(&DataType::UInt8, &ByteOrder::One(Endian::Little), Order::RowMajor, &[3])?)?;
/// member.write_all(&[1, 2, 3])?;
/// let bytes = archive.finish()?.into_inner();
///
/// let store = open_bytes("a.npz", bytes)?;
/// let x = zarrox::open_array((std::sync::Arc::new(store), "x"))?;
/// assert_eq!(x.read::<Vec<u8>>(..)?, [1, 2, 3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct NpzWriter<W: Write + Seek> {
    zip: ZipWriter<BufWriter<Latch<W>>>,
    compress: bool,
}

impl<W: Write + Seek> NpzWriter<W> {
    /// Starts an archive. By default, arrays are stored uncompressed.
    pub fn new(out: W) -> Self {
        let zip = ZipWriter::new(BufWriter::new(Latch { out, position: 0, failed: false }));
        Self { zip, compress: false }
    }

    /// Sets whether arrays are compressed.
    #[must_use]
    pub fn compress(self, compress: bool) -> Self {
        Self { compress, ..self }
    }

    /// Starts an array. The `.npy` file is written to the returned writer.
    ///
    /// # Errors
    /// Any error from writing.
    pub fn start(&mut self, name: &str) -> Result<&mut impl Write> {
        let method = if self.compress { CompressionMethod::Deflated } else { CompressionMethod::Stored };
        let options = SimpleFileOptions::default().compression_method(method).large_file(true);
        self.zip.start_file(format!("{name}.npy"), options).map_err(failed)?;
        Ok(&mut self.zip)
    }

    /// Finishes the archive and returns the underlying writer.
    ///
    /// # Errors
    /// Any error from writing.
    pub fn finish(self) -> Result<W> {
        let out = self.zip.finish().map_err(failed)?;
        let latch = out.into_inner();
        let latch = latch.map_err(|error| input::failed("writing the archive", error.into_error()))?;
        Ok(latch.out)
    }
}

impl<W: Write + Seek> fmt::Debug for NpzWriter<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NpzWriter").field("compress", &self.compress).finish_non_exhaustive()
    }
}

/// A writer that forwards writes until one fails, and ignores all later writes.
///
/// Without it, a [`ZipWriter`] that is dropped after an already reported failure would try to finish its archive and
/// print a message to standard error.
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
