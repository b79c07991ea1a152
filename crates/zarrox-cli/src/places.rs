//! The contiguous runs into which the elements of a region fall, in a file with all elements of an array in row-major order.

use std::io::{self, Seek, SeekFrom, Write};
use std::ops::Range;

use crate::window::count;

/// A contiguous run of elements: the index of the first one, and their number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) first: u64,
    pub(crate) count: u64,
}

/// Returns the runs of a non-empty region in an array of this shape, in row-major order.
pub(crate) fn runs(shape: &[u64], block: &[Range<u64>]) -> impl Iterator<Item = Run> + use<> {
    let lengths: Vec<u64> = block.iter().map(|range| range.end - range.start).collect();
    let full = shape.iter().zip(&lengths).rev().take_while(|(shape, length)| shape == length).count();
    // Elements are contiguous along this dimension and all following ones.
    let outer = (shape.len() - full).saturating_sub(1);
    let strides: Vec<u64> = (0..shape.len()).map(|dim| count(&shape[dim + 1..])).collect();
    let begin: u64 = block.iter().zip(&strides).map(|(range, stride)| range.start * stride).sum();
    let run = count(&lengths[outer..]);
    let lengths = lengths[..outer].to_vec();
    (0..count(&lengths)).map(move |mut index| {
        let mut first = begin;
        for (length, stride) in lengths.iter().zip(&strides).rev() {
            first += index % length * stride;
            index /= length;
        }
        Run { first, count: run }
    })
}

/// Writes the elements of a region to their positions in the file. The first element of the array is at the offset `start`.
pub(crate) fn write(
    file: &mut (impl Write + Seek),
    start: u64,
    shape: &[u64],
    block: &[Range<u64>],
    mut bytes: &[u8],
) -> io::Result<()> {
    let item =
        bytes.len() as u64 / count(&block.iter().map(|range| range.end - range.start).collect::<Vec<_>>());
    for Run { first, count } in runs(shape, block) {
        let length = usize::try_from(count * item).unwrap_or(usize::MAX).min(bytes.len());
        let (run, rest) = bytes.split_at(length);
        file.seek(SeekFrom::Start(start + first * item))?;
        file.write_all(run)?;
        bytes = rest;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_as_long_as_elements_follow_each_other() {
        let found = |shape: &[u64], block: &[Range<u64>]| -> Vec<(u64, u64)> {
            runs(shape, block).map(|run| (run.first, run.count)).collect()
        };
        assert_eq!(found(&[4, 5, 6], &[1..3, 0..5, 0..6]), [(30, 60)]);
        assert_eq!(found(&[4, 5, 6], &[1..3, 2..4, 0..6]), [(42, 12), (72, 12)]);
        assert_eq!(found(&[2, 2, 6], &[0..2, 0..2, 1..3]), [(1, 2), (7, 2), (13, 2), (19, 2)]);
        assert_eq!(found(&[4, 5, 6], &[3..4, 4..5, 5..6]), [(119, 1)]);
        assert_eq!(found(&[7], std::slice::from_ref(&(2..4))), [(2, 2)]);
        assert_eq!(found(&[], &[]), [(0, 1)]);
    }
}
