//! Fill values: what an element is that nobody has written.

/// The bytes of one element, in the machine's endianness; of a variable-length element, as many as it has.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct FillValue(Box<[u8]>);

impl FillValue {
    /// A fill value of these bytes.
    pub fn new(bytes: impl Into<Box<[u8]>>) -> Self {
        Self(bytes.into())
    }

    /// All bits zero: the default of every core type.
    pub fn zero(size: usize) -> Self {
        Self(vec![0; size].into())
    }

    /// The bytes of the element.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl std::fmt::Debug for FillValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "FillValue({:02x?})", self.0)
    }
}
