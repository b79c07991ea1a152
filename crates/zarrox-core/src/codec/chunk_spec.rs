//! The specification of the chunk that a codec is created for (shape, layout, fill value), and sizes of encoded bytes.

use crate::data_type::{DataType, Storage};
use crate::error::CodecError;
use crate::fill_value::FillValue;
use crate::strided::{View, ViewMut};
use crate::vlen::VlenBuffer;

/// The properties that all chunks of an array share. The size of a chunk fits into the address space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkSpec {
    shape: Vec<usize>,
    storage: Storage,
    data_type: Option<DataType>,
    fill: FillValue,
    size: usize,
}

impl ChunkSpec {
    /// Creates the specification, and checks that a chunk of this shape fits into memory.
    pub fn new(shape: &[u64], storage: Storage, fill: FillValue) -> Result<Self, CodecError> {
        let too_large = || CodecError::limit(format!("a chunk of shape {shape:?} does not fit into memory"));
        let shape: Vec<usize> =
            shape.iter().map(|&n| usize::try_from(n).map_err(|_| too_large())).collect::<Result<_, _>>()?;
        let size = shape.iter().try_fold(storage.size(), |size, &n| size.checked_mul(n));
        let size = size.filter(|&size| isize::try_from(size).is_ok()).ok_or_else(too_large)?;
        if storage.size() == 0 {
            return Err(CodecError::invalid("elements must have at least one byte"));
        }
        if storage != Storage::Variable && fill.as_bytes().len() != storage.size() {
            return Err(CodecError::invalid(
                "the size of the fill value differs from the size of an element",
            ));
        }
        let data_type = DataType::of_storage(&storage);
        Ok(Self { shape, storage, data_type, fill, size })
    }

    /// Sets the data type, for codecs that depend on the meaning of elements.
    #[must_use]
    pub fn of_type(self, data_type: &DataType) -> Self {
        let data_type = (data_type.storage() == self.storage).then(|| data_type.clone());
        Self { data_type, ..self }
    }

    /// Returns the data type of the elements, for codecs that depend on more than the in-memory layout.
    pub fn data_type(&self) -> Result<&DataType, CodecError> {
        self.data_type.as_ref().ok_or_else(|| {
            CodecError::unsupported(format!(
                "the data type of the elements (layout {:?}) is unknown here",
                self.storage
            ))
        })
    }

    /// Returns the shape, in elements.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Returns the layout of an element in memory.
    pub fn storage(&self) -> &Storage {
        &self.storage
    }

    /// Returns true if the length of the elements varies.
    #[doc(hidden)]
    pub fn is_variable(&self) -> bool {
        self.storage == Storage::Variable
    }

    /// Returns the fill value.
    pub fn fill(&self) -> &FillValue {
        &self.fill
    }

    /// Returns the size of an element of an array in memory, in bytes.
    pub fn item(&self) -> usize {
        self.storage.size()
    }

    /// Returns the size of the whole decoded chunk, in bytes. For variable-length elements, this is the size of their references.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Returns a view of a whole chunk in memory, in row-major order. `vlen` holds the bytes of variable-length elements.
    pub fn view<'a>(&self, memory: &'a [u8], vlen: &'a VlenBuffer) -> View<'a> {
        self.view_part(memory, &self.shape, vlen)
    }

    /// Returns a mutable view of a whole chunk in memory, in row-major order. The bytes of variable-length elements go to `vlen`.
    pub fn view_mut<'a>(&self, memory: &'a mut [u8], vlen: &'a VlenBuffer) -> ViewMut<'a> {
        self.view_part_mut(memory, &self.shape, vlen)
    }

    /// Returns a view of a part of this shape in memory, like [`ChunkSpec::view`].
    #[doc(hidden)]
    pub fn view_part<'a>(&self, memory: &'a [u8], shape: &[usize], vlen: &'a VlenBuffer) -> View<'a> {
        let view = View::contiguous(memory, shape, self.item());
        if self.is_variable() { view.with_vlen(vlen) } else { view }
    }

    /// Returns a mutable view of a part of this shape in memory, like [`ChunkSpec::view_mut`].
    #[doc(hidden)]
    pub fn view_part_mut<'a>(
        &self,
        memory: &'a mut [u8],
        shape: &[usize],
        vlen: &'a VlenBuffer,
    ) -> ViewMut<'a> {
        let view = ViewMut::contiguous(memory, shape, self.item());
        if self.is_variable() { view.with_vlen(vlen) } else { view }
    }

    /// Creates the specification of a chunk with elements of the same type and a different shape.
    pub fn with_shape(&self, shape: &[usize]) -> Result<Self, CodecError> {
        let shape: Vec<u64> = shape.iter().map(|&n| n as u64).collect();
        let spec = Self::new(&shape, self.storage.clone(), self.fill.clone())?;
        Ok(Self { data_type: self.data_type.clone(), ..spec })
    }
}

/// An exact or a maximum size in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// Exactly this many bytes.
    Exact(usize),
    /// At most this many bytes.
    AtMost(usize),
}

impl Size {
    /// The size is unknown before encoding.
    pub const UNKNOWN: Self = Self::AtMost(usize::MAX);

    /// Returns the maximum size; `usize::MAX` if it is unknown.
    #[doc(hidden)]
    pub fn limit(self) -> usize {
        match self {
            Self::Exact(n) | Self::AtMost(n) => n,
        }
    }

    /// Returns the size with a fixed number of bytes added.
    #[must_use]
    pub fn plus(self, more: usize) -> Self {
        match self {
            Self::Exact(n) => Self::Exact(n.saturating_add(more)),
            Self::AtMost(n) => Self::AtMost(n.saturating_add(more)),
        }
    }

    /// Returns the maximum size after a general-purpose compressor: 1.5 times the input plus a constant, because other encoders
    /// may exceed the worst case of the libraries used here.
    #[must_use]
    pub fn compressed(self) -> Self {
        let n = self.limit();
        Self::AtMost(n.saturating_add(n / 2).saturating_add(64 << 10))
    }
}
