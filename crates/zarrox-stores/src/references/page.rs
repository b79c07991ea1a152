//! The declared sizes of the pages of a Parquet column. They are checked before memory is allocated for the pages.
//!
//! The library that decodes pages trusts their headers: it allocates as much memory as they declare, and panics if a dictionary
//! is missing. So the headers are checked first. They are structures in Thrift's compact protocol, and only a few of their
//! integers are read.

/// The maximum nesting depth of structures.
const DEEPEST: usize = 8;

/// The identifiers of integers in a page header: the field ID of the enclosing structure, and the field ID of the integer.
const UNCOMPRESSED: (i64, i64) = (0, 2);
const COMPRESSED: (i64, i64) = (0, 3);
const DICTIONARY_VALUES: (i64, i64) = (7, 1);
const ENCODINGS: [(i64, i64); 2] = [(5, 2), (8, 4)];
/// The encodings of values: plain, and dictionary encoding, which has an old and a new identifier.
const PLAIN: i64 = 0;
const DICTIONARY: [i64; 2] = [2, 8];

/// Returns the total decompressed size of the pages of a column, or `None` if a header is malformed.
pub(super) fn decompressed_size(mut column: &[u8]) -> Option<u64> {
    let mut total = 0_u64;
    let mut has_dictionary = false;
    while !column.is_empty() {
        let (mut uncompressed, mut compressed, mut dictionary, mut encoding) = (None, None, None, PLAIN);
        let mut header = Header { bytes: column };
        header.structure(0, DEEPEST, &mut |place, value| match place {
            UNCOMPRESSED => uncompressed = u64::try_from(value).ok(),
            COMPRESSED => compressed = usize::try_from(value).ok(),
            DICTIONARY_VALUES => dictionary = Some(u64::try_from(value).unwrap_or(u64::MAX)),
            place if ENCODINGS.contains(&place) => encoding = value,
            _ => {}
        })?;
        let uncompressed = uncompressed.filter(|size| dictionary.unwrap_or(0) <= *size)?;
        has_dictionary |= dictionary.is_some();
        if encoding != PLAIN && !(has_dictionary && DICTIONARY.contains(&encoding)) {
            return None;
        }
        column = header.bytes.get(compressed?..)?;
        total = total.checked_add(uncompressed)?;
    }
    Some(total)
}

/// The unread part of a header.
struct Header<'a> {
    bytes: &'a [u8],
}

impl Header<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(*first)
    }

    fn skip(&mut self, count: u64) -> Option<()> {
        self.bytes = self.bytes.get(usize::try_from(count).ok()?..)?;
        Some(())
    }

    /// Reads a varint: seven bits in each byte, least significant first.
    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    /// Reads a zigzag-encoded integer.
    fn integer(&mut self) -> Option<i64> {
        let number = self.number()?;
        Some((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    /// Reads a structure and all nested structures, and passes all integers to `found`.
    fn structure(&mut self, own: i64, deepest: usize, found: &mut dyn FnMut((i64, i64), i64)) -> Option<()> {
        let deeper = deepest.checked_sub(1)?;
        let mut field = 0_i64;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Some(());
            }
            field = match head >> 4 {
                0 => self.integer()?,
                step => field.checked_add(i64::from(step))?,
            };
            match head & 0xf {
                // The value of a boolean is part of its type.
                1 | 2 => {}
                3 => self.skip(1)?,
                4..=6 => found((own, field), self.integer()?),
                7 => self.skip(8)?,
                8 => {
                    let length = self.number()?;
                    self.skip(length)?;
                }
                12 => self.structure(if own == 0 { field } else { -1 }, deeper, found)?,
                _ => return None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a 5-byte page with the declared size `size`, and a dictionary of `values` values.
    fn page(size: u8, values: u8) -> Vec<u8> {
        vec![0x15, 4, 0x15, size << 1, 0x15, 10, 0x4c, 0x15, values << 1, 0x11, 0, 0, 1, 2, 3, 4, 5]
    }

    #[test]
    fn sizes_are_added_up() {
        assert_eq!(decompressed_size(&[]), Some(0));
        assert_eq!(decompressed_size(&[page(20, 5), page(30, 30)].concat()), Some(50));
    }

    #[test]
    fn only_known_encodings_with_their_dictionary_are_pages() {
        let data =
            |encoding: u8| vec![0x15, 0, 0x15, 40, 0x15, 2, 0x2c, 0x15, 6, 0x15, encoding << 1, 0, 0, 1];
        assert_eq!(decompressed_size(&data(0)), Some(20));
        assert_eq!(decompressed_size(&data(8)), None);
        for encoding in [0, 2, 8] {
            assert_eq!(decompressed_size(&[page(20, 5), data(encoding)].concat()), Some(40));
        }
        assert_eq!(decompressed_size(&[page(20, 5), data(5)].concat()), None);
    }

    #[test]
    fn malformed_bytes_are_not_a_page() {
        let whole = page(20, 5);
        for end in 1..whole.len() {
            assert_eq!(decompressed_size(&whole[..end]), None, "{end}");
        }
        assert_eq!(decompressed_size(&page(20, 21)), None);
        assert_eq!(decompressed_size(&[0x15, 1, 0x15, 1, 0x15, 1, 0]), None);
        assert_eq!(decompressed_size(&[0xff; 100]), None);
        assert_eq!(decompressed_size(&[0x1c; 1000]), None);
    }
}
