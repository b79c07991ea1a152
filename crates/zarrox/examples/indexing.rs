//! Reads and writes parts of an array with NumPy's kinds of indexing.

use ndarray::Array2;
use zarrox::{prelude::*, s};

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = tempfile::tempdir()?;
    let array = zarrox::create_array(directory.path().join("table.zarr"))
        .shape([6, 8])
        .chunks([3, 4])
        .data_type(DataType::Int32)
        .create()?;
    for row in 0..6 {
        array.write(s![row, ..], Array1::from_iter(10 * row..10 * row + 8))?;
    }

    // Slices with steps, from the end, and backwards.
    assert_eq!(array.read::<Vec<i32>>(s![-1, ..;3])?, [50, 53, 56]);
    assert_eq!(array.read::<Vec<i32>>(s![..;-2, 0])?, [50, 30, 10]);
    // Rows and columns by lists.
    assert_eq!(array.oindex(([0, 5], [7, 1])).read::<Array2<i32>>()?, arr2(&[[7, 1], [57, 51]]));
    // Single elements by coordinates.
    assert_eq!(array.vindex(([0, 5], [7, 1])).read::<Vec<i32>>()?, [7, 51]);
    // Elements by a mask.
    let large = array.read::<Array2<i32>>(..)?.mapv(|value| value > 55);
    array.mask(&large).write(0)?;
    assert_eq!(array.get::<i32>([5, 7])?, 0);
    // Ranges that are known only at run time.
    let region = vec![2..4, 0..2];
    assert_eq!(array.read::<Array2<i32>>(region)?, arr2(&[[20, 21], [30, 31]]));
    Ok(())
}
