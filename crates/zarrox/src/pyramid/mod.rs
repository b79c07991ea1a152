//! Images in several resolutions: each level is made of the one before, in one pass over the data.
//!
//! ```
//! use zarrox::prelude::*;
//! use zarrox::pyramid::{Downsample, Method};
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path().join("image.zarr");
//! let image = zarrox::create_group(&path)?;
//! let array = image.create_array("0").shape([100, 100]).data_type(DataType::UInt8).chunks([32, 32]).create()?;
//! array.write(s![..50, ..], &ndarray::arr0(8_u8))?;
//!
//! Downsample::new().method(Method::Mean).axes(["y".parse()?, "x".parse()?]).run(path.join("0"))?;
//! assert_eq!(image.open("1")?.into_array()?.shape(), [50, 50]);
//! assert!(zarrox::ome::validate(&path)?.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Values
//!
//! The levels below the first one are made of the level before, by one [`Method`] and by factors for each dimension. Where a length is
//! not a multiple of its factor, the last cell has fewer elements, and only those count. Means are rounded at each level.
//!
//! # Memory
//!
//! Threads read parts of the source that belong together. Of each level, a thread has one block of whole chunks in memory, and all
//! threads together have a few that are not complete. So the memory depends on the size of chunks and on the number of levels, and not
//! on the size of the image. If it is not enough for all levels at once, later levels are made of a stored one in another pass.
//!
//! # Interruption
//!
//! Chunks are stored first, then the documents of arrays, and the description of the image last, as [conversions](crate::convert#interruption)
//! do. After an interruption, the same call continues: blocks that are stored are read and not made again.

mod chain;
mod kernel;
mod levels;
mod make;
mod method;
mod pass;
mod pixel;
mod plan;
mod source;

use std::fmt;
use std::path::Path;

use zarrox_core::grid::{ChunkShape, Separator};
use zarrox_core::{CodecSpec, Format, Result};

use crate::convert::{Convert, Progress, What, check_apart};
use crate::ome::{Axis, Channel, Multiscales};
use crate::options::{OpenMode, OpenOptions};

pub use method::Method;
pub use plan::{Pyramid, PyramidLevel, PyramidPass};

/// The memory by default, in bytes.
const MEMORY: usize = 256 << 20;

/// Makes smaller levels of an array and describes all of them as one image, with options.
#[derive(Clone)]
#[must_use = "nothing is made before `run` is called"]
pub struct Downsample {
    convert: Convert,
    format: Option<Format>,
    method: Option<Method>,
    skip_nan: bool,
    factors: Vec<u64>,
    levels: Option<usize>,
    overwrite: bool,
    about: About,
}

/// The description of the image, as far as it is given.
#[derive(Debug, Clone, Default)]
struct About {
    form: Option<Multiscales>,
    name: Option<String>,
    axes: Vec<Axis>,
    scale: Vec<f64>,
    translation: Vec<f64>,
    units: Vec<String>,
    channels: Vec<Channel>,
    is_labels: bool,
}

impl Default for Downsample {
    fn default() -> Self {
        let mut convert = Convert::new(Format::V3);
        convert.effort.memory = MEMORY;
        let (format, method, skip_nan, factors, levels) = (None, None, false, Vec::new(), None);
        Self { convert, format, method, skip_nan, factors, levels, overwrite: false, about: About::default() }
    }
}

impl fmt::Debug for Downsample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { convert, format, method, skip_nan, factors, levels, overwrite, about } = self;
        f.debug_struct("Downsample")
            .field("format", format)
            .field("method", method)
            .field("skip_nan", skip_nan)
            .field("factors", factors)
            .field("levels", levels)
            .field("overwrite", overwrite)
            .field("about", about)
            .field("convert", convert)
            .finish()
    }
}

impl Downsample {
    /// Halves all axes of space by the mean, until a level has no more elements than a chunk.
    pub fn new() -> Self {
        Self::default()
    }

    fn changing(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// Sets the options for opening nodes.
    pub fn open_options(self, options: OpenOptions) -> Self {
        Self { convert: self.convert.open_options(options), ..self }
    }

    /// Sets the format of a new group; by default that of the group above the destination, and otherwise that of the source.
    pub fn format(self, format: Format) -> Self {
        Self { format: Some(format), ..self }
    }

    /// Sets the method; by default the mean, and the mode for labels.
    pub fn method(self, method: Method) -> Self {
        Self { method: Some(method), ..self }
    }

    /// Sets whether NaN is left out, so that only a cell of nothing but NaN becomes NaN.
    pub fn skip_nan(self, skip: bool) -> Self {
        Self { skip_nan: skip, ..self }
    }

    /// Sets the factor by which a level is shorter than the one before along each dimension. A single factor is for all axes of space.
    /// A dimension of one element stays.
    pub fn factors(self, factors: impl Into<Vec<u64>>) -> Self {
        Self { factors: factors.into(), ..self }
    }

    /// Sets the number of levels below the first one. There are fewer if nothing is left to be reduced.
    pub fn levels(self, levels: usize) -> Self {
        Self { levels: Some(levels), ..self }
    }

    /// Sets the shape of chunks of what is written; by default that of the source.
    pub fn chunks(self, chunks: impl Into<ChunkShape>) -> Self {
        self.changing(|own| own.convert.rewrite.chunks = Some(chunks.into()))
    }

    /// Sets the shape of shards of what is written.
    pub fn shards(self, shards: impl Into<ChunkShape>) -> Self {
        self.changing(|own| own.convert.rewrite.shards = Some(Some(shards.into())))
    }

    /// Stores each chunk by itself.
    pub fn no_shards(self) -> Self {
        self.changing(|own| own.convert.rewrite.shards = Some(None))
    }

    /// Sets all codecs of what is written.
    pub fn codecs(self, codecs: impl IntoIterator<Item = CodecSpec>) -> Self {
        self.changing(|own| own.convert.rewrite.codecs = Some(codecs.into_iter().collect()))
    }

    /// Sets the codecs before the compressor.
    pub fn filters(self, filters: impl IntoIterator<Item = CodecSpec>) -> Self {
        self.changing(|own| own.convert.rewrite.filters = Some(filters.into_iter().collect()))
    }

    /// Sets the codec that compresses chunks.
    pub fn compressor(self, compressor: impl Into<CodecSpec>) -> Self {
        self.changing(|own| own.convert.rewrite.compressor = Some(Some(compressor.into())))
    }

    /// Stores chunks uncompressed.
    pub fn no_compressor(self) -> Self {
        self.changing(|own| own.convert.rewrite.compressor = Some(None))
    }

    /// Sets the separator between the numbers of chunk keys; by default that of the source, and `/` in OME-Zarr 0.4.
    pub fn separator(self, separator: Separator) -> Self {
        self.changing(|own| own.convert.rewrite.separator = Some(separator))
    }

    /// Allows the loss of a property that another format cannot express.
    pub fn allow(self, what: What) -> Self {
        Self { convert: self.convert.allow(what), ..self }
    }

    /// Allows the loss of every property that another format cannot express.
    pub fn lossy(self, lossy: bool) -> Self {
        Self { convert: self.convert.lossy(lossy), ..self }
    }

    /// Sets whether levels that are there are replaced, and with a destination what is there.
    pub fn overwrite(self, overwrite: bool) -> Self {
        Self { overwrite, ..self }
    }

    /// Sets how much memory may be in use at once, in bytes; 256 MiB by default. At least one chunk of two levels is in memory.
    pub fn memory(self, bytes: usize) -> Self {
        self.changing(|own| own.convert.effort.memory = bytes)
    }

    /// Sets the number of threads; 0, the default, for as many as the stores are good for.
    pub fn jobs(self, jobs: usize) -> Self {
        self.changing(|own| own.convert.effort.jobs = jobs)
    }

    /// Sets a function that is called with the progress in bytes of elements, from any thread. An error ends the work, which can be
    /// continued later.
    pub fn on_progress(self, listener: impl Fn(Progress) -> Result<()> + Send + Sync + 'static) -> Self {
        Self { convert: self.convert.on_progress(listener), ..self }
    }

    /// Sets the form in which the image is described; by default OME-Zarr, in the version for the group's format.
    pub fn form(self, form: Multiscales) -> Self {
        self.changing(|own| own.about.form = Some(form))
    }

    /// Sets the name of the image; by default that of its group.
    pub fn name(self, name: impl Into<String>) -> Self {
        self.changing(|own| own.about.name = Some(name.into()))
    }

    /// Sets the axes; by default they have the names of the dimensions, or are the last of `t`, `c`, `z`, `y` and `x`.
    pub fn axes(self, axes: impl IntoIterator<Item = Axis>) -> Self {
        self.changing(|own| own.about.axes = axes.into_iter().collect())
    }

    /// Sets the distance of two elements of the first level along each axis, in its unit; by default 1.
    pub fn scale(self, scale: impl Into<Vec<f64>>) -> Self {
        self.changing(|own| own.about.scale = scale.into())
    }

    /// Sets the coordinate of the centre of the first element of the first level along each axis, in its unit; by default 0.
    pub fn translation(self, translation: impl Into<Vec<f64>>) -> Self {
        self.changing(|own| own.about.translation = translation.into())
    }

    /// Sets the unit of each axis, empty for none. A single unit is for all axes of space.
    pub fn units(self, units: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.changing(|own| own.about.units = units.into_iter().map(Into::into).collect())
    }

    /// Describes the channels, one for each element along the axis of channels. The range of a channel that is shown is that of the
    /// elements of the smallest level.
    pub fn channels(self, channels: impl IntoIterator<Item = Channel>) -> Self {
        self.changing(|own| own.about.channels = channels.into_iter().collect())
    }

    /// Sets whether elements are labels, which are integers: levels are made by the mode, and a group `labels` around the image lists it.
    pub fn labels(self, labels: bool) -> Self {
        self.changing(|own| own.about.is_labels = labels)
    }

    /// Plans levels beside an array, in the group that it is in. For a group, the array is that of its highest resolution.
    ///
    /// # Errors
    /// When the array cannot be opened, or an option does not fit to it.
    pub fn plan(&self, source: impl AsRef<Path>) -> Result<Pyramid> {
        let node = self.convert.opening().place(source.as_ref())?.open_node()?;
        plan::beside(self, source::array_of(node)?)
    }

    /// Plans a new group with a copy of an array and its levels.
    ///
    /// # Errors
    /// The errors of [`plan`](Self::plan); when one path contains the other.
    pub fn plan_into(&self, source: impl AsRef<Path>, destination: impl AsRef<Path>) -> Result<Pyramid> {
        check_apart(source.as_ref(), destination.as_ref())?;
        let opening = self.convert.opening();
        let node = opening.clone().mode(OpenMode::Read).place(source.as_ref())?.open_node()?;
        plan::into(self, source::array_of(node)?, opening.new_place(destination.as_ref())?)
    }

    /// Makes levels beside an array, in the group that it is in, and describes the image there. After an interruption, the same call
    /// continues.
    ///
    /// # Errors
    /// The errors of [`plan`](Self::plan); [`ErrorKind::AlreadyExists`](crate::ErrorKind::AlreadyExists) when a level is there;
    /// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) when elements cannot be reduced so; the errors of reading and writing.
    pub fn run(&self, source: impl AsRef<Path>) -> Result<Vec<PyramidLevel>> {
        self.plan(source)?.run()
    }

    /// Makes a new group with a copy of an array, its levels, and the description of the image. Chunks of the first level that need not
    /// change are copied as they are. After an interruption, the same call continues.
    ///
    /// # Errors
    /// The errors of [`run`](Self::run); [`ErrorKind::AlreadyExists`](crate::ErrorKind::AlreadyExists) when something is at the
    /// destination.
    pub fn run_into(&self, source: impl AsRef<Path>, destination: impl AsRef<Path>) -> Result<Vec<PyramidLevel>> {
        self.plan_into(source, destination)?.run()
    }
}

/// Makes levels beside an array, halved by the mean, and describes the image. [`Downsample`] has options.
///
/// # Errors
/// The errors of [`Downsample::run`].
pub fn downsample(source: impl AsRef<Path>) -> Result<Vec<PyramidLevel>> {
    Downsample::new().run(source)
}
