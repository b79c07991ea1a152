//! Differences, statistics, disk usage, and chunks.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use zarrox::json::{Json, json};
use zarrox_tools::Statistics;
use zarrox_tools::diff::Diff;
use zarrox_tools::stats::Measure;
use zarrox_tools::usage::{NodeUsage, Usage};

use super::digest::node_of;
use crate::array::Array;
use crate::error::OrRaise;
use crate::long::{interruptible, watch};

/// Returns the differences between two nodes, each as JSON.
#[pyfunction]
#[pyo3(signature = (left, right, rtol = 0.0, atol = 0.0, equal_nan = true, metadata_only = false, max_values = 10, memory = None))]
#[expect(clippy::too_many_arguments, reason = "the arguments of the Python function")]
pub(crate) fn diff(
    py: Python<'_>,
    left: &Bound<'_, PyAny>,
    right: &Bound<'_, PyAny>,
    rtol: f64,
    atol: f64,
    equal_nan: bool,
    metadata_only: bool,
    max_values: usize,
    memory: Option<usize>,
) -> PyResult<Vec<String>> {
    let (left, right) = (node_of(left)?, node_of(right)?);
    interruptible(py, |interrupt| {
        let diff = Diff::new().rtol(rtol).atol(atol).equal_nan(equal_nan).metadata_only(metadata_only);
        let diff = memory.into_iter().fold(diff.max_values(max_values), Diff::memory);
        let mut found = Vec::new();
        diff.on_progress(watch(interrupt)).run(&left, &right, |difference| {
            found.push(difference.to_json().to_string());
            Ok(())
        })?;
        Ok(found)
    })
}

/// Returns the statistics of an array, as JSON.
#[pyfunction]
#[pyo3(signature = (array, field = None, histogram = 0, range = None, percentiles = Vec::new(), unique = 0, memory = None, missing = Vec::new()))]
#[expect(clippy::too_many_arguments, reason = "the arguments of the Python function")]
pub(crate) fn stats(
    py: Python<'_>,
    array: &Array,
    field: Option<String>,
    histogram: usize,
    range: Option<(f64, f64)>,
    percentiles: Vec<f64>,
    unique: usize,
    memory: Option<usize>,
    missing: Vec<f64>,
) -> PyResult<String> {
    let array = array.array();
    interruptible(py, |interrupt| {
        let statistics =
            Statistics::new().histogram(histogram).percentiles(percentiles).unique(unique).missing(missing);
        let statistics = range.into_iter().fold(statistics, |all, (low, high)| all.range(low, high));
        let statistics = field.into_iter().fold(statistics, Statistics::field);
        let statistics = memory.into_iter().fold(statistics, Statistics::memory);
        let found = statistics.on_progress(watch(interrupt)).run(&array)?;
        Ok(Json::Object(found.to_json()).to_string())
    })
}

/// Returns statistics along axes: the shape of the results, and the bytes of the elements for each statistic.
#[pyfunction]
#[pyo3(signature = (array, axes, measures, memory = None))]
#[expect(clippy::needless_pass_by_value, reason = "arguments come from Python by value")]
pub(crate) fn stats_along<'py>(
    py: Python<'py>,
    array: &Array,
    axes: Vec<usize>,
    measures: Vec<String>,
    memory: Option<usize>,
) -> PyResult<(Vec<u64>, Vec<Bound<'py, PyBytes>>)> {
    let array = array.array();
    let measures =
        measures.iter().map(|name| name.parse()).collect::<zarrox::Result<Vec<Measure>>>().or_raise()?;
    let (shape, found) = interruptible(py, |interrupt| {
        let statistics = memory.into_iter().fold(Statistics::new(), Statistics::memory);
        let statistics = statistics.on_progress(watch(interrupt));
        let shape = statistics.shape_along(&array, &axes)?;
        Ok((shape, statistics.along(&array, &axes, &measures)?))
    })?;
    Ok((shape, found.iter().map(|values| PyBytes::new(py, values.as_bytes())).collect()))
}

/// Returns the disk usage of a node and of all nodes below it, as a JSON object for each node.
#[pyfunction]
#[pyo3(signature = (node, inner = false))]
pub(crate) fn du(py: Python<'_>, node: &Bound<'_, PyAny>, inner: bool) -> PyResult<Vec<String>> {
    let node = node_of(node)?;
    interruptible(py, |interrupt| {
        let mut all = Vec::new();
        Usage::new().inner(inner).on_progress(watch(interrupt)).run(&node, |node| {
            all.push(usage_json(&node).to_string());
            Ok(())
        })?;
        Ok(all)
    })
}

fn usage_json(node: &NodeUsage) -> Json {
    let mut json = json!({
        "path": node.path.as_str(), "node_type": if node.chunks.is_some() { "array" } else { "group" },
        "bytes_stored": node.bytes(), "bytes": 0, "chunks_stored": 0, "chunks": 0, "inner_chunks": Json::Null,
        "orphans": node.orphans.0, "orphan_bytes": node.orphans.1,
    });
    if let Some(chunks) = &node.chunks {
        json["bytes"] = Json::from(chunks.logical);
        json["chunks_stored"] = Json::from(chunks.stored);
        json["chunks"] = Json::from(chunks.possible);
        if let Some(inner) = chunks.inner {
            json["inner_chunks"] =
                json!({"stored": inner.stored, "empty": inner.empty, "bytes": inner.bytes});
        }
    }
    json
}

/// A chunk that is stored: its indices, its key, and its size in bytes.
type StoredChunk = (Vec<u64>, String, u64);

/// Returns the stored chunks of an array (or its shards, if it has any), in the order of their indices.
#[pyfunction]
pub(crate) fn chunk_table(py: Python<'_>, array: &Array) -> PyResult<Vec<StoredChunk>> {
    let array = array.array();
    interruptible(py, |_| {
        let mut stored = Vec::new();
        array.raw().visit(&mut |chunk, size| {
            if let Some(chunk) = chunk {
                stored.push((chunk, size));
            }
        })?;
        stored.sort();
        stored.into_iter().map(|(chunk, size)| Ok((chunk.clone(), array.raw().key(&chunk)?, size))).collect()
    })
}
