//! [`Appending`]: appends files to a hierarchy along a dimension.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use zarrox::json::{Json, json};
use zarrox::stores::{Condition, Key, Payload, Store};
use zarrox::{Array, DimSelection, Error, ErrorKind, NodePath, OpenOptions, Place, Result};

use super::joined::Joined;
use super::plan::{Plan, Planned, Request, plan};
use super::sources::{Sources, expanded};
use crate::chunks::each_position;
use crate::input::{corrupt, unsupported};
use crate::reading::Reading;
use crate::store::LeftOut;

/// The name of the journal that an unfinished append leaves next to the metadata documents of the group.
const JOURNAL: &str = ".zarrox-append.json";

/// The number of chunks that are distributed to threads at a time.
const BATCH: usize = 256;

/// A hierarchy to which files are appended.
#[derive(Clone, Copy)]
pub(crate) struct Target<'a> {
    pub(crate) place: &'a Place,
    pub(crate) options: &'a OpenOptions,
}

/// A planned append of files to a hierarchy.
pub(crate) struct Appending {
    plan: Plan,
    options: OpenOptions,
    store: Arc<dyn Store>,
    root: NodePath,
    journal: Journal,
    /// True if an interrupted run left its journal.
    is_resumed: bool,
}

/// The journal that allows an append to continue after an interruption.
#[derive(Debug, PartialEq)]
struct Journal {
    dimension: String,
    files: Vec<String>,
    /// The length of each array along the dimension before the append.
    lengths: BTreeMap<String, u64>,
}

impl Journal {
    fn to_json(&self) -> Json {
        let lengths = self.lengths.iter().map(|(path, length)| (path.clone(), Json::from(*length)));
        let lengths = Json::Object(lengths.collect());
        json!({"dimension": self.dimension.as_str(), "files": self.files.clone(), "lengths": lengths})
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let json = zarrox::json::parse_object(bytes).ok()?;
        let files = json.get("files")?.as_array()?.iter();
        let Json::Object(lengths) = json.get("lengths")? else { return None };
        let length = |(path, length): (&String, &Json)| Some((path.clone(), length.as_u64()?));
        Some(Self {
            dimension: json.get("dimension")?.as_str()?.to_owned(),
            files: files.map(|name| name.as_str().map(str::to_owned)).collect::<Option<_>>()?,
            lengths: lengths.iter().map(length).collect::<Option<_>>()?,
        })
    }
}

impl Appending {
    /// Plans an append of files to a hierarchy.
    pub(crate) fn plan(
        files: &[PathBuf],
        target: Target<'_>,
        request: &Request<'_>,
        reading: &Reading,
    ) -> Result<Self> {
        let files = expanded(files)?;
        let (store, root) = target.options.store(target.place)?;
        let names: Vec<String> = files
            .iter()
            .map(|path| path.file_name().unwrap_or_default().to_string_lossy().into_owned())
            .collect();
        let key = journal_key(&root)?;
        let found = store.get(&key)?;
        let found = match &found {
            Some(bytes) => {
                let journal = Journal::parse(bytes);
                Some(journal.ok_or_else(|| corrupt(format!("'{key}' of the destination is damaged")))?)
            }
            None => None,
        };
        if let Some(found) =
            found.as_ref().filter(|found| found.dimension != request.dimension || found.files != names)
        {
            let message = format!(
                "an append of {} along '{}' was interrupted; run it again before another one",
                found.files.join(", "),
                found.dimension
            );
            return Err(Error::new(ErrorKind::AlreadyExists, message));
        }
        let is_resumed = found.is_some();
        let old = found.as_ref().map(|found| found.lengths.clone()).unwrap_or_default();
        let first_length = |path: &str| old.get(path).copied();
        let request = Request { first_length: &first_length, appends: true, ..*request };
        let sources = Sources::new(&files, Some((target.place, target.options)), reading);
        let plan = plan(sources, &request)?;
        let lengths = plan.joined().map(|joined| (joined.path.clone(), joined.first_length())).collect();
        let journal = Journal { dimension: request.dimension.to_owned(), files: names, lengths };
        Ok(Self { plan, options: target.options.clone(), store, root, journal, is_resumed })
    }

    /// Returns the differences between the files that are lost in the result.
    pub(crate) fn notes(&self) -> &[String] {
        &self.plan.notes
    }

    /// Returns the parts of the files that are left out.
    pub(crate) fn left_out(&self) -> &[LeftOut] {
        &self.plan.left_out
    }

    /// Appends the files. The elements of an array are written before its new shape. After an interruption, the same call
    /// continues.
    pub(crate) fn run(self) -> Result<Vec<(String, u64, u64)>> {
        let key = journal_key(&self.root)?;
        let mut appended = Vec::new();
        if self.plan.is_new {
            let message =
                format!("the destination has no dimension '{}' to append along", self.journal.dimension);
            return Err(unsupported(message));
        }
        if !self.is_resumed {
            let bytes = self.journal.to_json().to_string().into_bytes();
            self.store.put(&key, Payload::from(bytes.as_slice()), Condition::Always)?;
        }
        for joined in self.plan.joined() {
            let path = self.root.join(&joined.path)?.to_string();
            let node = self.options.open((Arc::clone(&self.store), path.trim_start_matches('/')))?;
            let mut array = node.into_array()?;
            let (before, after) = (joined.first_length(), joined.length());
            let length = array.shape().get(joined.axis).copied().unwrap_or(0);
            if length != before && !(length == after && self.is_resumed) {
                return Err(changed(&path));
            }
            if length == before && after > before {
                let mut values = joined.shape.clone();
                if let Some(along) = values.get_mut(joined.axis) {
                    *along = after - before;
                }
                array.append_with(&values, joined.axis, |grown, _| match grown.shape().get(joined.axis) {
                    Some(&length) if length == after => write(joined, grown, before),
                    _ => Err(changed(&path)),
                })?;
            }
            appended.push((joined.path.clone(), before, after));
        }
        self.store.erase_if(&key, Condition::Always)?;
        self.store.flush()?;
        Ok(appended)
    }
}

impl Plan {
    /// Returns the joined arrays. Coordinates of the dimension come last, so that once a coordinate has its new length,
    /// all other arrays are complete.
    fn joined(&self) -> impl Iterator<Item = &Joined> {
        let is_coordinate =
            |path: &str| path.rsplit_once('/').map_or(path, |(_, name)| name) == self.dimension;
        let of = move |wanted: bool| {
            self.arrays.iter().filter(move |(path, _)| is_coordinate(path) == wanted).filter_map(
                |(_, planned)| match planned {
                    Planned::Joined(joined) => Some(&**joined),
                    Planned::Same(..) => None,
                },
            )
        };
        of(false).chain(of(true))
    }
}

impl Joined {
    /// Returns the length of the first piece along the dimension.
    fn first_length(&self) -> u64 {
        self.pieces.first().map_or(0, |first| first.length)
    }

    /// Returns the total length of the array along the dimension.
    fn length(&self) -> u64 {
        self.shape.get(self.axis).copied().unwrap_or(0)
    }
}

fn changed(path: &str) -> Error {
    Error::new(ErrorKind::Corrupt, format!("'{path}' of the destination has changed meanwhile"))
}

fn journal_key(root: &NodePath) -> Result<Key> {
    let path = root.to_string();
    let path = path.trim_matches('/');
    Ok(Key::new(if path.is_empty() { JOURNAL.to_owned() } else { format!("{path}/{JOURNAL}") })?)
}

/// Writes the elements of a joined array, starting at position `before`. Each chunk is written by a single thread.
fn write(joined: &Joined, grown: &Array, before: u64) -> Result<()> {
    let (axis, lengths) = (joined.axis, &joined.chunk_shape);
    let Some(&along) = lengths.get(axis) else { return Ok(()) };
    let first = before / along.max(1);
    let mut counts = joined.grid.clone();
    if let Some(count) = counts.get_mut(axis) {
        *count = count.saturating_sub(first);
    }
    let (mut batch, mut result) = (Vec::with_capacity(BATCH), Ok(()));
    let flush = |batch: &mut Vec<Vec<u64>>| {
        let done = batch.par_iter().try_for_each(|chunk| write_chunk(joined, grown, before, chunk));
        batch.clear();
        done
    };
    let _ = each_position(&counts, &mut |at| {
        let mut chunk = at.to_vec();
        if let Some(index) = chunk.get_mut(axis) {
            *index += first;
        }
        batch.push(chunk);
        if batch.len() == BATCH {
            result = flush(&mut batch);
        }
        if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    result?;
    flush(&mut batch)
}

fn write_chunk(joined: &Joined, grown: &Array, before: u64, chunk: &[u64]) -> Result<()> {
    if !joined.is_stored(chunk) {
        return Ok(());
    }
    let mut region = joined.region_of(chunk);
    let Some(along) = region.get_mut(joined.axis) else { return Ok(()) };
    if along.0 >= before
        && let Some(encoded) = joined.encoded(chunk)?
    {
        return encoded.map_or(Ok(()), |encoded| grown.raw().write(chunk, &encoded));
    }
    along.0 = along.0.max(before);
    let shape: Vec<u64> = region.iter().map(|(begin, end)| end - begin).collect();
    let values = joined.read(&region, &shape)?;
    let selection: Vec<DimSelection> =
        region.iter().map(|&(begin, end)| DimSelection::from(begin..end)).collect();
    grown.write(selection, &values)
}
