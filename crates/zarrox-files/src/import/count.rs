//! [`Counted`]: the number of objects in a copy, for comparison with the source.

use std::collections::BTreeMap;

use zarrox::{Error, ErrorKind, Node, Result};

use crate::inventory::{Inventories, Inventory, counted};

/// The number of objects in a hierarchy, by node.
#[derive(Debug)]
pub(crate) struct Counted(BTreeMap<String, Inventory>);

impl Counted {
    /// Counts the objects of a node and all nodes below it. Only metadata is read.
    pub(crate) fn of(node: &Node) -> Result<Self> {
        let mut all = BTreeMap::new();
        let mut add = |path: &str, node: &Node| {
            all.insert(path.to_owned(), of_node(node));
        };
        add("", node);
        if let Node::Group(group) = node {
            group.visit(&mut |path, node| {
                let node = node.as_ref().map_err(|error| error.clone().at(format!("/{path}")))?;
                add(path, node);
                Ok(())
            })?;
        }
        Ok(Self(all))
    }

    /// Returns the total over all nodes.
    pub(crate) fn sum(&self) -> Inventory {
        let mut sum = Inventory::default();
        self.0.values().for_each(|&found| sum += found);
        sum
    }

    /// Returns the counts for the imported nodes.
    pub(crate) fn among(&self, is_wanted: impl Fn(&str) -> bool) -> Inventories {
        let mut wanted = Inventories::default();
        self.0.iter().filter(|(path, _)| is_wanted(path)).for_each(|(path, &found)| wanted.add(path, found));
        wanted
    }

    /// Checks that the copy of a node is complete. Nodes for which `is_excused` returns true may be incomplete, since
    /// their losses have already been reported.
    pub(crate) fn check(
        &self,
        source: &Inventories,
        base: &str,
        is_excused: &dyn Fn(&str) -> bool,
    ) -> Result<()> {
        let mut problems = Vec::new();
        for (path, expected) in source.iter() {
            let inside = path.strip_prefix(base).map(|inside| inside.trim_start_matches('/'));
            let Some(inside) = inside.filter(|inside| !is_excused(inside)) else { continue };
            let found = self.0.get(inside).copied().unwrap_or_default();
            // The copy may have additional attributes, such as dimension names.
            let is_complete = (found.groups, found.arrays, found.elements)
                == (expected.groups, expected.arrays, expected.elements)
                && found.attributes >= expected.attributes;
            if !is_complete {
                problems.push(format!("/{path}: the source has {expected}, and the copy {found}"));
            }
        }
        if problems.is_empty() {
            return Ok(());
        }
        const MOST: usize = 10;
        let more = problems.len().saturating_sub(MOST);
        problems.truncate(MOST);
        if more > 0 {
            problems.push(format!("and {more} more"));
        }
        let message = format!(
            "the copy is incomplete although no error occurred; keep the source and report this bug:\n  {}",
            problems.join("\n  ")
        );
        Err(Error::new(ErrorKind::Corrupt, message))
    }
}

fn of_node(node: &Node) -> Inventory {
    match node {
        Node::Array(array) => Inventory::array(counted(array.attributes()), array.shape()),
        Node::Group(group) => Inventory::group(counted(group.attributes())),
    }
}

/// Checks that a hierarchy has a node.
pub(crate) fn check_exists(root: &Node, path: &str) -> Result<()> {
    let exists = match root {
        Node::Array(_) => path.is_empty(),
        Node::Group(group) => group.contains(path)?,
    };
    if exists {
        return Ok(());
    }
    Err(Error::new(ErrorKind::NotFound, format!("the file has no node '{path}'")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_that_lacks_an_object_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let root = zarrox::create_group(directory.path().join("a")).unwrap();
        root.create_array("x").shape([2, 3]).data_type(zarrox::DataType::Int8).create().unwrap();
        let counted = Counted::of(&Node::Group(root)).unwrap();
        assert_eq!(counted.sum().elements, 6);
        let check = |path: &str, inventory| {
            let mut source = Inventories::default();
            source.add(path, inventory);
            counted.check(&source, "", &|path| path == "excused")
        };
        check("x", Inventory::array(0, &[6])).unwrap();
        check("excused", Inventory::array(0, &[7])).unwrap();
        for (path, inventory) in [
            ("x", Inventory::array(0, &[7])),
            ("x", Inventory::array(1, &[6])),
            ("x", Inventory::group(0)),
            ("y", Inventory::group(0)),
            ("", Inventory::group(1)),
        ] {
            let error = check(path, inventory).unwrap_err();
            assert!(error.to_string().contains("incomplete"), "{error}");
        }
    }
}
