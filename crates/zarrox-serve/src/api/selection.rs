//! The selection of a request, and the steps that thin it to the limits of a response.

use std::sync::Arc;

use serde::Deserialize;
use zarrox::internals::Timings;
use zarrox::internals::selection::{ResolvedAxis, ResolvedSelection, ResultAxis};
use zarrox::{AccessOptions, Array, DimSelection, Interrupt, Selection};

use crate::failure::{Answer, Failure};
use crate::query::Select;

/// The meaning of several lists in one selection.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Indexing {
    /// The lists are indices of points.
    #[default]
    Numpy,
    /// Each list selects along its own dimension.
    Orthogonal,
}

/// The maximum number of decoded bytes of chunks for a response.
const MOST_DECODED: u128 = 16 << 30;

/// A selected part of an array.
pub(crate) struct Part {
    pub(crate) array: Array,
    pub(crate) selection: Selection,
    resolved: ResolvedSelection,
    /// The shape of the selection.
    pub(crate) shape: Vec<u64>,
    /// The times of reading the array.
    pub(crate) timings: Arc<Timings>,
}

impl Part {
    /// Returns the part of an array that a request selects.
    pub(crate) fn new(
        array: &Array,
        Select(selection): &Select,
        indexing: Indexing,
        interrupt: &Interrupt,
    ) -> Answer<Self> {
        if let Some(why) = array.unreadable() {
            return Err(Failure::unsupported(format!("array '{}' cannot be read: {why}", array.path())));
        }
        let timings = Arc::default();
        let array = array.with_options(&AccessOptions::new().interrupt(interrupt).timings(&timings));
        let selection = match indexing {
            Indexing::Numpy => selection.clone(),
            Indexing::Orthogonal => Selection::orthogonal(selection.clone()),
        };
        let resolved = selection.resolve(array.shape())?;
        let shape = resolved.shape();
        Ok(Self { array, selection, resolved, shape, timings })
    }

    /// Returns the number of selected elements.
    pub(crate) fn count(&self) -> u128 {
        count(&self.shape)
    }

    /// Fails if the selection, with these steps along the axes of the result, would decode too many bytes.
    pub(crate) fn check_cost(&self, steps: &[u64], advice: &str) -> Answer<()> {
        let decoded = self.decoded_bytes(steps);
        if decoded > MOST_DECODED {
            let message =
                format!("the request would decode {decoded} bytes of chunks; the limit is {MOST_DECODED}");
            return Err(Failure::too_much(message, advice));
        }
        Ok(())
    }

    /// Returns an upper bound of the decoded size of all touched chunks, in bytes.
    fn decoded_bytes(&self, steps: &[u64]) -> u128 {
        let chunk = self.array.unit_shape();
        let mut total = self.array.data_type().size().max(1) as u128;
        for (number, axis) in self.resolved.axes.iter().enumerate() {
            let step = self.step_of(number, steps);
            let elements = match axis {
                ResolvedAxis::Span(span) => {
                    let length = chunk.get(span.dim).copied().unwrap_or(1).max(1);
                    let apart = span.step.saturating_mul(step);
                    let count = span.count.div_ceil(step);
                    let last = span.start.saturating_add(count.saturating_sub(1).saturating_mul(apart));
                    let spanned = (last / length - span.start / length).saturating_add(1);
                    u128::from(spanned.min(count)) * u128::from(length)
                }
                ResolvedAxis::Points(points) => {
                    let listed = count(&points.shape.iter().map(|&n| n as u64).collect::<Vec<_>>());
                    points.dims.iter().fold(listed, |total, &dim| {
                        total.saturating_mul(chunk.get(dim).copied().unwrap_or(1).into())
                    })
                }
                ResolvedAxis::Mask(mask) => {
                    let shape = self.array.shape();
                    let lengths = mask.dims.iter().map(|&dim| shape.get(dim).copied().unwrap_or(1));
                    lengths.fold(1, |total: u128, length| total.saturating_mul(length.into()))
                }
            };
            total = total.saturating_mul(elements);
        }
        total
    }

    /// Returns the step along the axis of the result that corresponds to an axis of the array.
    fn step_of(&self, axis: usize, steps: &[u64]) -> u64 {
        let origins = self.resolved.result.iter().zip(steps);
        let own = origins
            .filter(|(origin, _)| matches!(origin, ResultAxis::Of { axis: other, .. } if *other == axis));
        own.map(|(_, step)| *step).max().unwrap_or(1).max(1)
    }

    /// Returns the selection with these steps along each axis, as one slice or index for each
    /// dimension of the array. `None` if the selection has lists or masks, or axes in another order.
    pub(crate) fn plain(&self, steps: &[u64]) -> Option<Vec<DimSelection>> {
        let mut items = vec![DimSelection::ALL; self.array.ndim()];
        for (number, axis) in self.resolved.axes.iter().enumerate() {
            let ResolvedAxis::Span(span) = axis else { return None };
            let in_result =
                |origin: &ResultAxis| matches!(origin, ResultAxis::Of { axis, .. } if *axis == number);
            let start = i64::try_from(span.start).ok()?;
            let item = items.get_mut(span.dim)?;
            if !self.resolved.result.iter().any(in_result) {
                *item = DimSelection::Index(start);
                continue;
            }
            let apart = i64::try_from(span.step.checked_mul(self.step_of(number, steps))?).ok()?;
            let last =
                i64::try_from(span.start + span.count.saturating_sub(1).checked_mul(span.step)?).ok()?;
            *item = match (span.count, span.reversed) {
                (0, _) => DimSelection::Slice { start: Some(0), stop: Some(0), step: 1 },
                (_, false) => DimSelection::Slice { start: Some(start), stop: Some(last + 1), step: apart },
                (_, true) => {
                    let stop = (start > 0).then(|| start - 1);
                    DimSelection::Slice { start: Some(last), stop, step: -apart }
                }
            };
        }
        Some(items)
    }

    /// Returns the selection in NumPy syntax.
    pub(crate) fn text(&self, steps: &[u64]) -> Option<String> {
        let items: Vec<String> = self.plain(steps)?.iter().map(ToString::to_string).collect();
        Some(items.join(", "))
    }
}

/// Returns the number of elements of a shape.
pub(crate) fn count(shape: &[u64]) -> u128 {
    if shape.contains(&0) {
        return 0;
    }
    shape.iter().fold(1, |count: u128, &length| count.saturating_mul(length.into()))
}

/// Returns the shape of a selection with these steps along each axis.
pub(crate) fn thinned(shape: &[u64], steps: &[u64]) -> Vec<u64> {
    shape.iter().zip(steps).map(|(length, step)| length.div_ceil((*step).max(1))).collect()
}

/// Returns the steps that leave at most `most` elements, equal along all axes.
pub(crate) fn steps_for(shape: &[u64], most: u128) -> Vec<u64> {
    let of = |step: u64| shape.iter().map(|&length| step.min(length.max(1))).collect::<Vec<_>>();
    let fits = |step: u64| count(&thinned(shape, &of(step))) <= most.max(1);
    if fits(1) {
        return of(1);
    }
    let (mut low, mut high) = (1, shape.iter().copied().max().unwrap_or(1).max(1));
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if fits(middle) { high = middle } else { low = middle }
    }
    of(high)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use zarrox::stores::MemoryStore;
    use zarrox::{DataType, OpenOptions};

    use super::*;

    fn part(shape: &[u64], chunks: &[u64], select: &str) -> Part {
        let builder = OpenOptions::new().create_array((Arc::new(MemoryStore::new()), ""));
        let array = builder
            .shape(shape.to_vec())
            .chunks(chunks.to_vec())
            .data_type(DataType::UInt8)
            .create()
            .unwrap();
        let select = Select(select.parse().unwrap());
        Part::new(&array, &select, Indexing::Numpy, &Interrupt::new()).unwrap()
    }

    #[test]
    fn steps_leave_what_is_asked_for_and_not_much_less() {
        for (shape, most) in
            [(vec![1000, 1000], 10_000), (vec![10, 1_000_000], 500), (vec![7], 7), (vec![7], 6), (vec![], 1)]
        {
            let steps = steps_for(&shape, most);
            let left = count(&thinned(&shape, &steps));
            assert!(left <= most && left * 5 >= most.min(count(&shape)), "{shape:?} {most}: {steps:?}");
        }
        assert_eq!(steps_for(&[u64::MAX, u64::MAX], 1), [u64::MAX, u64::MAX]);
        assert_eq!(steps_for(&[0, 5], 1), [1, 1]);
    }

    #[test]
    fn a_selection_is_told_in_plain_words() {
        let text = |select: &str, steps: &[u64]| part(&[10, 20, 30], &[5, 5, 5], select).text(steps);
        assert_eq!(text("0, ::2", &[3, 1]).as_deref(), Some("0, 0:19:6, 0:30"));
        assert_eq!(text("..., ::-1", &[1, 1, 4]).as_deref(), Some("0:10, 0:20, 29::-4"));
        assert_eq!(text("[1, 5, 2],", &[1, 1, 1]), None);
        for select in ["0, ::2", "..., ::-1", "3:4, 5:, 7", "::3, ::-7, 10:2:-3"] {
            let part = part(&[10, 20, 30], &[5, 5, 5], select);
            let steps = vec![2; part.shape.len()];
            let plain = Selection::new(part.plain(&steps).unwrap());
            assert_eq!(part.array.slice(plain).shape().unwrap(), thinned(&part.shape, &steps), "{select}");
        }
    }

    #[test]
    fn the_cost_is_that_of_the_chunks_that_are_touched() {
        let cost = |select: &str, steps: &[u64]| part(&[1000, 1000], &[10, 10], select).decoded_bytes(steps);
        assert_eq!(cost("0, 0", &[]), 100);
        assert_eq!(cost("0", &[1]), 10 * 1000);
        assert_eq!(cost("", &[1, 1]), 1_000_000);
        assert_eq!(cost("", &[100, 100]), 10_000);
        assert_eq!(cost("[0, 999], 0", &[1]), 2 * 100);
    }
}
