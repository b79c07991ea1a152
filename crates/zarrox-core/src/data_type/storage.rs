//! Layouts of elements in memory.

use std::sync::Arc;

use crate::vlen::VlenRef;

/// The layout of one element in memory. Numbers are the element's size in bytes; multi-byte numbers are in
/// the machine's own endianness once decoded.
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
    /// Two floats of half the size: the real and the imaginary part.
    Complex(usize),
    /// Bytes without further meaning.
    Raw(usize),
    /// Characters of four bytes each.
    Utf32(usize),
    /// Fields one after the other.
    Struct(Arc<StructLayout>),
    /// A number of bytes that each element has for itself, in a [buffer](crate::strided::VlenBuffer).
    Variable,
}

/// Where the numbers lie in a structure.
#[doc(hidden)]
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct StructLayout {
    /// The size of an element with all its padding, in bytes.
    pub size: usize,
    /// The parts of which all have one word, in the order of the fields. What lies between them is padding.
    pub leaves: Vec<Leaf>,
}

/// A part of an element that is made of words of one size: a number, a complex number, an array of either.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Leaf {
    /// Where it begins in the element, in bytes.
    pub offset: usize,
    /// The length in bytes.
    pub size: usize,
    /// The number of bytes that are reversed as a unit; 1 where there is no order.
    pub word: usize,
}

impl Storage {
    /// The size of an element in strided memory, in bytes.
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

    /// The number of bytes that are reversed as a unit between the two endiannesses; 1 where there is no
    /// order. In a structure, the most of any field's.
    pub fn word(&self) -> usize {
        match self {
            Self::Bool | Self::Raw(_) | Self::Variable => 1,
            Self::Int(n) | Self::Uint(n) | Self::Float(n) => *n,
            Self::Complex(n) => n / 2,
            Self::Utf32(_) => 4,
            Self::Struct(layout) => layout.leaves.iter().map(|leaf| leaf.word).max().unwrap_or(1),
        }
    }

    /// The parts of which all have one word: several only in a structure.
    #[doc(hidden)]
    pub fn leaves(&self) -> Vec<Leaf> {
        match self {
            Self::Struct(layout) => layout.leaves.clone(),
            other => vec![Leaf { offset: 0, size: other.size(), word: other.word() }],
        }
    }
}
