//! [`Order`]: the order of elements in memory and in files.

/// The order of the elements of an array in memory or in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Order {
    /// The last dimension varies fastest, as in C.
    #[default]
    RowMajor,
    /// The first dimension varies fastest, as in Fortran.
    ColumnMajor,
}
