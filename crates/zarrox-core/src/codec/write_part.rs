//! The elements of a chunk to write, and their new values.

use std::convert::Infallible;

use super::read_part::permuted;
use crate::selection::partition::{Piece, piece_in};
use crate::selection::{ChunkElements, ElementSet, PlacedElements, covers};
use crate::strided::{Dims, Span, View, ViewMut};

/// Elements of a chunk, and the memory that holds new values for them, or for some of their fields.
#[derive(Debug, Clone)]
pub struct WritePart<'a> {
    elements: ChunkElements,
    source: View<'a>,
    /// The parts of each element to write, if only some fields of a structured element are written.
    fields: Option<Dims<FieldPlace>>,
}

/// A part of each element to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldPlace {
    /// The offset in the new elements, in bytes.
    pub source: usize,
    /// The offset in the stored elements, in bytes.
    pub target: usize,
    /// The length in bytes.
    pub size: usize,
}

impl<'a> WritePart<'a> {
    /// Creates a part from these elements and their new values. If an element occurs several times, the last value is written.
    pub fn new(elements: ChunkElements, source: View<'a>) -> Self {
        Self { elements, source, fields: None }
    }

    /// Creates a part from a region, which has a span for each dimension of the chunk. `source` has the shape of the region.
    pub fn of_region(region: Dims<Span>, source: View<'a>) -> Self {
        Self::new(ChunkElements::Box(region), source)
    }

    /// Restricts the part to these fields of the elements.
    #[must_use]
    pub fn with_fields(self, fields: &[FieldPlace]) -> Self {
        Self { fields: Some(fields.into()), ..self }
    }

    /// Returns the new values of the elements. The part may write only some of their fields.
    pub fn source(&self) -> &View<'a> {
        &self.source
    }

    /// Returns the region, if the elements form a box and all their fields are written.
    pub fn region(&self) -> Option<&[Span]> {
        match &self.elements {
            ChunkElements::Box(region) if self.fields.is_none() => Some(region),
            _ => None,
        }
    }

    /// Returns true if the part is a whole chunk of this shape.
    pub fn covers(&self, shape: &[usize]) -> bool {
        self.region().is_some_and(|region| covers(region, shape))
    }

    /// Returns true if any value in the chunk differs from its new value.
    pub fn changes(&self, chunk: &View<'_>) -> bool {
        let Some(fields) = &self.fields else { return !self.elements.are_equal(chunk, &self.source) };
        fields.iter().any(|field| {
            let source = self.source.clone().field(field.source, field.size);
            !self.elements.are_equal(&chunk.clone().field(field.target, field.size), &source)
        })
    }

    /// Copies the new values into a chunk.
    pub fn write_to(&self, mut chunk: ViewMut<'_>) {
        let Some(fields) = &self.fields else { return self.elements.scatter(&self.source, chunk) };
        for field in fields {
            let source = self.source.clone().field(field.source, field.size);
            self.elements.scatter(&source, chunk.reborrow().into_field(field.target, field.size));
        }
    }

    /// Returns the part with permuted axes.
    #[must_use]
    pub fn permuted(&self, order: &[usize]) -> Self {
        let (elements, source) = match &self.elements {
            ChunkElements::Box(region) => {
                (ChunkElements::Box(permuted(region, order)), self.source.clone().permuted(order))
            }
            ChunkElements::Set(set) => (ChunkElements::Set(set.permuted(order)), self.source.clone()),
        };
        Self { elements, source, fields: self.fields.clone() }
    }

    /// Divides the part among inner chunks of this shape.
    pub fn divided(&self, shape: &'a [usize]) -> DividedPart<'_, 'a> {
        let mut cells = Vec::new();
        if let ChunkElements::Set(set) = &self.elements {
            let Ok(()) = set.split(shape, |cell, set| {
                cells.push((cell.into(), set));
                Ok::<_, Infallible>(())
            });
        }
        DividedPart { part: self, shape, cells }
    }

    /// Returns a part with the same fields as this part, but with other elements and values.
    fn with(&self, elements: ChunkElements, source: View<'a>) -> Self {
        Self { elements, source, fields: self.fields.clone() }
    }
}

/// A part that is divided among inner chunks.
#[derive(Debug)]
pub struct DividedPart<'p, 'a> {
    part: &'p WritePart<'a>,
    shape: &'p [usize],
    /// The inner chunks that a set of elements touches, in row-major order.
    cells: Vec<(Dims<usize>, ElementSet)>,
}

impl<'a> DividedPart<'_, 'a> {
    /// Returns the part that lies in one inner chunk, if there is one.
    pub fn within(&self, cell: &[usize]) -> Option<WritePart<'a>> {
        let source = &self.part.source;
        match &self.part.elements {
            ChunkElements::Box(region) => {
                let spans = region.iter().zip(self.shape).zip(cell);
                let pieces = spans.map(|((&span, &length), &cell)| piece_in(span, length, cell));
                let pieces: Dims<Piece> = pieces.collect::<Option<_>>()?;
                let places: Dims<Span> = pieces.iter().map(Piece::out_span).collect();
                let region = pieces.iter().map(|piece| piece.span).collect();
                Some(self.part.with(ChunkElements::Box(region), source.region(&places)))
            }
            ChunkElements::Set(_) => {
                let found = self.cells.binary_search_by(|(own, _)| own.as_slice().cmp(cell)).ok()?;
                let inside = PlacedElements::of_set(self.cells[found].1.clone());
                let source = inside.memory(source);
                Some(self.part.with(inside.into_elements(), source))
            }
        }
    }
}
