//! `zarrox import`: stores arrays from files of other formats or from raw bytes.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use zarrox::data_type::{ByteOrder, Casting, Endian, Storage};
use zarrox::json::{self, Json};
use zarrox::{Array, ArrayBuilder, Error, ErrorKind, Group, OpenMode, Result};
use zarrox_files::{Kind, LeftOut, Select};
use zarrox_tools::Glob;
use zarrox_tools::copy::{Copier, IfExists, Property};

use super::copying;
use super::recoding::Recoding;
use crate::args::{ByteSize, Chunks, Global, OpenLengths};
use crate::creation::{self, Creation};
use crate::exit::{Failure, note, printable, usage};
use crate::files::{self, failed};
use crate::incoming::places::Places;
use crate::incoming::{Counted, Incoming, Rest};
use crate::interrupt;
use crate::made::Made;
use crate::npy::npz::{self, Archive};
use crate::npy::{self, Header};
use crate::progress::Progress;
use crate::suggest::{self, suggesting};

/// Store the arrays of a file: HDF5, NetCDF, PNG, JPEG, TIFF, NIfTI, CSV, Parquet, .npy, .npz, or with --dtype and --shape raw elements in C order
///
/// Of HDF5 and NetCDF, groups, attributes, dimensions, chunks and filters are kept, and encoded chunks are copied as they are where
/// Zarr has all their filters; an import that was interrupted is continued by the same command.
///
/// Many files become one hierarchy with --concat: arrays that have the dimension are joined along it, and others must be alike.
///
/// An image becomes an array, and a directory of images of one size and type an array with a first dimension for them, in the order
/// of their names. Each column of CSV (.csv, .tsv) or Parquet becomes an array of one dimension.
///
/// The arrays are written block by block, so that files may be larger than memory. Blocks of a file are whole chunks, so that
/// each chunk is encoded once; blocks of a stream are as many rows as fit into memory. A failed or interrupted import of NumPy files
/// or raw elements leaves nothing behind; one that is killed is completed by the same command. A node that is to be replaced stays until the new one is
/// complete.
#[derive(Debug, Args)]
pub(crate) struct Import {
    /// The file, a directory of images, or - for the standard input; with --concat several files, or directories of them. Last the
    /// destination: an array, or for a file of several arrays a group
    #[arg(required = true, num_args = 1.., value_names = ["INPUT", "PATH"])]
    paths: Vec<String>,

    /// With --shape, the data type of raw elements: float32, >i2, JSON for structures. Otherwise the data type to store the
    /// elements of an .npy file as: another type of numbers, which must have every value (see --lossy); string for text of a
    /// fixed length, variable_length_bytes for bytes; bfloat16 and others for |V2
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
    /// columns, which become a group
    #[arg(long = "member", value_name = "NAME")]
    members: Vec<String>,

    /// Leave out nodes that a pattern fits, such as '*_bnds' or 'forecast/**', with all nodes below them; can be repeated
    #[arg(long, value_name = "PATTERN")]
    exclude: Vec<Glob>,

    /// Join several files along a dimension, in the order of its coordinate, or otherwise of their names. A dimension that no file has
    /// becomes the first one of all arrays but coordinates. With --append, the files go on behind what the destination has
    #[arg(long, value_name = "DIMENSION", conflicts_with_all = ["dtype", "shape"])]
    concat: Option<String>,

    /// Property is done with elements that all files should have alike and that differ: an error, or those of the first file
    #[arg(
        long,
        value_name = "RULE",
        requires = "concat",
        default_value = "refuse",
        hide_default_value = true
    )]
    #[arg(value_parser = ["refuse", "first"])]
    conflicts: String,

    /// Put missing values where some of the files lack an array: that of its attributes, or NaN. With a value, this one for arrays
    /// without a missing value; otherwise they are an error
    #[arg(long, requires = "concat", value_name = "VALUE", num_args = 0..=1, require_equals = true)]
    #[arg(allow_hyphen_values = true)]
    fill_missing: Option<Option<String>>,

    /// Allow the loss of properties that the format of the copy cannot express: data-types, fill-values, dimension-names,
    /// attributes, members, nodes
    #[arg(long, value_name = "WHAT", value_delimiter = ',', hide_possible_values = true)]
    #[arg(value_parser = suggesting(suggest::loss, suggest::losses))]
    allow: Vec<Property>,

    /// Import ranges of dimensions, of all arrays that have them: by indices as time=0:100 or x=::2, or by values of the coordinate as
    /// lat=10..50 or time=2000-01..2000-12; several are separated by commas
    #[arg(long, value_name = "NAME=RANGE", value_delimiter = ',')]
    select: Vec<Select>,

    /// Allow to read files in this directory that the file names: external links, external storage, sources of virtual datasets,
    /// files of OME-TIFF; can be repeated [always allowed: the directory of the file]
    #[arg(long, value_name = "DIR")]
    external: Vec<PathBuf>,

    /// The type of a column of CSV, such as id=uint8 or day=datetime64[D] [default: the type that all its values have]
    #[arg(long = "column", value_name = "NAME=TYPE", value_parser = column)]
    columns: Vec<(String, String)>,

    /// Take a smaller copy of the image that a file of TIFF has, such as 1 for the largest one
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    level: usize,

    /// Images of TIFF as OME-Zarr: a group with all their levels, axes, units, scales and channels.
    #[arg(long, conflicts_with = "level")]
    ome: bool,

    /// Append to the existing array, along this axis [default: 0], or with --concat to all arrays of a hierarchy
    #[arg(long, value_name = "AXIS", num_args = 0..=1, require_equals = true, default_missing_value = "0")]
    #[arg(conflicts_with = "Creation")]
    append: Option<usize>,

    /// Leave out what a file has and Zarr has not, or what lies in other files that are missing or not allowed, and list it
    #[arg(long)]
    skip_unsupported: bool,

    /// Leave out parts of a file that are damaged, and with --concat damaged files, and list them
    #[arg(long)]
    skip_damaged: bool,

    /// The approximate limit of memory
    #[arg(long, value_name = "SIZE", default_value = "512MiB")]
    memory: ByteSize,

    #[command(flatten)]
    creation: Creation,
}

/// Raw elements that make an array longer.
pub(super) struct Raw<'a> {
    pub(super) file: File,
    /// The number of bytes.
    pub(super) length: u64,
    pub(super) array: &'a Array,
    pub(super) axis: usize,
}

impl Raw<'_> {
    /// The elements, whose number along the axis follows from their size.
    fn header(&self, name: &str) -> Result<Header> {
        let (data_type, mut shape) = (self.array.data_type().clone(), self.array.shape().to_vec());
        if data_type.storage() == Storage::Variable {
            let message =
                format!("elements of {data_type} have no fixed length, so that they cannot be told apart");
            return Err(usage(message));
        }
        shape[self.axis] = 1;
        let row = shape.iter().try_fold(data_type.size() as u64, |size, &n| size.checked_mul(n));
        let row = row.filter(|&row| row > 0).ok_or_else(|| usage("a row of the array has no elements"))?;
        if !self.length.is_multiple_of(row) {
            let message = format!(
                "{name} has {} bytes of elements, which is not a multiple of the {row} bytes of a row",
                self.length
            );
            return Err(Error::new(ErrorKind::Corrupt, message));
        }
        shape[self.axis] = self.length / row;
        Ok(Header { data_type, order: ByteOrder::One(Endian::NATIVE), column_major: false, shape })
    }
}

impl Import {
    /// An import that makes an array longer.
    pub(super) fn appending(input: &str, path: &str, axis: usize, memory: ByteSize) -> Self {
        Self {
            paths: vec![input.to_owned(), path.to_owned()],
            dtype: None,
            lossy: false,
            shape: None,
            offset: 0,
            members: Vec::new(),
            exclude: Vec::new(),
            concat: None,
            conflicts: "refuse".to_owned(),
            fill_missing: None,
            allow: Vec::new(),
            select: Vec::new(),
            external: Vec::new(),
            append: Some(axis),
            columns: Vec::new(),
            level: 0,
            ome: false,
            skip_unsupported: false,
            skip_damaged: false,
            memory,
            creation: Creation::default(),
        }
    }

    /// Appends the array of an `.npy` input, or raw elements.
    pub(super) fn append_from(
        &self,
        input: &mut dyn Read,
        raw: Option<Raw<'_>>,
        global: &Global,
    ) -> Result<()> {
        let Some(mut raw) = raw else { return self.store(self.single(input)?, global) };
        let header = raw.header(&self.name())?;
        let available = Some(raw.length);
        let incoming = self.incoming(self.name(), header, &mut raw.file);
        self.store(Incoming { available, rest: Rest::Refuse, ..incoming }, global)
    }

    pub(crate) fn run(&self, global: &Global, out: &mut dyn Write) -> Result<(), Failure> {
        interrupt::catch();
        if self.inputs().is_empty() {
            return Err(usage("a destination is missing behind the file").into());
        }
        if self.concat.is_none() && self.inputs().len() > 1 {
            return Err(usage(
                "several files are joined along a dimension, which --concat names; other files are imported one by one",
            )
            .into());
        }
        if self.concat.is_some() && self.append.is_some() {
            return self.append_files(global);
        }
        let is_hierarchy = || Ok::<_, Error>(self.can_be_hierarchy() && Kind::of(self.input())?.is_some());
        if self.concat.is_some() || (self.shape.is_none() && is_hierarchy()?) {
            return self.import_hierarchy(global, out);
        }
        if let Some((option, kinds)) = self.file_option() {
            return Err(
                usage(format!("{option} is for files of {kinds}, and {} is not one", self.name())).into()
            );
        }
        let mut start = Vec::new();
        let mut input = self.open()?;
        if self.shape.is_none() {
            let reading = |error| failed(&format!("reading {}", self.name()), error);
            input.by_ref().take(npy::MAGIC.len() as u64).read_to_end(&mut start).map_err(reading)?;
        }
        if npz::MAGICS.iter().any(|magic| start.starts_with(magic)) {
            drop(input);
            return Ok(self.import_npz(global).map_err(|error| self.in_input(error))?);
        }
        if !self.members.is_empty() {
            return Err(usage(format!(
                "--member applies only to .npz files, and {} is not one",
                self.name()
            ))
            .into());
        }
        let mut input = start.as_slice().chain(input);
        let incoming = self.single(&mut input)?;
        Ok(self.store(incoming, global)?)
    }

    /// The inputs, before the destination.
    fn inputs(&self) -> &[String] {
        self.paths.split_last().map_or(&[], |(_, inputs)| inputs)
    }

    /// The only input, or the first one.
    fn input(&self) -> &str {
        self.inputs().first().map_or("-", String::as_str)
    }

    /// The destination.
    fn path(&self) -> &str {
        self.paths.last().map_or("", String::as_str)
    }

    /// The name of the input in errors.
    fn name(&self) -> String {
        if self.input() == "-" { "the standard input".to_owned() } else { format!("'{}'", self.input()) }
    }

    /// The name of a given option that is only for some kinds of files, and these.
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

    fn open(&self) -> Result<Box<dyn Read>> {
        if self.input() == "-" {
            return Ok(Box::new(io::stdin().lock()));
        }
        Ok(Box::new(BufReader::new(files::open(Path::new(self.input()))?)))
    }

    /// The length of the input in bytes, if the input is a file.
    fn length(&self) -> Option<u64> {
        let metadata = fs::metadata(self.input()).ok().filter(|_| self.input() != "-");
        metadata.filter(fs::Metadata::is_file).map(|metadata| metadata.len())
    }

    /// Returns true for files and directories, which can be read in any order.
    fn can_be_hierarchy(&self) -> bool {
        self.length().is_some() || (self.input() != "-" && Path::new(self.input()).is_dir())
    }

    fn in_input(&self, error: Error) -> Error {
        error.at(self.name())
    }

    /// The only array of a raw or `.npy` input.
    fn single<'r>(&self, input: &'r mut dyn Read) -> Result<Incoming<'r>> {
        if let (Some(dtype), Some(OpenLengths(shape))) = (&self.dtype, &self.shape) {
            return self.raw(input, dtype, shape);
        }
        let name = self.name();
        let mut counted = Counted { reader: input, count: 0 };
        let header = Header::read(&mut counted).map_err(|error| {
            let hint = if counted.count <= 8 { "; for raw elements, give --dtype and --shape" } else { "" };
            let message = format!("{name} cannot be imported: {error}{hint}");
            Error::new(error.kind(), message).with_source(error)
        })?;
        let available = self.length().map(|length| length.saturating_sub(counted.count));
        let places = self.places(counted.count)?;
        let incoming = self.incoming(name, header, counted.reader);
        Ok(Incoming { places, available, ..incoming })
    }

    /// Raw elements without a header.
    fn raw<'r>(&self, input: &'r mut dyn Read, dtype: &str, shape: &[Option<u64>]) -> Result<Incoming<'r>> {
        let (data_type, order) = creation::data_type(dtype)?;
        if data_type.storage() == Storage::Variable {
            return Err(usage(format!(
                "--dtype: elements of {data_type} have no fixed length, so that raw elements cannot be told apart"
            )));
        }
        let available = self.available(input)?;
        let shape = self.known_shape(shape, data_type.size() as u64, available)?;
        let order = order.unwrap_or(ByteOrder::One(Endian::NATIVE));
        let header = Header { data_type, order, column_major: false, shape };
        let incoming = self.incoming(self.name(), header, input);
        Ok(Incoming {
            places: self.places(self.offset)?,
            available,
            rest: Rest::Refuse,
            cast: None,
            ..incoming
        })
    }

    /// Skips the bytes before raw elements. Returns the number of bytes of elements, if the input is a file.
    fn available(&self, input: &mut dyn Read) -> Result<Option<u64>> {
        let passed = io::copy(&mut input.take(self.offset), &mut io::sink());
        let passed = passed.map_err(|error| failed(&format!("reading {}", self.name()), error))?;
        if passed < self.offset {
            let message =
                format!("{} ends after {passed} bytes, before --offset {}", self.name(), self.offset);
            return Err(Error::new(ErrorKind::Corrupt, message));
        }
        Ok(self.length().map(|length| length.saturating_sub(self.offset)))
    }

    /// The shape of raw elements, with the length that stands for -1.
    fn known_shape(&self, shape: &[Option<u64>], item: u64, available: Option<u64>) -> Result<Vec<u64>> {
        if shape.iter().all(Option::is_some) {
            return Ok(shape.iter().copied().flatten().collect());
        }
        let row =
            shape.iter().flatten().try_fold(item, |size, &n| size.checked_mul(n)).filter(|&row| row > 0);
        let row = row.ok_or_else(|| usage("--shape: -1 is ambiguous, since the other lengths contain 0"))?;
        let available = available
            .ok_or_else(|| usage("--shape: -1 works only for files; give the length for a stream"))?;
        if available % row != 0 {
            let name = self.name();
            let message = format!(
                "{name} has {available} bytes of elements, which is not a multiple of the {row} bytes of a row"
            );
            return Err(Error::new(ErrorKind::Corrupt, message));
        }
        Ok(shape.iter().map(|length| length.unwrap_or(available / row)).collect())
    }

    fn incoming<'r>(&self, name: String, header: Header, elements: &'r mut dyn Read) -> Incoming<'r> {
        let casting = if self.lossy { Casting::Lossy } else { Casting::Exact };
        Incoming {
            name,
            header,
            elements,
            places: None,
            available: None,
            rest: Rest::Ignore,
            says_type: self.dtype.is_some(),
            cast: self.dtype.as_ref().map(|_| casting),
        }
    }

    /// The elements of a file, which can be read in any order; the first one is at `start`.
    fn places(&self, start: u64) -> Result<Option<Places>> {
        let path = self.length().map(|_| Path::new(self.input()));
        path.map(|path| Ok(Places::new(files::open(path)?, start))).transpose()
    }

    /// Creates the array or makes it longer, and stores the elements. After a failure, the hierarchy is as before.
    fn store(&self, incoming: Incoming<'_>, global: &Global) -> Result<()> {
        incoming.check_size()?;
        if let Some(axis) = self.append {
            return self.append(incoming, axis, global);
        }
        self.replacing(global, |path| {
            self.create(global.options().create_array(path), self.creation.force, incoming)
        })
    }

    /// Creates a node. A node that is to be replaced is deleted only when the new one, which is created beside it, is complete. The
    /// place beside it follows from the node's name, so that the same command finds there what an interrupted one has left.
    fn replacing(&self, global: &Global, create: impl FnOnce(&str) -> Result<()>) -> Result<()> {
        // The replaced node can have any format.
        let global = global.of_any_format();
        let Some((old, new)) = self.replaced(&global) else {
            return Made::or_removed(&global, self.path(), || create(self.path()));
        };
        Made::or_removed(&global, &new, || create(&new))?;
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

    /// The node that is to be replaced, if there is one, and the path where the new one is created. An import that was interrupted
    /// after it had deleted the node has left the new one there.
    fn replaced(&self, global: &Global) -> Option<(String, String)> {
        let there =
            || global.read(self.path()).map_or_else(|error| error.kind() != ErrorKind::NotFound, |_| true);
        if !self.creation.force {
            return None;
        }
        let old = absolute(Path::new(self.path().strip_prefix("file://").unwrap_or(self.path())))?;
        let new = old.with_file_name(format!(".importing-{}", old.file_name()?.to_str()?));
        if !new.exists() && !there() {
            return None;
        }
        Some((old.to_str()?.to_owned(), new.to_str()?.to_owned()))
    }

    /// Creates an array with its elements. An interrupted import leaves an array that cannot be opened, which the same command fills
    /// again.
    fn create(&self, builder: ArrayBuilder, overwrite: bool, incoming: Incoming<'_>) -> Result<()> {
        let Header { data_type, shape, .. } = &incoming.header;
        let stored = self.dtype.as_deref().map(creation::data_type).transpose()?;
        let stored = stored.map_or_else(|| data_type.clone(), |(data_type, _)| data_type);
        incoming.conversion(&stored)?;
        let builder = self.creation.apply(builder, stored.clone(), shape)?.overwrite(overwrite);
        let source = incoming.name.clone();
        let mut incoming = Some(incoming);
        let mut create = |builder: ArrayBuilder| {
            builder.create_with(&source, |array| {
                let Some(incoming) = incoming.take() else { return Ok(()) };
                incoming.fill(array, self.memory.0)?;
                array.flush()
            })
        };
        match create(builder.clone()) {
            // Padding carries no values, and some formats have none.
            Err(error) if error.kind() == ErrorKind::Unsupported && stored.packed() != stored => {
                create(builder.data_type(stored.packed())).map(drop)
            }
            created => created.map(drop),
        }
    }

    fn append(&self, incoming: Incoming<'_>, axis: usize, global: &Global) -> Result<()> {
        let mut array = global.options().open(self.path())?.into_array()?;
        let said =
            self.dtype.as_deref().filter(|_| self.shape.is_none()).map(creation::data_type).transpose()?;
        if let Some((said, _)) = said.filter(|(said, _)| said != array.data_type()) {
            let message = format!("the elements of '{}' are {}, not {said}", self.path(), array.data_type());
            return Err(Error::new(ErrorKind::DataTypeMismatch, message));
        }
        Made::or_removed(global, self.path(), || incoming.append(&mut array, axis, self.memory.0))
    }

    /// Imports all nodes of a file of HDF5 or NetCDF, or images.
    fn import_hierarchy(&self, global: &Global, out: &mut dyn Write) -> Result<(), Failure> {
        if self.append.is_some() {
            return Err(
                usage(
                    "--append takes one array of a NumPy file, or with --concat DIMENSION files; zarrox append adds another array",
                )
                .into()
            );
        }
        if let Some(option) = self.creation.single_option() {
            return Err(usage(format!("{option} is of one array, and {} has its own", self.name())).into());
        }
        let progress = Progress::new(self.input(), 0);
        let memory = usize::try_from(self.memory.0).unwrap_or(usize::MAX);
        let copier = copying::copier(global, &progress).memory(memory);
        // Of what an earlier import has left, only the same one goes on.
        let copier = self.allow.iter().copied().fold(copier, Copier::allow);
        let copier = if self.creation.force { copier.if_exists(IfExists::Replace) } else { copier };
        let recodes = self.creation.compressor.is_some() || self.creation.codecs.is_some();
        let import = self.options()?.copier(self.recoding()?.apply(copier)?).recodes(recodes);
        self.replacing(global, |path| {
            let importing = import.plan_all(self.inputs(), path)?;
            if let Some(dimension) = self.concat.as_ref().filter(|_| importing.has_new_dimension()) {
                note(&format!("no file has the dimension '{dimension}', so that it is a new one"));
            }
            importing.notes().iter().for_each(|found| note(&printable(found)));
            print_differences(importing.differences());
            for report in importing.copying().reports() {
                report.to_string().lines().for_each(|line| tracing::info!("{}", printable(line)));
            }
            let imported = importing.run_counted()?;
            progress.finish(None);
            if let Some(source) = imported.source {
                tracing::info!("the source has {source}");
            }
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
            return Err(usage("--append takes no axis beside --concat, which names the dimension").into());
        }
        let options = global.options().access(&interrupt::options());
        let appended = interrupt::or_told(
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

    /// The options of an import of files, without those of the copy.
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

    /// The properties of the copies of all arrays.
    fn recoding(&self) -> Result<Recoding> {
        let shards = match &self.creation.shards {
            Some(shards @ (Chunks::Shape(_) | Chunks::Named(_))) => Some(Some(shards.clone())),
            Some(Chunks::Rectilinear(_)) => return Err(usage("--shards: a copy has shards of one shape")),
            None => None,
        };
        let Creation { chunks, codecs, filters, compressor, separator, .. } = self.creation.clone();
        let (dtype, lossy) = (self.dtype.clone(), self.lossy);
        Ok(Recoding { chunks, shards, codecs, filters, compressor, dtype, lossy, separator })
    }

    fn import_npz(&self, global: &Global) -> Result<()> {
        if self.input() == "-" {
            return Err(usage(".npz files cannot be read from a stream"));
        }
        let mut archive = Archive::open(Path::new(self.input()))?;
        if self.members.len() > 1 {
            return Err(usage("--member takes one array of an .npz file"));
        }
        if let Some(name) = self.members.first() {
            return self.import_member(&mut archive, name, |incoming| self.store(incoming, global));
        }
        if self.append.is_some() {
            return Err(usage("--append takes one array; choose it with --member"));
        }
        let names = archive.members()?;
        if names.iter().any(|name| name.trim_matches('/').is_empty()) {
            let message = "an array has no name; import it alone, with --member ''";
            return Err(Error::new(ErrorKind::Unsupported, message));
        }
        self.replacing(global, |path| {
            let mode = if self.creation.force { OpenMode::Write } else { OpenMode::CreateNew };
            let options = global.options().mode(mode);
            let mut all_ours = false;
            let created = options.create_group_with(path, &self.name(), |group, again| {
                // A group without a document can still have nodes below it.
                all_ours = !again && group.children()?.is_empty();
                names.iter().try_for_each(|name| self.import_into(group, &mut archive, name, again))?;
                group.flush()
            });
            if created.is_err() && all_ours {
                let _ = global.options().delete(path);
            }
            created.map(drop)
        })
    }

    /// Imports one array into a group. An array that an interrupted import has left there is replaced.
    fn import_into(&self, group: &Group, archive: &mut Archive, name: &str, replace: bool) -> Result<()> {
        self.import_member(archive, name, |incoming| {
            incoming.check_size()?;
            self.create(group.create_array(name), replace || self.creation.force, incoming)
        })
    }

    fn import_member(
        &self,
        archive: &mut Archive,
        name: &str,
        store: impl FnOnce(Incoming<'_>) -> Result<()>,
    ) -> Result<()> {
        let (mut member, start) = archive.member(name)?;
        let mut counted = Counted { reader: &mut member, count: 0 };
        let header = Header::read(&mut counted).map_err(|error| error.at(format!("member '{name}'")))?;
        let places = start.map(|start| self.places(start + counted.count)).transpose()?.flatten();
        let incoming = self.incoming(format!("member '{name}'"), header, &mut member);
        store(Incoming { places, rest: Rest::Read, ..incoming })
    }
}

/// Prints what differs between several files.
fn print_differences(differences: &[String]) {
    for difference in differences {
        tracing::info!("{}", printable(difference));
    }
}

/// Prints the parts that were left out, and their number as the last line.
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

/// A value as JSON, or as text where it is none.
fn json_or_text(text: &str) -> Json {
    json::parse(text.as_bytes()).unwrap_or_else(|_| text.into())
}

/// The name and the type of a column.
fn column(text: &str) -> Result<(String, String), String> {
    let (name, dtype) = text.rsplit_once('=').ok_or("a column is given as NAME=TYPE")?;
    Ok((name.to_owned(), dtype.to_owned()))
}

/// The arguments of the command, with `--append 1` written as `--append=1`, unless the word after `--append` is not a number.
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

/// A path without links, whose last part need not exist.
fn absolute(path: &Path) -> Option<PathBuf> {
    if let Ok(path) = fs::canonicalize(path) {
        return Some(path);
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    Some(fs::canonicalize(parent.unwrap_or(Path::new("."))).ok()?.join(path.file_name()?))
}
