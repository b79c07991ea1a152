//! Predictors, which replace elements with differences.

use zarrox::codec::BytesToBytes as _;
use zarrox::codecs::ByteShuffle;
use zarrox::data_type::Endian;
use zarrox::{DataType, Result};

use super::sample::Sample;
use crate::input::{corrupt, unsupported};

/// A predictor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Predictor {
    None,
    /// Differences between neighbouring elements in a row.
    Horizontal,
    /// Differences between bytes, which are grouped by significance.
    Float,
}

impl Predictor {
    /// Returns the predictor with the given number, for samples of the given type.
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

    /// Returns the TIFF number of the predictor.
    pub(super) fn code(self) -> u16 {
        match self {
            Self::None => 1,
            Self::Horizontal => 2,
            Self::Float => 3,
        }
    }

    /// Restores elements from differences, in rows of `row` bytes. Each pixel has `samples` samples.
    ///
    /// # Errors
    /// If a row is not a whole number of elements.
    pub(super) fn undo(
        self,
        bytes: &mut [u8],
        row: usize,
        samples: usize,
        size: usize,
        endian: Endian,
    ) -> Result<()> {
        let mut planes = Vec::new();
        for row in bytes.chunks_exact_mut(row.max(1)) {
            match self {
                Self::None => {}
                Self::Horizontal => add_neighbours(row, samples, size, endian),
                Self::Float => join_floats(row, &mut planes, samples, size, endian)?,
            }
        }
        Ok(())
    }
}

/// Adds to each sample the corresponding sample of the previous pixel.
fn add_neighbours(row: &mut [u8], samples: usize, size: usize, endian: Endian) {
    match size {
        1 => add_bytes(row, samples),
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

/// Adds to each sample the corresponding sample of the previous pixel. `add` adds little-endian integers.
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
    add_pixels(numbers, samples, add);
    swap(numbers);
}

/// Adds to each byte the byte that is `samples` positions before it.
fn add_bytes(row: &mut [u8], samples: usize) {
    match samples {
        1 => add_words(row),
        _ => add_pixels(row, samples, u8::wrapping_add),
    }
}

/// Adds to each byte the previous byte, eight bytes at a time. The lanes of a word hold every other byte, and a
/// multiplication computes their prefix sums without carrying into the next lane.
fn add_words(row: &mut [u8]) {
    const LANES: u64 = 0x00ff_00ff_00ff_00ff;
    const ONES: u64 = 0x0001_0001_0001_0001;
    let (words, rest) = row.as_chunks_mut::<8>();
    let mut before = 0;
    for word in words {
        let value = u64::from_le_bytes(*word);
        let even = (value & LANES).wrapping_mul(ONES);
        let odd = (value >> 8 & LANES).wrapping_mul(ONES);
        let (up_to_even, up_to_odd) = (even.wrapping_add(odd << 16), even.wrapping_add(odd));
        let all = before * ONES;
        let (at_even, at_odd) = (up_to_even.wrapping_add(all) & LANES, up_to_odd.wrapping_add(all) & LANES);
        *word = (at_even | at_odd << 8).to_le_bytes();
        before = (before + (up_to_odd >> 48)) & 0xff;
    }
    for byte in rest {
        before = (before + u64::from(*byte)) & 0xff;
        *byte = before.to_le_bytes()[0];
    }
}

/// Adds to each sample the corresponding sample of the previous pixel.
fn add_pixels<S: Copy>(row: &mut [S], samples: usize, add: impl Fn(S, S) -> S) {
    match samples {
        1 => add_short_pixels::<S, 1>(row, add),
        2 => add_short_pixels::<S, 2>(row, add),
        3 => add_short_pixels::<S, 3>(row, add),
        4 => add_short_pixels::<S, 4>(row, add),
        _ => {
            for at in samples..row.len() {
                row[at] = add(row[at], row[at - samples]);
            }
        }
    }
}

/// Does the same as [`add_pixels`], but keeps the sums in registers, so that they need not be loaded from the row.
fn add_short_pixels<S: Copy, const N: usize>(row: &mut [S], add: impl Fn(S, S) -> S) {
    let (pixels, rest) = row.as_chunks_mut::<N>();
    let Some((first, pixels)) = pixels.split_first_mut() else { return };
    let mut sums = *first;
    for pixel in pixels {
        for (sum, sample) in sums.iter_mut().zip(pixel) {
            *sum = add(*sum, *sample);
            *sample = *sum;
        }
    }
    for (sample, sum) in rest.iter_mut().zip(sums) {
        *sample = add(sum, *sample);
    }
}

/// Restores floats from the differences between their bytes. `planes` is a buffer for a row.
fn join_floats(
    row: &mut [u8],
    planes: &mut Vec<u8>,
    samples: usize,
    size: usize,
    endian: Endian,
) -> Result<()> {
    add_bytes(row, samples);
    let count = (row.len() / size.max(1)).max(1);
    planes.clear();
    match endian {
        Endian::Big => planes.extend_from_slice(row),
        // The most significant bytes, which come first, become the last byte of each element.
        Endian::Little => row.rchunks_exact(count).for_each(|plane| planes.extend_from_slice(plane)),
    }
    let element = u32::try_from(size).map_err(|_| corrupt("a sample is too large"))?;
    ByteShuffle::element_size(element).decode(planes, row)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_become_elements() {
        let mut bytes = [1_u16, 2, 10, 3, 65535, 0].map(u16::to_be_bytes).concat();
        Predictor::Horizontal.undo(&mut bytes, 12, 2, 2, Endian::Big).unwrap();
        assert_eq!(bytes, [1_u16, 2, 11, 5, 10, 5].map(u16::to_be_bytes).concat());
        let mut floats = vec![0x3f, 0x01, 0x40, 0x40];
        // The high bytes 3f and 40 are followed by the low bytes 80 and c0. Together, they form the upper halves of the
        // 32-bit floats 1.0 and 3.0.
        Predictor::Float.undo(&mut floats, 4, 1, 2, Endian::Little).unwrap();
        assert_eq!(floats, [0x80, 0x3f, 0xc0, 0x40]);
    }

    /// Does the same as [`Predictor::undo`] for one row, byte by byte.
    fn undone(predictor: Predictor, row: &[u8], samples: usize, size: usize, endian: Endian) -> Vec<u8> {
        let mut row = row.to_vec();
        let count = row.len() / size;
        match predictor {
            Predictor::None => row,
            Predictor::Float => {
                for at in samples..row.len() {
                    row[at] = row[at].wrapping_add(row[at - samples]);
                }
                let of = |element: usize, byte: usize| match endian {
                    Endian::Big => row[byte * count + element],
                    Endian::Little => row[(size - 1 - byte) * count + element],
                };
                (0..count * size).map(|at| of(at / size, at % size)).collect()
            }
            Predictor::Horizontal => {
                let place = |sample: usize, byte: usize| match endian {
                    Endian::Big => sample * size + size - 1 - byte,
                    Endian::Little => sample * size + byte,
                };
                for sample in samples..count {
                    let mut carry = 0;
                    for byte in 0..size {
                        let [one, other] = [sample, sample - samples].map(|at| row[place(at, byte)]);
                        carry += u16::from(one) + u16::from(other);
                        row[place(sample, byte)] = carry.to_le_bytes()[0];
                        carry >>= 8;
                    }
                }
                row
            }
        }
    }

    #[test]
    fn rows_of_any_length_are_as_byte_by_byte() {
        let mut state = 1_u32;
        let mut random = || {
            state = state.wrapping_mul(0x915f_77f5).wrapping_add(1);
            (state >> 24).to_le_bytes()[0]
        };
        for predictor in [Predictor::Horizontal, Predictor::Float] {
            for (size, samples) in [1, 2, 4, 8].into_iter().flat_map(|size| (1..=6).map(move |n| (size, n))) {
                for columns in 1..=200 {
                    let row: Vec<u8> = (0..columns * samples * size).map(|_| random()).collect();
                    for endian in [Endian::Little, Endian::Big] {
                        let mut rows = row.repeat(2);
                        predictor.undo(&mut rows, row.len(), samples, size, endian).unwrap();
                        let right = undone(predictor, &row, samples, size, endian).repeat(2);
                        assert!(rows == right, "{predictor:?} {columns} {samples} {size} {endian:?}");
                    }
                }
            }
        }
    }
}
