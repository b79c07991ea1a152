//! Fax compressions: modified Huffman, Group 3 and Group 4.
//!
//! Specifications: ITU-T T.4 and T.6.

mod codes;

use zarrox::Result;

use super::wanted::Wanted;
use crate::input::{corrupt, unsupported, zeroed};

/// The variant of the encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tiff) enum Mode {
    /// Modified Huffman. Rows are byte-aligned.
    Rows,
    /// Group 3, one-dimensional or two-dimensional.
    Group3 {
        is_2d: bool,
    },
    Group4,
}

impl Mode {
    /// Returns the variant for a TIFF compression from 2 to 4.
    pub(super) fn of(compression: u64, t4_options: u64) -> Result<Self> {
        Ok(match compression {
            2 => Self::Rows,
            3 if t4_options & 2 == 2 => {
                return Err(unsupported("the uncompressed mode of CCITT's Group 3 is not supported"));
            }
            3 => Self::Group3 { is_2d: t4_options & 1 == 1 },
            _ => Self::Group4,
        })
    }
}

/// A bit reader that starts at the most significant bit of each byte. Bits after the last byte are zero.
struct Bits<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Bits<'_> {
    /// Returns the next `count` bits, at most 16, without consuming them.
    fn peek(&self, count: u32) -> u32 {
        let byte = |nth: usize| u32::from(self.bytes.get(self.at / 8 + nth).copied().unwrap_or(0));
        let word = byte(0) << 16 | byte(1) << 8 | byte(2);
        let shift = u32::try_from(self.at % 8).unwrap_or(0);
        (word << (8 + shift)) >> (32 - count)
    }

    fn skip(&mut self, count: u32) {
        self.at += usize::try_from(count).unwrap_or(0);
    }

    fn is_over(&self) -> bool {
        self.at >= self.bytes.len().saturating_mul(8)
    }

    fn align(&mut self) {
        self.at = self.at.next_multiple_of(8);
    }

    /// Reads a run of pixels: any number of make-up codes, for 64 pixels or more, followed by a terminating code.
    fn run(&mut self, is_white: bool) -> Result<usize> {
        let mut total = 0;
        loop {
            let index = usize::try_from(self.peek(codes::LONGEST)).unwrap_or(0);
            let (run, length) = codes::of(is_white).get(index).copied().unwrap_or((0, 0));
            if length == 0 || self.is_over() {
                return Err(corrupt("a CCITT code is damaged or truncated"));
            }
            self.skip(length.into());
            total += usize::from(run);
            if run < 64 {
                return Ok(total);
            }
        }
    }

    /// Skips all end-of-line codes, which consist of at least 11 zeros and a one. Returns true if any code was skipped.
    fn end_of_row(&mut self) -> bool {
        let mut found = false;
        while self.peek(11) == 0 && !self.is_over() {
            let before = self.at;
            self.skip(11);
            while self.peek(1) == 0 && !self.is_over() {
                self.skip(1);
            }
            if self.is_over() {
                self.at = before;
                return found;
            }
            self.skip(1);
            found = true;
        }
        found
    }
}

/// A row, represented by the columns at which the colour changes. A row begins with white.
type Changes = Vec<usize>;

/// Reads a one-dimensionally coded row.
fn row_of_runs(bits: &mut Bits<'_>, columns: usize) -> Result<Changes> {
    let (mut changes, mut column, mut is_white) = (Vec::new(), 0_usize, true);
    while column < columns {
        column = column.saturating_add(bits.run(is_white)?);
        changes.push(column);
        is_white = !is_white;
    }
    Ok(changes)
}

/// Reads a two-dimensionally coded row, which is coded relative to the row above.
fn row_of_differences(bits: &mut Bits<'_>, above: &[usize], columns: usize) -> Result<Changes> {
    let mut changes: Changes = Vec::new();
    let (mut place, mut at, mut is_white, mut is_start) = (0, 0_usize, true, true);
    while at < columns {
        // Find the first change in the row above that is after this column and to the opposite colour.
        while place > 0 && above[place - 1] > at {
            place -= 1;
        }
        while above.get(place).is_some_and(|&change| change < at || (change == at && !is_start)) {
            place += 1;
        }
        let first = if place.is_multiple_of(2) == is_white { place } else { place + 1 };
        let of_above = |nth: usize| above.get(nth).copied().unwrap_or(columns).min(columns);
        let (code, length) = mode(bits.peek(7))?;
        if bits.is_over() {
            return Err(corrupt("the CCITT codes are truncated"));
        }
        bits.skip(length);
        match code {
            Difference::Pass => at = of_above(first + 1),
            Difference::Runs => {
                for is_white in [is_white, !is_white] {
                    at = at.saturating_add(bits.run(is_white)?);
                    changes.push(at);
                }
            }
            Difference::Shift(shift) => {
                let change = of_above(first).checked_add_signed(shift).filter(|change| *change >= at);
                at = change.ok_or_else(|| corrupt("a CCITT code moves backwards"))?;
                changes.push(at);
                is_white = !is_white;
            }
        }
        is_start = false;
    }
    Ok(changes)
}

/// The mode of two-dimensional coding.
#[derive(Debug, Clone, Copy)]
enum Difference {
    /// Pass mode.
    Pass,
    /// Horizontal mode: two runs follow.
    Runs,
    /// Vertical mode: the change is the given number of columns after the change in the row above.
    Shift(isize),
}

/// Decodes the mode at the start of the next 7 bits, and returns it with the length of its code.
fn mode(bits: u32) -> Result<(Difference, u32)> {
    use Difference::{Pass, Runs, Shift};
    Ok(match bits {
        0b100_0000.. => (Shift(0), 1),
        0b011_0000.. => (Shift(1), 3),
        0b010_0000.. => (Shift(-1), 3),
        0b001_0000.. => (Runs, 3),
        0b000_1000.. => (Pass, 4),
        0b000_0110.. => (Shift(2), 6),
        0b000_0100.. => (Shift(-2), 6),
        0b000_0011 => (Shift(3), 7),
        0b000_0010 => (Shift(-3), 7),
        0b000_0001 => return Err(unsupported("the extensions of CCITT are not supported")),
        _ => return Err(corrupt("a CCITT code is damaged")),
    })
}

/// Decodes an image to byte-aligned rows of bits, in which 1 is black.
pub(super) fn decoded(bytes: &[u8], mode: Mode, wanted: Wanted<'_>) -> Result<Vec<u8>> {
    let (columns, in_row) = (wanted.columns, wanted.columns.div_ceil(8));
    let mut out = zeroed(wanted.size)?;
    let mut bits = Bits { bytes, at: 0 };
    let mut above = Changes::new();
    for (nth, row) in out.chunks_exact_mut(in_row.max(1)).take(wanted.rows).enumerate() {
        let mut changes = match mode {
            Mode::Rows => {
                bits.align();
                row_of_runs(&mut bits, columns)?
            }
            Mode::Group3 { is_2d } => {
                bits.end_of_row();
                let is_1d = !is_2d || bits.peek(1) == 1;
                bits.skip(u32::from(is_2d));
                if is_1d {
                    row_of_runs(&mut bits, columns)?
                } else {
                    row_of_differences(&mut bits, &above, columns)?
                }
            }
            Mode::Group4 => {
                if bits.peek(12) == 1 {
                    let rows = wanted.rows;
                    return Err(corrupt(format!("a strip or tile has {nth} rows instead of {rows}")));
                }
                row_of_differences(&mut bits, &above, columns)?
            }
        };
        simplify(&mut changes, columns);
        blacken(row, &changes, columns);
        above = changes;
    }
    Ok(out)
}

/// Removes empty runs and changes at the end of the row.
fn simplify(changes: &mut Changes, columns: usize) {
    let mut kept = Changes::with_capacity(changes.len());
    for &change in changes.iter().take_while(|&&change| change < columns) {
        match kept.last() {
            Some(&last) if last == change => drop(kept.pop()),
            _ => kept.push(change),
        }
    }
    *changes = kept;
}

/// Sets the bits of all black runs.
fn blacken(row: &mut [u8], changes: &[usize], columns: usize) {
    for pair in changes.chunks(2) {
        let (start, end) = (pair[0], pair.get(1).copied().unwrap_or(columns));
        for (nth, byte) in row.iter_mut().enumerate().take(end.div_ceil(8)).skip(start / 8) {
            let before = if nth * 8 < start { 0xff_u8 >> (start - nth * 8) } else { 0xff };
            let behind = if nth * 8 + 8 > end { 0xff_u8 << (nth * 8 + 8 - end) } else { 0xff };
            *byte |= before & behind;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tiff::sample::Sample;
    use zarrox::ErrorKind;
    use zarrox_testkit::errors::assert_error;

    fn rows(bytes: &[u8], mode: Mode, columns: usize, rows: usize) -> Result<Vec<u8>> {
        let sample = Sample::of(1, 1).unwrap();
        let endian = zarrox::data_type::Endian::Big;
        let size = columns.div_ceil(8) * rows;
        decoded(bytes, mode, Wanted { rows, columns, samples: 1, sample: &sample, size, endian })
    }

    #[test]
    fn runs_and_differences_are_rows() {
        // The codes of 2 white, 3 black and 3 white pixels are 0111 10 1000. An identical second row is coded as three times V0.
        assert_eq!(rows(&[0b0111_1010, 0b0000_0000], Mode::Rows, 8, 1).unwrap(), [0b0011_1000]);
        let codes = [0b0010_1111, 0b0111_1000, 0b0000_0001, 0b0000_0000, 0b0001_0000];
        assert_eq!(rows(&codes, Mode::Group4, 8, 2).unwrap(), [0b0011_1000, 0b0011_1000]);
        assert_error(rows(&codes, Mode::Group4, 8, 3), ErrorKind::Corrupt, "CCITT");
        assert_error(rows(&[], Mode::Group4, 8, 1), ErrorKind::Corrupt, "CCITT");
        assert_error(rows(&[0; 9], Mode::Group3 { is_2d: true }, 8, 1), ErrorKind::Corrupt, "CCITT");
    }
}
