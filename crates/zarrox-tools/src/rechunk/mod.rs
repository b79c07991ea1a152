//! Copying between arrays with different chunks, in bounded memory.

mod cells;

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use zarrox_core::data_type::Storage;
use zarrox_core::{Error, ErrorKind, Result};

pub use cells::{Cells, StoredCells, selection};
use zarrox::internals::{Boxes, Listener, Task, argument};
use zarrox::{AccessOptions, Array, Interrupt, OpenOptions, Place, Progress};

/// The minimum chunk size of the intermediate array in bytes. With smaller chunks, direct rechunking is faster.
const SMALLEST: u64 = 16 << 10;

/// The size in bytes up to which the box of a single thread combines several chunks, so that the box stays in the CPU cache
/// between reading and writing.
const CACHED: u64 = 1 << 20;

/// A copy of elements to an array with a different chunk grid.
///
/// Boxes of whole chunks of the target are read and written. If the boxes consist of whole chunks of the source, each thread
/// copies small boxes of its own. Otherwise all threads work on one box at a time; this box is as large as the memory allows if
/// that avoids repeated reads of source chunks. Badly aligned chunks, such as rows in the source and columns in the target, would
/// still be read many times: [`scratch`](Rechunk::scratch) sets a location for an uncompressed intermediate array, with which
/// every chunk is read once.
///
/// ```
/// use zarrox_tools::Rechunk;
/// use zarrox::{prelude::*, s};
/// # let directory = tempfile::tempdir()?;
/// # let (rows, columns) = (directory.path().join("rows.zarr"), directory.path().join("columns.zarr"));
/// # let scratch = directory.path().join("scratch.zarr");
/// let rows = zarrox::create_array(rows).shape([64, 64]).data_type(DataType::Int32).chunks([1, 64]).create()?;
/// rows.write(s![7, ..], 1)?;
/// let columns = zarrox::create_array(columns).shape([64, 64]).data_type(DataType::Int32).chunks([64, 1]).create()?;
///
/// Rechunk::new().memory(64 << 20).scratch(scratch).run(&rows, &columns)?;
/// assert_eq!(columns.read::<Vec<i32>>(s![6..9, 0])?, [0, 1, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Rechunk {
    memory: usize,
    scratch: Option<Place>,
    interrupt: Option<Interrupt>,
    listener: Option<Listener>,
}

impl fmt::Debug for Rechunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rechunk")
            .field("memory", &self.memory)
            .field("scratch", &self.scratch)
            .finish_non_exhaustive()
    }
}

/// Equal boxes into which the elements to copy are divided, numbered in row-major order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RechunkBoxes {
    /// The shape of a box that is not truncated at the edge of the array.
    pub lengths: Vec<u64>,
    /// The number of boxes.
    pub count: usize,
}

/// The division of a [`Rechunk`] into boxes, each of which can be copied by another process.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RechunkPlan {
    /// The chunk shape of an intermediate array, and the boxes in which the source is copied to it; `None` if no intermediate
    /// array is used. The intermediate array must be complete before the second copy starts.
    pub between: Option<(Vec<u64>, RechunkBoxes)>,
    /// The boxes in which the target is written.
    pub boxes: RechunkBoxes,
}

impl Default for Rechunk {
    fn default() -> Self {
        Self { memory: 1 << 30, scratch: None, interrupt: None, listener: None }
    }
}

impl Rechunk {
    /// Creates a copy with 1 GiB of memory and without an intermediate array.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the memory limit in bytes, for the box in progress and for the chunks that are decoded and encoded. At least one
    /// chunk of the target and one of the source are held in memory. Since the size of variable-length elements is not known in
    /// advance, they are copied one chunk of the target at a time.
    #[must_use]
    pub fn memory(self, bytes: usize) -> Self {
        Self { memory: bytes, ..self }
    }

    /// Sets an unused location for an intermediate array. If chunks of the source would be read more than twice on average, an
    /// uncompressed array with all elements is created at this location, and deleted at the end.
    #[must_use]
    pub fn scratch(self, place: impl Into<Place>) -> Self {
        Self { scratch: Some(place.into()), ..self }
    }

    /// Sets the interrupt that cancels the copy.
    #[must_use]
    pub fn interrupt(self, interrupt: &Interrupt) -> Self {
        Self { interrupt: Some(interrupt.clone()), ..self }
    }

    /// Sets a listener that is called with the progress, from any thread. Elements that are copied through an intermediate array
    /// count twice. An error of the listener stops the operation.
    #[must_use]
    pub fn on_progress(self, listener: impl Fn(Progress) -> Result<()> + Send + Sync + 'static) -> Self {
        Self { listener: Some(Arc::new(listener)), ..self }
    }

    /// Writes all elements of the source to the target.
    ///
    /// # Errors
    /// If the arrays differ in shape ([`ErrorKind::InvalidArgument`]) or data type ([`ErrorKind::DataTypeMismatch`]),
    /// [`ErrorKind::AlreadyExists`] if the location of the intermediate array is in use, and the errors of reading and
    /// writing. Chunks that were written before an error are kept, and are written again by the next run.
    pub fn run(&self, source: &Array, target: &Array) -> Result<()> {
        check(source, target)?;
        match &self.interrupt {
            Some(interrupt) => {
                let options = AccessOptions::new().interrupt(interrupt);
                self.run_checked(&source.with_options(&options), &target.with_options(&options))
            }
            None => self.run_checked(source, target),
        }
    }

    fn run_checked(&self, source: &Array, target: &Array) -> Result<()> {
        if source.shape().contains(&0) {
            return Ok(());
        }
        if let Some(boxes) = self.separate_boxes(source, target) {
            return self.copy_at_once(source, target, &boxes, 0..boxes.count(), &self.work(source, 1));
        }
        let boxes = self.boxes(source, target);
        let Some((scratch, chunks)) = self.scratch.as_ref().zip(self.between(source, target)) else {
            return self.copy(source, target, &boxes, 0..boxes.count(), &self.work(source, 1));
        };
        let before = self.boxes(target, source);
        let between = between(source, scratch, &chunks)?;
        let work = self.work(source, 2);
        let copied = self.copy(source, &between, &before, 0..before.count(), &work);
        let copied = copied.and_then(|()| self.copy(&between, target, &boxes, 0..boxes.count(), &work));
        let deleted = OpenOptions::new().delete(scratch);
        copied.and(deleted)
    }

    /// Divides the copy into boxes that several processes can copy. Each process needs the [`memory`](Self::memory). The plan has
    /// an intermediate array, which the caller must create, if [`scratch`](Self::scratch) is set and the array saves reads.
    ///
    /// # Errors
    /// If the arrays differ in shape ([`ErrorKind::InvalidArgument`]) or data type ([`ErrorKind::DataTypeMismatch`]).
    pub fn plan(&self, source: &Array, target: &Array) -> Result<RechunkPlan> {
        check(source, target)?;
        let public = |boxes: &Boxes| RechunkBoxes { lengths: boxes.lengths().to_vec(), count: boxes.count() };
        if source.shape().contains(&0) {
            let none = RechunkBoxes { lengths: target.unit_shape(), count: 0 };
            return Ok(RechunkPlan { between: None, boxes: none });
        }
        let boxes = self.boxes(source, target);
        let chunks = self.scratch.as_ref().and_then(|_| self.between(source, target));
        let between = chunks.map(|chunks| (chunks, public(&self.boxes(target, source))));
        Ok(RechunkPlan { between, boxes: public(&boxes) })
    }

    /// Copies some boxes of a [`plan`](Self::plan). `lengths` is the shape of the boxes.
    ///
    /// # Errors
    /// The errors of [`run`](Self::run), and [`ErrorKind::InvalidArgument`] if the boxes are out of bounds.
    pub fn copy_boxes(
        &self,
        source: &Array,
        target: &Array,
        lengths: &[u64],
        part: Range<usize>,
    ) -> Result<()> {
        check(source, target)?;
        if lengths.len() != source.shape().len() || lengths.contains(&0) {
            return Err(argument(format!(
                "{lengths:?} is not a valid box shape for an array of shape {:?}",
                source.shape()
            )));
        }
        let boxes = Boxes::of(source.shape(), lengths, source.data_type().size() as u64);
        if part.end > boxes.count() {
            return Err(argument(format!("the plan has {} boxes, and not {}", boxes.count(), part.end)));
        }
        let work = Task::new(self.memory, self.listener.clone());
        work.expect(part.clone().map(|index| bytes_of(source, &boxes, index)).fold(0, u64::saturating_add));
        if boxes.bytes() <= CACHED && target.data_type().storage() != Storage::Variable {
            return self.copy_at_once(source, target, &boxes, part, &work);
        }
        self.copy(source, target, &boxes, part, &work)
    }

    /// Returns the chunk shape of an intermediate array if chunks of the source would be read many times without it.
    pub(crate) fn between(&self, source: &Array, target: &Array) -> Option<Vec<u64>> {
        let boxes = self.boxes(source, target);
        let reads_often = boxes.times_read(&source.unit_shape()) > 2.0;
        let common = self.boxes(target, source).common(&boxes);
        (reads_often && common.bytes() >= SMALLEST).then(|| common.lengths().to_vec())
    }

    /// Returns boxes of whole chunks of one array. They are as large as the memory allows, and overlap as few chunks of the other
    /// array as possible.
    fn boxes(&self, other: &Array, own: &Array) -> Boxes {
        let room = if own.data_type().storage() == Storage::Variable { 0 } else { self.room(other, own) };
        boxes(other, own, room as u64)
    }

    /// Returns the maximum size of a box in bytes: the memory limit less the chunks that threads decode or encode, but at least
    /// half of the limit.
    fn room(&self, source: &Array, target: &Array) -> usize {
        let beside = beside(source, target).saturating_mul(target.pool().threads());
        self.memory.saturating_sub(beside).max(self.memory / 2)
    }

    /// Returns boxes that share no chunks of the source, if there is enough memory for one box per thread.
    fn separate_boxes(&self, source: &Array, target: &Array) -> Option<Boxes> {
        if source.is_remote() || target.is_remote() || target.data_type().storage() == Storage::Variable {
            return None;
        }
        let boxes = boxes(source, target, CACHED);
        let taken = usize::try_from(boxes.bytes()).ok()?.saturating_add(beside(source, target));
        let fits = taken.saturating_mul(target.pool().threads()) <= self.memory;
        let once = boxes.times_read(&source.unit_shape()) <= 1.0;
        (fits && once && boxes.count() >= target.pool().threads()).then_some(boxes)
    }

    /// Returns the progress of copying all elements `times` times.
    fn work(&self, source: &Array, times: u64) -> Task {
        let work = Task::new(self.memory, self.listener.clone());
        let item = source.data_type().size() as u64;
        let bytes = source.shape().iter().fold(item, |bytes, &length| bytes.saturating_mul(length));
        work.expect(bytes.saturating_mul(times));
        work
    }

    /// Copies box by box.
    fn copy(
        &self,
        source: &Array,
        target: &Array,
        boxes: &Boxes,
        mut part: Range<usize>,
        work: &Task,
    ) -> Result<()> {
        let beside = self.memory.saturating_sub(usize::try_from(boxes.bytes()).unwrap_or(usize::MAX));
        let options = AccessOptions::new().memory(beside);
        let (source, target) = (source.with_options(&options), target.with_options(&options));
        let mut values = None;
        part.try_for_each(|index| {
            source.copy_to(&target, boxes.get(index), &mut values)?;
            work.advance(bytes_of(&source, boxes, index))
        })
    }

    /// Copies boxes in parallel, each on one thread, reusing buffers.
    fn copy_at_once(
        &self,
        source: &Array,
        target: &Array,
        boxes: &Boxes,
        part: Range<usize>,
        work: &Task,
    ) -> Result<()> {
        let (alone, target_alone) = (source.on_one_thread(), target.on_one_thread());
        let bytes = usize::try_from(boxes.bytes()).unwrap_or(usize::MAX);
        let unused = Mutex::new(Vec::new());
        target.pool().run(part.len(), bytes, usize::MAX, |index| {
            let mut values = lock(&unused).pop();
            let copied = alone.copy_to(&target_alone, boxes.get(part.start + index), &mut values);
            lock(&unused).extend(values);
            copied?;
            work.advance(bytes_of(&alone, boxes, part.start + index))
        })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns boxes of whole chunks of one array with at most `room` bytes.
fn boxes(other: &Array, own: &Array, room: u64) -> Boxes {
    let item = own.data_type().size() as u64;
    Boxes::new(own.shape(), &other.unit_shape(), own.chunk_grid().largest_chunk(), item, room)
}

/// Returns the size of the elements of a box, in bytes.
fn bytes_of(array: &Array, boxes: &Boxes, index: usize) -> u64 {
    let region = Cells::new(array.shape(), boxes.lengths().to_vec()).region(index as u128);
    let item = array.data_type().size() as u64;
    region.iter().fold(item, |bytes, (begin, end)| bytes.saturating_mul(end - begin))
}

/// Returns the number of bytes that a thread decodes or encodes at once.
fn beside(source: &Array, target: &Array) -> usize {
    source.decoded_bytes().max(target.chunk_bytes().saturating_mul(2))
}

fn check(source: &Array, target: &Array) -> Result<()> {
    if source.shape() != target.shape() {
        let message = format!(
            "an array of shape {:?} cannot hold elements of shape {:?}",
            target.shape(),
            source.shape()
        );
        return Err(argument(message));
    }
    if source.data_type() != target.data_type() {
        let message = format!(
            "the elements of the source are {}, but those of the target are {}",
            source.data_type(),
            target.data_type()
        );
        return Err(Error::new(ErrorKind::DataTypeMismatch, message));
    }
    Ok(())
}

/// Creates the intermediate array.
fn between(source: &Array, place: &Place, chunks: &[u64]) -> Result<Array> {
    let array =
        source.open_options().create_array(place).shape(source.shape()).data_type(source.data_type().clone());
    array.chunks(chunks).no_compressor().create()
}
