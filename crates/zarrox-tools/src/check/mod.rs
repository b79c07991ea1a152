//! Checks of arrays, groups and hierarchies, and repairs of damage.
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
//! A group is checked before the nodes below it; its consolidated metadata is checked after them. The findings of an array are
//! consecutive. Each finding is reported immediately: a check needs memory only for the chunks in progress, not for all keys or
//! chunks of an array.
//!
//! # Concurrent writers
//!
//! An object is reported as damaged only if two reads return the same bytes. A chunk outside an array's shape is reported only
//! after the shape has been read again.
//!
//! # Repair
//!
//! A repair deletes no bytes: damaged objects are moved to the quarantine, `NAME.quarantine` beside the hierarchy, before they
//! are replaced. Readable data stays unchanged: intact inner chunks of a shard are copied byte for byte. If a repair fails, for
//! example because the disk is full, nothing is changed.

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

/// A check of an array, a group or a whole hierarchy, in any format and any store.
///
/// [The module](mod@crate::check) has an example. Nothing is written without [`repair`](Check::repair).
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
    /// Creates a check of the node at a location, and of all nodes below it.
    ///
    /// # Errors
    /// If the path is invalid, or its store cannot be opened.
    pub fn open(place: impl Into<Place>) -> Result<Self> {
        Self::open_with(&OpenOptions::new(), place)
    }

    /// Creates a check of the node at a location, opened with these options.
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

    /// Sets the depth; the default is [`CheckLevel::Full`].
    #[must_use]
    pub fn level(mut self, level: CheckLevel) -> Self {
        self.settings.level = level;
        self
    }

    /// Sets whether missing chunks are reported as well, as a note for each range.
    #[must_use]
    pub fn missing(mut self, missing: bool) -> Self {
        self.settings.missing = missing;
        self
    }

    /// Sets whether a repair moves chunks without a document of an array to the quarantine, so that the path can be used again.
    /// By default these chunks stay where they are, since the document can be restored by hand.
    #[must_use]
    pub fn orphans(mut self, orphans: bool) -> Self {
        self.settings.orphans = orphans;
        self
    }

    /// Sets whether arrays whose chunks have no checksums are reported as well, as a note: some kinds of damage cannot be
    /// detected in them.
    #[must_use]
    pub fn checksums(mut self, checksums: bool) -> Self {
        self.settings.checksums = checksums;
        self
    }

    /// Repairs the findings, or only reports the repairs in a dry run.
    #[must_use]
    pub fn repair(mut self, repair: Repair) -> Self {
        self.settings.repair = Some(repair);
        self
    }

    /// Sets a listener that is called with the progress in bytes, from any thread. An error of the listener stops the check. The
    /// total requires an additional listing.
    #[must_use]
    pub fn on_progress(mut self, listener: impl Fn(Progress) -> Result<()> + Send + Sync + 'static) -> Self {
        self.listener = Some(Arc::new(listener));
        self
    }

    /// Returns the location of the quarantine.
    pub fn quarantine(&self) -> String {
        self.new_quarantine().location()
    }

    /// Runs the check, and calls `tell` with each finding immediately. An error of `tell` stops the check.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if the location does not exist, [`ErrorKind::ReadOnly`] if a repair is requested in a read-only
    /// store, the error of the store if it becomes unreachable, and the errors of `tell`. Damage is a finding, not an error.
    pub fn run(&self, mut tell: impl FnMut(Finding) -> Result<()> + Send) -> Result<CheckSummary> {
        let writes = self.settings.repair.is_some_and(|repair| !repair.dry_run);
        if writes && !self.location.store.capabilities().writable {
            let message = format!(
                "{} is read-only, so that nothing in it can be repaired",
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
        // The total includes documents.
        if let Some((listener, total)) = listener {
            listener(Progress::new(total, total))?;
        }
        Ok(session.finish())
    }

    /// Opens the start node, in a store that is writable only for a repair.
    fn start(&self, writes: bool) -> Result<Location> {
        let store = &self.location.store;
        let guarded: Arc<dyn Store> =
            if writes { store.clone() } else { Arc::new(ReadOnlyStore::new(store.clone())) };
        let start = self.location.clone().moved_to(guarded, self.location.path.clone());
        if store.capabilities().listable {
            return Ok(start);
        }
        // Only the consolidated metadata lists the nodes below a group.
        start.consolidated(Consolidated::Auto, true)
    }

    fn new_quarantine(&self) -> Quarantine {
        let (store, node) = (&self.location.store, self.location.path.as_str());
        Quarantine::new(store, self.path.as_deref(), node, self.options.clone())
    }

    /// Returns the number of stored bytes of the node and all nodes below it.
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
        // Errors of listing are reported by the check itself.
        let _ = store.list_prefix(&Prefix::new(path.prefix())?, &mut visit);
        Ok(total)
    }
}

/// Checks the node at a location and all nodes below it, and returns all findings. [`Check`] has options, reports findings during
/// the check, and can repair them.
///
/// # Errors
/// [`ErrorKind::NotFound`] if the location does not exist, and the error of the store if it becomes unreachable.
pub fn check(place: impl Into<Place>) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    Check::open(place)?.run(|finding| {
        findings.push(finding);
        Ok(())
    })?;
    Ok(findings)
}
