//! Index arrays that select jointly: they are broadcast to one shape, and divided into independent groups.
//!
//! Two arrays that vary along different axes of the joint shape (such as the arrays of NumPy's `ix_`) select every combination,
//! as independent axes do. Only arrays that vary along a common axis are therefore listed point by point. An array of one value
//! is a single position.

use std::sync::Arc;

use super::super::partition::advance;
use super::arrays::{checked_size, reserved};
use super::positions::{Dim, single};
use super::{IndexArray, Mask, MaskedPoints, Points, ResolvedAxis, ResultAxis};
use crate::error::{Error, ErrorKind, Result};
use crate::scratch::Positions;
use crate::strided::Dims;

/// An item that selects jointly with others.
#[derive(Debug)]
pub(super) enum Joint<'a> {
    /// One position.
    Index(Dim, i64),
    /// Positions along one dimension.
    Integers(Dim, &'a IndexArray),
    /// Positions along several dimensions, which form a single list of points.
    Mask(Dims<Dim>, &'a Mask, usize),
}

impl<'a> Joint<'a> {
    /// Returns a mask that selects from these dimensions, or an error that names the axis whose length differs.
    pub(super) fn mask(dims: Dims<Dim>, mask: &'a Mask) -> Result<Self> {
        for (dim, &length) in dims.iter().zip(mask.shape()) {
            if dim.length.cast_unsigned() != length as u64 {
                return Err(Error::selection(format!(
                    "the mask has a length of {length} along axis {}, but the array's size is {}",
                    dim.axis, dim.length
                )));
            }
        }
        Ok(Self::Mask(dims, mask, mask.count()))
    }

    /// Returns the shape before broadcasting.
    fn shape(&self) -> Dims<usize> {
        match self {
            Self::Index(..) => Dims::new(),
            Self::Integers(_, array) => array.shape().into(),
            Self::Mask(_, _, count) => [*count].into_iter().collect(),
        }
    }

    /// Returns the position for each dimension, if the item varies along no axis of the joint shape.
    fn singles(&self) -> Result<Vec<ResolvedAxis>> {
        let at = |dim: &Dim, position: u64| ResolvedAxis::Span(single(dim.axis, position));
        match self {
            Self::Index(dim, index) => Ok(vec![at(dim, dim.index(*index)?)]),
            Self::Integers(dim, array) => {
                array.values().iter().map(|&index| Ok(at(dim, dim.index(index)?))).collect()
            }
            Self::Mask(dims, mask, _) => {
                let lists = mask.nonzero()?;
                let positions = dims
                    .iter()
                    .zip(&lists)
                    .flat_map(|(dim, list)| list.iter().map(move |&place| (dim, place)));
                Ok(positions.map(|(dim, place)| at(dim, place as u64)).collect())
            }
        }
    }

    /// Returns the dimensions, and a list of positions for each dimension.
    fn lists(&self) -> Result<Vec<(usize, Positions)>> {
        match self {
            Self::Index(dim, index) => Ok(vec![(dim.axis, dim.normalized(&[*index])?)]),
            Self::Integers(dim, array) => Ok(vec![(dim.axis, dim.normalized(array.values())?)]),
            Self::Mask(dims, mask, _) => Ok(dims.iter().map(|dim| dim.axis).zip(mask.nonzero()?).collect()),
        }
    }
}

/// Arrays that vary along common axes of the joint shape.
struct Group {
    /// The indices of the arrays.
    members: Vec<usize>,
    /// The axes of the joint shape along which the arrays vary, in ascending order.
    along: Vec<usize>,
}

/// Selects jointly. Returns independent axes, and the origin of each axis of the joint shape.
pub(super) fn select_together(arrays: &[Joint<'_>]) -> Result<(Vec<ResolvedAxis>, Vec<ResultAxis>)> {
    let shapes: Vec<Dims<usize>> = arrays.iter().map(Joint::shape).collect();
    let joint = broadcast(&shapes)?;
    let mut axes = Vec::new();
    let mut groups: Vec<Group> = Vec::new();
    for (member, shape) in shapes.iter().enumerate() {
        let missing = joint.len() - shape.len();
        let along: Vec<usize> =
            (0..shape.len()).filter(|&at| shape[at] != 1).map(|at| missing + at).collect();
        if along.is_empty() {
            axes.extend(arrays[member].singles()?);
            continue;
        }
        let (common, mut others): (Vec<Group>, Vec<Group>) =
            groups.into_iter().partition(|group| group.along.iter().any(|at| along.contains(at)));
        let mut group = Group { members: vec![member], along };
        for other in common {
            group.members.extend(other.members);
            group.along.extend(other.along);
        }
        group.members.sort_unstable();
        group.along.sort_unstable();
        group.along.dedup();
        others.push(group);
        groups = others;
    }
    let mut result = vec![ResultAxis::New; joint.len()];
    for group in &groups {
        for (part, &at) in group.along.iter().enumerate() {
            result[at] = ResultAxis::Of { axis: axes.len(), part };
        }
        axes.push(group_axis(group, arrays, &joint)?);
    }
    Ok((axes, result))
}

/// Returns the shape to which all arrays are broadcast by NumPy's rules.
fn broadcast(shapes: &[Dims<usize>]) -> Result<Vec<usize>> {
    let ndim = shapes.iter().map(Dims::len).max().unwrap_or(0);
    let mut joint = vec![1; ndim];
    for shape in shapes {
        for (length, &own) in joint[ndim - shape.len()..].iter_mut().zip(shape) {
            if *length != own && *length != 1 && own != 1 {
                let shapes: Vec<String> = shapes.iter().map(|shape| format!("{shape:?}")).collect();
                let shapes = shapes.join(", ");
                let message =
                    format!("the index arrays cannot be broadcast together: their shapes are {shapes}");
                return Err(Error::selection(message));
            }
            if own != 1 {
                *length = own;
            }
        }
    }
    Ok(joint)
}

fn group_axis(group: &Group, arrays: &[Joint<'_>], joint: &[usize]) -> Result<ResolvedAxis> {
    let shape: Vec<usize> = group.along.iter().map(|&at| joint[at]).collect();
    if let &[member] = group.members.as_slice() {
        match &arrays[member] {
            Joint::Integers(dim, array) if shape.len() == 1 => return dim.list(array.values()),
            Joint::Mask(dims, mask, _) if dims.len() == 1 => return dims[0].mask(mask.values()),
            Joint::Mask(dims, mask, count) if dims.len() > 1 => {
                let dims = dims.iter().map(|dim| dim.axis).collect();
                return Ok(ResolvedAxis::Mask(MaskedPoints { dims, mask: (*mask).clone(), count: *count }));
            }
            _ => {}
        }
    }
    let (mut dims, mut coordinates) = (Dims::new(), Dims::new());
    for &member in &group.members {
        let own = arrays[member].shape();
        let missing = joint.len() - own.len();
        let own: Vec<usize> =
            group.along.iter().map(|at| at.checked_sub(missing).map_or(1, |at| own[at])).collect();
        for (dim, list) in arrays[member].lists()? {
            dims.push(dim);
            coordinates.push(Arc::new(broadcast_to(list, &own, &shape)?));
        }
    }
    Ok(ResolvedAxis::Points(Points { dims, coordinates, shape }))
}

/// Returns the number of points of a shape, or an error if their positions do not fit into memory.
pub(super) fn point_count(shape: &[usize]) -> Result<usize> {
    let most = isize::MAX.unsigned_abs() / size_of::<usize>();
    checked_size(shape).filter(|&count| count <= most).ok_or_else(|| {
        let message = format!("the selection has points of shape {shape:?}, more than fit into memory");
        Error::new(ErrorKind::LimitExceeded, message)
    })
}

/// Broadcasts a list to a shape with the same number of dimensions. `own` is the shape of the list.
fn broadcast_to(list: Positions, own: &[usize], shape: &[usize]) -> Result<Positions> {
    if own == shape {
        return Ok(list);
    }
    let mut out = reserved(point_count(shape)?)?;
    let (Some((&own_width, own_outer)), Some((&width, outer))) = (own.split_last(), shape.split_last())
    else {
        return Ok(list);
    };
    if shape.contains(&0) {
        return Ok(out);
    }
    let mut row: Dims<usize> = outer.iter().map(|_| 0).collect();
    for _ in 0..outer.iter().product() {
        let place = row.iter().zip(own_outer);
        let at = place.fold(0, |at, (&row, &length)| at * length + if length == 1 { 0 } else { row });
        match own_width {
            1 => out.extend(std::iter::repeat_n(list[at], width)),
            _ => out.extend_from_slice(&list[at * width..(at + 1) * width]),
        }
        advance(&mut row, outer, |_| 0);
    }
    Ok(out)
}
