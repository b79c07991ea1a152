//! Integer and boolean arrays inside selections.

use std::fmt;
use std::sync::Arc;

use super::super::masked::count;
use super::super::partition::advance;
use crate::error::{Error, ErrorKind, Result};
use crate::scratch::Positions;
use crate::strided::Dims;

/// The maximum number of values for which an array is displayed in full.
const DISPLAYED: usize = 100;
/// The number of elements displayed at each end of a shortened dimension.
const AT_THE_ENDS: usize = 3;

/// Integers that select positions; negative integers count from the end. Clones share the values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexArray {
    shape: Vec<usize>,
    values: Arc<Vec<i64>>,
}

/// Booleans that select the positions where they are true. Clones share the values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mask {
    shape: Vec<usize>,
    values: Arc<Vec<bool>>,
}

impl IndexArray {
    /// Creates an array of this shape from values in row-major order.
    ///
    /// # Errors
    /// When the number of values differs from the shape.
    pub fn new(shape: impl Into<Vec<usize>>, values: impl Into<Arc<Vec<i64>>>) -> Result<Self> {
        let (shape, values) = (shape.into(), values.into());
        check_count(&shape, values.len())?;
        Ok(Self { shape, values })
    }

    /// Returns the shape.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Returns the values, in row-major order.
    pub fn values(&self) -> &Arc<Vec<i64>> {
        &self.values
    }
}

impl Mask {
    /// Creates a mask of this shape from values in row-major order.
    ///
    /// # Errors
    /// When the number of values differs from the shape.
    pub fn new(shape: impl Into<Vec<usize>>, values: impl Into<Arc<Vec<bool>>>) -> Result<Self> {
        let (shape, values) = (shape.into(), values.into());
        check_count(&shape, values.len())?;
        Ok(Self { shape, values })
    }

    /// Returns the shape.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Returns the values, in row-major order.
    pub fn values(&self) -> &Arc<Vec<bool>> {
        &self.values
    }

    /// Returns the number of true values.
    #[doc(hidden)]
    pub fn count(&self) -> usize {
        count(&self.values)
    }

    /// Returns the positions of the true values in row-major order, as one list of positions for each dimension.
    ///
    /// # Errors
    /// When memory for the lists cannot be allocated.
    #[doc(hidden)]
    pub fn nonzero(&self) -> Result<Dims<Positions>> {
        let count = self.count();
        let mut lists: Dims<Positions> = self.shape.iter().map(|_| reserved(count)).collect::<Result<_>>()?;
        let Some((&width, outer)) = self.shape.split_last() else { return Ok(lists) };
        let mut row: Dims<usize> = outer.iter().map(|_| 0).collect();
        // Without elements there are no rows. The minimum width of 1 avoids chunks of length zero, which would panic.
        for values in self.values.chunks(width.max(1)) {
            let (columns, rows) =
                lists.split_last_mut().map_or((None, [].as_mut_slice()), |(l, r)| (Some(l), r));
            let Some(columns) = columns else { break };
            let before = columns.len();
            columns.extend(values.iter().enumerate().filter(|(_, value)| **value).map(|(column, _)| column));
            let found = columns.len() - before;
            if found > 0 {
                rows.iter_mut().zip(&row).for_each(|(list, &at)| list.extend(std::iter::repeat_n(at, found)));
            }
            advance(&mut row, outer, |_| 0);
        }
        Ok(lists)
    }
}

fn check_count(shape: &[usize], count: usize) -> Result<()> {
    if checked_size(shape) == Some(count) {
        return Ok(());
    }
    Err(Error::selection(format!("an array of shape {shape:?} cannot have {count} values")))
}

/// Returns the number of elements of a shape, if it fits into `usize`.
pub(super) fn checked_size(shape: &[usize]) -> Option<usize> {
    if shape.contains(&0) {
        return Some(0);
    }
    shape.iter().try_fold(1, |size: usize, &n| size.checked_mul(n))
}

/// Returns an empty list with capacity for `count` positions, or an error if memory cannot be allocated.
pub(super) fn reserved(count: usize) -> Result<Positions> {
    Positions::with_room(count).map_err(|error| {
        let message =
            format!("the selection has {count} points, and memory for their positions cannot be allocated");
        Error::new(ErrorKind::OutOfMemory, message).with_source(error)
    })
}

mod sealed {
    pub trait Sealed {}
}

/// The items of arrays in selections: integers for an [`IndexArray`], and `bool` for a [`Mask`].
pub trait ArrayItem: sealed::Sealed + Copy {
    /// The type that an array of these items becomes in a selection.
    type Array;

    /// Creates an array of this shape; the number of values must match.
    #[doc(hidden)]
    fn array(shape: Vec<usize>, values: Vec<Self>) -> Self::Array;
}

macro_rules! integer_items {
    ($($T:ty),+) => {$(
        impl sealed::Sealed for $T {}

        impl ArrayItem for $T {
            type Array = IndexArray;

            fn array(shape: Vec<usize>, values: Vec<Self>) -> IndexArray {
                IndexArray { shape, values: Arc::new(values.into_iter().map(saturated).collect()) }
            }
        }
    )+};
}

integer_items!(i8, i16, i32, isize, u8, u16, u32, u64, usize);

impl sealed::Sealed for i64 {}

impl ArrayItem for i64 {
    type Array = IndexArray;

    fn array(shape: Vec<usize>, values: Vec<Self>) -> IndexArray {
        IndexArray { shape, values: Arc::new(values) }
    }
}

impl sealed::Sealed for bool {}

impl ArrayItem for bool {
    type Array = Mask;

    fn array(shape: Vec<usize>, values: Vec<Self>) -> Mask {
        Mask { shape, values: Arc::new(values) }
    }
}

/// Converts a position to `i64`. A position beyond `i64` becomes the largest integer, which is out of bounds for every array.
pub(super) fn saturated(value: impl TryInto<i64>) -> i64 {
    value.try_into().unwrap_or(i64::MAX)
}

impl fmt::Display for IndexArray {
    /// Formats the array in NumPy's syntax; long arrays are shortened.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_array(f, &self.shape, &self.values, &i64::to_string)
    }
}

impl fmt::Display for Mask {
    /// Formats the mask in NumPy's syntax; long masks are shortened.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = |value: &bool| if *value { "True" } else { "False" }.to_owned();
        write_array(f, &self.shape, &self.values, &word)
    }
}

fn write_array<T>(
    f: &mut fmt::Formatter<'_>,
    shape: &[usize],
    values: &[T],
    text: &impl Fn(&T) -> String,
) -> fmt::Result {
    write_part(f, shape, values, values.len() > DISPLAYED, text)
}

fn write_part<T>(
    f: &mut fmt::Formatter<'_>,
    shape: &[usize],
    values: &[T],
    shortened: bool,
    text: &impl Fn(&T) -> String,
) -> fmt::Result {
    let Some((&length, inner)) = shape.split_first() else {
        return values.first().map_or(Ok(()), |value| f.write_str(&text(value)));
    };
    let width = values.len().checked_div(length).unwrap_or(0);
    f.write_str("[")?;
    let mut at = 0;
    while at < length {
        if at > 0 {
            f.write_str(", ")?;
        }
        if shortened && at == AT_THE_ENDS && length > 2 * AT_THE_ENDS {
            f.write_str("..., ")?;
            at = length - AT_THE_ENDS;
        }
        write_part(f, inner, &values[at * width..(at + 1) * width], shortened, text)?;
        at += 1;
    }
    f.write_str("]")
}
