//! A planned copy, which can be run.

use std::fmt;

use zarrox::internals::{Location, argument};
use zarrox::{Array, Node, OpenOptions, Place};
use zarrox_core::Result;

use super::conversion::Conversion;
use super::merge::Piece;
use super::report::CopyReport;

/// The destination of a copy.
#[derive(Debug, Clone)]
pub struct Destination(Option<Location>);

impl Destination {
    /// Opens the node.
    ///
    /// # Errors
    /// If nothing was copied, or the documents cannot be read.
    pub fn open(&self) -> Result<Node> {
        let place = self.0.as_ref().ok_or_else(|| argument("there is nothing to copy"))?;
        // The location is opened again, since the content of the store has changed.
        place.clone().with_layout(None).open_node()
    }
}

/// A planned copy that can be run. Nothing has been written yet.
#[derive(Debug)]
#[must_use = "nothing is copied before `run` is called"]
pub struct Copying {
    pub(super) pieces: Vec<Piece>,
    pub(super) scratch: Option<Place>,
}

impl Copying {
    pub(super) fn new(pieces: Vec<Piece>) -> Self {
        Self { pieces, scratch: None }
    }

    /// Returns the reports of the plan: one for each part of the destination that is created or updated as a whole.
    pub fn reports(&self) -> impl Iterator<Item = &CopyReport> {
        self.conversions().map(Conversion::report)
    }

    /// Returns the number of stored chunks of the source that are copied or compared.
    pub fn chunks(&self) -> u64 {
        self.reports().map(CopyReport::chunks).fold(0, u64::saturating_add)
    }

    /// Returns the size of these chunks, in bytes.
    pub fn bytes(&self) -> u64 {
        self.reports().map(CopyReport::bytes).fold(0, u64::saturating_add)
    }

    /// Returns the arrays of a source without chunks: the path of each array, the array, and its planned copy, which does not
    /// exist yet.
    ///
    /// # Errors
    /// If a planned array cannot be created.
    pub fn elements(&self) -> Result<Vec<(String, Array, Array)>> {
        let mut all = Vec::new();
        for conversion in self.conversions() {
            all.extend(
                conversion.elements()?.into_iter().map(|(path, source, copy, _)| (path, source, copy)),
            );
        }
        Ok(all)
    }

    /// Returns the destination, which can be opened when the copy is complete.
    pub fn destination(&self) -> Destination {
        Destination(self.pieces.first().and_then(Piece::place).cloned())
    }

    pub(super) fn conversions(&self) -> impl Iterator<Item = &Conversion> {
        self.pieces.iter().filter_map(Piece::conversion)
    }

    /// Checks that the copy is possible.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`](zarrox::ErrorKind::Unsupported) with all properties that the format cannot express and whose
    /// loss is not allowed.
    pub fn check(&self) -> Result<()> {
        self.conversions().try_for_each(Conversion::check)
    }

    /// Runs the copy. After an interruption, running the same copy again continues it.
    ///
    /// # Errors
    /// The errors of [`Copier::run`](super::Copier::run).
    pub fn run(self) -> Result<CopyReport> {
        self.run_then(|| Ok(()))
    }

    pub(super) fn run_then(self, last: impl FnOnce() -> Result<()>) -> Result<CopyReport> {
        self.check()?;
        let (copying, scratch) = self.by_scratch()?;
        let report = copying.run_pieces(last)?;
        match scratch {
            Some(scratch) => OpenOptions::new().delete(scratch).map(|()| report),
            None => Ok(report),
        }
    }

    fn run_pieces(self, last: impl FnOnce() -> Result<()>) -> Result<CopyReport> {
        let total = self.conversions().map(Conversion::work).sum();
        let mut all: Option<CopyReport> = None;
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
        all.ok_or_else(|| argument("there is nothing to copy"))
    }
}

/// Formats the reports of all nodes that are created or updated.
impl fmt::Display for Copying {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reports().try_for_each(|report| report.fmt(f))
    }
}
