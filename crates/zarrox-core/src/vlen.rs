//! Memory for the bytes of variable-length elements.
//!
//! In strided memory, a variable-length element is a [`VlenRef`]: 16 bytes of plain data that refer to the element's bytes in a
//! [`VlenBuffer`]. All code that moves elements (selections, transpositions, merging a part into a chunk) therefore moves
//! references like any other elements. A view of these elements [carries its buffer](crate::strided::View::with_vlen), and no
//! other code interprets references. A reference that is out of bounds, or all zeros, is an empty element, never a wild pointer.

/// A variable-length element in strided memory: a reference to its bytes in a [`VlenBuffer`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VlenRef(u128);

impl VlenRef {
    /// The size of a reference, in bytes.
    pub const SIZE: usize = size_of::<Self>();

    fn new(piece: usize, offset: usize, length: usize) -> Self {
        Self((piece as u128) << PIECE | (offset as u128) << OFFSET | length as u128)
    }

    /// Reads a reference from strided memory; `None` if the number of bytes is wrong.
    fn from_ne_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(|bytes| Self(u128::from_ne_bytes(bytes)))
    }

    /// Returns the bytes of the reference in strided memory.
    fn to_ne_bytes(self) -> [u8; Self::SIZE] {
        self.0.to_ne_bytes()
    }

    /// Returns the number of the block, the offset in the block, and the length.
    fn parts(self) -> Option<(usize, usize, usize)> {
        let part = |shift: u32, bits: u32| usize::try_from((self.0 >> shift) & ((1 << bits) - 1)).ok();
        Some((part(PIECE, 128 - PIECE)?, part(OFFSET, PIECE - OFFSET)?, part(0, OFFSET)?))
    }
}

/// The lowest bit of the block's number in a reference; 40 bits suffice for more blocks than memory can hold.
const PIECE: u32 = 88;
/// The lowest bit of the offset in the block. The offset has 48 bits, and the length has the 40 bits below it.
const OFFSET: u32 = 40;

/// Memory for the bytes of variable-length elements. It only grows, and any number of threads can append to it at the same time.
#[derive(Default)]
pub struct VlenBuffer(boxcar::Vec<Box<[u8]>>);

impl VlenBuffer {
    /// Creates an empty buffer.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes ownership of the bytes of consecutive elements with these lengths, and appends a reference to each element to
    /// `references`.
    pub(crate) fn push(
        &self,
        bytes: Vec<u8>,
        lengths: impl IntoIterator<Item = usize>,
        references: &mut Vec<u8>,
    ) {
        let piece = if bytes.is_empty() { 0 } else { self.0.push(bytes.into()) };
        let mut offset = 0;
        for length in lengths {
            references.extend_from_slice(&VlenRef::new(piece, offset, length).to_ne_bytes());
            offset += length;
        }
    }

    /// Returns the bytes of the element that a reference refers to; empty if the reference is out of bounds.
    pub fn element(&self, reference: &[u8]) -> &[u8] {
        let parts = VlenRef::from_ne_bytes(reference).and_then(VlenRef::parts);
        let bytes = parts.and_then(|(piece, offset, length)| {
            self.0.get(piece).and_then(|bytes| bytes.get(offset..)).and_then(|bytes| bytes.get(..length))
        });
        bytes.unwrap_or_default()
    }
}

impl std::fmt::Debug for VlenBuffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "VlenBuffer({} pieces)", self.0.count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_found_by_their_references_and_nonsense_is_empty() {
        let buffer = VlenBuffer::new();
        let mut references = Vec::new();
        buffer.push(b"onetwo".to_vec(), [3, 0, 3], &mut references);
        buffer.push(Vec::new(), [0, 0], &mut references);
        let elements: Vec<_> =
            references.chunks_exact(VlenRef::SIZE).map(|reference| buffer.element(reference)).collect();
        assert_eq!(elements, [b"one".as_slice(), b"", b"two", b"", b""]);
        for nonsense in
            [vec![0xff; VlenRef::SIZE], vec![0; VlenRef::SIZE], vec![0; 3], references[..8].to_vec()]
        {
            assert_eq!(buffer.element(&nonsense), b"");
        }
    }
}
