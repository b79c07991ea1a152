//! All nodes of a file.

use std::collections::HashSet;
use std::sync::Arc;

use zarrox::{Error, ErrorKind, Result};

use super::files::{Files, Id, Parsed};
use super::format::{Datatype, Link, ObjectKind, Target};
use super::text::{lenient, refused_name};
use crate::input::unsupported;
use crate::store::LeftOut;

/// The maximum number of nodes in a file. Through links, even a small file can have a practically unlimited hierarchy.
const MOST_NODES: usize = 1 << 18;

/// The maximum nesting depth of groups.
const DEEPEST: usize = 250;

/// A node of a file: a group or a dataset.
pub(super) struct Found {
    /// The path without a leading slash; empty for the root.
    pub(super) path: String,
    pub(super) id: Id,
    pub(super) object: Arc<Parsed>,
    /// True if every link in the path is a hard link.
    pub(super) is_hard: bool,
}

/// Returns the nodes of a file, each group before its members. An object with several links is visited once per link, but
/// a group is not visited inside itself. Every link either becomes a node, or is skipped and reported.
pub(super) fn walk(files: &mut Files, left_out: &mut Vec<LeftOut>) -> Result<Walked> {
    let root = files.root();
    let object = files.object(root)?;
    let mut walk = Walk { walked: Walked::default(), files, left_out, listed: HashSet::new() };
    walk.groups(root, object)?;
    Ok(walk.walked)
}

/// The objects of a file.
#[derive(Default)]
pub(super) struct Walked {
    pub(super) nodes: Vec<Found>,
    /// The committed datatypes.
    pub(super) types: Vec<Committed>,
    /// The paths of objects whose names are invalid in Zarr, to resolve references to these objects.
    pub(super) unlisted: Vec<(Id, String)>,
}

/// A committed datatype.
pub(super) struct Committed {
    pub(super) path: String,
    pub(super) id: Id,
    pub(super) datatype: Datatype,
}

impl Committed {
    /// Returns the last component of the path.
    pub(super) fn name(&self) -> &str {
        self.path.rsplit_once('/').map_or(self.path.as_str(), |(_, name)| name)
    }
}

struct Walk<'w> {
    walked: Walked,
    files: &'w mut Files,
    left_out: &'w mut Vec<LeftOut>,
    /// The skipped objects whose paths have been recorded.
    listed: HashSet<Id>,
}

/// A group still to be visited.
struct Waiting {
    path: String,
    id: Id,
    object: Arc<Parsed>,
    is_hard: bool,
    /// The ancestors of the group.
    above: Vec<Id>,
}

impl Walk<'_> {
    /// Visits groups iteratively, so that deep nesting cannot overflow the stack.
    fn groups(&mut self, root: Id, object: Arc<Parsed>) -> Result<()> {
        let mut waiting =
            vec![Waiting { path: String::new(), id: root, object, is_hard: true, above: Vec::new() }];
        while let Some(Waiting { path, id, object, is_hard, mut above }) = waiting.pop() {
            self.push(Found { path: path.clone(), id, object, is_hard })?;
            above.push(id);
            match self.members(&path, id, is_hard, &above) {
                Ok(groups) => waiting.extend(groups.into_iter().rev()),
                Err(error)
                    if path.is_empty()
                        || matches!(error.kind(), ErrorKind::LimitExceeded | ErrorKind::OutOfMemory) =>
                {
                    return Err(error);
                }
                Err(error) => self.leave_out(&path, &error),
            }
        }
        Ok(())
    }

    fn leave_out(&mut self, path: &str, error: &Error) {
        self.left_out.push(LeftOut::new(format!("/{path}"), error));
    }

    /// Adds the datasets in a group, and returns its subgroups.
    fn members(&mut self, path: &str, group: Id, is_hard: bool, above: &[Id]) -> Result<Vec<Waiting>> {
        let members = self.files.members(group)?;
        let mut below = Vec::new();
        let mut names = HashSet::new();
        for link in &members.links {
            let name = lenient(&link.name);
            let path = joined(path, &name);
            let is_hard = is_hard && matches!(link.target, Target::Hard(_));
            let found = match refused_name(&name) {
                Some(reason) => Err(unsupported(reason)),
                None if !names.insert(name) => {
                    Err(unsupported("another link has this name in another encoding"))
                }
                None => self.object(group, link),
            };
            match found {
                Err(error) => {
                    self.leave_out(&path, &error);
                    self.list(path, group, link.target.clone());
                }
                Ok((id, object)) => match object.kind {
                    ObjectKind::Group if above.contains(&id) => {
                        let error = unsupported("it is a link to one of its parent groups");
                        self.leave_out(&path, &error);
                    }
                    ObjectKind::Group if above.len() >= DEEPEST => {
                        self.leave_out(
                            &path,
                            &unsupported(format!("groups are nested more than {DEEPEST} deep")),
                        );
                    }
                    ObjectKind::Group => {
                        below.push(Waiting { path, id, object, is_hard, above: above.to_vec() });
                    }
                    ObjectKind::Dataset(_) => self.push(Found { path, id, object, is_hard })?,
                    ObjectKind::Datatype(ref datatype) => {
                        self.datatype(&path, &object);
                        self.walked.types.push(Committed { path, id, datatype: datatype.clone() });
                    }
                },
            }
        }
        Ok(below)
    }

    /// Records the paths of a skipped object and all objects below it.
    fn list(&mut self, path: String, group: Id, target: Target) {
        let mut waiting = vec![(path, group, target)];
        while let Some((path, group, target)) = waiting.pop() {
            let is_hard = matches!(target, Target::Hard(_));
            let Some(id) = is_hard.then(|| self.files.follow(group, &target).ok()).flatten() else {
                continue;
            };
            if self.walked.unlisted.len() >= MOST_NODES || !self.listed.insert(id) {
                continue;
            }
            self.walked.unlisted.push((id, path.clone()));
            let is_group = self.files.object(id).is_ok_and(|object| matches!(object.kind, ObjectKind::Group));
            let Some(members) = is_group.then(|| self.files.members(id).ok()).flatten() else { continue };
            let below = |link: &Link| (joined(&path, &lenient(&link.name)), id, link.target.clone());
            waiting.extend(members.links.iter().map(below));
        }
    }

    fn object(&mut self, group: Id, link: &Link) -> Result<(Id, Arc<Parsed>)> {
        let id = self.files.follow(group, &link.target)?;
        Ok((id, self.files.object(id)?))
    }

    /// Records a committed datatype. Since each dataset also stores its datatype, only the attributes of the committed
    /// datatype are lost.
    fn datatype(&mut self, path: &str, object: &Parsed) {
        match &object.attributes {
            Ok(attributes) if attributes.is_empty() => {}
            Ok(_) => {
                let error = unsupported(
                    "Zarr has no committed types, so the attributes of this one cannot be stored",
                );
                self.leave_out(path, &error);
            }
            Err(error) => self.leave_out(path, error),
        }
    }

    fn push(&mut self, found: Found) -> Result<()> {
        if self.walked.nodes.len() >= MOST_NODES {
            let message = format!("the file has more than {MOST_NODES} nodes");
            return Err(Error::new(ErrorKind::LimitExceeded, message));
        }
        self.walked.nodes.push(found);
        Ok(())
    }
}

pub(super) fn joined(above: &str, name: &str) -> String {
    if above.is_empty() { name.to_owned() } else { format!("{above}/{name}") }
}
