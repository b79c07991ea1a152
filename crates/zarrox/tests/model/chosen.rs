//! Random selections of every kind that fit an array.

use zarrox::{Array, ArrayView, DimSelection, IndexArray, Mask, Selection};

use zarrox_testkit::choices::Choices;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Basic,
    Orthogonal,
    Coordinates,
    Mask,
    Blocks,
    Mixed,
}

impl Kind {
    pub(crate) const ALL: [Self; 6] =
        [Self::Basic, Self::Mixed, Self::Orthogonal, Self::Coordinates, Self::Mask, Self::Blocks];
    /// The kinds for any shape; blocks need an array's grid.
    pub(crate) const OF_VIEWS: [Self; 5] =
        [Self::Basic, Self::Mixed, Self::Orthogonal, Self::Coordinates, Self::Mask];
}

/// A selection, and how its items combine.
#[derive(Debug, Clone)]
pub(crate) struct Chosen {
    pub(crate) kind: Kind,
    pub(crate) items: Vec<DimSelection>,
}

pub(crate) fn whole(n: usize) -> i64 {
    i64::try_from(n).unwrap()
}

impl Chosen {
    /// Returns a selection of a kind from an array of this shape, whose grid has `blocks` along each dimension.
    pub(crate) fn choose(choices: &mut Choices, kind: Kind, shape: &[usize], blocks: &[usize]) -> Self {
        let items = match kind {
            Kind::Basic => {
                let items = shape.iter().map(|&n| basic(choices, n)).collect();
                decorated(choices, items, true)
            }
            Kind::Orthogonal => {
                let items = shape.iter().map(|&n| orthogonal(choices, n, shape.len())).collect();
                let newaxis = choices.one_in(4);
                decorated(choices, items, newaxis)
            }
            Kind::Coordinates if choices.one_in(20) => vec![mask(choices, shape)],
            Kind::Coordinates => coordinates(choices, shape),
            Kind::Mask => vec![mask(choices, shape)],
            Kind::Blocks => {
                let items = blocks.iter().map(|&n| block(choices, n)).collect();
                decorated(choices, items, false)
            }
            Kind::Mixed => {
                let items = mixed(choices, shape);
                decorated(choices, items, true)
            }
        };
        Self { kind, items }
    }

    pub(crate) fn selection(&self) -> Selection {
        let items = self.items.clone();
        match (self.kind, self.items.as_slice()) {
            (Kind::Basic | Kind::Mixed, _) => items.into_iter().collect(),
            (Kind::Orthogonal, _) => Selection::orthogonal(items),
            (Kind::Coordinates, _) => Selection::coordinates(items),
            (Kind::Mask, [DimSelection::Booleans(mask)]) => Selection::mask(mask.clone()),
            (Kind::Mask, _) => unreachable!("one mask is chosen"),
            (Kind::Blocks, _) => Selection::blocks(items),
        }
    }

    /// Returns the view of an array by the method for the kind.
    pub(crate) fn of<'a>(&self, array: &'a Array) -> ArrayView<'a> {
        match (self.kind, self.items.as_slice()) {
            (Kind::Orthogonal, _) => array.oindex(self.items.clone()),
            (Kind::Coordinates, _) => array.vindex(self.items.clone()),
            (Kind::Mask, [DimSelection::Booleans(mask)]) => array.mask(mask.clone()),
            (Kind::Blocks, _) => array.blocks(self.items.clone()),
            _ => array.slice(self.selection()),
        }
    }

    /// Returns the view of a view.
    pub(crate) fn of_view<'a>(&self, view: &ArrayView<'a>) -> ArrayView<'a> {
        match (self.kind, self.items.as_slice()) {
            (Kind::Orthogonal, _) => view.oindex(self.items.clone()),
            (Kind::Coordinates, _) => view.vindex(self.items.clone()),
            (Kind::Mask, [DimSelection::Booleans(mask)]) => view.mask(mask.clone()),
            _ => view.slice(self.selection()),
        }
    }

    /// Returns the selection in NumPy's syntax, if it can be written without loss.
    pub(crate) fn text(&self) -> Option<String> {
        let writable = |item: &DimSelection| match item {
            // Long arrays are shortened when displayed; empty ones only show the outermost length.
            DimSelection::Integers(array) => {
                !array.shape().is_empty() && (1..100).contains(&array.values().len())
            }
            DimSelection::Booleans(mask) => {
                !mask.shape().is_empty() && (1..100).contains(&mask.values().len())
            }
            _ => true,
        };
        let syntax = matches!(self.kind, Kind::Basic | Kind::Mixed);
        (syntax && self.items.iter().all(writable)).then(|| self.selection().to_string())
    }
}

/// Returns a slice with a step: one of ten has bounds in any order, sometimes far outside.
pub(crate) fn slice(choices: &mut Choices, n: usize, step: i64) -> DimSelection {
    let n = whole(n);
    if choices.one_in(10) {
        let mut bound = || match choices.below(12) {
            0..=1 => None,
            10 => Some(i64::MIN),
            11 => Some(i64::MAX),
            _ => Some(choices.between(-n - 2, n + 2)),
        };
        return DimSelection::Slice { start: bound(), stop: bound(), step };
    }
    let (low, high) = (choices.between(0, (n - 1).max(0) / 2), choices.between(n / 2 + 1, n + 1));
    // Backwards, both bounds are one lower, and a bound before the first position must count from the end.
    let (start, stop) = if step < 0 { (high - 1, low - 1) } else { (low, high) };
    let mut written = |bound: i64| match choices.below(3) {
        0 => (bound >= 0).then_some(bound),
        1 if (0..n).contains(&bound) => Some(bound - n),
        _ if bound == start && choices.one_in(2) => None,
        _ => (bound >= 0).then_some(bound),
    };
    DimSelection::Slice { start: written(start), stop: written(stop), step }
}

fn any_slice(choices: &mut Choices, n: usize) -> DimSelection {
    let step = choices.pick(&[1, 1, 1, 1, 1, 2, 3, 4, -1, -1, -2, -3, -4, i64::MAX, i64::MIN]);
    slice(choices, n, step)
}

fn index(choices: &mut Choices, n: usize) -> DimSelection {
    DimSelection::Index(choices.between(-whole(n), whole(n) - 1))
}

fn basic(choices: &mut Choices, n: usize) -> DimSelection {
    if n > 0 && choices.one_in(4) { index(choices, n) } else { any_slice(choices, n) }
}

/// Returns an array of indices along a dimension of length `n`. `n` may only be 0 if the returned array has no
/// elements.
pub(crate) fn integers(choices: &mut Choices, n: usize, shape: &[usize]) -> IndexArray {
    let count = shape.iter().product();
    let n = whole(n);
    let mut values: Vec<i64> = match choices.below(5) {
        0 | 1 => (0..count).map(|_| choices.between(-n, n - 1)).collect(),
        2 => {
            let mut values: Vec<i64> = (0..count).map(|_| choices.between(0, n - 1)).collect();
            values.sort_unstable();
            values
        }
        // Runs of neighbours, with gaps and repetitions between them.
        3 => {
            let mut at = 0;
            let next = |_| {
                at = (at + choices.pick(&[1, 1, 1, 1, 0, 2, 3])) % n;
                at
            };
            (0..count).map(next).collect()
        }
        _ => {
            let (start, step) = (choices.between(0, 8), choices.between(-2, 2));
            (0..whole(count)).map(|k| (start + k * step).rem_euclid(n)).collect()
        }
    };
    if choices.one_in(4) {
        // These are the same positions, counted from the end.
        values.iter_mut().for_each(|value| *value = if *value < 0 { *value } else { *value - n });
    }
    IndexArray::new(shape.to_vec(), values).unwrap()
}

/// Returns a mask that is true at `count` random positions.
fn mask_of(choices: &mut Choices, shape: &[usize], count: usize) -> DimSelection {
    let mut values = vec![false; shape.iter().product()];
    choices.places(values.len()).into_iter().take(count).for_each(|place| values[place] = true);
    DimSelection::Booleans(Mask::new(shape.to_vec(), values).unwrap())
}

fn mask(choices: &mut Choices, shape: &[usize]) -> DimSelection {
    let size: usize = shape.iter().product();
    let count = match choices.below(12) {
        0 => size,
        1 => 0,
        2 => size.min(1),
        3 | 4 => size / 8,
        5 => size - size / 8,
        _ => choices.below(size + 1),
    };
    mask_of(choices, shape, count)
}

fn orthogonal(choices: &mut Choices, n: usize, ndim: usize) -> DimSelection {
    // The result stays small even if all dimensions are listed.
    let most = if ndim > 2 { 5 } else { n.min(20) + 3 };
    match choices.below(8) {
        0..=2 => any_slice(choices, n),
        3 if n > 0 => index(choices, n),
        4 | 5 if n > 0 => {
            let count = if choices.one_in(10) { 0 } else { choices.below(most) + 1 };
            integers(choices, n, &[count]).into()
        }
        6 if n > 0 && choices.one_in(4) => integers(choices, n, &[]).into(),
        6 | 7 => mask(choices, &[n]),
        _ => integers(choices, n, &[0]).into(),
    }
}

/// Returns a shape that is broadcast to another.
fn broadcastable(choices: &mut Choices, joint: &[usize]) -> Vec<usize> {
    let dropped = if choices.one_in(4) { choices.below(joint.len() + 1) } else { 0 };
    joint[dropped..].iter().map(|&length| if choices.one_in(6) { 1 } else { length }).collect()
}

fn coordinates(choices: &mut Choices, shape: &[usize]) -> Vec<DimSelection> {
    let ndim = choices.pick(&[1, 1, 1, 2, 2, 3, 0]);
    let mut joint: Vec<usize> = (0..ndim).map(|_| choices.pick(&[3, 1, 2, 4, 5])).collect();
    if ndim > 0 && choices.one_in(12) {
        joint[choices.below(ndim)] = 0;
    }
    if ndim == 1 && choices.one_in(3) {
        joint[0] *= 8;
    }
    if shape.contains(&0) {
        // An empty dimension has no indices.
        joint = vec![0];
    }
    let item = |&n: &usize| {
        if n == 0 {
            return integers(choices, 0, &[0]).into();
        }
        if choices.one_in(6) {
            return index(choices, n);
        }
        let own = broadcastable(choices, &joint);
        integers(choices, n, &own).into()
    };
    shape.iter().map(item).collect()
}

fn block(choices: &mut Choices, blocks: usize) -> DimSelection {
    if blocks > 0 && choices.one_in(2) { index(choices, blocks) } else { slice(choices, blocks, 1) }
}

/// Returns slices, integers, arrays of several dimensions and masks over several dimensions, which combine by
/// NumPy's rules.
fn mixed(choices: &mut Choices, shape: &[usize]) -> Vec<DimSelection> {
    let ndim = choices.pick(&[1, 1, 2, 1, 3]);
    let mut joint: Vec<usize> = (0..ndim).map(|_| choices.pick(&[3, 2, 1, 4])).collect();
    match choices.below(16) {
        15 => joint[ndim - 1] = 0,
        12..=14 if !shape.is_empty() => joint[ndim - 1] = choices.pick(shape),
        _ => {}
    }
    let last = joint[ndim - 1];
    let mut items = Vec::new();
    while items.iter().map(consumed).sum::<usize>() < shape.len() {
        let dim = items.iter().map(consumed).sum::<usize>();
        let n = shape[dim];
        let masked = &shape[dim..=dim + choices.below((shape.len() - dim).min(3))];
        let size = masked.iter().product::<usize>();
        items.push(match choices.below(10) {
            4 if n > 0 => index(choices, n),
            5..=7 if n > 0 => {
                let own = broadcastable(choices, &joint);
                integers(choices, n, &own).into()
            }
            5..=7 if last == 0 => integers(choices, n, &joint).into(),
            8 | 9 if size >= last => mask_of(choices, masked, last),
            8 | 9 if size > 0 => mask_of(choices, masked, 1),
            _ => any_slice(choices, n),
        });
    }
    if last > 0 && choices.one_in(20) {
        let place = choices.below(items.len() + 1);
        items.insert(place, mask_of(choices, &[], 1));
    }
    items
}

/// Returns the number of dimensions that an item selects from.
pub(crate) fn consumed(item: &DimSelection) -> usize {
    match item {
        DimSelection::Index(_) | DimSelection::Slice { .. } | DimSelection::Integers(_) => 1,
        DimSelection::Ellipsis | DimSelection::NewAxis => 0,
        DimSelection::Booleans(mask) => mask.shape().len(),
    }
}

/// Replaces some items by an ellipsis, or omits them at the end, and adds new axes.
fn decorated(choices: &mut Choices, mut items: Vec<DimSelection>, newaxis: bool) -> Vec<DimSelection> {
    if choices.one_in(3) {
        let from = choices.below(items.len() + 1);
        let to = from + choices.below(items.len() - from + 1);
        let at_end = to == items.len() && choices.one_in(2);
        items.splice(from..to, (!at_end).then_some(DimSelection::Ellipsis));
    }
    if newaxis && choices.one_in(3) {
        for _ in 0..=choices.below(2) {
            let place = choices.below(items.len() + 1);
            items.insert(place, DimSelection::NewAxis);
        }
    }
    items
}
