//! Data types that are defined in Python.

use std::collections::BTreeSet;
use std::sync::{PoisonError, RwLock};

use numpy::{PyArrayDescr, PyArrayDescrMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use zarrox::Strictness;
use zarrox::data_type::{Extension, Family, Storage};
use zarrox::json::{Json, Map};
use zarrox::{DataType, Error, ErrorKind, FillValue, Result};

/// The v3 names that Python has registered.
static NAMES: RwLock<BTreeSet<String>> = RwLock::new(BTreeSet::new());

/// The Python module whose functions are called.
const MODULE: &str = "zarrox.core.dtype.user";

/// Registers the v3 name of a data type that is defined in Python. Returns false for the name of a native data type, which is not
/// replaced.
#[pyfunction]
pub(crate) fn register_data_type(name: &str) -> bool {
    if is_known(name) {
        return true;
    }
    let is_ours = crate::context::registry().data_type_from_v3(&Json::from(name)).is_ok();
    if !is_ours {
        NAMES.write().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned());
    }
    !is_ours
}

fn is_known(name: &str) -> bool {
    NAMES.read().unwrap_or_else(PoisonError::into_inner).contains(name)
}

/// Returns the NumPy dtype of a data type that is defined in Python; `None` for all other data types.
pub(crate) fn native<'py>(
    py: Python<'py>,
    data_type: &DataType,
) -> PyResult<Option<Bound<'py, PyArrayDescr>>> {
    match data_type {
        DataType::Extension(extension) if is_known(&extension.name) => {
            native_of(py, &extension.name, &extension.configuration).map(Some)
        }
        _ => Ok(None),
    }
}

fn native_of<'py>(py: Python<'py>, name: &str, configuration: &Map) -> PyResult<Bound<'py, PyArrayDescr>> {
    let dtype = py.import(MODULE)?.call_method1("native_dtype", (written(name, configuration),))?;
    PyArrayDescr::new(py, dtype)
}

/// Returns the `data_type` member of v3 metadata.
fn written(name: &str, configuration: &Map) -> String {
    if configuration.is_empty() {
        return Json::from(name).to_string();
    }
    zarrox::json::json!({"name": name, "configuration": configuration}).to_string()
}

/// Returns the memory layout of elements. Only its byte order matters to native code.
fn storage(dtype: &Bound<'_, PyArrayDescr>) -> Storage {
    let size = dtype.itemsize();
    match dtype.kind() {
        b'b' if size == 1 => Storage::Bool,
        b'i' => Storage::Int(size),
        b'u' => Storage::Uint(size),
        b'f' => Storage::Float(size),
        b'c' => Storage::Complex(size),
        // Small floats from other packages appear as bytes.
        _ if matches!(size, 1 | 2) && dtype.char() != b'V' => Storage::Uint(size),
        _ => Storage::Raw(size),
    }
}

/// The registered names.
#[derive(Debug)]
pub(crate) struct PythonTypes;

impl PythonTypes {
    /// Calls a function of the module with a data type and further arguments.
    fn call<T>(
        data_type: &DataType,
        function: &str,
        argument: impl for<'py> FnOnce(Python<'py>) -> Bound<'py, PyAny>,
        result: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Result<T> {
        let DataType::Extension(extension) = data_type else {
            return Err(Error::new(
                ErrorKind::Unsupported,
                format!("{data_type} is not a data type in Python"),
            ));
        };
        Python::attach(|py| {
            let text = written(&extension.name, &extension.configuration);
            let arguments = PyTuple::new(py, [text.into_pyobject(py)?.into_any(), argument(py)])?;
            result(&py.import(MODULE)?.call_method1(function, arguments)?)
        })
        .map_err(|error: PyErr| {
            let message = format!("the data type {data_type} in Python failed: {error}");
            Error::new(ErrorKind::InvalidMetadata, message).with_source(error)
        })
    }
}

impl Family for PythonTypes {
    fn parse_v3(&self, name: &str, configuration: &Map) -> Option<Result<DataType>> {
        if !is_known(name) {
            return None;
        }
        let storage = Python::attach(|py| native_of(py, name, configuration).map(|dtype| storage(&dtype)));
        let extension = |storage| {
            let (name, configuration) = (name.to_owned(), configuration.clone());
            DataType::Extension(Box::new(Extension { name, configuration, storage }))
        };
        Some(storage.map(extension).map_err(|error| {
            Error::new(ErrorKind::InvalidMetadata, format!("the data type '{name}': {error}"))
                .with_source(error)
        }))
    }

    fn examples(&self) -> Vec<DataType> {
        Vec::new()
    }

    fn has(&self, data_type: &DataType) -> bool {
        matches!(data_type, DataType::Extension(extension) if is_known(&extension.name))
    }

    fn default_fill(&self, data_type: &DataType) -> FillValue {
        let fill = Self::call(data_type, "default_bytes", |py| py.None().into_bound(py), bytes);
        fill.unwrap_or_else(|_| FillValue::zero(data_type.size()))
    }

    fn fill_from_json(&self, data_type: &DataType, json: &Json, _: Strictness) -> Result<FillValue> {
        let text = json.to_string();
        Self::call(data_type, "fill_bytes", |py| pyo3::types::PyString::new(py, &text).into_any(), bytes)
    }

    fn fill_to_v3(&self, data_type: &DataType, fill: &FillValue) -> Json {
        let json = |result: &Bound<'_, PyAny>| {
            let text: String = result.extract()?;
            zarrox::json::parse(text.as_bytes()).map_err(|error| crate::error::raise(&error))
        };
        Self::call(data_type, "fill_json", |py| PyBytes::new(py, fill.as_bytes()).into_any(), json)
            .unwrap_or(Json::Null)
    }

    fn format(&self, data_type: &DataType, element: &[u8]) -> String {
        self.fill_to_v3(data_type, &FillValue::new(element)).to_string()
    }
}

fn bytes(result: &Bound<'_, PyAny>) -> PyResult<FillValue> {
    Ok(FillValue::new(result.cast::<PyBytes>()?.as_bytes()))
}
