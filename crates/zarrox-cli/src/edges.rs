//! The elements that are shown of an array that is too large to be shown whole.

use std::ops::Range;

use zarrox::{DynArray, Error, ErrorKind, Result};

use crate::print::EDGE;
use crate::window::{Window, count};

/// More than this is not shown, in bytes: only arrays of very many dimensions, or of huge elements, come near.
const LARGEST: u64 = 64 << 20;

/// The first and the last few positions of every dimension that has more, and all of the others.
#[derive(Debug)]
pub(crate) struct Edges {
    shape: Vec<u64>,
    elided: Vec<bool>,
    size: usize,
    bytes: Vec<u8>,
}

impl Edges {
    pub(crate) fn read(window: &Window<'_>) -> Result<Self> {
        let size = window.array().data_type().size();
        let elided: Vec<bool> = window.shape().iter().map(|&length| length > 2 * EDGE).collect();
        let shape: Vec<u64> = window.shape().iter().map(|&length| length.min(2 * EDGE)).collect();
        let total = count(&shape).saturating_mul(size as u64);
        let total = usize::try_from(total).ok().filter(|_| total <= LARGEST).ok_or_else(|| {
            let message = "even the elements at the edges are too many to be shown; select fewer dimensions";
            Error::new(ErrorKind::LimitExceeded, message).at(format!("array '{}'", window.array().path()))
        })?;
        let mut edges = Self { shape, elided, size, bytes: vec![0; total] };
        for corner in edges.corners() {
            let block: Vec<Range<u64>> =
                corner.iter().zip(window.shape()).map(|(part, length)| part.of(length)).collect();
            edges.place(&corner, &window.read(&block)?);
        }
        Ok(edges)
    }

    /// How much is shown of each dimension.
    pub(crate) fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// For each dimension, whether its middle is left out.
    pub(crate) fn elided(&self) -> &[bool] {
        &self.elided
    }

    /// The elements, in row-major order.
    pub(crate) fn elements(&self) -> impl Iterator<Item = &[u8]> {
        self.bytes.chunks_exact(self.size)
    }

    /// Everything that is shown, as blocks without gaps.
    fn corners(&self) -> Vec<Vec<Part>> {
        self.elided.iter().fold(vec![Vec::new()], |corners, &elided| {
            let parts: &[Part] = if elided { &[Part::First, Part::Last] } else { &[Part::Whole] };
            let longer = |corner: &Vec<Part>, part: Part| corner.iter().copied().chain([part]).collect();
            corners.iter().flat_map(|corner| parts.iter().map(move |&part| longer(corner, part))).collect()
        })
    }

    /// Puts the elements of a block where they belong: row by row along the last dimension.
    fn place(&mut self, corner: &[Part], block: &DynArray) {
        let row = block.shape().last().copied().unwrap_or(1) * self.size;
        let mut cursor = vec![0; block.shape().len().saturating_sub(1)];
        for source in block.as_bytes().chunks_exact(row) {
            let at = self.offset(corner, &cursor);
            self.bytes[at..at + row].copy_from_slice(source);
            for (index, &length) in cursor.iter_mut().zip(block.shape()).rev() {
                *index += 1;
                if *index < length {
                    break;
                }
                *index = 0;
            }
        }
    }

    /// Where a row of a block begins among all bytes.
    #[expect(clippy::cast_possible_truncation, reason = "a position in memory")]
    fn offset(&self, corner: &[Part], row: &[usize]) -> usize {
        let index = |dim: usize| row.get(dim).map_or(0, |&index| index as u64);
        let dims = corner.iter().zip(&self.shape).enumerate();
        let position = dims
            .fold(0, |position, (dim, (part, &length))| position * length + part.shown_from() + index(dim));
        position as usize * self.size
    }
}

/// A part of a dimension.
#[derive(Debug, Clone, Copy)]
enum Part {
    Whole,
    First,
    Last,
}

impl Part {
    /// The positions, in a dimension of this length.
    fn of(self, length: u64) -> Range<u64> {
        match self {
            Self::Whole => 0..length,
            Self::First => 0..EDGE,
            Self::Last => length - EDGE..length,
        }
    }

    /// The first position among those that are shown.
    fn shown_from(self) -> u64 {
        match self {
            Self::Whole | Self::First => 0,
            Self::Last => EDGE,
        }
    }
}
