//! Timing, medians, and the positions of the single chunks and elements to read.

use std::time::{Duration, Instant};

use zarrox_core::{Result, Selection};

use crate::rechunk::selection;

/// The number of single chunks and elements that are read in each turn.
const PLACES: u64 = 8;

/// Runs an operation, and returns the elapsed time and its result.
pub(super) fn timed<T>(work: impl FnOnce() -> Result<T>) -> Result<(Duration, T)> {
    let begun = Instant::now();
    let done = work()?;
    Ok((begun.elapsed(), done))
}

/// Returns the median of the times; zero if there are none.
pub(super) fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    let middle = times.len() / 2;
    match times.len() {
        0 => Duration::ZERO,
        odd if odd % 2 == 1 => times[middle],
        _ => (times[middle - 1] + times[middle]) / 2,
    }
}

/// Returns the selections of some chunks of a region, and of one element of each chunk. Each turn gets different chunks.
pub(super) fn places(region: &[(u64, u64)], chunks: &[u64], turn: usize) -> Vec<(Selection, Selection)> {
    (0..PLACES).map(|nth| place(region, chunks, turn as u64 * PLACES + nth)).collect()
}

fn place(region: &[(u64, u64)], chunks: &[u64], number: u64) -> (Selection, Selection) {
    let mut state = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5_4A32_D192_ED03;
    let mut random = |below: u64| {
        // Xorshift: any uniform distribution is sufficient.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below.max(1)
    };
    let mut chunk: Vec<(u64, u64)> = Vec::new();
    let mut element: Vec<(u64, u64)> = Vec::new();
    for (&(begin, end), &length) in region.iter().zip(chunks) {
        let length = length.max(1);
        let first = begin + random((end - begin).div_ceil(length)) * length;
        let last = first.saturating_add(length).min(end);
        chunk.push((first, last));
        let at = first + random(last - first);
        element.push((at, at + 1));
    }
    (selection(&chunk).into_iter().collect(), selection(&element).into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        let seconds = |times: &[u64]| {
            let mut times: Vec<_> = times.iter().map(|&n| Duration::from_secs(n)).collect();
            median(&mut times)
        };
        assert_eq!(seconds(&[9, 1, 5]), Duration::from_secs(5));
        assert_eq!(seconds(&[4, 1, 8, 2]), Duration::from_secs(3));
        assert_eq!(seconds(&[]), Duration::ZERO);
    }
}
