//! Creates an array, writes to it, opens it again, and reads a part of it.

#![expect(clippy::print_stdout, reason = "the program prints what it reads")]

use ndarray::Array2;
use zarrox::codecs::Zstd;
use zarrox::{prelude::*, s};

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("temperature.zarr");

    let array = zarrox::create_array(&path)
        .shape([365, 721, 1440])
        .chunks([1, 721, 1440])
        .data_type(DataType::Float32)
        .fill_value(f32::NAN)
        .compressor(Zstd::level(3))
        .dimension_names(["time", "latitude", "longitude"])
        .create()?;
    array.write(s![0, .., ..], Array2::<f32>::from_elem((721, 1440), 15.5))?;

    let array = zarrox::open_array(&path)?;
    let corner: Array2<f32> = array.read(s![0, ..2, -3..])?;
    println!("{} of {:?}\n{corner}", array.data_type(), array.shape());
    assert_eq!(corner.sum(), 6.0 * 15.5);
    assert!(array.get::<f32>([1, 0, 0])?.is_nan(), "the second day was never written");
    Ok(())
}
