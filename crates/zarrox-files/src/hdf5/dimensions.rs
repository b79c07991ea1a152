//! HDF5 dimension scales and NetCDF-4 dimensions as dimension names.

use std::collections::{BTreeMap, HashMap};

use zarrox::json::Json;

use super::attributes::value;
use super::files::{Id, Parsed};
use super::format::{Class, Dataset, Datatype, ObjectKind, Reference, Space};
use super::text::lenient;
use super::types;
use super::values::{Heap, little};
use super::walk::{Found, joined};
use crate::netcdf::{Hierarchy, Kind, Origin};

/// The prefix of the name that NetCDF gives to the scale of a dimension without a coordinate variable.
const WITHOUT_VARIABLE: &str = "This is a netCDF dimension but not a netCDF variable";

/// The prefix of the stored name of a variable that is named like a dimension but is not its coordinate variable.
const NON_COORDINATE: &str = "_nc4_non_coord_";

/// The dimensions of a file.
#[derive(Debug, Default)]
pub(super) struct Dimensions {
    /// The dimension scales.
    scales: HashMap<Id, Scale>,
    /// The dimensions of datasets.
    of_datasets: HashMap<Id, Vec<OfDataset>>,
    /// The current lengths of unlimited NetCDF dimensions, by scale.
    lengths: HashMap<Id, u64>,
}

/// A dimension scale.
#[derive(Debug)]
struct Scale {
    name: String,
    /// True if the dimension has no coordinate variable.
    is_bare: bool,
    /// The NetCDF dimension ID.
    number: Option<i64>,
}

/// A dimension of a dataset.
#[derive(Debug, Clone, Default)]
struct OfDataset {
    scale: Option<Id>,
    name: Option<String>,
    /// The label, if it differs from the name.
    label: Option<String>,
}

impl Dimensions {
    /// Reads the dimensions of all datasets in `nodes`. `heaps` contains the heap of each file.
    pub(super) fn read(nodes: &[Found], heaps: &[Heap], is_netcdf: bool) -> Self {
        let mut dimensions = Self::default();
        let mut by_number = HashMap::new();
        for node in nodes {
            let ObjectKind::Dataset(_) = &node.object.kind else { continue };
            let Some(heap) = heaps.get(node.id.file) else { continue };
            let text = |name: &str| text(heap, &node.object, name);
            if text("CLASS").as_deref() == Some("DIMENSION_SCALE")
                && !dimensions.scales.contains_key(&node.id)
            {
                let number = integers(heap, &node.object, "_Netcdf4Dimid").first().copied();
                if let Some(number) = number {
                    by_number.insert((node.id.file, number), node.id);
                }
                let is_bare = text("NAME").is_some_and(|name| name.starts_with(WITHOUT_VARIABLE));
                let name = plain_name(&node.path);
                dimensions.scales.insert(node.id, Scale { name, is_bare, number });
            }
        }
        for node in nodes {
            let ObjectKind::Dataset(dataset) = &node.object.kind else { continue };
            let Some(heap) = heaps.get(node.id.file) else { continue };
            if let Some(found) = dimensions.of(node, dataset, heap, &by_number) {
                dimensions.of_datasets.insert(node.id, found);
            }
        }
        if is_netcdf {
            dimensions.read_lengths(nodes);
        }
        dimensions
    }

    fn of(
        &self,
        node: &Found,
        dataset: &Dataset,
        heap: &Heap,
        by_number: &HashMap<(usize, i64), Id>,
    ) -> Option<Vec<OfDataset>> {
        let Space::Simple { shape, .. } = &dataset.space else { return None };
        let ndim = shape.len();
        let mut scales = self.listed(node, heap).filter(|scales| scales.len() == ndim).unwrap_or_default();
        if scales.iter().all(Option::is_none) {
            let numbers = integers(heap, &node.object, "_Netcdf4Coordinates");
            if numbers.len() == ndim {
                scales =
                    numbers.iter().map(|&number| by_number.get(&(node.id.file, number)).copied()).collect();
            }
        }
        if scales.iter().all(Option::is_none) && ndim == 1 && self.scales.contains_key(&node.id) {
            scales = vec![Some(node.id)];
        }
        scales.resize(ndim, None);
        let labels = labels(heap, &node.object, ndim);
        let found = scales.into_iter().zip(labels).map(|(scale, label)| {
            let name = scale.and_then(|scale| self.scales.get(&scale)).map(|scale| scale.name.clone());
            match name {
                Some(name) => {
                    OfDataset { scale, label: label.filter(|label| *label != name), name: Some(name) }
                }
                None => OfDataset { scale, name: label, label: None },
            }
        });
        let found: Vec<OfDataset> = found.collect();
        found.iter().any(|found| found.name.is_some()).then_some(found)
    }

    /// Returns the dimension scales that a dataset lists.
    fn listed(&self, node: &Found, heap: &Heap) -> Option<Vec<Option<Id>>> {
        let list = node.object.attribute("DIMENSION_LIST")?;
        let Class::Sequence(base) = &list.datatype.class else { return None };
        if base.class != Class::Reference(Reference::Object) || list.datatype.size == 0 {
            return None;
        }
        let scale = |reference: &[u8]| {
            let scales = heap.sequence(reference, base.size).ok()?;
            let address = little(scales.get(..heap.file.offset_size())?);
            let id = Id { file: node.id.file, address };
            self.scales.contains_key(&id).then_some(id)
        };
        Some(list.data.chunks_exact(list.datatype.size).map(scale).collect())
    }

    /// Determines the length of each unlimited dimension: the length of its longest variable.
    fn read_lengths(&mut self, nodes: &[Found]) {
        let mut lengths: HashMap<Id, u64> = HashMap::new();
        let mut add = |scale: Id, length: u64| {
            let longest = lengths.entry(scale).or_default();
            *longest = length.max(*longest);
        };
        for node in nodes {
            let Some((shape, max)) = simple(&node.object) else { continue };
            if self.scales.contains_key(&node.id)
                && let ([length, ..], [None, ..]) = (shape, max)
            {
                add(node.id, *length);
            }
            let Some(found) = self.of_datasets.get(&node.id) else { continue };
            for ((found, &length), max) in found.iter().zip(shape).zip(max) {
                if let (Some(scale), None) = (found.scale, max) {
                    add(scale, length);
                }
            }
        }
        self.lengths = lengths;
    }

    /// Returns the shape of the array of a dataset. Along an unlimited NetCDF dimension, the array has the length of the
    /// dimension, even if the variable has fewer elements.
    pub(super) fn shape(&self, id: Id, shape: &[u64], max: &[Option<u64>]) -> Vec<u64> {
        let mut grown = shape.to_vec();
        let Some(found) = self.of_datasets.get(&id) else { return grown };
        for ((length, found), max) in grown.iter_mut().zip(found).zip(max) {
            let longest = found.scale.and_then(|scale| self.lengths.get(&scale));
            if let (Some(&longest), None) = (longest, max) {
                *length = longest.max(*length);
            }
        }
        grown
    }

    /// Returns the dimension names of a dataset.
    pub(super) fn names(&self, id: Id) -> Option<Vec<Option<String>>> {
        let found = self.of_datasets.get(&id)?;
        Some(found.iter().map(|found| found.name.clone()).collect())
    }

    /// Returns the labels of the dimensions of a dataset; `None` if all labels equal the dimension names.
    pub(super) fn labels(&self, id: Id) -> Option<Json> {
        let found = self.of_datasets.get(&id)?;
        let label =
            |found: &OfDataset| found.label.clone().or_else(|| found.name.clone()).unwrap_or_default();
        let differ = found.iter().any(|found| found.label.is_some());
        differ.then(|| found.iter().map(|found| Json::from(label(found))).collect())
    }

    /// Returns true if a dataset is a dimension scale.
    pub(super) fn is_scale(&self, id: Id) -> bool {
        self.scales.contains_key(&id)
    }

    /// Returns the Zarr path of a node, or `None` for a dimension without a coordinate variable, which has no array.
    pub(super) fn path(&self, node: &Found) -> Option<String> {
        if self.scales.get(&node.id).is_some_and(|scale| scale.is_bare) {
            return None;
        }
        let (above, name) = split(&node.path);
        let Some(plain) = name.strip_prefix(NON_COORDINATE) else { return Some(node.path.clone()) };
        Some(joined(above, plain))
    }

    /// Returns the properties of the NetCDF file that have no equivalent in Zarr.
    pub(super) fn hierarchy(&self, nodes: &[Found], kind: Kind) -> Hierarchy {
        let mut hierarchy = Hierarchy::new(kind);
        // Dimensions are sorted by ID. Dimensions without an ID follow in file order.
        let mut scales = BTreeMap::new();
        for (place, node) in nodes.iter().enumerate() {
            if let (Some(scale), Some((shape, max))) = (self.scales.get(&node.id), simple(&node.object)) {
                let own = shape.first().zip(max.first());
                scales.insert((scale.number.unwrap_or(i64::MAX), place), (node, scale, own));
            }
        }
        for (node, scale, own) in scales.into_values() {
            let Some((&length, max)) = own else { continue };
            let longest = self.lengths.get(&node.id).copied().unwrap_or(0);
            hierarchy.dimension(split(&node.path).0, &scale.name, length.max(longest), max.is_none());
        }
        for node in nodes {
            match &node.object.kind {
                ObjectKind::Group if !node.path.is_empty() => hierarchy.group(&node.path),
                ObjectKind::Dataset(dataset) => {
                    let (Some(path), Some((shape, max))) = (self.path(node), simple(&node.object)) else {
                        continue;
                    };
                    let shape = self.shape(node.id, shape, max);
                    let names = self.names(node.id).unwrap_or_else(|| vec![None; shape.len()]);
                    add_arrays(&mut hierarchy, &path, &dataset.datatype, &shape, &names, types::DEEPEST);
                }
                _ => {}
            }
        }
        hierarchy
    }
}

/// Adds the arrays of a dataset: one array, or a group with one array per field.
fn add_arrays(
    hierarchy: &mut Hierarchy,
    path: &str,
    datatype: &Datatype,
    shape: &[u64],
    names: &[Option<String>],
    depth: usize,
) {
    match types::kind(datatype) {
        Ok(types::Kind::Columns(members)) if depth > 0 => {
            hierarchy.group(path);
            for member in members {
                let path = joined(path, &lenient(&member.name));
                add_arrays(hierarchy, &path, &member.datatype, shape, names, depth - 1);
            }
        }
        Ok(types::Kind::Array(mapped)) => {
            let shape: Vec<u64> = shape.iter().chain(&mapped.inner).copied().collect();
            let mut names = names.to_vec();
            names.resize(shape.len(), None);
            hierarchy.variable(path, &shape, &names);
        }
        _ => hierarchy.variable(path, shape, names),
    }
}

/// Returns the shape and the maximum shape of a dataset.
fn simple(object: &Parsed) -> Option<(&[u64], &[Option<u64>])> {
    match &object.kind {
        ObjectKind::Dataset(dataset) => match &dataset.space {
            Space::Simple { shape, max } => Some((shape, max)),
            Space::Null => None,
        },
        _ => None,
    }
}

/// Splits a path into the path of the parent group and the name of the node.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// Returns the name of a node without the path of its group.
fn plain_name(path: &str) -> String {
    let name = split(path).1;
    name.strip_prefix(NON_COORDINATE).unwrap_or(name).to_owned()
}

/// Returns the labels of the dimensions of a dataset.
fn labels(heap: &Heap, object: &Parsed, ndim: usize) -> Vec<Option<String>> {
    let found = object.attribute("DIMENSION_LABELS");
    let found = found.and_then(|found| value(heap, found, Origin::Hdf5).ok());
    let name = |label: &Json| label.as_str().filter(|label| !label.is_empty()).map(str::to_owned);
    let mut labels = match &found {
        Some(Json::Array(labels)) if labels.len() == ndim => labels.iter().map(name).collect(),
        Some(label @ Json::String(_)) if ndim == 1 => vec![name(label)],
        _ => Vec::new(),
    };
    labels.resize(ndim, None);
    labels
}

fn text(heap: &Heap, object: &Parsed, name: &str) -> Option<String> {
    value(heap, object.attribute(name)?, Origin::NetCdf).ok()?.as_str().map(str::to_owned)
}

fn integers(heap: &Heap, object: &Parsed, name: &str) -> Vec<i64> {
    match object.attribute(name).and_then(|found| value(heap, found, Origin::Hdf5).ok()) {
        Some(Json::Array(list)) => list.iter().filter_map(Json::as_i64).collect(),
        Some(number) => number.as_i64().into_iter().collect(),
        None => Vec::new(),
    }
}
