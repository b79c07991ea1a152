//! Imports of files of other formats, and exports.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use zarrox::copy::{Copier, IfExists};
use zarrox::{AccessOptions, DataType, Format};
use zarrox_files::picture::{Colours, Picture};
use zarrox_files::{Export, Import, LeftOut, Table, Target};

use crate::error::OrRaise;
use crate::long::interruptible;

/// The options of Python's `import_file`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Options {
    node: Option<String>,
    columns: Vec<(String, String)>,
    level: usize,
    chunks: Option<Vec<u64>>,
    shards: Option<Vec<u64>>,
    zarr_format: Option<u8>,
    overwrite: bool,
    skip_unsupported: bool,
    memory: Option<usize>,
}

/// Imports a file, or a directory of images. Returns the paths that are left out, and the reasons.
#[pyfunction]
pub(crate) fn import_file(
    py: Python<'_>,
    source: &str,
    destination: &str,
    options: &Bound<'_, PyDict>,
) -> PyResult<Vec<(String, String)>> {
    let options: Options = options.extract()?;
    let mut copier = Copier::new();
    copier = options.chunks.into_iter().fold(copier, Copier::chunks);
    copier = options.shards.into_iter().fold(copier, Copier::shards);
    copier = options.memory.into_iter().fold(copier, Copier::memory);
    copier = match options.zarr_format {
        Some(2) => copier.format(Format::V2),
        Some(3) => copier.format(Format::V3),
        Some(other) => return Err(PyValueError::new_err(format!("zarr_format is 2 or 3, and not {other}"))),
        None => copier,
    };
    if options.overwrite {
        copier = copier.if_exists(IfExists::Replace);
    }
    let mut import = Import::new().level(options.level).skip_unsupported(options.skip_unsupported);
    import = options.node.into_iter().fold(import, Import::node);
    let registry = zarrox::codecs::registry();
    for (name, dtype) in options.columns {
        import = import.column(name, DataType::parse(&dtype, &registry).or_raise()?);
    }
    let left_out = interruptible(py, |interrupt| {
        let access = AccessOptions::new().interrupt(interrupt);
        let copier = copier.open_options(crate::context::open_options().access(&access));
        let importing = import.copier(copier).plan(source, destination)?;
        let left_out = importing.left_out().to_vec();
        importing.run()?;
        Ok(left_out)
    })?;
    Ok(left_out.into_iter().map(|LeftOut { path, reason, .. }| (path, reason)).collect())
}

/// The options of Python's `export_file`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct ExportOptions {
    format: Option<String>,
    selection: Option<String>,
    columns: Vec<String>,
    cmap: Option<String>,
    value_range: Option<(f64, f64)>,
    percentiles: Option<(f64, f64)>,
    log: bool,
    overwrite: bool,
    memory: Option<usize>,
}

impl ExportOptions {
    fn export(self) -> PyResult<Export> {
        let mut picture = Picture::new().logarithmic(self.log);
        if let Some(name) = self.cmap {
            let colours = Colours::named(&name);
            picture = picture.colours(
                colours.ok_or_else(|| PyValueError::new_err(format!("there is no colour map {name:?}")))?,
            );
        }
        if let Some((low, high)) = self.value_range {
            picture = picture.range(low, high).or_raise()?;
        }
        if let Some((low, high)) = self.percentiles {
            picture = picture.percentiles(low, high).or_raise()?;
        }
        let mut export = Export::new()
            .picture(picture)
            .table(Table::new().columns(self.columns))
            .overwrite(self.overwrite);
        if let Some(name) = self.format {
            let target = Target::of(format!("a.{name}"));
            export = export
                .target(target.ok_or_else(|| PyValueError::new_err(format!("there is no format {name:?}")))?);
        }
        if let Some(selection) = self.selection {
            export = export.select(selection.parse::<zarrox::Selection>().or_raise()?);
        }
        Ok(self.memory.into_iter().fold(export, Export::memory))
    }
}

/// Exports a node to a file.
#[pyfunction]
pub(crate) fn export_file(
    py: Python<'_>,
    source: &str,
    destination: &str,
    options: &Bound<'_, PyDict>,
) -> PyResult<()> {
    let export = options.extract::<ExportOptions>()?.export()?;
    interruptible(py, |interrupt| {
        let access = AccessOptions::new().interrupt(interrupt);
        export.open_options(crate::context::open_options().access(&access)).run(source, destination)
    })
}
