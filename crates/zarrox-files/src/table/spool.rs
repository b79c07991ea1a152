//! A file of the columns of a table, each in pieces, which has no name and is gone with the process.

use std::fs::File;
use std::io::{BufWriter, Write};

use zarrox::Result;

use crate::input::{Input, failed};

/// A piece of a column.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    offset: u64,
    length: u64,
}

/// A file that is written.
pub(super) struct Spool {
    out: BufWriter<File>,
    length: u64,
}

impl Spool {
    pub(super) fn new() -> Result<Self> {
        let file = tempfile::tempfile().map_err(|error| failed("creating a temporary file", error))?;
        Ok(Self { out: BufWriter::with_capacity(1 << 20, file), length: 0 })
    }

    /// Writes a piece.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<Piece> {
        self.out.write_all(bytes).map_err(|error| failed("writing a temporary file", error))?;
        let piece = Piece { offset: self.length, length: bytes.len() as u64 };
        self.length += piece.length;
        Ok(piece)
    }

    /// The file, which is read from now on.
    pub(super) fn finish(self) -> Result<Input> {
        let file = self.out.into_inner().map_err(|error| error.into_error());
        let file = file.map_err(|error| failed("writing a temporary file", error))?;
        Input::of(file, "a temporary file".into())
    }
}

impl Piece {
    pub(super) fn read(self, input: &Input) -> Result<Vec<u8>> {
        input.read(self.offset, self.length)
    }
}
