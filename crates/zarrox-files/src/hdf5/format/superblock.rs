//! The superblock (section II of the specification).

use zarrox::Result;

use super::cursor::{Cursor, Sizes, until_nul};
use super::model::Address;
use super::source::verified;
use crate::input::{Input, corrupt, unsupported};

const SIGNATURE: &[u8] = b"\x89HDF\r\n\x1a\n";
const WHAT: &str = "the superblock";
/// An upper bound on the size of a superblock.
const MOST: u64 = 256;

/// The content of the superblock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Superblock {
    /// The position of address 0 in the file.
    pub(super) base: u64,
    pub(super) sizes: Sizes,
    /// The address of the object header of the root group.
    pub(super) root: Address,
    /// The address of the superblock extension: an object header with further messages about the file.
    pub(super) extension: Option<Address>,
}

/// The addresses stored in a superblock.
struct Addresses {
    sizes: Sizes,
    base: u64,
    end: u64,
    root: Address,
    extension: Option<Address>,
    driver: Option<Address>,
}

impl Superblock {
    /// Reads the superblock, at the start of the file or after a user block.
    pub(super) fn read(input: &Input) -> Result<Self> {
        let position = find(input)?;
        let bytes = input.read(position, MOST.min(input.length() - position))?;
        let found = match bytes.get(SIGNATURE.len()) {
            Some(0 | 1) => old(&bytes)?,
            Some(2 | 3) => new(&bytes)?,
            Some(version) => {
                return Err(unsupported(format!("{WHAT} has the unsupported version {version}")));
            }
            None => return Err(corrupt(format!("{WHAT} is truncated"))),
        };
        if let Some(driver) = found.driver {
            refuse_driver(input, position, driver)?;
        }
        // Like HDF5, this uses the position of the superblock as the base address, since a user block may have been added
        // or removed.
        let end = i128::from(found.end) - i128::from(found.base) + i128::from(position);
        if end > i128::from(input.length()) {
            return Err(corrupt(format!(
                "the file is truncated: it has {} bytes, and {end} according to its superblock",
                input.length()
            )));
        }
        Ok(Self { base: position, sizes: found.sizes, root: found.root, extension: found.extension })
    }
}

/// Returns the position of the signature: 0, or a power of two of at least 512.
fn find(input: &Input) -> Result<u64> {
    let mut position = 0;
    while position < input.length() {
        let length = (SIGNATURE.len() as u64).min(input.length() - position);
        if input.read(position, length)? == SIGNATURE {
            return Ok(position);
        }
        position = if position == 0 { 512 } else { position * 2 };
    }
    Err(corrupt(format!("'{}' is not an HDF5 file: it has no signature", input.path().display())))
}

fn sizes(cursor: &mut Cursor<'_>) -> Result<Sizes> {
    let mut size = |what: &str| match cursor.u8()? {
        size @ (2 | 4 | 8) => Ok(usize::from(size)),
        size @ (16 | 32) => {
            Err(unsupported(format!("{what} of {size} bytes are not read, only of 2, 4 and 8")))
        }
        size => Err(corrupt(format!("{what} have {size} bytes according to {WHAT}"))),
    };
    Ok(Sizes { offset: size("addresses")?, length: size("lengths")? })
}

/// Reads versions 0 and 1.
fn old(bytes: &[u8]) -> Result<Addresses> {
    let mut cursor = Cursor::new(bytes, Sizes { offset: 8, length: 8 }, WHAT);
    cursor.skip(SIGNATURE.len())?;
    let version = cursor.u8()?;
    // The versions of the free-space storage, the root group symbol table entry and the shared header message format.
    cursor.skip(4)?;
    let sizes = sizes(&mut cursor)?;
    // A reserved byte, the K values of leaf and internal group nodes, and flags. Version 1 also has the K value of
    // internal nodes in chunk indexes.
    cursor.skip(if version == 0 { 9 } else { 13 })?;
    let mut cursor = Cursor::new(cursor.rest(), sizes, WHAT);
    let base = cursor.defined_address()?;
    cursor.address()?;
    let end = cursor.defined_address()?;
    let driver = cursor.address()?;
    cursor.length()?;
    let root = cursor.defined_address()?;
    Ok(Addresses { sizes, base, end, root, extension: None, driver })
}

/// Reads versions 2 and 3.
fn new(bytes: &[u8]) -> Result<Addresses> {
    let mut cursor = Cursor::new(bytes, Sizes { offset: 8, length: 8 }, WHAT);
    cursor.skip(SIGNATURE.len() + 1)?;
    let sizes = sizes(&mut cursor)?;
    cursor.u8()?;
    let mut cursor = Cursor::new(cursor.rest(), sizes, WHAT);
    let base = cursor.defined_address()?;
    let extension = cursor.address()?;
    let end = cursor.defined_address()?;
    let root = cursor.defined_address()?;
    let length = bytes.len() - cursor.left() + 4;
    verified(bytes.get(..length).unwrap_or(bytes), WHAT)?;
    Ok(Addresses { sizes, base, end, root, extension, driver: None })
}

/// Rejects files that are split into several parts. They are recognised by their driver information.
fn refuse_driver(input: &Input, base: u64, address: Address) -> Result<()> {
    let Some(position) = base.checked_add(address) else { return Ok(()) };
    let Ok(bytes) = input.read(position, 16) else { return Ok(()) };
    refuse_split(&bytes[8..])
}

/// Rejects a file that is one part of several, which is recognised by the name of its driver.
pub(super) fn refuse_split(driver: &[u8]) -> Result<()> {
    let kind = match driver.get(..8).unwrap_or(driver) {
        b"NCSAfami" => "a family of files",
        b"NCSAmult" => "several files, one for each kind of data (the multi driver)",
        _ => return Ok(()),
    };
    let driver = until_nul(driver.get(..8).unwrap_or(driver)).escape_ascii();
    Err(unsupported(format!(
        "the file is a part of {kind} ({driver}); join the parts with h5repart or h5repack"
    )))
}

#[cfg(test)]
mod tests {
    use zarrox::ErrorKind;

    use super::*;

    #[test]
    fn parts_of_files_are_refused_by_name() {
        let error = refuse_split(b"NCSAfami\x08\0").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.to_string().contains("a family of files (NCSAfami)"), "{error}");
        assert_eq!(refuse_split(b"NCSAmult").unwrap_err().kind(), ErrorKind::Unsupported);
        refuse_split(b"other").unwrap();
    }

    #[test]
    fn wide_addresses_are_refused_by_name() {
        let bytes = [16, 8];
        let error = sizes(&mut Cursor::new(&bytes, Sizes { offset: 8, length: 8 }, WHAT)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        let bytes = [8, 3];
        let error = sizes(&mut Cursor::new(&bytes, Sizes { offset: 8, length: 8 }, WHAT)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
    }
}
