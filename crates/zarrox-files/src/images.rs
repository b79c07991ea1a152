//! PNG and JPEG images as arrays: a single image, or all images in a directory.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Cursor, Seek};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use image::{ColorType, ImageDecoder, ImageError, ImageFormat, ImageReader, Limits};
use zarrox::data_type::Endian;
use zarrox::internals::data_type::ByteOrder;
use zarrox::json::Map;
use zarrox::stores::MemoryStore;
use zarrox::{DataType, DynArray, Error, Result};
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;

use crate::chunks::rows::CHUNK;
use crate::chunks::{Elements, each_position};
use crate::described::Described;
use crate::encoded::{jpeg, png_chunks};
use crate::input::{Input, Reader, Source, corrupt, failed, unsupported, zeroed};
use crate::natural::natural;
use crate::store::FileStore;

/// The maximum size in bytes of a decoded image.
const MOST: u64 = 1 << 30;

/// The suffixes of images in a directory.
const SUFFIXES: [&str; 3] = ["png", "jpg", "jpeg"];

/// Opens an image as a Zarr store whose only node is an array.
pub(crate) fn open(input: Arc<Input>, is_plain: bool) -> Result<FileStore> {
    let location = input.path().display().to_string();
    store_of(vec![Source::Open(input)], false, location, is_plain)
}

/// Opens a directory of images as a Zarr store whose only node is an array.
pub(crate) fn open_directory(path: &Path, is_plain: bool) -> Result<FileStore> {
    let (paths, others) = images_of(path)?;
    let sources = paths.into_iter().map(|path| Source::Closed(Arc::new(path))).collect();
    let location = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()).display().to_string();
    let store = store_of(sources, true, location, is_plain)?;
    Ok(store.with_notes(not_taken(&others).into_iter().collect()))
}

fn store_of(sources: Vec<Source>, is_stack: bool, location: String, is_plain: bool) -> Result<FileStore> {
    let form = common_form(&sources)?;
    let images = Images::new(sources, form, is_stack);
    let documents = MemoryStore::new();
    let described = Described {
        path: String::new(),
        shape: images.shape(),
        data_type: form.data_type(),
        attributes: Map::default(),
        names: images.names().into_iter().map(|name| Some(name.to_owned())).collect(),
        fill: None,
    };
    let chunks = described.create(&documents, Box::new(images), is_plain)?;
    Ok(FileStore::new(location, documents, BTreeMap::from([(String::new(), chunks)]), Vec::new()))
}

/// Returns a note about the files in a directory that are not images, with the names of a few of them.
fn not_taken(others: &[String]) -> Option<String> {
    const SHOWN: usize = 5;
    let shown = others.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = if others.len() > SHOWN { ", …" } else { "" };
    let text =
        || format!("/: skipped {} entries of the directory that are not images: {shown}{more}", others.len());
    (!others.is_empty()).then(text)
}

/// Returns the images in a directory in natural name order (numbers are compared by value), and the names of all other
/// entries that are not hidden.
fn images_of(directory: &Path) -> Result<(Vec<PathBuf>, Vec<String>)> {
    let reading = |error| failed(&format!("reading '{}'", directory.display()), error);
    let (mut paths, mut others) = (Vec::new(), Vec::new());
    for entry in fs::read_dir(directory).map_err(reading)? {
        let path = entry.map_err(reading)?.path();
        let suffix = path.extension().and_then(|suffix| suffix.to_str()).unwrap_or_default();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if SUFFIXES.iter().any(|known| suffix.eq_ignore_ascii_case(known)) && path.is_file() {
            if !name.starts_with('.') {
                paths.push(path);
            }
        } else if !name.starts_with('.') {
            others.push(name);
        }
    }
    others.sort();
    if paths.is_empty() {
        let is_tiff =
            |name: &String| [".tif", ".tiff"].iter().any(|suffix| name.to_lowercase().ends_with(suffix));
        let advice = if others.iter().any(is_tiff) {
            "; those of TIFF are joined along a dimension that is named"
        } else {
            ""
        };
        let message = format!("the directory '{}' has no PNG or JPEG images{advice}", directory.display());
        return Err(unsupported(message));
    }
    let name = |path: &PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    paths.sort_by(|one, other| natural(&name(one), &name(other)).then_with(|| one.cmp(other)));
    Ok((paths, others))
}

/// The shape and pixel type of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ImageForm {
    height: u32,
    width: u32,
    colour: ColorType,
}

impl ImageForm {
    /// Returns the shape and pixel type from the header of a file.
    fn of(decoder: &impl ImageDecoder) -> Result<Self> {
        let (width, height) = decoder.dimensions();
        let form = Self { height, width, colour: decoder.color_type() };
        if decoder.total_bytes() > MOST {
            let message = format!("the image is too large: {form}; the limit is {MOST} bytes of elements");
            return Err(unsupported(message));
        }
        match form.colour {
            ColorType::Rgb32F | ColorType::Rgba32F => {
                Err(unsupported("only elements of 8 and 16 bits are supported"))
            }
            _ => Ok(form),
        }
    }

    fn data_type(self) -> DataType {
        if self.colour.bytes_per_pixel() > self.colour.channel_count() {
            return DataType::UInt16;
        }
        DataType::UInt8
    }

    /// Returns the size of the pixels in bytes, which is at most [`MOST`].
    fn size(self) -> u64 {
        u64::from(self.height) * u64::from(self.width) * u64::from(self.colour.bytes_per_pixel())
    }
}

impl std::fmt::Display for ImageForm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { height, width, colour } = self;
        let channels = colour.channel_count();
        write!(f, "{height} x {width} pixels with {channels} channels of {}", self.data_type())
    }
}

/// Returns the shape and pixel type that all images share.
fn common_form(sources: &[Source]) -> Result<ImageForm> {
    let mut common: Option<(ImageForm, &Path)> = None;
    for source in sources {
        let path = source.name();
        let form = ImageForm::of(&decoder(source)?).map_err(|error| error.at(named(path)))?;
        let (first, at) = *common.get_or_insert((form, path));
        if form != first {
            return Err(differs(path, form, first, &format!(" as {}", named(at))));
        }
    }
    common.map(|(form, _)| form).ok_or_else(|| unsupported("the directory has no images"))
}

fn differs(path: &Path, found: ImageForm, expected: ImageForm, of: &str) -> Error {
    unsupported(format!("{} has {found} instead of {expected}{of}", named(path)))
}

fn named(path: &Path) -> String {
    format!("'{}'", path.display())
}

/// Returns the error for a file that cannot be read.
fn not_read(path: &Path, error: std::io::Error) -> Error {
    failed(&format!("reading {}", named(path)), error)
}

/// Returns a decoder for an image that has already read the header.
fn decoder(source: &Source) -> Result<impl ImageDecoder> {
    let (bytes, path) = (BufReader::new(Reader::new(source.input()?)), source.name());
    decoder_of(reader(bytes, path)?, path)
}

/// Returns a reader for an image whose format is detected from its content.
fn reader<R: BufRead + Seek>(bytes: R, path: &Path) -> Result<ImageReader<R>> {
    ImageReader::new(bytes).with_guessed_format().map_err(|error| not_read(path, error))
}

fn decoder_of<'r, R: BufRead + Seek + 'r>(
    mut reader: ImageReader<R>,
    path: &'r Path,
) -> Result<impl ImageDecoder> {
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(2 * MOST);
    reader.limits(limits);
    reader.into_decoder().map_err(|error| not_decoded(path, error))
}

fn not_decoded(path: &Path, error: ImageError) -> Error {
    let operation = format!("decoding {}", named(path));
    match error {
        ImageError::IoError(error) => failed(&operation, error),
        ImageError::Unsupported(_) | ImageError::Limits(_) => {
            unsupported(format!("{operation} failed: {error}"))
        }
        error => corrupt(format!("{operation} failed: {error}")),
    }
}

/// Decodes the pixels of an image of the given shape and type, in native byte order.
fn pixels(source: &Source, form: ImageForm) -> Result<Vec<u8>> {
    let (input, path) = (source.input()?, source.name());
    let stored = input.read(0, input.length())?;
    let reader = reader(Cursor::new(&stored[..]), path)?;
    let kind = reader.format();
    let decoder = decoder_of(reader, path)?;
    let found = ImageForm::of(&decoder).map_err(|error| error.at(named(path)))?;
    if found != form {
        return Err(differs(path, found, form, ""));
    }
    match kind {
        Some(ImageFormat::Jpeg) => return jpeg_pixels(&stored, form).map_err(|error| error.at(named(path))),
        Some(ImageFormat::Png) => png_chunks::check(&stored).map_err(|error| error.at(named(path)))?,
        _ => {}
    }
    let mut bytes = zeroed(usize::try_from(form.size()).unwrap_or(usize::MAX))?;
    decoder.read_image(&mut bytes).map_err(|error| not_decoded(path, error))?;
    Ok(bytes)
}

/// Decodes the pixels of a JPEG of the given shape and type.
fn jpeg_pixels(stored: &[u8], form: ImageForm) -> Result<Vec<u8>> {
    let space = match form.colour {
        ColorType::L8 => ColorSpace::Luma,
        ColorType::La8 => ColorSpace::LumaA,
        ColorType::Rgba8 => ColorSpace::RGBA,
        _ => ColorSpace::RGB,
    };
    jpeg::check_end(stored)?;
    let options =
        jpeg::strict().jpeg_set_out_colorspace(space).set_max_width(usize::MAX).set_max_height(usize::MAX);
    let pixels = JpegDecoder::new_with_options(ZCursor::new(stored), options).decode();
    let pixels = pixels.map_err(|error| corrupt(format!("decoding failed: {error}")))?;
    if pixels.len() as u64 != form.size() {
        return Err(corrupt(format!(
            "the image has {} bytes of elements instead of {}",
            pixels.len(),
            form.size()
        )));
    }
    Ok(pixels)
}

/// The elements of images with the same shape and pixel type.
#[derive(Debug)]
struct Images {
    sources: Vec<Source>,
    form: ImageForm,
    /// True if the images are stacked along an additional dimension.
    is_stack: bool,
    /// The number of images in a chunk.
    in_chunk: usize,
    grid: Vec<u64>,
}

impl Images {
    fn new(sources: Vec<Source>, form: ImageForm, is_stack: bool) -> Self {
        let most = usize::try_from(CHUNK / form.size().max(1)).unwrap_or(1);
        let in_chunk = most.clamp(1, sources.len().max(1));
        let mut images = Self { sources, form, is_stack, in_chunk, grid: Vec::new() };
        images.grid = vec![1; images.shape().len()];
        if is_stack {
            images.grid[0] = images.sources.len().div_ceil(in_chunk) as u64;
        }
        images
    }

    /// Returns the shape of an array or a chunk of `count` images.
    fn shape_of(&self, count: usize) -> Vec<u64> {
        let channels = u64::from(self.form.colour.channel_count());
        let stack = self.is_stack.then_some(count as u64);
        let sides = [self.form.height.into(), self.form.width.into()];
        stack.into_iter().chain(sides).chain((channels > 1).then_some(channels)).collect()
    }

    fn shape(&self) -> Vec<u64> {
        self.shape_of(self.sources.len())
    }

    fn names(&self) -> Vec<&'static str> {
        let channel = (self.form.colour.channel_count() > 1).then_some("channel");
        self.is_stack.then_some("image").into_iter().chain(["y", "x"]).chain(channel).collect()
    }
}

impl Elements for Images {
    fn grid(&self) -> &[u64] {
        &self.grid
    }

    fn chunk_shape(&self) -> Vec<u64> {
        self.shape_of(self.in_chunk)
    }

    fn is_stored(&self, _: &[u64]) -> bool {
        true
    }

    fn visit(&self, visit: &mut dyn FnMut(&[u64]) -> ControlFlow<()>) -> ControlFlow<()> {
        each_position(&self.grid, visit)
    }

    fn read(&self, chunk: &[u64]) -> Result<DynArray> {
        let chunk = if self.is_stack { chunk.first().copied().unwrap_or(0) } else { 0 };
        let first = usize::try_from(chunk).unwrap_or(usize::MAX).saturating_mul(self.in_chunk);
        let shape: Vec<usize> =
            self.chunk_shape().iter().map(|&length| usize::try_from(length).unwrap_or(usize::MAX)).collect();
        let size = usize::try_from(self.form.size()).unwrap_or(usize::MAX);
        let mut bytes = Vec::new();
        for source in self.sources.iter().skip(first).take(self.in_chunk) {
            let mut pixels = pixels(source, self.form)?;
            if bytes.is_empty() {
                bytes = pixels;
            } else {
                bytes.append(&mut pixels);
            }
        }
        // Chunks with several images have at most `CHUNK` bytes.
        bytes.resize(size.saturating_mul(self.in_chunk), 0);
        let order = ByteOrder::One(Endian::NATIVE);
        DynArray::from_foreign(self.form.data_type(), shape, bytes, &order, zarrox::Order::RowMajor)
    }
}
