//! Access to chunks as slices of numbers, for libraries that compress numbers instead of bytes.

use bytemuck::Pod;
use zarrox_core::DataType;
use zarrox_core::codec::{ChunkSpec, CodecError, ReadRegion};
use zarrox_core::data_type::Storage;
use zarrox_core::internals::scratch::Scratch;
use zarrox_core::strided::{View, ViewMut};

/// Returns true if each element of a chunk is the number that its memory layout represents. This is the case for the count in a
/// timestamp, but not for a `bfloat16`, whose layout is an unsigned integer.
pub(crate) fn are_plain(chunk: &ChunkSpec) -> bool {
    let storage = chunk.storage();
    match (storage, chunk.data_type()) {
        (Storage::Int(8) | Storage::Float(_) | Storage::Complex(8 | 16), _) => true,
        (_, Ok(data_type)) => DataType::of_storage(storage).as_ref() == Some(data_type),
        (_, Err(_)) => false,
    }
}

/// Returns the error for elements that a codec does not support.
pub(crate) fn unfit(chunk: &ChunkSpec, takes: &str) -> CodecError {
    let elements = match chunk.data_type() {
        Ok(data_type) => data_type.to_string(),
        Err(_) => format!("{:?}", chunk.storage()),
    };
    CodecError::unsupported(format!("this codec stores {takes}, but the elements are {elements}"))
}

/// Calls `work` to fill a buffer with the numbers of a whole chunk, and copies the requested part to its destination. If
/// possible, the chunk is decoded directly into the destination. Otherwise, a separate buffer takes at most `limit` bytes.
pub(crate) fn decode<T: Pod>(
    chunk: &ChunkSpec,
    limit: usize,
    mut part: ReadRegion<'_>,
    work: impl FnOnce(&mut [T]) -> Result<(), CodecError>,
) -> Result<(), CodecError> {
    if part.covers(chunk.shape())
        && let Some(memory) = part.out.as_slice_mut()
        && let Ok(numbers) = bytemuck::try_cast_slice_mut(memory)
    {
        return work(numbers);
    }
    let mut buffer = Buffer::new(chunk.size(), limit)?;
    work(buffer.numbers())?;
    let whole = View::contiguous(buffer.bytes(), chunk.shape(), chunk.item());
    part.copy_from(&whole);
    Ok(())
}

/// Calls `work` with the numbers of a whole chunk.
pub(crate) fn encode<T: Pod>(
    chunk: &View<'_>,
    work: impl FnOnce(&[T]) -> Result<(), CodecError>,
) -> Result<(), CodecError> {
    if let Some(memory) = chunk.as_slice()
        && let Ok(numbers) = bytemuck::try_cast_slice(memory)
    {
        return work(numbers);
    }
    let count: usize = chunk.shape().iter().product();
    let mut buffer = Buffer::new(count * chunk.item(), usize::MAX)?;
    ViewMut::contiguous(buffer.bytes(), chunk.shape(), chunk.item()).copy_from(chunk, 1);
    work(buffer.numbers())
}

/// Memory that is aligned for any type of number and borrowed from the thread's own buffers. Its content is arbitrary.
pub(crate) struct Buffer {
    scratch: Scratch,
    size: usize,
}

impl Buffer {
    /// Allocates memory for `size` bytes if the limit allows it.
    pub(crate) fn new(size: usize, limit: usize) -> Result<Self, CodecError> {
        if size > limit {
            let message = format!("one chunk would take {size} bytes of memory, and the limit is {limit}");
            return Err(CodecError::limit(message));
        }
        // With space for aligning the beginning and the end to a word.
        Ok(Self { scratch: Scratch::with_len(size.saturating_add(2 * size_of::<u64>()))?, size })
    }

    /// Returns the bytes.
    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        let size = self.size;
        &mut bytemuck::cast_slice_mut(self.words())[..size]
    }

    /// Returns the memory as a slice of numbers. A number has at most eight bytes.
    pub(crate) fn numbers<T: Pod>(&mut self) -> &mut [T] {
        let count = self.size / size_of::<T>();
        &mut bytemuck::cast_slice_mut(self.words())[..count]
    }

    fn words(&mut self) -> &mut [u64] {
        bytemuck::pod_align_to_mut(&mut self.scratch).1
    }
}
