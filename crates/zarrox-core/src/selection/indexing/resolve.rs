//! Resolving a selection for an array of a given shape.

use std::ops::Range;

use super::joint::{Joint, select_together};
use super::positions::{Dim, single};
use super::selection::Kind;
use super::{DimSelection, ResolvedAxis, ResolvedSelection, ResultAxis, Selection};
use crate::error::{Error, Result};

/// An item, and the dimensions of the array from which it selects.
struct Placed<'a> {
    item: &'a DimSelection,
    dims: Range<usize>,
}

impl Selection {
    /// Resolves the selection for an array of this shape.
    ///
    /// An out-of-bounds index is an error even if it is broadcast with an empty array and therefore selects no element. NumPy
    /// allows it.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidSelection`](crate::ErrorKind::InvalidSelection) when the selection does not fit the array; the message
    /// names the axis and the value. Also for block selections, which [`Selection::on_grid`] rewrites as slices.
    #[doc(hidden)]
    pub fn resolve(&self, shape: &[u64]) -> Result<ResolvedSelection> {
        match self.kind {
            Kind::Mixed => mixed(&self.items, shape),
            Kind::Orthogonal => orthogonal(&self.items, shape),
            Kind::Coordinates => coordinates(&self.items, shape),
            Kind::Mask => mask(&self.items, shape),
            Kind::Blocks => Err(Error::selection("a block selection needs the chunk grid of an array")),
        }
    }
}

/// A resolved selection under construction.
#[derive(Default)]
struct Building {
    axes: Vec<ResolvedAxis>,
    result: Vec<ResultAxis>,
}

impl Building {
    /// Adds an axis that the result keeps.
    fn keep(&mut self, axis: ResolvedAxis) {
        self.result.push(ResultAxis::Of { axis: self.axes.len(), part: 0 });
        self.axes.push(axis);
    }

    /// Adds a single position, without an axis in the result.
    fn drop(&mut self, dim: Dim, index: i64) -> Result<()> {
        self.axes.push(ResolvedAxis::Span(single(dim.axis, dim.index(index)?)));
        Ok(())
    }

    /// Adds the arrays that select jointly. Their axes are inserted at `place` in the result.
    fn join(&mut self, arrays: &[Joint<'_>], place: usize) -> Result<()> {
        let (axes, result) = select_together(arrays)?;
        let before = self.axes.len();
        let moved = result.into_iter().map(|axis| match axis {
            ResultAxis::New => ResultAxis::New,
            ResultAxis::Of { axis, part } => ResultAxis::Of { axis: before + axis, part },
        });
        self.result.splice(place..place, moved);
        self.axes.extend(axes);
        Ok(())
    }

    fn finish(self) -> ResolvedSelection {
        ResolvedSelection::in_order(self.axes, self.result)
    }
}

impl ResolvedSelection {
    /// Returns the axes in the order of their first dimensions.
    pub(super) fn in_order(axes: Vec<ResolvedAxis>, mut result: Vec<ResultAxis>) -> Self {
        let first = |axis: &ResolvedAxis| axis.dims().first().copied().unwrap_or(usize::MAX);
        if axes.is_sorted_by_key(first) {
            return Self { axes, result };
        }
        let mut axes: Vec<(usize, ResolvedAxis)> = axes.into_iter().enumerate().collect();
        axes.sort_by_key(|(_, axis)| first(axis));
        let mut places = vec![0; axes.len()];
        axes.iter().enumerate().for_each(|(place, &(before, _))| places[before] = place);
        for axis in &mut result {
            if let ResultAxis::Of { axis, .. } = axis {
                *axis = places[*axis];
            }
        }
        Self { axes: axes.into_iter().map(|(_, axis)| axis).collect(), result }
    }
}

/// Divides the dimensions among the items. Dimensions that no item mentions belong to the ellipsis.
fn place<'a>(items: &'a [DimSelection], shape: &[u64]) -> Result<Vec<Placed<'a>>> {
    if items.iter().filter(|item| **item == DimSelection::Ellipsis).count() > 1 {
        return Err(Error::selection("a selection can have only one ellipsis (...)"));
    }
    let mentioned = items.iter().fold(0, |sum: usize, item| sum.saturating_add(item.dims()));
    let Some(rest) = shape.len().checked_sub(mentioned) else {
        return Err(Error::selection(format!(
            "the selection has {mentioned} dimensions, but the array has {} (shape {shape:?})",
            shape.len()
        )));
    };
    let mut dim = 0;
    let mut placed = Vec::with_capacity(items.len() + 1);
    for item in items {
        let count = if *item == DimSelection::Ellipsis { rest } else { item.dims() };
        placed.push(Placed { item, dims: dim..dim + count });
        dim += count;
    }
    if dim < shape.len() {
        placed.push(Placed { item: &DimSelection::Ellipsis, dims: dim..shape.len() });
    }
    Ok(placed)
}

/// Resolves NumPy's basic indexing, and its combination with arrays.
fn mixed(items: &[DimSelection], shape: &[u64]) -> Result<ResolvedSelection> {
    let is_array =
        |item: &DimSelection| matches!(item, DimSelection::Integers(_) | DimSelection::Booleans(_));
    let with_arrays = items.iter().any(is_array);
    let mut building = Building::default();
    let mut joint = Vec::new();
    // The joint axes replace the first array if the arrays are adjacent; otherwise, they come first.
    let (mut first, mut ended, mut separated) = (0, false, false);
    for Placed { item, dims } in place(items, shape)? {
        if with_arrays && (is_array(item) || matches!(item, DimSelection::Index(_))) {
            if joint.is_empty() {
                first = building.result.len();
            }
            separated |= ended;
            joint.push(joint_of(item, dims, shape)?);
            continue;
        }
        ended |= !joint.is_empty();
        independent(&mut building, item, dims, shape)?;
    }
    if with_arrays {
        building.join(&joint, if separated { 0 } else { first })?;
    }
    Ok(building.finish())
}

/// Returns an item that selects jointly with others: an integer or an array.
fn joint_of<'a>(item: &'a DimSelection, dims: Range<usize>, shape: &[u64]) -> Result<Joint<'a>> {
    match item {
        DimSelection::Index(index) => Ok(Joint::Index(Dim::new(shape, dims.start)?, *index)),
        DimSelection::Integers(array) => Ok(Joint::Integers(Dim::new(shape, dims.start)?, array)),
        DimSelection::Booleans(mask) => {
            Joint::mask(dims.map(|dim| Dim::new(shape, dim)).collect::<Result<_>>()?, mask)
        }
        other => Err(Error::selection(format!("{other} cannot be combined with index arrays"))),
    }
}

/// Returns an item that selects independently.
fn independent(
    building: &mut Building,
    item: &DimSelection,
    dims: Range<usize>,
    shape: &[u64],
) -> Result<()> {
    match item {
        DimSelection::NewAxis => building.result.push(ResultAxis::New),
        DimSelection::Index(index) => building.drop(Dim::new(shape, dims.start)?, *index)?,
        DimSelection::Slice { start, stop, step } => {
            let span = Dim::new(shape, dims.start)?.slice(*start, *stop, *step)?;
            building.keep(ResolvedAxis::Span(span));
        }
        DimSelection::Ellipsis => {
            for dim in dims {
                building.keep(ResolvedAxis::Span(Dim::new(shape, dim)?.all()));
            }
        }
        DimSelection::Integers(array) => {
            let dim = Dim::new(shape, dims.start)?;
            match (array.shape(), array.values().as_slice()) {
                ([], &[index]) => building.drop(dim, index)?,
                ([_], values) => building.keep(dim.list(values)?),
                (shape, _) => return Err(not_flat(dim.axis, shape)),
            }
        }
        DimSelection::Booleans(mask) if mask.shape().len() == 1 => building.join_mask(item, dims, shape)?,
        DimSelection::Booleans(mask) => return Err(not_flat(dims.start, mask.shape())),
    }
    Ok(())
}

fn not_flat(axis: usize, shape: &[usize]) -> Error {
    Error::selection(format!(
        "an orthogonal selection takes one-dimensional index arrays, but the one for axis {axis} has the shape {shape:?}"
    ))
}

impl Building {
    /// Adds a single mask, whose axis is next in the result.
    fn join_mask(&mut self, item: &DimSelection, dims: Range<usize>, shape: &[u64]) -> Result<()> {
        self.join(&[joint_of(item, dims, shape)?], self.result.len())
    }
}

/// Selects along each dimension independently.
fn orthogonal(items: &[DimSelection], shape: &[u64]) -> Result<ResolvedSelection> {
    let mut building = Building::default();
    for Placed { item, dims } in place(items, shape)? {
        independent(&mut building, item, dims, shape)?;
    }
    Ok(building.finish())
}

/// Selects point by point.
fn coordinates(items: &[DimSelection], shape: &[u64]) -> Result<ResolvedSelection> {
    if let [DimSelection::Booleans(_)] = items {
        return mask(items, shape);
    }
    let fits = |item: &DimSelection| matches!(item, DimSelection::Index(_) | DimSelection::Integers(_));
    if let Some((number, item)) = items.iter().enumerate().find(|(_, item)| !fits(item)) {
        return Err(Error::selection(format!(
            "item {number} of the coordinates is {item}; expected an integer or an array of integers for each \
             dimension, or a single mask"
        )));
    }
    if items.len() != shape.len() {
        return Err(Error::selection(format!(
            "coordinates are given for {} dimensions, but the array has {} (shape {shape:?})",
            items.len(),
            shape.len()
        )));
    }
    let placed = items.iter().enumerate();
    let joint: Vec<Joint<'_>> =
        placed.map(|(dim, item)| joint_of(item, dim..dim + 1, shape)).collect::<Result<_>>()?;
    let mut building = Building::default();
    building.join(&joint, 0)?;
    Ok(building.finish())
}

/// Selects with a mask of the array's shape.
fn mask(items: &[DimSelection], shape: &[u64]) -> Result<ResolvedSelection> {
    let [item @ DimSelection::Booleans(mask)] = items else {
        return Err(Error::selection("a mask selection takes a single mask"));
    };
    if mask.shape().len() != shape.len() {
        return Err(Error::selection(format!(
            "the mask has the shape {:?}, but the array has the shape {shape:?}",
            mask.shape()
        )));
    }
    let mut building = Building::default();
    building.join_mask(item, 0..shape.len(), shape)?;
    Ok(building.finish())
}
