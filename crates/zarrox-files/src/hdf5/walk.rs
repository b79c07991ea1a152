//! All nodes of a file.

use std::collections::HashSet;

use hdf5_reader::messages::attribute::AttributeMessage;
use hdf5_reader::Dataset;
use hdf5_reader::group::Group;
use zarrox::{Error, ErrorKind, Result};

use super::damaged;
use crate::store::LeftOut;

/// The most nodes of a file. Links can make a small file look endless.
const MOST_NODES: usize = 1 << 20;

/// A node of a file.
pub(super) struct Found {
    /// The path without a slash at its beginning; empty for the root.
    pub(super) path: String,
    pub(super) object: Object,
}

/// The object that a node is.
pub(super) enum Object {
    /// A group with its attributes.
    Group(Group, Vec<AttributeMessage>),
    Dataset(Box<Dataset>),
}

impl Found {
    /// The address of the object.
    pub(super) fn address(&self) -> u64 {
        match &self.object {
            Object::Group(group, _) => group.address(),
            Object::Dataset(dataset) => dataset.address(),
        }
    }
}

/// The nodes of a file, each group before what is in it. A group that several links lead to is met once.
pub(super) fn walk(root: &Group, left_out: &mut Vec<LeftOut>) -> Result<Vec<Found>> {
    let mut walk = Walk { nodes: Vec::new(), seen: HashSet::new(), left_out };
    walk.seen.insert(root.address());
    walk.group("", root.clone())?;
    Ok(walk.nodes)
}

struct Walk<'l> {
    nodes: Vec<Found>,
    /// The addresses of groups.
    seen: HashSet<u64>,
    left_out: &'l mut Vec<LeftOut>,
}

impl Walk<'_> {
    /// Walks through groups one after the other, so that nested ones take no stack.
    fn group(&mut self, path: &str, group: Group) -> Result<()> {
        let mut waiting = vec![(path.to_owned(), group)];
        while let Some((path, group)) = waiting.pop() {
            match self.members(&path, &group) {
                Ok(groups) => waiting.extend(groups.into_iter().rev()),
                Err(error) if path.is_empty() || error.kind() == ErrorKind::LimitExceeded => return Err(error),
                Err(error) => self.leave_out(&path, error.to_string()),
            }
        }
        Ok(())
    }

    fn leave_out(&mut self, path: &str, reason: impl Into<String>) {
        self.left_out.push(LeftOut { path: format!("/{path}"), reason: reason.into() });
    }

    /// Adds a group and the datasets in it. Returns the groups in it.
    fn members(&mut self, path: &str, group: &Group) -> Result<Vec<(String, Group)>> {
        let attributes = group.raw_attributes().map_err(damaged)?;
        let attributes = attributes.into_iter().map(|raw| raw.into_parts().0).collect();
        self.push(path.to_owned(), Object::Group(group.clone(), attributes))?;
        let (groups, datasets) = group.member_names().map_err(damaged)?;
        let mut below = Vec::new();
        for name in groups {
            let path = joined(path, &name);
            match group.group(&name) {
                Err(error) => self.leave_out(&path, error.to_string()),
                Ok(child) if self.seen.insert(child.address()) => below.push((path, child)),
                Ok(_) => self.leave_out(&path, "it is another name of a group that has one already"),
            }
        }
        for name in datasets {
            let path = joined(path, &name);
            match group.dataset(&name) {
                Err(error) => self.leave_out(&path, error.to_string()),
                Ok(dataset) => self.push(path, Object::Dataset(Box::new(dataset)))?,
            }
        }
        Ok(below)
    }

    fn push(&mut self, path: String, object: Object) -> Result<()> {
        if self.nodes.len() >= MOST_NODES {
            let message = format!("the file has more than {MOST_NODES} nodes");
            return Err(Error::new(ErrorKind::LimitExceeded, message));
        }
        self.nodes.push(Found { path, object });
        Ok(())
    }
}

fn joined(above: &str, name: &str) -> String {
    if above.is_empty() { name.to_owned() } else { format!("{above}/{name}") }
}
