//! The elements of a chunk to read, and their destination in memory.

use super::DecodeOptions;
use crate::selection::partition::{Piece, split_mut};
use crate::selection::{ChunkElements, ElementSet, covers};
use crate::strided::{Dims, Span, View, ViewMut};

/// A region of a chunk and its destination. `out` has the shape of the region.
#[derive(Debug)]
pub struct ReadRegion<'a> {
    /// The positions in the chunk: one span for each dimension.
    pub region: Dims<Span>,
    /// The destination.
    pub out: ViewMut<'a>,
    /// The options of decoding.
    pub options: DecodeOptions,
}

impl<'a> ReadRegion<'a> {
    /// Creates a region that is decoded with the default options.
    pub fn new(region: Dims<Span>, out: ViewMut<'a>) -> Self {
        Self { region, out, options: DecodeOptions::default() }
    }

    /// Returns true if the region is a whole chunk of this shape.
    #[doc(hidden)]
    pub fn covers(&self, shape: &[usize]) -> bool {
        covers(&self.region, shape)
    }

    /// Returns true if the region has no elements.
    #[doc(hidden)]
    pub fn is_empty(&self) -> bool {
        self.region.iter().any(|span| span.count == 0)
    }

    /// Copies the elements out of the decoded chunk.
    pub fn copy_from(&mut self, chunk: &View<'_>) {
        self.out.copy_from(&chunk.region(&self.region), 1);
    }

    /// Returns this region with permuted axes.
    #[must_use]
    #[inline]
    #[doc(hidden)]
    pub fn permuted(self, order: &[usize]) -> Self {
        if order.is_sorted() { self } else { self.reordered(order) }
    }

    fn reordered(self, order: &[usize]) -> Self {
        Self { region: permuted(&self.region, order), out: self.out.permuted(order), ..self }
    }
}

/// Returns a region with permuted axes.
pub(super) fn permuted(region: &[Span], order: &[usize]) -> Dims<Span> {
    order.iter().map(|&axis| region[axis]).collect()
}

/// The elements of a chunk and their destination in memory.
///
/// Other threads may write to other elements of the same memory. A part therefore never exposes its memory as a whole, only its
/// elements.
#[derive(Debug)]
pub struct ReadPart<'a> {
    elements: ChunkElements,
    out: ViewMut<'a>,
    options: DecodeOptions,
}

impl<'a> ReadPart<'a> {
    /// Creates a part from these elements and their destination.
    #[inline]
    pub fn new(elements: ChunkElements, out: ViewMut<'a>, options: DecodeOptions) -> Self {
        Self { elements, out, options }
    }

    /// Reborrows the part: the original can be used again afterwards.
    pub fn reborrow(&mut self) -> ReadPart<'_> {
        ReadPart { elements: self.elements.clone(), out: self.out.reborrow(), options: self.options }
    }

    /// Returns the options of decoding.
    pub fn options(&self) -> DecodeOptions {
        self.options
    }

    /// Returns the elements.
    pub fn elements(&self) -> &ChunkElements {
        &self.elements
    }

    /// Sets every element to the given bytes.
    pub fn fill(&mut self, element: &[u8]) {
        match &self.elements {
            ChunkElements::Box(_) => self.out.fill(element),
            ChunkElements::Set(set) => self.out.fill_set(set, element),
        }
    }

    /// Copies the elements out of the decoded chunk.
    pub fn copy_from(&mut self, chunk: &View<'_>) {
        self.elements.gather(chunk, &mut self.out);
    }

    /// Divides the elements among inner chunks of this shape, in row-major order.
    pub fn divide<E>(
        self,
        shape: &[usize],
        mut visit: impl FnMut(&[usize], ReadPart<'a>) -> Result<(), E>,
    ) -> Result<(), E> {
        let options = self.options;
        match self.elements {
            ChunkElements::Box(region) => split_mut(&region, shape, self.out, |pieces: &[Piece], out| {
                let cell: Dims<usize> = pieces.iter().map(|piece| piece.chunk).collect();
                let region = pieces.iter().map(|piece| piece.span).collect();
                visit(&cell, ReadPart { elements: ChunkElements::Box(region), out, options })
            }),
            ChunkElements::Set(set) => set.split(shape, |cell, set| {
                // SAFETY: no two parts of a set share an element in memory, each handle is used only for the elements of its
                // own set, and the original handle is given up.
                let out = unsafe { self.out.alias() };
                visit(cell, ReadPart { elements: ChunkElements::Set(set), out, options })
            }),
        }
    }

    /// Returns the elements as a region, if they form a box.
    #[expect(clippy::result_large_err, reason = "the caller uses the returned set at once")]
    #[inline]
    pub(super) fn into_region(self) -> Result<ReadRegion<'a>, ReadSet<'a>> {
        let Self { elements, out, options } = self;
        match elements {
            ChunkElements::Box(region) => Ok(ReadRegion { region, out, options }),
            ChunkElements::Set(set) => match set.as_box() {
                Some((region, places)) => Ok(ReadRegion { region, out: out.into_region(&places), options }),
                None => Err(ReadSet { set, out, options }),
            },
        }
    }
}

impl<'a> From<ReadRegion<'a>> for ReadPart<'a> {
    fn from(ReadRegion { region, out, options }: ReadRegion<'a>) -> Self {
        Self { elements: ChunkElements::Box(region), out, options }
    }
}

/// Elements that do not form a box, and their destination in memory.
pub(super) struct ReadSet<'a> {
    set: ElementSet,
    out: ViewMut<'a>,
    pub(super) options: DecodeOptions,
}

impl<'a> ReadSet<'a> {
    /// Returns the bounding box of the elements, in a chunk of `ndim` dimensions.
    pub(super) fn bounding_box(&self, ndim: usize) -> Dims<Span> {
        self.set.bounding_box(ndim)
    }

    /// Copies the elements from `chunk`, which is the part of the chunk that begins at `corner`.
    pub(super) fn gather(&mut self, chunk: &View<'_>, corner: &[usize]) {
        self.out.gather(chunk, &self.set.relative_to(corner));
    }

    /// Returns the part with permuted axes.
    pub(super) fn permuted(self, order: &[usize]) -> ReadPart<'a> {
        let elements = ChunkElements::Set(self.set.permuted(order));
        ReadPart { elements, out: self.out, options: self.options }
    }

    /// Divides the elements into at most `limit` regions, if possible.
    #[expect(clippy::result_large_err, reason = "the caller uses the returned set at once")]
    #[inline]
    pub(super) fn into_regions(self, limit: usize) -> Result<Vec<ReadRegion<'a>>, Self> {
        let Some(boxes) = self.set.boxes(limit) else { return Err(self) };
        // The memory has one axis for each axis of the set, whereas a box has one for each dimension of the chunk.
        let dims: Dims<usize> = self.set.axes.iter().flat_map(|axis| axis.dims()).copied().collect();
        let mut order: Dims<usize> = (0..dims.len()).collect();
        order.sort_by_key(|&axis| dims[axis]);
        let region = |(region, places): (Dims<Span>, Dims<Span>)| {
            // SAFETY: no two boxes of a set share an element in memory, and the set's own handle is given up.
            let mut out = unsafe { self.out.alias() }.into_region(&places);
            let mut at = 0;
            for axis in &self.set.axes {
                let count = axis.dims().len();
                out = match count {
                    0 => out.without_axis(at),
                    _ => (1..count).fold(out, |out, _| out.with_axis(at)),
                };
                at += count;
            }
            ReadRegion { region, out: out.permuted(&order), options: self.options }
        };
        Ok(boxes.into_iter().map(region).collect())
    }
}
