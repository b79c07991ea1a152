//! The elements of one chunk that an operation reads or writes, and their positions in memory.

use super::element_set::ElementSet;
use crate::strided::{Dims, Span, View, ViewMut};

/// Elements of a chunk: a box, or an arbitrary set.
#[derive(Debug)]
pub enum ChunkElements {
    /// A span along each dimension of the chunk. The memory of these elements has the shape of the box.
    Box(Dims<Span>),
    /// Elements that need not form a box. Their memory has an axis for each axis of the set. The set contains the position of
    /// each element in memory.
    Set(ElementSet),
}

impl Clone for ChunkElements {
    #[inline]
    fn clone(&self) -> Self {
        match self {
            // Copying the memory is faster than cloning each span.
            Self::Box(region) => Self::Box(Dims::from_slice(region)),
            Self::Set(set) => Self::Set(set.clone()),
        }
    }
}

impl ChunkElements {
    /// Returns all elements of a chunk of this shape.
    pub fn whole(shape: &[usize]) -> Self {
        Self::Box(shape.iter().map(|&length| Span::all(length)).collect())
    }

    /// Returns the number of elements.
    #[inline]
    pub fn len(&self) -> usize {
        match self {
            Self::Box(region) => region.iter().map(|span| span.count).product(),
            Self::Set(set) => set.len(),
        }
    }

    /// Returns true if the set has no elements.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Box(region) => region.iter().any(|span| span.count == 0),
            Self::Set(set) => set.is_empty(),
        }
    }

    /// Returns true if the set contains all elements of a chunk of this shape.
    pub fn covers(&self, shape: &[usize]) -> bool {
        matches!(self, Self::Box(region) if covers(region, shape))
    }

    /// Returns the bounding box of the elements, in a chunk of `ndim` dimensions.
    pub fn bounding_box(&self, ndim: usize) -> Dims<Span> {
        match self {
            Self::Box(region) => region.clone(),
            Self::Set(set) => set.bounding_box(ndim),
        }
    }

    /// Copies the elements from the chunk to their memory.
    pub fn gather(&self, chunk: &View<'_>, memory: &mut ViewMut<'_>) {
        match self {
            Self::Box(region) => memory.copy_from(&chunk.region(region), 1),
            Self::Set(set) => memory.gather(chunk, set),
        }
    }

    /// Copies the elements from their memory to the chunk. If an element occurs several times, the last value is kept.
    pub fn scatter(&self, memory: &View<'_>, mut chunk: ViewMut<'_>) {
        match self {
            Self::Box(region) => chunk.into_region(region).copy_from(memory, 1),
            Self::Set(set) => chunk.scatter(set, memory),
        }
    }

    /// Returns true if the elements of the chunk equal the elements in memory.
    pub fn are_equal(&self, chunk: &View<'_>, memory: &View<'_>) -> bool {
        match self {
            Self::Box(region) => chunk.region(region).equals(memory),
            Self::Set(set) => chunk.set_equals(set, memory),
        }
    }
}

/// Returns true if a region is a whole chunk of this shape.
pub fn covers(region: &[Span], shape: &[usize]) -> bool {
    region.iter().zip(shape).all(|(span, &length)| span.covers(length))
}

/// Elements of a chunk with their positions in an array that also contains elements of other chunks.
#[derive(Debug, Clone)]
pub struct PlacedElements {
    elements: ChunkElements,
    /// The region of the array for a box; `None` for a set, which itself contains the positions in the array.
    places: Option<Dims<Span>>,
}

impl PlacedElements {
    /// Creates elements from a region of the chunk and the corresponding region of the array.
    pub fn new(region: Dims<Span>, places: Dims<Span>) -> Self {
        Self { elements: ChunkElements::Box(region), places: Some(places) }
    }

    /// Creates the elements of a set, as a box if they form a box.
    pub fn of_set(set: ElementSet) -> Self {
        match set.as_box() {
            Some((region, places)) => Self::new(region, places),
            None => Self { elements: ChunkElements::Set(set), places: None },
        }
    }

    /// Returns the elements, whose memory is [`PlacedElements::memory`] or [`PlacedElements::memory_mut`].
    #[inline]
    pub fn elements(&self) -> &ChunkElements {
        &self.elements
    }

    /// Returns the elements, whose memory is [`PlacedElements::memory`] or [`PlacedElements::memory_mut`].
    #[inline]
    pub fn into_elements(self) -> ChunkElements {
        self.elements
    }

    /// Returns the region of the array, if the elements form a box.
    pub fn places(&self) -> Option<&[Span]> {
        self.places.as_deref()
    }

    /// Returns the part of the array that serves as the memory of the elements.
    #[inline]
    pub fn memory<'a>(&self, array: &View<'a>) -> View<'a> {
        match &self.places {
            Some(places) => array.region(places),
            None => array.clone(),
        }
    }

    /// Returns the part of the array that serves as the memory of the elements.
    #[inline]
    pub fn memory_mut<'a>(&self, array: ViewMut<'a>) -> ViewMut<'a> {
        match &self.places {
            Some(places) => array.into_region(places),
            None => array,
        }
    }

    /// Returns the elements placed in a separate contiguous array, and the elements of that array placed at the original
    /// positions.
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

    /// Returns the shape of a contiguous array of these elements.
    pub fn shape(&self) -> Vec<usize> {
        match &self.elements {
            ChunkElements::Box(region) => region.iter().map(|span| span.count).collect(),
            ChunkElements::Set(set) => set.shape(),
        }
    }

    /// Copies the elements from the chunk to their positions in the array.
    pub fn gather(&self, chunk: &View<'_>, array: ViewMut<'_>) {
        self.elements.gather(chunk, &mut self.memory_mut(array));
    }
}
