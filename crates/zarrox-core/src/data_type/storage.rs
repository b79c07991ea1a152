//! Layouts of elements in memory.

use std::sync::Arc;

use crate::vlen::VlenRef;

/// The layout of one element in memory. The number in a variant is the element's size in bytes. Decoded numbers are in native
/// byte order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Storage {
    /// One byte, 0 or 1.
    Bool,
    /// A signed integer in two's complement.
    Int(usize),
    /// An unsigned integer.
    Uint(usize),
    /// An IEEE 754 binary float.
    Float(usize),
    /// Two floats of half this size: the real and the imaginary part.
    Complex(usize),
    /// Uninterpreted bytes.
    Raw(usize),
    /// Characters of four bytes each.
    Utf32(usize),
    /// The fields of a structured element.
    Struct(Arc<StructLayout>),
    /// A variable number of bytes for each element, in a [buffer](crate::strided::VlenBuffer).
    Variable,
}

/// The positions of the numbers in a structured element.
#[doc(hidden)]
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct StructLayout {
    /// The size of an element including its padding, in bytes.
    pub size: usize,
    /// The leaves, in the order of the fields. The bytes between them are padding.
    pub leaves: Vec<Leaf>,
}

/// A part of an element that consists of words of the same size: a number, a complex number, or an array of either.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Leaf {
    /// The offset in the element, in bytes.
    pub offset: usize,
    /// The length in bytes.
    pub size: usize,
    /// The number of bytes that are reversed as a unit; 1 if no byte order applies.
    pub word: usize,
}

impl Storage {
    /// Returns the size of an element in strided memory, in bytes.
    pub fn size(&self) -> usize {
        match self {
            Self::Bool => 1,
            Self::Int(n)
            | Self::Uint(n)
            | Self::Float(n)
            | Self::Complex(n)
            | Self::Raw(n)
            | Self::Utf32(n) => *n,
            Self::Struct(layout) => layout.size,
            Self::Variable => VlenRef::SIZE,
        }
    }

    /// Returns the number of bytes that are reversed as a unit to change the byte order; 1 if no byte order applies. For a
    /// structured element, returns the maximum over its fields.
    pub fn word(&self) -> usize {
        match self {
            Self::Bool | Self::Raw(_) | Self::Variable => 1,
            Self::Int(n) | Self::Uint(n) | Self::Float(n) => *n,
            Self::Complex(n) => n / 2,
            Self::Utf32(_) => 4,
            Self::Struct(layout) => layout.leaves.iter().map(|leaf| leaf.word).max().unwrap_or(1),
        }
    }

    /// Returns the parts with the same word size. Only a structured element can have several.
    #[doc(hidden)]
    pub fn leaves(&self) -> Vec<Leaf> {
        match self {
            Self::Struct(layout) => layout.leaves.clone(),
            other => vec![Leaf { offset: 0, size: other.size(), word: other.word() }],
        }
    }
}
