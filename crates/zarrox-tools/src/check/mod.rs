//! Checking arrays, groups and whole hierarchies, and repairing what is damaged.
//!
//! ```
//! use zarrox_tools::check::{Check, CheckLevel, FindingKind, Repair};
//! use zarrox::prelude::*;
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path().join("a.zarr");
//! # let array = zarrox::create_array(&path).shape([4]).chunks([2]).data_type(DataType::Int32).no_compressor().create()?;
//! # array.write(.., 7)?;
//! # std::fs::write(path.join("c/1"), b"short")?;
//!
//! let mut findings = Vec::new();
//! let summary = Check::open(&path)?.run(|finding| Ok(findings.push(finding)))?;
//! assert!(!summary.is_clean());
//! assert_eq!((findings[0].kind, findings[0].chunk.as_deref()), (FindingKind::WrongSize, Some(&[1][..])));
//! println!("{}; a repair would {}", findings[0], findings[0].remedy);
//!
//! Check::open(&path)?.repair(Repair::default()).run(|_| Ok(()))?;
//! assert!(zarrox_tools::check(&path)?.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Order
//!
//! A group comes before the nodes below it, and its consolidated metadata after them. Findings of one array follow one another. Each
//! is told when it is found: a check takes memory for the chunks in hand, and neither for the keys nor for the chunks of an array.
//!
//! # Others who write meanwhile
//!
//! A value is called damaged when it was read twice, and was the same. A chunk outside of an array's shape is one when the shape was
//! read again.
//!
//! # Repair
//!
//! No bytes are lost by a repair: what is damaged goes to the quarantine, `NAME.quarantine` beside the hierarchy, before anything
//! takes its place. What can be read stays as it is: a shard is written anew of its inner chunks that are whole, byte by byte. Where a
//! repair fails, as on a full disk, what was there is there still.

mod chunks;
mod consolidated;
mod disputed;
mod finding;
mod leftovers;
mod listing;
mod metadata;
mod missing;
mod outside;
mod quarantine;
mod repair;
mod replaced;
mod restore;
mod session;
mod shards;
mod unfinished;

use std::fmt;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use zarrox_core::{Error, ErrorKind, NodePath, Result};
use zarrox_stores::{Prefix, ReadOnlyStore, Store};

use quarantine::Quarantine;
use session::{Session, Settings};
use zarrox::internals::{Listener, Location};
use zarrox::{Consolidated, OpenOptions, Place, Progress};

pub use finding::{Finding, FindingKind, Outcome, Remedy, Severity};
pub use session::{CheckLevel, CheckSummary, Repair};

/// A check of an array, a group or a whole hierarchy, of any format in any store.
///
/// [The module](mod@crate::check) has an example. Nothing is written unless it is [told to](Check::repair).
pub struct Check {
    location: Location,
    path: Option<PathBuf>,
    options: OpenOptions,
    settings: Settings,
    listener: Option<Listener>,
}

impl fmt::Debug for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Check({}, {:?})", self.location, self.settings)
    }
}

impl Check {
    /// A check of the node at a place, and of all below it.
    ///
    /// # Errors
    /// When the path is invalid, or its store cannot be opened.
    pub fn open(place: impl Into<Place>) -> Result<Self> {
        Self::open_with(&OpenOptions::new(), place)
    }

    /// A check of the node at a place, opened with these options.
    ///
    /// # Errors
    /// The errors of [`Check::open`].
    pub fn open_with(options: &OpenOptions, place: impl Into<Place>) -> Result<Self> {
        let place = place.into();
        let options = options.clone().metadata_only(true).chunk_cache(0);
        let location = options.place(&place)?;
        let path = place.as_path().map(Path::to_owned);
        Ok(Self { location, path, options, settings: Settings::default(), listener: None })
    }

    /// Sets the depth; [`CheckLevel::Full`] when not set.
    #[must_use]
    pub fn level(mut self, level: CheckLevel) -> Self {
        self.settings.level = level;
        self
    }

    /// Sets whether chunks that are not stored are told, too: as notes, each of a range.
    #[must_use]
    pub fn missing(mut self, missing: bool) -> Self {
        self.settings.missing = missing;
        self
    }

    /// Sets whether arrays are told whose chunks have no checksums, in a note each: not every changed byte of theirs is noticed.
    #[must_use]
    pub fn checksums(mut self, checksums: bool) -> Self {
        self.settings.checksums = checksums;
        self
    }

    /// Repairs what is found, or tells what would be done.
    #[must_use]
    pub fn repair(mut self, repair: Repair) -> Self {
        self.settings.repair = Some(repair);
        self
    }

    /// Sets a function that is called with the progress in bytes, from any thread; an error ends the check. The stored bytes are counted
    /// first, by another listing.
    #[must_use]
    pub fn on_progress(mut self, listener: impl Fn(Progress) -> Result<()> + Send + Sync + 'static) -> Self {
        self.listener = Some(Arc::new(listener));
        self
    }

    /// The place where damaged objects go.
    pub fn quarantine(&self) -> String {
        self.new_quarantine().location()
    }

    /// Checks, and hands over each finding when it is found. An error of `tell` ends the check.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] when there is nothing to check, [`ErrorKind::ReadOnly`] when something is to be repaired in a store that
    /// takes no writes; when the store cannot be reached any more; and what `tell` returns. What is wrong with what is stored is a
    /// finding.
    pub fn run(&self, mut tell: impl FnMut(Finding) -> Result<()> + Send) -> Result<CheckSummary> {
        let writes = self.settings.repair.is_some_and(|repair| !repair.dry_run);
        if writes && !self.location.store.capabilities().writable {
            let message = format!(
                "{} takes no writes, so that nothing in it can be repaired",
                self.location.store.location()
            );
            return Err(Error::new(ErrorKind::ReadOnly, message));
        }
        let directory = self.location.store.directory().map(Path::to_owned);
        let total = self.listener.as_ref().map_or(Ok(0), |_| self.total())?;
        let listener = self.listener.as_ref().map(|listener| (listener, total));
        let start = self.start(writes)?;
        let session =
            Session::new(self.settings, start, directory, self.new_quarantine(), listener, &mut tell);
        if self.settings.level > CheckLevel::Metadata {
            leftovers::check(&session)?;
        }
        metadata::start(&session)?;
        session.quarantine.flush()?;
        if writes {
            session.start.store.flush()?;
        }
        // Documents are a part of the total as well.
        if let Some((listener, total)) = listener {
            listener(Progress::new(total, total))?;
        }
        Ok(session.finish())
    }

    /// The start, in a store that takes writes only if there will be some.
    fn start(&self, writes: bool) -> Result<Location> {
        let store = &self.location.store;
        let guarded: Arc<dyn Store> =
            if writes { store.clone() } else { Arc::new(ReadOnlyStore::new(store.clone())) };
        let start = self.location.clone().moved_to(guarded, self.location.path.clone());
        if store.capabilities().listable {
            return Ok(start);
        }
        // Only the consolidated metadata tells what is below a group.
        start.consolidated(Consolidated::Auto, true)
    }

    fn new_quarantine(&self) -> Quarantine {
        let (store, node) = (&self.location.store, self.location.path.as_str());
        Quarantine::new(store, self.path.as_deref(), node, self.options.clone())
    }

    /// The number of bytes that are stored for the node and all below it.
    fn total(&self) -> Result<u64> {
        let store = &self.location.store;
        if !store.capabilities().listable {
            return Ok(0);
        }
        let path: &NodePath = &self.location.path;
        let mut total = 0_u64;
        let mut visit = |_, size: u64| {
            total = total.saturating_add(size);
            ControlFlow::Continue(())
        };
        // What cannot be listed is told when it is checked.
        let _ = store.list_prefix(&Prefix::new(path.prefix())?, &mut visit);
        Ok(total)
    }
}

/// Checks the node at a place and all below it, and returns every finding: none where all is well. [`Check`] has options,
/// tells of findings while it goes on, and repairs.
///
/// # Errors
/// [`ErrorKind::NotFound`] when there is nothing to check; when the store cannot be reached any more.
pub fn check(place: impl Into<Place>) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    Check::open(place)?.run(|finding| {
        findings.push(finding);
        Ok(())
    })?;
    Ok(findings)
}
