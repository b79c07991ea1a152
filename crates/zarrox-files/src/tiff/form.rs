//! The form of images: their size, samples, and strips or tiles.

use std::fmt;

use zarrox::{DataType, Result};

use super::directory::Directory;
use super::sample::Sample;
use super::tag;
use crate::input::{corrupt, unsupported};

/// The maximum size in bytes of a strip, and of a tile. A strip is never larger than its image.
const MOST_STRIP: u64 = 1 << 30;
const MOST_TILE: u64 = 1 << 28;

/// An upper bound on the expansion ratio of any compression.
const MOST_RATIO: u64 = 1 << 16;

/// The form of a page. Pages with the same form become one array.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Form {
    pub(super) width: u64,
    pub(super) height: u64,
    /// The number of planes in a volume; 1 for an image.
    pub(super) depth: u64,
    /// The number of samples in a pixel.
    pub(super) samples: u64,
    /// True if the samples are in separate planes.
    pub(super) is_planar: bool,
    pub(super) sample: Sample,
    /// The height and width of a strip or tile.
    pub(super) part: (u64, u64),
    /// The number of volume planes in a tile.
    pub(super) part_depth: u64,
    pub(super) is_tiled: bool,
    /// The photometric interpretation, which is the meaning of samples.
    pub(super) photometric: u64,
    /// The subsampling of YCbCr along columns and rows, if the samples are stored in blocks.
    pub(super) subsampling: Option<(u64, u64)>,
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { height, width, samples, depth, .. } = self;
        if *depth > 1 {
            write!(f, "{depth} times ")?;
        }
        write!(f, "{height} x {width} pixels with {samples} samples of {}", self.sample.data_type)
    }
}

impl Form {
    /// Determines the form from the tags of a directory.
    pub(super) fn of(directory: &Directory) -> Result<Self> {
        let number = |tag| directory.number(tag);
        let needed = |tag, name: &str| number(tag)?.ok_or_else(|| corrupt(format!("an image has no {name}")));
        let side = |length: u64, name: &str| match length {
            1..=0x7fff_ffff => Ok(length),
            _ => Err(corrupt(format!("an image has the {name} {length}"))),
        };
        let is_tiled = number(tag::TILE_WIDTH)?.is_some();
        let width = side(needed(tag::WIDTH, "width")?, "width")?;
        let height = side(needed(tag::HEIGHT, "height")?, "height")?;
        let depth = side(number(tag::DEPTH)?.unwrap_or(1).max(1), "depth")?;
        let samples = number(tag::SAMPLES)?.unwrap_or(1);
        if !(1..=1 << 16).contains(&samples) {
            return Err(corrupt(format!("a pixel has {samples} samples")));
        }
        let photometric = number(tag::PHOTOMETRIC)?.unwrap_or(1);
        let part = match is_tiled {
            true => (
                side(needed(tag::TILE_HEIGHT, "height of tiles")?, "height of tiles")?,
                side(needed(tag::TILE_WIDTH, "width of tiles")?, "width of tiles")?,
            ),
            false => (number(tag::STRIP_ROWS)?.unwrap_or(height).clamp(1, height), width),
        };
        let part_depth =
            if is_tiled { number(tag::TILE_DEPTH)?.unwrap_or(1).clamp(1, depth.max(1)) } else { 1 };
        let is_planar = samples > 1 && number(tag::PLANAR)?.unwrap_or(1) == 2;
        let sample = sample(directory)?;
        let subsampling = None;
        let form = Self {
            width,
            height,
            depth,
            samples,
            is_planar,
            sample,
            part,
            part_depth,
            is_tiled,
            photometric,
            subsampling,
        };
        form.check_size(directory.file().input.length())?;
        Ok(form)
    }

    /// Returns an error if strips or tiles are too large. The error is `Corrupt` if a file of the given length cannot
    /// contain strips or tiles of that size.
    fn check_size(&self, length: u64) -> Result<()> {
        let pixels =
            self.part.0.checked_mul(self.part.1).and_then(|pixels| pixels.checked_mul(self.part_depth));
        let size = pixels.and_then(|pixels| pixels.checked_mul(self.pixel()));
        let most = if self.is_tiled { MOST_TILE } else { MOST_STRIP };
        if size.is_none_or(|size| size > most) {
            let message = format!(
                "strips or tiles of {} x {} pixels exceed the limit of {most} bytes",
                self.part.0.saturating_mul(self.part_depth),
                self.part.1
            );
            let is_possible = size.is_some_and(|size| size <= length.saturating_mul(MOST_RATIO));
            return Err(if is_possible { unsupported(message) } else { corrupt(message) });
        }
        Ok(())
    }

    /// Returns the data type of the elements.
    pub(super) fn data_type(&self) -> &DataType {
        &self.sample.data_type
    }

    /// Returns the number of interleaved samples in a pixel.
    pub(super) fn together(&self) -> u64 {
        if self.is_planar { 1 } else { self.samples }
    }

    /// Returns the number of sample planes.
    pub(super) fn planes(&self) -> u64 {
        if self.is_planar { self.samples } else { 1 }
    }

    /// Returns the size in bytes of the elements of a pixel in one sample plane.
    pub(super) fn pixel(&self) -> u64 {
        self.together() * self.sample.data_type.size() as u64
    }

    /// Returns the uncompressed size in bytes of a row of a strip or tile, as stored in the file.
    pub(super) fn stored_row(&self) -> u64 {
        (self.part.1 * self.together() * self.sample.bits).div_ceil(8)
    }

    /// Returns the uncompressed size in bytes of `rows` rows of a strip or tile, as stored in the file.
    pub(super) fn stored(&self, rows: u64) -> u64 {
        match self.subsampling {
            // A block contains the luma of each pixel, and one sample of each chroma component.
            Some((x, y)) => rows.div_ceil(y) * self.part.1.div_ceil(x) * (x * y + 2),
            None => rows * self.stored_row(),
        }
    }

    /// Returns the number of strips or tiles along volume planes, rows and columns.
    pub(super) fn parts(&self) -> (u64, u64, u64) {
        let (rows, columns) = self.part;
        (self.depth.div_ceil(self.part_depth), self.height.div_ceil(rows), self.width.div_ceil(columns))
    }

    /// Returns the total number of strips or tiles.
    pub(super) fn count(&self) -> Option<u64> {
        let (behind, below, beside) = self.parts();
        self.planes().checked_mul(behind)?.checked_mul(below)?.checked_mul(beside)
    }

    /// Returns true if an image of this form can be an overview of an image of the form `main`. Both must have the same
    /// samples and the same aspect ratio.
    pub(super) fn is_copy_of(&self, main: &Self) -> bool {
        let cross = |one: u64, other: u64| u128::from(one) * u128::from(other);
        let (one, other) = (cross(self.width, main.height), cross(self.height, main.width));
        self.width <= main.width
            && self.height <= main.height
            && self.samples == main.samples
            && self.sample.data_type == main.sample.data_type
            && one.abs_diff(other) <= u128::from(main.width) + u128::from(main.height)
    }
}

/// Returns the sample type, which must be the same for all samples.
fn sample(directory: &Directory) -> Result<Sample> {
    let of_all = |tag, name: &str| {
        if directory.size(tag) > 1 << 20 {
            return Err(corrupt("the samples have too many types"));
        }
        let numbers = directory.numbers(tag)?;
        let first = numbers.first().copied().unwrap_or(1);
        if numbers.iter().all(|&number| number == first) {
            return Ok(first);
        }
        Err(unsupported(format!("samples of different {name} are not supported: {numbers:?}")))
    };
    let (bits, format) = (of_all(tag::BITS, "bits")?, of_all(tag::FORMAT, "formats")?);
    Sample::of(bits, format)
}
