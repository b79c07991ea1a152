//! Copies into other chunks: their plans, arrays on the way, and arrays that take the place of the source.

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
use zarrox::internals::{Journal, Location, argument};
use zarrox::{OpenMode, OpenOptions, Place};

/// The end of the name of the array that is about to take the place of another one.
const BESIDE: &str = ".rechunked";

/// The way of an array into other chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Encoded chunks are copied as they are.
    Stored,
    /// Each thread has a part of its own.
    Direct,
    /// All threads work on one part after the other, which is as large as the memory allows.
    InMemory,
    /// An uncompressed array lies on the way.
    Scratch,
    /// Elements without chunks are copied in their order.
    InOrder,
    /// Elements without chunks are copied in parts of whole chunks of the copy.
    InParts,
}

/// The plan of a copy of one array into other chunks.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CopyPlan {
    /// The path of the array, relative to the copied node.
    pub path: String,
    /// The way.
    pub way: Way,
    /// The average number of times that a chunk of the source is read.
    pub times_read: f64,
    /// The number of times that each element is written.
    pub times_written: u64,
    /// The lengths of the parts that are worked on at once.
    pub part: Vec<u64>,
    /// The size of the elements in stored chunks, or of all elements if that is not known, in bytes.
    pub bytes: u64,
    /// The memory in bytes with which each element would be written once.
    pub sufficient_memory: u64,
}

impl Copying {
    /// The plans of arrays that get other chunks, or whose chunks are encoded again.
    ///
    /// # Errors
    /// When a planned array cannot be made.
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

    /// Copies the source into an array on the way first, where that is worth it.
    pub(super) fn by_scratch(mut self) -> Result<(Self, Option<Place>)> {
        let Some(scratch) = self.scratch.take() else { return Ok((self, None)) };
        let [Piece::Whole(conversion)] = self.pieces.as_mut_slice() else { return Ok((self, None)) };
        let Some((source, target)) = conversion.single_array()? else {
            let message = "an array on the way is for the copy of a single array; name an array";
            return Err(argument(message));
        };
        let memory = conversion.memory();
        let Some(chunks) = Rechunk::new().memory(memory).between(&source, &target) else {
            return Ok((self, None));
        };
        let options = source.open_options();
        let way = Copier::new().open_options(options.clone()).chunks(chunks).no_compressor();
        // One that is there is whole, and was made by an earlier run of the same copy.
        let way = way.memory(memory).if_exists(IfExists::Skip).listening(conversion.listener());
        let place = options.new_place(&scratch)?;
        way.plan_between(source.location(), place)?.run()?;
        conversion.read_from(options.open(&scratch)?.into_array()?);
        Ok((self, Some(scratch)))
    }
}

impl Copier {
    /// Sets an unused place for an uncompressed array on the way, as large as all elements. It is made if chunks of a single
    /// array would be read more than twice otherwise, and deleted at the end.
    pub fn scratch(self, place: impl Into<Place>) -> Self {
        Self { scratch: Some(place.into()), ..self }
    }

    /// Gives an array or the arrays of a group other chunks or codecs: a copy is made beside, all its values are compared, and then it
    /// takes the place of the source. After an interruption, the same call continues. `None` says that only the exchange was left to do.
    ///
    /// # Errors
    /// The errors of [`Copier::run`] and of [`OpenOptions::move_node`].
    pub fn run_in_place(&self, place: impl Into<Place>) -> Result<Option<CopyReport>> {
        let source = &place.into();
        let beside = source.beside(BESIDE)?;
        let moving = OpenOptions::clone(&self.settings.opening()).mode(OpenMode::Write);
        let (place, copy) = (moving.place(source)?, moving.place(&beside)?);
        // An earlier run was interrupted when the copy took the place of the source.
        let is_aside = !place.is_explicit()? && copy.is_explicit()? && Journal::read(&copy)?.is_none();
        if is_aside || moving.is_half_moved(&copy, &place)? {
            return moving.move_node(&beside, source).map(|()| None);
        }
        check_inventory(&place, "given other chunks in place")?;
        let report = self.copy_beside(source, &beside, &copy)?;
        if let Some(skipped) = report.skipped.first() {
            let message = format!("'{source}' was left as it is: {skipped}");
            return Err(Error::new(ErrorKind::Corrupt, message));
        }
        // Nobody writes into the source from here on. What was written meanwhile, or before this run, is found by comparing all.
        let _holds = place.hold_alone()?;
        check_inventory(&place, "given other chunks in place")?;
        self.clone().if_exists(IfExists::Update).verify(Verify::Values).run(source, &beside)?;
        moving.move_held(&beside, source)?;
        Ok(Some(report))
    }

    /// Copies a node to the place beside it, or continues. If the node was changed since an earlier run was interrupted, or if that
    /// run had other options, what it has copied is of no use.
    fn copy_beside(&self, source: &Place, beside: &Place, copy: &Location) -> Result<CopyReport> {
        let copier = self.clone().if_exists(IfExists::Skip).verify(Verify::Nothing);
        match copier.run(source, beside) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                let Some(format) = Journal::read(copy)?.and_then(|journal| journal.format()) else {
                    return Err(error);
                };
                let _holds = copy.hold_alone()?;
                copy.delete_remains(format)?;
                copier.run(source, beside)
            }
            copied => copied,
        }
    }
}

/// The array of a conversion, the array that it becomes, and how it is divided.
type Division = (Vec<u64>, bool, f64, bool);

impl Conversion {
    /// The plans of arrays that have only elements.
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

    /// The array and what it becomes, if there is only one.
    fn single_array(&self) -> Result<Option<(Array, Array)>> {
        let mut arrays = self.encoded_arrays()?;
        let is_single = arrays.len() == 1 && matches!(self.root(), Some(NodeMetadata::Array(_)));
        Ok(arrays.pop().filter(|_| is_single).map(|(_, source, target, _)| (source, target)))
    }
}
