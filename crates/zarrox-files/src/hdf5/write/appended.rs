//! A file that is written sequentially.

use std::io::{Seek, Write};

use zarrox::Result;

use crate::input::failed;

/// A destination to which bytes can be appended, and whose beginning can be rewritten once.
pub(crate) trait Output: Write + Seek {}
impl<T: Write + Seek> Output for T {}

/// A file to which bytes are appended.
pub(super) struct Appended<'o> {
    pub(super) output: &'o mut dyn Output,
    pub(super) end: u64,
}

impl Appended<'_> {
    /// Appends bytes and returns their address.
    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<u64> {
        self.output.write_all(bytes).map_err(|error| failed("writing the file", error))?;
        let address = self.end;
        self.end += bytes.len() as u64;
        Ok(address)
    }

    /// Pads the file to a multiple of eight bytes.
    pub(super) fn align(&mut self) -> Result<()> {
        let gap = usize::try_from(self.end.next_multiple_of(8) - self.end).unwrap_or(0);
        self.append(&[0; 8][..gap]).map(drop)
    }
}
