//! Reading the leaves of a file, in blocks that stay in the cache, and placing their elements.

use std::cell::RefCell;
use std::fs::File;
use std::io::ErrorKind;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use blosc_src::blosc_getitem;
use zstd::zstd_safe::{InBuffer, OutBuffer, ResetDirective};

use super::codecs::{Workspace, blosc_sizes};
use super::document::{Document, Shards};
use super::part::{Part, Way};
use super::plan::Task;
use crate::failure::Failure;

/// The number of bytes that are read or decompressed at a time: they stay in the L2 cache.
pub(super) const BLOCK: usize = 256 << 10;
/// From this size on, bytes that follow each other in the result as in the file are read to their place at once.
const DIRECT: usize = 64 << 10;

/// A thread's contexts and buffers.
pub(super) struct Space {
    pub(super) work: Workspace,
    pub(super) encoded: Vec<u8>,
    pub(super) decoded: Vec<u8>,
}

thread_local! {
    static SPACE: RefCell<Space> = RefCell::new(Space {
        work: Workspace::new(),
        encoded: Vec::new(),
        decoded: Vec::new(),
    });
}

/// Lends the thread's own.
pub(super) fn with_space<R>(work: impl FnOnce(&mut Space) -> R) -> R {
    SPACE.with_borrow_mut(work)
}

/// Where a leaf is in its file: its first byte, and how many there are; `None` if it is not stored.
pub(super) type Place = Option<(u64, usize)>;

/// The file of a chunk, if it is stored.
pub(super) fn open(document: &Document, chunk: &[usize]) -> Result<Option<File>, Failure> {
    match File::open(document.chunk_file(chunk)) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Where all leaves are in a file.
pub(super) fn places(document: &Document, file: &File) -> Result<Vec<Place>, Failure> {
    let size = file.metadata()?.len();
    let Some(Shards { at_end, checksum }) = document.shards else {
        return Ok(vec![Some((0, size as usize))]);
    };
    let count: usize = document.leaves().iter().product();
    let mut index = vec![0; count * 16 + if checksum { 4 } else { 0 }];
    let start = if at_end { size - index.len() as u64 } else { 0 };
    file.read_exact_at(&mut index, start)?;
    let (entries, sum) = index.split_at(count * 16);
    if checksum && crc32c::crc32c(entries).to_le_bytes() != sum {
        return Err(Failure::Error("the checksum of an index differs".to_owned()));
    }
    let number = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap());
    let entry = |entry: &[u8]| Some((number(&entry[..8]), number(&entry[8..]) as usize));
    Ok(entries.chunks_exact(16).map(|bytes| entry(bytes).filter(|(at, _)| *at != u64::MAX)).collect())
}

/// Reads what a task means to the places that it has in the result.
///
/// # Safety
/// The result is large enough, and no other thread uses the same places.
pub(super) unsafe fn read_task(
    document: &Document,
    task: &Task,
    result: *mut u8,
    space: &mut Space,
) -> Result<(), Failure> {
    let file = open(document, &task.chunk)?;
    let places = file.as_ref().map_or(Ok(Vec::new()), |file| {
        // The size of a raw file is of no interest.
        let known = document.shards.is_none() && document.steps.are_none();
        if known { Ok(vec![Some((0, document.leaf_size()))]) } else { places(document, file) }
    })?;
    for leaf in &task.leaves {
        // SAFETY: the caller's promise.
        unsafe {
            match (&file, places.get(leaf.index).copied().flatten()) {
                (Some(file), Some(place)) => read_leaf(document, file, place, &leaf.part, result, space)?,
                _ => fill_part(document, &leaf.part, result, space)?,
            }
        }
    }
    Ok(())
}

/// # Safety
/// Those of [`read_task`].
unsafe fn fill_part(
    document: &Document,
    part: &Part,
    result: *mut u8,
    space: &mut Space,
) -> Result<(), Failure> {
    space.decoded.resize(document.leaf_size(), 0);
    document.fill(&mut space.decoded);
    // SAFETY: the caller's promise.
    unsafe { scatter(document, part, &space.decoded, result) }
}

/// # Safety
/// Those of [`read_task`].
unsafe fn scatter(document: &Document, part: &Part, leaf: &[u8], result: *mut u8) -> Result<(), Failure> {
    part.for_each(|segment| {
        let bytes = &leaf[segment.source..segment.source + segment.length];
        // SAFETY: the caller's promise, and the segment lies in the leaf.
        unsafe { part.copy(segment, document.swapped, Way::Out(bytes.as_ptr(), result)) };
        Ok(())
    })
}

/// # Safety
/// Those of [`read_task`].
unsafe fn read_leaf(
    document: &Document,
    file: &File,
    (start, length): (u64, usize),
    part: &Part,
    result: *mut u8,
    space: &mut Space,
) -> Result<(), Failure> {
    let size = document.leaf_size();
    let steps = &document.steps;
    if document.is_read_in_blocks() {
        let Space { work, encoded, decoded } = space;
        let source = if steps.are_none() {
            Source::File { file, start }
        } else {
            let range = start..start + length as u64;
            Source::Zstd(Stream { file, rest: range.clone(), range, input: encoded, at: 0, work })
        };
        // SAFETY: the caller's promise.
        return unsafe { read_blocks(document, Window::new(source, decoded), part, result) };
    }
    space.encoded.resize(length, 0);
    file.read_exact_at(&mut space.encoded, start)?;
    if let Some(type_size) = steps.are_blosc().filter(|_| part.spread() <= size / 2) {
        let (total, block) = blosc_sizes(&space.encoded);
        let source = Source::Blosc { encoded: &space.encoded, type_size, block: block.max(1), total };
        // SAFETY: the caller's promise.
        return unsafe { read_blocks(document, Window::new(source, &mut space.decoded), part, result) };
    }
    if let Some(place) = part.as_whole(size).filter(|_| !document.swapped) {
        // SAFETY: the whole leaf belongs there, and the caller's promise.
        let target = unsafe { std::slice::from_raw_parts_mut(result.add(place), size) };
        return steps.decode(&mut space.work, &space.encoded, target);
    }
    space.decoded.resize(size, 0);
    steps.decode(&mut space.work, &space.encoded, &mut space.decoded)?;
    // SAFETY: the caller's promise.
    unsafe { scatter(document, part, &space.decoded, result) }
}

/// # Safety
/// Those of [`read_task`].
unsafe fn read_blocks(
    document: &Document,
    mut window: Window<'_>,
    part: &Part,
    result: *mut u8,
) -> Result<(), Failure> {
    part.for_each(|segment| {
        let place = part.place_of(segment).filter(|_| !document.swapped && segment.length >= DIRECT);
        if let (Source::File { file, start }, Some(place)) = (&window.source, place) {
            // SAFETY: the caller's promise.
            let target = unsafe { std::slice::from_raw_parts_mut(result.add(place), segment.length) };
            return Ok(file.read_exact_at(target, start + segment.source as u64)?);
        }
        let bytes = window.bytes(segment.source, segment.length, segment.ahead)?;
        // SAFETY: the caller's promise, and the window gives the segment's bytes.
        unsafe { part.copy(segment, document.swapped, Way::Out(bytes.as_ptr(), result)) };
        Ok(())
    })
}

/// The part of a leaf that is decoded at the moment.
struct Window<'s> {
    source: Source<'s>,
    buffer: &'s mut Vec<u8>,
    /// The bytes of the leaf that the buffer holds: the first of them, and their number.
    base: usize,
    filled: usize,
}

enum Source<'s> {
    /// Bytes as they are, from this place of a file on.
    File { file: &'s File, start: u64 },
    /// Bytes that are decompressed one block after the other.
    Zstd(Stream<'s>),
    /// Blocks of which each can be decoded alone.
    Blosc { encoded: &'s [u8], type_size: usize, block: usize, total: usize },
}

impl<'s> Window<'s> {
    fn new(source: Source<'s>, buffer: &'s mut Vec<u8>) -> Self {
        Self { source, buffer, base: 0, filled: 0 }
    }

    /// Bytes of the leaf, of which those up to `ahead` will be asked for later. Nothing is asked for that lies before.
    fn bytes(&mut self, at: usize, length: usize, ahead: usize) -> Result<&[u8], Failure> {
        if at < self.base || at + length > self.base + self.filled {
            self.refill(at, length, ahead)?;
        }
        Ok(&self.buffer[at - self.base..][..length])
    }

    fn room(&mut self, size: usize) {
        if self.buffer.len() < size {
            self.buffer.resize(size, 0);
        }
    }

    fn refill(&mut self, at: usize, length: usize, ahead: usize) -> Result<(), Failure> {
        let wanted = (ahead.saturating_sub(at)).min(BLOCK).max(length);
        match self.source {
            Source::File { file, start } => {
                self.room(wanted);
                file.read_exact_at(&mut self.buffer[..wanted], start + at as u64)?;
                (self.base, self.filled) = (at, wanted);
                Ok(())
            }
            Source::Blosc { encoded, type_size, block, total } => {
                let base = at / block * block;
                let end = (at + wanted).div_ceil(block).saturating_mul(block).min(total);
                self.room(end - base);
                let (first, count) = ((base / type_size) as i32, ((end - base) / type_size) as i32);
                let (from, to) = (encoded.as_ptr().cast(), self.buffer.as_mut_ptr().cast());
                // SAFETY: the buffer has room for as many bytes; the header was written here.
                if unsafe { blosc_getitem(from, first, count, to) } < 0 {
                    return Err(Failure::Error("a chunk is damaged".to_owned()));
                }
                (self.base, self.filled) = (base, end - base);
                Ok(())
            }
            Source::Zstd(_) => {
                while self.filled == 0 || at < self.base || at + length > self.base + self.filled {
                    self.decompress(at, length)?;
                }
                Ok(())
            }
        }
    }

    /// Forgets what lies before `at`, and decompresses on; from the beginning, if that has been forgotten already.
    fn decompress(&mut self, at: usize, length: usize) -> Result<(), Failure> {
        self.room(BLOCK + length);
        let Source::Zstd(stream) = &mut self.source else { return Ok(()) };
        if at < self.base || self.base + self.filled == 0 {
            stream.restart();
            (self.base, self.filled) = (0, 0);
        }
        let used = (at - self.base).min(self.filled);
        self.buffer.copy_within(used..self.filled, 0);
        (self.base, self.filled) = (self.base + used, self.filled - used);
        self.filled += stream.fill(&mut self.buffer[self.filled..])?;
        Ok(())
    }
}

/// A compressed range of a file.
struct Stream<'s> {
    file: &'s File,
    range: Range<u64>,
    /// The range that was not read yet.
    rest: Range<u64>,
    /// The bytes that were read last; they have been decompressed up to `at`.
    input: &'s mut Vec<u8>,
    at: usize,
    work: &'s mut Workspace,
}

impl Stream<'_> {
    fn restart(&mut self) {
        let _ = self.work.zstd.reset(ResetDirective::SessionOnly);
        self.rest = self.range.clone();
        self.input.clear();
        self.at = 0;
    }

    /// Decompresses as much as there is room for: how many bytes these are.
    fn fill(&mut self, buffer: &mut [u8]) -> Result<usize, Failure> {
        let mut output = OutBuffer::around(buffer);
        while output.pos() < output.capacity() {
            if self.at == self.input.len() && !self.read_on()? {
                break;
            }
            let mut from = InBuffer { src: self.input.as_slice(), pos: self.at };
            let left = self.work.zstd.decompress_stream(&mut output, &mut from);
            self.at = from.pos;
            left.map_err(|_| Failure::Error("a chunk is damaged".to_owned()))?;
        }
        match output.pos() {
            0 => Err(Failure::Error("a chunk is truncated".to_owned())),
            decoded => Ok(decoded),
        }
    }

    /// Reads the next bytes, if there are any.
    fn read_on(&mut self) -> Result<bool, Failure> {
        let more = (self.rest.end - self.rest.start).min(BLOCK as u64 / 2);
        self.input.resize(more as usize, 0);
        self.file.read_exact_at(self.input, self.rest.start)?;
        self.rest.start += more;
        self.at = 0;
        Ok(more > 0)
    }
}
