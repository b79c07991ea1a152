//! A check that is under way: its settings, and all that it counts and tells.

use std::collections::BTreeMap;
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
    /// Documents: against their specification, against consolidated metadata, and against one another.
    Metadata,
    /// Also the keys and the sizes of all that is stored, and the indexes of all shards. No chunk is decoded.
    Quick,
    /// Also every chunk: each is decoded.
    #[default]
    Full,
}

/// The repair of what a check finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Repair {
    /// True if nothing is to be written: the findings say what would be done.
    pub dry_run: bool,
    /// True if a chunk of fill values is to be written in the place of each that is lost. Otherwise it is missing, which reads the
    /// same and can be told from chunks that were never damaged.
    pub refill: bool,
}

/// The numbers of a check.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CheckSummary {
    /// The number of arrays.
    pub arrays: u64,
    /// The number of groups.
    pub groups: u64,
    /// The number of chunks (shards, where there are shards) that were looked at.
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
    /// Returns true if no warning and no error is left.
    pub fn is_clean(&self) -> bool {
        self.left == 0
    }

    /// The number of findings of a severity.
    pub fn count(&self, severity: Severity) -> u64 {
        self.findings.iter().filter(|(kind, _)| kind.severity() == severity).map(|(_, count)| count).sum()
    }
}

/// Hears of findings, one after the other; an error ends the check.
pub(super) type Sink<'a> = dyn FnMut(Finding) -> Result<()> + Send + 'a;

/// The settings of a check.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Settings {
    pub(super) level: CheckLevel,
    pub(super) missing: bool,
    pub(super) checksums: bool,
    pub(super) repair: Option<Repair>,
}

/// Returns true for errors that leave open whether the stored data are intact.
pub(super) fn is_undecided(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Interrupted | ErrorKind::OutOfMemory)
}

/// A check that is under way.
pub(super) struct Session<'a> {
    pub(super) settings: Settings,
    /// The start, in a store that takes no writes unless something is to be repaired.
    pub(super) start: Location,
    /// The directory of the store, if it has one.
    pub(super) directory: Option<PathBuf>,
    pub(super) quarantine: Quarantine,
    listener: Option<&'a Listener>,
    total: u64,
    told: Mutex<Told<'a>>,
    /// Arrays of which it is not known whether their documents are right, and whether anything of them may be repaired.
    disputed: Mutex<BTreeMap<String, bool>>,
    copies: Mutex<Vec<Copied>>,
}

/// The consolidated metadata of a group above the node that is checked, if it has any.
struct Copied {
    group: NodePath,
    format: Format,
    copy: Option<Arc<ConsolidatedMetadata>>,
}

struct Told<'a> {
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
        let told = Mutex::new(Told { summary: CheckSummary::default(), sink });
        Self {
            settings,
            start,
            directory,
            quarantine,
            listener,
            total,
            told,
            disputed: Mutex::default(),
            copies: Mutex::default(),
        }
    }

    /// Returns true if what is found is to be repaired now.
    pub(super) fn repairs(&self) -> bool {
        self.settings.repair.is_some_and(|repair| !repair.dry_run)
    }

    /// Returns true if lost chunks are to be filled.
    pub(super) fn refills(&self) -> bool {
        self.settings.repair.is_some_and(|repair| repair.refill)
    }

    /// Counts with the summary.
    pub(super) fn count(&self, count: impl FnOnce(&mut CheckSummary)) {
        count(&mut self.told.lock().unwrap_or_else(PoisonError::into_inner).summary);
    }

    /// Counts a chunk that was looked at.
    pub(super) fn chunk_done(&self, bytes: u64) -> Result<()> {
        self.start.context.interrupt.check()?;
        let done = {
            let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
            told.summary.chunks += 1;
            told.summary.bytes += bytes;
            told.summary.bytes
        };
        match self.listener {
            Some(listener) => listener(Progress::new(done, self.total)),
            None => Ok(()),
        }
    }

    /// Tells of a finding about which nothing is done.
    pub(super) fn report(&self, finding: Finding) -> Result<()> {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        *told.summary.findings.entry(finding.kind).or_default() += 1;
        told.summary.repaired += u64::from(finding.outcome == Outcome::Repaired);
        told.summary.left += u64::from(finding.is_left());
        (told.sink)(finding)
    }

    /// Keeps in mind that it is not known whether an array's documents are right: their copy is to be left as it is. Unless it is known
    /// by what its chunks are to be judged, nothing of it is repaired.
    pub(super) fn dispute(&self, path: &str, repairs: bool) {
        self.disputed.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), repairs);
    }

    pub(super) fn is_disputed(&self, path: &str) -> bool {
        self.disputed.lock().unwrap_or_else(PoisonError::into_inner).contains_key(path)
    }

    fn may_repair(&self, path: &str) -> bool {
        self.disputed.lock().unwrap_or_else(PoisonError::into_inner).get(path) != Some(&false)
    }

    /// The consolidated metadata of a group, which is read once while the nodes below it are checked.
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

    /// Repairs what one repair mends, if that is wanted, and tells of it.
    pub(super) fn settle(&self, findings: Vec<Finding>, repair: impl FnOnce() -> Result<()>) -> Result<()> {
        let undisputed = |finding: Finding| match self.may_repair(&finding.path) {
            true => finding,
            false => {
                let why = "by which document its chunks are to be judged must be known first";
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

    /// Repairs a place while it is held alone, if it still is as it was judged.
    pub(super) fn repair_alone(
        place: &Location,
        layout: &Layout,
        is_as_judged: impl FnOnce() -> Result<bool>,
        repair: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let _hold = place.hold_place_alone(layout)?;
        match is_as_judged()? {
            true => repair(),
            false => Err(Error::new(ErrorKind::Conflict, "somebody has changed it meanwhile; check again")),
        }
    }

    /// Gives an error back that ends the check: who cannot reach the store finds nothing. Others are findings.
    pub(super) fn fatal(&self, error: Error) -> Result<Error> {
        let ends = match error.kind() {
            kind if is_undecided(kind) => true,
            // On a disk it is one file that cannot be read.
            ErrorKind::Unreachable | ErrorKind::TimedOut => self.start.is_remote(),
            _ => false,
        };
        if ends { Err(error) } else { Ok(error) }
    }

    /// Tells of something that the store does not give.
    pub(super) fn report_unreadable(&self, path: &str, error: Error) -> Result<()> {
        let error = self.fatal(error)?;
        let remedy = Remedy::Nothing("the store does not give it".to_owned());
        self.report(Finding::new(FindingKind::Unreadable, path, error.to_string(), remedy))
    }

    /// Ends the check.
    pub(super) fn finish(self) -> CheckSummary {
        self.told.into_inner().unwrap_or_else(PoisonError::into_inner).summary
    }
}
