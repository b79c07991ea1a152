//! Reads integers, addresses and names from the bytes of a file structure.

use zarrox::Result;

use super::model::Address;
use crate::input::corrupt;

/// The widths of addresses and lengths, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sizes {
    pub(super) offset: usize,
    pub(super) length: usize,
}

/// A cursor over the bytes of a file structure. Integers are little-endian.
#[derive(Debug, Clone)]
pub(super) struct Cursor<'b> {
    rest: &'b [u8],
    sizes: Sizes,
    /// The name of the structure for error messages, such as "a dataspace message".
    what: &'static str,
}

impl<'b> Cursor<'b> {
    pub(super) fn new(bytes: &'b [u8], sizes: Sizes, what: &'static str) -> Self {
        Self { rest: bytes, sizes, what }
    }

    pub(super) fn sizes(&self) -> Sizes {
        self.sizes
    }

    /// Returns the number of remaining bytes.
    pub(super) fn left(&self) -> usize {
        self.rest.len()
    }

    /// Returns the remaining bytes.
    pub(super) fn rest(&self) -> &'b [u8] {
        self.rest
    }

    /// Returns the next `length` bytes.
    pub(super) fn take(&mut self, length: usize) -> Result<&'b [u8]> {
        let Some((taken, rest)) = self.rest.split_at_checked(length) else {
            return Err(corrupt(format!(
                "{} is truncated: {length} bytes are needed, {} are left",
                self.what,
                self.rest.len()
            )));
        };
        self.rest = rest;
        Ok(taken)
    }

    pub(super) fn skip(&mut self, length: usize) -> Result<()> {
        self.take(length).map(drop)
    }

    pub(super) fn u8(&mut self) -> Result<u8> {
        Ok(self.take(1)?[0])
    }

    pub(super) fn u16(&mut self) -> Result<u16> {
        let bytes = self.take(2)?;
        Ok(u16::from_le_bytes([bytes[0], bytes[1]]))
    }

    pub(super) fn u32(&mut self) -> Result<u32> {
        let bytes = self.take(4)?;
        Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    pub(super) fn u64(&mut self) -> Result<u64> {
        self.number(8)
    }

    /// Reads an integer of at most eight bytes.
    pub(super) fn number(&mut self, width: usize) -> Result<u64> {
        let mut bytes = [0; 8];
        let Some(low) = bytes.get_mut(..width) else {
            return Err(corrupt(format!("a number of {width} bytes in {} has more than 8 bytes", self.what)));
        };
        low.copy_from_slice(self.take(width)?);
        Ok(u64::from_le_bytes(bytes))
    }

    /// Reads an integer of at most eight bytes; `None` if all its bits are set.
    pub(super) fn limit(&mut self, width: usize) -> Result<Option<u64>> {
        let number = self.number(width)?;
        Ok((number != all_ones(width)).then_some(number))
    }

    /// Reads an address; `None` for the undefined address.
    pub(super) fn address(&mut self) -> Result<Option<Address>> {
        self.limit(self.sizes.offset)
    }

    /// Reads an address. Returns an error if it is the undefined address.
    pub(super) fn defined_address(&mut self) -> Result<Address> {
        let what = self.what;
        self.address()?.ok_or_else(|| corrupt(format!("an address in {what} is undefined")))
    }

    pub(super) fn length(&mut self) -> Result<u64> {
        self.number(self.sizes.length)
    }

    /// Returns the bytes before the next NUL, and advances past the NUL.
    pub(super) fn text(&mut self) -> Result<&'b [u8]> {
        let Some(length) = self.rest.iter().position(|&byte| byte == 0) else {
            return Err(corrupt(format!("a name in {} has no end", self.what)));
        };
        let text = self.take(length)?;
        self.skip(1)?;
        Ok(text)
    }

    /// Returns the bytes before the next NUL, and advances past the padding to a multiple of eight bytes.
    pub(super) fn padded_text(&mut self) -> Result<&'b [u8]> {
        let text = self.text()?;
        let length = text.len() + 1;
        self.skip(length.next_multiple_of(8) - length)?;
        Ok(text)
    }

    /// Returns an error unless the next bytes are the given signature.
    pub(super) fn signature(&mut self, signature: &[u8]) -> Result<()> {
        let found = self.take(signature.len())?;
        if found == signature {
            return Ok(());
        }
        Err(corrupt(format!(
            "{} begins with '{}', not with '{}'",
            self.what,
            found.escape_ascii(),
            signature.escape_ascii()
        )))
    }

    /// Returns an error unless the next byte is the given version.
    pub(super) fn version(&mut self, version: u8) -> Result<()> {
        let found = self.u8()?;
        if found == version { Ok(()) } else { Err(self.unknown_version(found)) }
    }

    /// Returns the error for an unsupported version.
    pub(super) fn unknown_version(&self, version: u8) -> zarrox::Error {
        crate::input::unsupported(format!("{} has the unsupported version {version}", self.what))
    }
}

/// Returns the integer of `width` bytes with all bits set.
pub(super) fn all_ones(width: usize) -> u64 {
    if width >= 8 { u64::MAX } else { (1 << (8 * width)) - 1 }
}

/// Returns the number of bytes needed for integers up to `limit`.
pub(super) fn width_of(limit: u64) -> usize {
    limit.checked_ilog2().unwrap_or(0) as usize / 8 + 1
}

/// Returns the bytes before the first NUL.
pub(super) fn until_nul(bytes: &[u8]) -> &[u8] {
    bytes.split(|&byte| byte == 0).next().unwrap_or_default()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The widths in most files.
    pub(in crate::hdf5::format) const USUAL: Sizes = Sizes { offset: 8, length: 8 };

    /// Decodes hexadecimal digits.
    pub(in crate::hdf5::format) fn unhex(digits: &str) -> Vec<u8> {
        let digits: Vec<char> = digits.chars().filter(|digit| !digit.is_whitespace()).collect();
        let byte = |pair: &[char]| u8::from_str_radix(&String::from_iter(pair), 16).unwrap();
        digits.chunks(2).map(byte).collect()
    }

    #[test]
    fn numbers_addresses_and_names() {
        let bytes = [1, 2, 0, 255, 255, 255, 255, b'a', b'b', 0, 9, 9, 9, 9, 9, 7];
        let mut cursor = Cursor::new(&bytes, Sizes { offset: 4, length: 2 }, "a test");
        assert_eq!(cursor.u8().unwrap(), 1);
        assert_eq!(cursor.length().unwrap(), 2);
        assert_eq!(cursor.address().unwrap(), None);
        assert_eq!(cursor.padded_text().unwrap(), b"ab");
        assert_eq!(cursor.u8().unwrap(), 7);
        let error = cursor.u32().unwrap_err().to_string();
        assert!(error.contains("a test is truncated: 4 bytes are needed, 0 are left"), "{error}");
        assert_eq!([0, 1, 255, 256, 65535, 65536, u64::MAX].map(width_of), [1, 1, 1, 2, 2, 3, 8]);
    }
}
