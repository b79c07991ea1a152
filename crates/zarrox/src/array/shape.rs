//! The shape of a new or resized array.

/// A shape in elements, as [`ArrayBuilder::shape`](crate::ArrayBuilder::shape) and [`Array::resize`](crate::Array::resize) take
/// it: a list of lengths, the shape of an array in memory, or the length of a one-dimensional array.
///
/// ```
/// # use zarrox::prelude::*;
/// # let directory = tempfile::tempdir()?;
/// let values = Array2::<f32>::zeros((60, 80));
/// let array = zarrox::create_array(directory.path().join("a.zarr")).shape(values.shape()).data_type(DataType::Float32);
/// assert_eq!(array.clone().create()?.shape(), [60, 80]);
/// assert_eq!(array.shape([60, 80, 3]).overwrite(true).create()?.shape(), [60, 80, 3]);
/// let line = zarrox::create_array(directory.path().join("b.zarr")).shape(1000).data_type(DataType::Float32).create()?;
/// assert_eq!(line.shape(), [1000]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape(pub(super) Vec<u64>);

impl From<Shape> for Vec<u64> {
    fn from(shape: Shape) -> Self {
        shape.0
    }
}

impl From<Vec<u64>> for Shape {
    fn from(lengths: Vec<u64>) -> Self {
        Self(lengths)
    }
}

impl From<&Vec<u64>> for Shape {
    fn from(lengths: &Vec<u64>) -> Self {
        Self(lengths.clone())
    }
}

impl From<&[u64]> for Shape {
    fn from(lengths: &[u64]) -> Self {
        Self(lengths.to_vec())
    }
}

impl<const N: usize> From<[u64; N]> for Shape {
    fn from(lengths: [u64; N]) -> Self {
        Self(lengths.to_vec())
    }
}

impl<const N: usize> From<&[u64; N]> for Shape {
    fn from(lengths: &[u64; N]) -> Self {
        Self(lengths.to_vec())
    }
}

/// Takes the shape of an array in memory.
impl From<&[usize]> for Shape {
    fn from(lengths: &[usize]) -> Self {
        Self(lengths.iter().map(|&length| length as u64).collect())
    }
}

/// The shape of a one-dimensional array.
impl From<u64> for Shape {
    fn from(length: u64) -> Self {
        Self(vec![length])
    }
}
