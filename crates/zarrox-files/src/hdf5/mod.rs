//! HDF5 and NetCDF-4 as Zarr.
//!
//! Datasets become arrays, and groups become groups. Chunks whose filters all have a codec of Zarr are taken as they are; others are
//! decoded, and encoded when they are read. Dimension scales become names of dimensions.

mod chunks;
mod dimensions;
mod error;
mod pipeline;
mod table;
mod types;
mod values;
mod walk;
pub(crate) mod write;

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use hdf5_reader::messages::HdfMessage;
use hdf5_reader::messages::attribute::AttributeMessage;
use hdf5_reader::messages::dataspace::DataspaceType;
use hdf5_reader::messages::fill_value::FillValueMessage;
use hdf5_reader::messages::layout::DataLayout;
use hdf5_reader::{Dataset, Hdf5File};
use zarrox::data_type::{Endian, Storage};
use zarrox::json::{Map, json};
use zarrox::stores::MemoryStore;
use zarrox::{Array, ArrayBuilder, CodecSpec, Error, Format, OpenOptions, Result};

use crate::chunks::{Chunks, Elements, EncodedOnRead};
use crate::input::{Input, corrupt, unsupported};
use crate::rows::{Place, Rows, Whole};
use crate::store::{FileStore, LeftOut};
use chunks::{AsStored, Data, Decoded, ElementForm};
use dimensions::Dimensions;
use error::damaged;
use pipeline::Pipeline;
use table::{Chunked, Table};
use types::{Form, Mapped};
use values::Heap;
use walk::{Found, Object, collected, walk};

/// Attributes that only describe dimensions, or who wrote the file.
const INTERNAL: [&str; 7] = [
    "CLASS",
    "NAME",
    "DIMENSION_LIST",
    "REFERENCE_LIST",
    "_Netcdf4Dimid",
    "_Netcdf4Coordinates",
    "_NCProperties",
];

/// Opens a file as a store of Zarr.
pub(crate) fn open(path: &Path, is_plain: bool) -> Result<FileStore> {
    let input = Arc::new(Input::open(path)?);
    let file = Hdf5File::open(path).map_err(damaged)?;
    let mut import = Import::new(&file, &input, is_plain)?;
    import.run()?;
    let Import { documents, arrays, left_out, .. } = import;
    Ok(FileStore::new(input.path().display().to_string(), documents, arrays, left_out))
}

/// The nodes of a file on their way to Zarr.
struct Import<'f> {
    file: &'f Hdf5File,
    data: Data,
    heap: Heap,
    nodes: Vec<Found>,
    dimensions: Dimensions,
    /// True if chunks that are encoded on reading are not compressed, since they get other codecs anyway.
    is_plain: bool,
    documents: MemoryStore,
    arrays: BTreeMap<String, Box<dyn Chunks>>,
    left_out: Vec<LeftOut>,
}

impl<'f> Import<'f> {
    fn new(file: &'f Hdf5File, input: &Arc<Input>, is_plain: bool) -> Result<Self> {
        let root = file.root_group().map_err(damaged)?;
        let mut left_out = Vec::new();
        let nodes = walk(&root, &mut left_out)?;
        let mut paths = HashMap::new();
        for node in &nodes {
            paths.entry(node.address()).or_insert_with(|| format!("/{}", node.path));
        }
        let superblock = file.superblock();
        let heap = Heap {
            root: root.clone(),
            paths: Arc::new(paths),
            offset_size: usize::from(superblock.offset_size),
            is_netcdf: is_netcdf(&nodes, input.path()),
        };
        let dimensions = Dimensions::read(&nodes, &heap);
        let base = superblock.base_address;
        Ok(Self {
            file,
            data: Data { input: Arc::clone(input), base },
            heap,
            nodes,
            dimensions,
            is_plain,
            documents: MemoryStore::new(),
            arrays: BTreeMap::new(),
            left_out,
        })
    }

    fn run(&mut self) -> Result<()> {
        for node in std::mem::take(&mut self.nodes) {
            let path = self.dimensions.path(&node);
            let Some(path) = path else { continue };
            let made = match &node.object {
                Object::Group(_, attributes) => self.group(&path, attributes),
                Object::Dataset(dataset) => self.dataset(&path, dataset),
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
        self.left_out.push(LeftOut { path: format!("/{path}"), reason: error.to_string() });
    }

    fn options() -> OpenOptions {
        OpenOptions::new().format(Format::V3)
    }

    fn group(&mut self, path: &str, attributes: &[AttributeMessage]) -> Result<()> {
        let attributes = self.attributes(path, attributes, false);
        let store = Arc::new(self.documents.clone());
        Self::options().create_group_in(store, path)?.set_attributes(attributes)
    }

    /// The attributes of a node, without those that describe dimensions.
    fn attributes(&mut self, path: &str, attributes: &[AttributeMessage], is_scale: bool) -> Map {
        let mut found = Map::default();
        for attribute in attributes {
            let name = attribute.name.as_str();
            // Only those of dimension scales have these plain names.
            if INTERNAL.contains(&name) && (is_scale || !matches!(name, "CLASS" | "NAME")) {
                continue;
            }
            match self.heap.attribute(attribute) {
                Ok(value) => {
                    found.insert(name.to_owned(), value);
                }
                Err(error) => {
                    self.leave_out(path, &error.at(format!("attribute '{name}'")));
                }
            }
        }
        found
    }

    fn dataset(&mut self, path: &str, dataset: &Dataset) -> Result<()> {
        let header = self.file.get_or_parse_header(dataset.address()).map_err(damaged)?;
        let stored = Stored::of(&header.messages, dataset)?;
        let raw = dataset.raw_datatype().map_err(damaged)?;
        let mapped = types::mapped(dataset.dtype(), &raw, self.heap.offset_size)?;
        let element = types::size_of(dataset.dtype(), self.heap.offset_size)?;
        let count = mapped.inner.iter().product::<u64>();
        if count == 0 || element == 0 {
            return Err(corrupt("an element has no bytes"));
        }
        let item = element / usize::try_from(count).map_err(|_| corrupt("an element is too large"))?;
        let own = if stored.is_null { vec![0] } else { dataset.shape().to_vec() };
        let shape: Vec<u64> = own.iter().chain(&mapped.inner).copied().collect();
        let attributes = collected(dataset)?;
        let is_scale = self.dimensions.is_scale(dataset.address());
        let mut attributes = self.attributes(path, &attributes, is_scale);
        crate::fill::encode(&mapped.data_type, &mut attributes);
        if let Some(names) = &mapped.names {
            attributes.insert(crate::ENUM.to_owned(), names.clone().into());
        }
        let fill = match stored.fill.and_then(|fill| fill.value.as_deref()).filter(|_| !stored.is_null) {
            Some(bytes) => self.heap.fill(&mapped, item, bytes)?,
            None => None,
        };
        let builder = Self::options()
            .create_array_in(Arc::new(self.documents.clone()), path)
            .shape(shape.clone())
            .data_type(mapped.data_type.clone())
            .attributes(attributes);
        let builder = match fill {
            Some(fill) => builder.fill_value_json(fill),
            None => builder,
        };
        let builder = match self.dimensions.names(dataset.address(), own.len()) {
            Some(names) => {
                let inner = std::iter::repeat_n(None, shape.len() - own.len());
                builder.optional_dimension_names(names.into_iter().chain(inner))
            }
            None => builder,
        };
        let form = Shape { own, shape, element, item };
        let chunks = self.chunks(builder, &stored, mapped, dataset, &form)?;
        self.arrays.insert(path.to_owned(), chunks);
        Ok(())
    }

    /// Creates the document of an array, and the way to its chunks.
    fn chunks(
        &self,
        builder: ArrayBuilder,
        stored: &Stored<'_>,
        mapped: Mapped,
        dataset: &Dataset,
        form: &Shape,
    ) -> Result<Box<dyn Chunks>> {
        match stored.layout {
            DataLayout::Chunked { address, dims, chunk_indexing, .. } => {
                let chunks = dims.get(..form.own.len()).filter(|chunks| !chunks.contains(&0));
                let chunks = chunks.ok_or_else(|| corrupt("the shape of the chunks is damaged"))?;
                let element = form.element as u64;
                let size = chunks.iter().try_fold(element, |size, &n| size.checked_mul(u64::from(n)));
                let size = size.filter(|&size| size <= zarrox::codec::CHUNK_LIMIT as u64);
                let size = size.ok_or_else(|| unsupported("a chunk is larger than Zarrox decodes"))?;
                let chunked = Chunked {
                    shape: &form.own,
                    max_shape: dataset.max_dims(),
                    chunks,
                    chunk_size: size,
                    item: form.element,
                    address: *address,
                    index: chunk_indexing.as_ref(),
                    is_filtered: !stored.filters.is_empty(),
                };
                let table = Table::read(self.file, &chunked)?;
                let pipeline = Pipeline::new(stored.filters.clone())?;
                let own = chunks.iter().map(|&length| u64::from(length));
                let chunk_shape: Vec<u64> = own.chain(mapped.inner.iter().copied()).collect();
                let builder = builder.chunks(chunk_shape.clone());
                let codecs = mapped.form.order().filter(|_| table.is_uniform());
                let codecs = codecs.and_then(|_| pipeline.codecs(form.element));
                if let Some(codecs) = codecs {
                    let all = std::iter::once(bytes_codec(&mapped)).chain(codecs);
                    let array = builder.codecs(all).create()?;
                    return Ok(Box::new(AsStored { data: self.data.clone(), table, ndim: array.ndim() }));
                }
                let array = self.compressed(builder).create()?;
                let grid = table.grid().iter().copied().chain(mapped.inner.iter().map(|_| 1)).collect();
                let elements = Decoded {
                    data: self.data.clone(),
                    table,
                    pipeline,
                    form: ElementForm { heap: self.heap.clone(), mapped, item: form.item },
                    grid,
                    chunk_shape,
                    size: usize::try_from(size).map_err(|_| corrupt("a chunk is too large"))?,
                    element: form.element,
                };
                encoded(&array, Box::new(elements))
            }
            DataLayout::Compact { data } => {
                let is_nowhere = stored.is_null || data.is_empty();
                let place = if is_nowhere { Place::Nowhere } else { Place::Memory(data.clone().into()) };
                self.rows(builder, place, data.len() as u64, mapped, form)
            }
            DataLayout::Contiguous { address, size } => {
                let place = match self.data.base.checked_add(*address) {
                    Some(offset) if *address != u64::MAX && *size > 0 => {
                        Place::File(Arc::clone(&self.data.input), offset)
                    }
                    _ => Place::Nowhere,
                };
                let available = match &place {
                    Place::File(input, offset) => input.length().saturating_sub(*offset).min(*size),
                    _ => 0,
                };
                self.rows(builder, place, available, mapped, form)
            }
        }
    }

    /// Elements that lie one after the other.
    fn rows(
        &self,
        builder: ArrayBuilder,
        place: Place,
        available: u64,
        mapped: Mapped,
        form: &Shape,
    ) -> Result<Box<dyn Chunks>> {
        let rows = Rows::new(place, &form.shape, form.item as u64, available)?;
        let array = self.compressed(builder.chunks(rows.chunk_shape().to_vec())).create()?;
        let form = ElementForm { heap: self.heap.clone(), mapped, item: form.item };
        encoded(&array, Box::new(Whole { rows, form }))
    }

    /// The codecs of chunks that are encoded when they are read.
    fn compressed(&self, builder: ArrayBuilder) -> ArrayBuilder {
        if self.is_plain { builder.no_compressor() } else { builder }
    }
}

/// The shapes of a dataset.
struct Shape {
    /// The shape of the dataset.
    own: Vec<u64>,
    /// The shape of the array, with the dimensions that elements have of their own.
    shape: Vec<u64>,
    /// The size of an element in bytes.
    element: usize,
    /// The size of an element of the array in bytes.
    item: usize,
}

/// The description of a dataset.
struct Stored<'h> {
    layout: &'h DataLayout,
    filters: Vec<hdf5_reader::messages::filter_pipeline::FilterDescription>,
    fill: Option<&'h FillValueMessage>,
    /// True if there are no elements at all, not even a scalar.
    is_null: bool,
}

impl<'h> Stored<'h> {
    fn of(messages: &'h [HdfMessage], dataset: &Dataset) -> Result<Self> {
        let (mut layout, mut filters, mut fill, mut is_null) = (None, Vec::new(), None, false);
        for message in messages {
            match message {
                HdfMessage::DataLayout(found) => layout = Some(&found.layout),
                HdfMessage::FilterPipeline(found) => filters.clone_from(&found.filters),
                HdfMessage::FillValue(found) if fill.is_none_or(|_| found.value.is_some()) => {
                    fill = Some(found);
                }
                HdfMessage::Dataspace(space) => is_null = space.dataspace_type == DataspaceType::Null,
                HdfMessage::ExternalFiles(_) => {
                    return Err(unsupported("the elements are in other files, which are not read"));
                }
                _ => {}
            }
        }
        let layout = layout.ok_or_else(|| corrupt(format!("dataset '{}' has no layout", dataset.name())))?;
        Ok(Self { layout, filters, fill, is_null })
    }
}

fn encoded(array: &Array, elements: Box<dyn Elements>) -> Result<Box<dyn Chunks>> {
    Ok(Box::new(EncodedOnRead::new(array, elements)?))
}

/// The codec from elements to bytes for elements that are stored in this form.
fn bytes_codec(mapped: &Mapped) -> CodecSpec {
    let is_ordered =
        mapped.data_type.storage().word() > 1 || matches!(mapped.data_type.storage(), Storage::Struct(_));
    match &mapped.form {
        _ if !is_ordered => CodecSpec::new("bytes", json!({})),
        Form::Same(Endian::Big) => zarrox::codecs::Bytes::big().into(),
        _ => zarrox::codecs::Bytes::little().into(),
    }
}

/// Returns true if a file follows the conventions of NetCDF-4, where an attribute of one element is a scalar.
fn is_netcdf(nodes: &[Found], path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let named = ["nc", "nc4", "cdf", "netcdf"].iter().any(|name| extension.eq_ignore_ascii_case(name));
    named
        || nodes.iter().any(|node| match &node.object {
            Object::Group(_, attributes) => attributes.iter().any(|found| found.name == "_NCProperties"),
            Object::Dataset(_) => false,
        })
}
