//! Where a selection meets the chunks.

use std::sync::Arc;

use zarrox_core::Result;
use zarrox_core::element_set::{ElementAxis, ElementSet, Grouped, PlacedPoints, PointRange};
use zarrox_core::grid::Run;
use zarrox_core::indexing::{MaskedPoints, Points, Resolved, ResolvedAxis, ResolvedSpan};
use zarrox_core::masked::MaskedChunks;
use zarrox_core::partition::{Piece, Pieces};
use zarrox_core::strided::{Dims, Span, View, ViewMut};

use super::Array;
use crate::pool::too_many;

/// Where a selection meets one chunk.
pub(super) struct Projection {
    /// The chunk's indices.
    pub(super) chunk: Dims<u64>,
    /// Which elements of the chunk, and where each is in the result.
    pub(super) elements: Elements,
}

/// Elements of a chunk, and their places in the result, which has an axis for each of the selection's.
#[expect(clippy::large_enum_variant, reason = "boxes are the ordinary case, and cost no allocation")]
pub(super) enum Elements {
    /// A box.
    Box {
        /// The positions inside the chunk.
        region: Dims<Span>,
        /// The positions in the result.
        out: Dims<Span>,
    },
    /// Any other.
    Set(ElementSet),
}

/// All chunks that a selection meets: their number and any one of them, without a list of more than was selected by lists.
pub(super) struct Projections {
    axes: Vec<ProjectedAxis>,
    ndim: usize,
    /// True if every axis is evenly spaced.
    boxes: bool,
    pub(super) count: usize,
}

/// One axis of a selection, divided among the chunks.
enum ProjectedAxis {
    Span { dim: usize, pieces: Pieces },
    Points(Box<ProjectedPoints>),
}

/// Points, and the chunks that they lie in.
struct ProjectedPoints {
    dims: Dims<usize>,
    /// Of each of these dimensions.
    runs: Dims<Vec<Run>>,
    chunks: PointChunks,
}

enum PointChunks {
    Listed(Grouped),
    Masked(Arc<MaskedChunks>),
}

/// Where elements that were put together without gaps belong in the result.
pub(super) enum Back {
    Box(Dims<Span>),
    Set(ElementSet),
}

impl Elements {
    /// Their number.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Box { region, .. } => region.iter().map(|span| span.count).product(),
            Self::Set(set) => set.len(),
        }
    }
}

impl Projection {
    /// Returns the elements of the chunk without gaps, for memory of their own; and where they belong.
    pub(super) fn compact(&self) -> (Self, Back) {
        let (elements, back) = match &self.elements {
            Elements::Box { region, out } => {
                let close = region.iter().map(|span| Span::all(span.count)).collect();
                (Elements::Box { region: region.clone(), out: close }, Back::Box(out.clone()))
            }
            Elements::Set(set) => {
                let (close, back) = set.compact();
                (Elements::Set(close), Back::Set(back))
            }
        };
        (Self { chunk: self.chunk.clone(), elements }, back)
    }
}

impl Back {
    /// The shape of the elements without gaps.
    pub(super) fn shape(&self) -> Vec<usize> {
        match self {
            Self::Box(out) => out.iter().map(|span| span.count).collect(),
            Self::Set(set) => set.shape(),
        }
    }

    /// Puts elements where they belong.
    pub(super) fn put(&self, elements: &View<'_>, mut out: ViewMut<'_>) {
        match self {
            Self::Box(places) => out.into_region(places).copy_from(elements, 1),
            Self::Set(set) => out.gather(elements, set),
        }
    }
}

impl Projections {
    pub(super) fn new(array: &Array, resolved: &Resolved) -> Result<Self> {
        let axes = resolved.axes.iter().map(|axis| match axis {
            ResolvedAxis::Span(span) => spans(array, span),
            ResolvedAxis::Points(points) => Ok(listed(array, points)),
            ResolvedAxis::Mask(masked) => Ok(self::masked(array, masked)),
        });
        let axes: Vec<ProjectedAxis> = axes.collect::<Result<_>>()?;
        let count = axes.iter().try_fold(1_usize, |count, axis| count.checked_mul(axis.count()));
        let count = count.ok_or_else(|| too_many("the chunks"))?;
        let boxes = axes.iter().all(|axis| matches!(axis, ProjectedAxis::Span { .. }));
        Ok(Self { axes, ndim: array.ndim(), boxes, count })
    }

    /// The `index`-th, in row-major order of the chunks.
    pub(super) fn get(&self, index: usize) -> Projection {
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
            elements: Elements::Box { region, out },
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
        let set = ElementSet { axes }.simplified();
        let elements = match set.as_box() {
            Some((region, out)) => Elements::Box { region, out },
            None => Elements::Set(set),
        };
        Projection { chunk, elements }
    }
}

fn spans(array: &Array, span: &ResolvedSpan) -> Result<ProjectedAxis> {
    let length = |n: u64| usize::try_from(n).map_err(|_| too_many("the elements"));
    let positions = Span { start: length(span.start)?, step: length(span.step)?, count: length(span.count)? };
    let pieces = Pieces::new(positions, &array.metadata.chunk_grid.runs(span.dim));
    Ok(ProjectedAxis::Span { dim: span.dim, pieces })
}

fn listed(array: &Array, points: &Points) -> ProjectedAxis {
    let runs = runs(array, &points.dims);
    let grouped = match points.dims.is_empty() {
        true => repeated(points.shape.iter().product()),
        false => PlacedPoints::group(points.coordinates.clone(), &runs),
    };
    projected(&points.dims, runs, PointChunks::Listed(grouped))
}

/// The other axes' elements, so many times, as points without dimensions.
fn repeated(count: usize) -> Grouped {
    let points = Arc::new(PlacedPoints::ascending(Dims::new(), (0..count).collect()));
    let chunks = if count > 0 { vec![(Dims::new(), 0..count)] } else { Vec::new() };
    Grouped { points, chunks }
}

fn masked(array: &Array, masked: &MaskedPoints) -> ProjectedAxis {
    let runs = runs(array, &masked.dims);
    let mask = &masked.mask;
    let chunks = MaskedChunks::new(mask.values().clone(), mask.shape(), &runs);
    projected(&masked.dims, runs, PointChunks::Masked(Arc::new(chunks)))
}

fn projected(dims: &[usize], runs: Dims<Vec<Run>>, chunks: PointChunks) -> ProjectedAxis {
    ProjectedAxis::Points(Box::new(ProjectedPoints { dims: dims.into(), runs, chunks }))
}

fn runs(array: &Array, dims: &[usize]) -> Dims<Vec<Run>> {
    dims.iter().map(|&dim| array.metadata.chunk_grid.runs(dim).to_vec()).collect()
}

/// Where a chunk begins; the runs have it.
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

    /// The positions in the `n`-th of its chunks, whose indices are put into `chunk`.
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
                let points = Arc::new(masked.points(n));
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
