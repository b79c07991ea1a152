//! Runs a planned conversion.

use std::sync::atomic::{AtomicU64, Ordering};

use zarrox_core::metadata::Layout;
use zarrox_core::{Error, ErrorKind, Format, NodeMetadata, Result};

use super::chunks::Transfer;
use super::plan::Step;
use super::report::{Action, ConvertReport};
use super::{Conversion, Progress, Verify};
use crate::array::Array;
use crate::hierarchy::format_of;
use crate::hierarchy::journal::{Fingerprint, Journal};
use crate::location::Location;
use crate::upkeep::Changes;

impl Conversion {
    /// Runs the conversion. An interrupted one is continued.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] with all properties that the target cannot express and whose loss is not allowed, before
    /// anything is written; [`ErrorKind::AlreadyExists`] when there is something at the destination; [`ErrorKind::Corrupt`] when
    /// the written data differ from the source; and errors of the stores.
    pub fn run(self) -> Result<ConvertReport> {
        self.check()?;
        let (place, source) = (&self.destination, &self.source);
        let done = match self.in_place {
            Some(from) => self.replace_documents(from),
            None => self.copy(),
        };
        done.map_err(|error| match self.in_place {
            Some(_) => {
                error.at(format!("converting '{}' in {} in place", place.path, place.store.location()))
            }
            None => error.at(format!("converting {} to {}", source.store.location(), place.store.location())),
        })?;
        let changes = Changes::of_all_below(&[&place.path]).and(place.path.ancestors());
        place.keep_copies(self.convert.to, &changes);
        place.store.flush()?;
        Ok(self.report)
    }

    fn copy(&self) -> Result<()> {
        let mut journal = self.prepare()?;
        self.copy_all(&mut journal).map_err(|error| {
            // If storing the journal fails, the work since the last write of it is repeated.
            let _ = journal.write(&self.destination);
            resumable(error)
        })
    }

    fn copy_all(&self, journal: &mut Journal) -> Result<()> {
        let counter = Counter { done: AtomicU64::new(0), conversion: self, total: self.work() };
        for step in &self.steps {
            if let (Some(source), Some(target)) = (&step.array, &step.target) {
                self.copy_array(step, source, target, journal, &counter)?;
            }
        }
        // No node exists until all chunks are stored. The root comes last, so that all nodes that can be found from it are
        // complete.
        for step in self.steps.iter().rev() {
            if let Some(target) = &step.target {
                self.store(step, target)?;
            }
        }
        self.destination.create_ancestors(self.convert.to, &self.layout()?)?;
        self.compare_metadata()?;
        self.consolidate()?;
        Journal::erase(&self.destination)
    }

    /// The layout of the destination.
    fn layout(&self) -> Result<Layout> {
        self.destination.layout_for(self.convert.to)
    }

    fn store(&self, step: &Step, target: &NodeMetadata) -> Result<()> {
        self.place(step)?.store_documents(target, &self.layout()?)
    }

    /// Checks that the destination is empty, or has the remains of an earlier run of the same conversion according to its
    /// journal.
    fn prepare(&self) -> Result<Journal> {
        let (to, overwrite) = (self.convert.to, self.convert.overwrite);
        // The store must be asked again, since its content changes now.
        let place = self.destination.clone().with_layout(None);
        place.check_ancestors(to)?;
        Journal::new(&self.source, self.report.from, to, false, &self.fingerprint()?)
            .begin(&place, to, overwrite, false)
    }

    fn copy_array(
        &self,
        step: &Step,
        source: &Array,
        target: &NodeMetadata,
        journal: &mut Journal,
        counter: &Counter<'_>,
    ) -> Result<()> {
        let NodeMetadata::Array(metadata) = target else { return Ok(()) };
        let place = self.place(step)?;
        let rounds = self.rounds(step);
        if journal.is_finished(&step.path) {
            return counter.add(step.bytes * rounds);
        }
        let resuming = journal.was_there();
        let destination = Array::new(place.clone(), metadata.clone())?;
        let tell = |bytes| counter.add(bytes);
        let pool = &place.context.pool;
        let transfer = Transfer::new(source, &destination, pool, resuming, &tell);
        match step.action {
            Action::CopyChunks => transfer.copy()?,
            _ => transfer.reencode(step.all_chunks)?,
        }
        if rounds > 1 {
            match step.action {
                Action::CopyChunks => transfer.compare_copies()?,
                _ => transfer.compare_values(step.all_chunks)?,
            }
        }
        journal.finish(&self.destination, &step.path)
    }

    /// Writes the new documents, the root's last; then removes the old ones, the root's first.
    fn replace_documents(&self, from: Format) -> Result<()> {
        let to = self.convert.to;
        let resuming = Journal::read(&self.destination)?.is_some();
        if from == to {
            return Ok(());
        }
        if !resuming {
            Journal::new(&self.source, from, to, true, &self.fingerprint()?).write(&self.destination)?;
        }
        self.replace_all(from, resuming).map_err(resumable)
    }

    fn replace_all(&self, from: Format, resuming: bool) -> Result<()> {
        for step in self.steps.iter().rev() {
            if let Some(target) = &step.target {
                self.store(step, target)?;
            }
        }
        self.compare_metadata()?;
        self.compare_in_place()?;
        self.consolidate()?;
        for step in self.steps.iter().filter(|step| resuming || step.action != Action::Nothing) {
            self.remove_documents(step, from)?;
        }
        Journal::erase(&self.destination)
    }

    /// Removes the documents of a format. The document that makes the node goes last, so that after an interruption there is
    /// either a node or nothing to remove.
    fn remove_documents(&self, step: &Step, format: Format) -> Result<()> {
        let place = self.place(step)?.of_format(Some(format));
        if !place.holds_node()? {
            return Ok(());
        }
        // Consolidated copies of documents that will be removed.
        place.drop_consolidated(format)?;
        let kept = self.layout()?.keys(&place.path);
        let old = place.layout_for(format)?.keys(&place.path).into_iter().rev();
        old.filter(|key| !kept.contains(key)).try_for_each(|key| place.erase(key))
    }

    /// Opens all nodes again and compares them with the plan.
    fn compare_metadata(&self) -> Result<()> {
        for step in &self.steps {
            let Some(target) = &step.target else { continue };
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
                    "the metadata of '{}' differs from what was written; perhaps another program has changed it",
                    place.path
                );
                return Err(Error::new(ErrorKind::Corrupt, message));
            }
        }
        Ok(())
    }

    /// Groups whose source has consolidated metadata get consolidated metadata of the present nodes.
    fn consolidate(&self) -> Result<()> {
        for step in self.steps.iter().filter(|step| step.consolidate) {
            self.place(step)?.consolidate(self.convert.to)?;
        }
        Ok(())
    }

    /// The chunks are the same files. With full verification, they are read through both documents.
    fn compare_in_place(&self) -> Result<()> {
        if self.convert.verify != Verify::Everything {
            return Ok(());
        }
        for step in &self.steps {
            if let (Some(source), Some(NodeMetadata::Array(metadata))) = (&step.array, &step.target) {
                let place = self.place(step)?;
                let destination = Array::new(place.clone(), metadata.clone())?;
                let transfer = Transfer::new(source, &destination, &place.context.pool, false, &|_| Ok(()));
                transfer.compare_values(false)?;
            }
        }
        Ok(())
    }

    fn place(&self, step: &Step) -> Result<Location> {
        Ok(self.destination.at(self.destination.path.join(&step.path)?))
    }

    /// The number of times that the bytes of an array are processed: for writing, and for comparing.
    fn rounds(&self, step: &Step) -> u64 {
        match (self.convert.verify, step.action) {
            (Verify::Everything, Action::CopyChunks | Action::Reencode) => 2,
            (Verify::Reencoded, Action::Reencode) => 2,
            _ => 1,
        }
    }

    fn work(&self) -> u64 {
        self.steps.iter().map(|step| step.bytes * self.rounds(step)).sum()
    }

    /// A hash of everything that will be written.
    fn fingerprint(&self) -> Result<Fingerprint> {
        let mut fingerprint = Fingerprint::new();
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

/// The error of a conversion that has started, with advice.
fn resumable(error: Error) -> Error {
    let message = format!("{error}; run the same conversion again to continue");
    Error::new(error.kind(), message).with_source(error)
}

/// Counts the completed work, and reports it.
struct Counter<'a> {
    done: AtomicU64,
    total: u64,
    conversion: &'a Conversion,
}

impl Counter<'_> {
    fn add(&self, bytes: u64) -> Result<()> {
        let done = self.done.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let progress = Progress { done, total: self.total };
        self.conversion.convert.listener.as_ref().map_or(Ok(()), |listener| listener(progress))
    }
}
