//! Predictors: elements that were replaced by differences.

use zarrox::data_type::Endian;
use zarrox::{DataType, Result};

use super::sample::Sample;
use crate::input::unsupported;

/// The way in which elements are replaced by differences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Predictor {
    None,
    /// Differences of neighbours in a row.
    Horizontal,
    /// Differences of bytes, which lie by their significance.
    Float,
}

impl Predictor {
    /// The predictor of a number for samples of a form.
    pub(super) fn of(number: u64, sample: &Sample) -> Result<Self> {
        let data_type = &sample.data_type;
        let is_float = matches!(data_type, DataType::Float16 | DataType::Float32 | DataType::Float64);
        let is_complex = matches!(data_type, DataType::Complex64 | DataType::Complex128);
        match number {
            1 => Ok(Self::None),
            2 if !is_complex && !sample.is_packed() => Ok(Self::Horizontal),
            3 if is_float => Ok(Self::Float),
            _ => Err(unsupported(format!(
                "the predictor {number} is not supported for {data_type} of {} bits",
                sample.bits
            ))),
        }
    }

    /// Returns the number of the predictor.
    pub(super) fn code(self) -> u16 {
        match self {
            Self::None => 1,
            Self::Horizontal => 2,
            Self::Float => 3,
        }
    }

    /// Makes elements of differences, in rows of so many bytes. A pixel has so many samples.
    pub(super) fn undo(self, bytes: &mut [u8], row: usize, samples: usize, size: usize, endian: Endian) {
        for row in bytes.chunks_exact_mut(row.max(1)) {
            match self {
                Self::None => {}
                Self::Horizontal => add_neighbours(row, samples, size, endian),
                Self::Float => join_floats(row, samples, size, endian),
            }
        }
    }
}

/// Adds to each sample the one of the pixel before it.
fn add_neighbours(row: &mut [u8], samples: usize, size: usize, endian: Endian) {
    match size {
        1 => {
            for at in samples..row.len() {
                row[at] = row[at].wrapping_add(row[at - samples]);
            }
        }
        2 => add_numbers::<2>(row, samples, endian, |one, other| {
            let sum = u16::from_le_bytes(one).wrapping_add(u16::from_le_bytes(other));
            sum.to_le_bytes()
        }),
        4 => add_numbers::<4>(row, samples, endian, |one, other| {
            let sum = u32::from_le_bytes(one).wrapping_add(u32::from_le_bytes(other));
            sum.to_le_bytes()
        }),
        _ => add_numbers::<8>(row, samples, endian, |one, other| {
            let sum = u64::from_le_bytes(one).wrapping_add(u64::from_le_bytes(other));
            sum.to_le_bytes()
        }),
    }
}

/// Adds to each sample of a size the one of the pixel before it; `add` takes and gives little-endian numbers.
fn add_numbers<const N: usize>(
    row: &mut [u8],
    samples: usize,
    endian: Endian,
    add: impl Fn([u8; N], [u8; N]) -> [u8; N],
) {
    let (numbers, _) = row.as_chunks_mut::<N>();
    let swap = |numbers: &mut [[u8; N]]| {
        if endian == Endian::Big {
            numbers.iter_mut().for_each(|number| number.reverse());
        }
    };
    swap(numbers);
    for at in samples..numbers.len() {
        numbers[at] = add(numbers[at], numbers[at - samples]);
    }
    swap(numbers);
}

fn join_floats(row: &mut [u8], samples: usize, size: usize, endian: Endian) {
    for at in samples..row.len() {
        row[at] = row[at].wrapping_add(row[at - samples]);
    }
    let apart = row.to_vec();
    let count = row.len() / size;
    for (nth, element) in row.chunks_exact_mut(size).enumerate() {
        for (significance, byte) in element.iter_mut().enumerate() {
            *byte = apart[significance * count + nth];
        }
        if endian == Endian::Little {
            element.reverse();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_become_elements() {
        let mut bytes = [1_u16, 2, 10, 3, 65535, 0].map(u16::to_be_bytes).concat();
        Predictor::Horizontal.undo(&mut bytes, 12, 2, 2, Endian::Big);
        assert_eq!(bytes, [1_u16, 2, 11, 5, 10, 5].map(u16::to_be_bytes).concat());
        let mut floats = vec![0x3f, 0x01, 0x40, 0x40];
        // The high bytes 3f and 40, then the low ones 80 and c0: 1.0 and 3.0 in half of a single.
        Predictor::Float.undo(&mut floats, 4, 1, 2, Endian::Little);
        assert_eq!(floats, [0x80, 0x3f, 0xc0, 0x40]);
    }
}
