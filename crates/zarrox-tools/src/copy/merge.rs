//! Copies into existing nodes: a separate conversion with its own journal creates each missing node as a whole, and existing
//! nodes are updated or kept.

use zarrox_core::{NodeMetadata, Result};

use super::conversion::Conversion;
use super::report::CopyReport;
use super::settings::Settings;
use zarrox::Array;
use zarrox::internals::{Journal, Location, update_attributes};
use zarrox::{Group, Node};

/// A piece of a copy.
#[derive(Debug)]
pub(super) enum Piece {
    /// A node that is created, with all nodes below it.
    Whole(Conversion),
    /// An existing array, to which the chunks that differ are copied.
    Update(Conversion, Location),
    /// An existing group, and its new attributes.
    Group(CopyReport, Location, Option<zarrox_core::json::Map>),
    /// A node that is kept.
    Kept(CopyReport),
}

impl Piece {
    pub(super) fn conversion(&self) -> Option<&Conversion> {
        match self {
            Self::Whole(conversion) | Self::Update(conversion, _) => Some(conversion),
            Self::Group(..) | Self::Kept(_) => None,
        }
    }

    /// Returns the location of the node.
    pub(super) fn place(&self) -> Option<&Location> {
        match self {
            Self::Whole(conversion) => Some(conversion.destination()),
            Self::Update(_, place) | Self::Group(_, place, _) => Some(place),
            Self::Kept(_) => None,
        }
    }

    /// Copies the piece, after `before` bytes of a total.
    pub(super) fn run(
        self,
        done: u64,
        total: u64,
        last: impl FnOnce() -> Result<()>,
    ) -> Result<Option<CopyReport>> {
        match self {
            Self::Whole(conversion) => conversion.within(done, total).run_then(last).map(Some),
            Self::Update(conversion, place) => {
                let attributes = conversion.attributes().cloned();
                let report = conversion.within(done, total).update()?;
                set_attributes(&place, attributes)?;
                Ok(Some(report))
            }
            Self::Group(report, place, attributes) => {
                set_attributes(&place, attributes)?;
                Ok(Some(report))
            }
            Self::Kept(report) => Ok(Some(report)),
        }
    }
}

fn set_attributes(place: &Location, attributes: Option<zarrox_core::json::Map>) -> Result<()> {
    let (Some(attributes), Some(node)) = (attributes, place.find_node()?) else { return Ok(()) };
    let format = zarrox::internals::format_of(&node);
    let found = match &node {
        NodeMetadata::Array(array) => &array.attributes,
        NodeMetadata::Group(group) => &group.attributes,
    };
    if *found == attributes {
        return Ok(());
    }
    update_attributes(place, format, |map| map.clone_from(&attributes)).map(drop)
}

/// The plan of a copy into existing nodes.
pub(super) struct Merge {
    pub(super) settings: Settings,
    /// True if existing nodes are updated.
    pub(super) updates: bool,
    pub(super) pieces: Vec<Piece>,
}

impl Merge {
    pub(super) fn plan(mut self, root: Node, source: &Location, place: &Location) -> Result<Vec<Piece>> {
        self.node("", root, source, place)?;
        Ok(self.pieces)
    }

    fn node(&mut self, path: &str, node: Node, source: &Location, place: &Location) -> Result<()> {
        if !self.settings.chosen.has(path, matches!(node, Node::Array(_))) {
            return Ok(());
        }
        // An interrupted copy is continued as a whole. An update starts it again if the source has changed since.
        let unfinished = Journal::read(place)?.filter(|journal| !journal.is_in_place());
        let found = if unfinished.is_some() { None } else { place.find_node()? };
        let Some(found) = found else {
            let begins_anew = self.updates && unfinished.is_some_and(|journal| journal.is_copy_of(source));
            return self.whole(path, source, place, begins_anew);
        };
        match (node, found) {
            (Node::Group(group), NodeMetadata::Group(_)) => self.group(path, &group, source, place),
            _ if !self.updates => {
                let kept = self.planned(path, source, place, true)?;
                self.pieces.push(Piece::Kept(kept.into_report_of_nothing()));
                Ok(())
            }
            (Node::Array(array), NodeMetadata::Array(found)) => {
                let conversion = self.planned(path, source, place, false)?;
                if !conversion.fits(&found)? || !has_same_keys(&array, place, &conversion, &found)? {
                    return self.whole(path, source, place, true);
                }
                self.pieces.push(Piece::Update(conversion.into_update(), place.clone()));
                Ok(())
            }
            _ => self.whole(path, source, place, true),
        }
    }

    fn group(&mut self, path: &str, group: &Group, source: &Location, place: &Location) -> Result<()> {
        let attributes = self.updates.then(|| group.attributes().clone());
        let report = self.settings.report_of_group(path, source, place, group.metadata().format);
        self.pieces.push(Piece::Group(report, place.clone(), attributes));
        for child in group.children()? {
            let below = if path.is_empty() { child.name.clone() } else { format!("{path}/{}", child.name) };
            let node = child.node.map_err(|error| error.at(format!("node '{below}'")))?;
            let from = source.at(source.path.join(&child.name)?);
            let to = place.at(place.path.join(&child.name)?);
            self.node(&below, node, &from, &to)?;
        }
        Ok(())
    }

    fn whole(&mut self, path: &str, source: &Location, place: &Location, overwrite: bool) -> Result<()> {
        let conversion = self.planned(path, source, place, overwrite)?;
        self.pieces.push(Piece::Whole(conversion));
        Ok(())
    }

    fn planned(
        &self,
        path: &str,
        source: &Location,
        place: &Location,
        overwrite: bool,
    ) -> Result<Conversion> {
        let mut settings = Settings { overwrite, ..self.settings.clone() };
        settings.chosen.base = path.to_owned();
        Ok(settings.plan_between(source, place)?.based_at(path))
    }
}

/// Returns true if the chunks of the existing array have the same keys as those of the copy.
fn has_same_keys(
    array: &Array,
    place: &Location,
    conversion: &Conversion,
    found: &zarrox_core::ArrayMetadata,
) -> Result<bool> {
    let first = vec![0; array.ndim().max(found.shape.len())];
    let Some(planned) = conversion.array() else { return Ok(false) };
    if found.shape.len() != planned.shape.len() {
        return Ok(false);
    }
    let first = &first[..found.shape.len()];
    let key = |metadata: &zarrox_core::ArrayMetadata| {
        Array::by_metadata(place.clone(), metadata.clone())?.object_key(first)
    };
    Ok(key(found)? == key(planned)?)
}
