//! Fill values: the value of elements that were never written.

/// The bytes of one element, in native byte order; for a variable-length element, its content.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct FillValue(Box<[u8]>);

impl FillValue {
    /// Creates a fill value from bytes.
    pub fn new(bytes: impl Into<Box<[u8]>>) -> Self {
        Self(bytes.into())
    }

    /// Creates the fill value with all bits zero, the default of every core type.
    pub fn zero(size: usize) -> Self {
        Self(vec![0; size].into())
    }

    /// Returns the bytes of the element.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl std::fmt::Debug for FillValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "FillValue({:02x?})", self.0)
    }
}
