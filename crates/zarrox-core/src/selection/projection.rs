//! The chunks that a selection touches.

use std::sync::Arc;

use super::chunk_elements::PlacedElements;
use super::element_set::{ElementAxis, ElementSet, Grouped, PlacedPoints, PointRange};
use super::indexing::{MaskedPoints, Points, ResolvedAxis, ResolvedSelection, ResolvedSpan};
use super::masked::MaskedChunks;
use super::partition::{Piece, Pieces};
use crate::error::{Error, ErrorKind, Result};
use crate::grid::{ChunkGrid, Run};
use crate::strided::{Dims, Span};

/// The part of a selection in one chunk.
pub struct Projection {
    /// The chunk's indices.
    pub chunk: Dims<u64>,
    /// The elements of the chunk, and their positions in the result.
    pub elements: PlacedElements,
}

/// The chunks that a selection touches. Provides their number and access to each of them, without a list that is longer than the
/// lists of the selection.
pub struct Projections {
    axes: Vec<ProjectedAxis>,
    ndim: usize,
    /// True if every axis is evenly spaced.
    boxes: bool,
    /// The number of chunks.
    pub count: usize,
}

/// One axis of a selection, divided among the chunks.
enum ProjectedAxis {
    Span { dim: usize, pieces: Pieces },
    Points(Box<ProjectedPoints>),
}

/// Points, grouped by chunk.
struct ProjectedPoints {
    dims: Dims<usize>,
    /// The runs of chunks along each of these dimensions.
    runs: Dims<Vec<Run>>,
    chunks: PointChunks,
}

enum PointChunks {
    Listed(Grouped),
    Masked(Arc<MaskedChunks>),
}

impl Projection {
    /// Returns the elements of the chunk placed in a separate contiguous array, and the elements of that array placed in the
    /// result.
    pub fn compact(&self) -> (Self, PlacedElements) {
        let (elements, back) = self.elements.compact();
        (Self { chunk: self.chunk.clone(), elements }, back)
    }
}

impl Projections {
    /// Determines the chunks of this grid that a selection from the array touches.
    ///
    /// # Errors
    /// [`ErrorKind::LimitExceeded`] when the chunks or the elements along a dimension exceed `usize`.
    pub fn new(grid: &ChunkGrid, resolved: &ResolvedSelection) -> Result<Self> {
        let mut axes = Vec::with_capacity(resolved.axes.len());
        for axis in &resolved.axes {
            axes.push(match axis {
                ResolvedAxis::Span(span) => spans(grid, span)?,
                ResolvedAxis::Points(points) => listed(grid, points),
                ResolvedAxis::Mask(masked) => self::masked(grid, masked),
            });
        }
        let count = axes.iter().try_fold(1_usize, |count, axis| count.checked_mul(axis.count()));
        let count = count.ok_or_else(|| too_many("the chunks"))?;
        let boxes = axes.iter().all(|axis| matches!(axis, ProjectedAxis::Span { .. }));
        Ok(Self { axes, ndim: grid.largest_chunk().len(), boxes, count })
    }

    /// Returns the projection with this index, in row-major order of the chunks.
    pub fn get(&self, index: usize) -> Projection {
        if self.boxes { self.get_box(index) } else { self.get_set(index) }
    }

    fn get_box(&self, mut index: usize) -> Projection {
        let mut pieces: Dims<Piece> = Dims::with_capacity(self.axes.len());
        for axis in self.axes.iter().rev() {
            if let ProjectedAxis::Span { pieces: all, .. } = axis {
                pieces.push(all.get(index % all.count()));
                index /= all.count();
            }
        }
        pieces.reverse();
        let region = pieces.iter().map(|piece| piece.span).collect();
        let out = pieces.iter().map(Piece::out_span).collect();
        Projection {
            chunk: pieces.iter().map(|piece| piece.chunk as u64).collect(),
            elements: PlacedElements::new(region, out),
        }
    }

    fn get_set(&self, mut index: usize) -> Projection {
        let mut chunk = Dims::from_elem(0, self.ndim);
        let mut axes = Vec::with_capacity(self.axes.len());
        for axis in self.axes.iter().rev() {
            axes.push(axis.get(index % axis.count(), &mut chunk));
            index /= axis.count();
        }
        axes.reverse();
        Projection { chunk, elements: PlacedElements::of_set(ElementSet { axes }.simplified()) }
    }
}

fn too_many(what: &str) -> Error {
    Error::new(ErrorKind::LimitExceeded, format!("{what} exceed the address space of this machine"))
}

fn spans(grid: &ChunkGrid, span: &ResolvedSpan) -> Result<ProjectedAxis> {
    let length = |n: u64| usize::try_from(n).map_err(|_| too_many("the elements"));
    let positions = Span { start: length(span.start)?, step: length(span.step)?, count: length(span.count)? };
    let pieces = Pieces::new(positions, &grid.runs(span.dim));
    Ok(ProjectedAxis::Span { dim: span.dim, pieces })
}

fn listed(grid: &ChunkGrid, points: &Points) -> ProjectedAxis {
    let runs = runs(grid, &points.dims);
    let grouped = match points.dims.is_empty() {
        true => repeated(points.shape.iter().product()),
        false => PlacedPoints::group(points.coordinates.clone(), &runs),
    };
    projected(&points.dims, runs, PointChunks::Listed(grouped))
}

/// Returns `count` zero-dimensional points, which repeat the elements of the other axes.
fn repeated(count: usize) -> Grouped {
    let points = Arc::new(PlacedPoints::ascending(Dims::new(), (0..count).collect()));
    let chunks = if count > 0 { vec![(Dims::new(), 0..count)] } else { Vec::new() };
    Grouped { points, chunks }
}

fn masked(grid: &ChunkGrid, masked: &MaskedPoints) -> ProjectedAxis {
    let runs = runs(grid, &masked.dims);
    let mask = &masked.mask;
    let chunks = MaskedChunks::new(mask.values().clone(), mask.shape(), &runs);
    projected(&masked.dims, runs, PointChunks::Masked(Arc::new(chunks)))
}

fn projected(dims: &[usize], runs: Dims<Vec<Run>>, chunks: PointChunks) -> ProjectedAxis {
    ProjectedAxis::Points(Box::new(ProjectedPoints { dims: dims.into(), runs, chunks }))
}

fn runs(grid: &ChunkGrid, dims: &[usize]) -> Dims<Vec<Run>> {
    dims.iter().map(|&dim| grid.runs(dim).to_vec()).collect()
}

/// Returns the start of a chunk, from the runs.
fn start(runs: &[Run], chunk: usize) -> usize {
    let chunk = chunk as u64;
    let run = &runs[runs.partition_point(|run| run.first <= chunk) - 1];
    usize::try_from(run.start + (chunk - run.first) * run.length).unwrap_or(usize::MAX)
}

impl ProjectedAxis {
    fn count(&self) -> usize {
        match self {
            Self::Span { pieces, .. } => pieces.count(),
            Self::Points(points) => match &points.chunks {
                PointChunks::Listed(grouped) => grouped.chunks.len(),
                PointChunks::Masked(masked) => masked.count(),
            },
        }
    }

    /// Returns the positions in the `n`-th chunk, whose indices are written to `chunk`.
    fn get(&self, n: usize, chunk: &mut Dims<u64>) -> ElementAxis {
        match self {
            Self::Span { dim, pieces } => {
                let piece = pieces.get(n);
                chunk[*dim] = piece.chunk as u64;
                ElementAxis::Span { dim: *dim, span: piece.span, place: piece.out }
            }
            Self::Points(points) => ElementAxis::Points(points.get(n, chunk)),
        }
    }
}

impl ProjectedPoints {
    fn get(&self, n: usize, chunk: &mut Dims<u64>) -> PointRange {
        let (found, points, range) = match &self.chunks {
            PointChunks::Listed(grouped) => {
                let (found, range) = &grouped.chunks[n];
                (found.as_slice(), grouped.points.clone(), range.clone())
            }
            PointChunks::Masked(masked) => {
                let points = Arc::new(PlacedPoints::of_mask(masked, n));
                let range = 0..points.count();
                (masked.chunk(n), points, range)
            }
        };
        for (&dim, &index) in self.dims.iter().zip(found) {
            chunk[dim] = index as u64;
        }
        let origin = self.runs.iter().zip(found).map(|(runs, &index)| start(runs, index)).collect();
        PointRange { dims: self.dims.clone(), points, range, origin }
    }
}
