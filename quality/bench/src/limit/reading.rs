//! Reading the leaves of a file, decoding them, and copying their elements.

use std::cell::RefCell;
use std::fs::File;
use std::io::{BufReader, Read};
use std::os::unix::fs::FileExt;

use zarrox::strided::{Span, View, ViewMut};
use zstd::stream::read::Decoder;
use zstd::zstd_safe::ResetDirective;

use super::codecs::{Compressor, Workspace, damaged};
use super::layout::{Layout, strides};
use super::plan::{Placing, Plan, Task};
use crate::failure::Failure;

/// The number of bytes that are read or decompressed at a time, which stay in the L2 cache.
const BLOCK: usize = 256 << 10;
/// The size from which leaves are read or decompressed block by block.
const LARGE: usize = 512 << 10;

thread_local! {
    /// A thread's contexts, and its decoded bytes.
    static SPACE: RefCell<(Workspace, Vec<u8>)> = RefCell::new((Workspace::new(), Vec::new()));
}

/// A result to which threads write at different positions.
pub(super) struct Output(pub(super) *mut u8);

// SAFETY: the tasks of a plan write to disjoint positions.
unsafe impl Sync for Output {}

/// Reads the elements of a task to their positions in the result.
///
/// # Safety
/// The result must be as large as the plan requires, and no other thread may use the same positions.
pub(super) unsafe fn read(layout: &Layout, plan: &Plan, task: &Task, result: &Output) -> Result<(), Failure> {
    let file = File::open(&task.file)?;
    let places = places(layout, &file)?;
    let strides: Vec<isize> = strides(&plan.shape, layout.width).iter().map(|it| it.cast_signed()).collect();
    SPACE.with_borrow_mut(|(work, decoded)| {
        for (index, placing) in &task.leaves {
            let (start, end) = places[*index];
            let leaf = Leaf { layout, bytes: Bytes { file: &file, at: start, end } };
            match placing {
                Placing::Box { part, at } => {
                    // SAFETY: the caller guarantees this.
                    let target = unsafe { ViewMut::from_raw(result.0, &plan.shape, &strides, layout.width) };
                    leaf.read_box(part, target.into_region(at), work, decoded)?;
                }
                Placing::Points(pairs) => {
                    leaf.decode(work, decoded)?;
                    for &(from, to) in pairs {
                        let element: [u8; 4] = *decoded[from as usize..].first_chunk().unwrap();
                        // SAFETY: the caller guarantees that the plan has space for four bytes.
                        unsafe { result.0.add(to as usize).cast::<[u8; 4]>().write_unaligned(element) };
                    }
                }
            }
        }
        Ok(())
    })
}

/// Returns the range of each leaf in a file.
fn places(layout: &Layout, file: &File) -> Result<Vec<(u64, u64)>, Failure> {
    let size = file.metadata()?.len();
    if !layout.is_sharded {
        return Ok(vec![(0, size)]);
    }
    let mut index = vec![0; layout.leaves().iter().product::<usize>() * 16 + 4];
    let start = size - index.len() as u64;
    file.read_exact_at(&mut index, start)?;
    let pairs = index.as_chunks::<8>().0.as_chunks::<2>().0.iter().map(|pair| pair.map(u64::from_le_bytes));
    Ok(pairs.map(|[start, length]| (start, start.wrapping_add(length))).collect())
}

/// A stored leaf.
struct Leaf<'f> {
    layout: &'f Layout,
    bytes: Bytes<'f>,
}

impl Leaf<'_> {
    /// Reads a part of the leaf to its position.
    fn read_box(
        self,
        part: &[Span],
        mut target: ViewMut<'_>,
        work: &mut Workspace,
        decoded: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        let (layout, size) = (self.layout, self.layout.leaf_size());
        let is_row_major = layout.order.is_sorted();
        if is_row_major
            && layout.word == 1
            && let Some(target) = target.as_slice_mut().filter(|target| target.len() == size)
        {
            return self.decode_to(target, work);
        }
        if is_row_major && size >= LARGE && layout.codecs.is_streamed() {
            return self.read_in_blocks(part, target, work, decoded);
        }
        self.decode(work, decoded)?;
        let strides: Vec<isize> = layout.leaf_strides().iter().map(|stride| stride.cast_signed()).collect();
        let view = View::of_strided(decoded, &layout.leaf, &strides, layout.width);
        target.copy_from(&view.region(part), layout.word);
        Ok(())
    }

    /// Decodes and copies a number of rows at a time that stays in the cache.
    fn read_in_blocks(
        self,
        part: &[Span],
        mut target: ViewMut<'_>,
        work: &mut Workspace,
        decoded: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        work.zstd.reset(ResetDirective::SessionOnly).map_err(|_| damaged())?;
        let is_raw = self.layout.codecs.compressor == Compressor::None;
        let mut source: Box<dyn Read> = match self.bytes {
            bytes if is_raw => Box::new(bytes),
            bytes => Box::new(Decoder::with_context(BufReader::with_capacity(BLOCK, bytes), &mut work.zstd)),
        };
        let (mut shape, mut from) = (self.layout.leaf.clone(), part.to_vec());
        let mut to: Vec<Span> = part.iter().map(|span| Span { start: 0, ..*span }).collect();
        let (rows, row) = (shape[0], self.layout.leaf_size() / shape[0]);
        for start in (0..part[0].start + part[0].count).step_by((BLOCK / row).max(1)) {
            shape[0] = (BLOCK / row).max(1).min(rows - start);
            decoded.resize(shape[0] * row, 0);
            source.read_exact(decoded)?;
            let first = part[0].start.max(start);
            let count = (part[0].start + part[0].count).min(start + shape[0]).saturating_sub(first);
            from[0] = Span { start: first - start, step: 1, count };
            to[0] = Span { start: first - part[0].start, step: 1, count };
            if count > 0 {
                let block = View::contiguous(decoded, &shape, self.layout.width);
                target.reborrow().into_region(&to).copy_from(&block.region(&from), self.layout.word);
            }
        }
        Ok(())
    }

    fn decode(self, work: &mut Workspace, decoded: &mut Vec<u8>) -> Result<(), Failure> {
        decoded.resize(self.layout.leaf_size(), 0);
        self.decode_to(decoded, work)
    }

    fn decode_to(mut self, decoded: &mut [u8], work: &mut Workspace) -> Result<(), Failure> {
        if self.layout.codecs.compressor == Compressor::None {
            return Ok(self.bytes.read_exact(decoded)?);
        }
        let mut encoded = std::mem::take(&mut work.encoded);
        encoded.resize((self.bytes.end - self.bytes.at) as usize, 0);
        self.bytes.read_exact(&mut encoded)?;
        let done = self.layout.codecs.decode(work, &encoded, decoded);
        work.encoded = encoded;
        done
    }
}

/// Bytes of a file.
struct Bytes<'f> {
    file: &'f File,
    at: u64,
    end: u64,
}

impl Read for Bytes<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let length = buffer.len().min((self.end - self.at) as usize);
        let read = self.file.read_at(&mut buffer[..length], self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}
