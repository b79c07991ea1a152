//! Computes with rayon: each thread reads a region of one array and writes it to another, which has shards.

use ndarray::Array2;
use rayon::iter::{ParallelBridge, ParallelIterator};
use zarrox::prelude::*;

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = tempfile::tempdir()?;
    let heights = zarrox::create_array(directory.path().join("heights.zarr"))
        .shape([800, 800])
        .chunks([100, 100])
        .data_type(DataType::Float32)
        .create()?;
    heights.write(.., 3.0)?;

    // 16 chunks are stored in one file, and each of them can be read alone.
    let squares = zarrox::create_array(directory.path().join("squares.zarr"))
        .shape([800, 800])
        .chunks([100, 100])
        .shards([400, 400])
        .data_type(DataType::Float32)
        .create()?;

    // Whole shards are written fastest, but no write is lost if several threads write into one.
    squares.chunk_regions().par_bridge().try_for_each(|region| {
        let block: Array2<f32> = heights.read(&region)?;
        squares.write(&region, block.mapv_into(|height| height * height))
    })?;
    assert_eq!(squares.get::<f32>([799, 0])?, 9.0);
    Ok(())
}
