//! Parts of an array: as selections, and as the positions of the selected elements.

use zarrox::DimSelection;

/// A selection and its expected positions, computed element by element without the library.
pub(crate) struct Part {
    pub(crate) selection: Vec<DimSelection>,
    /// The shape of the result.
    pub(crate) shape: Vec<usize>,
    /// The positions of the result's elements among all elements, row-major.
    pub(crate) positions: Vec<usize>,
}

/// A selection along one dimension, and the indices that it selects.
struct Along {
    selection: DimSelection,
    indices: Vec<usize>,
    dropped: bool,
}

impl Part {
    /// Returns the part that contains all elements.
    pub(crate) fn all(shape: &[u64]) -> Self {
        Self::new(shape, |length, _| slice(length, 0, length, 1))
    }

    fn new(shape: &[u64], along: impl Fn(usize, usize) -> Along) -> Self {
        let lengths: Vec<usize> = shape.iter().map(|&length| usize::try_from(length).unwrap()).collect();
        let dims: Vec<Along> =
            lengths.iter().enumerate().map(|(axis, &length)| along(length, axis)).collect();
        let mut positions = vec![0];
        for (dim, length) in dims.iter().zip(&lengths) {
            let next = |position| dim.indices.iter().map(move |index| position * length + index);
            positions = positions.into_iter().flat_map(next).collect();
        }
        let kept = dims.iter().filter(|dim| !dim.dropped);
        Self {
            shape: kept.map(|dim| dim.indices.len()).collect(),
            selection: dims.iter().map(|dim| dim.selection.clone()).collect(),
            positions,
        }
    }

    /// Returns the selection in NumPy's syntax.
    pub(crate) fn text(&self) -> String {
        let dims: Vec<String> = self.selection.iter().map(ToString::to_string).collect();
        dims.join(", ")
    }
}

/// Returns a few parts of an array that is not empty: a corner, a window in the middle, every second position backwards, the last
/// row, the first column, and one element.
pub(crate) fn parts(shape: &[u64]) -> Vec<Part> {
    if shape.is_empty() || shape.contains(&0) {
        return Vec::new();
    }
    let last = shape.len() - 1;
    let whole = |length| slice(length, 0, length, 1);
    vec![
        Part::new(shape, |length, _| slice(length, 0, length.div_ceil(2), 1)),
        Part::new(shape, |length, _| slice(length, length / 3, length - length / 4, 1)),
        Part::new(shape, |length, _| backwards(length)),
        Part::new(shape, |length, axis| if axis == 0 { index(length - 1) } else { whole(length) }),
        Part::new(shape, |length, axis| if axis == last { index(0) } else { whole(length) }),
        Part::new(shape, |length, _| index(length / 2)),
    ]
}

fn slice(length: usize, start: usize, stop: usize, step: usize) -> Along {
    assert!(stop <= length);
    let bound = |index: usize| Some(i64::try_from(index).unwrap());
    let selection =
        DimSelection::Slice { start: bound(start), stop: bound(stop), step: i64::try_from(step).unwrap() };
    Along { selection, indices: (start..stop).step_by(step).collect(), dropped: false }
}

fn backwards(length: usize) -> Along {
    let selection = DimSelection::Slice { start: None, stop: None, step: -2 };
    Along { selection, indices: (0..length).rev().step_by(2).collect(), dropped: false }
}

fn index(index: usize) -> Along {
    Along {
        selection: DimSelection::Index(i64::try_from(index).unwrap()),
        indices: vec![index],
        dropped: true,
    }
}
