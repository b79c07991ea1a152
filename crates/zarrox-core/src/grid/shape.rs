//! The choice of a chunk shape for a new array.

/// The chunk shape of a new array.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChunkShape {
    /// The heuristic of zarr-python 2: a size between 128 KiB and 64 MiB that grows with the array.
    Guess,
    /// One chunk for the whole array.
    One,
    /// A length for each dimension; `None` means the whole dimension.
    Lengths(Vec<Option<u64>>),
}

impl ChunkShape {
    /// Returns the lengths for an array of this shape, with elements of `item` bytes. A length is zero only if it was given as
    /// zero.
    #[doc(hidden)]
    pub fn resolve(&self, shape: &[u64], item: usize) -> Vec<u64> {
        let whole = |dim: usize| shape.get(dim).map_or(1, |&length| length.max(1));
        match self {
            Self::Guess => guess(shape, item),
            Self::One => (0..shape.len()).map(whole).collect(),
            Self::Lengths(lengths) => {
                let length = |(dim, length): (usize, &Option<u64>)| length.unwrap_or_else(|| whole(dim));
                lengths.iter().enumerate().map(length).collect()
            }
        }
    }

    /// Returns the lengths of inner chunks in a shard of this shape, with elements of `item` bytes. Lengths that are chosen
    /// automatically divide the lengths of the shard.
    #[doc(hidden)]
    pub fn within(&self, shard: &[u64], item: usize) -> Vec<u64> {
        match self {
            Self::Guess => dividing(shard, item),
            Self::One | Self::Lengths(_) => self.resolve(shard, item),
        }
    }
}

impl From<Vec<u64>> for ChunkShape {
    fn from(lengths: Vec<u64>) -> Self {
        lengths.as_slice().into()
    }
}

impl From<&[u64]> for ChunkShape {
    fn from(lengths: &[u64]) -> Self {
        Self::Lengths(lengths.iter().copied().map(Some).collect())
    }
}

impl From<&Vec<u64>> for ChunkShape {
    fn from(lengths: &Vec<u64>) -> Self {
        lengths.as_slice().into()
    }
}

impl<const N: usize> From<[u64; N]> for ChunkShape {
    fn from(lengths: [u64; N]) -> Self {
        lengths.as_slice().into()
    }
}

impl<const N: usize> From<&[u64; N]> for ChunkShape {
    fn from(lengths: &[u64; N]) -> Self {
        lengths.as_slice().into()
    }
}

/// Takes the shape of an array in memory.
impl From<&[usize]> for ChunkShape {
    fn from(lengths: &[usize]) -> Self {
        Self::Lengths(lengths.iter().map(|&length| Some(length as u64)).collect())
    }
}

/// The chunk shape of a one-dimensional array.
impl From<u64> for ChunkShape {
    fn from(length: u64) -> Self {
        [length].into()
    }
}

impl From<Vec<Option<u64>>> for ChunkShape {
    fn from(lengths: Vec<Option<u64>>) -> Self {
        Self::Lengths(lengths)
    }
}

impl<const N: usize> From<[Option<u64>; N]> for ChunkShape {
    fn from(lengths: [Option<u64>; N]) -> Self {
        Self::Lengths(lengths.to_vec())
    }
}

/// The target size of chunks whose lengths are not given, in bytes.
const TARGET: u128 = 1 << 20;

fn size(chunks: &[u64], item: usize) -> u128 {
    chunks.iter().fold(item as u128, |size, &n| size.saturating_mul(n.into()))
}

/// Returns a chunk shape of at most about a mebibyte whose lengths divide the lengths of the shard: the longest dimension is
/// divided by its smallest prime factor until the chunk is small enough. Lengths with only large prime factors are unchanged.
fn dividing(shard: &[u64], item: usize) -> Vec<u64> {
    let factor = |length: u64| (2..64).find(|factor| length > 1 && length.is_multiple_of(*factor));
    let mut chunks: Vec<u64> = shard.to_vec();
    while size(&chunks, item) > TARGET {
        let divisible = chunks.iter_mut().filter_map(|length| factor(*length).map(|factor| (length, factor)));
        let Some((longest, factor)) = divisible.max_by_key(|(length, _)| **length) else { break };
        *longest /= factor;
    }
    chunks
}

/// Returns a chunk shape of at most about a mebibyte: the longest dimension is halved until the chunk is small enough.
pub fn about_a_mebibyte(shape: &[u64], item: usize) -> Vec<u64> {
    let mut chunks: Vec<u64> = shape.iter().map(|&length| length.max(1)).collect();
    while size(&chunks, item) > TARGET {
        let Some(longest) = chunks.iter_mut().max().filter(|length| **length > 1) else { break };
        *longest = longest.div_ceil(2);
    }
    chunks
}

/// Returns the chunk shape that zarr-python 2 chooses.
///
/// The target size is 256 KiB for an array of 1 MiB, doubles with every tenfold increase in the size of the array, and is
/// bounded. The dimensions are halved in turn, cyclically from the first to the last, until the chunk size is at most 1.5 times
/// the target. Like zarr-python 2, the computation uses floats, because every bit matters at the boundary between two shapes.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the computation uses floats, for the same results as zarr-python 2; a cast back saturates"
)]
fn guess(shape: &[u64], item: usize) -> Vec<u64> {
    const MEBIBYTE: f64 = 1_048_576.0;
    const MIDDLE: f64 = MEBIBYTE / 4.0;
    const LEAST: f64 = MEBIBYTE / 8.0;
    const MOST: f64 = MEBIBYTE * 64.0;
    let mut chunks: Vec<f64> = shape.iter().map(|&length| length.max(1) as f64).collect();
    let elements = |chunks: &[f64]| chunks.iter().product::<f64>();
    let bytes = |chunks: &[f64]| elements(chunks) * item as f64;
    let target = (MIDDLE * 2_f64.powf((bytes(&chunks) / MEBIBYTE).log10())).clamp(LEAST, MOST);
    let good = |size: f64| size < MOST && (size < target || (size - target).abs() / target < 0.5);
    let mut dim = 0;
    while !good(bytes(&chunks)) && elements(&chunks) != 1.0 {
        chunks[dim] = (chunks[dim] / 2.0).ceil();
        dim = (dim + 1) % chunks.len();
    }
    // A length beyond 2^53 may have been rounded up, but no chunk is longer than its dimension.
    chunks.iter().zip(shape).map(|(&chunk, &length)| (chunk as u64).min(length.max(1))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The results of `zarr.util.guess_chunks` of zarr-python 2.18.7: `tests/guesses/make.py`.
    const GUESSES: &str = include_str!("../../tests/guesses/guesses.json");

    #[test]
    fn guesses_are_those_of_zarr_python_2() {
        let guesses: Vec<(Vec<u64>, usize, Vec<u64>)> = serde_json::from_str(GUESSES).unwrap();
        assert!(guesses.len() > 1000, "{}", guesses.len());
        for (shape, item, chunks) in guesses {
            assert_eq!(ChunkShape::Guess.resolve(&shape, item), chunks, "{shape:?} {item}");
        }
    }

    #[test]
    fn guesses_end_whatever_the_shape() {
        assert_eq!(guess(&[], 1 << 30), [] as [u64; 0]);
        let endless = vec![u64::MAX; 64];
        assert!(guess(&endless, 1 << 20).iter().all(|&length| length > 0));
        assert_eq!(guess(&[3, 3], 1 << 30), [1, 1]);
    }

    #[test]
    fn dimensions_can_be_left_whole() {
        assert_eq!(ChunkShape::One.resolve(&[7, 0, 2], 8), [7, 1, 2]);
        assert_eq!(ChunkShape::from([None, Some(5), None]).resolve(&[7, 9, 0], 8), [7, 5, 1]);
        assert_eq!(ChunkShape::from([4, 5]).resolve(&[7, 9], 8), [4, 5]);
    }

    #[test]
    fn guessed_chunks_inside_a_shard_divide_it() {
        assert_eq!(ChunkShape::Guess.within(&[1000, 3000], 8), [250, 375]);
        assert_eq!(ChunkShape::Guess.within(&[100], 8), [100]);
        assert_eq!(ChunkShape::Guess.within(&[1_000_003], 8), [1_000_003]);
        assert_eq!(ChunkShape::from([None, Some(5)]).within(&[6, 10], 8), [6, 5]);
    }

    #[test]
    fn default_chunks_are_small_enough_whatever_the_shape() {
        assert_eq!(about_a_mebibyte(&[], 8), [] as [u64; 0]);
        assert_eq!(about_a_mebibyte(&[0, 3], 8), [1, 3]);
        assert_eq!(about_a_mebibyte(&[1000, 1000], 1), [1000, 1000]);
        assert_eq!(about_a_mebibyte(&[4096, 4096], 4), [512, 512]);
        let chunks = about_a_mebibyte(&[u64::MAX, u64::MAX, 7], 8);
        assert!(chunks.iter().product::<u64>() * 8 <= 1 << 20, "{chunks:?}");
    }
}
