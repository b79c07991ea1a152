//! `_native.Codec`: a single codec.

use numpy::PyArrayDescr;
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use zarrox::codec::{Codec as Native, CodecContext, CodecError, CodecKind};
use zarrox::internals::codec::decode_growing;
use zarrox::json::{Json, Map};
use zarrox::{CodecSpec, DataType, FillValue, Format, Strictness};

use crate::error::OrRaise;
use crate::mapping::bytes_of;

/// The maximum size of a decoded value whose size is not stored in the data: 4 GiB.
const LIMIT: usize = 4 << 30;

/// A codec, created from a numcodecs configuration.
#[pyclass(frozen, module = "zarrox._native")]
pub(crate) struct Codec {
    kind: CodecKind,
    config: Map,
}

#[pymethods]
impl Codec {
    #[new]
    fn new(config: &str) -> PyResult<Self> {
        let registry = crate::context::registry();
        let json = zarrox::json::parse(config.as_bytes()).or_raise()?;
        let id = json.get("id").cloned();
        let (kind, spec) = registry.spec_from_v2(&json, 1).or_raise()?;
        let def = registry.codec(&spec.name).or_raise()?;
        let mut complete = Map::default();
        complete.extend(id.map(|id| ("id".to_owned(), id)));
        complete.extend((def.to_v2)(&spec.configuration).map_err(failed)?);
        if kind == CodecKind::BytesToBytes && spec.name != crate::foreign::DEF.name {
            with_codec(&spec, |_| Ok(())).map_err(failed)?;
        }
        Ok(Self { kind, config: complete })
    }

    #[getter]
    fn config(&self) -> String {
        Json::from(self.config.clone()).to_string()
    }

    fn encode<'py>(&self, py: Python<'py>, data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        match self.kind {
            CodecKind::ArrayToBytes => self.encode_objects(py, data),
            CodecKind::ArrayToArray => self.encode_numbers(py, data),
            CodecKind::BytesToBytes => self.encode_bytes(py, data),
        }
    }

    #[pyo3(signature = (data, out = None))]
    fn decode<'py>(
        &self,
        py: Python<'py>,
        data: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let result = match self.kind {
            CodecKind::ArrayToBytes => self.decode_objects(py, &bytes_of(data)?)?,
            CodecKind::ArrayToArray => self.decode_numbers(py, data)?,
            CodecKind::BytesToBytes => {
                let bytes = bytes_of(data)?;
                let spec = self.spec_for(1)?;
                let decoded = py.detach(|| with_codec(&spec, |codec| decode_growing(codec, &bytes, LIMIT)));
                PyBytes::new(py, &decoded.map_err(failed)?).into_any()
            }
        };
        let Some(out) = out.filter(|out| !out.is_none()) else { return Ok(result) };
        fill(py, out, &result)?;
        Ok(out.clone())
    }
}

impl Codec {
    /// Returns the codec in the form of v3, for elements of `item` bytes. Some codecs get this size from the data.
    fn spec_for(&self, item: usize) -> PyResult<CodecSpec> {
        let config = Json::from(self.config.clone());
        crate::context::registry().spec_from_v2(&config, item).map(|(_, spec)| spec).or_raise()
    }

    fn encode_bytes<'py>(&self, py: Python<'py>, data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        if data.is_instance_of::<PyString>() || (is_array(data) && is_object(data)?) {
            let message = "this codec takes bytes, or an array of elements of a fixed length";
            return Err(PyTypeError::new_err(message));
        }
        let bytes = bytes_of(data)?;
        let spec = self.spec_for(item_size(data)?)?;
        let encoded = py.detach(|| {
            with_codec(&spec, |codec| {
                let mut encoded = Vec::new();
                codec.encode(&bytes, &mut encoded)?;
                Ok(encoded)
            })
        });
        Ok(PyBytes::new(py, &encoded.map_err(failed)?).into_any())
    }

    /// Returns the data type in the configuration. It has one of two names.
    fn dtype(&self, names: [&str; 2]) -> Option<&str> {
        names.iter().find_map(|name| self.config.get(name)?.as_str())
    }

    /// Encodes numbers as the only chunk of an array in memory.
    fn encode_numbers<'py>(&self, py: Python<'py>, data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let numpy = py.import("numpy")?;
        let data = numpy.call_method1("ascontiguousarray", (data,))?.call_method1("reshape", (-1,))?;
        let own: String = data.getattr("dtype")?.getattr("str")?.extract()?;
        let decoded = self.dtype(["dtype", "decode_dtype"]).map_or_else(|| own.clone(), str::to_owned);
        let data = if decoded == own { data } else { data.call_method1("view", (&decoded,))? };
        let array = self.chunk(&[data.len()? as u64], &decoded)?;
        let typed = crate::elements::Typed::new(py, array, crate::context::registry())?;
        typed.write(py, &zarrox::Selection::all(), &data)?;
        let encoded = typed.array.raw().read(&[0]).or_raise()?.unwrap_or_default();
        let encoded = PyBytes::new(py, &encoded);
        match self.encoded_dtype(&decoded) {
            Some(dtype) => numpy.call_method1("frombuffer", (encoded, dtype))?.call_method0("copy"),
            None => Ok(encoded.into_any()),
        }
    }

    fn decode_numbers<'py>(&self, py: Python<'py>, data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let numpy = py.import("numpy")?;
        let own: Option<String> =
            if is_array(data) { Some(data.getattr("dtype")?.getattr("str")?.extract()?) } else { None };
        // If the codec has no data type, decoding returns floats with the same number of bits as the input.
        let decoded = self.dtype(["dtype", "decode_dtype"]).map(str::to_owned);
        let decoded = decoded.or_else(|| own.map(|own| own.replace(['i', 'u'], "f")));
        let decoded = decoded
            .ok_or_else(|| PyTypeError::new_err("this codec decodes arrays with a data type, not bytes"))?;
        let bytes = bytes_of(data)?;
        let encoded = self.encoded_dtype(&decoded).unwrap_or_else(|| decoded.clone());
        let size: usize = numpy.call_method1("dtype", (encoded,))?.getattr("itemsize")?.extract()?;
        let count = bytes.len() / size.max(1);
        let array = self.chunk(&[count as u64], &decoded)?;
        array.raw().write(&[0], &bytes).or_raise()?;
        let typed = crate::elements::Typed::new(py, array, crate::context::registry())?;
        typed.read(py, &zarrox::Selection::all(), None, true)
    }

    /// Returns the data type into which a filter encodes numbers of a data type.
    fn encoded_dtype(&self, decoded: &str) -> Option<String> {
        let said = self.dtype(["astype", "encode_dtype"]).map(str::to_owned);
        said.or_else(|| (self.config.get("id")? == "bitround").then(|| decoded.replace('f', "i")))
    }

    fn object_type(&self) -> PyResult<DataType> {
        crate::context::registry().object_type_from_v2([&self.config]).or_raise()
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
        if shape.contains(&0) {
            return Ok(PyBytes::new(py, &self.empty(&shape)).into_any());
        }
        let array = self.chunk(&shape, "|O")?;
        let typed = crate::elements::Typed::new(py, array, crate::context::registry())?;
        typed.write(py, &zarrox::Selection::all(), &data)?;
        let first = vec![0; shape.len()];
        let encoded = typed.array.raw().read(&first).or_raise()?;
        let encoded = encoded.ok_or_else(|| PyRuntimeError::new_err("nothing was encoded"))?;
        Ok(PyBytes::new(py, &encoded).into_any())
    }

    /// Encodes an empty array as numcodecs does. An empty array in memory has no chunk that could be encoded.
    fn empty(&self, shape: &[u64]) -> Vec<u8> {
        let ends = zarrox::json::json!(["|O", shape]);
        match self.config.get("id").and_then(Json::as_str) {
            Some("json2") => ends.to_string().into_bytes(),
            Some("msgpack2") => {
                let mut packed = Vec::new();
                // Encoded data is shorter than any limit.
                let _ = zarrox::internals::msgpack::from_json(&ends, &mut packed);
                packed
            }
            _ => vec![0; 4],
        }
    }

    fn decode_objects<'py>(&self, py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
        let shape = self.shape_of(bytes)?;
        if shape.contains(&0) {
            return py.import("numpy")?.call_method1("empty", (shape, PyArrayDescr::object(py)));
        }
        let array = self.chunk(&shape, "|O")?;
        let first = vec![0; shape.len()];
        array.raw().write(&first, bytes).or_raise()?;
        let typed = crate::elements::Typed::new(py, array, crate::context::registry())?;
        typed.read(py, &zarrox::Selection::all(), None, true)
    }

    /// Returns an array in memory with a single chunk. Its data type is given in the form of v2.
    fn chunk(&self, shape: &[u64], dtype: &str) -> PyResult<zarrox::Array> {
        let data_type = match dtype {
            "|O" => self.object_type()?,
            name => crate::context::registry().data_type_from_v2(&name.into()).or_raise()?.0,
        };
        let mut members = Map::default();
        members.insert("compressor".to_owned(), Json::Null);
        members.insert("filters".to_owned(), vec![Json::from(self.config.clone())].into());
        members.insert("dtype".to_owned(), dtype.into());
        let store = std::sync::Arc::new(zarrox::stores::MemoryStore::new());
        let options = crate::context::open_options().store_empty_chunks(true);
        let builder = options.create_array((store, "")).format(Format::V2).shape(shape);
        let builder = builder.data_type(data_type).chunks(zarrox::ChunkShape::One).members(members);
        builder.create().or_raise()
    }

    /// Returns the shape of the elements of encoded objects.
    fn shape_of(&self, bytes: &[u8]) -> PyResult<Vec<u64>> {
        let id = self.config.get("id").and_then(Json::as_str).unwrap_or_default();
        let damaged = || {
            let message = format!("these bytes were not encoded by the codec '{id}'");
            crate::error::raise(&zarrox::Error::new(zarrox::ErrorKind::Corrupt, message))
        };
        let shape = |json: &Json| {
            json.as_array()?.last()?.as_array()?.iter().map(Json::as_u64).collect::<Option<Vec<_>>>()
        };
        match id {
            "json2" => zarrox::json::parse(bytes).ok().as_ref().and_then(shape).ok_or_else(damaged),
            "msgpack2" => {
                zarrox::internals::msgpack::to_json(bytes).ok().as_ref().and_then(shape).ok_or_else(damaged)
            }
            _ => {
                let count = bytes.first_chunk::<4>().ok_or_else(damaged)?;
                let count = u32::from_le_bytes(*count);
                // Each element is preceded by its length.
                let least = 4 + 4 * u64::from(count);
                if least > bytes.len() as u64 { Err(damaged()) } else { Ok(vec![count.into()]) }
            }
        }
    }
}

fn is_array(data: &Bound<'_, PyAny>) -> bool {
    data.is_instance_of::<numpy::PyUntypedArray>()
}

/// Returns the size of the data's elements in bytes.
fn item_size(data: &Bound<'_, PyAny>) -> PyResult<usize> {
    if let Ok(size) = data.getattr("itemsize") {
        return size.extract();
    }
    Ok(1)
}

/// Copies a result into the memory of the caller.
fn fill(py: Python<'_>, out: &Bound<'_, PyAny>, result: &Bound<'_, PyAny>) -> PyResult<()> {
    let numpy = py.import("numpy")?;
    if result.is_instance_of::<numpy::PyUntypedArray>() && is_object(result)? {
        return out.set_item(py.Ellipsis(), result);
    }
    let out = if is_array(out) { out.clone() } else { numpy.call_method1("frombuffer", (out, "u1"))? };
    let flat = out.call_method1("reshape", (-1,))?.call_method1("view", ("u1",))?;
    let bytes = bytes_of(result)?;
    if flat.len()? < bytes.len() {
        let message = format!("'out' has {} bytes, but the data has {}", flat.len()?, bytes.len());
        return Err(PyValueError::new_err(message));
    }
    let source = numpy.call_method1("frombuffer", (PyBytes::new(py, &bytes), "u1"))?;
    flat.set_item(pyo3::types::PySlice::new(py, 0, bytes.len().cast_signed(), 1), source)
}

fn is_object(array: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(array.getattr("dtype")?.getattr("kind")?.extract::<String>()? == "O")
}

fn failed(error: CodecError) -> PyErr {
    crate::error::raise(&error.into())
}

/// Creates a bytes-to-bytes codec, and calls a function with it.
fn with_codec<R>(
    spec: &CodecSpec,
    work: impl FnOnce(&dyn zarrox::codec::BytesToBytes) -> Result<R, CodecError>,
) -> Result<R, CodecError> {
    let chunk = zarrox::codec::ChunkSpec::new(&[1], DataType::UInt8.storage(), FillValue::zero(1))?;
    let context = CodecContext {
        chunk: &chunk,
        registry: crate::context::registry(),
        strictness: Strictness::Lenient,
        limit: LIMIT,
    };
    match spec.create(&context)? {
        (_, Native::BytesToBytes(codec)) => work(&*codec),
        (name, _) => Err(CodecError::unsupported(format!("the codec '{name}' needs an array with a shape"))),
    }
}
