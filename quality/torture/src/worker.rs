//! One process of the torture test: it does its job, and prints the begin and the end of each operation.
//!
//! | line | meaning |
//! |---|---|
//! | `ready` | the process waits for a line on its standard input, so that several processes begin together |
//! | `begin HAND OPERATION` | the operation begins: from here on the hierarchy may have been changed |
//! | `end HAND OPERATION WORD` | the operation is done; the word is `done`, or `taken` where another process was faster |
//! | `error HAND OPERATION MESSAGE` | the operation failed, and the thread HAND does nothing more |
//! | `finished` | all threads have ended |

use ndarray::ArrayD;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use tempfile::TempPath;
use zarrox::codecs::Gzip;
use zarrox::stores::Store;
use zarrox::stores::internals::NamedStore;
use zarrox::{Array, ArrayBuilder, DimSelection, Error, ErrorKind, Format, Group, Node, OpenOptions};
use zarrox_images::pyramid::{Downsample, Pyramid, Reduction};
use zarrox_tools::check::Repair;
use zarrox_tools::{Copier, Rechunk};

use crate::check;
use crate::element::{elements, selection};
use crate::job::{Hand, Job, Layout, Operation};
use crate::outcome::Outcome;
use crate::place::{Opened, Place};
use crate::world;

/// The number of attempts at an operation that conflicts with a change of its node.
const ATTEMPTS: usize = 40;
/// The time between two attempts.
const PAUSE: Duration = Duration::from_millis(5);

/// Does a job.
pub(crate) fn run(job: &Job) -> Outcome {
    let at = job.place.open()?;
    print_line("ready");
    std::io::stdin().lines().next();
    thread::scope(|scope| {
        for (number, hand) in job.hands.iter().enumerate() {
            let at = &at;
            scope.spawn(move || work(number, hand, at, job));
        }
    });
    print_line("finished");
    Ok(())
}

/// Prints one line at once: the process may be killed at any moment.
#[expect(clippy::print_stdout, reason = "the driver reads it")]
fn print_line(line: &str) {
    println!("{line}");
    // Without a driver the output is ignored.
    let _ = std::io::stdout().flush();
}

fn work(number: usize, hand: &Hand, at: &Opened, job: &Job) {
    let mut tools = Tools { at, arrays: BTreeMap::new(), again: job.again, unsettled: &job.unsettled };
    for (index, operation) in hand.operations.iter().enumerate() {
        print_line(&format!("begin {number} {index}"));
        let done =
            tools.begin(operation).and_then(|word| at.store.flush().map(|()| word).map_err(Error::from));
        match done {
            Ok(word) => print_line(&format!("end {number} {index} {word}")),
            Err(error) => {
                let message = error.to_string().replace('\n', " ");
                return print_line(&format!("error {number} {index} {message}"));
            }
        }
    }
}

/// The state of a thread.
struct Tools<'a> {
    at: &'a Opened,
    /// Handles that stay open, so that they become stale while others change the arrays.
    arrays: BTreeMap<String, Array>,
    /// True if an earlier process may have done the operation.
    again: bool,
    /// The nodes that others move, replace or convert in the meantime.
    unsettled: &'a [String],
}

impl Tools<'_> {
    fn root(&self) -> zarrox::Result<Group> {
        self.at.root()
    }

    fn array(&mut self, path: &str) -> zarrox::Result<&mut Array> {
        if !self.arrays.contains_key(path) {
            let array = self.open(path)?;
            self.arrays.insert(path.to_owned(), array);
        }
        self.arrays.get_mut(path).ok_or_else(|| Error::new(ErrorKind::NotFound, path))
    }

    /// Opens an array. If other workers change the array, it is opened by its own document, since consolidated metadata may be
    /// stale.
    fn open(&self, path: &str) -> zarrox::Result<Array> {
        let is_settled = !self.unsettled.iter().any(|unsettled| unsettled.is_empty() || unsettled == path);
        let places = match path == world::ARENA[0] {
            true => world::ARENA.to_vec(),
            false if is_settled => return self.root()?.open(path)?.into_array(),
            false => vec![path],
        };
        let mut missing = Error::new(ErrorKind::NotFound, path);
        for place in places {
            match OpenOptions::new().open((self.at.store.clone(), &self.at.below(place))) {
                Ok(node) => return node.into_array(),
                Err(error) if error.kind() == ErrorKind::NotFound => missing = error,
                Err(error) => return Err(error),
            }
        }
        Err(missing)
    }

    /// Does an operation. An operation that meets a change of the whole node is retried with a new handle. A node that stays
    /// missing was interrupted while it was moved; then nothing is done, and the result is `taken`.
    fn begin(&mut self, operation: &Operation) -> zarrox::Result<&'static str> {
        for _ in 0..ATTEMPTS {
            match self.run(operation) {
                Err(error) if self.meets(operation, &error) => self.arrays.clear(),
                done => return done,
            }
            thread::sleep(PAUSE);
        }
        match self.run(operation) {
            Err(error) if self.meets(operation, &error) && error.kind() == ErrorKind::NotFound => Ok("taken"),
            done => done,
        }
    }

    /// Returns true if an error means that the node was changed concurrently.
    fn meets(&self, operation: &Operation, error: &Error) -> bool {
        let is_met = |unsettled: &String| {
            unsettled.is_empty() || operation.array().is_some_and(|array| array == unsettled)
        };
        let kinds = [
            ErrorKind::Conflict,
            ErrorKind::NotFound,
            ErrorKind::InvalidArgument,
            ErrorKind::InvalidMetadata,
        ];
        kinds.contains(&error.kind()) && !operation.is_structural() && self.unsettled.iter().any(is_met)
    }

    fn run(&mut self, operation: &Operation) -> zarrox::Result<&'static str> {
        if operation.is_structural() {
            // Some stores do not allow handles that were opened before the change.
            self.arrays.clear();
        }
        match operation {
            Operation::Write { array, start, shape, number } => {
                let array = self.array(array)?;
                let values = elements(*number, start, shape, array.shape());
                array.write(selection(start, shape), &values)?;
            }
            Operation::Append { array, rows, number } => self.append(array, *rows, *number)?,
            Operation::Resize { array, length } => self.array(array)?.resize([*length])?,
            Operation::SetAttribute { node, name, number } => self.set_attribute(node, name, *number)?,
            Operation::Require { path } => drop(self.root()?.require_group(path)?),
            Operation::Create { path } => return self.create(path),
            Operation::Put { path, number } => self.put(path, *number)?,
            Operation::Import { path, number } => self.import(path, *number)?,
            Operation::Move { from, to } => self.move_node(from, to)?,
            Operation::Delete { path } => self.missing_is_done(self.root()?.delete(path))?,
            Operation::Consolidate => self.root()?.consolidate_metadata()?,
            Operation::Rechunk { path, chunks } => self.rechunk(path, chunks)?,
            Operation::Convert { to, format } => self.convert(to, format)?,
            Operation::Copy { to, format, layout } => self.copy(to, format, layout)?,
            Operation::ConvertInPlace { at, format } => convert_in_place(at, format)?,
            Operation::Discard { at } => {
                let at = opened(at)?;
                self.missing_is_done(OpenOptions::new().delete((at.store.clone(), &at.path)))?;
                at.store.flush()?;
            }
            Operation::Reshape { array, chunks, shards, compressed } => {
                self.reshape(array, chunks, shards.as_ref(), *compressed)?;
            }
            Operation::Recreate { at, .. } => {
                let root = self.root()?;
                self.missing_is_done(root.delete(at))?;
                world::create_arena(&root, at)?;
            }
            Operation::Upgrade => {
                let convert = Copier::new().format(Format::V3);
                convert.plan_in_place((self.at.store.clone(), &self.at.path))?.run()?;
            }
            Operation::Repair => drop(check::checked(self.at, Some(Repair::default()))?),
            Operation::Probe { array, rows } => self.probe(array, *rows)?,
            Operation::Sweep => self.sweep()?,
        }
        Ok("done")
    }

    fn append(&mut self, path: &str, rows: u64, number: u64) -> zarrox::Result<()> {
        let array = self.array(path)?;
        let shape: Vec<u64> = std::iter::once(rows).chain(array.shape()[1..].iter().copied()).collect();
        let start = vec![0; shape.len()];
        array.append(elements(number, &start, &shape, &shape), 0).map(drop)
    }

    fn set_attribute(&self, path: &str, name: &str, number: u64) -> zarrox::Result<()> {
        let mut node = self.root()?.open(path)?;
        node.update_attributes(|attributes| drop(attributes.insert(name.to_owned(), number.into())))
    }

    fn create(&self, path: &str) -> zarrox::Result<&'static str> {
        match self.root()?.create_group(path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok("taken"),
            created => created.map(|_| "done"),
        }
    }

    fn put(&self, path: &str, number: u64) -> zarrox::Result<()> {
        fill(&self.to_fill(path, number)?.overwrite(true).create()?, number)
    }

    fn import(&self, path: &str, number: u64) -> zarrox::Result<()> {
        let source = format!("operation {number}");
        let created = self.to_fill(path, number)?.create_with(&source, |array| fill(array, number));
        self.existing_is_done(created.map(drop))
    }

    /// Returns an array that operations create and fill.
    fn to_fill(&self, path: &str, number: u64) -> zarrox::Result<ArrayBuilder> {
        let attributes = [(world::NUMBER, number)];
        let array = world::of_numbers(self.root()?.create_array(path)).attributes(attributes);
        Ok(array.shape([world::PUT_LENGTH]).chunks([world::PUT_CHUNK]))
    }

    /// Moves a node. A node that an interrupted command has moved already is a success.
    fn move_node(&self, from: &str, to: &str) -> zarrox::Result<()> {
        let root = self.root()?;
        match root.move_node(from, to) {
            Err(error) if self.again && error.kind() == ErrorKind::NotFound && root.contains(to)? => Ok(()),
            moved => moved,
        }
    }

    /// Converts the error of a missing node to a success: an interrupted deletion may have finished.
    fn missing_is_done(&self, deleted: zarrox::Result<()>) -> zarrox::Result<()> {
        match deleted {
            Err(error) if self.again && error.kind() == ErrorKind::NotFound => Ok(()),
            deleted => deleted,
        }
    }

    /// Converts the error of an existing node to a success: the command may have finished before its process was killed.
    fn existing_is_done(&self, created: zarrox::Result<()>) -> zarrox::Result<()> {
        match created {
            Err(error) if self.again && error.kind() == ErrorKind::AlreadyExists => Ok(()),
            created => created,
        }
    }

    fn rechunk(&self, path: &str, chunks: &[u64]) -> zarrox::Result<()> {
        let root = self.root()?;
        let source = world::source(&root)?;
        let target = world::of_numbers(root.create_array(path)).shape(source.shape()).chunks(chunks);
        let target = target.overwrite(true).create()?;
        Rechunk::new().run(&source, &target)?;
        if target.read::<ArrayD<u64>>(..)? == world::original() {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Corrupt, "the rechunked array has other elements than its source"))
    }

    fn reshape(
        &self,
        path: &str,
        chunks: &[u64],
        shards: Option<&Vec<u64>>,
        compressed: bool,
    ) -> zarrox::Result<()> {
        // Several threads use stores with distinct names concurrently.
        static NAMES: AtomicU64 = AtomicU64::new(0);
        let copier = Copier::new().chunks(chunks);
        let copier = if compressed { copier.compressor(Gzip::level(1)) } else { copier.no_compressor() };
        let copier = match shards {
            Some(shards) => copier.shards(shards.as_slice()),
            None => copier.no_shards(),
        };
        let name = NAMES.fetch_add(1, Ordering::Relaxed).to_string();
        let named = NamedStore::new(name, self.at.store.clone());
        copier.run_in_place(named.url(&self.at.below(path))).map(drop)
    }

    fn convert(&self, to: &Place, format: &str) -> zarrox::Result<()> {
        let to = opened(to)?;
        let convert = Copier::new().format(format.parse()?);
        let (from, source) = (self.at.store.clone(), self.source_path());
        let planned = convert.plan((from, &source), (to.store.clone(), &to.path))?;
        self.existing_is_done(planned.run().map(drop))?;
        world::check_copy(&to.root()?)
    }

    fn copy(&self, to: &Place, format: &str, layout: &Layout) -> zarrox::Result<()> {
        let copier = Copier::new().format(format.parse()?);
        let copier = match layout {
            Layout::Pyramid => return self.downsample(to, format),
            Layout::Same | Layout::Hdf5 => copier,
            Layout::Chunks(chunks) => copier.chunks(chunks),
            Layout::Shards(shards) => copier.shards(shards),
        };
        let file;
        let (from, source): (Arc<dyn Store>, String) = match layout {
            Layout::Hdf5 => {
                file = self.exported(&to.scratch)?;
                (Arc::new(zarrox_files::open_file(&file)?), String::new())
            }
            _ => (self.at.store.clone(), self.source_path()),
        };
        let to = opened(to)?;
        let planned = copier.plan((from, &source), (to.store.clone(), &to.path))?;
        self.existing_is_done(planned.run().map(drop))?;
        world::check_copy(&to.root()?)
    }

    fn downsample(&self, to: &Place, format: &str) -> zarrox::Result<()> {
        let to = opened(to)?;
        let pyramid = Downsample::new().format(format.parse()?);
        let pyramid = pyramid.method(Reduction::Nearest).levels(world::LEVELS);
        let (from, source) = (self.at.store.clone(), self.source_path());
        let planned = pyramid.plan_into((from, &source), (to.store.clone(), &to.path));
        self.existing_is_done(planned.and_then(Pyramid::run).map(drop))?;
        world::check_copy(&to.root()?)
    }

    /// Returns the source as an HDF5 file. An interrupted import is continued only from a file with the same name.
    fn exported(&self, path: &Path) -> zarrox::Result<TempPath> {
        let failed = |error: std::io::Error| {
            Error::new(ErrorKind::Unreachable, format!("{}: {error}", path.display()))
        };
        let mut file = File::create(path).map_err(failed)?;
        let path = TempPath::try_from_path(path).map_err(failed)?;
        let source = self.root()?.open(world::SOURCE)?;
        zarrox_files::Export::new().write(&source, zarrox_files::Target::Hdf5, &mut file)?;
        Ok(path)
    }

    /// Returns the path of the source in the store.
    fn source_path(&self) -> String {
        self.at.below(world::SOURCE)
    }

    fn probe(&mut self, path: &str, rows: u64) -> zarrox::Result<()> {
        let array = self.array(path)?;
        let before = array.shape().to_vec();
        let mut shape = before.clone();
        shape[0] += rows;
        array.resize(&shape)?;
        let new = array.read::<ArrayD<u64>>(DimSelection::from(before[0]..shape[0]))?;
        if let Some(found) = new.iter().find(|&&found| found != 0) {
            let found = crate::element::describe(*found);
            let message =
                format!("the array '{path}' was grown from {before:?} to {shape:?}, and shows {found} there");
            return Err(Error::new(ErrorKind::Corrupt, message));
        }
        array.resize(&before)
    }

    /// Rewrites every chunk of every array, and an attribute of every node: so every directory is written to.
    fn sweep(&self) -> zarrox::Result<()> {
        let mut root = self.root()?;
        let mut nodes = Vec::new();
        root.visit(&mut |path, node| {
            nodes.push(match node {
                Ok(node) => node.clone(),
                Err(error) => return Err(error.clone().at(format!("'{path}'"))),
            });
            Ok(())
        })?;
        root.update_attributes(sweep_attribute)?;
        nodes.iter_mut().try_for_each(sweep_node)
    }
}

fn fill(array: &Array, number: u64) -> zarrox::Result<()> {
    array.write(.., elements(number, &[0], &[world::PUT_LENGTH], &[world::PUT_LENGTH]))
}

fn sweep_attribute(attributes: &mut zarrox::json::Map) {
    attributes.insert(world::SWEPT.to_owned(), true.into());
}

fn sweep_node(node: &mut Node) -> zarrox::Result<()> {
    node.update_attributes(sweep_attribute)?;
    let Node::Array(array) = node else { return Ok(()) };
    let values = array.read::<ArrayD<u64>>(..)?;
    if values.is_empty() { Ok(()) } else { array.write(.., &values) }
}

fn convert_in_place(at: &Place, format: &str) -> zarrox::Result<()> {
    let at = opened(at)?;
    let convert = Copier::new().format(format.parse()?);
    convert.plan_in_place((at.store.clone(), &at.path))?.run()?;
    world::check_copy(&at.root()?)
}

fn opened(place: &Place) -> zarrox::Result<Opened> {
    place.open().map_err(|message| Error::new(ErrorKind::Unreachable, message))
}
