//! Dimension scales of HDF5, and dimensions of NetCDF-4, as names of dimensions.

use std::collections::{HashMap, HashSet};

use hdf5_reader::Dataset;
use hdf5_reader::messages::attribute::AttributeMessage;
use zarrox::json::Json;

use super::values::Heap;
use super::walk::{Found, Object, collected};

/// The beginning of the name that NetCDF gives to a scale which stands for a dimension without values.
const WITHOUT_VARIABLE: &str = "This is a netCDF dimension but not a netCDF variable";

/// The beginning of the name of a variable that is called as a dimension, but is not its coordinate.
const NON_COORDINATE: &str = "_nc4_non_coord_";

/// The dimensions of a file.
#[derive(Debug, Default)]
pub(super) struct Dimensions {
    /// The names of dimension scales by their addresses.
    scales: HashMap<u64, String>,
    /// Scales that stand for dimensions without values.
    without_variable: HashSet<u64>,
    /// The names of the dimensions of datasets by their addresses.
    names: HashMap<u64, Vec<Option<String>>>,
}

impl Dimensions {
    pub(super) fn read(nodes: &[Found], heap: &Heap) -> Self {
        let mut dimensions = Self::default();
        let mut by_number = HashMap::new();
        let mut datasets = Vec::new();
        for node in nodes {
            let Object::Dataset(dataset) = &node.object else { continue };
            let attributes = collected(dataset).unwrap_or_default();
            let text = |name: &str| text(heap, &attributes, name);
            if text("CLASS").as_deref() == Some("DIMENSION_SCALE") {
                let name = plain_name(&node.path);
                if let Some(number) = integers(heap, &attributes, "_Netcdf4Dimid").first() {
                    by_number.insert(*number, name.clone());
                }
                dimensions.scales.insert(dataset.address(), name);
                if text("NAME").is_some_and(|name| name.starts_with(WITHOUT_VARIABLE)) {
                    dimensions.without_variable.insert(dataset.address());
                }
            }
            datasets.push((dataset, attributes));
        }
        for (dataset, attributes) in datasets {
            if let Some(names) = dimensions.names_of(dataset, &attributes, heap, &by_number) {
                dimensions.names.insert(dataset.address(), names);
            }
        }
        dimensions
    }

    fn names_of(
        &self,
        dataset: &Dataset,
        attributes: &[AttributeMessage],
        heap: &Heap,
        by_number: &HashMap<i64, String>,
    ) -> Option<Vec<Option<String>>> {
        let ndim = dataset.ndim();
        let of_scales = attributes.iter().find(|found| found.name == "DIMENSION_LIST");
        if let Some(list) = of_scales {
            let size = 4 + heap.offset_size + 4;
            let scale = |reference: &[u8]| {
                let scales = heap.sequence(reference, 8).ok()?;
                let address = u64::from_le_bytes(*scales.first_chunk()?);
                self.scales.get(&address).cloned()
            };
            let names: Vec<Option<String>> = list.raw_data.chunks_exact(size).map(scale).collect();
            if names.len() == ndim && names.iter().any(Option::is_some) {
                return Some(names);
            }
        }
        let numbers = integers(heap, attributes, "_Netcdf4Coordinates");
        if numbers.len() == ndim && !numbers.is_empty() {
            let names: Vec<Option<String>> =
                numbers.iter().map(|number| by_number.get(number).cloned()).collect();
            if names.iter().any(Option::is_some) {
                return Some(names);
            }
        }
        if ndim == 1
            && let Some(name) = self.scales.get(&dataset.address())
        {
            return Some(vec![Some(name.clone())]);
        }
        let labels = attributes.iter().find(|found| found.name == "DIMENSION_LABELS")?;
        let labels = heap.attribute(labels).ok()?;
        let name = |label: &Json| label.as_str().filter(|label| !label.is_empty()).map(str::to_owned);
        let names: Vec<Option<String>> = match &labels {
            Json::Array(labels) => labels.iter().map(name).collect(),
            label => vec![name(label)],
        };
        (names.len() == ndim && names.iter().any(Option::is_some)).then_some(names)
    }

    /// The names of the dimensions of a dataset.
    pub(super) fn names(&self, address: u64, ndim: usize) -> Option<Vec<Option<String>>> {
        self.names.get(&address).filter(|names| names.len() == ndim).cloned()
    }

    /// Returns true if a dataset is a dimension scale.
    pub(super) fn is_scale(&self, address: u64) -> bool {
        self.scales.contains_key(&address)
    }

    /// The path that a node gets; `None` for a dimension without values, which has no array.
    pub(super) fn path(&self, node: &Found) -> Option<String> {
        if self.without_variable.contains(&node.address()) {
            return None;
        }
        let (above, name) =
            node.path.rsplit_once('/').map_or(("", node.path.as_str()), |(above, name)| (above, name));
        let Some(plain) = name.strip_prefix(NON_COORDINATE) else { return Some(node.path.clone()) };
        Some(if above.is_empty() { plain.to_owned() } else { format!("{above}/{plain}") })
    }
}

/// The name of a node without its groups.
fn plain_name(path: &str) -> String {
    let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
    name.strip_prefix(NON_COORDINATE).unwrap_or(name).to_owned()
}

fn text(heap: &Heap, attributes: &[AttributeMessage], name: &str) -> Option<String> {
    let found = attributes.iter().find(|found| found.name == name)?;
    heap.attribute(found).ok()?.as_str().map(str::to_owned)
}

fn integers(heap: &Heap, attributes: &[AttributeMessage], name: &str) -> Vec<i64> {
    let found = attributes.iter().find(|found| found.name == name);
    match found.and_then(|found| heap.attribute(found).ok()) {
        Some(Json::Array(list)) => list.iter().filter_map(Json::as_i64).collect(),
        Some(number) => number.as_i64().into_iter().collect(),
        None => Vec::new(),
    }
}
