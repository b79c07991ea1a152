//! Digests and manifests.

use std::io::{self, BufReader, Read, Write};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use zarrox::Node;
use zarrox::json::to_line;
use zarrox_tools::Digester;
use zarrox_tools::manifest::Manifest;

use crate::array::Array;
use crate::group::Group;
use crate::long::{interruptible, watch};
use crate::store::Store;

/// Returns the digest of an array or a group.
#[pyfunction]
#[pyo3(signature = (node, stored = false, memory = None))]
pub(crate) fn digest(
    py: Python<'_>,
    node: &Bound<'_, PyAny>,
    stored: bool,
    memory: Option<usize>,
) -> PyResult<String> {
    let node = node_of(node)?;
    let digest = interruptible(py, |interrupt| {
        let digester = Digester::new().on_progress(watch(interrupt));
        let digester = memory.into_iter().fold(digester, Digester::memory);
        if stored { digester.stored(&node) } else { digester.content(&node) }
    })?;
    Ok(digest.to_string())
}

/// Writes the manifest of all objects stored at a path and below it, with the method `write` of `out`.
/// Returns the digest of all stored objects.
#[pyfunction]
pub(crate) fn write_manifest(py: Python<'_>, store: &Store, path: &str, out: Py<PyAny>) -> PyResult<String> {
    let store = store.store.clone();
    let mut out = io::BufWriter::with_capacity(1 << 16, Stream(out));
    let written = interruptible(py, |interrupt| {
        let manifest = Manifest::new().open_options(crate::context::open_options());
        manifest.on_progress(watch(interrupt)).write((store, path), &mut out)
    })?;
    Ok(written.digest.to_string())
}

/// Compares all objects stored at a path and below it with a manifest, which is read with the method `read`
/// of `input`. Returns each difference as JSON.
#[pyfunction]
pub(crate) fn verify_manifest(
    py: Python<'_>,
    store: &Store,
    path: &str,
    input: Py<PyAny>,
) -> PyResult<Vec<String>> {
    let store = store.store.clone();
    let mut input = BufReader::with_capacity(1 << 16, Stream(input));
    interruptible(py, |interrupt| {
        let manifest = Manifest::new().open_options(crate::context::open_options());
        let mut found = Vec::new();
        let mut tell = |finding: zarrox_tools::manifest::Discrepancy| {
            found.push(to_line(&finding.to_json()));
            Ok(())
        };
        manifest.on_progress(watch(interrupt)).verify((store, path), &mut input, &mut tell)?;
        Ok(found)
    })
}

/// Returns the node to which a handle refers.
pub(crate) fn node_of(node: &Bound<'_, PyAny>) -> PyResult<Node> {
    match (node.cast::<Array>(), node.cast::<Group>()) {
        (Ok(array), _) => Ok(array.get().array().into()),
        (_, Ok(group)) => Ok(group.get().group().into()),
        _ => Err(PyTypeError::new_err("it is neither an array nor a group")),
    }
}

/// A Python object that can write or read bytes with a method `write` or `read`.
struct Stream(Py<PyAny>);

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A raw stream may write only a part of the bytes, and returns their number.
        let taken = Python::attach(|py| {
            let taken = self.0.call_method1(py, "write", (PyBytes::new(py, bytes),))?;
            taken.extract::<Option<usize>>(py)
        });
        taken.map(|taken| taken.unwrap_or(bytes.len()).min(bytes.len())).map_err(io::Error::other)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read =
            Python::attach(|py| self.0.call_method1(py, "read", (buffer.len(),))?.extract::<Vec<u8>>(py));
        let read = read.map_err(io::Error::other)?;
        let length = read.len().min(buffer.len());
        buffer[..length].copy_from_slice(&read[..length]);
        Ok(length)
    }
}
