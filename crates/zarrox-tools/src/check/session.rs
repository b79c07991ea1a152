//! The state of a running check: its settings, counters and findings.

use std::collections::BTreeMap;
use std::error::Error as _;
use std::io;
use std::iter;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use zarrox_core::internals::metadata::Layout;
use zarrox_core::{Error, ErrorKind, Format, NodePath, Result};

use super::finding::{Finding, FindingKind, Outcome, Remedy, Severity};
use super::quarantine::Quarantine;
use zarrox::Progress;
use zarrox::internals::{ConsolidatedMetadata, Listener, Location};

/// The depth of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum CheckLevel {
    /// Checks documents against their specification, against the consolidated metadata, and against one another.
    Metadata,
    /// Checks documents, the keys and sizes of all stored objects, and all shard indexes. Chunks are not decoded.
    Quick,
    /// Performs the checks of `Quick`, and decodes every chunk.
    #[default]
    Full,
}

/// The options of repairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Repair {
    /// True for a dry run, which writes nothing: the findings contain the repairs.
    pub dry_run: bool,
    /// True if each lost chunk is replaced by a chunk of fill values. Otherwise lost chunks become missing chunks: these are read
    /// as the fill value as well, but cannot be mistaken for chunks that were never damaged.
    pub refill: bool,
}

/// The summary of a check.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CheckSummary {
    /// The number of arrays.
    pub arrays: u64,
    /// The number of groups.
    pub groups: u64,
    /// The number of chunks (or shards, if the array has shards) that were checked.
    pub chunks: u64,
    /// The number of stored bytes of these chunks.
    pub bytes: u64,
    /// The number of findings of each kind.
    pub findings: BTreeMap<FindingKind, u64>,
    /// The number of findings that were repaired.
    pub repaired: u64,
    /// The number of warnings and errors that were not repaired.
    pub left: u64,
}

impl CheckSummary {
    /// Returns true if all warnings and errors were repaired.
    pub fn is_clean(&self) -> bool {
        self.left == 0
    }

    /// Returns the number of errors, including those that were repaired.
    pub fn errors(&self) -> u64 {
        self.count(Severity::Error)
    }

    /// Returns the number of warnings, including those that were repaired.
    pub fn warnings(&self) -> u64 {
        self.count(Severity::Warning)
    }

    /// Returns the number of findings of a severity.
    pub fn count(&self, severity: Severity) -> u64 {
        self.findings.iter().filter(|(kind, _)| kind.severity() == severity).map(|(_, count)| count).sum()
    }
}

/// The listener for findings, which is called with one finding at a time; an error stops the check.
pub(super) type Sink<'a> = dyn FnMut(Finding) -> Result<()> + Send + 'a;

/// The settings of a check.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Settings {
    pub(super) level: CheckLevel,
    pub(super) missing: bool,
    pub(super) checksums: bool,
    pub(super) orphans: bool,
    pub(super) repair: Option<Repair>,
}

/// Returns true for errors that say nothing about the stored data: the check was interrupted, or ran out of memory or file
/// descriptors.
pub(super) fn is_undecided(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::OutOfMemory) || is_short_of_files(error)
}

/// Returns true if no more files could be opened.
fn is_short_of_files(error: &Error) -> bool {
    /// `ENFILE` and `EMFILE` of all Unix systems.
    const CODES: [i32; 2] = [23, 24];
    let causes = iter::successors(error.source(), |&cause| cause.source());
    causes
        .filter_map(|cause| cause.downcast_ref::<io::Error>()?.raw_os_error())
        .any(|code| cfg!(unix) && CODES.contains(&code))
}

/// A running check.
pub(super) struct Session<'a> {
    pub(super) settings: Settings,
    /// The start node, in a store that is read-only unless repairs are requested.
    pub(super) start: Location,
    /// The directory of the store, if it has one.
    pub(super) directory: Option<PathBuf>,
    pub(super) quarantine: Quarantine,
    listener: Option<&'a Listener>,
    total: u64,
    output: Mutex<Output<'a>>,
    /// The paths of arrays whose documents may be wrong. The value is true if the array may be repaired.
    disputed: Mutex<BTreeMap<String, bool>>,
    copies: Mutex<Vec<Copied>>,
}

/// The consolidated metadata of a group above the checked node, if it has any.
struct Copied {
    group: NodePath,
    format: Format,
    copy: Option<Arc<ConsolidatedMetadata>>,
}

struct Output<'a> {
    summary: CheckSummary,
    sink: &'a mut Sink<'a>,
}

impl<'a> Session<'a> {
    pub(super) fn new(
        settings: Settings,
        start: Location,
        directory: Option<PathBuf>,
        quarantine: Quarantine,
        listener: Option<(&'a Listener, u64)>,
        sink: &'a mut Sink<'a>,
    ) -> Self {
        let (listener, total) =
            (listener.map(|(listener, _)| listener), listener.map_or(0, |(_, total)| total));
        let output = Mutex::new(Output { summary: CheckSummary::default(), sink });
        Self {
            settings,
            start,
            directory,
            quarantine,
            listener,
            total,
            output,
            disputed: Mutex::default(),
            copies: Mutex::default(),
        }
    }

    /// Returns true if findings are repaired, and false for a check without repair and for a dry run.
    pub(super) fn repairs(&self) -> bool {
        self.settings.repair.is_some_and(|repair| !repair.dry_run)
    }

    /// Returns true if lost chunks are replaced by fill values.
    pub(super) fn refills(&self) -> bool {
        self.settings.repair.is_some_and(|repair| repair.refill)
    }

    /// Updates the summary.
    pub(super) fn count(&self, count: impl FnOnce(&mut CheckSummary)) {
        count(&mut self.output.lock().unwrap_or_else(PoisonError::into_inner).summary);
    }

    /// Counts a checked chunk.
    pub(super) fn chunk_done(&self, bytes: u64) -> Result<()> {
        self.start.context.interrupt.check()?;
        let done = {
            let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
            output.summary.chunks += 1;
            output.summary.bytes += bytes;
            output.summary.bytes
        };
        match self.listener {
            Some(listener) => listener(Progress::new(done, self.total)),
            None => Ok(()),
        }
    }

    /// Reports a finding without a repair.
    pub(super) fn report(&self, finding: Finding) -> Result<()> {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        *output.summary.findings.entry(finding.kind).or_default() += 1;
        output.summary.repaired += u64::from(finding.outcome == Outcome::Repaired);
        output.summary.left += u64::from(finding.is_left());
        (output.sink)(finding)
    }

    /// Marks an array whose documents may be wrong, so that their copy in the consolidated metadata is kept. The array is
    /// repaired only if `repairs` is set, since its chunks can be judged only with the right document.
    pub(super) fn dispute(&self, path: &str, repairs: bool) {
        self.disputed.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), repairs);
    }

    pub(super) fn is_disputed(&self, path: &str) -> bool {
        self.disputed.lock().unwrap_or_else(PoisonError::into_inner).contains_key(path)
    }

    fn may_repair(&self, path: &str) -> bool {
        self.disputed.lock().unwrap_or_else(PoisonError::into_inner).get(path) != Some(&false)
    }

    /// Returns the consolidated metadata of a group. It is read once for all nodes below the group.
    pub(super) fn copy_at(&self, group: &Location, format: Format) -> Option<Arc<ConsolidatedMetadata>> {
        let mut copies = self.copies.lock().unwrap_or_else(PoisonError::into_inner);
        let is_known = |known: &&Copied| known.group == group.path && known.format == format;
        if let Some(known) = copies.iter().find(is_known) {
            return known.copy.clone();
        }
        copies.retain(|known| known.group.contains(&group.path) || group.path.contains(&known.group));
        let copy = group.copy_of(format).ok().flatten().map(Arc::new);
        copies.push(Copied { group: group.path.clone(), format, copy: copy.clone() });
        copy
    }

    /// Reports findings that share one repair, and repairs them on request.
    pub(super) fn settle(&self, findings: Vec<Finding>, repair: impl FnOnce() -> Result<()>) -> Result<()> {
        let undisputed = |finding: Finding| match self.may_repair(&finding.path) {
            true => finding,
            false => {
                let why = "its chunks cannot be judged before its documents are corrected";
                Finding { remedy: Remedy::Nothing(why.to_owned()), ..finding }
            }
        };
        let findings: Vec<_> = findings.into_iter().map(undisputed).collect();
        let possible = findings.iter().any(|finding| finding.remedy.is_possible());
        let outcome = match self.settings.repair {
            Some(_) if !possible => Outcome::Left,
            None => Outcome::Left,
            Some(Repair { dry_run: true, .. }) => Outcome::Planned,
            Some(_) => match repair() {
                Ok(()) => Outcome::Repaired,
                Err(error) if error.kind() == ErrorKind::Interrupted => return Err(error),
                Err(error) => Outcome::Failed(error.to_string()),
            },
        };
        for finding in findings {
            let outcome = if finding.remedy.is_possible() { outcome.clone() } else { Outcome::Left };
            self.report(Finding { outcome, ..finding })?;
        }
        Ok(())
    }

    /// Repairs a location under an exclusive lock, provided that its state is still the one that was judged.
    pub(super) fn repair_alone(
        place: &Location,
        layout: &Layout,
        is_as_judged: impl FnOnce() -> Result<bool>,
        repair: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let _hold = place.hold_place_alone(layout)?;
        match is_as_judged()? {
            true => repair(),
            false => {
                Err(Error::new(ErrorKind::Conflict, "another process changed it meanwhile; check it again"))
            }
        }
    }

    /// Returns `Err` for an error that ends the check, such as that of an unreachable store, and `Ok` for an error that becomes a
    /// finding.
    pub(super) fn fatal(&self, error: Error) -> Result<Error> {
        let ends = match error.kind() {
            _ if is_undecided(&error) => true,
            // On a disk, the error concerns a single file.
            ErrorKind::Unreachable | ErrorKind::TimedOut => self.start.is_remote(),
            _ => false,
        };
        if ends { Err(error) } else { Ok(error) }
    }

    /// Reports an object that the store cannot read.
    pub(super) fn report_unreadable(&self, path: &str, error: Error) -> Result<()> {
        let error = self.fatal(error)?;
        let remedy = Remedy::Nothing("the store cannot read it".to_owned());
        self.report(Finding::new(FindingKind::Unreadable, path, error.to_string(), remedy))
    }

    /// Ends the check, and returns the summary.
    pub(super) fn finish(self) -> CheckSummary {
        self.output.into_inner().unwrap_or_else(PoisonError::into_inner).summary
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn an_error_for_want_of_memory_or_file_descriptors_says_nothing_about_the_data() {
        let other = |error: io::Error| Error::new(ErrorKind::Corrupt, "opening failed").with_source(error);
        assert!(is_undecided(&other(io::Error::from_raw_os_error(24))));
        assert!(is_undecided(&Error::new(ErrorKind::OutOfMemory, "not enough memory")));
        assert!(!is_undecided(&other(io::Error::from_raw_os_error(5))));
    }
}
