//! Selections as they are written: items, and how these combine.

use std::fmt;

use super::{IndexArray, Mask};

/// A selection along one dimension, or for a mask along several.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    /// No dimension of the array, but an axis of length 1 in the result.
    NewAxis,
    /// Listed positions, in any order; negative ones count from the end.
    Integers(IndexArray),
    /// The positions where a mask is true, along as many dimensions as the mask has.
    Booleans(Mask),
}

/// Conversion to a selection: of its items as a tuple, a list or an array of them, or of one item alone. An array of integers is
/// one item.
pub trait IntoSelection {
    /// The selection.
    fn into_selection(self) -> Selection;
}

impl DimSelection {
    /// Every position.
    pub const ALL: Self = Self::Slice { start: None, stop: None, step: 1 };

    /// The slice with another step; other selections stay as they are.
    #[must_use]
    pub fn step_by(self, step: i64) -> Self {
        match self {
            Self::Slice { start, stop, .. } => Self::Slice { start, stop, step },
            other => other,
        }
    }

    /// From how many dimensions of the array the item selects, not counting those of an ellipsis.
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

/// The way in which the items of a selection combine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Kind {
    /// By NumPy's rules, basic and mixed.
    #[default]
    Mixed,
    /// Each on its own.
    Orthogonal,
    /// Point by point.
    Coordinates,
    /// One mask of the array's shape.
    Mask,
    /// Each on its own, in chunks.
    Blocks,
}

/// Which elements of an array are meant.
///
/// Written with [`s!`](crate::s), parsed from NumPy's own syntax with [`str::parse`], or made from items. As long as nothing
/// else is said, the items combine as they do in NumPy. Trailing dimensions that are not mentioned are selected in full.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Selection {
    pub(super) kind: Kind,
    pub(super) items: Vec<DimSelection>,
}

impl Selection {
    /// Everything.
    pub fn all() -> Self {
        Self::default()
    }

    /// The selection of these items by NumPy's rules.
    pub fn new(items: impl IntoIterator<Item: Into<DimSelection>>) -> Self {
        items.into_iter().map(Into::into).collect()
    }

    /// Each dimension on its own: integers, slices, and arrays of one dimension. The elements are all combinations
    /// (zarr-python's `oindex`).
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

    /// Single elements: an array of positions, or an integer, for each dimension, which are broadcast together
    /// (zarr-python's `vindex`). One mask of the array's shape is taken, too.
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

    /// The elements where a mask of the array's shape is true, in row-major order.
    pub fn mask(mask: impl Into<Mask>) -> Self {
        Self { kind: Kind::Mask, items: vec![DimSelection::Booleans(mask.into())] }
    }

    /// Whole chunks, by their places in the grid: integers, and slices without steps. No dimension is dropped.
    /// [`Selection::on_grid`] says which elements these are.
    pub fn blocks(items: impl IntoSelection) -> Self {
        Self::with_kind(items, Kind::Blocks)
    }

    /// The items of a selection, however these were to be combined.
    fn with_kind(items: impl IntoSelection, kind: Kind) -> Self {
        Self { kind, items: items.into_selection().items }
    }

    /// The items, in the order in which they were written.
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
    /// Writes NumPy's syntax, in which long arrays are shortened; another kind than NumPy's has its name around it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let items: Vec<String> = self.items.iter().map(ToString::to_string).collect();
        let items = items.join(", ");
        match self.kind {
            // A list alone needs the comma: without, its brackets would be those of the selection.
            Kind::Mixed if items.starts_with('[') && self.items.len() == 1 => write!(f, "{items},"),
            Kind::Mixed => f.write_str(&items),
            Kind::Orthogonal => write!(f, "oindex[{items}]"),
            Kind::Coordinates => write!(f, "vindex[{items}]"),
            Kind::Mask => write!(f, "mask[{items}]"),
            Kind::Blocks => write!(f, "blocks[{items}]"),
        }
    }
}
