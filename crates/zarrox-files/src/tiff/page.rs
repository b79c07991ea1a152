//! Pages: the images of a file, by their tags.

use std::fmt;

use zarrox::data_type::Endian;
use zarrox::{DataType, Error, ErrorKind, Result};

use super::decode::{Compression, Predictor};
use super::directory::Directory;
use crate::input::{corrupt, unsupported};

/// The most bytes of a strip, which is no larger than its image, and of a tile.
const MOST_STRIP: u64 = 1 << 30;
const MOST_TILE: u64 = 1 << 28;

/// The numbers of tags.
mod tag {
    pub(super) const SUBFILE: u16 = 254;
    pub(super) const WIDTH: u16 = 256;
    pub(super) const HEIGHT: u16 = 257;
    pub(super) const BITS: u16 = 258;
    pub(super) const COMPRESSION: u16 = 259;
    pub(super) const PHOTOMETRIC: u16 = 262;
    pub(super) const FILL_ORDER: u16 = 266;
    pub(super) const STRIP_OFFSETS: u16 = 273;
    pub(super) const SAMPLES: u16 = 277;
    pub(super) const STRIP_ROWS: u16 = 278;
    pub(super) const STRIP_SIZES: u16 = 279;
    pub(super) const PLANAR: u16 = 284;
    pub(super) const PREDICTOR: u16 = 317;
    pub(super) const TILE_WIDTH: u16 = 322;
    pub(super) const TILE_HEIGHT: u16 = 323;
    pub(super) const TILE_OFFSETS: u16 = 324;
    pub(super) const TILE_SIZES: u16 = 325;
    pub(super) const FORMAT: u16 = 339;
    pub(super) const JPEG_TABLES: u16 = 347;
    pub(super) const SUBSAMPLING: u16 = 530;
}

/// The form of a page: pages of one form become one array.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Form {
    pub(super) width: u64,
    pub(super) height: u64,
    /// The number of samples of a pixel.
    pub(super) samples: u64,
    /// True if the samples of a kind lie together.
    pub(super) is_planar: bool,
    pub(super) data_type: DataType,
    /// The height of a strip or a tile, and the width.
    pub(super) part: (u64, u64),
    pub(super) is_tiled: bool,
}

/// An image.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) form: Form,
    /// True for a smaller copy of another page.
    pub(super) is_reduced: bool,
    /// True for a mask of another page.
    pub(super) is_mask: bool,
    pub(super) compression: Compression,
    pub(super) predictor: Predictor,
    pub(super) endian: Endian,
    /// The tables of all JPEGs.
    pub(super) tables: Vec<u8>,
    /// The place of each strip or tile, and its size in the file.
    pub(super) places: Vec<(u64, u64)>,
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { height, width, samples, data_type, .. } = self;
        write!(f, "{height} times {width} pixels with {samples} samples of {data_type}")
    }
}

impl Form {
    /// The number of samples that lie together.
    pub(super) fn together(&self) -> u64 {
        if self.is_planar { 1 } else { self.samples }
    }

    /// The number of planes.
    pub(super) fn planes(&self) -> u64 {
        if self.is_planar { self.samples } else { 1 }
    }

    /// The number of bytes of a pixel in a plane.
    pub(super) fn pixel(&self) -> u64 {
        self.together() * self.data_type.size() as u64
    }

    /// The number of strips or tiles below one another, and beside one another.
    pub(super) fn parts(&self) -> (u64, u64) {
        (self.height.div_ceil(self.part.0), self.width.div_ceil(self.part.1))
    }
}

impl Page {
    pub(super) fn of(directory: &Directory, endian: Endian) -> Result<Self> {
        let number = |tag| directory.number(tag);
        let subfile = number(tag::SUBFILE)?.unwrap_or(0);
        let is_tiled = number(tag::TILE_WIDTH)?.is_some();
        let form = form(directory, is_tiled)?;
        let photometric = number(tag::PHOTOMETRIC)?.unwrap_or(1);
        let compression = match Compression::of(number(tag::COMPRESSION)?.unwrap_or(1))? {
            Compression::Jpeg(_) => Compression::Jpeg(photometric == 2),
            compression => compression,
        };
        let is_jpeg = matches!(compression, Compression::Jpeg(_));
        if number(tag::FILL_ORDER)?.unwrap_or(1) != 1 {
            return Err(unsupported("the bits of bytes are reversed"));
        }
        if photometric == 6 && !is_jpeg {
            let subsampling = directory.numbers(tag::SUBSAMPLING)?;
            if subsampling.iter().any(|&number| number != 1) || subsampling.is_empty() {
                return Err(unsupported("the colours have fewer pixels than the brightness"));
            }
        }
        if is_jpeg
            && !(form.data_type == DataType::UInt8
                && matches!((photometric, form.together()), (0 | 1, 1) | (2 | 6, 3)))
        {
            return Err(unsupported("JPEG has other elements than gray or three colours of 8 bits"));
        }
        let predictor = Predictor::of(number(tag::PREDICTOR)?.unwrap_or(1), &form.data_type)?;
        let tables = directory.bytes(tag::JPEG_TABLES)?.map(|(bytes, _)| bytes).unwrap_or_default();
        let places = places(directory, &form)?;
        let (is_reduced, is_mask) = (subfile & 1 == 1, subfile & 4 == 4);
        Ok(Self { form, is_reduced, is_mask, compression, predictor, endian, tables, places })
    }
}

fn form(directory: &Directory, is_tiled: bool) -> Result<Form> {
    let number = |tag| directory.number(tag);
    let needed = |tag, name: &str| number(tag)?.ok_or_else(|| corrupt(format!("an image has no {name}")));
    let side = |length: u64, name: &str| match length {
        1..=0x7fff_ffff => Ok(length),
        _ => Err(corrupt(format!("an image has the {name} {length}"))),
    };
    let width = side(needed(tag::WIDTH, "width")?, "width")?;
    let height = side(needed(tag::HEIGHT, "height")?, "height")?;
    let samples = number(tag::SAMPLES)?.unwrap_or(1);
    if !(1..=1 << 16).contains(&samples) {
        return Err(corrupt(format!("a pixel has {samples} samples")));
    }
    let of_all = |numbers: Vec<u64>, usual: u64| {
        let first = numbers.first().copied().unwrap_or(usual);
        if numbers.iter().all(|&number| number == first) {
            Ok(first)
        } else {
            Err(unsupported("the samples have different types"))
        }
    };
    if directory.size(tag::BITS).max(directory.size(tag::FORMAT)) > 1 << 20 {
        return Err(corrupt("the samples have too many types"));
    }
    let bits = of_all(directory.numbers(tag::BITS)?, 1)?;
    let format = of_all(directory.numbers(tag::FORMAT)?, 1)?;
    let data_type = data_type(bits, format)?;
    let part = match is_tiled {
        true => (
            side(needed(tag::TILE_HEIGHT, "height of tiles")?, "height of tiles")?,
            side(needed(tag::TILE_WIDTH, "width of tiles")?, "width of tiles")?,
        ),
        false => (number(tag::STRIP_ROWS)?.unwrap_or(height).clamp(1, height), width),
    };
    let is_planar = samples > 1 && number(tag::PLANAR)?.unwrap_or(1) == 2;
    let form = Form { width, height, samples, is_planar, data_type, part, is_tiled };
    let size = part.0.checked_mul(part.1).and_then(|pixels| pixels.checked_mul(form.pixel()));
    let most = if is_tiled { MOST_TILE } else { MOST_STRIP };
    if size.is_none_or(|size| size > most) {
        let message = format!(
            "a strip or a tile has at most {most} bytes, and these have {} times {} pixels",
            part.0, part.1
        );
        return Err(Error::new(ErrorKind::LimitExceeded, message));
    }
    Ok(form)
}

fn data_type(bits: u64, format: u64) -> Result<DataType> {
    Ok(match (format, bits) {
        (1 | 4, 8) => DataType::UInt8,
        (1 | 4, 16) => DataType::UInt16,
        (1 | 4, 32) => DataType::UInt32,
        (1 | 4, 64) => DataType::UInt64,
        (2, 8) => DataType::Int8,
        (2, 16) => DataType::Int16,
        (2, 32) => DataType::Int32,
        (2, 64) => DataType::Int64,
        (3, 16) => DataType::Float16,
        (3, 32) => DataType::Float32,
        (3, 64) => DataType::Float64,
        (6, 64) => DataType::Complex64,
        (6, 128) => DataType::Complex128,
        _ => return Err(unsupported(format!("there are no elements of {bits} bits in the format {format}"))),
    })
}

fn places(directory: &Directory, form: &Form) -> Result<Vec<(u64, u64)>> {
    let (offsets, sizes) = match form.is_tiled {
        true => (tag::TILE_OFFSETS, tag::TILE_SIZES),
        false => (tag::STRIP_OFFSETS, tag::STRIP_SIZES),
    };
    let (offsets, mut sizes) = (directory.numbers(offsets)?, directory.numbers(sizes)?);
    let (below, beside) = form.parts();
    let count = below.checked_mul(beside).and_then(|count| count.checked_mul(form.planes()));
    if sizes.is_empty() && offsets.len() == 1 {
        // Old programs did not write the size of the only strip.
        sizes.push(form.part.0 * form.part.1 * form.pixel());
    }
    if count != Some(offsets.len() as u64) || offsets.len() != sizes.len() {
        return Err(corrupt(format!(
            "there are {} places of strips or tiles, and {} sizes, for {form}",
            offsets.len(),
            sizes.len()
        )));
    }
    Ok(offsets.into_iter().zip(sizes).collect())
}
