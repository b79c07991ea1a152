//! The model of data types: the types, and the fields of structures.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::storage::{Leaf, Storage, StructLayout};
use crate::error::{Error, Result};
use crate::json::Map;

/// The maximum size of an element in bytes: a larger element indicates an error or an attack.
pub const LARGEST: usize = 1 << 20;

/// The name of optional types, which fields of a structure cannot have.
pub(super) const OPTIONAL: &str = "zarrs.optional";

/// A data type in the model, independent of the format from which it was read.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DataType {
    /// `true` or `false`.
    Bool,
    /// Signed 8-bit integer.
    Int8,
    /// Signed 16-bit integer.
    Int16,
    /// Signed 32-bit integer.
    Int32,
    /// Signed 64-bit integer.
    Int64,
    /// Unsigned 8-bit integer.
    UInt8,
    /// Unsigned 16-bit integer.
    UInt16,
    /// Unsigned 32-bit integer.
    UInt32,
    /// Unsigned 64-bit integer.
    UInt64,
    /// IEEE 754 half precision.
    Float16,
    /// IEEE 754 single precision.
    Float32,
    /// IEEE 754 double precision.
    Float64,
    /// Two single precision floats.
    Complex64,
    /// Two double precision floats.
    Complex128,
    /// Raw bytes of a fixed size: v3's `r<8n>`, v2's `|V<n>`.
    RawBits(usize),
    /// A structured type with named fields.
    Struct(Arc<Structure>),
    /// Any other type, identified by its name and configuration, with one of the storage layouts.
    Extension(Box<Extension>),
}

/// A data type outside the core list: a name and a configuration (as in v3 metadata) with a storage layout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extension {
    /// The name in v3 metadata.
    pub name: String,
    /// The configuration in v3 metadata; empty if the type has none.
    pub configuration: Map,
    /// The layout of an element in memory.
    pub storage: Storage,
}

/// Objects are equal regardless of the order of their members, so the configuration is not hashed.
impl Hash for Extension {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
        self.storage.hash(state);
    }
}

impl DataType {
    /// Returns the layout of an element in memory.
    pub fn storage(&self) -> Storage {
        match self {
            Self::Bool => Storage::Bool,
            Self::Int8 => Storage::Int(1),
            Self::Int16 => Storage::Int(2),
            Self::Int32 => Storage::Int(4),
            Self::Int64 => Storage::Int(8),
            Self::UInt8 => Storage::Uint(1),
            Self::UInt16 => Storage::Uint(2),
            Self::UInt32 => Storage::Uint(4),
            Self::UInt64 => Storage::Uint(8),
            Self::Float16 => Storage::Float(2),
            Self::Float32 => Storage::Float(4),
            Self::Float64 => Storage::Float(8),
            Self::Complex64 => Storage::Complex(8),
            Self::Complex128 => Storage::Complex(16),
            Self::RawBits(bytes) => Storage::Raw(*bytes),
            Self::Struct(structure) => Storage::Struct(structure.layout().clone()),
            Self::Extension(extension) => extension.storage.clone(),
        }
    }

    /// Returns the core type with this in-memory layout, if there is one.
    #[doc(hidden)]
    pub fn of_storage(storage: &Storage) -> Option<Self> {
        Some(match storage {
            Storage::Bool => Self::Bool,
            Storage::Int(1) => Self::Int8,
            Storage::Int(2) => Self::Int16,
            Storage::Int(4) => Self::Int32,
            Storage::Int(8) => Self::Int64,
            Storage::Uint(1) => Self::UInt8,
            Storage::Uint(2) => Self::UInt16,
            Storage::Uint(4) => Self::UInt32,
            Storage::Uint(8) => Self::UInt64,
            Storage::Float(2) => Self::Float16,
            Storage::Float(4) => Self::Float32,
            Storage::Float(8) => Self::Float64,
            Storage::Complex(8) => Self::Complex64,
            Storage::Complex(16) => Self::Complex128,
            Storage::Raw(bytes) => Self::RawBits(*bytes),
            _ => return None,
        })
    }

    /// Creates a structured type with fields of these names and types, without padding.
    ///
    /// # Errors
    /// When a name is empty or occurs twice, a field has a variable length, or an element would be too large.
    pub fn structure<N: Into<String>>(fields: impl IntoIterator<Item = (N, Self)>) -> Result<Self> {
        Ok(Self::Struct(Arc::new(Structure::packed(fields)?)))
    }

    /// Returns the fields of a structured type.
    pub fn fields(&self) -> Option<&Structure> {
        match self {
            Self::Struct(structure) => Some(structure),
            _ => None,
        }
    }

    /// Returns the size of an element in strided memory, in bytes.
    pub fn size(&self) -> usize {
        self.storage().size()
    }

    /// Returns the number of bytes that bytes→bytes codecs treat as one element, as in numcodecs: 1 for variable-length elements.
    #[doc(hidden)]
    pub fn encoded_item(&self) -> usize {
        if self.storage() == Storage::Variable { 1 } else { self.size() }
    }

    /// Returns true if this is a type outside the core list with this name, regardless of its configuration.
    #[doc(hidden)]
    pub fn is_named(&self, name: &str) -> bool {
        matches!(self, Self::Extension(extension) if extension.name == name)
    }

    /// Returns the type without padding between and inside its fields. Types other than padded structures are unchanged.
    #[doc(hidden)]
    pub fn packed(&self) -> Self {
        let packed = self.fields().and_then(|structure| structure.without_padding().ok());
        packed.map_or_else(|| self.clone(), |packed| Self::Struct(Arc::new(packed)))
    }

    /// Converts an element of this type to the layout of the [packed](DataType::packed) type, and appends it.
    #[doc(hidden)]
    pub fn pack(&self, element: &[u8], packed: &mut Vec<u8>) {
        match self {
            Self::Struct(structure) => {
                let leaves = structure.layout().leaves.iter();
                leaves.for_each(|leaf| packed.extend_from_slice(&element[leaf.offset..][..leaf.size]));
            }
            _ => packed.extend_from_slice(element),
        }
    }

    /// Returns the v3 name of the type, if it is a core type with only one name.
    pub(super) const fn core_name(&self) -> Option<&'static str> {
        Some(match self {
            Self::Bool => "bool",
            Self::Int8 => "int8",
            Self::Int16 => "int16",
            Self::Int32 => "int32",
            Self::Int64 => "int64",
            Self::UInt8 => "uint8",
            Self::UInt16 => "uint16",
            Self::UInt32 => "uint32",
            Self::UInt64 => "uint64",
            Self::Float16 => "float16",
            Self::Float32 => "float32",
            Self::Float64 => "float64",
            Self::Complex64 => "complex64",
            Self::Complex128 => "complex128",
            Self::RawBits(_) | Self::Struct(_) | Self::Extension(_) => return None,
        })
    }
}

/// A field of a structure.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Field {
    /// The name: not empty, and unique in the structure.
    pub name: String,
    /// The type of one element.
    pub data_type: DataType,
    /// The shape of a field that is an array; otherwise empty.
    pub shape: Vec<usize>,
    /// The offset of the field in the structure, in bytes.
    pub offset: usize,
}

impl Field {
    /// Returns the number of elements of the field.
    pub fn count(&self) -> usize {
        count(&self.shape)
    }

    /// Returns the size of the field, in bytes.
    pub fn size(&self) -> usize {
        self.count() * self.data_type.size()
    }
}

/// The fields of a structured type, and their layout.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Structure {
    fields: Vec<Field>,
    layout: Arc<StructLayout>,
}

impl Structure {
    /// Creates a structure with fields of these names and types, without padding.
    ///
    /// # Errors
    /// When a name is empty or occurs twice, or an element would be too large.
    pub fn packed<N: Into<String>>(fields: impl IntoIterator<Item = (N, DataType)>) -> Result<Self> {
        Self::with_shapes(fields.into_iter().map(|(name, data_type)| (name, data_type, Vec::new())))
    }

    /// Creates a structure with fields of these names, types and shapes, without padding. A non-empty shape makes the field an
    /// array.
    ///
    /// # Errors
    /// As for [`Structure::packed`].
    pub fn with_shapes<N: Into<String>>(
        fields: impl IntoIterator<Item = (N, DataType, Vec<usize>)>,
    ) -> Result<Self> {
        let mut builder = Builder::default();
        for (name, data_type, shape) in fields {
            builder.push(name.into(), data_type, shape)?;
        }
        builder.finish()
    }

    /// Returns the fields in their order.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// Returns the field with this name. A name with dots is a path into nested structures, unless a field has exactly this name.
    pub fn field(&self, name: &str) -> Option<Field> {
        if let Some(field) = self.fields.iter().find(|field| field.name == name) {
            return Some(field.clone());
        }
        let (outer, inner) = name.split_once('.')?;
        let outer = self.fields.iter().find(|field| field.name == outer && field.shape.is_empty())?;
        let inner = outer.data_type.fields()?.field(inner)?;
        Some(Field { offset: outer.offset + inner.offset, ..inner })
    }

    /// Returns a structure with some of the fields, in the given order, without padding.
    ///
    /// # Errors
    /// When a field is unknown.
    pub fn select(&self, names: &[&str]) -> Result<(Self, Vec<Field>)> {
        let mut builder = Builder::default();
        let mut chosen = Vec::new();
        for name in names {
            let field = self.field(name).ok_or_else(|| self.no_field(name))?;
            builder.push((*name).to_owned(), field.data_type.clone(), field.shape.clone())?;
            chosen.push(field);
        }
        Ok((builder.finish()?, chosen))
    }

    /// Returns the error for an unknown field.
    #[doc(hidden)]
    pub fn no_field(&self, name: &str) -> Error {
        let names: Vec<&str> = self.fields.iter().map(|field| field.name.as_str()).collect();
        Error::selection(format!("unknown field '{name}'; the fields are {}", names.join(", ")))
    }

    /// Returns the layout of elements in memory.
    #[doc(hidden)]
    pub fn layout(&self) -> &Arc<StructLayout> {
        &self.layout
    }

    /// Returns the structure without padding between and inside its fields.
    ///
    /// # Errors
    /// Never for a valid structure.
    #[doc(hidden)]
    pub fn without_padding(&self) -> Result<Self> {
        let mut builder = Builder::default();
        for field in &self.fields {
            let data_type = match &field.data_type {
                DataType::Struct(inner) => DataType::Struct(Arc::new(inner.without_padding()?)),
                other => other.clone(),
            };
            builder.push(field.name.clone(), data_type, field.shape.clone())?;
        }
        builder.finish()
    }

    /// Returns true if there are bytes that belong to no field.
    #[doc(hidden)]
    pub fn is_padded(&self) -> bool {
        self.fields.iter().map(Field::size).sum::<usize>() != self.layout.size
    }
}

impl fmt::Display for Structure {
    /// Formats the fields as a declaration: `struct(x: float32, y: int16[2])`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("struct")?;
        for (index, field) in self.fields.iter().enumerate() {
            let before = if index == 0 { "(" } else { ", " };
            write!(f, "{before}{}: {}", field.name, field.data_type)?;
            field.shape.iter().try_for_each(|length| write!(f, "[{length}]"))?;
        }
        f.write_str(")")
    }
}

/// Builds a structure by appending fields.
#[derive(Default)]
pub(super) struct Builder {
    fields: Vec<Field>,
    pub(super) leaves: Vec<Leaf>,
    size: usize,
}

impl Builder {
    pub(super) fn push(&mut self, name: String, data_type: DataType, shape: Vec<usize>) -> Result<()> {
        if name.is_empty() {
            return Err(Error::metadata("a field of a structure has no name"));
        }
        if self.fields.iter().any(|field| field.name == name) {
            return Err(Error::metadata(format!("two fields of a structure have the name '{name}'")));
        }
        if data_type.storage() == Storage::Variable {
            let message = format!("the field '{name}' is {data_type}; a field must have a fixed size");
            return Err(Error::unsupported(message));
        }
        if data_type.is_named(OPTIONAL) {
            let message = format!("the field '{name}' is {data_type}; a field cannot be optional");
            return Err(Error::unsupported(message));
        }
        let offset = self.size;
        let count = count(&shape);
        self.pad(count.saturating_mul(data_type.size()))?;
        self.push_leaves(offset, count, &data_type);
        self.fields.push(Field { name, data_type, shape, offset });
        Ok(())
    }

    fn push_leaves(&mut self, offset: usize, count: usize, data_type: &DataType) {
        let item = data_type.size();
        match data_type.storage() {
            Storage::Struct(layout) => {
                let starts = (0..count).map(|index| offset + index * item);
                let leaf = |start: usize, leaf: &Leaf| Leaf { offset: start + leaf.offset, ..*leaf };
                let leaves =
                    starts.flat_map(|start| layout.leaves.iter().map(move |inner| leaf(start, inner)));
                self.leaves.extend(leaves);
            }
            // Without this check, an array of structures with empty arrays could have an unbounded number of leaves.
            _ if count == 0 => {}
            plain => self.leaves.push(Leaf { offset, size: count * item, word: plain.word() }),
        }
    }

    /// Adds bytes that belong to no field.
    pub(super) fn pad(&mut self, bytes: usize) -> Result<()> {
        self.size = self.size.saturating_add(bytes);
        if self.size <= LARGEST {
            return Ok(());
        }
        Err(Error::metadata(format!("a structure of more than {LARGEST} bytes is not supported")))
    }

    pub(super) fn finish(self) -> Result<Structure> {
        if self.fields.is_empty() || self.size == 0 {
            return Err(Error::metadata("a structure needs at least one field"));
        }
        let layout = Arc::new(StructLayout { size: self.size, leaves: self.leaves });
        Ok(Structure { fields: self.fields, layout })
    }
}

/// Returns the number of elements of an array; `usize::MAX` if it overflows.
pub(super) fn count(shape: &[usize]) -> usize {
    shape.iter().fold(1, |count, &n| count.saturating_mul(n))
}
