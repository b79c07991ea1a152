//! Transfers elements between Zarr arrays and the memory of NumPy arrays, without an intermediate copy.

use std::sync::OnceLock;

use numpy::npyffi::{self, PY_ARRAY_API};
use numpy::{PyArrayDescr, PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use zarrox::data_type::Storage;
use zarrox::strided::{View, ViewMut};
use zarrox::{Array, ArrayView, DynArray, Registry, Selection};

use crate::error::OrRaise;
use crate::format::has_words_of_v2;
use crate::long::unless_interrupted;
use crate::objects::Elements;

/// The assumed size of a variable-length element in bytes, which serves to estimate whether work may take long.
const USUAL: usize = 64;

/// An array, and its NumPy data type.
#[derive(Debug)]
pub(crate) struct Typed {
    pub(crate) array: Array,
    /// The dtype of elements in memory, in the machine's byte order.
    native: Py<PyArrayDescr>,
    /// The stored byte order, if v2 metadata specifies a byte order other than the machine's.
    stored: Option<Stored>,
    /// True if results are to be column-major.
    pub(crate) column_major: bool,
}

/// The access to elements in their stored byte order.
#[derive(Debug)]
struct Stored {
    dtype: Py<PyArrayDescr>,
    /// The array that reads and writes them in this order, unless the codecs need the machine's order; created on first
    /// use.
    array: OnceLock<Option<Array>>,
}

impl Typed {
    pub(crate) fn new(py: Python<'_>, array: Array, registry: &Registry) -> PyResult<Self> {
        let native = match is_text_of_v3(&array) {
            true => crate::dtype::text(py)?,
            false => crate::dtype::native(py, array.data_type(), registry)?,
        };
        let stored = stored_dtype(py, &array, &native)?;
        let stored = stored.map(|dtype| Stored { dtype: dtype.unbind(), array: OnceLock::new() });
        let column_major = is_column_major(&array);
        Ok(Self { native: native.unbind(), stored, column_major, array })
    }

    /// Returns a copy of this value for an array that differs only in its attributes.
    pub(crate) fn with_attributes_of(&self, py: Python<'_>, array: Array) -> Self {
        let dtype = |stored: &Stored| stored.dtype.clone_ref(py);
        let stored =
            self.stored.as_ref().map(|stored| Stored { dtype: dtype(stored), array: OnceLock::new() });
        Self { native: self.native.clone_ref(py), stored, column_major: self.column_major, array }
    }

    /// Returns the data type of the arrays that are read.
    pub(crate) fn dtype<'py>(&self, py: Python<'py>) -> Bound<'py, PyArrayDescr> {
        self.stored.as_ref().map_or(&self.native, |stored| &stored.dtype).bind(py).clone()
    }

    /// Returns the array that reads and writes elements of a NumPy dtype unchanged.
    pub(crate) fn array_of(&self, py: Python<'_>, dtype: &Bound<'_, PyArrayDescr>) -> Option<&Array> {
        if self.is_variable() {
            return None;
        }
        if dtype.is_equiv_to(self.native.bind(py)) {
            return Some(&self.array);
        }
        let stored = self.stored.as_ref()?;
        let own = stored.dtype.bind(py);
        // A subarray dtype adds dimensions to the array.
        if own.has_subarray() || !dtype.is_equiv_to(own) {
            return None;
        }
        stored.array.get_or_init(|| self.array.raw().as_bytes()).as_ref()
    }

    /// Converts a value to elements in the memory layout of the array.
    pub(crate) fn values<'py>(
        &self,
        py: Python<'py>,
        value: &Bound<'py, PyAny>,
        dtype: &Bound<'py, PyArrayDescr>,
    ) -> PyResult<Bound<'py, PyUntypedArray>> {
        let values = as_array(py, value, dtype)?;
        let data_type = self.array.data_type();
        if data_type.storage() != Storage::Int(1) || !matches!(data_type, zarrox::DataType::Extension(_)) {
            return Ok(values);
        }
        // In the small integers of `ml_dtypes`, the unused high bits of a negative number are undefined. In the result, these
        // bits are copies of the sign bit.
        Ok(values.call_method1("astype", ("i1",))?.cast_into::<PyUntypedArray>()?)
    }

    pub(crate) fn is_variable(&self) -> bool {
        self.array.data_type().storage() == Storage::Variable
    }

    /// Reads a selection into `out`, or into a new array. A new array without dimensions is returned as a
    /// scalar, unless `keep` is true.
    pub(crate) fn read<'py>(
        &self,
        py: Python<'py>,
        selection: &Selection,
        out: Option<&Bound<'py, PyAny>>,
        keep: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Some(out) = out else {
            let result = self.read_new(py, selection)?;
            return if keep { Ok(result) } else { scalar(result) };
        };
        let array = out.cast::<PyUntypedArray>();
        let array = array.map_err(|_| PyTypeError::new_err("'out' must be a NumPy array"))?;
        if let Some(source) = self.array_of(py, &array.dtype()).filter(|_| is_writable(array)) {
            self.read_view(py, &source.slice(selection), selection, array)?;
            return Ok(out.clone());
        }
        let result = self.read_new(py, selection)?;
        let shape = result.cast::<PyUntypedArray>()?.shape().to_vec();
        if array.shape() != shape {
            let message = format!("'out' has the shape {:?}, but the selection has {shape:?}", array.shape());
            return Err(PyValueError::new_err(message));
        }
        out.set_item(py.Ellipsis(), result)?;
        Ok(out.clone())
    }

    fn read_new<'py>(&self, py: Python<'py>, selection: &Selection) -> PyResult<Bound<'py, PyAny>> {
        let dtype = self.dtype(py);
        let as_is = self.array_of(py, &dtype).map(|array| (array, &dtype));
        let (array, of) = as_is.unwrap_or((&self.array, self.native.bind(py)));
        let view = array.slice(selection);
        let shape = lengths(&view.shape().or_raise()?)?;
        if self.is_variable() {
            let elements = self.run(py, shape.iter().product::<usize>() * USUAL, |array| {
                array.slice(selection).read::<DynArray>()
            })?;
            return self.objects(py, &elements);
        }
        let result = empty(py, &shape, of, self.column_major)?;
        self.read_view(py, &view, selection, &result)?;
        match as_is {
            Some(_) => Ok(result.into_any()),
            None => self.as_stored(py, result.into_any()),
        }
    }

    fn read_view(
        &self,
        py: Python<'_>,
        view: &ArrayView<'_>,
        selection: &Selection,
        out: &Bound<'_, PyUntypedArray>,
    ) -> PyResult<()> {
        let bytes = out.len().saturating_mul(out.dtype().itemsize());
        let memory = memory_of(out);
        if !self.is_long(bytes) {
            return py.detach(|| view.read_raw(memory.view_mut())).or_raise();
        }
        unless_interrupted(py, view.array(), |array| array.slice(selection).read_raw(memory.view_mut()))
    }

    /// Returns true if work on `bytes` bytes may take long.
    fn is_long(&self, bytes: usize) -> bool {
        bytes >= crate::long::LONG || crate::long::is_remote(&self.array)
    }

    /// Runs work on `bytes` bytes without the GIL.
    fn run<R: Send>(
        &self,
        py: Python<'_>,
        bytes: usize,
        work: impl FnOnce(&Array) -> zarrox::Result<R> + Send,
    ) -> PyResult<R> {
        if self.is_long(bytes) {
            return unless_interrupted(py, &self.array, work);
        }
        py.detach(|| work(&self.array)).or_raise()
    }

    /// Returns the result in the byte order that the array declares.
    fn as_stored<'py>(&self, py: Python<'py>, result: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let Some(Stored { dtype, .. }) = &self.stored else { return Ok(result) };
        if dtype.bind(py).has_fields() {
            return result.call_method1("astype", (dtype,));
        }
        result.call_method1("byteswap", (true,))?.call_method1("view", (dtype,))
    }

    /// Returns structured elements in which each field has the byte order that the array's data type specifies.
    fn fields_as_stored<'py>(
        &self,
        py: Python<'py>,
        result: Bound<'py, PyAny>,
        names: &[&str],
    ) -> PyResult<Bound<'py, PyAny>> {
        let Some(Stored { dtype, .. }) = &self.stored else { return Ok(result) };
        let fields = names.iter().map(|&name| Ok((name, dtype.bind(py).get_item(name)?)));
        result.call_method1("astype", (fields.collect::<PyResult<Vec<_>>>()?,))
    }

    /// Returns variable-length elements as a NumPy array of objects or strings.
    fn objects<'py>(&self, py: Python<'py>, elements: &DynArray) -> PyResult<Bound<'py, PyAny>> {
        if is_text_of_v3(&self.array) && !self.column_major {
            let array = empty(py, elements.shape(), self.native.bind(py), false)?;
            if crate::objects::text::fill(&array, elements.elements())? {
                return Ok(array.into_any());
            }
        }
        let kind = Elements::of(py, self.array.data_type(), crate::context::registry())?;
        let mut array = kind.to_array(py, elements)?;
        if is_text_of_v3(&self.array) {
            array = array.call_method1("astype", (&self.native,))?;
        }
        if self.column_major {
            // Not `asfortranarray`, which adds a dimension to a scalar.
            return py.import("numpy")?.call_method1("asarray", (array, py.None(), "F"));
        }
        Ok(array)
    }

    /// Reads fields of structured elements. A single field is returned as an array of the field's type.
    pub(crate) fn read_fields<'py>(
        &self,
        py: Python<'py>,
        selection: &Selection,
        names: &[String],
        one: bool,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if crate::pickled::dtype_of(self.array.data_type()).is_some() {
            return self.read_pickled_fields(py, selection, names, one, out);
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        self.check_fields(py, &names)?;
        let elements =
            py.detach(|| self.array.slice(selection).fields(&names).read::<DynArray>()).or_raise()?;
        let array = self.fields_as_stored(py, from_dyn(py, &elements)?, &names)?;
        let array = if one { array.get_item(names[0])? } else { array };
        match out {
            Some(out) => {
                out.set_item(py.Ellipsis(), array)?;
                Ok(out.clone())
            }
            None => scalar(array),
        }
    }

    /// Reads whole pickled structures, and selects fields from them.
    fn read_pickled_fields<'py>(
        &self,
        py: Python<'py>,
        selection: &Selection,
        names: &[String],
        one: bool,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let whole = self.read_new(py, selection)?;
        let array = if one { whole.get_item(&names[0])? } else { whole.get_item(names)? };
        match out {
            Some(out) => {
                out.set_item(py.Ellipsis(), array)?;
                Ok(out.clone())
            }
            None => scalar(array),
        }
    }

    /// Writes a value, which is converted to elements and broadcast as in NumPy.
    pub(crate) fn write(
        &self,
        py: Python<'_>,
        selection: &Selection,
        value: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let given = value.cast::<PyUntypedArray>().ok().map(PyUntypedArrayMethods::dtype);
        let as_is = given.as_ref().and_then(|dtype| Some((self.array_of(py, dtype)?, dtype)));
        let (array, dtype) = as_is.unwrap_or((&self.array, self.native.bind(py)));
        let view = array.slice(selection);
        let shape = lengths(&view.shape().or_raise()?)?;
        if self.is_variable() {
            let kind = Elements::of(py, self.array.data_type(), crate::context::registry())?;
            let elements = kind.elements_of(py, self.array.data_type(), value, &shape)?;
            let bytes = elements.shape().iter().product::<usize>() * USUAL;
            return self.run(py, bytes, |array| array.slice(selection).write(&elements));
        }
        let values = self.values(py, value, dtype)?;
        let memory = memory_of(&values).broadcast(&shape)?;
        let bytes = values.len().saturating_mul(values.dtype().itemsize());
        if !self.is_long(bytes) {
            return py.detach(|| view.write_raw(memory.view())).or_raise();
        }
        unless_interrupted(py, view.array(), |array| array.slice(selection).write_raw(memory.view()))
    }

    /// Raises NumPy's error for an index if a field name is unknown.
    fn check_fields(&self, py: Python<'_>, names: &[&str]) -> PyResult<()> {
        let Some(structure) = self.array.data_type().fields() else {
            let message = format!("the elements are {}, which has no fields", self.array.data_type());
            let error = zarrox::Error::new(zarrox::ErrorKind::InvalidSelection, message);
            return Err(crate::error::raise(&error));
        };
        let check = structure.select(names);
        check.map(drop).map_err(|error| crate::error::raise_as(py, "SelectionError", &error))
    }

    /// Writes fields of structured elements.
    pub(crate) fn write_fields(
        &self,
        py: Python<'_>,
        selection: &Selection,
        names: &[String],
        one: bool,
        value: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        self.check_fields(py, &names)?;
        let structure = self.array.data_type().fields();
        let structure =
            structure.ok_or_else(|| PyValueError::new_err("the elements of the array have no fields"))?;
        let (chosen, _) = structure.select(&names).or_raise()?;
        if one {
            let field = structure
                .field(names[0])
                .ok_or_else(|| crate::error::raise(&structure.no_field(names[0])))?;
            let base = crate::dtype::native(py, &field.data_type, crate::context::registry())?;
            let values = as_array(py, value, &base)?;
            let elements = to_dyn(&values, field.data_type.clone())?;
            return py.detach(|| self.array.slice(selection).field(names[0]).write(&elements)).or_raise();
        }
        let data_type = zarrox::DataType::Struct(std::sync::Arc::new(chosen));
        let dtype = crate::dtype::native(py, &data_type, crate::context::registry())?;
        let values = as_array(py, value, &dtype)?;
        let elements = to_dyn(&values, data_type)?;
        py.detach(|| self.array.slice(selection).fields(&names).write(&elements)).or_raise()
    }

    /// Returns NumPy values as elements of this array, for an append.
    pub(crate) fn elements(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<DynArray> {
        if self.is_variable() {
            let shape = py.import("numpy")?.call_method1("shape", (value,))?.extract::<Vec<usize>>()?;
            let kind = Elements::of(py, self.array.data_type(), crate::context::registry())?;
            return kind.elements_of(py, self.array.data_type(), value, &shape);
        }
        to_dyn(&self.values(py, value, self.native.bind(py))?, self.array.data_type().clone())
    }

    /// Returns one element as a NumPy scalar, or as an object.
    pub(crate) fn scalar<'py>(&self, py: Python<'py>, element: &[u8]) -> PyResult<Bound<'py, PyAny>> {
        let data_type = self.array.data_type();
        if self.is_variable() {
            return Elements::of(py, data_type, crate::context::registry())?.to_object(py, element);
        }
        let elements = DynArray::new(data_type.clone(), vec![], element.to_vec()).or_raise()?;
        let array = self.as_stored(py, from_dyn(py, &elements)?)?;
        scalar(array)
    }
}

/// Returns the data type in the byte order of the v2 metadata; `None` if this is the machine's byte order.
fn stored_dtype<'py>(
    py: Python<'py>,
    array: &Array,
    native: &Bound<'py, PyArrayDescr>,
) -> PyResult<Option<Bound<'py, PyArrayDescr>>> {
    let storage = array.data_type().storage();
    if !has_words_of_v2(array.metadata().format) || storage.word() == 1 || storage == Storage::Variable {
        return Ok(None);
    }
    let codecs = &array.metadata().codecs;
    let is_little =
        |codec: &zarrox::CodecSpec| codec.configuration.get("endian").is_none_or(|endian| endian == "little");
    if cfg!(target_endian = "little")
        && codecs.iter().all(is_little)
        && !codecs.iter().any(|codec| codec.configuration.contains_key("astype"))
    {
        return Ok(None);
    }
    let Ok(document) = array.document() else { return Ok(None) };
    let Some(json) = document.get("dtype") else { return Ok(None) };
    let stored = crate::dtype::of_v2(py, json)?;
    Ok((!stored.is_equiv_to(native) && stored.itemsize() == native.itemsize()).then_some(stored))
}

/// Returns true if the elements are v3 strings, for which NumPy has a dtype. v2 strings are always read as objects.
fn is_text_of_v3(array: &Array) -> bool {
    !has_words_of_v2(array.metadata().format)
        && array.data_type().is_named(zarrox::internals::data_type::VARIABLE_TEXT)
}

fn is_column_major(array: &Array) -> bool {
    let Some(first) = array.metadata().codecs.first().filter(|codec| codec.name == "transpose") else {
        return false;
    };
    let order = first.configuration.get("order").and_then(|order| order.as_array());
    order.is_some_and(|order| {
        let reversed = (0..array.ndim() as u64).rev();
        order.iter().map(|axis| axis.as_u64()).eq(reversed.map(Some))
    })
}

/// The memory of a NumPy array. It is valid and does not move while that array is held.
pub(crate) struct Memory {
    pointer: *mut u8,
    shape: Vec<usize>,
    strides: Vec<isize>,
    item: usize,
}

// SAFETY: `Memory` is only an address; the functions that create views of it explain why no other view
// conflicts.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    pub(crate) fn view_mut(&self) -> ViewMut<'_> {
        // SAFETY: the address, shape and strides come from NumPy, for an array that the caller holds. The array is either new, so
        // that no other reference to it exists, or an output array that a Python caller passed, as to NumPy's own functions that
        // release the GIL. The memory may contain any bytes, and is written before it is read.
        unsafe { ViewMut::from_raw(self.pointer, &self.shape, &self.strides, self.item) }
    }

    pub(crate) fn view(&self) -> View<'_> {
        // SAFETY: the address, shape and strides come from NumPy, for an array that the caller holds. If another thread changes
        // the array in the meantime, different numbers are written, as with NumPy's own functions that release the GIL.
        unsafe { View::from_raw(self.pointer, &self.shape, &self.strides, self.item) }
    }

    /// Broadcasts the values to a shape by the rules of NumPy's assignments.
    fn broadcast(mut self, shape: &[usize]) -> PyResult<Self> {
        while self.shape.len() > shape.len() && self.shape[0] == 1 {
            self.shape.remove(0);
            self.strides.remove(0);
        }
        let added = shape.len().checked_sub(self.shape.len());
        let fits = |own: &[usize], wanted: &[usize]| {
            own.iter().zip(wanted).all(|(own, wanted)| own == wanted || *own == 1)
        };
        let Some(added) = added.filter(|&added| fits(&self.shape, &shape[added..])) else {
            let message = format!(
                "values of shape {:?} cannot be written to a selection of shape {shape:?}",
                self.shape
            );
            return Err(PyValueError::new_err(message));
        };
        let own = self.shape.iter().zip(&self.strides).zip(&shape[added..]);
        let own = own.map(|((length, stride), wanted)| if length == wanted { *stride } else { 0 });
        let strides = std::iter::repeat_n(0, added).chain(own).collect();
        Ok(Self { shape: shape.to_vec(), strides, ..self })
    }
}

pub(crate) fn memory_of(array: &Bound<'_, PyUntypedArray>) -> Memory {
    // SAFETY: the object is an array, whose fields may be read.
    let pointer = unsafe { (*array.as_array_ptr()).fields.data.cast::<u8>() };
    Memory {
        pointer,
        shape: array.shape().to_vec(),
        strides: array.strides().to_vec(),
        item: array.dtype().itemsize(),
    }
}

pub(crate) fn is_writable(array: &Bound<'_, PyUntypedArray>) -> bool {
    // SAFETY: the object is an array, whose fields may be read.
    let flags = unsafe { (*array.as_array_ptr()).fields.flags };
    flags & npyffi::NPY_ARRAY_WRITEABLE != 0
}

/// Converts a shape to lengths in memory.
fn lengths(shape: &[u64]) -> PyResult<Vec<usize>> {
    let length = |&n: &u64| {
        usize::try_from(n).map_err(|_| PyValueError::new_err("the selection is too large for memory"))
    };
    shape.iter().map(length).collect()
}

/// Returns a new array with uninitialised memory.
fn empty<'py>(
    py: Python<'py>,
    shape: &[usize],
    dtype: &Bound<'py, PyArrayDescr>,
    column_major: bool,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    let too_large = |_| PyValueError::new_err("the selection is too large for memory");
    let mut dims = Vec::with_capacity(shape.len());
    for &length in shape {
        dims.push(npyffi::npy_intp::try_from(length).map_err(too_large)?);
    }
    let ndim = std::ffi::c_int::try_from(dims.len()).map_err(too_large)?;
    // SAFETY: the lengths are passed together with their number, and NumPy takes ownership of the reference to the dtype, as its
    // interface specifies.
    let array = unsafe {
        let dtype = dtype.clone().into_dtype_ptr();
        let array = PY_ARRAY_API.PyArray_Empty(py, ndim, dims.as_mut_ptr(), dtype, column_major.into());
        Bound::from_owned_ptr_or_err(py, array)?
    };
    Ok(array.cast_into::<PyUntypedArray>()?)
}

/// Returns a value as an array of a dtype. If the value already is such an array, it is returned itself.
fn as_array<'py>(
    py: Python<'py>,
    value: &Bound<'py, PyAny>,
    dtype: &Bound<'py, PyArrayDescr>,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    if let Ok(array) = value.cast::<PyUntypedArray>()
        && array.dtype().is_equiv_to(dtype)
    {
        return Ok(array.clone());
    }
    let numpy = py.import("numpy")?;
    if value.is_instance(&numpy.getattr("generic")?)? {
        // Assigning a scalar that does not fit to an array is an error; converting the scalar to an array would cast it.
        let array = numpy.call_method1("empty", (PyTuple::empty(py), dtype))?;
        array.set_item(py.Ellipsis(), value)?;
        return Ok(array.cast_into::<PyUntypedArray>()?);
    }
    Ok(numpy.call_method1("asarray", (value, dtype))?.cast_into::<PyUntypedArray>()?)
}

/// Returns an array without dimensions as a scalar, and any other array unchanged.
fn scalar(array: Bound<'_, PyAny>) -> PyResult<Bound<'_, PyAny>> {
    match array.cast::<PyUntypedArray>() {
        Ok(untyped) if untyped.ndim() == 0 => array.get_item(PyTuple::empty(array.py())),
        _ => Ok(array),
    }
}

/// Returns a copy of elements as a NumPy array.
fn from_dyn<'py>(py: Python<'py>, elements: &DynArray) -> PyResult<Bound<'py, PyAny>> {
    let dtype = crate::dtype::native(py, elements.data_type(), crate::context::registry())?;
    let array = empty(py, elements.shape(), &dtype, false)?;
    let bytes = elements.as_bytes();
    // SAFETY: the new array is contiguous, and has the same number of elements of the same size.
    unsafe {
        std::ptr::copy_nonoverlapping(
            bytes.as_ptr(),
            (*array.as_array_ptr()).fields.data.cast(),
            bytes.len(),
        );
    };
    Ok(array.into_any())
}

/// Returns a copy of the elements of a NumPy array.
fn to_dyn(array: &Bound<'_, PyUntypedArray>, data_type: zarrox::DataType) -> PyResult<DynArray> {
    let bytes = array.call_method0("tobytes")?;
    let bytes = bytes.cast::<pyo3::types::PyBytes>()?.as_bytes().to_vec();
    let mut shape = array.shape().to_vec();
    // A subarray field adds its dimensions.
    let elements = bytes.len() / data_type.size().max(1);
    if shape.iter().product::<usize>() != elements {
        shape = vec![elements];
    }
    DynArray::new(data_type, shape, bytes).or_raise()
}
