//! A reference implementation of selections, from NumPy's and zarr-python's documentation: slow, obvious, and without the
//! library's own arithmetic.

use zarrox::{DimSelection, IndexArray, Mask};

use crate::model::chosen::{Chosen, Kind, whole};

/// The elements that a selection selects from an array, given as a row-major list.
#[derive(Debug, Clone)]
pub(crate) struct Expected {
    /// The shape of the result.
    pub(crate) shape: Vec<usize>,
    /// For each element of the result, row-major, its position in the list.
    pub(crate) at: Vec<usize>,
}

impl Expected {
    /// Returns the elements that `second` selects from the result of this selection.
    pub(crate) fn then(&self, second: &Self) -> Self {
        Self { shape: second.shape.clone(), at: second.at.iter().map(|&place| self.at[place]).collect() }
    }
}

/// The source of the index of a dimension.
#[derive(Debug)]
enum Source {
    One(usize),
    /// The index comes from a list, by the index of an axis of the result.
    Listed {
        axis: usize,
        list: Vec<usize>,
    },
    /// The index comes from an array that is broadcast with the other arrays.
    Joint {
        shape: Vec<usize>,
        values: Vec<usize>,
    },
}

/// The result of a selection, built dimension by dimension.
#[derive(Debug, Default)]
struct Meaning {
    sources: Vec<Source>,
    /// The lengths of the axes of the result, without the joint axes of arrays.
    result: Vec<usize>,
    /// The shapes that are broadcast together.
    shapes: Vec<Vec<usize>>,
    /// The position of the joint axes.
    place: Option<usize>,
}

impl Meaning {
    fn listed(&mut self, list: Vec<usize>) {
        let axis = self.result.len();
        self.result.push(list.len());
        self.sources.push(Source::Listed { axis, list });
    }

    fn joint(&mut self, shape: &[usize], values: Vec<usize>) {
        self.shapes.push(shape.to_vec());
        self.sources.push(Source::Joint { shape: shape.to_vec(), values });
    }

    fn integers(&mut self, array: &IndexArray, n: usize) {
        self.joint(array.shape(), array.values().iter().map(|&index| position(index, n)).collect());
    }

    /// Converts a mask to its `nonzero()`: an array for each dimension.
    fn mask(&mut self, mask: &Mask) {
        let places: Vec<usize> = (0..mask.values().len()).filter(|&place| mask.values()[place]).collect();
        self.shapes.push(vec![places.len()]);
        for dim in 0..mask.shape().len() {
            let along = |&place: &usize| multi_index(place, mask.shape())[dim];
            self.joint(&[places.len()], places.iter().map(along).collect());
        }
    }

    /// Returns every element of the result.
    fn finish(self, array: &[usize]) -> Expected {
        let joint = broadcast(&self.shapes);
        let place = self.place.unwrap_or(0);
        let mut shape = self.result.clone();
        shape.splice(place..place, joint.iter().copied());
        let index_of = |source: &Source, at: &[usize]| match source {
            Source::One(index) => *index,
            Source::Listed { axis, list } if *axis < place => list[at[*axis]],
            Source::Listed { axis, list } => list[at[axis + joint.len()]],
            Source::Joint { shape, values } => {
                let own = &at[place + joint.len() - shape.len()..place + joint.len()];
                let axes = own.iter().zip(shape);
                values[axes.fold(0, |sum, (&at, &n)| sum * n + if n == 1 { 0 } else { at })]
            }
        };
        let count = shape.iter().product();
        let flat = |number: usize| {
            let at = multi_index(number, &shape);
            let dims = self.sources.iter().zip(array);
            dims.fold(0, |sum, (source, &n)| {
                let index = index_of(source, &at);
                assert!(index < n, "the oracle stays inside");
                sum * n + index
            })
        };
        assert_eq!(self.sources.len(), array.len(), "every dimension is selected from");
        Expected { at: (0..count).map(flat).collect(), shape }
    }
}

/// Returns the elements that a selection selects from an array of this shape, with these chunk bounds along each dimension.
pub(crate) fn expected(chosen: &Chosen, shape: &[usize], blocks: &[Vec<(usize, usize)>]) -> Expected {
    let items = &chosen.items;
    match chosen.kind {
        Kind::Basic | Kind::Mixed => numpy(items, shape),
        Kind::Orthogonal => orthogonal(items, shape),
        Kind::Coordinates | Kind::Mask => together(items, shape),
        Kind::Blocks => of_blocks(items, shape, blocks),
    }
}

/// Resolves an index, which may be negative.
fn position(index: i64, n: usize) -> usize {
    usize::try_from(if index < 0 { index + whole(n) } else { index }).unwrap()
}

/// Returns the index along each dimension of the n-th element, row-major.
pub(crate) fn multi_index(mut number: usize, shape: &[usize]) -> Vec<usize> {
    let mut at = vec![0; shape.len()];
    for (index, &n) in at.iter_mut().zip(shape).rev() {
        *index = number % n;
        number /= n;
    }
    at
}

/// Returns every `step`-th of the indices between the bounds.
fn sliced(n: usize, start: Option<i64>, stop: Option<i64>, step: i64) -> Vec<usize> {
    let from_end = |bound: i64| if bound < 0 { bound + whole(n) } else { bound };
    let (start, stop) = (start.map(from_end), stop.map(from_end));
    let inside = |&index: &usize| {
        let i = whole(index);
        if step > 0 {
            start.is_none_or(|start| i >= start) && stop.is_none_or(|stop| i < stop)
        } else {
            start.is_none_or(|start| i <= start) && stop.is_none_or(|stop| i > stop)
        }
    };
    let mut all: Vec<usize> = (0..n).filter(inside).collect();
    if step < 0 {
        all.reverse();
    }
    all.into_iter().step_by(usize::try_from(step.unsigned_abs()).unwrap()).collect()
}

/// Returns the broadcast shape: aligned at the end, with lengths of 1 repeated.
fn broadcast(shapes: &[Vec<usize>]) -> Vec<usize> {
    let ndim = shapes.iter().map(Vec::len).max().unwrap_or(0);
    let length = |axis: usize| {
        let own = shapes.iter().filter_map(|shape| shape.get((axis + shape.len()).checked_sub(ndim)?));
        own.fold(1, |length, &own| if length == 1 { own } else { length })
    };
    (0..ndim).map(length).collect()
}

/// Returns an item for every dimension: whole slices replace an ellipsis, or are added at the end.
fn expanded(items: &[DimSelection], ndim: usize) -> Vec<DimSelection> {
    let mut items = items.to_vec();
    let missing = ndim - items.iter().map(crate::model::chosen::consumed).sum::<usize>();
    let place = items.iter().position(|item| *item == DimSelection::Ellipsis);
    let place = place.map_or(items.len(), |place| place + 1);
    items.splice(place..place, std::iter::repeat_n(DimSelection::ALL, missing));
    items
}

/// Slices, `newaxis` and `...` are basic. Without arrays, integers are basic as well; with arrays, they are arrays without
/// dimensions. If all arrays are adjacent, their joint axes take the position of the arrays; otherwise the joint axes come
/// first.
fn numpy(items: &[DimSelection], shape: &[usize]) -> Expected {
    let items = expanded(items, shape.len());
    let array = |item: &DimSelection| matches!(item, DimSelection::Integers(_) | DimSelection::Booleans(_));
    let fancy = items.iter().any(array);
    let joins = |item: &DimSelection| array(item) || (fancy && matches!(item, DimSelection::Index(_)));
    let first = items.iter().position(joins);
    let last = items.iter().rposition(joins);
    let together = first.zip(last).is_some_and(|(first, last)| items[first..=last].iter().all(joins));
    let mut meaning = Meaning::default();
    for (number, item) in items.iter().enumerate() {
        if together && first == Some(number) {
            meaning.place = Some(meaning.result.len());
        }
        let n = shape.get(meaning.sources.len()).copied().unwrap_or(0);
        match item {
            DimSelection::NewAxis => meaning.result.push(1),
            DimSelection::Ellipsis => {}
            DimSelection::Slice { start, stop, step } => meaning.listed(sliced(n, *start, *stop, *step)),
            DimSelection::Index(index) if fancy => meaning.joint(&[], vec![position(*index, n)]),
            DimSelection::Index(index) => meaning.sources.push(Source::One(position(*index, n))),
            DimSelection::Integers(array) => meaning.integers(array, n),
            DimSelection::Booleans(mask) => meaning.mask(mask),
        }
    }
    meaning.finish(shape)
}

/// Resolves a selection in which every item except an integer is an axis of its own.
fn orthogonal(items: &[DimSelection], shape: &[usize]) -> Expected {
    let mut meaning = Meaning::default();
    for item in expanded(items, shape.len()) {
        let n = shape.get(meaning.sources.len()).copied().unwrap_or(0);
        match item {
            DimSelection::NewAxis => meaning.result.push(1),
            DimSelection::Ellipsis => {}
            DimSelection::Slice { start, stop, step } => meaning.listed(sliced(n, start, stop, step)),
            DimSelection::Index(index) => meaning.sources.push(Source::One(position(index, n))),
            DimSelection::Integers(array) => {
                let mut list: Vec<usize> = array.values().iter().map(|&index| position(index, n)).collect();
                if array.shape().is_empty() {
                    meaning.sources.push(Source::One(list.remove(0)));
                } else {
                    meaning.listed(list);
                }
            }
            DimSelection::Booleans(mask) => meaning.listed((0..n).filter(|&at| mask.values()[at]).collect()),
        }
    }
    meaning.finish(shape)
}

/// Resolves a selection by an array of indices for each dimension, or by a mask.
fn together(items: &[DimSelection], shape: &[usize]) -> Expected {
    let mut meaning = Meaning::default();
    for item in items {
        let n = shape.get(meaning.sources.len()).copied().unwrap_or(0);
        match item {
            DimSelection::Index(index) => meaning.joint(&[], vec![position(*index, n)]),
            DimSelection::Integers(array) => meaning.integers(array, n),
            DimSelection::Booleans(mask) => meaning.mask(mask),
            _ => unreachable!("arrays and integers are chosen"),
        }
    }
    meaning.finish(shape)
}

/// Resolves a selection of chunks along each dimension. Every dimension stays in the result.
fn of_blocks(items: &[DimSelection], shape: &[usize], blocks: &[Vec<(usize, usize)>]) -> Expected {
    let mut meaning = Meaning::default();
    for item in expanded(items, shape.len()) {
        let own = &blocks[meaning.sources.len().min(blocks.len().saturating_sub(1))..];
        let chosen = match (item, own.first()) {
            (DimSelection::Index(index), Some(own)) => vec![position(index, own.len())],
            (DimSelection::Slice { start, stop, step }, Some(own)) => sliced(own.len(), start, stop, step),
            _ => continue,
        };
        meaning.listed(chosen.into_iter().flat_map(|block| own[0][block].0..own[0][block].1).collect());
    }
    meaning.finish(shape)
}
