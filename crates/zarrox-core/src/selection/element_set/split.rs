//! Division of a set of elements among inner chunks (cells) of the chunk.

use std::ops::Range;

use smallvec::smallvec;

use super::super::partition;
use crate::grid::Run;
use crate::strided::{Dims, Span};

use super::group::{Grouped, group_range};
use super::{ElementAxis, ElementSet, PointRange};

impl ElementSet {
    /// Calls `visit` for each cell with elements, in row-major order, with the index and the elements of the cell. The positions
    /// of the elements are relative to the cell. All cells share the same memory. `cell` is the shape of the cells, and its
    /// lengths must not be 0. Points that are already in the order of the cells are not copied.
    ///
    /// # Errors
    /// The first error of `visit`.
    pub fn split<E>(
        &self,
        cell: &[usize],
        mut visit: impl FnMut(&[usize], ElementSet) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.is_empty() {
            return Ok(());
        }
        let axes: Dims<Cells> = self.axes.iter().map(|axis| Cells::new(axis, cell)).collect();
        let mut owners: Dims<Owner> = smallvec![Owner { axis: 0, level: 0 }; cell.len()];
        for (n, axis) in self.axes.iter().enumerate() {
            let mut dims: Dims<usize> = axis.dims().into();
            dims.sort_unstable();
            dims.iter().enumerate().for_each(|(level, &dim)| owners[dim] = Owner { axis: n, level });
        }
        let groups = axes.iter().map(|axis| 0..axis.group_count()).collect();
        let mut path = Path { index: Dims::new(), groups, set: self.clone() };
        walk(&axes, &owners, cell, &mut path, &mut visit)
    }
}

/// The axis of the set to which a dimension belongs, and the index of the dimension among the dimensions of that axis, which are
/// in ascending order.
#[derive(Clone, Copy)]
struct Owner {
    axis: usize,
    level: usize,
}

/// An axis divided among the cells.
enum Cells {
    Span {
        dim: usize,
        span: Span,
        place: usize,
    },
    /// The points, and their groups: the index of a cell along each dimension, in ascending order of the dimensions.
    Points {
        points: PointRange,
        groups: Vec<(Dims<usize>, Range<usize>)>,
    },
}

impl Cells {
    fn new(axis: &ElementAxis, cell: &[usize]) -> Self {
        match axis {
            ElementAxis::Span { dim, span, place } => Self::Span { dim: *dim, span: *span, place: *place },
            ElementAxis::Points(points) => {
                let mut order: Dims<usize> = (0..points.dims.len()).collect();
                order.sort_unstable_by_key(|&k| points.dims[k]);
                let run = |&k: &usize| Run {
                    first: 0,
                    start: points.origin[k] as u64,
                    length: cell[points.dims[k]] as u64,
                    count: u64::MAX,
                };
                let runs: Dims<Run> = order.iter().map(run).collect();
                let runs: Dims<&[Run]> = runs.iter().map(std::slice::from_ref).collect();
                let Grouped { points: grouped, chunks } =
                    group_range(&points.points, points.range.clone(), &order, &runs);
                let points = PointRange { points: grouped, ..points.clone() };
                Self::Points { points, groups: chunks }
            }
        }
    }

    fn group_count(&self) -> usize {
        match self {
            Self::Span { .. } => 0,
            Self::Points { groups, .. } => groups.len(),
        }
    }
}

/// The state of the traversal of the cells, dimension by dimension.
struct Path {
    /// The index of the cell along the dimensions so far.
    index: Dims<usize>,
    /// For each axis of points, the range of its groups that have the cell's index along the dimensions of the axis so far.
    groups: Dims<Range<usize>>,
    set: ElementSet,
}

fn walk<E>(
    axes: &[Cells],
    owners: &[Owner],
    cell: &[usize],
    path: &mut Path,
    visit: &mut impl FnMut(&[usize], ElementSet) -> Result<(), E>,
) -> Result<(), E> {
    let dim = path.index.len();
    let Some(&Owner { axis, level }) = owners.get(dim) else {
        return visit(&path.index, path.set.clone());
    };
    match &axes[axis] {
        Cells::Span { dim, span, place } => {
            for piece in partition::pieces(*span, cell[*dim]) {
                path.set.axes[axis] =
                    ElementAxis::Span { dim: *dim, span: piece.span, place: place + piece.out };
                path.index.push(piece.chunk);
                walk(axes, owners, cell, path, visit)?;
                path.index.pop();
            }
        }
        Cells::Points { points, groups } => {
            let candidates = path.groups[axis].clone();
            let mut begin = candidates.start;
            while begin < candidates.end {
                let index = groups[begin].0[level];
                let same = groups[begin..candidates.end].partition_point(|(cells, _)| cells[level] <= index);
                let end = begin + same;
                if level + 1 == points.dims.len() {
                    path.set.axes[axis] = ElementAxis::Points(in_cell(points, &groups[begin], cell));
                }
                path.groups[axis] = begin..end;
                path.index.push(index);
                walk(axes, owners, cell, path, visit)?;
                path.index.pop();
                begin = end;
            }
            path.groups[axis] = candidates;
        }
    }
    Ok(())
}

/// Returns the points of one group, relative to their cell.
fn in_cell(points: &PointRange, group: &(Dims<usize>, Range<usize>), cell: &[usize]) -> PointRange {
    let (index, range) = group;
    let corner = |(k, &dim): (usize, &usize)| {
        let level = points.dims.iter().filter(|&&other| other < dim).count();
        points.origin[k] + index[level] * cell[dim]
    };
    let origin = points.dims.iter().enumerate().map(corner).collect();
    PointRange { dims: points.dims.clone(), points: points.points.clone(), range: range.clone(), origin }
}
