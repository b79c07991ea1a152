//! Converts data types to NumPy dtypes.

use numpy::{PyArrayDescr, PyArrayDescrMethods};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use zarrox::data_type::{Endian, Storage};
use zarrox::internals::data_type::ByteOrder;
use zarrox::json::Json;
use zarrox::{DataType, Registry};

/// Returns the NumPy dtype of elements in memory, in the machine's byte order.
pub(crate) fn native<'py>(
    py: Python<'py>,
    data_type: &DataType,
    registry: &Registry,
) -> PyResult<Bound<'py, PyArrayDescr>> {
    if let Some(json) = crate::pickled::dtype_of(data_type) {
        return of_v2(py, json);
    }
    if data_type.storage() == Storage::Variable {
        return Ok(PyArrayDescr::object(py));
    }
    // Most types need no lookup in the registry.
    if let Some(code) = code(data_type) {
        return PyArrayDescr::new(py, code);
    }
    if let Some(structure) = data_type.fields() {
        return fields(py, structure, registry);
    }
    if let Some(dtype) = crate::user_types::native(py, data_type)? {
        return Ok(dtype);
    }
    if let Ok(json) = registry.data_type_to_v2(data_type, &ByteOrder::One(Endian::NATIVE)) {
        return of_v2(py, &json);
    }
    if let DataType::Extension(extension) = data_type
        && let Ok(module) = py.import("ml_dtypes")
        && let Ok(class) = module.getattr(extension.name.as_str())
    {
        let descr = PyArrayDescr::new(py, class)?;
        if descr.itemsize() == data_type.size() {
            return Ok(descr);
        }
    }
    let code = match data_type.storage() {
        Storage::Int(1) => "i1".to_owned(),
        Storage::Uint(1) if extension_name(data_type).starts_with("uint") => "u1".to_owned(),
        other => format!("V{}", other.size()),
    };
    PyArrayDescr::new(py, code)
}

/// Returns NumPy's variable-length string dtype.
pub(crate) fn text(py: Python<'_>) -> PyResult<Bound<'_, PyArrayDescr>> {
    PyArrayDescr::new(py, py.import("numpy")?.getattr("dtypes")?.call_method0("StringDType")?)
}

fn extension_name(data_type: &DataType) -> &str {
    match data_type {
        DataType::Extension(extension) => &extension.name,
        _ => "",
    }
}

/// Returns NumPy's code for a core data type.
fn code(data_type: &DataType) -> Option<&'static str> {
    Some(match data_type {
        DataType::Bool => "?",
        DataType::Int8 => "i1",
        DataType::Int16 => "i2",
        DataType::Int32 => "i4",
        DataType::Int64 => "i8",
        DataType::UInt8 => "u1",
        DataType::UInt16 => "u2",
        DataType::UInt32 => "u4",
        DataType::UInt64 => "u8",
        DataType::Float16 => "f2",
        DataType::Float32 => "f4",
        DataType::Float64 => "f8",
        DataType::Complex64 => "c8",
        DataType::Complex128 => "c16",
        _ => return None,
    })
}

/// Returns a structured dtype. If it has padding, the offsets of its fields are set.
fn fields<'py>(
    py: Python<'py>,
    structure: &zarrox::data_type::Structure,
    registry: &Registry,
) -> PyResult<Bound<'py, PyArrayDescr>> {
    let (names, formats, offsets) = (PyList::empty(py), PyList::empty(py), PyList::empty(py));
    let pairs = PyList::empty(py);
    let mut end = 0;
    let mut packed = true;
    for field in structure.fields() {
        let base = native(py, &field.data_type, registry)?;
        let shape = PyTuple::new(py, &field.shape)?;
        let format = if field.shape.is_empty() {
            base.into_any()
        } else {
            PyArrayDescr::new(py, (base, &shape))?.into_any()
        };
        packed &= field.offset == end;
        end = field.offset + field.size();
        names.append(&field.name)?;
        pairs.append((&field.name, &format))?;
        formats.append(format)?;
        offsets.append(field.offset)?;
    }
    let size = structure.layout().size;
    if packed && end == size {
        return PyArrayDescr::new(py, pairs);
    }
    let all = pyo3::types::PyDict::new(py);
    all.set_item("names", names)?;
    all.set_item("formats", formats)?;
    all.set_item("offsets", offsets)?;
    all.set_item("itemsize", size)?;
    PyArrayDescr::new(py, all)
}

/// Returns the NumPy dtype for the `dtype` member of v2 metadata.
pub(crate) fn of_v2<'py>(py: Python<'py>, json: &Json) -> PyResult<Bound<'py, PyArrayDescr>> {
    PyArrayDescr::new(py, described(py, json)?)
}

/// Converts the JSON of a data type to an argument of `numpy.dtype`: a string, or a list with a tuple for each field.
fn described<'py>(py: Python<'py>, json: &Json) -> PyResult<Bound<'py, PyAny>> {
    let Json::Array(fields) = json else {
        return Ok(json.as_str().unwrap_or_default().into_pyobject(py)?.into_any());
    };
    let list = PyList::empty(py);
    for field in fields {
        let Json::Array(parts) = field else { continue };
        let mut tuple = Vec::new();
        for (index, part) in parts.iter().enumerate() {
            tuple.push(match (index, part) {
                (2, Json::Array(shape)) => {
                    PyTuple::new(py, shape.iter().map(|length| length.as_u64().unwrap_or_default()))?
                        .into_any()
                }
                (2, length) => length.as_u64().unwrap_or_default().into_pyobject(py)?.into_any(),
                _ => described(py, part)?,
            });
        }
        list.append(PyTuple::new(py, tuple)?)?;
    }
    Ok(list.into_any())
}
