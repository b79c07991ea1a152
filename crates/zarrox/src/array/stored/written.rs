//! [`WrittenChunks`]: the stored inner chunks of an array with shards.

use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;

use zarrox_core::Result;
use zarrox_core::internals::selection::{ResolvedAxis, ResolvedSpan};

use crate::array::{ArrayView, indices};
use crate::policy::MissingChunks;

/// The maximum number of inner chunks whose states are kept.
const KEPT: usize = 1 << 20;

/// The stored inner chunks of shards. The index of each shard is read once, for views that are parts of one another.
#[derive(Debug, Default)]
pub struct WrittenChunks {
    /// The indices of the stored inner chunks, by shard.
    shards: HashMap<Vec<u64>, HashSet<Vec<u64>>>,
    kept: usize,
}

impl WrittenChunks {
    /// Returns true if no element of a view is stored, so that all elements have the fill value. The answer is false if the
    /// indexes of shards do not tell: for arrays without shards, for selections with lists, and if an index cannot be read.
    ///
    /// # Errors
    /// The errors of an invalid selection.
    pub fn is_unwritten(&mut self, view: &ArrayView<'_>) -> Result<bool> {
        let array = view.array();
        let (Some(shards), false) = (array.shard_shape(), array.unreadable().is_some()) else {
            return Ok(false);
        };
        if view.fields.is_some() || array.location.context.missing == MissingChunks::Error {
            return Ok(false);
        }
        let axes = &view.resolved()?.axes;
        let mut spans = vec![None; array.ndim()];
        for axis in axes {
            let ResolvedAxis::Span(span) = axis else { return Ok(false) };
            spans[span.dim] = Some(*span);
        }
        let Some(spans) = spans.into_iter().collect::<Option<Vec<ResolvedSpan>>>() else { return Ok(false) };
        if spans.iter().any(|span| span.count == 0) {
            return Ok(true);
        }
        let within = |lengths: &[u64]| -> Vec<RangeInclusive<u64>> {
            let chunks = |(span, length): (&ResolvedSpan, &u64)| {
                let last = span.start + (span.count - 1) * span.step;
                span.start / (*length).max(1)..=last / (*length).max(1)
            };
            spans.iter().zip(lengths).map(chunks).collect()
        };
        let (inner, ranges) = (within(&array.unit_shape()), within(shards));
        let lengths: Vec<u64> = ranges.iter().map(|range| range.end() - range.start() + 1).collect();
        let count = lengths.iter().fold(1_u64, |count, length| count.saturating_mul(*length));
        Ok((0..count).all(|number| {
            let offsets = indices(number, &lengths).into_iter().zip(&ranges);
            let shard: Vec<u64> = offsets.map(|(offset, range)| range.start() + offset).collect();
            let has = |chunk: &Vec<u64>| chunk.iter().zip(&inner).all(|(index, range)| range.contains(index));
            self.written(view, &shard, shards).is_some_and(|written| !written.iter().any(has))
        }))
    }

    /// Returns the stored inner chunks of a shard; `None` if they are too many, or the index cannot be read.
    fn written(
        &mut self,
        view: &ArrayView<'_>,
        shard: &[u64],
        lengths: &[u64],
    ) -> Option<&HashSet<Vec<u64>>> {
        if !self.shards.contains_key(shard) {
            let unit = view.array().unit_shape();
            let count = lengths.iter().zip(&unit).try_fold(1_usize, |count, (shard, chunk)| {
                count.checked_mul(usize::try_from(shard / (*chunk).max(1)).ok()?)
            });
            self.kept = count.and_then(|count| self.kept.checked_add(count)).filter(|kept| *kept <= KEPT)?;
            let found = view.array().raw().inner_chunks(shard).ok()?.unwrap_or_default();
            let stored = found.into_iter().filter(|chunk| chunk.place.is_some()).map(|chunk| chunk.index);
            self.shards.insert(shard.to_vec(), stored.collect());
        }
        self.shards.get(shard)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use zarrox_core::DataType;
    use zarrox_stores::MemoryStore;

    use super::*;
    use crate::{Array, OpenOptions, s};

    fn array(shards: bool) -> Array {
        let builder = OpenOptions::new().create_array((Arc::new(MemoryStore::new()), ""));
        let builder = builder.shape([20, 30]).chunks([2, 5]).data_type(DataType::Int16);
        let array = if shards { builder.shards([10, 10]).create() } else { builder.create() }.unwrap();
        array.write(s![3, 12], 7_i16).unwrap();
        array
    }

    #[test]
    fn parts_without_stored_chunks_are_unwritten() {
        let array = array(true);
        let mut written = WrittenChunks::default();
        let mut is = |view: ArrayView<'_>| written.is_unwritten(&view).unwrap();
        assert!(
            !is(array.slice(s![..])) && !is(array.slice(s![2..4, 10..15])) && !is(array.slice(s![3, 14]))
        );
        assert!(
            is(array.slice(s![2..4, 15..30])) && is(array.slice(s![4.., ..])) && is(array.slice(s![0, ..]))
        );
        assert!(is(array.slice(s![..]).slice(s![..2, 10..15])) && is(array.slice(s![4..;7, ..])));
        assert!(is(array.slice(s![5..5, ..])));
        // Lists are not examined, unless their steps are equal.
        assert!(!is(array.slice(([4_u64, 6, 7], 0))));
    }

    #[test]
    fn nothing_is_known_of_arrays_without_shards() {
        let array = array(false);
        assert!(!WrittenChunks::default().is_unwritten(&array.slice(s![10.., ..])).unwrap());
    }
}
