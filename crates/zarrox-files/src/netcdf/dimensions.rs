//! NetCDF dimensions: for each dimension, the group that defines it and the dataset that is its scale.

use std::collections::HashMap;

use zarrox::{Error, Result};

use crate::input::unsupported;

/// A dimension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dimension {
    pub(crate) name: String,
    pub(crate) length: u64,
    /// The path of the group that defines the dimension.
    pub(crate) group: String,
    /// The index of its coordinate array.
    pub(crate) coordinate: Option<usize>,
    /// True if arrays can grow along the dimension.
    pub(crate) is_unlimited: bool,
}

/// The dimension-related properties of an array.
#[derive(Debug, Clone)]
pub(crate) struct Shaped {
    /// The path of the group of the array.
    pub(crate) group: String,
    pub(crate) name: String,
    pub(crate) shape: Vec<u64>,
    pub(crate) names: Vec<Option<String>>,
}

/// A dimension that is declared in attributes or options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DeclaredDimension {
    /// The path of the group that defines the dimension.
    pub(crate) group: String,
    pub(crate) name: String,
    pub(crate) length: u64,
    pub(crate) is_unlimited: bool,
}

/// The dimensions of a file, and the indices of the dimensions of each array.
#[derive(Debug, Default)]
pub(crate) struct Dimensions {
    pub(crate) all: Vec<Dimension>,
    pub(crate) of_arrays: Vec<Vec<Option<usize>>>,
    /// The indices of dimensions, by group and name.
    places: HashMap<(String, String), usize>,
}

/// An array whose dimensions conflict with those of other arrays.
#[derive(Debug)]
pub(crate) struct Conflict {
    /// The index of the array.
    pub(crate) array: usize,
    pub(crate) error: Error,
}

impl Dimensions {
    /// Returns the dimensions of arrays: first declared dimensions, then dimensions with a coordinate, then all others,
    /// starting with those of outer groups. If `complete` is true, each dimension receives a name, and a name with two
    /// lengths in the same group is an error. Otherwise, only coordinates define dimensions.
    ///
    /// A dimension has the length of its coordinate or of its arrays, even if `told` declares another length.
    pub(crate) fn new(
        arrays: &[Shaped],
        told: &[DeclaredDimension],
        complete: bool,
    ) -> Result<Self, Conflict> {
        let mut dimensions = Self { of_arrays: vec![Vec::new(); arrays.len()], ..Self::default() };
        let coordinates = coordinates(arrays);
        let lengths = lengths(arrays, told);
        let key = |told: &DeclaredDimension| (told.group.clone(), told.name.clone());
        for found in told.iter().filter(|found| complete || coordinates.contains_key(&key(found))) {
            if dimensions.places.contains_key(&key(found)) {
                continue;
            }
            let coordinate = coordinates.get(&key(found)).copied();
            let own = coordinate.and_then(|number| arrays[number].shape.first());
            let length = own.or_else(|| lengths.get(&key(found))).copied().unwrap_or(found.length);
            let number = dimensions.define(&found.group, &found.name, length, coordinate);
            dimensions.all[number].is_unlimited |= found.is_unlimited;
        }
        // Coordinates come first, so that arrays in subgroups can refer to them.
        for (number, array) in arrays.iter().enumerate() {
            let is_known =
                |name: &String| dimensions.places.contains_key(&(array.group.clone(), name.clone()));
            if let ([length], [Some(name)]) = (array.shape.as_slice(), array.names.as_slice())
                && *name == array.name
                && !is_known(name)
            {
                dimensions.define(&array.group, name, *length, Some(number));
            }
        }
        let mut order: Vec<usize> = (0..arrays.len()).collect();
        order.sort_by_key(|&number| depth(&arrays[number].group));
        for number in order {
            let array = &arrays[number];
            let of_array = array.shape.iter().zip(&array.names);
            let of_array =
                of_array.map(|(&length, name)| dimensions.find(array, name.as_deref(), length, complete));
            let of_array =
                of_array.collect::<Result<_>>().map_err(|error| Conflict { array: number, error })?;
            dimensions.of_arrays[number] = of_array;
        }
        Ok(dimensions)
    }

    fn define(&mut self, group: &str, name: &str, length: u64, coordinate: Option<usize>) -> usize {
        let number = self.all.len();
        self.places.insert((group.to_owned(), name.to_owned()), number);
        // A dimension of length 0 must be unlimited.
        let is_unlimited = length == 0;
        let (name, group) = (name.to_owned(), group.to_owned());
        self.all.push(Dimension { name, length, group, coordinate, is_unlimited });
        number
    }

    /// Returns the dimension with the given name for an array. It may be defined in an ancestor group.
    fn find(
        &mut self,
        array: &Shaped,
        name: Option<&str>,
        length: u64,
        complete: bool,
    ) -> Result<Option<usize>> {
        let Some(name) = name else {
            return Ok(complete.then(|| self.without_name(&array.group, length)));
        };
        for group in above(&array.group) {
            let found = self.places.get(&(group.to_owned(), name.to_owned())).copied();
            let Some(found) = found else { continue };
            if self.all[found].length == length {
                return Ok(Some(found));
            }
            if group == array.group && complete {
                let other = self.all[found].length;
                return Err(unsupported(format!(
                    "array '{}' has length {length} along the dimension '{name}', but the length is {other} elsewhere in its \
                     group; zarrox rename-dim gives it another name",
                    array.name
                )));
            }
        }
        Ok(complete.then(|| self.define(&array.group, name, length, None)))
    }

    /// Returns the dimension that is shared by all unnamed dimensions of the given length.
    fn without_name(&mut self, group: &str, length: u64) -> usize {
        let name = format!("dim_{length}");
        let known =
            above(group).find_map(|group| self.places.get(&(group.to_owned(), name.clone())).copied());
        match known.filter(|&found| self.all[found].length == length) {
            Some(found) => found,
            None => self.define(group, &name, length, None),
        }
    }
}

/// Returns the indices of the arrays that are coordinates, by group and name.
fn coordinates(arrays: &[Shaped]) -> HashMap<(String, String), usize> {
    let is_coordinate =
        |array: &Shaped| matches!(array.names.as_slice(), [Some(name)] if *name == array.name);
    let arrays = arrays.iter().enumerate().filter(|(_, array)| is_coordinate(array));
    arrays.map(|(number, array)| ((array.group.clone(), array.name.clone()), number)).collect()
}

/// Returns the lengths of the dimensions in `told`: the declared length if any array has it, otherwise the length in the
/// first array.
fn lengths(arrays: &[Shaped], told: &[DeclaredDimension]) -> HashMap<(String, String), u64> {
    let told: HashMap<(&str, &str), u64> =
        told.iter().map(|found| ((found.group.as_str(), found.name.as_str()), found.length)).collect();
    let mut lengths = HashMap::new();
    for array in arrays {
        for (&length, name) in array.shape.iter().zip(&array.names) {
            let Some(name) = name.as_deref() else { continue };
            let group = above(&array.group).find(|group| told.contains_key(&(*group, name)));
            let Some(group) = group else { continue };
            let entry = lengths.entry((group.to_owned(), name.to_owned())).or_insert(length);
            if told.get(&(group, name)) == Some(&length) {
                *entry = length;
            }
        }
    }
    lengths
}

fn depth(group: &str) -> usize {
    if group.is_empty() { 0 } else { 1 + group.matches('/').count() }
}

/// Returns a group and its ancestors, from the inside out.
pub(crate) fn above(group: &str) -> impl Iterator<Item = &str> {
    let mut next = Some(group);
    std::iter::from_fn(move || {
        let group = next?;
        next = match group {
            "" => None,
            _ => Some(group.rsplit_once('/').map_or("", |(above, _)| above)),
        };
        Some(group)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shaped(path: &str, shape: &[u64], names: &[&str]) -> Shaped {
        let (group, name) = path.rsplit_once('/').unwrap_or(("", path));
        let names =
            names.iter().map(|name| Some((*name).to_owned()).filter(|name| !name.is_empty())).collect();
        Shaped { group: group.to_owned(), name: name.to_owned(), shape: shape.to_vec(), names }
    }

    #[test]
    fn dimensions_are_found_in_groups_above() {
        let arrays =
            [shaped("g/h/v", &[3, 4], &["x", "y"]), shaped("x", &[3], &["x"]), shaped("g/y", &[4], &["y"])];
        let found = Dimensions::new(&arrays, &[], true).unwrap();
        assert_eq!(found.all.len(), 2);
        assert_eq!(found.of_arrays[0], [Some(0), Some(1)]);
        assert_eq!((found.all[0].group.as_str(), found.all[0].coordinate), ("", Some(1)));
    }

    #[test]
    fn a_dimension_has_one_length_in_a_group() {
        let arrays = [shaped("a", &[3], &["x"]), shaped("b", &[4], &["x"])];
        assert!(Dimensions::new(&arrays, &[], true).unwrap_err().error.to_string().contains("rename-dim"));
        let apart = [shaped("a", &[3], &["x"]), shaped("g/b", &[4], &["x"])];
        assert_eq!(Dimensions::new(&apart, &[], true).unwrap().all.len(), 2);
        assert_eq!(Dimensions::new(&arrays, &[], false).unwrap().all.len(), 0);
    }
}
