//! The elements of pages of one form.

use std::ops::{ControlFlow, Range};

use zarrox::data_type::ByteOrder;
use zarrox::{DataType, DynArray, Error, Result};

use super::axes::Axis;
use super::decode::{Compression, Predictor, decompressed};
use super::directory::File;
use super::page::{Form, Page};
use crate::chunks::{Elements, each_position};
use crate::input::{corrupt, zeroed};
use crate::rows::CHUNK;

/// Pages of one form as an array: their own dimensions, planes, rows, columns, and the samples that lie together.
#[derive(Debug)]
pub(super) struct Image {
    file: File,
    pages: Vec<Page>,
    form: Form,
    axes: Vec<Axis>,
    /// The number of rows and of columns in a chunk.
    chunk: (u64, u64),
    /// The number of pages in a chunk, along the only dimension of pages.
    in_chunk: u64,
    /// The element of strips and tiles that are not stored.
    fill: Vec<u8>,
    grid: Vec<u64>,
}

impl Image {
    /// The elements of pages, of which there is at least one.
    pub(super) fn new(file: File, pages: Vec<Page>, axes: Vec<Axis>) -> Result<Self> {
        let form =
            pages.first().map(|page| page.form.clone()).ok_or_else(|| corrupt("there are no images"))?;
        let row = (form.width * form.pixel()).max(1);
        let is_loose = pages
            .iter()
            .all(|page| page.compression == Compression::None && page.predictor == Predictor::None);
        let rows = match (form.is_tiled, is_loose) {
            (true, _) => form.part.0,
            // Rows are read alone, or with their neighbours.
            (false, true) => (CHUNK / row).clamp(1, form.height),
            (false, false) => ((CHUNK / (row * form.part.0)).max(1) * form.part.0).min(form.height),
        };
        let chunk = (rows, form.part.1);
        let is_whole = chunk.0 >= form.height && chunk.1 >= form.width && form.planes() == 1;
        let size = (chunk.0 * chunk.1 * form.pixel()).max(1);
        let in_chunk = match axes.as_slice() {
            [(_, pages)] if is_whole => (CHUNK / size).clamp(1, *pages),
            _ => 1,
        };
        let fill = vec![0; form.data_type.size()];
        let mut image = Self { file, pages, form, axes, chunk, in_chunk, fill, grid: Vec::new() };
        let chunk = image.chunk_shape();
        image.grid =
            image.shape().iter().zip(&chunk).map(|(length, chunk)| length.div_ceil(*chunk)).collect();
        Ok(image)
    }

    /// Sets the element of strips and tiles that are not stored.
    pub(super) fn with_fill(self, fill: Vec<u8>) -> Self {
        if fill.len() == self.fill.len() { Self { fill, ..self } } else { self }
    }

    pub(super) fn data_type(&self) -> &DataType {
        &self.form.data_type
    }

    pub(super) fn shape(&self) -> Vec<u64> {
        let pages = self.axes.iter().map(|(_, length)| *length);
        self.with(pages, self.form.planes(), self.form.height, self.form.width)
    }

    pub(super) fn names(&self) -> Vec<Option<String>> {
        let pages = self.axes.iter().map(|(name, _)| name.clone());
        let channel = || "channel".to_owned();
        let planes = self.form.is_planar.then(channel);
        let together = (self.form.together() > 1).then(channel);
        pages.chain(planes).chain(["y".to_owned(), "x".to_owned()]).chain(together).map(Some).collect()
    }

    /// Lengths along all dimensions.
    fn with(&self, pages: impl Iterator<Item = u64>, planes: u64, rows: u64, columns: u64) -> Vec<u64> {
        let planes = self.form.is_planar.then_some(planes);
        let together = Some(self.form.together()).filter(|&samples| samples > 1);
        pages.chain(planes).chain([rows, columns]).chain(together).collect()
    }

    /// The pages of a chunk, its plane, its rows and its columns, by its place in the grid.
    fn place(&self, chunk: &[u64]) -> (Range<u64>, u64, u64, u64) {
        let (pages, inner) = chunk.split_at(self.axes.len());
        let page = pages.iter().zip(&self.axes).fold(0, |page, (index, (_, length))| page * length + index);
        let first = page * self.in_chunk;
        let last = (first + self.in_chunk).min(self.pages.len() as u64);
        match (self.form.is_planar, inner) {
            (true, &[plane, row, column, ..]) => (first..last, plane, row, column),
            (false, &[row, column, ..]) => (first..last, 0, row, column),
            _ => (first..last, 0, 0, 0),
        }
    }

    /// The strips or tiles of a chunk, by their place below one another, and the place of their tile beside one another.
    fn parts(&self, row: u64) -> Range<u64> {
        let first = row * self.chunk.0;
        let last = (first + self.chunk.0).min(self.form.height);
        first / self.form.part.0..last.div_ceil(self.form.part.0)
    }

    /// The place of a strip or a tile in the file.
    fn stored(&self, page: u64, plane: u64, part: u64, column: u64) -> (u64, u64) {
        let (below, beside) = self.form.parts();
        let index = (plane * below + part) * beside + column;
        let page = usize::try_from(page).ok().and_then(|page| self.pages.get(page));
        let place = page.zip(usize::try_from(index).ok()).and_then(|(page, index)| page.places.get(index));
        place.copied().unwrap_or((0, 0))
    }

    /// The rows of one page in a chunk. Where a chunk has more rows than the page, they are missing.
    fn rows(&self, number: u64, plane: u64, row: u64, column: u64) -> Result<Vec<u8>> {
        let page = usize::try_from(number).ok().and_then(|page| self.pages.get(page));
        let page = page.ok_or_else(|| corrupt("there is no such page"))?;
        let length = self.chunk.1 * self.form.pixel();
        let (first, last) = (row * self.chunk.0, ((row + 1) * self.chunk.0).min(self.form.height));
        let mut all = Vec::new();
        for part in self.parts(row) {
            let begin = part * self.form.part.0;
            // Tiles are whole, also beyond the last row; the last strip ends with the image.
            let end = begin + self.form.part.0;
            let end = if self.form.is_tiled { end } else { end.min(self.form.height) };
            let wanted = first.max(begin)..if self.form.is_tiled { end } else { last.min(end) };
            let (offset, size) = self.stored(number, plane, part, column);
            let bytes =
                |rows: u64| usize::try_from(rows * length).map_err(|_| corrupt("a strip is too large"));
            if size == 0 {
                let blank = bytes(wanted.end - wanted.start)? / self.fill.len().max(1);
                all.extend(std::iter::repeat_n(self.fill.as_slice(), blank).flatten());
                continue;
            }
            if page.compression == Compression::None && page.predictor == Predictor::None {
                let (skipped, count) =
                    ((wanted.start - begin) * length, (wanted.end - wanted.start) * length);
                if skipped + count > size {
                    return Err(corrupt(format!(
                        "a strip or a tile has {size} bytes instead of {}",
                        skipped + count
                    )));
                }
                let offset = offset.checked_add(skipped).ok_or_else(|| corrupt("an address is too large"))?;
                all.append(&mut self.file.input.read(offset, count)?);
                continue;
            }
            let stored = self.file.input.read(offset, size)?;
            let mut whole = decompressed(page.compression, stored, &page.tables, bytes(end - begin)?)?;
            let (samples, item) = (self.form.together(), self.form.data_type.size());
            let samples = usize::try_from(samples).unwrap_or(1);
            page.predictor.undo(&mut whole, bytes(1)?, samples, item, page.endian);
            all.extend_from_slice(&whole[bytes(wanted.start - begin)?..bytes(wanted.end - begin)?]);
        }
        Ok(all)
    }
}

impl Elements for Image {
    fn grid(&self) -> &[u64] {
        &self.grid
    }

    fn chunk_shape(&self) -> Vec<u64> {
        let pages = self.axes.iter().map(|_| self.in_chunk);
        self.with(pages, 1, self.chunk.0, self.chunk.1)
    }

    fn is_stored(&self, chunk: &[u64]) -> bool {
        let (mut pages, plane, row, column) = self.place(chunk);
        pages.any(|page| self.parts(row).any(|part| self.stored(page, plane, part, column).1 > 0))
    }

    fn visit(&self, visit: &mut dyn FnMut(&[u64]) -> ControlFlow<()>) -> ControlFlow<()> {
        each_position(&self.grid, &mut |chunk| match self.is_stored(chunk) {
            true => visit(chunk),
            false => ControlFlow::Continue(()),
        })
    }

    fn read(&self, chunk: &[u64]) -> Result<DynArray> {
        let (pages, plane, row, column) = self.place(chunk);
        let shape: Vec<usize> =
            self.chunk_shape().iter().map(|&length| usize::try_from(length).unwrap_or(usize::MAX)).collect();
        let size = shape.iter().fold(self.form.data_type.size(), |size, &length| size.saturating_mul(length));
        let page_size = size / usize::try_from(self.in_chunk).unwrap_or(1).max(1);
        let mut bytes = Vec::new();
        for page in pages {
            let mut rows = self
                .rows(page, plane, row, column)
                .map_err(|error: Error| error.at(format!("page {page}")))?;
            let begin = bytes.len();
            if begin == 0 {
                bytes = rows;
            } else {
                bytes.append(&mut rows);
            }
            grow(&mut bytes, begin + page_size)?;
        }
        grow(&mut bytes, size)?;
        let endian = self.pages.first().map_or(zarrox::data_type::Endian::NATIVE, |page| page.endian);
        // The samples of JPEG are bytes, so that all have the order of the file.
        DynArray::from_foreign(self.form.data_type.clone(), shape, bytes, &ByteOrder::One(endian), false)
    }
}

/// Makes bytes longer by zeros, where there is memory for them.
fn grow(bytes: &mut Vec<u8>, size: usize) -> Result<()> {
    if bytes.is_empty() {
        *bytes = zeroed(size)?;
    }
    bytes.resize(size, 0);
    Ok(())
}
