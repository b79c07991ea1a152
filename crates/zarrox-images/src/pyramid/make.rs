//! Creating a planned pyramid: first the chunks, then the documents, and last the description of the image.

use zarrox_core::data_type::{Number, Storage};
use zarrox_core::internals::metadata::Layout;
use zarrox_core::json::{Json, Map};
use zarrox_core::{DataType, DimSelection, Error, GroupMetadata, NodeMetadata, Result};

use super::chain::{Chain, bytes};
use super::pass::{Base, Pass};
use super::plan::{Pyramid, PyramidLevel};
use crate::ome::{AxisKind, DisplayWindow, Multiscales, list_label};
use zarrox::Array;
use zarrox::internals::Changes;
use zarrox::internals::{Fingerprint, Journal, Location, Task, update_attributes};
use zarrox_tools::stats::Statistics;

impl Pyramid {
    /// Creates the levels, writes the description of the image, and returns the levels. After an interruption, repeating the call
    /// continues the work.
    ///
    /// # Errors
    /// The errors of [`Downsample::run`](super::Downsample::run).
    pub fn run(mut self) -> Result<Vec<PyramidLevel>> {
        self.check()?;
        let (source, group) = (self.source.location().clone(), self.group.clone());
        self.make().map_err(|error| error.at(format!("downsampling {source} in {group}")))?;
        group.store.flush()?;
        Ok(self.levels())
    }

    /// Updates consolidated metadata. As long as the journal exists, repeating the call repeats this update.
    fn keep_copies(&self) -> Result<()> {
        let group = &self.group;
        let paths = self.levels.iter().skip(usize::from(self.is_beside));
        let paths: Vec<_> =
            paths.map(|(level, _)| group.path.join(&level.path)).collect::<Result<Vec<_>>>()?;
        let changes = Changes::of_all_below(&paths.iter().collect::<Vec<_>>()).and(group.path.ancestors());
        group.keep_copies(self.format, &changes.and(vec![group.path.clone()]))
    }

    fn make(&mut self) -> Result<()> {
        let group = self.group.clone().with_layout(None);
        let layout = group.layout_for(self.format)?;
        if self.is_beside && self.levels.len() == 1 {
            // Only the description needs to be written.
            return self.describe(&group).and_then(|()| self.keep_copies());
        }
        let place = if self.is_beside { self.place(1)?.with_layout(None) } else { group.clone() };
        let journal = self.begin(&place, &group, &layout)?;
        let done = self.run_passes(&journal).and_then(|()| self.store_documents(&group, &layout));
        let done = done.and_then(|()| self.keep_copies());
        done.and_then(|()| Journal::erase(&place)).map_err(|error| {
            let message = format!("{error}; run the same conversion again to continue");
            Error::new(error.kind(), message).with_source(error)
        })
    }

    /// Stores the journal. Returns an error unless the paths of the levels are empty, may be overwritten, or contain only the
    /// remains of an earlier run of the same work.
    fn begin(&self, place: &Location, group: &Location, layout: &Layout) -> Result<Journal> {
        let (to, overwrite) = (self.format, self.options.overwrite);
        group.check_ancestors(to)?;
        let source = self.source.location();
        let from = self.source.metadata().format;
        let journal = Journal::new(source, from, to, false, &self.fingerprint()?);
        if self.is_beside {
            self.make_room(&journal, place, group, layout)?;
        }
        journal.begin(place, to, overwrite, false)
    }

    /// Deletes existing nodes at the paths of the levels that follow the one with the journal.
    fn make_room(
        &self,
        journal: &Journal,
        place: &Location,
        group: &Location,
        layout: &Layout,
    ) -> Result<()> {
        let (to, overwrite) = (self.format, self.options.overwrite);
        let found = Journal::read(place)?;
        // If the remains are those of the same work, it is continued. The remains of other work are deleted only if existing
        // levels may be replaced.
        if found.as_ref().is_some_and(|found| found.is_same(journal) || !overwrite) {
            return Ok(());
        }
        if overwrite {
            // The old description refers to levels that are about to be deleted.
            update_attributes(group, to, |attributes| self.form.forget(attributes))?;
        }
        for level in 2..self.levels.len() {
            let place = self.place(level)?;
            let _holds = place.hold_alone()?;
            match found {
                Some(_) => place.delete_remains(to)?,
                None => drop(place.make_room(to, layout, overwrite, false)?),
            }
        }
        Ok(())
    }

    /// Returns the identity of the work, which depends on all documents of the levels and on the downsampling method.
    fn fingerprint(&self) -> Result<Fingerprint> {
        let mut plan = Fingerprint::default();
        let Self { method, options, form, is_beside, .. } = self;
        plan.see(format!("{method} {} {form} {is_beside}", options.skip_nan).as_bytes());
        for level in usize::from(self.is_beside)..self.levels.len() {
            let place = self.place(level)?;
            plan.see(place.path.as_str().as_bytes());
            let node = NodeMetadata::Array(self.levels[level].1.clone());
            let documents = self.format.def().to_documents(&place.path, &node, &place.context.registry)?;
            documents.iter().for_each(|(_, bytes)| plan.see(bytes));
        }
        Ok(plan)
    }

    fn run_passes(&self, journal: &Journal) -> Result<()> {
        if journal.is_filled() {
            return Ok(());
        }
        let settings = self.options.copier.settings();
        let work = Task::new(settings.execution.memory, settings.listener.clone());
        let item = self.source.data_type().size() as u64;
        self.passes.iter().for_each(|chain| work.expect(bytes(&chain.shapes[0], item)));
        let mut first = 0;
        for chain in &self.passes {
            let source = if first == 0 { self.source.clone() } else { self.array(first)? };
            let base = if first == 0 { self.base()? } else { Base::Existing };
            let targets =
                (1..=chain.depth()).map(|level| self.array(first + level)).collect::<Result<Vec<_>>>()?;
            self.pass(chain, &source, &base, &targets, journal.was_there(), &work)?;
            first += chain.depth();
        }
        Ok(())
    }

    fn pass(
        &self,
        chain: &Chain,
        source: &Array,
        base: &Base,
        targets: &[Array],
        resuming: bool,
        work: &Task,
    ) -> Result<()> {
        let (method, skip_nan, pool) = (self.method, self.options.skip_nan, &self.pool);
        let pass = Pass { chain, source, base, targets, method, skip_nan, resuming, pool, work };
        pass.run()
    }

    /// Stores the documents of the levels, and then those of the group, since it is the documents of the group that make it an
    /// image.
    fn store_documents(&mut self, group: &Location, layout: &Layout) -> Result<()> {
        for level in (usize::from(self.is_beside)..self.levels.len()).rev() {
            let node = NodeMetadata::Array(self.levels[level].1.clone());
            self.place(level)?.store_documents(&node, layout)?;
        }
        if !self.is_beside {
            self.find_windows()?;
            let mut attributes = Map::default();
            self.form.describe(&self.image, &mut attributes)?;
            let node = GroupMetadata { attributes, ..GroupMetadata::new(self.format) };
            group.store_documents(&NodeMetadata::Group(node), layout)?;
            group.create_ancestors(self.format, layout)?;
            return self.list_label(group);
        }
        self.describe(group)
    }

    /// Adds the description of the image to its existing group.
    fn describe(&mut self, group: &Location) -> Result<()> {
        self.find_windows()?;
        self.name_dimensions()?;
        self.place(0)?.create_ancestors(self.format, &group.layout_for(self.format)?)?;
        let (form, image) = (self.form, &self.image);
        let mut described = Ok(());
        update_attributes(group, self.format, |attributes| described = form.describe(image, attributes))?;
        described?;
        self.list_label(group)
    }

    /// Names the dimensions of the source after the axes if they have no names, as OME-Zarr 0.5 requires.
    fn name_dimensions(&self) -> Result<()> {
        let names = self.source.dimension_names();
        let has_names = names.is_some_and(|names| names.iter().all(Option::is_some));
        if self.form != Multiscales::Ome05 || has_names {
            return Ok(());
        }
        let names: Vec<Json> = self.image.axes.iter().map(|axis| Json::from(axis.name.as_str())).collect();
        let members = Map::from_iter([("dimension_names".to_owned(), Json::Array(names))]);
        self.source.clone().change_members(&members)
    }

    /// Adds a label image to the list in its parent group `labels`.
    fn list_label(&self, group: &Location) -> Result<()> {
        let parent = group.path.parent().filter(|parent| parent.name() == "labels");
        let Some(parent) = parent.filter(|_| self.image.is_labels) else { return Ok(()) };
        let (form, name) = (self.form, group.path.name().to_owned());
        let parent = group.as_stored().at(parent);
        update_attributes(&parent, self.format, |attributes| list_label(form, attributes, &name)).map(drop)
    }

    /// Computes the missing contrast limits of channels from the smallest level.
    fn find_windows(&mut self) -> Result<()> {
        let last = self.array(self.levels.len() - 1)?;
        let dim = self.image.axes.iter().position(|axis| axis.kind == AxisKind::Channel);
        for index in 0..self.image.channels.len() {
            if self.image.channels[index].window.is_some() {
                continue;
            }
            let along = |(own, length): (usize, &u64)| match dim == Some(own) {
                true => DimSelection::from(index as u64..index as u64 + 1),
                false => DimSelection::from(0..*length),
            };
            let part: Vec<DimSelection> = last.shape().iter().enumerate().map(along).collect();
            let statistics =
                Statistics::new().memory(self.options.copier.settings().execution.memory).select(part);
            let found = statistics.run(&last)?;
            let (start, end) = match (found.min, found.max) {
                (Some(min), Some(max)) => (min.to_f64(), max.to_f64()),
                _ => (0.0, 1.0),
            };
            let (min, max) = range(last.data_type()).unwrap_or((start, end));
            let end = if end > start { end } else { start + 1.0 };
            self.image.channels[index].window = Some(DisplayWindow { min, max: max.max(end), start, end });
        }
        Ok(())
    }
}

/// Returns the smallest and the largest value of an integer data type.
fn range(data_type: &DataType) -> Option<(f64, f64)> {
    let bits = |size: usize| u32::try_from(8 * size).unwrap_or(u32::MAX).min(64);
    let (min, max) = match data_type.storage() {
        Storage::Bool => (0, 1),
        Storage::Uint(size) => (0, (1_i128 << bits(size)) - 1),
        Storage::Int(size) => (-(1_i128 << (bits(size) - 1)), (1_i128 << (bits(size) - 1)) - 1),
        _ => return None,
    };
    Some((Number::Integer(min).to_f64(), Number::Integer(max).to_f64()))
}
