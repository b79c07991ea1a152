//! The objects in a file, as described by its messages.
//!
//! Specification: <https://support.hdfgroup.org/documentation/hdf5/latest/_f_m_t4.html>. Section numbers in this folder
//! refer to version 4.0 of the specification.

/// The address of an object header or a block of bytes, relative to the base address of the file.
pub(in crate::hdf5) type Address = u64;

/// A parsed object header.
#[derive(Debug, Clone)]
pub(in crate::hdf5) struct Object {
    pub(in crate::hdf5) kind: ObjectKind,
}

/// The kind of an object.
#[derive(Debug, Clone)]
pub(in crate::hdf5) enum ObjectKind {
    Group,
    Dataset(Box<Dataset>),
    /// A committed datatype.
    Datatype(Datatype),
}

/// A link from a group to an object. Its name may have any encoding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::hdf5) struct Link {
    pub(in crate::hdf5) name: Vec<u8>,
    /// The creation index, if the group tracks creation order.
    pub(in crate::hdf5) order: Option<i64>,
    pub(in crate::hdf5) target: Target,
}

/// The target of a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::hdf5) enum Target {
    Hard(Address),
    /// A path, either absolute or relative to the group.
    Soft(Vec<u8>),
    /// A path in another file.
    External {
        file: Vec<u8>,
        path: Vec<u8>,
    },
    /// A user-defined link.
    User(u8),
}

/// An attribute.
#[derive(Debug, Clone)]
pub(in crate::hdf5) struct Attribute {
    pub(in crate::hdf5) name: Vec<u8>,
    pub(in crate::hdf5) datatype: Datatype,
    pub(in crate::hdf5) space: Space,
    /// The stored elements.
    pub(in crate::hdf5) data: Vec<u8>,
}

/// A dataspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::hdf5) enum Space {
    /// A null dataspace: no elements, not even a scalar.
    Null,
    /// Elements with the given shape. `max` is the maximum shape, in which `None` stands for an unlimited dimension. A
    /// scalar has no dimensions.
    Simple { shape: Vec<u64>, max: Vec<Option<u64>> },
}

/// A dataset.
#[derive(Debug, Clone)]
pub(in crate::hdf5) struct Dataset {
    pub(in crate::hdf5) space: Space,
    pub(in crate::hdf5) datatype: Datatype,
    pub(in crate::hdf5) layout: Layout,
    pub(in crate::hdf5) filters: Vec<Filter>,
    /// The bytes of the fill value; `None` if it is zero or undefined.
    pub(in crate::hdf5) fill: Option<Vec<u8>>,
    /// The external files that contain the elements, in order; empty if the elements are in this file.
    pub(in crate::hdf5) external: Vec<ExternalFile>,
    /// True if chunks that extend beyond the shape are stored unfiltered; their [`StoredChunk::mask`] has all bits set.
    pub(in crate::hdf5) are_edges_unfiltered: bool,
}

/// A part of an external file that contains elements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::hdf5) struct ExternalFile {
    pub(in crate::hdf5) name: Vec<u8>,
    pub(in crate::hdf5) offset: u64,
    /// The size in bytes; `u64::MAX` for the rest of the file.
    pub(in crate::hdf5) size: u64,
}

/// The storage of the elements.
#[derive(Debug, Clone)]
pub(in crate::hdf5) enum Layout {
    /// The elements are stored in the object header.
    Compact(Vec<u8>),
    /// The elements are contiguous at this address; `None` if none were written.
    Contiguous(Option<Address>),
    Chunked {
        /// The shape of a chunk, without the trailing element size.
        chunk: Vec<u64>,
        index: ChunkIndex,
        /// The address of the index; `None` if no chunk was written.
        address: Option<Address>,
    },
    /// The elements are stored in other datasets.
    Virtual(Vec<Mapping>),
}

/// The type of a chunk index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::hdf5) enum ChunkIndex {
    BTree1,
    /// A single chunk: its stored size and its mask of skipped filters; `None` if the chunk is not filtered.
    Single(Option<(u64, u32)>),
    Implicit,
    FixedArray,
    ExtensibleArray,
    BTree2,
}

/// A mapping of a part of a virtual dataset to a source dataset.
#[derive(Debug, Clone)]
pub(in crate::hdf5) struct Mapping {
    /// The name of the file; `.` for this file.
    pub(in crate::hdf5) file: Vec<u8>,
    /// The path of the source dataset.
    pub(in crate::hdf5) dataset: Vec<u8>,
    pub(in crate::hdf5) source: Hyperslab,
    pub(in crate::hdf5) target: Hyperslab,
}

/// A selection of elements in a dataspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::hdf5) enum Hyperslab {
    All,
    None,
    /// Single elements.
    Points(Vec<Vec<u64>>),
    /// Boxes, each given by the positions of its first and last elements.
    Boxes(Vec<(Vec<u64>, Vec<u64>)>),
    /// Evenly spaced blocks, with one entry for each dimension.
    Regular(Vec<Blocks>),
}

/// Evenly spaced blocks along one dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::hdf5) struct Blocks {
    pub(in crate::hdf5) start: u64,
    pub(in crate::hdf5) stride: u64,
    /// The number of blocks; `None` for an unlimited number.
    pub(in crate::hdf5) count: Option<u64>,
    /// The length of a block; `None` for an unlimited length.
    pub(in crate::hdf5) block: Option<u64>,
}

/// A filter in the pipeline of a dataset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::hdf5) struct Filter {
    /// The registered filter ID.
    pub(in crate::hdf5) id: u16,
    pub(in crate::hdf5) name: Option<String>,
    /// True if the filter is optional.
    pub(in crate::hdf5) is_optional: bool,
    pub(in crate::hdf5) parameters: Vec<u32>,
}

/// A stored chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::hdf5) struct StoredChunk {
    /// The position of the first element along each dimension of the dataset.
    pub(in crate::hdf5) offset: Vec<u64>,
    pub(in crate::hdf5) address: Address,
    /// The stored size in bytes.
    pub(in crate::hdf5) size: u64,
    /// The filter mask: a bit is set for each skipped filter.
    pub(in crate::hdf5) mask: u32,
}

/// A datatype.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::hdf5) struct Datatype {
    /// The size of an element in bytes.
    pub(in crate::hdf5) size: usize,
    pub(in crate::hdf5) class: Class,
}

/// A byte order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::hdf5) enum Order {
    Little,
    Big,
    Vax,
}

/// The position of the significant bits within the bytes of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::hdf5) struct Bits {
    pub(in crate::hdf5) order: Order,
    /// The position of the least significant bit.
    pub(in crate::hdf5) offset: u16,
    pub(in crate::hdf5) precision: u16,
}

/// The class of a datatype.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::hdf5) enum Class {
    Integer {
        bits: Bits,
        is_signed: bool,
    },
    Float {
        bits: Bits,
        layout: FloatLayout,
    },
    Time(Bits),
    /// Fixed-length strings.
    Text {
        padding: Padding,
        is_utf8: bool,
    },
    Bitfield(Bits),
    /// Bytes with a tag.
    Opaque(String),
    Compound(Vec<Member>),
    Reference(Reference),
    Enum {
        base: Box<Datatype>,
        members: Vec<EnumMember>,
    },
    /// Variable-length strings.
    VariableText {
        padding: Padding,
        is_utf8: bool,
    },
    /// Variable-length sequences.
    Sequence(Box<Datatype>),
    Array {
        base: Box<Datatype>,
        shape: Vec<u64>,
    },
    /// Complex numbers that consist of two floats.
    Complex(Box<Datatype>),
}

/// The bit layout of a float.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::hdf5) struct FloatLayout {
    pub(in crate::hdf5) sign: u8,
    pub(in crate::hdf5) exponent: u8,
    pub(in crate::hdf5) exponent_bits: u8,
    pub(in crate::hdf5) mantissa: u8,
    pub(in crate::hdf5) mantissa_bits: u8,
    pub(in crate::hdf5) bias: u32,
    /// True if the most significant bit of the mantissa is implied.
    pub(in crate::hdf5) is_normalised: bool,
}

/// The padding of a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::hdf5) enum Padding {
    /// The string ends at the first NUL.
    NullTerminated,
    NullPadded,
    SpacePadded,
}

/// The type of a reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::hdf5) enum Reference {
    /// The address of an object.
    Object,
    /// A region of a dataset, stored in the global heap.
    Region,
    /// A reference as introduced in HDF5 1.12: to an object, a region or an attribute.
    Standard,
}

/// A member of a compound type.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::hdf5) struct Member {
    pub(in crate::hdf5) name: Vec<u8>,
    pub(in crate::hdf5) offset: usize,
    /// The type of the member. It is an array type if the member has dimensions.
    pub(in crate::hdf5) datatype: Datatype,
}

/// A member of an enumeration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::hdf5) struct EnumMember {
    pub(in crate::hdf5) name: Vec<u8>,
    /// The stored bytes of the value.
    pub(in crate::hdf5) value: Vec<u8>,
}
