//! Pieces of columns in a temporary file. They are written once, and then read in any order.

use std::io::Write;

use zarrox::Result;

use crate::input::Input;
use crate::input::temporary::{Temporary, writing};

/// The location of a piece of a column.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    offset: u64,
    length: u64,
}

/// A writer for pieces.
pub(super) struct Spool {
    out: Temporary,
    length: u64,
}

impl Spool {
    pub(super) fn new() -> Self {
        Self { out: Temporary::new(), length: 0 }
    }

    /// Writes a piece.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<Piece> {
        self.out.write_all(bytes).map_err(writing)?;
        let piece = Piece { offset: self.length, length: bytes.len() as u64 };
        self.length += piece.length;
        Ok(piece)
    }

    /// Finishes writing, and returns the file for reading.
    pub(super) fn finish(self) -> Result<Input> {
        self.out.finish("a temporary file".into())
    }
}

impl Piece {
    pub(super) fn read(self, input: &Input) -> Result<Vec<u8>> {
        input.read(self.offset, self.length)
    }
}
