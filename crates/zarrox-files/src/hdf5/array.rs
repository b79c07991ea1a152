//! Datasets as Zarr arrays.

use std::collections::HashMap;
use std::sync::Arc;

use zarrox::data_type::{Endian, Storage};
use zarrox::json::{Json, Map, json};
use zarrox::stores::MemoryStore;
use zarrox::{Array, ArrayBuilder, CodecSpec, Format, OpenOptions, Result};

use super::chunks::{AsStored, Beyond, Check, Column, ColumnInRows, Decoded, ElementForm};
use super::files::{Files, Id};
use super::filter::Pipeline;
use super::format::{Dataset, Layout, Mapping, Space};
use super::table::{Chunked, Table};
use super::types::{Form, Mapped};
use super::values::Heap;
use crate::chunks::rows::{ElementLocation, Rows, Whole};
use crate::chunks::{Chunks, Elements, EncodedOnRead};
use crate::input::{corrupt, unsupported, zeroed};

/// The state of an import from which arrays are created.
pub(super) struct Maker {
    pub(super) files: Files,
    /// For each file, the paths of its nodes by address.
    pub(super) paths: Vec<Arc<HashMap<u64, String>>>,
    /// True to leave chunks that are encoded on each read uncompressed, since the copy uses other codecs.
    pub(super) is_plain: bool,
    /// True to also decode chunks that are passed on unchanged, to check that they are not damaged.
    pub(super) checks: bool,
    /// The opened sources of virtual datasets.
    pub(super) sources: HashMap<Id, Array>,
    /// The virtual datasets being opened, to detect a dataset that is its own source.
    pub(super) open: Vec<Id>,
}

/// The properties of the array to create.
pub(super) struct Wanted<'w> {
    pub(super) documents: &'w MemoryStore,
    pub(super) path: &'w str,
    pub(super) id: Id,
    pub(super) dataset: &'w Dataset,
    pub(super) mapped: Mapped,
    /// The field that the array contains; `None` for whole structures.
    pub(super) column: Option<Column>,
    /// The shape, excluding the dimensions of array-typed elements.
    pub(super) shape: Vec<u64>,
    pub(super) attributes: Map,
    /// The dimension names of the dataset.
    pub(super) names: Option<Vec<Option<String>>>,
}

impl Wanted<'_> {
    /// Returns the shape of the array, including the dimensions of array-typed elements.
    pub(super) fn whole_shape(&self) -> Vec<u64> {
        self.shape.iter().chain(&self.mapped.inner).copied().collect()
    }

    /// Returns the fill value, encoded as a stored element.
    pub(super) fn fill(&self) -> Result<Vec<u8>> {
        match &self.dataset.fill {
            Some(fill) if fill.len() == self.dataset.datatype.size => Ok(fill.clone()),
            Some(_) => Err(corrupt("the fill value does not have the size of an element")),
            None => zeroed(self.dataset.datatype.size),
        }
    }

    /// Returns a builder with all settings of the array except its chunks and codecs. `fill` is the fill value.
    pub(super) fn builder(&self, fill: Option<Json>) -> ArrayBuilder {
        let builder = options()
            .create_array((Arc::new(self.documents.clone()), self.path))
            .shape(self.whole_shape())
            .data_type(self.mapped.data_type.clone())
            .attributes(self.attributes.clone());
        let builder = match fill {
            Some(fill) => builder.fill_value_json(fill),
            None => builder,
        };
        match &self.names {
            Some(names) => {
                let inner = std::iter::repeat_n(None, self.mapped.inner.len());
                builder.optional_dimension_names(names.iter().cloned().chain(inner))
            }
            // For scalars, an empty list of names is also written: xarray needs it in formats without dimension names.
            None if self.whole_shape().is_empty() => builder.optional_dimension_names([]),
            None => builder,
        }
    }
}

/// Returns the options for creating metadata documents.
pub(super) fn options() -> OpenOptions {
    OpenOptions::new().format(Format::V3)
}

impl Maker {
    /// Returns the heap of a file.
    pub(super) fn heap(&self, file: usize) -> Heap {
        let paths = self.paths.get(file).cloned().unwrap_or_default();
        Heap { file: self.files.file(file).clone(), paths }
    }

    /// Creates the metadata document of an array and the object that reads its chunks, and returns the object and the
    /// shape of the array.
    pub(super) fn make(&mut self, mut wanted: Wanted<'_>) -> Result<(Box<dyn Chunks>, Vec<u64>)> {
        let dataset = wanted.dataset;
        if let Layout::Virtual(mappings) = &dataset.layout {
            let chunks = self.make_virtual(&mut wanted, mappings)?;
            return Ok((chunks, wanted.whole_shape()));
        }
        let shape = wanted.whole_shape();
        Ok((self.make_stored(wanted)?, shape))
    }

    fn make_virtual(&mut self, wanted: &mut Wanted<'_>, mappings: &[Mapping]) -> Result<Box<dyn Chunks>> {
        if wanted.column.is_some() {
            return Err(unsupported(
                "virtual datasets of structures with fields of variable length are not read",
            ));
        }
        let fill = self.heap(wanted.id.file).fill(&wanted.mapped, &wanted.fill()?)?;
        self.virtual_array(wanted, mappings, fill)
    }

    fn make_stored(&self, wanted: Wanted<'_>) -> Result<Box<dyn Chunks>> {
        let heap = self.heap(wanted.id.file);
        let raw = wanted.fill()?;
        let element = match wanted.column {
            Some(column) => column.of(&raw)?,
            None => raw.clone(),
        };
        // If there is no single fill value, all elements must be stored.
        let fill = heap.fill(&wanted.mapped, &element)?;
        let several =
            || unsupported("the fill value has different elements, and some elements are not stored");
        let is_null = wanted.dataset.space == Space::Null || wanted.shape.contains(&0);
        let is_needed = fill.is_none() && !is_null;
        let builder = wanted.builder(fill);
        match &wanted.dataset.layout {
            Layout::Chunked { chunk, address, .. } => {
                let chunked = chunked(&wanted, chunk)?;
                let file = &heap.file;
                let is_absent = is_null || address.is_none();
                let table = if is_absent {
                    Table::empty(&chunked)
                } else {
                    Table::read(file, wanted.dataset, &chunked)?
                };
                if is_needed && !table.is_complete() {
                    return Err(several());
                }
                let size = chunked.size;
                let chunk = chunk.clone();
                self.chunked(wanted, builder, heap, table, &chunk, size, raw)
            }
            layout => {
                let (place, available) = self.place(&wanted, layout)?;
                if is_needed && matches!(place, ElementLocation::Absent) {
                    return Err(several());
                }
                self.rows(wanted, builder, heap, place, available)
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "they are the parts of one dataset")]
    fn chunked(
        &self,
        wanted: Wanted<'_>,
        builder: ArrayBuilder,
        heap: Heap,
        table: Table,
        chunk: &[u64],
        size: u64,
        raw: Vec<u8>,
    ) -> Result<Box<dyn Chunks>> {
        let Wanted { dataset, mapped, column, shape, .. } = wanted;
        let pipeline = Pipeline::new(&dataset.filters)?;
        let chunk_shape: Vec<u64> = chunk.iter().chain(&mapped.inner).copied().collect();
        let beyond = beyond(dataset, &shape, chunk, raw);
        let file = heap.file.clone();
        let builder = builder.chunks(chunk_shape.clone());
        let is_same = matches!(mapped.form, Form::Same(_)) && column.is_none() && beyond.is_none();
        let codecs =
            (is_same && table.is_uniform()).then(|| pipeline.codecs(dataset.datatype.size)).flatten();
        if let Some(codecs) = codecs {
            let all = std::iter::once(bytes_codec(&mapped)).chain(codecs);
            let array = builder.codecs(all).create()?;
            let size = usize::try_from(size).map_err(|_| corrupt("a chunk is too large"))?;
            let check = self.checks.then_some(Check { pipeline, size, element: dataset.datatype.size });
            return Ok(Box::new(AsStored { file, table, ndim: array.ndim(), check }));
        }
        let array = self.compressed(builder).create()?;
        let grid = table.grid().iter().copied().chain(mapped.inner.iter().map(|_| 1)).collect();
        let elements = Decoded {
            file,
            table,
            pipeline,
            form: ElementForm { heap, mapped, column },
            grid,
            chunk_shape,
            size: usize::try_from(size).map_err(|_| corrupt("a chunk is too large"))?,
            element: dataset.datatype.size,
            beyond,
        };
        encoded(&array, Box::new(elements))
    }

    /// Returns the location of contiguous elements and their total size in bytes.
    fn place(&self, wanted: &Wanted<'_>, layout: &Layout) -> Result<(ElementLocation, u64)> {
        let dataset = wanted.dataset;
        if dataset.space == Space::Null {
            return Ok((ElementLocation::Absent, 0));
        }
        if !dataset.external.is_empty() {
            return self.external(wanted);
        }
        match layout {
            Layout::Compact(data) if !data.is_empty() => {
                Ok((ElementLocation::Memory(data.clone().into()), data.len() as u64))
            }
            Layout::Contiguous(Some(address)) => {
                let file = self.files.file(wanted.id.file);
                let position = file.position(*address)?;
                let available = file.input().length().saturating_sub(position);
                Ok((ElementLocation::File(Arc::clone(file.input()), position), available))
            }
            _ => Ok((ElementLocation::Absent, 0)),
        }
    }

    /// Returns the location of elements in external files.
    fn external(&self, wanted: &Wanted<'_>) -> Result<(ElementLocation, u64)> {
        let count = wanted.shape.iter().try_fold(1_u64, |count, &length| count.checked_mul(length));
        let size = count.and_then(|count| count.checked_mul(wanted.dataset.datatype.size as u64));
        let mut missing = size.ok_or_else(|| corrupt("the dataset is too large"))?;
        let mut parts = Vec::new();
        for part in &wanted.dataset.external {
            if missing == 0 {
                break;
            }
            let input = self.files.raw(wanted.id.file, &part.name)?;
            let length = part.size.min(missing);
            if part.offset.checked_add(length).is_none_or(|end| end > input.length()) {
                return Err(corrupt(format!(
                    "the external file '{}' has {} bytes, but the dataset needs {length} bytes from offset {}",
                    input.path().display(),
                    input.length(),
                    part.offset
                )));
            }
            parts.push((input, part.offset, length));
            missing -= length;
        }
        let available = parts.iter().map(|(_, _, length)| length).sum();
        Ok((ElementLocation::Parts(parts), available))
    }

    /// Creates an array from contiguous elements.
    fn rows(
        &self,
        wanted: Wanted<'_>,
        builder: ArrayBuilder,
        heap: Heap,
        place: ElementLocation,
        available: u64,
    ) -> Result<Box<dyn Chunks>> {
        let whole = wanted.whole_shape();
        let Wanted { dataset, mapped, column, shape, .. } = wanted;
        if let Some(column) = column {
            let rows = Rows::new(place, &shape, dataset.datatype.size as u64, available)?;
            let with = |own: &[u64], inner: &mut dyn Iterator<Item = u64>| {
                own.iter().copied().chain(inner).collect()
            };
            let chunk_shape: Vec<u64> = with(rows.chunk_shape(), &mut mapped.inner.iter().copied());
            let grid: Vec<u64> = with(rows.grid(), &mut mapped.inner.iter().map(|_| 1));
            let array = self.compressed(builder.chunks(chunk_shape.clone())).create()?;
            let form = ElementForm { heap, mapped, column: Some(column) };
            return encoded(&array, Box::new(ColumnInRows { rows, form, grid, chunk_shape }));
        }
        let rows = Rows::new(place, &whole, mapped.item as u64, available)?;
        let array = self.compressed(builder.chunks(rows.chunk_shape().to_vec())).create()?;
        encoded(&array, Box::new(Whole { rows, form: ElementForm { heap, mapped, column: None } }))
    }

    /// Sets the codecs of chunks that are encoded on each read.
    pub(super) fn compressed(&self, builder: ArrayBuilder) -> ArrayBuilder {
        if self.is_plain { builder.no_compressor() } else { builder }
    }
}

/// Returns the chunks of a dataset.
fn chunked<'w>(wanted: &'w Wanted<'_>, chunk: &'w [u64]) -> Result<Chunked<'w>> {
    if chunk.len() != wanted.shape.len() || chunk.contains(&0) {
        return Err(corrupt("the shape of the chunks is damaged"));
    }
    let element = wanted.dataset.datatype.size as u64;
    let size = chunk.iter().try_fold(element, |size, &length| size.checked_mul(length));
    let size = size.filter(|&size| size <= zarrox::codec::CHUNK_LIMIT as u64);
    let size = size.ok_or_else(|| unsupported("a chunk exceeds the size that Zarrox decodes"))?;
    Ok(Chunked { shape: &wanted.shape, chunk, size })
}

/// Returns how to fill chunk elements outside the dataset if the dataset is shorter than its array, or `None` if no chunk
/// has elements outside the dataset.
fn beyond(dataset: &Dataset, shape: &[u64], chunk: &[u64], fill: Vec<u8>) -> Option<Beyond> {
    let Space::Simple { shape: stored, .. } = &dataset.space else { return None };
    let is_cut = stored
        .iter()
        .zip(shape)
        .zip(chunk)
        .any(|((&stored, &length), &chunk)| stored < length && stored % chunk.max(1) != 0);
    is_cut.then(|| Beyond { shape: stored.clone(), fill })
}

pub(super) fn encoded(array: &Array, elements: Box<dyn Elements>) -> Result<Box<dyn Chunks>> {
    Ok(Box::new(EncodedOnRead::new(array, elements)?))
}

/// Returns the serializer for elements that are stored as `mapped` describes.
fn bytes_codec(mapped: &Mapped) -> CodecSpec {
    let is_ordered =
        mapped.data_type.storage().word() > 1 || matches!(mapped.data_type.storage(), Storage::Struct(_));
    match &mapped.form {
        _ if !is_ordered => CodecSpec::new("bytes", json!({})),
        Form::Same(Endian::Big) => zarrox::codecs::Bytes::big().into(),
        _ => zarrox::codecs::Bytes::little().into(),
    }
}
