//! Pickled objects, and structures with object fields. Python reads and writes them only if the program explicitly allows it,
//! since reading a pickle can run any code.
//!
//! In memory, each element is a separate pickle. A stored chunk is the pickle of a NumPy array.

use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};
use zarrox::codec::{
    ArrayToBytes, ChunkSpec, Codec, CodecContext, CodecDef, CodecError, CodecKind, EncodeOptions, ReadRegion,
    Size,
};
use zarrox::data_type::{Endian, Extension, Family, Storage};
use zarrox::json::{Json, Map, json};
use zarrox::strided::View;
use zarrox::{CodecSpec, DataType, Error, ErrorKind, FillValue, Result, Strictness};

/// The name of the data type, which never occurs in metadata.
const NAME: &str = "pickled";

/// The Python module whose functions are called.
const MODULE: &str = "zarrox.core.pickled";

/// The advice in the error if pickles are not allowed.
const REFUSED: &str = "reading pickled objects is not safe, since a pickle can run any program; if you trust the data, allow it by \
    zarrox.config.set({'array.allow_unsafe_pickle_decode': True})";

static ALLOWED: AtomicBool = AtomicBool::new(false);

/// Sets whether arrays that are opened from now on can read and write pickles.
#[pyfunction]
pub(crate) fn allow_pickle(allowed: bool) {
    ALLOWED.store(allowed, Ordering::Relaxed);
}

/// Returns the v2 `dtype` of pickled elements; `None` for other data types.
pub(crate) fn dtype_of(data_type: &DataType) -> Option<&Json> {
    match data_type {
        DataType::Extension(extension) if extension.name == NAME => extension.configuration.get("dtype"),
        _ => None,
    }
}

/// Calls a function of the module with a `dtype` and further arguments.
fn call<T>(
    function: &str,
    dtype: &Json,
    arguments: impl for<'py> FnOnce(Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>>,
    result: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
) -> PyResult<T> {
    Python::attach(|py| {
        let mut all = vec![dtype.to_string().into_pyobject(py)?.into_any()];
        all.extend(arguments(py)?);
        result(&py.import(MODULE)?.call_method1(function, PyTuple::new(py, all)?)?)
    })
}

fn bytes(result: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    Ok(result.cast::<PyBytes>()?.as_bytes().to_vec())
}

/// The family of the data type of pickled objects.
#[derive(Debug)]
pub(crate) struct PickledObjects;

impl PickledObjects {
    fn no_v3() -> Error {
        Error::new(
            ErrorKind::Unsupported,
            "Zarr v3 has no data type of pickled objects; create the array as v2",
        )
    }
}

/// Returns the error for an exception that a Python function raised for a fill value.
fn bad_fill(error: PyErr) -> Error {
    Error::new(ErrorKind::InvalidMetadata, format!("the fill value of pickled objects: {error}"))
        .with_source(error)
}

impl Family for PickledObjects {
    fn parse_v3(&self, name: &str, _: &Map) -> Option<Result<DataType>> {
        (name == NAME).then(|| Err(Self::no_v3()))
    }

    fn parse_object(&self, dtype: &Json, codec: &Map) -> Option<Result<DataType>> {
        codec.get("id").and_then(Json::as_str).filter(|id| *id == "pickle")?;
        if !ALLOWED.load(Ordering::Relaxed) {
            return Some(Err(Error::new(ErrorKind::Unsupported, REFUSED)));
        }
        let configuration = Map::from_iter([("dtype".to_owned(), dtype.clone())]);
        let (name, storage) = (NAME.to_owned(), Storage::Variable);
        Some(Ok(DataType::Extension(Box::new(Extension { name, configuration, storage }))))
    }

    fn examples(&self) -> Vec<DataType> {
        Vec::new()
    }

    fn has(&self, data_type: &DataType) -> bool {
        dtype_of(data_type).is_some()
    }

    fn to_v3(&self, _: &DataType) -> Result<Json> {
        Err(Self::no_v3())
    }

    fn to_v2(&self, data_type: &DataType, _: Endian) -> Result<Json> {
        dtype_of(data_type).cloned().ok_or_else(Self::no_v3)
    }

    fn default_codec(&self, _: &DataType) -> Option<CodecSpec> {
        Some(CodecSpec::new(DEF.name, json!({"protocol": 5})))
    }

    fn default_fill(&self, data_type: &DataType) -> FillValue {
        let dtype = dtype_of(data_type).cloned().unwrap_or_default();
        let fill = call("default_fill", &dtype, |_| Ok(Vec::new()), bytes);
        FillValue::new(fill.unwrap_or_default())
    }

    fn fill_from_json(&self, data_type: &DataType, json: &Json, _: Strictness) -> Result<FillValue> {
        let dtype = dtype_of(data_type).cloned().unwrap_or_default();
        let text = json.to_string();
        let fill = call("fill_from_json", &dtype, |py| Ok(vec![text.into_pyobject(py)?.into_any()]), bytes);
        fill.map(FillValue::new).map_err(bad_fill)
    }

    fn fill_to_v3(&self, data_type: &DataType, fill: &FillValue) -> Json {
        let dtype = dtype_of(data_type).cloned().unwrap_or_default();
        let json = |result: &Bound<'_, PyAny>| {
            let text: String = result.extract()?;
            zarrox::json::parse(text.as_bytes()).map_err(|error| crate::error::raise(&error))
        };
        call("fill_to_json", &dtype, |py| Ok(vec![PyBytes::new(py, fill.as_bytes()).into_any()]), json)
            .unwrap_or(Json::Null)
    }

    /// Formats the size, since a pickle is not loaded just to display it.
    fn format(&self, _: &DataType, element: &[u8]) -> String {
        format!("<a pickle of {} bytes>", element.len())
    }
}

/// The codec `pickle`. It replaces the native codec with this name, which rejects all data.
pub(crate) static DEF: CodecDef = CodecDef::new("numcodecs.pickle", CodecKind::ArrayToBytes, create)
    .aliases(&["pickle"])
    .v2_id("pickle")
    .with_from_v2(|members, _| Ok(members.clone()));

fn create(configuration: &Map, context: &CodecContext<'_>) -> std::result::Result<Codec, CodecError> {
    let dtype = context.chunk.data_type().ok().and_then(dtype_of).cloned();
    let dtype = dtype.ok_or_else(|| CodecError::unsupported(REFUSED))?;
    let protocol = match configuration.get("protocol").map_or(Some(5), Json::as_u64) {
        Some(protocol @ 0..=5) => protocol,
        _ => return Err(CodecError::invalid("'protocol' must be a number from 0 to 5")),
    };
    Ok(Codec::ArrayToBytes(Box::new(Pickle { chunk: context.chunk.clone(), dtype, protocol })))
}

#[derive(Debug)]
struct Pickle {
    chunk: ChunkSpec,
    dtype: Json,
    protocol: u64,
}

/// Returns the error for a Python exception, which is raised again in the caller that reads or writes.
fn failed(error: PyErr) -> CodecError {
    CodecError::corrupt(format!("the pickle: {error}")).with_source(error)
}

impl ArrayToBytes for Pickle {
    fn configuration(&self) -> Map {
        Map::from_iter([("protocol".to_owned(), self.protocol.into())])
    }

    fn encoded_size(&self) -> Size {
        Size::UNKNOWN
    }

    fn encode(
        &self,
        chunk: &View<'_>,
        _: EncodeOptions,
        encoded: &mut Vec<u8>,
    ) -> std::result::Result<bool, CodecError> {
        let mut elements = Vec::new();
        chunk.for_each_element(|element| {
            elements.push(element);
            Ok::<_, CodecError>(())
        })?;
        let pickle = call(
            "dumps",
            &self.dtype,
            |py| {
                let elements = PyList::new(py, elements.iter().map(|element| PyBytes::new(py, element)))?;
                let shape = PyTuple::new(py, chunk.shape())?;
                Ok(vec![elements.into_any(), shape.into_any(), self.protocol.into_pyobject(py)?.into_any()])
            },
            bytes,
        );
        encoded.extend(pickle.map_err(failed)?);
        Ok(true)
    }

    fn decode(&self, encoded: &[u8], mut part: ReadRegion<'_>) -> std::result::Result<(), CodecError> {
        let elements = |result: &Bound<'_, PyAny>| {
            let (mut all, mut lengths) = (Vec::new(), Vec::new());
            for element in result.cast::<PyList>()? {
                let element = element.cast_into::<PyBytes>()?;
                all.extend_from_slice(element.as_bytes());
                lengths.push(element.as_bytes().len());
            }
            Ok((all, lengths))
        };
        let (all, lengths) = call(
            "loads",
            &self.dtype,
            |py| {
                let region = part.region.iter().map(|span| (span.start, span.step, span.count));
                let region = PyList::new(py, region)?;
                let shape = PyTuple::new(py, self.chunk.shape())?;
                Ok(vec![PyBytes::new(py, encoded).into_any(), shape.into_any(), region.into_any()])
            },
            elements,
        )
        .map_err(failed)?;
        part.out.set_elements(all, lengths)
    }
}
