//! The doubling table of a fractal heap: the sizes of its blocks.
//!
//! All blocks in a row have the same size. The blocks in the first two rows have the starting size, and the size doubles
//! with each further row. Blocks larger than the maximum direct block size are indirect: they have their own rows.

use zarrox::Result;

use crate::input::corrupt;

/// The doubling table of a heap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Doubling {
    /// The number of blocks in a row.
    width: u64,
    /// The starting block size in bytes.
    pub(super) first: u64,
    most_direct: u64,
    /// The width in bytes of offsets in the heap.
    pub(super) offset_width: usize,
}

/// The block that contains an offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    /// The index of the block in its parent.
    pub(super) index: u64,
    /// The offset of the block in its parent.
    pub(super) start: u64,
    pub(super) size: u64,
    /// The number of rows in an indirect block; 0 for a direct block.
    pub(super) rows: u64,
}

impl Doubling {
    pub(super) fn new(width: u64, first: u64, most_direct: u64, bits: u16) -> Result<Self> {
        let are_powers = [width, first, most_direct].into_iter().all(u64::is_power_of_two);
        if !are_powers || most_direct < first || most_direct > 1 << 32 || !(1..=64).contains(&bits) {
            return Err(corrupt(format!(
                "a fractal heap has rows of {width} blocks, blocks of {first} to {most_direct} bytes, and offsets of {bits} bits"
            )));
        }
        Ok(Self { width, first, most_direct, offset_width: usize::from(bits).div_ceil(8) })
    }

    /// Returns the width in bytes of the length of an object in a direct block.
    pub(super) fn direct_width(&self) -> usize {
        (self.most_direct.ilog2() as usize).div_ceil(8)
    }

    /// Returns the number of rows that consist of direct blocks.
    fn direct_rows(&self) -> u64 {
        u64::from(self.most_direct.ilog2() - self.first.ilog2()) + 2
    }

    /// Returns the numbers of direct and indirect blocks in the first `rows` rows.
    pub(super) fn entries(&self, rows: u64) -> (u64, u64) {
        let direct = rows.min(self.direct_rows());
        (direct * self.width, (rows - direct) * self.width)
    }

    /// Returns the size of the blocks in a row.
    fn size(&self, row: u64) -> Option<u64> {
        let doublings = u32::try_from(row.saturating_sub(1)).ok()?;
        self.first.checked_mul(1_u64.checked_shl(doublings)?)
    }

    /// Returns the block that contains an offset, if the block is in the first `rows` rows.
    pub(super) fn entry(&self, offset: u64, rows: u64) -> Option<Entry> {
        let mut before = 0_u64;
        for row in 0..rows {
            let size = self.size(row)?;
            let length = size.checked_mul(self.width)?;
            if offset - before < length {
                let column = (offset - before) / size;
                let index = row * self.width + column;
                return Some(Entry {
                    index,
                    start: before + column * size,
                    size,
                    rows: self.rows_of(row, size)?,
                });
            }
            before = before.checked_add(length)?;
        }
        None
    }

    /// Returns the number of rows in each block of a row whose blocks have `size` bytes; 0 for direct blocks.
    fn rows_of(&self, row: u64, size: u64) -> Option<u64> {
        if row < self.direct_rows() {
            return Some(0);
        }
        // An indirect block spans the total size of its rows.
        let first_row = self.first.ilog2() + self.width.ilog2();
        size.ilog2().checked_sub(first_row).map(|rows| u64::from(rows) + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_all_rows() {
        // The parameters that HDF5 uses for attributes.
        let table = Doubling::new(4, 1024, 65536, 40).unwrap();
        assert_eq!(table.entries(3), (12, 0));
        assert_eq!(table.entries(9), (32, 4));
        assert_eq!(table.entry(0, 1), Some(Entry { index: 0, start: 0, size: 1024, rows: 0 }));
        assert_eq!(table.entry(4095, 1), Some(Entry { index: 3, start: 3072, size: 1024, rows: 0 }));
        assert_eq!(table.entry(4096, 1), None);
        assert_eq!(table.entry(4096, 2), Some(Entry { index: 4, start: 4096, size: 1024, rows: 0 }));
        assert_eq!(table.entry(8192 + 2048, 3), Some(Entry { index: 9, start: 10240, size: 2048, rows: 0 }));
        // Rows 0 to 7 have 4 × 1024 × 128 bytes.
        assert_eq!(
            table.entry(524_288, 9),
            Some(Entry { index: 32, start: 524_288, size: 131_072, rows: 6 })
        );
    }
}
