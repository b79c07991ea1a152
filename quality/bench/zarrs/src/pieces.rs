//! Division of an array into pieces that fit into memory.

use zarrs::array::ArraySubset;

/// Returns the shape of pieces of whole target chunks that read the fewest source chunks, with the fewest pieces. A piece has at
/// most `most` elements, unless a target chunk is larger.
pub(crate) fn steps(shape: &[u64], source: &[u64], target: &[u64], elements: u64) -> Vec<u64> {
    let cost = |way: &Vec<u64>| {
        let reads: u64 = (0..shape.len()).map(|axis| touched(shape[axis], source[axis], way[axis])).product();
        let pieces: u64 = shape.iter().zip(way).map(|(length, step)| length.div_ceil(*step)).product();
        (reads, pieces)
    };
    let fitting = ways(shape, target).into_iter().filter(|way| way.iter().product::<u64>() <= elements);
    fitting.min_by_key(cost).unwrap_or_else(|| target.to_vec())
}

/// Returns every combination of one, two, four … chunks along each axis, up to the shape of the array.
fn ways(shape: &[u64], chunk: &[u64]) -> Vec<Vec<u64>> {
    let mut ways = vec![Vec::new()];
    for (&length, &chunk) in shape.iter().zip(chunk) {
        let mut doublings = vec![chunk];
        while doublings.last().is_some_and(|step| *step < length) {
            doublings.push(doublings.last().map_or(chunk, |step| step * 2));
        }
        let with_axis =
            |way: &Vec<u64>| doublings.iter().map(|step| [way.as_slice(), &[*step]].concat()).collect();
        ways = ways.iter().flat_map(|way| -> Vec<_> { with_axis(way) }).collect();
    }
    ways
}

/// Returns the number of chunk reads along an axis that is read piece by piece.
fn touched(length: u64, chunk: u64, step: u64) -> u64 {
    let starts = (0..length).step_by(usize::try_from(step).unwrap_or(usize::MAX));
    starts.map(|start| (start + step).min(length).div_ceil(chunk) - start / chunk).sum()
}

/// Returns the regions into which an array is divided.
pub(crate) fn regions(shape: &[u64], steps: &[u64]) -> Vec<ArraySubset> {
    let mut regions = vec![Vec::new()];
    for (&length, &step) in shape.iter().zip(steps) {
        let starts = (0..length).step_by(usize::try_from(step).unwrap_or(usize::MAX));
        let ranges: Vec<_> = starts.map(|start| start..(start + step).min(length)).collect();
        regions = regions
            .iter()
            .flat_map(|region| ranges.iter().map(move |range| [region.as_slice(), &[range.clone()]].concat()))
            .collect();
    }
    regions.iter().map(|ranges| ArraySubset::new_with_ranges(ranges)).collect()
}
