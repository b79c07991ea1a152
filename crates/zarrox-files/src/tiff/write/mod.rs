//! Writes arrays to TIFF files: plain TIFF, GeoTIFF if the array is georeferenced, or OME-TIFF.
//!
//! The crate `tiff` is not used: it writes strips in order, but neither tiles nor planes, and it depends on a version of
//! Zstandard that cannot be linked together with ours.

mod encode;
mod file;
mod gdal;
mod geo;
mod layout;
mod ome;

use std::io::{Seek, Write};
use std::ops::Range;

use rayon::prelude::*;
use zarrox::json::{Json, Map};
use zarrox::{Array, ArrayView, DimSelection, DynArray, Node, Result, Selection};

pub use encode::Compression;

use self::encode::{Encoding, predictor_of};
use self::file::{File, Tags, Value};
use self::geo::Georeference;
use self::layout::{Layout, Leading, sample_format};
use crate::placed::{Axis, Placed};
use crate::tiff::predictor::Predictor;
use crate::tiff::tag;

const DESCRIPTION: u16 = 270;
const SOFTWARE: u16 = 305;
const SUB_DIRECTORIES: u16 = 330;
const EXTRA_SAMPLES: u16 = 338;

/// The prefixes of descriptions that contain metadata about the file from which an array was imported.
const OF_FILES: [&str; 4] = ["ImageJ=", "<?xml", "<OME", "{\"shape\""];

/// Options for writing a file.
pub(crate) struct Options<'a> {
    /// True for OME-TIFF.
    pub(crate) is_ome: bool,
    pub(crate) compression: Compression,
    /// The memory limit for elements, in bytes.
    pub(crate) memory: u64,
    /// A function that is called with the number of elements written since its last call.
    pub(crate) progress: &'a (dyn Fn(u64) -> Result<()> + Sync),
}

/// A pyramid level: the images of an array, and the locations of their strips or tiles.
struct Level {
    layout: Layout,
    encoding: Encoding,
    /// The locations of the strips or tiles of each image.
    places: Vec<Vec<(u64, u64)>>,
}

/// Writes a file.
///
/// # Errors
/// [`zarrox::ErrorKind::Unsupported`] if TIFF does not support the data type or the dimensions; any error that occurs
/// while reading or writing.
pub(crate) fn write(
    node: &Node,
    selection: &Selection,
    out: impl Write + Seek,
    options: &Options<'_>,
) -> Result<()> {
    let placed = Placed::new(node, selection)?;
    let plain = Layout::of(&placed, if options.is_ome { Leading::Pages } else { Leading::Named })?;
    let axes: Vec<&Axis> = placed.result().collect();
    let first = plain.lead.len();
    let (rows, columns) = (axes[first], axes[first + 1]);
    let place = match options.is_ome {
        true => None,
        false => Georeference::of(&placed, rows, columns, (plain.height, plain.width))?,
    };
    let layout = if place.is_some() { Layout::of(&placed, Leading::Planes)? } else { plain };
    let mut tags = Tags::new();
    if options.is_ome {
        tags.insert(DESCRIPTION, Value::Text(ome::description(&placed, &layout)?));
    } else {
        if let Some(text) = description(&placed, &layout) {
            tags.insert(DESCRIPTION, Value::Text(text));
        }
        place.inspect(|place| place.add(&mut tags));
        gdal::add(&placed, layout.all_samples(), &mut tags)?;
    }
    let smaller = if options.is_ome { smaller(&placed, &layout)? } else { Vec::new() };
    let all = smaller.iter().map(|(_, layout)| layout).chain([&layout]);
    let (bytes, parts) = all.fold((0_u64, 0_u64), |(bytes, parts), layout| {
        let (down, across) = layout.parts();
        let padded =
            layout.images().saturating_mul(down * layout.part.0).saturating_mul(across * layout.part.1);
        (
            bytes.saturating_add(padded.saturating_mul(layout.pixel())),
            parts.saturating_add(layout.images() * down * across + layout.pages() * 8),
        )
    });
    let mut file = File::begin(out, bytes, parts)?;
    let mut levels = Vec::new();
    for (array, layout) in smaller {
        levels.push(level(&array.slice(..), layout, &mut file, options)?);
    }
    let main = level(&placed.array.slice(&placed.selection), layout, &mut file, options)?;
    // The offsets of the overview directories of each page.
    let mut below = vec![Vec::new(); usize::try_from(main.layout.pages()).unwrap_or(0)];
    for level in &levels {
        let directories = (0..below.len()).map(|page| level.tags(page, true));
        for (below, offset) in below.iter_mut().zip(file.directories(directories, false)?) {
            below.push(offset);
        }
    }
    let directories = (0..below.len()).map(|page| {
        let mut own = main.tags(page, false);
        if page == 0 {
            own.insert(SOFTWARE, Value::Text(format!("Zarrox {}", env!("CARGO_PKG_VERSION"))));
            own.extend(tags.clone());
        }
        if !below[page].is_empty() {
            own.insert(SUB_DIRECTORIES, Value::Directories(below[page].clone()));
        }
        own
    });
    let offsets = file.directories(directories, true)?;
    file.finish(offsets.first().copied().unwrap_or_default())
}

/// Returns the lower resolutions of an OME-Zarr image that are smaller only along rows and columns, as TIFF overviews require.
fn smaller(placed: &Placed, main: &Layout) -> Result<Vec<(Array, Layout)>> {
    let mut all: Vec<(Array, Layout)> = Vec::new();
    let Some((image, parent)) = placed.image.as_ref().zip(placed.parent.as_ref()) else { return Ok(all) };
    let is_first = image.levels.first().is_some_and(|level| level.path == placed.array.path().name());
    if !is_first || !placed.is_whole() {
        return Ok(all);
    }
    for level in image.levels.iter().skip(1) {
        let array = parent.open(&level.path)?.into_array()?;
        let below = Placed::new(&Node::Array(array.clone()), &Selection::all())?;
        let layout = Layout::of(&below, Leading::Pages)?;
        let is_alike = array.data_type() == placed.array.data_type()
            && layout.lead == main.lead
            && layout.samples == main.samples;
        if !is_alike {
            break;
        }
        all.push((array, layout));
    }
    Ok(all)
}

/// Returns the description of an image: that of the array, or else the shape in tifffile's format.
fn description(placed: &Placed, layout: &Layout) -> Option<String> {
    let text =
        placed.text("description").filter(|text| !OF_FILES.iter().any(|start| text.starts_with(start)));
    if layout.is_planar || layout.lead.is_empty() {
        return text.map(str::to_owned);
    }
    let axes: Vec<&Axis> = placed.result().collect();
    let mut all = Map::default();
    all.insert("shape".to_owned(), axes.iter().map(|axis| Json::from(axis.count)).collect());
    let names: Option<Vec<Json>> = axes.iter().map(|axis| axis.name.clone().map(Json::from)).collect();
    if let Some(names) = names {
        all.insert("dimension_names".to_owned(), Json::Array(names));
    }
    if let Some(text) = text {
        all.insert("description".to_owned(), text.into());
    }
    Some(Json::Object(all).to_string())
}

/// Writes the strips or tiles of a level.
fn level(
    view: &ArrayView<'_>,
    layout: Layout,
    file: &mut File<impl Write + Seek>,
    options: &Options<'_>,
) -> Result<Level> {
    let number = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
    let encoding = Encoding {
        compression: options.compression,
        predictor: predictor_of(view.data_type(), options.compression, !options.is_ome),
        samples: number(layout.samples.unwrap_or(1)),
        size: number(layout.size),
        format: sample_format(view.data_type())?,
    };
    let (down, across) = layout.parts();
    let mut places = vec![vec![(0, 0); number(down * across)]; number(layout.images())];
    // Memory holds a block and its compressed strips or tiles.
    let block = layout.block((options.memory / 3).max(1));
    for ranges in layout.blocks(&block) {
        let selected: Vec<DimSelection> =
            ranges.iter().cloned().map(DimSelection::from).chain([DimSelection::Ellipsis]).collect();
        let elements = view.slice(selected).read::<DynArray>()?;
        let block = Block { elements: &elements, ranges: &ranges, layout: &layout };
        let parts: Vec<Part> = block.parts().collect();
        let encoded: Vec<Vec<u8>> = parts
            .par_iter()
            .map(|part| encoding.encode(block.bytes(part), block.row(part)))
            .collect::<Result<_>>()?;
        for (part, bytes) in parts.iter().zip(encoded) {
            places[number(part.image)][number(part.row * across + part.column)] = file.part(&bytes)?;
        }
        (options.progress)(elements.as_bytes().len() as u64 / layout.size.max(1))?;
    }
    Ok(Level { layout, encoding, places })
}

/// The elements of whole strips or tiles of consecutive images.
struct Block<'a> {
    elements: &'a DynArray,
    ranges: &'a [Range<u64>],
    layout: &'a Layout,
}

/// A strip or tile.
struct Part {
    /// The index of the image in the file, and its index in the block.
    image: u64,
    in_block: u64,
    /// The indices of the strip or tile along rows and columns.
    row: u64,
    column: u64,
}

impl Block<'_> {
    fn sides(&self) -> (&Range<u64>, &Range<u64>) {
        let first = self.layout.lead.len();
        (&self.ranges[first], &self.ranges[first + 1])
    }

    /// Returns the strips or tiles in the block.
    fn parts(&self) -> impl Iterator<Item = Part> {
        let (rows, columns) = self.sides();
        let (height, width) = self.layout.part;
        let (rows, columns) = (
            rows.start / height..rows.end.div_ceil(height),
            columns.start / width..columns.end.div_ceil(width),
        );
        let lead = &self.ranges[..self.layout.lead.len()];
        let count: u64 = lead.iter().map(|range| range.end - range.start).product();
        (0..count).flat_map(move |in_block| {
            let columns = columns.clone();
            let image = self.image(in_block);
            rows.clone()
                .flat_map(move |row| columns.clone().map(move |column| Part { image, in_block, row, column }))
        })
    }

    /// Returns the index in the file of an image in the block.
    fn image(&self, in_block: u64) -> u64 {
        let (mut rest, mut image, mut factor) = (in_block, 0, 1);
        for (range, length) in self.ranges.iter().zip(&self.layout.lead).rev() {
            let own = range.end - range.start;
            image += (range.start + rest % own) * factor;
            rest /= own;
            factor *= length;
        }
        image
    }

    /// Returns the rows and columns of a strip or tile that are inside the image.
    fn covered(&self, part: &Part) -> (Range<u64>, Range<u64>) {
        let (height, width) = self.layout.part;
        let range = |number: u64, side: u64, length: u64| number * side..((number + 1) * side).min(length);
        (range(part.row, height, self.layout.height), range(part.column, width, self.layout.width))
    }

    /// Returns the size in bytes of a row of a strip or tile.
    fn row(&self, part: &Part) -> usize {
        let (_, columns) = self.covered(part);
        let width = if self.layout.is_tiled { self.layout.part.1 } else { columns.end - columns.start };
        usize::try_from(width * self.layout.pixel()).unwrap_or(usize::MAX)
    }

    /// Returns the bytes of a strip or tile. Tiles are padded with zeros beyond the image.
    fn bytes(&self, part: &Part) -> Vec<u8> {
        let number = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
        let (rows, columns) = self.covered(part);
        let (of_rows, of_columns) = self.sides();
        let (height, width) = (of_rows.end - of_rows.start, of_columns.end - of_columns.start);
        let pixel = self.layout.pixel();
        let row = self.row(part);
        let count = if self.layout.is_tiled { self.layout.part.0 } else { rows.end - rows.start };
        let mut bytes = vec![0; row * number(count)];
        let size = number((columns.end - columns.start) * pixel);
        for (to, at) in bytes.chunks_exact_mut(row.max(1)).zip(rows) {
            let first =
                (part.in_block * height + at - of_rows.start) * width + columns.start - of_columns.start;
            let from = number(first * pixel);
            if let (Some(to), Some(from)) =
                (to.get_mut(..size), self.elements.as_bytes().get(from..from + size))
            {
                to.copy_from_slice(from);
            }
        }
        bytes
    }
}

impl Level {
    /// Returns the tags of a page.
    fn tags(&self, page: usize, is_reduced: bool) -> Tags {
        let Self { layout, encoding, places } = self;
        let long = |number: u64| Value::Long(u32::try_from(number).unwrap_or(u32::MAX));
        let short = |number: u16| Value::Shorts(vec![number]);
        let samples = usize::try_from(layout.all_samples()).unwrap_or(1);
        let bits = u16::try_from(8 * layout.size).unwrap_or_default();
        let is_colour = layout.samples.is_some_and(|count| matches!(count, 3 | 4))
            && layout.size <= 2
            && encoding.format == 1;
        let mut tags = Tags::new();
        tags.insert(tag::SUBFILE, Value::Long(u32::from(is_reduced)));
        tags.insert(tag::WIDTH, long(layout.width));
        tags.insert(tag::HEIGHT, long(layout.height));
        tags.insert(tag::BITS, Value::Shorts(vec![bits; samples]));
        tags.insert(tag::COMPRESSION, short(encoding.compression.code()));
        tags.insert(tag::PHOTOMETRIC, short(if is_colour { 2 } else { 1 }));
        tags.insert(tag::SAMPLES, short(u16::try_from(samples).unwrap_or(u16::MAX)));
        tags.insert(tag::PLANAR, short(if layout.is_planar { 2 } else { 1 }));
        tags.insert(tag::FORMAT, Value::Shorts(vec![encoding.format; samples]));
        if encoding.predictor != Predictor::None {
            tags.insert(tag::PREDICTOR, short(encoding.predictor.code()));
        }
        let usual = if is_colour { 3 } else { 1 };
        if samples > usual {
            // For colours, the fourth sample is the opacity.
            let kind = if is_colour { 2 } else { 0 };
            tags.insert(EXTRA_SAMPLES, Value::Shorts(vec![kind; samples - usual]));
        }
        let own =
            if layout.is_planar { places.as_slice() } else { places.get(page..=page).unwrap_or_default() };
        let (offsets, sizes) = own.iter().flatten().copied().unzip();
        let (offsets, sizes) = (Value::Offsets(offsets), Value::Offsets(sizes));
        if layout.is_tiled {
            tags.insert(tag::TILE_WIDTH, long(layout.part.1));
            tags.insert(tag::TILE_HEIGHT, long(layout.part.0));
            tags.insert(tag::TILE_OFFSETS, offsets);
            tags.insert(tag::TILE_SIZES, sizes);
        } else {
            tags.insert(tag::STRIP_ROWS, long(layout.part.0));
            tags.insert(tag::STRIP_OFFSETS, offsets);
            tags.insert(tag::STRIP_SIZES, sizes);
        }
        tags
    }
}
