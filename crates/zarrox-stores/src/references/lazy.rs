//! References in a directory of Parquet files. Each file is read when one of its references is first needed.
//!
//! The document `.zmetadata` contains the metadata documents of all nodes, and the number of references in each file. The
//! references of an array's chunks are in `ARRAY/refs.N.parq`, in row-major order of the chunks.

use std::collections::{BTreeMap, VecDeque};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use serde_json::Value as Json;
use serde_json::value::RawValue;

use super::document::Document;
use super::json::{members, tree};
use super::reference::{Budget, Problem, Reference, Visit};
use super::table::Table;
use crate::store::WHOLE;
use crate::{DirListing, Key, Prefix, Store, StoreError, StoreErrorKind, key_map};

/// The document that contains all metadata documents.
const METADATA: &str = ".zmetadata";
/// The maximum number of files per array that a listing reads. More files would indicate a mistake or an attack.
const LARGEST_LISTING: u64 = 1 << 20;
/// The maximum number of cached files, even if they are small.
const MOST_TABLES: usize = 1024;

/// References that are read on demand.
#[derive(Debug)]
pub(super) struct LazySet {
    store: Arc<dyn Store>,
    prefix: Prefix,
    documents: key_map::Map<Bytes>,
    /// The number of chunks along each dimension of each array.
    grids: BTreeMap<String, Vec<u64>>,
    record_size: u64,
    limit: u64,
    cache: Mutex<VecDeque<CachedTable>>,
}

/// A reference file: `None` before it is read, and `Some(None)` if it does not exist.
type Slot = Arc<Mutex<Option<Option<Arc<Table>>>>>;

#[derive(Debug)]
struct CachedTable {
    array: String,
    record: u64,
    slot: Slot,
    bytes: u64,
}

impl LazySet {
    /// Opens the references below a prefix. Returns `None` if there is no metadata document.
    pub(super) fn open(
        store: Arc<dyn Store>,
        prefix: Prefix,
        limit: u64,
        location: &str,
    ) -> Result<Option<Self>, StoreError> {
        let Some(document) = whole(&*store, &prefix.key(METADATA)?, limit)? else { return Ok(None) };
        let problem = |problem: Problem| problem.into_error(location);
        let Metadata { documents, grids, record_size } = metadata(&document, limit).map_err(problem)?;
        Ok(Some(Self { store, prefix, documents, grids, record_size, limit, cache: Mutex::default() }))
    }

    pub(super) fn find(&self, key: &Key) -> Result<Option<Reference>, StoreError> {
        if let Some(document) = self.documents.get(key) {
            return Ok(Some(Reference::Inline(document.clone())));
        }
        let parent = key.parent();
        let Some(grid) = self.grids.get(parent.segments()) else { return Ok(None) };
        let Some(chunk) = index_of(key.name(), grid) else { return Ok(None) };
        let Some(table) = self.table(parent.segments(), chunk / self.record_size)? else { return Ok(None) };
        let row = usize::try_from(chunk % self.record_size).ok().and_then(|row| table.rows.get(row));
        row.cloned().ok_or_else(|| {
            let message = "the file with the chunk's reference has too few rows";
            let error = StoreError::new(StoreErrorKind::Corrupt, "reading", message);
            error.with_location(self.store.location()).with_key(key.as_str())
        })
    }

    /// Visits the references below a prefix.
    pub(super) fn visit(
        &self,
        prefix: &Prefix,
        visit: &mut Visit<'_>,
    ) -> Result<ControlFlow<()>, StoreError> {
        for (key, document) in key_map::below(&self.documents, prefix) {
            if visit(key, &Reference::Inline(document.clone()))?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        for (array, grid) in &self.grids {
            let own = Prefix::new(if array.is_empty() { String::new() } else { format!("{array}/") })?;
            if own.as_str().starts_with(prefix.as_str()) && self.visit_array(&own, grid, visit)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn visit_array(
        &self,
        array: &Prefix,
        grid: &[u64],
        visit: &mut Visit<'_>,
    ) -> Result<ControlFlow<()>, StoreError> {
        let chunks: u64 = grid.iter().product();
        let files = chunks.div_ceil(self.record_size);
        if files > LARGEST_LISTING {
            let message = format!(
                "the array has {files} files of references; listings support up to {LARGEST_LISTING}"
            );
            let error = StoreError::new(StoreErrorKind::TooLarge, "listing", message);
            return Err(error.with_location(self.store.location()).with_key(array.as_str()));
        }
        for record in 0..files {
            let Some(table) = self.table(array.segments(), record)? else { continue };
            for (chunk, row) in (record * self.record_size..chunks).zip(&table.rows) {
                let Some(reference) = row else { continue };
                if visit(&array.key(&name_of(chunk, grid))?, reference)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    pub(super) fn list_dir(&self, prefix: &Prefix) -> Result<DirListing, StoreError> {
        let mut listing = key_map::list_dir(&self.documents, prefix)?;
        if let Some(grid) = self.grids.get(prefix.segments()) {
            let _ = self.visit_array(prefix, grid, &mut |key, _| {
                listing.keys.push(key.clone());
                Ok(ControlFlow::Continue(()))
            })?;
        }
        Ok(listing.sorted())
    }

    /// Returns a reference file of an array. If another thread is already reading the file, waits for that thread.
    fn table(&self, array: &str, record: u64) -> Result<Option<Arc<Table>>, StoreError> {
        let slot = self.slot(array, record);
        let mut held = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(table) = &*held {
            return Ok(table.clone());
        }
        let directory = if array.is_empty() { String::new() } else { format!("{array}/") };
        let key = self.prefix.key(&format!("{directory}refs.{record}.parq"))?;
        let table = match whole(&*self.store, &key, self.limit)? {
            None => None,
            Some(file) => {
                let table = Table::decode(&file, self.record_size, self.limit);
                let location = self.store.location();
                Some(Arc::new(table.map_err(|problem| problem.at(key.as_str()).into_error(&location))?))
            }
        };
        *held = Some(table.clone());
        drop(held);
        self.keep(&slot, table.as_ref().map_or(0, |table| table.bytes));
        Ok(table)
    }

    /// Returns the slot of a file in the cache, and marks it as most recently used.
    fn slot(&self, array: &str, record: u64) -> Slot {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let place = cache.iter().position(|cached| cached.record == record && cached.array == array);
        let found = place.and_then(|place| cache.remove(place));
        let cached = found.unwrap_or_else(|| CachedTable {
            array: array.to_owned(),
            record,
            slot: Slot::default(),
            bytes: 0,
        });
        let slot = Arc::clone(&cached.slot);
        cache.push_back(cached);
        slot
    }

    /// Records the memory of a file, and evicts other files until all files fit.
    fn keep(&self, slot: &Slot, bytes: u64) {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cached) = cache.iter_mut().find(|cached| Arc::ptr_eq(&cached.slot, slot)) {
            cached.bytes = bytes;
        }
        let mut total = cache.iter().fold(0_u64, |sum, cached| sum.saturating_add(cached.bytes));
        while (total > self.limit || cache.len() > MOST_TABLES) && cache.len() > 1 {
            total = total.saturating_sub(cache.pop_front().map_or(0, |cached| cached.bytes));
        }
    }
}

/// Reads a whole value if it is not too large.
pub(super) fn whole(store: &dyn Store, key: &Key, limit: u64) -> Result<Option<Bytes>, StoreError> {
    let value = match store.open_with(key, Some(WHOLE)) {
        // A directory is not a document.
        Err(error) if error.kind() == StoreErrorKind::Obstructed => None,
        opened => opened?,
    };
    let Some(value) = value else { return Ok(None) };
    if value.size() > limit {
        let message = format!("{} bytes exceed the memory_limit of {limit}", value.size());
        let error = StoreError::new(StoreErrorKind::TooLarge, "reading the references", message);
        return Err(error.with_location(store.location()).with_key(key.as_str()));
    }
    value.read(0, value.size()).map(Some)
}

/// The content of `.zmetadata`.
struct Metadata {
    documents: key_map::Map<Bytes>,
    grids: BTreeMap<String, Vec<u64>>,
    record_size: u64,
}

fn metadata(document: &[u8], limit: u64) -> Result<Metadata, Problem> {
    let corrupt = |message: &str| Problem::corrupt(message).at(METADATA);
    let document = Document::new(document);
    let (mut metadata, mut record_size) = (None, None);
    let outer = members(document.readable(), &mut |name, value| {
        match &*name {
            "metadata" => metadata = Some(value),
            "record_size" => record_size = value.get().parse().ok().filter(|size| *size > 0),
            _ => {}
        }
        Ok(())
    });
    outer.map_err(|problem| problem.at(METADATA))?;
    let record_size = record_size.ok_or_else(|| corrupt("'record_size' must be a positive integer"))?;
    let object = metadata.filter(|value| value.get().starts_with('{'));
    let object = object.ok_or_else(|| corrupt("'metadata' must be an object of documents"))?;
    let mut budget = Budget::new(limit);
    let mut found = Metadata { documents: key_map::Map::default(), grids: BTreeMap::new(), record_size };
    members(object.get().as_bytes(), &mut |name, value| {
        found.add(&name, value, document.written(value), &mut budget).map_err(|problem| problem.at(name))
    })?;
    Ok(found)
}

impl Metadata {
    fn add(
        &mut self,
        name: &str,
        value: &RawValue,
        written: &[u8],
        budget: &mut Budget,
    ) -> Result<(), Problem> {
        let wrong = |error| Problem::corrupt(format!("the name of the document is not a valid key: {error}"));
        let key = Key::new(name).map_err(wrong)?;
        match key.name() {
            ".zarray" => {
                let grid = grid(&tree(value, budget)?).map_err(Problem::corrupt)?;
                self.grids.insert(key.parent().segments().to_owned(), grid);
            }
            "zarr.json" => {
                let message = "references in Parquet support only arrays of Zarr v2".to_owned();
                return Err(Problem { kind: StoreErrorKind::Unsupported, key: None, message });
            }
            _ => {}
        }
        budget.take_reference(name.len() + written.len())?;
        self.documents.insert(key, Bytes::copy_from_slice(written));
        Ok(())
    }
}

/// Returns the number of chunks along each dimension of an array.
fn grid(document: &Json) -> Result<Vec<u64>, String> {
    if document.get("dimension_separator").and_then(Json::as_str).is_some_and(|separator| separator != ".") {
        return Err("references in Parquet support only '.' as 'dimension_separator'".into());
    }
    let lengths = |name: &str| {
        let list = document.get(name).and_then(Json::as_array);
        let lengths = list.and_then(|list| list.iter().map(Json::as_u64).collect::<Option<Vec<u64>>>());
        lengths.ok_or_else(|| format!("'{name}' must be a list of non-negative integers"))
    };
    let (shape, chunks) = (lengths("shape")?, lengths("chunks")?);
    if shape.len() != chunks.len() || chunks.contains(&0) {
        return Err("'chunks' must have a positive integer for each dimension of 'shape'".into());
    }
    let grid: Vec<u64> = shape.iter().zip(&chunks).map(|(length, chunk)| length.div_ceil(*chunk)).collect();
    let count = grid.iter().try_fold(1_u64, |count, length| count.checked_mul(*length));
    count.map(|_| grid).ok_or_else(|| "it has more than 2^64 chunks".into())
}

/// Returns the row-major index of a chunk if it is in the grid.
fn index_of(name: &str, grid: &[u64]) -> Option<u64> {
    if grid.is_empty() {
        return (name == "0").then_some(0);
    }
    let mut parts = name.split('.');
    let mut index = 0;
    for length in grid {
        let part = parts.next()?;
        let place = part.parse::<u64>().ok().filter(|place| place < length && place.to_string() == part)?;
        index = index * length + place;
    }
    parts.next().is_none().then_some(index)
}

/// Returns the name of the chunk with a row-major index.
fn name_of(mut index: u64, grid: &[u64]) -> String {
    let mut parts = Vec::new();
    for length in grid.iter().rev() {
        parts.push((index % length).to_string());
        index /= length;
    }
    parts.reverse();
    if parts.is_empty() { "0".to_owned() } else { parts.join(".") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_counted_in_the_order_of_c() {
        let grid = [2, 3, 4];
        for index in 0..24 {
            assert_eq!(index_of(&name_of(index, &grid), &grid), Some(index));
        }
        assert_eq!(name_of(23, &grid), "1.2.3");
        assert_eq!((index_of("0", &[]), name_of(0, &[])), (Some(0), "0".to_owned()));
        for name in ["", "0", "0.0", "2.0.0", "0.0.0.0", "00.0.0", "+1.0.0", "a.0.0", "0.0.4"] {
            assert_eq!(index_of(name, &grid), None, "{name}");
        }
        assert_eq!(index_of("1", &[]), None);
    }
}
