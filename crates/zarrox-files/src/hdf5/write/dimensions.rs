//! Dimensions of NetCDF: where each is defined, and the dataset that is its scale.

use std::collections::HashMap;

use zarrox::Result;

use crate::input::unsupported;

/// A dimension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Dimension {
    pub(super) name: String,
    pub(super) length: u64,
    /// The group that defines it, by its path.
    pub(super) group: String,
    /// The array that is its coordinate, by its number.
    pub(super) coordinate: Option<usize>,
}

/// An array as far as its dimensions go.
#[derive(Debug, Clone)]
pub(super) struct Shaped {
    /// The path of the group that it is in.
    pub(super) group: String,
    pub(super) name: String,
    pub(super) shape: Vec<u64>,
    pub(super) names: Vec<Option<String>>,
}

/// The dimensions of a file, and those of each array, by their numbers.
#[derive(Debug, Default)]
pub(super) struct Dimensions {
    pub(super) all: Vec<Dimension>,
    pub(super) of_arrays: Vec<Vec<Option<usize>>>,
    /// The numbers of dimensions by the group that defines them and their names.
    places: HashMap<(String, String), usize>,
}

impl Dimensions {
    /// The dimensions of arrays, those of outer groups first. With `complete`, each dimension gets a name, and two lengths of one name
    /// in a group are an error; otherwise only coordinates are dimensions.
    pub(super) fn new(arrays: &[Shaped], complete: bool) -> Result<Self> {
        let mut dimensions = Self { of_arrays: vec![Vec::new(); arrays.len()], ..Self::default() };
        // Coordinates first, so that arrays below find them.
        for (number, array) in arrays.iter().enumerate() {
            if let ([length], [Some(name)]) = (array.shape.as_slice(), array.names.as_slice())
                && *name == array.name
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
            dimensions.of_arrays[number] = of_array.collect::<Result<_>>()?;
        }
        Ok(dimensions)
    }

    fn define(&mut self, group: &str, name: &str, length: u64, coordinate: Option<usize>) -> usize {
        let number = self.all.len();
        self.places.insert((group.to_owned(), name.to_owned()), number);
        self.all.push(Dimension { name: name.to_owned(), length, group: group.to_owned(), coordinate });
        number
    }

    /// The dimension of an array with this name, which may be one of a group above.
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
                    "array '{}' has the length {length} along the dimension '{name}', whose length is {other} elsewhere in its \
                     group; zarrox rename-dim gives it another name",
                    array.name
                )));
            }
        }
        Ok(complete.then(|| self.define(&array.group, name, length, None)))
    }

    /// A dimension of this length that has no name.
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

fn depth(group: &str) -> usize {
    if group.is_empty() { 0 } else { 1 + group.matches('/').count() }
}

/// A group and those above it, from the innermost outwards.
fn above(group: &str) -> impl Iterator<Item = &str> {
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
        let found = Dimensions::new(&arrays, true).unwrap();
        assert_eq!(found.all.len(), 2);
        assert_eq!(found.of_arrays[0], [Some(0), Some(1)]);
        assert_eq!((found.all[0].group.as_str(), found.all[0].coordinate), ("", Some(1)));
    }

    #[test]
    fn a_dimension_has_one_length_in_a_group() {
        let arrays = [shaped("a", &[3], &["x"]), shaped("b", &[4], &["x"])];
        assert!(Dimensions::new(&arrays, true).unwrap_err().to_string().contains("rename-dim"));
        let apart = [shaped("a", &[3], &["x"]), shaped("g/b", &[4], &["x"])];
        assert_eq!(Dimensions::new(&apart, true).unwrap().all.len(), 2);
        assert_eq!(Dimensions::new(&arrays, false).unwrap().all.len(), 0);
    }
}
