//! All nodes of a file.

use hdf5_reader::Dataset;
use hdf5_reader::group::Group;
use hdf5_reader::messages::attribute::AttributeMessage;
use zarrox::{Error, ErrorKind, Result};

use super::error::damaged;
use crate::store::LeftOut;

/// The most nodes of a file. Links can make a small file look endless.
const MOST_NODES: usize = 1 << 18;

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

/// The nodes of a file, each group before what is in it. What several links lead to is met several times, but a group is not met
/// inside of itself.
pub(super) fn walk(root: &Group, left_out: &mut Vec<LeftOut>) -> Result<Vec<Found>> {
    let mut walk = Walk { nodes: Vec::new(), left_out };
    walk.groups(root.clone())?;
    Ok(walk.nodes)
}

/// The attributes of a dataset as they are stored.
pub(super) fn collected(dataset: &Dataset) -> Result<Vec<AttributeMessage>> {
    let list = dataset.raw_attributes().map_err(damaged)?;
    Ok(list.into_iter().map(|raw| raw.into_parts().0).collect())
}

struct Walk<'l> {
    nodes: Vec<Found>,
    left_out: &'l mut Vec<LeftOut>,
}

/// A group that is to be walked through.
struct Waiting {
    path: String,
    group: Group,
    /// The addresses of the groups above it.
    above: Vec<u64>,
}

impl Walk<'_> {
    /// Walks through groups one after the other, so that nested ones take no stack.
    fn groups(&mut self, root: Group) -> Result<()> {
        let mut waiting = vec![Waiting { path: String::new(), group: root, above: Vec::new() }];
        while let Some(Waiting { path, group, mut above }) = waiting.pop() {
            above.push(group.address());
            match self.members(&path, &group, &above) {
                Ok(groups) => waiting.extend(groups.into_iter().rev()),
                Err(error) if path.is_empty() || error.kind() == ErrorKind::LimitExceeded => {
                    return Err(error);
                }
                Err(error) => self.leave_out(&path, error.to_string()),
            }
        }
        Ok(())
    }

    fn leave_out(&mut self, path: &str, reason: impl Into<String>) {
        self.left_out.push(LeftOut { path: format!("/{path}"), reason: reason.into() });
    }

    /// Adds a group and the datasets in it. Returns the groups in it.
    fn members(&mut self, path: &str, group: &Group, above: &[u64]) -> Result<Vec<Waiting>> {
        let attributes = group.raw_attributes().map_err(damaged)?;
        let attributes = attributes.into_iter().map(|raw| raw.into_parts().0).collect();
        self.push(path.to_owned(), Object::Group(group.clone(), attributes))?;
        let (groups, datasets) = group.member_names().map_err(damaged)?;
        let mut below = Vec::new();
        for name in groups {
            let path = joined(path, &name);
            match group.group(&name) {
                Err(error) => self.leave_out(&path, error.to_string()),
                Ok(child) if above.contains(&child.address()) => {
                    self.leave_out(&path, "it is another name of a group that it lies in");
                }
                Ok(group) => below.push(Waiting { path, group, above: above.to_vec() }),
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
