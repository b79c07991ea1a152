//! Indexing according to NumPy's documentation, element by element, and the meaning of resolved selections.

use ndarray::{ArrayD, Dimension, IxDyn};

use super::super::*;
use crate::strided::Dims;

pub(super) fn wide(shape: &[usize]) -> Vec<u64> {
    shape.iter().map(|&n| n as u64).collect()
}

pub(super) fn arange(shape: &[usize]) -> ArrayD<usize> {
    ArrayD::from_shape_vec(shape, (0..shape.iter().product()).collect()).unwrap()
}

/// Returns the positions of Python's `range(n)[start:stop:step]`, according to its definition.
pub(super) fn slice(start: Option<i64>, stop: Option<i64>, step: i64, n: i64) -> Option<Vec<usize>> {
    let adjust = |v: i64, low: i64, high: i64| if v < 0 { (v + n).max(low) } else { v.min(high) };
    let (mut at, stop) = match step {
        0 => return None,
        1.. => (start.map_or(0, |v| adjust(v, 0, n)), stop.map_or(n, |v| adjust(v, 0, n))),
        _ => (start.map_or(n - 1, |v| adjust(v, -1, n - 1)), stop.map_or(-1, |v| adjust(v, -1, n - 1))),
    };
    let mut positions = Vec::new();
    while (step > 0 && at < stop) || (step < 0 && at > stop) {
        positions.push(usize::try_from(at).unwrap());
        at += step;
    }
    Some(positions)
}

fn position(index: i64, n: usize) -> Option<usize> {
    let at = if index < 0 { index + i64::try_from(n).unwrap() } else { index };
    usize::try_from(at).ok().filter(|&at| at < n)
}

/// An item with all positions listed.
enum Spec {
    New,
    /// A dimension that is sliced.
    Each(Vec<usize>),
    /// A dimension from which arrays select jointly with others.
    Joint(ArrayD<usize>),
    /// A zero-dimensional boolean: an array with one element or none, which selects from no dimension.
    Truth(ArrayD<usize>),
    /// An ellipsis that covers no dimensions, but still separates arrays.
    Nothing,
}

fn specs(array: &ArrayD<usize>, items: &[DimSelection]) -> Option<Vec<Spec>> {
    let used = |item: &DimSelection| match item {
        DimSelection::Booleans(mask) => mask.shape().len(),
        DimSelection::NewAxis | DimSelection::Ellipsis => 0,
        _ => 1,
    };
    let rest = array.ndim().checked_sub(items.iter().map(used).sum())?;
    let mut items = items.to_vec();
    if !items.contains(&DimSelection::Ellipsis) {
        items.push(DimSelection::Ellipsis);
    }
    if items.iter().filter(|item| **item == DimSelection::Ellipsis).count() > 1 {
        return None;
    }
    let (mut specs, mut dim) = (Vec::new(), 0);
    for item in &items {
        match item {
            DimSelection::NewAxis => specs.push(Spec::New),
            DimSelection::Ellipsis => {
                specs.push(Spec::Nothing);
                (dim..dim + rest).for_each(|dim| specs.push(Spec::Each((0..array.shape()[dim]).collect())));
                dim += rest;
            }
            DimSelection::Slice { start, stop, step } => {
                specs.push(Spec::Each(slice(
                    *start,
                    *stop,
                    *step,
                    i64::try_from(array.shape()[dim]).unwrap(),
                )?));
            }
            DimSelection::Index(index) => {
                let at = position(*index, array.shape()[dim])?;
                specs.push(Spec::Joint(ArrayD::from_elem(IxDyn(&[]), at)));
            }
            DimSelection::Integers(list) => {
                let at: Option<Vec<usize>> =
                    list.values().iter().map(|&index| position(index, array.shape()[dim])).collect();
                specs.push(Spec::Joint(ArrayD::from_shape_vec(list.shape(), at?).unwrap()));
            }
            DimSelection::Booleans(mask) => {
                if array.shape()[dim..dim + mask.shape().len()] != *mask.shape() {
                    return None;
                }
                let values = ArrayD::from_shape_vec(mask.shape(), mask.values().to_vec()).unwrap();
                if mask.shape().is_empty() {
                    specs.push(Spec::Truth(ArrayD::zeros(IxDyn(&[mask.count()]))));
                }
                let places: Vec<Vec<usize>> =
                    indices(mask.shape()).into_iter().filter(|at| values[at.as_slice()]).collect();
                for part in 0..mask.shape().len() {
                    let list: Vec<usize> = places.iter().map(|place| place[part]).collect();
                    specs.push(Spec::Joint(ArrayD::from_shape_vec(IxDyn(&[list.len()]), list).unwrap()));
                }
            }
        }
        dim += used(item) * usize::from(*item != DimSelection::Ellipsis);
    }
    Some(specs)
}

/// Returns all positions of a shape in row-major order.
fn indices(shape: &[usize]) -> Vec<Vec<usize>> {
    ndarray::indices(IxDyn(shape)).into_iter().map(|at| at.slice().to_vec()).collect()
}

/// Selects by NumPy's rules. Returns `None` if NumPy raises an error.
pub(super) fn mixed(array: &ArrayD<usize>, items: &[DimSelection]) -> Option<ArrayD<usize>> {
    let specs = specs(array, items)?;
    // The joint shape: the last axes are aligned, and lengths of 1 are broadcast.
    let arrays: Vec<&ArrayD<usize>> = specs
        .iter()
        .filter_map(|spec| if let Spec::Joint(a) | Spec::Truth(a) = spec { Some(a) } else { None })
        .collect();
    let ndim = arrays.iter().map(|a| a.ndim()).max().unwrap_or(0);
    let mut joint = vec![1; ndim];
    for a in &arrays {
        for (axis, &n) in a.shape().iter().enumerate() {
            let length = &mut joint[ndim - a.ndim() + axis];
            match (*length, n) {
                (_, 1) => {}
                (1, n) => *length = n,
                (have, n) if have == n => {}
                _ => return None,
            }
        }
    }
    // Checks whether there is an item between the arrays.
    let places: Vec<usize> =
        (0..specs.len()).filter(|&at| matches!(specs[at], Spec::Joint(_) | Spec::Truth(_))).collect();
    let together = places.windows(2).all(|pair| pair[1] == pair[0] + 1);
    let joint_first = !together && !joint.is_empty();
    // The result's shape, and the position of the axes of each spec.
    let mut shape: Vec<usize> = if joint_first { joint.clone() } else { vec![] };
    let mut begins = Vec::new();
    let mut joint_at = if joint_first { Some(0) } else { None };
    for spec in &specs {
        begins.push(shape.len());
        match spec {
            Spec::New => shape.push(1),
            Spec::Each(list) => shape.push(list.len()),
            Spec::Joint(_) | Spec::Truth(_) if joint_at.is_none() => {
                joint_at = Some(shape.len());
                shape.extend(&joint);
            }
            Spec::Joint(_) | Spec::Truth(_) | Spec::Nothing => {}
        }
    }
    let element = |at: &Vec<usize>| {
        let mut source = Vec::new();
        for (spec, &begin) in specs.iter().zip(&begins) {
            match spec {
                Spec::New | Spec::Truth(_) | Spec::Nothing => {}
                Spec::Each(list) => source.push(list[at[begin]]),
                Spec::Joint(a) => {
                    let begin = joint_at.unwrap() + ndim - a.ndim();
                    let place: Vec<usize> = a
                        .shape()
                        .iter()
                        .enumerate()
                        .map(|(axis, &n)| if n == 1 { 0 } else { at[begin + axis] })
                        .collect();
                    source.push(a[place.as_slice()]);
                }
            }
        }
        array[source.as_slice()]
    };
    let values = indices(&shape).iter().map(element).collect();
    Some(ArrayD::from_shape_vec(shape, values).unwrap())
}

/// Selects along one axis after another, like `take`, and then removes the axes of integers.
pub(super) fn orthogonal(array: &ArrayD<usize>, items: &[DimSelection]) -> Option<ArrayD<usize>> {
    let flat = |item: &DimSelection| match item {
        DimSelection::Integers(list) => list.shape().len() <= 1,
        DimSelection::Booleans(mask) => mask.shape().len() == 1,
        _ => true,
    };
    let new = |item: &DimSelection| *item == DimSelection::NewAxis;
    let specs = specs(array, items)?;
    if !items.iter().all(flat) || items.iter().any(new) {
        return None;
    }
    let specs: Vec<&Spec> = specs.iter().filter(|spec| !matches!(spec, Spec::Nothing)).collect();
    let mut out = array.clone();
    for (axis, spec) in specs.iter().enumerate() {
        let list: Vec<usize> = match spec {
            Spec::Each(list) => list.clone(),
            Spec::Joint(a) => a.iter().copied().collect(),
            Spec::New | Spec::Truth(_) | Spec::Nothing => unreachable!(),
        };
        out = out.select(ndarray::Axis(axis), &list);
    }
    for (axis, spec) in specs.iter().enumerate().rev() {
        if matches!(spec, Spec::Joint(a) if a.ndim() == 0) {
            out = out.index_axis_move(ndarray::Axis(axis), 0);
        }
    }
    Some(out)
}

/// Returns the result of a selection of any kind except blocks.
pub(super) fn apply(array: &ArrayD<usize>, selection: &Selection) -> Option<ArrayD<usize>> {
    use super::super::selection::Kind;
    let items = selection.items();
    let one_mask = matches!(items, [DimSelection::Booleans(mask)] if mask.shape() == array.shape());
    match selection.kind {
        Kind::Mixed => mixed(array, items),
        Kind::Orthogonal => orthogonal(array, items),
        Kind::Mask => one_mask.then(|| mixed(array, items)).flatten(),
        Kind::Coordinates => {
            let fits =
                |item: &DimSelection| matches!(item, DimSelection::Index(_) | DimSelection::Integers(_));
            let coordinates = items.len() == array.ndim() && items.iter().all(fits);
            (one_mask || coordinates).then(|| mixed(array, items)).flatten()
        }
        Kind::Blocks => None,
    }
}

/// Returns the elements of a resolved selection; checks all invariants of its types.
pub(super) fn expand(resolved: &ResolvedSelection, array: &ArrayD<usize>) -> ArrayD<usize> {
    check(resolved, array.shape());
    let shape: Vec<usize> = resolved.shape().iter().map(|&n| usize::try_from(n).unwrap()).collect();
    let element = |at: &Vec<usize>| {
        let mut source = vec![usize::MAX; array.ndim()];
        for (number, axis) in resolved.axes.iter().enumerate() {
            let mut places: Dims<usize> = axis.shape().iter().map(|_| 0).collect();
            for (&at, of) in at.iter().zip(&resolved.result) {
                match *of {
                    ResultAxis::Of { axis, part } if axis == number => places[part] = at,
                    _ => {}
                }
            }
            match axis {
                ResolvedAxis::Span(span) => {
                    source[span.dim] = usize::try_from(span.position(places[0] as u64)).unwrap();
                }
                ResolvedAxis::Points(points) => {
                    let flat = places.iter().zip(&points.shape).fold(0, |flat, (&at, &n)| flat * n + at);
                    points
                        .dims
                        .iter()
                        .zip(&points.coordinates)
                        .for_each(|(&dim, list)| source[dim] = list[flat]);
                }
                ResolvedAxis::Mask(masked) => {
                    let mut trues = indices(masked.mask.shape())
                        .into_iter()
                        .zip(masked.mask.values().iter())
                        .filter(|(_, v)| **v);
                    let (place, _) = trues.nth(places[0]).unwrap();
                    masked.dims.iter().zip(place).for_each(|(&dim, at)| source[dim] = at);
                }
            }
        }
        array[source.as_slice()]
    };
    let values = indices(&shape).iter().map(element).collect();
    ArrayD::from_shape_vec(shape, values).unwrap()
}

fn check(resolved: &ResolvedSelection, shape: &[usize]) {
    let mut dims: Vec<usize> = resolved.axes.iter().flat_map(|axis| axis.dims().to_vec()).collect();
    let firsts: Vec<usize> = resolved.axes.iter().filter_map(|axis| axis.dims().first().copied()).collect();
    assert!(firsts.is_sorted(), "axes are in the order of their first dimensions");
    dims.sort_unstable();
    assert!(
        dims.iter().copied().eq(0..shape.len()),
        "each dimension must be in exactly one axis: {dims:?} {shape:?}"
    );
    for (number, axis) in resolved.axes.iter().enumerate() {
        assert!(axis.dims().is_sorted());
        let parts: Vec<usize> = resolved
            .result
            .iter()
            .filter_map(|of| match *of {
                ResultAxis::Of { axis, part } if axis == number => Some(part),
                _ => None,
            })
            .collect();
        let dropped = parts.is_empty();
        let mut sorted = parts.clone();
        sorted.sort_unstable();
        assert!(
            dropped || sorted.iter().copied().eq(0..axis.shape().len()),
            "each part is in the result: {parts:?}"
        );
        assert!(
            !dropped || matches!(axis, ResolvedAxis::Span(span) if span.count == 1),
            "a dropped axis has one position"
        );
        match axis {
            ResolvedAxis::Span(span) => {
                assert!(span.step >= 1 && (span.count > 1 || (span.step == 1 && !span.reversed)));
                assert!(
                    span.count == 0 || span.start + (span.count - 1) * span.step < shape[span.dim] as u64
                );
            }
            ResolvedAxis::Points(points) => {
                assert!(!points.shape.contains(&1));
                assert_eq!(points.coordinates.len(), points.dims.len());
                assert!(
                    points
                        .coordinates
                        .iter()
                        .all(|list| list.len() == points.shape.iter().product::<usize>())
                );
                for (&dim, list) in points.dims.iter().zip(&points.coordinates) {
                    assert!(list.iter().all(|&at| at < shape[dim]));
                }
                if let ([list], [_]) = (points.coordinates.as_slice(), points.shape.as_slice()) {
                    let step = list[1].wrapping_sub(list[0]);
                    let even = step != 0 && list.windows(2).all(|pair| pair[1].wrapping_sub(pair[0]) == step);
                    assert!(!even, "evenly spaced positions must be a span: {list:?}");
                }
            }
            ResolvedAxis::Mask(masked) => {
                assert_eq!(masked.count, masked.mask.count());
                assert!(masked.dims.len() > 1 && masked.count != 1);
            }
        }
    }
}
