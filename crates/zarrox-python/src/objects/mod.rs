//! Variable-length elements as Python objects, and as strings of NumPy's `StringDType`.

pub(crate) mod text;

use numpy::{
    PyArrayDescr, PyArrayDescrMethods, PyArrayDyn, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyTypeError, PyUnicodeDecodeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use zarrox::internals::data_type::{VARIABLE_BYTES, VARIABLE_TEXT};
use zarrox::internals::msgpack::{self, Token};
use zarrox::{DataType, DynArray, Registry};

use crate::error::OrRaise;

/// The meaning of the bytes of an element.
pub(crate) enum Elements {
    Text,
    Bytes,
    /// A single MessagePack value.
    Object,
    /// A pickle of an object, or of a tuple if the elements have this structured dtype.
    Pickle(Py<PyArrayDescr>),
    /// Numbers of this dtype.
    Numbers(Py<PyArrayDescr>),
}

impl Elements {
    pub(crate) fn of(py: Python<'_>, data_type: &DataType, registry: &Registry) -> PyResult<Self> {
        if crate::pickled::dtype_of(data_type).is_some() {
            return Ok(Self::Pickle(crate::dtype::native(py, data_type, registry)?.unbind()));
        }
        if let Some(item) = data_type.vlen_item() {
            return Ok(Self::Numbers(crate::dtype::native(py, &item, registry)?.unbind()));
        }
        Ok(if data_type.is_named(VARIABLE_TEXT) {
            Self::Text
        } else if data_type.is_named(VARIABLE_BYTES) || data_type.is_text_or_bytes() {
            Self::Bytes
        } else {
            Self::Object
        })
    }

    /// Returns the structured NumPy dtype of pickled elements, if they are structures.
    fn structured<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArrayDescr>> {
        match self {
            Self::Pickle(dtype) => Some(dtype.bind(py).clone()).filter(PyArrayDescrMethods::has_fields),
            _ => None,
        }
    }

    /// Returns an element as an object.
    pub(crate) fn to_object<'py>(&self, py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Self::Text => to_text(py, bytes),
            Self::Bytes => Ok(PyBytes::new(py, bytes).into_any()),
            Self::Object => {
                let mut rest =
                    msgpack::element(bytes).map_err(|error| PyValueError::new_err(error.to_string()))?;
                unpacked(py, &mut rest, 0)
            }
            Self::Pickle(dtype) => {
                let object = unpickled(py, bytes)?;
                if !dtype.bind(py).has_fields() {
                    return Ok(object);
                }
                let numpy = py.import("numpy")?;
                let element = numpy.call_method1("empty", (PyTuple::empty(py), dtype))?;
                element.set_item(PyTuple::empty(py), object)?;
                element.get_item(PyTuple::empty(py))
            }
            Self::Numbers(dtype) => {
                let numpy = py.import("numpy")?;
                // A copy, since an array over `bytes` cannot be written to.
                numpy.call_method1("frombuffer", (PyBytes::new(py, bytes), dtype))?.call_method0("copy")
            }
        }
    }

    /// Returns the bytes of the element that represents an object.
    pub(crate) fn to_bytes(&self, object: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
        let py = object.py();
        match self {
            Self::Text if is_missing(object) => Ok(Vec::new()),
            Self::Text => match object.cast::<PyString>() {
                Ok(text) => Ok(text.to_cow()?.into_owned().into_bytes()),
                Err(_) => Err(unfit(object, "text")),
            },
            Self::Bytes if is_missing(object) => Ok(Vec::new()),
            Self::Bytes if object.is_instance_of::<PyString>() => Err(unfit(object, "bytes")),
            Self::Bytes => Ok(crate::mapping::bytes_of(object).map_err(|_| unfit(object, "bytes"))?.to_vec()),
            Self::Object => {
                let mut packed = Vec::new();
                pack(object, &mut packed, 0)?;
                Ok(packed)
            }
            Self::Pickle(_) => bytes_of_pickle(object),
            Self::Numbers(_) if object.is_none() => Ok(Vec::new()),
            Self::Numbers(dtype) => {
                let numbers = py.import("numpy")?.call_method1("asarray", (object, dtype))?;
                if numbers.cast::<PyUntypedArray>()?.ndim() != 1 {
                    return Err(unfit(object, "an array of one dimension"));
                }
                Ok(numbers.call_method0("tobytes")?.cast::<PyBytes>()?.as_bytes().to_vec())
            }
        }
    }

    /// Returns the elements of an array as a NumPy array of objects.
    pub(crate) fn to_array<'py>(&self, py: Python<'py>, elements: &DynArray) -> PyResult<Bound<'py, PyAny>> {
        self.objects(py, elements.elements(), elements.shape())
    }

    /// Returns elements, given in row-major order, as a NumPy array of objects with this shape.
    pub(crate) fn objects<'py, 'e>(
        &self,
        py: Python<'py>,
        elements: impl Iterator<Item = &'e [u8]>,
        shape: &[usize],
    ) -> PyResult<Bound<'py, PyAny>> {
        let numpy = py.import("numpy")?;
        let count: usize = shape.iter().product();
        if let Some(dtype) = self.structured(py) {
            let array = numpy.call_method1("empty", (count, dtype))?;
            for (index, bytes) in elements.enumerate() {
                array.set_item(index, unpickled(py, bytes)?)?;
            }
            return array.call_method1("reshape", (PyTuple::new(py, shape)?,));
        }
        let array = numpy.call_method1("empty", (count, PyArrayDescr::object(py)))?;
        {
            let mut objects = array.cast::<PyArrayDyn<Py<PyAny>>>()?.try_readwrite();
            let objects = objects.as_mut().map_err(|error| PyValueError::new_err(error.to_string()))?;
            let mut objects = objects.as_array_mut();
            for (place, bytes) in objects.iter_mut().zip(elements) {
                *place = self.to_object(py, bytes)?.unbind();
            }
        }
        array.call_method1("reshape", (PyTuple::new(py, shape)?,))
    }

    /// Returns the elements for an array of objects, or for a single object.
    pub(crate) fn elements_of(
        &self,
        py: Python<'_>,
        data_type: &DataType,
        value: &Bound<'_, PyAny>,
        shape: &[usize],
    ) -> PyResult<DynArray> {
        if matches!(self, Self::Text)
            && let Ok(array) = value.cast::<PyUntypedArray>()
            && let Some(elements) = text::elements(array, data_type)?
        {
            return Ok(elements);
        }
        let numpy = py.import("numpy")?;
        let structures = match self.structured(py) {
            // The objects of structures are tuples.
            Some(dtype) => {
                let structures = numpy.call_method1("asarray", (value, dtype))?;
                Some(structures.call_method1("astype", (PyArrayDescr::object(py),))?)
            }
            None => None,
        };
        let value = structures.as_ref().unwrap_or(value);
        let single = match self {
            Self::Numbers(_) => is_plain_array(value),
            Self::Object | Self::Pickle(_) => {
                let is_array = value.is_instance_of::<PyUntypedArray>();
                !is_array && (shape.is_empty() || !value.is_instance_of::<PyList>())
            }
            Self::Text | Self::Bytes => false,
        };
        if single {
            let bytes = self.to_bytes(value)?;
            return DynArray::from_elements(data_type.clone(), vec![], [bytes]).or_raise();
        }
        let array = match self {
            // Only the levels of nested lists that are dimensions of the selection are flattened; deeper
            // lists are elements.
            Self::Object | Self::Pickle(_) | Self::Numbers(_)
                if !value.is_instance_of::<PyUntypedArray>() =>
            {
                let objects = PyList::empty(py);
                flatten(value, shape, &objects)?;
                let flat = numpy.call_method1("empty", (objects.len(), PyArrayDescr::object(py)))?;
                for (index, object) in objects.iter().enumerate() {
                    flat.set_item(index, object)?;
                }
                flat.call_method1("reshape", (PyTuple::new(py, shape)?,))?
            }
            _ => numpy.call_method1("asarray", (value, PyArrayDescr::object(py)))?,
        };
        let shape = array.cast::<PyUntypedArray>()?.shape().to_vec();
        let objects = array.call_method0("ravel")?;
        let objects = objects.cast::<PyArrayDyn<Py<PyAny>>>()?.try_readonly();
        let objects = objects.map_err(|error| PyValueError::new_err(error.to_string()))?;
        let bytes = objects
            .as_array()
            .iter()
            .map(|object| self.to_bytes(object.bind(py)))
            .collect::<PyResult<Vec<_>>>()?;
        DynArray::from_elements(data_type.clone(), shape, bytes).or_raise()
    }
}

/// Returns the pickled object; Python's `None` for an element that was never set.
fn unpickled<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    if bytes.is_empty() {
        return Ok(py.None().into_bound(py));
    }
    py.import("pickle")?.call_method1("loads", (PyBytes::new(py, bytes),))
}

fn bytes_of_pickle(object: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    let pickle = object.py().import("pickle")?.call_method1("dumps", (object, 5))?;
    Ok(pickle.cast::<PyBytes>()?.as_bytes().to_vec())
}

/// Returns true if a value is an array of numbers rather than objects.
fn is_plain_array(value: &Bound<'_, PyAny>) -> bool {
    value.cast::<PyUntypedArray>().is_ok_and(|array| array.dtype().kind() != b'O')
}

/// Appends the objects in a nested list to `objects`. The list has one level for each dimension of the shape.
fn flatten(value: &Bound<'_, PyAny>, shape: &[usize], objects: &Bound<'_, PyList>) -> PyResult<()> {
    let Some((&length, inner)) = shape.split_first() else { return objects.append(value) };
    if value.len()? != length {
        let message =
            format!("a list of {} values cannot be written to a selection of shape {shape:?}", value.len()?);
        return Err(PyValueError::new_err(message));
    }
    value.try_iter()?.try_for_each(|item| flatten(&item?, inner, objects))
}

/// Returns true if an object is the default for unassigned elements in NumPy object arrays.
fn is_missing(object: &Bound<'_, PyAny>) -> bool {
    object.is_none() || object.extract::<i64>().is_ok_and(|value| value == 0)
}

fn unfit(object: &Bound<'_, PyAny>, wanted: &str) -> PyErr {
    let class = object.get_type().name().map_or_else(|_| "object".to_owned(), |name| name.to_string());
    PyTypeError::new_err(format!("an element must be {wanted}, not a {class}"))
}

fn to_text<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(PyString::new(py, text).into_any()),
        Err(error) => Err(PyUnicodeDecodeError::new_utf8(py, bytes, error)?.into()),
    }
}

fn too_deep() -> PyErr {
    PyValueError::new_err(format!("objects are nested more than {} deep", msgpack::MAX_DEPTH))
}

/// Returns the first object in the packed values, and removes it from them.
fn unpacked<'py>(py: Python<'py>, rest: &mut &[u8], depth: usize) -> PyResult<Bound<'py, PyAny>> {
    if depth > msgpack::MAX_DEPTH {
        return Err(too_deep());
    }
    let token = Token::take(rest).map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(match token {
        Token::Nil => py.None().into_bound(py),
        Token::Bool(value) => PyBool::new(py, value).to_owned().into_any(),
        Token::Uint(value) => value.into_pyobject(py)?.into_any(),
        Token::Int(value) => value.into_pyobject(py)?.into_any(),
        Token::F32(value) => value.into_pyobject(py)?.into_any(),
        Token::F64(value) => value.into_pyobject(py)?.into_any(),
        Token::Text(bytes) => to_text(py, bytes)?,
        Token::Bytes(bytes) | Token::Extension(_, bytes) => PyBytes::new(py, bytes).into_any(),
        Token::List(count) => {
            let list = PyList::empty(py);
            for _ in 0..count {
                list.append(unpacked(py, rest, depth + 1)?)?;
            }
            list.into_any()
        }
        Token::Map(count) => {
            let dict = PyDict::new(py);
            for _ in 0..count {
                let key = unpacked(py, rest, depth + 1)?;
                dict.set_item(key, unpacked(py, rest, depth + 1)?)?;
            }
            dict.into_any()
        }
    })
}

fn put(packed: &mut Vec<u8>, token: Token<'_>) -> PyResult<()> {
    token.write(packed).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Appends an object as a MessagePack value.
fn pack(object: &Bound<'_, PyAny>, packed: &mut Vec<u8>, depth: usize) -> PyResult<()> {
    if depth > msgpack::MAX_DEPTH {
        return Err(too_deep());
    }
    let count =
        |length: usize| u32::try_from(length).map_err(|_| PyValueError::new_err("a list is too long"));
    if object.is_none() {
        return put(packed, Token::Nil);
    }
    if let Ok(value) = object.cast::<PyBool>() {
        return put(packed, Token::Bool(value.is_true()));
    }
    if let Ok(text) = object.cast::<PyString>() {
        return put(packed, Token::Text(text.to_cow()?.as_bytes()));
    }
    if object.is_instance_of::<PyInt>() {
        return match object.extract::<i64>() {
            Ok(value) => put(packed, Token::Int(value)),
            Err(_) => put(packed, Token::Uint(object.extract::<u64>()?)),
        };
    }
    if let Ok(value) = object.cast::<PyFloat>() {
        return put(packed, Token::F64(value.value()));
    }
    if object.is_instance_of::<PyBytes>() || object.is_instance_of::<PyByteArray>() {
        return put(packed, Token::Bytes(&crate::mapping::bytes_of(object)?));
    }
    if let Ok(dict) = object.cast::<PyDict>() {
        put(packed, Token::Map(count(dict.len())?))?;
        return dict.iter().try_for_each(|(key, value)| {
            pack(&key, packed, depth + 1)?;
            pack(&value, packed, depth + 1)
        });
    }
    if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
        put(packed, Token::List(count(object.len()?)?))?;
        return object.try_iter()?.try_for_each(|item| pack(&item?, packed, depth + 1));
    }
    // NumPy scalars and arrays are packed as their Python values.
    if object.hasattr("tolist")? {
        return pack(&object.call_method0("tolist")?, packed, depth + 1);
    }
    Err(unfit(object, "None, a boolean, a number, text, bytes, a list or a dict"))
}
