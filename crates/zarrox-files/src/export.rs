//! [`Export`]: files of other formats from Zarr.

use std::fmt;
use std::io::{Seek, Write};
use std::path::Path;
use std::sync::Arc;

use zarrox::{Error, ErrorKind, IntoSelection, Node, OpenMode, OpenOptions, Result, Selection};

use crate::input::failed;
#[cfg(not(all(feature = "hdf5", feature = "png", feature = "tables")))]
use crate::input::unsupported;

/// A kind of file that can be exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Target {
    /// HDF5, as h5py writes it.
    Hdf5,
    /// NetCDF-4.
    NetCdf,
    /// A picture of an array with two dimensions, in viridis. [`Picture`](crate::picture::Picture) has options.
    Png,
    /// Comma-separated values: the arrays of a group with one dimension.
    Csv,
    /// Parquet: the arrays of a group with one dimension.
    Parquet,
}

impl Target {
    /// The kind that the suffix of a file suggests.
    pub fn of(path: impl AsRef<Path>) -> Option<Self> {
        let suffix = path.as_ref().extension()?.to_str()?.to_ascii_lowercase();
        Some(match suffix.as_str() {
            "h5" | "hdf5" | "he5" | "hdf" => Self::Hdf5,
            "nc" | "nc4" | "cdf" | "netcdf" => Self::NetCdf,
            "png" => Self::Png,
            "csv" => Self::Csv,
            "parquet" | "pq" => Self::Parquet,
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
        })
    }
}

/// A function that hears of the number of elements that were read since it was called last, with the path of no array in particular.
type Listener = Arc<dyn Fn(u64) -> Result<()> + Send + Sync>;

/// Copies hierarchies of Zarr into files of other formats: its options.
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
    options: OpenOptions,
    selection: Selection,
    #[cfg(feature = "png")]
    picture: crate::picture::Picture,
    #[cfg(feature = "tables")]
    table: crate::table::Table,
    #[cfg_attr(
        not(any(feature = "hdf5", feature = "tables")),
        expect(dead_code, reason = "what this build writes has no progress")
    )]
    listener: Option<Listener>,
}

impl Default for Export {
    fn default() -> Self {
        Self {
            target: None,
            memory: 1 << 29,
            overwrite: false,
            options: OpenOptions::new(),
            selection: Selection::all(),
            #[cfg(feature = "png")]
            picture: crate::picture::Picture::new(),
            #[cfg(feature = "tables")]
            table: crate::table::Table::new(),
            listener: None,
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
    /// Creates an export to the kind of file that its name suggests.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the kind of file.
    pub fn target(self, target: Target) -> Self {
        Self { target: Some(target), ..self }
    }

    /// Sets how much memory chunks may take at once, in bytes; 512 MiB by default. At least one chunk is in memory.
    pub fn memory(self, bytes: usize) -> Self {
        Self { memory: bytes, ..self }
    }

    /// Sets whether an existing file is replaced.
    pub fn overwrite(self, overwrite: bool) -> Self {
        Self { overwrite, ..self }
    }

    /// Sets the options with which the node is opened.
    pub fn open_options(self, options: OpenOptions) -> Self {
        Self { options, ..self }
    }

    /// Takes only this part: of an array for a picture, or rows for a table.
    pub fn select(self, selection: impl IntoSelection) -> Self {
        Self { selection: selection.into_selection(), ..self }
    }

    /// Sets the options of a picture.
    #[cfg(feature = "png")]
    pub fn picture(self, picture: crate::picture::Picture) -> Self {
        Self { picture, ..self }
    }

    /// Sets the options of a table.
    #[cfg(feature = "tables")]
    pub fn table(self, table: crate::table::Table) -> Self {
        Self { table, ..self }
    }

    /// Sets a function that is called with the number of elements that are done since its last call, from any thread. An error ends
    /// the export.
    pub fn on_progress(self, listener: impl Fn(u64) -> Result<()> + Send + Sync + 'static) -> Self {
        Self { listener: Some(Arc::new(listener)), ..self }
    }

    /// Writes the node at a path or URL, with all nodes below it, to a file, which gets its name when it is complete.
    ///
    /// # Errors
    /// [`ErrorKind::AlreadyExists`] when the file is there and is not to be replaced; [`ErrorKind::Unsupported`] when the kind of file
    /// cannot express a node, which the error names; the errors of reading and writing.
    pub fn run(&self, source: impl AsRef<Path>, destination: impl AsRef<Path>) -> Result<()> {
        let node = self.options.clone().mode(OpenMode::Read).open(source)?;
        let path = destination.as_ref();
        let target = self.target.or_else(|| Target::of(path)).ok_or_else(|| {
            let message = format!("the kind of file is not clear from the name '{}'", path.display());
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
        let named = if self.overwrite { file.persist(path) } else { file.persist_noclobber(path) };
        named.map(drop).map_err(|error| match error.error.kind() {
            std::io::ErrorKind::AlreadyExists => exists(),
            _ => creating(error.error),
        })
    }

    /// Writes a node with all nodes below it.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] when the kind of file cannot express a node; the errors of reading and writing.
    pub fn write(&self, node: &Node, target: Target, mut output: impl Write + Seek + Send) -> Result<()> {
        let mut buffered = std::io::BufWriter::with_capacity(1 << 20, &mut output);
        match target {
            Target::Hdf5 | Target::NetCdf if !self.selection.items().is_empty() => {
                let message = format!("a file of {target} has whole arrays; make a copy of the part first");
                return Err(Error::new(ErrorKind::InvalidArgument, message));
            }
            Target::Hdf5 | Target::NetCdf => self.write_hierarchy(node, target, &mut buffered)?,
            Target::Png => self.write_picture(node, &mut buffered)?,
            Target::Csv | Target::Parquet => self.write_table(node, target, &mut buffered)?,
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

    #[cfg(feature = "hdf5")]
    fn write_hierarchy(&self, node: &Node, target: Target, output: &mut (impl Write + Seek)) -> Result<()> {
        use crate::hdf5::write::{Convention, Options, write};
        let convention = match target {
            Target::NetCdf => Convention::NetCdf,
            _ => Convention::Hdf5,
        };
        let progress = |elements| self.listener.as_ref().map_or(Ok(()), |listener| listener(elements));
        write(node, output, Options { convention, memory: self.memory, progress: &progress })
    }

    #[cfg(not(feature = "hdf5"))]
    fn write_hierarchy(&self, _: &Node, target: Target, _: &mut (impl Write + Seek)) -> Result<()> {
        Err(lacking(target, "hdf5"))
    }
}

/// The error of a build that does not write a kind of file.
#[cfg(not(all(feature = "hdf5", feature = "png", feature = "tables")))]
fn lacking(target: Target, feature: &str) -> Error {
    unsupported(format!("{target} is written by a build with the feature {feature}, which this one lacks"))
}

/// Exports a node with all nodes below it to a file. [`Export`] has options.
///
/// # Errors
/// The errors of [`Export::run`].
pub fn export_file(source: impl AsRef<Path>, destination: impl AsRef<Path>) -> Result<()> {
    Export::new().run(source, destination)
}
