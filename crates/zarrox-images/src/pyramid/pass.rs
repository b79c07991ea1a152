//! A pass over an array, in which each part is downsampled to all levels while it is in memory.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use zarrox_core::internals::elements::reserved;
use zarrox_core::strided::{View, ViewMut};
use zarrox_core::{ErrorKind, Result};

use super::chain::{Chain, Odometer, Order};
use zarrox::Array;
use zarrox::internals::{Pool, Task, too_many};
use zarrox_tools::internals::{Cells, StoredCells, Whole, selection, whole};
use zarrox_tools::reduce::Reduction;

/// The maximum number of tasks that are recorded in memory as having stored chunks.
const MOST: usize = 1 << 18;

/// How the first level of a pass is created in the destination.
#[derive(Debug, Clone)]
pub(super) enum Base {
    /// The level already exists.
    Existing,
    /// The chunks of the level are copied without decoding.
    Copied(Array),
    /// The chunks of the level are decoded and encoded again.
    Encoded(Array),
}

/// A pass over an array.
pub(super) struct Pass<'a> {
    pub(super) chain: &'a Chain,
    pub(super) source: &'a Array,
    pub(super) base: &'a Base,
    /// The levels that are written.
    pub(super) targets: &'a [Array],
    pub(super) method: Reduction,
    pub(super) skip_nan: bool,
    /// True if an interrupted run may have already stored blocks.
    pub(super) resuming: bool,
    pub(super) pool: &'a Pool,
    pub(super) work: &'a Task,
}

impl Pass<'_> {
    /// Computes and stores all levels.
    pub(super) fn run(&self) -> Result<()> {
        if self.source.shape().contains(&0) {
            return Ok(());
        }
        let alone = |array: &Array| array.on_one_thread();
        let base = match self.base {
            Base::Existing => Base::Existing,
            Base::Copied(array) => Base::Copied(alone(array)),
            Base::Encoded(array) => Base::Encoded(alone(array)),
        };
        let fill = self.fill();
        let running = Running {
            pass: self,
            source: alone(self.source),
            base,
            targets: self.targets.iter().map(alone).collect(),
            stored: if fill.is_some() { self.stored_pieces()? } else { None },
            fill,
            incomplete: Mutex::default(),
        };
        let order = Mutex::new(Order::new(self.chain));
        let is_over = AtomicBool::new(false);
        let workers = self.chain.workers;
        self.pool.run(workers, usize::MAX, workers, |_| {
            let mut worker = Worker::new(&running)?;
            while !is_over.load(Ordering::Relaxed) {
                let Some(block) = lock(&order).next() else { break };
                worker.piece(&block).inspect_err(|_| is_over.store(true, Ordering::Relaxed))?;
            }
            Ok(())
        })
    }

    /// Returns the fill value; `None` unless a cell of fill values is reduced to the fill value, and all levels have the same
    /// fill value.
    fn fill(&self) -> Option<Vec<u8>> {
        let fill = self.source.fill_bytes();
        let is_kept = self.method.keeps_equal(fill.as_bytes(), self.source.data_type());
        let is_same = |target: &Array| target.fill_bytes().as_bytes() == fill.as_bytes();
        let base = match self.base {
            Base::Copied(array) | Base::Encoded(array) => is_same(array),
            Base::Existing => true,
        };
        (is_kept && base && self.targets.iter().all(is_same)).then(|| fill.as_bytes().to_vec())
    }

    /// Returns the tasks whose regions contain stored chunks; `None` if there are too many of them.
    fn stored_pieces(&self) -> Result<Option<(Cells, StoredCells)>> {
        let cells = Cells::new(self.source.shape(), self.chain.source_lengths(self.chain.split));
        let mut stored = StoredCells::new();
        match cells.add_stored(self.source, &mut stored, MOST) {
            Ok(()) => Ok(Some((cells, stored))),
            Err(error) if matches!(error.kind(), ErrorKind::LimitExceeded | ErrorKind::Unsupported) => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

/// The incomplete blocks, by level and index.
type AllIncomplete = HashMap<(usize, Vec<u64>), Arc<Mutex<Incomplete>>>;

/// The state that is shared by all threads of a pass.
struct Running<'a> {
    pass: &'a Pass<'a>,
    source: Array,
    base: Base,
    targets: Vec<Array>,
    /// The value of all elements of a task without stored chunks; `None` if such tasks are computed like all others.
    fill: Option<Vec<u8>>,
    stored: Option<(Cells, StoredCells)>,
    incomplete: Mutex<AllIncomplete>,
}

/// A block that still lacks some of its parts.
struct Incomplete {
    values: Option<Vec<u8>>,
    missing: u128,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn lengths(region: &[(u64, u64)]) -> Result<Vec<usize>> {
    let length =
        |(begin, end): &(u64, u64)| usize::try_from(end - begin).map_err(|_| too_many("the elements"));
    region.iter().map(length).collect()
}

/// The state of a thread, with buffers that it reuses.
struct Worker<'a> {
    shared: &'a Running<'a>,
    reducer: Box<dyn Whole>,
    /// Unused buffers for the blocks of each level.
    spare: Vec<Vec<Vec<u8>>>,
}

impl<'a> Worker<'a> {
    fn new(shared: &'a Running<'a>) -> Result<Self> {
        let pass = shared.pass;
        let spare = pass.chain.shapes.iter().map(|_| Vec::new()).collect();
        let left_out = pass.skip_nan.then_some(&[][..]);
        let reducer = whole(pass.source.data_type(), pass.method, left_out)?;
        Ok(Self { shared, reducer, spare })
    }

    fn chain(&self) -> &'a Chain {
        self.shared.pass.chain
    }

    /// Computes a block of the level `split`, and submits it to the next levels.
    fn piece(&mut self, block: &[u64]) -> Result<()> {
        let level = self.chain().split;
        if let Some(fill) = self.shared.fill.as_ref().filter(|_| !self.is_stored(block)) {
            let shape = lengths(&self.chain().region(level, block))?;
            let mut values = self.memory(level, shape.iter().product())?;
            ViewMut::contiguous(&mut values, &shape, fill.len()).fill(fill);
            self.report(level, block)?;
            return self.submit(level, block, values);
        }
        let values = self.make(level, block)?;
        self.submit(level, block, values)
    }

    fn is_stored(&self, block: &[u64]) -> bool {
        let Some((_, stored)) = &self.shared.stored else { return true };
        let grid = self.chain().grid(self.chain().split);
        let number = block.iter().zip(&grid).fold(0_u128, |number, (index, count)| {
            number.saturating_mul((*count).into()).saturating_add((*index).into())
        });
        stored.contains_key(&number)
    }

    /// Computes the elements of a block, and stores its chunks.
    fn make(&mut self, level: usize, block: &[u64]) -> Result<Vec<u8>> {
        if level == 0 {
            return self.read(block);
        }
        let (shared, chain) = (self.shared, self.chain());
        let region = chain.region(level, block);
        let shape = lengths(&region)?;
        let mut values = self.memory(level, shape.iter().product())?;
        let target = &shared.targets[level - 1];
        if shared.pass.resuming && target.stores_all_of(&region)? {
            read(target, &region, &shape, &mut values)?;
            self.report(level, block)?;
            return Ok(values);
        }
        for child in Odometer::new(chain.children(level, block)) {
            let part = self.make(level - 1, &child)?;
            self.add(level, &region, &shape, &mut values, &child, &part)?;
            self.spare[level - 1].push(part);
        }
        write(target, &region, &shape, &values)?;
        Ok(values)
    }

    /// Downsamples a block of the previous level into the part of a block that it covers.
    fn add(
        &mut self,
        level: usize,
        region: &[(u64, u64)],
        shape: &[usize],
        values: &mut [u8],
        child: &[u64],
        part: &[u8],
    ) -> Result<()> {
        let chain = self.chain();
        let from = chain.region(level - 1, child);
        let own = &chain.factors[level - 1];
        let factors: Vec<usize> = own.iter().map(|factor| usize::try_from(*factor).unwrap_or(1)).collect();
        let place = from.iter().zip(own).zip(region);
        let origin: Vec<(u64, u64)> =
            place.map(|(((begin, _), factor), (own, _))| (0, begin / factor - own)).collect();
        let (origin, part_shape) = (lengths(&origin)?, lengths(&from)?);
        let reducer = &mut self.reducer;
        let source = self.shared.pass.source.location();
        source.on_a_core(|| reducer.reduce((part, &part_shape), &factors, (values, shape), &origin));
        Ok(())
    }

    fn read(&mut self, block: &[u64]) -> Result<Vec<u8>> {
        let shared = self.shared;
        let region = self.chain().region(0, block);
        let shape = lengths(&region)?;
        let mut values = self.memory(0, shape.iter().product())?;
        read(&shared.source, &region, &shape, &mut values)?;
        match &shared.base {
            Base::Existing => {}
            Base::Copied(target) => copy_chunks(&shared.source, target, &region)?,
            Base::Encoded(target) => write(target, &region, &shape, &values)?,
        }
        self.report(0, block)?;
        Ok(values)
    }

    /// Adds a block to the block of the next level that contains it. If this completes that block, stores it, and continues with
    /// the level after it.
    fn submit(&mut self, mut level: usize, block: &[u64], mut values: Vec<u8>) -> Result<()> {
        let (shared, chain) = (self.shared, self.chain());
        let mut block = block.to_vec();
        while level < chain.depth() {
            let parent = chain.parent(level, &block);
            let region = chain.region(level + 1, &parent);
            let shape = lengths(&region)?;
            let key = (level + 1, parent.clone());
            let entry = match lock(&shared.incomplete).entry(key.clone()) {
                Entry::Occupied(entry) => entry.get().clone(),
                Entry::Vacant(entry) => {
                    let children = chain.children(level + 1, &parent);
                    let missing = children
                        .iter()
                        .fold(1_u128, |count, (begin, end)| count.saturating_mul((end - begin).into()));
                    let incomplete = Incomplete { values: None, missing };
                    entry.insert(Arc::new(Mutex::new(incomplete))).clone()
                }
            };
            let mut whole = lock(&entry);
            let mut made = match whole.values.take() {
                Some(begun) => begun,
                None => self.memory(level + 1, shape.iter().product())?,
            };
            self.add(level + 1, &region, &shape, &mut made, &block, &values)?;
            self.spare[level].push(std::mem::replace(&mut values, made));
            whole.missing -= 1;
            if whole.missing > 0 {
                whole.values = Some(values);
                return Ok(());
            }
            lock(&shared.incomplete).remove(&key);
            drop(whole);
            write(&shared.targets[level], &region, &shape, &values)?;
            (level, block) = (level + 1, parent);
        }
        self.spare[level].push(values);
        Ok(())
    }

    /// Returns a buffer for `count` elements with unspecified values.
    fn memory(&mut self, level: usize, count: usize) -> Result<Vec<u8>> {
        let size = count * self.shared.source.data_type().size();
        let spare = self.spare[level].pop().filter(|memory| memory.capacity() >= size);
        let mut memory = spare.map_or_else(|| reserved(size), Ok)?;
        memory.resize(size, 0);
        Ok(memory)
    }

    /// Reports as progress the region of the source from which a block was computed.
    fn report(&self, level: usize, block: &[u64]) -> Result<()> {
        let item = self.shared.source.data_type().size() as u64;
        let region = self.chain().source(level, block);
        let bytes = region.iter().fold(item, |bytes, (begin, end)| bytes.saturating_mul(end - begin));
        self.shared.pass.work.advance(bytes)
    }
}

fn read(array: &Array, region: &[(u64, u64)], shape: &[usize], values: &mut [u8]) -> Result<()> {
    let out = ViewMut::contiguous(values, shape, array.data_type().size());
    array.slice(selection(region)).read_raw(out)
}

fn write(array: &Array, region: &[(u64, u64)], shape: &[usize], values: &[u8]) -> Result<()> {
    let values = View::contiguous(values, shape, array.data_type().size());
    array.slice(selection(region)).write_raw(values)
}

/// Copies the stored chunks that start in a region.
fn copy_chunks(source: &Array, target: &Array, region: &[(u64, u64)]) -> Result<()> {
    let grid = source.chunk_grid();
    // Returns the index of the first chunk that starts at or after a position.
    let at = |dim: usize, position: u64| {
        let runs = grid.runs(dim);
        let run = runs[..runs.partition_point(|run| run.start <= position)].last();
        run.map_or(0, |run| run.first + (position - run.start).div_ceil(run.length).min(run.count))
    };
    let along = |(dim, (begin, end)): (usize, &(u64, u64))| (at(dim, *begin), at(dim, *end));
    let chunks = Odometer::new(region.iter().enumerate().map(along).collect());
    chunks.into_iter().try_for_each(|chunk| source.copy_encoded_chunk(&chunk, target).map(drop))
}
