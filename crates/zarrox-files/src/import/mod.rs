//! [`Import`]: copies files in other formats to Zarr.

pub(crate) mod concat;
mod count;
pub(crate) mod foreign;
pub(crate) mod kind;
pub(crate) mod select;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use zarrox::data_type::Casting;
use zarrox::json::Json;
use zarrox::{Array, ArrayBuilder, ChunkShape, CodecSpec, DataType, Error, ErrorKind};
use zarrox::{Interrupt, OpenOptions, Place, Progress, Result};
use zarrox_tools::copy::{Access, Copier, CopyReport, Copying, IfExists, PlainElements, copy_elements};
use zarrox_tools::internals::Globs;

use self::concat::{Appending, Request, Target};
use self::count::Counted;
use crate::fill::Fills;
use crate::input::Input;
use crate::inventory::Inventory;
use crate::npy::raw::RawElements;

use self::select::Select;
use crate::reading::Reading;
use crate::store::{FileStore, LeftOut, Skipped};

/// A builder for imports, which copy files in other formats to Zarr.
///
/// ```no_run
/// let report = zarrox_files::Import::new().run("era5.nc", "era5.zarr")?;
/// println!("{report}");
///
/// let months = ["era5-01.nc", "era5-02.nc"];
/// zarrox_files::Import::new().concat("time").plan_all(&months, "year.zarr")?.run()?;
/// # Ok::<(), zarrox::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Import {
    copier: Copier,
    reading: Reading,
    skips: Skips,
    chosen: Chosen,
    concat: Option<String>,
    first_wins: bool,
    fills: Option<Fills>,
    selects: Vec<Select>,
    build: Build,
}

/// A function that configures arrays.
#[derive(Clone, Default)]
struct Build(Option<Arc<BuildFn>>);

type BuildFn = dyn Fn(ArrayBuilder, &[u64]) -> Result<ArrayBuilder> + Send + Sync;

impl std::fmt::Debug for Build {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() { "Some(_)" } else { "None" })
    }
}

/// The parts of files that may be skipped.
#[derive(Debug, Clone, Copy, Default)]
struct Skips {
    unsupported: bool,
    damaged: bool,
}

impl Skips {
    fn allows(self, part: &LeftOut) -> bool {
        if part.is_damaged() { self.damaged } else { self.unsupported }
    }
}

/// The nodes selected for import.
#[derive(Debug, Clone, Default)]
struct Chosen {
    nodes: Vec<String>,
    exclude: Globs,
}

impl Chosen {
    /// Returns true if a node is imported.
    fn has(&self, path: &str) -> bool {
        let path = path.trim_matches('/');
        let is_below = |node: &String| {
            path == node || path.strip_prefix(node.as_str()).is_some_and(|rest| rest.starts_with('/'))
        };
        let mut above = path.match_indices('/').map(|(at, _)| &path[..at]).chain([path]);
        let is_excluded = above.any(|path| !path.is_empty() && self.exclude.matches(path));
        !is_excluded && (self.nodes.is_empty() || self.nodes.iter().any(is_below))
    }

    /// Returns the selected node if there is exactly one, otherwise the root.
    fn node(&self) -> &str {
        match self.nodes.as_slice() {
            [node] => node,
            _ => "",
        }
    }
}

impl Import {
    /// Creates an import with the options of [`Copier::new`].
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the options of the copy: its format, chunks and codecs, and how existing nodes are treated.
    pub fn copier(self, copier: Copier) -> Self {
        Self { copier, ..self }
    }

    /// Sets the chunk shape of the copy. [`Import::copier`] has more options.
    pub fn chunks(self, chunks: impl Into<ChunkShape>) -> Self {
        Self { copier: self.copier.chunks(chunks), ..self }
    }

    /// Sets the shard shape of the copy.
    pub fn shards(self, shards: impl Into<ChunkShape>) -> Self {
        Self { copier: self.copier.shards(shards), ..self }
    }

    /// Sets the compressor of the copy. Chunks are then not compressed twice.
    pub fn compressor(self, compressor: impl Into<CodecSpec>) -> Self {
        Self { copier: self.copier.compressor(compressor), ..self }.recodes(true)
    }

    /// Sets the memory limit in bytes; the default is 1 GiB.
    pub fn memory(self, bytes: usize) -> Self {
        Self { copier: self.copier.memory(bytes), ..self }
    }

    /// Sets the action for nodes that exist at the destination.
    pub fn if_exists(self, if_exists: IfExists) -> Self {
        Self { copier: self.copier.if_exists(if_exists), ..self }
    }

    /// Sets the interrupt that cancels the import, which can be continued later.
    pub fn interrupt(self, interrupt: &Interrupt) -> Self {
        Self { copier: self.copier.interrupt(interrupt), ..self }
    }

    /// Sets a listener that is called with the progress, from any thread. An error of the listener stops the import.
    pub fn on_progress(self, listener: impl Fn(Progress) -> Result<()> + Send + Sync + 'static) -> Self {
        Self { copier: self.copier.on_progress(listener), ..self }
    }

    /// Declares that the copy changes the codecs. Chunks are then not compressed twice.
    pub fn recodes(self, recodes: bool) -> Self {
        Self { reading: Reading { is_plain: recodes, ..self.reading }, ..self }
    }

    /// Sets the type of a CSV column. By default, it is inferred from all values.
    pub fn column(mut self, name: impl Into<String>, data_type: DataType) -> Self {
        self.reading.columns.push((name.into(), data_type));
        self
    }

    /// Reads files as raw elements, without a header.
    pub fn raw(self, raw: RawElements) -> Self {
        Self { reading: Reading { raw: Some(raw), ..self.reading }, ..self }
    }

    /// Sets the data type for the elements of NumPy files. It must be a different name or representation of the same
    /// elements, such as `bfloat16` for `|V2` or variable-length strings for `<U8`; with a cast, it can be any numeric
    /// type.
    pub fn data_type(self, data_type: DataType, casting: Option<Casting>) -> Self {
        let copier = match casting {
            Some(casting) => self.copier.data_type(data_type.clone(), casting),
            None => self.copier,
        };
        Self { copier, reading: Reading { stored: Some((data_type, casting)), ..self.reading }, ..self }
    }

    /// Imports only this array of a NumPy archive, as an array at the destination.
    pub fn member(self, name: impl Into<String>) -> Self {
        Self { reading: Reading { member: Some(name.into()), ..self.reading }, ..self }
    }

    /// Sets a function that configures arrays imported from NumPy files, for example their chunks, codecs and attributes.
    /// It is called with a builder that already has the shape and data type, and with the shape. By default, arrays have
    /// the properties of new arrays, or those that the copier sets.
    pub fn build(
        self,
        build: impl Fn(ArrayBuilder, &[u64]) -> Result<ArrayBuilder> + Send + Sync + 'static,
    ) -> Self {
        Self { build: Build(Some(Arc::new(build))), ..self }
    }

    /// Imports an overview of the images in a TIFF file, such as a COG. Level 1 is the largest overview, and level 0 the
    /// images themselves.
    pub fn level(self, level: usize) -> Self {
        Self { reading: Reading { level, ..self.reading }, ..self }
    }

    /// Sets whether TIFF images become OME-Zarr 0.5: a group with one array per level, and with axes, scales and channels.
    pub fn ome(self, ome: bool) -> Self {
        Self { reading: Reading { ome, ..self.reading }, ..self }
    }

    /// Allows opening files in this directory that the imported file refers to: targets of external links, external
    /// storage, sources of virtual datasets, and other files of an OME-TIFF. The directory of the imported file is always
    /// allowed.
    pub fn external(mut self, directory: impl Into<PathBuf>) -> Self {
        self.reading.external.directories.push(directory.into());
        self
    }

    /// Sets whether to skip parts that have no equivalent in Zarr, or that are in other files that are missing or not
    /// allowed. By default, such parts are an error.
    pub fn skip_unsupported(self, skip: bool) -> Self {
        Self { skips: Skips { unsupported: skip, ..self.skips }, ..self }
    }

    /// Sets whether to skip damaged parts: nodes, attributes, chunks, or whole files of a concatenation. By default, they
    /// are an error. Skipped chunks contain the fill value.
    pub fn skip_damaged(self, skip: bool) -> Self {
        Self { skips: Skips { damaged: skip, ..self.skips }, ..self }
    }

    /// Imports only the node at this path in the file, and all nodes below it. If called several times, the nodes become
    /// members of a group, at their paths.
    pub fn node(mut self, path: impl Into<String>) -> Self {
        let path = path.into().trim_matches('/').to_owned();
        if !path.is_empty() {
            self.chosen.nodes.push(path);
        }
        self
    }

    /// Skips nodes that match a pattern, and all nodes below them. A pattern is a [`Glob`](zarrox_tools::Glob); an invalid one is
    /// an error when the import is planned.
    pub fn exclude(mut self, pattern: impl AsRef<str>) -> Self {
        self.chosen.exclude.add(pattern.as_ref());
        self
    }

    /// Joins several files along a dimension. If no file has the dimension, it becomes the first dimension of all arrays
    /// except coordinates.
    pub fn concat(self, dimension: impl Into<String>) -> Self {
        Self { concat: Some(dimension.into()), ..self }
    }

    /// Sets whether an array that should be equal in all files is taken from the first file if it differs. By default, a
    /// difference is an error.
    pub fn first_wins(self, first_wins: bool) -> Self {
        Self { first_wins, ..self }
    }

    /// Sets whether an array that some files lack is filled with missing values for these files. The missing value is
    /// taken from the attributes of the array; the default is NaN or NaT. If the array has no missing value, this is an
    /// error. By default, an array that a file lacks is an error.
    pub fn fill_missing(self, fills: bool) -> Self {
        Self { fills: fills.then(Fills::default), ..self }
    }

    /// Enables [`Import::fill_missing`], and sets the value used for arrays without a missing value.
    pub fn fill_missing_with(self, value: Json) -> Self {
        Self { fills: Some(Fills { value: Some(value) }), ..self }
    }

    /// Imports only a range of a dimension, in all arrays that have the dimension.
    pub fn select(mut self, select: Select) -> Self {
        self.selects.push(select);
        self
    }

    /// Opens a file with the options of this import.
    ///
    /// # Errors
    /// The errors of [`open_file`](crate::open_file).
    pub fn open(&self, source: impl AsRef<Path>) -> Result<FileStore> {
        kind::open(source.as_ref(), &self.careful())
    }

    /// Opens the store of a file that is already open. `name` is used in error messages.
    ///
    /// # Errors
    /// The errors of [`open_file`](crate::open_file).
    pub fn open_file(&self, file: File, name: impl Into<PathBuf>) -> Result<FileStore> {
        kind::open_input(Input::of(file, name.into())?, &self.careful())
    }

    /// Opens a stream that contains an `.npy` file or [raw](Self::raw) elements. Its elements can be read once, in order.
    /// `name` is used in error messages.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`] if the stream has other content; any error from reading.
    pub fn open_stream(&self, name: &str, stream: impl Read + Send + 'static) -> Result<FileStore> {
        crate::npy::open_stream(name, stream, &self.careful())
    }

    /// Plans an import. Nothing is written yet.
    ///
    /// # Errors
    /// The errors of [`open_file`](crate::open_file) and of [`Copier::plan`].
    pub fn plan(&self, source: impl AsRef<Path>, destination: impl Into<Place>) -> Result<Importing> {
        self.plan_all(&[source], destination)
    }

    /// Plans an import of several files, which are joined along the dimension set with [`Import::concat`]. Nothing is
    /// written yet.
    ///
    /// # Errors
    /// The errors of [`Import::plan`]; [`ErrorKind::Unsupported`] if the files are incompatible with each other.
    pub fn plan_all<P: AsRef<Path>>(
        &self,
        sources: &[P],
        destination: impl Into<Place>,
    ) -> Result<Importing> {
        let files: Vec<PathBuf> = sources.iter().map(|path| path.as_ref().to_owned()).collect();
        let reading = self.careful();
        let (store, differences, is_new) = match (&self.concat, files.as_slice()) {
            (Some(dimension), _) => {
                let keeps = |path: &str| self.chosen.has(path);
                let opened = concat::open(&files, &self.request(dimension, &keeps), &reading)?;
                (opened.store, opened.notes, opened.is_new)
            }
            (None, [file]) => (kind::open(file, &reading)?, Vec::new(), false),
            (None, _) => {
                let message = "joining several files needs the name of a dimension";
                return Err(Error::new(ErrorKind::InvalidArgument, message));
            }
        };
        let importing = self.plan_opened(store.skipping(reading.skipped), destination.into())?;
        Ok(Importing { differences, is_new, ..importing })
    }

    /// Plans an import of a file that is already open. Nothing is written yet.
    ///
    /// # Errors
    /// The errors of [`Copier::plan`].
    pub fn plan_store(&self, store: FileStore, destination: impl Into<Place>) -> Result<Importing> {
        self.plan_opened(store.skipping(self.careful().skipped), destination.into())
    }

    fn plan_opened(&self, store: FileStore, destination: Place) -> Result<Importing> {
        let notes = store.notes().to_vec();
        let skipped = store.skips();
        let store = match self.selects.as_slice() {
            [] => store,
            selects => select::apply(&store, selects)?,
        };
        let store = store.skipping(skipped);
        let wanted = |found: &&LeftOut| found.concerns(|path| self.chosen.has(path));
        let left_out = store.left_out().iter().filter(wanted).cloned().collect();
        self.check_chosen(&store)?;
        let copier = self.chosen.exclude.iter().fold(self.copier.clone(), Copier::exclude);
        let copier = copier.fixed_source(true);
        let copier = if self.skips.damaged { copier.skip_damaged(true) } else { copier };
        let copier = match self.chosen.nodes.as_slice() {
            [] | [_] => copier,
            nodes => nodes.iter().try_fold(copier, |copier, node| {
                let exists = concat::sources::root_of(&store)?;
                self::count::check_exists(&exists, node)?;
                Ok::<_, Error>(copier.include(escaped(node)))
            })?,
        };
        let node = self.chosen.node();
        let copier = match self.elements(&store, node) {
            Some(elements) => copier.elements(elements),
            None => copier,
        };
        let copying = copier.plan((Arc::new(store.clone()), node), destination)?;
        let (skips, chosen) = (self.skips, self.chosen.clone());
        let (differences, is_new) = (Vec::new(), false);
        Ok(Importing { copying, store, chosen, left_out, notes, differences, is_new, skips })
    }

    /// Returns the copy method for a file whose arrays consist of contiguous elements; `None` for a chunked file.
    fn elements(&self, store: &FileStore, node: &str) -> Option<PlainElements> {
        if store.accesses().is_empty() {
            return None;
        }
        let (accesses, above) = (store.accesses().clone(), node.to_owned());
        let elements = PlainElements::new(move |path| {
            let whole = [above.as_str(), path]
                .into_iter()
                .filter(|part| !part.is_empty())
                .collect::<Vec<_>>()
                .join("/");
            accesses.get(&whole).cloned().unwrap_or(Access::Any(zarrox::Order::RowMajor))
        });
        Some(match self.build.0.clone() {
            Some(build) => elements.build(move |builder, shape| build(builder, shape)),
            None => elements,
        })
    }

    /// Appends the only array of an open NumPy file to an array along an axis. A failure leaves the array unchanged.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] for a chunked file or a file with several arrays; any error from reading; the errors of
    /// [`Array::append_with`].
    pub fn append_to(&self, store: &FileStore, array: &mut Array, axis: usize) -> Result<()> {
        let Some(access) = store.accesses().get("").cloned() else {
            let message = "only a single NumPy array or raw elements can be appended to an array";
            return Err(Error::new(ErrorKind::Unsupported, message));
        };
        let settings = self.copier.settings();
        let source = settings.opening().open((Arc::new(store.clone()), ""))?.into_array()?;
        let item = source.data_type().size() as u64;
        let total = source.shape().iter().fold(item, |size, &length| size.saturating_mul(length));
        let casting = self.reading.stored.as_ref().and_then(|(_, casting)| *casting);
        let registry = zarrox::codecs::registry();
        let (wanted, shape) = (array.data_type().clone(), source.shape().to_vec());
        let convert = |values: zarrox::DynArray| match casting {
            _ if values.data_type().storage() == wanted.storage() => Ok(values),
            Some(casting) => values.cast(&wanted, casting, &registry),
            None => values.packed(),
        };
        let (most, done) = (settings.execution.memory as u64 / item.max(1), std::cell::Cell::new(0_u64));
        let tell = |count: u64| {
            done.set(done.get().saturating_add(count.saturating_mul(item)));
            settings.listener.as_ref().map_or(Ok(()), |listener| listener(Progress::new(done.get(), total)))
        };
        array.append_with(&shape, axis, |grown, place| {
            copy_elements(&source, &grown.slice(place), &access, most, convert, tell)
        })?;
        array.flush()
    }

    /// Returns an error with the reason if a node that was requested by name cannot be read.
    fn check_chosen(&self, store: &FileStore) -> Result<()> {
        self.chosen.exclude.check()?;
        for node in &self.chosen.nodes {
            let Some(part) = store.left_out().iter().find(|part| part.holds(node)) else { continue };
            if self::count::check_exists(&concat::sources::root_of(store)?, node).is_err() {
                return Err(Error::new(part.kind, format!("'{node}' cannot be read: {part}")));
            }
        }
        Ok(())
    }

    /// Returns the options for reading files for a copy. Damaged chunks are detected, and skipped if that is allowed.
    fn careful(&self) -> Reading {
        let skipped = self.skips.damaged.then(Skipped::default);
        Reading { checks: true, skipped, nodes: self.chosen.nodes.clone(), ..self.reading.clone() }
    }

    fn request<'r>(&'r self, dimension: &'r str, keeps: &'r dyn Fn(&str) -> bool) -> Request<'r> {
        Request {
            dimension,
            first_wins: self.first_wins,
            fills: self.fills.as_ref(),
            skips_damaged: self.skips.damaged,
            keeps,
            first_length: &|_| None,
            appends: false,
        }
    }

    /// Appends files to an existing hierarchy, along the dimension set with [`Import::concat`]. The coordinate values
    /// must continue the existing ones.
    ///
    /// Elements are written before shapes are updated. After an interruption, the same call continues.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] if the files are incompatible with the hierarchy; any error that occurs while reading
    /// or writing.
    pub fn append<P: AsRef<Path>>(
        &self,
        sources: &[P],
        destination: impl Into<Place>,
        options: &OpenOptions,
    ) -> Result<Appended> {
        let Some(dimension) = &self.concat else {
            let message = "appending files needs the name of a dimension";
            return Err(Error::new(ErrorKind::InvalidArgument, message));
        };
        self.chosen.exclude.check()?;
        if !self.selects.is_empty() || !self.chosen.nodes.is_empty() {
            let message = "only whole files can be appended, so that all arrays keep the same length";
            return Err(Error::new(ErrorKind::InvalidArgument, message));
        }
        let files: Vec<PathBuf> = sources.iter().map(|path| path.as_ref().to_owned()).collect();
        let keeps = |path: &str| self.chosen.has(path);
        let destination = destination.into();
        let target = Target { place: &destination, options };
        let request = self.request(dimension, &keeps);
        let reading = self.careful();
        let appending = Appending::plan(&files, target, &request, &reading)?;
        check(appending.left_out(), self.skips)?;
        let (notes, mut left_out) = (appending.notes().to_vec(), appending.left_out().to_vec());
        let arrays = appending.run()?;
        left_out.extend(reading.skipped.iter().flat_map(Skipped::parts));
        Ok(Appended { arrays, notes, left_out })
    }

    /// Imports a file. After an interruption, the same call continues.
    ///
    /// # Errors
    /// The errors of [`Import::plan`] and of [`Importing::run`].
    pub fn run(&self, source: impl AsRef<Path>, destination: impl Into<Place>) -> Result<CopyReport> {
        self.plan(source, destination)?.run()
    }
}

/// The result of an append.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Appended {
    /// The paths of the extended arrays, with their lengths along the dimension before and after the append.
    pub arrays: Vec<(String, u64, u64)>,
    /// The differences between the files. Where files differ, the result has the content of the first file.
    pub notes: Vec<String>,
    /// The parts that were left out.
    pub left_out: Vec<LeftOut>,
}

/// The result of an import.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Imported {
    /// The report of the copy.
    pub report: CopyReport,
    /// The number of objects in the source, without skipped objects. The objects are counted while the file is read or,
    /// for formats without such counts, in the store of the file.
    pub source: Inventory,
    /// The number of objects in the copy.
    pub copy: Inventory,
    /// The parts that were left out.
    pub left_out: Vec<LeftOut>,
}

/// A planned import that can be run.
#[derive(Debug)]
#[must_use = "nothing is imported before `run` is called"]
pub struct Importing {
    copying: Copying,
    store: FileStore,
    chosen: Chosen,
    left_out: Vec<LeftOut>,
    notes: Vec<String>,
    differences: Vec<String>,
    is_new: bool,
    skips: Skips,
}

impl Importing {
    /// Returns the parts that are left out.
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// Returns notes on content that was changed, such as a missing value that the type of its variable cannot represent.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Returns the differences between the files. Where files differ, the copy has the content of the first file.
    pub fn differences(&self) -> &[String] {
        &self.differences
    }

    /// Returns true if the dimension along which the files are joined is new.
    pub fn has_new_dimension(&self) -> bool {
        self.is_new
    }

    /// Returns the copy that will be made.
    pub fn copying(&self) -> &Copying {
        &self.copying
    }

    /// Imports the file. After an interruption, the same import continues.
    ///
    /// # Errors
    /// The errors of [`Importing::run_counted`].
    pub fn run(self) -> Result<CopyReport> {
        self.run_counted().map(|imported| imported.report)
    }

    /// Imports the file, and compares the number of objects in the file and in the copy.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`] if a part is damaged, and [`ErrorKind::Unsupported`] if a part has no equivalent in Zarr,
    /// unless such parts are skipped; an error if the copy lacks an object.
    pub fn run_counted(self) -> Result<Imported> {
        check(&self.left_out, self.skips)?;
        let destination = self.copying.destination();
        let report = self.copying.run()?;
        let mut left_out = self.left_out;
        left_out.extend(self.store.skipped());
        let counted = Counted::of(&destination.open()?)?;
        let (chosen, base) = (self.chosen.clone(), self.chosen.node().to_owned());
        let is_chosen = |path: &str| chosen.has(path);
        let source = match self.store.inventories().among(is_chosen) {
            Some(source) => source,
            None => Counted::of(&concat::sources::root_of(&self.store)?)?.among(is_chosen),
        };
        let is_excused =
            |path: &str| report.obstacles.iter().any(|obstacle| obstacle.path.trim_matches('/') == path);
        counted.check(&source, &base, &is_excused)?;
        let source = source.sum();
        Ok(Imported { report, source, copy: counted.sum(), left_out })
    }
}

/// Checks that all parts that were left out may be skipped.
fn check(left_out: &[LeftOut], skips: Skips) -> Result<()> {
    let parts: Vec<&LeftOut> = left_out.iter().filter(|part| !skips.allows(part)).collect();
    if parts.is_empty() { Ok(()) } else { Err(refused(&parts)) }
}

/// Returns the error for parts that were left out. Damaged parts take precedence over parts without an equivalent in Zarr.
fn refused(parts: &[&LeftOut]) -> Error {
    const MOST: usize = 10;
    let kind = parts.iter().map(|part| part.kind).min_by_key(|kind| match kind {
        ErrorKind::Corrupt => 0,
        ErrorKind::Forbidden | ErrorKind::NotFound => 3,
        ErrorKind::Unsupported => 2,
        _ => 1,
    });
    let kind = kind.unwrap_or(ErrorKind::Unsupported);
    let what = match kind {
        ErrorKind::Unsupported => "parts of the file have no equivalent in Zarr and can only be left out:",
        ErrorKind::Forbidden | ErrorKind::NotFound => {
            "parts of the file cannot be read, and can be left out:"
        }
        _ => "parts of the file are damaged; such parts can be left out:",
    };
    let mut message = what.to_owned();
    for part in parts.iter().take(MOST) {
        message.push_str(&format!("\n  {part}"));
    }
    if parts.len() > MOST {
        message.push_str(&format!("\n  and {} more", parts.len() - MOST));
    }
    Error::new(kind, message)
}

/// Returns a pattern that matches only the given path.
fn escaped(path: &str) -> String {
    let mut pattern = String::from("/");
    for c in path.chars() {
        match c {
            '*' | '?' | '[' => pattern.extend(['[', c, ']']),
            c => pattern.push(c),
        }
    }
    pattern
}

/// Imports a file to a location where no node exists. [`Import`] has options.
///
/// # Errors
/// The errors of [`Import::run`].
pub fn import_file(source: impl AsRef<Path>, destination: impl Into<Place>) -> Result<CopyReport> {
    Import::new().run(source, destination)
}
