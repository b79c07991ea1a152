//! The elements of pages with the same form.

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use zarrox::data_type::Endian;
use zarrox::internals::data_type::ByteOrder;
use zarrox::{DataType, DynArray, Error, Result};

use super::codec::{Compression, Wanted, decompressed};
use super::form::Form;
use super::page::{Coding, Page};
use super::ycbcr;
use crate::chunks::rows::CHUNK;
use crate::chunks::{Elements, each_position};
use crate::input::{corrupt, zeroed};

/// A dimension along which pages are arranged: its name and length.
pub(super) type Axis = (String, u64);

/// The pages of an array in row-major order; `None` for a missing page.
pub(super) type Slots = Vec<Option<Arc<Page>>>;

/// An array of pages with the same form. Its dimensions are the page dimensions, sample planes, volume planes, rows,
/// columns, and interleaved samples.
#[derive(Debug)]
pub(super) struct Image {
    slots: Slots,
    form: Arc<Form>,
    /// The byte order of the elements.
    endian: Endian,
    axes: Vec<Axis>,
    /// The number of rows and columns in a chunk.
    chunk: (u64, u64),
    /// The number of pages in a chunk, along the last page dimension.
    in_chunk: u64,
    /// The fill value for strips and tiles that are not stored.
    fill: Vec<u8>,
    grid: Vec<u64>,
}

impl Image {
    /// Creates the elements of pages with the same form. There must be at least one page, and one slot for each position
    /// along `axes`.
    pub(super) fn new(slots: Slots, axes: Vec<Axis>) -> Result<Self> {
        let first = slots.iter().flatten().next().ok_or_else(|| corrupt("the file has no images"))?;
        let (form, endian) = (Arc::clone(&first.form), first.coding.endian);
        let row = (form.width * form.pixel()).max(1);
        let mut pages = slots.iter().flatten();
        let is_plain = pages.all(|page| page.coding.is_plain(&form));
        let rows = match (form.is_tiled, is_plain) {
            (true, _) => form.part.0,
            // A chunk contains one strip, or several small strips.
            (false, true) => (CHUNK / row).clamp(1, form.height),
            (false, false) => ((CHUNK / (row * form.part.0)).max(1) * form.part.0).min(form.height),
        };
        let chunk = (rows, form.part.1);
        let is_whole =
            chunk.0 >= form.height && chunk.1 >= form.width && form.planes() == 1 && form.depth == 1;
        let size = (chunk.0 * chunk.1 * form.pixel()).max(1);
        let in_chunk = match axes.last() {
            Some((_, pages)) if is_whole => (CHUNK / size).clamp(1, (*pages).max(1)),
            _ => 1,
        };
        let fill = vec![0; form.data_type().size()];
        let mut image = Self { slots, form, endian, axes, chunk, in_chunk, fill, grid: Vec::new() };
        let chunk = image.chunk_shape();
        image.grid =
            image.shape().iter().zip(&chunk).map(|(length, chunk)| length.div_ceil(*chunk)).collect();
        Ok(image)
    }

    /// Sets the fill value for strips and tiles that are not stored.
    pub(super) fn with_fill(self, fill: Vec<u8>) -> Self {
        if fill.len() == self.fill.len() { Self { fill, ..self } } else { self }
    }

    /// Makes each page a separate chunk.
    pub(super) fn with_single_pages(mut self) -> Self {
        self.in_chunk = 1;
        let chunk = self.chunk_shape();
        self.grid = self.shape().iter().zip(&chunk).map(|(length, chunk)| length.div_ceil(*chunk)).collect();
        self
    }

    pub(super) fn data_type(&self) -> &DataType {
        self.form.data_type()
    }

    pub(super) fn shape(&self) -> Vec<u64> {
        let pages = self.axes.iter().map(|(_, length)| *length);
        self.with(pages, self.form.planes(), self.form.depth, self.form.height, self.form.width)
    }

    /// Returns the names of all dimensions.
    pub(super) fn names(&self) -> Vec<String> {
        let pages = self.axes.iter().map(|(name, _)| name.clone());
        let channel = || "channel".to_owned();
        let planes = self.form.is_planar.then(channel);
        let together = (self.form.together() > 1).then(channel);
        let depth = (self.form.depth > 1).then(|| {
            let has_z = self.axes.iter().any(|(name, _)| name == "z");
            if has_z { "depth".to_owned() } else { "z".to_owned() }
        });
        let sides = ["y".to_owned(), "x".to_owned()];
        pages.chain(planes).chain(depth).chain(sides).chain(together).collect()
    }

    /// Returns the lengths along all dimensions.
    fn with(
        &self,
        pages: impl Iterator<Item = u64>,
        planes: u64,
        depth: u64,
        rows: u64,
        columns: u64,
    ) -> Vec<u64> {
        let planes = self.form.is_planar.then_some(planes);
        let depth = (self.form.depth > 1).then_some(depth);
        let together = Some(self.form.together()).filter(|&samples| samples > 1);
        pages.chain(planes).chain(depth).chain([rows, columns]).chain(together).collect()
    }

    /// Returns the location of the chunk with the given chunk index.
    fn place(&self, chunk: &[u64]) -> ChunkLocation {
        let (pages, inner) = chunk.split_at(self.axes.len().min(chunk.len()));
        let last = self.axes.len().saturating_sub(1);
        let (mut first, mut count) = (0_u64, 1);
        for (dim, (index, (_, length))) in pages.iter().zip(&self.axes).enumerate() {
            let start = if dim == last { index * self.in_chunk } else { *index };
            count = if dim == last { self.in_chunk.min(length.saturating_sub(start)) } else { 1 };
            first = first * length + start;
        }
        let mut inner = inner.iter().copied();
        let mut next = |is_there: bool| if is_there { inner.next().unwrap_or(0) } else { 0 };
        ChunkLocation {
            pages: first..first + count,
            plane: next(self.form.is_planar),
            behind: next(self.form.depth > 1),
            row: next(true),
            column: next(true),
        }
    }

    /// Returns the range of rows of strips or tiles that a chunk covers.
    fn parts(&self, row: u64) -> Range<u64> {
        let first = row * self.chunk.0;
        let last = (first + self.chunk.0).min(self.form.height);
        first / self.form.part.0..last.div_ceil(self.form.part.0)
    }

    fn page(&self, number: u64) -> Option<&Arc<Page>> {
        usize::try_from(number).ok().and_then(|number| self.slots.get(number)?.as_ref())
    }

    /// Returns the location of a strip or tile in the file.
    fn stored(&self, number: u64, place: &ChunkLocation, part: u64) -> (u64, u64) {
        let (behind, below, beside) = self.form.parts();
        let index = ((place.plane * behind + place.behind) * below + part) * beside + place.column;
        let page = self.page(number).zip(usize::try_from(index).ok());
        page.and_then(|(page, index)| page.places.get(index)).copied().unwrap_or((0, 0))
    }

    /// Returns the bytes of the rows of a page that are in a chunk. A chunk may extend beyond the last row of the page.
    fn rows(&self, number: u64, place: &ChunkLocation) -> Result<Vec<u8>> {
        let length = self.chunk.1 * self.form.pixel();
        let (first, last) =
            (place.row * self.chunk.0, ((place.row + 1) * self.chunk.0).min(self.form.height));
        let mut all = Vec::new();
        for part in self.parts(place.row) {
            let begin = part * self.form.part.0;
            // Tiles can extend beyond the last row, but the last strip ends at the last row.
            let (end, wanted) = match self.form.is_tiled {
                true => {
                    let end = begin + self.form.part.0 * self.form.part_depth;
                    (end, first.max(begin)..end)
                }
                false => {
                    let end = (begin + self.form.part.0).min(self.form.height);
                    (end, first.max(begin)..last.min(end))
                }
            };
            let skipped = wanted.start - begin;
            let count = wanted.end - wanted.start;
            let bytes =
                |rows: u64| usize::try_from(rows * length).map_err(|_| corrupt("a strip is too large"));
            let (offset, size) = self.stored(number, place, part);
            let Some(page) = self.page(number).filter(|_| size > 0) else {
                let blank = bytes(count)? / self.fill.len().max(1);
                all.extend(std::iter::repeat_n(self.fill.as_slice(), blank).flatten());
                continue;
            };
            if page.coding.is_plain(&self.form) {
                let (skipped, count) = (skipped * length, count * length);
                if skipped + count > size {
                    return Err(corrupt(format!(
                        "a strip or tile has {size} bytes instead of {}",
                        skipped + count
                    )));
                }
                let offset =
                    offset.checked_add(skipped).ok_or_else(|| corrupt("an offset exceeds 64 bits"))?;
                let mut rows = page.source.input()?.read(offset, count)?;
                if all.is_empty() {
                    all = rows;
                } else {
                    all.append(&mut rows);
                }
                continue;
            }
            let mut whole =
                self.decoded(page.source.input()?.read(offset, size)?, &page.coding, end - begin)?;
            let rows = bytes(skipped)?..bytes(skipped + count)?;
            if all.is_empty() && rows.start == 0 && rows.end <= whole.len() {
                whole.truncate(rows.end);
                all = whole;
                continue;
            }
            let rows = whole.get(rows).ok_or_else(|| corrupt("a strip or tile is too short"))?;
            all.extend_from_slice(rows);
        }
        self.reorder(&mut all, number);
        Ok(all)
    }

    /// Decodes the elements of a strip or tile with `rows` rows.
    fn decoded(&self, mut stored: Vec<u8>, coding: &Coding, rows: u64) -> Result<Vec<u8>> {
        let form = &*self.form;
        let number =
            |number: u64| usize::try_from(number).map_err(|_| corrupt("a strip or tile is too large"));
        let is_unpacked = coding.compression.has_unpacked_elements();
        let size = if is_unpacked { rows * form.part.1 * form.pixel() } else { form.stored(rows) };
        let (samples, columns, size) = (number(form.together())?, number(form.part.1)?, number(size)?);
        if coding.is_reversed {
            stored.iter_mut().for_each(|byte| *byte = byte.reverse_bits());
        }
        let wanted = Wanted {
            rows: number(rows)?,
            columns,
            samples,
            sample: &form.sample,
            size,
            endian: coding.endian,
        };
        let mut whole = match coding.compression {
            Compression::None => stored,
            compression => decompressed(compression, stored, &coding.tables, wanted)?,
        };
        if whole.len() < size {
            return Err(corrupt(format!("a strip or tile has {} bytes instead of {size}", whole.len())));
        }
        whole.truncate(size);
        if is_unpacked {
            return Ok(whole);
        }
        if let Some(block) = form.subsampling {
            return Ok(ycbcr::spread(&whole, wanted.rows, columns, (number(block.0)?, number(block.1)?)));
        }
        coding.predictor.undo(
            &mut whole,
            number(form.stored_row())?,
            samples,
            number(form.sample.size())?,
            coding.endian,
        )?;
        form.sample.unpacked(whole, columns.saturating_mul(samples), coding.endian)
    }

    /// Converts the bytes of a page, which may be in a file with another byte order, to the byte order of the array.
    fn reorder(&self, bytes: &mut [u8], number: u64) {
        if self.page(number).is_none_or(|page| page.coding.endian == self.endian) {
            return;
        }
        let size = match self.form.data_type() {
            DataType::Complex64 => 4,
            DataType::Complex128 => 8,
            other => other.size(),
        };
        bytes.chunks_exact_mut(size.max(1)).for_each(<[u8]>::reverse);
    }
}

/// The location of a chunk.
#[derive(Debug)]
struct ChunkLocation {
    pages: Range<u64>,
    /// The index of the sample plane.
    plane: u64,
    /// The index of the tile along volume planes.
    behind: u64,
    /// The index of the chunk along rows.
    row: u64,
    /// The index of the tile along columns.
    column: u64,
}

impl Elements for Image {
    fn grid(&self) -> &[u64] {
        &self.grid
    }

    fn chunk_shape(&self) -> Vec<u64> {
        let last = self.axes.len().saturating_sub(1);
        let pages = (0..self.axes.len()).map(|dim| if dim == last { self.in_chunk } else { 1 });
        self.with(pages, 1, self.form.part_depth, self.chunk.0, self.chunk.1)
    }

    fn is_stored(&self, chunk: &[u64]) -> bool {
        let place = self.place(chunk);
        let mut pages = place.pages.clone();
        pages.any(|page| self.parts(place.row).any(|part| self.stored(page, &place, part).1 > 0))
    }

    fn visit(&self, visit: &mut dyn FnMut(&[u64]) -> ControlFlow<()>) -> ControlFlow<()> {
        each_position(&self.grid, &mut |chunk| match self.is_stored(chunk) {
            true => visit(chunk),
            false => ControlFlow::Continue(()),
        })
    }

    fn read(&self, chunk: &[u64]) -> Result<DynArray> {
        let place = self.place(chunk);
        let shape: Vec<usize> =
            self.chunk_shape().iter().map(|&length| usize::try_from(length).unwrap_or(usize::MAX)).collect();
        let item = self.form.data_type().size();
        let size = shape.iter().fold(item, |size, &length| size.saturating_mul(length));
        let page_size = size / usize::try_from(self.in_chunk).unwrap_or(1).max(1);
        let mut bytes = Vec::new();
        for page in place.pages.clone() {
            let mut rows =
                self.rows(page, &place).map_err(|error: Error| error.at(format!("page {page}")))?;
            let begin = bytes.len();
            if begin == 0 {
                bytes = rows;
            } else {
                bytes.append(&mut rows);
            }
            grow(&mut bytes, begin + page_size)?;
        }
        grow(&mut bytes, size)?;
        let order = ByteOrder::One(self.endian);
        DynArray::from_foreign(self.form.data_type().clone(), shape, bytes, &order, zarrox::Order::RowMajor)
    }
}

/// Pads bytes with zeros. Returns an error if memory cannot be allocated.
fn grow(bytes: &mut Vec<u8>, size: usize) -> Result<()> {
    if bytes.is_empty() {
        *bytes = zeroed(size)?;
    }
    bytes.resize(size, 0);
    Ok(())
}
