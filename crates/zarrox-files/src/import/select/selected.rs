//! [`Selected`]: a part of an array, whose chunks are copied unchanged where they are aligned.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use zarrox::stores::Bytes;
use zarrox::{Array, DimSelection, DynArray, Result};

use super::range::Span;
use crate::chunks::{Chunks, Elements, EncodedOnRead, VisitChunk, each_position};
use crate::import::concat::Stored;
use crate::import::concat::block::Block;
use crate::input::corrupt;

/// A part of an array.
#[derive(Debug)]
pub(super) struct Selected {
    pub(super) array: Array,
    spans: Vec<Span>,
    /// The chunk shape of the array.
    chunks: Vec<u64>,
    pub(super) chunk_shape: Vec<u64>,
    grid: Vec<u64>,
    stored: Stored,
    /// True if the chunk boundaries of the part coincide with chunk boundaries of the array.
    is_aligned: bool,
}

impl Selected {
    /// Creates the part of an array within the given ranges.
    pub(super) fn new(array: Array, spans: Vec<Span>) -> Result<Self> {
        let chunks = array.chunk_grid().largest_chunk().to_vec();
        let is_whole = spans.iter().zip(array.shape()).all(|(span, &length)| *span == Span::whole(length));
        let shorter =
            |(span, &chunk): (&Span, &u64)| if is_whole { chunk } else { chunk.min(span.length.max(1)) };
        let chunk_shape: Vec<u64> = spans.iter().zip(&chunks).map(shorter).collect();
        let aligned =
            |(span, chunk): (&Span, &u64)| span.step == 1 && span.start.is_multiple_of((*chunk).max(1));
        let is_aligned = chunk_shape == chunks && spans.iter().zip(&chunks).all(aligned);
        let grid = spans
            .iter()
            .zip(&chunk_shape)
            .map(|(span, chunk)| span.length.div_ceil((*chunk).max(1)))
            .collect();
        let stored = Stored::of(&array)?;
        Ok(Self { array, spans, chunks, chunk_shape, grid, stored, is_aligned })
    }

    /// Returns the shape of the part.
    pub(super) fn shape(&self) -> Vec<u64> {
        self.spans.iter().map(|span| span.length).collect()
    }

    /// Returns the index of the stored chunk that is identical to a chunk of the part, if there is one.
    fn as_stored(&self, chunk: &[u64]) -> Option<Vec<u64>> {
        if !self.is_aligned {
            return None;
        }
        let along = |(dim, &index): (usize, &u64)| {
            let (span, length) = (self.spans.get(dim)?, (*self.chunks.get(dim)?).max(1));
            // A chunk that is only partly selected would still contain elements that are not selected.
            let is_complete = (index + 1).checked_mul(length)? <= span.length
                || span.start + span.length == *self.array.shape().get(dim)?;
            is_complete.then_some(span.start / length + index)
        };
        chunk.iter().enumerate().map(along).collect()
    }

    /// Returns the region of a chunk, as index ranges of the part.
    fn region_of(&self, chunk: &[u64]) -> Vec<(u64, u64)> {
        let range = |((&index, &length), span): ((&u64, &u64), &Span)| {
            let start = index.saturating_mul(length).min(span.length);
            (start, start.saturating_add(length).min(span.length))
        };
        chunk.iter().zip(&self.chunk_shape).zip(&self.spans).map(range).collect()
    }

    fn has_any(&self, chunk: &[u64]) -> bool {
        if self.stored.is_all() {
            return true;
        }
        let of_array = |(((begin, end), span), length): (((u64, u64), &Span), &u64)| {
            let (first, last) =
                (span.start + begin * span.step, span.start + end.saturating_sub(1) * span.step);
            (first / length, last / length + 1)
        };
        let region = self.region_of(chunk).into_iter().zip(&self.spans).zip(&self.chunks);
        let region: Vec<(u64, u64)> = region.map(of_array).collect();
        let found = each_in(&region, &mut |chunk| match self.stored.size(&chunk) {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        });
        found.is_break()
    }

    /// Returns the chunks of the part that overlap a chunk of the array.
    fn chunks_with(&self, chunk: &[u64]) -> Vec<(u64, u64)> {
        let along = |(((&index, &length), span), &own): (((&u64, &u64), &Span), &u64)| {
            let (begin, end) = (index.saturating_mul(length), (index + 1).saturating_mul(length));
            let first = begin.saturating_sub(span.start).div_ceil(span.step).min(span.length);
            let last = end.saturating_sub(span.start).div_ceil(span.step).min(span.length);
            if first < last { (first / own.max(1), last.div_ceil(own.max(1))) } else { (0, 0) }
        };
        chunk.iter().zip(&self.chunks).zip(&self.spans).zip(&self.chunk_shape).map(along).collect()
    }
}

impl Elements for Arc<Selected> {
    fn grid(&self) -> &[u64] {
        &self.grid
    }

    fn chunk_shape(&self) -> Vec<u64> {
        self.chunk_shape.clone()
    }

    fn is_stored(&self, chunk: &[u64]) -> bool {
        match self.as_stored(chunk) {
            Some(chunk) => self.stored.size(&chunk).is_some(),
            None => self.has_any(chunk),
        }
    }

    fn visit(&self, visit: &mut dyn FnMut(&[u64]) -> ControlFlow<()>) -> ControlFlow<()> {
        if self.stored.is_all() {
            return each_position(&self.grid, visit);
        }
        let mut found = BTreeSet::new();
        let _ = self.stored.each(&mut |chunk, _| {
            each_in(&self.chunks_with(chunk), &mut |chunk| {
                found.insert(chunk);
                ControlFlow::Continue(())
            })
        });
        found.iter().try_for_each(|chunk| visit(chunk))
    }

    fn read(&self, chunk: &[u64]) -> Result<DynArray> {
        let region = self.region_of(chunk);
        let too_large = || corrupt("an index is too large");
        let mut selection = Vec::new();
        for (&(begin, end), span) in region.iter().zip(&self.spans) {
            let at = |index: u64| i64::try_from(span.start + index * span.step).map_err(|_| too_large());
            let step = i64::try_from(span.step).map_err(|_| too_large())?;
            let stop = if end > begin { at(end - 1)? + 1 } else { at(begin)? };
            selection.push(DimSelection::Slice { start: Some(at(begin)?), stop: Some(stop), step });
        }
        let part = self.array.read::<DynArray>(selection)?;
        let mut block =
            Block::new(self.array.data_type(), &self.chunk_shape, self.array.fill_bytes().as_bytes())?;
        let lengths: Vec<u64> = region.iter().map(|(begin, end)| end - begin).collect();
        block.put(&vec![0; lengths.len()], &lengths, &part)?;
        block.finish()
    }
}

/// The chunks of a part of an array, either unchanged chunks of the array or chunks encoded on each read.
#[derive(Debug)]
pub(super) struct SelectedChunks {
    pub(super) selected: Arc<Selected>,
    pub(super) encoded: EncodedOnRead,
}

impl Chunks for SelectedChunks {
    fn ndim(&self) -> usize {
        self.selected.spans.len()
    }

    fn any(&self) -> bool {
        self.encoded.any()
    }

    fn size(&self, chunk: &[u64]) -> Option<u64> {
        let is_inside = chunk.len() == self.selected.grid.len()
            && chunk.iter().zip(&self.selected.grid).all(|(index, count)| index < count);
        if !is_inside {
            return None;
        }
        match self.selected.as_stored(chunk) {
            Some(chunk) => self.selected.stored.size(&chunk),
            None => self.encoded.size(chunk),
        }
    }

    fn visit(&self, visit: VisitChunk<'_>) -> ControlFlow<()> {
        self.selected.visit(&mut |chunk| match self.size(chunk) {
            Some(size) => visit(chunk, size),
            None => ControlFlow::Continue(()),
        })
    }

    fn read(&self, chunk: &[u64]) -> Result<Option<Bytes>> {
        if self.size(chunk).is_none() {
            return Ok(None);
        }
        match self.selected.as_stored(chunk) {
            Some(chunk) => self.selected.array.raw().read(&chunk),
            None => self.encoded.read(chunk),
        }
    }
}

/// Visits all positions in a region, which is given as a range along each dimension.
pub(super) fn each_in(
    region: &[(u64, u64)],
    visit: &mut dyn FnMut(Vec<u64>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let counts: Vec<u64> = region.iter().map(|(begin, end)| end.saturating_sub(*begin)).collect();
    crate::chunks::each_position(&counts, &mut |at| {
        visit(at.iter().zip(region).map(|(at, (begin, _))| at + begin).collect())
    })
}
