//! The hierarchy to write: its groups and arrays in order, its dimensions, and its user-defined types.

use std::collections::{HashMap, HashSet};

use zarrox::internals::ErrorPlace;
use zarrox::json::Map;
use zarrox::{Array, Error, ErrorKind, Node, Result};

use super::array::Source;
use super::attributes::{Attributes, Elements};
use super::names;
use super::options::{Convention, Options};
use super::path::{name, parent};
use super::user_types::UserTypes;
use crate::input::unsupported;
use crate::netcdf::{DeclaredDimension, Dimensions, Hints, Kind, Shaped, above};

/// A group and its attributes.
pub(super) struct PlannedGroup {
    pub(super) path: String,
    pub(super) attributes: Attributes,
}

/// The hierarchy to write.
pub(super) struct Tree {
    pub(super) groups: Vec<PlannedGroup>,
    pub(super) arrays: Vec<Source>,
    pub(super) dimensions: Dimensions,
    pub(super) types: UserTypes,
    /// The index of the user-defined type of each array, if it has one.
    pub(super) types_of_arrays: Vec<Option<usize>>,
    /// True if the file is marked as following the classic NetCDF data model.
    pub(super) is_classic: bool,
}

/// The nodes found so far.
#[derive(Default)]
struct Found {
    groups: Vec<(String, Map)>,
    arrays: Vec<(String, Array)>,
}

impl Tree {
    /// Plans the hierarchy for a node and all nodes below it. A node that the format cannot represent is skipped or is an
    /// error, depending on the options.
    pub(super) fn of(node: &Node, options: &Options<'_>) -> Result<Self> {
        let mut found = Found::of(node, options)?;
        let hints: HashMap<String, Hints> =
            found.groups.iter().map(|(path, attributes)| (path.clone(), Hints::of(attributes))).collect();
        found.sort(&hints);
        let groups = found.groups.iter().map(|(path, attributes)| {
            let attributes = Attributes::new(path, attributes, Elements::None, options)?;
            Ok(PlannedGroup { path: path.clone(), attributes })
        });
        let groups = groups.collect::<Result<Vec<PlannedGroup>>>()?;
        let mut arrays = Vec::new();
        for (path, array) in found.arrays {
            match Source::new(path.clone(), array, options) {
                Ok(source) => arrays.push(source),
                Err(error) => leave_out(options, &path, error)?,
            }
        }
        let told: Vec<DeclaredDimension> =
            groups.iter().flat_map(|group| told(&group.path, &hints)).collect();
        let dimensions = laid_out(&mut arrays, &told, options)?;
        check_unlimited(&arrays, &dimensions, options)?;
        let mut tree = Self {
            groups,
            arrays,
            dimensions,
            types: UserTypes::default(),
            types_of_arrays: Vec::new(),
            is_classic: false,
        };
        tree.define_types()?;
        tree.is_classic = tree.has_classic_model(hints.get("").and_then(|root| root.kind));
        Ok(tree)
    }

    /// Defines the user-defined types of arrays.
    fn define_types(&mut self) -> Result<()> {
        let arrays = self.arrays.iter().map(|array| array.path.as_str());
        let groups = self.groups.iter().map(|group| group.path.as_str());
        let mut taken: HashSet<(String, String)> = arrays
            .chain(groups)
            .filter_map(|path| Some((parent(path)?.to_owned(), name(path).to_owned())))
            .collect();
        taken.extend(self.dimensions.all.iter().map(|found| (found.group.clone(), found.name.clone())));
        for array in &self.arrays {
            if let Some(wanted) = array.user_type.as_deref().map(name) {
                self.types.want(&array.datatype, wanted);
            }
        }
        for array in &self.arrays {
            let Some(wanted) = &array.user_type else {
                self.types_of_arrays.push(None);
                continue;
            };
            // Only an ancestor group that is written can define the type of the array.
            let group = parent(wanted).filter(|group| {
                !group.is_empty()
                    && above(parent(&array.path).unwrap_or_default()).any(|found| found == *group)
            });
            let (group, wanted) = (group.unwrap_or_default(), name(wanted));
            let is_taken = |name: &str| {
                taken.contains(&(group.to_owned(), name.to_owned()))
                    || names::check(name, Convention::NetCdf).is_err()
            };
            let types = &mut self.types;
            let number = match types.add_elements(group, wanted, array.array.data_type(), &is_taken)? {
                Some(number) => number,
                None => types.add(group, wanted, &array.datatype, &is_taken),
            };
            self.types_of_arrays.push(Some(number));
        }
        Ok(())
    }

    /// Returns true if the source followed the classic data model and the hierarchy still does: it has a single group,
    /// only NetCDF-3 types, and at most one unlimited dimension, which is the first dimension of its arrays.
    fn has_classic_model(&self, kind: Option<Kind>) -> bool {
        let growing = self.dimensions.all.iter().filter(|dimension| dimension.is_unlimited).count();
        kind.is_some_and(|kind| kind != Kind::NetCdf4)
            && self.groups.len() == 1
            && growing <= 1
            && self.groups.iter().all(|group| group.attributes.are_classic())
            && self.arrays.iter().all(Source::is_classic)
    }
}

impl Found {
    fn of(node: &Node, options: &Options<'_>) -> Result<Self> {
        let mut found = Self::default();
        match node {
            Node::Array(array) => {
                found.groups.push((String::new(), Map::default()));
                let name = array.path().name();
                found.arrays.push((if name.is_empty() { "data" } else { name }.to_owned(), array.clone()));
            }
            Node::Group(group) => {
                found.groups.push((String::new(), group.attributes().clone()));
                group.visit(&mut |path, node| match node {
                    Ok(Node::Group(group)) => {
                        found.groups.push((path.to_owned(), group.attributes().clone()));
                        Ok(())
                    }
                    Ok(Node::Array(array)) => {
                        found.arrays.push((path.to_owned(), array.clone()));
                        Ok(())
                    }
                    Err(error) => options.leave_out(path, error.clone().at(path)),
                })?;
            }
        }
        found.check_names(options)?;
        Ok(found)
    }

    /// Skips groups whose names the format does not allow, with all their members.
    fn check_names(&mut self, options: &Options<'_>) -> Result<()> {
        let mut refused: HashSet<String> = HashSet::new();
        for (path, _) in &self.groups {
            if above(path).any(|group| refused.contains(group)) {
                continue;
            }
            if let Some(Err(error)) = parent(path).map(|_| checked(path, options)) {
                options.leave_out(path, error.at(ErrorPlace::group(path)))?;
                refused.insert(path.clone());
            }
        }
        let is_kept = |path: &str| !above(path).any(|group| refused.contains(group));
        self.groups.retain(|(path, _)| is_kept(path));
        self.arrays.retain(|(path, _)| is_kept(path));
        Ok(())
    }

    /// Sorts groups and arrays by the order that attributes define. Nodes that the attributes do not list follow, sorted by name.
    fn sort(&mut self, hints: &HashMap<String, Hints>) {
        let ranks = |names: fn(&Hints) -> &Vec<String>| -> HashMap<(&str, &str), usize> {
            let ranks = hints.iter().flat_map(|(group, hints)| {
                names(hints).iter().enumerate().map(|(rank, name)| ((group.as_str(), name.as_str()), rank))
            });
            ranks.collect()
        };
        let (variables, groups) = (ranks(|hints| &hints.variables), ranks(|hints| &hints.groups));
        // The ranks of a node and its ancestors, so that members are sorted together with their groups.
        let way = |path: &str| {
            let mut way: Vec<(usize, String)> = above(path)
                .filter_map(|group| {
                    let key = (parent(group)?, name(group));
                    Some((groups.get(&key).copied().unwrap_or(usize::MAX), name(group).to_owned()))
                })
                .collect();
            way.reverse();
            way
        };
        self.groups.sort_by_cached_key(|(path, _)| way(path));
        self.arrays.sort_by_cached_key(|(path, _)| {
            let (group, name) = (parent(path).unwrap_or_default(), name(path));
            let rank = variables.get(&(group, name)).copied().unwrap_or(usize::MAX);
            (way(group), rank, name.to_owned())
        });
    }
}

/// Checks that the name of a group follows the rules of the format.
fn checked(path: &str, options: &Options<'_>) -> Result<()> {
    if path.len() > usize::from(u16::MAX) / 2 {
        return Err(unsupported("the name is too long for HDF5"));
    }
    names::check(name(path), options.convention)
}

fn leave_out(options: &Options<'_>, path: &str, error: Error) -> Result<()> {
    options.leave_out(path, error.at(ErrorPlace::array(path)))
}

/// Returns the dimensions declared in the attributes of a group.
fn told(group: &str, hints: &HashMap<String, Hints>) -> Vec<DeclaredDimension> {
    let own = hints.get(group).map(|hints| hints.dimensions.as_slice()).unwrap_or_default();
    let told = own.iter().map(|found| DeclaredDimension {
        group: group.to_owned(),
        name: found.name.clone(),
        length: found.length,
        is_unlimited: found.is_unlimited,
    });
    told.filter(|found| names::check(&found.name, Convention::NetCdf).is_ok()).collect()
}

/// Determines the dimensions of arrays and chooses their chunks. Arrays that the format cannot represent are skipped or
/// are an error, depending on the options.
fn laid_out(
    arrays: &mut Vec<Source>,
    told: &[DeclaredDimension],
    options: &Options<'_>,
) -> Result<Dimensions> {
    let is_netcdf = options.convention == Convention::NetCdf;
    loop {
        let shaped: Vec<Shaped> = arrays.iter().map(Source::shaped).collect();
        let mut dimensions = match Dimensions::new(&shaped, told, is_netcdf) {
            Ok(dimensions) => dimensions,
            Err(conflict) => {
                let array = arrays.remove(conflict.array);
                leave_out(options, &array.path, conflict.error)?;
                continue;
            }
        };
        for dimension in &mut dimensions.all {
            dimension.is_unlimited |= options.unlimited.contains(&dimension.name);
        }
        let mut refused = Vec::new();
        for (number, array) in arrays.iter_mut().enumerate() {
            let unlimited =
                unlimited(&shaped[number], &dimensions.of_arrays[number], &dimensions, told, options);
            if let Err(error) = array.lay_out(unlimited) {
                leave_out(options, &array.path, error)?;
                refused.push(number);
            }
        }
        if refused.is_empty() {
            return Ok(dimensions);
        }
        refused.into_iter().rev().for_each(|number| drop(arrays.remove(number)));
    }
}

/// Returns true for each dimension of an array that can grow.
fn unlimited(
    array: &Shaped,
    own: &[Option<usize>],
    dimensions: &Dimensions,
    told: &[DeclaredDimension],
    options: &Options<'_>,
) -> Vec<bool> {
    let by_name = |name: &String| {
        let nearest = above(&array.group)
            .find_map(|group| told.iter().find(|found| found.group == group && found.name == *name));
        options.unlimited.contains(name) || nearest.is_some_and(|found| found.is_unlimited)
    };
    let axes = array.shape.iter().zip(&array.names).zip(own);
    let grows = axes.map(|((&length, name), dimension)| match dimension {
        Some(dimension) => dimensions.all[*dimension].is_unlimited,
        None => length == 0 || name.as_ref().is_some_and(by_name),
    });
    grows.collect()
}

/// Checks that the dimensions named in the options exist.
fn check_unlimited(arrays: &[Source], dimensions: &Dimensions, options: &Options<'_>) -> Result<()> {
    let is_there = |name: &String| {
        dimensions.all.iter().any(|found| found.name == *name)
            || arrays.iter().any(|array| array.names.iter().flatten().any(|found| found == name))
    };
    match options.unlimited.iter().find(|name| !is_there(name)) {
        Some(name) => {
            let message = format!("no array has the dimension '{name}', which is to be unlimited");
            Err(Error::new(ErrorKind::InvalidArgument, message))
        }
        None => Ok(()),
    }
}
