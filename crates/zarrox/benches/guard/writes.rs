//! Writing: everything, parts of chunks, and more rows.

use zarrox::ArrayBuilder;
use zarrox::codecs::Zstd;
use zarrox::s;

use crate::Work;
use crate::arrays::{SIDE, corners, side, square, square_values};
use crate::values::measured;

/// Prepares a write of chunks so small that the cost of each chunk exceeds the cost of its bytes.
pub(crate) fn raw() -> Work {
    all(square(25).no_compressor())
}

pub(crate) fn zstd() -> Work {
    all(square(250).compressor(Zstd::level(1)))
}

fn all(builder: ArrayBuilder) -> Work {
    let (array, values) = (builder.create().unwrap(), square_values());
    Box::new(move || array.write(.., &values).unwrap())
}

/// Prepares writes to parts of chunks, which are read, changed and stored again.
pub(crate) fn windows() -> Work {
    let array = square(100).no_compressor().create().unwrap();
    array.write(.., 1_u16).unwrap();
    let (values, corners) = (measured(&[10; 2], |value| value), corners());
    Box::new(move || {
        for [row, column] in corners {
            array.write(s![row..row + 10, column..column + 10], &values).unwrap();
        }
    })
}

/// Prepares appends of a few rows each, so that chunks are changed and the shape is stored each time.
pub(crate) fn appended() -> Work {
    let mut array = square(100).shape([0, SIDE]).no_compressor().create().unwrap();
    let rows = measured(&[5, side()], |value| value);
    Box::new(move || {
        for _ in 0..50 {
            array.append(&rows, 0).unwrap();
        }
    })
}
