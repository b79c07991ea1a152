//! Subsampled YCbCr, which is stored in blocks.

/// Converts blocks to interleaved samples of each pixel. All pixels in a block share its chroma.
///
/// A block consists of the luma of `across * down` pixels, followed by two chroma samples.
pub(super) fn spread(bytes: &[u8], rows: usize, columns: usize, (across, down): (usize, usize)) -> Vec<u8> {
    let (in_row, size) = (columns.div_ceil(across), across * down + 2);
    let mut out = vec![0; rows.saturating_mul(columns).saturating_mul(3)];
    for (nth, block) in bytes.chunks_exact(size).enumerate() {
        let (top, left) = (nth / in_row.max(1) * down, nth % in_row.max(1) * across);
        for pixel in 0..across * down {
            let (row, column) = (top + pixel / across, left + pixel % across);
            if row < rows
                && column < columns
                && let Some(out) = out.get_mut((row * columns + column) * 3..(row * columns + column) * 3 + 3)
            {
                out.copy_from_slice(&[block[pixel], block[size - 2], block[size - 1]]);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_have_the_colours_of_their_block() {
        let blocks = [1, 2, 3, 4, 100, 200, 5, 0, 6, 0, 101, 201];
        let pixels = [1, 100, 200, 2, 100, 200, 5, 101, 201, 3, 100, 200, 4, 100, 200, 6, 101, 201];
        assert_eq!(spread(&blocks, 2, 3, (2, 2)), pixels);
    }
}
