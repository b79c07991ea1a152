//! The bytes of a file by address.

use std::sync::Arc;

use zarrox::Result;
use zarrox::codecs::JenkinsLookup3;

use super::cursor::{Cursor, Sizes};
use super::model::Address;
use crate::input::{Input, corrupt};

/// The length of a checksum in bytes.
const CHECKSUM: usize = 4;

/// A file whose superblock has been read.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) input: Arc<Input>,
    /// The position of address 0 in the file.
    pub(super) base: u64,
    pub(super) sizes: Sizes,
}

impl Source {
    /// Converts an address to a position in the file.
    pub(super) fn position(&self, address: Address) -> Result<u64> {
        let position = self.base.checked_add(address).filter(|&position| position <= self.input.length());
        position.ok_or_else(|| {
            let length = self.input.length();
            corrupt(format!("the address {address} is not in the file, which has {length} bytes"))
        })
    }

    /// Reads bytes at an address.
    pub(super) fn read(&self, address: Address, length: u64) -> Result<Vec<u8>> {
        self.input.read(self.position(address)?, length)
    }

    /// Reads at most `most` bytes at an address, fewer if the file ends before.
    pub(super) fn read_most(&self, address: Address, most: u64) -> Result<Vec<u8>> {
        let position = self.position(address)?;
        self.input.read(position, most.min(self.input.length() - position))
    }

    /// Reads a structure that ends with a checksum, verifies the checksum, and returns the structure without it.
    pub(super) fn read_checked(&self, address: Address, length: u64, what: &'static str) -> Result<Vec<u8>> {
        let mut bytes = self.read(address, length)?;
        let checked = verified(&bytes, what)?.len();
        bytes.truncate(checked);
        Ok(bytes)
    }

    pub(super) fn cursor<'b>(&self, bytes: &'b [u8], what: &'static str) -> Cursor<'b> {
        Cursor::new(bytes, self.sizes, what)
    }
}

/// A limit on the total number of bytes read for a structure. The parts of a valid structure do not overlap, so the
/// structure cannot be larger than the file.
#[derive(Debug)]
pub(super) struct Budget {
    left: u64,
    what: &'static str,
}

impl Budget {
    /// Returns a budget equal to the size of the file.
    pub(super) fn of_file(source: &Source, what: &'static str) -> Self {
        Self { left: source.input.length(), what }
    }

    pub(super) fn new(bytes: u64, what: &'static str) -> Self {
        Self { left: bytes, what }
    }

    /// Subtracts `bytes` from the budget.
    pub(super) fn take(&mut self, bytes: u64) -> Result<()> {
        let left = self.left.checked_sub(bytes);
        self.left = left.ok_or_else(|| corrupt(format!("the parts of {} overlap", self.what)))?;
        Ok(())
    }
}

/// Verifies the checksum at the end of `bytes`, and returns the bytes before it.
pub(super) fn verified<'b>(bytes: &'b [u8], what: &'static str) -> Result<&'b [u8]> {
    let Some((checked, stored)) = bytes.split_last_chunk::<CHECKSUM>() else {
        return Err(corrupt(format!("{what} has no checksum: it has {} bytes", bytes.len())));
    };
    compare(checksum(checked), u32::from_le_bytes(*stored), what)?;
    Ok(checked)
}

/// Returns an error if the computed checksum differs from the stored one.
pub(super) fn compare(computed: u32, stored: u32, what: &'static str) -> Result<()> {
    if computed == stored {
        return Ok(());
    }
    Err(corrupt(format!("the checksum of {what} is {computed:08x}, but {stored:08x} is stored")))
}

/// Computes the checksum of a structure.
pub(in crate::hdf5) fn checksum(bytes: &[u8]) -> u32 {
    JenkinsLookup3::default().checksum(bytes)
}
