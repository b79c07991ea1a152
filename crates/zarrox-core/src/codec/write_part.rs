//! New elements for a part of a chunk.

use std::convert::Infallible;

use super::fetch::{covers, permuted};
use crate::selection::ElementSet;
use crate::selection::partition::{Piece, piece_in};
use crate::strided::{Dims, Span, View, ViewMut};

/// Part of a chunk, and where its new elements, or some of their fields, come from.
#[derive(Debug, Clone)]
pub struct WritePart<'a> {
    positions: Positions,
    source: View<'a>,
    /// Which parts of each element are written, when only some fields of a structure are.
    fields: Option<Dims<FieldPlace>>,
}

/// Which elements of the chunk are new.
#[derive(Debug, Clone)]
enum Positions {
    /// A span along each dimension; the shape of the source is their counts.
    Box(Dims<Span>),
    /// Any; they say themselves where in the source each is.
    Set(ElementSet),
}

impl Positions {
    /// A set as the box that it may be, and what of the source belongs to it then.
    fn of_set(set: ElementSet, source: View<'_>) -> (Self, View<'_>) {
        match set.as_box() {
            Some((region, places)) => (Self::Box(region), source.region(&places)),
            None => (Self::Set(set), source),
        }
    }
}

/// A part of each element that is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldPlace {
    /// Where it is in the new elements, in bytes.
    pub source: usize,
    /// Where it belongs in the stored ones, in bytes.
    pub target: usize,
    /// How long it is, in bytes.
    pub size: usize,
}

impl<'a> WritePart<'a> {
    /// Whole elements for a region, which has a span for each dimension of the chunk: the shape of `source` is their counts.
    pub fn new(region: Dims<Span>, source: View<'a>) -> Self {
        Self { positions: Positions::Box(region), source, fields: None }
    }

    /// Whole elements for any positions, out of a source that has an axis for each of the set's. Where a position is there more
    /// than once, the last one is what is written.
    pub fn of_set(set: ElementSet, source: View<'a>) -> Self {
        let (positions, source) = Positions::of_set(set, source);
        Self { positions, source, fields: None }
    }

    /// Only these fields of the elements.
    #[must_use]
    pub fn with_fields(self, fields: &[FieldPlace]) -> Self {
        Self { fields: Some(fields.into()), ..self }
    }

    /// The elements, of which the part may have only some.
    pub fn source(&self) -> &View<'a> {
        &self.source
    }

    /// The positions and whole elements for them, where they form a box.
    pub fn region(&self) -> Option<&[Span]> {
        match &self.positions {
            Positions::Box(region) if self.fields.is_none() => Some(region),
            _ => None,
        }
    }

    /// Whether this is the whole of a chunk of this shape.
    pub fn covers(&self, shape: &[usize]) -> bool {
        self.region().is_some_and(|region| covers(region, shape))
    }

    /// Whether a chunk has other elements, or fields, than the new ones.
    pub fn changes(&self, chunk: &View<'_>) -> bool {
        let Some(fields) = &self.fields else { return !self.is_in(chunk, &self.source) };
        fields.iter().any(|field| {
            let source = self.source.clone().field(field.source, field.size);
            !self.is_in(&chunk.clone().field(field.target, field.size), &source)
        })
    }

    fn is_in(&self, chunk: &View<'_>, source: &View<'_>) -> bool {
        match &self.positions {
            Positions::Box(region) => chunk.region(region).equals(source),
            Positions::Set(set) => chunk.set_equals(set, source),
        }
    }

    /// Puts the new elements, or their fields, into a chunk.
    pub fn write_to(&self, mut chunk: ViewMut<'_>) {
        let Some(fields) = &self.fields else { return self.put(chunk, &self.source) };
        for field in fields {
            let source = self.source.clone().field(field.source, field.size);
            self.put(chunk.reborrow().into_field(field.target, field.size), &source);
        }
    }

    fn put(&self, mut chunk: ViewMut<'_>, source: &View<'_>) {
        match &self.positions {
            Positions::Box(region) => chunk.into_region(region).copy_from(source, 1),
            Positions::Set(set) => chunk.scatter(set, source),
        }
    }

    /// The same part of a chunk whose axes are in another order.
    #[must_use]
    pub fn permuted(&self, order: &[usize]) -> Self {
        let (positions, source) = match &self.positions {
            Positions::Box(region) => {
                (Positions::Box(permuted(region, order)), self.source.clone().permuted(order))
            }
            Positions::Set(set) => (Positions::Set(set.permuted(order)), self.source.clone()),
        };
        Self { positions, source, fields: self.fields.clone() }
    }

    /// The part divided among the inner chunks of a chunk, which are of this shape.
    pub fn divided(&self, shape: &'a [usize]) -> DividedPart<'_, 'a> {
        let mut cells = Vec::new();
        if let Positions::Set(set) = &self.positions {
            let Ok(()) = set.split(shape, |cell, set| {
                cells.push((cell.into(), set));
                Ok::<_, Infallible>(())
            });
        }
        DividedPart { part: self, shape, cells }
    }

    /// The same elements, or fields, for other positions.
    fn with(&self, positions: Positions, source: View<'a>) -> Self {
        Self { positions, source, fields: self.fields.clone() }
    }
}

/// A part divided among inner chunks.
#[derive(Debug)]
pub struct DividedPart<'p, 'a> {
    part: &'p WritePart<'a>,
    shape: &'p [usize],
    /// Of a set, the inner chunks that it touches, in row-major order.
    cells: Vec<(Dims<usize>, ElementSet)>,
}

impl<'a> DividedPart<'_, 'a> {
    /// The part of one inner chunk, unless it is left alone.
    pub fn within(&self, cell: &[usize]) -> Option<WritePart<'a>> {
        let source = &self.part.source;
        match &self.part.positions {
            Positions::Box(region) => {
                let spans = region.iter().zip(self.shape).zip(cell);
                let pieces = spans.map(|((&span, &length), &cell)| piece_in(span, length, cell));
                let pieces: Dims<Piece> = pieces.collect::<Option<_>>()?;
                let places: Dims<Span> = pieces.iter().map(Piece::out_span).collect();
                let region = pieces.iter().map(|piece| piece.span).collect();
                Some(self.part.with(Positions::Box(region), source.region(&places)))
            }
            Positions::Set(_) => {
                let found = self.cells.binary_search_by(|(own, _)| own.as_slice().cmp(cell)).ok()?;
                let (positions, source) = Positions::of_set(self.cells[found].1.clone(), source.clone());
                Some(self.part.with(positions, source))
            }
        }
    }
}
