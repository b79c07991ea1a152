//! Boxes, which divide an array so that it can be copied to another chunk grid one box at a time.

use super::indexing::{DimSelection, Selection};

/// The size of a box, in bytes, that provides enough work for all threads.
const ENOUGH: u64 = 64 << 20;

/// A partition of an array into equal boxes of whole chunks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Boxes {
    shape: Vec<u64>,
    lengths: Vec<u64>,
    /// The size of an element, in bytes.
    item: u64,
}

impl Boxes {
    /// Creates boxes of these lengths.
    pub fn of(shape: &[u64], lengths: &[u64], item: u64) -> Self {
        Self { shape: shape.to_vec(), lengths: lengths.to_vec(), item }
    }

    /// Creates boxes that touch the chunks of another array as few times as `room` bytes allow. The other array has the same
    /// shape and elements of `item` bytes. A box has at least one chunk, even if the chunk has more than `room` bytes.
    pub fn new(shape: &[u64], other: &[u64], own: &[u64], item: u64, room: u64) -> Self {
        let within = |(chunk, length): (&u64, &u64)| *chunk.min(length);
        let lengths = own.iter().zip(shape).map(within).collect();
        let mut boxes = Self { shape: shape.to_vec(), lengths, item };
        while let Some(larger) = boxes.more_useful(other, own, room) {
            boxes = larger;
        }
        for axis in (0..shape.len()).rev() {
            boxes = boxes.longer(axis, own, u64::MAX, room.min(ENOUGH)).unwrap_or(boxes);
        }
        boxes
    }

    /// Creates boxes of these lengths.
    pub fn of_lengths(shape: &[u64], lengths: &[u64]) -> Self {
        Self { shape: shape.to_vec(), lengths: lengths.to_vec(), item: 1 }
    }

    /// Extends the boxes along the axis that saves the most reads in relation to the additional size.
    fn more_useful(&self, other: &[u64], own: &[u64], room: u64) -> Option<Self> {
        let axes = (0..self.shape.len())
            .filter(|&axis| self.touched(axis, other) > chunks(self.shape[axis], other[axis]));
        let longer = axes.filter_map(|axis| {
            let boxes = self.longer(axis, own, 2, room)?;
            let spared = ratio(self.touched(axis, other), boxes.touched(axis, other));
            let taken = ratio(boxes.lengths[axis].into(), self.lengths[axis].into());
            Some((spared.ln() / taken.ln(), boxes))
        });
        longer.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, boxes)| boxes)
    }

    /// Returns boxes that are up to `times` times as long along an axis, within `room`; `None` if they cannot be extended.
    fn longer(&self, axis: usize, own: &[u64], times: u64, room: u64) -> Option<Self> {
        let size = u128::from(self.bytes());
        let count = chunks(self.lengths[axis], own[axis]);
        let most = (count * u128::from(times)).min(count * u128::from(room) / size);
        let length = most.saturating_mul(own[axis].into()).min(self.shape[axis].into());
        let length = u64::try_from(length).ok().filter(|&length| length > self.lengths[axis])?;
        let mut boxes = self.clone();
        boxes.lengths[axis] = length;
        Some(boxes)
    }

    /// Returns the number of times that all boxes together touch chunks of the other array along an axis. The boxes and the
    /// chunks divide the axis, partly at the same positions.
    fn touched(&self, axis: usize, other: &[u64]) -> u128 {
        let (length, own, other) = (self.shape[axis], self.lengths[axis], other[axis]);
        let common = u128::from(own) / u128::from(gcd(own, other)) * u128::from(other);
        chunks(length, own) + chunks(length, other) - u128::from(length).div_ceil(common)
    }

    /// Returns the average number of times that a chunk of the other array is touched.
    pub fn times_read(&self, other: &[u64]) -> f64 {
        let times = |axis| ratio(self.touched(axis, other), chunks(self.shape[axis], other[axis]));
        (0..self.shape.len()).map(times).product()
    }

    /// Returns the largest boxes into which both these boxes and the other boxes can be divided.
    pub fn common(&self, others: &Self) -> Self {
        let lengths = self.lengths.iter().zip(&others.lengths).map(|(a, b)| *a.min(b)).collect();
        Self { lengths, ..self.clone() }
    }

    /// Returns the lengths of a box that is not clipped at the edge of the array.
    pub fn lengths(&self) -> &[u64] {
        &self.lengths
    }

    /// Returns the size of the largest box, in bytes.
    pub fn bytes(&self) -> u64 {
        self.lengths.iter().fold(self.item.max(1), |size, &length| size.saturating_mul(length))
    }

    /// Returns the number of boxes.
    pub fn count(&self) -> usize {
        self.counts().fold(1, usize::saturating_mul)
    }

    fn counts(&self) -> impl DoubleEndedIterator<Item = usize> {
        let count =
            |(length, own): (&u64, &u64)| usize::try_from(length.div_ceil(*own)).unwrap_or(usize::MAX);
        self.shape.iter().zip(&self.lengths).map(count)
    }

    /// Returns the region of the `index`-th box, in row-major order.
    pub fn get(&self, index: usize) -> Selection {
        let mut rest = index;
        let places = self.counts().rev().map(|count| {
            let place = rest % count;
            rest /= count;
            place as u64
        });
        let mut places: Vec<u64> = places.collect();
        places.reverse();
        let range = |(axis, place): (usize, u64)| {
            let start = place * self.lengths[axis];
            DimSelection::from(start..start.saturating_add(self.lengths[axis]).min(self.shape[axis]))
        };
        places.into_iter().enumerate().map(range).collect()
    }
}

/// Returns the number of chunks that cover a length.
fn chunks(length: u64, chunk: u64) -> u128 {
    length.div_ceil(chunk.max(1)).into()
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a.max(1) } else { gcd(b, a % b) }
}

#[expect(clippy::cast_precision_loss, reason = "the result only affects the speed")]
fn ratio(a: u128, b: u128) -> f64 {
    a as f64 / b as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts how many times boxes of length `own` touch chunks of length `other`.
    fn counted(length: u64, own: u64, other: u64) -> u128 {
        let starts = (0..length).step_by(usize::try_from(own).unwrap());
        let touched = |start: u64| (start + own).min(length).div_ceil(other) - start / other;
        starts.map(|start| u128::from(touched(start))).sum()
    }

    #[test]
    fn touched_chunks_match_the_count() {
        for length in 1..40 {
            for own in 1..=length {
                for other in 1..50 {
                    let boxes = Boxes { shape: vec![length], lengths: vec![own], item: 1 };
                    assert_eq!(
                        boxes.touched(0, &[other]),
                        counted(length, own, other),
                        "{length} {own} {other}"
                    );
                }
            }
        }
    }

    #[test]
    fn rows_become_columns_in_boxes_that_fill_the_room() {
        let boxes = Boxes::new(&[1000, 1000], &[10, 1000], &[1000, 10], 4, 400_000);
        assert_eq!(boxes.lengths, [1000, 100]);
        assert!((boxes.times_read(&[10, 1000]) - 10.0).abs() < 1e-9);
        let whole = Boxes::new(&[1000, 1000], &[10, 1000], &[1000, 10], 4, 4_000_000);
        assert_eq!(whole.lengths, [1000, 1000]);
        let one = Boxes::new(&[1000, 1000], &[10, 1000], &[1000, 10], 4, 0);
        assert_eq!(one.lengths, [1000, 10]);
    }

    #[test]
    fn boxes_have_several_chunks_where_nothing_else_makes_them_larger() {
        let boxes = Boxes::new(&[1000, 1000], &[10, 10], &[10, 10], 1, 1 << 30);
        assert_eq!(boxes.lengths, [1000, 1000]);
        assert_eq!(Boxes::new(&[1000, 1000], &[10, 10], &[10, 10], 1, 1000).lengths, [10, 100]);
    }

    #[test]
    fn boxes_cover_everything_once() {
        let boxes = Boxes { shape: vec![5, 7], lengths: vec![2, 4], item: 1 };
        let ranges = |a: std::ops::Range<u64>, b: std::ops::Range<u64>| {
            [DimSelection::from(a), DimSelection::from(b)].into_iter().collect::<Selection>()
        };
        assert_eq!(boxes.count(), 6);
        assert_eq!(boxes.get(1), ranges(0..2, 4..7));
        assert_eq!(boxes.get(5), ranges(4..5, 4..7));
        assert_eq!(Boxes { shape: vec![], lengths: vec![], item: 1 }.count(), 1);
    }

    #[test]
    fn huge_shapes_take_no_time() {
        let boxes = Boxes::new(&[u64::MAX, u64::MAX], &[1, u64::MAX], &[u64::MAX, 1], 8, 1 << 30);
        assert_eq!(boxes.lengths, [u64::MAX, 1]);
        assert!(boxes.times_read(&[1, u64::MAX]) > 1e18);
        assert_eq!(boxes.common(&boxes).bytes(), u64::MAX);
        let small = Boxes::new(&[u64::MAX], &[1000], &[1], 1, 1 << 30);
        assert!(small.lengths[0] <= 1 << 30);
    }
}
