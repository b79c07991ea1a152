//! `zarrox import`: imports arrays from files of other formats or from raw bytes.

mod numpy;

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use zarrox::json::{self, Json};
use zarrox::stores::StorageOptions;
use zarrox::stores::internals::strip_file_scheme;
use zarrox::{Error, ErrorKind, Result};
use zarrox_files::{Kind, LeftOut, Select};
use zarrox_tools::Glob;
use zarrox_tools::copy::{Copier, IfExists, Property};

pub(super) use self::numpy::{Appended, append_to};
use super::copying;
use super::recoding::Recoding;
use crate::args::{ByteSize, Chunks, Global, OpenLengths};
use crate::cleanup::StoreFile;
use crate::creation::{self, Creation};
use crate::exit::{Failure, note, printable, usage};
use crate::files;
use crate::interrupt;
use crate::progress::Progress;
use crate::suggest::{self, suggesting};

/// Import arrays from files: NumPy, HDF5, NetCDF, TIFF, NIfTI, PNG, JPEG, CSV, Parquet, raw
///
/// NumPy files are .npy and .npz. Raw elements in C order are imported with --dtype and --shape.
///
/// Groups, attributes, dimensions, chunks and filters of HDF5 and NetCDF are kept. Encoded chunks are copied unchanged if Zarr
/// has all of their filters. After an interruption, the same command continues.
///
/// --concat joins several files into one hierarchy: arrays with the dimension are concatenated along it, and others must be equal.
///
/// An image becomes an array. A directory of images with the same size and type becomes an array with an additional first
/// dimension, in the order of their names. Each column of CSV (.csv, .tsv) or Parquet becomes a one-dimensional array.
///
/// Arrays are written block by block, so that files may be larger than memory. Blocks of a file are whole chunks, so that each
/// chunk is encoded once; blocks of a stream are as many rows as fit into memory. If an import of NumPy files or raw elements
/// fails or is interrupted, its output is removed; if the process is killed, the same command completes it. With --force, the old
/// node is kept until the new one is complete.
#[derive(Debug, Args)]
pub(crate) struct Import {
    /// The file, a directory of images, or - for the standard input; with --concat several files or directories of files. The
    /// last path is the destination: an array, or a group if the file has several arrays
    #[arg(required = true, num_args = 1.., value_names = ["INPUT", "PATH"])]
    paths: Vec<String>,

    /// With --shape, the data type of raw elements: float32, >i2, JSON for structured data types. Otherwise the data type for the
    /// elements of an .npy file: another numeric type that can represent every value (see --lossy); string for text of fixed
    /// length, variable_length_bytes for bytes; bfloat16 and others for |V2
    #[arg(long, value_name = "TYPE", hide_possible_values = true)]
    #[arg(value_parser = suggesting(suggest::text, suggest::data_types))]
    dtype: Option<String>,

    /// Convert numbers that --dtype cannot represent exactly, as NumPy's astype does
    #[arg(long, requires = "dtype", conflicts_with = "shape")]
    lossy: bool,

    /// Read raw elements of this shape, such as 10,20; for a file, one length can be -1, which takes all elements of the file
    #[arg(long, value_name = "LENGTHS", requires = "dtype", allow_hyphen_values = true)]
    shape: Option<OpenLengths>,

    /// With --shape, the number of bytes to skip before the elements
    #[arg(long, value_name = "BYTES", requires = "shape", default_value_t = 0, hide_default_value = true)]
    offset: u64,

    /// Import only this array of an .npz file, this node of an HDF5 or NetCDF file, or this column; can be repeated for nodes and
    /// columns, which are stored in a group
    #[arg(long = "member", value_name = "NAME")]
    members: Vec<String>,

    /// Exclude nodes that match this pattern, such as '*_bnds' or 'forecast/**', with all nodes below them; can be repeated
    #[arg(long, value_name = "PATTERN")]
    exclude: Vec<Glob>,

    /// Concatenate several files along this dimension, in the order of its coordinate variable, or else of the file names. If no
    /// file has the dimension, it becomes the first dimension of all arrays except coordinate variables. With --append, the files
    /// are appended to the existing arrays
    #[arg(long, value_name = "DIMENSION", conflicts_with_all = ["dtype", "shape"])]
    concat: Option<String>,

    /// The action for elements that should be equal in all files but differ: fail, or use those of the first file
    #[arg(
        long,
        value_name = "RULE",
        requires = "concat",
        default_value = "refuse",
        hide_default_value = true
    )]
    #[arg(value_parser = ["refuse", "first"])]
    conflicts: String,

    /// Fill arrays that some files lack with the missing value of their attributes, or NaN. VALUE is used for arrays without a
    /// missing value, which are an error otherwise
    #[arg(long, requires = "concat", value_name = "VALUE", num_args = 0..=1, require_equals = true)]
    #[arg(allow_hyphen_values = true)]
    fill_missing: Option<Option<String>>,

    /// Allow the loss of properties that the format of the copy cannot express: data-types, fill-values, dimension-names,
    /// attributes, members, nodes
    #[arg(long, value_name = "WHAT", value_delimiter = ',', hide_possible_values = true)]
    #[arg(value_parser = suggesting(suggest::parsed::<Property>, suggest::losses))]
    allow: Vec<Property>,

    /// Import only these ranges of dimensions, in all arrays that have the dimensions: by index, such as time=0:100 or x=::2, or by
    /// coordinate, such as lat=10..50 or time=2000-01..2000-12; separate several ranges with commas
    #[arg(long, value_name = "NAME=RANGE", value_delimiter = ',')]
    select: Vec<Select>,

    /// Allow reading files in this directory that the input refers to: external links, external storage, sources of virtual
    /// datasets, OME-TIFF files; can be repeated [always allowed: the directory of the input]
    #[arg(long, value_name = "DIR")]
    external: Vec<PathBuf>,

    /// The data type of a CSV column, such as id=uint8 or day=datetime64[D] [default: a type that represents all values]
    #[arg(long = "column", value_name = "NAME=TYPE", value_parser = column)]
    columns: Vec<(String, String)>,

    /// Import this reduced-resolution image of a TIFF file, such as 1 for the largest one
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    level: usize,

    /// Import TIFF images as OME-Zarr: a group with all levels, axes, units, scales and channels
    #[arg(long, conflicts_with = "level")]
    ome: bool,

    /// Append to the existing array along this axis [default: 0], or with --concat to all arrays of a hierarchy
    #[arg(long, value_name = "AXIS", num_args = 0..=1, require_equals = true, default_missing_value = "0")]
    #[arg(conflicts_with = "Creation")]
    append: Option<usize>,

    /// Skip content that Zarr does not support, or that is in other files which are missing or not allowed, and list it
    #[arg(long)]
    skip_unsupported: bool,

    /// Skip damaged parts of a file, and with --concat damaged files, and list them
    #[arg(long)]
    skip_damaged: bool,

    /// The approximate memory limit
    #[arg(long, value_name = "SIZE", default_value = "512MiB")]
    memory: ByteSize,

    #[command(flatten)]
    creation: Creation,
}

impl Import {
    pub(crate) fn run(&self, global: &Global, out: &mut dyn Write) -> Result<(), Failure> {
        interrupt::catch();
        if self.inputs().is_empty() {
            return Err(usage("the destination is missing; give it after the file").into());
        }
        if self.concat.is_none() && self.inputs().len() > 1 {
            return Err(usage(
                "several files need --concat DIMENSION, along which they are joined; otherwise import them one by one",
            )
            .into());
        }
        if self.concat.is_some() && self.append.is_some() {
            return self.append_files(global);
        }
        if self.concat.is_some() {
            return self.import_hierarchy(global, out);
        }
        let is_raw = self.shape.is_some();
        let kind = if !is_raw && self.can_be_hierarchy() { Kind::of(self.input())? } else { None };
        if kind.is_some_and(|kind| !matches!(kind, Kind::Npy | Kind::Npz)) {
            return self.import_hierarchy(global, out);
        }
        if let Some((option, kinds)) = self.file_option() {
            return Err(
                usage(format!("{option} applies to files of {kinds}, and not to {}", self.name())).into()
            );
        }
        Ok(self.import_numpy(kind, global)?)
    }

    /// Returns the inputs, which precede the destination.
    fn inputs(&self) -> &[String] {
        self.paths.split_last().map_or(&[], |(_, inputs)| inputs)
    }

    /// Returns the first input, which may be the only one.
    fn input(&self) -> &str {
        self.inputs().first().map_or("-", String::as_str)
    }

    /// Returns the destination.
    fn path(&self) -> &str {
        self.paths.last().map_or("", String::as_str)
    }

    /// Returns the name of the input, for error messages.
    fn name(&self) -> String {
        if self.input() == "-" { "the standard input".to_owned() } else { format!("'{}'", self.input()) }
    }

    /// Returns the name of an option that was given but applies only to certain file formats, and the names of these formats.
    fn file_option(&self) -> Option<(&'static str, &'static str)> {
        let many = "HDF5, NetCDF and other formats";
        let given = [
            ("--column", "CSV", !self.columns.is_empty()),
            ("--level", "TIFF", self.level != 0),
            ("--ome", "TIFF", self.ome),
            ("--skip-unsupported", many, self.skip_unsupported),
            ("--skip-damaged", many, self.skip_damaged),
            ("--select", many, !self.select.is_empty()),
            ("--exclude", many, !self.exclude.is_empty()),
            ("--external", many, !self.external.is_empty()),
            ("--allow", many, !self.allow.is_empty()),
        ];
        given.into_iter().find(|(.., given)| *given).map(|(option, kinds, _)| (option, kinds))
    }

    /// Returns the size of the input in bytes, if the input is a file.
    fn length(&self) -> Option<u64> {
        let metadata = fs::metadata(self.input()).ok().filter(|_| self.input() != "-");
        metadata.filter(fs::Metadata::is_file).map(|metadata| metadata.len())
    }

    /// Returns true if the input is a file or a directory, which can be read in any order.
    fn can_be_hierarchy(&self) -> bool {
        self.length().is_some() || (self.input() != "-" && Path::new(self.input()).is_dir())
    }

    /// Creates a node. If the node exists, the new one is created beside it, and the old one is deleted only once the new one is
    /// complete. The path of the new node is derived from the old node's name, so that the same command finds the leftovers of an
    /// interrupted import.
    fn replacing(&self, global: &Global, create: impl FnOnce(&str) -> Result<()>) -> Result<()> {
        // The old node can have any format.
        let global = global.of_any_format();
        let Some((old, new)) = self.replaced(&global) else {
            let created = StoreFile::or_removed(&global, self.path(), || create(self.path()));
            return created.map_err(|error| match error.kind() {
                ErrorKind::AlreadyExists if self.creation.force => self.root_exists(error),
                _ => error,
            });
        };
        StoreFile::or_removed(&global, &new, || create(&new))?;
        let options = global.options();
        match options.delete(&old) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                let _ = options.delete(&new);
                return Err(error);
            }
            _ => {}
        }
        options.move_node(&new, &old).map_err(|error| error.at(format!("the imported array is '{new}'")))
    }

    fn root_exists(&self, error: Error) -> Error {
        let message = format!(
            "'{0}' is the root of a store, which --force does not replace; `zarrox rm '{0}'` deletes it",
            self.path()
        );
        Error::new(ErrorKind::AlreadyExists, message).with_source(error)
    }

    /// Returns the path of the node to replace, if it exists, and the path where the new node is created. An import that was
    /// interrupted after the old node was deleted leaves the new node at that path.
    fn replaced(&self, global: &Global) -> Option<(String, String)> {
        if !self.creation.force {
            return None;
        }
        let exists =
            |path: &str| global.read(path).map_or_else(|error| error.kind() != ErrorKind::NotFound, |_| true);
        let path = strip_file_scheme(self.path()).unwrap_or(self.path());
        let (old, new) = beside_on_disk(path).or_else(|| beside_in_store(path))?;
        (Path::new(&new).exists() || exists(&new) || exists(self.path())).then_some((old, new))
    }

    /// Imports all nodes of an HDF5 or NetCDF file, or images.
    fn import_hierarchy(&self, global: &Global, out: &mut dyn Write) -> Result<(), Failure> {
        if self.append.is_some() {
            return Err(
                usage(
                    "--append takes one array of a NumPy file, or files with --concat DIMENSION; for other content, use \
                    zarrox append",
                )
                .into()
            );
        }
        if let Some(option) = self.creation.single_option() {
            let name = self.name();
            let message = format!("{option} applies to a single array; the arrays of {name} keep their own");
            return Err(usage(message).into());
        }
        let progress = Progress::new(self.input(), 0);
        let memory = usize::try_from(self.memory.0).unwrap_or(usize::MAX);
        let copier = copying::copier(global, &progress).memory(memory);
        // Only the same import can continue from the leftovers of an earlier one.
        let copier = self.allow.iter().copied().fold(copier, Copier::allow);
        let copier = if self.creation.force { copier.if_exists(IfExists::Replace) } else { copier };
        let recodes = self.creation.compressor.is_some() || self.creation.codecs.is_some();
        let import = self.options()?.copier(self.recoding()?.apply(copier)?).recodes(recodes);
        self.replacing(global, |path| {
            let importing = import.plan_all(self.inputs(), path)?;
            if let Some(dimension) = self.concat.as_ref().filter(|_| importing.has_new_dimension()) {
                note(&format!("no file has the dimension '{dimension}', so it is added as a new one"));
            }
            importing.notes().iter().for_each(|found| note(&printable(found)));
            print_differences(importing.differences());
            for report in importing.copying().reports() {
                report.to_string().lines().for_each(|line| tracing::info!("{}", printable(line)));
            }
            let imported = importing.run_counted()?;
            progress.finish(None);
            tracing::info!("the source has {}", imported.source);
            tracing::info!("the copy has {}", imported.copy);
            copying::print_findings(&imported.report, out)
                .map_err(|error| files::failed("printing", error))?;
            print_left_out(&imported.left_out);
            Ok(())
        })
        .map_err(Failure::from)
    }

    /// Appends files to a hierarchy.
    fn append_files(&self, global: &Global) -> Result<(), Failure> {
        if self.append != Some(0) {
            return Err(
                usage("--append takes no axis together with --concat, which names the dimension").into()
            );
        }
        let options = global.options().access(&interrupt::options());
        let appended = interrupt::with_advice(
            self.options()?.append(self.inputs(), self.path(), &options),
            "the same command continues",
        )?;
        print_differences(&appended.notes);
        for (path, before, after) in &appended.arrays {
            tracing::info!("/{}: {before} elements along the dimension became {after}", printable(path));
        }
        print_left_out(&appended.left_out);
        Ok(())
    }

    /// Returns the options for importing files, without those of the copy.
    fn options(&self) -> Result<zarrox_files::Import> {
        let import = zarrox_files::Import::new()
            .level(self.level)
            .ome(self.ome)
            .skip_unsupported(self.skip_unsupported)
            .skip_damaged(self.skip_damaged)
            .first_wins(self.conflicts == "first");
        let import = match &self.fill_missing {
            None => import,
            Some(None) => import.fill_missing(true),
            Some(Some(value)) => import.fill_missing_with(json_or_text(value)),
        };
        let import = self.concat.iter().fold(import, zarrox_files::Import::concat);
        let import = self.members.iter().fold(import, zarrox_files::Import::node);
        let import = self.exclude.iter().cloned().fold(import, zarrox_files::Import::exclude);
        let import = self.select.iter().cloned().fold(import, zarrox_files::Import::select);
        let import = self.external.iter().fold(import, zarrox_files::Import::external);
        self.columns.iter().try_fold(import, |import, (name, dtype)| {
            Ok::<_, Error>(import.column(name, creation::data_type(dtype)?.0))
        })
    }

    /// Returns the properties that the copies of all arrays get.
    fn recoding(&self) -> Result<Recoding> {
        let shards = match &self.creation.shards {
            Some(shards @ (Chunks::Shape(_) | Chunks::Named(_))) => Some(Some(shards.clone())),
            Some(Chunks::Rectilinear(_)) => {
                return Err(usage("--shards: the shards of a copy have a single shape"));
            }
            None => None,
        };
        let Creation { chunks, codecs, filters, compressor, separator, .. } = self.creation.clone();
        let (dtype, lossy) = (self.dtype.clone(), self.lossy);
        Ok(Recoding { chunks, shards, codecs, filters, compressor, dtype, lossy, separator })
    }
}

/// Prints the differences between several files.
fn print_differences(differences: &[String]) {
    for difference in differences {
        tracing::info!("{}", printable(difference));
    }
}

/// Prints the parts that were skipped, and their number as the last line.
fn print_left_out(parts: &[LeftOut]) {
    for part in parts {
        note(&format!("left out: {part}"));
    }
    if !parts.is_empty() {
        note(&format!("left out {}", counted(parts.len(), "part")));
    }
}

fn counted(count: usize, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}

/// Parses a value as JSON. A value that is not JSON is taken as a string.
fn json_or_text(text: &str) -> Json {
    json::parse(text.as_bytes()).unwrap_or_else(|_| text.into())
}

/// Parses the name and the data type of a column.
fn column(text: &str) -> Result<(String, String), String> {
    let (name, dtype) = text.rsplit_once('=').ok_or("expected NAME=TYPE")?;
    Ok((name.to_owned(), dtype.to_owned()))
}

/// Returns the arguments of the command, with `--append 1` written as `--append=1` if the word after `--append` is a number.
pub(crate) fn with_axis(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut joined: Vec<OsString> = Vec::new();
    for argument in arguments {
        let is_axis = argument.to_str().is_some_and(|text| text.parse::<usize>().is_ok());
        match joined.last_mut() {
            Some(last) if last == "--append" && is_axis => {
                last.push("=");
                last.push(argument);
            }
            _ => joined.push(argument),
        }
    }
    joined
}

/// Returns a path on disk with symbolic links resolved, and the path of a new node beside it. The last component of the path need
/// not exist.
fn beside_on_disk(path: &str) -> Option<(String, String)> {
    let old = absolute(Path::new(path))?;
    let new = old.with_file_name(new_name(old.file_name()?.to_str()?));
    Some((old.to_str()?.to_owned(), new.to_str()?.to_owned()))
}

/// Returns a URL or a path in an archive without its trailing slash, and the URL or path of a new node beside it; `None` for the
/// root of a store.
fn beside_in_store(path: &str) -> Option<(String, String)> {
    let path = path.trim_end_matches('/');
    let (_, node) = zarrox::internals::locate(path, &StorageOptions::new()).ok()?;
    let (parent, name) = path.rsplit_once('/').filter(|_| !node.is_root())?;
    Some((path.to_owned(), format!("{parent}/{}", new_name(name))))
}

fn new_name(name: &str) -> String {
    format!(".importing-{name}")
}

/// Returns the absolute path with symbolic links resolved. The last component of the path need not exist.
fn absolute(path: &Path) -> Option<PathBuf> {
    if let Ok(path) = fs::canonicalize(path) {
        return Some(path);
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    Some(fs::canonicalize(parent.unwrap_or(Path::new("."))).ok()?.join(path.file_name()?))
}
