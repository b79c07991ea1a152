//! [`Temporary`]: bytes that are written once and then read in any order.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use tempfile::{SpooledTempFile, spooled_tempfile};
use zarrox::Result;

use crate::input::{Input, failed};

/// The maximum number of bytes held in memory.
const IN_MEMORY: usize = 1 << 20;

/// A buffer for writing. It is held in memory up to a limit, and in an unnamed temporary file beyond it.
#[derive(Debug)]
pub(crate) struct Temporary(BufWriter<SpooledTempFile>);

impl Temporary {
    pub(crate) fn new() -> Self {
        Self(BufWriter::with_capacity(1 << 16, spooled_tempfile(IN_MEMORY)))
    }

    /// Finishes writing, and returns the bytes for reading. `name` is used in error messages.
    pub(crate) fn finish(self, name: PathBuf) -> Result<Input> {
        let file = self.0.into_inner().map_err(|error| writing(error.into_error()))?;
        match file.into_inner() {
            tempfile::SpooledData::InMemory(bytes) => Ok(Input::in_memory(bytes.into_inner().into(), name)),
            tempfile::SpooledData::OnDisk(file) => Input::of(file, name),
        }
    }
}

impl Write for Temporary {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Returns the error for a failed write.
pub(crate) fn writing(error: io::Error) -> zarrox::Error {
    failed("writing a temporary file", error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_bytes_stay_in_memory_and_many_do_not() {
        for (length, stays) in [(10, true), (3 * IN_MEMORY, false)] {
            let bytes: Vec<u8> = (0..length).map(|nth| nth.to_le_bytes()[0]).collect();
            let mut temporary = Temporary::new();
            bytes.chunks(777).for_each(|piece| temporary.write_all(piece).unwrap());
            let input = temporary.finish("bytes".into()).unwrap();
            assert_eq!(input.is_in_memory(), stays);
            assert_eq!(input.read(0, length as u64).unwrap(), bytes);
        }
    }
}
