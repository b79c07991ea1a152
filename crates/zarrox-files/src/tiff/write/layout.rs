//! The layout of an array as images: page, plane and sample dimensions, and strips or tiles.

use std::ops::Range;

use zarrox::{Array, DataType, Result};

use crate::input::unsupported;
use crate::placed::{Axis, Placed};

/// The maximum number of samples in a pixel, and the maximum number of pixels along a side.
const MOST_SAMPLES: u64 = 65_535;
const MOST_SIDE: u64 = (1 << 31) - 1;

/// The side lengths of tiles in pixels: their divisor, their range, and their default.
const TILE: u64 = 16;
const SIDES: std::ops::RangeInclusive<u64> = 64..=1024;
const USUAL_SIDE: u64 = 256;

/// The target size of a strip, and the maximum size of a row, both in bytes.
const STRIP: u64 = 256 << 10;
const MOST_ROW: u64 = 4 << 20;

/// The maximum size of a tile in bytes, and the maximum number of strips or tiles in a file. Their offsets are kept in memory.
const MOST_TILE: u64 = 16 << 20;
const MOST_PARTS: u64 = 1 << 26;

/// The layout of an array as images.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    /// The lengths of the dimensions that precede the rows.
    pub(super) lead: Vec<u64>,
    pub(super) height: u64,
    pub(super) width: u64,
    /// The number of interleaved samples in a pixel, which is the length of the last dimension; `None` if a pixel is a
    /// single element.
    pub(super) samples: Option<u64>,
    /// True if the dimensions before the rows are separate sample planes, not pages.
    pub(super) is_planar: bool,
    /// The number of rows and columns in a strip or tile.
    pub(super) part: (u64, u64),
    pub(super) is_tiled: bool,
    /// The chunk shape, in the dimension order of the result.
    chunks: Vec<u64>,
    /// The size of an element in bytes.
    pub(super) size: u64,
}

/// The role of the dimensions that precede the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leading {
    /// All dimensions before the rows are sample dimensions, which GDAL reads as bands.
    Planes,
    /// All dimensions before the rows are page dimensions, as in microscopy.
    Pages,
    /// A dimension is a sample dimension if its name says so.
    Named,
}

impl Layout {
    /// Returns the layout of a selection.
    ///
    /// # Errors
    /// [`zarrox::ErrorKind::Unsupported`] if TIFF does not support the data type or the dimensions.
    pub(super) fn of(placed: &Placed, leading: Leading) -> Result<Self> {
        let data_type = placed.array.data_type();
        sample_format(data_type)?;
        let axes: Vec<&Axis> = placed.result().collect();
        let lengths: Vec<u64> = axes.iter().map(|axis| axis.count).collect();
        let has_samples = has_samples(&axes, data_type);
        let sides = if has_samples { 3 } else { 2 };
        let Some(first) = axes.len().checked_sub(sides) else {
            return Err(unsupported(format!(
                "a TIFF image needs rows and columns; the selection has the shape {lengths:?}"
            )));
        };
        if lengths.contains(&0) {
            return Err(unsupported(format!(
                "a TIFF image must have elements; the selection has the shape {lengths:?}"
            )));
        }
        let (lead, height, width) = (lengths[..first].to_vec(), lengths[first], lengths[first + 1]);
        let samples = has_samples.then(|| lengths[first + 2]);
        let planes = lead.iter().fold(1_u64, |count, &length| count.saturating_mul(length));
        let is_planar = samples.is_none()
            && (2..=MOST_SAMPLES).contains(&planes)
            && match leading {
                Leading::Planes => true,
                Leading::Pages => false,
                Leading::Named => first == 1 && axes[0].is_samples(),
            };
        if samples.unwrap_or(1) > MOST_SAMPLES || height > MOST_SIDE || width > MOST_SIDE {
            return Err(unsupported(format!("TIFF does not support images of the shape {lengths:?}")));
        }
        if !is_planar && planes > u32::MAX.into() {
            return Err(unsupported(format!("a TIFF file cannot have {planes} pages")));
        }
        let chunks = chunk_lengths(&placed.array, &placed.axes);
        let size = data_type.size() as u64;
        let mut layout =
            Self { lead, height, width, samples, is_planar, part: (1, 1), is_tiled: false, chunks, size };
        layout.divide();
        let (down, across) = layout.parts();
        let parts = down.checked_mul(across).and_then(|parts| parts.checked_mul(layout.images()));
        if parts.is_none_or(|parts| parts > MOST_PARTS) {
            return Err(unsupported(format!(
                "the images of the shape {lengths:?} have too many tiles for a TIFF file"
            )));
        }
        Ok(layout)
    }

    /// Chooses strips if chunks are as wide as the image, otherwise tiles.
    fn divide(&mut self) {
        let first = self.lead.len();
        let (rows, columns) = (self.chunks[first], self.chunks[first + 1]);
        let row = self.width.saturating_mul(self.pixel());
        let is_small = self.height <= USUAL_SIDE && self.width <= USUAL_SIDE;
        if (columns >= self.width || is_small) && row <= MOST_ROW {
            let usual = (STRIP / row.max(1)).max(1);
            let part =
                if rows.saturating_mul(row) <= 4 * STRIP && rows >= usual.div_ceil(4) { rows } else { usual };
            self.part = (part.min(self.height), self.width);
            return;
        }
        let side = |chunk: u64| match chunk {
            chunk if chunk.is_multiple_of(TILE) && SIDES.contains(&chunk) => chunk,
            chunk if chunk.is_multiple_of(2 * USUAL_SIDE) => 2 * USUAL_SIDE,
            _ => USUAL_SIDE,
        };
        self.part = (side(rows), side(columns));
        while self.part.0 * self.part.1 > MOST_TILE / self.pixel() && self.part != (TILE, TILE) {
            let half = |side: u64| (side / 2).next_multiple_of(TILE);
            self.part = (half(self.part.0), half(self.part.1));
        }
        self.is_tiled = true;
    }

    /// Returns the size of a pixel in bytes.
    pub(super) fn pixel(&self) -> u64 {
        self.size * self.samples.unwrap_or(1)
    }

    /// Returns the number of images, which are pages or sample planes.
    pub(super) fn images(&self) -> u64 {
        self.lead.iter().product()
    }

    /// Returns the number of directories.
    pub(super) fn pages(&self) -> u64 {
        if self.is_planar { 1 } else { self.images() }
    }

    /// Returns the total number of samples in a pixel over all planes.
    pub(super) fn all_samples(&self) -> u64 {
        if self.is_planar { self.images() } else { self.samples.unwrap_or(1) }
    }

    /// Returns the number of strips or tiles in an image along rows and columns.
    pub(super) fn parts(&self) -> (u64, u64) {
        (self.height.div_ceil(self.part.0), self.width.div_ceil(self.part.1))
    }

    /// Returns the shape of the blocks that are read at a time: whole strips or tiles with a total of at most `memory`
    /// bytes, but at least one. If possible, blocks consist of whole chunks.
    pub(super) fn block(&self, memory: u64) -> Vec<u64> {
        let first = self.lead.len();
        let lengths: Vec<u64> = self.lead.iter().copied().chain([self.height, self.width]).collect();
        let mut block = vec![1; first];
        block.extend([self.part.0, self.part.1]);
        let most = (memory / self.pixel()).max(1);
        let mut grow = |dim: usize, unit: u64, target: u64| {
            let others = block.iter().enumerate().filter(|(other, _)| *other != dim);
            let others = others.fold(1_u64, |count, (_, &length)| count.saturating_mul(length));
            let units = (most / others.saturating_mul(unit)).min(target.div_ceil(unit)).max(1);
            block[dim] = block[dim].max(units * unit);
        };
        let units = |dim: usize| match dim.checked_sub(first) {
            Some(0) => self.part.0,
            Some(_) => self.part.1,
            None => 1,
        };
        for dim in (0..lengths.len()).rev() {
            grow(dim, units(dim), self.chunks[dim].min(lengths[dim]));
        }
        for dim in (0..lengths.len()).rev() {
            grow(dim, units(dim), lengths[dim]);
        }
        block
    }

    /// Returns the ranges of all blocks with the given shape.
    pub(super) fn blocks(&self, block: &[u64]) -> impl Iterator<Item = Vec<Range<u64>>> + use<> {
        let lengths: Vec<u64> = self.lead.iter().copied().chain([self.height, self.width]).collect();
        let block = block.to_vec();
        let counts: Vec<u64> =
            lengths.iter().zip(&block).map(|(length, block)| length.div_ceil(*block)).collect();
        let all: u64 = counts.iter().product();
        (0..all).map(move |number| {
            let mut rest = number;
            let mut ranges: Vec<Range<u64>> = Vec::with_capacity(counts.len());
            for ((count, block), length) in counts.iter().zip(&block).zip(&lengths).rev() {
                let start = rest % count * block;
                rest /= count;
                ranges.push(start..(start + block).min(*length));
            }
            ranges.reverse();
            ranges
        })
    }
}

/// Returns true if the last dimension is the sample dimension: if its name says so, or if it has no name and its length
/// is that of a colour.
fn has_samples(axes: &[&Axis], data_type: &DataType) -> bool {
    let [.., _, _, last] = axes else { return false };
    let is_colour = matches!(data_type, DataType::UInt8 | DataType::UInt16) && matches!(last.count, 3 | 4);
    match last.name {
        Some(_) => last.is_samples(),
        None => is_colour,
    }
}

/// Returns the chunk shape along the dimensions of the selection.
fn chunk_lengths(array: &Array, axes: &[Axis]) -> Vec<u64> {
    let lengths = array.unit_shape();
    let all = axes.iter().zip(lengths).filter(|(axis, _)| !axis.is_dropped);
    all.map(|(axis, length)| length.div_ceil(axis.step.unsigned_abs().max(1)).max(1)).collect()
}

/// Returns the TIFF sample format of a data type.
///
/// # Errors
/// [`zarrox::ErrorKind::Unsupported`] for a data type that TIFF does not support.
pub(super) fn sample_format(data_type: &DataType) -> Result<u16> {
    Ok(match data_type {
        DataType::Bool | DataType::UInt8 | DataType::UInt16 | DataType::UInt32 | DataType::UInt64 => 1,
        DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => 2,
        DataType::Float16 | DataType::Float32 | DataType::Float64 => 3,
        DataType::Complex64 | DataType::Complex128 => 6,
        _ => {
            return Err(unsupported(format!(
                "TIFF does not support {data_type}; zarrox cp --dtype makes a copy with elements of another type, such as float32"
            )));
        }
    })
}
