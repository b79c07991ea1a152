//! [`Copier`]: the options of a copy, and its plan.

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;

use zarrox::internals::{Listener, Location, argument, format_of};
use zarrox::{Interrupt, OpenMode, OpenOptions, Place, Progress};
use zarrox_core::data_type::Casting;
use zarrox_core::{ChunkShape, CodecSpec, DataType, Format, IntoSelection, Result, Separator};

use super::conversion::{check_apart, check_places_apart, known_nodes};
use super::copying::Copying;
use super::elements::PlainElements;
use super::merge::{Merge, Piece};
use super::report::{CopyReport, Property};
use super::settings::Settings;
use super::settings::Verify;
use super::translator::Missing;

/// The action for nodes that exist at the destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IfExists {
    /// Fail before anything is copied.
    #[default]
    Error,
    /// Keep existing nodes, and copy missing nodes, also into existing groups.
    Skip,
    /// Delete the node at the destination first, with all nodes below it.
    Replace,
    /// Copy missing and different chunks, attributes and nodes, and keep those that exist only at the destination. An array with
    /// another shape, data type or encoding is replaced.
    Update,
}

/// A builder for copies of nodes.
#[derive(Clone)]
#[must_use = "nothing is copied before `run` is called"]
pub struct Copier {
    pub(super) settings: Settings,
    pub(super) format: Option<Format>,
    pub(super) if_exists: IfExists,
    pub(super) scratch: Option<Place>,
}

impl Default for Copier {
    fn default() -> Self {
        Self { settings: Settings::default(), format: None, if_exists: IfExists::Error, scratch: None }
    }
}

impl Copier {
    /// Creates a copier that keeps all properties.
    pub fn new() -> Self {
        Self::default()
    }

    /// Limits chunk and shard shapes to the shape of a part of an array. `chunks` is the default chunk shape of the array. The
    /// second result is true if a chunk or a shard would have exceeded the part.
    pub(crate) fn cut_to(mut self, whole: &[u64], part: &[u64], chunks: &[u64]) -> (Self, bool) {
        let rewrite = &mut self.settings.rewrite;
        let (mut is_cut, mut chunks) = (false, chunks.to_vec());
        if let Some(wanted) = rewrite.chunks.as_mut().filter(|wanted| !matches!(wanted, ChunkShape::Guess)) {
            let lengths = wanted.resolve(whole, 1);
            chunks = lengths.iter().zip(part).map(|(&length, &most)| length.min(most)).collect();
            is_cut = lengths.iter().zip(whole).zip(&chunks).any(|((&n, &all), &cut)| n.min(all) > cut);
            *wanted = chunks.as_slice().into();
        }
        if let Some(Some(wanted)) = &mut rewrite.shards {
            let shards = wanted.resolve(whole, 1);
            let most = |(&part, &chunk): (&u64, &u64)| part.div_ceil(chunk.max(1)) * chunk.max(1);
            let most = part.iter().zip(&chunks).map(most);
            let cut: Vec<u64> = shards.iter().zip(most).map(|(&length, most)| length.min(most)).collect();
            is_cut |= shards.iter().zip(whole).zip(&cut).any(|((&n, &all), &cut)| n.min(all) > cut);
            *wanted = cut.as_slice().into();
        }
        (self, is_cut)
    }

    pub(super) fn listening(self, listener: Option<Listener>) -> Self {
        self.changing(|settings| settings.listener = listener)
    }

    fn changing(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(&mut self.settings);
        self
    }

    /// Sets the options for opening nodes.
    pub fn open_options(self, options: OpenOptions) -> Self {
        self.changing(|settings| settings.options = options)
    }

    /// Sets the format of the copy. The default is the format of the nodes that are kept or updated; without such nodes, that of
    /// the parent group of the destination; without a parent group, that of the source.
    pub fn format(self, format: Format) -> Self {
        Self { format: Some(format), ..self }
    }

    /// Sets the chunk shape. The copy then has no shards, unless [`shards`](Self::shards) sets them.
    pub fn chunks(self, chunks: impl Into<ChunkShape>) -> Self {
        self.changing(|settings| settings.rewrite.chunks = Some(chunks.into()))
    }

    /// Sets the shard shape.
    pub fn shards(self, shards: impl Into<ChunkShape>) -> Self {
        self.changing(|settings| settings.rewrite.shards = Some(Some(shards.into())))
    }

    /// Sets chunk lengths by dimension name; `None` for the whole dimension. Arrays without these dimensions keep their chunks.
    pub fn chunks_by_name(self, lengths: impl IntoIterator<Item = (String, Option<u64>)>) -> Self {
        self.changing(|settings| settings.rewrite.named_chunks = lengths.into_iter().collect())
    }

    /// Sets shard lengths by dimension name; `None` for the whole dimension. Along other dimensions, a shard has one chunk.
    /// Arrays without these dimensions keep their shards.
    pub fn shards_by_name(self, lengths: impl IntoIterator<Item = (String, Option<u64>)>) -> Self {
        self.changing(|settings| settings.rewrite.named_shards = lengths.into_iter().collect())
    }

    /// Stores each chunk as a separate object, without shards.
    pub fn no_shards(self) -> Self {
        self.changing(|settings| settings.rewrite.shards = Some(None))
    }

    /// Sets all codecs of chunks.
    pub fn codecs(self, codecs: impl IntoIterator<Item = CodecSpec>) -> Self {
        self.changing(|settings| settings.rewrite.codecs = Some(codecs.into_iter().collect()))
    }

    /// Sets the codecs before the compressor.
    pub fn filters(self, filters: impl IntoIterator<Item = CodecSpec>) -> Self {
        self.changing(|settings| settings.rewrite.filters = Some(filters.into_iter().collect()))
    }

    /// Sets the compressor, which replaces all codecs that work on bytes.
    pub fn compressor(self, compressor: impl Into<CodecSpec>) -> Self {
        self.changing(|settings| settings.rewrite.compressor = Some(Some(compressor.into())))
    }

    /// Stores chunks uncompressed.
    pub fn no_compressor(self) -> Self {
        self.changing(|settings| settings.rewrite.compressor = Some(None))
    }

    /// Sets the data type to which elements are cast.
    pub fn data_type(self, data_type: DataType, casting: Casting) -> Self {
        self.changing(|settings| settings.rewrite.data_type = Some((data_type, casting)))
    }

    /// Sets the separator in chunk keys.
    pub fn separator(self, separator: Separator) -> Self {
        self.changing(|settings| settings.rewrite.separator = Some(separator))
    }

    /// Copies only a selection of an array.
    pub fn select(self, selection: impl IntoSelection) -> Self {
        self.changing(|settings| settings.rewrite.part = Some(selection.into_selection()))
    }

    /// Copies only arrays that match a pattern, or that are in a matching group. Several calls add patterns.
    /// A pattern is a [`Glob`](crate::Glob); an invalid one is an error when the copy is planned.
    pub fn include(self, pattern: impl AsRef<str>) -> Self {
        self.changing(|settings| settings.chosen.include.add(pattern.as_ref()))
    }

    /// Excludes nodes that match a pattern, with all nodes below them. Several calls add patterns.
    pub fn exclude(self, pattern: impl AsRef<str>) -> Self {
        self.changing(|settings| settings.chosen.exclude.add(pattern.as_ref()))
    }

    /// Sets the action for nodes that exist at the destination.
    pub fn if_exists(self, if_exists: IfExists) -> Self {
        Self { if_exists, ..self }
    }

    /// Sets which values are compared with the source after they have been copied.
    pub fn verify(self, verify: Verify) -> Self {
        self.changing(|settings| settings.verify = verify)
    }

    /// Allows the loss of a property that another format cannot express.
    pub fn allow(self, property: Property) -> Self {
        self.changing(|settings| settings.allowed.push(property))
    }

    /// Allows the loss of every property that another format cannot express.
    pub fn lossy(self, lossy: bool) -> Self {
        self.changing(|settings| settings.lossy = lossy)
    }

    /// Writes consolidated metadata for the copy, even if the source has none.
    pub fn consolidate(self, consolidate: bool) -> Self {
        self.changing(|settings| settings.consolidate = consolidate)
    }

    /// Skips and reports damaged chunks of the source when elements are decoded. The copy has fill values in their place.
    pub fn skip_damaged(self, skip: bool) -> Self {
        self.changing(|settings| settings.execution.skip_damaged = skip)
    }

    /// Sets whether fill values and the attribute `_FillValue` are kept unchanged in another format. By default they are adapted
    /// so that xarray masks the same elements: in Zarr v2, xarray masks the fill value, and in Zarr v3 the value of the
    /// attribute.
    pub fn keep_fill_values(self, keep: bool) -> Self {
        self.changing(|settings| settings.missing = if keep { Missing::Kept } else { Missing::AsXarray })
    }

    /// Sets whether the source is immutable, such as a file in another format. The errors of an immutable source are permanent,
    /// so that they do not advise the user to continue the copy.
    pub fn fixed_source(self, fixed: bool) -> Self {
        self.changing(|settings| settings.execution.fixed_source = fixed)
    }

    /// Declares that the arrays of the source have no chunks: their copies get chunks and codecs like new arrays. If no format is
    /// set, the copy has the format of its parent group, or Zarr v3.
    pub fn elements(self, elements: PlainElements) -> Self {
        self.changing(|settings| settings.elements = Some(elements))
    }

    /// Sets whether a failed copy deletes its output. Otherwise the output is kept, and running the same copy again continues it.
    pub fn clean_up(self, clean_up: bool) -> Self {
        self.changing(|settings| settings.cleans_up = clean_up)
    }

    /// Compares arrays that an interrupted run has finished once more, since they may have changed.
    pub(super) fn comparing_again(self) -> Self {
        self.changing(|settings| settings.execution.again = true)
    }

    /// Sets the memory limit in bytes; the default is 1 GiB. At least one chunk of each side is held in memory.
    pub fn memory(self, bytes: usize) -> Self {
        self.changing(|settings| settings.execution.memory = bytes)
    }

    /// Sets the number of chunks that are copied concurrently, at least one. The default depends on the stores.
    pub fn jobs(self, jobs: usize) -> Self {
        self.changing(|settings| {
            settings.execution.jobs = NonZeroUsize::new(jobs).or(Some(NonZeroUsize::MIN));
        })
    }

    /// Sets the maximum number of bytes of the source that are copied per second.
    pub fn max_rate(self, bytes_per_second: u64) -> Self {
        self.changing(|settings| settings.execution.rate = Some(bytes_per_second))
    }

    /// Sets the interrupt that cancels the copy, which can be continued later. Reading and writing the elements of arrays also
    /// ends when the interrupt of the [options for opening](Self::open_options) is raised.
    pub fn interrupt(self, interrupt: &Interrupt) -> Self {
        self.changing(|settings| settings.interrupt = Some(interrupt.clone()))
    }

    /// Sets a listener that is called with the progress, from any thread. An error of the listener stops the copy, which can be
    /// continued later.
    pub fn on_progress(self, listener: impl Fn(Progress) -> Result<()> + Send + Sync + 'static) -> Self {
        self.changing(|settings| settings.listener = Some(Arc::new(listener)))
    }

    /// Copies the node at a location, with all nodes below it. After an interruption, the same call continues the copy.
    ///
    /// # Errors
    /// [`ErrorKind::AlreadyExists`](zarrox::ErrorKind::AlreadyExists) if the destination exists and must not be replaced;
    /// [`ErrorKind::Unsupported`](zarrox::ErrorKind::Unsupported) if the format of the copy cannot express the source; the errors
    /// of the stores and of reading.
    pub fn run(&self, source: impl Into<Place>, destination: impl Into<Place>) -> Result<CopyReport> {
        self.plan(source, destination)?.run()
    }

    /// Plans a copy. Nothing is written yet.
    ///
    /// # Errors
    /// If the source cannot be read, or one location contains the other.
    pub fn plan(&self, source: impl Into<Place>, destination: impl Into<Place>) -> Result<Copying> {
        let (source, destination) = (source.into(), destination.into());
        check_apart(&source, &destination)?;
        let opening = self.settings.opening();
        let from = opening.clone().mode(OpenMode::Read).place(source)?;
        self.plan_between(&from, opening.new_place(destination)?)
    }

    /// Plans an in-place conversion of the node at a location, with all nodes below it, to the [format](Self::format): only the
    /// documents change.
    ///
    /// # Errors
    /// If the source cannot be read; [`ErrorKind::InvalidArgument`](zarrox::ErrorKind::InvalidArgument) without a format.
    pub fn plan_in_place(&self, place: impl Into<Place>) -> Result<Copying> {
        self.settings.chosen.check()?;
        let place = self.settings.opening().place(place)?;
        let format = self.format.ok_or_else(|| argument("a conversion in place needs a format"))?;
        let conversion = self.settings.clone().into_format(format, false).plan_at(&place)?;
        Ok(Copying::new(vec![Piece::Whole(conversion)]))
    }

    /// Returns the settings of the copy, for tools that copy nodes themselves.
    #[doc(hidden)]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    pub(super) fn plan_between(&self, source: &Location, destination: Location) -> Result<Copying> {
        check_places_apart(source, &destination)?;
        self.settings.chosen.check()?;
        // The format in the options for opening the source is not the format of the copy.
        let root = known_nodes(source)?.open_node()?;
        let destination = destination.of_format(None);
        let there = || self.updated_format(&destination).transpose();
        let above = || destination.inherited_format().transpose();
        let format = self.format.map(Ok).or_else(there).or_else(above).transpose()?;
        let own = if self.settings.elements.is_some() { Format::V3 } else { root.format() };
        let format = format.or(destination.expected).unwrap_or(own);
        let destination = destination.of_format(Some(format)).expecting(Some(format));
        let settings = self.settings.clone().into_format(format, self.if_exists == IfExists::Replace);
        match self.if_exists {
            IfExists::Error | IfExists::Replace => {
                let conversion = settings.plan_between(source, &destination)?;
                Ok(Copying { pieces: vec![Piece::Whole(conversion)], scratch: self.scratch.clone() })
            }
            IfExists::Skip | IfExists::Update => {
                let updates = self.if_exists == IfExists::Update;
                Merge { settings, updates, pieces: Vec::new() }
                    .plan(root, source, &destination)
                    .map(Copying::new)
            }
        }
    }

    /// Returns the format of the nodes at the destination, if they are kept or updated.
    fn updated_format(&self, destination: &Location) -> Result<Option<Format>> {
        match self.if_exists {
            IfExists::Error | IfExists::Replace => Ok(None),
            IfExists::Skip | IfExists::Update => Ok(destination.find_node()?.as_ref().map(format_of)),
        }
    }
}

impl fmt::Debug for Copier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { settings, format, if_exists, scratch } = self;
        f.debug_struct("Copier")
            .field("format", format)
            .field("if_exists", if_exists)
            .field("scratch", scratch)
            .field("settings", settings)
            .finish()
    }
}

/// Copies the node at a location, with all nodes below it, to an unused location. [`Copier`] has options.
///
/// # Errors
/// The errors of [`Copier::run`].
pub fn copy(source: impl Into<Place>, destination: impl Into<Place>) -> Result<CopyReport> {
    Copier::new().run(source, destination)
}
