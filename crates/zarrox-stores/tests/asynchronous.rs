//! Asynchronous stores: the suite through the adapter, inside and outside of runtimes of others.

use std::sync::Arc;

use futures_util::stream::{self, StreamExt};
use zarrox_stores::{
    AsyncStore, Blocking, ByteRange, Bytes, Capabilities, Condition, DirListing, Head, Key, MemoryStore,
    Pages, Piece, Prefix, Store, StoreError, StoreErrorKind, Version,
};
use zarrox_testkit::store::{key, store_suite};

/// A memory that answers as a client of a remote store does, and always after something else could have happened.
#[derive(Clone, Debug)]
struct Remote(Arc<MemoryStore>);

impl Remote {
    fn store() -> Box<dyn Store> {
        Box::new(Blocking::new(Self(Arc::default())))
    }
}

impl AsyncStore for Remote {
    fn location(&self) -> String {
        self.0.location()
    }

    fn capabilities(&self) -> Capabilities {
        let mut capabilities = self.0.capabilities();
        capabilities.rename = false;
        capabilities.in_flight = 8.try_into().ok();
        capabilities
    }

    async fn read(
        &self,
        key: &Key,
        range: Option<ByteRange>,
        version: Option<&Version>,
    ) -> Result<Option<Piece>, StoreError> {
        tokio::task::yield_now().await;
        let Some(value) = self.0.open(key)? else { return Ok(None) };
        if version.is_some_and(|version| value.version().as_ref() != Some(version)) {
            return Err(StoreError::new(StoreErrorKind::Conflict, "reading", "it is another one")
                .with_key(key.as_str()));
        }
        let size = value.size();
        let (start, end) = match range {
            None => (0, size),
            Some(ByteRange::From { offset, length }) => (
                offset,
                length.and_then(|length| offset.checked_add(length)).map_or(size, |end| end.min(size)),
            ),
            Some(ByteRange::Suffix { length }) => (size.saturating_sub(length), size),
        };
        if range.is_some() && start >= size {
            return Err(StoreError::new(StoreErrorKind::OutOfRange, "reading", "it begins behind the end"));
        }
        let bytes = value.read(start, end - start)?;
        Ok(Some(Piece { offset: start, bytes, head: Head { size, version: value.version() } }))
    }

    async fn head(&self, key: &Key) -> Result<Option<Head>, StoreError> {
        tokio::task::yield_now().await;
        Ok(self.0.open(key)?.map(|value| Head { size: value.size(), version: value.version() }))
    }

    async fn set(&self, key: &Key, value: Bytes, condition: Condition<'_>) -> Result<(), StoreError> {
        tokio::task::yield_now().await;
        self.0.set(key, &value, condition)
    }

    async fn erase(&self, key: &Key) -> Result<bool, StoreError> {
        tokio::task::yield_now().await;
        self.0.erase(key)
    }

    fn list_prefix(&self, prefix: &Prefix) -> Pages {
        let mut keys = Vec::new();
        let listed = self.0.list_prefix(prefix, &mut |key, size| {
            keys.push((key, size));
            std::ops::ControlFlow::Continue(())
        });
        let pages: Vec<_> =
            keys.chunks(1_000).map(|page| Ok(page.to_vec())).chain(listed.err().map(Err)).collect();
        stream::iter(pages).boxed()
    }

    async fn list_dir(&self, prefix: &Prefix) -> Result<DirListing, StoreError> {
        self.0.list_dir(prefix)
    }
}

#[test]
fn passes_the_suite() {
    store_suite(Remote::store);
}

#[test]
fn works_inside_of_runtimes() {
    let used = || {
        let store = Remote::store();
        store.set(&key("a/b"), b"value", Condition::Always).unwrap();
        assert_eq!(store.get(&key("a/b")).unwrap().unwrap(), "value");
        assert_eq!(store.list_dir(&Prefix::root()).unwrap().prefixes.len(), 1);
    };
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async { used() });
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap().block_on(async { used() });
}

#[test]
fn a_value_that_is_replaced_while_it_is_read_is_a_conflict() {
    let store = Remote::store();
    store.set(&key("a"), b"0123456789", Condition::Always).unwrap();
    let value = store.open_with(&key("a"), ByteRange::Suffix { length: 2 }).unwrap().unwrap();
    store.set(&key("a"), b"9876543210", Condition::Always).unwrap();
    assert_eq!(value.read(8, 2).unwrap(), "89", "it is here already");
    assert_eq!(value.read(0, 2).unwrap_err().kind(), StoreErrorKind::Conflict);
}
