//! Imports and exports of files in other formats.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use zarrox::data_type::Casting;
use zarrox::{AccessOptions, CodecSpec, DataType, Format, OpenMode, Selection};
use zarrox_files::picture::{Colours, Picture, Scaling};
use zarrox_files::{
    Export, Import, LeftOut, Names, Select, Stack, StackKind, Table, Target, TiffCompression,
};
use zarrox_tools::Glob;
use zarrox_tools::copy::{Copier, IfExists, Property};

use crate::error::OrRaise;
use crate::long::interruptible;

/// The options of Python's `import_file`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Options {
    nodes: Vec<String>,
    exclude: Vec<String>,
    concat: Option<String>,
    append: bool,
    first_wins: bool,
    fill_missing: bool,
    /// JSON.
    fill_value: Option<String>,
    /// Ranges, such as `time=0:10`.
    select: Vec<String>,
    external: Vec<PathBuf>,
    columns: Vec<(String, String)>,
    level: usize,
    ome: bool,
    chunks: Option<Vec<u64>>,
    shards: Option<Vec<u64>>,
    named_chunks: Vec<(String, Option<u64>)>,
    named_shards: Vec<(String, Option<u64>)>,
    dtype: Option<String>,
    lossy: bool,
    /// JSON.
    codecs: Option<String>,
    allow: Vec<String>,
    zarr_format: Option<u8>,
    overwrite: bool,
    skip_unsupported: bool,
    skip_damaged: bool,
    memory: Option<usize>,
}

impl Options {
    /// Returns the data type to which elements are cast, and the casting rules.
    fn data_type(&self) -> zarrox::Result<Option<(DataType, Casting)>> {
        let casting = if self.lossy { Casting::Lossy } else { Casting::Exact };
        let parse = |dtype: &String| DataType::parse(dtype, &zarrox::codecs::registry());
        Ok(self.dtype.as_ref().map(parse).transpose()?.map(|data_type| (data_type, casting)))
    }

    fn copier(&self) -> PyResult<Copier> {
        let mut copier = Copier::new();
        copier = self.chunks.clone().into_iter().fold(copier, Copier::chunks);
        copier = self.shards.clone().into_iter().fold(copier, Copier::shards);
        if !self.named_chunks.is_empty() {
            copier = copier.chunks_by_name(self.named_chunks.clone());
        }
        if !self.named_shards.is_empty() {
            copier = copier.shards_by_name(self.named_shards.clone());
        }
        copier = self.memory.into_iter().fold(copier, Copier::memory);
        if let Some(text) = &self.codecs {
            let json = zarrox::json::parse(text.as_bytes()).or_raise()?;
            let codecs: Option<Vec<CodecSpec>> =
                json.as_array().and_then(|list| list.iter().map(CodecSpec::from_json).collect());
            let wrong = || PyValueError::new_err("codecs are dicts with 'name' and 'configuration'");
            copier = copier.codecs(codecs.ok_or_else(wrong)?);
        }
        for what in &self.allow {
            copier = copier.allow(what.parse::<Property>().or_raise()?);
        }
        copier = match self.zarr_format {
            Some(2) => copier.format(Format::V2),
            Some(3) => copier.format(Format::V3),
            Some(other) => {
                return Err(PyValueError::new_err(format!("zarr_format is 2 or 3, and not {other}")));
            }
            None => copier,
        };
        Ok(if self.overwrite { copier.if_exists(IfExists::Replace) } else { copier })
    }

    fn import(&self) -> PyResult<Import> {
        let mut import = Import::new()
            .level(self.level)
            .ome(self.ome)
            .first_wins(self.first_wins)
            .fill_missing(self.fill_missing)
            .skip_unsupported(self.skip_unsupported)
            .skip_damaged(self.skip_damaged)
            .recodes(self.codecs.is_some());
        import = self.nodes.iter().fold(import, Import::node);
        import = self.concat.iter().fold(import, Import::concat);
        import = self.external.iter().fold(import, Import::external);
        for pattern in &self.exclude {
            import = import.exclude(pattern.parse::<Glob>().or_raise()?);
        }
        for range in &self.select {
            import = import.select(range.parse::<Select>().or_raise()?);
        }
        if let Some(value) = &self.fill_value {
            import = import.fill_missing_with(zarrox::json::parse(value.as_bytes()).or_raise()?);
        }
        let registry = zarrox::codecs::registry();
        for (name, dtype) in &self.columns {
            import = import.column(name, DataType::parse(dtype, &registry).or_raise()?);
        }
        Ok(import)
    }
}

/// Imports files, or a directory of images. Returns the paths of the parts that are not imported, with the reasons.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "a list of Python has no slice")]
pub(crate) fn import_file(
    py: Python<'_>,
    sources: Vec<PathBuf>,
    destination: &str,
    options: &Bound<'_, PyDict>,
) -> PyResult<Vec<(String, String)>> {
    let options: Options = options.extract()?;
    let (copier, import) = (options.copier()?, options.import()?);
    let left_out = interruptible(py, |interrupt| {
        let access = AccessOptions::new().interrupt(interrupt);
        let open = crate::context::open_options().access(&access);
        if options.append {
            return Ok(import.append(&sources, destination, &open)?.left_out);
        }
        let import = import.copier(copier.open_options(open));
        let import = match options.data_type()? {
            Some((data_type, casting)) => import.data_type(data_type, Some(casting)),
            None => import,
        };
        Ok(import.plan_all(&sources, destination)?.run_counted()?.left_out)
    })?;
    Ok(pairs(left_out))
}

fn pairs(left_out: Vec<LeftOut>) -> Vec<(String, String)> {
    left_out.into_iter().map(|LeftOut { path, reason, .. }| (path, reason)).collect()
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
    compression: Option<String>,
    stack: Option<String>,
    unlimited: Vec<String>,
    skip_unsupported: bool,
    overwrite: bool,
    memory: Option<usize>,
}

impl ExportOptions {
    fn picture(&self) -> PyResult<Picture> {
        let mut picture = Picture::new().scaling(if self.log { Scaling::Log } else { Scaling::Linear });
        if let Some(name) = &self.cmap {
            let colours = Colours::named(name);
            picture = picture
                .colours(colours.ok_or_else(|| PyValueError::new_err(format!("unknown colormap {name:?}")))?);
        }
        if let Some((low, high)) = self.value_range {
            picture = picture.range(low, high).or_raise()?;
        }
        if let Some((low, high)) = self.percentiles {
            picture = picture.percentiles(low, high).or_raise()?;
        }
        Ok(picture)
    }

    fn selection(&self) -> PyResult<Selection> {
        match &self.selection {
            Some(selection) => selection.parse::<Selection>().or_raise(),
            None => Ok(Selection::all()),
        }
    }

    fn compression(&self) -> PyResult<Option<TiffCompression>> {
        Ok(match self.compression.as_deref() {
            None => None,
            Some("deflate") => Some(TiffCompression::Deflate),
            Some("zstd") => Some(TiffCompression::Zstandard),
            Some("none") => Some(TiffCompression::None),
            Some(other) => {
                let message = format!("the compression is 'deflate', 'zstd' or 'none', and not {other:?}");
                return Err(PyValueError::new_err(message));
            }
        })
    }

    fn export(&self) -> PyResult<Export> {
        let mut export = Export::new()
            .picture(self.picture()?)
            .table(Table::new().columns(self.columns.clone()))
            .overwrite(self.overwrite);
        if let Some(name) = &self.format {
            let target = Target::of(format!("a.{name}"));
            export = export
                .target(target.ok_or_else(|| PyValueError::new_err(format!("unknown format {name:?}")))?);
        }
        if self.selection.is_some() {
            export = export.select(self.selection()?);
        }
        export = self.unlimited.iter().fold(export, Export::unlimited);
        export = self.compression()?.into_iter().fold(export, Export::compression);
        Ok(self.memory.into_iter().fold(export, Export::memory))
    }

    /// Returns the file names and the options of an image stack, if the destination is one.
    fn stack(&self, destination: &str) -> PyResult<Option<(Names, Stack)>> {
        let said = match self.stack.as_deref() {
            None => None,
            Some("png") => Some(StackKind::Png),
            Some("jpeg") => Some(StackKind::Jpeg),
            Some("tiff") => Some(StackKind::Tiff),
            Some(other) => {
                let message = format!("a stack is written as 'png', 'jpeg' or 'tiff', not as {other:?}");
                return Err(PyValueError::new_err(message));
            }
        };
        let pattern = Names::of_pattern(destination).or_raise()?;
        let Some(kind) = said.or_else(|| StackKind::of(destination).filter(|_| pattern.is_some())) else {
            return Ok(None);
        };
        let names = pattern.unwrap_or_else(|| Names::in_directory(destination, kind.suffix()));
        let mut stack = Stack::new(kind).select(self.selection()?).overwrite(self.overwrite);
        if self.cmap.is_some() || self.value_range.is_some() || self.percentiles.is_some() || self.log {
            stack = stack.picture(self.picture()?);
        }
        stack = self.compression()?.into_iter().fold(stack, Stack::compression);
        Ok(Some((names, self.memory.into_iter().fold(stack, |stack, memory| stack.memory(memory as u64)))))
    }
}

/// Exports a node to a file, or to an image stack. Returns the paths of the parts that are not exported, with the reasons.
#[pyfunction]
pub(crate) fn export_file(
    py: Python<'_>,
    source: &str,
    destination: &str,
    options: &Bound<'_, PyDict>,
) -> PyResult<Vec<(String, String)>> {
    let options: ExportOptions = options.extract()?;
    let left_out = Arc::new(Mutex::new(Vec::new()));
    let stack = options.stack(destination)?;
    let mut export = options.export()?;
    if options.skip_unsupported {
        let list = Arc::clone(&left_out);
        export = export.skip_unsupported(move |found| {
            list.lock().unwrap_or_else(PoisonError::into_inner).push(found);
        });
    }
    interruptible(py, |interrupt| {
        let access = AccessOptions::new().interrupt(interrupt);
        let open = crate::context::open_options().access(&access);
        match stack {
            Some((names, stack)) => stack.write(&open.mode(OpenMode::Read).open(source)?, &names).map(drop),
            None => export.open_options(open).run(source, destination),
        }
    })?;
    let found = left_out.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Ok(pairs(found))
}
