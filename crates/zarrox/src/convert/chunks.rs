//! Conversion of the chunks of one array: copied as bytes, or decoded and encoded, and compared afterwards.
//!
//! Work is divided into units: boxes of whole chunks of the destination, each for one thread. A unit is read from the source and
//! written to the destination by that thread, so that memory holds one unit for each thread.

use zarrox_core::{DimSelection, Error, ErrorKind, Result, Storage};

use crate::array::{Array, DynArray};
use crate::pool::{Pool, too_many};
use crate::rechunk::{Cells, StoredCells, selection};

/// A unit has several chunks up to this size, in bytes, so that for example the index of a shard is read once for all of them.
const UNIT: u64 = 16 << 20;

/// Reports a number of completed bytes of the source. An error ends the work.
pub(super) type Tell<'a> = &'a (dyn Fn(u64) -> Result<()> + Send + Sync);

/// The chunks of one array that is converted.
pub(super) struct Transfer<'a> {
    source: Array,
    destination: Array,
    pool: &'a Pool,
    tell: Tell<'a>,
    /// True if an interrupted run may have stored chunks already.
    resuming: bool,
    units: Cells,
}

/// The units with stored chunks, with the stored size of each in the source.
type Units = Vec<(u128, u64)>;

impl<'a> Transfer<'a> {
    pub(super) fn new(
        source: &Array,
        destination: &Array,
        pool: &'a Pool,
        resuming: bool,
        tell: Tell<'a>,
    ) -> Self {
        let units = Cells::new(source.shape(), unit_shape(source, destination));
        // A unit belongs to one thread, and its parts are not distributed.
        let (source, destination) = (source.on_one_thread(), destination.on_one_thread());
        Self { source, destination, pool, tell, resuming, units }
    }

    /// Copies the bytes of all stored chunks. Chunks that exist already, from an interrupted run, stay.
    pub(super) fn copy(&self) -> Result<()> {
        self.each_stored(|chunk, size| {
            let there = self.resuming && self.destination.stored_size(chunk)? == Some(size);
            if !there && let Some(bytes) = self.source.read_encoded_chunk(chunk)? {
                self.destination.write_encoded_chunk(chunk, &bytes)?;
            }
            (self.tell)(size)
        })
    }

    /// Compares the bytes of all chunks that either side has stored.
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
            if self.source.read_encoded_chunk(chunk)? != self.destination.read_encoded_chunk(chunk)? {
                return Err(self.differs(&format!("the bytes of chunk {chunk:?}")));
            }
            (self.tell)(size)
        })
    }

    /// Decodes and encodes all stored chunks. Chunks that exist already, from an interrupted run, stay. With `all`, chunks that
    /// are not stored are written as well.
    pub(super) fn reencode(&self, all: bool) -> Result<()> {
        self.each_unit(all, false, |region, size| {
            if !self.resuming || !self.is_there(region)? {
                let selection = selection(region);
                self.destination.write_dyn(selection.clone(), &self.expected(selection)?)?;
            }
            (self.tell)(size)
        })
    }

    /// Compares every value of every chunk that either side has stored, bit by bit.
    pub(super) fn compare_values(&self, all: bool) -> Result<()> {
        self.each_unit(all, true, |region, size| {
            let selection = selection(region);
            let expected = self.expected(selection.clone())?;
            if !is_same(&self.destination.read_dyn(selection)?, &expected) {
                return Err(self.differs(&format!("values in {region:?}")));
            }
            (self.tell)(size)
        })
    }

    /// The expected values of the destination at a selection.
    fn expected(&self, selection: Vec<DimSelection>) -> Result<DynArray> {
        let values = self.source.read_dyn(selection)?;
        let as_it_is = self.source.data_type() == self.destination.data_type();
        if as_it_is { Ok(values) } else { values.packed() }
    }

    fn differs(&self, what: &str) -> Error {
        let message = format!(
            "array '{}' of the destination differs from the source in {what}; the source may have changed \
             meanwhile: repeat the conversion with overwriting",
            self.destination.path()
        );
        Error::new(ErrorKind::Corrupt, message)
    }

    /// Works on every stored chunk of the source, in batches, so that the list of chunks takes little memory.
    fn each_stored(&self, work: impl Fn(&[u64], u64) -> Result<()> + Send + Sync) -> Result<()> {
        const BATCH: usize = 1024;
        let mut batch = Vec::with_capacity(BATCH);
        let mut result = Ok(());
        let bytes = self.source.chunk_bytes();
        let flush = |batch: &mut Vec<(Vec<u64>, u64)>| {
            let done =
                self.pool.run(batch.len(), bytes, usize::MAX, |index| work(&batch[index].0, batch[index].1));
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

    /// Works on every unit with stored chunks, in the source and, if requested, in the destination.
    fn each_unit(
        &self,
        all: bool,
        both: bool,
        work: impl Fn(&[(u64, u64)], u64) -> Result<()> + Send + Sync,
    ) -> Result<()> {
        if self.source.shape().contains(&0) {
            return Ok(());
        }
        let count = self.units.count().ok_or_else(|| too_many("the chunks"))?;
        let mut units = StoredCells::new();
        self.units.add_stored(&self.source, &mut units, true, usize::MAX)?;
        if both {
            self.units.add_stored(&self.destination, &mut units, false, usize::MAX)?;
        }
        let bytes = self.source.chunk_bytes().max(self.destination.chunk_bytes());
        if all {
            let count = usize::try_from(count).map_err(|_| too_many("the chunks"))?;
            return self.pool.run(count, bytes, usize::MAX, |index| {
                let index = index as u128;
                work(&self.units.region(index), units.get(&index).copied().unwrap_or(0))
            });
        }
        let units: Units = units.into_iter().collect();
        self.pool.run(units.len(), bytes, usize::MAX, |index| {
            work(&self.units.region(units[index].0), units[index].1)
        })
    }

    /// Returns true if all chunks of a unit are stored in the destination. Each of them is complete, since a chunk is replaced
    /// atomically.
    fn is_there(&self, region: &[(u64, u64)]) -> Result<bool> {
        // Chunks of several shapes can lie in several units, so that a stored one need not be complete.
        let Ok(chunk_shape) = self.destination.chunk_grid().chunk_shape() else { return Ok(false) };
        let mut chunk: Vec<u64> = region.iter().zip(chunk_shape).map(|((begin, _), n)| begin / n).collect();
        loop {
            if self.destination.stored_size(&chunk)?.is_none() {
                return Ok(false);
            }
            let next = (0..chunk.len())
                .rev()
                .find(|&dim| (chunk[dim] + 1).saturating_mul(chunk_shape[dim]) < region[dim].1);
            let Some(next) = next else { return Ok(true) };
            chunk[next] += 1;
            for dim in next + 1..chunk.len() {
                chunk[dim] = region[dim].0 / chunk_shape[dim];
            }
        }
    }
}

/// Returns true if all elements are equal bit by bit, including NaN.
fn is_same(a: &DynArray, b: &DynArray) -> bool {
    match a.data_type().storage() {
        Storage::Variable => a.elements().eq(b.elements()),
        _ => a.as_bytes() == b.as_bytes(),
    }
}

/// A chunk of the destination, or as many as lie in one chunk of the source and are not too large together.
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
