//! `_native.Codec`: one codec by itself.

use numpy::PyArrayDescr;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use zarrox::codec::{Codec as Native, CodecContext, CodecError, CodecKind, CodecSpec};
use zarrox::data_type::Mode;
use zarrox::json::{Json, Map};
use zarrox::{DataType, FillValue, Format};

use crate::error::OrRaise;
use crate::mapping::bytes_of;

/// The most bytes that something may become when it is decoded, where it does not say how many: 4 GiB.
const LIMIT: usize = 4 << 30;

/// A codec of numcodecs' configuration.
#[pyclass(frozen, module = "zarrox._native")]
pub(crate) struct Codec {
    kind: CodecKind,
    config: Map,
}

#[pymethods]
impl Codec {
    #[new]
    fn new(config: &str) -> PyResult<Self> {
        let registry = crate::registry();
        let json = zarrox::json::parse(config.as_bytes()).or_raise()?;
        let id = json.get("id").cloned();
        let (kind, spec) = registry.spec_from_v2(&json, 1).or_raise()?;
        let def = registry.codec(&spec.name).or_raise()?;
        let mut complete = Map::new();
        complete.extend(id.map(|id| ("id".to_owned(), id)));
        complete.extend((def.to_v2)(&spec.configuration).map_err(|error| failed(&error))?);
        Ok(Self { kind, config: complete })
    }

    #[getter]
    fn config(&self) -> String {
        Json::from(self.config.clone()).to_string()
    }

    fn encode<'py>(&self, py: Python<'py>, data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        if self.kind == CodecKind::ArrayToBytes {
            return self.encode_objects(py, data);
        }
        let numpy = py.import("numpy")?;
        let item = item_size(data)?;
        let bytes = match numpy.call_method1("ascontiguousarray", (data,)) {
            Ok(array) if is_array(data) => bytes_of(&array.call_method0("tobytes")?)?,
            _ => bytes_of(data)?,
        };
        let spec = self.spec_for(item)?;
        let encoded = py.detach(|| {
            with_codec(&spec, |codec| {
                let mut encoded = Vec::new();
                codec.encode(&bytes, &mut encoded)?;
                Ok(encoded)
            })
        });
        let encoded = encoded.map_err(|error| failed(&error))?;
        self.as_numbers(py, &encoded, "astype")
    }

    #[pyo3(signature = (data, out = None))]
    fn decode<'py>(
        &self,
        py: Python<'py>,
        data: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let bytes = bytes_of(data)?;
        let result = if self.kind == CodecKind::ArrayToBytes {
            self.decode_objects(py, &bytes)?
        } else {
            let spec = self.spec_for(1)?;
            let decoded = py.detach(|| with_codec(&spec, |codec| decode_all(codec, &bytes)));
            self.as_numbers(py, &decoded.map_err(|error| failed(&error))?, "dtype")?
        };
        let Some(out) = out.filter(|out| !out.is_none()) else { return Ok(result) };
        fill(py, out, &result)?;
        Ok(out.clone())
    }
}

impl Codec {
    /// The codec for bytes: filters see them as their own numbers. Some codecs take the size of elements from the data.
    fn spec_for(&self, item: usize) -> PyResult<CodecSpec> {
        let (kind, spec) =
            crate::registry().spec_from_v2(&Json::from(self.config.clone()), item).or_raise()?;
        if kind != CodecKind::ArrayToArray {
            return Ok(spec);
        }
        Ok(zarrox::codecs::V2Filter::new(spec).into())
    }

    /// Bytes as the numbers that a filter's configuration says they are.
    fn as_numbers<'py>(&self, py: Python<'py>, bytes: &[u8], member: &str) -> PyResult<Bound<'py, PyAny>> {
        let result = PyBytes::new(py, bytes);
        if self.kind != CodecKind::ArrayToArray {
            return Ok(result.into_any());
        }
        let names: [&str; 2] =
            if member == "dtype" { ["dtype", "decode_dtype"] } else { ["astype", "encode_dtype"] };
        let Some(dtype) = names.iter().find_map(|name| self.config.get(*name)?.as_str()) else {
            return Ok(result.into_any());
        };
        let array = py.import("numpy")?.call_method1("frombuffer", (result, dtype))?;
        array.call_method0("copy")
    }

    fn object_type(&self) -> PyResult<DataType> {
        crate::registry().object_type_from_v2([&self.config]).or_raise()
    }

    /// Encodes an array of objects as the only chunk of an array in memory.
    fn encode_objects<'py>(&self, py: Python<'py>, data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let numpy = py.import("numpy")?;
        let data = if is_array(data) {
            data.clone()
        } else {
            numpy.call_method1("asarray", (data, PyArrayDescr::object(py)))?
        };
        let shape: Vec<u64> = data.getattr("shape")?.extract()?;
        let array = self.chunk(&shape)?;
        let typed = crate::elements::Typed::new(py, array, crate::registry())?;
        typed.write(py, &zarrox::Selection::all(), &data)?;
        let first = vec![0; shape.len()];
        let encoded = typed.array.read_encoded_chunk(&first).or_raise()?;
        let encoded = encoded.ok_or_else(|| PyRuntimeError::new_err("nothing was encoded"))?;
        Ok(PyBytes::new(py, &encoded).into_any())
    }

    fn decode_objects<'py>(&self, py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
        let shape = self.shape_of(bytes)?;
        let array = self.chunk(&shape)?;
        let first = vec![0; shape.len()];
        array.write_encoded_chunk(&first, bytes).or_raise()?;
        let typed = crate::elements::Typed::new(py, array, crate::registry())?;
        typed.read(py, &zarrox::Selection::all(), None, true)
    }

    /// An array of one chunk in memory.
    fn chunk(&self, shape: &[u64]) -> PyResult<zarrox::Array> {
        let members = Json::from_iter([
            ("compressor", Json::Null),
            ("filters", vec![Json::from(self.config.clone())].into()),
        ]);
        let members = members.as_object().cloned().unwrap_or_default();
        let store = std::sync::Arc::new(zarrox::stores::MemoryStore::new());
        let options = crate::open_options().store_empty_chunks(true);
        let builder =
            options.create_array_in(store, "").format(Format::V2).shape(shape).data_type(self.object_type()?);
        builder.chunks(zarrox::ChunkShape::One).members(members).create().or_raise()
    }

    /// How many elements encoded objects are, along each dimension.
    fn shape_of(&self, bytes: &[u8]) -> PyResult<Vec<u64>> {
        let id = self.config.get("id").and_then(Json::as_str).unwrap_or_default();
        let damaged = || PyValueError::new_err(format!("these bytes were not made by the codec '{id}'"));
        let shape = |json: &Json| {
            json.as_array()?.last()?.as_array()?.iter().map(Json::as_u64).collect::<Option<Vec<_>>>()
        };
        match id {
            "json2" => zarrox::json::parse(bytes).ok().as_ref().and_then(shape).ok_or_else(damaged),
            "msgpack2" => zarrox::msgpack::to_json(bytes).ok().as_ref().and_then(shape).ok_or_else(damaged),
            _ => {
                let count = bytes.first_chunk::<4>().ok_or_else(damaged)?;
                Ok(vec![u32::from_le_bytes(*count).into()])
            }
        }
    }
}

fn is_array(data: &Bound<'_, PyAny>) -> bool {
    data.is_instance_of::<numpy::PyUntypedArray>()
}

/// The size of the data's elements in bytes.
fn item_size(data: &Bound<'_, PyAny>) -> PyResult<usize> {
    if let Ok(size) = data.getattr("itemsize") {
        return size.extract();
    }
    Ok(1)
}

/// Puts a result into memory of the caller's.
fn fill(py: Python<'_>, out: &Bound<'_, PyAny>, result: &Bound<'_, PyAny>) -> PyResult<()> {
    let numpy = py.import("numpy")?;
    if result.is_instance_of::<numpy::PyUntypedArray>() && is_object(result)? {
        return out.set_item(py.Ellipsis(), result);
    }
    let out = if is_array(out) { out.clone() } else { numpy.call_method1("frombuffer", (out, "u1"))? };
    let flat = out.call_method1("reshape", (-1,))?.call_method1("view", ("u1",))?;
    let bytes = bytes_of(result)?;
    if flat.len()? < bytes.len() {
        let message = format!("'out' has {} bytes, the data have {}", flat.len()?, bytes.len());
        return Err(PyValueError::new_err(message));
    }
    let source = numpy.call_method1("frombuffer", (PyBytes::new(py, &bytes), "u1"))?;
    flat.set_item(pyo3::types::PySlice::new(py, 0, bytes.len().cast_signed(), 1), source)
}

fn is_object(array: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(array.getattr("dtype")?.getattr("kind")?.extract::<String>()? == "O")
}

fn failed(error: &CodecError) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

/// Makes a codec from bytes to bytes, and does something with it.
fn with_codec<R>(
    spec: &CodecSpec,
    work: impl FnOnce(&dyn zarrox::codec::BytesToBytes) -> Result<R, CodecError>,
) -> Result<R, CodecError> {
    let chunk = zarrox::codec::ChunkSpec::new(&[1], DataType::UInt8.storage(), FillValue::zero(1))?;
    let context =
        CodecContext { chunk: &chunk, registry: crate::registry(), mode: Mode::Lenient, limit: LIMIT };
    match spec.create(&context)? {
        (_, Native::BytesToBytes(codec)) => work(&*codec),
        (name, _) => {
            Err(CodecError::unsupported(format!("the codec '{name}' needs an array that says its shape")))
        }
    }
}

/// Decodes bytes into as much memory as it takes.
fn decode_all(codec: &dyn zarrox::codec::BytesToBytes, encoded: &[u8]) -> Result<Vec<u8>, CodecError> {
    let said = codec.decoded_size(encoded).filter(|&size| size <= LIMIT);
    let mut size = said.unwrap_or_else(|| (encoded.len() * 4).max(1 << 16));
    loop {
        let mut decoded = vec![0; size];
        match codec.decode(encoded, &mut decoded) {
            Ok(length) => {
                decoded.truncate(length);
                return Ok(decoded);
            }
            Err(error) if error.is_overflow() && size < LIMIT => size = (size * 4).min(LIMIT),
            Err(error) => return Err(error),
        }
    }
}
