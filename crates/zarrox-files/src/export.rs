//! [`Export`]: writes Zarr hierarchies to files in other formats.

use std::fmt;
use std::io::{Seek, Write};
use std::path::Path;
use std::sync::Arc;

use zarrox::{
    Durability, Error, ErrorKind, IntoSelection, Node, OpenMode, OpenOptions, Place, Result, Selection,
};

use crate::input::failed;
#[cfg(not(all(
    feature = "hdf5",
    feature = "nifti",
    feature = "png",
    feature = "tables",
    feature = "tiff"
)))]
use crate::input::unsupported;
use crate::store::LeftOut;

/// An export format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Target {
    /// HDF5, as h5py writes it.
    Hdf5,
    /// NetCDF-4.
    NetCdf,
    /// A picture of a two-dimensional array, with the viridis colormap by default. [`Picture`](crate::picture::Picture)
    /// has options.
    Png,
    /// Comma-separated values: the one-dimensional arrays of a group.
    Csv,
    /// Parquet: the one-dimensional arrays of a group.
    Parquet,
    /// TIFF: one array, written as GeoTIFF if its coordinates or attributes georeference it.
    Tiff,
    /// OME-TIFF: one array with its axes, pixel sizes and channels.
    OmeTiff,
    /// NIfTI: one array, written as NIfTI-1, or as NIfTI-2 if a dimension is too long for NIfTI-1.
    Nifti,
    /// NIfTI compressed with gzip.
    NiftiGzip,
}

impl Target {
    /// Returns the format for the suffix of a file name.
    pub fn of(path: impl AsRef<Path>) -> Option<Self> {
        let name = path.as_ref().file_name()?.to_str()?.to_ascii_lowercase();
        let double =
            [(".ome.tif", Self::OmeTiff), (".ome.tiff", Self::OmeTiff), (".nii.gz", Self::NiftiGzip)];
        if let Some((_, target)) = double.into_iter().find(|(suffix, _)| name.ends_with(suffix)) {
            return Some(target);
        }
        let suffix = path.as_ref().extension()?.to_str()?.to_ascii_lowercase();
        Some(match suffix.as_str() {
            "h5" | "hdf5" | "he5" | "hdf" => Self::Hdf5,
            "nc" | "nc4" | "cdf" | "netcdf" => Self::NetCdf,
            "png" => Self::Png,
            "csv" => Self::Csv,
            "parquet" | "pq" => Self::Parquet,
            "tif" | "tiff" => Self::Tiff,
            "nii" => Self::Nifti,
            _ => return None,
        })
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Hdf5 => "HDF5",
            Self::NetCdf => "NetCDF",
            Self::Png => "PNG",
            Self::Csv => "CSV",
            Self::Parquet => "Parquet",
            Self::Tiff => "TIFF",
            Self::OmeTiff => "OME-TIFF",
            Self::Nifti | Self::NiftiGzip => "NIfTI",
        })
    }
}

/// A function that is called with the number of elements read since its last call, over all arrays.
type Listener = Arc<dyn Fn(u64) -> Result<()> + Send + Sync>;

/// A function that is called for each node or attribute that is left out.
type LeftOutListener = Arc<dyn Fn(LeftOut) + Send + Sync>;

/// A builder for exports, which copy Zarr hierarchies to files in other formats.
///
/// ```no_run
/// zarrox_files::Export::new().run("era5.zarr", "era5.nc")?;
/// # Ok::<(), zarrox::Error>(())
/// ```
#[derive(Clone)]
pub struct Export {
    target: Option<Target>,
    memory: usize,
    overwrite: bool,
    durability: Durability,
    options: OpenOptions,
    selection: Selection,
    #[cfg(feature = "png")]
    picture: crate::picture::Picture,
    #[cfg(feature = "tables")]
    table: crate::table::Table,
    #[cfg(feature = "tiff")]
    compression: crate::tiff::write::Compression,
    #[cfg_attr(
        not(any(feature = "hdf5", feature = "nifti", feature = "tables", feature = "tiff")),
        expect(dead_code, reason = "the formats of this build report no progress")
    )]
    listener: Option<Listener>,
    unlimited: Vec<String>,
    #[cfg_attr(
        not(feature = "hdf5"),
        expect(dead_code, reason = "the other formats can express every attribute")
    )]
    left_out: Option<LeftOutListener>,
}

impl Default for Export {
    fn default() -> Self {
        Self {
            target: None,
            memory: 1 << 29,
            overwrite: false,
            durability: Durability::Process,
            options: OpenOptions::new(),
            selection: Selection::all(),
            #[cfg(feature = "png")]
            picture: crate::picture::Picture::new(),
            #[cfg(feature = "tables")]
            table: crate::table::Table::new(),
            #[cfg(feature = "tiff")]
            compression: crate::tiff::write::Compression::default(),
            listener: None,
            unlimited: Vec::new(),
            left_out: None,
        }
    }
}

impl fmt::Debug for Export {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { target, memory, overwrite, selection, .. } = self;
        f.debug_struct("Export")
            .field("target", target)
            .field("memory", memory)
            .field("overwrite", overwrite)
            .field("selection", selection)
            .finish_non_exhaustive()
    }
}

impl Export {
    /// Creates an export whose format is derived from the suffix of the destination.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the format.
    pub fn target(self, target: Target) -> Self {
        Self { target: Some(target), ..self }
    }

    /// Sets the memory limit for chunks, in bytes. The default is 512 MiB. At least one chunk is always held in memory.
    pub fn memory(self, bytes: usize) -> Self {
        Self { memory: bytes, ..self }
    }

    /// Sets whether an existing file is replaced.
    pub fn overwrite(self, overwrite: bool) -> Self {
        Self { overwrite, ..self }
    }

    /// Sets the durability of the finished file: whether it is flushed to disk.
    pub fn durability(self, durability: Durability) -> Self {
        Self { durability, ..self }
    }

    /// Makes the dimension of this name unlimited in HDF5 and NetCDF, so that other programs can append along it. If the
    /// hierarchy was imported from a file, dimensions that were unlimited in that file remain unlimited. It is an error
    /// if no array has the dimension.
    pub fn unlimited(mut self, name: impl Into<String>) -> Self {
        self.unlimited.push(name.into());
        self
    }

    /// Leaves out nodes and attributes that HDF5 or NetCDF cannot represent, and calls this function for each. By
    /// default, a node or attribute that cannot be represented is an error.
    pub fn skip_unsupported(self, listener: impl Fn(LeftOut) + Send + Sync + 'static) -> Self {
        Self { left_out: Some(Arc::new(listener)), ..self }
    }

    /// Sets the options for opening the source node.
    pub fn open_options(self, options: OpenOptions) -> Self {
        Self { options, ..self }
    }

    /// Exports only this selection. For TIFF, NIfTI and pictures, the selection applies to the elements of the array; for
    /// tables, to the rows.
    pub fn select(self, selection: impl IntoSelection) -> Self {
        Self { selection: selection.into_selection(), ..self }
    }

    /// Sets the options for pictures.
    #[cfg(feature = "png")]
    pub fn picture(self, picture: crate::picture::Picture) -> Self {
        Self { picture, ..self }
    }

    /// Sets the options for tables.
    #[cfg(feature = "tables")]
    pub fn table(self, table: crate::table::Table) -> Self {
        Self { table, ..self }
    }

    /// Sets the TIFF compression. The default is deflate.
    #[cfg(feature = "tiff")]
    pub fn compression(self, compression: crate::tiff::write::Compression) -> Self {
        Self { compression, ..self }
    }

    /// Sets a function that is called, from any thread, with the number of elements processed since its last call. An
    /// error stops the export.
    pub fn on_progress(self, listener: impl Fn(u64) -> Result<()> + Send + Sync + 'static) -> Self {
        Self { listener: Some(Arc::new(listener)), ..self }
    }

    /// Writes a node and all nodes below it to a file. The file appears under its final name only when it is complete.
    ///
    /// # Errors
    /// [`ErrorKind::AlreadyExists`] if the file exists and may not be replaced; [`ErrorKind::Unsupported`] if the format
    /// cannot represent a node, which the error names; any error that occurs while reading or writing.
    pub fn run(&self, source: impl Into<Place>, destination: impl AsRef<Path>) -> Result<()> {
        let node = self.options.clone().mode(OpenMode::Read).open(source)?;
        let path = destination.as_ref();
        let target = self.target.or_else(|| Target::of(path)).ok_or_else(|| {
            let message = format!(
                "'{}' does not have the suffix of a format that can be exported: .h5, .nc, .csv, .parquet, .tif, .ome.tif, .nii, \
                 .nii.gz or .png",
                path.display()
            );
            Error::new(ErrorKind::InvalidArgument, message)
        })?;
        let exists = || {
            let message = format!("'{}' already exists", path.display());
            Error::new(ErrorKind::AlreadyExists, message)
        };
        if !self.overwrite && path.exists() {
            return Err(exists());
        }
        let directory =
            path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let creating = |error| failed(&format!("creating '{}'", path.display()), error);
        let mut builder = tempfile::Builder::new();
        builder.prefix(".zarrox-").suffix(".tmp");
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let mut file = builder.tempfile_in(directory).map_err(creating)?;
        self.write(&node, target, &mut file)?;
        let outlives_all = self.durability == Durability::Disk;
        if outlives_all {
            file.as_file().sync_all().map_err(creating)?;
        }
        let named = if self.overwrite { file.persist(path) } else { file.persist_noclobber(path) };
        named.map_err(|error| match error.error.kind() {
            std::io::ErrorKind::AlreadyExists => exists(),
            _ => creating(error.error),
        })?;
        if outlives_all { zarrox::stores::internals::flush_name(path).map_err(creating) } else { Ok(()) }
    }

    /// Writes a node and all nodes below it.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] if the format cannot represent a node; any error that occurs while reading or writing.
    pub fn write(&self, node: &Node, target: Target, mut output: impl Write + Seek + Send) -> Result<()> {
        let mut buffered = std::io::BufWriter::with_capacity(1 << 20, &mut output);
        match target {
            Target::Hdf5 | Target::NetCdf if !self.selection.items().is_empty() => {
                let message = format!("a {target} file holds whole arrays; copy the selection first");
                return Err(Error::new(ErrorKind::InvalidArgument, message));
            }
            Target::Hdf5 | Target::NetCdf => self.write_hierarchy(node, target, &mut buffered)?,
            Target::Png => self.write_picture(node, &mut buffered)?,
            Target::Csv | Target::Parquet => self.write_table(node, target, &mut buffered)?,
            Target::Tiff | Target::OmeTiff => self.write_tiff(node, target, &mut buffered)?,
            Target::Nifti | Target::NiftiGzip => self.write_nifti(node, target, &mut buffered)?,
        }
        buffered.flush().map_err(|error| failed("writing the file", error))
    }

    #[cfg(feature = "png")]
    fn write_picture(&self, node: &Node, output: impl Write) -> Result<()> {
        let array = node.clone().into_array()?;
        let picture = self.picture.clone().memory(self.memory as u64);
        picture.write(&array.slice(&self.selection), output)
    }

    #[cfg(not(feature = "png"))]
    fn write_picture(&self, _: &Node, _: impl Write) -> Result<()> {
        Err(lacking(Target::Png, "png"))
    }

    #[cfg(feature = "tables")]
    fn write_table(&self, node: &Node, target: Target, output: impl Write + Send) -> Result<()> {
        let mut table = self.table.clone().select(self.selection.clone()).memory(self.memory as u64);
        if let Some(listener) = self.listener.clone() {
            let told = std::sync::atomic::AtomicU64::new(0);
            table = table.on_progress(move |done, _| {
                let before = told.swap(done, std::sync::atomic::Ordering::Relaxed);
                listener(done.saturating_sub(before))
            });
        }
        match target {
            Target::Parquet => table.write_parquet(node, output),
            _ => table.write_csv(node, output),
        }
    }

    #[cfg(not(feature = "tables"))]
    fn write_table(&self, _: &Node, target: Target, _: impl Write) -> Result<()> {
        Err(lacking(target, "tables"))
    }

    #[cfg(any(feature = "nifti", feature = "tiff"))]
    fn tell(&self, elements: u64) -> Result<()> {
        self.listener.as_ref().map_or(Ok(()), |listener| listener(elements))
    }

    #[cfg(feature = "tiff")]
    fn write_tiff(&self, node: &Node, target: Target, output: &mut (impl Write + Seek)) -> Result<()> {
        use crate::tiff::write::{Options, write};
        let options = Options {
            is_ome: target == Target::OmeTiff,
            compression: self.compression,
            memory: self.memory as u64,
            progress: &|elements| self.tell(elements),
        };
        write(node, &self.selection, output, &options)
    }

    #[cfg(not(feature = "tiff"))]
    fn write_tiff(&self, _: &Node, target: Target, _: &mut (impl Write + Seek)) -> Result<()> {
        Err(lacking(target, "tiff"))
    }

    #[cfg(feature = "nifti")]
    fn write_nifti(&self, node: &Node, target: Target, output: &mut impl Write) -> Result<()> {
        use crate::nifti::write::{Options, write};
        let options = Options {
            is_packed: target == Target::NiftiGzip,
            memory: self.memory as u64,
            progress: &|elements| self.tell(elements),
        };
        write(&crate::placed::Placed::new(node, &self.selection)?, output, &options)
    }

    #[cfg(not(feature = "nifti"))]
    fn write_nifti(&self, _: &Node, target: Target, _: &mut impl Write) -> Result<()> {
        Err(lacking(target, "nifti"))
    }

    #[cfg(feature = "hdf5")]
    fn write_hierarchy(&self, node: &Node, target: Target, output: &mut (impl Write + Seek)) -> Result<()> {
        use crate::hdf5::write::{Convention, Options, write};
        let convention = match target {
            Target::NetCdf => Convention::NetCdf,
            _ => Convention::Hdf5,
        };
        let progress = |elements| self.listener.as_ref().map_or(Ok(()), |listener| listener(elements));
        let left_out = self.left_out.as_ref().map(|listener| &**listener as &dyn Fn(LeftOut));
        let memory = self.memory;
        let options =
            Options { convention, memory, progress: &progress, unlimited: &self.unlimited, left_out };
        write(node, output, options)
    }

    #[cfg(not(feature = "hdf5"))]
    fn write_hierarchy(&self, _: &Node, target: Target, _: &mut (impl Write + Seek)) -> Result<()> {
        Err(lacking(target, "hdf5"))
    }
}

/// Returns the error for a format that this build cannot write.
#[cfg(not(all(feature = "hdf5", feature = "nifti", feature = "png", feature = "tables", feature = "tiff")))]
fn lacking(target: Target, feature: &str) -> Error {
    unsupported(format!("this build cannot write {target}: it lacks the feature {feature}"))
}

/// Exports a node and all nodes below it to a file. [`Export`] has options.
///
/// # Errors
/// The errors of [`Export::run`].
pub fn export_file(source: impl Into<Place>, destination: impl AsRef<Path>) -> Result<()> {
    Export::new().run(source, destination)
}
