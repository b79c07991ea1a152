//! HDF5 and NetCDF-4 as Zarr.
//!
//! Datasets become arrays, and groups become groups. Links of every kind are followed. Chunks are passed on unchanged if
//! all their filters have equivalent Zarr codecs; other chunks are decoded and re-encoded on each read. Dimension scales
//! become dimension names. Objects that have no equivalent in Zarr or cannot be read are skipped and reported by name.

mod array;
mod attributes;
mod chunks;
mod dimensions;
mod files;
mod filter;
mod format;
mod scalars;
mod steps;
mod table;
mod text;
mod types;
mod values;
mod virtual_array;
mod walk;
pub(crate) mod write;

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use zarrox::json::{Json, Map};
use zarrox::stores::MemoryStore;
use zarrox::{DataType, Error, ErrorKind, Result};

use crate::chunks::Chunks;
use crate::fill::FILL_VALUE;
use crate::input::{Input, corrupt, unsupported, zeroed};
use crate::inventory::{Inventories, Inventory, counted};
use crate::netcdf::{Attributes, Described, Kind, Origin, Storage};
use crate::reading::Reading;
use crate::store::{FileStore, LeftOut};
use array::{Maker, Wanted, options};
use chunks::Column;
use dimensions::Dimensions;
use files::{Files, Id, Parsed};
use format::{Class, Dataset, Datatype, Layout, Member, ObjectKind, Space};
use text::lenient;
use values::Heap;
use walk::{Committed, Found, Walked, joined, walk};

/// Attributes that only describe dimensions or the library that wrote the file.
const INTERNAL: [&str; 7] = [
    "DIMENSION_LABELS",
    "DIMENSION_LIST",
    "REFERENCE_LIST",
    "_NCProperties",
    "_Netcdf4Coordinates",
    "_Netcdf4Dimid",
    STRICT,
];

/// The attribute of NetCDF-4 files that follow the classic data model.
const STRICT: &str = "_nc3_strict";

/// Attributes that are only dropped from dimension scales, since other datasets may use these common names.
const OF_SCALES: [&str; 2] = ["CLASS", "NAME"];

/// The attribute for dimension labels, which is set if they differ from the dimension names.
const LABELS: &str = "dimension_labels";

/// The group attribute that lists the columns in order.
const COLUMNS: &str = "columns";

/// Opens a file as a Zarr store.
pub(crate) fn open(input: Arc<Input>, reading: &Reading) -> Result<FileStore> {
    let files = Files::open(input, reading.external.clone())?;
    let location = files.path(0).display().to_string();
    let mut import = Import::new(files, reading)?;
    import.run()?;
    let Import { documents, arrays, left_out, notes, inventories, .. } = import;
    let store = FileStore::new(location, documents, arrays, left_out);
    Ok(store.with_notes(notes).with_inventories(inventories))
}

/// The state of the conversion of a file to Zarr.
struct Import {
    maker: Maker,
    origin: Origin,
    nodes: Vec<Found>,
    /// The committed datatypes.
    types: Vec<Committed>,
    dimensions: Dimensions,
    /// The NetCDF properties of groups that have no equivalent in Zarr.
    hints: HashMap<String, Map>,
    documents: MemoryStore,
    arrays: BTreeMap<String, Box<dyn Chunks>>,
    left_out: Vec<LeftOut>,
    notes: Vec<String>,
    inventories: Inventories,
}

impl Import {
    fn new(mut files: Files, reading: &Reading) -> Result<Self> {
        let mut left_out = Vec::new();
        let Walked { nodes, types, unlisted } =
            walk(&mut files, &mut left_out).map_err(|error| match error.kind() {
                ErrorKind::LimitExceeded => unsupported(error.to_string()),
                _ => error,
            })?;
        let mut paths = vec![HashMap::new(); files.len()];
        // The path of an object is that of a hard link, unless only other links lead to the object.
        let (hard, others): (Vec<&Found>, Vec<&Found>) = nodes.iter().partition(|node| node.is_hard);
        let of_nodes = hard.into_iter().chain(others).map(|node| (node.id, &node.path));
        let of_types = types.iter().map(|found| (found.id, &found.path));
        for (id, path) in of_nodes.chain(of_types).chain(unlisted.iter().map(|(id, path)| (*id, path))) {
            if let Some(paths) = paths.get_mut(id.file) {
                paths.entry(id.address).or_insert_with(|| format!("/{path}"));
            }
        }
        let paths = paths.into_iter().map(Arc::new).collect();
        let (is_plain, checks) = (reading.is_plain, reading.checks && !reading.is_plain);
        let is_netcdf = is_netcdf(&nodes, files.path(0));
        let origin = if is_netcdf { Origin::NetCdf } else { Origin::Hdf5 };
        let maker = Maker { files, paths, is_plain, checks, sources: HashMap::new(), open: Vec::new() };
        let heaps: Vec<_> = (0..maker.files.len()).map(|file| maker.heap(file)).collect();
        let dimensions = Dimensions::read(&nodes, &heaps, is_netcdf);
        let is_strict = nodes.first().is_some_and(|root| root.object.attribute(STRICT).is_some());
        let kind = if is_strict { Kind::Classic4 } else { Kind::NetCdf4 };
        let hints = if is_netcdf { dimensions.hierarchy(&nodes, kind).finish() } else { HashMap::new() };
        Ok(Self {
            maker,
            origin,
            nodes,
            types,
            dimensions,
            hints,
            documents: MemoryStore::new(),
            arrays: BTreeMap::new(),
            left_out,
            notes: Vec::new(),
            inventories: Inventories::default(),
        })
    }

    fn run(&mut self) -> Result<()> {
        for node in std::mem::take(&mut self.nodes) {
            let Some(path) = self.dimensions.path(&node) else { continue };
            let made = match &node.object.kind {
                ObjectKind::Dataset(dataset) => self.dataset(&path, &node, dataset),
                _ => self.group(&path, &node),
            };
            match made {
                Err(error) if path.is_empty() => return Err(error),
                Err(error) => self.leave_out(&path, &error),
                Ok(()) => {}
            }
        }
        Ok(())
    }

    fn leave_out(&mut self, path: &str, error: &Error) {
        self.left_out.push(LeftOut::new(format!("/{path}"), error));
    }

    fn group(&mut self, path: &str, node: &Found) -> Result<()> {
        let described = self.attributes(path, node, Attributes::new(self.origin, None));
        let mut attributes = described.attributes;
        attributes.extend(self.hints.remove(path).unwrap_or_default());
        self.create_group(path, attributes)
    }

    fn create_group(&mut self, path: &str, attributes: Map) -> Result<()> {
        let counted = Inventory::group(counted(&attributes));
        let store = Arc::new(self.documents.clone());
        options().create_group((store, path))?.set_attributes(attributes)?;
        self.inventories.add(path, counted);
        Ok(())
    }

    /// Adds the attributes of a node to `all`, except those that describe dimensions.
    fn attributes(&mut self, path: &str, node: &Found, mut all: Attributes<'_>) -> Described {
        let is_scale = self.dimensions.is_scale(node.id);
        let heap = self.maker.heap(node.id.file);
        let attributes = match &node.object.attributes {
            Ok(attributes) => attributes.as_slice(),
            Err(error) => {
                self.leave_out(path, &error.clone().at("the attributes"));
                &[]
            }
        };
        for attribute in attributes {
            let (name, value, of) = match attribute {
                Ok(found) => {
                    let name = lenient(&found.name);
                    let is_internal = INTERNAL.contains(&name.as_str());
                    if is_internal || (is_scale && OF_SCALES.contains(&name.as_str())) {
                        continue;
                    }
                    if let Some(of) = own_missing(&heap, node, found).filter(|_| all.is_of_array()) {
                        all.fill_is_missing(of);
                        continue;
                    }
                    let value = attributes::value(&heap, found, self.origin);
                    (name, value, attributes::nc_type(&found.datatype))
                }
                Err((name, error)) => (lenient(name), Err(error.clone()), None),
            };
            match value {
                Ok(value) => all.add(&name, value, of),
                Err(error) => self.leave_out(path, &error.at(format!("attribute '{name}'"))),
            }
        }
        let described = all.finish();
        self.notes.extend(described.notes.iter().map(|note| format!("/{path}: {note}")));
        described
    }

    fn dataset(&mut self, path: &str, node: &Found, dataset: &Dataset) -> Result<()> {
        let members = match types::kind(&dataset.datatype)? {
            types::Kind::Columns(members) => members,
            types::Kind::Array(mapped) => {
                let data_type = mapped.data_type.clone();
                let attributes = self.of_array(path, node, dataset, &data_type);
                return self.array(path, node, dataset, *mapped, None, attributes);
            }
        };
        self.notes.push(format!(
            "/{path}: Zarr cannot express the fields as a structured data type; they become a group of {} arrays",
            members.len()
        ));
        let described = self.attributes(path, node, Attributes::new(self.origin, None));
        let whole = dataset.datatype.size;
        self.columns(
            path,
            node,
            dataset,
            members,
            Column { whole, offset: 0, size: whole },
            described.attributes,
            types::DEEPEST,
        )
    }

    /// For a structured type without an equivalent in Zarr, creates a group with one array per field.
    #[expect(clippy::too_many_arguments, reason = "they are the location of the fields")]
    fn columns(
        &mut self,
        path: &str,
        node: &Found,
        dataset: &Dataset,
        members: &[Member],
        above: Column,
        mut attributes: Map,
        depth: usize,
    ) -> Result<()> {
        let names: Vec<String> = members.iter().map(|member| lenient(&member.name)).collect();
        let columns = names.iter().map(|name| Json::from(name.as_str())).collect();
        self.set(path, &mut attributes, COLUMNS, columns);
        self.create_group(path, attributes)?;
        for (member, name) in members.iter().zip(names) {
            let path = joined(path, &name);
            if let Err(error) = self.column(&path, &name, node, dataset, member, above, depth) {
                self.leave_out(&path, &error);
            }
        }
        Ok(())
    }

    #[expect(clippy::too_many_arguments, reason = "they are the location of the field")]
    fn column(
        &mut self,
        path: &str,
        name: &str,
        node: &Found,
        dataset: &Dataset,
        member: &Member,
        above: Column,
        depth: usize,
    ) -> Result<()> {
        if let Some(reason) = text::refused_name(name) {
            return Err(unsupported(reason));
        }
        if self.arrays.contains_key(path) || depth == 0 {
            return Err(unsupported(
                "the structure has two fields of the same name, or is nested too deeply",
            ));
        }
        let size = member.datatype.size;
        let end = member.offset.checked_add(size).filter(|&end| end <= above.size);
        end.ok_or_else(|| corrupt("a field lies outside its structure"))?;
        let column = Column { whole: above.whole, offset: above.offset + member.offset, size };
        match types::kind(&member.datatype)? {
            types::Kind::Columns(members) => {
                self.columns(path, node, dataset, members, column, Map::default(), depth - 1)
            }
            types::Kind::Array(mapped) => {
                self.array(path, node, dataset, *mapped, Some(column), Map::default())
            }
        }
    }

    /// Returns the attributes of an array.
    fn of_array(&mut self, path: &str, node: &Found, dataset: &Dataset, data_type: &DataType) -> Map {
        let mut all = Attributes::new(self.origin, Some(data_type));
        if self.origin == Origin::NetCdf {
            let storage = match &dataset.layout {
                Layout::Chunked { .. } if !dataset.filters.is_empty() => None,
                Layout::Chunked { .. } => Some(Storage::Chunked),
                _ => Some(Storage::Contiguous),
            };
            let shape = self.shape(node.id, dataset);
            let item = dataset.datatype.size as u64;
            all.storage(storage, shape.iter().fold(item, |size, &length| size.saturating_mul(length)));
            if let Some(found) = self.types.iter().find(|found| found.datatype == dataset.datatype)
                && is_user_type(&dataset.datatype)
            {
                all.user_type(found.name());
            }
        }
        let mut attributes = self.attributes(path, node, all).attributes;
        if let Some(labels) = self.dimensions.labels(node.id) {
            self.set(path, &mut attributes, LABELS, labels);
        }
        attributes
    }

    /// Sets an attribute defined by Zarrox, and adds a note if it replaces an attribute of the file.
    fn set(&mut self, path: &str, attributes: &mut Map, name: &str, value: Json) {
        let is_other = attributes.get(name).is_some_and(|own| *own != value);
        attributes.insert(name.to_owned(), value);
        if is_other {
            self.notes.push(format!("/{path}: attribute '{name}' is replaced: Zarrox uses this name"));
        }
    }

    /// Returns the shape of the array of a dataset, without the dimensions of array-typed elements.
    fn shape(&self, id: Id, dataset: &Dataset) -> Vec<u64> {
        match &dataset.space {
            Space::Null => vec![0],
            Space::Simple { shape, max } => self.dimensions.shape(id, shape, max),
        }
    }

    fn array(
        &mut self,
        path: &str,
        node: &Found,
        dataset: &Dataset,
        mapped: types::Mapped,
        column: Option<Column>,
        mut attributes: Map,
    ) -> Result<()> {
        for (name, value) in &mapped.attributes {
            if attributes.insert(name.clone(), value.clone()).is_some_and(|own| own != *value) {
                let error = unsupported("Zarrox uses this attribute name for the type of the elements");
                self.leave_out(path, &error.at(format!("attribute '{name}'")));
            }
        }
        let (documents, id) = (self.documents.clone(), node.id);
        let shape = self.shape(id, dataset);
        let names = self.dimensions.names(id).filter(|names| names.len() == shape.len());
        let wanted =
            Wanted { documents: &documents, path, id, dataset, mapped, column, shape, attributes, names };
        let count = counted(&wanted.attributes);
        let (chunks, shape) = self.maker.make(wanted)?;
        self.arrays.insert(path.to_owned(), chunks);
        self.inventories.add(path, Inventory::array(count, &shape));
        Ok(())
    }
}

/// Returns true for type classes that are user-defined types in NetCDF.
fn is_user_type(datatype: &Datatype) -> bool {
    matches!(datatype.class, Class::Enum { .. } | Class::Compound(_) | Class::Opaque(_) | Class::Sequence(_))
}

/// Returns the type of a missing-value marker that has a string type or a user-defined type and equals the fill value:
/// the string type, or the class of the user-defined type. Returns `None` for any other attribute.
fn own_missing(heap: &Heap, node: &Found, attribute: &format::Attribute) -> Option<&'static str> {
    let ObjectKind::Dataset(dataset) = &node.object.kind else { return None };
    let of = match &dataset.datatype.class {
        Class::Compound(_) => "compound",
        Class::Opaque(_) => "opaque",
        Class::Text { .. } | Class::VariableText { .. } => attributes::nc_type(&attribute.datatype)?.name(),
        _ => return None,
    };
    let data = dataset.fill.clone().or_else(|| zeroed(dataset.datatype.size).ok())?;
    let (datatype, space) = (dataset.datatype.clone(), Space::Simple { shape: vec![], max: vec![] });
    let fill = format::Attribute { name: Vec::new(), datatype, space, data };
    // Padding between fields is undefined, so values are compared rather than bytes.
    let value = |attribute| attributes::value(heap, attribute, Origin::NetCdf).ok();
    let is_fill = || Some(value(attribute)?.without_tokens() == value(&fill)?.without_tokens());
    (attribute.name == FILL_VALUE.as_bytes() && is_fill() == Some(true)).then_some(of)
}

/// Returns true if a file follows the NetCDF-4 conventions, in which an attribute with one element is a scalar.
fn is_netcdf(nodes: &[Found], path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let is_named = ["nc", "nc4", "cdf", "netcdf"].iter().any(|name| extension.eq_ignore_ascii_case(name));
    let has = |object: &Parsed, name: &str| object.attribute(name).is_some();
    is_named
        || nodes.first().is_some_and(|root| has(&root.object, "_NCProperties") || has(&root.object, STRICT))
}
