//! Parallel passes over the elements of arrays, in parts of whole chunks and in bounded memory.

use std::sync::{Mutex, PoisonError};

use zarrox_core::{DimSelection, Result, Selection};

use crate::rechunk::{Cells, selection};
use zarrox::internals::Boxes;
use zarrox::internals::{Pool, Task, argument};
use zarrox::{Array, ArrayView, DynArray};

/// The size in bytes up to which several chunks are combined into one part. A part of this size stays in the CPU cache between
/// decoding and processing.
const CACHED: u64 = 1 << 20;

/// The maximum number of parts whose numbers are held in memory.
const MOST: usize = 1 << 26;

/// The start and the end of a part along each dimension.
pub(crate) type Region = Vec<(u64, u64)>;

/// The parts of a pass.
enum Parts {
    /// All cells.
    All(Cells, usize),
    /// Only the cells with stored chunks.
    Stored(Cells, Vec<u128>),
    /// Parts of a selection, or of the whole array.
    Listed(Option<Selection>, Vec<Region>),
}

/// A pass over one array, or over several arrays of equal shape at the same time.
pub(crate) struct Pass {
    arrays: Vec<Array>,
    parts: Parts,
    pool: Pool,
    /// The total size of one element from each array, in bytes.
    item: u64,
    /// The total size of the largest part, over all arrays, in bytes.
    bytes: usize,
    at_once: usize,
}

impl Pass {
    /// Creates a pass over arrays of equal shape. With `all`, parts without stored chunks are visited as well.
    pub(crate) fn new(arrays: &[&Array], memory: usize, all: bool) -> Result<Self> {
        let (first, last) = match arrays {
            [] => return Err(argument("the list of arrays is empty")),
            [one] => (*one, *one),
            [first, .., last] => (*first, *last),
        };
        let shape = first.shape();
        if shape.contains(&0) {
            return Ok(Self::of(arrays, Parts::Listed(None, Vec::new()), 0, memory));
        }
        let item = item_of(arrays);
        let boxes = |room: u64| Boxes::new(shape, &last.unit_shape(), &first.unit_shape(), item, room);
        let mut boxed = boxes(CACHED);
        if boxed.times_read(&last.unit_shape()) > 1.5 {
            // Each thread processes its own parts.
            boxed = boxes(memory as u64 / (2 * first.cores().threads() as u64));
        }
        let lengths = boxed.lengths().iter().map(|&length| length.max(1)).collect();
        Self::of_cells(
            arrays,
            Cells::new(shape, lengths),
            usize::try_from(boxed.bytes()).unwrap_or(usize::MAX),
            memory,
            all,
        )
    }

    /// Creates a pass over arrays of equal shape and grid, in which each part is one stored object.
    pub(crate) fn of_objects(first: &Array, second: &Array, memory: usize, all: bool) -> Result<Self> {
        if first.shape().contains(&0) {
            return Self::new(&[first, second], memory, all);
        }
        let cells = Cells::new(first.shape(), first.chunk_grid().largest_chunk().to_vec());
        Self::of_cells(&[first, second], cells, first.chunk_bytes(), memory, all)
    }

    fn of_cells(arrays: &[&Array], cells: Cells, bytes: usize, memory: usize, all: bool) -> Result<Self> {
        let count = cells.count();
        let many = || argument("the array has too many chunks; select a part of it");
        let parts = if all {
            let count = count.and_then(|count| usize::try_from(count).ok()).ok_or_else(many)?;
            Parts::All(cells, count)
        } else {
            // In a sparse array, each stored object is a part: a larger part would request many missing objects.
            let object = arrays[0].chunk_grid().largest_chunk().to_vec();
            let (cells, numbers) = cells.stored_or(Cells::new(arrays[0].shape(), object), arrays, MOST)?;
            Parts::Stored(cells, numbers)
        };
        Ok(Self::of(arrays, parts, bytes, memory))
    }

    /// Creates a pass over a part of an array.
    pub(crate) fn of_view(view: &ArrayView<'_>, selection: Selection, memory: usize) -> Result<Self> {
        let most = (CACHED / view.data_type().size().max(1) as u64).max(1);
        let parts = view.parts(most, zarrox::Order::RowMajor)?;
        let regions: Vec<Region> =
            parts.map(|part| part.into_iter().map(|range| (range.start, range.end)).collect()).collect();
        Ok(Self::of_regions(view.array(), Some(selection), regions, memory))
    }

    /// Creates a pass over the given regions of an array, or of a selection of it.
    pub(crate) fn of_regions(
        array: &Array,
        selection: Option<Selection>,
        regions: Vec<Region>,
        memory: usize,
    ) -> Self {
        let item = array.data_type().size().max(1) as u64;
        let bytes = regions.iter().map(|region| elements_of(region).saturating_mul(item)).max().unwrap_or(0);
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        Self::of(&[array], Parts::Listed(selection, regions), bytes, memory)
    }

    fn of(arrays: &[&Array], parts: Parts, bytes: usize, memory: usize) -> Self {
        let pool = arrays.iter().map(|array| array.pool()).max_by_key(|pool| pool.threads());
        let pool = pool.map_or_else(Pool::shared, Clone::clone);
        let chunks: usize = arrays.iter().map(|array| array.decoded_bytes()).sum();
        let item = item_of(arrays);
        let at_once = (memory / bytes.saturating_add(chunks).max(1)).max(1);
        let arrays = arrays.iter().map(|array| array.on_one_thread()).collect();
        Self { arrays, parts, pool, item, bytes, at_once }
    }

    fn count(&self) -> usize {
        match &self.parts {
            Parts::All(_, count) => *count,
            Parts::Stored(_, numbers) => numbers.len(),
            Parts::Listed(_, regions) => regions.len(),
        }
    }

    fn region(&self, index: usize) -> Region {
        match &self.parts {
            Parts::All(cells, _) => cells.region(index as u128),
            Parts::Stored(cells, numbers) => cells.region(numbers[index]),
            Parts::Listed(_, regions) => regions[index].clone(),
        }
    }

    /// Returns the number of elements in all parts.
    pub(crate) fn elements(&self) -> u64 {
        match &self.parts {
            Parts::All(..) => {
                self.arrays[0].shape().iter().fold(1, |count: u64, &length| count.saturating_mul(length))
            }
            Parts::Stored(..) | Parts::Listed(..) => {
                (0..self.count()).map(|index| elements_of(&self.region(index))).fold(0, u64::saturating_add)
            }
        }
    }

    /// Returns the total size of the elements of a part, over all arrays, in bytes.
    fn bytes_of(&self, region: &Region) -> u64 {
        elements_of(region).saturating_mul(self.item)
    }

    /// Processes each part, in any order and on all threads, and reports its size in bytes to `progress`. Each thread has its own
    /// state; the states are returned.
    pub(crate) fn run<S: Send>(
        &self,
        progress: &Task,
        start: impl Fn() -> S + Sync,
        work: impl Fn(&mut S, &Region, &[&DynArray]) -> Result<()> + Sync,
    ) -> Result<Vec<S>> {
        self.run_unless(progress, |_| Ok(false), start, work)
    }

    /// Processes each part. Parts for which `skip` returns true are not read.
    pub(crate) fn run_unless<S: Send>(
        &self,
        progress: &Task,
        skip: impl Fn(&Region) -> Result<bool> + Sync,
        start: impl Fn() -> S + Sync,
        work: impl Fn(&mut S, &Region, &[&DynArray]) -> Result<()> + Sync,
    ) -> Result<Vec<S>> {
        type Memory = Vec<Option<DynArray>>;
        let unused: Mutex<Vec<(S, Memory)>> = Mutex::new(Vec::new());
        let lock = || unused.lock().unwrap_or_else(PoisonError::into_inner);
        progress.expect(self.elements().saturating_mul(self.item));
        self.pool.run(self.count(), self.bytes, self.at_once, |index| {
            let region = self.region(index);
            let taken = lock().pop();
            let (mut state, mut memory) =
                taken.unwrap_or_else(|| (start(), self.arrays.iter().map(|_| None).collect()));
            let done = match skip(&region) {
                Ok(true) => Ok(()),
                Ok(false) => {
                    self.read(&region, &mut memory).and_then(|values| work(&mut state, &region, &values))
                }
                Err(error) => Err(error),
            };
            lock().push((state, memory));
            done?;
            progress.advance(self.bytes_of(&region))
        })?;
        let states = unused.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(states.into_iter().map(|(state, _)| state).collect())
    }

    fn read<'m>(&self, region: &Region, memory: &'m mut [Option<DynArray>]) -> Result<Vec<&'m DynArray>> {
        let part: Selection = selection(region).into_iter().collect();
        let pairs = self.arrays.iter().zip(memory);
        match &self.parts {
            Parts::Listed(Some(selected), _) => pairs
                .map(|(array, memory)| {
                    let items: Vec<DimSelection> = selection(region);
                    Ok(&*memory.insert(array.slice(selected.clone()).slice(items).read::<DynArray>()?))
                })
                .collect(),
            _ => pairs.map(|(array, memory)| array.read_again(&part, memory)).collect(),
        }
    }
}

/// Returns the total size of one element from each array, in bytes.
fn item_of<'a>(arrays: impl IntoIterator<Item = &'a &'a Array>) -> u64 {
    arrays.into_iter().map(|array| array.data_type().size().max(1) as u64).sum()
}

/// Returns the number of elements of a region.
pub(crate) fn elements_of(region: &[(u64, u64)]) -> u64 {
    region.iter().fold(1, |count: u64, (begin, end)| count.saturating_mul(end - begin))
}
