//! [`Copier`]: the options of a copy, and its plan.

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;

use zarrox::internals::{Listener, Location, argument};
use zarrox::{OpenMode, OpenOptions, Place, Progress};
use zarrox_core::data_type::Casting;
use zarrox_core::{ChunkShape, CodecSpec, DataType, Format, IntoSelection, Result, Separator};

use super::conversion::{check_apart, check_places_apart, known_nodes};
use super::copying::Copying;
use super::elements::PlainElements;
use super::glob::Glob;
use super::merge::{Merge, Piece};
use super::report::{CopyReport, Property};
use super::settings::Settings;
use super::settings::Verify;
use super::translator::Missing;

/// The treatment of nodes that are at the destination already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IfExists {
    /// Nothing is copied, and the copy fails.
    #[default]
    Error,
    /// They stay as they are. Nodes that are missing are copied, also into groups that are there.
    Skip,
    /// The node at the destination is deleted first, with all nodes below it.
    Replace,
    /// Chunks, attributes and nodes that are missing or different are copied; those of the destination alone stay. An array of
    /// another shape, type or encoding is replaced.
    Update,
}

/// Copies nodes, with options.
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
    /// A copier that changes nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Cuts chunks and shards down to a part of an array, whose chunks are of the third shape otherwise. The second result is true if
    /// they were longer.
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

    /// Sets the format of the copy; by default that of the group above the destination, and otherwise that of the source.
    pub fn format(self, format: Format) -> Self {
        Self { format: Some(format), ..self }
    }

    /// Sets the shape of chunks. Without [`shards`](Self::shards), the copy has no shards then.
    pub fn chunks(self, chunks: impl Into<ChunkShape>) -> Self {
        self.changing(|settings| settings.rewrite.chunks = Some(chunks.into()))
    }

    /// Sets the shape of shards.
    pub fn shards(self, shards: impl Into<ChunkShape>) -> Self {
        self.changing(|settings| settings.rewrite.shards = Some(Some(shards.into())))
    }

    /// Sets the lengths of chunks along dimensions by the names of these; `None` for the whole dimension. Arrays without such a
    /// dimension keep their chunks.
    pub fn chunks_by_name(self, lengths: impl IntoIterator<Item = (String, Option<u64>)>) -> Self {
        self.changing(|settings| settings.rewrite.named_chunks = lengths.into_iter().collect())
    }

    /// Sets the lengths of shards along dimensions by the names of these; `None` for the whole dimension. Along others, a shard has
    /// one chunk. Arrays without such a dimension keep their shards.
    pub fn shards_by_name(self, lengths: impl IntoIterator<Item = (String, Option<u64>)>) -> Self {
        self.changing(|settings| settings.rewrite.named_shards = lengths.into_iter().collect())
    }

    /// Stores each chunk by itself.
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

    /// Sets the codec that compresses chunks, in place of all codecs that work on bytes.
    pub fn compressor(self, compressor: impl Into<CodecSpec>) -> Self {
        self.changing(|settings| settings.rewrite.compressor = Some(Some(compressor.into())))
    }

    /// Stores chunks uncompressed.
    pub fn no_compressor(self) -> Self {
        self.changing(|settings| settings.rewrite.compressor = Some(None))
    }

    /// Sets the data type, to which elements are cast.
    pub fn data_type(self, data_type: DataType, casting: Casting) -> Self {
        self.changing(|settings| settings.rewrite.data_type = Some((data_type, casting)))
    }

    /// Sets the separator between the numbers of chunk keys.
    pub fn separator(self, separator: Separator) -> Self {
        self.changing(|settings| settings.rewrite.separator = Some(separator))
    }

    /// Copies a part of an array.
    pub fn select(self, selection: impl IntoSelection) -> Self {
        self.changing(|settings| settings.rewrite.part = Some(selection.into_selection()))
    }

    /// Copies only arrays that a pattern fits, or that are in a group which it fits. Several patterns add to each other.
    pub fn include(self, pattern: Glob) -> Self {
        self.changing(|settings| settings.chosen.include.push(pattern))
    }

    /// Leaves out nodes that a pattern fits, with all nodes below them.
    pub fn exclude(self, pattern: Glob) -> Self {
        self.changing(|settings| settings.chosen.exclude.push(pattern))
    }

    /// Sets what is done with nodes that are at the destination already.
    pub fn if_exists(self, if_exists: IfExists) -> Self {
        Self { if_exists, ..self }
    }

    /// Sets which values are compared with the source afterwards.
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

    /// Writes consolidated metadata for the copy, also where the source has none.
    pub fn consolidate(self, consolidate: bool) -> Self {
        self.changing(|settings| settings.consolidate = consolidate)
    }

    /// Leaves out chunks of the source that are damaged where elements are decoded, and reports them. The copy has fill values there.
    pub fn skip_damaged(self, skip: bool) -> Self {
        self.changing(|settings| settings.effort.skip_damaged = skip)
    }

    /// Sets whether fill values and the attribute `_FillValue` stay as they are in another format. Otherwise they become what makes
    /// xarray mask the same elements: in Zarr v2 it masks the fill value, and in Zarr v3 the value of the attribute.
    pub fn keep_fill_values(self, keep: bool) -> Self {
        self.changing(|settings| settings.missing = if keep { Missing::Kept } else { Missing::AsXarray })
    }

    /// Tells that the source stays as it is, as a file of another format does: errors that come again have no advice to continue.
    pub fn fixed_source(self, fixed: bool) -> Self {
        self.changing(|settings| settings.effort.fixed_source = fixed)
    }

    /// Tells that the arrays of the source have only elements: their copies get chunks and codecs like new arrays. Without a format, the
    /// copy has that of the group above, or Zarr v3.
    pub fn elements(self, elements: PlainElements) -> Self {
        self.changing(|settings| settings.elements = Some(elements))
    }

    /// Sets whether a copy that fails deletes what it has made. Otherwise that stays, and the same copy continues.
    pub fn clean_up(self, clean_up: bool) -> Self {
        self.changing(|settings| settings.cleans_up = clean_up)
    }

    /// Compares also those arrays that an interrupted run has finished: they may have been written into since then.
    pub(super) fn comparing_again(self) -> Self {
        self.changing(|settings| settings.effort.again = true)
    }

    /// Sets how much memory may be in use at once, in bytes; 1 GiB by default. At least one chunk of each side is in memory.
    pub fn memory(self, bytes: usize) -> Self {
        self.changing(|settings| settings.effort.memory = bytes)
    }

    /// Sets the number of chunks that are copied at a time, which is at least one; by default as many as the stores are good for.
    pub fn jobs(self, jobs: usize) -> Self {
        self.changing(|settings| settings.effort.jobs = NonZeroUsize::new(jobs).or(Some(NonZeroUsize::MIN)))
    }

    /// Sets the most bytes of the source that are copied in a second.
    pub fn max_rate(self, bytes_per_second: u64) -> Self {
        self.changing(|settings| settings.effort.rate = Some(bytes_per_second))
    }

    /// Sets a function that is called with the progress, from any thread. An error ends the copy, which can be continued later.
    pub fn on_progress(self, listener: impl Fn(Progress) -> Result<()> + Send + Sync + 'static) -> Self {
        self.changing(|settings| settings.listener = Some(Arc::new(listener)))
    }

    /// Copies the node at a place, with all nodes below it. After an interruption, the same call continues.
    ///
    /// # Errors
    /// [`ErrorKind::AlreadyExists`](zarrox::ErrorKind::AlreadyExists) when something is at the destination that is not to be replaced;
    /// [`ErrorKind::Unsupported`](zarrox::ErrorKind::Unsupported) when the format of the copy cannot express the source; the errors of
    /// the stores and of reading.
    pub fn run(&self, source: impl Into<Place>, destination: impl Into<Place>) -> Result<CopyReport> {
        self.plan(source, destination)?.run()
    }

    /// Plans a copy. Nothing is written yet.
    ///
    /// # Errors
    /// When the source cannot be read, or one place contains the other.
    pub fn plan(&self, source: impl Into<Place>, destination: impl Into<Place>) -> Result<Copying> {
        let (source, destination) = (source.into(), destination.into());
        check_apart(&source, &destination)?;
        let opening = self.settings.opening();
        let from = opening.clone().mode(OpenMode::Read).place(source)?;
        self.plan_between(&from, opening.new_place(destination)?)
    }

    /// Plans the conversion of the node at a place, with all nodes below it, into the [format](Self::format) in place: only documents change,
    /// and no chunk.
    ///
    /// # Errors
    /// When the source cannot be read; [`ErrorKind::InvalidArgument`](zarrox::ErrorKind::InvalidArgument) without a format.
    pub fn plan_in_place(&self, place: impl Into<Place>) -> Result<Copying> {
        let place = self.settings.opening().place(place)?;
        let format = self.format.ok_or_else(|| argument("a conversion in place needs a format"))?;
        let conversion = self.settings.clone().into_format(format, false).plan_at(&place)?;
        Ok(Copying::new(vec![Piece::Whole(conversion)]))
    }

    /// The options of the copy, for tools that copy as a part of their work.
    #[doc(hidden)]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    pub(super) fn plan_between(&self, source: &Location, destination: Location) -> Result<Copying> {
        check_places_apart(source, &destination)?;
        // The format with which the options open the source is not that of the copy.
        let root = known_nodes(source)?.open_node()?;
        let destination = destination.of_format(None);
        let above = || destination.inherited_format().transpose();
        let format = self.format.map(Ok).or_else(above).transpose()?;
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

/// Copies the node at a place, with all nodes below it, to another place where nothing is. [`Copier`] has options.
///
/// # Errors
/// The errors of [`Copier::run`].
pub fn copy(source: impl Into<Place>, destination: impl Into<Place>) -> Result<CopyReport> {
    Copier::new().run(source, destination)
}
