//! Imports and appends NumPy files and raw elements.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use zarrox::data_type::Casting;
use zarrox::{Array, DataType, Error, ErrorKind, Format, Result};
use zarrox_files::{FileStore, Kind, RawElements, is_archive};
use zarrox_tools::copy::{IfExists, Way};

use super::{Import, copying};
use crate::args::{ByteSize, Global, OpenLengths};
use crate::cleanup::StoreFile;
use crate::creation;
use crate::exit::{note, usage};
use crate::files::{self, failed};
use crate::interrupt;
use crate::progress::Progress;

impl Import {
    /// Imports an `.npy` or `.npz` file, a stream, or raw elements. After a failure, the hierarchy is unchanged.
    pub(super) fn import_numpy(&self, kind: Option<Kind>, global: &Global) -> Result<()> {
        if !self.members.is_empty() && kind != Some(Kind::Npz) {
            return Err(usage(format!(
                "--member applies only to .npz files, and {} is not one",
                self.name()
            )));
        }
        if self.members.len() > 1 {
            return Err(usage("--member takes one array of an .npz file"));
        }
        if let Some(axis) = self.append {
            return self.append_numpy(kind, axis, global);
        }
        self.replacing(global, |path| self.create_numpy(kind, path, global))
    }

    fn create_numpy(&self, kind: Option<Kind>, path: &str, global: &Global) -> Result<()> {
        let progress = Progress::new(&self.name(), 0);
        let import = self.reading(importer(global, &progress, self.memory))?;
        let import = match (&self.dtype, &self.shape) {
            (Some(dtype), None) => import.data_type(creation::data_type(dtype)?.0, Some(self.casting())),
            _ => import,
        };
        let creation = self.creation.clone();
        let import = import.build(move |builder, shape| creation.apply(builder, shape));
        let importing = import.plan_store(self.open_numpy(kind, &import)?, path)?;
        let plans = importing.copying().rechunks()?;
        for ((path, source, copy), plan) in importing.copying().elements()?.iter().zip(plans) {
            let member = path.trim_matches('/');
            let name = if member.is_empty() { self.name() } else { format!("member '{member}'") };
            let in_order = plan.way == Way::InOrder;
            tracing::info!(
                "{name}: {} {:?} becomes {} in chunks of {:?}, {}",
                source.data_type(),
                source.shape(),
                copy.data_type(),
                copy.unit_shape(),
                if in_order { "in the order of the elements" } else { "chunk by chunk" }
            );
            if plan.times_written > 1 {
                note_repeated_encoding(&name, plan.times_written, plan.sufficient_memory);
            }
            self.note_void_type(&name, source.data_type(), copy);
        }
        let destination = importing.copying().destination();
        or_interrupted(importing.run())?;
        let seen = if progress.is_seen() { destination.open()?.into_array().ok() } else { None };
        let stored = seen.map(|array| array.info()).transpose()?;
        progress.finish(stored.map(|info| info.bytes_stored));
        Ok(())
    }

    fn append_numpy(&self, kind: Option<Kind>, axis: usize, global: &Global) -> Result<()> {
        if kind == Some(Kind::Npz) && self.members.is_empty() {
            return Err(usage("--append takes one array; choose it with --member"));
        }
        let mut array = global.options().open(self.path())?.into_array()?;
        let said =
            self.dtype.as_deref().filter(|_| self.shape.is_none()).map(creation::data_type).transpose()?;
        if let Some((said, _)) = said.as_ref().filter(|(said, _)| said != array.data_type()) {
            let message = format!("the elements of '{}' are {}, not {said}", self.path(), array.data_type());
            return Err(Error::new(ErrorKind::DataTypeMismatch, message));
        }
        let casting = said.map(|_| self.casting());
        let progress = Progress::new(&self.name(), 0);
        let import = self.reading(importer(global, &progress, self.memory))?;
        let import = import.data_type(array.data_type().clone(), casting);
        let store = self.open_numpy(kind, &import)?;
        StoreFile::or_removed(global, self.path(), || append(&import, &store, &mut array, axis, &progress))
    }

    /// Adds the options for reading to the import.
    fn reading(&self, import: zarrox_files::Import) -> Result<zarrox_files::Import> {
        let import = match (&self.dtype, &self.shape) {
            (Some(dtype), Some(OpenLengths(shape))) => {
                let (data_type, endian) = creation::data_type(dtype)?;
                let raw = RawElements::new(data_type, shape.iter().copied()).offset(self.offset);
                import.raw(endian.into_iter().fold(raw, RawElements::byte_order))
            }
            _ => import,
        };
        Ok(self.members.iter().fold(import, zarrox_files::Import::member))
    }

    fn casting(&self) -> Casting {
        if self.lossy { Casting::Lossy } else { Casting::Exact }
    }

    /// Opens the input: a file that supports seeking, or a stream.
    fn open_numpy(&self, kind: Option<Kind>, import: &zarrox_files::Import) -> Result<FileStore> {
        if kind.is_some() || (self.length().is_some() && self.shape.is_some()) {
            return import.open(self.input());
        }
        if self.input() != "-" {
            let file = files::open(Path::new(self.input()))?;
            return import
                .open_stream(&self.name(), io::BufReader::new(file))
                .map_err(|error| error.at(self.name()));
        }
        let (mut start, mut stream) = (Vec::new(), io::stdin());
        let reading = |error| failed(&format!("reading {}", self.name()), error);
        stream.by_ref().take(4).read_to_end(&mut start).map_err(reading)?;
        if self.shape.is_none() && is_archive(&start) {
            return Err(usage(".npz files cannot be read from a stream"));
        }
        let stream = io::Cursor::new(start).chain(stream);
        or_interrupted(import.open_stream(&self.name(), stream).map_err(|error| error.at(self.name())))
    }

    /// Prints the data type in which void elements are stored, if a different one may fit better.
    fn note_void_type(&self, name: &str, data_type: &DataType, copy: &Array) {
        if !matches!((data_type, copy.data_type()), (DataType::RawBits(_), DataType::RawBits(_)))
            || self.dtype.is_some()
            || copy.metadata().format != Format::V3
        {
            return;
        }
        let size = copy.data_type().size();
        let way = match size {
            1 => "if they are numbers, give their data type, such as --dtype float8_e4m3",
            2 => "if they are numbers, give their data type, such as --dtype bfloat16",
            _ => "--format v2 keeps NumPy's type",
        };
        note(&format!(
            "the elements of {name} are untyped bytes (|V{size}) and are stored as {}; {way}",
            copy.data_type()
        ));
    }
}

/// The elements that are appended to an array.
pub(crate) enum Appended<'a> {
    /// The contents of an `.npy` file, which is read sequentially.
    Npy(Box<dyn Read + Send>),
    /// A file with raw elements of the array's data type. Their number along the axis is computed from the size of the file.
    Raw(File, &'a str),
}

/// Appends elements to an array, along an axis.
pub(crate) fn append_to(
    path: &str,
    axis: usize,
    (appended, name): (Appended<'_>, &str),
    memory: ByteSize,
    global: &Global,
) -> Result<()> {
    let mut array = global.options().open(path)?.into_array()?;
    let progress = Progress::new(name, 0);
    let import = importer(global, &progress, memory).data_type(array.data_type().clone(), None);
    let (import, store) = match appended {
        Appended::Npy(stream) => {
            let store = import.open_stream(name, stream).map_err(|error| error.at(name))?;
            (import, store)
        }
        Appended::Raw(file, file_name) => {
            let lengths = array.shape().iter().enumerate();
            let shape = lengths.map(|(dim, &length)| Some(length).filter(|_| dim != axis));
            let import = import.raw(RawElements::new(array.data_type().clone(), shape));
            let store = import.open_file(file, file_name).map_err(|error| error.at(name))?;
            (import, store)
        }
    };
    StoreFile::or_removed(global, path, || append(&import, &store, &mut array, axis, &progress))
}

fn append(
    import: &zarrox_files::Import,
    store: &FileStore,
    array: &mut Array,
    axis: usize,
    progress: &Progress,
) -> Result<()> {
    or_interrupted(import.append_to(store, array, axis))?;
    progress.finish(None);
    Ok(())
}

/// Returns an import that shows its progress, stops at an interrupt, and removes its output after a failure.
fn importer(global: &Global, progress: &Progress, memory: ByteSize) -> zarrox_files::Import {
    let bar = progress.clone();
    let memory = usize::try_from(memory.0).unwrap_or(usize::MAX);
    let copier = copying::copier(global, progress).memory(memory).clean_up(true);
    let copier = copier.on_progress(move |done| {
        bar.set(done.done, done.total);
        interrupt::check()
    });
    // The path is unused: the node to replace exists until the new one is complete.
    zarrox_files::Import::new().copier(copier.if_exists(IfExists::Error))
}

/// Replaces any error after an interrupt with the error for an interrupt: the interrupt may also have ended the input stream,
/// which is reported as a different error.
fn or_interrupted<T>(result: Result<T>) -> Result<T> {
    result.or_else(|error| interrupt::check().and(Err(error)))
}

/// Prints a note that chunks are encoded several times, and how to avoid it.
fn note_repeated_encoding(name: &str, times: u64, memory: u64) {
    note(&format!(
        "{name} is read sequentially, so each chunk is read and encoded up to {} times; --memory {} avoids that, \
          as do --chunks with the full length of the last axes, or a file that supports seeking",
        times - 1,
        ByteSize(memory)
    ));
}
