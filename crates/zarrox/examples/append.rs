//! Appends measurements to an array, and reads it row by row.

use zarrox::prelude::*;

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = tempfile::tempdir()?;
    let mut log = zarrox::create_array(directory.path().join("log.zarr"))
        .shape([0, 3])
        .chunks([1000, 3])
        .data_type(DataType::Float64)
        .create()?;
    for hour in 0..24 {
        log.append(arr2(&[[f64::from(hour), 0.5, 1.5]]), 0)?;
    }
    assert_eq!(log.shape(), [24, 3]);

    // Each chunk is read and decoded once.
    let mut sum = 0.0;
    for row in log.rows::<Array1<f64>>()? {
        sum += row?.sum();
    }
    assert_eq!(sum, 276.0 + 24.0 * 2.0);
    Ok(())
}
