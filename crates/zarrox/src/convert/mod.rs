//! Conversion of arrays, groups and whole hierarchies to another format.
//!
//! ```
//! use zarrox::convert::Convert;
//! use zarrox::prelude::*;
//! # let directory = tempfile::tempdir()?;
//! # let (old, new) = (directory.path().join("old.zarr"), directory.path().join("new.zarr"));
//! # let root = zarrox::OpenOptions::new().format(Format::V2).create_group(&old)?;
//! # root.create_array("a").shape([4]).data_type(DataType::Int32).create()?.fill(.., 7)?;
//!
//! let conversion = Convert::new(Format::V3).plan(&old, &new)?;
//! println!("{}", conversion.report()); // what would be done; nothing has been written yet
//! conversion.run()?;
//! assert_eq!(zarrox::open_array(new.join("a"))?.read::<i32>(..)?.sum(), 28);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is kept
//!
//! All values are kept bit by bit, and so are attributes, dimension names and fill values, except where xarray would mask other
//! elements in the other format (see [`Convert::keep_fill_values`]). Chunks that were never stored stay so.
//! If both formats support the same codecs, the bytes of chunks are copied, otherwise chunks are decoded and encoded. xarray's
//! attribute `_ARRAY_DIMENSIONS` becomes `dimension_names` in a format that has them, and the other way round. Properties that
//! the target cannot express are found before anything is written, and refused unless their loss is [allowed](Convert::allow).
//!
//! # Interruption
//!
//! A conversion to another place writes all documents after all chunks, and the root's last: before, there is no node, and a node
//! that can be opened is complete. While it is unfinished, a journal, [`JOURNAL`], is in the destination. After an interruption,
//! the same conversion continues.
//!
//! A conversion [in place](Convert::plan_in_place) changes no chunk. It writes the new documents, from the innermost nodes to the
//! root, and then removes the old ones, from the root inwards. At every moment, one of the two formats has a complete hierarchy.
//! After an interruption, the same conversion finishes.

mod chosen;
mod chunks;
mod codecs;
pub mod copy;
pub(crate) mod dimension_names;
mod glob;
pub mod missing;
pub mod ome;
mod plan;
pub mod pyramid;
mod report;
mod reshard;
mod rewrite;
mod run;
pub(crate) mod tally;
mod target;
mod translation;
mod translator;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use zarrox_core::{ErrorKind, Format, Result};
use zarrox_stores::Store;

use crate::error::argument;
use crate::group::Node;
use crate::hierarchy::journal::Journal;
use crate::location::{Location, Purpose, are_paths_overlapping};
use crate::options::{OpenMode, OpenOptions};
use crate::policy::{Consolidated, MissingChunks};
use plan::{Planner, Step, Wishes};
use translator::Missing;

pub(crate) use chosen::Chosen;
pub(crate) use chunks::pool;
pub(crate) use rewrite::Rewrite;

pub use crate::hierarchy::journal::JOURNAL;
pub use glob::Glob;
pub use report::{Action, ConvertReport, Finding, NodeReport, Severity, Skipped, What};
pub use translation::Translation;

/// The values to compare with the source after writing. Metadata is always compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Verify {
    /// No values.
    Nothing,
    /// The values of arrays whose chunks were encoded again.
    #[default]
    Reencoded,
    /// All values of arrays whose chunks were encoded again, and the bytes of copied chunks.
    Everything,
    /// All values, also those of copied chunks, which are decoded.
    Values,
}

/// The progress of a conversion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// The number of bytes of the source that are done. Comparing counts as work.
    pub done: u64,
    /// The total number of bytes.
    pub total: u64,
}

/// A function that is called with the progress. An error ends the conversion.
pub(crate) type Listener = Arc<dyn Fn(Progress) -> Result<()> + Send + Sync>;

/// A conversion to another format: its options, with which it can be planned and run.
#[derive(Clone)]
pub struct Convert {
    to: Format,
    options: OpenOptions,
    allowed: Vec<What>,
    lossy: bool,
    verify: Verify,
    overwrite: bool,
    pub(crate) listener: Option<Listener>,
    pub(crate) rewrite: Rewrite,
    pub(crate) chosen: Chosen,
    pub(crate) effort: Effort,
    /// True if the root gets consolidated metadata, also where the source has none.
    pub(crate) consolidate: bool,
    /// What becomes of missing values.
    pub(crate) missing: Missing,
}

/// The memory and the speed that copying may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Effort {
    /// The number of bytes that may be in memory at once. At least one chunk is.
    pub(crate) memory: usize,
    /// The most bytes of the source that are copied in a second.
    pub(crate) rate: Option<u64>,
    /// The number of chunks that are copied at a time; 0 for as many as the stores are good for.
    pub(crate) jobs: usize,
    /// True if chunks of the source that are damaged are left out.
    pub(crate) skip_damaged: bool,
    /// True if the source is not repaired, so that its errors come again.
    pub(crate) fixed_source: bool,
    /// True if arrays are compared again that an earlier run has finished.
    pub(crate) again: bool,
}

impl Default for Effort {
    fn default() -> Self {
        Self { memory: 1 << 30, rate: None, jobs: 0, skip_damaged: false, fixed_source: false, again: false }
    }
}

impl Convert {
    /// Creates a conversion to a format.
    pub fn new(to: Format) -> Self {
        let options = OpenOptions::new();
        Self {
            to,
            options,
            allowed: Vec::new(),
            lossy: false,
            verify: Verify::default(),
            overwrite: false,
            listener: None,
            rewrite: Rewrite::default(),
            chosen: Chosen::default(),
            effort: Effort::default(),
            consolidate: false,
            missing: Missing::AsXarray,
        }
    }

    /// The conversion to another format, with the same options.
    pub(crate) fn into_format(self, to: Format) -> Self {
        Self { to, ..self }
    }

    /// The report of a group that is there already.
    pub(crate) fn report_of_group(
        &self,
        path: &str,
        source: &Location,
        destination: &Location,
        from: Format,
    ) -> ConvertReport {
        let mut report = Planner::new(self.wishes(), source, destination, from, false).into_report();
        let path = format!("/{path}");
        report.nodes.push(NodeReport { path, is_array: false, action: Action::Nothing, chunks: 0, bytes: 0 });
        report
    }

    /// Sets the options for opening nodes: strictness, data types and codecs, threads, the limit of a chunk's memory.
    #[must_use]
    pub fn open_options(self, options: OpenOptions) -> Self {
        Self { options, ..self }
    }

    /// Allows the loss of a property that the target cannot express.
    #[must_use]
    pub fn allow(mut self, what: What) -> Self {
        self.allowed.push(what);
        self
    }

    /// Allows the loss of every property that the target cannot express.
    #[must_use]
    pub fn lossy(self, lossy: bool) -> Self {
        Self { lossy, ..self }
    }

    /// Sets which values are compared with the source after writing.
    #[must_use]
    pub fn verify(self, verify: Verify) -> Self {
        Self { verify, ..self }
    }

    /// Sets whether fill values and the attribute `_FillValue` stay as they are. Otherwise they become what makes xarray mask the same
    /// elements: of Zarr v2 it masks the fill value, and of Zarr v3 the value of the attribute.
    #[must_use]
    pub fn keep_fill_values(self, keep: bool) -> Self {
        Self { missing: if keep { Missing::Kept } else { Missing::AsXarray }, ..self }
    }

    /// Sets whether an existing node at the destination is deleted, with all nodes below it.
    #[must_use]
    pub fn overwrite(self, overwrite: bool) -> Self {
        Self { overwrite, ..self }
    }

    /// Sets a function that is called with the progress, from any thread. An error ends the conversion, which can be continued
    /// later.
    #[must_use]
    pub fn on_progress(self, listener: impl Fn(Progress) -> Result<()> + Send + Sync + 'static) -> Self {
        Self { listener: Some(Arc::new(listener)), ..self }
    }

    /// Plans the conversion of the node at a path, with all nodes below it, to another path.
    ///
    /// # Errors
    /// When the source cannot be read, or one path contains the other.
    pub fn plan(&self, source: impl AsRef<Path>, destination: impl AsRef<Path>) -> Result<Conversion> {
        check_apart(source.as_ref(), destination.as_ref())?;
        let source = self.opening().mode(OpenMode::Read).place(source.as_ref())?;
        self.plan_between(&source, &self.opening().format(self.to).new_place(destination.as_ref())?)
    }

    /// Plans the conversion of the node at a path, with all nodes below it, in place: only documents change, and no chunk.
    ///
    /// # Errors
    /// When the source cannot be read.
    pub fn plan_in_place(&self, path: impl AsRef<Path>) -> Result<Conversion> {
        self.plan_at(&self.opening().place(path.as_ref())?)
    }

    /// Like [`Convert::plan`], for stores.
    ///
    /// # Errors
    /// The errors of [`Convert::plan`].
    pub fn plan_in(
        &self,
        source: Arc<dyn Store>,
        from: &str,
        destination: Arc<dyn Store>,
        to: &str,
    ) -> Result<Conversion> {
        let source = self.opening().mode(OpenMode::Read).location(source, from)?;
        self.plan_between(&source, &self.opening().format(self.to).location(destination, to)?)
    }

    pub(crate) fn plan_between(&self, source: &Location, destination: &Location) -> Result<Conversion> {
        check_places_apart(source, destination)?;
        self.check_above(destination)?;
        let source = &known_nodes(source)?;
        let destination = destination.clone().settle(self.to)?;
        let root = source.open_node()?;
        self.planned(source, destination, root.format(), false, root)
    }

    /// Like [`Convert::plan_in_place`], for a store.
    ///
    /// # Errors
    /// The errors of [`Convert::plan_in_place`].
    pub fn plan_in_place_in(&self, store: Arc<dyn Store>, path: &str) -> Result<Conversion> {
        self.plan_at(&self.opening().location(store, path)?)
    }

    fn plan_at(&self, source: &Location) -> Result<Conversion> {
        let destination = source.clone().of_format(Some(self.to));
        let journal = Journal::read(source)?;
        let root = source.open_node()?;
        let from = match journal {
            Some(journal) => journal.replaced_format(source, self.to)?,
            None => root.format(),
        };
        self.check_above(&destination)?;
        self.planned(source, destination, from, true, root)
    }

    fn planned(
        &self,
        source: &Location,
        destination: Location,
        from: Format,
        in_place: bool,
        root: Node,
    ) -> Result<Conversion> {
        let (steps, report) = Planner::new(self.wishes(), source, &destination, from, in_place).plan(root)?;
        let in_place = in_place.then_some(from);
        Ok(Conversion { convert: self.clone(), source: source.clone(), destination, in_place, steps, report })
    }

    /// Other programs would not find the node below a group of another format.
    fn check_above(&self, place: &Location) -> Result<()> {
        let above = place.clone().of_format(None).inherited_format()?;
        match above.filter(|above| *above != self.to) {
            None => Ok(()),
            Some(above) => Err(argument(format!(
                "'{}' in {} is inside of a group of Zarr {above}, where other programs would not look for Zarr {}; \
                 convert the whole hierarchy, or give a destination",
                place.path,
                place.store.location(),
                self.to
            ))),
        }
    }

    /// The options with which both sides are opened. Missing chunks stay missing.
    pub(crate) fn opening(&self) -> OpenOptions {
        self.options
            .clone()
            .consolidated(Consolidated::Never)
            .missing_chunks(MissingChunks::Fill)
            .store_empty_chunks(false)
    }

    fn wishes(&self) -> Wishes<'_> {
        let Self { to, rewrite, chosen, consolidate, missing, .. } = self;
        Wishes { to: *to, rewrite, chosen, consolidate: *consolidate, missing: *missing }
    }

    fn allows(&self, what: What) -> bool {
        self.lossy || self.allowed.contains(&what)
    }
}

/// Refuses places of which one contains the other.
pub(crate) fn check_places_apart(source: &Location, destination: &Location) -> Result<()> {
    match source.overlaps(destination) {
        true => Err(overlap(&source.path, &destination.path)),
        false => Ok(()),
    }
}

/// Refuses paths of which one contains the other.
pub(crate) fn check_apart(source: &Path, destination: &Path) -> Result<()> {
    match are_paths_overlapping(source, destination) {
        true => Err(overlap(&source.display(), &destination.display())),
        false => Ok(()),
    }
}

/// The source, with its consolidated metadata if nothing else tells which nodes exist.
pub(crate) fn known_nodes(source: &Location) -> Result<Location> {
    if source.store.capabilities().listable {
        return Ok(source.clone());
    }
    let found = source.probed(Purpose::OpenByCopy).consolidated(Consolidated::Auto, true)?;
    Ok(found.with_probe(None))
}

impl fmt::Debug for Convert {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Convert")
            .field("to", &self.to)
            .field("allowed", &self.allowed)
            .field("lossy", &self.lossy)
            .field("verify", &self.verify)
            .field("overwrite", &self.overwrite)
            .finish_non_exhaustive()
    }
}

/// A planned conversion that can be run. Nothing has been written yet.
#[derive(Debug)]
#[must_use = "nothing is converted before `run` is called"]
pub struct Conversion {
    convert: Convert,
    source: Location,
    destination: Location,
    /// The format whose documents are replaced in a conversion in place.
    in_place: Option<Format>,
    steps: Vec<Step>,
    report: ConvertReport,
}

impl Conversion {
    /// The report: the planned work, and all properties that the target stores differently or not at all.
    pub fn report(&self) -> &ConvertReport {
        &self.report
    }

    /// The place of the first node of the copy.
    pub(crate) fn destination(&self) -> &Location {
        &self.destination
    }

    /// The conversion with a report of paths that begin above the converted node, at another one.
    pub(crate) fn based_at(mut self, base: &str) -> Self {
        if base.is_empty() {
            return self;
        }
        let based = |path: &str| format!("/{base}{}", path.trim_end_matches('/'));
        self.report.nodes.iter_mut().for_each(|node| node.path = based(&node.path));
        self.report.findings.iter_mut().for_each(|finding| finding.path = based(&finding.path));
        self
    }

    /// The report of nodes that stay as they are.
    pub(crate) fn into_report_of_nothing(mut self) -> ConvertReport {
        self.report.findings.clear();
        for node in &mut self.report.nodes {
            *node = NodeReport { action: Action::Nothing, chunks: 0, bytes: 0, ..node.clone() };
        }
        self.report
    }

    /// The conversion of an array that is there already: only what differs is copied.
    pub(crate) fn into_update(mut self) -> Self {
        self.report.nodes.iter_mut().for_each(|node| node.action = Action::Update);
        self
    }

    /// The conversion as a part of a work of more bytes, after the first of them.
    pub(crate) fn within(mut self, before: u64, total: u64) -> Self {
        let listener = self.convert.listener.take();
        self.convert.listener = listener.map(|listener| {
            let within = move |progress: Progress| listener(Progress { done: before + progress.done, total });
            Arc::new(within) as Listener
        });
        self
    }

    /// Checks that the conversion can be done.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] with all properties that the target cannot express and whose loss is not allowed.
    pub fn check(&self) -> Result<()> {
        self.report.check(|what| self.convert.allows(what))
    }
}

fn overlap(source: &dyn fmt::Display, destination: &dyn fmt::Display) -> zarrox_core::Error {
    let message = format!(
        "'{source}' cannot be converted to '{destination}': one contains the other; \
         give another destination, or no destination to convert in place"
    );
    zarrox_core::Error::new(ErrorKind::InvalidArgument, message)
}
