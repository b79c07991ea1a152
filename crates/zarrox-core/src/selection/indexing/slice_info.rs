//! Conversion of `ndarray::s!` to a selection.

use ndarray::{Dimension, SliceInfo, SliceInfoElem};

use super::{DimSelection, IntoSelection, Selection};

/// Selects the elements that `ndarray` would return, in its order: a negative step begins at the end of the range, while
/// [`s!`](crate::s) begins at the first number, as in NumPy.
impl<T: AsRef<[SliceInfoElem]>, In: Dimension, Out: Dimension> IntoSelection for SliceInfo<T, In, Out> {
    fn into_selection(self) -> Selection {
        (&self).into_selection()
    }
}

impl<T: AsRef<[SliceInfoElem]>, In: Dimension, Out: Dimension> IntoSelection for &SliceInfo<T, In, Out> {
    fn into_selection(self) -> Selection {
        let items: &[SliceInfoElem] = self.as_ref();
        items.iter().copied().map(DimSelection::from).collect()
    }
}

impl From<SliceInfoElem> for DimSelection {
    fn from(item: SliceInfoElem) -> Self {
        match item {
            SliceInfoElem::Index(index) => Self::Index(index as i64),
            SliceInfoElem::NewAxis => Self::NewAxis,
            SliceInfoElem::Slice { start, end, step } if step < 0 => {
                backwards(start as i64, end, step as i64)
            }
            SliceInfoElem::Slice { start, end, step } => {
                Self::Slice { start: Some(start as i64), stop: end.map(|end| end as i64), step: step as i64 }
            }
        }
    }
}

/// Returns a range in reverse order. The start and the exclusive end are those of the forward range.
fn backwards(start: i64, end: Option<isize>, step: i64) -> DimSelection {
    if end == Some(0) {
        return DimSelection::Slice { start: Some(0), stop: Some(0), step: 1 };
    }
    let first = end.map(|end| (end as i64).saturating_sub(1));
    // A reversed slice that includes position 0 has no stop, because -1 would mean the last position.
    let stop = (start != 0).then(|| start.saturating_sub(1));
    DimSelection::Slice { start: first, stop, step }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array1, Axis, Slice, arr2};

    use super::*;
    use crate::selection::ResolvedAxis;

    /// Returns the positions of a selection along its only axis.
    fn positions(selection: &Selection, length: u64) -> Vec<u64> {
        let resolved = selection.resolve(&[length]).unwrap();
        let [ResolvedAxis::Span(span)] = resolved.axes.as_slice() else { panic!("{resolved:?}") };
        (0..span.count).map(|n| span.position(n)).collect()
    }

    #[test]
    fn every_slice_has_the_elements_of_ndarray_in_its_order() {
        for (length, count) in (0..6_isize).zip(0_u64..) {
            let all = Array1::from_iter(0..count);
            let ends = || std::iter::once(None).chain((-length..=length).map(Some));
            for (start, end, step) in (-length..=length)
                .flat_map(|start| ends().map(move |end| (start, end)))
                .flat_map(|(start, end)| [-3, -2, -1, 1, 2].map(|step| (start, end, step)))
            {
                let expected = all.slice_axis(Axis(0), Slice::new(start, end, step)).to_vec();
                let item = SliceInfoElem::Slice { start, end, step };
                let selection = Selection::from_iter([DimSelection::from(item)]);
                assert_eq!(positions(&selection, count), expected, "{start}..{end:?};{step} of {length}");
            }
        }
    }

    #[test]
    fn either_macro_selects() {
        let shape = |selection: Selection| selection.resolve(&[5, 6, 7]).unwrap().shape();
        let of_ndarray = ndarray::s![-1, .., 1..6;2];
        assert_eq!(shape((&of_ndarray).into_selection()), shape(crate::s![-1, .., 1..6;2]));
        assert_eq!(shape(ndarray::s![.., ndarray::NewAxis, 2, ..;-1].into_selection()), [5, 1, 7]);
        let array = arr2(&[[0, 1, 2], [3, 4, 5]]);
        assert_eq!(array.slice(ndarray::s![1, ..;-1]).to_vec(), [5, 4, 3]);
    }

    #[test]
    fn ranges_of_a_number_that_is_known_at_run_time_are_a_box() {
        let shape = |selection: Selection| selection.resolve(&[5, 6, 7]).unwrap().shape();
        let ranges = vec![0..2_u64, 3..5, 1..2];
        assert_eq!(shape((&ranges).into_selection()), [2, 2, 1]);
        assert_eq!(shape(ranges.as_slice().into_selection()), [2, 2, 1]);
        assert_eq!(shape(ranges.into_selection()), [2, 2, 1]);
        assert_eq!(shape([1..3_usize, 0..4].into_selection()), [2, 4, 7]);
        assert_eq!(shape((&[-2..5, 0..1]).into_selection()), [2, 1, 7]);
    }
}
