//! Where the bytes of variable-length elements lie.
//!
//! In strided memory such an element is a handle: [`HANDLE`] bytes of plain data that say where in a [`Heap`] its bytes
//! are. So all that moves elements (selections, transpositions, merging a part into a chunk) moves variable-length ones like
//! any others. A view of such elements [knows its heap](crate::strided::View::with_heap); nothing else interprets handles, and
//! a handle that leads nowhere is an empty element, never a wild pointer. All bits zero are the empty element, too.

/// How many bytes a variable-length element takes in strided memory.
pub const HANDLE: usize = 16;

/// Memory for the bytes of variable-length elements. It only grows, by any number of threads at once.
#[derive(Default)]
pub struct Heap(boxcar::Vec<Box<[u8]>>);

impl Heap {
    /// An empty heap.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes over bytes in which elements of these lengths lie one after the other, and appends their handles to `handles`.
    pub(crate) fn push(
        &self,
        bytes: Vec<u8>,
        lengths: impl IntoIterator<Item = usize>,
        handles: &mut Vec<u8>,
    ) {
        let piece = if bytes.is_empty() { 0 } else { self.0.push(bytes.into()) };
        let mut offset = 0;
        for length in lengths {
            let handle = (piece as u128) << PIECE | (offset as u128) << OFFSET | length as u128;
            handles.extend_from_slice(&handle.to_ne_bytes());
            offset += length;
        }
    }

    /// The bytes of the element that a handle stands for; none where it leads nowhere.
    pub fn element(&self, handle: &[u8]) -> &[u8] {
        let Ok(handle) = handle.try_into().map(u128::from_ne_bytes) else { return &[] };
        let part = |shift: u32, bits: u32| usize::try_from((handle >> shift) & ((1 << bits) - 1)).ok();
        let (piece, offset) = (part(PIECE, 128 - PIECE), part(OFFSET, PIECE - OFFSET));
        let bytes = piece.and_then(|piece| self.0.get(piece)).zip(offset);
        let bytes = bytes.and_then(|(bytes, offset)| bytes.get(offset..)).zip(part(0, OFFSET));
        bytes.and_then(|(bytes, length)| bytes.get(..length)).unwrap_or_default()
    }
}

/// Where the number of the piece begins in a handle, in bits; 40 of them are more pieces than any memory holds.
const PIECE: u32 = 88;
/// Where the offset in the piece begins, in bits: 48 of them, and the length has the 40 below.
const OFFSET: u32 = 40;

impl std::fmt::Debug for Heap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Heap({} pieces)", self.0.count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_found_by_their_handles_and_nonsense_is_empty() {
        let heap = Heap::new();
        let mut handles = Vec::new();
        heap.push(b"onetwo".to_vec(), [3, 0, 3], &mut handles);
        heap.push(Vec::new(), [0, 0], &mut handles);
        let elements: Vec<_> = handles.chunks_exact(HANDLE).map(|handle| heap.element(handle)).collect();
        assert_eq!(elements, [b"one".as_slice(), b"", b"two", b"", b""]);
        for nonsense in [vec![0xff; HANDLE], vec![0; HANDLE], vec![0; 3], handles[..8].to_vec()] {
            assert_eq!(heap.element(&nonsense), b"");
        }
    }
}
