//! Options for downsampling.

use std::fmt;

use zarrox_core::{ChunkShape, CodecSpec, Format, Result, Separator};

use crate::ome::{Axis, Channel, Multiscales};
use zarrox::{Interrupt, OpenOptions, Progress, Shape};
use zarrox_tools::copy::{Copier, Property};
use zarrox_tools::reduce::Reduction;

/// The default memory limit, in bytes.
const MEMORY: usize = 256 << 20;

/// A builder for a pyramid: downsamples an array to several levels, and describes all levels as one image.
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
    pub(super) description: Description,
}

/// Options for the description of the image.
#[derive(Debug, Clone, Default)]
pub(super) struct Description {
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
        Self {
            copier,
            format,
            method,
            skip_nan,
            factors,
            levels,
            overwrite: false,
            description: Description::default(),
        }
    }
}

impl fmt::Debug for Downsample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { copier, format, method, skip_nan, factors, levels, overwrite, description } = self;
        f.debug_struct("Downsample")
            .field("format", format)
            .field("method", method)
            .field("skip_nan", skip_nan)
            .field("factors", factors)
            .field("levels", levels)
            .field("overwrite", overwrite)
            .field("description", description)
            .field("copier", copier)
            .finish()
    }
}

impl Downsample {
    /// Creates options that downsample all space axes to the mean with a scale factor of 2, until a level is no larger than a
    /// chunk.
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

    /// Sets the format of a new group; by default, the format of the group above the destination or, if there is none, the format
    /// of the source.
    pub fn format(self, format: Format) -> Self {
        Self { format: Some(format), ..self }
    }

    /// Sets the downsampling method; by default, the mean, or the mode for labels.
    pub fn method(self, method: Reduction) -> Self {
        Self { method: Some(method), ..self }
    }

    /// Sets whether NaN is ignored: a cell then becomes NaN only if all of its elements are NaN.
    pub fn skip_nan(self, skip: bool) -> Self {
        Self { skip_nan: skip, ..self }
    }

    /// Sets the scale factor of each level relative to the previous one: a list with a factor for each dimension, or a single
    /// factor for all space axes. Dimensions of length 1 are not downsampled.
    pub fn factors(self, factors: impl Into<Shape>) -> Self {
        Self { factors: factors.into().into(), ..self }
    }

    /// Sets the number of levels below the first one. Fewer levels are created if no dimension can be downsampled further.
    pub fn levels(self, levels: usize) -> Self {
        Self { levels: Some(levels), ..self }
    }

    /// Sets the chunk shape of the created arrays; by default, the chunk shape of the source.
    pub fn chunks(self, chunks: impl Into<ChunkShape>) -> Self {
        self.copying(|copier| copier.chunks(chunks))
    }

    /// Sets the shard shape of the created arrays.
    pub fn shards(self, shards: impl Into<ChunkShape>) -> Self {
        self.copying(|copier| copier.shards(shards))
    }

    /// Stores chunks without shards.
    pub fn no_shards(self) -> Self {
        self.copying(|copier| copier.no_shards())
    }

    /// Sets all codecs of the created arrays.
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

    /// Sets the separator between the indices in chunk keys; by default, the separator of the source, or `/` in OME-Zarr 0.4.
    pub fn separator(self, separator: Separator) -> Self {
        self.copying(|copier| copier.separator(separator))
    }

    /// Allows a property to be lost if the destination's format does not support it.
    pub fn allow(self, property: Property) -> Self {
        self.copying(|copier| copier.allow(property))
    }

    /// Sets whether all properties that the destination's format does not support may be lost.
    pub fn lossy(self, lossy: bool) -> Self {
        self.copying(|copier| copier.lossy(lossy))
    }

    /// Sets whether existing levels, or an existing node at the destination, are replaced.
    pub fn overwrite(self, overwrite: bool) -> Self {
        Self { overwrite, ..self }
    }

    /// Sets the memory limit in bytes; the default is 256 MiB. In any case, at least one chunk of each of two levels is in
    /// memory.
    pub fn memory(self, bytes: usize) -> Self {
        self.copying(|copier| copier.memory(bytes))
    }

    /// Sets the number of threads, which is at least one; the default depends on the stores.
    pub fn jobs(self, jobs: usize) -> Self {
        self.copying(|copier| copier.jobs(jobs))
    }

    /// Sets the interrupt that cancels the work, which can be continued later.
    pub fn interrupt(self, interrupt: &Interrupt) -> Self {
        self.copying(|copier| copier.interrupt(interrupt))
    }

    /// Sets a function that is called with the progress, counted in bytes of elements, from any thread. An error that it returns
    /// ends the work, which can be continued later.
    pub fn on_progress(self, listener: impl Fn(Progress) -> Result<()> + Send + Sync + 'static) -> Self {
        self.copying(|copier| copier.on_progress(listener))
    }

    /// Sets the form of the image's metadata; by default, OME-Zarr in the version for the group's format.
    pub fn form(self, form: Multiscales) -> Self {
        self.changing(|own| own.description.form = Some(form))
    }

    /// Sets the name of the image; by default, the name of its group.
    pub fn name(self, name: impl Into<String>) -> Self {
        self.changing(|own| own.description.name = Some(name.into()))
    }

    /// Sets the axes; by default, their names are the dimension names or, if there are none, the last of `t`, `c`, `z`, `y` and
    /// `x`.
    pub fn axes(self, axes: impl IntoIterator<Item = Axis>) -> Self {
        self.changing(|own| own.description.axes = axes.into_iter().collect())
    }

    /// Sets the distance between adjacent elements of the first level along each axis, in the unit of the axis; by default, 1.
    pub fn scale(self, scale: impl Into<Vec<f64>>) -> Self {
        self.changing(|own| own.description.scale = scale.into())
    }

    /// Sets the coordinate of the centre of the first element of the first level along each axis, in the unit of the axis; by
    /// default, 0.
    pub fn translation(self, translation: impl Into<Vec<f64>>) -> Self {
        self.changing(|own| own.description.translation = translation.into())
    }

    /// Sets the unit of each axis; an empty string means no unit. A single unit applies to all space axes.
    pub fn units(self, units: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.changing(|own| own.description.units = units.into_iter().map(Into::into).collect())
    }

    /// Sets the channels, one for each position along the channel axis. If a channel has no contrast limits, they are set to the
    /// range of its values in the smallest level.
    pub fn channels(self, channels: impl IntoIterator<Item = Channel>) -> Self {
        self.changing(|own| own.description.channels = channels.into_iter().collect())
    }

    /// Sets whether the elements are labels, which must be integers. The default method is then the mode, and the image is listed
    /// in its parent group `labels`.
    pub fn labels(self, labels: bool) -> Self {
        self.changing(|own| own.description.is_labels = labels)
    }
}
