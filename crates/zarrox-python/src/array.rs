//! `_native.Array`.

#![expect(clippy::needless_pass_by_value, reason = "PyO3 hands over the lists that it has made")]

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use numpy::{PyArrayDescr, PyUntypedArray};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use zarrox::json::{Json, Map};
use zarrox::{AccessOptions, Error, ErrorKind, Format, MissingChunks, Node, OpenMode};
use zarrox_tools::{Rechunk, RechunkBoxes};

use crate::elements::Typed;
use crate::error::{OrRaise, of_python};
use crate::format::{format_name, has_words_of_v2};
use crate::long::{PyInterrupt, unless_interrupted};
use crate::mapping::bytes_of;
use crate::selection::Parsed;
use crate::store::{Owned, Store};
use crate::view;

/// The shape and the number of boxes.
type Boxes = (Vec<u64>, usize);
/// The chunk shape of the intermediate array, if there is one, with the boxes in which it is filled; then the boxes in which the
/// target is filled.
type Plan = (Option<(Vec<u64>, Boxes)>, Boxes);

/// The options with which a node was opened, which are needed to reopen it.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) store: Arc<dyn zarrox::stores::Store>,
    pub(crate) owned: Owned,
    pub(crate) read_only: bool,
    /// True if the node was opened with consolidated metadata, which is then not reloaded.
    pub(crate) consolidated: bool,
}

impl Opened {
    pub(crate) fn new(py: Python<'_>, store: &Store, read_only: bool) -> Self {
        Self { store: store.store.clone(), owned: store.owned.again(py), read_only, consolidated: false }
    }

    /// Creates a copy for another node.
    pub(crate) fn again(&self, py: Python<'_>) -> Self {
        Self { store: self.store.clone(), owned: self.owned.again(py), ..*self }
    }

    pub(crate) fn options(&self) -> zarrox::OpenOptions {
        crate::context::open_options().mode(if self.read_only { OpenMode::Read } else { OpenMode::ReadWrite })
    }
}

/// An array that all threads share. A change of its metadata replaces the inner array.
#[pyclass(frozen, module = "zarrox._native")]
pub(crate) struct Array {
    typed: RwLock<Arc<Typed>>,
    /// A lock that is held while the metadata is changed.
    changing: Mutex<()>,
    opened: Opened,
}

/// Parses attributes from a JSON string that was passed from Python.
pub(crate) fn attributes_of(text: &str) -> PyResult<Map> {
    zarrox::json::parse_object(text.as_bytes()).or_raise()
}

/// Replaces or updates the stored attributes. Unchanged attributes keep their exact JSON text. Names in v2 documents are sorted,
/// as in zarr-python 2.
pub(crate) fn put_attributes(stored: &mut Map, said: Map, among: bool, format: Format) {
    let said = zarrox::internals::json::with_texts_of(said, stored);
    match among {
        true => stored.extend(said),
        false => *stored = said,
    }
    if has_words_of_v2(format) {
        *stored = zarrox::internals::json::sorted(std::mem::take(stored));
    }
}

impl Array {
    pub(crate) fn new(py: Python<'_>, array: zarrox::Array, opened: Opened) -> PyResult<Self> {
        let typed = Typed::new(py, array, crate::context::registry())?;
        Ok(Self { typed: RwLock::new(Arc::new(typed)), changing: Mutex::default(), opened })
    }

    fn typed(&self) -> Arc<Typed> {
        Arc::clone(&self.typed.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the current array.
    pub(crate) fn array(&self) -> zarrox::Array {
        self.typed().array.clone()
    }

    pub(crate) fn opened(&self) -> &Opened {
        &self.opened
    }

    /// Replaces the array.
    fn replace(&self, py: Python<'_>, array: zarrox::Array) -> PyResult<()> {
        let typed = Arc::new(Typed::new(py, array, crate::context::registry())?);
        *self.typed.write().unwrap_or_else(PoisonError::into_inner) = typed;
        Ok(())
    }

    /// Changes the metadata of the array. Changes are serialized: each starts from the result of the previous one.
    fn change<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut zarrox::Array) -> zarrox::Result<R> + Send,
    ) -> PyResult<R> {
        py.detach(|| {
            let _changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
            let mut array = self.typed().array.clone();
            let result = work(&mut array).or_raise()?;
            Python::attach(|py| self.replace(py, array))?;
            Ok(result)
        })
    }
}

#[pymethods]
impl Array {
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.opened.owned.visit(&visit)
    }

    #[getter]
    fn path(&self) -> String {
        self.typed().array.path().as_str().to_owned()
    }

    #[getter]
    fn format(&self) -> String {
        format_name(self.typed().array.metadata().format)
    }

    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.typed().array.shape())
    }

    #[getter]
    fn chunks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.typed().array.unit_shape())
    }

    #[getter]
    fn shards<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        self.typed().array.shard_shape().map(|shape| PyTuple::new(py, shape)).transpose()
    }

    #[getter]
    fn chunk_grid(&self) -> String {
        self.typed().array.chunk_grid().to_json().to_string()
    }

    #[getter]
    fn chunk_grid_text(&self) -> String {
        self.typed().array.chunk_grid().describe()
    }

    #[getter]
    fn grid_shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.typed().array.grid_shape())
    }

    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> Bound<'py, PyArrayDescr> {
        self.typed().dtype(py)
    }

    #[getter]
    fn data_type(&self) -> PyResult<String> {
        let typed = self.typed();
        let data_type = typed.array.data_type();
        let json = crate::context::registry().family(data_type).and_then(|family| family.to_v3(data_type));
        Ok(json.unwrap_or_else(|_| Json::from(data_type.to_string())).to_string())
    }

    #[getter]
    fn fill_value<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let typed = self.typed();
        let fill = typed.array.metadata().fill_value.as_ref();
        fill.map(|fill| typed.scalar(py, fill.as_bytes())).transpose()
    }

    #[getter]
    fn order(&self, py: Python<'_>) -> &'static str {
        let typed = self.typed();
        // With fewer than two dimensions, the order makes no difference, and only the document records it.
        let in_document = || {
            let is_v2 = has_words_of_v2(typed.array.metadata().format);
            let read = || py.detach(|| typed.array.document()).ok();
            let document = (is_v2 && typed.array.ndim() < 2).then(read).flatten();
            document.is_some_and(|document| document.get("order").is_some_and(|order| order == "F"))
        };
        if typed.column_major || in_document() { "F" } else { "C" }
    }

    #[getter]
    fn read_only(&self) -> bool {
        self.opened.read_only
    }

    #[getter]
    fn is_remote(&self) -> bool {
        crate::long::is_remote(&self.typed().array)
    }

    #[getter]
    fn dimension_names<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        self.typed().array.dimension_names().map(|names| PyTuple::new(py, names)).transpose()
    }

    #[getter]
    fn codecs(&self) -> String {
        let typed = self.typed();
        let json = |codec: &zarrox::CodecSpec| {
            let mut map = Map::default();
            map.insert("name".to_owned(), codec.name.as_str().into());
            if !codec.configuration.is_empty() {
                map.insert("configuration".to_owned(), codec.configuration.clone().into());
            }
            Json::from(map)
        };
        Json::from(typed.array.codecs().iter().map(json).collect::<Vec<_>>()).to_string()
    }

    fn document(&self, py: Python<'_>) -> PyResult<String> {
        let typed = self.typed();
        Ok(Json::from(py.detach(|| typed.array.document()).or_raise()?).to_string())
    }

    #[pyo3(signature = (refresh = false))]
    fn attributes(&self, py: Python<'_>, refresh: bool) -> PyResult<String> {
        if refresh {
            self.refresh(py)?;
        }
        Ok(zarrox::json::to_line(self.typed().array.attributes()))
    }

    #[pyo3(signature = (attributes, among = false))]
    fn set_attributes(&self, py: Python<'_>, attributes: &str, among: bool) -> PyResult<()> {
        let said = attributes_of(attributes)?;
        py.detach(|| {
            let _changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
            let typed = self.typed();
            let mut array = typed.array.clone();
            let format = array.metadata().format;
            array
                .update_attributes(|stored| put_attributes(stored, said.clone(), among, format))
                .or_raise()?;
            let typed = Python::attach(|py| Arc::new(typed.with_attributes_of(py, array)));
            *self.typed.write().unwrap_or_else(PoisonError::into_inner) = typed;
            Ok(())
        })
    }

    fn refresh(&self, py: Python<'_>) -> PyResult<()> {
        if self.opened.consolidated {
            return Ok(());
        }
        let typed = self.typed();
        let (path, format) = (typed.array.path().as_str(), typed.array.metadata().format);
        let options = self.opened.options().format(format);
        let store = self.opened.store.clone();
        let node = py.detach(|| options.open((store, path)).and_then(Node::into_array)).or_raise()?;
        self.replace(py, node)
    }

    fn set_fill_value(&self, py: Python<'_>, fill: &str) -> PyResult<()> {
        let fill = zarrox::json::parse(fill.as_bytes()).or_raise()?;
        self.change(py, |array| array.set_fill_value_json(fill))
    }

    fn view(&self, py: Python<'_>, chunks: &Store, changes: &str) -> PyResult<Self> {
        let (typed, changes) = (self.typed(), attributes_of(changes)?);
        let (view, store) = py.detach(|| view::of(&typed.array, &chunks.store, changes)).or_raise()?;
        let opened = Opened { store, owned: chunks.owned.again(py), read_only: false, consolidated: false };
        Self::new(py, view, opened)
    }

    fn get<'py>(&self, py: Python<'py>, selection: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.select(py, "basic", selection, None, None)
    }

    fn set(&self, py: Python<'_>, selection: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.assign(py, "basic", selection, value, None)
    }

    #[pyo3(signature = (kind, selection, out = None, fields = None))]
    fn select<'py>(
        &self,
        py: Python<'py>,
        kind: &str,
        selection: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
        fields: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let typed = self.typed();
        let ndim = typed.array.ndim();
        let mut parsed = Parsed::new(selection)?;
        parsed.add_fields(fields)?;
        let (names, one) = (std::mem::take(&mut parsed.fields), parsed.one_field);
        let keep = ndim == 0 && parsed.has_ellipsis;
        let selection = parsed.of_kind(kind, ndim)?;
        if !names.is_empty() {
            return typed.read_fields(py, &selection, &names, one, out);
        }
        typed.read(py, &selection, out, keep)
    }

    #[pyo3(signature = (kind, selection, value, fields = None))]
    fn assign(
        &self,
        py: Python<'_>,
        kind: &str,
        selection: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
        fields: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let typed = self.typed();
        let mut parsed = Parsed::new(selection)?;
        parsed.add_fields(fields)?;
        let (names, one) = (std::mem::take(&mut parsed.fields), parsed.one_field);
        let selection = parsed.of_kind(kind, typed.array.ndim())?;
        if !names.is_empty() {
            return typed.write_fields(py, &selection, &names, one, value);
        }
        typed.write(py, &selection, value)
    }

    fn takes(&self, py: Python<'_>, dtype: &Bound<'_, PyArrayDescr>) -> bool {
        crate::parts::takes(py, &self.typed(), dtype)
    }

    #[pyo3(signature = (batch, out, drop_axes, interrupt = None))]
    fn read_parts(
        &self,
        py: Python<'_>,
        batch: Vec<Bound<'_, PyAny>>,
        out: &Bound<'_, PyUntypedArray>,
        drop_axes: Vec<usize>,
        interrupt: Option<&PyInterrupt>,
    ) -> PyResult<Option<Vec<bool>>> {
        let options = interruptible_by(interrupt);
        crate::parts::read(py, &self.typed(), &batch, out, &drop_axes, options.as_ref())
    }

    #[pyo3(signature = (batch, values, drop_axes, store_empty, interrupt = None))]
    fn write_parts(
        &self,
        py: Python<'_>,
        batch: Vec<Bound<'_, PyAny>>,
        values: &Bound<'_, PyUntypedArray>,
        drop_axes: Vec<usize>,
        store_empty: bool,
        interrupt: Option<&PyInterrupt>,
    ) -> PyResult<bool> {
        let options = interruptible_by(interrupt).unwrap_or_default().store_empty_chunks(store_empty);
        crate::parts::write(py, &self.typed(), &batch, values, &drop_axes, &options)
    }

    fn resize(&self, py: Python<'_>, shape: Vec<u64>) -> PyResult<()> {
        self.change(py, |array| array.resize(&shape))
    }

    fn with_shape(&self, py: Python<'_>, shape: Vec<u64>) -> PyResult<Self> {
        Self::new(py, self.typed().array.with_shape(&shape).or_raise()?, self.opened.again(py))
    }

    fn append<'py>(
        &self,
        py: Python<'py>,
        values: &Bound<'py, PyAny>,
        axis: usize,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let elements = self.typed().elements(py, values)?;
        let shape = self.change(py, |array| array.append(&elements, axis))?;
        PyTuple::new(py, shape)
    }

    fn rechunk(
        &self,
        py: Python<'_>,
        target: &Self,
        memory: Option<usize>,
        scratch: Option<PathBuf>,
    ) -> PyResult<()> {
        let mut rechunk = Rechunk::new();
        if let Some(bytes) = memory {
            rechunk = rechunk.memory(bytes);
        }
        if let Some(place) = scratch {
            rechunk = rechunk.scratch(place);
        }
        let (source, target) = (self.typed(), target.typed());
        unless_interrupted(py, &source.array, |source| rechunk.run(source, &target.array))
    }

    #[pyo3(signature = (target, memory, through = false))]
    fn rechunk_plan(&self, target: &Self, memory: usize, through: bool) -> PyResult<Plan> {
        let rechunk = Rechunk::new().memory(memory);
        let rechunk = if through { rechunk.scratch("") } else { rechunk };
        let plan = rechunk.plan(&self.typed().array, &target.typed().array).or_raise()?;
        let of = |boxes: RechunkBoxes| (boxes.lengths, boxes.count);
        Ok((plan.between.map(|(chunks, boxes)| (chunks, of(boxes))), of(plan.boxes)))
    }

    fn copy_boxes(
        &self,
        py: Python<'_>,
        target: &Self,
        lengths: Vec<u64>,
        part: (usize, usize),
        memory: usize,
    ) -> PyResult<()> {
        let (source, target) = (self.typed(), target.typed());
        let rechunk = Rechunk::new().memory(memory);
        let copy = |source: &_| rechunk.copy_boxes(source, &target.array, &lengths, part.0..part.1);
        unless_interrupted(py, &source.array, copy)
    }

    fn chunk_key(&self, chunk: Vec<u64>) -> PyResult<String> {
        self.typed().array.raw().key(&chunk).or_raise()
    }

    fn encoded_chunk<'py>(&self, py: Python<'py>, chunk: Vec<u64>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let typed = self.typed();
        let encoded = py.detach(|| typed.array.raw().read(&chunk)).or_raise()?;
        Ok(encoded.map(|bytes| PyBytes::new(py, &bytes)))
    }

    fn set_encoded_chunk(&self, py: Python<'_>, chunk: Vec<u64>, encoded: &Bound<'_, PyAny>) -> PyResult<()> {
        let (typed, encoded) = (self.typed(), bytes_of(encoded)?);
        py.detach(|| typed.array.raw().write(&chunk, &encoded)).or_raise()
    }

    fn visit_encoded_chunks(&self, py: Python<'_>, visit: Py<PyAny>) -> PyResult<()> {
        let typed = self.typed();
        let visit = |chunk: &[u8]| {
            let visited = Python::attach(|py| visit.call1(py, (PyBytes::new(py, chunk),)).map(drop));
            visited
                .map_err(|error| Error::new(ErrorKind::InvalidArgument, error.to_string()).with_source(error))
        };
        py.detach(|| zarrox_tools::visit_encoded_chunks(&typed.array, &mut { visit })).or_raise()
    }

    fn stored_chunks(&self, py: Python<'_>) -> PyResult<u64> {
        let typed = self.typed();
        Ok(py.detach(|| typed.array.info()).or_raise()?.chunks_stored)
    }

    fn stored_bytes(&self, py: Python<'_>) -> PyResult<u64> {
        let typed = self.typed();
        Ok(py.detach(|| typed.array.info()).or_raise()?.bytes_stored)
    }

    #[pyo3(signature = (*, write_empty_chunks = None, verify_checksums = None, missing_chunks = None, threads = None, memory = None,
        chunk_cache = None))]
    #[expect(clippy::too_many_arguments, reason = "they are Python's keywords")]
    fn with_options(
        &self,
        py: Python<'_>,
        write_empty_chunks: Option<bool>,
        verify_checksums: Option<bool>,
        missing_chunks: Option<&str>,
        threads: Option<usize>,
        memory: Option<usize>,
        chunk_cache: Option<usize>,
    ) -> PyResult<Self> {
        let mut options = AccessOptions::new();
        if let Some(store) = write_empty_chunks {
            options = options.store_empty_chunks(store);
        }
        if let Some(verify) = verify_checksums {
            options = options.verify_checksums(verify);
        }
        options = match missing_chunks {
            None => options,
            Some("fill") => options.missing_chunks(MissingChunks::Fill),
            Some("error") => options.missing_chunks(MissingChunks::Error),
            Some(other) => {
                let message = format!("missing_chunks must be 'fill' or 'error', not '{other}'");
                return Err(pyo3::exceptions::PyValueError::new_err(message));
            }
        };
        if let Some(threads) = threads {
            options = options.threads(threads);
        }
        if let Some(bytes) = memory {
            options = options.memory(bytes);
        }
        if let Some(bytes) = chunk_cache {
            options = options.chunk_cache(bytes);
        }
        Self::new(py, self.typed().array.with_options(&options), self.opened.again(py))
    }
}

/// Grows arrays in one store. `write` is called with the arrays in their new shapes, before these shapes are stored.
#[pyfunction]
pub(crate) fn grow_together(
    py: Python<'_>,
    arrays: Vec<Py<Array>>,
    shapes: Vec<Vec<u64>>,
    write: Py<PyAny>,
) -> PyResult<()> {
    let mut grown: Vec<_> = arrays.iter().map(|array| array.get().array()).collect();
    let call = |grown: &[zarrox::Array]| {
        Python::attach(|py| {
            let of = |(array, grown): (&Py<Array>, &zarrox::Array)| {
                Array::new(py, grown.clone(), array.get().opened.again(py))
            };
            let grown = arrays.iter().zip(grown).map(of).collect::<PyResult<Vec<_>>>()?;
            write.call1(py, (grown,)).map(drop)
        })
        .map_err(of_python)
    };
    py.detach(|| zarrox::Array::grow_together(&mut grown, &shapes, call)).or_raise()?;
    arrays.iter().zip(grown).try_for_each(|(array, grown)| array.get().replace(py, grown))
}

/// Returns the options for work that can be interrupted.
fn interruptible_by(interrupt: Option<&PyInterrupt>) -> Option<AccessOptions> {
    interrupt.map(|interrupt| AccessOptions::new().interrupt(&interrupt.0))
}
