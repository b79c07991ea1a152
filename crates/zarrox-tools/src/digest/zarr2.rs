//! The digest of zarr-python 2: `Array.hexdigest`.

use sha1::{Digest as _, Sha1};
use zarrox_core::internals::json::{sorted, to_ascii};
use zarrox_core::json::parse_object;
use zarrox_core::{Error, ErrorKind, Format, Result};

use super::canonical::hexadecimal;
use zarrox::Array;
use zarrox::internals::{indices, too_many};

/// The number of chunks that are read together, if they fit into the memory.
const TOGETHER: u64 = 64;

/// The maximum total size of chunks that are read together, in bytes.
const BYTES: usize = 64 << 20;

/// Returns the SHA-1 hash of a Zarr v2 array as computed by `Array.hexdigest()` in zarr-python 2: the hash of its stored chunks
/// in row-major order of the grid, of `.zarray` and of `.zattrs`. Documents are hashed in the form in which zarr-python 2 writes
/// them.
///
/// This digest depends on the chunks, the codecs and the compression library; [`digest`](crate::digest) does not.
///
/// # Errors
/// [`ErrorKind::Unsupported`] for other formats, and the errors of the store.
pub fn hexdigest(array: &Array) -> Result<String> {
    if array.metadata().format != Format::V2 {
        let message = format!(
            "zarr-python's hexdigest applies only to arrays of v2, and this array has the format {}",
            array.metadata().format
        );
        return Err(Error::new(ErrorKind::Unsupported, message));
    }
    let mut hasher = Sha1::new();
    visit_encoded_chunks(array, &mut |chunk| {
        hasher.update(chunk);
        Ok(())
    })?;
    let location = array.location().as_stored();
    let documents = location.documents(&location.layout_for(Format::V2)?)?.into_iter().enumerate();
    let of_group = Format::V2.def().group_document();
    for document in
        documents.filter(|(index, _)| Some(*index) != of_group).filter_map(|(_, document)| document)
    {
        hasher.update(to_ascii(&sorted(parse_object(&document)?))?);
    }
    Ok(hexadecimal(&hasher.finalize()))
}

/// Visits the stored bytes of all chunks of the [grid](Array::chunk_grid) in row-major order, skipping missing chunks. If the
/// array has shards, it visits the shards.
///
/// # Errors
/// The errors of the store, and those of the visitor.
pub fn visit_encoded_chunks(array: &Array, visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let count = array.chunk_grid().chunk_count(array.shape()).ok_or_else(|| too_many("the chunks"))?;
    let (grid, bytes) = (array.grid_shape(), array.chunk_bytes());
    let together = (BYTES / bytes.max(1)).max(array.pool().threads()) as u64;
    let together = together.min(TOGETHER);
    let mut first = 0;
    while first < count {
        let last = count.min(first + together);
        let numbers = (first..last).collect();
        let read = |number| array.raw().read(&indices(number, &grid));
        let chunks = array.pool().map(numbers, bytes, usize::MAX, read)?;
        chunks.into_iter().flatten().try_for_each(|chunk| visit(&chunk))?;
        first = last;
    }
    Ok(())
}
