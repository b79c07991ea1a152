//! Arrays in memory, and their elements.

use std::sync::Arc;

use ndarray::ArrayD;
use zarrox::stores::MemoryStore;
use zarrox::{Array, prelude::*};
use zarrox::{ArrayBuilder, OpenOptions};

use crate::values::{Random, measured};

/// The length of the sides of all square arrays, in elements.
pub(crate) const SIDE: u64 = 1000;

/// Returns the options of all nodes: one thread, so that all work happens on the measured thread.
pub(crate) fn options() -> OpenOptions {
    OpenOptions::new().threads(1)
}

/// Returns a builder for a square in memory.
pub(crate) fn square(chunk: u64) -> ArrayBuilder {
    let builder = options().create_array((Arc::new(MemoryStore::new()), ""));
    builder.shape([SIDE; 2]).chunks([chunk; 2]).data_type(DataType::UInt16)
}

/// Creates a square with values. It is never dropped, so that dropping the store is not measured.
pub(crate) fn filled(builder: ArrayBuilder) -> &'static Array {
    let array = builder.create().unwrap();
    array.write(.., square_values()).unwrap();
    Box::leak(Box::new(array))
}

/// Returns values for a whole square.
pub(crate) fn square_values() -> ArrayD<u16> {
    measured(&[side(); 2], |value| value)
}

/// Returns the length of a side as `usize`.
pub(crate) fn side() -> usize {
    usize::try_from(SIDE).unwrap()
}

/// Returns the corners of windows of 10 × 10 elements in a square.
pub(crate) fn corners() -> Vec<[u64; 2]> {
    let mut random = Random(1);
    let mut below = || random.below((SIDE - 10).cast_signed()).cast_unsigned();
    (0..100).map(|_| [below(), below()]).collect()
}
