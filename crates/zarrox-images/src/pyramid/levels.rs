//! The shapes of levels, and the scale factors between them.

use zarrox_core::Result;

use zarrox::internals::argument;
use zarrox_tools::internals::MOST;

/// The maximum number of levels below the first one. Each level at least halves the length of a dimension.
const MOST_LEVELS: usize = 64;

/// The scale factors of a level relative to the previous one, and its shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reduced {
    pub(super) factors: Vec<u64>,
    pub(super) shape: Vec<u64>,
}

/// Returns the levels below an array of this shape. Without a count, levels are added until a level is no larger than a chunk.
pub(super) fn levels(
    shape: &[u64],
    factors: &[u64],
    chunk: &[u64],
    count: Option<usize>,
) -> Result<Vec<Reduced>> {
    check(shape, factors)?;
    let mut levels: Vec<Reduced> = Vec::new();
    loop {
        let last = levels.last().map_or(shape, |level| level.shape.as_slice());
        let is_done = match count {
            Some(count) => levels.len() >= count,
            None => is_small(last, factors, chunk),
        };
        if is_done || levels.len() == MOST_LEVELS {
            return Ok(levels);
        }
        // A dimension of length 1 is not downsampled.
        let factors: Vec<u64> =
            last.iter().zip(factors).map(|(length, factor)| *factor.min(length).max(&1)).collect();
        if factors.iter().all(|factor| *factor == 1) {
            return Ok(levels);
        }
        let shape = last.iter().zip(&factors).map(|(length, factor)| length.div_ceil(*factor)).collect();
        levels.push(Reduced { factors, shape });
    }
}

/// Returns true if, along the downsampled dimensions taken together, an array has at most as many elements as a chunk.
fn is_small(shape: &[u64], factors: &[u64], chunk: &[u64]) -> bool {
    let reduced = |lengths: &[u64]| {
        let along = lengths.iter().zip(factors).filter(|(_, factor)| **factor > 1);
        along.fold(1_u128, |count, (length, _)| count.saturating_mul((*length).into()))
    };
    reduced(shape) <= reduced(chunk)
}

fn check(shape: &[u64], factors: &[u64]) -> Result<()> {
    if shape.len() != factors.len() {
        let message = format!("there are {} factors, but {} dimensions", factors.len(), shape.len());
        return Err(argument(message));
    }
    if factors.contains(&0) {
        return Err(argument("a factor must be at least 1"));
    }
    let cell = factors.iter().fold(1_u64, |count, factor| count.saturating_mul(*factor));
    if cell > MOST {
        let message = format!("a cell of {cell} elements exceeds the limit of {MOST}");
        return Err(argument(message));
    }
    if !factors.iter().any(|factor| *factor > 1) {
        return Err(argument("no dimension is reduced: one of the factors must be 2 or more"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_end_with_one_that_fits_into_a_chunk() {
        let shapes = |shape: &[u64], factors: &[u64], chunk: &[u64], count| -> Vec<Vec<u64>> {
            levels(shape, factors, chunk, count).unwrap().into_iter().map(|level| level.shape).collect()
        };
        assert_eq!(shapes(&[100, 90], &[2, 2], &[32, 32], None), [[50, 45], [25, 23]]);
        assert_eq!(
            shapes(&[3, 1000, 1000], &[1, 2, 2], &[1, 256, 256], None),
            [[3, 500, 500], [3, 250, 250]]
        );
        assert_eq!(shapes(&[5, 1], &[2, 2], &[1, 1], None), [[3, 1], [2, 1], [1, 1]]);
        assert_eq!(shapes(&[5, 8], &[3, 1], &[1, 1], Some(1)), [[2, 8]]);
        assert_eq!(shapes(&[8, 8], &[2, 2], &[8, 8], None), Vec::<Vec<u64>>::new());
        assert_eq!(shapes(&[4], &[2], &[1], Some(1000)).len(), 2);
        assert_eq!(shapes(&[u64::MAX], &[2], &[1], None).len(), 64);
    }

    #[test]
    fn bad_factors_are_refused() {
        for factors in [&[2][..], &[0, 2], &[1, 1], &[256, 256], &[u64::MAX, u64::MAX]] {
            assert!(levels(&[10, 10], factors, &[5, 5], None).is_err(), "{factors:?}");
        }
    }
}
