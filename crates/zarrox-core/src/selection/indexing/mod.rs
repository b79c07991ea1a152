//! Selections of elements of an array, with all indexing modes of NumPy and Zarr.
//!
//! A [`Selection`] is a list of items ([`DimSelection`]) and a rule that combines them. For an array of a given shape, a
//! selection is resolved to a [`ResolvedSelection`]. Further selections from its result can be made before anything is read.

mod arrays;
mod blocks;
mod compose;
mod convert;
mod joint;
mod parse;
mod positions;
mod resolve;
mod resolved;
mod selection;
mod slice_info;

#[cfg(test)]
mod tests;

pub use arrays::{ArrayItem, IndexArray, Mask};
/// An axis of length 1 in the result that corresponds to no dimension of the array: `s![.., NewAxis]`.
pub use ndarray::NewAxis;
pub use positions::check_lengths;
pub use resolved::{MaskedPoints, Points, ResolvedAxis, ResolvedSelection, ResolvedSpan, ResultAxis};
pub use selection::{DimSelection, IntoSelection, Selection};

/// Creates a selection with NumPy's semantics: `s![-1, .., 2..10, 0..;5, ..., [0, 2], NewAxis]`.
///
/// Items are integers (negative integers count from the end), ranges with an optional `;step`, `..` for a whole dimension,
/// `...` for all dimensions that are not mentioned, arrays of integers or booleans (Rust arrays, slices, vectors and
/// `ndarray` arrays, by value or by reference), and [`NewAxis`](crate::NewAxis), the same type as in `ndarray`, for an axis
/// of length 1. A negative step goes backwards as in NumPy: `s![..;-1]` reverses.
///
/// ```
/// use zarrox_core::{NewAxis, Selection, s};
///
/// let selection: Selection = s![-1, .., 0..8;2];
/// assert_eq!(selection.to_string(), "-1, :, 0:8:2");
/// assert_eq!(selection.resolve(&[5, 6, 7])?.shape(), [6, 4]);
///
/// let rows = vec![4_usize, 0, 4];
/// assert_eq!(s![&rows, NewAxis, [1, 3, 5], ..].resolve(&[5, 6, 7])?.shape(), [3, 1, 7]);
/// assert_eq!(s![.., [true, false, false, true, false, true]].resolve(&[5, 6, 7])?.shape(), [5, 3, 7]);
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
