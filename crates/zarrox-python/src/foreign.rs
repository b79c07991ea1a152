//! Codecs that are written in Python.

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use zarrox::DataType;
use zarrox::codec::{BytesToBytes, Codec, CodecContext, CodecDef, CodecError, CodecKind, Size};
use zarrox::json::{Json, Map};

use crate::mapping::bytes_of;

/// The codec for every `id` that Rust does not know. It uses the object that `zarrox.codecs.python_codec` returns for the
/// configuration.
pub(crate) static DEF: CodecDef = CodecDef::new("zarrox.python", CodecKind::BytesToBytes, create);

fn create(configuration: &Map, context: &CodecContext<'_>) -> Result<Codec, CodecError> {
    let text = Json::from(configuration.clone()).to_string();
    let object = Python::attach(|py| {
        Ok::<_, PyErr>(py.import("zarrox.codecs")?.call_method1("python_codec", (text,))?.unbind())
    });
    let object = object.map_err(|error| {
        let is_about_the_codec = Python::attach(|py| error.is_instance_of::<PyException>(py));
        let unsupported = CodecError::unsupported(error.to_string());
        if is_about_the_codec { unsupported } else { unsupported.with_source(error) }
    })?;
    Ok(Codec::BytesToBytes(Box::new(Foreign {
        configuration: configuration.clone(),
        object,
        data_type: context.chunk.data_type().ok().cloned(),
        shape: context.chunk.shape().to_vec(),
        size: context.chunk.size(),
    })))
}

/// An object with the methods `encode` and `decode`.
#[derive(Debug)]
struct Foreign {
    configuration: Map,
    object: Py<PyAny>,
    /// The data type of the elements in the chunk, for the first bytes-to-bytes codec.
    data_type: Option<DataType>,
    shape: Vec<usize>,
    size: usize,
}

impl Foreign {
    /// Returns the bytes in the form in which numcodecs passes them to a codec: the first codec receives the chunk as an array.
    fn seen<'py>(&self, py: Python<'py>, decoded: &[u8]) -> PyResult<Bound<'py, PyAny>> {
        let bytes = PyBytes::new(py, decoded);
        let numpy = py.import("numpy")?;
        let Some(data_type) = self.data_type.as_ref().filter(|_| decoded.len() == self.size) else {
            return numpy.call_method1("frombuffer", (bytes, "u1"));
        };
        let dtype = crate::dtype::native(py, data_type, crate::context::registry())?;
        let array = numpy.call_method1("frombuffer", (bytes, dtype))?;
        array.call_method1("reshape", (PyTuple::new(py, &self.shape)?,))
    }
}

/// Returns the error for a Python exception, which is raised again in the caller that reads or writes.
fn failed(error: PyErr) -> CodecError {
    CodecError::corrupt(format!("the codec in Python failed: {error}")).with_source(error)
}

impl BytesToBytes for Foreign {
    fn configuration(&self) -> Map {
        self.configuration.clone()
    }

    fn encoded_size(&self, _: Size) -> Size {
        Size::UNKNOWN
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<(), CodecError> {
        let result = Python::attach(|py| {
            let result = self.object.bind(py).call_method1("encode", (self.seen(py, decoded)?,))?;
            bytes_of(&result)
        });
        encoded.extend_from_slice(&result.map_err(failed)?);
        Ok(())
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<usize, CodecError> {
        let result = Python::attach(|py| {
            let result = self.object.bind(py).call_method1("decode", (PyBytes::new(py, encoded),))?;
            bytes_of(&result)
        });
        let bytes = result.map_err(failed)?;
        let Some(out) = decoded.get_mut(..bytes.len()) else {
            return Err(CodecError::overflow(decoded.len()));
        };
        out.copy_from_slice(&bytes);
        Ok(bytes.len())
    }
}
