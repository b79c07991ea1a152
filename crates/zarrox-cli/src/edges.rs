//! The elements at the edges of an array that is too large to print whole.

use std::ops::Range;

use zarrox::{DynArray, Error, ErrorKind, Result};

use crate::print::EDGE;
use crate::window::{Window, count, memory_size};

/// The maximum size in bytes of the elements that are printed. Only arrays with very many dimensions or huge elements reach it.
const LARGEST: u64 = 64 << 20;

/// The elements at the first and last few indices of long dimensions, and at all indices of the other dimensions.
#[derive(Debug)]
pub(crate) struct Edges {
    shape: Vec<u64>,
    elided: Vec<bool>,
    bytes: Vec<u8>,
    /// The index of each element in `bytes`, in row-major order.
    places: Vec<Range<usize>>,
}

impl Edges {
    pub(crate) fn read(window: &Window<'_>) -> Result<Self> {
        let elided: Vec<bool> = window.shape().iter().map(|&length| length > 2 * EDGE).collect();
        let shape: Vec<u64> = window.shape().iter().map(|&length| length.min(2 * EDGE)).collect();
        let item = memory_size(window.data_type()) + size_of::<Range<usize>>();
        let fits = count(&shape).saturating_mul(item as u64) <= LARGEST;
        let total = usize::try_from(count(&shape)).ok().filter(|_| fits).ok_or_else(|| {
            let message =
                "the edges of the selection have too many elements to print; select fewer dimensions";
            window.with_path(Error::new(ErrorKind::LimitExceeded, message))
        })?;
        let mut edges = Self { shape, elided, bytes: Vec::new(), places: vec![0..0; total] };
        for corner in edges.corners() {
            let block: Vec<Range<u64>> =
                corner.iter().zip(window.shape()).map(|(part, length)| part.of(length)).collect();
            edges.place(&corner, &window.read(&block)?);
        }
        Ok(edges)
    }

    /// Returns the number of printed elements along each dimension.
    pub(crate) fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// Returns a flag for each dimension: true if its middle is omitted.
    pub(crate) fn elided(&self) -> &[bool] {
        &self.elided
    }

    /// Returns the elements in row-major order.
    pub(crate) fn elements(&self) -> impl Iterator<Item = &[u8]> {
        self.places.iter().map(|place| &self.bytes[place.clone()])
    }

    /// Returns contiguous blocks that cover all printed elements.
    fn corners(&self) -> Vec<Vec<Part>> {
        self.elided.iter().fold(vec![Vec::new()], |corners, &elided| {
            let parts: &[Part] = if elided { &[Part::First, Part::Last] } else { &[Part::Whole] };
            let longer = |corner: &Vec<Part>, part: Part| corner.iter().copied().chain([part]).collect();
            corners.iter().flat_map(|corner| parts.iter().map(move |&part| longer(corner, part))).collect()
        })
    }

    /// Copies the elements of a block to their positions.
    fn place(&mut self, corner: &[Part], block: &DynArray) {
        let mut index = vec![0; block.shape().len()];
        for element in block.elements() {
            let begin = self.bytes.len();
            self.bytes.extend_from_slice(element);
            let position = self.position(corner, &index);
            self.places[position] = begin..self.bytes.len();
            for (index, &length) in index.iter_mut().zip(block.shape()).rev() {
                *index += 1;
                if *index < length {
                    break;
                }
                *index = 0;
            }
        }
    }

    /// Returns the index of an element of a block among all printed elements.
    #[expect(clippy::cast_possible_truncation, reason = "a position in memory")]
    fn position(&self, corner: &[Part], index: &[usize]) -> usize {
        let dims = corner.iter().zip(&self.shape).zip(index);
        let shown = |part: &Part, index: usize| part.shown_from() + index as u64;
        dims.fold(0, |position, ((part, &length), &index)| position * length + shown(part, index)) as usize
    }
}

/// A printed part of a dimension.
#[derive(Debug, Clone, Copy)]
enum Part {
    Whole,
    First,
    Last,
}

impl Part {
    /// Returns the range of indices in a dimension of this length.
    fn of(self, length: u64) -> Range<u64> {
        match self {
            Self::Whole => 0..length,
            Self::First => 0..EDGE,
            Self::Last => length - EDGE..length,
        }
    }

    /// Returns the number of indices that are printed before this part.
    fn shown_from(self) -> u64 {
        match self {
            Self::Whole | Self::First => 0,
            Self::Last => EDGE,
        }
    }
}
