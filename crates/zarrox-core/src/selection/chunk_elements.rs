//! Elements of one chunk, whether they form a box or not, and where they are in memory.

use super::element_set::ElementSet;
use crate::strided::{Dims, Span, View, ViewMut};

/// Elements of a chunk: a box of them, or any set.
#[derive(Debug)]
pub enum ChunkElements {
    /// A span along each dimension of the chunk. Memory for these elements has the spans' counts as its shape.
    Box(Dims<Span>),
    /// Any others. Memory for these elements has an axis for each of the set's, which say the place of each element.
    Set(ElementSet),
}

impl Clone for ChunkElements {
    #[inline]
    fn clone(&self) -> Self {
        match self {
            // A copy of the memory is faster than a clone of each span.
            Self::Box(region) => Self::Box(Dims::from_slice(region)),
            Self::Set(set) => Self::Set(set.clone()),
        }
    }
}

impl ChunkElements {
    /// All elements of a chunk of this shape.
    pub fn whole(shape: &[usize]) -> Self {
        Self::Box(shape.iter().map(|&length| Span::all(length)).collect())
    }

    /// The number of elements.
    #[inline]
    pub fn len(&self) -> usize {
        match self {
            Self::Box(region) => region.iter().map(|span| span.count).product(),
            Self::Set(set) => set.len(),
        }
    }

    /// Returns true if there are no elements.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Box(region) => region.iter().any(|span| span.count == 0),
            Self::Set(set) => set.is_empty(),
        }
    }

    /// Returns true if these are all elements of a chunk of this shape.
    pub fn covers(&self, shape: &[usize]) -> bool {
        matches!(self, Self::Box(region) if covers(region, shape))
    }

    /// The smallest box that has all elements; the chunk has this many dimensions.
    pub fn bounding_box(&self, ndim: usize) -> Dims<Span> {
        match self {
            Self::Box(region) => region.clone(),
            Self::Set(set) => set.bounding_box(ndim),
        }
    }

    /// Copies the elements out of the chunk into their memory.
    pub fn gather(&self, chunk: &View<'_>, memory: &mut ViewMut<'_>) {
        match self {
            Self::Box(region) => memory.copy_from(&chunk.region(region), 1),
            Self::Set(set) => memory.gather(chunk, set),
        }
    }

    /// Copies the elements out of their memory into the chunk. Where an element occurs more than once, the last one is kept.
    pub fn scatter(&self, memory: &View<'_>, mut chunk: ViewMut<'_>) {
        match self {
            Self::Box(region) => chunk.into_region(region).copy_from(memory, 1),
            Self::Set(set) => chunk.scatter(set, memory),
        }
    }

    /// Returns true if the chunk has just the elements that are in memory.
    pub fn are_equal(&self, chunk: &View<'_>, memory: &View<'_>) -> bool {
        match self {
            Self::Box(region) => chunk.region(region).equals(memory),
            Self::Set(set) => chunk.set_equals(set, memory),
        }
    }
}

/// Returns true if a region is all of a chunk of this shape.
pub fn covers(region: &[Span], shape: &[usize]) -> bool {
    region.iter().zip(shape).all(|(span, &length)| span.covers(length))
}

/// Elements of a chunk, and their places in an array that also holds elements of other chunks.
#[derive(Debug, Clone)]
pub struct PlacedElements {
    elements: ChunkElements,
    /// The region of the array that a box is; of a set, it is all, since the set says the places.
    places: Option<Dims<Span>>,
}

impl PlacedElements {
    /// A region of the chunk that belongs to a region of the array.
    pub fn new(region: Dims<Span>, places: Dims<Span>) -> Self {
        Self { elements: ChunkElements::Box(region), places: Some(places) }
    }

    /// The elements of a set, as a box if they form one.
    pub fn of_set(set: ElementSet) -> Self {
        match set.as_box() {
            Some((region, places)) => Self::new(region, places),
            None => Self { elements: ChunkElements::Set(set), places: None },
        }
    }

    /// The elements, whose memory is [`PlacedElements::memory`] or [`PlacedElements::memory_mut`].
    #[inline]
    pub fn elements(&self) -> &ChunkElements {
        &self.elements
    }

    /// The elements, whose memory is [`PlacedElements::memory`] or [`PlacedElements::memory_mut`].
    #[inline]
    pub fn into_elements(self) -> ChunkElements {
        self.elements
    }

    /// The region of the array, if the elements form one.
    pub fn places(&self) -> Option<&[Span]> {
        self.places.as_deref()
    }

    /// The part of the array that is the elements' memory.
    #[inline]
    pub fn memory<'a>(&self, array: &View<'a>) -> View<'a> {
        match &self.places {
            Some(places) => array.region(places),
            None => array.clone(),
        }
    }

    /// The part of the array that is the elements' memory.
    #[inline]
    pub fn memory_mut<'a>(&self, array: ViewMut<'a>) -> ViewMut<'a> {
        match &self.places {
            Some(places) => array.into_region(places),
            None => array,
        }
    }

    /// Returns the elements without gaps, for an array of their own, and the way from that array to the places here.
    pub fn compact(&self) -> (Self, Self) {
        match (&self.elements, &self.places) {
            (ChunkElements::Box(region), places) => {
                let all: Dims<Span> = region.iter().map(|span| Span::all(span.count)).collect();
                let back = Self { elements: ChunkElements::Box(all.clone()), places: places.clone() };
                (Self::new(region.clone(), all), back)
            }
            (ChunkElements::Set(set), places) => {
                let (close, back) = set.compact();
                let placed = |set, places| Self { elements: ChunkElements::Set(set), places };
                (placed(close, None), placed(back, places.clone()))
            }
        }
    }

    /// The shape of an array that has these elements without gaps.
    pub fn shape(&self) -> Vec<usize> {
        match &self.elements {
            ChunkElements::Box(region) => region.iter().map(|span| span.count).collect(),
            ChunkElements::Set(set) => set.shape(),
        }
    }

    /// Copies the elements out of the chunk to their places in the array.
    pub fn gather(&self, chunk: &View<'_>, array: ViewMut<'_>) {
        self.elements.gather(chunk, &mut self.memory_mut(array));
    }
}
