//! Selections: items, and the rules for their combination.

use std::fmt;

use super::{IndexArray, Mask};

/// A selection along one dimension or, with a mask, along several dimensions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DimSelection {
    /// One position; a negative position counts from the end. The dimension is dropped from the result.
    Index(i64),
    /// Evenly spaced positions, with NumPy's rules for missing, negative and out-of-range bounds.
    Slice {
        /// The start.
        start: Option<i64>,
        /// The exclusive stop.
        stop: Option<i64>,
        /// The step, which is not zero; a negative step reverses the order.
        step: i64,
    },
    /// All dimensions that no other item mentions, in full.
    Ellipsis,
    /// A new axis of length 1 in the result.
    NewAxis,
    /// Listed positions, in any order; negative positions count from the end.
    Integers(IndexArray),
    /// The positions where a mask is true, along all dimensions of the mask.
    Booleans(Mask),
}

/// Conversion to a selection, from a tuple, a list or an array of items, or from a single item. An array of integers is one item,
/// and an array of ranges is one range for each dimension. The result of `ndarray::s!` can also be converted.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not select elements of an array",
    note = "write a selection with `s![..]`, as a range (`0..10`), a tuple of items (`(0..10, 3)`), or as ranges of one type (`vec![0..10, 2..4]`)"
)]
pub trait IntoSelection {
    /// Returns the selection.
    fn into_selection(self) -> Selection;
}

impl DimSelection {
    /// All positions.
    pub const ALL: Self = Self::Slice { start: None, stop: None, step: 1 };

    /// Returns the slice with another step; other items are unchanged.
    #[must_use]
    pub fn step_by(self, step: i64) -> Self {
        match self {
            Self::Slice { start, stop, .. } => Self::Slice { start, stop, step },
            other => other,
        }
    }

    /// Returns the number of dimensions of the array from which the item selects; 0 for an ellipsis and for a new axis.
    pub(super) fn dims(&self) -> usize {
        match self {
            Self::Index(_) | Self::Slice { .. } | Self::Integers(_) => 1,
            Self::Ellipsis | Self::NewAxis => 0,
            Self::Booleans(mask) => mask.shape().len(),
        }
    }
}

impl fmt::Display for DimSelection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Index(index) => write!(f, "{index}"),
            Self::Ellipsis => f.write_str("..."),
            Self::NewAxis => f.write_str("None"),
            Self::Integers(array) => array.fmt(f),
            Self::Booleans(mask) => mask.fmt(f),
            Self::Slice { start, stop, step } => {
                let text = |bound: &Option<i64>| bound.map_or(String::new(), |bound| bound.to_string());
                write!(f, "{}:{}", text(start), text(stop))?;
                if *step == 1 { Ok(()) } else { write!(f, ":{step}") }
            }
        }
    }
}

/// The rule by which the items of a selection are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Kind {
    /// By NumPy's rules for basic and mixed indexing.
    #[default]
    Mixed,
    /// Along each dimension independently.
    Orthogonal,
    /// Point by point.
    Coordinates,
    /// By a mask of the array's shape.
    Mask,
    /// Along each dimension independently, in units of chunks.
    Blocks,
}

/// A selection of elements of an array.
///
/// A selection is written with [`s!`](crate::s), parsed from NumPy's syntax with [`str::parse`], or created from items. By
/// default, the items are combined as in NumPy. Trailing dimensions without an item are selected in full.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Selection {
    pub(super) kind: Kind,
    pub(super) items: Vec<DimSelection>,
}

impl Selection {
    /// Selects all elements.
    pub fn all() -> Self {
        Self::default()
    }

    /// Selects with these items by NumPy's rules.
    pub fn new(items: impl IntoIterator<Item: Into<DimSelection>>) -> Self {
        items.into_iter().map(Into::into).collect()
    }

    /// Selects along each dimension independently, with integers, slices and one-dimensional arrays, and returns all
    /// combinations (zarr-python's `oindex`).
    ///
    /// ```
    /// use zarrox_core::{Selection, s};
    ///
    /// let selection = Selection::orthogonal(s![[0, 2], [1, 3, 4]]);
    /// assert_eq!(selection.resolve(&[3, 5])?.shape(), [2, 3]);
    /// # Ok::<(), zarrox_core::Error>(())
    /// ```
    pub fn orthogonal(items: impl IntoSelection) -> Self {
        Self::with_kind(items, Kind::Orthogonal)
    }

    /// Selects single elements with an integer or an array of positions for each dimension, which are broadcast together
    /// (zarr-python's `vindex`). A single mask of the array's shape is also allowed.
    ///
    /// ```
    /// use zarrox_core::Selection;
    ///
    /// let selection = Selection::coordinates(([0, 2, 2], [1, 3, 4]));
    /// assert_eq!(selection.resolve(&[3, 5])?.shape(), [3]);
    /// # Ok::<(), zarrox_core::Error>(())
    /// ```
    pub fn coordinates(items: impl IntoSelection) -> Self {
        Self::with_kind(items, Kind::Coordinates)
    }

    /// Selects the elements where a mask of the array's shape is true, in row-major order.
    pub fn mask(mask: impl Into<Mask>) -> Self {
        Self { kind: Kind::Mask, items: vec![DimSelection::Booleans(mask.into())] }
    }

    /// Selects whole chunks by their indices in the grid: integers, and slices without steps. All dimensions are kept.
    /// [`Selection::on_grid`] converts them to slices.
    pub fn blocks(items: impl IntoSelection) -> Self {
        Self::with_kind(items, Kind::Blocks)
    }

    /// Creates a selection of the given kind with the items of another selection, regardless of its kind.
    fn with_kind(items: impl IntoSelection, kind: Kind) -> Self {
        Self { kind, items: items.into_selection().items }
    }

    /// Returns the items in their order.
    pub fn items(&self) -> &[DimSelection] {
        &self.items
    }
}

impl FromIterator<DimSelection> for Selection {
    fn from_iter<I: IntoIterator<Item = DimSelection>>(items: I) -> Self {
        Self { kind: Kind::Mixed, items: items.into_iter().collect() }
    }
}

impl fmt::Display for Selection {
    /// Formats the selection in NumPy's syntax, with long arrays shortened. The selection is wrapped in the name of its kind,
    /// unless it follows NumPy's rules.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let items: Vec<String> = self.items.iter().map(ToString::to_string).collect();
        let items = items.join(", ");
        match self.kind {
            // A single list needs the comma, because otherwise its brackets would enclose the selection.
            Kind::Mixed if items.starts_with('[') && self.items.len() == 1 => write!(f, "{items},"),
            Kind::Mixed => f.write_str(&items),
            Kind::Orthogonal => write!(f, "oindex[{items}]"),
            Kind::Coordinates => write!(f, "vindex[{items}]"),
            Kind::Mask => write!(f, "mask[{items}]"),
            Kind::Blocks => write!(f, "blocks[{items}]"),
        }
    }
}
