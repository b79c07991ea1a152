//! [`Inventory`]: the number of objects in a file, which can be compared with the result of an import.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::AddAssign;

use zarrox::json::Map;

use crate::fill::FILL_VALUE;

/// Attributes that some formats represent differently: `_FillValue` corresponds to the fill value in Zarr v2, and
/// `_ARRAY_DIMENSIONS` contains the dimension names, which are part of the metadata in Zarr v3.
const EXPRESSED: [&str; 2] = [crate::ARRAY_DIMENSIONS, FILL_VALUE];

/// Returns the number of attributes, excluding those that some formats represent differently.
pub(crate) fn counted(attributes: &Map) -> usize {
    attributes.keys().filter(|name| !EXPRESSED.contains(&name.as_str())).count()
}

/// The number of objects in a file or below one of its nodes. Skipped parts are not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Inventory {
    /// The number of groups, including the root.
    pub groups: u64,
    /// The number of arrays.
    pub arrays: u64,
    /// The number of attributes of all nodes, excluding those that some formats represent differently, such as dimension names.
    pub attributes: u64,
    /// The number of elements of all arrays, including elements that are not stored.
    pub elements: u64,
}

impl Inventory {
    /// Returns the inventory of a single group.
    pub(crate) fn group(attributes: usize) -> Self {
        Self { groups: 1, attributes: attributes as u64, ..Self::default() }
    }

    /// Returns the inventory of a single array.
    pub(crate) fn array(attributes: usize, shape: &[u64]) -> Self {
        let elements = shape.iter().fold(1_u64, |count, &length| count.saturating_mul(length));
        Self { arrays: 1, attributes: attributes as u64, elements, ..Self::default() }
    }
}

impl fmt::Display for Inventory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = [
            (self.groups, "group", "groups"),
            (self.arrays, "array", "arrays"),
            (self.attributes, "attribute", "attributes"),
            (self.elements, "element", "elements"),
        ];
        let counted =
            counted.map(|(count, one, many)| format!("{count} {}", if count == 1 { one } else { many }));
        f.write_str(&counted.join(", "))
    }
}

impl AddAssign for Inventory {
    fn add_assign(&mut self, other: Self) {
        self.groups += other.groups;
        self.arrays += other.arrays;
        self.attributes += other.attributes;
        self.elements = self.elements.saturating_add(other.elements);
    }
}

/// The number of objects in a file, by node path.
#[derive(Debug, Clone, Default)]
pub(crate) struct Inventories(BTreeMap<String, Inventory>);

impl Inventories {
    /// Adds a node. The path has no leading slash.
    pub(crate) fn add(&mut self, path: &str, node: Inventory) {
        self.0.insert(path.to_owned(), node);
    }

    /// Returns the counts for the imported nodes; `None` if nothing was counted.
    pub(crate) fn among(&self, is_wanted: impl Fn(&str) -> bool) -> Option<Self> {
        let wanted = self.0.iter().filter(|(path, _)| is_wanted(path));
        (!self.0.is_empty()).then(|| Self(wanted.map(|(path, found)| (path.clone(), *found)).collect()))
    }

    /// Returns the nodes with their counts.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Inventory)> {
        self.0.iter().map(|(path, found)| (path.as_str(), found))
    }

    /// Returns the total over all nodes.
    pub(crate) fn sum(&self) -> Inventory {
        let mut sum = Inventory::default();
        self.0.values().for_each(|&found| sum += found);
        sum
    }

    /// Returns the total for a node and all nodes below it; `None` if nothing was counted.
    pub(crate) fn below(&self, node: &str) -> Option<Inventory> {
        if self.0.is_empty() {
            return None;
        }
        let node = node.trim_matches('/');
        let is_below = |path: &str| {
            node.is_empty()
                || path == node
                || path.strip_prefix(node).is_some_and(|rest| rest.starts_with('/'))
        };
        let mut sum = Inventory::default();
        self.0.iter().filter(|(path, _)| is_below(path)).for_each(|(_, &found)| sum += found);
        Some(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_counted_below_a_node() {
        let mut all = Inventories::default();
        assert_eq!(all.below(""), None);
        all.add("", Inventory::group(2));
        all.add("a", Inventory::group(0));
        all.add("a/b", Inventory::array(1, &[2, 3]));
        all.add("ab", Inventory::array(0, &[u64::MAX, 2]));
        let whole = all.below("/").unwrap();
        assert_eq!((whole.groups, whole.arrays, whole.attributes, whole.elements), (2, 2, 3, u64::MAX));
        let part = all.below("/a/").unwrap();
        assert_eq!((part.groups, part.arrays, part.attributes, part.elements), (1, 1, 1, 6));
        assert_eq!(all.below("a/b").unwrap().elements, 6);
    }
}
