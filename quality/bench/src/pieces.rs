//! The pieces in which an array is copied to another chunk shape.

use crate::region::Region;

/// Boxes of whole output chunks that cover an array.
pub(crate) struct Pieces {
    shape: Vec<usize>,
    piece: Vec<usize>,
}

impl Pieces {
    /// Returns boxes of at most this number of bytes for which input chunks are read as few times as possible. A box has at least
    /// one output chunk.
    pub(crate) fn new(
        shape: &[usize],
        input: &[usize],
        output: &[usize],
        width: usize,
        bytes: usize,
    ) -> Self {
        let mut piece: Vec<usize> =
            output.iter().zip(shape).map(|(chunk, length)| *chunk.min(length)).collect();
        let size = |piece: &[usize]| piece.iter().product::<usize>() * width;
        while let Some(grown) = (0..shape.len())
            .filter(|&axis| reads(shape[axis], input[axis], piece[axis]) > shape[axis].div_ceil(input[axis]))
            .map(|axis| {
                let mut grown = piece.clone();
                grown[axis] = (piece[axis] + output[axis]).min(shape[axis]);
                (gain(shape, input, &piece, &grown, axis), grown)
            })
            .filter(|(_, grown)| size(grown) <= bytes)
            .max_by(|a, b| a.0.total_cmp(&b.0))
        {
            piece = grown.1;
        }
        Self { shape: shape.to_vec(), piece }
    }

    fn grid(&self) -> Vec<usize> {
        self.shape.iter().zip(&self.piece).map(|(length, piece)| length.div_ceil((*piece).max(1))).collect()
    }

    pub(crate) fn count(&self) -> usize {
        self.grid().iter().product()
    }

    /// Returns the box with this row-major index.
    pub(crate) fn get(&self, mut index: usize) -> Region {
        let mut region = Region::new();
        for ((count, piece), length) in self.grid().into_iter().zip(&self.piece).zip(&self.shape).rev() {
            let start = index % count * piece;
            region.push(start..(start + piece).min(*length));
            index /= count;
        }
        region.reverse();
        region
    }
}

/// Returns the number of chunk reads along an axis for all of its pieces.
fn reads(length: usize, chunk: usize, piece: usize) -> usize {
    let starts = (0..length).step_by(piece.max(1));
    starts.map(|start| (start + piece).min(length).div_ceil(chunk) - start / chunk).sum()
}

/// Returns the gain of a longer piece: the reduction of reads, relative to its length.
#[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53")]
fn gain(shape: &[usize], input: &[usize], piece: &[usize], grown: &[usize], axis: usize) -> f64 {
    let reads = |piece: &[usize]| reads(shape[axis], input[axis], piece[axis]) as f64;
    (reads(piece) / reads(grown)).ln() / (grown[axis] as f64 / piece[axis] as f64).ln()
}
