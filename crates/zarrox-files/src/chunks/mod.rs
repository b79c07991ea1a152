//! The chunks of an array in a file, either as stored or encoded from the elements on each read.

pub(crate) mod rows;

use std::fmt::Debug;
use std::ops::ControlFlow;

use zarrox::codec::EncodeOptions;
use zarrox::internals::scratch::with_vec;
use zarrox::stores::{Bytes, Value};
use zarrox::{Array, CodecChain, DynArray, Error, Result, Strictness};

/// A function that is called with the index and size in bytes of each stored chunk.
pub(crate) type VisitChunk<'a> = &'a mut dyn FnMut(&[u64], u64) -> ControlFlow<()>;

/// The encoded chunks of an array.
pub(crate) trait Chunks: Debug + Send + Sync {
    /// Returns the number of dimensions.
    fn ndim(&self) -> usize;

    /// Returns true if any chunk is stored.
    fn any(&self) -> bool;

    /// Returns the size of a stored chunk in bytes. For a chunk that is encoded on each read, returns the size of its
    /// decoded elements.
    fn size(&self, chunk: &[u64]) -> Option<u64>;

    /// Visits all stored chunks, ordered by index.
    fn visit(&self, visit: VisitChunk<'_>) -> ControlFlow<()>;

    /// Returns the bytes of a chunk, encoded with the array's codecs, or `None` if the chunk contains only fill values.
    fn read(&self, chunk: &[u64]) -> Result<Option<Bytes>>;

    /// Opens a chunk for partial reads.
    fn open(&self, chunk: &[u64]) -> Result<Option<Box<dyn Value>>> {
        Ok(self.read(chunk)?.map(|bytes| Box::new(bytes) as Box<dyn Value>))
    }
}

/// The elements of an array, chunk by chunk.
pub(crate) trait Elements: Debug + Send + Sync {
    /// Returns the number of chunks along each dimension.
    fn grid(&self) -> &[u64];

    /// Returns the shape of a chunk.
    fn chunk_shape(&self) -> Vec<u64>;

    /// Returns true if a chunk of the grid is stored.
    fn is_stored(&self, chunk: &[u64]) -> bool;

    /// Visits the indices of all stored chunks, in ascending order. The cost depends on the number of stored chunks, not
    /// on the size of the grid.
    fn visit(&self, visit: &mut dyn FnMut(&[u64]) -> ControlFlow<()>) -> ControlFlow<()>;

    /// Returns the elements of a whole chunk. Elements beyond the edge of the array have unspecified values.
    fn read(&self, chunk: &[u64]) -> Result<DynArray>;
}

/// Chunks that are encoded on each read.
#[derive(Debug)]
pub(crate) struct EncodedOnRead {
    elements: Box<dyn Elements>,
    chain: CodecChain,
    /// The size of a decoded chunk in bytes.
    size: u64,
}

impl EncodedOnRead {
    /// Creates chunks that read `elements` and encode them as the metadata of `array` requires.
    pub(crate) fn new(array: &Array, elements: Box<dyn Elements>) -> Result<Self> {
        let registry = zarrox::codecs::registry();
        let chain = array.metadata().chain(&registry, Strictness::Lenient, zarrox::codec::CHUNK_LIMIT)?;
        let item = array.data_type().size() as u64;
        let size = array.unit_shape().iter().fold(item, |size, &length| size.saturating_mul(length));
        Ok(Self { elements, chain, size })
    }
}

impl Chunks for EncodedOnRead {
    fn ndim(&self) -> usize {
        self.elements.grid().len()
    }

    fn any(&self) -> bool {
        self.visit(&mut |_, _| ControlFlow::Break(())).is_break()
    }

    fn size(&self, chunk: &[u64]) -> Option<u64> {
        let grid = self.elements.grid();
        let is_inside =
            chunk.len() == grid.len() && chunk.iter().zip(grid).all(|(index, count)| index < count);
        (is_inside && self.elements.is_stored(chunk)).then_some(self.size)
    }

    fn visit(&self, visit: VisitChunk<'_>) -> ControlFlow<()> {
        self.elements.visit(&mut |chunk| visit(chunk, self.size))
    }

    fn read(&self, chunk: &[u64]) -> Result<Option<Bytes>> {
        if self.size(chunk).is_none() {
            return Ok(None);
        }
        let elements = self.elements.read(chunk)?;
        // Compressors reserve memory for the largest possible result. The buffer is reused by the thread, so it is not
        // allocated again for each chunk.
        with_vec(|encoded| {
            let stored = self.chain.encode(&elements.view(), EncodeOptions::default(), encoded);
            let is_stored = stored.map_err(Error::from)?;
            Ok(is_stored.then(|| Bytes::copy_from_slice(encoded)))
        })
    }
}

/// Visits all chunk indices of a grid in row-major order.
pub(crate) fn each_position(
    grid: &[u64],
    visit: &mut dyn FnMut(&[u64]) -> ControlFlow<()>,
) -> ControlFlow<()> {
    if grid.contains(&0) {
        return ControlFlow::Continue(());
    }
    let mut position = vec![0; grid.len()];
    loop {
        visit(&position)?;
        let Some(dim) = (0..grid.len()).rev().find(|&dim| position[dim] + 1 < grid[dim]) else {
            return ControlFlow::Continue(());
        };
        position[dim] += 1;
        position[dim + 1..].fill(0);
    }
}
