//! Writing the leaves of a file: gathering their elements, encoding them, and writing the file.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::Path;

use super::codecs::Workspace;
use super::document::{Document, Shards};
use super::part::{Part, Way};
use super::plan::{Leaf, Task};
use super::reading::{BLOCK, Place, Space, open, places};
use crate::failure::Failure;

/// A file as it was.
struct Old {
    bytes: Vec<u8>,
    places: Vec<Place>,
}

impl Old {
    fn read(document: &Document, chunk: &[usize]) -> Result<Option<Self>, Failure> {
        let Some(file) = open(document, chunk)? else { return Ok(None) };
        let places = places(document, &file)?;
        Ok(Some(Self { bytes: std::fs::read(document.chunk_file(chunk))?, places }))
    }

    /// The encoded bytes of a leaf, if it was stored.
    fn leaf(&self, index: usize) -> Option<&[u8]> {
        let (start, length) = self.places[index]?;
        Some(&self.bytes[start as usize..][..length])
    }
}

/// Writes what a task means from the places that it has in the values.
///
/// # Safety
/// All these places can be read.
pub(super) unsafe fn write_task(
    document: &Document,
    task: &Task,
    values: *const u8,
    space: &mut Space,
) -> Result<(), Failure> {
    let path = document.chunk_file(&task.chunk);
    let count: usize = document.leaves().iter().product();
    let whole = task.leaves.len() == count && task.leaves.iter().all(|leaf| leaf.covered);
    if whole
        && document.shards.is_none()
        && document.steps.are_none()
        && document.is_row_major()
        && task.leaves.iter().all(|leaf| leaf.inside)
    {
        // SAFETY: the caller's promise.
        return replace(&path, |file| unsafe { write_raw(document, task, values, space, file) });
    }
    let old = if whole { None } else { Old::read(document, &task.chunk)? };
    let Space { work, encoded, decoded } = space;
    encoded.clear();
    let index_size = document.shards.map_or(0, |shards| count * 16 + if shards.checksum { 4 } else { 0 });
    if document.shards.is_some_and(|shards| !shards.at_end) {
        encoded.resize(index_size, 0);
    }
    let mut index: Vec<u64> = vec![u64::MAX; 2 * count];
    let mut leaves = task.leaves.iter().collect::<Vec<_>>();
    leaves.sort_unstable_by_key(|leaf| leaf.index);
    let mut leaves = leaves.into_iter().peekable();
    for number in 0..count {
        let start = encoded.len();
        let before = old.as_ref().and_then(|old| old.leaf(number));
        match (leaves.next_if(|leaf| leaf.index == number), before) {
            // SAFETY: the caller's promise.
            (Some(leaf), _) => unsafe {
                encode_leaf(document, leaf, before, values, work, encoded, decoded)?;
            },
            (None, Some(before)) => encoded.extend_from_slice(before),
            (None, None) => continue,
        }
        (index[2 * number], index[2 * number + 1]) = (start as u64, (encoded.len() - start) as u64);
    }
    if let Some(shards) = document.shards {
        write_index(shards, &index, encoded);
    }
    replace(&path, |file| Ok(file.write_all(encoded)?))
}

fn write_index(shards: Shards, index: &[u64], encoded: &mut Vec<u8>) {
    let mut bytes: Vec<u8> = index.iter().flat_map(|number| number.to_le_bytes()).collect();
    if shards.checksum {
        bytes.extend_from_slice(&crc32c::crc32c(&bytes).to_le_bytes());
    }
    if shards.at_end {
        encoded.extend_from_slice(&bytes);
    } else {
        encoded[..bytes.len()].copy_from_slice(&bytes);
    }
}

/// Writes a file as it must be where nobody may find half a chunk, nor lose one: beside its place, and then moved there.
fn replace(path: &Path, write: impl FnOnce(&mut File) -> Result<(), Failure>) -> Result<(), Failure> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".tmp");
    write(&mut create(beside.as_ref())?)?;
    Ok(std::fs::rename(beside, path)?)
}

/// Creates a file, and the directories above where there are none.
fn create(path: &Path) -> Result<File, Failure> {
    match File::create(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
            Ok(File::create(path)?)
        }
        created => Ok(created?),
    }
}

/// # Safety
/// Those of [`write_task`].
unsafe fn encode_leaf(
    document: &Document,
    leaf: &Leaf,
    before: Option<&[u8]>,
    values: *const u8,
    work: &mut Workspace,
    encoded: &mut Vec<u8>,
    decoded: &mut Vec<u8>,
) -> Result<(), Failure> {
    let size = document.leaf_size();
    if let Some(place) = leaf.part.as_whole(size).filter(|_| !document.swapped) {
        // SAFETY: the whole leaf is there, and the caller's promise.
        let whole = unsafe { std::slice::from_raw_parts(values.add(place), size) };
        document.steps.encode(work, whole, encoded);
        return Ok(());
    }
    decoded.resize(size, 0);
    match before.filter(|_| !leaf.covered) {
        Some(before) => document.steps.decode(work, before, decoded)?,
        None if !leaf.covered || !leaf.inside => document.fill(decoded),
        None => {}
    }
    // SAFETY: the caller's promise.
    unsafe { gather(document, &leaf.part, decoded, values)? };
    document.steps.encode(work, decoded, encoded);
    Ok(())
}

/// # Safety
/// Those of [`write_task`].
unsafe fn gather(
    document: &Document,
    part: &Part,
    decoded: &mut [u8],
    values: *const u8,
) -> Result<(), Failure> {
    part.for_each(|segment| {
        let bytes = &mut decoded[segment.source..segment.source + segment.length];
        // SAFETY: the caller's promise, and the segment lies in the leaf.
        unsafe { part.copy(segment, document.swapped, Way::In(bytes.as_mut_ptr(), values)) };
        Ok(())
    })
}

/// Gathers a block, writes it, and so on.
///
/// # Safety
/// Those of [`write_task`].
unsafe fn write_raw(
    document: &Document,
    task: &Task,
    values: *const u8,
    space: &mut Space,
    file: &mut File,
) -> Result<(), Failure> {
    for leaf in &task.leaves {
        let part = &leaf.part;
        let mut used = 0;
        part.for_each(|segment| {
            if let Some(place) =
                part.place_of(segment).filter(|_| !document.swapped && segment.length >= BLOCK)
            {
                file.write_all(&space.encoded[..std::mem::take(&mut used)])?;
                // SAFETY: the caller's promise.
                let bytes = unsafe { std::slice::from_raw_parts(values.add(place), segment.length) };
                return Ok(file.write_all(bytes)?);
            }
            if used + segment.length > BLOCK {
                file.write_all(&space.encoded[..std::mem::take(&mut used)])?;
            }
            if space.encoded.len() < used + segment.length {
                space.encoded.resize((used + segment.length).max(BLOCK), 0);
            }
            let bytes = &mut space.encoded[used..used + segment.length];
            // SAFETY: the caller's promise.
            unsafe { part.copy(segment, document.swapped, Way::In(bytes.as_mut_ptr(), values)) };
            used += segment.length;
            Ok(())
        })?;
        file.write_all(&space.encoded[..used])?;
    }
    Ok(())
}
