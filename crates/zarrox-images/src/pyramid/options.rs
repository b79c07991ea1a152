//! The options for smaller levels.

use std::fmt;

use zarrox_core::{ChunkShape, CodecSpec, Format, Result, Separator};

use crate::ome::{Axis, Channel, Multiscales};
use zarrox::{OpenOptions, Progress};
use zarrox_tools::copy::{Copier, Property};
use zarrox_tools::reduce::Reduction;

/// The memory by default, in bytes.
const MEMORY: usize = 256 << 20;

/// Makes smaller levels of an array and describes all of them as one image, with options.
#[derive(Clone)]
#[must_use = "nothing is made before `run` is called"]
pub struct Downsample {
    pub(super) copier: Copier,
    pub(super) format: Option<Format>,
    pub(super) method: Option<Reduction>,
    pub(super) skip_nan: bool,
    pub(super) factors: Vec<u64>,
    pub(super) levels: Option<usize>,
    pub(super) overwrite: bool,
    pub(super) about: About,
}

/// The description of the image, as far as it is given.
#[derive(Debug, Clone, Default)]
pub(super) struct About {
    pub(super) form: Option<Multiscales>,
    pub(super) name: Option<String>,
    pub(super) axes: Vec<Axis>,
    pub(super) scale: Vec<f64>,
    pub(super) translation: Vec<f64>,
    pub(super) units: Vec<String>,
    pub(super) channels: Vec<Channel>,
    pub(super) is_labels: bool,
}

impl Default for Downsample {
    fn default() -> Self {
        let copier = Copier::new().memory(MEMORY);
        let (format, method, skip_nan, factors, levels) = (None, None, false, Vec::new(), None);
        Self { copier, format, method, skip_nan, factors, levels, overwrite: false, about: About::default() }
    }
}

impl fmt::Debug for Downsample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { copier, format, method, skip_nan, factors, levels, overwrite, about } = self;
        f.debug_struct("Downsample")
            .field("format", format)
            .field("method", method)
            .field("skip_nan", skip_nan)
            .field("factors", factors)
            .field("levels", levels)
            .field("overwrite", overwrite)
            .field("about", about)
            .field("copier", copier)
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

    fn copying(self, change: impl FnOnce(Copier) -> Copier) -> Self {
        Self { copier: change(self.copier), ..self }
    }

    /// Sets the options for opening nodes.
    pub fn open_options(self, options: OpenOptions) -> Self {
        self.copying(|copier| copier.open_options(options))
    }

    /// Sets the format of a new group; by default that of the group above the destination, and otherwise that of the source.
    pub fn format(self, format: Format) -> Self {
        Self { format: Some(format), ..self }
    }

    /// Sets the method; by default the mean, and the mode for labels.
    pub fn method(self, method: Reduction) -> Self {
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
        self.copying(|copier| copier.chunks(chunks))
    }

    /// Sets the shape of shards of what is written.
    pub fn shards(self, shards: impl Into<ChunkShape>) -> Self {
        self.copying(|copier| copier.shards(shards))
    }

    /// Stores each chunk by itself.
    pub fn no_shards(self) -> Self {
        self.copying(|copier| copier.no_shards())
    }

    /// Sets all codecs of what is written.
    pub fn codecs(self, codecs: impl IntoIterator<Item = CodecSpec>) -> Self {
        self.copying(|copier| copier.codecs(codecs))
    }

    /// Sets the codecs before the compressor.
    pub fn filters(self, filters: impl IntoIterator<Item = CodecSpec>) -> Self {
        self.copying(|copier| copier.filters(filters))
    }

    /// Sets the codec that compresses chunks.
    pub fn compressor(self, compressor: impl Into<CodecSpec>) -> Self {
        self.copying(|copier| copier.compressor(compressor))
    }

    /// Stores chunks uncompressed.
    pub fn no_compressor(self) -> Self {
        self.copying(|copier| copier.no_compressor())
    }

    /// Sets the separator between the numbers of chunk keys; by default that of the source, and `/` in OME-Zarr 0.4.
    pub fn separator(self, separator: Separator) -> Self {
        self.copying(|copier| copier.separator(separator))
    }

    /// Allows the loss of a property that another format cannot express.
    pub fn allow(self, property: Property) -> Self {
        self.copying(|copier| copier.allow(property))
    }

    /// Allows the loss of every property that another format cannot express.
    pub fn lossy(self, lossy: bool) -> Self {
        self.copying(|copier| copier.lossy(lossy))
    }

    /// Sets whether levels that are there are replaced, and with a destination what is there.
    pub fn overwrite(self, overwrite: bool) -> Self {
        Self { overwrite, ..self }
    }

    /// Sets how much memory may be in use at once, in bytes; 256 MiB by default. At least one chunk of two levels is in memory.
    pub fn memory(self, bytes: usize) -> Self {
        self.copying(|copier| copier.memory(bytes))
    }

    /// Sets the number of threads, which is at least one; by default as many as the stores are good for.
    pub fn jobs(self, jobs: usize) -> Self {
        self.copying(|copier| copier.jobs(jobs))
    }

    /// Sets a function that is called with the progress in bytes of elements, from any thread. An error ends the work, which can be
    /// continued later.
    pub fn on_progress(self, listener: impl Fn(Progress) -> Result<()> + Send + Sync + 'static) -> Self {
        self.copying(|copier| copier.on_progress(listener))
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
}
