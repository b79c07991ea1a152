//! Elements that identify their writer: the number of an operation, and the position that it wrote them to.

use ndarray::{ArrayD, IxDyn};
use zarrox::{DimSelection, IntoSelection, Selection};

/// The bits of a position.
const POSITION: u32 = 24;

/// Returns the element that an operation writes at a position. Operation 0 writes fill values.
pub(crate) fn element(number: u64, position: u64) -> u64 {
    if number == 0 { 0 } else { number << POSITION | position }
}

/// Returns the operation that wrote an element, and the position that it was written for; operation 0 for a fill value.
pub(crate) fn origin(element: u64) -> (u64, u64) {
    (element >> POSITION, element & ((1 << POSITION) - 1))
}

/// Returns a description of an element.
pub(crate) fn describe(element: u64) -> String {
    match origin(element) {
        (0, 0) => "the fill value".to_owned(),
        (number, position) => format!("operation {number}'s element for position {position}"),
    }
}

/// Returns the elements of a box of an array of this shape.
pub(crate) fn elements(number: u64, start: &[u64], shape: &[u64], array: &[u64]) -> ArrayD<u64> {
    ArrayD::from_shape_fn(lengths(shape), |index| {
        let index = (0..start.len()).map(|dim| start[dim] + index[dim] as u64);
        element(number, position(index, array))
    })
}

/// Returns the selection of a box.
pub(crate) fn selection(start: &[u64], shape: &[u64]) -> Selection {
    let dims = start.iter().zip(shape).map(|(start, length)| DimSelection::from(*start..start + length));
    dims.collect::<Vec<_>>().into_selection()
}

/// Returns the position of an element in row-major order.
pub(crate) fn position(index: impl Iterator<Item = u64>, shape: &[u64]) -> u64 {
    index.zip(shape).fold(0, |position, (index, length)| position * length + index)
}

/// Returns a shape in the form of `ndarray`.
pub(crate) fn lengths(shape: &[u64]) -> IxDyn {
    let lengths: Vec<usize> =
        shape.iter().map(|&length| usize::try_from(length).unwrap_or(usize::MAX)).collect();
    IxDyn(&lengths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_identify_their_operation() {
        assert_eq!(origin(element(7, 12)), (7, 12));
        assert_eq!(element(0, 12), 0);
        let values = elements(3, &[1, 2], &[1, 2], &[4, 5]);
        assert_eq!(values.into_raw_vec_and_offset().0, [element(3, 7), element(3, 8)]);
        assert_eq!(describe(element(3, 7)), "operation 3's element for position 7");
        assert_eq!(describe(0), "the fill value");
    }
}
