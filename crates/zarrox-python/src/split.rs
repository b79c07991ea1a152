//! A store whose documents and chunks are in different stores.

use std::ops::ControlFlow;
use std::sync::Arc;

use zarrox::stores::{
    ByteRange, Bytes, Capabilities, Condition, DirListing, Hold, HoldGuard, Key, LockGuard, Payload, Prefix,
    Stamp, Store, StoreError, Value, provided,
};

/// A store that keeps documents in one store, and all other keys in another: zarr-python 2's `chunk_store`.
#[derive(Debug)]
pub(crate) struct SplitStore {
    documents: Arc<dyn Store>,
    chunks: Arc<dyn Store>,
}

impl SplitStore {
    pub(crate) fn new(documents: Arc<dyn Store>, chunks: Arc<dyn Store>) -> Self {
        Self { documents, chunks }
    }

    fn of(&self, key: &Key) -> &dyn Store {
        if is_document(key) { &*self.documents } else { &*self.chunks }
    }

    fn both(&self) -> [&dyn Store; 2] {
        [&*self.documents, &*self.chunks]
    }
}

/// Returns true if a key is that of a document in any format.
fn is_document(key: &Key) -> bool {
    let name = key.name();
    let named = [".z", "zarr.json", "attributes.json"].iter().any(|start| name.starts_with(start));
    named
        || name.ends_with(".array.json")
        || name.ends_with(".group.json")
        || matches!(name, "meta" | "attrs")
}

impl Store for SplitStore {
    provided!(directory get_many rename_prefix exchange);

    fn location(&self) -> String {
        format!("{} (chunks in {})", self.documents.location(), self.chunks.location())
    }

    fn capabilities(&self) -> Capabilities {
        let (documents, chunks) = (self.documents.capabilities(), self.chunks.capabilities());
        let mut both = documents;
        // Each store rejects invalid keys itself.
        both.writable |= chunks.writable;
        both.listable &= chunks.listable;
        both.set_if_absent &= chunks.set_if_absent;
        both.set_if_unchanged &= chunks.set_if_unchanged;
        both.erase_if_unchanged &= chunks.erase_if_unchanged;
        both.digest_versions |= chunks.digest_versions;
        both.locks_everyone &= chunks.locks_everyone;
        both.rename &= chunks.rename;
        both.values_above_values &= chunks.values_above_values;
        both.printable_keys |= chunks.printable_keys;
        both.torn_reads |= chunks.torn_reads;
        both.in_flight = chunks.in_flight.or(documents.in_flight);
        both.one_at_a_time = chunks.one_at_a_time;
        both.largest_value = documents.largest_value.into_iter().chain(chunks.largest_value).min();
        both
    }

    fn open_with(&self, key: &Key, first: Option<ByteRange>) -> Result<Option<Box<dyn Value>>, StoreError> {
        self.of(key).open_with(key, first)
    }

    fn get(&self, key: &Key) -> Result<Option<Bytes>, StoreError> {
        self.of(key).get(key)
    }

    fn get_ranges(&self, key: &Key, ranges: &[ByteRange]) -> Result<Option<Vec<Bytes>>, StoreError> {
        self.of(key).get_ranges(key, ranges)
    }

    fn stamp(&self, key: &Key) -> Result<Stamp, StoreError> {
        self.of(key).stamp(key)
    }

    fn hold(&self, prefix: &Prefix, how: Hold) -> Result<HoldGuard, StoreError> {
        self.documents.hold(prefix, how)
    }

    fn size(&self, key: &Key) -> Result<Option<u64>, StoreError> {
        self.of(key).size(key)
    }

    fn contains(&self, key: &Key) -> Result<bool, StoreError> {
        self.of(key).contains(key)
    }

    fn put(&self, key: &Key, payload: Payload<'_>, condition: Condition<'_>) -> Result<(), StoreError> {
        self.of(key).put(key, payload, condition)
    }

    fn erase_if(&self, key: &Key, condition: Condition<'_>) -> Result<bool, StoreError> {
        self.of(key).erase_if(key, condition)
    }

    fn erase_prefix(&self, prefix: &Prefix) -> Result<(), StoreError> {
        self.both().iter().try_for_each(|store| store.erase_prefix(prefix))
    }

    fn list_prefix(
        &self,
        prefix: &Prefix,
        visit: &mut dyn FnMut(Key, u64) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        for (index, store) in self.both().into_iter().enumerate() {
            // Both stores may be the same mapping, so each key is listed only in the store to which it belongs.
            let documents = index == 0;
            let mut flow = ControlFlow::Continue(());
            store.list_prefix(prefix, &mut |key, size| {
                if is_document(&key) == documents {
                    flow = visit(key, size);
                }
                flow
            })?;
            if flow.is_break() {
                break;
            }
        }
        Ok(())
    }

    fn list_dir(&self, prefix: &Prefix) -> Result<DirListing, StoreError> {
        let mut listing = self.documents.list_dir(prefix)?;
        listing.keys.retain(is_document);
        let chunks = self.chunks.list_dir(prefix)?;
        listing.keys.extend(chunks.keys.into_iter().filter(|key| !is_document(key)));
        listing.prefixes.extend(chunks.prefixes);
        listing.keys.sort_unstable();
        listing.prefixes.sort_unstable();
        listing.prefixes.dedup();
        Ok(listing)
    }

    fn flush(&self) -> Result<(), StoreError> {
        self.both().iter().try_for_each(|store| store.flush())
    }

    fn lock(&self, key: &Key) -> Result<LockGuard, StoreError> {
        self.of(key).lock(key)
    }
}
