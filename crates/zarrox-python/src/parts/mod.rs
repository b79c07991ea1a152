//! Parts of stored chunks, as zarr-python 3 passes them to its codec pipeline: a key, the chunk shape, a selection from the
//! chunk, and a selection from the array in memory.

mod selection;

use std::borrow::Cow;

use numpy::{PyArrayDescr, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};
use zarrox::internals::vlen::VlenRef;
use zarrox::internals::{StoredChunk, StoredRead, StoredWrite};
use zarrox::stores::Key;
use zarrox::strided::{View, ViewMut, VlenBuffer};
use zarrox::{AccessOptions, Array, Error, ErrorKind};

use crate::elements::{Memory, Typed, is_writable, memory_of};
use crate::error::{OrRaise, cause};
use crate::objects::Elements;
use selection::{Placement, Whole, placement};

/// A part of one chunk.
struct Part {
    chunk: StoredChunk,
    placement: Placement,
    /// True if the rest of the chunk is discarded.
    replaces: bool,
}

/// Reads a batch into a NumPy array. Returns `None` if the batch is not supported.
pub(crate) fn read(
    py: Python<'_>,
    typed: &Typed,
    batch: &[Bound<'_, PyAny>],
    out: &Bound<'_, PyUntypedArray>,
    dropped: &[usize],
    options: Option<&AccessOptions>,
) -> PyResult<Option<Vec<bool>>> {
    let Some(parts) = parts(batch, Whole::Shape(out.shape()), dropped)?.filter(|_| is_writable(out)) else {
        return Ok(None);
    };
    if typed.is_variable() {
        let array = with(&typed.array, options);
        return read_variable(py, &array, parts, out);
    }
    let Some(array) = typed.array_of(py, &out.dtype()) else { return Ok(None) };
    let memory = memory_of(out);
    let stored = py.detach(|| {
        let array = with(array, options);
        let stored = array.raw().read_parts(reads(parts, &memory.view_mut()));
        // Booleans are normalised even if there was an error, since the memory may belong to the caller.
        array.data_type().normalise(&mut memory.view_mut());
        stored
    });
    unless_refused(stored)
}

/// Returns the array with the options, if any.
fn with<'a>(array: &'a Array, options: Option<&AccessOptions>) -> Cow<'a, Array> {
    options.map_or(Cow::Borrowed(array), |options| Cow::Owned(array.with_options(options)))
}

/// Returns the result of work with chunks; `None` if the chunks are not supported, or were deleted while they were being read.
/// Exceptions from Python stores and codecs are returned as errors.
fn unless_refused<R>(result: zarrox::Result<R>) -> PyResult<Option<R>> {
    let is_refusal = |error: &Error| {
        let kinds = [
            ErrorKind::Conflict,
            ErrorKind::Corrupt,
            ErrorKind::DataTypeMismatch,
            ErrorKind::InvalidArgument,
            ErrorKind::InvalidMetadata,
            ErrorKind::Unsupported,
        ];
        kinds.contains(&error.kind()) && cause(error).is_none()
    };
    match result {
        Err(error) if is_refusal(&error) => Ok(None),
        result => result.or_raise().map(Some),
    }
}

/// Reads variable-length elements as objects.
fn read_variable(
    py: Python<'_>,
    array: &Array,
    parts: Vec<Part>,
    out: &Bound<'_, PyUntypedArray>,
) -> PyResult<Option<Vec<bool>>> {
    let (vlen, shape) = (VlenBuffer::new(), out.shape().to_vec());
    let mut references = vec![0; out.len() * VlenRef::SIZE];
    let stored = py.detach(|| {
        let whole = ViewMut::contiguous(&mut references, &shape, VlenRef::SIZE).with_vlen(&vlen);
        array.raw().read_parts(reads(parts, &whole))
    });
    let Some(stored) = unless_refused(stored)? else { return Ok(None) };
    let elements = || references.chunks_exact(VlenRef::SIZE).map(|reference| vlen.element(reference));
    if crate::objects::text::fill(out, elements())? {
        return Ok(Some(stored));
    }
    let kind = Elements::of(py, array.data_type(), crate::context::registry())?;
    let objects = kind.objects(py, elements(), &shape)?;
    out.set_item(py.Ellipsis(), objects)?;
    Ok(Some(stored))
}

/// Returns the parts, each with a view of its elements in the output.
fn reads<'a>(parts: Vec<Part>, out: &ViewMut<'a>) -> Vec<StoredRead<'a>> {
    let read = |Part { chunk, placement, .. }: Part| {
        // SAFETY: zarr-python's indexers assign each element of the output to one chunk. If a Python caller passes overlapping
        // parts, the effect is the same as if two of its threads had written to one array.
        let out = placement.memory_mut(unsafe { out.alias() });
        StoredRead::new(chunk, placement.elements.into_elements(), out)
    };
    parts.into_iter().map(read).collect()
}

/// Writes a batch from a NumPy array or, if a single value is given, writes it everywhere. Returns false if the batch is not
/// fully supported; some chunks may then have been written.
pub(crate) fn write(
    py: Python<'_>,
    typed: &Typed,
    batch: &[Bound<'_, PyAny>],
    values: &Bound<'_, PyUntypedArray>,
    dropped: &[usize],
    options: &AccessOptions,
) -> PyResult<bool> {
    let is_value = values.ndim() == 0;
    let whole = if is_value { Whole::Value } else { Whole::Shape(values.shape()) };
    let Some(parts) = parts(batch, whole, dropped)? else { return Ok(false) };
    let store = |array: &Array, values: &View<'_>| {
        let writes = parts.into_iter().map(|Part { chunk, placement, replaces }| {
            let values = placement.memory(values, is_value);
            StoredWrite::new(chunk, placement.elements.into_elements(), values).replaces(replaces)
        });
        array.with_options(options).raw().write_parts(writes.collect())
    };
    if typed.is_variable() {
        let elements = typed.elements(py, values.as_any())?;
        let written = py.detach(|| store(&typed.array, &elements.view()));
        return written_unless_refused(written);
    }
    let Some(array) = typed.array_of(py, &values.dtype()) else { return Ok(false) };
    let values = typed.values(py, values.as_any(), &values.dtype())?;
    let memory: Memory = memory_of(&values);
    written_unless_refused(py.detach(|| store(array, &memory.view())))
}

/// Returns false if chunks cannot be encoded or decoded here. A conflict with another writer is an error: its data must not be overwritten.
fn written_unless_refused(written: zarrox::Result<()>) -> PyResult<bool> {
    match written {
        Err(error) if error.kind() == ErrorKind::Conflict => Err(error).or_raise(),
        written => Ok(unless_refused(written)?.is_some()),
    }
}

/// Returns true if elements of a NumPy dtype are read and written unchanged.
pub(crate) fn takes(py: Python<'_>, typed: &Typed, dtype: &Bound<'_, PyArrayDescr>) -> bool {
    typed.is_variable() || typed.array_of(py, dtype).is_some()
}

/// Returns the parts of a batch; `None` if their stores or prototypes differ, or if a selection is not supported.
fn parts(batch: &[Bound<'_, PyAny>], whole: Whole<'_>, dropped: &[usize]) -> PyResult<Option<Vec<Part>>> {
    let mut parts = Vec::with_capacity(batch.len());
    let mut common: Option<Common<'_>> = None;
    for item in batch {
        let item = item.cast::<PyTuple>()?;
        let (getter, spec) = (item.get_item(0)?, item.get_item(1)?);
        let known = match common.take() {
            Some(common) => common.with(&getter, &spec)?,
            None => Some(Common::of(&getter, &spec)?),
        };
        let Some(known) = known else { return Ok(None) };
        let Some(key) = known.key(&getter)? else { return Ok(None) };
        let (chunk, out) = (item.get_item(2)?, item.get_item(3)?);
        let Some(placement) = placement(&chunk, &known.shape, &out, whole, dropped)? else { return Ok(None) };
        let shape = known.shape.iter().map(|&length| length as u64).collect();
        let replaces = item.get_item(4)?.is_truthy()?;
        parts.push(Part { chunk: StoredChunk { key, shape }, placement, replaces });
        common = Some(known);
    }
    Ok(Some(parts))
}

/// The properties that the parts of a batch have in common, and the shape of the last part's chunk.
struct Common<'py> {
    store: Bound<'py, PyAny>,
    prototype: Bound<'py, PyAny>,
    spec: Bound<'py, PyAny>,
    shape: Vec<usize>,
}

impl<'py> Common<'py> {
    fn of(getter: &Bound<'py, PyAny>, spec: &Bound<'py, PyAny>) -> PyResult<Self> {
        Ok(Self {
            store: getter.getattr("store")?,
            prototype: spec.getattr("prototype")?,
            spec: spec.clone(),
            shape: spec.getattr("shape")?.extract()?,
        })
    }

    /// Returns the common properties if another part has them as well; `None` if that part has a different store or prototype.
    fn with(self, getter: &Bound<'py, PyAny>, spec: &Bound<'py, PyAny>) -> PyResult<Option<Self>> {
        if !getter.getattr("store")?.is(&self.store) {
            return Ok(None);
        }
        if spec.is(&self.spec) {
            return Ok(Some(self));
        }
        let other = Self::of(getter, spec)?;
        Ok(other.prototype.is(&self.prototype).then_some(other))
    }

    /// Returns the key of a part's chunk; `None` if this library does not allow the key.
    fn key(&self, getter: &Bound<'py, PyAny>) -> PyResult<Option<Key>> {
        let path = getter.getattr("path")?;
        let path = path.cast::<PyString>()?.to_cow()?.into_owned();
        Ok(Key::new(path).ok())
    }
}
