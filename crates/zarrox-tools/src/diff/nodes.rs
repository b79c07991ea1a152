//! The differences between nodes, except those between elements.

use std::collections::{BTreeMap, BTreeSet};

use zarrox_core::json::{Json, Map};
use zarrox_core::{Error, Result};

use super::{Diff, Difference, DifferenceKind};
use crate::digest::names_and_attributes;
use zarrox::Array;
use zarrox::internals::Task;
use zarrox::{Group, Node};

/// A listener that is called with each difference.
type DifferenceListener<'a> = &'a mut dyn FnMut(Difference) -> Result<()>;

impl Diff {
    /// Compares two nodes with the same path, and all nodes below them.
    pub(super) fn nodes(
        &self,
        path: &str,
        left: &Node,
        right: &Node,
        work: &Task,
        listener: DifferenceListener<'_>,
    ) -> Result<()> {
        match (left, right) {
            (Node::Array(left), Node::Array(right)) => self.arrays(path, left, right, work, listener),
            (Node::Group(left), Node::Group(right)) => self.groups(path, left, right, work, listener),
            (Node::Array(_), Node::Group(_)) => {
                listener(at(path, DifferenceKind::Kind { left_is_array: true }))
            }
            (Node::Group(_), Node::Array(_)) => {
                listener(at(path, DifferenceKind::Kind { left_is_array: false }))
            }
        }
    }

    fn groups(
        &self,
        path: &str,
        left: &Group,
        right: &Group,
        work: &Task,
        listener: DifferenceListener<'_>,
    ) -> Result<()> {
        attributes(path, left.attributes(), right.attributes(), listener)?;
        let (mut left, mut right) = (children(left)?, children(right)?);
        let names: BTreeSet<String> = left.keys().chain(right.keys()).cloned().collect();
        for name in names {
            let below = format!("{path}/{name}");
            match (left.remove(&name), right.remove(&name)) {
                (Some(left), Some(right)) => {
                    let open =
                        |node: Result<Node>| node.map_err(|error: Error| error.at(format!("'{below}'")));
                    self.nodes(&below, &open(left)?, &open(right)?, work, listener)?;
                }
                (Some(_), None) => listener(at(&below, DifferenceKind::OnlyLeft))?,
                (None, Some(_)) => listener(at(&below, DifferenceKind::OnlyRight))?,
                (None, None) => {}
            }
        }
        Ok(())
    }

    fn arrays(
        &self,
        path: &str,
        left: &Array,
        right: &Array,
        work: &Task,
        listener: DifferenceListener<'_>,
    ) -> Result<()> {
        let ((left_names, left_attributes), (right_names, right_attributes)) =
            (names_and_attributes(left), names_and_attributes(right));
        attributes(path, &left_attributes, &right_attributes, listener)?;
        if left_names != right_names {
            let (left, right) = (Json::from(left_names), Json::from(right_names));
            listener(at(path, DifferenceKind::DimensionNames { left, right }))?;
        }
        if left.data_type() != right.data_type() {
            let (left, right) = (left.data_type().clone(), right.data_type().clone());
            listener(at(path, DifferenceKind::DataType { left, right }))?;
        } else if left.fill_bytes() != right.fill_bytes() {
            let text = |array: &Array| array.format_element(array.fill_bytes().as_bytes());
            listener(at(path, DifferenceKind::FillValue { left: text(left)?, right: text(right)? }))?;
        }
        if left.shape() != right.shape() {
            let (left, right) = (left.shape().to_vec(), right.shape().to_vec());
            return listener(at(path, DifferenceKind::Shape { left, right }));
        }
        if self.metadata_only || !can_compare(left, right) {
            return Ok(());
        }
        let values = self.values(left, right, work).map_err(|error| error.at(format!("'{path}/'")))?;
        if values.count > 0 { listener(at(path, DifferenceKind::Values(values))) } else { Ok(()) }
    }
}

/// Returns true if both arrays have the same data type, or both data types are numeric.
fn can_compare(left: &Array, right: &Array) -> bool {
    use zarrox_core::data_type::Storage::{Bool, Float, Int, Uint};
    let is_number = |array: &Array| {
        matches!(array.data_type().storage(), Bool | Int(_) | Uint(_) | Float(_))
            && array.data_type().fields().is_none()
    };
    left.data_type() == right.data_type() || (is_number(left) && is_number(right))
}

fn children(group: &Group) -> Result<BTreeMap<String, Result<Node>>> {
    Ok(group.children()?.into_iter().map(|child| (child.name, child.node)).collect())
}

fn attributes(path: &str, left: &Map, right: &Map, listener: DifferenceListener<'_>) -> Result<()> {
    let names: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
    for name in names {
        let (left, right) = (left.get(name).cloned(), right.get(name).cloned());
        if left != right {
            listener(at(path, DifferenceKind::Attribute { name: name.clone(), left, right }))?;
        }
    }
    Ok(())
}

fn at(path: &str, kind: DifferenceKind) -> Difference {
    let path = if path.is_empty() { "/" } else { path };
    Difference { path: path.to_owned(), kind }
}
