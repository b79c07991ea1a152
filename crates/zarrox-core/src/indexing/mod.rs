//! Selections: which elements of an array are meant, as NumPy's basic indexing says it.

use std::fmt;
use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo};
use std::str::FromStr;

use crate::error::{Error, Result};

/// What is selected along one dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DimSelection {
    /// One position; negative ones count from the end. The dimension is dropped from the result.
    Index(i64),
    /// Evenly spaced positions, with NumPy's rules for what is absent, negative or outside.
    Slice {
        /// Where to begin.
        start: Option<i64>,
        /// Where to stop, exclusive.
        stop: Option<i64>,
        /// The distance, not zero; negative ones go backwards.
        step: i64,
    },
    /// All dimensions that are not otherwise mentioned, in full.
    Ellipsis,
}

impl DimSelection {
    /// Every position.
    pub const ALL: Self = Self::Slice { start: None, stop: None, step: 1 };

    /// The same slice with another step.
    #[must_use]
    pub fn step_by(self, step: i64) -> Self {
        match self {
            Self::Slice { start, stop, .. } => Self::Slice { start, stop, step },
            other => other,
        }
    }
}

impl fmt::Display for DimSelection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Index(index) => write!(f, "{index}"),
            Self::Ellipsis => f.write_str("..."),
            Self::Slice { start, stop, step } => {
                let text = |bound: &Option<i64>| bound.map_or(String::new(), |bound| bound.to_string());
                write!(f, "{}:{}", text(start), text(stop))?;
                if *step == 1 { Ok(()) } else { write!(f, ":{step}") }
            }
        }
    }
}

macro_rules! from_integers {
    ($($T:ty),+) => {$(
        impl From<$T> for DimSelection {
            fn from(index: $T) -> Self {
                Self::Index(saturated(index))
            }
        }

        impl From<Range<$T>> for DimSelection {
            fn from(range: Range<$T>) -> Self {
                let (start, stop) = (Some(saturated(range.start)), Some(saturated(range.end)));
                Self::Slice { start, stop, step: 1 }
            }
        }

        impl From<RangeInclusive<$T>> for DimSelection {
            fn from(range: RangeInclusive<$T>) -> Self {
                // The last position is -1 from behind, which has no exclusive stop but the end itself.
                let stop = Some(saturated(*range.end()).saturating_add(1)).filter(|&stop| stop != 0);
                Self::Slice { start: Some(saturated(*range.start())), stop, step: 1 }
            }
        }

        impl From<RangeFrom<$T>> for DimSelection {
            fn from(range: RangeFrom<$T>) -> Self {
                Self::Slice { start: Some(saturated(range.start)), stop: None, step: 1 }
            }
        }

        impl From<RangeTo<$T>> for DimSelection {
            fn from(range: RangeTo<$T>) -> Self {
                Self::Slice { start: None, stop: Some(saturated(range.end)), step: 1 }
            }
        }
    )+};
}

from_integers!(i32, i64, isize, u32, u64, usize);

impl From<RangeFull> for DimSelection {
    fn from(_: RangeFull) -> Self {
        Self::ALL
    }
}

/// A bound beyond `i64` lies beyond every array.
fn saturated(value: impl TryInto<i64>) -> i64 {
    value.try_into().unwrap_or(i64::MAX)
}

/// Which elements of an array are meant: NumPy's basic indexing.
///
/// Written with [`s!`](crate::s), parsed from NumPy's own syntax with [`str::parse`], or made from a list.
/// Trailing dimensions that are not mentioned are selected in full.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Selection(Vec<DimSelection>);

impl Selection {
    /// Everything.
    pub fn all() -> Self {
        Self::default()
    }

    /// What is selected, in the order in which it was written.
    pub fn dims(&self) -> &[DimSelection] {
        &self.0
    }

    /// Which positions of an array of this shape are meant, or an error that names the axis and the value.
    pub fn resolve(&self, shape: &[u64]) -> Result<Resolved> {
        let ellipses = self.0.iter().filter(|dim| **dim == DimSelection::Ellipsis).count();
        let mentioned = self.0.len() - ellipses;
        if ellipses > 1 {
            return Err(Error::selection("a selection can have only one ellipsis (...)"));
        }
        if mentioned > shape.len() {
            return Err(Error::selection(format!(
                "{mentioned} dimensions are selected from, but the array has {} (shape {shape:?})",
                shape.len()
            )));
        }
        let rest = shape.len() - mentioned;
        let mut dims = Vec::with_capacity(shape.len());
        for &dim in &self.0 {
            let repeat = if dim == DimSelection::Ellipsis { rest } else { 1 };
            dims.extend(std::iter::repeat_n(dim, repeat));
        }
        dims.resize(shape.len(), DimSelection::ALL);
        let dims = dims.iter().zip(shape).enumerate();
        let dims =
            dims.map(|(axis, (&dim, &length))| resolve_dim(dim, axis, length)).collect::<Result<_>>()?;
        Ok(Resolved { dims })
    }
}

impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dims: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&dims.join(", "))
    }
}

impl FromStr for Selection {
    type Err = Error;

    /// Parses NumPy's syntax: `-1, ::90, 5:10, ...`; with or without brackets around it.
    fn from_str(text: &str) -> Result<Self> {
        let inner = text.trim();
        let inner = inner.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')).unwrap_or(inner);
        if inner.trim().is_empty() {
            return Ok(Self::all());
        }
        let inner = inner.trim_end();
        let items = inner.strip_suffix(',').unwrap_or(inner).split(',');
        items.enumerate().map(|(axis, item)| parse_dim(item.trim(), axis)).collect::<Result<_>>().map(Self)
    }
}

fn parse_dim(text: &str, axis: usize) -> Result<DimSelection> {
    if text == "..." {
        return Ok(DimSelection::Ellipsis);
    }
    let bad = |part: &str| {
        Error::selection(format!(
            "'{part}' in item {axis} of the selection is not an integer; an item is 5, 2:10, ::-1 or ..."
        ))
    };
    let integer = |part: &str| part.trim().parse::<i64>().map_err(|_| bad(part));
    let parts: Vec<&str> = text.split(':').collect();
    let bound = |part: &str| if part.trim().is_empty() { Ok(None) } else { integer(part).map(Some) };
    match parts.as_slice() {
        [index] => integer(index).map(DimSelection::Index),
        [start, stop] => Ok(DimSelection::Slice { start: bound(start)?, stop: bound(stop)?, step: 1 }),
        [start, stop, step] => {
            let step = bound(step)?.unwrap_or(1);
            Ok(DimSelection::Slice { start: bound(start)?, stop: bound(stop)?, step })
        }
        _ => Err(bad(text)),
    }
}

/// What can be given where a selection is wanted.
pub trait IntoSelection {
    /// The selection.
    fn into_selection(self) -> Selection;
}

impl IntoSelection for Selection {
    fn into_selection(self) -> Selection {
        self
    }
}

impl IntoSelection for &Selection {
    fn into_selection(self) -> Selection {
        self.clone()
    }
}

impl IntoSelection for RangeFull {
    fn into_selection(self) -> Selection {
        Selection::all()
    }
}

impl IntoSelection for Vec<DimSelection> {
    fn into_selection(self) -> Selection {
        Selection(self)
    }
}

impl<const N: usize> IntoSelection for [DimSelection; N] {
    fn into_selection(self) -> Selection {
        Selection(self.into())
    }
}

/// A selection with NumPy's meaning: `s![-1, .., 2..10, 0..;5, ...]`.
///
/// Items are integers (negative ones count from the end), ranges with an optional `;step`, `..` for a whole
/// dimension, and `...` for all dimensions that are not mentioned. A negative step goes backwards as in NumPy:
/// `s![..;-1]` reverses.
///
/// ```
/// use zarrox_core::{Selection, s};
///
/// let selection: Selection = s![-1, .., 0..8;2];
/// assert_eq!(selection.to_string(), "-1, :, 0:8:2");
/// assert_eq!(selection.resolve(&[5, 6, 7])?.shape(), [6, 4]);
/// # Ok::<(), zarrox_core::Error>(())
/// ```
#[macro_export]
macro_rules! s {
    (@items [$($done:expr,)*]) => {
        $crate::IntoSelection::into_selection([$($done,)*] as [$crate::DimSelection; _])
    };
    (@items [$($done:expr,)*] ... $(, $($rest:tt)*)?) => {
        $crate::s!(@items [$($done,)* $crate::DimSelection::Ellipsis,] $($($rest)*)?)
    };
    (@items [$($done:expr,)*] $item:expr ; $step:expr $(, $($rest:tt)*)?) => {
        $crate::s!(@items [$($done,)* $crate::DimSelection::from($item).step_by($step),] $($($rest)*)?)
    };
    (@items [$($done:expr,)*] $item:expr $(, $($rest:tt)*)?) => {
        $crate::s!(@items [$($done,)* $crate::DimSelection::from($item),] $($($rest)*)?)
    };
    ($($items:tt)*) => {
        $crate::s!(@items [] $($items)*)
    };
}

/// The positions that are meant along one dimension, in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResolvedDim {
    /// The lowest position.
    pub start: u64,
    /// The distance between positions, at least 1.
    pub step: u64,
    /// How many positions.
    pub count: u64,
    /// Whether the result has them in descending order.
    pub reversed: bool,
    /// Whether the dimension is dropped from the result: it was an index.
    pub dropped: bool,
}

/// A selection that fits an array of a certain shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// One entry for each dimension of the array.
    pub dims: Vec<ResolvedDim>,
}

impl Resolved {
    /// The shape of the result: without the dropped dimensions.
    pub fn shape(&self) -> Vec<u64> {
        self.dims.iter().filter(|dim| !dim.dropped).map(|dim| dim.count).collect()
    }

    /// Whether no element is selected.
    pub fn is_empty(&self) -> bool {
        self.dims.iter().any(|dim| dim.count == 0)
    }
}

fn resolve_dim(dim: DimSelection, axis: usize, length: u64) -> Result<ResolvedDim> {
    // Positions are signed while they are worked out; no array comes near the limit.
    let n = i64::try_from(length)
        .map_err(|_| Error::selection(format!("axis {axis} has a length of {length}, beyond 2^63")))?;
    match dim {
        DimSelection::Index(index) => {
            let position = if index < 0 { index.saturating_add(n) } else { index };
            if position < 0 || position >= n {
                return Err(Error::selection(format!(
                    "index {index} is out of bounds for axis {axis} with size {length}"
                )));
            }
            let start = position.cast_unsigned();
            Ok(ResolvedDim { start, step: 1, count: 1, reversed: false, dropped: true })
        }
        DimSelection::Slice { step: 0, .. } => {
            Err(Error::selection(format!("the slice step of axis {axis} cannot be zero")))
        }
        DimSelection::Slice { start, stop, step } => Ok(resolve_slice(start, stop, step, n)),
        DimSelection::Ellipsis => Ok(resolve_slice(None, None, 1, n)),
    }
}

/// Python's `slice.indices`, then turned to ascend.
fn resolve_slice(start: Option<i64>, stop: Option<i64>, step: i64, n: i64) -> ResolvedDim {
    let (lowest, highest) = if step > 0 { (0, n) } else { (-1, n - 1) };
    let clip = |bound: i64| {
        let bound = if bound < 0 { bound.saturating_add(n) } else { bound };
        bound.clamp(lowest, highest)
    };
    let (first, end) = if step > 0 { (lowest, highest) } else { (highest, lowest) };
    let start = start.map_or(first, clip);
    let stop = stop.map_or(end, clip);
    let distance = if step > 0 { stop - start } else { start - stop };
    let stride = step.unsigned_abs();
    let count = if distance > 0 { distance.cast_unsigned().div_ceil(stride) } else { 0 };
    let start = match (count, step > 0) {
        (0, _) => 0,
        (_, true) => start.cast_unsigned(),
        (_, false) => start.cast_unsigned() - (count - 1) * stride,
    };
    // With one position or none, the step says nothing: 1 keeps later arithmetic small.
    let step_out = if count > 1 { stride } else { 1 };
    ResolvedDim { start, step: step_out, count, reversed: step < 0 && count > 1, dropped: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The positions that Python's `range(n)[start:stop:step]` has, by its definition.
    fn python(start: Option<i64>, stop: Option<i64>, step: i64, n: i64) -> Vec<i64> {
        let adjust = |v: i64, low: i64, high: i64| if v < 0 { (v + n).max(low) } else { v.min(high) };
        let (mut at, stop) = if step > 0 {
            (start.map_or(0, |v| adjust(v, 0, n)), stop.map_or(n, |v| adjust(v, 0, n)))
        } else {
            (start.map_or(n - 1, |v| adjust(v, -1, n - 1)), stop.map_or(-1, |v| adjust(v, -1, n - 1)))
        };
        let mut positions = Vec::new();
        while (step > 0 && at < stop) || (step < 0 && at > stop) {
            positions.push(at);
            at += step;
        }
        positions
    }

    #[test]
    fn slices_have_the_positions_that_python_gives_them() {
        let bounds: Vec<Option<i64>> = std::iter::once(None).chain((-7..=7).map(Some)).collect();
        for n in 0..=5 {
            for &start in &bounds {
                for &stop in &bounds {
                    for step in [-6, -5, -3, -2, -1, 1, 2, 3, 5, 6] {
                        let dim = resolve_slice(start, stop, step, n);
                        let mut positions: Vec<i64> =
                            (0..dim.count).map(|i| (dim.start + i * dim.step).cast_signed()).collect();
                        if dim.reversed {
                            positions.reverse();
                        }
                        assert_eq!(
                            positions,
                            python(start, stop, step, n),
                            "{start:?}:{stop:?}:{step} of {n}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn extreme_bounds_do_not_overflow() {
        let extremes = [Some(i64::MIN), Some(i64::MAX), None];
        for start in extremes {
            for stop in extremes {
                for step in [i64::MIN, i64::MAX, 1, -1] {
                    for n in [0, 1, i64::MAX] {
                        let dim = resolve_slice(start, stop, step, n);
                        assert!(dim.count == 0 || dim.start + (dim.count - 1) * dim.step < n.cast_unsigned());
                    }
                }
            }
        }
    }

    #[test]
    fn the_macro_and_the_parser_agree() {
        let pairs = [
            (s![], ""),
            (s![..], ":"),
            (s![-1, .., 2..5], "-1, :, 2:5"),
            (s![..;-1, ..., 3], "[::-1, ..., 3]"),
            (s![1..;2, ..4;3], "1::2, :4:3,"),
            (s![0..=3], "0:4"),
            (s![-3..=-1], "-3:"),
            (s![5_u64, 1_usize..2_usize], "5,1:2"),
        ];
        for (selection, text) in pairs {
            assert_eq!(selection, text.parse().unwrap(), "{text}");
        }
        for bad in ["1.5", "a", "1:2:3:4", "1,,2", "[1", "0x1"] {
            assert!(bad.parse::<Selection>().is_err(), "{bad}");
        }
    }

    #[test]
    fn ellipsis_and_trailing_dimensions_are_whole() {
        let shape = [2, 3, 4, 5];
        assert_eq!(s![0, ..., 1].resolve(&shape).unwrap().shape(), [3, 4]);
        assert_eq!(s![...].resolve(&shape).unwrap().shape(), shape);
        assert_eq!(s![1].resolve(&shape).unwrap().shape(), [3, 4, 5]);
        assert_eq!(s![0, 0, 0, ..., 0].resolve(&shape).unwrap().shape(), [] as [u64; 0]);
        assert_eq!(s![...].resolve(&[]).unwrap().shape(), [] as [u64; 0]);
    }

    #[test]
    fn errors_name_the_axis_and_the_value() {
        let message = |selection: Selection| selection.resolve(&[4, 5]).unwrap_err().to_string();
        assert_eq!(message(s![0, 5]), "index 5 is out of bounds for axis 1 with size 5");
        assert_eq!(message(s![-5]), "index -5 is out of bounds for axis 0 with size 4");
        assert!(message(s![0, 0, 0]).contains("3 dimensions"));
        assert!(message(s![..., ...]).contains("one ellipsis"));
        assert!(message(s![.., ..;0]).contains("axis 1"));
    }
}
