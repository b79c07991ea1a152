//! Global heaps, which store variable-length values (section III.E).

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use zarrox::Result;

use crate::hdf5::format::model::Address;
use crate::hdf5::format::source::Source;
use crate::input::corrupt;

const WHAT: &str = "a collection of a global heap";
/// The maximum total size of the cached collections in bytes.
const MOST_KEPT: usize = 16 << 20;

/// A collection of objects.
#[derive(Debug)]
struct Collection {
    bytes: Vec<u8>,
    objects: BTreeMap<u16, Range<usize>>,
}

/// The most recently read collections.
#[derive(Debug, Default)]
pub(in crate::hdf5::format) struct GlobalHeap {
    kept: Mutex<Cache>,
}

#[derive(Debug, Default)]
struct Cache {
    collections: BTreeMap<Address, Arc<Collection>>,
    order: VecDeque<Address>,
    bytes: usize,
}

impl GlobalHeap {
    /// Returns the bytes of an object.
    pub(in crate::hdf5::format) fn object(
        &self,
        source: &Source,
        address: Address,
        index: u32,
    ) -> Result<Vec<u8>> {
        let collection = self.collection(source, address)?;
        let range = u16::try_from(index).ok().and_then(|index| collection.objects.get(&index));
        let bytes = range.and_then(|range| collection.bytes.get(range.clone()));
        let bytes = bytes.ok_or_else(|| corrupt(format!("{WHAT} at {address} has no object {index}")))?;
        Ok(bytes.to_vec())
    }

    fn collection(&self, source: &Source, address: Address) -> Result<Arc<Collection>> {
        let lock = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(collection) = lock().collections.get(&address) {
            return Ok(Arc::clone(collection));
        }
        let collection = Arc::new(Collection::read(source, address)?);
        lock().keep(address, &collection);
        Ok(collection)
    }
}

impl Cache {
    /// Caches a collection, and evicts the oldest collections if the cache is full.
    fn keep(&mut self, address: Address, collection: &Arc<Collection>) {
        if self.collections.contains_key(&address) {
            return;
        }
        while self.bytes + collection.bytes.len() > MOST_KEPT {
            let Some(oldest) = self.order.pop_front() else { break };
            if let Some(dropped) = self.collections.remove(&oldest) {
                self.bytes -= dropped.bytes.len();
            }
        }
        self.bytes += collection.bytes.len();
        self.order.push_back(address);
        self.collections.insert(address, Arc::clone(collection));
    }
}

impl Collection {
    fn read(source: &Source, address: Address) -> Result<Self> {
        let header = (8 + source.sizes.length).next_multiple_of(8);
        let start = source.read(address, header as u64)?;
        let mut cursor = source.cursor(&start, WHAT);
        cursor.signature(b"GCOL")?;
        cursor.version(1)?;
        cursor.skip(3)?;
        let size = cursor.length()?;
        let bytes = source.read(address, size)?;
        let mut objects = BTreeMap::new();
        let mut at = header;
        while let Some(rest) = bytes.get(at..).filter(|rest| rest.len() >= header) {
            let mut cursor = source.cursor(rest, WHAT);
            let index = cursor.u16()?;
            if index == 0 {
                // The rest of the collection is free space.
                break;
            }
            cursor.skip(6)?;
            let length = usize::try_from(cursor.length()?).ok();
            let first = at + header;
            let end = length.and_then(|length| first.checked_add(length)).filter(|&end| end <= bytes.len());
            let end = end.ok_or_else(|| {
                corrupt(format!("the object {index} of {WHAT} at {address} extends beyond its end"))
            })?;
            objects.insert(index, first..end);
            at = first + (end - first).next_multiple_of(8);
        }
        Ok(Self { bytes, objects })
    }
}
