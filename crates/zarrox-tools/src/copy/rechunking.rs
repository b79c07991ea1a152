//! Rechunking copies: their plans, intermediate arrays, and copies that replace the source.

use zarrox_core::{Error, ErrorKind, NodeMetadata, Result};

use super::conversion::Conversion;
use super::copier::{Copier, IfExists};
use super::copying::Copying;
use super::inventory::check_inventory;
use super::merge::Piece;
use super::report::CopyReport;
use super::settings::Verify;
use crate::rechunk::Rechunk;
use zarrox::Array;
use zarrox::internals::{Journal, Location, Mark, argument};
use zarrox::{OpenMode, OpenOptions, Place};

/// The suffix of the name of an array that will replace another one.
const BESIDE: &str = ".rechunked";

/// The method of rechunking an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Encoded chunks are copied without being decoded.
    Stored,
    /// Each thread copies its own parts.
    Direct,
    /// All threads work on one part at a time, which is as large as the memory allows.
    InMemory,
    /// An uncompressed intermediate array is written.
    Scratch,
    /// Elements without chunks are copied in row-major order.
    InOrder,
    /// Elements without chunks are copied in parts that consist of whole chunks of the copy.
    InParts,
}

/// The plan of a rechunking copy of one array.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CopyPlan {
    /// The path of the array, relative to the copied node.
    pub path: String,
    /// The method.
    pub way: Way,
    /// The average number of reads of a source chunk.
    pub times_read: f64,
    /// The number of writes of each element.
    pub times_written: u64,
    /// The shape of the parts that are copied at a time.
    pub part: Vec<u64>,
    /// The size of the elements in stored chunks, in bytes; if this size is unknown, the size of all elements.
    pub bytes: u64,
    /// The memory in bytes that is sufficient to write each element once.
    pub sufficient_memory: u64,
}

impl Copying {
    /// Returns the plans for arrays that are rechunked, or whose chunks are encoded again.
    ///
    /// # Errors
    /// If a planned array cannot be created.
    pub fn rechunks(&self) -> Result<Vec<CopyPlan>> {
        let mut plans = Vec::new();
        for conversion in self.conversions() {
            for (path, source, target, division) in conversion.divisions()? {
                let (part, together, times_read, is_stored) = division;
                let memory = conversion.memory();
                let between = self
                    .scratch
                    .as_ref()
                    .filter(|_| !is_stored)
                    .and_then(|_| Rechunk::new().memory(memory).between(&source, &target));
                let item = source.data_type().size() as u64;
                let bytes = source.shape().iter().fold(item, |size, &length| size.saturating_mul(length));
                let way = match (is_stored, &between, together) {
                    (true, ..) => Way::Stored,
                    (_, Some(_), _) => Way::Scratch,
                    (.., true) => Way::InMemory,
                    _ => Way::Direct,
                };
                let is_scratch = way == Way::Scratch;
                plans.push(CopyPlan {
                    path,
                    way,
                    times_read: if is_scratch { 1.0 } else { times_read },
                    times_written: if is_scratch { 2 } else { 1 },
                    part: between.unwrap_or(part),
                    bytes,
                    sufficient_memory: 0,
                });
            }
            plans.extend(conversion.element_plans()?);
        }
        Ok(plans)
    }

    /// Copies the source to an intermediate array first, if that is faster.
    pub(super) fn by_scratch(mut self) -> Result<(Self, Option<Place>)> {
        let Some(scratch) = self.scratch.take() else { return Ok((self, None)) };
        let [Piece::Whole(conversion)] = self.pieces.as_mut_slice() else { return Ok((self, None)) };
        let Some((source, target)) = conversion.single_array()? else {
            let message = "an intermediate array applies to the copy of a single array; name an array";
            return Err(argument(message));
        };
        let memory = conversion.memory();
        let Some(chunks) = Rechunk::new().memory(memory).between(&source, &target) else {
            return Ok((self, None));
        };
        let options = source.open_options();
        let way = Copier::new().open_options(options.clone()).chunks(chunks).no_compressor();
        // An existing intermediate array is complete, and was written by an earlier run of the same copy.
        let way = way.memory(memory).if_exists(IfExists::Skip).listening(conversion.listener());
        let place = options.new_place(&scratch)?;
        way.plan_between(source.location(), place)?.run()?;
        conversion.read_from(options.open(&scratch)?.into_array()?);
        Ok((self, Some(scratch)))
    }
}

impl Copier {
    /// Sets an unused location for an uncompressed intermediate array with all elements. If a single array is copied whose chunks
    /// would otherwise be read more than twice, the intermediate array is created, and deleted at the end.
    pub fn scratch(self, place: impl Into<Place>) -> Self {
        Self { scratch: Some(place.into()), ..self }
    }

    /// Changes the chunks or codecs of an array, or of the arrays of a group: creates a copy beside it, compares all values, and
    /// replaces the source. After an interruption, the same call continues the work. Returns `None` if an earlier run had already
    /// finished the copy, and only the source was left to replace.
    ///
    /// # Errors
    /// The errors of [`Copier::run`] and of [`OpenOptions::move_node`].
    pub fn run_in_place(&self, place: impl Into<Place>) -> Result<Option<CopyReport>> {
        let source = &place.into();
        let beside = source.beside(BESIDE)?;
        let moving = OpenOptions::clone(&self.settings.opening()).mode(OpenMode::Write);
        let (place, copy) = (moving.place(source)?, moving.place(&beside)?);
        // An earlier run was interrupted during the replacement of the source.
        let is_aside = !place.is_explicit()? && copy.is_explicit()? && Journal::read(&copy)?.is_none();
        if is_aside || moving.is_half_moved(&copy, &place)? {
            return moving.move_node(&beside, source).map(|()| None);
        }
        check_inventory(&place, "given other chunks in place")?;
        let report = self.copy_beside(source, &beside, &copy)?;
        if let Some(skipped) = report.skipped.first() {
            let message = format!("'{source}' was not changed: {skipped}");
            return Err(Error::new(ErrorKind::Corrupt, message));
        }
        // From here on, the source is locked. Comparing all values reveals earlier writes.
        let _holds = place.hold_alone()?;
        check_inventory(&place, "given other chunks in place")?;
        self.clone().if_exists(IfExists::Update).verify(Verify::Values).run(source, &beside)?;
        moving.move_held(&beside, source)?;
        Ok(Some(report))
    }

    /// Copies a node to the location beside it, or continues an earlier copy. The output of an interrupted run is discarded if
    /// the node has changed since, if that run had different options, or if the output was already being discarded.
    fn copy_beside(&self, source: &Place, beside: &Place, copy: &Location) -> Result<CopyReport> {
        let copier = self.clone().if_exists(IfExists::Skip).verify(Verify::Nothing);
        match copier.run(source, beside) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                let is_left = |mark: &Mark| mark.is_deletion() && !mark.is_worked_on();
                let Some(mark) = copy.remains()?.filter(is_left) else { return Err(error) };
                let _holds = copy.hold_alone()?;
                copy.delete_remains(mark.format())?;
                copier.run(source, beside)
            }
            copied => copied,
        }
    }
}

/// The division of an array: the shape of units, whether all threads share a unit, the number of reads, and whether chunks stay
/// encoded.
type Division = (Vec<u64>, bool, f64, bool);

impl Conversion {
    /// Returns the plans for arrays without chunks.
    fn element_plans(&self) -> Result<Vec<CopyPlan>> {
        let mut plans = Vec::new();
        for (path, source, target, access) in self.elements()? {
            let item = (source.data_type().size() as u64).max(1);
            let (mut parts, in_order) = access.parts(&target.slice(..), self.memory() as u64 / item)?;
            plans.push(CopyPlan {
                path,
                way: if in_order { Way::InOrder } else { Way::InParts },
                times_read: 1.0,
                times_written: parts.times(),
                sufficient_memory: parts.whole_rows().saturating_mul(item),
                part: parts.next().unwrap_or_default().iter().map(|range| range.end - range.start).collect(),
                bytes: source.shape().iter().fold(item, |size, &length| size.saturating_mul(length)),
            });
        }
        Ok(plans)
    }

    fn divisions(&self) -> Result<Vec<(String, Array, Array, Division)>> {
        self.encoded_arrays()?
            .into_iter()
            .map(|(path, source, target, is_stored)| {
                let (part, together, times) = self.division(&source, &target);
                Ok((path, source, target, (part, together, times, is_stored)))
            })
            .collect()
    }

    /// Returns the array and its planned copy, if there is only one.
    fn single_array(&self) -> Result<Option<(Array, Array)>> {
        let mut arrays = self.encoded_arrays()?;
        let is_single = arrays.len() == 1 && matches!(self.root(), Some(NodeMetadata::Array(_)));
        Ok(arrays.pop().filter(|_| is_single).map(|(_, source, target, _)| (source, target)))
    }
}
