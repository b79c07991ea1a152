//! The transfer of the chunks of one array: chunks are copied as bytes, or decoded and encoded, and are compared afterwards.
//!
//! The array is divided into units: boxes of whole chunks of the destination. Each thread reads a unit from the source and writes
//! it to the destination, so that memory holds one unit for each thread. If the chunks of the two sides are badly aligned, units
//! are as large as the memory allows, so that chunks are rarely read more than once, and all threads work on one unit at a time.

use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};

use zarrox_core::data_type::Storage;
use zarrox_core::{DimSelection, Error, ErrorKind, Result};

use super::report::{Action, Skipped};
use super::reshard::{self, Encoded};
use super::rewrite::Rewrite;
use super::settings::Verify;
use super::settings::{Execution, Settings};
use crate::rechunk::{Cells, StoredCells, selection};
use zarrox::internals::Boxes;
use zarrox::internals::{Pool, too_many};
use zarrox::{Array, DynArray};

/// The size in bytes up to which several chunks are combined into one unit, so that for example the index of a shard is read once
/// for all of them.
const UNIT: u64 = 16 << 20;

/// The size in bytes from which elements are compared by hash.
const HASHED: usize = 32 << 20;

/// The average number of reads of a source chunk above which all threads share large units.
const MOST_TIMES: f64 = 1.25;

/// A listener that is called with the number of completed bytes of the source. An error stops the copy.
pub(super) type ByteListener<'a> = &'a (dyn Fn(u64) -> Result<()> + Send + Sync);

/// The transfer of the chunks of one array.
pub(super) struct Transfer<'a> {
    source: Array,
    destination: Array,
    rewrite: &'a Rewrite,
    execution: Execution,
    pool: Pool,
    listener: ByteListener<'a>,
    /// True if an interrupted run may have stored chunks already.
    resuming: bool,
    /// True if updated values are read again and compared.
    compares_updates: bool,
    units: Cells,
    /// True if all threads work on one unit at a time.
    together: bool,
    skipped: Mutex<Vec<Skipped>>,
}

/// The units with stored chunks, each with its stored size in the source.
type Units = Vec<(u128, u64)>;

impl<'a> Transfer<'a> {
    pub(super) fn new(
        settings: &'a Settings,
        source: &Array,
        destination: &Array,
        action: Action,
        resuming: bool,
        listener: ByteListener<'a>,
    ) -> Self {
        let (rewrite, execution) = (&settings.rewrite, settings.execution);
        let (lengths, together) = match action {
            // Shards are read and written one at a time.
            Action::Reshard if destination.shard_shape().is_none() => {
                (source.chunk_grid().largest_chunk().to_vec(), false)
            }
            Action::Reshard => (destination.chunk_grid().largest_chunk().to_vec(), false),
            _ => division(source, destination, rewrite, execution.memory),
        };
        let units = Cells::new(destination.shape(), lengths);
        let pool = pool(source, destination, execution.jobs);
        // The parts of a unit of one thread are not distributed to other threads.
        let alone = |array: &Array| if together { array.clone() } else { array.on_one_thread() };
        let (source, destination) = (alone(source), alone(destination));
        let skipped = Mutex::default();
        let compares_updates = settings.verify == Verify::Values;
        Self {
            source,
            destination,
            rewrite,
            execution,
            pool,
            listener,
            resuming,
            compares_updates,
            units,
            together,
            skipped,
        }
    }

    /// Sets the number of threads; `None` keeps the number of the settings.
    pub(super) fn with_jobs(self, jobs: Option<NonZeroUsize>) -> Self {
        match jobs {
            Some(jobs) => Self { pool: Pool::waiting(jobs), ..self },
            None => self,
        }
    }

    /// Returns the damaged parts of the source that were skipped.
    pub(super) fn skipped(self) -> Vec<Skipped> {
        self.skipped.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Copies the bytes of all stored chunks. Existing chunks from an interrupted run are kept.
    pub(super) fn copy(&self) -> Result<()> {
        self.each_stored(|chunk, size| {
            let there = self.resuming && self.destination.stored_size(chunk)? == Some(size);
            if !there {
                self.source.copy_encoded_chunk(chunk, &self.destination)?;
            }
            (self.listener)(size)
        })
    }

    /// Copies the bytes of the stored chunks that differ, and deletes chunks that do not exist in the source.
    pub(super) fn update_copies(&self) -> Result<()> {
        let mut surplus = Vec::new();
        let mut missing = Ok(());
        self.destination.visit_stored(&mut |chunk, _| {
            let Some(chunk) = chunk.filter(|_| missing.is_ok()) else { return };
            match self.source.stored_size(&chunk) {
                Ok(None) => surplus.push(chunk),
                Ok(Some(_)) => {}
                Err(error) => missing = Err(error),
            }
        })?;
        missing?;
        surplus.iter().try_for_each(|chunk| self.destination.raw().erase(chunk).map(drop))?;
        self.each_stored(|chunk, size| {
            let is_same = self.destination.stored_size(chunk)? == Some(size)
                && self.source.raw().read(chunk)? == self.destination.raw().read(chunk)?;
            if !is_same {
                self.source.copy_encoded_chunk(chunk, &self.destination)?;
            }
            (self.listener)(size)
        })
    }

    /// Encodes the units whose elements differ.
    pub(super) fn update_values(&self, all: bool) -> Result<()> {
        self.each_unit(all, true, |region, size| {
            let selection = selection(region);
            let found = Side::of(self.destination.read(selection.clone())?);
            let expected = self.expected(selection.clone())?;
            if !found.is(&expected) {
                self.destination.write(selection.clone(), &expected)?;
                if self.compares_updates && !Side::of(expected).is(&self.destination.read(selection)?) {
                    return Err(self.differs(&format!("values in {region:?}")));
                }
            }
            (self.listener)(size)
        })
    }

    /// Compares the bytes of all chunks that are stored on either side.
    pub(super) fn compare_copies(&self) -> Result<()> {
        let mut surplus = None;
        let source = &self.source;
        let mut missing = Ok(());
        self.destination.visit_stored(&mut |chunk, _| {
            let Some(chunk) = chunk.filter(|_| missing.is_ok()) else { return };
            match source.stored_size(&chunk) {
                Ok(None) => surplus = Some(chunk),
                Ok(Some(_)) => {}
                Err(error) => missing = Err(error),
            }
        })?;
        missing?;
        if let Some(chunk) = surplus {
            return Err(self.differs(&format!("chunk {chunk:?}, which the source does not have")));
        }
        self.each_stored(|chunk, size| {
            if self.source.raw().read(chunk)? != self.destination.raw().read(chunk)? {
                return Err(self.differs(&format!("the bytes of chunk {chunk:?}")));
            }
            (self.listener)(size)
        })
    }

    /// Copies encoded chunks into different shards, or out of shards.
    pub(super) fn reshard(&self) -> Result<()> {
        self.each_unit(false, false, |region, size| {
            let into = self.destination.shard_shape().is_some();
            let objects = if into { &self.destination } else { &self.source };
            let lengths = objects.chunk_grid().largest_chunk();
            let object: Vec<u64> = region.iter().zip(lengths).map(|((begin, _), n)| begin / n).collect();
            if into {
                if !self.resuming || self.destination.stored_size(&object)?.is_none() {
                    reshard::write_shard(&mut Encoded::new(&self.source), &self.destination, &object)?;
                }
            } else {
                let mut encoded = Encoded::new(&self.source);
                for chunk in encoded.chunks_of_object(&object) {
                    if let Some(bytes) = encoded.get(&chunk)? {
                        self.destination.raw().write(&chunk, &bytes)?;
                    }
                }
            }
            (self.listener)(size)
        })
    }

    /// Decodes and encodes all stored chunks. Existing chunks from an interrupted run are kept. With `all`, missing chunks are
    /// written as well.
    pub(super) fn reencode(&self, all: bool) -> Result<()> {
        self.each_unit(all, false, |region, size| {
            if !self.resuming || !self.destination.stores_all_of(region)? {
                match self.encode(region) {
                    Err(error) if self.execution.skip_damaged && error.kind() == ErrorKind::Corrupt => {
                        self.encode_undamaged(region)?;
                    }
                    done => done?,
                }
            }
            (self.listener)(size)
        })
    }

    fn encode(&self, region: &[(u64, u64)]) -> Result<()> {
        let selection = selection(region);
        self.destination.write(selection.clone(), &self.expected(selection)?)
    }

    /// Encodes the chunks of a unit one by one, except those that overlap damaged chunks of the source.
    fn encode_undamaged(&self, region: &[(u64, u64)]) -> Result<()> {
        let shape: Vec<u64> = region.iter().map(|(begin, end)| end - begin).collect();
        let chunks = Cells::new(&shape, self.destination.chunk_grid().largest_chunk().to_vec());
        for number in 0..chunks.count().unwrap_or(0) {
            let inside = chunks.region(number);
            let chunk: Vec<_> = inside
                .iter()
                .zip(region)
                .map(|((begin, end), (first, _))| (first + begin, first + end))
                .collect();
            match self.encode(&chunk) {
                Err(error) if error.kind() == ErrorKind::Corrupt => {
                    let path = self.source.path().to_string();
                    let skipped = Skipped { path, region: chunk, reason: error.to_string() };
                    self.skipped.lock().unwrap_or_else(PoisonError::into_inner).push(skipped);
                }
                done => done?,
            }
        }
        Ok(())
    }

    /// Compares all values of chunks that are stored on either side, bit by bit.
    pub(super) fn compare_values(&self, all: bool) -> Result<()> {
        self.each_unit(all, true, |region, size| {
            let selection = selection(region);
            let expected = Side::of(self.expected(selection.clone())?);
            if !expected.is(&self.destination.read::<DynArray>(selection)?) {
                return Err(self.differs(&format!("values in {region:?}")));
            }
            (self.listener)(size)
        })
    }

    /// Returns the expected values of the destination for a selection.
    fn expected(&self, selection: Vec<DimSelection>) -> Result<DynArray> {
        let values = match &self.rewrite.part {
            Some(part) => self.source.slice(part.clone()).slice(selection).read::<DynArray>()?,
            None => self.source.read::<DynArray>(selection)?,
        };
        let values = self.rewrite.cast(values, &self.source)?;
        let as_it_is = values.data_type() == self.destination.data_type();
        if as_it_is { Ok(values) } else { values.packed() }
    }

    fn differs(&self, what: &str) -> Error {
        let message = format!(
            "array '{}' of the destination differs from the source in {what}; the source may have changed \
              meanwhile: repeat the copy and replace the destination",
            self.destination.path()
        );
        Error::new(ErrorKind::Corrupt, message)
    }

    /// Runs `work` for every stored chunk of the source. The chunks are listed in batches, so that the list takes little memory.
    fn each_stored(&self, work: impl Fn(&[u64], u64) -> Result<()> + Send + Sync) -> Result<()> {
        const BATCH: usize = 1024;
        let mut batch = Vec::with_capacity(BATCH);
        let mut result = Ok(());
        let bytes = self.source.chunk_bytes();
        let flush = |batch: &mut Vec<(Vec<u64>, u64)>| {
            let largest = batch.iter().map(|(_, size)| *size).max().unwrap_or(0);
            let at_once = self.at_once(usize::try_from(largest).unwrap_or(usize::MAX));
            let done =
                self.pool.run(batch.len(), bytes, at_once, |index| work(&batch[index].0, batch[index].1));
            batch.clear();
            done
        };
        self.source.visit_stored(&mut |chunk, size| {
            let Some(chunk) = chunk.filter(|_| result.is_ok()) else { return };
            batch.push((chunk, size));
            if batch.len() == BATCH {
                result = flush(&mut batch);
            }
        })?;
        result?;
        flush(&mut batch)
    }

    /// Runs `work` for every unit with stored chunks in the source or, if requested, in the destination.
    fn each_unit(
        &self,
        all: bool,
        both: bool,
        work: impl Fn(&[(u64, u64)], u64) -> Result<()> + Send + Sync,
    ) -> Result<()> {
        if self.destination.shape().contains(&0) {
            return Ok(());
        }
        let count = self.units.count().ok_or_else(|| too_many("the chunks"))?;
        let mut units = StoredCells::new();
        if self.rewrite.part.is_none() {
            self.units.add_sizes(&self.source, &mut units)?;
        }
        if both {
            self.units.add_stored(&self.destination, &mut units, usize::MAX)?;
        }
        if all {
            let count = usize::try_from(count).map_err(|_| too_many("the chunks"))?;
            return self.each(count, |index| {
                let region = self.units.region(index as u128);
                let size = match self.rewrite.part {
                    Some(_) => self.bytes_of(&region),
                    None => units.get(&(index as u128)).copied().unwrap_or(0),
                };
                work(&region, size)
            });
        }
        let units: Units = units.into_iter().collect();
        self.each(units.len(), |index| work(&self.units.region(units[index].0), units[index].1))
    }

    /// Runs `work` for `count` units.
    fn each(&self, count: usize, work: impl Fn(usize) -> Result<()> + Send + Sync) -> Result<()> {
        if self.together {
            return (0..count).try_for_each(work);
        }
        let bytes = self.source.chunk_bytes().max(self.destination.chunk_bytes());
        let unit = usize::try_from(self.bytes_of(&self.units.region(0))).unwrap_or(usize::MAX);
        self.pool.run(count, bytes, self.at_once(unit.max(bytes).saturating_mul(2)), work)
    }

    /// Returns the number of units that fit into the memory at the same time.
    fn at_once(&self, bytes: usize) -> usize {
        (self.execution.memory / bytes.max(1)).max(1)
    }

    /// Returns the size in bytes, in the data type of the source, of the elements in a region of the destination.
    fn bytes_of(&self, region: &[(u64, u64)]) -> u64 {
        let item = self.source.data_type().size() as u64;
        region.iter().fold(item, |size, (begin, end)| size.saturating_mul(end - begin))
    }
}

/// One side of a comparison.
enum Side {
    Elements(DynArray),
    Hash(blake3::Hash),
}

impl Side {
    /// Returns a side with these elements. Of a large unit, only the hash is kept, so that memory does not hold the unit twice.
    fn of(elements: DynArray) -> Self {
        let is_large = elements.as_bytes().len() >= HASHED;
        if is_large && elements.data_type().storage() != Storage::Variable {
            return Self::Hash(blake3::hash(elements.as_bytes()));
        }
        Self::Elements(elements)
    }

    /// Returns true if the other side has the same elements.
    fn is(&self, other: &DynArray) -> bool {
        match self {
            Self::Elements(elements) => is_same(elements, other),
            Self::Hash(hash) => *hash == blake3::hash(other.as_bytes()),
        }
    }
}

/// Returns true if all elements, including NaN, are equal bit by bit.
fn is_same(a: &DynArray, b: &DynArray) -> bool {
    match a.data_type().storage() {
        Storage::Variable => a.elements().eq(b.elements()),
        _ => a.as_bytes() == b.as_bytes(),
    }
}

/// Returns the shape of the units, and whether all threads work on one unit at a time.
fn division(source: &Array, destination: &Array, rewrite: &Rewrite, memory: usize) -> (Vec<u64>, bool) {
    let own = destination.chunk_grid().largest_chunk();
    if rewrite.part.is_some() {
        return (own.to_vec(), false);
    }
    let unit = unit_shape(source, destination);
    let is_variable = source.data_type().storage() == Storage::Variable;
    if source.chunk_grid() == destination.chunk_grid() || source.shape().contains(&0) || is_variable {
        return (unit, false);
    }
    let item = source.data_type().size() as u64;
    let boxes = |room: u64| Boxes::new(source.shape(), &source.unit_shape(), own, item, room);
    let (threads, memory) = (destination.cores().threads() as u64, memory as u64);
    let (small, large) = (boxes(UNIT.min(memory / (2 * threads))), boxes(memory / 2));
    let times = |boxes: &Boxes| boxes.times_read(&source.unit_shape());
    if times(&small) <= MOST_TIMES || times(&large) >= times(&small) {
        return (small.lengths().to_vec(), false);
    }
    (large.lengths().to_vec(), true)
}

/// Returns the shape of the units, whether all threads work on one unit at a time, and the average number of reads of a chunk.
pub(super) fn planned_division(
    source: &Array,
    destination: &Array,
    rewrite: &Rewrite,
    memory: usize,
) -> (Vec<u64>, bool, f64) {
    let (lengths, together) = division(source, destination, rewrite, memory);
    if rewrite.part.is_some() || source.shape().contains(&0) {
        return (lengths, together, 1.0);
    }
    let times = Boxes::of_lengths(source.shape(), &lengths).times_read(&source.unit_shape());
    (lengths, together, times)
}

/// Returns the thread pool that copies chunks, with a number of threads that suits both stores.
pub fn pool(source: &Array, destination: &Array, jobs: Option<NonZeroUsize>) -> Pool {
    pool_of(source.pool(), destination.pool(), jobs)
}

/// Returns the larger of two thread pools, or one with this number of threads.
pub(super) fn pool_of(reading: &Pool, writing: &Pool, jobs: Option<NonZeroUsize>) -> Pool {
    if let Some(jobs) = jobs {
        return Pool::waiting(jobs);
    }
    if reading.threads() > writing.threads() { reading.clone() } else { writing.clone() }
}

/// Returns the shape of one chunk of the destination, or of several chunks that lie in one chunk of the source and whose total
/// size is at most [`UNIT`].
fn unit_shape(source: &Array, destination: &Array) -> Vec<u64> {
    let mut unit = destination.chunk_grid().largest_chunk().to_vec();
    let stored = source.chunk_grid().largest_chunk();
    let item = source.data_type().size() as u64;
    for dim in (0..unit.len()).rev() {
        let size = unit.iter().fold(item, |size, &n| size.saturating_mul(n)).max(1);
        let fitting = UNIT / size;
        let wanted = stored[dim].min(source.shape()[dim]) / unit[dim];
        unit[dim] *= wanted.min(fitting).max(1);
    }
    unit
}
