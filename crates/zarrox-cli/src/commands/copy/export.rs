//! `zarrox export`: writes arrays as files of other formats or as raw bytes.

use std::io::Write;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use clap::{Args, ValueEnum};
use zarrox::data_type::Endian;
use zarrox::internals::data_type::ByteOrder;
use zarrox::{Array, Error, ErrorKind, Node, Order, Result, Selection};
use zarrox_files::npy;
use zarrox_files::{Export as FileExport, NpzWriter, Target as FileTarget};

use super::drawing::Drawing;
use super::imaging::{Imaging, Names};
use crate::args::{ByteSize, Global};
use crate::exit::{Failure, note, printable, usage};
use crate::files::Output;
use crate::interrupt;
use crate::part::Part;
use crate::places;
use crate::progress::Progress;
use crate::strings::{self, Strings};
use crate::window::{Window, memory_size};

/// Export an array, or all arrays of a group, to a file
///
/// Elements are written in C order and native byte order, block by block, so that arrays may be larger than memory. Strings of
/// variable length are written with the length of the longest one, for which they are read twice. Integers of 2 or 4 bits are
/// written as 8-bit integers.
///
/// The columns of a table (.csv, .parquet) are the one-dimensional arrays of a group, or the fields of a structured array.
///
/// A picture (.png) shows a selection with two dimensions through a colormap, or bytes with a third dimension of length 3 or 4 as
/// RGB(A).
///
/// A TIFF (.tif, .ome.tif) or NIfTI file (.nii, .nii.gz) contains one array with its georeference or spacing: evenly spaced
/// coordinates, the attributes that an import keeps, or the scales of OME-Zarr. A name with a number (slices/%04d.png), or a
/// directory with --stack, receives an image for each index along the first dimension.
///
/// An HDF5 (.h5) or NetCDF-4 file (.nc) contains all nodes of a group with their attributes, dimensions and chunks. Chunks that are
/// compressed with zlib are copied unchanged; others are compressed with deflate, which all programs read.
#[derive(Debug, Args)]
pub(crate) struct Export {
    /// The array, or a selection: 'a.zarr/t2m[-1, ::90, ...]'; for .npz, .csv, .parquet, .h5, .nc, .tif and .nii also a group
    path: String,

    /// The file, or - for the standard output; a directory with --stack
    out: String,

    #[command(flatten)]
    part: Part,

    #[command(flatten)]
    drawing: Drawing,

    #[command(flatten)]
    imaging: Imaging,

    /// The arrays of a group that become the columns of .csv or .parquet, in this order [default: all arrays directly in the group]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    columns: Vec<String>,

    /// Make dimensions of this name unlimited in .h5 and .nc, besides those that were unlimited in an imported file; can be
    /// repeated
    #[arg(long, value_name = "DIMENSION")]
    unlimited: Vec<String>,

    /// Skip arrays and attributes that .h5 or .nc cannot express, and list them
    #[arg(long)]
    skip_unsupported: bool,

    /// The file format [default: from the suffix of OUT; npy for the standard output]
    #[arg(long, value_name = "KIND")]
    to: Option<Kind>,

    /// Compress the arrays in an .npz file
    #[arg(long)]
    compress: bool,

    /// Replace the file if it exists
    #[arg(long)]
    force: bool,

    /// The approximate memory limit
    #[arg(long, value_name = "SIZE", default_value = "512MiB")]
    memory: ByteSize,
}

/// The destination of exported elements.
enum Target<'o> {
    /// Elements must be written in order.
    Stream(&'o mut dyn Write),
    /// Elements can be written in any order.
    File(&'o mut Output),
}

impl Target<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        match self {
            Self::Stream(out) => out.write_all(bytes),
            Self::File(file) => file.write_all(bytes),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// An array with its shape and data type
    Npy,
    /// A ZIP archive of .npy files
    Npz,
    /// Only the bytes of the elements
    Raw,
    /// A PNG picture
    Png,
    /// Comma-separated values
    Csv,
    /// Parquet
    Parquet,
    /// HDF5, as h5py writes it
    Hdf5,
    /// NetCDF-4, which xarray opens
    Netcdf,
    /// TIFF, as GeoTIFF if the coordinates are geographic
    Tiff,
    /// OME-TIFF, for microscopy
    OmeTiff,
    /// NIfTI
    Nifti,
    /// NIfTI, compressed with gzip
    NiftiGz,
}

impl Kind {
    /// Returns the format in the library, if the library writes it.
    fn target(self) -> Option<FileTarget> {
        match self {
            Self::Hdf5 => Some(FileTarget::Hdf5),
            Self::Netcdf => Some(FileTarget::NetCdf),
            Self::Tiff => Some(FileTarget::Tiff),
            Self::OmeTiff => Some(FileTarget::OmeTiff),
            Self::Nifti => Some(FileTarget::Nifti),
            Self::NiftiGz => Some(FileTarget::NiftiGzip),
            Self::Npy | Self::Npz | Self::Raw | Self::Png | Self::Csv | Self::Parquet => None,
        }
    }
}

impl Kind {
    /// Returns true for image formats, whose files contain one array with its georeference or spacing.
    fn is_image(self) -> bool {
        matches!(self, Self::Tiff | Self::OmeTiff | Self::Nifti | Self::NiftiGz)
    }

    /// Returns the format for the suffix of a file.
    fn of(out: &str) -> Option<Self> {
        Some(match FileTarget::of(out)? {
            FileTarget::Hdf5 => Self::Hdf5,
            FileTarget::NetCdf => Self::Netcdf,
            FileTarget::Tiff => Self::Tiff,
            FileTarget::OmeTiff => Self::OmeTiff,
            FileTarget::Nifti => Self::Nifti,
            FileTarget::NiftiGzip => Self::NiftiGz,
            FileTarget::Png => Self::Png,
            FileTarget::Csv => Self::Csv,
            FileTarget::Parquet => Self::Parquet,
            _ => return None,
        })
    }
}

impl Export {
    pub(crate) fn run(&self, global: &Global, stdout: &mut dyn Write) -> Result<(), Failure> {
        interrupt::catch();
        if let Some(names) = self.imaging.names(&self.out)? {
            return self.write_stack(global, &names);
        }
        let kind = self.kind()?;
        if self.compress && kind != Kind::Npz {
            return Err(usage("--compress applies only to .npz files").into());
        }
        if kind != Kind::Png
            && let Some(option) = self.drawing.option()
        {
            return Err(usage(format!("{option} applies only to .png files")).into());
        }
        if !matches!(kind, Kind::Tiff | Kind::OmeTiff) {
            self.imaging.refuse()?;
        }
        if !self.columns.is_empty() && !matches!(kind, Kind::Csv | Kind::Parquet) {
            return Err(usage("--columns applies only to .csv and .parquet files").into());
        }
        if kind.target().is_none() && (self.skip_unsupported || !self.unlimited.is_empty()) {
            let option = if self.skip_unsupported { "--skip-unsupported" } else { "--unlimited" };
            return Err(usage(format!("{option} applies only to .h5 and .nc files")).into());
        }
        let (path, selection) = self.part.target(&self.path)?;
        if matches!(kind, Kind::Csv | Kind::Parquet) {
            return self.write_table(&global.read_whole(&path)?, selection, kind, stdout);
        }
        if let Some(target) = kind.target().filter(|_| kind.is_image()) {
            return self.write_image(&global.read_whole(&path)?, &selection, target);
        }
        if let Some(target) = kind.target() {
            return self.write_hierarchy(&global.read_whole(&path)?, &selection, target);
        }
        if kind == Kind::Npz {
            return self.write_npz(global.read_whole(&path)?, &selection);
        }
        let array = global.read_array(&path)?;
        if kind == Kind::Png {
            return self.write_picture(&array, &selection, stdout);
        }
        if self.out == "-" {
            return self.write_array(&array, &selection, kind, Target::Stream(stdout));
        }
        let mut file = Output::create(Path::new(&self.out), self.force)?;
        let target = if file.can_seek() { Target::File(&mut file) } else { Target::Stream(&mut file) };
        self.write_array(&array, &selection, kind, target)?;
        Ok(file.finish()?)
    }

    fn kind(&self) -> Result<Kind> {
        let extension = Path::new(&self.out).extension().and_then(|extension| extension.to_str());
        match (self.to, extension) {
            (Some(kind), _) if self.out == "-" && kind.target().is_some() => {
                Err(usage("HDF5, NetCDF, TIFF and NIfTI files cannot be written to a stream"))
            }
            (Some(Kind::Npz), _) if self.out == "-" => Err(usage(".npz files cannot be written to a stream")),
            (Some(Kind::Parquet), _) if self.out == "-" => {
                Err(usage("Parquet files cannot be written to a stream"))
            }
            (Some(kind), _) => Ok(kind),
            (None, _) if self.out == "-" => Ok(Kind::Npy),
            (None, Some("npy")) => Ok(Kind::Npy),
            (None, Some("npz")) => Ok(Kind::Npz),
            (None, Some("raw" | "bin")) => Ok(Kind::Raw),
            (None, _) => Kind::of(&self.out).ok_or_else(|| {
                usage(format!(
                    "the name '{}' has no known suffix; give --to npy, npz, raw, png, csv, parquet, hdf5, netcdf, tiff, ome-tiff, \
                    nifti or nifti-gz, or --stack png, jpeg or tiff for a directory of images",
                    self.out
                ))
            }),
        }
    }

    fn write_array(
        &self,
        array: &Array,
        selection: &Selection,
        kind: Kind,
        mut target: Target<'_>,
    ) -> Result<(), Failure> {
        let bytes = Window::new(array, selection, &self.part.fields)?.bytes();
        let progress = Progress::new(&self.out, bytes);
        let array = watched(array, &progress);
        let window = Window::new(&array, selection, &self.part.fields)?;
        if kind == Kind::Npy {
            self.write_npy(&window, &mut target)?;
        } else {
            strings::refuse_raw(&window)?;
            self.write_elements(&window, None, &mut target, 0)?;
        }
        progress.finish(None);
        Ok(())
    }

    fn write_npy(&self, window: &Window<'_>, target: &mut Target<'_>) -> Result<(), Failure> {
        let strings = interrupt::or_interrupted(Strings::measure(window, self.memory.0))?;
        let data_type = strings.as_ref().map_or(window.data_type(), Strings::data_type);
        let header =
            npy::header(data_type, &ByteOrder::One(Endian::NATIVE), Order::RowMajor, &window.shape());
        let header = header.map_err(|error| window.with_path(with_ways(error)))?;
        target.write(&header)?;
        self.write_elements(window, strings.as_ref(), target, header.len() as u64)
    }

    /// Writes the elements, starting at the offset `start`. They are written in order if each chunk is then still read only once.
    fn write_elements(
        &self,
        window: &Window<'_>,
        strings: Option<&Strings>,
        target: &mut Target<'_>,
        start: u64,
    ) -> Result<(), Failure> {
        let in_order = window.in_order(self.memory.0)?;
        match target {
            Target::File(file) if in_order.times > 1 => {
                let shape = window.shape();
                for block in window.whole_chunks(self.memory.0)? {
                    let mut bytes = Vec::new();
                    read_block(window, &block, strings, &mut bytes)?;
                    places::write(file, start, &shape, &block, &bytes)?;
                }
            }
            Target::File(file) => {
                for block in in_order {
                    read_block(window, &block, strings, *file)?;
                }
            }
            Target::Stream(out) => {
                if in_order.times > 1 {
                    self.note_repeated_reads(in_order.times, in_order.memory);
                }
                for block in in_order {
                    read_block(window, &block, strings, *out)?;
                }
            }
        }
        Ok(())
    }

    fn note_repeated_reads(&self, times: u64, memory: u64) {
        note(&format!(
            "{} is written in the order of the elements, so each chunk is read and decoded {times} times; \
            --memory {} avoids that",
            self.out,
            ByteSize(memory)
        ));
    }

    /// Writes the arrays of a group, or the fields of an array, as columns.
    #[cfg(feature = "tables")]
    fn write_table(
        &self,
        node: &Node,
        selection: Selection,
        kind: Kind,
        stdout: &mut dyn Write,
    ) -> Result<(), Failure> {
        if !self.part.fields.is_empty() {
            return Err(usage("--field does not apply to tables, whose columns are the fields").into());
        }
        let progress = Progress::elements(&self.out);
        let bar = progress.clone();
        let table = zarrox_files::Table::new()
            .select(selection)
            .columns(&self.columns)
            .memory(self.memory.0)
            .on_progress(move |done, total| {
                bar.set(done, total);
                interrupt::check()
            });
        if self.out == "-" {
            return Ok(table.write_csv(node, stdout)?);
        }
        let mut file = Output::create(Path::new(&self.out), self.force)?;
        match kind {
            Kind::Parquet => table.write_parquet(node, &mut file)?,
            _ => table.write_csv(node, &mut file)?,
        }
        file.finish()?;
        progress.finish(None);
        Ok(())
    }

    /// Fails: this build does not support tables.
    #[cfg(not(feature = "tables"))]
    fn write_table(&self, _: &Node, _: Selection, _: Kind, _: &mut dyn Write) -> Result<(), Failure> {
        let message = "this build cannot write tables; build zarrox with the feature `tables`";
        Err(zarrox::Error::new(zarrox::ErrorKind::Unsupported, message).into())
    }

    /// Writes a picture.
    fn write_picture(
        &self,
        array: &Array,
        selection: &Selection,
        stdout: &mut dyn Write,
    ) -> Result<(), Failure> {
        let field = match self.part.fields.as_slice() {
            [] => None,
            [one] => Some(one.as_str()),
            _ => return Err(usage("--field takes one field for a picture").into()),
        };
        let progress = Progress::new(&self.out, 0);
        let array = watched(array, &progress);
        let view = array.slice(selection);
        let draw = |out: &mut dyn Write| self.drawing.draw(&view, field, self.memory.0, out);
        if self.out == "-" {
            return draw(stdout);
        }
        let mut file = Output::create(Path::new(&self.out), self.force)?;
        draw(&mut file)?;
        file.finish()?;
        progress.finish(None);
        Ok(())
    }

    /// Writes a node and all nodes below it.
    fn write_hierarchy(&self, node: &Node, selection: &Selection, target: FileTarget) -> Result<(), Failure> {
        if !selection.items().is_empty() || !self.part.fields.is_empty() {
            let advice = "copy the selection first with zarrox cp --select";
            return Err(
                usage(format!("{target} files contain whole arrays, not selections; {advice}")).into()
            );
        }
        let progress = Progress::elements(&self.out);
        progress.set(0, elements_of(node)?);
        let bar = progress.clone();
        let mut file = Output::create(Path::new(&self.out), self.force)?;
        if !file.can_seek() {
            return Err(usage(format!("{target} needs a regular file, which '{}' is not", self.out)).into());
        }
        let memory = usize::try_from(self.memory.0).unwrap_or(usize::MAX);
        let export = FileExport::new().memory(memory).on_progress(move |elements| {
            bar.add(elements);
            interrupt::check()
        });
        let mut export = self.unlimited.iter().fold(export, FileExport::unlimited);
        let left_out = Arc::new(Mutex::new(Vec::new()));
        if self.skip_unsupported {
            let list = Arc::clone(&left_out);
            export = export.skip_unsupported(move |found| {
                list.lock().unwrap_or_else(PoisonError::into_inner).push(found);
            });
        }
        export.write(node, target, &mut file)?;
        file.finish()?;
        progress.finish(None);
        let left_out = left_out.lock().unwrap_or_else(PoisonError::into_inner);
        for found in left_out.iter() {
            note(&format!("left out: {}", printable(&found.to_string())));
        }
        if !left_out.is_empty() {
            note(&format!("left out {} items that {target} cannot express", left_out.len()));
        }
        Ok(())
    }

    /// Writes one array with its georeference or spacing.
    fn write_image(&self, node: &Node, selection: &Selection, target: FileTarget) -> Result<(), Failure> {
        self.refuse_fields(format_args!("{target} files"))?;
        let progress = Progress::elements(&self.out);
        let mut file = Output::create(Path::new(&self.out), self.force)?;
        if !file.can_seek() {
            return Err(usage(format!("{target} needs a regular file, which '{}' is not", self.out)).into());
        }
        let bar = progress.clone();
        let memory = usize::try_from(self.memory.0).unwrap_or(usize::MAX);
        let export = FileExport::new().memory(memory).select(selection).on_progress(move |elements| {
            bar.add(elements);
            interrupt::check()
        });
        interrupt::or_interrupted(self.imaging.compressed(export).write(node, target, &mut file))?;
        file.finish()?;
        progress.finish(None);
        Ok(())
    }

    /// Writes an image for each index along the first dimension.
    fn write_stack(&self, global: &Global, names: &Names) -> Result<(), Failure> {
        if self.compress || !self.columns.is_empty() || self.to.is_some() {
            return Err(usage("--to, --compress and --columns do not apply to a stack of images").into());
        }
        let (path, selection) = self.part.target(&self.path)?;
        self.refuse_fields("stacks of images")?;
        let drawing = self.drawing.option().is_some().then_some(&self.drawing);
        let progress = Progress::elements(&self.out);
        let bar = progress.clone();
        let tell = move |elements| {
            bar.add(elements);
            interrupt::check()
        };
        let limits = (self.memory.0, self.force);
        self.imaging.write_stack(
            &global.read_whole(&path)?,
            selection,
            (names, &self.out),
            drawing,
            limits,
            tell,
        )?;
        progress.finish(None);
        Ok(())
    }

    fn refuse_fields(&self, what: impl std::fmt::Display) -> Result<()> {
        match self.part.fields.is_empty() {
            true => Ok(()),
            false => Err(usage(format!("--field does not apply to {what}, which store whole elements"))),
        }
    }

    fn write_npz(&self, node: Node, selection: &Selection) -> Result<(), Failure> {
        let arrays = named_arrays(node)?;
        let sizes =
            arrays.iter().map(|(_, array)| Ok(Window::new(array, selection, &self.part.fields)?.bytes()));
        let total = sizes.sum::<Result<u64>>()?;
        let progress = Progress::new(&self.out, total);
        let mut archive =
            NpzWriter::new(Output::create(Path::new(&self.out), self.force)?).compress(self.compress);
        for (name, array) in &arrays {
            let array = watched(array, &progress);
            let window = Window::new(&array, selection, &self.part.fields)?;
            self.write_npy(&window, &mut Target::Stream(archive.start(name)?))?;
        }
        archive.finish()?.finish()?;
        progress.finish(None);
        Ok(())
    }
}

/// Returns the number of elements of all arrays.
fn elements_of(node: &Node) -> Result<u64> {
    let count =
        |array: &Array| array.shape().iter().fold(1_u64, |count, &length| count.saturating_mul(length));
    let mut all = 0_u64;
    match node {
        Node::Array(array) => all = count(array),
        Node::Group(group) => group.visit(&mut |_, node| {
            if let Ok(Node::Array(array)) = node {
                all = all.saturating_add(count(array));
            }
            Ok(())
        })?,
    }
    Ok(all)
}

/// Adds alternatives to the error for a data type that NumPy files do not support.
fn with_ways(error: Error) -> Error {
    if error.kind() != ErrorKind::Unsupported {
        return error;
    }
    let ways = "--to raw writes their bytes, and `zarrox dump` prints their values with --csv or --json";
    Error::new(ErrorKind::Unsupported, format!("{error}; {ways}"))
}

/// Returns the array with a listener that shows the progress.
fn watched(array: &Array, progress: &Progress) -> Array {
    let (item, progress) = (memory_size(array.data_type()) as u64, progress.clone());
    interrupt::watched(array, move |elements| progress.add(elements.saturating_mul(item)))
}

/// Reads a block and writes it in the form of the file.
fn read_block(
    window: &Window<'_>,
    block: &[Range<u64>],
    strings: Option<&Strings>,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    interrupt::check()?;
    let elements = interrupt::or_interrupted(window.read(block))?;
    match strings {
        Some(strings) => strings.write(&elements, out),
        None => Ok(out.write_all(elements.as_bytes())?),
    }
}

/// Returns an array, or all arrays below a group, with their paths. An array that cannot be opened is an error, since it would be
/// missing from the archive.
fn named_arrays(node: Node) -> Result<Vec<(String, Array)>> {
    let group = match node {
        Node::Group(group) => group,
        Node::Array(array) => {
            let name = array.path().name();
            // The name that NumPy gives to an unnamed array.
            let name = if name.is_empty() { "arr_0" } else { name }.to_owned();
            return Ok(vec![(name, array)]);
        }
    };
    let mut arrays = Vec::new();
    group.visit(&mut |path, node| {
        match node {
            Ok(Node::Array(array)) => arrays.push((path.to_owned(), array.clone())),
            Ok(Node::Group(_)) => {}
            Err(error) => return Err(zarrox::Error::new(error.kind(), error.to_string()).at(path)),
        }
        Ok(())
    })?;
    if arrays.is_empty() {
        return Err(usage(format!("there are no arrays below '{}' to export", group.path())));
    }
    Ok(arrays)
}
