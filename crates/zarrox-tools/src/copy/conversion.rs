//! A planned copy of one node, with all nodes below it, into one format.

use std::fmt;
use std::sync::Arc;

use zarrox::internals::{Journal, Listener, Location, Purpose, are_paths_overlapping, argument};
use zarrox::{Consolidated, Node, Place, Progress};
use zarrox_core::{ErrorKind, Format, Result};

use super::plan::{Planner, Step};
use super::report::{Action, CopyReport, NodeReport};
use super::settings::Settings;

impl Settings {
    /// Returns the report of an existing group.
    pub(crate) fn report_of_group(
        &self,
        path: &str,
        source: &Location,
        destination: &Location,
        from: Format,
    ) -> CopyReport {
        let mut report = Planner::new(self.plan_options(), source, destination, from, false).into_report();
        let path = format!("/{path}");
        report.nodes.push(NodeReport { path, is_array: false, action: Action::Nothing, chunks: 0, bytes: 0 });
        report
    }

    /// Plans the copy of a node, with all nodes below it, to another location.
    ///
    /// # Errors
    /// If the source cannot be read, or one location contains the other.
    pub fn plan_between(&self, source: &Location, destination: &Location) -> Result<Conversion> {
        check_places_apart(source, destination)?;
        self.check_above(destination)?;
        let source = &known_nodes(source)?;
        let destination = destination.clone().settle(self.to)?;
        let root = source.open_node()?;
        self.planned(source, destination, root.format(), false, root)
    }

    pub(super) fn plan_at(&self, source: &Location) -> Result<Conversion> {
        let destination = source.clone().of_format(Some(self.to));
        let journal = Journal::read(source)?;
        let root = source.open_node()?;
        let from = match journal {
            Some(journal) => journal.replaced_format(source, self.to)?,
            None => root.format(),
        };
        self.check_above(&destination)?;
        self.planned(source, destination, from, true, root)
    }

    fn planned(
        &self,
        source: &Location,
        destination: Location,
        from: Format,
        in_place: bool,
        root: Node,
    ) -> Result<Conversion> {
        let (steps, report) =
            Planner::new(self.plan_options(), source, &destination, from, in_place).plan(root)?;
        let in_place = in_place.then_some(from);
        Ok(Conversion {
            settings: self.clone(),
            source: source.clone(),
            destination,
            in_place,
            steps,
            report,
        })
    }

    /// Checks that the parent group has the same format, since other programs would otherwise not find the node.
    fn check_above(&self, place: &Location) -> Result<()> {
        let above = place.clone().of_format(None).inherited_format()?;
        match above.filter(|above| *above != self.to) {
            None => Ok(()),
            Some(above) => Err(argument(format!(
                "'{}' in {} is inside of a group of Zarr {above}, where other programs do not look for Zarr {}; \
                convert the whole hierarchy, or give a destination",
                place.path,
                place.store.location(),
                self.to
            ))),
        }
    }
}

/// A planned conversion that can be run. Nothing has been written yet.
#[derive(Debug)]
pub struct Conversion {
    pub(super) settings: Settings,
    pub(super) source: Location,
    pub(super) destination: Location,
    /// The format whose documents an in-place conversion replaces.
    pub(super) in_place: Option<Format>,
    pub(super) steps: Vec<Step>,
    pub(super) report: CopyReport,
}

impl Conversion {
    /// Returns the report: the planned actions, and all properties that the target stores differently or not at all.
    pub fn report(&self) -> &CopyReport {
        &self.report
    }

    /// Returns the location of the first node of the copy.
    pub(crate) fn destination(&self) -> &Location {
        &self.destination
    }

    /// Prefixes the paths in the report with `base`, the path of the converted node in the copied node.
    pub(crate) fn based_at(mut self, base: &str) -> Self {
        if base.is_empty() {
            return self;
        }
        let based = |path: &str| format!("/{base}{}", path.trim_end_matches('/'));
        self.report.nodes.iter_mut().for_each(|node| node.path = based(&node.path));
        self.report.obstacles.iter_mut().for_each(|obstacle| obstacle.path = based(&obstacle.path));
        self
    }

    /// Returns the report, as one of nodes that stay unchanged.
    pub(crate) fn into_report_of_nothing(mut self) -> CopyReport {
        self.report.obstacles.clear();
        for node in &mut self.report.nodes {
            *node = NodeReport { action: Action::Nothing, chunks: 0, bytes: 0, ..node.clone() };
        }
        self.report
    }

    /// Returns the conversion as an update of an existing array: only differences are copied.
    pub(crate) fn into_update(mut self) -> Self {
        self.report.nodes.iter_mut().for_each(|node| node.action = Action::Update);
        self
    }

    /// Returns the conversion as a part of a larger copy of `total` bytes, after `before` bytes.
    pub(crate) fn within(mut self, before: u64, total: u64) -> Self {
        let listener = self.settings.listener.take();
        self.settings.listener = listener.map(|listener| {
            let within = move |progress: Progress| listener(Progress::new(before + progress.done, total));
            Arc::new(within) as Listener
        });
        self
    }

    /// Checks that the conversion is possible.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] with all properties that the target cannot express and whose loss is not allowed.
    pub fn check(&self) -> Result<()> {
        self.report.check(|what| self.settings.allows(what))
    }
}

/// Checks that neither location contains the other.
pub(crate) fn check_places_apart(source: &Location, destination: &Location) -> Result<()> {
    match source.overlaps(destination) {
        true => Err(overlap(&source.path, &destination.path)),
        false => Ok(()),
    }
}

/// Checks that neither path contains the other.
pub fn check_apart(source: &Place, destination: &Place) -> Result<()> {
    let paths = source.as_path().zip(destination.as_path());
    match paths.is_some_and(|(source, destination)| are_paths_overlapping(source, destination)) {
        true => Err(overlap(source, destination)),
        false => Ok(()),
    }
}

/// Returns the source, with its consolidated metadata if the nodes cannot be listed otherwise.
pub fn known_nodes(source: &Location) -> Result<Location> {
    if source.store.capabilities().listable {
        return Ok(source.clone());
    }
    let found = source.probed(Purpose::OpenByCopy).consolidated(Consolidated::Auto, true)?;
    Ok(found.with_probe(None))
}

fn overlap(source: &dyn fmt::Display, destination: &dyn fmt::Display) -> zarrox_core::Error {
    let message = format!(
        "'{source}' cannot be copied to '{destination}': one contains the other; choose another destination"
    );
    zarrox_core::Error::new(ErrorKind::InvalidArgument, message)
}
