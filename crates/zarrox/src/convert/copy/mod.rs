//! Copies of arrays, groups and hierarchies: from any store to any other, of any format in any other.
//!
//! ```
//! use zarrox::codecs::Zstd;
//! use zarrox::prelude::*;
//! use zarrox::copy::{Copier, IfExists};
//! # let directory = tempfile::tempdir()?;
//! # let (sea, copy, small) = (directory.path().join("sea.zarr"), directory.path().join("copy.zip"), directory.path().join("small.zarr"));
//! # let root = zarrox::create_group(&sea)?;
//! # root.create_array("depth").shape([40, 80]).data_type(DataType::Int32).chunks([10, 10]).create()?.fill(s![3.., ..], 7)?;
//!
//! zarrox::copy(&sea, &copy)?; // stored bytes as they are, into an archive
//! Copier::new().chunks([20, 80]).compressor(Zstd::level(9)).run(sea.join("depth"), &small)?;
//! assert_eq!(zarrox::open_array(&small)?.read::<i32>(s![3, 5])?.first(), Some(&7));
//!
//! root.create_group("later")?;
//! Copier::new().if_exists(IfExists::Update).run(&sea, &copy)?; // what is new or different
//! assert!(zarrox::open_group(&copy)?.contains("later")?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Chunks are copied first and documents last, the root's at the very end, as [conversions](crate::convert#interruption) do. Where both
//! sides have the same chunks and codecs, the stored bytes are copied as they are; otherwise elements are decoded and encoded.

mod merge;
mod moving;
mod rechunking;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use zarrox_core::data_type::Casting;
use zarrox_core::grid::{ChunkShape, Separator};
use zarrox_core::{CodecSpec, DataType, Format, IntoSelection, Result};
use zarrox_stores::Store;

use crate::convert::Glob;
use crate::convert::{
    Conversion, Convert, ConvertReport, Progress, Verify, What, check_apart, check_places_apart, known_nodes,
};
use crate::group::Node;
use crate::location::Location;
use crate::options::{OpenMode, OpenOptions};
use merge::{Merge, Piece};

pub use rechunking::{CopyPlan, Way};

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
    convert: Convert,
    format: Option<Format>,
    if_exists: IfExists,
    scratch: Option<PathBuf>,
}

impl Default for Copier {
    fn default() -> Self {
        Self { convert: Convert::new(Format::V3), format: None, if_exists: IfExists::Error, scratch: None }
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
        let rewrite = &mut self.convert.rewrite;
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

    fn converting(self, change: impl FnOnce(Convert) -> Convert) -> Self {
        Self { convert: change(self.convert), ..self }
    }

    fn listening(self, listener: Option<crate::convert::Listener>) -> Self {
        self.changing(|convert| convert.listener = listener)
    }

    fn changing(mut self, change: impl FnOnce(&mut Convert)) -> Self {
        change(&mut self.convert);
        self
    }

    /// Sets the options for opening nodes.
    pub fn open_options(self, options: OpenOptions) -> Self {
        self.converting(|convert| convert.open_options(options))
    }

    /// Sets the format of the copy; by default that of the group above the destination, and otherwise that of the source.
    pub fn format(self, format: Format) -> Self {
        Self { format: Some(format), ..self }
    }

    /// Sets the shape of chunks. Without [`shards`](Self::shards), the copy has no shards then.
    pub fn chunks(self, chunks: impl Into<ChunkShape>) -> Self {
        self.changing(|convert| convert.rewrite.chunks = Some(chunks.into()))
    }

    /// Sets the shape of shards.
    pub fn shards(self, shards: impl Into<ChunkShape>) -> Self {
        self.changing(|convert| convert.rewrite.shards = Some(Some(shards.into())))
    }

    /// Sets the lengths of chunks along dimensions by the names of these; `None` for the whole dimension. Arrays without such a
    /// dimension keep their chunks.
    pub fn chunks_by_name(self, lengths: impl IntoIterator<Item = (String, Option<u64>)>) -> Self {
        self.changing(|convert| convert.rewrite.named_chunks = lengths.into_iter().collect())
    }

    /// Sets the lengths of shards along dimensions by the names of these; `None` for the whole dimension. Along others, a shard has
    /// one chunk. Arrays without such a dimension keep their shards.
    pub fn shards_by_name(self, lengths: impl IntoIterator<Item = (String, Option<u64>)>) -> Self {
        self.changing(|convert| convert.rewrite.named_shards = lengths.into_iter().collect())
    }

    /// Stores each chunk by itself.
    pub fn no_shards(self) -> Self {
        self.changing(|convert| convert.rewrite.shards = Some(None))
    }

    /// Sets all codecs of chunks.
    pub fn codecs(self, codecs: impl IntoIterator<Item = CodecSpec>) -> Self {
        self.changing(|convert| convert.rewrite.codecs = Some(codecs.into_iter().collect()))
    }

    /// Sets the codecs before the compressor.
    pub fn filters(self, filters: impl IntoIterator<Item = CodecSpec>) -> Self {
        self.changing(|convert| convert.rewrite.filters = Some(filters.into_iter().collect()))
    }

    /// Sets the codec that compresses chunks, in place of all codecs that work on bytes.
    pub fn compressor(self, compressor: impl Into<CodecSpec>) -> Self {
        self.changing(|convert| convert.rewrite.compressor = Some(Some(compressor.into())))
    }

    /// Stores chunks uncompressed.
    pub fn no_compressor(self) -> Self {
        self.changing(|convert| convert.rewrite.compressor = Some(None))
    }

    /// Sets the data type, to which elements are cast.
    pub fn data_type(self, data_type: DataType, casting: Casting) -> Self {
        self.changing(|convert| convert.rewrite.data_type = Some((data_type, casting)))
    }

    /// Sets the separator between the numbers of chunk keys.
    pub fn separator(self, separator: Separator) -> Self {
        self.changing(|convert| convert.rewrite.separator = Some(separator))
    }

    /// Copies a part of an array.
    pub fn select(self, selection: impl IntoSelection) -> Self {
        self.changing(|convert| convert.rewrite.part = Some(selection.into_selection()))
    }

    /// Copies only arrays that a pattern fits, or that are in a group which it fits. Several patterns add to each other.
    pub fn include(self, pattern: Glob) -> Self {
        self.changing(|convert| convert.chosen.include.push(pattern))
    }

    /// Leaves out nodes that a pattern fits, with all nodes below them.
    pub fn exclude(self, pattern: Glob) -> Self {
        self.changing(|convert| convert.chosen.exclude.push(pattern))
    }

    /// Sets what is done with nodes that are at the destination already.
    pub fn if_exists(self, if_exists: IfExists) -> Self {
        Self { if_exists, ..self }
    }

    /// Sets which values are compared with the source afterwards.
    pub fn verify(self, verify: Verify) -> Self {
        self.converting(|convert| convert.verify(verify))
    }

    /// Allows the loss of a property that another format cannot express.
    pub fn allow(self, what: What) -> Self {
        self.converting(|convert| convert.allow(what))
    }

    /// Allows the loss of every property that another format cannot express.
    pub fn lossy(self, lossy: bool) -> Self {
        self.converting(|convert| convert.lossy(lossy))
    }

    /// Writes consolidated metadata for the copy, also where the source has none.
    pub fn consolidate(self, consolidate: bool) -> Self {
        self.changing(|convert| convert.consolidate = consolidate)
    }

    /// Leaves out chunks of the source that are damaged where elements are decoded, and reports them. The copy has fill values there.
    pub fn skip_damaged(self, skip: bool) -> Self {
        self.changing(|convert| convert.effort.skip_damaged = skip)
    }

    /// Sets whether fill values and the attribute `_FillValue` stay as they are in another format, as [`Convert::keep_fill_values`] does.
    pub fn keep_fill_values(self, keep: bool) -> Self {
        self.converting(|convert| convert.keep_fill_values(keep))
    }

    /// Tells that the source stays as it is, as a file of another format does: errors that come again have no advice to continue.
    pub fn fixed_source(self, fixed: bool) -> Self {
        self.changing(|convert| convert.effort.fixed_source = fixed)
    }

    /// Compares also those arrays that an interrupted run has finished: they may have been written into since then.
    pub(super) fn comparing_again(self) -> Self {
        self.changing(|convert| convert.effort.again = true)
    }

    /// Sets how much memory may be in use at once, in bytes; 1 GiB by default. At least one chunk of each side is in memory.
    pub fn memory(self, bytes: usize) -> Self {
        self.changing(|convert| convert.effort.memory = bytes)
    }

    /// Sets the number of chunks that are copied at a time; 0, the default, for as many as the stores are good for.
    pub fn jobs(self, jobs: usize) -> Self {
        self.changing(|convert| convert.effort.jobs = jobs)
    }

    /// Sets the most bytes of the source that are copied in a second.
    pub fn max_rate(self, bytes_per_second: u64) -> Self {
        self.changing(|convert| convert.effort.rate = Some(bytes_per_second))
    }

    /// Sets a function that is called with the progress, from any thread. An error ends the copy, which can be continued later.
    pub fn on_progress(self, listener: impl Fn(Progress) -> Result<()> + Send + Sync + 'static) -> Self {
        self.converting(|convert| convert.on_progress(listener))
    }

    /// Copies the node at a path or URL, with all nodes below it. After an interruption, the same call continues.
    ///
    /// # Errors
    /// [`ErrorKind::AlreadyExists`](crate::ErrorKind::AlreadyExists) when something is at the destination that is not to be replaced;
    /// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) when the format of the copy cannot express the source; the errors of
    /// the stores and of reading.
    pub fn run(&self, source: impl AsRef<Path>, destination: impl AsRef<Path>) -> Result<ConvertReport> {
        self.plan(source, destination)?.run()
    }

    /// Plans a copy. Nothing is written yet.
    ///
    /// # Errors
    /// When the source cannot be read, or one path contains the other.
    pub fn plan(&self, source: impl AsRef<Path>, destination: impl AsRef<Path>) -> Result<Copying> {
        check_apart(source.as_ref(), destination.as_ref())?;
        let opening = self.convert.opening();
        let from = opening.clone().mode(OpenMode::Read).place(source.as_ref())?;
        self.plan_between(&from, opening.new_place(destination.as_ref())?)
    }

    /// Plans a copy from a store to a path or URL.
    ///
    /// # Errors
    /// The errors of [`Copier::plan`].
    pub fn plan_from(
        &self,
        source: Arc<dyn Store>,
        from: &str,
        destination: impl AsRef<Path>,
    ) -> Result<Copying> {
        let opening = self.convert.opening();
        let source = opening.clone().mode(OpenMode::Read).location(source, from)?;
        self.plan_between(&source, opening.new_place(destination.as_ref())?)
    }

    /// Plans a copy from one store to another.
    ///
    /// # Errors
    /// The errors of [`Copier::plan`].
    pub fn plan_in(
        &self,
        source: Arc<dyn Store>,
        from: &str,
        destination: Arc<dyn Store>,
        to: &str,
    ) -> Result<Copying> {
        let opening = self.convert.opening();
        let source = opening.clone().mode(OpenMode::Read).location(source, from)?;
        self.plan_between(&source, opening.location(destination, to)?)
    }

    fn plan_between(&self, source: &Location, destination: Location) -> Result<Copying> {
        check_places_apart(source, &destination)?;
        // The format with which the options open the source is not that of the copy.
        let root = known_nodes(source)?.open_node()?;
        let destination = destination.of_format(None);
        let above = || destination.inherited_format().transpose();
        let format = self.format.map(Ok).or_else(above).transpose()?;
        let format = format.or(destination.expected).unwrap_or(root.format());
        let destination = destination.of_format(Some(format)).expecting(Some(format));
        let convert = self.convert.clone().into_format(format);
        let convert = convert.overwrite(self.if_exists == IfExists::Replace);
        match self.if_exists {
            IfExists::Error | IfExists::Replace => {
                let conversion = convert.plan_between(source, &destination)?;
                Ok(Copying { pieces: vec![Piece::Whole(conversion)], scratch: self.scratch.clone() })
            }
            IfExists::Skip | IfExists::Update => {
                let updates = self.if_exists == IfExists::Update;
                Merge { convert, updates, pieces: Vec::new() }
                    .plan(root, source, &destination)
                    .map(Copying::new)
            }
        }
    }
}

impl fmt::Debug for Copier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { convert, format, if_exists, scratch } = self;
        f.debug_struct("Copier")
            .field("format", format)
            .field("if_exists", if_exists)
            .field("scratch", scratch)
            .field("convert", convert)
            .finish()
    }
}

/// The way to the node that a copy makes.
#[derive(Debug, Clone)]
pub struct Destination(Option<Location>);

impl Destination {
    /// Opens the node.
    ///
    /// # Errors
    /// When the copy was not made, or its documents cannot be read.
    pub fn open(&self) -> Result<Node> {
        let place = self.0.as_ref().ok_or_else(|| crate::error::argument("there is nothing to copy"))?;
        // The store must be asked again, since its content has changed.
        place.clone().with_layout(None).open_node()
    }
}

/// A planned copy that can be run. Nothing has been written yet.
#[derive(Debug)]
#[must_use = "nothing is copied before `run` is called"]
pub struct Copying {
    pieces: Vec<Piece>,
    scratch: Option<PathBuf>,
}

impl Copying {
    fn new(pieces: Vec<Piece>) -> Self {
        Self { pieces, scratch: None }
    }

    /// The reports of what will be done: one for each node of the destination that is made, or brought up to date, as a whole.
    pub fn reports(&self) -> impl Iterator<Item = &ConvertReport> {
        self.conversions().map(Conversion::report)
    }

    /// The number of stored chunks of the source that are copied or compared, and their size in bytes.
    pub fn tally(&self) -> (u64, u64) {
        let add = |(chunks, bytes): (u64, u64), report: &ConvertReport| {
            let more = report.tally();
            (chunks.saturating_add(more.0), bytes.saturating_add(more.1))
        };
        self.reports().fold((0, 0), add)
    }

    /// The way to the node that is made, which can be opened when the copy is complete.
    pub fn destination(&self) -> Destination {
        Destination(self.pieces.first().and_then(Piece::place).cloned())
    }

    fn conversions(&self) -> impl Iterator<Item = &Conversion> {
        self.pieces.iter().filter_map(Piece::conversion)
    }

    /// Checks that the copy can be made.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) with all properties that the format cannot express and whose loss is
    /// not allowed.
    pub fn check(&self) -> Result<()> {
        self.conversions().try_for_each(Conversion::check)
    }

    /// Copies. After an interruption, the same copy continues.
    ///
    /// # Errors
    /// The errors of [`Copier::run`].
    pub fn run(self) -> Result<ConvertReport> {
        self.run_then(|| Ok(()))
    }

    fn run_then(self, last: impl FnOnce() -> Result<()>) -> Result<ConvertReport> {
        self.check()?;
        let (copying, scratch) = self.by_scratch()?;
        let report = copying.run_pieces(last)?;
        match scratch {
            Some(scratch) => OpenOptions::new().delete(scratch).map(|()| report),
            None => Ok(report),
        }
    }

    fn run_pieces(self, last: impl FnOnce() -> Result<()>) -> Result<ConvertReport> {
        let total = self.conversions().map(Conversion::work).sum();
        let mut all: Option<ConvertReport> = None;
        let (mut done, mut last) = (0, Some(last));
        for piece in self.pieces {
            let work = piece.conversion().map_or(0, Conversion::work);
            let Some(report) = piece.run(done, total, || last.take().map_or(Ok(()), |last| last()))? else {
                continue;
            };
            done += work;
            match &mut all {
                None => all = Some(report),
                Some(all) => all.add(report),
            }
        }
        all.ok_or_else(|| crate::error::argument("there is nothing to copy"))
    }
}

/// Copies the node at a path or URL, with all nodes below it, to another one where nothing is. [`Copier`] has options.
///
/// # Errors
/// The errors of [`Copier::run`].
pub fn copy(source: impl AsRef<Path>, destination: impl AsRef<Path>) -> Result<ConvertReport> {
    Copier::new().run(source, destination)
}
