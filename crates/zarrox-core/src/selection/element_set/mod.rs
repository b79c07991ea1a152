//! Sets of elements of a chunk that need not form a box, with their positions in memory.

mod group;
mod split;
#[cfg(test)]
pub(crate) mod tests;

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use smallvec::{SmallVec, smallvec};

use super::masked::{MaskedChunk, MaskedChunks};
use crate::scratch::Positions;
use crate::strided::{Dims, Span};

pub use group::Grouped;

/// Points, and the position of each point in the result. The points of one chunk are consecutive.
#[derive(Debug)]
pub struct PlacedPoints {
    /// The points; for a mask, they are listed on first access.
    lists: OnceLock<Lists>,
    /// The mask that selects the points, if there is one.
    mask: Option<MaskedChunk>,
    /// The minimum and the maximum position of all points for each dimension, computed on first access.
    extents: OnceLock<Dims<(usize, usize)>>,
}

/// Listed points.
#[derive(Debug, Default)]
struct Lists {
    /// The position of each point, for each dimension.
    coordinates: Dims<Arc<Positions>>,
    /// The position of each point along the axis of the result; `None` if the n-th point is at position n. All positions are
    /// distinct, because several threads may write to the result at the same time.
    places: Option<Positions>,
}

impl PlacedPoints {
    /// Creates points with ascending positions in the result. Panics if the positions are not ascending, or the lists differ in
    /// length.
    pub fn ascending(coordinates: Dims<Arc<Positions>>, places: Positions) -> Self {
        assert!(places.is_sorted_by(|one, next| one < next), "the places ascend");
        assert!(coordinates.iter().all(|list| list.len() == places.len()), "all lists are equally long");
        Self::placed(coordinates, Some(places))
    }

    /// Creates points with distinct positions in the result.
    pub(crate) fn placed(coordinates: Dims<Arc<Positions>>, places: Option<Positions>) -> Self {
        Self { lists: Lists { coordinates, places }.into(), mask: None, extents: OnceLock::new() }
    }

    /// Creates the points where a mask is true in the `n`-th chunk that contains true positions. The position of each point in
    /// the result is its index among all points of the mask in row-major order.
    pub fn of_mask(mask: &Arc<MaskedChunks>, n: usize) -> Self {
        let mask = MaskedChunk::new(mask.clone(), n);
        let extents = Dims::from(mask.extents()).into();
        Self { lists: OnceLock::new(), mask: Some(mask), extents }
    }

    fn lists(&self) -> &Lists {
        let listed = |mask: &MaskedChunk| {
            let (coordinates, places) = mask.lists();
            Lists { coordinates, places: Some(places) }
        };
        self.lists.get_or_init(|| self.mask.as_ref().map(listed).unwrap_or_default())
    }

    /// Returns the number of points.
    pub fn count(&self) -> usize {
        if let Some(mask) = &self.mask {
            return mask.count();
        }
        let Lists { coordinates, places } = self.lists();
        places.as_ref().or_else(|| coordinates.first().map(|list| &**list)).map_or(0, |list| list.len())
    }

    /// Returns the minimum and the maximum position of some points along the `k`-th dimension; `None` if there are no points.
    fn extent(&self, k: usize, range: &Range<usize>) -> Option<(usize, usize)> {
        if range.is_empty() || *range != (0..self.count()) {
            return extent(&self.coordinates()[k][range.clone()]);
        }
        let all = || self.coordinates().iter().filter_map(|list| extent(list)).collect();
        self.extents.get_or_init(all).get(k).copied()
    }

    /// Returns the position of each point for each dimension.
    pub fn coordinates(&self) -> &[Arc<Positions>] {
        &self.lists().coordinates
    }

    /// Returns the position of each point along the axis of the result; `None` if the n-th point is at position n.
    pub fn places(&self) -> Option<&[usize]> {
        self.lists().places.as_ref().map(|places| places.as_slice())
    }
}

/// The points of one chunk: a range of points, and the origin of the chunk.
#[derive(Debug, Clone)]
pub struct PointRange {
    /// The dimensions of the chunk along which the points have positions.
    pub dims: Dims<usize>,
    /// All points.
    pub points: Arc<PlacedPoints>,
    /// The range of the points.
    pub range: Range<usize>,
    /// The numbers to subtract from each position, one for each of `dims`.
    pub origin: Dims<usize>,
}

/// Positions along some dimensions of a chunk. The memory from or to which the elements are copied has one axis for these
/// positions.
#[derive(Debug, Clone)]
pub enum ElementAxis {
    /// Evenly spaced positions along one dimension.
    Span {
        /// The dimension of the chunk.
        dim: usize,
        /// The positions.
        span: Span,
        /// The position of the first element in memory; the others follow consecutively.
        place: usize,
    },
    /// Listed positions.
    Points(PointRange),
}

/// Elements of a chunk: every combination of the positions of its axes. Each dimension of the chunk belongs to exactly one
/// axis.
///
/// In memory, the elements have one axis for each axis of the set, in the same order. A set thus maps elements of a chunk to
/// positions in memory: in the result of a read, or in the new values of a write.
#[derive(Debug, Clone)]
pub struct ElementSet {
    /// The axes, in the order of the axes in memory.
    pub axes: Vec<ElementAxis>,
}

/// Elements that form a box in a chunk, and a box in memory.
pub type PlacedBox = (Dims<Span>, Dims<Span>);

impl PointRange {
    /// Returns the number of points.
    pub fn len(&self) -> usize {
        self.range.len()
    }

    /// Returns true if there are no points.
    pub fn is_empty(&self) -> bool {
        self.range.is_empty()
    }

    /// Returns the mask, if the points are exactly its true positions.
    pub(crate) fn mask(&self) -> Option<&MaskedChunk> {
        self.points.mask.as_ref().filter(|mask| self.range == (0..mask.count()))
    }

    /// Returns the listed positions of the points along the `k`-th of their dimensions, without subtracting the origin.
    pub(crate) fn positions(&self, k: usize) -> &[usize] {
        &self.points.coordinates()[k][self.range.clone()]
    }

    /// Returns the positions of the points in memory, if they are listed; otherwise the positions are the indices of the
    /// points.
    pub(crate) fn places(&self) -> Option<&[usize]> {
        self.points.places().map(|places| &places[self.range.clone()])
    }

    /// Returns the position of the `i`-th point in memory.
    fn place(&self, i: usize) -> usize {
        self.places().map_or(self.range.start + i, |places| places[i])
    }

    /// Returns these points placed at consecutive positions in memory, and the points of that memory placed at the original
    /// positions.
    fn compact(&self, dim: usize) -> (Self, Self) {
        let count = self.len();
        let lists =
            (0..self.dims.len()).map(|k| Arc::new(self.positions(k).iter().copied().collect())).collect();
        let points = Arc::new(PlacedPoints::placed(lists, None));
        let close = Self { points, range: 0..count, ..self.clone() };
        let places = (0..count).map(|i| self.place(i)).collect();
        let coordinates = smallvec![Arc::new((0..count).collect())];
        let points = Arc::new(PlacedPoints::placed(coordinates, Some(places)));
        (close, Self { dims: smallvec![dim], points, range: 0..count, origin: smallvec![0] })
    }

    /// Returns the points as a span, and the position of the first point in memory, if the points have one dimension, are
    /// evenly spaced in ascending order, and are consecutive in memory.
    fn as_span(&self) -> Option<(Span, usize)> {
        if self.dims.len() != 1 {
            return None;
        }
        let positions = self.positions(0);
        let (Some(&first), Some(&last)) = (positions.first(), positions.last()) else {
            return Some((Span::all(0), self.range.start));
        };
        let steps = positions.len() - 1;
        let step = positions.get(1).map_or(Some(1), |second| second.checked_sub(first))?;
        // Comparing the first and the last position is enough to reject most lists.
        if step == 0 || step.checked_mul(steps) != last.checked_sub(first) {
            return None;
        }
        if let Some(places) = self.places()
            && (places[steps].checked_sub(places[0]) != Some(steps) || !are_even(places, 1))
        {
            return None;
        }
        let start = first.checked_sub(self.origin[0])?;
        are_even(positions, step).then(|| (Span { start, step, count: steps + 1 }, self.place(0)))
    }

    /// Returns true if the `i`-th point directly follows the previous point, both along the last dimension and in memory.
    fn continues(&self, i: usize) -> bool {
        let last = self.dims.len().checked_sub(1);
        let along = |k: usize| {
            let positions = self.positions(k);
            positions[i] == positions[i - 1] + usize::from(Some(k) == last)
        };
        last.is_some() && (0..self.dims.len()).all(along) && self.place(i) == self.place(i - 1) + 1
    }

    /// Implements [`ElementAxis::stretches`] for points.
    fn stretches(&self, limit: usize) -> Option<Vec<Stretch>> {
        if self.mask().is_some_and(|mask| mask.has_more_runs(limit)) {
            return None;
        }
        let mut borders = Vec::new();
        for i in (0..self.len()).filter(|&i| i == 0 || !self.continues(i)) {
            if borders.len() == limit {
                return None;
            }
            borders.push(i);
        }
        borders.push(self.len());
        Some(borders.windows(2).map(|pair| self.stretch(pair[0]..pair[1])).collect())
    }

    /// Returns these points as a stretch. Each point must directly follow the previous one.
    fn stretch(&self, which: Range<usize>) -> Stretch {
        let last = self.dims.len().saturating_sub(1);
        let along = |(k, &dim): (usize, &usize)| {
            let count = if k == last { which.len() } else { 1 };
            (dim, Span { start: self.positions(k)[which.start] - self.origin[k], step: 1, count })
        };
        let region = self.dims.iter().enumerate().map(along).collect();
        Stretch { region, memory: Span { start: self.place(which.start), step: 1, count: which.len() } }
    }
}

/// Returns the minimum and the maximum.
fn extent(numbers: &[usize]) -> Option<(usize, usize)> {
    let first = *numbers.first()?;
    Some(numbers.iter().fold((first, first), |(least, most), &n| (least.min(n), most.max(n))))
}

/// Returns true if each number is the previous number plus `step`.
fn are_even(numbers: &[usize], step: usize) -> bool {
    numbers.windows(2).all(|pair| pair[1].wrapping_sub(pair[0]) == step)
}

/// A stretch of one axis: a span for each of its dimensions, and the positions in memory.
struct Stretch {
    region: SmallVec<[(usize, Span); 2]>,
    memory: Span,
}

impl ElementAxis {
    /// Returns the number of positions.
    pub fn len(&self) -> usize {
        match self {
            Self::Span { span, .. } => span.count,
            Self::Points(points) => points.len(),
        }
    }

    /// Returns true if the axis has no positions.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the dimensions of the chunk that belong to the axis.
    pub fn dims(&self) -> &[usize] {
        match self {
            Self::Span { dim, .. } => std::slice::from_ref(dim),
            Self::Points(points) => &points.dims,
        }
    }

    /// Returns the dimension, the positions and the position of the first element in memory, if the axis is a span or
    /// equivalent to one.
    fn as_span(&self) -> Option<(usize, Span, usize)> {
        match self {
            Self::Span { dim, span, place } => Some((*dim, *span, *place)),
            Self::Points(points) => points.as_span().map(|(span, place)| (points.dims[0], span, place)),
        }
    }

    /// Returns the axis as stretches whose elements are evenly spaced and consecutive in memory; `None` if there are more than
    /// `limit` stretches.
    fn stretches(&self, limit: usize) -> Option<Vec<Stretch>> {
        let stretch = |(dim, span, place): (usize, Span, usize)| Stretch {
            region: smallvec![(dim, span)],
            memory: Span { start: place, step: 1, count: span.count },
        };
        let stretches: Vec<_> = match (self, self.as_span()) {
            (Self::Points(points), None) => points.stretches(limit)?,
            (_, span) => span.map(stretch).into_iter().collect(),
        };
        (stretches.len() <= limit).then_some(stretches)
    }
}

impl ElementSet {
    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        if self.is_empty() {
            return 0;
        }
        self.axes.iter().fold(1, |count, axis| count.saturating_mul(axis.len()))
    }

    /// Returns true if the set has no elements.
    pub fn is_empty(&self) -> bool {
        self.axes.iter().any(ElementAxis::is_empty)
    }

    /// Returns the smallest box that contains all elements, in a chunk of `ndim` dimensions.
    pub fn bounding_box(&self, ndim: usize) -> Dims<Span> {
        let mut bounds: Dims<Span> = smallvec![Span::all(0); ndim];
        for axis in &self.axes {
            match axis {
                ElementAxis::Span { dim, span, .. } => {
                    let count = span.count.checked_sub(1).map_or(0, |steps| steps * span.step + 1);
                    bounds[*dim] = Span { start: span.start, step: 1, count };
                }
                ElementAxis::Points(points) => {
                    for (k, &dim) in points.dims.iter().enumerate() {
                        let extent = points.points.extent(k, &points.range);
                        let Some((least, greatest)) = extent else { continue };
                        let start = least - points.origin[k];
                        bounds[dim] = Span { start, step: 1, count: greatest - least + 1 };
                    }
                }
            }
        }
        bounds
    }

    /// Returns the elements with positions relative to a corner, which must not be greater than any position.
    #[must_use]
    pub fn relative_to(&self, corner: &[usize]) -> Self {
        let mut set = self.clone();
        for axis in &mut set.axes {
            match axis {
                ElementAxis::Span { span, .. } if span.count == 0 => {}
                ElementAxis::Span { dim, span, .. } => span.start -= corner[*dim],
                ElementAxis::Points(points) => {
                    for (origin, &dim) in points.origin.iter_mut().zip(&points.dims) {
                        *origin += corner[dim];
                    }
                }
            }
        }
        set
    }

    /// Returns the elements of the chunk with permuted dimensions: new dimension `i` is old dimension `order[i]`. The axes in
    /// memory are unchanged.
    #[must_use]
    pub fn permuted(&self, order: &[usize]) -> Self {
        let mut new: Dims<usize> = smallvec![0; order.len()];
        for (i, &old) in order.iter().enumerate() {
            new[old] = i;
        }
        let mut set = self.clone();
        for axis in &mut set.axes {
            match axis {
                ElementAxis::Span { dim, .. } => *dim = new[*dim],
                ElementAxis::Points(points) => points.dims.iter_mut().for_each(|dim| *dim = new[*dim]),
            }
        }
        set
    }

    /// Returns the elements, with each evenly spaced list of points replaced by a span.
    #[must_use]
    pub fn simplified(mut self) -> Self {
        for axis in &mut self.axes {
            if let (ElementAxis::Points(_), Some((dim, span, place))) = (&*axis, axis.as_span()) {
                *axis = ElementAxis::Span { dim, span, place };
            }
        }
        self
    }

    /// Returns the region of the chunk and the part of memory, if the elements form a box whose axes have the same order in
    /// the chunk and in memory.
    pub fn as_box(&self) -> Option<PlacedBox> {
        let mut found = PlacedBox::default();
        for (n, axis) in self.axes.iter().enumerate() {
            // Each dimension belongs to exactly one axis, so that in ascending order the n-th axis has dimension n.
            let (_, span, place) = axis.as_span().filter(|&(dim, ..)| dim == n)?;
            found.0.push(span);
            found.1.push(Span { start: place, step: 1, count: span.count });
        }
        Some(found)
    }

    /// Returns two sets: these elements, placed in a contiguous array with the [shape](ElementSet::shape) of the set, and the
    /// elements of that array, placed at the original positions in memory.
    pub fn compact(&self) -> (Self, Self) {
        let (mut close, mut back) = (self.clone(), self.clone());
        for (dim, axis) in self.axes.iter().enumerate() {
            match axis {
                ElementAxis::Span { span, place, .. } => {
                    if let ElementAxis::Span { place, .. } = &mut close.axes[dim] {
                        *place = 0;
                    }
                    back.axes[dim] = ElementAxis::Span { dim, span: Span::all(span.count), place: *place };
                }
                ElementAxis::Points(points) => {
                    let (own, theirs) = points.compact(dim);
                    close.axes[dim] = ElementAxis::Points(own);
                    back.axes[dim] = ElementAxis::Points(theirs);
                }
            }
        }
        (close, back)
    }

    /// Returns the number of positions of each axis.
    pub fn shape(&self) -> Vec<usize> {
        self.axes.iter().map(ElementAxis::len).collect()
    }

    /// Returns the elements as boxes. Each box consists of a region of the chunk, with a span for each dimension of the chunk,
    /// and a part of memory, with a span for each axis. Returns `None` if there are more than `limit` boxes, which is detected
    /// without examining all elements.
    ///
    /// The elements of a box have the same order in the chunk and in memory, except that the axes may be in a different order in
    /// memory. If several dimensions share an axis, the box is longer than 1 only along the last of them. If an element occurs in
    /// several boxes, its last value is in the last of them.
    pub fn boxes(&self, limit: usize) -> Option<Vec<PlacedBox>> {
        if self.is_empty() {
            return Some(Vec::new());
        }
        let mut boxes: Vec<PlacedBox> = vec![PlacedBox::default()];
        let ndim = self.axes.iter().map(|axis| axis.dims().len()).sum();
        boxes[0].0 = smallvec![Span::all(0); ndim];
        let mut room = limit;
        for axis in &self.axes {
            let stretches = axis.stretches(room)?;
            room /= stretches.len().max(1);
            boxes = boxes
                .iter()
                .flat_map(|(region, memory)| {
                    stretches.iter().map(|stretch| {
                        let (mut region, mut memory) = (region.clone(), memory.clone());
                        stretch.region.iter().for_each(|&(dim, span)| region[dim] = span);
                        memory.push(stretch.memory);
                        (region, memory)
                    })
                })
                .collect();
        }
        (boxes.len() <= limit).then_some(boxes)
    }
}
