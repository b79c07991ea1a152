//! Reading: everything, small windows, and selections of every kind.

use std::hint::black_box;

use ndarray::Array2;
use zarrox::codecs::{Blosc, Shuffle, Zstd};
use zarrox::data_type::Endian;
use zarrox::{Array, prelude::*, s};
use zarrox::{ArrayBuilder, IndexArray, Mask};

use crate::Work;
use crate::arrays::{SIDE, corners, filled, side, square};
use crate::values::Random;

/// Prepares a read of chunks so small that the cost of each chunk exceeds the cost of its bytes.
pub(crate) fn raw() -> Work {
    all(square(25).no_compressor())
}

pub(crate) fn zstd() -> Work {
    all(square(250).compressor(Zstd::level(3)))
}

pub(crate) fn sharded() -> Work {
    all(square(50).shards([500; 2]).compressor(Zstd::level(3)))
}

pub(crate) fn blosc() -> Work {
    all(square(100).compressor(Blosc::lz4().shuffle(Shuffle::Byte)))
}

pub(crate) fn big_endian() -> Work {
    all(square(100).endian(Endian::Big).no_compressor())
}

pub(crate) fn transposed() -> Work {
    all(square(100).order(Order::ColumnMajor).no_compressor())
}

fn all(builder: ArrayBuilder) -> Work {
    let array = filled(builder);
    Box::new(move || drop(black_box(array.read::<ArrayD<u16>>(..).unwrap())))
}

pub(crate) fn windows() -> Work {
    let (array, corners) = (uncompressed(), corners());
    Box::new(move || {
        for [row, column] in corners {
            black_box(array.read::<ArrayD<u16>>(s![row..row + 10, column..column + 10]).unwrap());
        }
    })
}

pub(crate) fn strided() -> Work {
    let array = uncompressed();
    Box::new(move || drop(black_box(array.read::<ArrayD<u16>>(s![..;2, ..;3]).unwrap())))
}

/// Prepares a read of the rows and columns in two ascending lists.
pub(crate) fn orthogonal() -> Work {
    let array = uncompressed();
    let [rows, columns] = indices::<2>(300).map(|mut indices| {
        indices.sort_unstable();
        IndexArray::from(indices)
    });
    Box::new(move || drop(black_box(array.oindex((&rows, &columns)).read::<ArrayD<u16>>().unwrap())))
}

pub(crate) fn coordinates() -> Work {
    let array = uncompressed();
    let [rows, columns] = indices::<2>(20_000).map(IndexArray::from);
    Box::new(move || drop(black_box(array.vindex((&rows, &columns)).read::<ArrayD<u16>>().unwrap())))
}

/// Prepares a read of about half of all elements.
pub(crate) fn mask() -> Work {
    let array = uncompressed();
    let mut random = Random(3);
    let mask = Mask::from(&Array2::from_shape_simple_fn((side(), side()), || random.next() & 1 == 1));
    Box::new(move || drop(black_box(array.mask(mask).read::<ArrayD<u16>>().unwrap())))
}

/// Returns an uncompressed array for selections, without the cost of codecs.
fn uncompressed() -> &'static Array {
    filled(square(100).no_compressor())
}

fn indices<const DIMENSIONS: usize>(count: usize) -> [Vec<i64>; DIMENSIONS] {
    let mut random = Random(2);
    std::array::from_fn(|_| random.many_below(count, SIDE.cast_signed()))
}
