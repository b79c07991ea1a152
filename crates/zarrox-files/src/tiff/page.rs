//! Pages: the images in a file, as described by their tags.

use std::sync::Arc;

use zarrox::Result;
use zarrox::data_type::Endian;

use super::codec::{Compression, Properties};
use super::directory::Directory;
use super::form::Form;
use super::predictor::Predictor;
use super::tag;
use crate::input::{Source, corrupt, unsupported};

/// The number of bytes at the start of a strip or tile in which its header is searched for.
const HEADER: u64 = 1 << 16;

/// The encoding of strips and tiles.
#[derive(Debug, PartialEq)]
pub(super) struct Coding {
    pub(super) compression: Compression,
    pub(super) predictor: Predictor,
    pub(super) endian: Endian,
    /// True if the bits of each byte are reversed (fill order 2).
    pub(super) is_reversed: bool,
    /// The tables shared by all JPEGs.
    pub(super) tables: Vec<u8>,
}

impl Coding {
    /// Returns true if the stored bytes are the elements themselves.
    pub(super) fn is_plain(&self, form: &Form) -> bool {
        self.compression == Compression::None
            && self.predictor == Predictor::None
            && !self.is_reversed
            && !form.sample.is_packed()
            && form.subsampling.is_none()
    }
}

/// An image.
#[derive(Debug, Clone)]
pub(super) struct Page {
    pub(super) form: Arc<Form>,
    pub(super) coding: Arc<Coding>,
    /// The file that contains the strips or tiles.
    pub(super) source: Source,
    /// The offset and size of each strip or tile in the file.
    pub(super) places: Vec<(u64, u64)>,
}

/// The role of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// A separate image, neither an overview nor a mask.
    Main,
    /// An overview of another page.
    Reduced,
    /// A mask of another page.
    Mask,
}

impl Role {
    /// Determines the role from the tags of a directory.
    pub(super) fn of(directory: &Directory) -> Result<Self> {
        let subfile = directory.number(tag::SUBFILE)?.unwrap_or(0);
        let is_mask = subfile & 4 == 4 || directory.number(tag::PHOTOMETRIC)? == Some(4);
        Ok(match (is_mask, subfile & 1 == 1) {
            (true, _) => Self::Mask,
            (false, true) => Self::Reduced,
            (false, false) => Self::Main,
        })
    }
}

impl Page {
    pub(super) fn of(directory: &Directory) -> Result<Self> {
        let number = |tag| directory.number(tag);
        let file = directory.file();
        let mut form = Form::of(directory)?;
        let lerc = if directory.size(tag::LERC) > 64 { Vec::new() } else { directory.numbers(tag::LERC)? };
        let properties = Properties {
            photometric: form.photometric,
            samples: form.together(),
            sample: &form.sample,
            t4_options: number(tag::T4_OPTIONS)?.unwrap_or(0),
            lerc: &lerc,
        };
        let compression = Compression::of(number(tag::COMPRESSION)?.unwrap_or(1), properties)?;
        let is_reversed = number(tag::FILL_ORDER)?.unwrap_or(1) == 2 && compression.can_be_reversed();
        let is_jpeg = matches!(compression, Compression::Jpeg(_));
        if form.photometric == 6 && !compression.has_own_colours() {
            form.subsampling = subsampling(directory, &form)?;
        }
        let predictor = match compression.has_own_elements() {
            true => Predictor::None,
            false => Predictor::of(number(tag::PREDICTOR)?.unwrap_or(1), &form.sample)?,
        };
        if form.subsampling.is_some() && predictor != Predictor::None {
            return Err(unsupported("a predictor for subsampled YCbCr is not supported"));
        }
        let tables = if is_jpeg { directory.bytes(tag::JPEG_TABLES)? } else { None };
        let tables = tables.map(|(bytes, _)| bytes).unwrap_or_default();
        let source = Source::Open(Arc::clone(&file.input));
        let places = places(directory, &form, compression)?;
        if compression.has_header()
            && let Some(&(offset, size)) = places.iter().find(|(_, size)| *size > 0)
        {
            let start = file.input.read(offset, size.min(HEADER))?;
            compression.check_header(&start, form.together(), &form.sample)?;
        }
        let coding = Coding { compression, predictor, endian: file.endian, is_reversed, tables };
        Ok(Self { form: Arc::new(form), coding: Arc::new(coding), source, places })
    }

    /// Returns the pages, including this one, of a stack whose planes are stored contiguously after this page. Planes
    /// beyond the end of the file are omitted.
    pub(super) fn contiguous(&self, count: u64, length: u64) -> Vec<Self> {
        let rows = self.form.height.checked_mul(self.form.depth);
        let rows = rows.and_then(|rows| rows.checked_mul(self.form.planes()));
        // The number of rows in an uncompressed page cannot exceed the number of bytes in the file.
        let Some(rows) = rows.filter(|rows| *rows <= length) else { return Vec::new() };
        let size = self.form.stored(rows);
        let last = self.places.iter().map(|(offset, size)| offset.saturating_add(*size)).max().unwrap_or(0);
        let plane = |nth: u64| {
            let distance = nth.checked_mul(size)?;
            if last.checked_add(distance)? > length {
                return None;
            }
            let places = self.places.iter().map(|(offset, size)| (offset + distance, *size)).collect();
            Some(Self { places, ..self.clone() })
        };
        (0..count).map_while(plane).collect()
    }

    /// Returns true if the strips of the page are uncompressed and contiguous.
    pub(super) fn is_contiguous(&self) -> bool {
        let is_compressed = self.coding.compression != Compression::None || self.form.is_tiled;
        let mut pairs = self.places.windows(2);
        !is_compressed && pairs.all(|pair| pair[0].0.checked_add(pair[0].1) == Some(pair[1].0))
    }
}

/// Returns the shape of YCbCr subsampling blocks; `None` without subsampling.
fn subsampling(directory: &Directory, form: &Form) -> Result<Option<(u64, u64)>> {
    let numbers = if directory.size(tag::SUBSAMPLING) > 64 {
        Vec::new()
    } else {
        directory.numbers(tag::SUBSAMPLING)?
    };
    let (x, y) = match numbers.as_slice() {
        [x, y, ..] => (*x, *y),
        _ => (2, 2),
    };
    if (x, y) == (1, 1) || form.is_planar && form.samples != 3 {
        return Ok(None);
    }
    if form.is_planar
        || form.samples != 3
        || form.sample.bits != 8
        || ![1, 2, 4].contains(&x)
        || ![1, 2, 4].contains(&y)
    {
        return Err(unsupported(format!("YCbCr subsampling of {x} x {y} pixels is not supported")));
    }
    Ok(Some((x, y)))
}

/// Returns the offset and size of each strip or tile in the file.
fn places(directory: &Directory, form: &Form, compression: Compression) -> Result<Vec<(u64, u64)>> {
    let tags = match form.is_tiled {
        true => (tag::TILE_OFFSETS, tag::TILE_SIZES),
        false => (tag::STRIP_OFFSETS, tag::STRIP_SIZES),
    };
    // Some writers use the strip tags for tiles.
    let tags = if directory.has(tags.0) { tags } else { (tag::STRIP_OFFSETS, tag::STRIP_SIZES) };
    let (offsets, mut sizes) = (directory.numbers(tags.0)?, directory.numbers(tags.1)?);
    let count = form.count().ok_or_else(|| corrupt("there are too many strips or tiles"))?;
    if offsets.is_empty() && count <= MOST_MISSING {
        // The file was closed before any strip was written, so all strips are missing.
        return Ok(vec![(0, 0); usize::try_from(count).unwrap_or(0)]);
    }
    // Some programs write no sizes, or only zeros. If only some sizes are 0, those strips or tiles are missing.
    let has_places = offsets.iter().any(|&offset| offset > 0);
    if has_places && sizes.iter().all(|&size| size == 0) {
        sizes = estimated(&offsets, form, compression, directory.file().input.length());
    }
    if sizes.len() < offsets.len() || (offsets.len() as u64) < count {
        return Err(corrupt(format!(
            "the file has {} offsets and {} sizes of strips or tiles, but {form} needs {count}",
            offsets.len(),
            sizes.len()
        )));
    }
    // Any additional entries do not belong to the image.
    Ok(offsets.into_iter().zip(sizes).take(usize::try_from(count).unwrap_or(usize::MAX)).collect())
}

/// Estimates the sizes of the strips or tiles at the given offsets. A compressed strip or tile ends before the next one,
/// and is not much larger than its elements.
fn estimated(offsets: &[u64], form: &Form, compression: Compression, length: u64) -> Vec<u64> {
    let mut ends: Vec<u64> = offsets.iter().copied().chain([length]).collect();
    ends.sort_unstable();
    let size = |(nth, &offset): (u64, &u64)| {
        if offset == 0 {
            return 0;
        }
        let size = form.stored(rows_of(form, nth));
        if compression == Compression::None {
            return size;
        }
        let next = ends.get(ends.partition_point(|&end| end <= offset)).copied().unwrap_or(length);
        next.saturating_sub(offset).min(size.saturating_mul(2).saturating_add(HEADER))
    };
    (0..).zip(offsets).map(size).collect()
}

/// The maximum number of strips or tiles in an image of which none is stored.
const MOST_MISSING: u64 = 1 << 20;

/// Returns the number of rows in a strip or tile.
fn rows_of(form: &Form, nth: u64) -> u64 {
    if form.is_tiled {
        return form.part.0 * form.part_depth;
    }
    let begin = nth % form.parts().1 * form.part.0;
    form.part.0.min(form.height - begin)
}
