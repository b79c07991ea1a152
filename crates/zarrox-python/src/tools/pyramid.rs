//! Pyramid levels of images, and validation of OME-Zarr metadata.

use std::str::FromStr;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use zarrox::AccessOptions;
use zarrox_images::pyramid::PyramidLevel;
use zarrox_images::{Downsample, ome};

use crate::error::OrRaise;
use crate::long::interruptible;

/// The options of Python's `downsample`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Options {
    method: Option<String>,
    factors: Option<Vec<u64>>,
    levels: Option<usize>,
    skip_nan: bool,
    form: Option<String>,
    name: Option<String>,
    axes: Vec<String>,
    scale: Vec<f64>,
    translation: Vec<f64>,
    units: Vec<String>,
    channels: Vec<String>,
    labels: bool,
    chunks: Option<Vec<u64>>,
    shards: Option<Vec<u64>>,
    overwrite: bool,
    memory: Option<usize>,
    jobs: Option<usize>,
}

fn parsed<T: FromStr<Err = zarrox::Error>>(texts: &[String]) -> PyResult<Vec<T>> {
    texts.iter().map(|text| text.parse()).collect::<zarrox::Result<Vec<T>>>().or_raise()
}

impl Options {
    fn maker(self) -> PyResult<Downsample> {
        let maker = Downsample::new().skip_nan(self.skip_nan).labels(self.labels).overwrite(self.overwrite);
        let maker = maker.scale(self.scale).translation(self.translation).units(self.units);
        let maker = maker.axes(parsed(&self.axes)?).channels(parsed(&self.channels)?);
        let maker = parsed(self.method.as_slice())?.into_iter().fold(maker, Downsample::method);
        let maker = parsed(self.form.as_slice())?.into_iter().fold(maker, Downsample::form);
        let maker = self.factors.into_iter().fold(maker, Downsample::factors);
        let maker = self.levels.into_iter().fold(maker, Downsample::levels);
        let maker = self.name.into_iter().fold(maker, Downsample::name);
        let maker = self.chunks.into_iter().fold(maker, Downsample::chunks);
        let maker = self.shards.into_iter().fold(maker, Downsample::shards);
        let maker = self.jobs.into_iter().fold(maker, Downsample::jobs);
        Ok(self.memory.into_iter().fold(maker, Downsample::memory))
    }
}

/// Creates pyramid levels of the array at a path or URL, and describes the image.
#[pyfunction]
pub(crate) fn downsample<'py>(
    py: Python<'py>,
    source: &str,
    destination: Option<&str>,
    options: &Bound<'py, PyDict>,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let maker = options.extract::<Options>()?.maker()?;
    let levels = interruptible(py, |interrupt| {
        let access = AccessOptions::new().interrupt(interrupt);
        let maker = maker.open_options(crate::context::open_options().access(&access));
        match destination {
            Some(destination) => maker.run_into(source, destination),
            None => maker.run(source),
        }
    })?;
    levels.iter().map(|level| members(py, level)).collect()
}

fn members<'py>(py: Python<'py>, level: &PyramidLevel) -> PyResult<Bound<'py, PyDict>> {
    let members = PyDict::new(py);
    members.set_item("path", &level.path)?;
    members.set_item("shape", &level.shape)?;
    members.set_item("chunks", &level.chunks)?;
    members.set_item("factors", &level.factors)?;
    members.set_item("scale", &level.scale)?;
    members.set_item("translation", &level.translation)?;
    members.set_item("bytes", level.bytes)?;
    Ok(members)
}

/// Validates the OME-Zarr metadata at a path or URL. Returns the severity, the path and the message of each
/// finding.
#[pyfunction]
pub(crate) fn validate_ome(py: Python<'_>, path: &str) -> PyResult<Vec<(&'static str, String, String)>> {
    let options = crate::context::open_options();
    let findings = py.detach(|| ome::validate::validate_with(&options, path)).or_raise()?;
    let parts = |finding: ome::Issue| (finding.severity.name(), finding.path, finding.message);
    Ok(findings.into_iter().map(parts).collect())
}
