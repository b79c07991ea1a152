//! Execution of a planned conversion.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use zarrox_core::internals::metadata::Layout;
use zarrox_core::json::Map;
use zarrox_core::{ArrayMetadata, Error, ErrorKind, Format, NodeMetadata, Result};

use super::chunks::{Transfer, pool_of};
use super::conversion::Conversion;
use super::elements::{Access, PlainElements, copy_elements};
use super::plan::Step;
use super::report::{Action, CopyReport, Skipped};
use super::settings::Verify;
use zarrox::internals::Tally;
use zarrox::internals::{Changes, Fingerprint, Journal, Location, Pool, format_of};
use zarrox::{Array, DynArray, Progress};

impl Conversion {
    /// Runs the conversion, or resumes it after an interruption.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] with all properties that the target cannot express and whose loss is not allowed, before
    /// anything is written; [`ErrorKind::AlreadyExists`] if the destination exists; [`ErrorKind::Corrupt`] if the written data
    /// differ from the source; and the errors of the stores.
    pub fn run(self) -> Result<CopyReport> {
        self.run_then(|| Ok(()))
    }

    /// Runs the conversion, and calls `last` just before the journal is removed.
    pub(crate) fn run_then(mut self, last: impl FnOnce() -> Result<()>) -> Result<CopyReport> {
        self.check()?;
        let skipped = self.run_checked(last)?;
        self.report.skipped = skipped;
        Ok(self.report)
    }

    fn run_checked(&self, last: impl FnOnce() -> Result<()>) -> Result<Vec<Skipped>> {
        let (place, source) = (&self.destination, &self.source);
        let done = match self.in_place {
            Some(from) => self.replace_documents_alone(from).map(|()| Vec::new()),
            None => self.copy(last),
        };
        let skipped = done.map_err(|error| match self.in_place {
            Some(_) => {
                error.at(format!("converting '{}' in {} in place", place.path, place.store.location()))
            }
            None => {
                let work = if self.report.from == self.settings.to { "copying" } else { "converting" };
                error.at(format!("{work} {source} to {place}"))
            }
        })?;
        place.store.flush()?;
        Ok(skipped)
    }

    /// Updates the consolidated metadata of the groups above. As long as the journal exists, the same call repeats the update.
    fn keep_copies(&self) -> Result<()> {
        let place = &self.destination;
        let changes = Changes::of_all_below(&[&place.path]).and(place.path.ancestors());
        place.keep_copies(self.settings.to, &changes)
    }

    fn copy(&self, last: impl FnOnce() -> Result<()>) -> Result<Vec<Skipped>> {
        let mut journal = self.prepare()?;
        self.copy_all(&mut journal, last).map_err(|error| {
            // If the journal cannot be stored, the steps since its last write are repeated by the next run.
            let _ = journal.write(&self.destination);
            if self.settings.cleans_up {
                // The first error is returned.
                let _ = self.destination.delete_remains(self.settings.to);
                return error;
            }
            resumable(error, self.settings.execution.fixed_source)
        })
    }

    fn copy_all(&self, journal: &mut Journal, last: impl FnOnce() -> Result<()>) -> Result<Vec<Skipped>> {
        let skipped = self.copy_arrays(journal)?;
        self.store_nodes()?;
        self.destination.create_ancestors(self.settings.to, &self.layout()?)?;
        self.compare_metadata()?;
        self.consolidate()?;
        let kept = self.keep_copies();
        last()?;
        Journal::erase(&self.destination)?;
        kept.map(|()| skipped)
    }

    /// Copies the chunks of all arrays. Several small arrays are copied at a time, since most of the time would otherwise be
    /// spent waiting for the store. All threads copy each of the other arrays.
    fn copy_arrays(&self, journal: &mut Journal) -> Result<Vec<Skipped>> {
        let (counter, journal, skipped) = (Counter::new(self), Mutex::new(journal), Mutex::new(Vec::new()));
        let copy = |step: &Step, jobs| {
            if let (Some(source), Some(target)) = (&step.array, &step.target) {
                let parts = self.copy_array(step, source, target, jobs, &journal, &counter)?;
                locked(&skipped).extend(parts);
            }
            Ok(())
        };
        let arrays = self.steps.iter().filter(|step| step.array.is_some());
        let (small, large): (Vec<&Step>, Vec<&Step>) = arrays.partition(|step| step.bytes <= SMALL);
        self.pool().run(small.len(), 0, usize::MAX, |index| copy(small[index], NonZeroUsize::new(1)))?;
        large.into_iter().try_for_each(|step| copy(step, None))?;
        Ok(skipped.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// Creates the nodes after all chunks have been stored: the nodes of the lowest level first and the root last, so that all
    /// nodes that can be reached from the root are complete.
    fn store_nodes(&self) -> Result<()> {
        let depth = |step: &Step| step.path.split('/').filter(|name| !name.is_empty()).count();
        let mut levels: BTreeMap<usize, Vec<(&Step, &NodeMetadata)>> = BTreeMap::new();
        for step in &self.steps {
            let target = step.target.as_ref().map(|target| (step, target));
            levels.entry(depth(step)).or_default().extend(target);
        }
        for nodes in levels.into_values().rev() {
            self.pool()
                .run(nodes.len(), 0, usize::MAX, |index| self.store(nodes[index].0, nodes[index].1))?;
        }
        Ok(())
    }

    /// Returns the thread pool for many small requests, with a number of threads that suits both stores.
    fn pool(&self) -> Pool {
        pool_of(self.source.pool(), self.destination.pool(), self.settings.execution.jobs)
    }

    /// Returns the layout of the destination.
    fn layout(&self) -> Result<Layout> {
        self.destination.layout_for(self.settings.to)
    }

    fn store(&self, step: &Step, target: &NodeMetadata) -> Result<()> {
        self.place(step)?.store_documents(target, &self.layout()?)
    }

    /// Checks that the destination is empty, or contains the output of an interrupted run of the same conversion according to its
    /// journal.
    fn prepare(&self) -> Result<Journal> {
        let (to, overwrite) = (self.settings.to, self.settings.overwrite);
        // The location is opened again, since the contents of the store are about to change.
        let place = self.destination.clone().with_layout(None);
        place.check_ancestors(to)?;
        let fingerprint = self.fingerprint()?;
        let journal = match self.settings.elements {
            Some(_) => Journal::of_creation(self.source.store.location(), to, &fingerprint),
            None => Journal::new(&self.source, self.report.from, to, false, &fingerprint),
        };
        journal.begin(&place, to, overwrite, false)
    }

    fn copy_array(
        &self,
        step: &Step,
        source: &Array,
        target: &NodeMetadata,
        jobs: Option<NonZeroUsize>,
        journal: &Mutex<&mut Journal>,
        counter: &Counter<'_>,
    ) -> Result<Vec<Skipped>> {
        let NodeMetadata::Array(metadata) = target else { return Ok(Vec::new()) };
        let place = self.place(step)?;
        let rounds = self.rounds(step);
        let (is_finished, resuming) = {
            let journal = locked(journal);
            (journal.is_finished(&step.path), journal.was_there())
        };
        if is_finished && !self.settings.execution.again {
            return counter.add(step.bytes * rounds).map(|()| Vec::new());
        }
        let destination = Array::by_metadata(place, metadata.clone())?;
        let tell = |bytes| counter.add(bytes);
        let transfer =
            Transfer::new(&self.settings, source, &destination, step.action, resuming, &tell).with_jobs(jobs);
        match step.action {
            Action::CopyChunks => transfer.copy()?,
            Action::Reshard => transfer.reshard()?,
            Action::Encode => self.encode(step, source, &destination, &tell)?,
            _ => transfer.reencode(step.all_chunks)?,
        }
        if rounds > 1 {
            match (step.action, self.settings.verify) {
                (Action::CopyChunks, Verify::Everything) => transfer.compare_copies()?,
                _ => transfer.compare_values(step.all_chunks)?,
            }
        }
        locked(journal).finish(&self.destination, &step.path)?;
        Ok(transfer.skipped())
    }

    /// Encodes the elements of an array that has no chunks.
    fn encode(
        &self,
        step: &Step,
        source: &Array,
        destination: &Array,
        tell: &dyn Fn(u64) -> Result<()>,
    ) -> Result<()> {
        let Some(access) = self.access(step) else { return Ok(()) };
        if self.rounds(step) > 1 && matches!(access, Access::Once(..)) {
            let message = "elements from a stream cannot be compared with those of the copy";
            return Err(Error::new(ErrorKind::Unsupported, message));
        }
        let item = source.data_type().size() as u64;
        let most = self.settings.execution.memory as u64 / item.max(1);
        let (rewrite, storage) = (&self.settings.rewrite, destination.data_type().storage());
        let convert = |values: DynArray| {
            // A different name for the same data type does not need a cast.
            let values = if values.data_type().storage() == storage {
                values
            } else {
                rewrite.cast(values, source)?
            };
            if values.data_type().storage() == storage { Ok(values) } else { values.packed() }
        };
        copy_elements(source, &destination.slice(..), &access, most, convert, |count| {
            tell(count.saturating_mul(item))
        })
    }

    /// Returns the access to the elements of an array without chunks.
    pub(super) fn access(&self, step: &Step) -> Option<Access> {
        self.settings.elements.as_ref().map(|elements: &PlainElements| elements.access(&step.path))
    }

    /// Updates an existing array by copying the differences.
    pub(crate) fn update(mut self) -> Result<CopyReport> {
        self.check()?;
        let counter = Counter::new(&self);
        for step in &self.steps {
            let (Some(source), Some(NodeMetadata::Array(metadata))) = (&step.array, &step.target) else {
                continue;
            };
            let destination = Array::by_metadata(self.place(step)?, metadata.clone())?;
            let tell = |bytes| counter.add(bytes);
            let transfer = Transfer::new(&self.settings, source, &destination, Action::Update, false, &tell);
            match step.action {
                Action::CopyChunks => transfer.update_copies()?,
                _ => transfer.update_values(step.all_chunks)?,
            }
        }
        self.destination.store.flush()?;
        self.report.nodes.iter_mut().for_each(|node| node.action = Action::Update);
        Ok(self.report)
    }

    /// Returns true if the array at the destination has the metadata of the copy, apart from the attributes.
    pub(crate) fn fits(&self, found: &ArrayMetadata) -> Result<bool> {
        let Some(target) = self.array() else { return Ok(false) };
        let target = ArrayMetadata { attributes: found.attributes.clone(), ..target.clone() };
        found.is_same(&target, &self.destination.context.registry, self.destination.context.chunk_limit)
    }

    /// Returns the arrays whose stored objects change, with their planned copies, and whether chunks stay encoded.
    pub(crate) fn encoded_arrays(&self) -> Result<Vec<(String, Array, Array, bool)>> {
        let mut arrays = Vec::new();
        for step in &self.steps {
            let (Some(source), Some(NodeMetadata::Array(metadata))) = (&step.array, &step.target) else {
                continue;
            };
            if matches!(step.action, Action::Reencode | Action::Reshard) {
                let target = Array::by_metadata(self.place(step)?, metadata.clone())?;
                let is_stored = step.action == Action::Reshard;
                arrays.push((format!("/{}", step.path), source.clone(), target, is_stored));
            }
        }
        Ok(arrays)
    }

    /// Returns the arrays without chunks, with their planned copies, and the access to their elements.
    pub(crate) fn elements(&self) -> Result<Vec<(String, Array, Array, Access)>> {
        let mut arrays = Vec::new();
        for step in &self.steps {
            if let (Some(source), Some(NodeMetadata::Array(metadata)), Some(access)) =
                (&step.array, &step.target, self.access(step))
            {
                let target = Array::by_metadata(self.place(step)?, metadata.clone())?;
                arrays.push((format!("/{}", step.path), source.clone(), target, access));
            }
        }
        Ok(arrays)
    }

    /// Returns the shape of the units in which an array is copied, whether all threads work on one unit at a time, and the
    /// average number of reads of a chunk.
    pub(crate) fn division(&self, source: &Array, target: &Array) -> (Vec<u64>, bool, f64) {
        super::chunks::planned_division(
            source,
            target,
            &self.settings.rewrite,
            self.settings.execution.memory,
        )
    }

    /// Returns the memory limit of the conversion.
    pub(crate) fn memory(&self) -> usize {
        self.settings.execution.memory
    }

    /// Returns an error once the interrupt of one of the two sides has been raised. Copying encoded chunks does not read arrays,
    /// which would check it.
    fn check_interrupts(&self) -> Result<()> {
        [&self.source, &self.destination].into_iter().try_for_each(|side| side.context.interrupt.check())
    }

    /// Returns the progress listener.
    pub(crate) fn listener(&self) -> Option<zarrox::internals::Listener> {
        self.settings.listener.clone()
    }

    /// Returns the first node in the target's form.
    pub(crate) fn root(&self) -> Option<&NodeMetadata> {
        self.steps.first()?.target.as_ref()
    }

    /// Makes the conversion read the elements of the first array from another array with the same elements.
    pub(crate) fn read_from(&mut self, array: Array) {
        if let Some(step) = self.steps.first_mut() {
            step.array = Some(array);
        }
    }

    /// Returns the copy of the first node, if it is an array.
    pub fn array(&self) -> Option<&ArrayMetadata> {
        match self.steps.first()?.target.as_ref()? {
            NodeMetadata::Array(array) => Some(array),
            NodeMetadata::Group(_) => None,
        }
    }

    /// Returns true if the encoded chunks of the first array are copied unchanged.
    pub fn copies_chunks(&self) -> bool {
        self.steps.first().is_some_and(|step| step.action == Action::CopyChunks)
    }

    /// Returns the attributes of the copy of the first node.
    pub(crate) fn attributes(&self) -> Option<&Map> {
        match self.steps.first()?.target.as_ref()? {
            NodeMetadata::Array(array) => Some(&array.attributes),
            NodeMetadata::Group(group) => Some(&group.attributes),
        }
    }

    /// Replaces the documents while holding an exclusive lock. If nodes have changed since the conversion was planned, it is
    /// planned again; the new plan must not lose properties whose loss the settings do not allow.
    fn replace_documents_alone(&self, from: Format) -> Result<()> {
        let source = self.source.as_stored().with_probe(None);
        let _holds = source.hold_alone()?;
        let current = self.settings.plan_at(&source)?;
        if current.fingerprint()? == self.fingerprint()? {
            return self.replace_documents(from);
        }
        current.check()?;
        current.replace_documents(from)
    }

    /// Writes the new documents, the root's last; then removes the old ones, the root's first.
    fn replace_documents(&self, from: Format) -> Result<()> {
        let to = self.settings.to;
        let resuming = Journal::read(&self.destination)?.is_some();
        if from == to {
            return Ok(());
        }
        if !resuming {
            Journal::new(&self.source, from, to, true, &self.fingerprint()?).write(&self.destination)?;
        }
        self.replace_all(from, resuming).map_err(|error| resumable(error, false))
    }

    fn replace_all(&self, from: Format, resuming: bool) -> Result<()> {
        self.store_nodes()?;
        self.compare_metadata()?;
        self.compare_in_place()?;
        self.consolidate()?;
        for step in self.steps.iter().filter(|step| resuming || step.action != Action::Nothing) {
            self.remove_documents(step, from)?;
        }
        let kept = self.keep_copies();
        Journal::erase(&self.destination).and(kept)
    }

    /// Removes the documents of a format. The main document is removed last, so that an interrupted removal leaves either a node
    /// or nothing to remove.
    fn remove_documents(&self, step: &Step, format: Format) -> Result<()> {
        let place = self.place(step)?.of_format(Some(format));
        if !place.holds_node()? {
            return Ok(());
        }
        // The consolidated metadata consists of copies of documents that will be removed.
        place.drop_consolidated(format)?;
        let kept = self.layout()?.keys(&place.path);
        let old = place.layout_for(format)?.keys(&place.path).into_iter().rev();
        old.filter(|key| !kept.contains(key)).try_for_each(|key| place.erase(key))
    }

    /// Opens all nodes again and compares them with the plan.
    fn compare_metadata(&self) -> Result<()> {
        self.pool().run(self.steps.len(), 0, usize::MAX, |index| {
            let step = &self.steps[index];
            let Some(target) = &step.target else { return Ok(()) };
            let place = self.place(step)?;
            let (registry, limit) = (&place.context.registry, place.context.chunk_limit);
            let same = match (place.find_node()?, target) {
                (Some(NodeMetadata::Array(found)), NodeMetadata::Array(target)) => {
                    found.is_same(target, registry, limit)?
                }
                (Some(NodeMetadata::Group(found)), NodeMetadata::Group(target)) => found == *target,
                _ => false,
            };
            if !same {
                let message = format!(
                    "the stored metadata of '{}' differs from the written metadata; another program may have changed it",
                    place.path
                );
                return Err(Error::new(ErrorKind::Corrupt, message));
            }
            Ok(())
        })
    }

    /// Writes the consolidated metadata of groups whose source has consolidated metadata.
    fn consolidate(&self) -> Result<()> {
        for step in self.steps.iter().filter(|step| step.consolidate) {
            self.place(step)?.consolidate(self.settings.to)?;
        }
        Ok(())
    }

    /// Compares values after an in-place conversion. The chunks are the same objects; for a full verification, they are read
    /// according to both documents.
    fn compare_in_place(&self) -> Result<()> {
        if !matches!(self.settings.verify, Verify::Everything | Verify::Values) {
            return Ok(());
        }
        for step in &self.steps {
            if let (Some(source), Some(NodeMetadata::Array(metadata))) = (&step.array, &step.target) {
                let place = self.place(step)?;
                let destination = Array::by_metadata(place, metadata.clone())?;
                let (action, tell) = (step.action, |_| Ok(()));
                let transfer = Transfer::new(&self.settings, source, &destination, action, false, &tell);
                transfer.compare_values(false)?;
            }
        }
        Ok(())
    }

    fn place(&self, step: &Step) -> Result<Location> {
        Ok(self.destination.at(self.destination.path.join(&step.path)?))
    }

    /// Returns the number of passes over the bytes of an array: for writing, and for comparing.
    fn rounds(&self, step: &Step) -> u64 {
        match (self.settings.verify, step.action) {
            (Verify::Everything | Verify::Values, action) if action.has_chunks() => 2,
            (Verify::Reencoded, Action::Reencode) => 2,
            _ => 1,
        }
    }

    /// Returns the number of bytes that are copied and compared.
    pub(crate) fn work(&self) -> u64 {
        self.steps.iter().map(|step| step.bytes * self.rounds(step)).sum()
    }

    /// Returns a hash of the planned output.
    fn fingerprint(&self) -> Result<Fingerprint> {
        let mut fingerprint = Fingerprint::default();
        for step in &self.steps {
            fingerprint.see(step.path.as_bytes());
            fingerprint.see(step.action.to_string().as_bytes());
            let Some(target) = &step.target else { continue };
            let place = self.place(step)?;
            for (_, bytes) in
                format_of(target).def().to_documents(&place.path, target, &place.context.registry)?
            {
                fingerprint.see(&bytes);
            }
        }
        Ok(fingerprint)
    }
}

/// The size of the stored chunks up to which an array is small, in bytes.
const SMALL: u64 = 1 << 20;

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds advice to the error of a conversion that has started, unless the error is permanent because the source is immutable.
fn resumable(error: Error, fixed_source: bool) -> Error {
    let comes_again = matches!(
        error.kind(),
        ErrorKind::Corrupt
            | ErrorKind::DataTypeMismatch
            | ErrorKind::InvalidArgument
            | ErrorKind::InvalidMetadata
            | ErrorKind::InvalidSelection
            | ErrorKind::LimitExceeded
            | ErrorKind::Unsupported
    );
    if comes_again && fixed_source {
        return error;
    }
    let message = format!("{error}; run the same conversion again to continue");
    Error::new(error.kind(), message).with_source(error)
}

/// Counts the completed bytes, reports them, and limits the rate.
struct Counter<'a> {
    done: Tally,
    total: u64,
    conversion: &'a Conversion,
    begun: Instant,
}

impl<'a> Counter<'a> {
    fn new(conversion: &'a Conversion) -> Self {
        Self { done: Tally::default(), total: conversion.work(), conversion, begun: Instant::now() }
    }

    fn add(&self, bytes: u64) -> Result<()> {
        let done = self.done.add(bytes, |done| self.tell(done))?;
        while let Some(rest) = self.early(done) {
            std::thread::sleep(rest.min(LONGEST_SLEEP));
            self.done.add(0, |done| self.tell(done))?;
        }
        Ok(())
    }

    fn tell(&self, done: u64) -> Result<()> {
        self.conversion.check_interrupts()?;
        let progress = Progress::new(done, self.total);
        self.conversion.settings.listener.as_ref().map_or(Ok(()), |listener| listener(progress))
    }

    /// Returns the time to wait before `done` bytes are within the rate limit.
    fn early(&self, done: u64) -> Option<Duration> {
        let rate = self.conversion.settings.execution.rate?.max(1);
        #[expect(clippy::cast_precision_loss, reason = "a time to sleep")]
        let due = Duration::try_from_secs_f64(done as f64 / rate as f64).ok()?;
        due.checked_sub(self.begun.elapsed()).filter(|rest| !rest.is_zero())
    }
}

/// The maximum duration of a sleep, so that an interruption takes effect soon.
const LONGEST_SLEEP: Duration = Duration::from_millis(100);
