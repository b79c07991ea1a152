//! The selections of zarr-python 3's indexers: elements of one chunk, and their positions in a NumPy array.

use std::sync::Arc;

use numpy::{PyArrayDyn, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PySlice, PySliceMethods, PyTuple};
use zarrox::internals::selection::{ElementAxis, ElementSet, PlacedElements, PlacedPoints, PointRange};
use zarrox::strided::{Dims, Span, View, ViewMut};

/// The selected positions along one dimension.
#[derive(Debug, Clone)]
enum Pick {
    /// One position; the result does not have this dimension.
    One(usize),
    Span(Span),
    List(Vec<usize>),
}

impl Pick {
    /// Returns the positions that an object selects along a dimension; `None` for positions that NumPy would count from the end
    /// or reject.
    fn of(object: &Bound<'_, PyAny>, length: usize) -> PyResult<Option<Self>> {
        if let Ok(slice) = object.cast::<PySlice>() {
            let indices = slice.indices(length.cast_signed())?;
            let (Ok(start), Ok(step)) = (usize::try_from(indices.start), usize::try_from(indices.step))
            else {
                return Ok(None);
            };
            return Ok(Some(Self::Span(Span { start, step, count: indices.slicelength })));
        }
        if let Ok(array) = object.cast::<PyUntypedArray>() {
            return Ok(list(array, length)?.map(Self::List));
        }
        if object.is_instance_of::<PyBool>() {
            return Ok(None);
        }
        Ok(object.extract::<usize>().ok().filter(|&index| index < length).map(Self::One))
    }

    fn len(&self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::Span(span) => span.count,
            Self::List(list) => list.len(),
        }
    }

    fn into_list(self) -> Vec<usize> {
        match self {
            Self::One(index) => vec![index],
            Self::Span(Span { start, step, count }) => (0..count).map(|n| start + n * step).collect(),
            Self::List(list) => list,
        }
    }
}

/// Returns the positions that an array of integers contains, or at which an array of booleans is true.
fn list(array: &Bound<'_, PyUntypedArray>, length: usize) -> PyResult<Option<Vec<usize>>> {
    if let Ok(mask) = array.cast::<PyArrayDyn<bool>>() {
        let Ok(mask) = mask.try_readonly() else { return Ok(None) };
        let set =
            mask.as_array().iter().enumerate().filter_map(|(index, &set)| set.then_some(index)).collect();
        return Ok((array.ndim() == 1 && array.len() == length).then_some(set));
    }
    let integers = match array.cast::<PyArrayDyn<i64>>() {
        Ok(integers) => integers.clone(),
        Err(_) => array.call_method1("astype", ("i8",))?.cast_into::<PyArrayDyn<i64>>()?,
    };
    let Ok(integers) = integers.try_readonly() else { return Ok(None) };
    let position = |&index: &i64| usize::try_from(index).ok().filter(|&index| index < length);
    Ok(integers.as_array().iter().map(position).collect())
}

/// Returns the items of a selection, which is a tuple or a single item.
fn items<'py>(selection: &Bound<'py, PyAny>) -> Vec<Bound<'py, PyAny>> {
    match selection.cast::<PyTuple>() {
        Ok(items) => items.iter().collect(),
        Err(_) => vec![selection.clone()],
    }
}

/// The kinds of selections from a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The positions along each dimension are independent.
    Orthogonal,
    /// The positions along each dimension are independent, and each dimension has an axis in the result, as
    /// with arrays of `numpy.ix_`.
    Open,
    /// The arrays are coordinates of points.
    Points,
}

impl Kind {
    /// Returns the kind of a selection; `None` if zarr-python's indexers never produce such a selection.
    fn of(items: &[Bound<'_, PyAny>]) -> Option<Self> {
        let arrays: Vec<_> = items.iter().filter_map(|item| item.cast::<PyUntypedArray>().ok()).collect();
        if arrays.is_empty() {
            return Some(Self::Orthogonal);
        }
        let is_open = |(axis, array): (usize, &&Bound<'_, PyUntypedArray>)| {
            array.ndim() == items.len() && array.shape()[axis] == array.len()
        };
        if items.len() > 1 && arrays.len() == items.len() && arrays.iter().enumerate().all(is_open) {
            return Some(Self::Open);
        }
        if arrays.iter().any(|array| array.ndim() != 1) {
            return None;
        }
        match arrays.len() {
            1 => items
                .iter()
                .all(|item| item.is_instance_of::<PySlice>() || item.is_instance_of::<PyUntypedArray>())
                .then_some(Self::Orthogonal),
            count => (count == items.len()).then_some(Self::Points),
        }
    }
}

/// Elements of a chunk, and their positions in an array. Axes of length 1 are inserted into the array so that it has one axis for
/// each axis of the elements.
#[derive(Debug)]
pub(super) struct Placement {
    pub(super) elements: PlacedElements,
    inserted: Dims<usize>,
}

impl Placement {
    /// Returns a view of the positions in the array.
    pub(super) fn memory_mut<'a>(&self, array: ViewMut<'a>) -> ViewMut<'a> {
        self.elements.memory_mut(self.inserted.iter().fold(array, |array, &axis| array.with_axis(axis)))
    }

    /// Returns a view of the positions in the array. For a single value, the view repeats it.
    pub(super) fn memory<'a>(&self, array: &View<'a>, is_value: bool) -> View<'a> {
        if is_value {
            return self.elements.memory(&array.clone().broadcast_to(&self.elements.shape()));
        }
        self.elements.memory(&self.inserted.iter().fold(array.clone(), |array, &axis| array.with_axis(axis)))
    }
}

/// The array in memory that is read into or written from.
#[derive(Debug, Clone, Copy)]
pub(super) enum Whole<'a> {
    /// An array of this shape.
    Shape(&'a [usize]),
    /// One value, for all elements.
    Value,
}

/// Returns the elements that one selection selects from a chunk of this shape, and the positions that the other one selects from
/// the whole. Returns `None` if the kind of a selection is unknown, or if the two do not fit together.
pub(super) fn placement(
    chunk: &Bound<'_, PyAny>,
    shape: &[usize],
    out: &Bound<'_, PyAny>,
    whole: Whole<'_>,
    dropped: &[usize],
) -> PyResult<Option<Placement>> {
    let items = items(chunk);
    let Some(kind) = Kind::of(&items).filter(|_| items.len() == shape.len()) else { return Ok(None) };
    let mut picks = Vec::with_capacity(items.len());
    for (item, &length) in items.iter().zip(shape) {
        let Some(pick) = Pick::of(item, length)? else { return Ok(None) };
        picks.push(pick);
    }
    let is_inserted = |(axis, pick): (usize, &Pick)| match kind {
        Kind::Orthogonal => matches!(pick, Pick::One(_)),
        Kind::Open => dropped.contains(&axis),
        Kind::Points => false,
    };
    let inserted: Vec<bool> = picks.iter().enumerate().map(is_inserted).collect();
    if kind != Kind::Open && !dropped.is_empty() {
        return Ok(None);
    }
    let lengths: Vec<usize> = match kind {
        Kind::Points => picks.first().map(Pick::len).into_iter().collect(),
        _ => picks
            .iter()
            .zip(&inserted)
            .filter(|(_, inserted)| !**inserted)
            .map(|(pick, _)| pick.len())
            .collect(),
    };
    let Some(places) = places(out, &lengths, whole)? else { return Ok(None) };
    let axes = match kind {
        Kind::Points => joint(picks, places),
        _ => orthogonal(picks, places, &inserted),
    };
    let Some(axes) = axes else { return Ok(None) };
    let elements = PlacedElements::of_set(ElementSet { axes }.simplified());
    if elements.elements().is_empty() {
        return Ok(None);
    }
    let inserted = inserted.iter().enumerate().filter_map(|(axis, set)| set.then_some(axis)).collect();
    Ok(Some(Placement { elements, inserted }))
}

/// Returns the positions of elements along the axes of the whole; `None` if the numbers of positions differ from `lengths`.
fn places(out: &Bound<'_, PyAny>, lengths: &[usize], whole: Whole<'_>) -> PyResult<Option<Vec<Pick>>> {
    let Whole::Shape(shape) = whole else {
        return Ok(Some(lengths.iter().map(|_| Pick::One(0)).collect()));
    };
    let items = items(out);
    if items.len() != shape.len() || lengths.len() != shape.len() {
        return Ok(None);
    }
    let mut picks = Vec::with_capacity(items.len());
    for ((item, &length), &count) in items.iter().zip(shape).zip(lengths) {
        match Pick::of(item, length)? {
            Some(pick) if pick.len() == count && !matches!(pick, Pick::One(_)) => picks.push(pick),
            _ => return Ok(None),
        }
    }
    Ok(Some(picks))
}

/// Returns the axes of elements that are selected along each dimension independently.
fn orthogonal(picks: Vec<Pick>, places: Vec<Pick>, inserted: &[bool]) -> Option<Vec<ElementAxis>> {
    let mut places = places.into_iter();
    let axis = |(dim, (pick, &inserted)): (usize, (Pick, &bool))| {
        let place = if inserted { Pick::One(0) } else { places.next()? };
        match (pick, place) {
            (Pick::One(start), Pick::One(place)) => {
                Some(ElementAxis::Span { dim, span: Span { start, step: 1, count: 1 }, place })
            }
            (Pick::Span(span), Pick::Span(Span { start: place, step: 1, .. }) | Pick::One(place)) => {
                Some(ElementAxis::Span { dim, span, place })
            }
            // A single value has no positions.
            (pick, Pick::One(place)) => points([dim], vec![pick.into_list()], None, place),
            (pick, place) => points([dim], vec![pick.into_list()], Some(place.into_list()), 0),
        }
    };
    picks.into_iter().zip(inserted).enumerate().map(axis).collect()
}

/// Returns the one axis of points.
fn joint(picks: Vec<Pick>, places: Vec<Pick>) -> Option<Vec<ElementAxis>> {
    let dims: Vec<usize> = (0..picks.len()).collect();
    let lists: Vec<Vec<usize>> = picks.into_iter().map(Pick::into_list).collect();
    if lists.iter().any(|list| list.len() != lists[0].len()) {
        return None;
    }
    let place = places.into_iter().next()?;
    let places = if matches!(place, Pick::One(_)) { None } else { Some(place.into_list()) };
    Some(vec![points(dims, lists, places, 0)?])
}

/// Returns an axis of points, ordered by their positions in the array; without positions, they are consecutive. Returns `None` if
/// two points have the same position.
fn points(
    dims: impl IntoIterator<Item = usize>,
    mut lists: Vec<Vec<usize>>,
    places: Option<Vec<usize>>,
    first: usize,
) -> Option<ElementAxis> {
    let count = lists.first().map_or(0, Vec::len);
    let mut places = places.unwrap_or_else(|| (first..first + count).collect());
    if !places.is_sorted() {
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_key(|&n| places[n]);
        let sorted = |list: &[usize]| order.iter().map(|&n| list[n]).collect::<Vec<_>>();
        lists = lists.iter().map(|list| sorted(list)).collect();
        places = sorted(&places);
    }
    if !places.is_sorted_by(|one, next| one < next) {
        return None;
    }
    let coordinates = lists.into_iter().map(|list| Arc::new(list.into())).collect();
    let dims: Dims<usize> = dims.into_iter().collect();
    let origin = dims.iter().map(|_| 0).collect();
    let points = Arc::new(PlacedPoints::ascending(coordinates, places.into()));
    Some(ElementAxis::Points(PointRange { dims, points, range: 0..count, origin }))
}
