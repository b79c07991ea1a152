//! Counts numbers in bins, and compares them with missing values.

use zarrox_core::internals::data_type::Primitive;

/// Counts in bins of equal width.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Bins {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) counts: Vec<u64>,
}

impl Bins {
    pub(super) fn new(low: f64, high: f64, count: usize) -> Self {
        Self { low, high, counts: vec![0; count] }
    }

    /// Counts a value `times` times. Values outside the bins are not counted.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a position from 0 to the number of bins"
    )]
    pub(super) fn add(&mut self, value: f64, times: u64) {
        if value >= self.low && value <= self.high {
            let (count, width) = (self.counts.len(), self.high - self.low);
            let part = if width > 0.0 { (value - self.low) / width } else { 0.0 };
            self.counts[((part * count as f64) as usize).min(count - 1)] += times;
        }
    }

    pub(super) fn join(&mut self, other: &Self) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(own, other)| *own += other);
    }
}

/// Returns, for each number, whether it differs from every number in `others`.
pub(super) fn differ<T: Primitive>(bytes: &[u8], others: &[u8]) -> Vec<bool> {
    let others: Vec<T> = others.chunks_exact(size_of::<T>()).map(T::of_bytes).collect();
    bytes.chunks_exact(size_of::<T>()).map(|value| !others.contains(&T::of_bytes(value))).collect()
}

/// Counts contiguous numbers.
pub(super) fn count<T: Primitive>(bytes: &[u8], bins: &mut Bins) {
    bytes.chunks_exact(size_of::<T>()).for_each(|value| bins.add(T::of_bytes(value).to_f64(), 1));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_have_what_numpy_counts() {
        let mut bins = Bins::new(0.0, 10.0, 4);
        for value in [0.0, 2.4, 2.5, 9.9, 10.0, 11.0, -1.0, f64::NAN] {
            bins.add(value, 1);
        }
        assert_eq!(bins.counts, [2, 1, 0, 2]);
    }
}
